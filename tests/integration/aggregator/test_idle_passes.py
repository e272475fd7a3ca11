"""A settler without work sends few queries, and still misses nothing: neither new
events nor work that becomes due by time."""
import pytest

from support.asking import ask_range
from support.clicks import (counted, expected_link_counts, instant, link_counts,
                            some_clicks)
from support.program import eventually

START, END = instant("2026-10-03T00:00:00Z"), instant("2026-10-04T00:00:00Z")
# The beginnings of the statements of each pass, and of those that search for work.
PASS = "SELECT toUnixTimestamp64Milli(max(t)) FROM (SELECT inserted_at"
LOOKS = ("WITH touched AS", "WITH dropped AS", "SELECT countIf(hourly)")
PASSES = 12


@pytest.fixture
def aggregator(migrated, redis, program, proxy):
    def make(**settings):
        return program("aggregator", {
            "clickhouse": {"url": proxy.url},
            "clicks": {"late_window": "3650d"},
            "aggregator": {"settle_every": "200ms", "resettle_every": "0s",
                           **settings}})
    return make


def assert_settled(made, migrated, rows):
    eventually(lambda: ask_range(made, START, END, interval="month")["total"] ==
               counted(rows), what="the hours to be settled")
    eventually(lambda: link_counts(migrated.clickhouse) ==
               expected_link_counts(rows), what="the day to be settled")


def wait_idle(proxy):
    """Waits until at most four of its last passes searched for work, once each."""
    def idle():
        asked = [p.query for p in list(proxy.passed)]
        passes = [i for i, query in enumerate(asked) if query.startswith(PASS)]
        if len(passes) < PASSES:
            return False
        return all(sum(query.startswith(look) for query in asked[passes[-PASSES]:])
                   <= PASSES // 3 for look in LOOKS)
    eventually(idle, what=f"{PASSES} passes that ask little")


@pytest.mark.proof
def test_one_that_has_nothing_to_do_asks_little_and_sees_what_is_new(
        aggregator, migrated, proxy):
    rows = some_clicks(61, 300, [(START, END)])
    made = aggregator()
    migrated.insert(rows[:200])
    assert_settled(made, migrated, rows[:200])
    wait_idle(proxy)

    migrated.insert(rows[200:])

    assert_settled(made, migrated, rows)
    wait_idle(proxy)


@pytest.mark.proof
def test_what_time_makes_due_is_done_by_one_that_is_idle(aggregator, migrated):
    """The day is settled again once resettle_every has passed."""
    rows = some_clicks(62, 300, [(START, END)])
    made = aggregator(resettle_every="4s")
    migrated.insert(rows[:200])
    assert_settled(made, migrated, rows[:200])

    migrated.insert(rows[200:])

    assert_settled(made, migrated, rows)
