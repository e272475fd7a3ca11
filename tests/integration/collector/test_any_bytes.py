"""Any bytes may come as a message: nothing crashes, nothing blocks, the rest is
inserted.  Each offset becomes a row or a dead letter, never both."""
import os
import random
import struct
import time

import pytest
from confluent_kafka import Producer
from support.click_source import (click_ends, field, link_event, times,
                                  varint)
from support.program import eventually
from support.reckoning import stored
from support.rule_files import UA_RULES

SEED = int(os.environ.get("BYTES_SEED", random.randrange(10**6)))
DAY = 86400 * 1000
MIB = 1 << 20


# --- fixtures ----------------------------------------------------------------

@pytest.fixture
def chance():
    print(f"seed {SEED}")
    return random.Random(SEED)


@pytest.fixture
def topics(kafka):
    def large(name, **more):
        return kafka.create_topic(name, 1, max_message_bytes=4 * MIB, **more)
    return {"topic_clicks": large("clicks",
                                  message_timestamp_type="LogAppendTime"),
            "topic_links": large("links"), "topic_dlq": large("dlq")}


@pytest.fixture
def collector(program, base_config, topics):
    def make(late_window="7d", **own):
        return program("collector", {
            "clicks": {"late_window": late_window},
            "kafka": {**base_config["kafka"], **topics},
            "collector": {"group": topics["topic_clicks"],
                          "batch_age": "200ms", "retry_backoff_max": "500ms",
                          "ua_rules": UA_RULES, **own}})
    return make


class Messages:
    """Makes valid events, each different, and variants of them."""

    def __init__(self, kind, chance):
        self.kind = kind
        self.chance = chance
        self.ends, self.times = click_ends(chance, 50), times(chance, 50)
        self.made = 0

    def whole(self):
        self.made += 1
        if self.kind == "links":
            return link_event(self.made)
        return (b"\x09" + struct.pack("<Q", self.made) +
                b"\x11\x07\0\0\0\0\0\0\0" + self.chance.choice(self.times) +
                self.chance.choice(self.ends))

    def odd(self):
        return self.chance.choice([
            self.random, self.truncated, self.flipped, self.spliced,
            self.unknown, self.endless, self.empty, self.tombstone,
            self.repeated, self.nested])()

    def random(self):
        return self.chance.randbytes(self.chance.choice((1, 2, 10, 300, 9000)))

    def truncated(self):
        event = self.whole()
        return event[:self.chance.randrange(len(event))]

    def flipped(self):
        event = bytearray(self.whole())
        for _ in range(self.chance.randint(1, 8)):
            event[self.chance.randrange(len(event))] ^= (
                1 << self.chance.randrange(8))
        return bytes(event)

    def spliced(self):
        one, other = self.whole(), self.whole()
        return (one[:self.chance.randrange(len(one))] +
                other[self.chance.randrange(len(other)):])

    def unknown(self):
        """Returns unknown fields of every wire type, valid or not."""
        number = self.chance.choice((21, 100, 19000, (1 << 29) - 1))
        kind = self.chance.randrange(8)
        return (self.whole() + varint(number << 3 | kind) +
                self.chance.randbytes(self.chance.randint(0, 20)))

    def endless(self):
        """Returns a field with a length that exceeds the memory."""
        return (self.whole() + varint(self.chance.randint(1, 25) << 3 | 2) +
                varint(self.chance.choice((1 << 31, (1 << 32) - 1, 1 << 40,
                                           (1 << 63) - 1, (1 << 64) - 1))))

    def empty(self):
        return b""

    def tombstone(self):
        return None

    def repeated(self):
        """Returns the same empty field twenty thousand times."""
        number = self.chance.choice((6, 10, 19) if self.kind == "clicks"
                                    else (4, 5))
        return self.whole() + field(number, b"") * 20_000

    def nested(self):
        inner = b""
        for _ in range(2000):
            inner = field(self.chance.choice((5, 19, 20)), inner)
        return self.whole() + inner


def produce(kafka, topic, messages, timestamps=None):
    """A message may be (key, value, headers)."""
    failed = []
    producer = Producer({"bootstrap.servers": kafka.bootstrap,
                         "enable.idempotence": True, "linger.ms": 20,
                         "message.max.bytes": 4 * MIB})
    for number, message in enumerate(messages):
        key, value, headers = message if isinstance(message, tuple) else (
            None, message, None)
        when = {"timestamp": timestamps[number]} if timestamps else {}
        producer.produce(topic, value, key, headers=headers, on_delivery=lambda
                         e, _: failed.append(e) if e else None, **when)
        producer.poll(0)
    assert producer.flush(60) == 0 and not failed, failed[:1]


