"""The aggregator while ClickHouse, and the connection to it, fail during settling: the
final settled counts equal those of the rows, and no reader gets an hour or day twice or
half."""
import collections
import contextlib
import threading
import time

import pytest
import requests

from support.asking import ask_range
from support.clicks import (SLOTS, counted, expected_link_counts, instant,
                            link_counts, rfc3339, some_clicks)
from support.fault_proxy import FAULTS, ClickHouseProxy, Meeting, each_step
from support.program import eventually

START, END = instant("2026-10-24T00:00:00Z"), instant("2026-10-25T00:00:00Z")
# The statements of a pass that change something, in order.
STEPS = ("stats_hourly", "settled:hour", "settled:pass", "link_slots", "link_days",
         "settled:link_day")
TABLES = ("stats_hourly", "settled", "link_slots", "link_days")
# The faults in `make test`; the others take minutes.
SHORT = ("error_after", "late")


@pytest.fixture
def aggregator(migrated, redis, program, proxy):
    def make(args=(), start=True, url=proxy.url, query_timeout="2s", **settings):
        return program("aggregator", {
            "clickhouse": {"url": url, "query_timeout": query_timeout},
            "clicks": {"late_window": "3650d"},
            "aggregator": {"settle_every": "500ms", "settle_timeout": "60s",
                           "resettle_every": "0s", "lease": "1s",
                           **settings}}, args=args, start=start)
    return make


def soon_over(fault):
    """Returns settings with short timeouts for a fault that hangs."""
    return {"settle_timeout": "4s"} if fault.startswith("hang_") else {}


def total(made):
    """Returns the total once ClickHouse answers."""
    def answer():
        with contextlib.suppress(AssertionError, requests.RequestException):
            return ask_range(made, START, END, interval="month")["total"]
        return None
    return eventually(answer, 60, what="an answer")


def settled(made, rows):
    """Waits until the day's settled hours have this many events, then returns their
    counts."""
    def check():
        found = total(made)
        return found if found["events"] >= len(rows) else None
    return eventually(check, seconds=60, what=f"{len(rows)} events settled")


def assert_settled(made, migrated, rows):
    """Checks that hours and day equal the counts in Python, and stay so."""
    assert settled(made, rows) == counted(rows)
    eventually(lambda: link_counts(migrated.clickhouse) ==
               expected_link_counts(rows), 60, what="the day settled")
    assert total(made) == counted(rows)


@contextlib.contextmanager
def watched(clickhouse):
    """Yields what readers have seen meanwhile: {events of the day's hours} and {events
    of the published day}; each is one state, as a statement sees it."""
    hours, days = set(), set()
    stop = threading.Event()
    other = type(clickhouse)(clickhouse.url, clickhouse.database)

    def look():
        from support.clicks import hours_events
        while not stop.is_set():
            with contextlib.suppress(requests.RequestException):
                hours.add(hours_events(other))
                days.add(other.value(
                    f"SELECT sum(effective + ineffective) FROM {SLOTS}"))
            stop.wait(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield hours, days
    finally:
        stop.set()
        thread.join()
        other.session.close()


def of_links(rows):
    return sum(row["link_id"] != 0 for row in rows)


# --- the connection to ClickHouse ------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("step", [
    step if step in ("settled:hour", "settled:link_day") else
    pytest.param(step, marks=pytest.mark.long) for step in STEPS])
def test_a_connection_that_ends_without_a_word_settles_nothing_twice(
        aggregator, migrated, proxy, step):
    """libcurl repeats a request on a kept connection."""
    rows = some_clicks(1, 1000, [(START, END)])
    made = aggregator()
    proxy.at(1, "close_after", step)

    migrated.insert(rows)

    assert_settled(made, migrated, rows)
    assert proxy.faults() == {"close_after": 1}


@pytest.mark.parametrize("fault", [
    fault if fault in SHORT else pytest.param(fault, marks=pytest.mark.long)
    for fault in FAULTS])
