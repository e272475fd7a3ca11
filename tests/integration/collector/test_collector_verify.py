"""`collector verify` with real Kafka and ClickHouse, and real collectors and
aggregators whose data are then damaged."""
import datetime
import threading
import time

import pytest
import servers
from support.clicks import rfc3339
from support.counting import world  # noqa: F401
from support.events import click, link_event
from support.program import eventually

# The aggregators that settle the events need it.
pytestmark = pytest.mark.usefixtures("redis")
OLD_DAY = "2026-03-05"


def named(said):
    return [(f["finding"], f["partition"], f["first"], f["last"])
            for f in said["findings"]]


def part(said, partition=0, by="kafka"):
    return next(p for p in said["partitions"]
                if p["partition"] == partition and p["by"] == by)


# --- no findings -------------------------------------------------------------

def test_what_was_collected_and_settled_agrees(world):
    world.send(500, partition=0)
    world.send(300, partition=1)
    world.collect()
    world.settle(800)

    status, said = world.ask("verify")

    assert status == 0 and said["ok"] and said["findings"] == []
    assert (said["events"], said["rows"]) == (800, 800)
    assert [part(said, p)["rows"] for p in (0, 1)] == [500, 300]
    assert said["settled"]["hours"] >= 1
    assert said["settled"]["differences"] == []


def test_people_get_a_table_and_a_sentence(world):
    world.send(5)
    world.collect()
    world.send(2)

    status, output = world.run("verify")
    assert status == 0
    assert "Every event is accounted for exactly once." in output
    row = next(line for line in output.splitlines() if line.startswith("0 "))
    assert row.split() == ["0", "1", "Kafka", "0-6", "7", "5", "0", "0", "2",
                           "0", "0", "0"]

    status, said = world.ask("verify", "--from", OLD_DAY, "--to", "2026-03-06")
    assert status == 0
    assert (said["events"], said["rows"], said["missing"]) == (0, 0, 0)


def test_an_empty_topic_agrees(world):
    status, said = world.ask("verify")
    assert (status, said["events"]) == (0, 0)


@pytest.mark.long
def test_what_goes_on_meanwhile_is_no_gap(world):
    """Kafka, rows, reports and settled hours change while they are read."""
    made = world.program("collector", world.sections)
    settler = world.program("aggregator", {"aggregator": {
        "settle_every": "500ms", "lease": "1s"}})
    with Sender(world) as sender:
        for since in ("1970-01-01", rfc3339(time.time() - 60)):
            status, said = world.ask("verify", "--from", since)
            assert status == 0, said
        eventually(lambda: sender.sent > 1000)
    assert settler.stop() == 0 and made.stop() == 0
    status, said = world.ask("verify")
    assert status == 0, said
    assert said["events"] == sender.sent


class Sender(threading.Thread):
    """Sends without a pause to both partitions."""

    def __init__(self, world):
        super().__init__()
        self.world = world
        self.sent = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            self.world.send(50, partition=self.sent // 50 % 2)
            self.sent += 50

    def __enter__(self):
        self.start()
        eventually(lambda: self.sent)
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


@pytest.mark.proof
def test_only_the_time_asked_for_is_looked_at(world):
    world.send(10)
    world.collect()
    eventually(lambda: time.time() > newest(world) / 1000 + 0.01)
    before = rfc3339(time.time())
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset = 3",
                           mutations_sync=1)
    world.send(4)
    world.collect()
    status, said = world.ask("verify", "--from", before)
    assert status == 0 and part(said)["first"] == 10
    status, said = world.ask("verify", "--to", before)
    assert status == 1 and named(said) == [("missing", 0, 3, 3)]


def newest(world):
    return int(world.clickhouse.value(
        "SELECT toUnixTimestamp64Milli(max(append_time)) FROM clicks"))


# --- findings ----------------------------------------------------------------

