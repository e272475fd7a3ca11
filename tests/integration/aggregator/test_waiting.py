"""Stored clicks that wait to be settled are neither lost nor counted, and no view says
that it has them."""
import collections
import random
import subprocess
import time

import pytest
import yaml

from support.asking import aggregator, ask, ask_range, settled  # noqa: F401
from support.clicks import instant, rfc3339, some_clicks
from support.events import CHROME
from support.program import BIN, eventually

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
    eventually(lambda: counted_of(made)["waiting"] == [])
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


# --- an import while the aggregator runs -----------------------------------------------

MONTH = instant("2026-09-01T00:00:00Z")
DAYS = [MONTH + n * DAY for n in (0, 1, 14, 29)]


def figures(made, start, end):
    """Returns what each view says of the link in [start, end), as (complete, count)."""
    clicks = ask_range(made, start, end, link_id=1, bots="include")
    everything = ask_range(made, start, end, bots="include")
    days = ask_range(made, start, end, path="/v1/visit-statistics", link_id=1)
    return {
        "clicks of the link": (clicks["complete"], clicks["total"]["events"]),
        "clicks of all": (everything["complete"], everything["total"]["events"]),
        "top": top_of(made, start, end),
        "days": (days["complete"], sum(day["pv"] or 0 for day in days["days"])),
    }


def top_of(made, start, end):
    top = ask_range(made, start, end, path="/v1/top", bots="include")
    return top["complete"], sum(link["events"] for link in top["links"])


class Import:
    """Events of old days in steps, each a part of every day, and what is right after
    each step: of a day all of its steps so far, of all days their sum."""

    def __init__(self, seed, steps, count):
        self.steps = [[row for n, day in enumerate(DAYS)
                       for row in some_clicks(seed + 10 * step + n, count,
                                              [(day, day + DAY)], links=(1,))]
                      for step in range(steps)]
        self.done = 0

    def states(self, start, end):
        """Returns the count of [start, end) after each step."""
        counts, total = [0], 0
        for rows in self.steps:
            total += sum(start <= row["ts_ms"] // 1000 < end for row in rows)
            counts.append(total)
        return counts

    def insert(self, migrated):
        migrated.insert(self.steps[self.done], topic=LOG,
                        append_ms=int(time.time() * 1000))
        self.done += 1


class Watcher:
    """Polls every view of each day and of the month, and checks what they say."""

    def __init__(self, made, work):
        self.made, self.work = made, work
        self.ranges = [(day, day + DAY) for day in DAYS] + [(MONTH, MONTH + 30 * DAY)]
        self.seen = {}  # the last count by view and range

    def look(self, inserted, settled=False):
        """`inserted`: steps that were stored before; those after it are not."""
        for start, end in self.ranges:
            states = self.work.states(start, end)
            for view, (complete, count) in figures(self.made, start, end).items():
                self.check(view, start, end, complete, count, states, inserted)
                assert not settled or (complete, count) == (True, states[inserted])

    def check(self, view, start, end, complete, count, states, inserted):
        said = f"{view} of {rfc3339(start)}: {count}, complete: {complete}, of {states}"
        is_day = end == start + DAY
        # A day of a link is of one attempt: it has a state, and none between two.
        if view == "days" and is_day:
            assert count in states[:inserted + 1], said
        assert count <= states[inserted], said
        assert count >= self.seen.get((view, start, end), 0), said
        self.seen[view, start, end] = count
        if complete:
            # The answers of one table of hours are as of the last reading of reports.
            right = states[inserted:inserted + 1] if view == "days" else states
            assert count in right, said


@pytest.fixture
def watched(migrated, aggregator):
    def make(work, **settings):
        migrated.link("code1", 1)
        work.insert(migrated)
        migrated.report([], 0, int(time.time() * 1000))
        made = aggregator(watermark_every="100ms", late_window="1h", **settings)
        eventually(lambda: all(complete and count == work.states(*whole)[1] for
                               complete, count in figures(made, *whole).values()),
                   120, what="the first step to be settled")
        eventually(lambda: made.metric("shortloop_aggregator_sealed_days_total")
                   == len(DAYS), 120, what="the days to be sealed")
        return made
    whole = (MONTH, MONTH + 30 * DAY)
    return make


def assert_nothing_is_lost(made):
    """No hour of the days has lost anything, whatever waits of it."""
    for day in DAYS:
        answer = ask(made, "/v1/reconciliation", **{
            "from": rfc3339(day), "to": rfc3339(day + DAY)})
        assert [hour["lost"] for hour in answer["hours"]
                if hour["lost"] != NOTHING_LOST] == []


def settle_all(made, watcher, work):
    """Polls until everything is settled."""
    def settled():
        watcher.look(work.done)
        assert_nothing_is_lost(made)
        waiting = ask(made, "/v1/pipeline")["waiting"]
        return not waiting["hours"]["count"] and not waiting["days"]["count"]
    eventually(settled, 180, what="everything to be settled")
    eventually(lambda: all(complete for complete, _ in figures(
        made, MONTH, MONTH + 30 * DAY).values()), what="all to be complete")
    watcher.look(work.done, settled=True)


@pytest.mark.proof
def test_no_view_calls_complete_what_an_import_still_changes(
        migrated, watched, doctor):
    work = Import(seed=100, steps=2, count=60)
    made = watched(work)
    watcher = Watcher(made, work)
    watcher.look(1, settled=True)
    while work.done < len(work.steps):
        work.insert(migrated)
        watcher.look(work.done)
        assert_nothing_is_lost(made)
        assert wrong_lines(doctor()) == {}
        watcher.look(work.done)
    settle_all(made, watcher, work)
    assert wrong_lines(doctor()) == {}
    assert migrated.clickhouse.value("SELECT count() FROM clicks") == \
        work.states(MONTH, MONTH + 30 * DAY)[-1]


@pytest.mark.proof
def test_a_loss_while_rows_wait_is_told_once_they_are_settled(
        aggregator, migrated, past, doctor):
    made = aggregator()
    eventually(lambda: reconciled(made, past)["complete"], what="the hour to be complete")
    assert made.stop() == 0
    made = aggregator(settle_every="1h", reconcile_every="1h")
    eventually(lambda: made.metric("shortloop_aggregator_settle_seconds_count") == 1)
    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset < 3 "
                              "SETTINGS mutations_sync = 1")
    migrated.insert(some_clicks(2, 40, [(past, past + HOUR)], links=(1,)), topic=LOG)
    assert reconciled(made, past)["lost"] == NOTHING_LOST
    assert made.stop() == 0

    made = aggregator()
    # It is held back, with what had been settled of it.
    eventually(lambda: reconciled(made, past)["lost"]["stored_settled"] == 37)
    assert wrong_lines(doctor())["held back"].startswith("1 hour ")