def test_a_fault_at_any_step_leaves_what_the_rows_say(aggregator, migrated,
                                                      proxy, fault):
    rows = some_clicks(2, 500 * len(STEPS), [(START, END)], links=(0, 1, 2))
    made = aggregator(**soon_over(fault))
    proxy.delay = 0.5
    seen = [0]
    with watched(migrated.clickhouse) as (hours, days):
        for n, step in enumerate(STEPS):
            proxy.at(1, fault, step)
            migrated.insert(rows[500 * n:500 * (n + 1)])
            seen.append(500 * (n + 1))
            assert_settled(made, migrated, rows[:seen[-1]])
    assert proxy.faults() == {fault: len(STEPS)}
    assert hours <= set(seen)
    assert days <= {of_links(rows[:n]) for n in seen}


LESS = "ALTER TABLE stats_hourly DELETE WHERE dimension = '{}' " \
    "SETTINGS mutations_sync = 1"
MORE = "INSERT INTO stats_hourly SELECT * REPLACE(value || '!' AS value) " \
    "FROM stats_hourly WHERE dimension = '{}' LIMIT 1"


@pytest.mark.proof
@pytest.mark.parametrize("change, dimension", [
    (LESS, "account"), (MORE, "country"),
    *(pytest.param(change, dimension, marks=pytest.mark.long)
      for change, dimension in ((LESS, "total"), (MORE, "total"),
                                (LESS, "country"), (MORE, "account")))])
def test_an_hour_whose_dimensions_differ_is_computed_again(
        aggregator, migrated, proxy, change, dimension):
    """The state is as if they had been counted at different times, or one was lost."""
    rows = some_clicks(4, 500, [(START, END)], links=(0, 1, 2))
    made = aggregator()
    proxy.call_at(1, lambda: migrated.clickhouse.query(change.format(dimension)),
                  "stats_hourly", True)
    migrated.insert(rows)
    assert_settled(made, migrated, rows)
    counts = migrated.clickhouse.rows(
        "SELECT dimension AS d, sum(events) AS n FROM stats_hourly "
        "WHERE dimension != 'tag' AND (hour, attempt) IN "
        "(SELECT unit, max(attempt) FROM settled WHERE kind = 'hour' "
        "GROUP BY unit) GROUP BY d")
    assert len(counts) > 10
    assert {int(row["n"]) for row in counts} == {len(rows)}
    assert int(migrated.clickhouse.value(
        "SELECT uniqExact(attempt) FROM stats_hourly")) > 1
    made.wait_log("its dimensions hold different numbers of events")


@pytest.mark.long
def test_killed_at_any_step_it_goes_on_with_what_the_rows_say(
        aggregator, migrated, proxy):
    made = aggregator()
    seen = {0: 0}
    rows = some_clicks(3, 400 * len(STEPS), [(START, END)], links=(0, 1, 2))
    with watched(migrated.clickhouse) as (hours, days):
        for there in each_step(proxy, STEPS, made.kill, migrated.insert, rows):
            made.start()
            assert_settled(made, migrated, there)
            seen[len(there)] = of_links(there)
    assert hours <= set(seen)
    assert days <= set(seen.values())


CLEANING = {"clean_every": "1s", "keep_superseded": "3s"}


def wait_clean(made, migrated, rows):
    """Waits until one attempt of each hour and day is left, with the right counts."""
    assert_settled(made, migrated, rows)
    eventually(lambda: [row["n"] for row in migrated.clickhouse.rows(
        "SELECT max(n) AS n FROM (SELECT uniqExact(attempt) AS n FROM "
        "stats_hourly GROUP BY hour) UNION ALL SELECT uniqExact(attempt) FROM "
        "link_slots UNION ALL SELECT uniqExact(attempt) FROM link_days "
        "UNION ALL SELECT max(n) FROM (SELECT count() AS n FROM settled "
        "WHERE kind IN ('hour', 'link_day') GROUP BY kind, unit)")] ==
        [1] * 4, 60, what="superseded rows to go")
    assert_settled(made, migrated, rows)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["error_after", "cut_answer", "hang_after",
                                   "twice"])
