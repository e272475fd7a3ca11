"""A partition that is stopped affects only itself: its log was cut, made anew, or never
read; a healthy partition beside it continues as if nothing had happened."""
import json
import re
import shutil
import struct
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from support.collectors import BROKER
from support.events import click, link_event
from support.kafka import Kafka
from support.program import eventually
from support.rule_files import UA_RULES
from support.server import KafkaServer

PATIENCE = 60


class CuttableKafka(KafkaServer):
    """A broker on which a partition's log can be cut at a batch, as by an unclean
    election or a restored backup."""

    def cut(self, topic, partition, offset):
        self.kill()
        folder, = self.directory.glob(f"**/{topic}-{partition}")
        segment, = folder.glob("*.log")
        data = segment.read_bytes()
        at = 0
        while at < len(data):
            base, length = struct.unpack_from(">qi", data, at)
            if base >= offset:
                break
            at += 12 + length
        assert base == offset, f"a batch begins at {base}"
        segment.write_bytes(data[:at])
        for path in folder.iterdir():
            if path.suffix in (".index", ".timeindex", ".snapshot"):
                path.unlink()
        for path in folder.parent.glob(".kafka_cleanshutdown"):
            path.unlink()
        self.start()


@pytest.fixture(scope="module")
def broker(rundir):
    server = CuttableKafka(rundir / "kafka-epochs", extra=BROKER)
    yield server.start()
    server.kill()
    shutil.rmtree(server.directory, ignore_errors=True)


class World:
    """Two partitions of clicks: the faults are the first one's."""

    def __init__(self, broker, tables, program, config):
        self.broker, self.tables, self.program = broker, tables, program
        self.kafka = Kafka(broker.port)
        self.clicks = self.kafka.clicks_topic(2)
        self.links = self.kafka.create_topic("links", 2)
        self.group = self.clicks
        self.sections = {
            "kafka": {"brokers": [f"127.0.0.1:{broker.port}"],
                      "topic_clicks": self.clicks, "topic_links": self.links,
                      "topic_dlq": self.kafka.create_topic("dlq", 1)},
            "collector": {"group": self.group, "batch_age": "100ms",
                          "report_every": "200ms",
                          "ua_rules": UA_RULES}}
        self.sent = self.linked = 0

    def send(self, count, partition=0):
        """Sends one batch; each event has an identity of its own."""
        self.kafka.produce(self.clicks, [click(self.sent + i) for i in
                                         range(count)], partition=partition)
        self.sent += count

    def send_both(self, count):
        self.send(count, 0)
        self.send(count, 1)

    def send_whole(self, count):
        """Sends events in a transaction: Kafka has a mark at the next offset."""
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap,
                             "transactional.id": self.clicks})
        producer.init_transactions(30)
        producer.begin_transaction()
        for i in range(count):
            producer.produce(self.clicks, click(self.sent + i), partition=0)
        producer.flush(30)
        end = self.end() + 1
        producer.commit_transaction(30)
        # The mark is written after that answer.
        eventually(lambda: self.end() == end, PATIENCE, what="the mark")
        self.sent += count

    def end(self):
        where = Consumer({"bootstrap.servers": self.kafka.bootstrap, "group.id": "end",
                          "isolation.level": "read_uncommitted"})
        try:
            return where.get_watermark_offsets(TopicPartition(self.clicks, 0), 30)[1]
        finally:
            where.close()

    def send_links(self, count, partition=0):
        """Sends one batch; each link has a code of its own."""
        self.kafka.produce(self.links, [link_event(self.linked + i) for i in
                                        range(count)], partition=partition)
        self.linked += count

    def wait_links(self, links):
        eventually(lambda: self.tables.rows(
            "SELECT uniqExact(code) AS codes, count() AS n FROM links FINAL") ==
            [{"codes": links, "n": links}], PATIENCE, what=f"{links} links")

    def collector(self, ready=True, start=True, args=(), **own):
        sections = {**self.sections, "collector": {
            **self.sections["collector"], **own}}
        return self.program("collector", sections, ready=ready, start=start,
                            args=args)

    def command(self, *args, **own):
        return self.collector(start=False, args=args, **own).run()

    def decide(self, *args):
        status, output = self.command("epoch", *args)
        assert status == 0, output
        return output

    def stored(self, where="1"):
        """Returns the number of events, and of rows."""
        row, = self.tables.rows("SELECT uniqExact(event_id) AS e, count() AS "
                                f"n FROM clicks WHERE {where}")
        return int(row["e"]), int(row["n"])

    def wait_stored(self, events, where="1"):
        """Waits until this many events are stored, each once."""
        eventually(lambda: self.stored(where)[0] == events, PATIENCE,
                   what=f"{events} events where {where}")
        assert self.stored(where) == (events, events)

    def wait_reported(self, events, where="1"):
        eventually(lambda: int(self.tables.value(
            "SELECT sum(rows + dead_lettered) FROM ingest_progress WHERE "
            f"{where}")) == events, PATIENCE, what="the reports")

    def wait_committed(self, offsets):
        eventually(lambda: self.kafka.committed(self.group, self.clicks) ==
                   offsets, PATIENCE, what=f"{offsets} committed")

    def epochs(self):
        return {int(r["partition"]): int(r["e"]) for r in self.tables.rows(
            "SELECT partition, max(epoch) AS e FROM clicks WHERE topic = "
            f"'{self.clicks}' GROUP BY partition")}

    def lost(self):
        return [(int(r["partition"]), int(r["epoch"]), int(r["first"]),
                 int(r["last"]), int(r["lost"]))
                for r in self.tables.rows(
                    "SELECT partition, epoch, first, last, lost FROM "
                    "ingest_progress WHERE lost > 0 ORDER BY 1, 2, 3")]

    def verify(self):
        """Returns (exit status, {(kind, partition, first, last)})."""
        status, output = self.command("verify", "--json")
        said = json.loads(output[output.index("{"):])
        return status, {(f["finding"], f["partition"], f["first"], f["last"])
                        for f in said["findings"]}

    def cut(self, offset, partition=0):
        self.broker.cut(self.clicks, partition, offset)

    def filled(self):
        """Thirty events in each partition, all stored, and no collector."""
        first = self.collector()
        self.send_both(20)
        self.send_both(10)
        self.wait_stored(60)
        self.wait_committed({0: 30, 1: 30})
        assert first.stop() == 0


