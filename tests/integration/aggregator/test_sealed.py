"""Sealed days: the answers about links equal the counts in Python, wherever they are
read from."""
import random
import re

import pytest

from support.asking import aggregator, ask_range, settled  # noqa: F401
from support.clicks import (counted, expected_data, instant,
                            make_click, some_clicks)
from support.copied_days import copied_days, days_of, ends_of, wait_copied
from support.fault_proxy import FAULTS, ClickHouseProxy, each_fault, each_step
from support.program import eventually

# The range includes the end of a month, and of Berlin's summer time.
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-11-02T00:00:00Z")
DAY = 86400
LINKS = (1, 2, 3)
PATIENCE = 120


def assert_data(answer, expected):
    assert [{**item, "start": instant(item["start"])}
            for item in answer["data"]] == expected


def assert_answers(made, rows):
    for link in LINKS:
        mine = [row for row in rows if row["link_id"] == link]
        for zone, interval, bots in (
                ("UTC", "hour", "exclude"), ("Asia/Kathmandu", "day", "include"),
                ("Europe/Berlin", "hour", "only"), ("UTC", "month", "exclude")):
            answer = ask_range(made, FROM, TO, link_id=link, tz=zone,
                               interval=interval, bots=bots)
            assert_data(answer, expected_data(mine, FROM, TO, interval, zone,
                                              bots))
            assert answer["total"] == counted(mine, bots)
            assert answer["unique_error"] == 0
        low, high = FROM + DAY + 900, FROM + 3 * DAY + 4500
        answer = ask_range(made, low, high, link_id=link, interval="15m")
        assert_data(answer, expected_data(mine, low, high, "15m", "UTC"))


@pytest.fixture
def world(migrated, clickhouse):
    for link in LINKS:
        migrated.link(f"code{link}", link)
    return migrated


@pytest.mark.proof
def test_sealed_days_are_what_was_counted_by_hand(aggregator, world, clickhouse):
    rows = some_clicks(1, 800, ends_of(FROM, TO), links=(0, *LINKS))
    world.insert(rows)
    # Answers use a sealed day once it was read with the watermark.
    made = aggregator(late_window="1m", resettle_every="1h",
                      watermark_every="500ms")
    wait_copied(clickhouse, "sealed_day", rows)
    eventually(lambda: made.metric("shortloop_aggregator_sealed_days_total")
               == len(days_of(rows)))
    assert_answers(made, rows)

    # Their clicks are not read: without the rows the answers are the same.
    clickhouse.query("ALTER TABLE clicks DELETE WHERE 1", mutations_sync=1)
    assert_answers(made, rows)


class Sparing(ClickHouseProxy):
    """Limits what queries with a limit may read to almost nothing."""
    lowered = 0

    def _meet(self, request, client, fault):
        request.path, n = re.subn("max_bytes_to_read=[0-9]+",
                                  "max_bytes_to_read=10", request.path)
        self.lowered += n
        return super()._meet(request, client, fault)


