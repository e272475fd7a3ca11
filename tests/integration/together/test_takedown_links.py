"""A host is taken down with its links: allocator, collector and archive are real."""
import json
import signal
import time

import pytest
import requests

from support.allocator import *  # noqa: F401,F403
from support.allocator import events_of
from support.batch import batch
from support.load import Load, bench_load  # noqa: F401 (fixture)
from support.program import eventually, migrate
from support.rule_files import BOT_LIST, UA_RULES
from support.spaces import USUAL, hashes, sequence

KEYS = {"boss": "admin", "acme": "create,read-own", "shop": "create,read-own"}
LINKS_SECTION = {**USUAL, "grant_blocks": 50, "ttl_classes": ["1h", "never"],
                 "spaces": [sequence(block_size=1000), hashes()]}
BAD, GOOD = "https://login.bad.example/", "https://good.example/"
BLOCKED, MODERATED = 2, 4


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def more_sections(workdir):
    return {"allocator": {"audit_file": str(workdir / "audit.jsonl"), "key_rate": "1000000/s"}}


@pytest.fixture
def api(created_spaces, topic, start, program, clickhouse):
    migrate(program)
    made = start(topic)
    made.topic = topic
    made.collector = program("collector", {
        "robots": {"list": BOT_LIST}, "kafka": {"topic_links": topic},
        "collector": {"batch_age": "100ms", "report_every": "200ms",
                      "ua_rules": UA_RULES}})
    return made


@pytest.fixture
def takedown(api, program):
    """takedown(word...) starts the command; .run() waits for its end."""
    def make(*words):
        return program("allocator", api.program.config, start=False,
                       args=["takedown", *words])
    return make


def make(api, urls, key="acme", **fields):
    """Returns the codes of links to these URLs."""
    lines = [json.dumps({"url": url, "ttl": "1h", **fields}).encode() + b"\n"
             for url in urls]
    return [answer["code"] for answer in batch(api, lines, key=key)]


def states(api, codes):
    return [api.get(code).json()["state"] for code in codes]


def test_links_of_all_accounts_to_the_host_are_blocked_and_no_other(
        api, takedown, kafka, clickhouse, workdir):
    bad = [*make(api, [f"{BAD}{i}" for i in range(150)]),
           *make(api, [f"{BAD}{i}" for i in range(150)], key="shop", ttl="never"),
           *make(api, [GOOD + "ios"], targets={"ios": BAD + "ios"})]
    good = make(api, [f"{GOOD}{i}" for i in range(50)] + ["https://bad.example.org/"])
    left = make(api, [BAD + "left"])
    assert api.patch(left[0], "acme", url=GOOD).status_code == 200
    status, output = takedown(".bad.example", "--reason", "phishing").run()
    assert status == 0, output
    assert states(api, bad) == ["blocked"] * len(bad)
    assert states(api, good + left) == ["live"] * (len(good) + 1)
    link = api.get(bad[0]).json()
    assert "@" in link["editor"] and link["expires_at"] is None
    # Events and audit lines of each, with who did it; the URL is blocked as well.
    of_bad = {}
    for code, event in events_of(kafka, api.topic, 2 * len(bad) + len(good) + 2):
        if code in bad and event.change == MODERATED:
            of_bad[code] = event
    assert set(of_bad) == set(bad)
    assert {e.link.state for e in of_bad.values()} == {BLOCKED}
    lines = [json.loads(line)
             for line in (workdir / "audit.jsonl").read_text().splitlines()]
    blocked = {line["code"]: line for line in lines if line["action"] == "changed"
               and line["changes"].get("state", {}).get("new") == "blocked"}
    assert set(blocked) == set(bad)
    assert blocked[bad[0]]["key"] == link["editor"]
    assert api.call("GET", "/v1/accounts/shop/blocked-urls").json()["blocked_urls"]
    # Once more: nothing is written.
    status, output = takedown(".bad.example").run()
    assert status == 0 and ": 0 links blocked" in output
    assert api.get(bad[0]).json()["version"] == link["version"]
    # A lift does not undo the decisions about links.
    assert takedown("--lift", ".bad.example").run()[0] == 0
    assert states(api, bad[:2]) == ["blocked"] * 2


def test_links_that_the_archive_does_not_have_yet_are_blocked_too(api, takedown):
    old = make(api, [f"{BAD}{i}" for i in range(20)])
    api.collector.process.signal(signal.SIGSTOP)
    try:
        new = make(api, [f"{BAD}new/{i}" for i in range(20)])
        command = takedown("login.bad.example", "--wait", "2m").start(ready=False)
        # The archive has only the old ones.
        eventually(lambda: "missing" in command.log() or command.log().count(
            "links blocked"), what="the first pass")
        assert states(api, new) == ["live"] * 20
    finally:
        api.collector.process.signal(signal.SIGCONT)
    assert command.process.wait(120) == 0, command.log()
    assert states(api, old + new) == ["blocked"] * 40