def test_a_fault_while_what_is_superseded_goes(aggregator, migrated, proxy,
                                               fault):
    rows = some_clicks(11, 300, [(START, START + 7200)], links=(1, 2))
    made = aggregator(**CLEANING, **soon_over(fault))
    proxy.delay = 0.5
    migrated.insert(rows[:100])
    assert_settled(made, migrated, rows[:100])
    for number in (1, 2, 3, 4):
        proxy.at(number, fault, "alter")
    for count in (200, 300):
        migrated.insert(rows[count - 100:count])
        assert_settled(made, migrated, rows[:count])
    wait_clean(made, migrated, rows)
    assert proxy.faults() == {fault: 4}


@pytest.mark.long
@pytest.mark.parametrize("numbers", [(1, 4), (1, 2, 3, 4)])
def test_killed_while_what_is_superseded_goes(aggregator, migrated, proxy,
                                              numbers):
    rows = some_clicks(12, 500, [(START, START + 7200)], links=(1, 2))
    made = aggregator(**CLEANING)
    migrated.insert(rows[:100])
    assert_settled(made, migrated, rows[:100])
    for n, number in enumerate(numbers):
        meeting = Meeting()
        proxy.call_at(number, meeting.wait, "alter", number % 2 == 0)
        count = 100 * (n + 2)
        migrated.insert(rows[count - 100:count])
        assert meeting.here.wait(60), f"no statement {number}"
        made.kill()
        meeting.gone.set()
        made.start()
        wait_clean(made, migrated, rows[:count])


# Settings for attempts that are never published.
LEFT = {"clean_every": "1s", "keep_superseded": "8s"}


def staged(clickhouse):
    """Returns the attempts of hours, published or not."""
    return {row["attempt"] for row in clickhouse.rows(
        "SELECT DISTINCT attempt FROM stats_hourly")}


@pytest.mark.proof
def test_what_a_killed_first_settling_left_goes(aggregator, migrated, proxy):
    """One attempt of that hour, and of all hours of its day, is published."""
    rows = some_clicks(13, 200, [(START, START + 3600)], links=(1,))
    made = aggregator(**LEFT)
    meeting = Meeting()
    proxy.call_at(1, meeting.wait, "stats_hourly", True)
    migrated.insert(rows)
    assert meeting.here.wait(60), "nothing was staged"
    made.kill()
    meeting.gone.set()
    left = staged(migrated.clickhouse)
    assert len(left) == 1

    made.start()

    assert settled(made, rows) == counted(rows)
    eventually(lambda: not left & staged(migrated.clickhouse), 60,
               what="what was left to go")
    assert total(made) == counted(rows)


@pytest.mark.long
def test_attempts_of_an_hour_that_is_held_back_go(aggregator, migrated):
    """Each recheck computes it again."""
    rows = some_clicks(14, 200, [(START, START + 3600)], links=(1,))
    made = aggregator(recheck_every="1s", **LEFT)
    migrated.insert(rows[:150])
    assert settled(made, rows[:150]) == counted(rows[:150])
    drop_rows(migrated, 100)

    migrated.insert(rows[150:])

    held = eventually(lambda: {row["attempt"] for row in migrated.clickhouse.rows(
        "SELECT attempt FROM settled WHERE kind = 'held_hour'")}, 60,
        what="the hour held back")
    eventually(lambda: not held & staged(migrated.clickhouse), 60,
               what="its attempt to go")
    assert total(made) == counted(rows[:150])
    assert made.metric("shortloop_aggregator_held_back_hours") == 1


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_server_restarted_at_any_step_has_what_the_rows_say(
        aggregator, migrated, proxy, clickhouse_server):
    """Servers before 26.6.1.962 restore at their start what was replaced within the
    last minute (ClickHouse issue 107605)."""
    def restart():
        clickhouse_server.kill()
        clickhouse_server.start()

    made = aggregator()
    rows = some_clicks(3, 400 * len(STEPS), [(START, END)], links=(0, 1, 2))
    for there in each_step(proxy, STEPS, restart, migrated.insert, rows):
        assert_settled(made, migrated, there)
        restart()
        assert_settled(made, migrated, there)
    for wait in (5, 15, 60):
        time.sleep(wait)
        restart()
        assert_settled(made, migrated, rows)