def test_rows_that_are_gone_are_named(world):
    world.send(100)
    world.collect()
    world.clickhouse.query(
        "ALTER TABLE clicks DELETE WHERE offset IN (7, 20, 21, 22, 99)",
        mutations_sync=1)

    status, said = world.ask("verify")

    assert status == 1 and not said["ok"]
    assert named(said) == [("missing", 0, 7, 7), ("missing", 0, 20, 22),
                           ("missing", 0, 99, 99)]
    assert (said["rows"], said["missing"]) == (95, 5)
    status, output = world.run("verify")
    assert status == 1 and "20-22" in output
    assert "Not accounted for once: 5 events." in output


@pytest.mark.proof
def test_of_many_gaps_the_first_are_shown(world):
    world.send(100, partition=0)
    world.send(5, partition=1)
    world.collect()
    world.clickhouse.query(
        "ALTER TABLE clicks DELETE WHERE offset % 2 = 0", mutations_sync=1)

    status, output = world.run("verify")
    shown = [line.split() for line in output.splitlines()
             if line.startswith("missing")]
    assert status == 1 and len(shown) == 20 + 1 + 3
    assert [row[1:4] for row in shown[:2]] == [["0", "1", "0"], ["0", "1", "2"]]
    assert shown[20][1:6] == ["0", "1", "and", "30", "more"]
    assert shown[21][1:4] == ["1", "1", "0"]

    status, output = world.run("verify", "--all")
    assert status == 1 and "and 30 more" not in output
    assert sum(line.startswith("missing")
               for line in output.splitlines()) == 53
    status, said = world.ask("verify")
    assert len(said["findings"]) == 53 and said["findings_all_named"]
    assert said["findings_events"] == sum(f["events"] for f in said["findings"])


def test_rows_stored_twice_are_named(world):
    world.send(100)
    world.collect()
    for _ in range(2):
        world.clickhouse.query(
            "INSERT INTO clicks SELECT * FROM clicks WHERE offset IN (5, 6)"
            " LIMIT 1 BY offset", insert_deduplicate=0)
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("twice", 0, 5, 6)]
    assert (said["rows"], said["twice"]) == (100, 4)


def test_rows_that_kafka_has_not_are_named(world):
    world.send(10)
    world.collect()
    world.clickhouse.query(
        "INSERT INTO clicks SELECT * REPLACE (offset + 1000 AS offset) "
        "FROM (SELECT * FROM clicks WHERE offset < 3)")
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("unknown", 0, 1000, 1002)]


def test_a_row_that_hides_another_event_is_named(world):
    """The state is as after a log that was cut and written again: the offset has a row
    of the former event."""
    world.send(100)
    time.sleep(0.01)  # Kafka stores the others at another time
    world.send(100)
    world.collect()
    world.clickhouse.query(
        "ALTER TABLE clicks UPDATE append_time = "
        "(SELECT max(append_time) FROM clicks) WHERE offset IN (7, 70, 71)",
        mutations_sync=1)
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("other", 0, 7, 7), ("other", 0, 70, 71)]
    assert (said["rows"], said["missing"]) == (200, 3)


@pytest.mark.proof
def test_a_row_that_hides_another_event_is_named_beside_a_dead_letter(world):
    """The same beside other offsets that have no row, or a row without an event."""
    world.send(8)
    time.sleep(0.01)
    world.send_raw([b"\xff not a click"])
    world.send(55)
    abort(world, 3)  # 64 to 66, and the mark
    world.send(132)
    world.collect()
    hide(world, 7, 9, 10, 63)
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("other", 0, 7, 7), ("other", 0, 9, 10),
                           ("other", 0, 63, 63)]

    hide(world, 100, 199)
    world.clickhouse.query("INSERT INTO clicks SELECT * REPLACE (65 AS offset) "
                           "FROM (SELECT * FROM clicks WHERE offset = 68)")
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset = 198",
                           mutations_sync=1)
    drop(world, 5)
    status, said = world.ask("verify")
    assert status == 1
    assert sorted(named(said)) == [
        ("missing", 0, 198, 198), ("other", 0, 7, 7), ("other", 0, 9, 10),
        ("other", 0, 63, 63), ("other", 0, 100, 100), ("other", 0, 199, 199),
        ("unknown", 0, 65, 65)]


