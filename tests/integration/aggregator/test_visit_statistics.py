"""GET /v1/visit-statistics: its answers about days whose clicks are still to come."""
import csv
import io
import time

import pytest
import requests

from support.asking import aggregator, ask, ask_range, settled  # noqa: F401
from support.clicks import counted, instant, rfc3339, some_clicks
from support.program import eventually

DAY = 86400
COUNTS = ("pv", "uv", "ip", "human_uv", "human_ip", "effective", "ineffective")
FROM = instant("2026-10-24T00:00:00Z")
TO = FROM + 2 * DAY


def statistics(made, **params):
    answer = ask_range(made, FROM, TO, path="/v1/visit-statistics", code="code1", **params)
    return answer["complete_until"], [
        (day["settled"], day["complete"], day["pv"]) for day in answer["days"]]


def wait_said(made, until, *days):
    eventually(lambda: statistics(made) == (until, list(days)), what=f"{until}, {days}")


@pytest.fixture
def halves(migrated):
    """Clicks of a link on one day, in two partitions."""
    migrated.partitions = 2
    migrated.link("code1", 1)
    rows = some_clicks(51, 100, [(FROM, FROM + DAY)], links=(1,))
    migrated.insert(rows[:60], partition=0, append_ms=(TO + DAY) * 1000)
    return rows


@pytest.mark.proof
def test_a_day_is_complete_once_what_partitions_hold_of_it_is_counted(
        aggregator, migrated, halves):
    made = aggregator(watermark_every="100ms")
    wait_said(made, None, (True, False, 60), (False, False, None))

    migrated.insert(halves[60:], partition=1, append_ms=(TO + DAY) * 1000)
    eventually(lambda: ask_range(made, FROM, TO, code="code1", bots="include")[
        "complete_until"] == rfc3339(TO), what="the watermark to pass the day")
    # /v1/clicks counts them at once, and this route when the day is settled again.
    wait_said(made, rfc3339(FROM), (True, False, 60), (False, False, None))
    assert made.stop() == 0
    made = aggregator(watermark_every="100ms", resettle_every="0s")
    wait_said(made, rfc3339(TO), (True, True, 100), (False, False, None))

    of_csv = requests.get(
        made.url + "/v1/visit-statistics", timeout=60,
        params={"link_id": "1", "format": "csv", "from": rfc3339(FROM), "to": rfc3339(TO)})
    days = list(csv.DictReader(io.StringIO(of_csv.text)))
    assert [(day["settled"], day["complete"], day["pv"]) for day in days] == [
        ("1", "1", "100"), ("0", "0", "")]


@pytest.mark.proof
def test_a_day_is_complete_once_it_is_known_that_nothing_more_comes(
        aggregator, migrated, halves):
    """It was settled before that was known, and is not settled again."""
    made = aggregator(watermark_every="100ms")
    wait_said(made, None, (True, False, 60), (False, False, None))
    migrated.report([], 1, (FROM + DAY) * 1000)
    wait_said(made, rfc3339(FROM), (True, False, 60), (False, False, None))
    migrated.report([], 1, (TO + DAY) * 1000)
    wait_said(made, rfc3339(TO), (True, True, 60), (False, False, None))


@pytest.mark.proof
def test_a_day_with_late_clicks_is_complete_once_it_is_settled_with_them(
        aggregator, migrated, halves):
    made = aggregator(watermark_every="100ms")
    migrated.insert(halves[60:], partition=1, append_ms=(TO + DAY) * 1000)
    made.stop()
    made = aggregator(watermark_every="100ms", resettle_every="0s")
    wait_said(made, rfc3339(TO), (True, True, 100), (False, False, None))
    made.stop()
    made = aggregator(watermark_every="100ms", resettle_every="1h")
    migrated.insert(halves[:1], append_ms=(TO + 2 * DAY) * 1000)
    assert statistics(made) == (rfc3339(FROM), [(True, False, 100), (False, False, None)])
    eventually(lambda: ask_range(made, FROM, TO)["total"]["events"] == 101,
               what="the hour to be settled again")
    assert statistics(made) == (rfc3339(FROM), [(True, False, 100), (False, False, None)])
    made.stop()
    made = aggregator(watermark_every="100ms", resettle_every="0s")
    wait_said(made, rfc3339(TO), (True, True, 101), (False, False, None))


@pytest.mark.proof
def test_today_is_counted_as_it_is_until_it_is_settled(aggregator, migrated):
    today = int(time.time()) // DAY * DAY
    if not 60 < time.time() - today < DAY - 600:
        pytest.skip("midnight is too near")
    migrated.link("code1", 1)
    rows = {start: some_clicks(52, 80, [(start, min(start + DAY, int(time.time())))],
                               links=(1, 2)) for start in (today - DAY, today)}
    made = aggregator(watermark_every="100ms", day_grace="7d")

    def days(**params):
        return ask_range(made, today - 2 * DAY, today + 2 * DAY,
                         path="/v1/visit-statistics", link_id=1, **params)["days"]
    for start in rows:
        migrated.insert(rows[start], append_ms=int(time.time() * 1000))
    settled(made, 160, today - DAY, today + DAY)
    before, *known, after = days()
    for day in (before, after):
        assert (day["provisional"], day["settled"], day["pv"]) == (False, False, None)
    for day, start in zip(known, rows):
        mine = [row for row in rows[start] if row["link_id"] == 1]
        everybody, people = counted(mine, "include"), counted(mine)
        assert (day["provisional"], day["settled"], day["complete"], day["waiting"]) == (
            True, False, False, start < today)
        assert [day[name] for name in COUNTS] == [
            len(mine), everybody["visitors"], everybody["ips"], people["visitors"],
            people["ips"], people["humans"], len(mine) - people["humans"]]
    assert made.stop() == 0

    # The figures are the same once yesterday is settled; there are visitors up to a limit.
    made = aggregator(watermark_every="100ms", day_grace="0s", exact_rows_max=10)
    yesterday, now = eventually(lambda: (found := days()[1:3])[0]["settled"] and found,
                                what="yesterday to be settled")
    assert [yesterday[name] for name in COUNTS] == [known[0][name] for name in COUNTS]
    assert not yesterday["provisional"]
    assert [now[name] for name in COUNTS if now[name] is not None] == [
        known[1][name] for name in ("pv", "effective", "ineffective")]


def test_what_begins_where_nothing_is_said_begins_where_counts_are_kept(
        aggregator, migrated, clickhouse):
    migrated.link("code1", 1)
    midnight = int(time.time()) // DAY * DAY
    clickhouse.query("INSERT INTO settled (kind, unit, attempt) VALUES "
                     f"('kept_from', {midnight - 10 * DAY}, 1)")
    made = aggregator()
    answer = ask(made, "/v1/visit-statistics", code="code1")
    assert answer["from"] == rfc3339(midnight - 10 * DAY)
    assert len(answer["days"]) == 11
    for params in ({"from": rfc3339(midnight - 11 * DAY)},
                   {"to": rfc3339(midnight - 10 * DAY)}):
        refused = requests.get(made.url + "/v1/visit-statistics", timeout=60,
                               params={"code": "code1", **params})
        assert refused.status_code == 400
        assert refused.json()["detail"].startswith("from: counts are kept from ")