@pytest.mark.long
def test_faults_by_chance_leave_what_the_rows_say(aggregator, migrated, proxy):
    rows = some_clicks(4, 6000, [(START, END)])
    made = aggregator()
    quick = [fault for fault in FAULTS if not fault.startswith("hang")]
    proxy.at_random(0.2, quick, TABLES + ("alter", "question"))
    # Rows come while hours are computed, so any number may be seen, but no more than
    # there are.
    with watched(migrated.clickhouse) as (hours, days):
        for i in range(0, len(rows), 200):
            migrated.insert(rows[i:i + 200])
            time.sleep(0.5)
        proxy.calm()
        assert_settled(made, migrated, rows)
    assert max(hours) == len(rows) and max(days) == of_links(rows)


# --- an hour that fails, and thousands ----------------------------------------------

def refuse(migrated, hour):
    """The hour is refused by a constraint, as the server could by a limit that only
    this hour reaches."""
    migrated.clickhouse.query("ALTER TABLE stats_hourly ADD CONSTRAINT refused "
                              f"CHECK toUInt32(hour) != {hour}")


def accept(migrated):
    migrated.clickhouse.query("ALTER TABLE stats_hourly DROP CONSTRAINT refused")


def published(clickhouse):
    """Returns {hour: events} of the published hours."""
    return {int(row["h"]): int(row["n"]) for row in clickhouse.rows(
        "SELECT toUInt32(hour) AS h, sum(events) AS n FROM stats_hourly WHERE "
        "dimension = 'total' AND (hour, attempt) IN (SELECT unit, max(attempt) "
        "FROM settled WHERE kind = 'hour' GROUP BY unit) GROUP BY h")}


