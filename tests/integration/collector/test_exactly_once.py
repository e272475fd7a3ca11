"""Exactly once, step by step: the state after each kill, freeze, lost answer and lost
offset, checked by topic, partition and offset."""
import json
import signal

import pytest
from confluent_kafka import (ConsumerGroupTopicPartitions, KafkaException,
                             TopicPartition)
from support.collectors import BROKER, OPTIONS
from support.events import click, link_event
from support.fault_proxy import (
    COMMIT, FETCH, HEARTBEAT, ClickHouseProxy, KafkaProxy, response)
from support.program import eventually
from support.rule_files import UA_RULES
from support.server import ProxiedKafkaServer

PATIENCE = 60  # seconds; the machine may be slow
# Blocks become full, however long their events take to come.
FULL_ONLY = {"batch_age": "10m"}
# The first twenty events are one block, even if a reader stops among them.
ONE_BLOCK = {"batch_rows": 20, **FULL_ONLY}
# This member is not killed, and reads each event once: it does not count as dead,
# however slow it is.
STAYS = ["session.timeout.ms=45000"]


# --- fixtures ----------------------------------------------------------------

@pytest.fixture(scope="module")
def kafka_proxy():
    with KafkaProxy() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def _own_kafka(rundir, kafka_proxy):
    """A broker that notices a killed member soon; collectors connect to it through the
    proxy."""
    server = ProxiedKafkaServer(rundir / "kafka-once", kafka_proxy,
                                extra=BROKER)
    yield server.start()
    server.kill()


@pytest.fixture
def kafka_server(_own_kafka, kafka_proxy):
    kafka_proxy.calm()
    return _own_kafka


class Loop:
    """One topic of clicks with one partition, one of links, and their collectors."""

    def __init__(self, kafka, tables, program, base_config, sections):
        self.kafka = kafka
        self.tables = tables
        self.program = program
        self.base = base_config
        self.sections = sections
        self.clicks = sections["kafka"]["topic_clicks"]
        self.links = sections["kafka"]["topic_links"]
        self.group = self.clicks
        self.sent = 0

    def send(self, count, partition=0):
        self.kafka.produce(self.clicks, [click(self.sent + i) for i in
                                         range(count)], partition=partition)
        self.sent += count

    def collector(self, ready=True, start=True, args=(), url=None, late_window="7d",
                  **own):
        sections = {**self.sections, "clicks": {"late_window": late_window},
                    "collector": {**self.sections["collector"], **own}}
        if url:
            sections["clickhouse"] = {**self.base["clickhouse"],
                                      **sections["clickhouse"], "url": url}
        return self.program("collector", sections, ready=ready, start=start,
                            args=args)

    def command(self, *args):
        return self.collector(start=False, args=args).run()

    def stored(self, table="clicks", what="count()"):
        return int(self.tables.value(f"SELECT {what} FROM {table}"))

    def wait_stored(self, count=None, table="clicks"):
        """Waits until everything sent has one row and is reported once."""
        count = self.sent if count is None else count
        eventually(lambda: self.stored(
            table, "uniqExact(epoch, topic, partition, offset)") == count,
            PATIENCE, what=f"{count} events in {table}")
        topic = self.clicks if table == "clicks" else self.links
        eventually(lambda: self.stored(
            "ingest_progress", "sumIf(rows + dead_lettered, "
            f"topic = '{topic}')") == count, PATIENCE, what="the reports")
        assert self.stored(table) == count

    def committed(self, topic=None):
        """Returns (offset, the bytes beside it)."""
        return self.kafka.intent(self.group, topic or self.clicks)

    def wait_committed(self, offset):
        eventually(lambda: self.committed()[0] == offset, PATIENCE,
                   what=f"offset {offset} committed")

    def commit(self, offset, metadata=""):
        """Commits as another client of the group, once the group has no members."""
        where = TopicPartition(self.clicks, 0, offset, metadata)
        eventually(lambda: self._commit(where), PATIENCE, what="the commit")
        assert self.committed()[0] == offset

    def _commit(self, where):
        try:
            answer = self.kafka.admin.alter_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(self.group, [where])])
            done = answer[self.group].result(PATIENCE)
            return not any(p.error for p in done.topic_partitions)
        except KafkaException:  # the broker does not know yet that the member has left
            return False

    def drop(self, before):
        """Deletes from Kafka what lies before that offset."""
        where = TopicPartition(self.clicks, 0, before)
        self.kafka.admin.delete_records([where])[where].result(PATIENCE)

    def forget_group(self):
        eventually(lambda: self._delete_group(), PATIENCE,
                   what="the group deleted")

    def _delete_group(self):
        try:
            self.kafka.admin.delete_consumer_groups(
                [self.group])[self.group].result(PATIENCE)
            return True
        except Exception:  # the group still has a member
            return False


