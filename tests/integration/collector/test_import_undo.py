"""`collector import --undo`: an import is taken back, and everything is as it was
before."""
import subprocess
import threading
import time

import pytest

from support.asking import ask, ask_range
from support.clicks import some_clicks
from support.counting import World
from support.fault_proxy import ClickHouseProxy
from support.keeping import (CLICKHOUSE, CLICKS, FROM, LINKS, OWNERS, PATIENCE, RAW_DAYS, SOON, TO,
                            caught_up, keeper, put_ahead, wait_counted, wait_gone,
                            wait_sealed, world)  # noqa: F401
from support.program import eventually
from test_import import importer, line, log, offsets  # noqa: F401 (fixtures)

DAY = 86400
NAME = "old-nginx"
# With these settings a batch cannot be late for long.
QUICK = {"parts_per_second": 1000, "batch_rows": 50}
HOURS = (FROM, FROM + 4 * 3600)


def lines_of(count, agent=None):
    """Returns visits in hours that have clicks, and on a day that has none."""
    own = {"agent": agent} if agent else {}
    return [line(FROM + i % 2 * DAY + i * 14400 // count, f"/code{i % 4 + 1}",
                 [302, 302, 404][i % 3], f"9.{i % 200}.1.1", **own)
            for i in range(count)]


def sent_twice(rows):
    """Returns rows of which one event has two."""
    row = {**rows[0], "event_id": "00000000-0000-4000-8000-000000000001"}
    return [row, *rows[1:], {**row, "maybe_sent": True}]


# --- answers ---------------------------------------------------------------------

def answers(made):
    """Returns all answers for owners, links and the total, for hours and days."""
    found = {}
    whole = {"start": FROM - DAY, "end": FROM + 3 * DAY}
    for interval, bots in (("hour", "include"), ("day", "exclude"), ("month", "only")):
        for params in ({}, *({"link_id": n} for n in LINKS),
                       *({"account": "acme", "owner": name} for name in OWNERS)):
            found[interval, bots, str(params)] = ask_range(
                made, **whole, interval=interval, bots=bots, **params)
    for name in ("outcome", "country", "verdict", "ua_family", "region", "device_class"):
        for params in ({}, *({"account": "acme", "owner": name} for name in OWNERS)):
            found[name, str(params)] = ask_range(
                made, **whole, group_by=name, bots="include", limit=100, **params)
    found["top"] = ask_range(made, **whole, path="/v1/top", limit=100)
    for n in LINKS:
        found["days", n] = ask_range(made, **whole, path="/v1/visit-statistics",
                                     link_id=n)
        found["summary", n] = ask(made, f"/v1/links/code{n}/summary")
    return found


def events(made):
    return ask_range(made, FROM, TO, interval="month")["total"]["events"]


def held_back(made):
    return made.metric("shortloop_aggregator_held_back_hours") + made.metric(
        "shortloop_aggregator_held_back_days")


def wait_same(made, expected, why):
    last = []

    def is_same():
        found = answers(made)
        last[:] = [(name, key, found[name].get(key), was) for name in expected
                   for key, was in expected[name].items()
                   if found[name].get(key) != was][:4]
        return not last
    try:
        eventually(is_same, PATIENCE, what=why)
    except AssertionError as e:
        raise AssertionError(last) from e
    assert held_back(made) == 0


def left(tables, epoch=0):
    """Returns the rows of imports, and the contents of their reports."""
    return [int(tables.value(f"SELECT {what} FROM {table} WHERE "
                             f"startsWith(topic, 'import:') AND epoch = {epoch}"))
            for what, table in (("count()", "clicks"),
                                ("sum(rows + arraySum(mapValues(hours)))",
                                 "ingest_progress"))]


def runs_left(tables):
    return int(tables.value("SELECT uniqExact(run) FROM rescored WHERE run NOT IN "
                            "(SELECT run FROM rescored WHERE state = 'done')"))


def command(program, *args, raw_days=0):
    return program("aggregator", {
        "clicks": CLICKS, "clickhouse": CLICKHOUSE,
        "aggregator": {**SOON, "raw_days": raw_days}}, start=False, args=args).run()


def doctor(program):
    """Returns what it reports as wrong."""
    status, said = command(program, "doctor")
    assert status in (0, 1) and "runs" in said, said
    return [text for text in said.splitlines() if text.startswith("WRONG")]


@pytest.fixture
def proxy(clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port) as made:
        yield made