def by_hour(rows):
    return collections.Counter(row["ts_ms"] // 3600000 * 3600 for row in rows)


def marked(made):
    return made.metric("shortloop_aggregator_complete_until_seconds")


@pytest.mark.long
def test_an_hour_that_always_fails_stops_nothing_else(aggregator, migrated):
    """The hour is before the watermark; it stops neither the watermark, nor other
    hours, nor days, nor deletions."""
    rows = some_clicks(15, 600, [(START - 86400, END)], links=(1, 2))
    late = some_clicks(16, 600, [(START - 86400, END)], links=(1, 2))
    made = aggregator(**LEFT)
    migrated.insert(rows, append_ms=(END + 3600) * 1000)
    eventually(lambda: link_counts(migrated.clickhouse) == expected_link_counts(rows),
               60, what="the days settled")
    eventually(lambda: marked(made) == END + 3595, 60, what="a watermark")
    superseded = staged(migrated.clickhouse)
    refused = START + 7200
    refuse(migrated, refused)

    migrated.insert(late, append_ms=(END + 7200) * 1000)

    expected = {**by_hour(rows + late), refused: by_hour(rows)[refused]}
    eventually(lambda: published(migrated.clickhouse) == expected, 60,
               what="the other hours settled")
    eventually(lambda: marked(made) == END + 7195, 60, what="the watermark to move")
    first = [row for row in rows + late if row["ts_ms"] < START * 1000]
    eventually(lambda: set(expected_link_counts(first)[0]) <=
               set(link_counts(migrated.clickhouse)[0]), 60,
               what="the day before settled again")
    eventually(lambda: len(superseded & staged(migrated.clickhouse)) <= 1, 60,
               what="superseded attempts to go")
    made.wait_log(f"hour {refused}")
    assert made.metric("shortloop_aggregator_settle_failures_total") > 0
    assert published(migrated.clickhouse) == expected

    accept(migrated)
    eventually(lambda: published(migrated.clickhouse) == by_hour(rows + late), 60,
               what="the hour settled")
    eventually(lambda: link_counts(migrated.clickhouse) ==
               expected_link_counts(rows + late), 60, what="its day settled")


@pytest.mark.proof
def test_the_watermark_stays_before_an_hour_that_fails(aggregator, migrated):
    rows = some_clicks(17, 400, [(START, START + 6 * 3600)], links=(1,))
    before = [row for row in rows if row["ts_ms"] < (START + 7200) * 1000]
    made = aggregator(**LEFT)
    migrated.insert(before, append_ms=(START + 7200) * 1000)
    eventually(lambda: marked(made) == START + 7195, 60, what="a watermark")
    refused = START + 4 * 3600
    refuse(migrated, refused)

    migrated.insert(rows[len(before):], append_ms=(START + 6 * 3600) * 1000)

    expected = by_hour(rows)
    del expected[refused]
    eventually(lambda: published(migrated.clickhouse) == expected, 60,
               what="the other hours settled")
    eventually(lambda: marked(made) == refused, 60, what="the watermark to move")
    # Further passes and rechecks come.
    failures = made.metric("shortloop_aggregator_settle_failures_total")
    eventually(lambda: made.metric("shortloop_aggregator_settle_failures_total") >=
               failures + 3, 60, what="it to be tried again")
    assert marked(made) == refused
    _, told = aggregator(args=["doctor"], start=False).run()
    assert f"complete until {rfc3339(refused)}" in told
    assert "it waits for the hour that begins then" in told

    accept(migrated)
    eventually(lambda: marked(made) == START + 6 * 3600 - 5, 60,
               what="the watermark to move on")
    assert published(migrated.clickhouse) == by_hour(rows)


@pytest.mark.long
def test_the_present_hour_is_settled_before_those_that_were_imported(
        aggregator, migrated):
    now = int(time.time())
    old = some_clicks(18, 600, [(START - 5 * 86400, START)])
    new = some_clicks(19, 50, [(now - 60, now)])
    made = aggregator(start=False, **{**LEFT, "keep_superseded": "15m"})
    migrated.insert(old)
    migrated.insert(new)

    made.start()

    eventually(lambda: published(migrated.clickhouse) == by_hour(old + new), 60,
               what="all hours settled")
    first = {int(row["h"]): int(row["n"]) for row in migrated.clickhouse.rows(
        "SELECT toUInt32(unit) AS h, min(attempt) AS n FROM settled "
        "WHERE kind = 'hour' GROUP BY h")}
    assert len(first) > 100
    assert max(first[hour] for hour in by_hour(new)) < min(
        first[hour] for hour in by_hour(old))


@pytest.mark.proof
@pytest.mark.parametrize("step", [
    "link_slots", pytest.param("owner_values", marks=pytest.mark.long)])
def test_the_present_hour_does_not_wait_for_a_day(aggregator, migrated, proxy, step):
    """A statement about one hour takes time for each of its clicks."""
    rows = some_clicks(20, 200, [(START, END)], links=(1, 2))
    now = int(time.time())
    new = some_clicks(21, 50, [(now - 60, now)])
    held = proxy.hold(step)
    made = aggregator(settle_timeout="10m")
    migrated.insert(rows)
    assert held.here.wait(60), f"no {step}"

    migrated.insert(new)

    hours = by_hour(rows + new)
    eventually(lambda: published(migrated.clickhouse) == hours, 60,
               what="the present hour settled")
    assert not made.metric("shortloop_aggregator_owner_days_total")
    held.release()
    eventually(lambda: made.metric("shortloop_aggregator_owner_days_total"), 60,
               what="the day copied")
    assert_settled(made, migrated, rows)


class Small(ClickHouseProxy):
    """A server for which a megabyte is like 400 for others.  `written`: how often
    groups were written to disk, by the table that they were computed for."""

    def __init__(self, clickhouse):
        self.clickhouse = type(clickhouse)(clickhouse.url)
        self.written = collections.Counter()
        super().__init__(int(clickhouse.url.rsplit(":", 1)[1]))

    def _ask(self, request):
        request.path = request.path.replace(
            "max_bytes_before_external_group_by=400000000",
            "max_bytes_before_external_group_by=1000000")
        before = self._count()
        answer = super()._ask(request)
        self.written[request.kind] += self._count() - before
        return answer

    def _count(self):
        return int(self.clickhouse.value(
            "SELECT sum(value) FROM system.events WHERE "
            "event = 'ExternalAggregationWritePart'"))


@pytest.mark.long
def test_hours_and_days_of_many_values_are_grouped_on_disk(aggregator, migrated):
    count, most = 150000, 1000
    clickhouse = migrated.clickhouse
    clickhouse.query(
        "INSERT INTO clicks (epoch, topic, partition, offset, append_time, ts, "
        "original_ts, link_id, code, outcome, verdict, referrer_host) "
        f"SELECT 1, 'clicks', 0, number, toDateTime64({START}, 3, 'UTC') AS t, t, "
        "t, number + 1, 'c', 'redirected', 'human', "
        f"'host' || toString(number) FROM numbers({count})")
    with Small(clickhouse) as proxy:
        # No attempt is too old here, however busy the machine is.
        made = aggregator(clean_every="1s", keep_superseded="15m", url=proxy.url,
                          values_max=most)
        migrated.report([{"ts_ms": START * 1000}] * count, 0, END * 1000, first=0)
        eventually(lambda: published(clickhouse) == {START: count}, 120,
                   what="the hour settled")
        eventually(lambda: int(clickhouse.value(
            f"SELECT sum(effective) FROM {SLOTS}")) == count, 120,
            what="the day settled")
        assert made.stop() == 0
    assert proxy.written["stats_hourly"] > 0
    assert proxy.written["link_slots"] > 0
    for dimension in ("referrer_host", "link"):
        assert clickhouse.rows(
            "SELECT rest, uniqExact(value) AS n, sum(events) AS e FROM stats_hourly "
            f"WHERE dimension = '{dimension}' GROUP BY rest ORDER BY rest") == [
                {"rest": False, "n": most, "e": most},
                {"rest": True, "n": 1, "e": count - most}]


# --- missing rows -------------------------------------------------------------------

def drop_rows(migrated, count):
    migrated.clickhouse.query(f"ALTER TABLE clicks DELETE WHERE offset < {count}",
                              mutations_sync=1)


def settle(program, aggregator, *args):
    # A command does not retry a statement that took too long.
    return aggregator(args=["settle", "--from", rfc3339(START), "--to",
                            rfc3339(END), *args], start=False,
                      query_timeout="60s").run()


@pytest.mark.proof
def test_nothing_is_settled_from_fewer_rows_than_before(
        aggregator, migrated, program):
    rows = some_clicks(5, 1000, [(START, START + 3600)], links=(1, 2))
    made = aggregator()
    migrated.insert(rows[:900])
    assert_settled(made, migrated, rows[:900])
    drop_rows(migrated, 500)

    migrated.insert(rows[900:])

    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") == 1,
               60, what="held back")
    assert_settled(made, migrated, rows[:900])
    eventually(lambda: "1 hours and 0 days are held back" in made.ready()[1],
               what="it is said")
    assert made.ready()[0] == 200
    made.wait_log("hour=2026-10-24T00Z")
    migrated.tell("rescore", {START: 0})
    migrated.tell("rescore", {START: 0})
    eventually(lambda: made.log().count("held back:") >= 2, 60)
    assert_settled(made, migrated, rows[:900])

    status, output = settle(program, aggregator)
    assert status == 70 and "--allow-fewer" in output
    assert "hour 2026-10-24T00Z: 500 rows, 900 were published" in output
    assert_settled(made, migrated, rows[:900])

    status, output = settle(program, aggregator, "--allow-fewer")
    assert status == 0, output
    assert_settled(made, migrated, rows[500:])
    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") == 0,
               60, what="nothing held back")
    eventually(lambda: "held back" not in made.ready()[1], 30)


