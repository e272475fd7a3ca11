"""Unreadable records: some cannot be unpacked, others have a wrong checksum.  They stop
only their partition, for a while; then they are skipped at exactly their offsets, and
reported as lost."""
import json
import struct
import time

import pytest
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import count, rows, settings, wait_for
from support.committed import commit_bytes
from support.counting import world  # noqa: F401
from support.events import click, link_event
from support.fault_proxy import ClickHouseProxy
from support.kafka import Kafka, bombs
from support.memory import MemoryWatch
from support.program import eventually
from support.protobuf import message
from support.server import KafkaServer

MIB = 1 << 20
HOUR = 3600 * 1000
Counters = message("counters.proto", "shortloop.RedirectorCounters")
Renewals = message("renewal.proto", "shortloop.Renewals")


# --- fixtures ----------------------------------------------------------------

def counters(boot):
    """Returns a record of one start of a redirector."""
    now = int(time.time() * 1000)
    return Counters(boot=boot, instance="i", edge="edge-1", started_ms=now,
                    sequence=1, hour_ms=now // HOUR * HOUR,
                    until_ms=now).SerializeToString()


def renewals(link_id):
    return Renewals(link_ids=[link_id], versions=[1],
                    ends_ms=[int(time.time() * 1000)]).SerializeToString()


def stored(clickhouse, partition=0, table="clicks"):
    return [int(r["offset"]) for r in clickhouse.rows(
        f"SELECT offset FROM {table} WHERE partition = {partition} ORDER BY offset")]


def gaps(clickhouse, topic):
    """Returns [(partition, first, last, lost)] that collectors reported as lost."""
    return [tuple(int(r[c]) for c in ("partition", "first", "last", "lost"))
            for r in clickhouse.rows(
                "SELECT partition, first, last, lost FROM ingest_progress "
                f"WHERE topic = '{topic}' AND lost > 0 ORDER BY partition, first")]


def committed(kafka, topics, name="topic_clicks"):
    return kafka.committed(topics["topic_clicks"], topics[name])


# --- records that cannot be unpacked -------------------------------------------

@pytest.mark.proof
def test_what_cannot_be_unpacked_is_passed_over_at_its_offset(
        kafka, topics, tables, collector):
    topic = topics["topic_clicks"]
    kafka.produce(topic, [click() for _ in range(5)], partition=0)
    bombs(kafka, topic, size=300 * MIB)
    kafka.produce(topic, [click() for _ in range(7)], partition=0)
    running = collector()
    wait_for(tables, 12)
    assert stored(tables) == [*range(5), *range(6, 13)]
    eventually(lambda: committed(kafka, topics).get(0) == 13)
    assert gaps(tables, topic) == [(0, 5, 5, 1)]
    status, text = running.ready()
    assert status == 200 and f"{topic} 0 5-5" in text, text
    assert running.metric("shortloop_collector_passed_offsets_total") == 1
    assert count(tables) == 12


@pytest.mark.proof
def test_no_good_event_between_bad_batches_is_passed_over(kafka, topics, tables,
                                                          collector):
    topic = topics["topic_clicks"]
    good, offset = [], 0
    for number, after in ((1, 1), (3, 2), (1, 40), (2, 0)):
        bombs(kafka, topic, number)
        offset += number
        kafka.produce(topic, [click() for _ in range(after)], partition=0)
        good += range(offset, offset + after)
        offset += after
    collector()
    eventually(lambda: committed(kafka, topics).get(0) == offset)
    assert stored(tables) == good
    assert sum(g[3] for g in gaps(tables, topic)) == 7
    kafka.produce(topic, [click()], partition=0)
    wait_for(tables, len(good) + 1)
    assert stored(tables) == [*good, offset]


@pytest.mark.proof
def test_links_go_on_behind_what_cannot_be_unpacked(kafka, topics, tables, collector):
    topic = topics["topic_links"]
    kafka.produce(topic, [link_event(1)], partition=0)
    bombs(kafka, topic)
    kafka.produce(topic, [link_event(2)], partition=0)
    collector()
    wait_for(tables, 2, "links")
    assert stored(tables, table="links") == [0, 2]
    eventually(lambda: gaps(tables, topic) == [(0, 1, 1, 1)])


