"""The redirectors' counts are compared with what is stored and settled: real visits,
Kafka, collector, ClickHouse and aggregator."""
import csv
import signal

import pytest
import requests

from support.alerts import mistakes
from support.clicks import instant, rfc3339
from support.events import click
from support.program import eventually, series_of
from support.reconciling import (  # noqa: F401
    HOUR, LOST, NOTHING_LOST, make_world, world)
from support.redirects import (  # noqa: F401
    LINKS_SECTION, domains_config, links, make_links, visit)

@pytest.mark.proof
def test_all_figures_of_an_hour_are_equal_and_what_is_missing_is_told(world):
    redirector = world.redirector()
    world.visit(redirector, 20)
    visit(f"{redirector.url}/{world.code}", "HEAD")
    for _ in range(3):
        assert visit(f"{redirector.url}/nolink").status_code == 404
    # These are answered, but have no event.
    assert visit(f"{redirector.url}/{world.code}", "PUT").status_code == 405
    assert visit(f"{redirector.url}/").status_code == 404
    # The counters are sent from time to time while it runs.
    world.wait(acknowledged=24)
    assert redirector.stop() == 0

    hour = world.wait(settled=24, reported=True, complete=True)
    assert hour["answered"] == {"redirected": 20, "not_found": 3, "expired": 0,
                                "blocked": 0, "head": 1, "silent": 2}
    # The redirector's clock is two hours behind, and Kafka's is not.
    assert {hour[name] for name in ("produced", "acknowledged", "stored",
                                    "settled", "late")} == {24}
    assert {hour[name] for name in ("dropped", "spooled", "replayed", "imported",
                                    "repeats", "repeats_removed")} == {0}
    assert hour["lost"] == NOTHING_LOST
    assert hour["unknown"] == {"redirectors": 0, "minutes": 0, "rows": 0,
                               "inexact": False}
    assert world.reconciliation()["gaps"] == []
    # The hours beside it had no visits: that is known, too.
    hours = world.reconciliation(hours=2)["hours"]
    assert [h["produced"] for h in hours] == [24, 0] and hours[1]["reported"]

    rows = list(csv.DictReader(world.ask(format="csv").text.splitlines()))
    assert len(rows) == 1 and rows[0]["complete"] == "1"
    assert {rows[0][name] for name in ("produced", "acknowledged", "stored",
                                       "settled", "late")} == {"24"}
    assert {rows[0][f"lost_{name}"] for name in LOST} == {"0"}

    # Repeated records, and old ones after new ones, change nothing.
    world.kafka.produce(world.topics["topic_counters"],
                        world.records() * 2)
    # An invalid record becomes a dead letter, and does not stop later ones.
    world.kafka.produce(world.topics["topic_counters"], [b"\xff no record"])
    letters = world.kafka.consume(world.topics["topic_dlq"], 1)
    assert letters[0].value() == b"\xff no record"
    assert dict(letters[0].headers())["topic"].decode() == \
        world.topics["topic_counters"]
    counted = len(world.records()) - 1
    assert counted > 3
    eventually(lambda: world.collector.metric(
        "shortloop_collector_counters_stored_total") == counted)
    assert world.told() == hour

    # A missing row is reported, to the row.
    world.tables.query("ALTER TABLE clicks DELETE WHERE offset = 7 "
                       "SETTINGS mutations_sync = 1")
    hour = world.wait(stored=23)
    assert hour["lost"] == {**NOTHING_LOST, "acknowledged_stored": 1,
                            "stored_settled": -1}
    # The metrics, which cover a day's hours, report it, too.
    world.aggregator.wait_metric(1, "shortloop_aggregator_lost_events",
                                 between="acknowledged_stored")
    world.aggregator.wait_metric(1, "shortloop_aggregator_surplus_events",
                                 between="stored_settled")
    world.aggregator.wait_metric(0, "shortloop_aggregator_lost_events",
                                 between="produced_acknowledged")
    world.aggregator.wait_metric(0, "shortloop_aggregator_unknown_hours")
    world.aggregator.wait_metric(24, "shortloop_aggregator_reconciled_hours")
    # The view of the whole pipeline shows it, too.
    loss = eventually(lambda: (found := world.pipeline().get("loss")) and
                      found["surplus"]["stored_settled"] and found)
    assert loss["lost"] == {**NOTHING_LOST, "acknowledged_stored": 1}
    assert loss["surplus"] == {**NOTHING_LOST, "stored_settled": 1}
    assert (loss["hours"], loss["unknown_hours"], loss["late"]) == (24, 0, 23)
    assert instant(loss["to"]) - instant(loss["from"]) == 24 * HOUR
    told = eventually(lambda: (found := world.pipeline())["lag"] and
                      found["lag"]["events"] == 0 and found, 120,
                      what="the collector to tell of its partitions")
    assert told["exactly_once"]
    assert "measured: window" in told["collectors"][0]["guarantee"]
    assert {p["topic"] for p in told["collectors"][0]["partitions"]} <= set(
        world.topics.values())

    # Late events, which no redirector counted, are in the hour of their time.
    at = (world.hour + 100) * 1000
    again = click(number=10 ** 9, time_ms=at, maybe_sent=True)
    world.kafka.produce(world.topics["topic_clicks"],
                        [click(time_ms=at), again, again])
    hour = world.wait(stored=26)
    assert hour["repeats"] == 1
    # An hour with a missing row is held back until an operator accepts that; until then
    # the new rows wait.
    eventually(lambda: world.told()["lost"]["stored_settled"] == 2)
    world.settle("--allow-fewer")
    hour = world.wait(settled=26)
    assert hour["lost"] == {**NOTHING_LOST, "acknowledged_stored": -2}

    # Events of an edge without counters do not count as a surplus.
    world.kafka.produce(world.topics["topic_clicks"],
                        [click(time_ms=at, edge="silent")])
    hour = world.wait(stored=27, reported=False)
    assert hour["unknown"]["rows"] == 1 and not hour["complete"]