def stopped(world, running, why):
    def marks():
        return [running.series("shortloop_collector_stopped",
                               topic=world.clicks, partition=p) for p in "01"]
    # Both conditions are needed: a group that is joined anew begins from the start, and
    # a partition has no mark before it was assigned.
    eventually(lambda: running.ready()[0] == 503 and why in running.ready()[1]
               and marks() == [[1], [0]], PATIENCE, what="/readyz to say why")


def goes_on(world, running):
    """Everything is consistent, and a recovery works."""
    eventually(lambda: running.ready()[0] == 200, PATIENCE)
    assert running.stop() == 0
    again = world.collector()
    before = world.stored()[0]
    world.send_both(5)
    world.wait_stored(before + 10)
    again.wait_metric(10, "shortloop_collector_consumed_total")
    status, output = world.command("epoch")
    assert status == 0, output


@pytest.fixture
def world(broker, tables, program, base_config):
    return World(broker, tables, program, base_config)


# --- a log that was cut ----------------------------------------------------------

@pytest.mark.long
def test_a_partition_whose_log_was_cut_resumes_where_it_was(world):
    """Nothing that Kafka holds is lost or stored twice, and lost events stay
    counted."""
    world.filled()
    world.cut(20)
    world.send(5, 0)
    world.send(5, 1)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    world.wait_stored(35, "partition = 1")
    assert world.stored("partition = 0") == (30, 30)
    output = world.decide("--resume")
    assert "partition 0 goes on at offset 20: epoch 2" in output
    world.wait_stored(70)
    assert world.epochs() == {0: 2, 1: 1}
    assert world.stored("epoch = 2 AND offset >= 20 AND offset < 25") == (5, 5)
    assert world.lost() == []
    goes_on(world, running)
    assert world.verify() == (0, set())


@pytest.mark.proof
@pytest.mark.parametrize("decision, links, lost", [
    pytest.param("--resume", 45, [], marks=pytest.mark.long),
    ("--end", 40, [(0, 2, 20, 24, 5)])])
