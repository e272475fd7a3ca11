"""`aggregator doctor`, and migrating step by step."""
import hashlib
import random
import time

import pytest

from support.asking import aggregator, settled  # noqa: F401
from support.clicks import make_click, some_clicks
from support.program import eventually

DAY = 86400


@pytest.fixture
def doctor(program):
    """Runs it; returns its exit status and {check: (level, text)}, with the last row of
    each."""
    def run(late_window="7d", **settings):
        status, said = program(
            "aggregator", {"clicks": {"late_window": late_window},
                           "aggregator": settings}, start=False,
            args=["doctor"]).run()
        lines = [line.split(None, 1) for line in said.splitlines()
                 if line.startswith(("ok ", "behind ", "WRONG "))]
        return status, {rest[:15].rstrip(): (level, rest[16:])
                        for level, rest in lines}
    return run


def report_now(migrated, rows):
    """Sets the reports' times to a moment ago."""
    migrated.insert(rows, append_ms=int(time.time() * 1000))


def recent(seed, count, links=(1, 2)):
    now = int(time.time())
    return some_clicks(seed, count, [(now - 3 * 3600, now - 60)], links=links)


@pytest.mark.proof
def test_what_is_well_is_ok(aggregator, migrated, doctor):
    report_now(migrated, recent(1, 500))
    made = aggregator(edge_delay="0s")
    settled(made, 500, start=int(time.time()) // 900 * 900 - DAY,
            end=int(time.time()) // 900 * 900 + 900)
    eventually(lambda: doctor()[1]["watermark"][0] == "ok")
    status, page = doctor()
    assert {level for level, _ in page.values()} == {"ok"}, page
    assert status == 0
    assert list(page) == ["tables", "watermark", "topics", "clocks", "hours", "days",
                          "held back", "sealing", "owners' days", "days' values", "samples",
                          "links' days", "rollups", "retention", "dropped rows", "runs", "short", "not counted", "rows", "hours' values", "links' slots", "sealed days",
                          "owners' rows", "owners' values", "owners' daily", "values' rows",
                          "sampled days", "links' values", "rolled up",
                          "forgotten", "events", "waiting", "late"]
    assert page["hours"][1] == "all that were reported are settled"
    assert "redirectors have reported nothing" in page["events"][1]
    assert page["forgotten"][1] == "nobody is"

    # A row is deleted.
    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset = 7 "
                              "SETTINGS mutations_sync = 1")
    status, page = doctor()
    assert status == 1
    assert page["rows"][0] == "WRONG"
    assert page["rows"][1].endswith("; rows are gone: see 'collector verify'")
    rows, events = [int(word) for word in page["rows"][1].split()
                    if word.isdigit()]
    assert events == rows + 1

    # Events that wait to be settled are no difference.
    assert made.stop() == 0
    report_now(migrated, recent(3, 50))
    migrated.clickhouse.query(
        "ALTER TABLE settled UPDATE settled_at = settled_at - 3600 WHERE 1 "
        "SETTINGS mutations_sync = 1")
    status, page = doctor(settle_every="500ms")
    assert status == 1
    assert page["hours"][0] == "behind"
    assert "no process settles" in page["hours"][1]


@pytest.mark.proof
def test_hours_whose_rows_are_gone_are_told_as_held_back(aggregator, migrated, doctor):
    now = int(time.time()) // 3600 * 3600 - 3600
    rows = some_clicks(3, 60, [(now, now + 900)], links=(1,))
    report_now(migrated, rows[:50])
    made = aggregator()
    settled(made, 50, start=now, end=now + 3600)
    assert doctor()[1]["held back"] == ("ok", "nothing")

    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE 1 "
                              "SETTINGS mutations_sync = 1")
    report_now(migrated, rows[50:])
    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") == 1,
               60, what="held back")

    status, page = doctor()
    assert status == 1
    level, said = page["held back"]
    assert level == "WRONG"
    assert said.startswith("1 hour and 0 days, from ")