def abort(world, count):
    """Sends this many events in a transaction that is aborted."""
    from confluent_kafka import Producer
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap,
                         "transactional.id": world.topics["topic_clicks"]})
    end = world.kafka.ends(world.topics["topic_clicks"])[0] + count + 1
    producer.init_transactions(30)
    producer.begin_transaction()
    for i in range(count):
        producer.produce(world.topics["topic_clicks"], click(i), partition=0)
    producer.flush(30)
    producer.abort_transaction(30)
    # The mark is written after that answer.
    eventually(lambda: world.kafka.ends(world.topics["topic_clicks"])[0] == end,
               what="the mark")


def hide(world, *offsets):
    """Replaces events with ones that Kafka stored at another time, among those of the
    rest."""
    world.clickhouse.query(
        "ALTER TABLE clicks UPDATE append_time = append_time + toIntervalMillisecond("
        "if(append_time = (SELECT min(append_time) FROM clicks), 1, -1)) WHERE "
        f"offset IN ({', '.join(map(str, offsets))})", mutations_sync=1)


def test_events_read_again_under_another_epoch_are_named(world):
    world.send(50)
    world.collect()
    world.clickhouse.query("INSERT INTO clicks SELECT * REPLACE (toUInt32(2) AS epoch) "
                           "FROM clicks WHERE offset BETWEEN 10 AND 19")
    status, said = world.ask("verify")
    assert status == 1
    assert ("read again", 0, 10, 19) in named(said)


def collect_yesterday(world):
    """Sends an event in each of the day's first five hours; returns the day's start."""
    yesterday = int(time.time()) // 86400 * 86400 - 86400
    world.send_raw([click(i, time_ms=(yesterday + 3600 * i) * 1000)
                    for i in range(5)])
    world.collect()
    return yesterday


@pytest.mark.proof
def test_a_count_that_was_settled_wrong_is_named(world):
    yesterday = collect_yesterday(world)
    day = ["--from", rfc3339(yesterday)]
    status, said = world.ask("verify", *day)
    assert status == 0 and said["settled"]["hours_waiting"] == 5

    world.settle(5, days=1)

    status, said = world.ask("verify", *day)
    assert status == 0, said
    assert (said["settled"]["hours"], said["settled"]["days"]) == (5, 1)
    for table, column, where in (
            ("stats_hourly", "events", "dimension = 'total'"),
            ("link_slots", "ineffective", "1"),
            ("link_days", "pv", "1")):
        world.clickhouse.query(f"ALTER TABLE {table} UPDATE {column} = "
                               f"{column} + 7 WHERE {where}",
                               mutations_sync=1)
    status, said = world.ask("verify", *day)
    assert status == 1 and said["findings"] == []
    wrong = said["settled"]["differences"]
    assert [(w["table"], w["rows"], w["settled"]) for w in wrong] == [
        ("stats_hourly", 1, 8)] * 5 + [
        ("link_slots", 5, 40), ("link_days", 5, 12)]
    assert wrong[0]["start"] == rfc3339(yesterday)


@pytest.mark.long
def test_an_hour_that_a_pass_left_out_is_named(world):
    """The aggregator published that it had read beyond the hour's blocks."""
    hour = int(time.time()) // 3600 * 3600 - 7200
    world.send_raw([click(i, time_ms=hour * 1000) for i in range(5)])
    world.send_raw([click(i, time_ms=(hour + 3600) * 1000) for i in range(3)])
    world.collect()
    world.settle(8)
    passed = world.clickhouse.value(
        "SELECT argMax(read_until, attempt) FROM settled WHERE kind = 'pass'")
    world.clickhouse.query(
        f"ALTER TABLE settled DELETE WHERE kind = 'hour' AND unit = {hour}",
        mutations_sync=1)
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 0 and said["settled"]["hours_waiting"] == 1

    stored_later(world, "-1 HOUR", f"inserted_at <= '{passed}'")
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 1
    assert different(said, hour) == [
        ("overdue", rfc3339(hour), "stats_hourly", 5, 0)]