@pytest.mark.long
def test_an_import_is_taken_back_to_the_digit(world, keeper, importer, log,  # noqa: F811
                                              program, clickhouse):
    rows = sent_twice(some_clicks(5, 300, [HOURS], links=(*LINKS, 0)))
    world.insert(rows)
    caught_up(world)
    made = keeper(raw_days=0)
    eventually(lambda: events(made) == len(rows), PATIENCE, what="all to be counted")
    wait_sealed(clickhouse, 1)
    before = answers(made)
    assert [day["settled"] for day in before["days", 1]["days"]] == [
        False, True, False, False]

    run, lines = importer(**QUICK), lines_of(400)
    run(log(lines), "--identity", NAME)
    eventually(lambda: events(made) == len(rows) + 400, PATIENCE,
               what="the import to be counted")
    wait_sealed(clickhouse, 2)
    imported = answers(made)
    assert [day["settled"] for day in imported["days", 1]["days"]] == [
        False, True, True, False]

    assert "400 clicks would be taken back" in run("--undo", NAME, "--dry-run")
    out = run("--undo", f"import:{NAME}")
    assert "400 clicks were taken back, of 8 hours from 2026-10-24T00:00:00Z" in out
    assert left(clickhouse) == [0, 0]
    eventually(lambda: int(clickhouse.value(
        "SELECT maxIf(attempt, kind = 'value_day') > maxIf(attempt, kind IN ('hour', "
        "'link_day')) FROM settled WHERE toUInt32(unit) >= "
        f"{FROM} AND toUInt32(unit) < {FROM + DAY}")), PATIENCE, what="the copies of the day")
    wait_same(made, before, "the numbers from before, of copied days")
    assert "held back" not in made.log()
    assert doctor(program) == []
    run("--undo", NAME, expect=65)
    assert "it was taken back already" in run.err

    assert "400 became clicks" in run(log(lines), "--identity", NAME)
    wait_same(made, imported, "the numbers of the import")
    assert "400 had been imported before" in run(log(lines), "--identity", NAME)
    # They are counted in the order of their lines, which is not that of their times.
    assert [row["offset"] for row in clickhouse.rows(
        "SELECT offset FROM clicks WHERE startsWith(topic, 'import:') ORDER BY offset")
            ] == list(offsets(lines))


