"""A settler guarantees no more than it has searched for, although nothing seemed to be
due, and ignores times from a clock that was ahead."""
import random
import time

import pytest

from support.asking import ask_range
from support.clicks import (expected_link_counts, instant, link_counts, make_click,
                            some_clicks)
from support.fault_proxy import Call
from support.program import PATIENCE, eventually

HOUR = 3600
DAY = 24 * HOUR
DELAY = 5
# The queries of a pass that detect changes, that are read before hours are listed, and
# that list hours.
LOOKS = "FROM system.parts AS p WHERE p.active"
READS = "SELECT toUnixTimestamp64Milli(max(t)) FROM (SELECT inserted_at"
LISTS = "WITH touched"


def clicks_of(number, count, at):
    chance = random.Random(number)
    return [make_click(chance, at * 1000 + i, 1) for i in range(count)]


def was_quiet(proxy):
    """Returns whether the last whole pass listed no hours."""
    asked = [p.query for p in list(proxy.passed)]
    passes = [i for i, query in enumerate(asked) if query.startswith(READS)]
    return len(passes) > 1 and not any(
        query.startswith(LISTS) for query in asked[passes[-2]:passes[-1]])


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_block_that_comes_when_a_pass_has_looked_is_not_promised_before_it_is_settled(
        migrated, redis, program, proxy):
    now = int(time.time())
    hour = now // HOUR * HOUR
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url},
        "clicks": {"late_window": "3650d", "edge_delay": f"{DELAY}s"},
        "aggregator": {"settle_every": "1s", "resettle_every": "0s"}})

    def answer():
        got = ask_range(made, hour - 4 * HOUR, hour + HOUR, interval="month")
        return got["complete_until"], got["total"]["events"]
    migrated.insert(clicks_of(0, 50, now - 7300), append_ms=(now - 7200) * 1000)
    eventually(lambda: answer()[1] == 50, PATIENCE)
    count = 50
    # Each fourth pass searches nevertheless, and so does the pass over days.
    for number in range(1, 9):
        append = now - 3600 + 10 * number
        more = clicks_of(number, 30, now - 3650)
        eventually(lambda: was_quiet(proxy), PATIENCE)
        looking = proxy.hold(words=LOOKS, fault=Call(
            lambda: migrated.insert(more, append_ms=append * 1000), carried_out=True))
        looking.release()
        assert looking.met.wait(PATIENCE)
        count += 30

        def is_settled():
            until, events = answer()
            if not until or instant(until) < append - DELAY:
                return False
            assert events == count
            return True
        eventually(is_settled, PATIENCE)


@pytest.mark.proof
def test_a_day_settled_by_a_clock_that_was_ahead_is_settled_again(migrated, redis,
                                                                  program):
    start = instant("2026-10-03T00:00:00Z")
    rows = some_clicks(61, 300, [(start, start + DAY)])
    config = {"clicks": {"late_window": "7d"},
              "aggregator": {"settle_every": "300ms", "resettle_every": "0s",
                             "recheck_every": "2s"}}
    made = program("aggregator", config)
    migrated.insert(rows[:200])
    eventually(lambda: link_counts(migrated.clickhouse) ==
               expected_link_counts(rows[:200]), PATIENCE)
    assert made.stop() == 0
    # The rows have times from a ClickHouse that is a year ahead.
    migrated.clickhouse.query(
        "INSERT INTO settled SELECT * REPLACE "
        "(settled_at + INTERVAL 365 DAY AS settled_at) "
        "FROM settled WHERE kind = 'link_day'")
    program("aggregator", config)
    migrated.insert(rows[200:])
    eventually(lambda: link_counts(migrated.clickhouse) == expected_link_counts(rows),
               PATIENCE, what="the day to be settled again")