def test_a_command_that_is_killed_ends_right_when_it_is_run_again(
        api, takedown, clickhouse):
    bad = make(api, [f"{BAD}{i}" for i in range(1000)])
    command = takedown("login.bad.example").start(ready=False)
    eventually(lambda: "blocked" in states(api, bad[:1] + bad[-1:]), every=0.01,
               what="the first block")
    command.kill()
    status, output = takedown("login.bad.example").run()
    assert status == 0, output
    assert states(api, bad) == ["blocked"] * 1000
    # The events that were lost with the first run are made up for.
    eventually(lambda: archived(clickhouse, "blocked") == 1000, what="the archive")


def archived(clickhouse, state):
    return int(clickhouse.value(
        "SELECT count() FROM (SELECT code, argMax(state, version) AS newest "
        f"FROM links GROUP BY code) WHERE newest = '{state}'"))


def test_what_the_archive_lacks_is_written_again(api, takedown, clickhouse, redis):
    code, = make(api, [BAD])
    eventually(lambda: archived(clickhouse, "live") == 1, what="the archive")
    assert api.patch(code, state="blocked").status_code == 200
    eventually(lambda: archived(clickhouse, "blocked") == 1, what="the archive")
    # The event of the block was lost.
    clickhouse.query("ALTER TABLE links UPDATE state = 'live' WHERE state = 'blocked' "
                     "SETTINGS mutations_sync = 2")
    assert archived(clickhouse, "live") == 1
    status, output = takedown("login.bad.example").run()
    assert status == 0, output
    eventually(lambda: archived(clickhouse, "blocked") == 1, what="the archive")
    assert api.get(code).json()["version"] == 3


def test_a_damaged_link_keeps_no_other_from_being_blocked(api, takedown, redis):
    codes = make(api, [f"{BAD}{i}" for i in range(5)])
    key = next(redis.client().scan_iter(f"l:*:{codes[2]}"))
    redis.client().set(key, b"\xff" * 30)
    status, output = takedown("login.bad.example").run()
    assert status != 0, output
    assert "1 links could not be blocked" in output and codes[2] in output
    assert states(api, codes[:2] + codes[3:]) == ["blocked"] * 4


def test_without_the_archive_the_denial_is_in_force_and_the_command_says_so(
        api, program, takedown):
    config = {**api.program.config, "clickhouse": {"url": "http://127.0.0.1:1"}}
    status, output = program("allocator", config, start=False,
                             args=["takedown", "login.bad.example"]).run()
    assert status == 75, output
    assert "the denial is in force, but not all links are blocked" in output
    assert "login.bad.example" in takedown("--list").run()[1]


# --- many links, while others are visited ----------------------------------------------

SHOWN = 200  # links of the host that are visited at every redirector
RATE = 1000  # visits of others a second


@pytest.fixture
def edges(api, program):
    """Two redirectors that keep links for longer than the test lasts."""
    return [program("redirector", {"links": api.program.config["links"],
                                   "redirector": {"cache_ttl": "1h"}}) for _ in "ab"]


def statuses(edge, codes):
    """Returns the set of statuses that visits of the codes are answered with."""
    with requests.Session() as session:
        return {session.get(f"{edge.url}/{code}", allow_redirects=False,
                            timeout=60).status_code for code in codes}


def p99_ms(load):
    """Every visit of others was a redirect."""
    load.stop()
    assert load.result["others"] == 0
    return load.result["p99_us"] / 1000


@pytest.mark.parametrize("count", [
    3000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_a_host_of_many_links_is_taken_down_under_load(
        api, takedown, edges, bench_load, clickhouse, workdir, record_property, count):
    bad = make(api, (f"{BAD}{i}" for i in range(count)))
    others = workdir / "others"
    others.write_text("\n".join(make(api, [f"{GOOD}{i}" for i in range(1000)])) + "\n")
    eventually(lambda: archived(clickhouse, "live") == count + 1000, what="the archive")
    shown = bad[::count // SHOWN]
    for edge in edges:
        assert statuses(edge, shown) == {302}
    with Load(bench_load, edges[0], others, RATE, 16, seconds=4) as load:
        load.process.wait(60)
        before = p99_ms(load)
    with Load(bench_load, edges[0], others, RATE, 16, seconds=3600) as load:
        begun = time.monotonic()
        command = takedown("login.bad.example").start(ready=False)
        eventually(lambda: all(edge.metric("shortloop_denied_hosts_revision") > 0
                               for edge in edges), every=0.02, what="the denial")
        known = time.monotonic() - begun
        for edge in edges:
            assert statuses(edge, shown) == {451}
        # It is killed when it has blocked some of them.
        eventually(lambda: "blocked" in states(api, bad[:1] + bad[-1:]), every=0.01,
                   what="the first block")
        command.kill()
        status, output = takedown("login.bad.example").run(timeout=3000)
        assert status == 0, output
        during = p99_ms(load)
    eventually(lambda: archived(clickhouse, "blocked") == count, what="the archive")
    assert archived(clickhouse, "live") == 1000
    assert set(states(api, shown)) == {"blocked"}
    for edge in edges:
        assert statuses(edge, shown) == {451}
    # Both are of a busy machine: they are reported, not required.
    told = (f"{count} links: every redirector had the denial {known:.2f} s after the command "
            f"began; visits of others, p99: {before:.2f} ms before, {during:.2f} ms during")
    record_property("takedown", told)
    print(told)
