"""Records that nobody can read: what cannot be unpacked, and what has a wrong
checksum.  They stop their partition for a while, and nothing else; then they are
passed over at exactly their offsets, and told of as lost."""
import struct

import pytest
from confluent_kafka import Producer
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import count, rows, settings, wait_for
from support.events import click, link_event
from support.program import PATIENCE, eventually

MIB = 1 << 20


# --- what the tests stand on -------------------------------------------------

def bombs(kafka, topic, number=1, size=120 * MIB, codec="zstd", partition=0):
    """Records of zeros, each in a batch of its own, which is a few KB long."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap,
                         "compression.type": codec, "linger.ms": 0,
                         "message.max.bytes": 1000000000,
                         "queue.buffering.max.kbytes": 2000000})
    zeros, failed = bytes(size), []
    for _ in range(number):
        producer.produce(topic, zeros, partition=partition,
                         on_delivery=lambda e, m: failed.append(e) if e else None)
        assert not producer.flush(PATIENCE)
    assert not failed, failed[0]


def stored(clickhouse, partition=0, table="clicks"):
    return [int(r["offset"]) for r in clickhouse.rows(
        f"SELECT offset FROM {table} WHERE partition = {partition} ORDER BY offset")]


def gaps(clickhouse, topic):
    """[(partition, first, last, lost)] of what collectors told of as lost."""
    return [tuple(int(r[c]) for c in ("partition", "first", "last", "lost"))
            for r in clickhouse.rows(
                "SELECT partition, first, last, lost FROM ingest_progress "
                f"WHERE topic = '{topic}' AND lost > 0 ORDER BY partition, first")]


def committed(kafka, topics, name="topic_clicks"):
    return kafka.committed(topics["topic_clicks"], topics[name])


# --- what cannot be unpacked ---------------------------------------------------

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


def test_links_go_on_behind_what_cannot_be_unpacked(kafka, topics, tables, collector):
    topic = topics["topic_links"]
    kafka.produce(topic, [link_event(1)], partition=0)
    bombs(kafka, topic)
    kafka.produce(topic, [link_event(2)], partition=0)
    collector()
    wait_for(tables, 2, "links")
    assert stored(tables, table="links") == [0, 2]
    eventually(lambda: gaps(tables, topic) == [(0, 1, 1, 1)])
