"""Stored clicks that wait to be settled are neither lost nor counted, and no view says
that it has them."""
import time

import pytest

from support.asking import aggregator, ask, ask_range, settled  # noqa: F401
from support.clicks import instant, rfc3339, some_clicks
from support.program import eventually

HOUR, DAY = 3600, 86400
LOG = "import:old.log"
NOTHING_LOST = {"answered_produced": 0, "produced_acknowledged": 0,
                "acknowledged_stored": 0, "stored_settled": 0}


@pytest.fixture
def doctor(program):
    """Runs it; returns {line: (level, text)}."""
    def run():
        _, said = program("aggregator", {"aggregator": {"settle_every": "500ms"}},
                          start=False, args=["doctor"]).run()
        lines = [line.split(None, 1) for line in said.splitlines()
                 if line.startswith(("ok ", "behind ", "WRONG "))]
        return {rest[:15].rstrip(): (level, rest[16:]) for level, rest in lines}
    return run


def reconciled(made, start):
    answer = ask(made, "/v1/reconciliation", **{
        "from": rfc3339(start), "to": rfc3339(start + HOUR)})
    return answer["hours"][0]


def wrong_lines(page):
    return {line: text for line, (level, text) in page.items() if level == "WRONG"}


@pytest.fixture
def past(migrated):
    """The start of an hour that is over and settled, and of which redirectors have
    reported nothing but which an import has rows of."""
    now = int(time.time())
    hour = now // HOUR * HOUR - 2 * HOUR
    migrated.link("code1", 1)
    migrated.insert(some_clicks(1, 100, [(hour, hour + HOUR)], links=(1,)), topic=LOG)
    migrated.report([], 0, now * 1000)
    return hour


def test_rows_that_wait_are_not_lost(aggregator, migrated, past, doctor):
    made = aggregator()
    eventually(lambda: reconciled(made, past)["complete"], what="the hour to be complete")
    assert made.stop() == 0

    # It settles once, and then not until the test is over.
    made = aggregator(settle_every="1h", reconcile_every="1h")
    eventually(lambda: made.metric("shortloop_aggregator_reconciled_hours") == 24)
    migrated.insert(some_clicks(2, 40, [(past, past + HOUR)], links=(1,)), topic=LOG)
    hour = reconciled(made, past)
    assert (hour["imported"], hour["settled"], hour["waiting"]) == (140, 100, 40)
    assert (hour["lost"], hour["complete"]) == (NOTHING_LOST, False)
    page = doctor()
    assert wrong_lines(page) == {}
    assert page["waiting"][1].startswith("40 events ")
    assert made.stop() == 0

    made = aggregator(reconcile_every="100ms")
    eventually(lambda: reconciled(made, past)["complete"], what="the rows to be settled")
    hour = reconciled(made, past)
    assert (hour["settled"], hour["waiting"], hour["lost"]) == (140, 0, NOTHING_LOST)
    assert doctor()["waiting"][1].startswith("0 events ")


@pytest.mark.proof
def test_what_is_lost_is_told_once_nothing_waits(aggregator, migrated, past, doctor):
    made = aggregator(reconcile_every="100ms")
    eventually(lambda: reconciled(made, past)["complete"], what="the hour to be complete")
    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset < 3 "
                              "SETTINGS mutations_sync = 1")
    assert reconciled(made, past)["lost"]["stored_settled"] == -3
    eventually(lambda: made.metric("shortloop_aggregator_surplus_events",
                                   between="stored_settled") == 3,
               what="the metric to report it")
    assert "97 rows of clicks, 100 events" in wrong_lines(doctor())["rows"]


def day_of(made, start):
    """Returns what /v1/visit-statistics says of a day and its range."""
    answer = ask_range(made, start, start + DAY, path="/v1/visit-statistics", link_id=1)
    day = answer["days"][0]
    assert (answer["complete"], answer["waiting"]) == (day["complete"], day["waiting"])
    return day["pv"], day["complete"], day["waiting"]


def counted_of(made):
    return ask(made, "/v1/links", sort="clicks")["counted"]


def test_a_day_waits_until_it_is_settled_with_what_an_import_brought(
        aggregator, migrated):
    """It is settled again soon after, whatever resettle_every is."""
    today = int(time.time()) // DAY * DAY
    day = today - 3 * DAY
    migrated.link("code1", 1)
    migrated.insert(some_clicks(1, 100, [(day, day + DAY)], links=(1,)), topic=LOG)
    migrated.report([], 0, int(time.time()) * 1000)
    made = aggregator()
    eventually(lambda: day_of(made, day) == (100, True, False), what="the day")
    eventually(lambda: counted_of(made)["complete"], what="the list to be complete")
    assert made.stop() == 0

    made = aggregator(settle_every="1h")  # it settles once
    eventually(lambda: made.metric("shortloop_aggregator_settle_seconds_count") == 1)
    migrated.insert(some_clicks(2, 40, [(day, day + DAY)], links=(1,)), topic=LOG)
    assert day_of(made, day) == (100, False, True)
    counted = counted_of(made)
    assert (counted["complete"], counted["waiting"]) == (
        False, [rfc3339(day)[:10]])
    waiting = ask(made, "/v1/pipeline")["waiting"]
    assert waiting["hours"]["count"] > 0
    assert day <= instant(waiting["hours"]["oldest"]) < day + DAY
    assert made.stop() == 0

    made = aggregator(resettle_every="7d")
    eventually(lambda: day_of(made, day) == (140, True, False), what="the day again")
    eventually(lambda: counted_of(made)["waiting"] == [])
    waiting = ask(made, "/v1/pipeline")["waiting"]
    assert [(waiting[unit]["count"], waiting[unit]["oldest"], waiting[unit]["done_at"])
            for unit in ("hours", "days")] == [(0, None, None)] * 2
    made.wait_metric(0, "shortloop_aggregator_waiting")