@pytest.mark.proof
def test_a_clock_that_is_ahead_is_wrong(migrated, doctor):
    report_now(migrated, recent(4, 10))
    assert doctor()[1]["clocks"][0] == "ok"

    migrated.report([], 0, int(time.time() + 1800) * 1000)

    status, page = doctor()
    assert status == 1
    level, said = page["clocks"]
    assert level == "WRONG"
    assert 1200 < int(said.partition("up to ")[2].split()[0]) <= 1800


def forget(program, *args):
    status, said = program("aggregator", args=["forget", "--no-wait", *args],
                           start=False).run()
    assert status == 0, said


@pytest.mark.proof
def test_what_a_backup_brought_back_of_what_is_forgotten_is_wrong(
        program, migrated, doctor):
    """A backup restores rows of forgotten visitors and links."""
    tables, start = migrated.clickhouse, int(time.time()) // DAY * DAY - 2 * DAY
    rows = [make_click(random.Random(n), (start + day * DAY) * 1000 + n, link,
                       unique_identity=hashlib.sha1(b"%d" % link).hexdigest()[:20],
                       campaign="autumn")
            for day in (0, 1) for link in (1, 2, 3) for n in range(4)]
    report_now(migrated, rows)
    migrated.link("code2", 2, state="deleted", url="https://example.com/2")
    for table in "clicks", "links":
        tables.query(f"CREATE TABLE backup_{table} AS {table}")
        tables.query(f"INSERT INTO backup_{table} SELECT * FROM {table}")
    visitor = rows[0]["unique_identity"]
    forget(program, "--visitor", visitor.encode().hex())
    forget(program, "--link", "code2")
    for day in (0, 1):
        partition = time.strftime("%Y%m%d", time.gmtime(start + day * DAY))
        tables.query(f"ALTER TABLE clicks REPLACE PARTITION ID '{partition}' "
                     "FROM backup_clicks")
    tables.query("ALTER TABLE links REPLACE PARTITION ID 'all' FROM backup_links")
    # The visitor came again later, which is not forgotten.
    tables.query("INSERT INTO clicks SELECT * REPLACE (now64(3) AS ts, now64(3) AS "
                 "original_ts, now64(3) AS append_time, offset + 1000 AS offset) FROM "
                 "backup_clicks WHERE link_id = 1 LIMIT 1")
    status, page = doctor()
    assert status == 1
    assert page["forgotten"] == (
        "WRONG", "16 rows of clicks and 1 of links have what is forgotten again: run "
        "'aggregator forget'")
    # Visitors are searched for in up to as many rows as it may read; a day has that
    # many.
    forget(program)
    assert doctor(raw_rows_max=12)[1]["forgotten"] == (
        "ok", "1 visitor and 1 link, in no row of clicks or links; of visitors, in the 1 of "
        "3 days written last (raw_rows_max)")


def settle(migrated, **attempts):
    """Publishes the day before yesterday under these numbers; returns its start."""
    start = int(time.time()) // DAY * DAY - 2 * DAY
    migrated.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt) VALUES " + ", ".join(
            f"('{kind}', {start}, {attempt})" for kind, attempt in attempts.items()))
    return start


def test_clicks_that_come_for_a_dropped_month_are_no_difference(migrated, doctor):
    """The clicks are deleted, and counted nowhere."""
    month = int(time.time()) - 70 * DAY
    report_now(migrated, some_clicks(6, 7, [(month, month + 7200)]))
    migrated.clickhouse.query("INSERT INTO settled (kind, unit, attempt) SELECT "
                              "'kept_from', toStartOfMonth(now() - toIntervalDay(20)), 1")

    assert doctor()[1]["rows"][0] == "ok"


@pytest.mark.proof
def test_a_copy_that_waits_to_be_made_again_is_no_difference(migrated, doctor):
    """The day was dropped, and a late click came."""
    start = settle(migrated, sealed_day=3, dropped_day=4, link_day=5)
    date = time.strftime("%Y-%m-%d", time.gmtime(start))
    migrated.clickhouse.query("INSERT INTO link_days (link_id, day, attempt, pv) VALUES "
                              f"(1, '{date}', 5, 2)")
    migrated.clickhouse.query("INSERT INTO link_slots (link_id, slot, attempt, effective) "
                              f"VALUES (1, {start}, 5, 2)")
    migrated.clickhouse.query("INSERT INTO sealed_slots (link_id, slot, attempt, events) "
                              f"VALUES (1, {start}, 3, 1)")

    page = doctor()[1]
    assert (page["links' slots"][0], page["sealed days"][0]) == ("ok", "ok")
    settle(migrated, sealed_day=6)
    assert doctor()[1]["sealed days"] == (
        "WRONG", f"{date}: 2 visits in days, 0 events sealed; the day's rows are dropped: "
        "only a backup has it")