def stored_later(world, interval, which="rows > 0"):
    """Moves the times of storing of these reports by that much."""
    world.clickhouse.query(
        "CREATE TABLE moved ENGINE = Memory AS SELECT * REPLACE (inserted_at + "
        f"INTERVAL {interval} AS inserted_at) FROM ingest_progress WHERE {which}")
    world.clickhouse.query(f"ALTER TABLE ingest_progress DELETE WHERE {which}",
                           mutations_sync=1)
    world.clickhouse.query("INSERT INTO ingest_progress SELECT * FROM moved")


@pytest.mark.proof
@pytest.mark.parametrize("settled", [
    0, pytest.param(5, marks=pytest.mark.long)])
def test_rows_that_nobody_reported_are_named(world, settled):
    """A token can outlive its report: no pass knows of the rows."""
    hour = two_hours_ago()
    if settled:
        world.send_raw([click(i, time_ms=hour * 1000) for i in range(5)])
        world.collect()
        world.settle(5)
    world.send_raw([click(settled + i, time_ms=hour * 1000) for i in range(5)])
    world.collect()
    world.clickhouse.query("ALTER TABLE ingest_progress DELETE WHERE "
                           f"first >= {settled}", mutations_sync=1)
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 1 and said["findings"] == []
    assert different(said, hour) == [
        ("miscounted", rfc3339(hour), "stats_hourly", 10, 5) if settled else
        ("never reported", rfc3339(hour), "-", 5, 0)]


@pytest.mark.long
def test_a_day_that_was_emptied_is_named(world):
    """All of a published day is gone, as if an empty source had been swapped in."""
    yesterday = collect_yesterday(world)
    world.settle(5, days=1)
    for table in ("link_slots", "link_days"):
        world.clickhouse.query(f"ALTER TABLE {table} DELETE WHERE 1",
                               mutations_sync=1)
    status, said = world.ask("verify", "--from", rfc3339(yesterday))
    assert status == 1
    day = rfc3339(yesterday)[:10]
    assert different(said) == [("miscounted", day, "link_slots", 5, 0),
                               ("miscounted", day, "link_days", 5, 0)]


# --- hours that are held back ------------------------------------------------

def settled_short(world, hour, sent):
    """Ten events of the hour are settled, three of their rows are deleted, and more
    events come."""
    world.send_raw([click(i, time_ms=hour * 1000) for i in range(10)])
    world.collect()
    world.settle(10)
    world.clickhouse.query("CREATE TABLE kept ENGINE = Memory AS "
                           "SELECT * FROM clicks WHERE offset < 3")
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset < 3",
                           mutations_sync=1)
    world.send_raw([click(10 + i, time_ms=hour * 1000) for i in range(sent)])
    world.collect()


def hold_back(world):
    made = world.program("aggregator", {"aggregator": {
        "settle_every": "500ms", "lease": "1s", "day_grace": "0s"}})
    eventually(lambda: int(world.clickhouse.value(
        "SELECT count() FROM settled WHERE kind = 'held_hour'")),
        what="an hour held back")
    assert made.stop() == 0


def different(said, hour=None):
    """Soon after midnight, when the day of two hours ago is over, that day differs as
    well: the test of an hour ignores it."""
    found = [(d["finding"], d["start"], d["table"], d["rows"], d["settled"])
             for d in said["settled"]["differences"]]
    if hour is None or hour // 86400 == int(time.time()) // 86400:
        return found
    return [f for f in found if f[1] != rfc3339(hour)[:10]]


def two_hours_ago():
    return int(time.time()) // 3600 * 3600 - 7200