@pytest.mark.proof
def test_as_many_new_rows_do_not_hide_that_others_are_gone(aggregator,
                                                           migrated):
    rows = some_clicks(6, 200, [(START, START + 3600)])
    made = aggregator()
    migrated.insert(rows[:50])
    settled(made, rows[:50])
    drop_rows(migrated, 50)

    migrated.insert(rows[50:])

    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") == 1,
               60, what="held back")
    assert total(made) == counted(rows[:50])


@pytest.mark.long
def test_a_day_that_lost_rows_before_it_was_settled_is_held_back(
        aggregator, migrated, proxy, program):
    rows = some_clicks(7, 300, [(START, END)], links=(1,))
    made = aggregator()
    proxy.at(1, "hang_before", "link_slots")
    migrated.insert(rows)
    settled(made, rows)
    eventually(lambda: proxy.faults() == {"hang_before": 1}, 60,
               what="the day begun")
    made.kill()
    assert link_counts(migrated.clickhouse) == ([], [])
    drop_rows(migrated, 100)

    made = aggregator()

    eventually(lambda: made.metric("shortloop_aggregator_held_back_days") == 1,
               60, what="held back")
    assert total(made) == counted(rows)
    assert link_counts(migrated.clickhouse) == ([], [])
    status, output = settle(program, aggregator, "--allow-fewer")
    assert status == 0, output
    assert_settled(made, migrated, rows[100:])