@pytest.fixture
def loop(kafka, tables, program, base_config, proxy, kafka_proxy):
    topics = kafka.collector_topics(1)
    return Loop(kafka, tables, program, base_config, {
        "kafka": {**base_config["kafka"], **topics,
                  "brokers": [kafka_proxy.address], "options": OPTIONS,
                  "topic_counters": ""},
        "clickhouse": {**base_config["clickhouse"], "url": proxy.url},
        "collector": {
            "group": topics["topic_clicks"], "batch_age": "100ms",
            "retry_backoff_max": "300ms", "report_every": "10m",
            "ua_rules": UA_RULES}})


def waits_at(held):
    eventually(held.here.is_set, PATIENCE, what="the request")


# --- an intent before each insert ----------------------------------------------

@pytest.mark.proof
def test_a_block_is_named_before_it_is_sent(loop, proxy):
    loop.sections["kafka"]["options"] = STAYS
    held = proxy.hold("clicks")
    loop.send(10)
    loop.collector(batch_rows=10, **FULL_ONLY)
    waits_at(held)
    assert loop.committed() == (0, "shortloop 1 1 0-9")
    held.release()
    loop.wait_stored()
    loop.wait_committed(10)
    assert loop.committed() == (10, "shortloop 1 1")


@pytest.mark.proof
def test_a_commit_of_a_block_names_the_next(loop, proxy):
    loop.sections["kafka"]["options"] = STAYS
    held = proxy.hold("clicks")
    loop.collector(batch_rows=10, **FULL_ONLY)
    loop.send(10)
    waits_at(held)
    loop.send(10)
    second = proxy.hold("clicks")
    held.release()
    waits_at(second)
    assert loop.committed() == (10, "shortloop 1 1 10-19")
    second.release()
    loop.wait_stored()


@pytest.mark.proof
def test_without_its_name_in_kafka_nothing_is_sent(loop, proxy, kafka_proxy):
    # Its heartbeats wait behind the commit, but it stays in the group.
    loop.sections["kafka"]["options"] = STAYS
    running = loop.collector()
    loop.send(1)
    loop.wait_stored()
    loop.wait_committed(1)
    inserts = proxy.count("clicks")
    held = kafka_proxy.hold(COMMIT)
    loop.send(5)
    waits_at(held)
    eventually(lambda: running.metric("shortloop_collector_consumed_total")
               >= 6, PATIENCE)
    # Each fetch waits a tenth of a second for new records, so a batch would be due by
    # then.
    fetches = kafka_proxy.count(FETCH)
    eventually(lambda: kafka_proxy.count(FETCH) >= fetches + 20, PATIENCE)
    assert proxy.count("clicks") == inserts
    held.release()
    loop.wait_stored()


# --- kills between each pair of steps ---------------------------------------------

STEPS = {
    "named, not sent": ("hang_before", "clicks"),
    "sent, not answered": ("hang_after", "clicks"),
    "stored, not reported": ("hang_before", "ingest_progress"),
    "reported, not answered": ("hang_after", "ingest_progress"),
}


@pytest.mark.proof
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_loses_nothing_and_doubles_nothing(loop, proxy, step):
    fault, kind = STEPS[step]
    proxy.at(1, fault, kind)
    loop.send(20)
    running = loop.collector(ready=False, batch_rows=7)
    eventually(lambda: proxy.count(kind, fault), PATIENCE, what=step)
    if fault == "hang_after" and kind == "clicks":
        eventually(lambda: loop.stored() > 0, PATIENCE, what="its rows")
    running.kill()
    # The next owner forms blocks in another way; this one it repeats unchanged.
    loop.collector(batch_rows=9)
    loop.send(20)
    loop.wait_stored()


def test_a_kill_between_report_and_commit(loop, proxy, kafka_proxy):
    held = proxy.hold("ingest_progress")
    loop.send(20)
    running = loop.collector(ready=False, **ONE_BLOCK)
    waits_at(held)
    kafka_proxy.stall()
    held.release()
    eventually(lambda: loop.stored("ingest_progress", "sum(rows)") == 20,
               PATIENCE, what="the report")
    running.kill()
    kafka_proxy.cut()
    kafka_proxy.flow()
    assert loop.committed() == (0, "shortloop 1 1 0-19")
    loop.collector()
    loop.send(5)
    loop.wait_stored()
    loop.wait_committed(25)