def dead(kafka, topics, of):
    """Returns the offsets that are dead letters."""
    heads = [dict(m.headers()) for m in kafka.consume(topics["topic_dlq"])]
    return [int(h["offset"]) for h in heads
            if h["topic"].decode() == topics[of]]


def read_to_the_end(kafka, topics, running, of):
    """Waits until everything is committed."""
    topic = topics[of]
    eventually(lambda: kafka.committed(topics["topic_clicks"], topic) ==
               kafka.ends(topic), every=0.3, what="the commits")
    eventually(lambda: running.ready()[0] == 200, what="ready")


# --- any bytes -------------------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("kind", ["clicks", "links"])
def test_each_message_is_a_row_or_a_dead_letter(kafka, topics, tables,
                                                collector, chance, kind):
    tables.query("ALTER TABLE links MODIFY SETTING "
                 "max_bytes_to_merge_at_max_space_in_pool = 1")
    made, topic = Messages(kind, chance), topics[f"topic_{kind}"]
    messages, whole = [], set()
    for offset in range(1000):
        if chance.random() < 0.5:
            whole.add(offset)
        messages.append(made.whole() if offset in whole else made.odd())
    produce(kafka, topic, messages)
    running = collector()
    read_to_the_end(kafka, topics, running, f"topic_{kind}")
    rows = stored(tables, kind, topic, 0)
    letters = dead(kafka, topics, f"topic_{kind}")
    assert sorted(rows + letters) == list(range(1000))
    assert whole <= set(rows)


@pytest.mark.parametrize("kind", ["clicks", "links"])
def test_fields_that_are_not_known_yet(kafka, topics, tables, collector,
                                       chance, kind):
    made = Messages(kind, chance)
    numbers = (30, 15000, (1 << 29) - 1)
    values = {0: varint(7), 1: b"8 bytes.", 2: b"\x05hello", 5: b"four"}
    produce(kafka, topics[f"topic_{kind}"], [
        made.whole() + varint(n << 3 | wire) + value
        for n in numbers for wire, value in values.items()])
    running = collector()
    read_to_the_end(kafka, topics, running, f"topic_{kind}")
    assert tables.value(f"SELECT count() FROM {kind}") == 12


def test_keys_headers_and_tombstones_do_no_harm(kafka, topics, tables,
                                                collector, chance):
    made = Messages("clicks", chance)
    produce(kafka, topics["topic_clicks"], [
        (b"key", made.whole(), [("a", b"1"), ("a", None), ("", b"\xff" * 999)]),
        (b"key", None, None), (b"\0" * 5000, b"", [("topic", b"other")]),
        (None, made.whole(), None)])
    running = collector()
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert stored(tables, "clicks", topics["topic_clicks"], 0) == [0, 3]
    assert dead(kafka, topics, "topic_clicks") == [1, 2]