def test_a_partition_of_links_whose_log_was_cut(world, decision, links, lost):
    """Rows of links have no time to compare: up to a block replaces itself."""
    first = world.collector()
    world.send_links(20)
    world.send_links(5, 1)
    world.wait_links(25)
    world.send_links(10)
    world.wait_links(35)
    eventually(lambda: world.kafka.committed(world.group, world.links) ==
               {0: 30, 1: 5}, PATIENCE, what="the commits")
    assert first.stop() == 0
    world.broker.cut(world.links, 0, 20)
    world.send_links(5)
    running = world.collector(ready=False)
    eventually(lambda: running.ready()[0] == 503 and
               "beyond the end of the log" in running.ready()[1], PATIENCE,
               what="/readyz to say why")
    world.send_links(5, 1)
    world.wait_links(40)
    output = world.decide(decision, "--topic", "links")
    offset = int(re.search(r"partition 0 goes on at offset (\d+)",
                           output).group(1))
    assert offset == 25 if lost else offset <= 20
    eventually(lambda: running.ready()[0] == 200, PATIENCE)
    world.wait_links(links)
    eventually(lambda: world.lost() == lost, PATIENCE, what="the gap")
    status, output = world.command("verify", "--topic", "links", "--json")
    said = json.loads(output[output.index("{"):])
    assert status == (1 if lost else 0), output
    assert [(f["finding"], f["partition"], f["first"], f["last"])
            for f in said["findings"]] == [
        ("not read", 0, 20, 24) for _ in lost]
    status, output = world.command("epoch")
    assert status == 0, output


@pytest.mark.proof
def test_a_partition_whose_log_was_cut_goes_on_at_its_end_with_a_gap(world):
    world.filled()
    world.cut(20)
    world.send(5, 0)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    output = world.decide("--end")
    assert "partition 0 goes on at offset 25: epoch 2; 5 offsets from 20 on " \
        "are lost" in output
    eventually(lambda: world.lost() == [(0, 2, 20, 24, 5)], PATIENCE,
               what="the gap")
    running.wait_metric(5, "shortloop_collector_lost_offsets_total")
    world.send_both(5)
    world.wait_stored(70)
    goes_on(world, running)
    assert world.lost() == [(0, 2, 20, 24, 5)]
    assert world.verify() == (1, {("not read", 0, 20, 24)})


@pytest.mark.long
def test_a_log_that_was_cut_and_has_grown_again_is_not_passed_over(world):
    """The log ends at the right offset, so offsets alone prove nothing."""
    world.filled()
    world.cut(20)
    world.send(15, 0)
    running = world.collector(ready=False)
    stopped(world, running, "holds other events than those that are stored")
    status, output = world.command("epoch")
    assert status == 1 and "holds other events" in output
    status, output = world.command("epoch", "--same")
    assert status == 70 and "--resume" in output
    world.decide("--resume")
    world.wait_stored(75)
    assert world.lost() == []
    goes_on(world, running)
    assert world.verify() == (0, set())


@pytest.mark.long
def test_same_skips_no_new_events_below_the_old_end(world):
    """The decision was made when the log was shorter than what is stored; then it
    grew."""
    world.filled()
    world.cut(20)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    assert "is what it was: epoch 1" in world.decide("--same")
    stopped(world, running, "waits for its log")
    world.send(15, 0)
    stopped(world, running, "holds other events than those that are stored")
    world.decide("--resume")
    world.wait_stored(75)
    assert world.lost() == []


def batches(world, *counts):
    """Sends batches of this many events each, stored and reported, and then stops the
    collector."""
    first = world.collector()
    for i, count in enumerate(counts):
        world.send(count)
        world.wait_reported(sum(counts[:i + 1]))
    world.wait_committed({0: sum(counts), 1: 0})
    assert first.stop() == 0


@pytest.mark.proof
def test_a_mark_of_a_transaction_does_not_hide_that_a_log_was_cut(world):
    """The mark has the offset of the last reported event: Kafka has no event there."""
    batches(world, 10, 11)
    world.cut(10)
    world.send_whole(10)
    world.send(5)
    assert world.end() == 26
    running = world.collector(ready=False)
    stopped(world, running, "holds other events than those that are stored")
    status, output = world.command("epoch")
    assert status == 1 and "holds other events" in output
    assert "goes on at offset 10: epoch 2" in world.decide("--resume")
    world.wait_stored(36)
    goes_on(world, running)
    assert world.lost() == []
    assert world.verify() == (0, set())


@pytest.mark.long
def test_a_mark_of_a_transaction_does_not_hide_where_a_log_was_cut(world):
    """The last event of a batch is missing, and no other has its offset."""
    batches(world, 10, 5, 6)
    world.cut(10)
    world.send_whole(4)
    world.send(3)
    assert world.end() == 18
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    assert "goes on at offset 10: epoch 2" in world.decide("--resume")
    world.wait_stored(28)
    assert world.lost() == []
    goes_on(world, running)
    assert world.verify() == (0, set())


