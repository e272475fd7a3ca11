"""Numbers of attempts that are ahead of time, since ClickHouse's clock was: superseded
data are deleted nevertheless, and nothing is published that may have been deleted with
them."""
import pytest

from support.clicks import expected_link_counts, link_counts, some_clicks
from support.keeping import (DAY, FROM, LINKS, PATIENCE, assert_counted,
                             dropped_days, keeper, put_ahead, wait_counted,
                             world)  # noqa: F401
from support.program import eventually

# Attempts are deleted when they have been known to be over for five quarters of
# keep_superseded, and settle_timeout.
SOON_OVER = {"keep_superseded": "5s", "settle_timeout": "4s", "reconcile_every": "0s"}
QUICK = {"query_timeout": "3s"}
# The same on a busy machine, where a statement that deletes may take longer than QUICK
# allows, each time again, so that waiting for it would be useless.
OVER = {**SOON_OVER, "keep_superseded": "20s", "settle_timeout": "15s"}
PATIENT = {"query_timeout": "15s"}

TABLES = {"stats_hourly": "hour", "link_slots": "toDate(slot)", "link_days": "day",
          "sealed_slots": "toDate(slot)", "owner_slots": "toDate(slot)",
          "owner_values": "(day, dimension)", "day_values": "day",
          "stats_spans": "dimension", "dropped_sources": "day"}


def attempts(clickhouse):
    return {table: {row["attempt"] for row in clickhouse.rows(
        f"SELECT DISTINCT attempt FROM {table}")} for table in TABLES}


def superseded(clickhouse):
    """For a dropped day: the tables, and kinds of `settled`, that have more than one
    attempt."""
    more = {table for table, unit in TABLES.items() if clickhouse.rows(
        f"SELECT {unit} AS u FROM {table} GROUP BY u HAVING uniqExact(attempt) > 1")}
    return more | {row["kind"] for row in clickhouse.rows(
        "SELECT DISTINCT kind FROM (SELECT kind, unit FROM settled WHERE kind != 'pass' "
        "GROUP BY kind, unit HAVING uniqExact(attempt) > 1)")}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_superseded_attempts_go_where_clickhouses_clock_was_ahead(keeper, world,
                                                                  clickhouse):
    put_ahead(clickhouse)
    rows = some_clicks(1, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(clickhouse=PATIENT, **OVER)
    eventually(lambda: dropped_days(clickhouse), PATIENCE, what="a drop")
    first, before = dropped_days(clickhouse), attempts(clickhouse)
    late = some_clicks(2, 50, [(FROM, FROM + 7200)], links=LINKS)
    world.insert(late)
    eventually(lambda: dropped_days(clickhouse)[FROM] > first[FROM], PATIENCE,
               what="another")

    eventually(lambda: superseded(clickhouse) == set(), 3 * PATIENCE,
               what="superseded rows to go")

    after = attempts(clickhouse)
    assert not [table for table in TABLES if not after[table] - before[table]]
    wait_counted(made, rows + late)
    assert_counted(made, rows + late)


class Late:
    """Holds the next statement of a kind until its attempt must be published."""

    def __init__(self, clickhouse, proxy, kind):
        held = proxy.hold(kind)
        assert held.here.wait(PATIENCE), f"no {kind}"
        params = next(p.params for p in reversed(proxy.passed)
                      if kind in (p.kind, p.says))
        self.attempt, until = params["param_attempt"], int(params["param_until"])

        def left():
            return until - int(clickhouse.value("SELECT toUnixTimestamp64Milli(now64(3))"))
        assert left() < 60000
        eventually(lambda: left() < 0, PATIENCE, what="it to be late")
        held.release()
        assert held.met.wait(PATIENCE)


@pytest.mark.long
def test_what_took_too_long_is_not_published_where_clickhouses_clock_was_ahead(
        keeper, world, clickhouse, proxy):
    put_ahead(clickhouse)
    rows = some_clicks(3, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    keeper(raw_days=0, clickhouse={**QUICK, "url": proxy.url},
           **{**SOON_OVER, "settle_timeout": "1m"})

    # The aggregator refuses one without a query; the server refuses one that comes too
    # late.
    staged = Late(clickhouse, proxy, "link_slots")
    published = Late(clickhouse, proxy, "settled:link_day")

    eventually(lambda: link_counts(clickhouse) == expected_link_counts(rows), PATIENCE,
               what="the day to be settled")
    assert staged.attempt not in {p.params["param_attempt"] for p in proxy.passed
                                  if p.says == "settled:link_day"}
    assert published.attempt not in {row["tried"] for row in clickhouse.rows(
        "SELECT toString(attempt) AS tried FROM settled WHERE kind = 'link_day'")}
