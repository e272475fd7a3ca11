"""Events of visitors and links that have to be forgotten: every program that makes rows
of them, from Kafka or from a log, makes the rows that `aggregator forget` makes of
stored ones."""
import hashlib
import itertools
import json
import random
import threading
import time

import pytest

from support.clicks import Collector, instant, left_columns, make_click, rfc3339
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import count, rows, wait_for
from support.events import CHROME, IPHONE, LinkEvent, click
from support.program import eventually
from support.rule_files import GEO, UA_RULES

ADDRESS, OTHER = bytes([8, 8, 8, 8]), bytes([9, 9, 9, 9])
LINK, KEPT = 77, 78
PATIENCE = 180
OF_VISITOR, OF_LINK = left_columns("OF_VISITOR"), left_columns("OF_LINK")


def identity(address, agent):
    return hashlib.sha1(address + agent.encode()).hexdigest().upper()


VISITOR = identity(ADDRESS, CHROME)


def deleted_link(link_id, version):
    now = int(time.time() * 1000)
    event = LinkEvent(change=1 if version == 1 else 3, time_ms=now, space="s7",
                      code=f"code{link_id}")
    link = event.link
    link.link_id, link.version, link.state = link_id, version, int(version > 1)
    link.url = f"https://example.org/secret/{link_id}"
    link.owner, link.campaign, link.domain = "ann", "secret campaign", "go.example.com"
    link.description, link.account = "secret plan", "acme"
    link.creator, link.editor = "key1", "key2"
    link.tags.extend(["secret tag"])
    link.targets.add(device=1, url="https://example.org/secret/ios")
    link.created_ms = 1790000000000
    return event.SerializeToString()


def rich_click(address=ADDRESS, agent=CHROME, **fields):
    return click(**{
        "client_ip": address, "user_agent": agent.encode(), "owner": "ann",
        "campaign": "secret campaign", "tags": ["secret tag"],
        "referrer": b"https://www.google.com/search?q=secret",
        "query": b"utm_source=s&utm_medium=email&utm_campaign=c&utm_term=t&utm_content=x",
        "accept_language": b"de-DE", "cookies": {"k": "secret"},
        "trace_id": b"0123456789abcdef", **fields})


LOG_LINE = ('%s - - [17/May/2015:10:05:03 +0000] "GET /abc HTTP/1.1" 302 5 "-" "' +
            CHROME + '"\n')


def list_visitor(tables):
    tables.query("INSERT INTO forgotten SELECT 0, toFixedString(unhex("
                 f"'{VISITOR}'), 20), now64(3), 'test'")


@pytest.fixture
def forget(program):
    def run(*args):
        status, output = program("aggregator", {}, start=False,
                                 args=("forget", *args)).run(PATIENCE)
        assert status == 0, output
        return output
    return run


def blank(clickhouse):
    return int(clickhouse.value("SELECT countIf(unique_identity = "
                                "toFixedString('', 20)) FROM clicks"))


@pytest.mark.long
def test_an_event_read_again_becomes_the_row_that_forgetting_made(
        kafka, topics, tables, collector, forget):
    events = [rich_click(link_id=1), rich_click(OTHER, link_id=2),
              rich_click(link_id=LINK), rich_click(OTHER, IPHONE, link_id=LINK),
              rich_click(link_id=3, outcome=2), rich_click(OTHER, IPHONE, link_id=4),
              rich_click(agent=IPHONE, link_id=5),
              rich_click(link_id=6, prefetch="prefetch")]
    kafka.produce(topics["topic_clicks"], events)
    kafka.produce(topics["topic_links"], [
        deleted_link(link, version) for link in (LINK, KEPT) for version in (1, 2)])
    running = collector(geo_files=GEO)
    wait_for(tables, len(events))
    eventually(lambda: len(rows(tables, "DISTINCT code, version", "links", "code")) >= 2 and
               tables.value("SELECT max(version) FROM links WHERE link_id = 78") == 2)
    assert running.stop() == 0
    before = rows(tables, order="partition, offset")
    assert tables.value(f"SELECT count() FROM clicks WHERE hex(unique_identity) = "
                        f"'{VISITOR}'") == 4

    forget("--no-wait", "--visitor", VISITOR)
    forget("--no-wait", "--link-id", str(LINK))
    clicks = rows(tables, order="partition, offset")
    links = rows(tables, table="links FINAL", order="code")
    assert blank(tables) == 5
    changed = [a for a, b in zip(clicks, before) if a != b]
    assert len(changed) == 5 and len(OF_VISITOR) >= 35 and set(OF_LINK) >= {"campaign", "tags"}
    # Columns of the table that are not in the list are kept.
    for old, new in zip(before, clicks):
        left = {**(OF_VISITOR if new in changed else {}),
                **(OF_LINK if new["link_id"] == LINK else {})}
        assert new == {**old, **left}
    assert "secret" not in json.dumps(
        [{k: v for k, v in row.items() if k not in OF_LINK} for row in changed])
    assert {r["trace_id"] for r in before} == {b"0123456789abcdef".hex()}
    assert "secret" not in json.dumps([r for r in clicks if r["link_id"] == LINK])
    assert "secret" not in json.dumps([r for r in links if r["link_id"] == LINK])
    assert "secret" in json.dumps([r for r in links if r["link_id"] == KEPT])
    # The verdict stays.
    assert [(r["verdict"], r["outcome"], r["ts"], r["owner"]) for r in clicks] == \
        [(r["verdict"], r["outcome"], r["ts"], r["owner"]) for r in before]

    # Everything is lost except the list, and read again from the start.
    for table in "clicks", "links", "ingest_progress":
        tables.query(f"TRUNCATE TABLE {table}")
    again = collector(geo_files=GEO, group=topics["topic_clicks"] + "-again")
    wait_for(tables, len(events))
    eventually(lambda: len(rows(tables, table="links FINAL", order="code")) == 2)
    assert again.stop() == 0
    assert rows(tables, order="partition, offset") == clicks
    assert rows(tables, table="links FINAL", order="code") == links