@pytest.mark.proof
def test_a_report_that_ends_at_a_mark_stops_nobody(world):
    """By Kafka's clock, events before it came later: brokers' clocks may differ."""
    first = world.collector()
    world.send_whole(10)
    world.send(5)
    world.wait_stored(15)
    world.wait_committed({0: 16, 1: 0})
    assert first.stop() == 0
    world.tables.query(
        "CREATE TABLE told ENGINE = Memory AS SELECT * REPLACE (0 AS first, 10 AS "
        "last, 10 AS rows, append_time - INTERVAL 1 HOUR AS append_time) FROM "
        "ingest_progress WHERE rows > 0 ORDER BY last DESC LIMIT 1")
    world.tables.query("ALTER TABLE ingest_progress DELETE WHERE topic = "
                       f"'{world.clicks}'", mutations_sync=1)
    world.tables.query("INSERT INTO ingest_progress SELECT * FROM told")
    status, output = world.command("epoch")
    assert status == 0, output
    world.collector()
    world.send_both(5)
    world.wait_stored(25)
    assert world.lost() == []


@pytest.mark.proof
def test_a_log_that_ends_before_what_was_read_is_not_reported_as_idle(world):
    """The next event has an offset that counts as read: until the partition stops, no
    report may claim that there is nothing to read."""
    running = world.collector()
    world.send(20)
    world.send(10)
    world.wait_stored(30)
    world.wait_committed({0: 30, 1: 0})
    idle = ("SELECT count() FROM ingest_progress WHERE partition = 0 AND topic = "
            f"'{world.clicks}' AND rows = 0")
    eventually(lambda: int(world.tables.value(f"{idle} AND first = 30")) > 1, PATIENCE,
               what="reports of the idle partition")
    world.broker.kill()
    since = world.tables.value("SELECT now64(3, 'UTC')")
    world.cut(20)
    stopped(world, running, "beyond the end of the log")
    assert int(world.tables.value(f"{idle} AND append_time > '{since}'")) == 0


@pytest.mark.long
def test_a_log_that_is_cut_while_it_is_read_stops_that_partition(world):
    running = world.collector()
    world.send_both(20)
    world.send_both(10)
    world.wait_stored(60)
    world.wait_committed({0: 30, 1: 30})
    world.cut(20)
    world.send(5, 0)
    stopped(world, running, "beyond the end of the log")
    world.send(5, 1)
    world.wait_stored(35, "partition = 1")
    world.decide("--resume")
    world.wait_stored(70)
    goes_on(world, running)


@pytest.mark.long
def test_a_log_is_cut_twice(world):
    world.filled()
    world.cut(20)
    world.send(5, 0)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    world.decide("--resume")
    world.wait_stored(65)
    world.wait_reported(65)
    assert running.stop() == 0
    world.cut(20)
    world.send(3, 0)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    assert "epoch 3" in world.decide("--resume")
    world.wait_stored(68)
    goes_on(world, running)
    assert world.verify() == (0, set())


@pytest.mark.long
def test_an_owner_that_dies_before_its_first_commit_leaves_no_doubt(world):
    """The gap was reported, and nothing was committed in the new epoch."""
    world.filled()
    world.cut(20)
    world.send(5, 0)
    world.decide("--end")
    gap = {"epoch": 2, "topic": world.clicks, "partition": 0, "partitions": 2,
           "first": 20, "last": 24, "lost": 5, "collector": "died"}
    world.tables.query("INSERT INTO ingest_progress FORMAT JSONEachRow",
                       json.dumps(gap).encode())
    running = world.collector()
    world.send_both(5)
    world.wait_stored(70)
    goes_on(world, running)


# --- a log that was made anew ------------------------------------------------------

@pytest.mark.long
def test_of_a_partition_made_anew_the_healthy_one_is_not_read_again(world):
    """`--new` affects only partitions that do not match."""
    world.filled()
    world.cut(0)
    world.send(12, 0)
    world.send(5, 1)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    output = world.decide("--new")
    assert "partition 0 was made anew: epoch 2" in output
    assert "partition 1 was" not in output
    world.wait_stored(77)
    assert world.epochs() == {0: 2, 1: 1}
    goes_on(world, running)
    assert world.verify() == (0, set())


@pytest.mark.long
def test_only_the_partitions_that_are_named_are_decided(world):
    world.filled()
    world.cut(20, 0)
    world.cut(20, 1)
    running = world.collector(ready=False)
    eventually(lambda: running.ready()[0] == 503 and
               "2 partitions stopped" in running.ready()[1], PATIENCE)
    world.decide("--resume", "--partition", "1")
    world.send_both(3)
    world.wait_stored(33, "partition = 1")
    stopped(world, running, "beyond the end of the log")
    world.decide("--resume", "--partition", "0")
    world.wait_stored(66)
    goes_on(world, running)