@pytest.mark.proof
def test_a_clock_that_was_ahead_does_not_say_that_nobody_settles(migrated, doctor):
    report_now(migrated, recent(9, 10))
    migrated.clickhouse.query("INSERT INTO settled (kind, unit, attempt, settled_at) SELECT "
                              "'pass', 0, 2, now64(3, 'UTC') + toIntervalYear(1)")
    assert doctor()[1]["hours"][0] == "behind"
    migrated.clickhouse.query("INSERT INTO settled (kind, unit, attempt, settled_at) SELECT "
                              "'pass', 0, 3, now64(3, 'UTC') - 1")
    assert doctor()[1]["hours"][0] == "ok"


@pytest.mark.proof
def test_an_hour_that_waits_although_hours_are_settled_is_behind(migrated, doctor):
    hour = int(time.time()) // 3600 * 3600 - 8 * 3600

    def report(first, hours_ago):
        migrated.clickhouse.query(
            "INSERT INTO ingest_progress (topic, partition, partitions, first, last, rows, "
            "hours, append_time, inserted_at) SELECT 'clicks', 0, 1, "
            f"{first}, {first}, 1, map(toUInt32({hour}), toUInt64(1)), now64(3, 'UTC'), "
            f"now64(3, 'UTC') - {hours_ago * 3600}")

    def publish(kind, attempt, blocks):
        migrated.clickhouse.query(
            "INSERT INTO settled (kind, unit, attempt, blocks, rows, settled_at) SELECT "
            f"'{kind}', {hour}, {attempt}, {blocks}, {blocks}, now64(3, 'UTC')")

    report(0, 7)
    publish("pass", 1, 0)
    level, said = doctor()[1]["hours"]
    assert level == "behind"
    assert ", 1 of them with clicks that waited for longer than 6 hours" in said
    # More clicks came a while ago.
    report(1, 5)
    level, said = doctor()[1]["hours"]
    assert level == "ok" and said.startswith("1 to be settled")
    publish("hour", 2, 2)
    assert doctor()[1]["hours"] == ("ok", "all that were reported are settled")
    # An hour that is held back has a line of its own.
    migrated.clickhouse.query("ALTER TABLE ingest_progress DELETE WHERE first = 1 "
                              "SETTINGS mutations_sync = 1")
    publish("held_hour", 3, 1)
    page = doctor()[1]
    assert (page["hours"][0], page["held back"][0]) == ("ok", "WRONG")


@pytest.mark.proof
def test_a_day_with_late_clicks_that_is_not_settled_again_is_behind(migrated, doctor):
    start = int(time.time()) // DAY * DAY - 2 * DAY

    def add(kind, unit, attempt, hours_ago, blocks):
        migrated.clickhouse.query(
            "INSERT INTO settled (kind, unit, attempt, blocks, settled_at) SELECT "
            f"'{kind}', {unit}, {attempt}, {blocks}, now64(3) - {hours_ago * 3600}")

    add("hour", start, 1, 30, 1)
    add("link_day", start, 2, 29, 1)
    assert doctor()[1]["days"] == ("ok", "all that have ended are settled")
    add("hour", start + 3600, 3, 5, 1)
    page = doctor()[1]
    assert page["days"][0] == "ok" and ", 0 with late clicks that" in page["days"][1]
    assert page["owners' days"] == (
        "ok", "no day waits for it; 1 with late clicks to be settled before")
    assert page["sealing"] == ("ok", "no day waits for it")
    # Other clicks come all the time.
    add("hour", start + 7200, 4, 8, 1)
    add("hour", start + 3600, 5, 0, 2)
    level, said = doctor()[1]["days"]
    assert level == "behind"
    assert ", 1 with late clicks that waited for longer than 6 hours" in said
    assert doctor(resettle_every="3h")[1]["days"][0] == "ok"