@pytest.mark.proof
@pytest.mark.parametrize("sent", [
    1, pytest.param(5, marks=pytest.mark.long)])
def test_an_hour_that_lost_rows_is_named_before_it_is_settled_again(world,
                                                                    sent):
    """This holds even if later events make the rows more than before."""
    hour = two_hours_ago()
    settled_short(world, hour, sent)
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 1 and named(said) == [("missing", 0, 0, 2)]
    assert different(said, hour) == [
        ("held back", rfc3339(hour), "stats_hourly", 7 + sent, 10)]
    assert said["settled"]["hours_waiting"] == 0


@pytest.mark.proof
def test_an_hour_that_is_held_back_is_named_until_it_is_settled(world):
    """After its rows are restored, the hour only has to be settled again."""
    hour = two_hours_ago()
    settled_short(world, hour, 1)
    hold_back(world)
    status, output = world.run("verify", "--from", rfc3339(hour))
    assert status == 1 and "see `aggregator settle`" in output, output

    world.clickhouse.query("INSERT INTO clicks SELECT * FROM kept")
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 1 and said["findings"] == []
    assert different(said, hour) == [
        ("held back", rfc3339(hour), "stats_hourly", 11, 10)]

    status, output = world.program("aggregator", start=False, args=[
        "settle", "--from", rfc3339(hour), "--to", rfc3339(hour + 3600)]).run()
    assert status == 0, output
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 0, said


@pytest.mark.long
def test_a_day_that_lost_rows_is_named_while_its_hours_wait(world):
    yesterday = collect_yesterday(world)
    world.settle(5, days=1)
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset < 2",
                           mutations_sync=1)
    world.send_raw([click(5, time_ms=yesterday * 1000)])
    world.collect()
    status, said = world.ask("verify", "--from", rfc3339(yesterday))
    assert status == 1
    day = rfc3339(yesterday)
    assert different(said) == [
        ("held back", day, "stats_hourly", 1, 1),
        ("miscounted", rfc3339(yesterday + 3600), "stats_hourly", 0, 1),
        ("held back", day[:10], "link_slots", 4, 5)]
    assert said["settled"]["days_waiting"] == 0


# --- times beyond ClickHouse's clock -----------------------------------------

# The statement of docs/collector.md.
WRITE_AGAIN = """
    INSERT INTO ingest_progress (epoch, topic, partition, partitions, first, last,
        rows, dead_lettered, lost, hours, append_time, collector)
    SELECT epoch, topic, partition, partitions, first, last,
        rows, dead_lettered, lost, hours, append_time, collector
    FROM ingest_progress
    WHERE inserted_at > now64(3) + INTERVAL 1 MINUTE AND rows + dead_lettered + lost > 0;

    ALTER TABLE ingest_progress DELETE
    WHERE inserted_at > now64(3) + INTERVAL 1 MINUTE
    SETTINGS allow_nondeterministic_mutations = 1;
"""


def report_idle(world, offset, inserted="now64(3)", append="now64(3)"):
    world.clickhouse.query(
        "INSERT INTO ingest_progress (epoch, topic, partition, partitions, "
        "first, last, append_time, inserted_at, collector) SELECT 1, "
        f"'{world.topics['topic_clicks']}', 1, 2, {offset}, {offset} - 1, "
        f"{append}, {inserted}, 'old'")


def ahead(said):
    return [(c["finding"], c["partition"], c["epoch"], c["first"], c["last"],
             c["reports"]) for c in said["clocks"]]


def until(said, at=0):
    """Returns the seconds beyond ClickHouse's clock."""
    times = [datetime.datetime.fromisoformat(
        said["clocks"][at][k].replace("Z", "+00:00"))
        for k in ("time", "clickhouse")]
    return (times[0] - times[1]).total_seconds()


