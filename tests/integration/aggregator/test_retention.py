"""Days whose rows of `clicks` are dropped: their settled counts stay exact, later
clicks are counted beside them once, and what needs rows is refused with that reason."""
import itertools
import re
import threading
import time

import pytest

from support.asking import ask, ask_range
from support.clicks import (DAILY, DIMENSIONS, counted, expected_link_counts, instant,
                            link_counts, rfc3339, some_clicks)
from support.fault_proxy import ClickHouseProxy, response
from support.keeping import (CLICKHOUSE, CLICKS, DAY, DAYS, FROM, LINKS, OWNERS, PATIENCE,
                             RAW_DAYS, SOON, TO, assert_counted, bare, caught_up,
                             dropped_days, wait_counted, keeper, problem, put_ahead,
                             rows_left, wait_gone, wait_sealed, world)  # noqa: F401
from support.program import eventually


def answers(made):
    """Returns all answers about these days that need no rows."""
    said = {}
    for tz, interval, bots in (
            ("UTC", "15m", "exclude"), ("Asia/Kathmandu", "day", "include"),
            ("Europe/Berlin", "hour", "only"), ("UTC", "month", "exclude")):
        for of in ({}, *({"link_id": link} for link in LINKS)):
            said[tz, bots, *of.values()] = ask_range(
                made, FROM, TO, tz=tz, interval=interval, bots=bots, **of)
    for name, bots in zip((*DIMENSIONS, *DAILY), itertools.cycle(("exclude", "include"))):
        said[name, bots] = ask_range(made, FROM, TO, group_by=name, bots=bots,
                                     interval="day")
    for owner in OWNERS:
        said[owner] = ask_range(made, FROM, TO, account="acme", owner=owner,
                                interval="hour")
        for name in "tag", "utm_source":
            said[name, owner] = ask_range(made, FROM, TO, account="acme", owner=owner,
                                          group_by=name)
        said["top", owner] = ask_range(made, FROM, TO, path="/v1/top", account="acme",
                                       owner=owner)
    for bots in ("exclude", "include", "only"):
        said["top", bots] = ask_range(made, FROM, TO, path="/v1/top", bots=bots)
    return {key: bare(answer) for key, answer in said.items()}


def assert_days_counted(made, rows):
    """Checks with /v1/visit-statistics, which reports the quality of its uniques."""
    for link in LINKS:
        answer = ask_range(made, FROM, TO, path="/v1/visit-statistics", link_id=link)
        assert answer["unique_error"] == 0 and answer["approximate"] is False
        for number, day in enumerate(answer["days"]):
            low = (FROM + number * DAY) * 1000
            mine = [row for row in rows if row["link_id"] == link
                    and low <= row["ts_ms"] < low + DAY * 1000]
            everybody, people = counted(mine, "include"), counted(mine)
            assert [day[n] for n in ("uv", "ip", "human_uv", "human_ip")] == [
                everybody["visitors"], everybody["ips"], people["visitors"],
                people["ips"]]