@pytest.mark.proof
@pytest.mark.parametrize("name, table, record", [
    ("counters", "redirector_counters", counters), ("renewals", "link_ends", renewals)])
def test_a_side_topic_goes_on_behind_what_cannot_be_unpacked(
        kafka, topics, tables, program, base_config, name, table, record):
    topics[f"topic_{name}"] = topic = kafka.create_topic(name, 1)
    kafka.produce(topic, [record(1)])
    bombs(kafka, topic, 2)
    kafka.produce(topic, [record(2)])
    running = program("collector", settings(base_config, topics))
    wait_for(tables, 2, table)
    eventually(lambda: kafka.committed(
        f"{topics['topic_clicks']}.{name}", topic) == {0: 4})
    assert sum(g[3] for g in gaps(tables, topic)) == 2
    status, text = running.ready()
    assert status == 200 and "was passed over" in text, text
    assert running.metric(f"shortloop_collector_{name}_passed_total") == 2


@pytest.mark.proof
@pytest.mark.parametrize("last", [5, 9])
def test_a_batch_that_is_made_again_passes_over_what_lies_in_it(
        kafka, topics, tables, collector, last):
    """The former owner could read them, or had them already; the batch ends where it
    was cut."""
    topic = topics["topic_clicks"]
    kafka.produce(topic, [click() for _ in range(5)], partition=0)
    bombs(kafka, topic, 2)
    kafka.produce(topic, [click() for _ in range(5)], partition=0)
    intent = f"shortloop 1 1 0-{last}"
    commit_bytes(kafka.bootstrap, topic, topic, 0, 0, intent.encode())
    assert kafka.intent(topic, topic) == (0, intent)
    collector()
    eventually(lambda: committed(kafka, topics).get(0) == 12)
    assert stored(tables) == [*range(5), *range(7, 12)]
    told = [tuple(int(v) for v in r.values()) for r in tables.rows(
        "SELECT first, last, rows, lost FROM ingest_progress "
        f"WHERE topic = '{topic}' AND rows + lost > 0 ORDER BY first")]
    assert told[0] == ((0, 5, 5, 1) if last == 5 else (0, 9, 8, 2))
    assert sum(t[2] for t in told) == 10 and sum(t[3] for t in told) == 2
    assert [t[0] for t in told[1:]] == [t[1] + 1 for t in told[:-1]]


# --- records with a wrong checksum ---------------------------------------------

def spoil_on_disk(server, topic, offsets, partition=0):
    """Changes a byte of the last record of each batch that begins at one of the
    offsets, while the broker is down."""
    server.stop()
    path, = (server.directory / "data" / f"{topic}-{partition}").glob("*.log")
    log, at, spoiled = bytearray(path.read_bytes()), 0, []
    while at + 61 <= len(log):
        base, length = struct.unpack_from(">qi", log, at)
        if base in offsets:
            log[at + 12 + length - 5] ^= 0x20
            spoiled.append(base)
        at += 12 + length
    assert spoiled == sorted(offsets)
    path.write_bytes(log)
    server.start()


@pytest.fixture
def own_kafka(rundir):
    server = KafkaServer(rundir / "kafka-spoiled")
    yield server.start()
    server.kill()


@pytest.mark.long
def test_batches_that_a_disk_has_changed_are_passed_over_after_a_while(
        own_kafka, tables, program, base_config):
    kafka = Kafka(own_kafka.port)
    topics = kafka.collector_topics(clicks=1)
    topic = topics["topic_clicks"]
    for size in (30, 17, 9, 4, 40):
        kafka.produce(topic, [click(i) for i in range(size)], partition=0)
    spoil_on_disk(own_kafka, topic, [30, 47, 56])
    config = settings(base_config, topics, unreadable_after="6s")
    config["kafka"]["brokers"] = [kafka.bootstrap]
    running = program("collector", config)
    wait_for(tables, 30)
    eventually(lambda: "CRC32C" in running.ready()[1])
    assert running.ready()[0] == 200 and count(tables) == 30
    wait_for(tables, 70)
    assert stored(tables) == [*range(30), *range(60, 100)]
    assert gaps(tables, topic) == [(0, 30, 46, 17), (0, 47, 55, 9), (0, 56, 59, 4)]
    eventually(lambda: committed(kafka, topics) == {0: 100})
    status, text = running.ready()
    assert status == 200 and f"30 offsets passed over, the last {topic} 0 56-59" in text
    assert running.metric("shortloop_collector_passed_offsets_total") == 30

    # Any next owner continues after them, even if it can read them.
    assert running.stop() == 0
    spoil_on_disk(own_kafka, topic, [30, 47, 56])
    kafka.produce(topic, [click()], partition=0)
    program("collector", config)
    wait_for(tables, 71)
    assert stored(tables) == [*range(30), *range(60, 101)]