@pytest.mark.long
def test_reports_of_a_collector_that_was_ahead_are_named_and_mended(world):
    world.send(20, partition=0)
    world.send(10, partition=1)
    world.collect()
    stored_later(world, "1 DAY", "rows > 0 AND partition = 0")
    for _ in range(2):
        report_idle(world, 10, *["now64(3) + INTERVAL 1 DAY"] * 2)

    status, said = world.ask("verify")

    assert status == 1 and not said["ok"] and said["findings"] == []
    blocks = int(world.clickhouse.value("SELECT count() FROM moved"))
    assert ahead(said) == [("stored ahead", 0, 1, 0, 19, blocks),
                           ("stored ahead", 1, 1, 10, 10, 2)]
    assert 86300 < until(said) < 86401
    status, output = world.run("verify")
    assert status == 1 and "Times lie beyond ClickHouse's clock." in output
    shown = [line.split() for line in output.splitlines()
             if line.startswith("stored ahead")]
    assert [s[2:6] for s in shown] == [["0", "1", "0-19", str(blocks)],
                                       ["1", "1", "10", "2"]]

    assert WRITE_AGAIN in (servers.ROOT / "docs/collector.md").read_text()
    for statement in WRITE_AGAIN.split(";")[:2]:
        world.clickhouse.query(statement, mutations_sync=1)
    status, said = world.ask("verify")
    assert status == 0 and said["clocks"] == []
    world.settle(30)
    status, said = world.ask("verify")
    assert status == 0, said


def test_append_times_of_a_kafka_that_is_ahead_are_named(world):
    world.send(10, partition=1)
    world.collect()
    report_idle(world, 10, append="now64(3) + INTERVAL 1 HOUR")
    status, said = world.ask("verify")
    assert status == 1
    assert ahead(said) == [("appended ahead", 1, 1, 10, 10, 1)]
    assert 3500 < until(said) < 3601


def test_what_replicas_clocks_may_differ_by_is_no_finding(world):
    world.send(5)
    world.collect()
    report_idle(world, 0, *["now64(3) + INTERVAL 50 SECOND"] * 2)
    publish(world, 50)
    status, said = world.ask("verify")
    assert status == 0, said


def test_reports_of_links_that_are_ahead_are_named(world):
    world.send(5, topic="links")
    world.collect()
    stored_later(world, "1 DAY", f"topic = '{world.topics['topic_links']}'"
                 " AND rows > 0")
    assert world.ask("verify")[0] == 0
    status, said = world.ask("verify", "--topic", "links")
    assert status == 1
    assert [c[:5] for c in ahead(said)] == [("stored ahead", 0, 1, 0, 4)]


def publish(world, seconds):
    """Publishes like an aggregator whose own clock was ahead, as the report's was."""
    at = f"now64(3) + toIntervalSecond({seconds})"
    world.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt, read_until, complete_until, "
        f"settled_at, settler) SELECT 'pass', now(), "
        f"{int(time.time() * 1000) << 20}, {at}, {at}, now64(3), 'old'")


@pytest.mark.proof
def test_a_watermark_that_was_published_too_far_is_named_and_mended(world):
    for partition in (0, 1):
        world.send(5, partition=partition)
    world.collect()
    world.settle(10)
    # A batch that is stored just after the collector's start is reported before the
    # number of partitions is known: that report guarantees nothing.
    world.sections["collector"]["report_every"] = "200ms"
    collector = world.program("collector", world.sections)
    eventually(lambda: int(world.clickhouse.value(
        "SELECT max(partitions) FROM ingest_progress")) == 2)
    assert collector.stop() == 0
    publish(world, 86400)

    status, said = world.ask("verify")

    assert status == 1 and said["findings"] == []
    assert [c["finding"] for c in said["clocks"]] == [
        "read ahead", "promised ahead"]
    assert all(86300 < until(said, i) < 86401 for i in (0, 1))
    assert "--mend" in said["clocks"][1]["what"]
    status, output = world.program("aggregator", start=False, args=[
        "watermark", "--mend"]).run()
    assert status == 0, output
    status, said = world.ask("verify")
    assert status == 0 and said["clocks"] == []