@pytest.mark.proof
def test_what_is_spooled_is_told_and_in_the_end_nothing_is_lost(
        world, workdir, kafka_server):
    redirector = world.redirector(spool_dir=str(workdir / "spool"),
                                  kafka={"queue_messages": 10})
    kafka_server.signal(signal.SIGSTOP)
    try:
        world.visit(redirector, 40)
        redirector.wait_metric(30, "shortloop_redirector_spool_events")
    finally:
        kafka_server.signal(signal.SIGCONT)
    world.wait(acknowledged=40)
    assert redirector.stop() == 0
    hour = world.wait(settled=40, complete=True)
    assert (hour["produced"], hour["spooled"], hour["replayed"],
            hour["dropped"], hour["repeats"]) == (40, 30, 30, 0, 0)
    assert hour["lost"] == NOTHING_LOST


@pytest.mark.proof
def test_an_event_that_was_withheld_by_rule_is_not_lost(world):
    blocked = world.links.create()
    world.links.edit(blocked, state=2)
    redirector = world.redirector(event_rate_not_found=0, event_rate_blocked=1)
    world.visit(redirector, 3)
    for _ in range(5):
        assert visit(f"{redirector.url}/nolink").status_code == 404
    asked = []

    def one_is_withheld():
        asked.append(visit(f"{redirector.url}/{blocked}").status_code)
        return redirector.metric("shortloop_redirector_events_withheld_total",
                                 outcome="blocked")
    eventually(one_is_withheld, every=0)
    redirector.wait_metric(5, "shortloop_redirector_events_withheld_total",
                           outcome="not_found")
    assert redirector.stop() == 0
    assert set(asked) == {451}

    # The first redirector was not there.
    hour = world.wait(reported=True, complete=True)
    assert hour["answered"] == {"redirected": 3, "not_found": 5, "expired": 0,
                                "blocked": len(asked), "head": 0, "silent": 0}
    assert 5 < hour["withheld"] < 5 + len(asked)
    sent = 3 + 5 + len(asked) - hour["withheld"]
    hour = world.wait(settled=sent)
    assert {hour[name] for name in ("produced", "acknowledged",
                                    "stored")} == {sent}
    assert hour["lost"] == NOTHING_LOST and hour["dropped"] == 0
    row, = csv.DictReader(world.ask(format="csv").text.splitlines())
    assert row["withheld"] == str(hour["withheld"])
    # There is no value before the first reconciliation; later settled data are in the
    # next one.
    eventually(lambda: (loss := world.pipeline()["loss"]) and loss["hours"] == 24 and
               loss["lost"] == NOTHING_LOST, what="that nothing is lost")
    kept = world.tables.query(
        "SELECT withheld FROM reconciled_hours FINAL "
        f"WHERE hour = toDateTime({world.hour}, 'UTC')")
    assert str(kept).strip() == str(hour["withheld"])


@pytest.mark.long
def test_a_redirector_that_was_killed_is_unknown_until_it_is_there_again(world):
    redirector = world.redirector()
    # Its last record has these visits.
    world.visit(redirector, 5)
    world.wait(acknowledged=5)
    redirector.kill()
    # The end is known only in hindsight, since no record announced it.
    hour = world.wait(settled=5, reported=False)
    assert hour["unknown"]["redirectors"] == 1
    # The unknown time is the second half of the hour, and all of the next one.
    assert 20 <= hour["unknown"]["minutes"] <= 30
    assert world.reconciliation(hours=2)["hours"][1]["unknown"] == {
        "redirectors": 1, "minutes": 60, "rows": 0, "inexact": False}
    gap, = world.reconciliation()["gaps"]
    assert gap["instance"] == "here"
    eventually(lambda: world.aggregator.metric(
        "shortloop_aggregator_unknown_hours") >= 1)

    # Another edge's redirector does not change that; the next one here does.
    elsewhere = world.redirector("elsewhere")
    world.visit(elsewhere, 1)
    assert elsewhere.stop() == 0
    world.wait(acknowledged=6, unknown=hour["unknown"])
    successor = world.redirector()
    world.visit(successor, 2)
    assert successor.stop() == 0
    hour = world.wait(settled=8, acknowledged=8)
    eventually(lambda: world.told()["unknown"]["minutes"] < 20)
    hour = world.told()
    assert hour["unknown"]["redirectors"] == 1 and not hour["reported"]
    assert hour["lost"] == NOTHING_LOST and not hour["complete"]
    # This waits for the successor's last record, which comes after its visits are
    # reported.
    eventually(lambda: world.reconciliation(hours=2)["hours"][1]["reported"])


