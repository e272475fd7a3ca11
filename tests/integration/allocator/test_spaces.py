"""The ledger: /v1/spaces, `allocator spaces`, metrics, and the alert rules."""
import json
import time

import pytest
import requests

from support.alerts import mistakes, rules_of
from support.allocator import *  # noqa: F403, fixtures too
from support.program import eventually
from support.spaces import USUAL, aliases, sequence

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "never"], "quarantine": "1h",
                 "spaces": [sequence(), sequence("s6", 2, 6), aliases(number=3)]}


@pytest.fixture
def ledger_api(redis, topic, create_space, start):
    for name in ("s7", "s6", "names"):
        assert create_space(name=name)[0] == 0
    return start(topic, ledger_every="100ms")


def ledger(api, name="s7"):
    """Returns the ledger once it has been read: an allocator is ready before that."""
    def ask():
        answer = api.call("GET", f"/v1/spaces/{name}", "eye")
        return answer if answer.status_code != 503 else None
    answer = eventually(ask, what="the ledger")
    assert answer.status_code == 200, answer.text
    return answer.json()


def ledger_with_two(api):
    """Returns it once both blocks are in all parts: a ledger's record is read before
    its ranges, and a block may be granted in between."""
    def ask():
        found = ledger(api)
        blocks = found["blocks"]
        return found if blocks["cursor"] == blocks["live"] == 2 else None
    return eventually(ask, what="two blocks in the ledger")


@pytest.fixture
def spaces_command(program, sections):
    def run(*args):
        return program("allocator", sections, start=False,
                       args=["spaces", *args]).run()
    return run


# --- the API -----------------------------------------------------------------------

def test_all_spaces_are_listed_in_the_order_of_the_file(ledger_api):
    eventually(lambda: ledger_api.call(
        "GET", "/v1/spaces", "eye").status_code == 200)
    spaces = ledger_api.call("GET", "/v1/spaces", "eye").json()["spaces"]
    assert [(s["space"], s["strategy"], s["state"]) for s in spaces] == [
        ("s7", "sequence", "ready"), ("s6", "sequence", "ready"),
        ("names", "alias", "ready")]


def test_what_is_issued_is_live(ledger_api):
    ledger_api.create()
    found = ledger_with_two(ledger_api)
    blocks = found["blocks"]
    assert (blocks["cursor"], blocks["issued"], blocks["size"]) == (2, 2, 100)
    assert blocks["capacity"] == 62 ** 6 // 100
    assert blocks["free"] == blocks["capacity"] - 2
    assert blocks["due"] == blocks["lost"] == blocks["pooled"] == 0
    assert found["generations"] == {"lowest": 1, "highest": 1}
    assert found["today"]["blocks_issued"] == 2
    assert found["next_due"]
    assert found["created_at"][:19] <= found["as_of"][:19]


def test_days_to_exhaustion_follow_from_the_rates(ledger_api):
    assert ledger(ledger_api)["days_to_exhaustion"] is None
    ledger_api.create()
    found = ledger_with_two(ledger_api)
    assert found["per_day"]["blocks_issued"] == 48  # 2 in its first hour
    assert found["days_to_exhaustion"] == pytest.approx(
        found["blocks"]["free"] / 48, rel=1e-6)
    assert (found["days_to_exhaustion_with_reclaim"]
            == found["days_to_exhaustion"])


def test_links_created_are_counted(ledger_api):
    for _ in range(3):
        ledger_api.create()
    eventually(lambda: ledger(ledger_api)["today"]["links_created"] == 3)


def test_a_space_without_blocks_has_its_links_only(ledger_api):
    found = eventually(lambda: ledger(ledger_api, "names"))
    assert found["length"] is None and "blocks" not in found
    assert found["today"] == found["yesterday"] == {"links_created": 0}
    assert set(found["per_day"]) == {"days", "links_created", "extrapolated"}