@pytest.mark.proof
def test_a_pass_that_read_what_is_to_come_makes_no_hour_overdue(world):
    hour = two_hours_ago()
    world.send(5)
    world.collect()
    world.settle(5)
    publish(world, 86400)
    world.send_raw([click(5, time_ms=hour * 1000)])
    world.collect()
    status, said = world.ask("verify", "--from", rfc3339(hour))
    assert status == 1 and said["settled"]["differences"] == []
    assert said["settled"]["hours_waiting"] == 1


# --- dead letters, holes, retention ------------------------------------------

@pytest.mark.proof
def test_dead_letters_are_accounted_for(world):
    world.send(5)
    world.send_raw([b"\xff not a click", b"nor this"])
    world.send(5)
    world.collect()
    status, said = world.ask("verify")
    assert status == 0, said
    assert (said["events"], said["rows"], said["dead_letters"]) == (12, 10, 2)

    # The letters are gone, but their number was reported.
    world.sections["kafka"]["topic_dlq"] = world.kafka.create_topic("dlq", 1)
    status, said = world.ask("verify")
    assert status == 0, said
    assert part(said)["dead_letters_gone"] == 2
    status, output = world.run("verify")
    assert status == 0
    assert "accounted for exactly once, 2 by nothing but the report that they were " \
        "dead letters.\n" in output


def test_marks_of_transactions_are_no_gap(world):
    from confluent_kafka import Producer
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap,
                         "transactional.id": world.topics["topic_clicks"]})
    producer.init_transactions(30)
    for commit in (True, False, True):
        producer.begin_transaction()
        for i in range(3):
            producer.produce(world.topics["topic_clicks"], click(i),
                             partition=0)
        (producer.commit_transaction if commit
         else producer.abort_transaction)(30)
    world.send(1)
    world.collect()
    status, said = world.ask("verify")
    assert status == 0, said
    assert (said["events"], said["rows"]) == (7, 7)


def drop(world, before, partition=0, topic="clicks"):
    """Kafka deletes the records before that offset."""
    from confluent_kafka import TopicPartition
    where = TopicPartition(world.topics[f"topic_{topic}"], partition, before)
    for done in world.kafka.admin.delete_records([where]).values():
        done.result(30)


@pytest.mark.proof
def test_what_kafka_dropped_is_held_against_the_reports(world):
    world.send(60)
    world.collect()
    world.send(40)
    world.collect()
    drop(world, 80)
    status, said = world.ask("verify")
    assert status == 0, said
    told = part(said, by="reports")
    assert (told["first"], told["end"]) == (0, 80)
    assert part(said)["first"] == 80
    assert told["rows"] + part(said)["rows"] == 100
    world.clickhouse.query(
        "ALTER TABLE clicks DELETE WHERE offset IN (10, 11, 70)",
        mutations_sync=1)
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("rows gone", 0, 10, 11), ("rows gone", 0, 70, 70)]


@pytest.mark.proof
def test_what_kafka_dropped_before_it_was_read_is_a_gap(world):
    world.send(10)
    world.collect()
    world.send(10)
    drop(world, 15)
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("unreported", 0, 10, 14)]
    world.collect()
    status, said = world.ask("verify")
    assert status == 1
    assert named(said) == [("not read", 0, 10, 14)]
    assert (said["events"], said["rows"], said["missing"]) == (20, 15, 5)


@pytest.mark.long
def test_a_topic_that_was_made_anew_is_two(world):
    world.send(5)
    world.collect()
    topic = world.topics["topic_clicks"]
    world.kafka.delete_topic(topic)
    world.kafka.create_topic(exactly=topic, partitions=2,
                             message_timestamp_type="LogAppendTime")
    world.sections["collector"]["epoch"] = 2
    world.send(3)
    world.collect()

    status, said = world.ask("verify")
    assert status == 0, said
    assert [(p["epoch"], p["by"], p["rows"]) for p in said["partitions"]
            if p["rows"]] == [(2, "kafka", 3), (1, "reports", 5)]
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE epoch = 1 AND "
                           "offset = 2", mutations_sync=1)
    status, said = world.ask("verify")
    assert status == 1 and named(said) == [("rows gone", 0, 2, 2)]
    assert said["findings"][0]["epoch"] == 1