@pytest.mark.long
def test_a_request_that_arrives_after_its_sender_was_replaced(loop, proxy):
    held = proxy.hold("clicks")
    loop.send(20)
    running = loop.collector(ready=False)
    waits_at(held)
    running.kill()
    loop.collector()
    loop.wait_stored()
    held.release()
    loop.send(5)
    loop.wait_stored()


# --- zombies ----------------------------------------------------------------------

@pytest.mark.long
def test_one_that_was_frozen_and_wakes_adds_nothing_twice(loop, proxy):
    held = proxy.hold("clicks")
    loop.send(20)
    zombie = loop.collector(ready=False)
    waits_at(held)
    zombie.process.signal(signal.SIGSTOP)
    try:
        loop.collector(url=loop.base["clickhouse"]["url"])
        loop.wait_stored()
        loop.send(20)
        loop.wait_stored()
        held.release()
    finally:
        zombie.process.signal(signal.SIGCONT)
    eventually(lambda: "lost=1" in zombie.log(), PATIENCE,
               what="the zombie to notice")
    loop.send(20)
    loop.wait_stored()
    assert zombie.stop() == 0
    loop.send(5)
    loop.wait_stored()


@pytest.mark.long
def test_one_that_was_frozen_with_events_in_hand_names_nothing(loop):
    zombie = loop.collector(batch_age="2s")
    loop.send(20)
    eventually(lambda: zombie.metric("shortloop_collector_consumed_total")
               >= 20, PATIENCE)
    zombie.process.signal(signal.SIGSTOP)
    try:
        loop.collector()
        loop.wait_stored()
    finally:
        zombie.process.signal(signal.SIGCONT)
    eventually(lambda: "lost=1" in zombie.log(), PATIENCE,
               what="the zombie to notice")
    loop.send(20)
    loop.wait_stored()


@pytest.mark.long
def test_a_partition_is_given_back_when_its_block_is_stored(loop, proxy):
    held = proxy.hold("clicks")
    loop.send(20)
    first = loop.collector(ready=False)
    waits_at(held)
    second = loop.collector(ready=False)
    held.release()
    loop.wait_stored()
    assert first.stop() == 0
    loop.send(20)
    loop.wait_stored()
    assert second.stop() == 0
    loop.wait_committed(40)


# --- false answers -------------------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("kind", ["clicks", "ingest_progress"])
def test_what_was_not_answered_is_sent_again_and_known_again(loop, proxy,
                                                             kind):
    loop.sections["clickhouse"]["query_timeout"] = "1s"
    proxy.delay = 0.3
    loop.collector()
    for fault in ("error_after", "error_before", "drop_after", "drop_before",
                  "cut_answer", "cut_request", "twice", "late", "hang_after"):
        proxy.at(1, fault, kind)
        loop.send(5)
        loop.wait_stored()
        assert proxy.count(kind, fault) == 1
    loop.wait_committed(45)


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["clicks", "ingest_progress"])
def test_rows_that_are_there_are_not_sent_again(loop, proxy, kind):
    loop.sections["kafka"]["options"] = STAYS
    proxy.at(1, "error_after", kind)
    loop.collector(**ONE_BLOCK)
    loop.send(20)
    loop.wait_stored()
    loop.wait_committed(20)
    assert proxy.count(kind) == 1


def test_a_query_in_doubt_is_ended_before_its_rows_are_counted(loop, proxy):
    """Its name is the one that follows from the intent."""
    loop.sections["kafka"]["options"] = STAYS
    proxy.at(1, "error_before", "clicks")
    loop.collector(**ONE_BLOCK)
    loop.send(20)
    loop.wait_stored()
    kinds = [(p.kind, p.query) for p in proxy.passed]
    tried = [n for n, (kind, _) in enumerate(kinds) if kind == "clicks"]
    ended = [n for n, (_, query) in enumerate(kinds)
             if f"'shortloop:clicks:1:{loop.clicks}:0:0-19'" in query]
    assert len(tried) == 2 and kinds[ended[0]][1].startswith("KILL QUERY")
    assert tried[0] < ended[0] < tried[1]