def test_offsets_of_transactions_are_passed_over(kafka, topics, tables,
                                                 collector, chance):
    """The end marks of transactions are offsets without a message, and so are all
    messages of an aborted one."""
    made, topic = Messages("clicks", chance), topics["topic_clicks"]
    producer = Producer({"bootstrap.servers": kafka.bootstrap,
                         "transactional.id": topic})
    producer.init_transactions(30)
    for end in (producer.commit_transaction, producer.abort_transaction,
                producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        for _ in range(10):
            producer.produce(topic, made.whole())
        producer.flush(30)
        end(30)
    running = collector()
    eventually(lambda: tables.value("SELECT count() FROM clicks") == 20,
               what="rows of what was committed")
    produce(kafka, topic, [made.whole()])
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert stored(tables, "clicks", topic, 0) == [
        *range(10), *range(22, 32), 44]


# --- sizes ---------------------------------------------------------------------

def test_a_user_agent_of_a_mebibyte(kafka, topics, tables, collector, chance):
    made = Messages("clicks", chance)
    huge = [text * (MIB // len(text)) for text in (
        b"; Android 14 ".ljust(16), b"((((((((", b"\xff\0\n\t",
        b"Mozilla/5.0 (X) ")]
    assert {len(text) for text in huge} == {MIB}
    produce(kafka, topics["topic_clicks"], [
        m for text in huge for m in (made.whole() + field(14, text),
                                     made.whole())])
    running = collector()
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert stored(tables, "clicks", topics["topic_clicks"], 0) == [*range(8)]
    assert tables.value("SELECT max(length(user_agent)) FROM clicks") == 2048


@pytest.mark.parametrize("kind", ["clicks", "links"])
def test_all_fields_huge_at_once(kafka, topics, tables, collector, chance,
                                 kind):
    made = Messages(kind, chance)
    texts = (4, 5, 6, 8, 9, 10, 14, 15, 16, 17, 18) if kind == "clicks" else (
        3, 4)
    pair = field(1, b"k" * 100_000) + field(2, b"v" * 100_000)
    event = made.whole() + b"".join(
        field(n, b"x" * (200_000 + n)) for n in texts)
    produce(kafka, topics[f"topic_{kind}"], [
        event + (field(19, pair) if kind == "clicks" else b""), made.whole()])
    running = collector()
    read_to_the_end(kafka, topics, running, f"topic_{kind}")
    assert stored(tables, kind, topics[f"topic_{kind}"], 0) == [0, 1]


def test_poison_of_more_than_a_mebibyte_reaches_the_dead_letters(
        kafka, topics, tables, collector, chance):
    made = Messages("clicks", chance)
    poison = b"\xff" * (MIB + MIB // 2)
    produce(kafka, topics["topic_clicks"], [made.whole(), poison,
                                            made.whole()])
    running = collector()
    read_to_the_end(kafka, topics, running, "topic_clicks")
    letter, = kafka.consume(topics["topic_dlq"])
    assert letter.value() == poison
    assert tables.value("SELECT count() FROM clicks") == 2


def test_poison_that_no_dead_letter_may_be_as_large_as_blocks_nobody(
        kafka, topics, tables, collector, chance):
    topics["topic_dlq"] = kafka.create_topic("dlq", 1, max_message_bytes=100_000)
    made = Messages("clicks", chance)
    produce(kafka, topics["topic_clicks"], [
        made.whole(), b"\xff" + chance.randbytes(300_000), made.whole(), b"\xff" * 50])
    running = collector()
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert dead(kafka, topics, "topic_clicks") == [3]
    running.wait_metric(1, "shortloop_collector_dead_letters_refused_total")
    running.wait_log("offset=1")


# --- times -----------------------------------------------------------------------

def test_times_of_any_age_are_inserted(kafka, topics, tables, collector,
                                       chance):
    made, now = Messages("clicks", chance), int(time.time() * 1000)
    when = [now - 365 * DAY, now + DAY, 1, now - 90 * DAY, now + 365 * DAY,
            7258118400000, now]
    produce(kafka, topics["topic_clicks"], [
        made.whole() + b"\x18" + varint(at) for at in when])
    running = collector(late_window="90d")
    read_to_the_end(kafka, topics, running, "topic_clicks")
    rows = tables.rows("""SELECT toUnixTimestamp64Milli(ts) AS taken,
        toUnixTimestamp64Milli(original_ts) AS said,
        toUnixTimestamp64Milli(append_time) AS stored
        FROM clicks ORDER BY offset""")
    assert [int(r["said"]) for r in rows] == when
    for r in rows:
        stored_ms = int(r["stored"])
        assert int(r["taken"]) == min(max(int(r["said"]), stored_ms - 90 * DAY),
                                   stored_ms + 300_000)


@pytest.mark.long
def test_a_block_of_more_days_than_an_insert_may_touch(
        program, kafka, topics, tables, collector, chance):
    """A partition with few events a day is read from its start after a year."""
    topics["topic_clicks"] = kafka.create_topic("clicks", 1)
    made, now = Messages("clicks", chance), int(time.time() * 1000)
    days = [now - n * DAY for n in range(365, 0, -1)]
    produce(kafka, topics["topic_clicks"], [
        made.whole() + b"\x18" + varint(day) for day in days],
        timestamps=days)
    running = collector(batch_age="2s")
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert tables.value("SELECT uniqExact(toDate(ts)) FROM clicks") == 365


def test_a_topic_with_its_producers_times(kafka, topics, tables, collector,
                                          chance):
    """The topic should have LogAppendTime; without it, events are stored
    nevertheless."""
    topics["topic_clicks"] = kafka.create_topic("clicks", 1)
    made, now = Messages("clicks", chance), int(time.time() * 1000)
    produce(kafka, topics["topic_clicks"], [made.whole() for _ in range(3)],
            timestamps=[1, now, 86400_000])
    running = collector()
    read_to_the_end(kafka, topics, running, "topic_clicks")
    assert tables.value("SELECT count() FROM clicks") == 3