@pytest.mark.proof
def test_hours_that_were_settled_from_fewer_rows_than_reported_are_short(
        aggregator, migrated, program, doctor):
    now = int(time.time()) // DAY * DAY - 3600
    date, after = [time.strftime("%Y-%m-%d", time.gmtime(now + n * DAY)) for n in (0, 1)]
    report_now(migrated, some_clicks(10, 60, [(now, now + 900)]))
    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset >= 50 "
                              "SETTINGS mutations_sync = 1")
    made = aggregator()
    settled(made, 50, start=now, end=now + 3600)
    status, page = doctor()
    assert status == 1
    assert page["short"] == (
        "WRONG", f"{date}: of 60 rows that collectors reported 10 were not there when its "
        f"hours were settled: see 'collector verify'; 'aggregator settle --from {date} "
        f"--to {after}' takes it as it is")
    status, said = program("aggregator", args=["settle", "--from", date, "--to", after],
                           start=False).run()
    assert status == 0, said
    assert doctor()[1]["short"][0] == "ok"


@pytest.mark.proof
def test_what_no_row_was_made_of_is_told_for_a_day(migrated, doctor):
    def tell(first, dead, lost, hours_ago):
        migrated.clickhouse.query(
            "INSERT INTO ingest_progress (topic, partition, partitions, first, last, rows, "
            "dead_lettered, lost, append_time, inserted_at) SELECT 'clicks', 0, 1, "
            f"{first}, {first + 9}, 0, {dead}, {lost}, now64(3, 'UTC'), now64(3, 'UTC') - "
            f"{hours_ago * 3600}")

    tell(0, 3, 7, 25)
    assert doctor()[1]["not counted"] == (
        "ok", "0 dead letters and 0 offsets that Kafka no longer held, in reports of the "
        "last 24 hours")
    tell(10, 1, 0, 23)
    tell(10, 1, 0, 22)
    assert doctor()[1]["not counted"] == (
        "behind", "1 dead letter and 0 offsets that Kafka no longer held, in reports of the "
        "last 24 hours: see GET /v1/pipeline")
    tell(20, 0, 5, 0)
    level, said = doctor()[1]["not counted"]
    assert level == "WRONG" and "1 dead letter and 5 offsets" in said


@pytest.mark.long
def test_rows_of_dropped_days_that_are_never_deleted_are_told(migrated, doctor):
    """Only rows of the base count: later ones wait until their day is dropped again."""
    start = int(time.time()) // DAY * DAY - 9 * DAY
    drop = int((time.time() - 5400) * 1000) << 20
    migrated.clickhouse.query("INSERT INTO dropped_sources (day, attempt, epoch, topic, "
                              f"partition, last) VALUES ({start // DAY}, {drop}, 1, "
                              "'clicks', 0, 4)")
    migrated.clickhouse.query("INSERT INTO settled (kind, unit, attempt) VALUES "
                              f"('dropped_day', {start}, {drop})")
    migrated.insert(some_clicks(7, 5, [(start, start + DAY)]), progress=False)
    assert doctor(raw_days=7)[1]["dropped rows"] == (
        "behind", f"rows of 1 dropped day, from {time.strftime('%Y-%m-%d', time.gmtime(start))}"
        " on, were to be deleted and are still there: the aggregator's log says why")
    migrated.clickhouse.query("ALTER TABLE settled UPDATE settled_at = now64(3) WHERE 1 "
                              "SETTINGS mutations_sync = 1")
    assert doctor(raw_days=7, clean_every="20m")[1]["dropped rows"][0] == "ok"
    # These rows are deleted with their month.
    assert doctor(raw_days=7)[1]["dropped rows"][0] == "behind"
    migrated.clickhouse.query("INSERT INTO settled (kind, unit, attempt) VALUES "
                              f"('kept_from', {start + DAY}, {drop})")
    assert doctor(raw_days=7)[1]["dropped rows"][0] == "ok"
    migrated.clickhouse.query("ALTER TABLE settled DELETE WHERE kind = 'kept_from' "
                              "SETTINGS mutations_sync = 1")

    migrated.clickhouse.query("ALTER TABLE clicks DELETE WHERE 1 SETTINGS mutations_sync = 1")
    migrated.insert(some_clicks(8, 3, [(start, start + DAY)]), progress=False)
    assert doctor(raw_days=7)[1]["dropped rows"] == ("ok", "none is still there")