@pytest.mark.proof
def test_the_queries_of_the_owner_before_are_ended_in_the_cluster(loop, proxy):
    loop.sections["clickhouse"]["cluster"] = "it's"
    proxy.at(1, "hang_before", "clicks")
    loop.send(20)
    running = loop.collector(ready=False, **ONE_BLOCK)
    eventually(lambda: proxy.count("clicks"), PATIENCE)
    running.kill()
    loop.collector(ready=False)
    told = eventually(lambda: [p.query for p in proxy.passed
                               if p.query.startswith("KILL QUERY")], PATIENCE)
    assert told[0].startswith("KILL QUERY ON CLUSTER 'it\\'s' WHERE query_id = "
                              f"'shortloop:clicks:1:{loop.clicks}:0:0-19' OR")
    assert told[0].endswith(" SYNC")


# --- offsets that do not match ------------------------------------------------------

@pytest.mark.proof
def test_a_commit_that_was_rolled_back_doubles_nothing(loop):
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    loop.commit(7, "")
    loop.collector()
    loop.send(10)
    loop.wait_stored()
    loop.wait_committed(40)


@pytest.mark.proof
def test_a_partition_once_reported_empty_goes_on_where_it_was(loop):
    """For an empty log, ingest_progress has the last offset 2^64 - 1."""
    loop.sections["kafka"]["options"] = STAYS
    first = loop.collector(report_every="100ms")
    eventually(lambda: loop.stored("ingest_progress", "countIf(first = 0 "
                                   "AND rows = 0)"), PATIENCE)
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    second = loop.collector()
    loop.send(10)
    loop.wait_stored()
    second.wait_metric(10, "shortloop_collector_consumed_total")


@pytest.mark.long
def test_what_another_program_wrote_beside_the_offset_is_no_error(loop):
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    loop.commit(30, "NO_METADATA \u00ff {}")
    loop.collector()
    loop.send(10)
    loop.wait_stored()


def stopped(loop, running, why):
    eventually(lambda: running.ready()[0] == 503 and why in running.ready()[1],
               PATIENCE, what="/readyz to say why")
    running.wait_metric(1, "shortloop_collector_stopped", topic=loop.clicks)
    running.wait_log("partition stopped until `collector epoch` decides")


def make_anew(loop):
    loop.kafka.delete_topic(loop.clicks)
    eventually(lambda: loop.clicks not in loop.kafka.topics(), PATIENCE)
    loop.kafka.create_topic(exactly=loop.clicks,
                            message_timestamp_type="LogAppendTime")


@pytest.mark.proof
def test_a_commit_that_expired_stops_the_partition_until_it_is_the_same(loop):
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    loop.forget_group()
    loop.send(10)
    running = loop.collector(ready=False)
    stopped(loop, running, "no committed offset")
    assert loop.stored() == 30
    status, output = loop.command("epoch")
    assert status == 1 and "no committed offset" in output
    status, output = loop.command("epoch", "--same")
    assert status == 0 and "is what it was" in output
    loop.wait_stored()
    eventually(lambda: running.ready()[0] == 200, PATIENCE)
    running.wait_metric(0, "shortloop_collector_stopped", topic=loop.clicks)
    status, output = loop.command("epoch")
    assert status == 0 and "fits" in output


@pytest.mark.proof
def test_a_topic_made_anew_stops_the_partition_until_it_is_new(loop):
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    make_anew(loop)
    loop.send(12)
    running = loop.collector(ready=False)
    stopped(loop, running, "the topic made anew?")
    assert loop.stored() == 30
    status, output = loop.command("epoch", "--new")
    assert status == 0 and "epoch 2" in output
    loop.wait_stored()
    assert loop.stored(what="countIf(epoch = 2)") == 12
    # The state is stored.
    assert running.stop() == 0
    loop.collector()
    loop.send(3)
    loop.wait_stored()
    assert loop.stored(what="countIf(epoch = 2)") == 15


@pytest.mark.proof
def test_a_decision_that_nothing_asks_for_is_refused(loop):
    loop.send(5)
    loop.collector()
    loop.wait_committed(5)
    for flag in ("--new", "--same"):
        status, output = loop.command("epoch", flag)
        assert status == 70 and "every partition fits" in output
    status, output = loop.command("epoch", "--new", "--same")
    assert status == 64
    status, output = loop.command("epoch", "--topic", "nothing")
    assert status == 64 and "'nothing'" in output