def test_a_young_space_says_that_its_rates_are_extrapolated(ledger_api, redis,
                                                            spaces_command):
    for _ in range(3):
        ledger_api.create()
    found = eventually(lambda: ledger(ledger_api)["today"]["links_created"] == 3
                       and ledger(ledger_api))
    assert found["per_day"] == {"days": 0.04, "links_created": 72, "extrapolated": True,
                                "blocks_issued": 48, "blocks_reclaimed": 0}
    status, output = spaces_command("--space", "s7")
    assert status == 0 and "about 72" in output
    assert "s7: its rates a day are extrapolated from 1.0 hours." in output
    created = output[output.index("Links created (UTC days)"):].splitlines()
    assert created[1].split() == ["space", "today", "yesterday"]
    assert created[2].split() == ["s7", "3", "0"]
    # A space of two days has seen whole days.
    redis.hset("space:{s7}", "created", int(time.time() - 2 * 86400) * 1000)
    status, output = spaces_command("--space", "s7")
    assert "about" not in output and "extrapolated" not in output


def test_blocks_of_a_gap_are_not_live(ledger_api, redis, spaces_command):
    ledger_api.create()
    live = ledger_with_two(ledger_api)["blocks"]["live"]
    end = 4 * 10 ** 12
    redis.zadd("issued:{s7}", {"100-149:1": end})
    redis.hset("space:{s7}", "gaps", "100-149 ")
    found = eventually(lambda: ledger(ledger_api)["blocks"]["gap"]
                       and ledger(ledger_api)["blocks"])
    assert (found["gap"], found["live"], found["issued"]) == (50, live, live + 50)
    ledger_api.program.wait_metric(50, "shortloop_space_gap_blocks", space="s7")


def test_what_was_handed_back_is_pooled(ledger_api, topic, start):
    ledger_api.create()
    ledger_api.program.stop()
    other = start(topic, ledger_every="100ms")
    eventually(lambda: ledger(other)["blocks"]["quarantined"] == 1)
    eventually(lambda: ledger(other)["today"]["blocks_handed_back"] == 1)


def test_a_space_that_is_not_there_says_so(redis, topic, create_space, start):
    create_space()
    api = start(topic, ready=False, ledger_every="100ms")
    found = eventually(lambda: api.program.ready()[0] and ledger(api, "s6"))
    assert found["state"] == "missing" and "blocks" not in found


def test_an_unknown_space_is_404(ledger_api):
    # The ledger is read a moment after the start.
    answer = eventually(lambda: [
        a for a in [ledger_api.call("GET", "/v1/spaces/s9", "eye")]
        if a.status_code != 503], what="the ledger")[0]
    problem(answer, 404)


def test_the_ledger_needs_the_role_to_read(ledger_api):
    for path in ("/v1/spaces", "/v1/spaces/s7"):
        problem(ledger_api.call("GET", path, "crm"), 403)
        problem(ledger_api.call("POST", path), 405)
        problem(ledger_api.call("GET", path + "?a=1"), 400)


def test_before_redis_has_answered_it_is_503(base_config, start):
    api = start(ready=False)
    eventually(lambda: api.program.ready()[0] == 503)
    answer = api.call("GET", "/v1/spaces", "eye")
    problem(answer, 503)
    assert answer.headers["Retry-After"] == "1"


# --- the command ------------------------------------------------------------------

def test_the_command_prints_aligned_tables(ledger_api, spaces_command):
    ledger_api.create()
    status, output = spaces_command()
    assert status == 0, output
    blocks, rates, created, notes = output.strip().split("\n\n")
    assert notes.count("extrapolated") == 3
    for table in (blocks, rates, created):
        title, *lines = table.split("\n")
        assert title.endswith(":")
        # Numbers are aligned on the right: every line ends in the same column.
        assert len({len(line) for line in lines}) == 1, table
    row = next(line.split() for line in blocks.split("\n")
               if line.startswith("s7 "))
    assert row[:4] == ["s7", "100", f"{62 ** 6 // 100:,}", "2"]
    assert "names" in rates and "names" not in blocks


def test_the_command_prints_what_the_api_says(ledger_api, spaces_command):
    ledger_api.create()
    ledger_with_two(ledger_api)

    def compared():
        """The allocator opens blocks and reports codes meanwhile."""
        status, output = spaces_command("--json", "--space", "s7")
        assert status == 0
        mine, = json.loads(output)["spaces"]
        theirs = ledger(ledger_api)
        assert set(mine) == set(theirs)
        return mine["blocks"] == theirs["blocks"]

    eventually(compared)


