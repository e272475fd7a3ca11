"""The links in the archive that lead to a host, as `allocator takedown --dry-run` and the
aggregator's filter url_host find them."""
import re
import types

import pytest
import requests

from support.allocator import *  # noqa: F401,F403
from support.allocator import Api
from support.program import eventually
from support.rule_files import UA_RULES

BAD = "https://login.bad.example/"
TO_IT = [{"url": BAD}, {"url": BAD + "a?b"}, {"url": "http://x.y.bad.example:81/"},
         {"url": "https://good.example/", "targets": {"ios": BAD}}]
OTHERS = [{"url": "https://good.example/?u=" + BAD}, {"url": "https://notbad.example/"},
          {"url": "https://bad.example.org/"}]


@pytest.fixture
def world(redis, kafka, tables, base_config, program, sections, create_space):
    """An allocator with links, and a collector that is not started yet."""
    assert create_space()[0] == 0
    sections = {**sections, "allocator": {**sections["allocator"],
                                          "url_ip_hosts": "allow"}}
    api = Api(program("allocator", sections))
    collector = program("collector", {"collector": {
        "batch_age": "100ms", "ua_rules": UA_RULES}}, start=False)

    def takedown(*words):
        return program("allocator", sections, start=False,
                       args=["takedown", *words]).run()
    return types.SimpleNamespace(api=api, collector=collector, takedown=takedown,
                                 tables=tables, program=program)


def counted(text):
    return {host: int(n) for host, n in re.findall(r"^(\S+): (\d+) links lead there$", text,
                                                   re.M)}


def test_links_are_counted_once_the_archive_has_them_all(world):
    made = [world.api.create(**fields) for fields in TO_IT + OTHERS]
    # The allocator sends events a moment after its answers.
    eventually(lambda: f"does not have {len(made)} link events" in world.takedown(
        ".bad.example", "--dry-run", "--wait", "0s")[1])
    assert world.takedown(".bad.example", "--dry-run", "--wait", "0s")[0] == 75
    world.collector.start()
    got, text = world.takedown("bad.example", ".bad.example", "login.bad.example",
                               ".notbad.example", "--dry-run", "--wait", "2m")
    assert got == 0, text
    assert counted(text) == {"bad.example": 0, ".bad.example": 4, "login.bad.example": 3,
                             ".notbad.example": 1}
    assert world.takedown("--list")[1] == "# 0 hosts, revision 0\n"
    # The newest version of a link decides: it was moved, blocked, deleted.
    world.api.patch(made[0]["code"], url="https://good.example/")
    world.api.patch(made[1]["code"], state="blocked")
    world.api.delete(made[2]["code"])
    eventually(lambda: counted(world.takedown(".bad.example", "--dry-run", "--wait", "2m")[1])
               == {".bad.example": 1})
    world.api.create(url=BAD + "new")
    eventually(lambda: counted(world.takedown(".bad.example", "--dry-run", "--wait", "2m")[1])
               == {".bad.example": 2})


def test_the_aggregator_lists_them(world):
    made = [world.api.create(**fields) for fields in TO_IT + OTHERS]
    world.collector.start()
    eventually(lambda: world.tables.value("SELECT count() FROM links") == len(made))
    aggregator = world.program("aggregator", {"aggregator": {"settle_every": "500ms"}})

    def listed(host, **more):
        answer = requests.get(aggregator.url + "/v1/links", timeout=60,
                              params={"url_host": host, **more})
        assert answer.status_code == 200, answer.text
        return {link["code"] for link in answer.json()["links"]}
    codes = [link["code"] for link in made]
    assert listed(".bad.example") == set(codes[:4])
    assert listed("login.bad.example") == {codes[0], codes[1], codes[3]}
    assert listed(".example") == {*codes[:4], codes[4], codes[5]}
    assert listed("login.bad.example", sort="clicks") == {codes[0], codes[1], codes[3]}
    assert listed("LOGIN.bad.example.", url=BAD) == {codes[0]}
    answer = requests.get(aggregator.url + "/v1/links", params={"url_host": "a b"}, timeout=60)
    assert answer.status_code == 400 and "url_host" in answer.text