@pytest.mark.long
def test_visitors_of_many_clicks_are_estimated_and_of_others_counted(
        program, redis, world, clickhouse, clickhouse_server):
    rows = some_clicks(6, 500, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    with Sparing(clickhouse_server.port) as proxy:
        def ask_all(url, most):
            made = program("aggregator", {
                "clickhouse": {"url": url}, "clicks": {"late_window": "1m"},
                "aggregator": {"settle_every": "500ms", "exact_rows_max": most}})
            wait_copied(clickhouse, "sealed_day", rows)
            answers = [ask_range(made, FROM, TO, link_id=link, interval="month")
                       for link in LINKS]
            assert made.stop() == 0
            return [a["unique_error"] for a in answers], [
                {k: v for k, v in a["total"].items()} for a in answers]
        sizes = [sum(row["link_id"] == link for row in rows) for link in LINKS]
        counts = [counted([row for row in rows if row["link_id"] == link])
                  for link in LINKS]
        direct = clickhouse.url
        # For few visitors the estimate is exact.
        for url in (direct, proxy.url):
            assert ask_all(url, max(sizes)) == ([0, 0, 0], counts)
            assert ask_all(url, min(sizes)) == (
                [0 if n == min(sizes) else 0.0029 for n in sizes], counts)
        assert proxy.lowered == 2 * len(LINKS)


@pytest.mark.long
def test_days_that_changed_are_read_from_clicks_until_they_are_sealed_again(
        aggregator, world, clickhouse, program):
    rows = some_clicks(2, 400, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    made = aggregator(late_window="1m", resettle_every="1h")
    wait_copied(clickhouse, "sealed_day", rows)
    before = copied_days(clickhouse, "sealed_day")

    late = some_clicks(3, 80, [(FROM + 2 * DAY, FROM + 3 * DAY),
                                (TO - DAY, TO)], links=(0, *LINKS))
    world.insert(late)
    settled(made, 480, FROM, TO)
    eventually(lambda: set(copied_days(clickhouse, "sealed_day")) ==
               days_of(rows) - days_of(late))
    eventually(lambda: ask_range(made, FROM, TO, link_id=1)["total"]["events"]
               == sum(row["link_id"] == 1 for row in rows + late))
    assert_answers(made, rows + late)
    assert made.stop() == 0

    made = program("aggregator", {
        "clickhouse": {"query_timeout": "2s"}, "clicks": {"late_window": "1m"},
        "aggregator": {"settle_every": "500ms",
                       "resettle_every": "0s", "clean_every": "1s",
                       "keep_superseded": "5s"}})
    wait_copied(clickhouse, "sealed_day", rows + late)
    after = copied_days(clickhouse, "sealed_day")
    assert {day for day in before if after[day] != before[day]} == days_of(late)
    assert_answers(made, rows + late)
    # Former sealed data are deleted.
    eventually(lambda: {int(row["attempt"]) for row in clickhouse.rows(
        "SELECT DISTINCT attempt FROM sealed_slots")} == set(after.values()),
        PATIENCE, what="superseded rows to go")
    assert_answers(made, rows + late)
    kinds = "SELECT attempt FROM settled WHERE kind = 'sealing'"
    eventually(lambda: {int(row["attempt"]) for row in clickhouse.rows(kinds)}
               == set(after.values()))


@pytest.mark.proof
def test_a_day_of_which_rows_are_gone_is_not_sealed(aggregator, world,
                                                    clickhouse):
    rows = some_clicks(4, 600, [(FROM, FROM + 3 * DAY)], links=LINKS)
    world.insert(rows)
    made = aggregator(late_window="3650d", resettle_every="1h")
    eventually(lambda: made.metric("shortloop_aggregator_days_total") == 3,
               PATIENCE)
    assert made.stop() == 0
    gone = FROM + DAY
    clickhouse.query("ALTER TABLE clicks DELETE WHERE offset % 50 = 0 AND "
                     f"toDate(ts) = toDate(toDateTime({gone}, 'UTC'))",
                     mutations_sync=1)
    aggregator(late_window="1m", resettle_every="1h")
    wait_copied(clickhouse, "sealed_day", rows, but=[gone])


@pytest.mark.long
def test_the_present_days_are_not_sealed(aggregator, world, clickhouse):
    rng = random.Random(5)
    now = int(clickhouse.value("SELECT toUnixTimestamp(now())"))
    rows = [make_click(rng, (now - days * DAY) * 1000, 1)
            for days in (0, 1, 2, 3, 4, 5, 6)]
    world.insert(rows)
    made = aggregator(late_window="3d", day_grace="0s", edge_delay="0s",
                      resettle_every="1h")
    today = now // DAY * DAY

    def sealed():
        """Returns the days that ended three days ago; after midnight there is one
        more."""
        clock = "SELECT toUnixTimestamp(now())"
        early = int(clickhouse.value(clock)) // DAY * DAY
        found = set(copied_days(clickhouse, "sealed_day"))
        late = int(clickhouse.value(clock)) // DAY * DAY
        return early == late and found == {
            day for day in days_of(rows) if day <= late - 4 * DAY}
    eventually(sealed, PATIENCE)
    # After midnight there is one more.
    eventually(lambda: made.metric("shortloop_aggregator_days_total") >= 6)
    answer = ask_range(made, today - 6 * DAY, today + DAY, link_id=1,
                       bots="include")
    assert answer["total"] == counted(rows, "include")


STEPS = ("sealed_slots", "settled:sealing", "settled:sealed_day")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_sealing_leaves_what_the_rows_say(
        program, redis, world, clickhouse, proxy, fault):
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url, "query_timeout":
                       "2s" if fault.startswith("hang_") else "30s"},
        "aggregator": {"settle_every": "500ms", "settle_timeout": "4s",
                       "resettle_every": "0s", "lease": "1s"},
        "clicks": {"late_window": "1m"}})
    proxy.delay = 0.5
    rows = some_clicks(10, 300 * len(STEPS), [(FROM, FROM + DAY)], links=LINKS)
    for there in each_fault(proxy, fault, STEPS, world.insert, rows):
        wait_copied(clickhouse, "sealed_day", there)
        settled(made, len(there), FROM, TO)
        eventually(lambda n=len(there): sum(
            ask_range(made, FROM, TO, link_id=link)["total"]["events"]
            for link in LINKS) == n)
        assert_answers(made, there)


@pytest.mark.long
def test_killed_at_any_step_of_sealing_it_goes_on(program, redis, world, clickhouse,
                                                  proxy):
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url},
        "aggregator": {"settle_every": "500ms", "resettle_every": "0s", "lease": "1s"},
        "clicks": {"late_window": "1m"}})
    rows = some_clicks(20, 200 * len(STEPS), [(FROM, FROM + DAY)], links=LINKS)
    for there in each_step(proxy, STEPS, made.kill, world.insert, rows):
        made.start()
        wait_copied(clickhouse, "sealed_day", there)
        settled(made, len(there), FROM, TO)
        assert_answers(made, there)
