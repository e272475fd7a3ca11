"""Months whose counts are dropped `settled_days` later: nothing of them is left,
nothing of the next month is missing, and a question about them is answered with the
date from which counts are kept."""
import itertools
import time

import pytest
import requests

from support.asking import ask, ask_range
from support.clicks import counted, instant, rfc3339, some_clicks
from support.fault_proxy import FAULTS
from support.keeping import (CLICKHOUSE, DAY, LINKS, PATIENCE, bare, dropped_days, keeper,
                             problem, rows_left, wait_gone, wait_sealed, world)  # noqa: F401
from support.program import eventually

AUGUST, SEPTEMBER = instant("2026-08-30T00:00:00Z"), instant("2026-09-01T00:00:00Z")
LAST = SEPTEMBER + 2 * DAY


def settled_days():
    """Returns the number of days that keeps counts from September on."""
    return int(time.time() - instant("2026-09-15T00:00:00Z")) // DAY


def kept_from(clickhouse):
    return int(clickhouse.value("SELECT toUInt32(max(unit)) FROM settled "
                                "WHERE kind = 'kept_from'"))


def earliest(clickhouse, table, column):
    return int(clickhouse.value(
        f"SELECT toUInt32(toDateTime(min({column}), 'UTC')) FROM {table}"))


@pytest.mark.long
def test_counts_of_months_that_are_dropped_are_refused_and_not_counted_again(
        keeper, world, clickhouse):
    rows = some_clicks(50, 400, [(AUGUST, LAST)], links=(0, *LINKS))
    for n, append in enumerate((AUGUST + DAY, SEPTEMBER + DAY, LAST)):
        world.clock_ms = append * 1000
        world.insert(rows[n * 100:n * 100 + 100 if n < 2 else None],
                     append_ms=append * 1000)
    counted_hours = [SEPTEMBER - 40 * DAY, SEPTEMBER - 3 * DAY,
                     SEPTEMBER - DAY, SEPTEMBER]
    clickhouse.query("INSERT INTO redirector_counters (hour, boot) VALUES " +
                     ",".join(f"({hour}, 1)" for hour in counted_hours))
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 4)
    before = ask_range(made, SEPTEMBER, LAST, link_id=1, interval="day")
    assert ask(made, "/v1/links/code1/summary")["counted_from"] is None
    assert made.stop() == 0

    made = keeper(settled_days=settled_days())
    eventually(lambda: kept_from(clickhouse) == SEPTEMBER, PATIENCE,
               what="August to be dropped")
    for table, column in (("stats_hourly", "hour"), ("link_slots", "slot"),
                          ("link_days", "toDateTime(day, 'UTC')"),
                          ("sealed_slots", "slot"), ("settled", "unit"),
                          ("dropped_sources", "toDateTime(day, 'UTC')")):
        eventually(lambda t=table, c=column: earliest(clickhouse, t, c) == SEPTEMBER,
                   PATIENCE, what=f"{table} to go")

    def refused():
        answer = requests.get(made.url + "/v1/clicks", params={
            "from": rfc3339(AUGUST), "to": rfc3339(LAST)}, timeout=60)
        return answer.status_code == 400 and \
            "kept from 2026-09-01T00:00:00" in answer.json()["detail"]
    eventually(refused)
    for path, params in (("/v1/top", {}), ("/v1/clicks", {"link_id": 1})):
        assert "kept from 2026-09-01" in problem(
            made, path, **{**params, "from": rfc3339(AUGUST), "to": rfc3339(LAST)})
    assert ask(made, "/v1/pipeline")["counts_from"] == rfc3339(SEPTEMBER)
    assert bare(ask_range(made, SEPTEMBER, LAST, link_id=1, interval="day")) == \
        bare(before)
    kept = [row for row in rows if row["ts_ms"] >= SEPTEMBER * 1000]
    life = ask(made, "/v1/links/code1/summary")
    assert life["counted_from"] == rfc3339(SEPTEMBER)
    assert life["events"] == sum(row["link_id"] == 1 for row in kept)
    # Only reports of August are deleted; the newest of the partition stays.
    eventually(lambda: [int(row["first"]) for row in clickhouse.rows(
        "SELECT first FROM ingest_progress WHERE rows > 0 ORDER BY first")] ==
        [100, 200], PATIENCE)
    # The redirectors' counts of that time are deleted, too, except for two days before
    # the last month.
    eventually(lambda: [int(row["h"]) for row in clickhouse.rows(
        "SELECT toUInt32(hour) AS h FROM redirector_counters ORDER BY h")] ==
        counted_hours[2:], PATIENCE)

    # Late clicks of both months.
    world.clock_ms = None
    late = some_clicks(51, 60, [(SEPTEMBER - DAY, SEPTEMBER + DAY)], links=LINKS)
    world.insert(late)
    kept += [row for row in late if row["ts_ms"] >= SEPTEMBER * 1000]
    eventually(lambda: ask_range(made, SEPTEMBER, LAST)["total"]["events"] == len(kept),
               PATIENCE)
    eventually(lambda: rows_left(clickhouse) == 0, PATIENCE)
    assert earliest(clickhouse, "stats_hourly", "hour") == SEPTEMBER
    eventually(lambda: ask(made, "/v1/links/code2/summary")["events"] ==
               sum(row["link_id"] == 2 for row in kept), PATIENCE)