def test_the_command_tells_what_is_wrong(redis, create_space, spaces_command):
    create_space()
    redis.hset("space:{s7}", mapping={"forgot": 2, "gaps": "5-9 20-29 "})
    redis.zadd("issued:{s7}", {"0-3:1": 0})
    redis.set("cursor:{s7}", 40)
    status, output = spaces_command("--space", "s7")
    assert status == 0
    assert "4 blocks are lost" in output
    assert "2 times; 15 blocks were skipped" in output
    status, output = spaces_command("--space", "s6")
    assert status == 0 and "create-space --space s6" in output


def test_the_command_knows_no_other_space(redis, spaces_command):
    status, output = spaces_command("--space", "s9")
    assert status == 64 and "s9" in output


def test_the_command_says_that_redis_is_away(spaces_command):
    assert spaces_command()[0] in (69, 75)


def test_many_ranges_are_read_without_holding_redis_up(ledger_api, redis,
                                                       spaces_command):
    """30,000 ranges are read in pages: no single command may take long."""
    pipe = redis.pipeline(transaction=False)
    later = int(time.time() * 1000) + 10**9
    for i in range(30000):
        pipe.zadd("issued:{s6}", {f"{i * 8}-{i * 8 + 7}:1": later + i})
    pipe.set("cursor:{s6}", 240000)
    pipe.execute()
    ledger_api.program.stop()
    redis.config_resetstat()
    status, output = spaces_command("--json", "--space", "s6")
    assert json.loads(output)["spaces"][0]["blocks"]["live"] == 240000
    calls = redis.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert calls >= 60


# --- metrics and rules ----------------------------------------------------------

def test_the_ledger_is_on_metrics(ledger_api):
    ledger_api.create(space="s6")
    metric = ledger_api.program.metric
    ledger_api.program.wait_metric(2, "shortloop_space_live_blocks", space="s6")
    # They are read and reported one after another.
    for name in ("s7", "names"):
        eventually(lambda n=name: ledger_api.program.series(
            "shortloop_space_read_timestamp_seconds", space=n))
    ledger_api.program.wait_metric(2, "shortloop_space_cursor_blocks", space="s6")
    ledger_api.program.wait_metric(48, "shortloop_space_issued_blocks_per_day",
                                   space="s6")
    found = ledger(ledger_api, "s6")
    ledger_api.program.wait_metric(
        pytest.approx(86400 * found["days_to_exhaustion"], rel=1e-3),
        "shortloop_space_exhaustion_seconds", space="s6")
    assert metric("shortloop_space_exhaustion_seconds",
                  space="s7") == 31556952000  # never
    assert abs(metric("shortloop_space_read_timestamp_seconds", space="names")
               - time.time()) < 60


def test_a_space_that_was_not_read_has_no_metrics(redis, topic, create_space,
                                                  start):
    create_space()
    api = start(topic, ready=False, ledger_every="100ms")
    eventually(lambda: "shortloop_space_live_blocks" in metrics_of(api))
    assert '_blocks{space="s6"' not in metrics_of(api)


def metrics_of(api):
    try:
        return requests.get(api.program.admin + "/metrics", timeout=60).text
    except requests.ConnectionError:
        return ""


def test_every_metric_of_the_alert_rules_exists(redis, topic, create_space,
                                                keys_file, start, workdir):
    for name in ("s7", "s6", "names"):
        create_space(name=name)
    text = keys_file.path.read_text().splitlines()
    keys_file.path.write_text("\n".join([*text[:-1], text[-1] + " rate=9/s"])
                              + "\n")
    api = start(topic, ledger_every="100ms",
                audit_file=str(workdir / "audit.log"))
    # Each space's metrics come when it has been read, the last one's last.
    eventually(lambda: api.program.series(
        "shortloop_space_read_timestamp_seconds", space="names"))
    assert mistakes("allocator", metrics_of(api)) == []
    assert len(rules_of("allocator")) >= 10