@pytest.mark.proof
@pytest.mark.parametrize("rules, command", [(0, "aggregator forget"),
                                            (7, "collector rescore")])
def test_a_run_that_was_killed_is_wrong_once_it_can_go_on_no_more(
        migrated, doctor, rules, command):
    def add(run, state, hours):
        migrated.clickhouse.query(
            "INSERT INTO rescored (day, run, state, rules, at, host) SELECT '2026-10-24', "
            f"{run}, '{state}', {rules}, now64(3, 'UTC') - toIntervalMinute({int(60 * hours)}), "
            "'elsewhere:1:some'")

    add(1, "begun", 5)
    add(1, "done", 4)
    add(2, "begun", 0.5)
    assert doctor()[1]["runs"] == ("ok", "none was left by who began it, 1 under way")
    add(3, "begun", 1.5)
    assert doctor()[1]["runs"] == (
        "WRONG", "2026-10-24: elsewhere:1:some began to change it and did not end; until "
        f"'{command}' ends that, the day is not dropped")
    assert doctor(settle_timeout="20m")[1]["runs"][0] == "ok"


@pytest.mark.long
def test_days_are_told_by_what_they_wait_for(aggregator, migrated, doctor):
    midnight = int(time.time()) // DAY * DAY
    start = midnight - 3 * DAY
    report_now(migrated, some_clicks(5, 400, [(start, start + 2 * DAY)],
                                     links=(1, 2)))
    status, page = doctor()
    assert status == 1
    # Nothing was settled yet, so there is nothing to compare with.
    assert page["watermark"][0] == page["hours"][0] == "behind"
    assert page["rows"][0] == "ok"
    made = aggregator(day_grace="0s", late_window="1m")
    eventually(lambda: migrated.clickhouse.value(
        "SELECT uniqExact(kind, unit) FROM settled WHERE "
        "kind IN ('sealed_day', 'owner_day', 'value_day', 'sampled_day', "
        "'spanned_day')") == 10)
    settings = {"day_grace": "0s", "late_window": "1m"}
    status, page = doctor(**settings)
    assert [page[what][0] for what in (
        "hours", "days", "sealing", "owners' days", "days' values", "samples", "rollups",
        "rows", "hours' values", "links' slots", "sealed days", "owners' rows", "owners' values",
        "owners' daily", "values' rows", "sampled days", "rolled up")] == ["ok"] * 17
    assert made.stop() == 0
    # It may read only the rows of the day or month that was written last.
    assert doctor(**settings, raw_rows_max=1)[1]["links' slots"] == (
        "ok", "as many visits in days as visits in slots, day by day; in the 1 of 2 days "
        "written last (raw_rows_max)")

    # One dimension of each table.
    day = f"toDateTime({start + DAY}, 'UTC')"
    for table, which in (
            ("stats_hourly", f"dimension = 'city' AND hour >= {day}"),
            ("link_slots", f"link_id = 1 AND slot >= {day}"),
            ("owner_values", f"dimension IN ('domain', 'asn') AND day >= toDate({day})"),
            ("day_values", f"dimension IN ('utm_term', 'region') AND day >= toDate({day})"),
            ("sampled_clicks", f"slot >= {day}"),
            ("stats_spans", f"dimension = 'verdict' AND span_start >= {day}")):
        migrated.clickhouse.query(f"ALTER TABLE {table} DELETE WHERE {which} "
                                  "SETTINGS mutations_sync = 1")
    status, page = doctor(**settings)
    assert status == 1
    date = time.strftime("%Y-%m-%d", time.gmtime(start + DAY))
    after = time.strftime("%Y-%m-%d", time.gmtime(start + 2 * DAY))
    for what, said in (("hours' values", ", 0 events by each dimension in city;"),
                       ("links' slots", "visits in slots;"),
                       ("owners' values", ", 0 events of owners by each dimension in domain;"),
                       ("owners' daily", ", 0 events of owners by those of days in asn;"),
                       ("values' rows", ", 0 events of values in region and 1 dimension more;"),
                       ("sampled days", " events sampled;"),
                       ("rolled up", ", 0 events rolled up in verdict;")):
        assert page[what][0] == "WRONG" and said in page[what][1], page
        assert page[what][1].startswith(f"{date}: ")
        assert page[what][1].endswith(
            f"; run 'aggregator settle --from {date} --to {after}'"), page[what]
    assert [page[what][0] for what in ("rows", "sealed days", "owners' rows")] == ["ok"] * 3
    migrated.clickhouse.query(
        "ALTER TABLE sealed_slots DELETE WHERE link_id = 1 AND slot < "
        f"toDateTime({start + DAY}, 'UTC') SETTINGS mutations_sync = 1")
    status, page = doctor(**settings)
    assert status == 1
    assert page["sealed days"][0] == "WRONG"
    visits, sealed = [int(word) for word in page["sealed days"][1].split()
                      if word.isdigit()]
    assert 0 < sealed < visits
    assert page["owners' rows"][0] == "ok"
    migrated.clickhouse.query(
        "ALTER TABLE owner_slots DELETE WHERE owner = 'ann' SETTINGS "
        "mutations_sync = 1")
    assert doctor(**settings)[1]["owners' rows"][0] == "WRONG"

    migrated.clickhouse.query(
        "ALTER TABLE day_values DELETE WHERE value = 'EU' SETTINGS mutations_sync = 1")
    assert doctor(**settings)[1]["values' rows"][0] == "WRONG"

    migrated.clickhouse.query(
        "ALTER TABLE stats_spans UPDATE events = events + 1 WHERE span = 86400 AND "
        f"span_start = toDateTime({start}, 'UTC') SETTINGS mutations_sync = 1")
    assert doctor(**settings)[1]["rolled up"][0] == "WRONG"

    migrated.clickhouse.query("ALTER TABLE settled DELETE WHERE kind IN "
                              "('sealed_day', 'owner_day', 'value_day', 'sampled_day', "
                              "'spanned_day') "
                              "SETTINGS mutations_sync = 1")
    status, page = doctor(**settings)
    assert page["sealing"][0] == "behind"
    assert "2 days to be sealed" in page["sealing"][1]
    assert page["owners' days"][0] == "behind"
    assert "2 days to be copied" in page["owners' days"][1]
    assert "2 days to be copied" in page["days' values"][1]
    assert "2 days to be sampled" in page["samples"][1]
    assert "2 days to be rolled up" in page["rollups"][1]