@pytest.mark.proof
def test_what_only_the_network_changes_is_stored_once_it_stops(
        proxied_kafka_server, tables, program, base_config):
    proxy, kafka = proxied_kafka_server.proxy, Kafka(proxied_kafka_server.port)
    topics = kafka.collector_topics(clicks=2)
    config = settings(base_config, topics, unreadable_after="1h")
    config["kafka"]["brokers"] = [proxy.address]
    for partition in (0, 1):
        kafka.produce(topics["topic_clicks"], [
            click(code="GARBLED") if i == 7 and partition == 0 else click()
            for i in range(20)], partition)
    proxy.garbled = b"GARBLED"
    try:
        running = program("collector", config)
        wait_for(tables, 20)
        eventually(lambda: "CRC32C" in running.ready()[1])
        assert stored(tables) == [] and stored(tables, 1) == [*range(20)]
        assert running.metric("shortloop_collector_unreadable") == 1
        proxy.garbled = None
        wait_for(tables, 40)
    finally:
        proxy.calm()
    assert stored(tables) == [*range(20)]
    assert running.metric("shortloop_collector_passed_offsets_total") == 0
    assert running.metric("shortloop_collector_unreadable") == 0
    eventually(lambda: "unreadable" not in running.ready()[1])
    assert gaps(tables, topics["topic_clicks"]) == []


# --- the tools ------------------------------------------------------------------

def collect(world):
    """Waits until everything sent is stored, or skipped, and committed."""
    ends = {p: end for p, end in world.kafka.ends(
        world.topics["topic_clicks"]).items() if end}
    made = world.program("collector", world.sections)
    eventually(lambda: world.committed("clicks") == ends, what=f"{ends} committed")
    assert made.stop() == 0


@pytest.mark.proof
def test_verify_finds_what_was_passed_over_by_itself(world, kafka, tables):
    topic = world.topics["topic_clicks"]
    world.send(4)
    bombs(kafka, topic, 2)
    world.send(3)
    status, said = world.ask("verify")
    assert (status, said["ok"]) == (1, False)
    assert [(f["finding"], f["first"], f["last"]) for f in said["findings"]] == [
        ("unreadable", 4, 5)]
    assert said["waiting"] == 7

    collect(world)
    status, said = world.ask("verify")
    assert (status, said["ok"]) == (1, False)
    assert [(f["finding"], f["first"], f["last"]) for f in said["findings"]] == [
        ("not read", 4, 5)]
    assert (said["events"], said["rows"], said["missing"]) == (9, 7, 2)
    status, output = world.run("verify")
    assert status == 1 and "accounted for exactly once" not in output


@pytest.mark.proof
def test_other_tools_go_on_behind_it_too(world, kafka):
    world.send_raw([b"no click"])
    collect(world)
    bombs(kafka, world.topics["topic_dlq"])
    world.send_raw([b"no click either"])
    collect(world)
    status, output = world.run("dlq", "list")
    assert status == 0 and output.count("no click") + output.count(
        "decode") >= 2, output
    assert "1-1 cannot be read" in output
    bombs(kafka, world.topics["topic_clicks"])
    status, output = world.run("epoch")
    assert status == 0, output
    said = json.loads(world.run("verify", "--json")[1].splitlines()[-1])
    assert said["dead_letters"] == 2


# --- an operator's decision -------------------------------------------------------