LINES = 1_000_000


def write_log(path):
    """Writes lines of a link on days of the month, in no order of days; returns the
    number of lines of each day."""
    rng = random.Random(5)
    counts = collections.Counter()
    with path.open("w", encoding="ascii") as log:
        for n in range(LINES):
            day = rng.choice(DAYS)
            at = time.gmtime(day + rng.randrange(DAY))
            counts[day] += 1
            log.write(f"8.8.{n % 251}.{n % 241} - - [{at.tm_mday:02}/Sep/2026:"
                      f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02} +0000] "
                      f'"GET /code1 HTTP/1.1" 302 0 "-" "{CHROME}"\n')
    return counts


@pytest.mark.long
def test_no_view_calls_complete_what_an_import_of_a_million_lines_still_changes(
        migrated, aggregator, base_config, workdir, doctor):
    migrated.link("code1", 1, created_at=MONTH - DAY, changed_at=MONTH - DAY)
    migrated.report([], 0, int(time.time() * 1000))
    counts = write_log(workdir / "access.log")
    rules = workdir / "regexes.yaml"
    rules.write_text("".join(f"{part}_parsers:\n  - regex: '(Chrome)/(\\d+)'\n"
                             for part in ("user_agent", "os", "device")))
    config = workdir / "collector.yaml"
    config.write_text(yaml.safe_dump({
        "clickhouse": base_config["clickhouse"], "collector": {"ua_rules": str(rules)}}))
    made = aggregator(watermark_every="100ms", settle_every="15s", late_window="1h")
    whole = MONTH, MONTH + 30 * DAY
    ranges = {whole: LINES, **{(day, day + DAY): counts[day] for day in DAYS}}
    seen = {}

    def look():
        """No count goes down, and what is called complete while lines are still to come
        has none or all of those that the import has reported by then."""
        before = reported(migrated, ranges)
        for (start, end), most in ranges.items():
            for view, (complete, count) in figures(made, start, end).items():
                said = f"{view} of {rfc3339(start)}: {count}, complete: {complete}"
                assert seen.get((view, start, end), 0) <= count <= most, said
                seen[view, start, end] = count
                if complete and view == "days":
                    assert count >= before[start, end], said
        assert_nothing_is_lost(made)

    with subprocess.Popen([str(BIN / "collector"), "-c", str(config), "import",
                           str(workdir / "access.log")],
                          stdout=subprocess.DEVNULL) as importing:
        try:
            while importing.poll() is None:
                look()
                assert wrong_lines(doctor()) == {}
        finally:
            importing.kill()
    assert importing.returncode == 0
    ended = time.monotonic()

    def all_settled():
        look()
        return all(said == (True, most) for (start, end), most in ranges.items()
                   for said in figures(made, start, end).values())
    eventually(all_settled, 600, what="everything to be settled")
    print(f"settled {time.monotonic() - ended:.0f} s after the import")
    assert wrong_lines(doctor()) == {}
    assert migrated.clickhouse.value("SELECT count() FROM clicks") == LINES


def reported(migrated, ranges):
    """Returns the rows that imports have reported, by range."""
    hours = migrated.clickhouse.rows(
        "SELECT h, sum(n) AS total FROM ingest_progress "
        "ARRAY JOIN mapKeys(hours) AS h, mapValues(hours) AS n GROUP BY h")
    return {(start, end): sum(int(row["total"]) for row in hours
                              if start <= int(row["h"]) < end)
            for start, end in ranges}