# --- links -------------------------------------------------------------------

def test_a_link_that_a_newer_version_replaced_is_no_gap(world):
    world.send_raw([link_event(1), link_event(2), link_event(1, version=2)],
                   topic="links")
    world.collect()
    world.clickhouse.query("OPTIMIZE TABLE links FINAL")
    status, said = world.ask("verify", "--topic", "links")
    assert status == 0
    assert (said["events"], said["rows"], said["replaced"]) == (3, 2, 1)
    assert "settled" not in said
    world.clickhouse.query("ALTER TABLE links DELETE WHERE code = 'code2'",
                           mutations_sync=1)
    status, said = world.ask("verify", "--topic", "links")
    assert status == 1 and named(said) == [("missing", 0, 1, 1)]


def test_a_link_row_that_waits_for_a_merge_beside_its_like_is_no_finding(world):
    """A collector in doubt stores superseded versions again, and reports nothing of
    it."""
    world.send_raw([link_event(1), link_event(2), link_event(1, version=2)],
                   topic="links")
    world.collect()
    world.clickhouse.query("SYSTEM STOP MERGES links")
    world.clickhouse.query("INSERT INTO links SELECT * FROM links")
    assert int(world.clickhouse.value("SELECT count() FROM links")) > int(
        world.clickhouse.value("SELECT uniqExact(offset) FROM links"))
    status, said = world.ask("verify", "--topic", "links")
    assert (status, named(said)) == (0, [])


# --- bad input, and servers that are down ------------------------------------

@pytest.mark.parametrize("args, said", [
    (["--from", "2026-11-02", "--to", "2026-11-01"],
     "--from lies behind --to"),
    (["--from", "yesterday"], "--from: 'yesterday': expected a day"),
    (["--topic", "shoes"], "'shoes' is neither clicks nor links"),
    (["--limit", "3"], "--limit does not go with 'verify'"),
])
def test_bad_arguments_are_refused(program, args, said):
    status, output = program("collector", args=["verify", *args],
                             start=False).run()
    assert status == 64 and said in output, output


def test_a_range_with_dropped_days_is_refused(world):
    world.send(3)
    world.collect()
    day = int(time.time()) // 86400 * 86400 - 3 * 86400
    world.clickhouse.query("INSERT INTO settled (kind, unit, attempt) SELECT "
                           f"'dropped_day', toDateTime({day}, 'UTC'), 1")
    assert world.ask("verify", "--from", rfc3339(day + 86400))[0] == 0
    status, output = world.run("verify", "--from", rfc3339(day + 86399))
    assert status == 64, output
    assert f"has dropped days before {rfc3339(day + 86400)}" in output


def test_a_topic_that_is_not_there_is_named(kafka, clickhouse, program):
    status, output = program(
        "collector", {"kafka": {"topic_clicks": "nobodys"}},
        args=["verify"], start=False).run()
    assert status == 66 and "kafka has no topic 'nobodys'" in output, output


def test_a_clickhouse_that_is_away_is_named(kafka, program):
    status, output = program("collector", args=["verify"], start=False).run()
    assert status == 75 and "clickhouse: " in output, output


@pytest.mark.long
@pytest.mark.parametrize("args", [["verify"], ["dlq", "list"],
                                  ["dlq", "replay", "--all"]])
def test_a_kafka_that_is_away_is_named(clickhouse, program, args):
    """Most of the time is the timeout."""
    status, output = program("collector", args=args, start=False).run()
    assert status == 75 and "Connection refused" in output, output