@pytest.mark.long
def test_what_waits_for_a_broker_is_not_lost(world, kafka_server):
    redirector = world.redirector()
    world.visit(redirector, 2)
    world.wait(acknowledged=2)
    kafka_server.kill()
    eventually(lambda: redirector.ready()[0] == 503)
    world.visit(redirector, 8)
    kafka_server.start()
    hour = world.wait(settled=10, acknowledged=10)
    assert redirector.stop() == 0
    hour = world.wait(reported=True)
    assert hour["answered"]["redirected"] == 10
    assert hour["lost"] == NOTHING_LOST and hour["dropped"] == 0


@pytest.mark.proof
def test_what_did_not_reach_kafka_is_dropped_and_who_tells_nothing_unknown(world):
    """One topic of clicks refuses records of this size; that of counters does not."""
    own = dict(world.topics)
    small = world.kafka.create_topic("small", 1, max_message_bytes=200,
                                     message_timestamp_type="LogAppendTime")
    world.topics["topic_clicks"] = small
    redirector = world.redirector(linger="0s", compression="none")
    for _ in range(4):
        visit(f"{redirector.url}/{world.code}",
              headers={"User-Agent": "x" * 400})
    redirector.wait_metric(4, "shortloop_redirector_events_dropped_total",
                           reason="undelivered")
    assert redirector.stop() == 0
    hour = world.wait(dropped=4, complete=True)
    assert hour["lost"] == {**NOTHING_LOST, "produced_acknowledged": 4}

    # Another redirector has no topic of counters: its rows show that it exists.
    world.topics = {**own, "topic_counters": ""}
    redirector = world.redirector(edge="edge-2")
    world.visit(redirector, 2)
    assert redirector.stop() == 0
    hour = world.wait(settled=2, stored=2)
    assert hour["unknown"]["rows"] == 2 and not hour["complete"]


@pytest.mark.parametrize("given, said", [
    ({"from": "2026-11-01T00:15:00Z", "to": "2026-11-01T01:00:00Z"},
     "from: expected the start of an hour of UTC"),
    ({"from": "2026-11-01T00:00:00Z", "to": "2026-11-01T00:30:00Z"},
     "to: expected the start of an hour of UTC"),
    ({"from": "2026-11-01", "to": "2026-11-03T01:00:00Z"},
     "from: expected at most 48 hours before `to`"),
    ({"code": "abc"}, "code: no such parameter; known here: from, to, tz, format")])
def test_what_cannot_be_asked_is_refused(told, given, said):
    answer = requests.get(told.url + "/v1/reconciliation", params=given,
                          timeout=60)
    assert (answer.status_code, answer.json()["detail"]) == (400, said)


@pytest.fixture
def told(tables, redis, program):
    return program("aggregator")


def test_the_default_is_a_day_and_alerts_name_metrics_that_there_are(told):
    answer = requests.get(told.url + "/v1/reconciliation", timeout=60).json()
    assert len(answer["hours"]) == 24
    assert not answer["hours"][-1]["complete"]

    text = requests.get(told.admin + "/metrics", timeout=60).text
    assert mistakes("aggregator", text) == []
    for step in LOST:
        assert (("lost_events", {"between": step}) in
                [("lost_events", labels) for labels, _ in series_of(
                    text, "shortloop_aggregator_lost_events")])


@pytest.mark.parametrize("given", [
    {"tz": "Asia/Kolkata"}, {"to": "2026-11-03", "tz": "UTC"}])
def test_the_default_is_a_day_of_whole_hours_in_each_zone(told, given):
    answer = requests.get(told.url + "/v1/reconciliation", params=given,
                          timeout=60).json()
    assert len(answer["hours"]) == 24
    assert all(hour["hour"].endswith(":00:00Z") for hour in answer["hours"])


def test_the_first_hour_that_can_be_asked_for_has_a_start(told):
    answer = requests.get(told.url + "/v1/reconciliation", timeout=60, params={
        "from": "1970-01-01", "to": "1970-01-01T01:00:00Z"}).json()
    assert answer["from"] == "1970-01-01T00:00:00Z"
    assert [hour["hour"] for hour in answer["hours"]] == [answer["from"]]