@pytest.mark.proof
def test_what_is_not_asked_for_is_refused(world):
    world.filled()
    status, output = world.command("epoch", "--resume")
    assert status == 70 and "every partition fits" in output
    status, output = world.command("epoch", "--resume", "--partition", "0")
    assert status == 70 and "partition 0 fits" in output
    status, output = world.command("epoch", "--end", "--partition", "2")
    assert status == 66 and "has 2 partitions" in output
    for text in ("", "x", "1,", "-1", "1-2"):
        status, output = world.command("epoch", "--end",
                                       f"--partition={text}")
        assert status == 64, output
    status, output = world.command("epoch", "--end", "--resume")
    assert status == 64 and "exclude each other" in output
    assert world.tables.value("SELECT count() FROM ingest_epochs") in (0, "0")


# --- a partition that was never read ------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("decision, events, lost", [
    ("--new", 8, []), ("--end", 1, [(2, 2, 0, 6, 7)])])
def test_an_added_partition_has_a_way_on(world, decision, events, lost):
    """With offset_reset: error, nothing is read without an operator's decision."""
    world.sections["collector"]["offset_reset"] = "error"
    world.sections["kafka"]["options"] = ["topic.metadata.refresh.interval.ms="
                                          "500"]
    running = world.collector(ready=False)
    eventually(lambda: running.ready()[0] == 503 and
               "offset_reset is error" in running.ready()[1], PATIENCE)
    world.decide("--new")
    world.decide("--new", "--topic", "links")
    world.send_both(10)
    world.wait_stored(20)
    world.kafka.add_partitions(world.clicks, 3)
    world.send(7, 2)
    eventually(lambda: running.ready()[0] == 503 and
               f"{world.clicks} 2: nothing is committed" in
               running.ready()[1], PATIENCE, what="it to stop")
    assert world.stored("partition = 2") == (0, 0)
    status, output = world.command("epoch")
    assert status == 1 and "nothing is committed" in output
    world.decide(decision)
    eventually(lambda: running.ready()[0] == 200, PATIENCE)
    world.send(1, 2)
    world.wait_stored(events, "partition = 2")
    world.send_both(5)
    world.wait_stored(30, "partition < 2")
    eventually(lambda: world.lost() == lost, PATIENCE, what=f"{lost} told")


@pytest.mark.proof
def test_offset_reset_latest_reads_what_comes(world):
    world.send_both(10)
    running = world.collector(offset_reset="latest")
    eventually(lambda: world.kafka.committed(world.group, world.clicks) ==
               {0: 10, 1: 10}, PATIENCE, what="the ends committed")
    world.send_both(5)
    world.wait_stored(10)
    running.wait_metric(10, "shortloop_collector_consumed_total")


@pytest.mark.proof
def test_offset_reset_latest_leaves_out_nothing_of_an_added_partition(world):
    """Events are sent to the partition before a collector knows of it."""
    world.sections["kafka"]["options"] = ["topic.metadata.refresh.interval.ms="
                                          "500"]
    world.send_both(10)
    running = world.collector(offset_reset="latest")
    world.wait_committed({0: 10, 1: 10})
    eventually(lambda: int(world.tables.value(
        "SELECT max(partitions) FROM ingest_progress WHERE topic = "
        f"'{world.clicks}'")) == 2, PATIENCE, what="the number of partitions told")
    assert running.stop() == 0
    world.kafka.add_partitions(world.clicks, 3)
    world.send(7, 2)
    running = world.collector(offset_reset="latest")
    world.send_both(5)
    world.wait_stored(7, "partition = 2")
    world.wait_stored(10, "partition < 2")
    assert running.ready()[0] == 200
    assert world.lost() == []


# --- the watermark --------------------------------------------------------------------

@pytest.mark.long
def test_the_watermark_waits_for_each_partition_in_its_own_epoch(
        world, redis, program):
    world.filled()
    world.cut(20)
    world.send_both(5)
    running = world.collector(ready=False)
    stopped(world, running, "beyond the end of the log")
    world.decide("--resume")
    world.wait_stored(70)
    made = program("aggregator", {"aggregator": {"settle_every": "500ms"}})
    mark = time.time()
    eventually(lambda: made.metric(
        "shortloop_aggregator_complete_until_seconds") > mark, PATIENCE,
        what="the watermark")