@pytest.mark.long
def test_a_block_told_of_twice_holds_nothing_back(aggregator, migrated):
    rows = some_clicks(8, 200, [(START, END)], links=(1,))
    made = aggregator()
    migrated.insert(rows[:100])
    assert_settled(made, migrated, rows[:100])

    migrated.report(rows[:100], 0, rows[99]["ts_ms"], first=0)
    migrated.insert(rows[100:])

    assert_settled(made, migrated, rows)
    assert made.metric("shortloop_aggregator_held_back_hours") == 0
    assert made.metric("shortloop_aggregator_short_hours_total") == 0


# --- wrong published data -----------------------------------------------------------

@pytest.mark.proof
def test_what_was_published_wrong_is_settled_again(aggregator, migrated,
                                                   program):
    rows = some_clicks(9, 600, [(START, END)], links=(1, 2))
    made = aggregator(answer_cache="0")  # rows of an attempt are changed
    migrated.insert(rows)
    assert_settled(made, migrated, rows)
    for table in ("stats_hourly", "link_slots", "link_days"):
        migrated.clickhouse.query(
            f"INSERT INTO {table} SELECT * FROM {table}")
    # These hours were not reported, and never settled.
    late = some_clicks(10, 50, [(END - 3600, END)], links=(1,))
    migrated.insert(late, progress=False)
    assert total(made)["events"] == 1200

    status, output = settle(program, aggregator)

    # Doubled counts look as if rows were missing.
    assert status == 70 and "held back" in output
    status, output = settle(program, aggregator, "--allow-fewer")
    assert status == 0 and "settled 24 hours and 1 days" in output, output
    assert_settled(made, migrated, rows + late)