@pytest.mark.proof
def test_an_operator_names_what_is_passed_over(world, kafka, tables):
    """Nothing is skipped by itself; readable records can be named, too."""
    topic = world.topics["topic_clicks"]
    world.sections["collector"]["unreadable_after"] = "0s"
    world.send(4)
    bombs(kafka, topic)
    world.send(6)
    running = world.program("collector", world.sections)
    wait_for(tables, 4)
    eventually(lambda: "wait before events that cannot be read" in running.ready()[1])
    assert running.ready()[0] == 200 and stored(tables) == [0, 1, 2, 3]

    for wrong, why in ((("--offset", "0:4"), "--reason"),
                       (("--offset", "7:4", "--reason", "x"), "2 partitions"),
                       (("--offset", "4", "--reason", "x"), "2 partitions"),
                       (("--offset", "0:4-11", "--reason", "x"), "ends before 11"),
                       (("--offset", "0:3-4", "--reason", "x"), "done with all before 4")):
        status, output = world.run("pass", *wrong)
        assert status not in (0, 1) and why in output, output
    status, output = world.run("pass", "--offset", "0:4,0:7-8", "--reason", "a test")
    assert status == 0 and "1 offsets" in output, output
    wait_for(tables, 8)
    assert stored(tables) == [0, 1, 2, 3, 5, 6, 9, 10]
    assert gaps(tables, topic) == [(0, 4, 4, 1), (0, 7, 8, 2)]
    eventually(lambda: world.committed("clicks").get(0) == 11)
    assert running.stop() == 0
    status, output = world.run("pass")
    assert status == 0 and output.split()[-4:] == ["0", "1", "7", "8"], output
    status, said = world.ask("verify")
    assert status == 1 and [(f["finding"], f["first"], f["last"])
                            for f in said["findings"]] == [
        ("not read", 4, 4), ("not read", 7, 8)]


def test_what_is_named_before_a_start_is_passed_over(world, tables, clickhouse_server):
    """No event is read before the collector knows what was named."""
    world.send(10)
    status, output = world.run("pass", "--offset", "0:0,0:4,0:7-8", "--reason", "a test")
    assert status == 0, output
    with ClickHouseProxy(clickhouse_server.port) as proxy:
        held = proxy.hold("question", words="decision = 'pass'")
        running = world.program("collector", {
            **world.sections, "clickhouse": {"url": proxy.url}}, ready=False)
        running.wait_log("partition recovered")
        assert held.here.wait(60)
        for _ in range(50):  # it would have read everything by then
            assert running.metric("shortloop_collector_consumed_total") == 0
        held.release()
        wait_for(tables, 6)
        eventually(lambda: world.committed("clicks").get(0) == 10)
        assert running.stop() == 0
    assert stored(tables) == [1, 2, 3, 5, 6, 9]
    assert gaps(tables, world.topics["topic_clicks"]) == [
        (0, 0, 0, 1), (0, 4, 4, 1), (0, 7, 8, 2)]


# --- memory ------------------------------------------------------------------------

BOUND = {"compression_type": "lz4", "max_message_bytes": 128 * 1024}


@pytest.mark.proof
@pytest.mark.parametrize("limits", [
    pytest.param({}, id="unbounded"),
    pytest.param(BOUND, id="bounded", marks=pytest.mark.long)])
def test_memory_stays_at_the_setting_whatever_comes(kafka, topics, tables, collector,
                                                    limits):
    topics["topic_clicks"] = topic = kafka.create_topic(
        "clicks", 2, message_timestamp_type="LogAppendTime", **limits)
    topics["topic_links"] = kafka.create_topic("links", 1, **limits)
    for _ in range(3):
        kafka.produce(topic, [click() for _ in range(10)], partition=0)
        bombs(kafka, topic, 20, size=20 * MIB)
    bombs(kafka, topic, 8, size=10 * MIB, codec="lz4")
    bombs(kafka, topic, 8, size=10 * MIB, codec="gzip")
    bombs(kafka, topic, 8, size=10 * MIB)
    kafka.produce(topic, [click() for _ in range(10)], partition=0)
    running = collector(ready=False, memory="256MiB")
    with MemoryWatch(running) as memory:
        wait_for(tables, 40)
    assert stored(tables) == [*range(10), *range(30, 40), *range(60, 70),
                              *range(114, 124)]
    assert memory.peak < 256 * MIB, memory.peak / MIB
    eventually(lambda: committed(kafka, topics).get(0) == 124)
    warned = "does not bound what its events unpack to" in running.log()
    assert warned == (not limits)