@pytest.mark.proof
def test_offsets_that_are_gone_are_told_of(loop):
    loop.sections["kafka"]["options"] = STAYS
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    assert first.stop() == 0
    loop.send(20)
    loop.drop(40)
    running = loop.collector()
    loop.wait_stored(40)
    row, = loop.tables.rows("SELECT first, last, rows, lost "
                            "FROM ingest_progress WHERE lost > 0")
    assert {k: int(v) for k, v in row.items()} == {
        "first": 30, "last": 39, "rows": 0, "lost": 10}
    running.wait_metric(10, "shortloop_collector_lost_offsets_total")
    running.wait_log("Kafka no longer holds")
    loop.wait_committed(50)


@pytest.mark.proof
def test_offsets_that_go_while_they_are_to_be_read_are_told_of(loop, proxy):
    loop.sections["kafka"]["options"] = STAYS
    held = proxy.hold("clicks")
    loop.send(50)
    running = loop.collector(batch_rows=5, **FULL_ONLY)
    waits_at(held)
    # One block is under way, the next is full twice over, the rest waits.
    eventually(lambda: running.metric("shortloop_collector_consumed_total")
               == 15 and running.metric(
                   "shortloop_collector_paused_partitions") == 1, PATIENCE)
    loop.drop(40)
    held.release()
    loop.wait_stored(25)
    assert loop.stored("ingest_progress", "sum(lost)") == 25
    running.wait_log("goes on elsewhere than expected")
    loop.wait_committed(50)


@pytest.mark.proof
@pytest.mark.parametrize("step, start, rows, lost", [
    ("stored, not reported", 10, 10, 0), ("stored, not reported", 25, 20, 5),
    ("named, not sent", 10, 0, 10)])
def test_what_was_stored_is_not_told_of_as_lost(loop, proxy, step, start, rows,
                                                lost):
    """Lost events are not reported as stored either: a block is left over, and Kafka
    deletes it, or a part of it."""
    fault, kind = STEPS[step]
    proxy.at(1, fault, kind)
    loop.send(20)
    running = loop.collector(ready=False, **ONE_BLOCK)
    eventually(lambda: proxy.count(kind, fault), PATIENCE, what=step)
    running.kill()
    loop.send(10)
    loop.drop(start)
    running = loop.collector()
    loop.wait_stored(30 - lost)
    loop.wait_committed(30)
    told = [[int(n) for n in row.values()] for row in loop.tables.rows(
        "SELECT first, last, rows, lost, arraySum(mapValues(hours)) "
        "FROM ingest_progress WHERE rows + lost > 0 ORDER BY first")]
    assert told[0] == [0, start - 1, rows, lost, rows]
    assert all(n[2] == n[4] for n in told)
    assert [n[0] for n in told[1:]] == [n[1] + 1 for n in told[:-1]]
    running.wait_metric(lost, "shortloop_collector_lost_offsets_total")
    status, output = loop.command("verify", "--json")
    said = json.loads(output)
    assert status == (lost > 0), output
    assert [(f["finding"], f["first"], f["last"]) for f in said["findings"]
            ] == ([("not read", start - lost, start - 1)] if lost else [])
    assert (said["events"], said["rows"]) == (30, 30 - lost)


@pytest.mark.long
def test_a_topic_made_anew_while_it_is_read_stops_it(loop):
    running = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    make_anew(loop)
    loop.send(12)
    stopped(loop, running, "the topic made anew?")
    assert loop.stored() == 30
    assert loop.command("epoch", "--new")[0] == 0
    loop.wait_stored()


@pytest.mark.proof
def test_a_partition_waits_for_clickhouse_and_is_not_read_meanwhile(loop,
                                                                    proxy):
    first = loop.collector()
    loop.send(30)
    loop.wait_committed(30)
    first.kill()
    proxy.refuse()
    loop.send(10)
    second = loop.collector(ready=False)
    eventually(lambda: "clickhouse: " in second.ready()[1]
               and "partition assigned" in second.log(), PATIENCE)
    assert second.metric("shortloop_collector_consumed_total") == 0
    proxy.accept()
    loop.wait_stored()


@pytest.mark.proof
def test_it_ends_although_an_insert_hangs(loop, proxy):
    held = proxy.hold("clicks")
    loop.send(20)
    first = loop.collector(ready=False, drain_timeout="1s")
    waits_at(held)
    assert first.stop(45) == 0  # query_timeout is a minute
    loop.collector()
    loop.wait_stored()
    held.release()
    loop.send(5)
    loop.wait_stored()