@pytest.mark.proof
def test_rescoring_leaves_who_is_forgotten_as_judged(kafka, topics, tables, collector,
                                                     forget, program, workdir):
    kafka.produce(topics["topic_clicks"], [rich_click(link_id=i) for i in range(1, 4)] +
                  [rich_click(OTHER, link_id=4)])
    running = collector()
    wait_for(tables, 4)
    assert running.stop() == 0
    forget("--no-wait", "--visitor", VISITOR)
    kept = rows(tables)
    day = rfc3339(time.time() - 86400)[:10]
    (workdir / "bots.json").write_text('[{"pattern": "Chrome"}]')
    status, output = program("collector", {
        "collector": {"ua_rules": UA_RULES},
        "robots": {"list": str(workdir / "bots.json")}}, start=False,
        args=("rescore", "--from", day)).run()
    assert status == 0 and "1 verdicts changed (human to bot 1)" in output, output
    assert rows(tables)[:3] == kept[:3]
    assert [r["verdict"] for r in rows(tables)] == ["human"] * 3 + ["bot"]


def test_a_log_brings_nobody_back(tables, forget, program, workdir):
    at = instant("2015-05-17T10:05:03Z")
    list_visitor(tables)
    (workdir / "access.log").write_text(LOG_LINE % "8.8.8.8" + LOG_LINE % "9.9.9.9")
    status, output = program("collector", {"collector": {"ua_rules": UA_RULES}},
                             start=False, args=("import", str(workdir / "access.log"))).run()
    assert status == 0, output
    assert [(r["n"], r["user_agent"], r["t"]) for r in rows(
        tables, "hex(unique_identity) AS n, user_agent, toUnixTimestamp(ts) AS t",
        order="offset")] == [("0" * 40, "", at), (identity(OTHER, CHROME), CHROME, at)]
    assert "0 rows of clicks" in forget("--no-wait")


def list_forgotten(clickhouse, visitor, link):
    clickhouse.query("INSERT INTO forgotten SELECT 0, toFixedString(unhex("
                     f"'{visitor}'), 20), now64(3) + INTERVAL 1 DAY, 'test' UNION ALL "
                     f"SELECT {link}, toFixedString('', 20), now64(3), 'test'")


@pytest.mark.long
def test_a_backup_that_is_restored_hides_no_new_entry_and_brings_none_back(
        kafka, topics, tables, collector):
    """The table has as many entries as before, but different ones."""
    numbers, stored = itertools.count(1000), itertools.count(1)
    list_forgotten(tables, VISITOR, LINK)
    collector()

    def is_forgotten(**fields):
        before = blank(tables)
        kafka.produce(topics["topic_clicks"],
                      [rich_click(**{"link_id": next(numbers), **fields})])
        wait_for(tables, next(stored))
        return blank(tables) > before
    assert is_forgotten() and is_forgotten(address=OTHER, link_id=LINK)
    assert not is_forgotten(address=OTHER) and not is_forgotten(address=OTHER, link_id=KEPT)

    tables.query("TRUNCATE TABLE forgotten")
    list_forgotten(tables, identity(OTHER, CHROME), KEPT)
    eventually(lambda: is_forgotten(address=OTHER), PATIENCE, every=1,
               what="the new entries to be read")
    assert is_forgotten(agent=IPHONE, link_id=KEPT)
    assert is_forgotten() and is_forgotten(agent=IPHONE, link_id=LINK)
    assert not is_forgotten(agent=IPHONE)