@pytest.mark.long
def test_what_was_settled_of_dropped_days_stays_to_the_digit(keeper, world,
                                                             clickhouse):
    rows = some_clicks(1, 700, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    wait_counted(made, rows)
    before = answers(made)
    lives = [bare(ask(made, f"/v1/links/code{link}/summary")) for link in LINKS]
    assert ask(made, "/v1/pipeline")["rows_from"] is None
    assert made.stop() == 0
    assert rows_left(clickhouse) == len(rows) and not dropped_days(clickhouse)

    made = keeper()
    wait_gone(clickhouse)
    made.wait_metric(DAYS, "shortloop_aggregator_dropped_days_total")
    assert answers(made) == before
    for link, life in zip(LINKS, lives):
        now = bare(ask(made, f"/v1/links/code{link}/summary"))
        for end in ("first_event_at", "last_event_at"):
            assert instant(now.pop(end)) == instant(life.pop(end)) // 900 * 900
        assert now == life
    assert ask(made, "/v1/pipeline")["rows_from"] == rfc3339(TO)
    for link in LINKS:
        assert sum(row["link_id"] == link for row in rows) == ask(
            made, f"/v1/links/code{link}/summary")["events"]


def reconciled(made, start=FROM, hours=48):
    """Returns [the hour without kept_at], and whether all were kept."""
    answer = ask(made, "/v1/reconciliation", **{
        "from": rfc3339(start), "to": rfc3339(start + hours * 3600)})
    kept = {hour.pop("kept_at") is not None for hour in answer["hours"]}
    assert len(kept) == 1
    return answer["hours"], kept.pop()


@pytest.mark.long
def test_what_was_reconciled_of_dropped_days_is_kept(keeper, world, clickhouse):
    rows = some_clicks(21, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0, reconcile_every="100ms")
    wait_sealed(clickhouse)
    # These are late clicks, after which the day is sealed again.
    late = some_clicks(22, 20, [(FROM, FROM + 7200)], links=LINKS)
    world.insert(late)
    wait_sealed(clickhouse)
    eventually(lambda: clickhouse.rows(
        "SELECT sum(rows_stored) AS n, count() AS h FROM reconciled_hours FINAL "
        f"WHERE hour >= {FROM} AND hour < {TO}") == [
            {"n": len(rows + late), "h": DAYS * 24}], PATIENCE,
        what="what was found to be kept")
    before, kept = reconciled(made)
    assert not kept and made.stop() == 0
    assert {"stored", "late", "settled"} < before[0].keys()
    assert sum(hour["stored"] for hour in before) == sum(
        row["ts_ms"] < (FROM + 48 * 3600) * 1000 for row in rows + late)

    made = keeper()
    wait_gone(clickhouse)
    assert reconciled(made) == (before, True)
    assert clickhouse.value("SELECT count() FROM reconciled_hours FINAL WHERE "
                            f"hour < {TO} AND rows_stored = 0") == \
        DAYS * 24 - len({row["ts_ms"] // 3600000 for row in rows + late})


def kept_rows(clickhouse, start=FROM, days=DAYS):
    """Returns (rows, hours) that reconciliation found and kept."""
    return clickhouse.rows(
        "SELECT sum(rows_stored) AS n, count() AS h FROM reconciled_hours FINAL "
        f"WHERE hour >= {start} AND hour < {start + days * DAY}")[0]


# A command does not retry, so its queries may take long.
PATIENT = {"keep_superseded": "1h"}


def wait_dropped(clickhouse, days=DAYS):
    eventually(lambda: len(dropped_days(clickhouse)) == days, PATIENCE,
               what="the days to be dropped")


@pytest.mark.long
def test_days_are_reconciled_before_they_are_dropped(keeper, world, clickhouse, program):
    """This holds however rarely the aggregator reconciles by itself."""
    rows = some_clicks(25, 200, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper(reconcile_every="1h", keep_superseded="1h")
    wait_dropped(clickhouse)
    assert kept_rows(clickhouse) == {"n": 200, "h": DAYS * 24}
    assert reconciled(made)[1]
    assert made.stop() == 0

    # The command does so, too, and reports it first.
    world.insert(some_clicks(26, 50, [(TO, TO + DAY)], links=LINKS))
    made = keeper(raw_days=0, reconcile_every="0s", keep_superseded="1h")
    wait_sealed(clickhouse, DAYS + 1)
    assert made.stop() == 0

    def retention(*args, **settings):
        return program("aggregator", {
            "clicks": CLICKS, "aggregator": {
                **SOON, **PATIENT, "raw_days": RAW_DAYS, **settings}},
            start=False, args=("retention", *args)).run()
    assert "to be dropped, once it was reconciled\n" in retention("--dry-run")[1]
    assert "to be dropped\n" in retention("--dry-run", reconcile_every="0s")[1]
    assert "dropped 1 days" in retention()[1]
    assert kept_rows(clickhouse, TO, 1) == {"n": 50, "h": 24}


def retention(program, *args, **settings):
    return program("aggregator", {
        "clicks": CLICKS, "clickhouse": CLICKHOUSE, "aggregator": {
            **SOON, **PATIENT, "raw_days": RAW_DAYS, "reconcile_every": "0s", **settings}},
        start=False, args=("retention", *args)).run()


def settle_first_day(program):
    """It has more time than settlers that delete: the machine may be busy."""
    return program("aggregator", {"clicks": CLICKS}, start=False, args=(
        "settle", "--from", rfc3339(FROM), "--to", rfc3339(FROM + DAY))).run()


def lose(clickhouse, table, condition):
    """Does what a server does that finds broken parts at its start."""
    clickhouse.query(f"ALTER TABLE {table} DELETE WHERE {condition}", mutations_sync=1)


# The tables that answer for a day without its rows, and the part that may be lost.
KEPT = [("stats_hourly", "dimension = 'city'"),
        ("stats_hourly", "dimension = 'tag'"),
        ("link_slots", "1"), ("link_days", "link_id = 2"),
        ("sealed_slots", "link_id = 1"), ("owner_slots", "owner = 'ann'"),
        ("owner_values", "dimension = 'country'"),
        ("owner_values", "dimension = 'tag'"),
        ("owner_values", "dimension = 'region' AND owner = 'bob'"),
        ("day_values", "dimension = 'continent'"), ("sampled_clicks", "rarity = 0")]


@pytest.mark.long
def test_a_day_waits_while_a_table_that_answers_for_it_lacks_some(
        keeper, world, clickhouse, program):
    world.insert(some_clicks(28, 200, [(FROM, FROM + DAY)], links=(0, *LINKS)))
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 1)
    assert made.stop() == 0
    assert "1 days to be dropped, 0 wait" in retention(program, "--dry-run")[1]
    for table, condition in KEPT:
        clickhouse.query(f"CREATE TABLE backup AS {table}")
        clickhouse.query(f"INSERT INTO backup SELECT * FROM {table} WHERE {condition}")
        lose(clickhouse, table, condition)
        listed = retention(program, "--dry-run")[1]
        assert "2026-10-24" in listed and f"waits: {table} has " in listed, listed
        assert "0 days to be dropped, 1 wait" in listed
        clickhouse.query(f"INSERT INTO {table} SELECT * FROM backup")
        clickhouse.query("DROP TABLE backup SYNC")
    assert "dropped 1 days, 0 wait" in retention(program)[1]


@pytest.mark.long
def test_a_day_that_a_table_lacks_some_of_is_settled_again_and_dropped(
        keeper, world, clickhouse, program):
    rows = some_clicks(29, 400, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    wait_counted(made, rows)
    before = answers(made)
    assert made.stop() == 0
    for number, (table, condition) in enumerate((
            ("sealed_slots", "toDate(slot)"), ("owner_values", "day"),
            ("stats_hourly", "dimension = 'city' AND toDate(hour)"))):
        lose(clickhouse, table, f"{condition} = toDate({FROM + number * DAY})")
    said = retention(program)[1]
    for table in "sealed_slots", "owner_values", "stats_hourly":
        assert f"waits: {table} has 0 of its " in said, said
    assert said.count("it is settled again from its rows") == DAYS
    assert "dropped 0 days, 3 wait" in said
    assert rows_left(clickhouse) == len(rows)

    made = keeper()
    wait_gone(clickhouse)
    assert answers(made) == before


@pytest.mark.long
def test_rows_of_a_dropped_day_stay_while_its_base_lacks_some(
        keeper, world, clickhouse, program):
    rows = some_clicks(30, 200, [(FROM, FROM + 2 * DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(keep_superseded="1h")
    wait_dropped(clickhouse, 2)
    assert made.stop() == 0
    lose(clickhouse, "owner_slots", f"slot < {FROM + DAY}")
    first = sum(row["ts_ms"] < (FROM + DAY) * 1000 for row in rows)

    def left():
        return retention(program, keep_superseded="7s")[1], rows_left(clickhouse)
    eventually(lambda: left()[1] == first, PATIENCE, what="rows of the other day to go")
    said, n = left()
    assert n == first
    assert "1 days that were dropped keep their rows" in said, said
    assert f"of 2026-10-24 owner_slots has 0 of {first} events" in said, said

    # The drop is taken back, and the day is counted from its rows.
    lose(clickhouse, "settled", f"toUInt32(unit) >= {FROM} AND toUInt32(unit) < {FROM + DAY} "
         "AND (kind = 'dropped_day' OR startsWith(toString(kind), 'base_'))")
    status, said = settle_first_day(program)
    assert status == 0, said
    made = keeper()
    wait_gone(clickhouse, 2)
    assert_counted(made, rows)


@pytest.mark.parametrize("gone", [
    pytest.param("offset % 10 = 0", id="some", marks=pytest.mark.long),
    pytest.param("1", id="all", marks=pytest.mark.long)])
def test_a_day_that_was_held_back_while_rows_were_gone_is_sealed_and_dropped(
        keeper, world, clickhouse, program, gone):
    """Some of its hours are settled again, or none."""
    rows = some_clicks(31, 150, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0, clicks={"late_window": "365d"})
    eventually(lambda: int(clickhouse.value(
        "SELECT count() FROM settled WHERE kind = 'link_day'")) == 1, PATIENCE,
        what="the day to be settled")
    clickhouse.query(f"CREATE TABLE backup AS {clickhouse.database}.clicks")
    clickhouse.query(f"INSERT INTO backup SELECT * FROM clicks WHERE {gone}")
    lose(clickhouse, "clicks", gone)
    status, said = settle_first_day(program)
    assert status == 70 and "held back" in said, said
    clickhouse.query("INSERT INTO clicks SELECT * FROM backup")
    assert made.stop() == 0

    made = keeper(recheck_every="2s")
    wait_gone(clickhouse, 1)
    assert_counted(made, rows)


@pytest.mark.proof
def test_retention_says_what_keeps_a_day(keeper, world, clickhouse, program):
    rows = some_clicks(32, 150, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 1)
    assert made.stop() == 0

    def says(reason):
        for args in ("--dry-run",), ():
            said = retention(program, *args)[1]
            assert f"waits: {reason}" in said and "1 wait" in said, said

    # A run of forget was killed three days ago.
    run = ("INSERT INTO rescored (day, run, state, rules, rows, hours, at, host) SELECT "
           f"toDate(toDateTime({FROM}, 'UTC')), 17, '{{}}', 0, 5, [{FROM}], "
           "now64(3, 'UTC') - INTERVAL 3 DAY, 'elsewhere:1:forget'")
    clickhouse.query(run.format("begun"))
    says("'aggregator forget', 'collector rescore' or 'collector import --undo' has "
         "begun to change its rows")
    clickhouse.query(run.format("done"))
    clickhouse.query(f"CREATE TABLE backup AS {clickhouse.database}.clicks")
    clickhouse.query("INSERT INTO backup SELECT * FROM clicks WHERE offset < 10")
    lose(clickhouse, "clicks", "offset < 10")
    says("it has 140 rows, and 150 events are settled")
    clickhouse.query("INSERT INTO clicks SELECT * FROM backup")
    world.insert(some_clicks(33, 5, [(FROM, FROM + 3600)], links=LINKS))
    says("1 of its hours are to be settled again")


@pytest.mark.long
def test_a_day_that_cannot_be_reconciled_is_dropped_a_day_later(keeper, migrated,
                                                                clickhouse):
    for link in LINKS:
        migrated.link(f"code{link}", link)
    old = FROM + (RAW_DAYS + 1) * DAY
    migrated.insert(some_clicks(27, 50, [(FROM, FROM + DAY)], links=LINKS),
                    append_ms=(old + DAY // 2) * 1000)
    clickhouse.query("ALTER TABLE reconciled_hours ADD CONSTRAINT refused CHECK "
                     f"toUInt32(hour) >= {FROM + DAY}")
    made = keeper(keep_superseded="1h")

    def failures():
        return sum("msg=retrying" in line and f"drop day {FROM}" in line
                   for line in made.log().splitlines())

    def still_fails():
        failed = failures()
        eventually(lambda: failures() > failed + 1, PATIENCE,
                   what="the day to be tried again")
        assert not dropped_days(clickhouse)

    still_fails()
    # It was sealed a day ago,
    clickhouse.query("ALTER TABLE settled UPDATE settled_at = settled_at - INTERVAL 25 HOUR "
                     "WHERE kind = 'sealed_day' SETTINGS mutations_sync = 1")
    still_fails()
    # and was old enough a day ago.
    migrated.report([], 0, append_ms=(old + DAY * 3 // 2) * 1000)
    wait_dropped(clickhouse, 1)
    assert kept_rows(clickhouse) == {"n": 0, "h": 0}


@pytest.mark.long
def test_no_day_is_missed_by_reconciliation_when_clickhouses_clock_was_ahead(
        keeper, world, clickhouse):
    """The data of that time are simulated; there are hours of two days, one hour of
    each with clicks."""
    rows = [row for start in (FROM, FROM + DAY)
            for row in some_clicks(23, 20, [(start, start + 3600)], links=LINKS)]
    world.insert(rows)
    made = keeper(raw_days=0, reconcile_every="0s")
    wait_sealed(clickhouse, 2)
    assert made.stop() == 0

    def kept():
        return clickhouse.rows(
            "SELECT sum(rows_stored) AS n, count() AS h FROM reconciled_hours FINAL "
            f"WHERE hour >= {FROM} AND hour < {FROM + 2 * DAY}")[0]

    # The first day was sealed a day ahead: it does not delay the other one.
    clickhouse.query("INSERT INTO settled SELECT * REPLACE (settled_at + INTERVAL 1 DAY AS "
                     f"settled_at) FROM settled WHERE kind = 'sealed_day' AND unit = {FROM}")
    made = keeper(raw_days=0, reconcile_every="100ms")
    eventually(lambda: kept() == {"n": 40, "h": 48}, PATIENCE, what="both days to be kept")

    # They and the next day, which is not over, were reconciled a day ahead: their data
    # are found again after they were sealed again, and the next day's are not shown.
    clickhouse.query("INSERT INTO reconciled_hours SELECT * REPLACE (reconciled_at + INTERVAL "
                     "1 DAY AS reconciled_at) FROM reconciled_hours")
    ahead = int(time.time()) // 3600 * 3600 + DAY
    clickhouse.query("INSERT INTO reconciled_hours (hour, reconciled_at) VALUES "
                     f"({ahead}, now() + INTERVAL 1 DAY)")
    world.insert(some_clicks(24, 5, [(FROM, FROM + 3600)], links=LINKS))
    eventually(lambda: kept() == {"n": 45, "h": 48}, PATIENCE,
               what="what came late to be kept")
    assert instant(ask(made, "/v1/pipeline")["loss"]["to"]) < ahead


@pytest.mark.long
def test_rows_of_dropped_days_are_deleted_where_clickhouses_clock_was_ahead(
        keeper, world, clickhouse, program):
    put_ahead(clickhouse)
    world.insert(some_clicks(11, 200, [(FROM, FROM + DAY)], links=LINKS))
    made = keeper(reconcile_every="0s", keep_superseded="1h")
    eventually(lambda: len(dropped_days(clickhouse)) == 1, PATIENCE, what="a drop")
    assert made.stop() == 0
    # The time of the drop counts, not its number.
    listed = retention(program, "--dry-run")[1]
    after = re.search("dropped; its rows are deleted after (.*)", listed).group(1)
    assert abs(instant(after) - 3600 - time.time()) < 3600, listed
    keeper(reconcile_every="0s")
    eventually(lambda: rows_left(clickhouse) == 0, PATIENCE, what="its rows to go")


@pytest.mark.long
def test_what_needs_rows_names_the_first_day_that_is_kept(keeper, world, clickhouse):
    rows = some_clicks(2, 200, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper(reconcile_every="0s")
    wait_gone(clickhouse)
    for params in ({"country": "DE"}, {"group_by": "asn", "to": rfc3339(TO - 3600)},
                   {"group_by": "country,device_class"},
                   {"link_id": 1, "group_by": "country,device_class"},
                   {"link_id": 1, "country": "-DE"}):
        assert "are kept from 2026-10-27T00:00:00" in problem(made, **params)
    assert "2026-10-27" in problem(made, "/v1/export/clicks")
    assert "2026-10-27" in problem(made, "/v1/reconciliation",
                                   **{"to": rfc3339(FROM + DAY)})
    # An owner's answers by a dimension need whole days.
    assert "by one dimension of whole UTC days" in problem(
        made, account="acme", owner="ann", group_by="country", to=rfc3339(TO - 3600))
    assert ask_range(made, FROM, TO - 3600, account="acme", owner="ann")["total"]["events"] > 0
    # Questions from that day on are answered.
    assert ask_range(made, TO, TO + DAY, country="DE")["total"]["events"] == 0


@pytest.mark.long
def test_late_clicks_of_dropped_days_are_counted_beside_their_base(
        keeper, world, clickhouse):
    rows = some_clicks(3, 600, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    clickhouse.query(f"CREATE TABLE backup AS {clickhouse.database}.clicks")
    clickhouse.query("INSERT INTO backup SELECT * FROM clicks")
    made = keeper()
    wait_gone(clickhouse)
    first = dropped_days(clickhouse)

    # Visitors that were there before, and new ones.
    late = some_clicks(4, 90, [(FROM + DAY, FROM + DAY + 7200), (TO - 7200, TO)],
                       links=(0, *LINKS))
    world.insert(late)
    rows += late
    wait_counted(made, rows)
    wait_gone(clickhouse)
    assert_counted(made, rows)
    assert_days_counted(made, rows)
    assert {day for day, n in dropped_days(clickhouse).items() if n > first[day]} == {
        FROM + DAY, TO - DAY}

    # A backup restores the first rows, which are in the base.
    clickhouse.query("INSERT INTO clicks SELECT * FROM backup")
    assert_counted(made, rows)
    late = some_clicks(6, 40, [(FROM + DAY, FROM + DAY + 7200)], links=LINKS)
    world.insert(late)
    rows += late
    wait_counted(made, rows)
    wait_gone(clickhouse)
    assert_counted(made, rows)


class Nulls(ClickHouseProxy):
    """A server whose profile makes joins return NULL."""

    def _meet(self, request, client, fault):
        if "?" in request.path and "join_use_nulls" not in request.path:
            request.path += "&join_use_nulls=1"
        return super()._meet(request, client, fault)


@pytest.mark.long
def test_late_clicks_of_another_partition_are_counted_by_any_profile(
        keeper, world, clickhouse, clickhouse_server):
    rows = some_clicks(60, 150, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    with Nulls(clickhouse_server.port) as proxy:
        made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url})
        wait_gone(clickhouse, 1)
        late = some_clicks(61, 40, [(FROM, FROM + 7200)], links=LINKS)
        world.insert(late, partition=1)
        wait_counted(made, rows + late)
        wait_gone(clickhouse, 1)
        assert_counted(made, rows + late)
        assert made.stop() == 0


@pytest.mark.long
def test_rows_that_come_before_the_deletion_are_not_deleted(keeper, world, program,
                                                            clickhouse):
    rows = some_clicks(7, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper(keep_superseded="1h", clean_every="1h")
    eventually(lambda: len(dropped_days(clickhouse)) == DAYS, PATIENCE)
    assert rows_left(clickhouse) == len(rows)
    assert_counted(made, rows)

    late = some_clicks(8, 50, [(FROM, TO)], links=LINKS)
    world.insert(late)
    wait_counted(made, rows + late)
    assert_counted(made, rows + late)
    assert made.stop() == 0

    unreported = some_clicks(9, 30, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(unreported, progress=False)
    command = program("aggregator", {
        "clickhouse": CLICKHOUSE, "clicks": CLICKS,
        "aggregator": {**SOON, "raw_days": RAW_DAYS}},
        start=False, args=("retention",))

    def delete():
        status, output = command.run()
        assert status == 0, output
        offsets = {int(row["offset"]) for row in clickhouse.rows(
            "SELECT offset FROM clicks")}
        assert offsets >= set(range(350, 380))
        return offsets.isdisjoint(range(300))
    eventually(delete, PATIENCE, what="the rows of the bases to be deleted")
    # Now they are reported.
    world.report(unreported, 0, max(row["ts_ms"] for row in unreported), 350)
    made = keeper()
    wait_counted(made, rows + late + unreported)
    wait_gone(clickhouse)
    assert_counted(made, rows + late + unreported)


@pytest.mark.long
def test_a_day_whose_rows_are_not_what_was_settled_is_not_dropped(
        keeper, world, clickhouse, program):
    rows = some_clicks(10, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    assert made.stop() == 0
    # The rows are inserted, and not reported yet.
    world.insert(some_clicks(11, 5, [(FROM, FROM + DAY)], links=LINKS),
                 progress=False)
    # Some rows are missing.
    clickhouse.query("ALTER TABLE clicks DELETE WHERE offset % 10 = 0 AND "
                     f"toDate(ts) = toDate(toDateTime({FROM + DAY}, 'UTC'))",
                     mutations_sync=1)
    made = keeper()
    eventually(lambda: len(dropped_days(clickhouse)) == DAYS - 2, PATIENCE)
    assert {FROM, FROM + DAY}.isdisjoint(dropped_days(clickhouse))
    eventually(lambda: int(clickhouse.value(
        "SELECT uniqExact(toDate(ts)) FROM clicks")) == 2, PATIENCE)
    status, output = program("aggregator", {"clicks": CLICKS,
                                            "aggregator": {"raw_days": RAW_DAYS}},
                             start=False, args=("retention", "--dry-run")).run()
    assert status == 0, output
    assert output.count("waits: it has ") == 2
    assert "2026-10-24" in output and "2026-10-25" in output
    status, output = program("aggregator", {"clicks": CLICKS,
                                            "aggregator": {"raw_days": RAW_DAYS}},
                             start=False, args=("doctor",)).run()
    assert status == 1 and \
        "2 days older than raw_days cannot be dropped, from 2026-10-24 on" in output
    assert dropped_days(clickhouse).keys() == {
        FROM + n * DAY for n in range(2, DAYS)}


@pytest.mark.proof
def test_retention_lists_what_it_would_drop_and_drops_it(keeper, world, clickhouse,
                                                         program):
    world.insert(some_clicks(12, 300, [(FROM, TO)], links=LINKS))
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    assert made.stop() == 0

    def retention(*args, clickhouse=None, **settings):
        status, output = program("aggregator", {
            "clickhouse": clickhouse or {}, "clicks": CLICKS,
            "aggregator": {**SOON, **PATIENT, **settings}},
            start=False, args=("retention", *args)).run()
        assert status == 0, output
        return output
    assert "kept for ever" in retention("--dry-run")
    listed = retention("--dry-run", raw_days=RAW_DAYS)
    assert listed.count("to be dropped") == DAYS + 1  # and the sum
    assert f"{DAYS} days to be dropped, 0 wait; 300 rows" in listed
    assert not dropped_days(clickhouse)
    assert "0 days to be dropped" in retention("--dry-run", raw_days=36500)

    assert f"dropped {DAYS} days, 0 wait" in retention(raw_days=RAW_DAYS)
    assert "are deleted after" in retention("--dry-run", raw_days=RAW_DAYS)
    eventually(lambda: retention(raw_days=RAW_DAYS, clickhouse=CLICKHOUSE,
                                 keep_superseded=SOON["keep_superseded"]) and
               rows_left(clickhouse) == 0, PATIENCE)


@pytest.mark.long
def test_days_are_old_by_the_watermark_whatever_the_clock_says(keeper, migrated,
                                                               clickhouse, program):
    """The clock is months ahead of what was read, as after the start of a server with a
    wrong clock."""
    for link in LINKS:
        migrated.link(f"code{link}", link)
    migrated.insert(some_clicks(15, 300, [(FROM, TO)], links=LINKS),
                    append_ms=TO * 1000)

    def retention(*args):
        status, output = program("aggregator", {
            "clickhouse": CLICKHOUSE, "clicks": CLICKS, "aggregator": {
                **SOON, "raw_days": RAW_DAYS, "settled_days": RAW_DAYS + 1}},
            start=False, args=("retention", *args)).run()
        assert status == 0, output
        return output
    assert "is not known" in retention("--dry-run")
    made = keeper()
    wait_sealed(clickhouse)
    listed = retention("--dry-run")
    assert "0 days to be dropped, 0 wait" in listed
    until = ask(made, "/v1/pipeline")["complete_until"]
    assert instant(until) <= TO and f"days are old by {until}" in listed
    assert "dropped 0 days, 0 wait" in retention()
    assert not dropped_days(clickhouse) and rows_left(clickhouse) == 300
    caught_up(migrated)
    wait_gone(clickhouse)
    assert made.stop() == 0


# --- a day that fails ---------------------------------------------------------

def rolled_days(clickhouse):
    return {int(row["d"]) for row in clickhouse.rows(
        "SELECT toUInt32(unit) AS d FROM settled WHERE kind = 'spanned_day'")}


@pytest.mark.long
@pytest.mark.parametrize("table, column", [
    ("sealed_slots", "slot"), ("stats_spans", "span_start"),
    ("link_slots", "slot"), ("owner_slots", "slot"),
    ("day_values", "toDateTime(day, 'UTC')"),
    ("dropped_sources", "toDateTime(day, 'UTC')")])
def test_a_day_that_always_fails_stops_no_other(keeper, world, clickhouse, program,
                                                table, column):
    """The server refuses the day by a constraint, as it could by a limit that only this
    day reaches."""
    rows = some_clicks(70, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    clickhouse.query(f"ALTER TABLE {table} ADD CONSTRAINT refused CHECK "
                     f"toUInt32({column}) >= {FROM + DAY}")
    made = keeper()
    others = {FROM + n * DAY for n in range(1, DAYS)}
    eventually(lambda: others <= rolled_days(clickhouse), PATIENCE,
               what="the other days to be rolled up")
    eventually(lambda: others <= dropped_days(clickhouse).keys(), PATIENCE,
               what="the other days to be dropped")
    eventually(lambda: int(clickhouse.value(
        f"SELECT countIf(ts >= toDateTime64({FROM + DAY}, 3, 'UTC')) FROM clicks")) == 0,
        PATIENCE, what="their rows to be deleted")
    eventually(lambda: made.metric("shortloop_aggregator_settle_failures_total") > 0,
               PATIENCE)
    made.wait_log(f"day {FROM}")
    if table == "dropped_sources":
        status, output = program("aggregator", {
            "clickhouse": CLICKHOUSE, "clicks": CLICKS,
            "aggregator": {**SOON, "raw_days": RAW_DAYS}},
            start=False, args=("retention",)).run()
        assert status != 0 and "dropped 0 days, 1 wait" in output, output
    assert (FROM in dropped_days(clickhouse)) == (table == "stats_spans")

    clickhouse.query(f"ALTER TABLE {table} DROP CONSTRAINT refused")
    wait_gone(clickhouse)
    eventually(lambda: FROM in rolled_days(clickhouse), PATIENCE)
    assert_counted(made, rows)


class Refusing(ClickHouseProxy):
    """A server that cannot execute statements with this beginning."""
    refused = None

    def _meet(self, request, client, fault):
        if self.refused and request.query.startswith(self.refused):
            client.sendall(response(500, "Internal Server Error", [
                ("X-ClickHouse-Exception-Code", "341")],
                b"Code: 341. DB::Exception: refused. (UNFINISHED)\n"))
            return True
        return super()._meet(request, client, fault)


@pytest.mark.long
def test_rows_that_cannot_be_deleted_keep_no_others(keeper, world, clickhouse,
                                                    clickhouse_server):
    rows = some_clicks(71, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    with Refusing(clickhouse_server.port) as proxy:
        proxy.refused = "ALTER TABLE clicks DELETE IN PARTITION ID '20261024'"
        made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url})
        eventually(lambda: len(dropped_days(clickhouse)) == DAYS, PATIENCE)
        eventually(lambda: [int(row["d"]) for row in clickhouse.rows(
            "SELECT DISTINCT toUInt32(toStartOfDay(ts)) AS d FROM clicks")] == [FROM],
            PATIENCE, what="the rows of the other days to be deleted")
        # Superseded data are deleted, too: after it is settled again, each hour has one
        # attempt.
        late = some_clicks(72, 40, [(FROM + DAY, FROM + DAY + 7200)], links=LINKS)
        world.insert(late)
        wait_counted(made, rows + late)
        eventually(lambda: int(clickhouse.value(
            "SELECT max(n) FROM (SELECT uniqExact(attempt) AS n FROM stats_hourly "
            f"WHERE hour >= toDateTime({FROM + DAY}, 'UTC') AND (hour, attempt) NOT IN "
            "(SELECT unit, max(attempt) FROM settled WHERE kind = 'base_hour' "
            "GROUP BY unit) GROUP BY hour)")) <= 1,
            PATIENCE, what="superseded attempts to go")
        proxy.refused = None
        wait_gone(clickhouse)
        assert_counted(made, rows + late)
        assert made.stop() == 0


# --- dropped while it is settled ----------------------------------------------

class Command:
    """Runs a command in a thread of its own."""

    def __init__(self, program):
        self.answer = None
        self.thread = threading.Thread(target=self._run, args=(program,))
        self.thread.start()

    def _run(self, program):
        self.answer = program.run(4 * PATIENCE)

    def wait(self):
        self.thread.join()
        return self.answer


@pytest.fixture
def resettle(program, proxy):
    """resettle(days, ...) runs `aggregator settle` for the first days, through the
    proxy."""
    def start(days, *args):
        return Command(program("aggregator", {
            "clickhouse": {**CLICKHOUSE, "url": proxy.url}, "clicks": CLICKS,
            "aggregator": {**SOON, "keep_superseded": "1h"}}, start=False,
            args=("settle", "--from", rfc3339(FROM),
                  "--to", rfc3339(FROM + days * DAY), *args)))
    return start


@pytest.mark.long
@pytest.mark.parametrize("step", ["stats_hourly", "link_slots"])
def test_a_day_that_is_dropped_again_while_it_is_settled_is_not_counted_twice(
        keeper, world, clickhouse, proxy, resettle, step):
    """The second day is dropped while the first is settled: both were listed before."""
    rows = some_clicks(80, 300, [(FROM, FROM + 2 * DAY)], links=LINKS)
    world.insert(rows)
    kept = {"keep_superseded": "1h", "clean_every": "1h"}
    made = keeper(**kept)
    eventually(lambda: len(dropped_days(clickhouse)) == 2, PATIENCE)
    assert made.stop() == 0
    first = dropped_days(clickhouse)[FROM + DAY]

    held = proxy.hold(step)
    command = resettle(2)
    assert held.here.wait(PATIENCE), "nothing was held"
    late = some_clicks(81, 60, [(FROM + DAY, FROM + DAY + 7200)], links=LINKS)
    world.insert(late)
    made = keeper(**kept)
    eventually(lambda: dropped_days(clickhouse)[FROM + DAY] > first, PATIENCE,
               what="the day to be dropped with them")
    assert made.stop() == 0
    assert rows_left(clickhouse) == len(rows + late)
    held.release()
    status, output = command.wait()
    assert status == 0, output
    assert link_counts(clickhouse) == expected_link_counts(rows + late)

    made = keeper(**kept)
    wait_counted(made, rows + late)
    assert_counted(made, rows + late)


@pytest.mark.long
def test_a_day_that_is_dropped_while_it_is_settled_keeps_its_counts(
        keeper, world, clickhouse, proxy, resettle):
    rows = some_clicks(82, 150, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 1)
    assert made.stop() == 0

    held = proxy.hold("stats_hourly")
    command = resettle(1, "--allow-fewer")
    assert held.here.wait(PATIENCE), "nothing was held"
    made = keeper()
    wait_gone(clickhouse, 1)
    assert made.stop() == 0
    held.release()
    status, output = command.wait()
    assert status == 0 and "0 rows" not in output, output

    made = keeper()
    wait_counted(made, rows)
    assert_counted(made, rows)
