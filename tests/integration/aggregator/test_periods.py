"""Ranges by name, and what is compared with: each has the counts of the same range
given by its ends."""
import datetime
import time
import zoneinfo

import pytest
import requests

from support.asking import aggregator  # noqa: F401
from support.clicks import UTC, instant, rfc3339, some_clicks
from support.program import eventually

DAY, QUARTER = 86400, 900
ZONE = "Europe/Berlin"
SAME = ("total", "data", "unique_error", "approximate")


@pytest.fixture
def world(aggregator, migrated):  # noqa: F811
    """Clicks of some days of the last year; the link is 40 days old."""
    now = int(time.time()) // QUARTER * QUARTER
    rows = some_clicks(1, 300, [(now - days * DAY, now - (days - 1) * DAY)
                                for days in (1, 2, 7, 8, 14, 30, 36, 365)], links=(1, 2))
    migrated.insert(rows)
    migrated.link("code1", 1, owner="ann",
                  created_at=datetime.datetime.fromtimestamp(
                      now - 40 * DAY, UTC).strftime("%Y-%m-%d %H:%M:%S"))
    made = aggregator(buckets_max=10000)
    eventually(lambda: ask(made, period="all")["total"]["events"] == len(rows))
    return made, rows


def get(made, path="/v1/clicks", **params):
    return requests.get(made.url + path, timeout=60, params={"tz": ZONE, **params})


def ask(made, *args, **params):
    answer = get(made, *args, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def assert_same(made, answer, of, **params):
    alone = ask(made, **{"from": of["from"], "to": of["to"]},
                interval=answer["interval"], **params)
    for name in SAME:
        assert of[name] == alone[name], name


def local(text):
    return datetime.datetime.fromtimestamp(instant(text), zoneinfo.ZoneInfo(ZONE))


def test_a_period_and_what_it_is_compared_with_have_the_counts_of_their_ranges(world):
    made, rows = world
    weekly = {"today": 7, "7d": 7, "30d": 35}
    for period, about in (("today", {}), ("7d", {"code": "code1"}),
                          ("30d", {"account": "acme"}), ("month", {}), ("year", {})):
        answer = ask(made, period=period, compare="previous", breakdowns="country,asn",
                     **about)
        assert answer["interval"] == ("day" if period == "year" else "hour")
        assert local(answer["from"]).strftime("%H:%M") == "00:00"
        assert_same(made, answer, answer, **about)
        compared = answer["compare"]
        assert compared["with"] == "previous"
        if "unknown" not in compared:
            assert_same(made, answer, compared, **about)
        for end in "from", "to":
            days = (local(answer[end]).replace(tzinfo=None) -
                    local(compared[end]).replace(tzinfo=None)).days
            assert days % 7 == 0 and days == weekly.get(period, days)
        before = ask(made, period=period, compare="year", **about)["compare"]
        assert (local(answer["from"]).date() - local(before["from"]).date()).days == 364
    assert ask(made, period="year", compare="year")["compare"]["total"]["events"] > 0
    everything = ask(made, period="all")
    assert instant(everything["from"]) // DAY <= min(r["ts_ms"] for r in rows) // 1000 // DAY
    assert everything["interval"] in ("day", "month")
    of_link = ask(made, period="all", code="code1")
    assert 0 <= time.time() - 40 * DAY - instant(of_link["from"]) < 2 * DAY


def test_top_has_periods_and_other_ranges_have_comparisons(world):
    made, rows = world
    top = ask(made, "/v1/top", period="7d")
    ends = {name: top[name] for name in ("from", "to")}
    assert ask(made, "/v1/top", **ends)["links"] == top["links"]
    everything = ask(made, "/v1/top", period="all", bots="include")
    assert sum(link["events"] for link in everything["links"]) == len(rows)
    # Six hours from six o'clock are compared with those just before.
    noon = int(time.time()) // DAY * DAY - DAY + DAY // 2
    answer = ask(made, **{"from": rfc3339(noon - DAY // 4), "to": rfc3339(noon)},
                 compare="previous", tz="UTC")
    assert instant(answer["compare"]["to"]) == instant(answer["from"])
    assert_same(made, answer, answer["compare"], tz="UTC")


def test_counts_that_are_not_known_leave_the_answer_as_it_is(world):
    made, _ = world
    answer = ask(made, **{"from": "1970-06-01", "to": "1970-06-02"}, compare="year")
    assert answer["compare"]["total"] is None and answer["compare"]["data"] == []
    assert answer["compare"]["unknown"] == "there is no such range"
    for params in {"period": "7d", "from": "2026-11-01"}, {"period": "all", "compare": "year"}:
        assert get(made, **params).status_code == 400