def test_an_import_hears_of_who_is_listed_before_it_announces_a_batch(
        tables, program, workdir, proxy):
    """`forget` waits for the rows of batches that are announced before the list has the
    entry; later batches are made with the entry."""
    proxy.call_at(3, lambda: list_visitor(tables), "import_journal")
    (workdir / "access.log").write_text(LOG_LINE % "8.8.8.8" + LOG_LINE % "9.9.9.9")
    status, output = program("collector", {
        "collector": {"ua_rules": UA_RULES}, "clickhouse": {"url": proxy.url}},
        start=False, args=("import", str(workdir / "access.log"))).run()
    assert status == 0, output
    told = [p.query for p in proxy.passed if p.kind == "import_journal"]
    assert len(told) > 3, "the batch that was built anew is announced again"
    assert [r["n"] for r in rows(tables, "hex(unique_identity) AS n", order="offset")] == [
        "0" * 40, identity(OTHER, CHROME)]


@pytest.mark.long
def test_what_was_stored_by_who_had_not_heard_is_forgotten(
        tables, redis, program, workdir):
    """It waits a minute from the time at which the list was written, whatever the times
    in it, and for imports; then it changes rows and links that came meanwhile."""
    stored = Collector(tables)
    stored.report([], 0, int(time.time() * 1000))
    serving = program("aggregator", {"aggregator": {"settle_every": "500ms"}})
    now = int(tables.value("SELECT toUnixTimestamp(now())"))
    tables.query("INSERT INTO import_journal (identity, what, run, number, first, last) "
                 "VALUES ('log', 'block', 1, 1, 0, 99)")
    before = rfc3339(now - 3600)
    (workdir / "list").write_text(
        '{"visitor":"%s","until":"%s"}\n{"link_id":"%d","until":"%s"}\n' % (
            ("v" * 20).encode().hex(), before, LINK, before))
    command = program("aggregator", {}, start=False,
                      args=("forget", "--file", str(workdir / "list")))
    command.start(ready=False)
    command.wait_log("waits until collectors have stored")

    stored.insert([make_click(random.Random(1), (now - 7200) * 1000, 1,
                              unique_identity="v" * 20)])
    stored.link("code77", LINK, state="deleted")

    def waits_for_imports():
        stored.report([], 0, int(time.time() * 1000))
        return "waits until imports have stored" in command.log()
    eventually(waits_for_imports, PATIENCE)
    tables.query("INSERT INTO ingest_progress (topic, first, last, rows) "
                 "VALUES ('import:log', 0, 99, 1)")
    assert command.process.wait(PATIENCE) == 0, command.log()
    assert tables.value("SELECT hex(unique_identity) FROM clicks") == "0" * 40
    assert tables.value("SELECT state FROM links FINAL WHERE link_id = 77") == "forgotten"
    assert serving.stop() == 0


@pytest.mark.long
def test_clicks_on_their_way_are_forgotten_and_later_ones_are_counted(
        kafka, topics, tables, redis, collector, forget, program, base_config):
    """Visits go on during the run; it waits for what collectors read meanwhile, and
    events that were made before and arrive afterwards are forgotten, too."""
    made = []
    stopping = threading.Event()

    def visit_all_the_time():
        while not stopping.wait(0.1):
            made.append(int(time.time() * 1000))
            kafka.produce(topics["topic_clicks"], [
                rich_click(link_id=len(made), time_ms=made[-1])])
    collector()
    serving = program("aggregator", {
        "kafka": {**base_config["kafka"], **topics},
        "aggregator": {"settle_every": "500ms", "watermark_every": "1s"}})
    thread = threading.Thread(target=visit_all_the_time)
    thread.start()
    try:
        wait_for(tables, 20)
        output = forget("--visitor", VISITOR)
    finally:
        stopping.set()
        thread.join()
    assert "waits until collectors have stored" in output
    wait_for(tables, len(made))
    until = int(tables.value("SELECT max(toUnixTimestamp64Milli(visits_until)) FROM forgotten"))
    stored = rows(tables, "hex(unique_identity) AS v, "
                  "toUnixTimestamp64Milli(original_ts) AS made_at")
    assert {r["v"] for r in stored if int(r["made_at"]) <= until} == {"0" * 40}
    assert {r["v"] for r in stored if int(r["made_at"]) > until + 1000} == {VISITOR}
    # An edge kept it and sent it an hour later.
    late = until - 1000
    kafka.produce(topics["topic_clicks"], [rich_click(link_id=5000, time_ms=late)])
    wait_for(tables, len(made) + 1)
    assert rows(tables, "hex(unique_identity) AS v")[-1]["v"] == "0" * 40
    assert serving.stop() == 0
    assert count(tables) == len(made) + 1
