"""Reference files are reloaded while events come."""
import json
import os
import signal
import subprocess

import pytest

import servers
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import rows, wait_for
from support.events import click
from support.program import eventually
from test_geo import country_file

pytestmark = pytest.mark.confined

VISITOR = b"Visitor/1.0"


def reloads(running):
    return running.metric("shortloop_collector_reloads_total")


@pytest.fixture(scope="session")
def slow_file(tmp_path_factory):
    """slow_file(path, flag) returns the environment of a program that reads nothing of
    the file `path` while the file `flag` exists."""
    library = tmp_path_factory.mktemp("slow") / "slow_file.so"
    source = servers.ROOT / "tests/integration/support/slow_file.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source],
                   check=True)
    return lambda path, flag: {"LD_PRELOAD": str(library), "SLOW_FILE": str(path),
                               "SLOW_WHILE": str(flag)}


def test_events_go_on_while_files_are_read(kafka, topics, tables, collector,
                                           slow_file, workdir):
    bots, slow = workdir.resolve() / "bots.json", workdir / "slow"
    bots.write_text('[{"pattern": "NotYet"}]')
    running = collector(start=False, robots={"list": str(bots)})
    running.env = slow_file(bots, slow)
    running.start()
    slow.touch()
    bots.write_text('[{"pattern": "Visitor"}]')
    running.process.signal(signal.SIGHUP)

    kafka.produce(topics["topic_clicks"],
                  [click(link_id=1, user_agent=VISITOR) for _ in range(500)])
    wait_for(tables, 500)
    assert reloads(running) == 0

    slow.unlink()
    eventually(lambda: reloads(running) == 1)
    kafka.produce(topics["topic_clicks"], [click(link_id=2, user_agent=VISITOR)])
    wait_for(tables, 501)
    assert [r["verdict"] for r in rows(
        tables, "DISTINCT link_id, verdict")] == ["human", "bot"]


def test_of_a_geo_file_that_is_replaced_nothing_else_is_read(
        kafka, topics, tables, collector, workdir):
    bots, places = workdir / "bots.json", workdir / "geo.mmdb"
    bots.write_text('[{"pattern": "Robot"}]')
    country_file(places, "FR")
    running = collector(robots={"list": str(bots)}, geo_files=[str(places)])
    # A program that reads it now waits for ever.
    bots.unlink()
    os.mkfifo(bots)

    country_file(workdir / "next.mmdb", "SE").rename(places)
    eventually(lambda: reloads(running) == 1)
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1, user_agent=b"Robot/1.0", client_ip=b"\x08" * 4)])
    wait_for(tables, 1)
    assert rows(tables, "country, verdict") == [
        {"country": "SE", "verdict": "bot"}]


def test_another_list_is_another_version_of_the_rules(
        kafka, topics, tables, collector, workdir):
    bots = workdir / "bots.json"
    lists = [("NotYet", 1), ("Visitor", 1), ("Visitor", 2)]  # pattern, url
    for i, (pattern, url) in enumerate(lists):
        bots.write_text(json.dumps([{"pattern": pattern, "url": url}]))
        if i == 0:
            running = collector(robots={"list": str(bots)})
        else:
            running.process.signal(signal.SIGHUP)
            eventually(lambda: reloads(running) >= i)
        kafka.produce(topics["topic_clicks"], [
            click(link_id=i, user_agent=VISITOR)])
        wait_for(tables, i + 1)
    assert [r["verdict"] for r in rows(tables)] == ["human", "bot", "bot"]
    versions = [int(r["verdict_version"]) for r in rows(tables)]
    assert versions[0] != versions[1] == versions[2]
    assert all(v >> 24 == 3 for v in versions)
