"""Days whose rows of `clicks` are dropped, by an aggregator that deletes as soon as it may;
a test file says `from support.keeping import keeper, world  # noqa: F401` for the
fixtures."""
import time

import pytest

from support.clicks import instant
from support.program import eventually

# Longer ago than RAW_DAYS, whenever this runs.
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-27T00:00:00Z")
DAY = 86400
DAYS = (TO - FROM) // DAY
LINKS = (1, 2, 3)
OWNERS = ("ann", "bob")
RAW_DAYS = 5
PATIENCE = 120

# What deletes rows as soon as it may.
CLICKS = {"late_window": "1m"}
SOON = {"resettle_every": "0s", "clean_every": "1s",
        "keep_superseded": "7s", "watermark_every": "500ms", "owner_rows_max": 0}
CLICKHOUSE = {"query_timeout": "4s"}


def caught_up(world, partition=0):
    """The partition's log was read up to now: by that days are old."""
    world.report([], partition, int(time.time() * 1000))


@pytest.fixture
def world(migrated):
    for link in LINKS:
        migrated.link(f"code{link}", link)
    caught_up(migrated)
    return migrated


@pytest.fixture
def keeper(program, redis):
    """keeper(raw_days, ...): an aggregator that deletes as soon as it may."""
    def make(raw_days=RAW_DAYS, clickhouse=CLICKHOUSE, start=True, **settings):
        return program("aggregator", {
            "clicks": CLICKS, "clickhouse": clickhouse,
            "aggregator": {"settle_every": "500ms", "raw_days": raw_days,
                           **SOON, **settings}}, start=start)
    return make


def rows_left(clickhouse):
    return int(clickhouse.value("SELECT count() FROM clicks"))


def dropped_days(clickhouse):
    """{start of the day: number of its last drop}"""
    return {int(row["d"]): int(row["n"]) for row in clickhouse.rows(
        "SELECT toUInt32(unit) AS d, max(attempt) AS n FROM settled "
        "WHERE kind = 'dropped_day' GROUP BY d")}


def wait_gone(clickhouse, days=DAYS):
    eventually(lambda: len(dropped_days(clickhouse)) == days, PATIENCE,
               what="the days to be dropped")
    eventually(lambda: rows_left(clickhouse) == 0, PATIENCE,
               what="the rows to be deleted")


def wait_sealed(clickhouse, days=DAYS):
    eventually(lambda: int(clickhouse.value(
        "SELECT count() FROM (SELECT intDiv(toUInt32(unit), 86400) AS d FROM settled "
        "GROUP BY d HAVING least(maxIf(attempt, kind = 'sealed_day'), "
        "maxIf(attempt, kind = 'owner_day'), maxIf(attempt, kind = 'value_day')) > "
        "maxIf(attempt, kind IN ('hour', 'link_day')))")) == days,
        PATIENCE, what="the days to be sealed and copied for owners")


def of_owner(rows, owner):
    """Those of no link are nobody's."""
    return [r for r in rows if r["owner"] == owner and r["link_id"]]