@pytest.mark.long
def test_a_month_is_not_dropped_while_rows_of_it_are_there(keeper, world, clickhouse):
    rows = some_clicks(52, 200, [(AUGUST, LAST)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 4)
    assert made.stop() == 0
    world.insert(some_clicks(53, 1, [(AUGUST, AUGUST + DAY)], links=LINKS),
                 progress=False)
    made = keeper(settled_days=settled_days())
    eventually(lambda: len(dropped_days(clickhouse)) == 3, PATIENCE)
    eventually(lambda: int(clickhouse.value(
        "SELECT uniqExact(toDate(ts)) FROM clicks")) == 1, PATIENCE)
    assert kept_from(clickhouse) == 0
    assert ask_range(made, AUGUST, LAST)["total"]["events"] == len(rows)


MONTH_STEPS = "settled:kept_from", "alter"


@pytest.fixture
def old_month(keeper, world, clickhouse):
    """Clicks of four days whose rows are dropped; two of the days are in August."""
    rows = some_clicks(54, 200, [(AUGUST, LAST)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 4)
    assert made.stop() == 0
    return rows


def august_is_dropped(made, clickhouse, rows):
    for table, column in (("stats_hourly", "hour"), ("link_days", "toDateTime(day, 'UTC')"),
                          ("sealed_slots", "slot"), ("owner_slots", "slot"),
                          ("dropped_sources", "toDateTime(day, 'UTC')"),
                          ("settled", "unit")):
        eventually(lambda t=table, c=column: earliest(clickhouse, t, c) >= SEPTEMBER,
                   PATIENCE, what=f"{table} to go")
    kept = [row for row in rows if row["ts_ms"] >= SEPTEMBER * 1000]
    assert ask_range(made, SEPTEMBER, LAST)["total"]["events"] == len(kept)
    for link in LINKS:
        mine = [row for row in kept if row["link_id"] == link]
        assert ask_range(made, SEPTEMBER, LAST, link_id=link)["total"] == counted(mine)
        assert ask(made, f"/v1/links/code{link}/summary")["events"] == len(mine)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_dropping_a_month(keeper, old_month, clickhouse, proxy,
                                                 fault):
    proxy.delay = 0.5
    made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s",
                  settle_timeout="4s", settled_days=settled_days(), start=False)
    for step in MONTH_STEPS[:1] + 4 * MONTH_STEPS[1:]:
        proxy.at(1, fault, step)
    made.start()
    august_is_dropped(made, clickhouse, old_month)
    assert proxy.faults() == {fault: 5}


@pytest.mark.long
def test_killed_at_any_moment_of_dropping_a_month(keeper, old_month, clickhouse, proxy):
    for step, carried_out in itertools.product(MONTH_STEPS, (False, True)):
        made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s",
                      settled_days=settled_days(), start=False)
        proxy.call_at(1, made.kill, step, carried_out)
        made.start(ready=False)
        eventually(lambda m=made: not m.process.running(), PATIENCE, what="the kill")
    two = [keeper(lease="1s", settled_days=settled_days()) for _ in range(2)]
    for made in two:
        august_is_dropped(made, clickhouse, old_month)