@pytest.mark.long
def test_it_ends_although_a_commit_hangs(loop, kafka_proxy):
    """librdkafka alone would wait a minute for the answer."""
    running = loop.collector(batch_age="10m", drain_timeout="1s")
    loop.send(20)
    eventually(lambda: running.metric("shortloop_collector_consumed_total")
               >= 20, PATIENCE)
    kafka_proxy.stall()
    assert running.stop(45) == 0
    assert loop.stored() == 0
    kafka_proxy.cut()
    kafka_proxy.flow()
    loop.collector()
    loop.wait_stored()


@pytest.mark.long
def test_an_insert_that_hangs_costs_no_partition(loop, proxy, kafka_proxy):
    loop.sections["kafka"]["options"] = [
        "session.timeout.ms=2000", "heartbeat.interval.ms=300",
        "max.poll.interval.ms=3000"]
    held = proxy.hold("clicks")
    loop.send(20)
    running = loop.collector(ready=False)
    waits_at(held)
    # This is twice the maximum time between two polls, measured by the client's own
    # heartbeats.
    beats = kafka_proxy.count(HEARTBEAT)
    eventually(lambda: kafka_proxy.count(HEARTBEAT) >= beats + 20, PATIENCE)
    assert "partition revoked" not in running.log()
    held.release()
    loop.wait_stored()


# --- links --------------------------------------------------------------------------

@pytest.mark.proof
def test_links_are_stored_with_the_same_guarantee(loop, proxy):
    loop.kafka.produce(loop.links, [link_event(i) for i in range(20)])
    proxy.at(1, "hang_after", "links")
    running = loop.collector(ready=False, **ONE_BLOCK)
    eventually(lambda: proxy.count("links", "hang_after"), PATIENCE)
    assert loop.committed(topic=loop.links) == (0, "shortloop 1 1 0-19")
    running.kill()
    loop.collector()
    loop.kafka.produce(loop.links, [link_event(i) for i in range(20, 30)])
    loop.wait_stored(30, table="links")
    # Links have no hours to settle, and the watermark does not wait for them.
    assert loop.stored("ingest_progress",
                       "sum(length(hours)) + max(partitions)") == 0


# --- guarantees of the server ---------------------------------------------------------

class Replicated(ClickHouseProxy):
    """Reports that tables are replicated, and answers their sync: the engine here has
    no Keeper, so its tables cannot be replicated."""
    lags = True
    synced = 0

    def _meet(self, request, client, fault):
        if "SYNC REPLICA" not in request.query:
            return super()._meet(request, client, fault)
        body = b""
        if request.query.startswith("SELECT"):
            body = (b"SYSTEM SYNC REPLICA clicks LIGHTWEIGHT\n"
                    b"SYSTEM SYNC REPLICA ingest_progress\n")
        elif self.lags:
            client.sendall(response(500, "It lags", [], b"It lags"))
            return True
        else:
            self.synced += 1
        client.sendall(response(200, "OK", [], body))
        return True


def test_a_replica_that_lags_is_not_believed(loop, clickhouse_server):
    loop.send(20)
    with Replicated(clickhouse_server.port, seed=1) as proxy:
        running = loop.collector(ready=False, url=proxy.url)
        eventually(lambda: "SYNC REPLICA clicks LIGHTWEIGHT" in
                   running.ready()[1], PATIENCE, what="/readyz to name it")
        assert running.metric("shortloop_collector_consumed_total") == 0
        proxy.lags = False
        loop.wait_stored()
        assert proxy.synced >= 2
        assert running.stop() == 0


@pytest.mark.proof
def test_the_guarantee_is_said(loop):
    running = loop.collector()
    assert "guarantee: exactly once (measured: window " in eventually(
        lambda: running.ready()[1] if "blocks" in running.ready()[1] else None)
    running.wait_metric(1, "shortloop_collector_exactly_once")
    loop.tables.query("ALTER TABLE clicks MODIFY SETTING "
                      "non_replicated_deduplication_window = 0")
    text = "at least once: table clicks has " \
           "non_replicated_deduplication_window=0"
    eventually(lambda: text in running.ready()[1], PATIENCE,
               what="/readyz to say less")
    assert running.ready()[0] == 200
    running.wait_metric(0, "shortloop_collector_exactly_once")
    running.wait_log(f'msg=guarantee holds="{text}"')
