"""Days whose rows of `clicks` are dropped, by an aggregator that deletes as soon as
allowed; a test file gets the fixtures by `from support.keeping import keeper, world  #
noqa: F401`."""
import time

import pytest
import requests

from support.asking import ask_range
from support.clicks import (DAILY, DIMENSIONS, counted, expected_data, groups_of,
                            instant, rfc3339)
from support.program import eventually

# The range is older than RAW_DAYS, whenever the test runs.
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-27T00:00:00Z")
DAY = 86400
DAYS = (TO - FROM) // DAY
LINKS = (1, 2, 3)
OWNERS = ("ann", "bob")
RAW_DAYS = 5
PATIENCE = 120

# All that is written about a sealed day until its rows are dropped, in order; then come
# dropped_sources and `settled`, and the statement that deletes.
CLOSING = ("sealed_slots", "settled:sealing", "settled:sealed_day", "owner_slots",
           "owner_values", "settled:copying", "settled:owner_day", "day_values",
           "settled:valuing", "settled:value_day", "sampled_clicks", "settled:sampling",
           "settled:sampled_day", "link_values", "settled:link_valuing",
           "settled:link_value_day", "stats_spans", "settled:spanning",
           "settled:spanned_day")
DROPPING = ("dropped_sources", "settled:dropped_day", "alter")

# Settings that delete rows as soon as allowed.
CLICKS = {"late_window": "1m"}
SOON = {"resettle_every": "0s", "clean_every": "1s",
        "keep_superseded": "7s", "watermark_every": "500ms", "owner_rows_max": 0}
CLICKHOUSE = {"query_timeout": "4s"}


def caught_up(world, partition=0):
    """Reports that the partition's log was read up to now, which makes the days old."""
    world.report([], partition, int(time.time() * 1000))


def put_ahead(clickhouse):
    """Inserts data from a time when ClickHouse's clock was a year ahead: since then all
    numbers are beyond that time."""
    ahead = int(time.time()) + 365 * DAY
    clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt, settled_at, settler) SELECT 'pass', "
        f"toDateTime({ahead}), bitShiftLeft(toUInt64({ahead}) * 1000, 20), "
        f"toDateTime64({ahead}, 3), 'ahead'")


@pytest.fixture
def world(migrated):
    for link in LINKS:
        migrated.link(f"code{link}", link)
    caught_up(migrated)
    return migrated


@pytest.fixture
def keeper(program, redis):
    """keeper(raw_days, ...) returns an aggregator that deletes as soon as allowed."""
    def make(raw_days=RAW_DAYS, clickhouse=CLICKHOUSE, clicks=CLICKS, start=True,
             **settings):
        return program("aggregator", {
            "clicks": clicks, "clickhouse": clickhouse,
            "aggregator": {"settle_every": "500ms", "raw_days": raw_days,
                           **SOON, **settings}}, start=start)
    return make


def rows_left(clickhouse):
    return int(clickhouse.value("SELECT count() FROM clicks"))


def dropped_days(clickhouse):
    """Returns {start of the day: number of its last drop}."""
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
        "maxIf(attempt, kind = 'owner_day'), maxIf(attempt, kind = 'value_day'), "
        "maxIf(attempt, kind = 'sampled_day')) > "
        "maxIf(attempt, kind IN ('hour', 'link_day')))")) == days,
        PATIENCE, what="the days to be sealed and copied for owners")


def of_owner(rows, owner):
    """Returns the owner's rows; clicks without a link have no owner."""
    return [r for r in rows if r["owner"] == owner and r["link_id"]]


def is_counted(made, rows):
    """Returns whether everything is counted: hours, links, owners and days' values."""
    def events(**params):
        return ask_range(made, FROM, TO, interval="month", **params)["total"]["events"]
    return events() == len(rows) and all(
        events(link_id=link) == sum(r["link_id"] == link for r in rows)
        for link in LINKS) and all(
        events(account="acme", owner=owner) == len(of_owner(rows, owner)) for owner in OWNERS) and \
        sum(g["events"] for g in ask_range(made, FROM, TO, group_by="region")["groups"]) \
        == len(rows)


def wait_counted(made, rows):
    eventually(lambda: is_counted(made, rows), PATIENCE, what="all to be counted")


def assert_counted(made, rows):
    """Checks all counts from FROM to TO exactly."""
    for link in LINKS:
        mine = [row for row in rows if row["link_id"] == link]
        for interval, bots in (("hour", "exclude"), ("day", "include"),
                               ("month", "only")):
            answer = ask_range(made, FROM, TO, link_id=link, interval=interval,
                               bots=bots)
            assert [{**item, "start": instant(item["start"])}
                    for item in answer["data"]] == \
                expected_data(mine, FROM, TO, interval, "UTC", bots)
            assert answer["total"] == counted(mine, bots)
            assert answer["unique_error"] == 0
    for owner in OWNERS:
        mine = of_owner(rows, owner)
        answer = ask_range(made, FROM, TO, account="acme", owner=owner, group_by="country",
                           bots="include")
        assert answer["total"] == counted(mine, "include")
        assert {g["value"]: g["events"] for g in answer["groups"]} == {
            value: counts["events"]
            for value, counts in groups_of(mine, "country").items()}
    for bots in ("exclude", "include"):
        assert ask_range(made, FROM, TO, bots=bots)["total"] == counted(rows, bots)
    for name in {*DIMENSIONS, *DAILY} - {"tag", "link"}:
        groups = ask_range(made, FROM, TO, group_by=name, bots="include")["groups"]
        assert {g["value"]: g["events"] for g in groups} == {
            value: counts["events"] for value, counts in groups_of(rows, name).items()}


def problem(made, path="/v1/clicks", **params):
    """Returns the detail of the 400."""
    answer = requests.get(made.url + path, params={
        "from": rfc3339(FROM), "to": rfc3339(TO), **params}, timeout=60)
    assert answer.status_code == 400, answer.text
    return answer.json()["detail"]


def bare(answer):
    """Returns the answer without fields that change with time."""
    return {k: v for k, v in answer.items() if k not in ("revision", "complete_until")}