@pytest.mark.long
def test_an_undo_that_is_killed_goes_on(tables, importer, log, proxy):  # noqa: F811
    """It is killed at one statement or another, executed or not."""
    lines = lines_of(120)
    run, proxied = importer(**QUICK), importer(url=proxy.url, **QUICK)
    whole = 0
    for at in range(3, 90, 5):
        run(log(lines), "--identity", NAME)
        process = subprocess.Popen(proxied.command("--undo", NAME),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        proxy.call_at(at, process.kill, carried_out=at % 2 == 0)
        process.communicate(timeout=PATIENCE)
        proxy.calm()
        done = subprocess.run(run.command("--undo", NAME), capture_output=True,
                              timeout=PATIENCE)
        if done.returncode == 65:
            assert b"taken back already" in done.stderr, at
            whole += 1
        else:
            assert b"120 clicks were taken back" in done.stdout, (at, done.stderr)
        assert int(tables.value("SELECT count() FROM clicks")) == 0, at
        assert int(tables.value("SELECT sum(rows) FROM ingest_progress")) == 0, at
        assert runs_left(tables) == 0, at
        if process.returncode == 0:
            break
    assert process.returncode == 0 and at > 30 and whole < 3


@pytest.mark.long
def test_an_undo_waits_for_clickhouse(tables, importer, log, proxy):  # noqa: F811
    """Any statement may fail, or be executed without an answer."""
    lines = lines_of(120)
    run, proxied = importer(**QUICK), importer(url=proxy.url, **QUICK)
    for at in range(2, 46, 9):
        run(log(lines), "--identity", NAME)
        proxy.at(at, "drop_after" if at % 2 else "error_before")
        proxied("--undo", NAME)
        proxy.calm()
        assert int(tables.value("SELECT count() FROM clicks")) == 0, at
        assert runs_left(tables) == 0, at
    run(log(lines), "--identity", NAME)
    proxy.refuse()
    proxied("--undo", NAME, "--wait", "300ms", expect=75)
    proxy.accept()
    assert "120 clicks were taken back" in run("--undo", NAME)


def test_a_part_of_an_import_is_taken_back(tables, importer, log):  # noqa: F811
    """The import was killed between the insert of a batch and its report."""
    lines = lines_of(120)
    run = importer(**QUICK)
    run(log(lines), "--identity", NAME)
    tables.query("ALTER TABLE ingest_progress DELETE WHERE last > "
                 f"{list(offsets(lines))[60]}", mutations_sync=1)
    assert "120 clicks were taken back" in run("--undo", NAME)
    assert left(tables) == [0, 0]
    assert "120 became clicks" in run(log(lines), "--identity", NAME)
    assert [row["offset"] for row in tables.rows(
        "SELECT offset FROM clicks ORDER BY offset")] == list(offsets(lines))


def test_what_is_not_taken_back(tables, importer, log):  # noqa: F811
    run = importer(**QUICK)
    run("--undo", "nobody", expect=66)
    assert "no log of that name was ever imported" in run.err
    for wrong in ("a b", "", "x" * 129, "import:", "it's", "a/b", "ä"):
        run("--undo", wrong, expect=64)
        assert "--undo: '" in run.err
    path = log([line()])
    run("--undo", NAME, path, expect=64)
    run("--undo", NAME, "--identity", "other", expect=64)
    # While it is under way, no import begins.
    run(path, "--identity", NAME)
    tables.query("INSERT INTO import_journal (identity, what, run, number) VALUES "
                 f"('{NAME}', 'undo', 1, 7)")
    run(path, "--identity", NAME, expect=75)
    assert f"import --undo {NAME}" in run.err
    run(path, "--identity", "another")
    run("--undo", NAME)
    run("--undo", NAME, expect=65)
    run(path, "--identity", NAME)
    assert [row["topic"] for row in tables.rows(
        "SELECT topic FROM clicks ORDER BY topic")] == ["import:another", f"import:{NAME}"]


@pytest.mark.proof
def test_a_log_of_many_hours(tables, importer, log):  # noqa: F811
    """There are more hours than one statement has parameters, and many days."""
    lines = [line(FROM - i * 3600) for i in range(2100)]
    run = importer(parts_per_second=1000)
    run(log(lines), "--identity", NAME)
    out = run("--undo", NAME)
    assert f"{len(lines)} clicks were taken back, of {len(lines)} hours from" in out
    assert left(tables) == [0, 0]
    assert int(tables.value(
        "SELECT uniqExactArray(mapKeys(hours)) FROM ingest_progress WHERE "
        "topic = 'rescore'")) == len(lines)


# --- beside others -----------------------------------------------------------------

@pytest.mark.long
def test_two_undos_at_once(tables, importer, log, proxy):  # noqa: F811
    """One waits at a statement; the other does everything, and the log is imported
    again."""
    lines = lines_of(120)
    run, proxied = importer(**QUICK), importer(url=proxy.url, **QUICK)
    for kind in ("import_journal", "rescored", "alter", "ingest_progress"):
        run(log(lines), "--identity", NAME)
        epoch = int(tables.value("SELECT max(epoch) FROM clicks"))
        held = proxy.hold(kind)
        with subprocess.Popen(proxied.command("--undo", NAME), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            assert held.here.wait(PATIENCE), kind
            assert "120 clicks were taken back" in run("--undo", NAME), kind
            assert "120 became clicks" in run(log(lines), "--identity", NAME), kind
            held.release()
            _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, 65), (kind, said)
        assert [row["n"] for row in tables.rows(
            "SELECT epoch AS n FROM clicks GROUP BY epoch")] == [epoch + 1], kind
        assert [row["offset"] for row in tables.rows(
            "SELECT offset FROM clicks ORDER BY offset")] == list(offsets(lines)), kind
        assert "120 had been imported before" in run(log(lines), "--identity", NAME)
        assert "120 clicks were taken back" in run("--undo", NAME), kind
        assert runs_left(tables) == 0, kind
    # Both run freely.
    run(log(lines), "--identity", NAME)
    both = [subprocess.Popen(run.command("--undo", NAME), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=PATIENCE)
    assert {p.returncode for p in both} <= {0, 65} and 0 in {p.returncode for p in both}
    assert "120 became clicks" in run(log(lines), "--identity", NAME)


@pytest.mark.proof
def test_an_import_under_way_stops(tables, importer, log, proxy):  # noqa: F811
    """One import is announcing a batch, and the other is sending one."""
    lines = lines_of(120)
    run, proxied = importer(**QUICK), importer(url=proxy.url, **QUICK)
    for kind, status in (("import_journal", 75), ("clicks", 0)):
        run(log(lines[:60]), "--identity", NAME)
        held = proxy.hold(kind)
        with subprocess.Popen(proxied.command(str(log(lines, "longer.log")),
                                              "--identity", NAME),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as late:
            assert held.here.wait(PATIENCE), kind
            with subprocess.Popen(run.command("--undo", NAME), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as undo:
                eventually(lambda: int(tables.value(
                    "SELECT count() FROM import_journal WHERE what = 'undo'")) > 0)
                held.release()
                _, said = late.communicate(timeout=PATIENCE)
                assert late.returncode == 75, (kind, said)
                out, said = undo.communicate(timeout=PATIENCE)
                assert undo.returncode == 0, (kind, said)
        assert left(tables) == [0, 0], kind
        assert int(tables.value("SELECT count() FROM clicks")) == 0, kind
        tables.query("TRUNCATE TABLE import_journal")
        tables.query("TRUNCATE TABLE ingest_progress")


@pytest.mark.long
def test_clicks_come_and_hours_are_settled_meanwhile(world, keeper,  # noqa: F811
                                                     importer, log, clickhouse):
    rows = some_clicks(5, 300, [HOURS])
    world.insert(rows)
    caught_up(world)
    made = keeper(raw_days=0, settle_every="100ms")
    run, lines = importer(**QUICK), lines_of(400)
    other = importer(**QUICK)
    ended = threading.Event()

    def add():
        while not ended.is_set():
            more = some_clicks(len(rows), 5, [HOURS])
            world.insert(more)
            rows.extend(more)
            time.sleep(0.05)
    thread = threading.Thread(target=add)
    thread.start()
    try:
        for i in range(3):
            run(log(lines), "--identity", NAME)
            other(log(lines_of(50), "other.log"), "--identity", f"other{i}")
            eventually(lambda: events(made) > 700)
            run("--undo", NAME)
            other("--undo", f"other{i}")
    finally:
        ended.set()
        thread.join()
    eventually(lambda: events(made) == len(rows), PATIENCE, what="only clicks")
    wait_counted(made, rows)
    assert held_back(made) == 0 and "held back" not in made.log()
    assert "missing" not in made.log()


@pytest.mark.proof
def test_imported_anew_before_anything_is_settled(world, keeper, importer,  # noqa: F811
                                                  log, clickhouse):
    """The rows and reports are as many as before, but of another import."""
    run = importer(parts_per_second=1000, batch_rows=20)
    run(log(lines_of(40, agent="Googlebot/2.1")), "--identity", NAME)
    caught_up(world)
    made = keeper(raw_days=0)
    eventually(lambda: events(made) == 40, PATIENCE, what="the import to be counted")
    assert made.stop() == 0
    run("--undo", NAME)
    run = importer(parts_per_second=1000, batch_rows=40)
    run(log(lines_of(40)), "--identity", NAME)
    made = keeper(raw_days=0)

    def families():
        return [group["value"] for group in ask_range(
            made, FROM, TO, group_by="ua_family", bots="include")["groups"]]
    eventually(lambda: families() == ["Chrome"], PATIENCE, what="the second import")
    assert events(made) == 40 and held_back(made) == 0


# --- lost rows, clocks that are ahead, unfinished commands ---------------------------

@pytest.mark.long
def test_what_is_lost_afterwards_is_held_back(world, keeper, importer, log,  # noqa: F811
                                              clickhouse):
    """At most as many rows as were taken back may be missing once, and only rows of the
    import."""
    rows = some_clicks(5, 300, [HOURS])
    world.insert(rows)
    caught_up(world)
    made = keeper(raw_days=0)
    run = importer(**QUICK)
    run(log(lines_of(400)), "--identity", NAME)
    eventually(lambda: events(made) == 700, PATIENCE, what="the import to be counted")
    run("--undo", NAME)
    eventually(lambda: events(made) == 300, PATIENCE, what="it to be taken back")
    # Each hour is settled once more now that the command has ended.
    world.insert(some_clicks(7, 60, [HOURS]))
    eventually(lambda: events(made) == 360, PATIENCE, what="hours without the import")
    clickhouse.query("ALTER TABLE clicks DELETE WHERE offset < 100", mutations_sync=1)
    world.insert(some_clicks(6, 4, [(FROM, FROM + 3600)]))
    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") > 0,
               PATIENCE, what="the loss to be seen")
    assert events(made) >= 300


@pytest.mark.long
def test_numbers_that_are_ahead_of_the_clock(world, keeper, importer, log,  # noqa: F811
                                             clickhouse):
    """ClickHouse's clock was a year ahead once: the time of an attempt proves
    nothing."""
    rows = some_clicks(5, 100, [HOURS])
    world.insert(rows)
    caught_up(world)
    put_ahead(clickhouse)
    made = keeper(raw_days=0)
    run = importer(**QUICK)
    run(log(lines_of(200)), "--identity", NAME)
    eventually(lambda: events(made) == 300, PATIENCE, what="the import to be counted")
    run("--undo", NAME)
    eventually(lambda: events(made) == 100, PATIENCE, what="it to be taken back")
    wait_counted(made, rows)
    assert held_back(made) == 0


@pytest.mark.long
def test_a_day_that_is_being_changed_is_not_dropped(world, keeper, importer,  # noqa: F811
                                                    log, clickhouse, program, proxy):
    run, proxied = importer(**QUICK), importer(url=proxy.url, **QUICK)
    lines = [line(FROM + i * 60) for i in range(100)]
    run(log(lines), "--identity", NAME)
    caught_up(world)
    held = proxy.hold("alter", "drop_before")
    with subprocess.Popen(proxied.command("--undo", NAME), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        assert held.here.wait(PATIENCE)
        process.kill()
    held.release()
    keeper()
    wait_sealed(clickhouse, 1)
    eventually(lambda: "'collector import --undo' has begun to change its rows" in
               command(program, "retention", "--dry-run", raw_days=RAW_DAYS)[1],
               PATIENCE, what="why it is not dropped")
    assert int(clickhouse.value("SELECT count() FROM settled WHERE "
                                "kind = 'dropped_day'")) == 0
    # This is later than its statements can last.
    clickhouse.query("ALTER TABLE rescored UPDATE at = at - toIntervalDay(1) WHERE 1",
                     mutations_sync=1)
    assert [text for text in doctor(program)
            if f"'collector import --undo {NAME}'" in text]
    assert "100 clicks were taken back" in run("--undo", NAME)
    assert runs_left(clickhouse) == 0
    assert not [text for text in doctor(program) if "--undo" in text]


@pytest.mark.proof
def test_verify_agrees_while_and_after(kafka, tables, program, base_config,  # noqa: F811
                                       redis, importer, log):
    counted = World(kafka, tables, program, base_config)
    counted.send(200)
    counted.collect()
    counted.settle(200)
    status, before = counted.ask("verify")
    assert status == 0
    run = importer(**QUICK)
    run(log(lines_of(60)), "--identity", NAME)
    counted.settle(260)
    status, said = counted.ask("verify")
    assert status == 0 and said["settled"]["differences"] == []
    run("--undo", NAME)
    counted.settle(200)
    status, said = counted.ask("verify")
    assert status == 0, said
    assert said["settled"]["differences"] == []
    assert (said["events"], said["rows"]) == (before["events"], before["rows"])


@pytest.mark.long
def test_what_was_dropped_is_not_taken_back(world, keeper, importer, log,  # noqa: F811
                                            clickhouse):
    run = importer(**QUICK)
    lines = [line(FROM + i * 60) for i in range(100)]
    run(log(lines), "--identity", NAME)
    caught_up(world)
    made = keeper()
    wait_gone(clickhouse, 1)
    assert made.stop() == 0
    for reports in (True, False):
        run("--undo", NAME, "--dry-run", expect=65)
        run("--undo", NAME, expect=65)
        assert "the day 2026-10-24 was dropped" in run.err
        assert "100 had been imported before" in run(log(lines), "--identity", NAME)
        assert runs_left(clickhouse) == 0
        if reports:  # reports of dropped days are deleted, except for the last
            clickhouse.query("ALTER TABLE ingest_progress UPDATE hours = map() WHERE "
                             "startsWith(topic, 'import:')", mutations_sync=1)
    # A command that was killed before it knew lets imports begin again.
    clickhouse.query("INSERT INTO import_journal (identity, what, run, number) VALUES "
                     f"('{NAME}', 'undo', 1, 7)")
    run(log(lines), "--identity", NAME, expect=75)
    run("--undo", NAME, expect=65)
    run(log([*lines, line(FROM + 3 * DAY)]), "--identity", NAME)
    assert "1 became clicks" in run.out