def test_without_tables_it_says_so(program, clickhouse):
    status, said = program("aggregator", args=["doctor"], start=False).run()
    assert status == 66
    assert "run 'aggregator migrate'" in said


# --- migrating step by step --------------------------------------------------------

def migrate(program, *args):
    return program("aggregator", args=["migrate", *args], start=False).run()


def test_migrations_are_applied_step_by_step(program, clickhouse):
    status, said = migrate(program, "--check")
    assert status == 66
    assert "clicks.sql is not applied" in said
    assert clickhouse.tables() == set()

    assert migrate(program, "--to", "ingest_progress")[0] == 0
    assert {"clicks", "collectors", "ingest_progress"} <= clickhouse.tables()
    assert "settled" not in clickhouse.tables()
    status, said = migrate(program, "--check")
    assert status == 66
    assert "ingest_progress.sql is not" not in said
    assert "link_days.sql is not applied" in said

    assert migrate(program, "--to", "settled.sql")[0] == 0
    assert "settled" in clickhouse.tables()
    # It never goes back.
    assert migrate(program, "--to", "clicks")[0] == 0
    assert migrate(program)[0] == 0
    status, said = migrate(program, "--check")
    assert (status, said.splitlines()[-1]) == (0, "ok")

    for wrong in "0", "click", "clicks.", "":
        status, said = migrate(program, "--to", wrong)
        assert status == 64, said
        assert f"--to: there is no migration '{wrong}'" in said
