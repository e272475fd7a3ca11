"""Kafka for a test: topics of its own, messages in and out."""
import re
import time
import uuid

from confluent_kafka import (Consumer, KafkaError, KafkaException, Producer,
                             TopicPartition)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from support.committed import committed_bytes
from support.program import PATIENCE, eventually


LOOK = 10  # seconds for one attempt of a client
# A broker that has just started fails with these errors.
PASSES = {KafkaError._TIMED_OUT, KafkaError._TRANSPORT,
          KafkaError._ALL_BROKERS_DOWN, KafkaError.INVALID_REPLICATION_FACTOR,
          KafkaError._UNKNOWN_PARTITION, KafkaError.LEADER_NOT_AVAILABLE,
          KafkaError.NOT_LEADER_FOR_PARTITION}


def asked(ask, what):
    """Returns the result of ask(), which is retried while its error is temporary."""
    def tried():
        try:
            return [ask()]
        except KafkaException as e:
            if e.args[0].code() not in PASSES:
                raise
            return None
    return eventually(tried, what=what)[0]


class Kafka:
    def __init__(self, port):
        self.bootstrap = f"127.0.0.1:{port}"
        self.client = None

    @property
    def admin(self):
        self.client = self.client or AdminClient(
            {"bootstrap.servers": self.bootstrap, "log_level": 2})
        return self.client

    def administer(self, name, *args, done=None):
        """Retries with a new client: a client of a broker that had just started, and
        named no controller yet, would wait for that until its end. `done` is the error
        that shows that an earlier attempt succeeded."""
        tried = False

        def ask():
            nonlocal tried
            future, = getattr(self.admin, name)(
                *args, request_timeout=LOOK).values()
            try:
                return future.result(PATIENCE)
            except KafkaException as e:
                if tried and e.args[0].code() == done:
                    return None
                tried, self.client = True, None
                raise
        return asked(ask, what=name)

    def create_topic(self, name="t", partitions=1, exactly=None, **config):
        """Makes a topic with an unused name, or with `exactly` that one, and returns
        the name."""
        topic = exactly or f"{name}-{uuid.uuid4().hex[:8]}"
        self.administer("create_topics", [NewTopic(
            topic, num_partitions=partitions, replication_factor=1,
            config={k.replace("_", "."): str(v) for k, v in config.items()})],
            done=KafkaError.TOPIC_ALREADY_EXISTS)
        return topic

    def clicks_topic(self, partitions=2, **config):
        return self.create_topic("clicks", partitions,
                                 message_timestamp_type="LogAppendTime", **config)

    def collector_topics(self, clicks=2, links=1):
        """Makes new topics with this many partitions; returns them as settings of
        section kafka."""
        return {"topic_clicks": self.clicks_topic(clicks),
                "topic_links": self.create_topic("links", links),
                "topic_dlq": self.create_topic("dlq", 1)}

    def add_partitions(self, topic, count):
        """Raises the number of partitions to `count`."""
        self.administer("create_partitions", [NewPartitions(topic, count)],
                        done=KafkaError.INVALID_PARTITIONS)
        # The controller answers before the broker reports the partitions.
        eventually(lambda: self._is_led(topic, count))

    def _is_led(self, topic, count=1):
        """Uses a new client, which has no former answer cached."""
        partitions = self._partitions(Producer(
            {"bootstrap.servers": self.bootstrap}), topic)
        return len(partitions) >= count and all(
            p.leader >= 0 for p in partitions.values())

    def delete_topic(self, topic):
        self.administer("delete_topics", [topic],
                        done=KafkaError.UNKNOWN_TOPIC_OR_PART)
        # The controller answers before the broker knows: until then the broker accepts
        # more.
        eventually(lambda: topic not in self.topics(), what=f"{topic} gone")

    def produce(self, topic, values, partition=None, key=None):
        """Sends messages and waits until all are acknowledged."""
        failed = []
        producer = Producer({"bootstrap.servers": self.bootstrap,
                             "linger.ms": 5})
        where = {} if partition is None else {"partition": partition}
        for value in values:
            producer.produce(topic, value, key, on_delivery=lambda e, m:
                             failed.append(e) if e else None, **where)
            producer.poll(0)
        left = producer.flush(PATIENCE)
        assert not left and not failed, (left, failed[:1])

    def consume(self, topic, count=None, seconds=PATIENCE):
        """Reads the topic from its start: `count` messages, or without it all present
        ones."""
        # A client of librdkafka 2.6 and later that sees a partition without a leader,
        # as with a broker that was down for longer than its session, may never read it
        # (librdkafka's issue 5430).
        eventually(lambda: self._is_led(topic), what=f"leaders of {topic}")
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap,
            "group.id": uuid.uuid4().hex, "enable.auto.commit": False,
            "auto.offset.reset": "earliest", "enable.partition.eof": True})
        try:
            partitions = self._partitions(consumer, topic)
            consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
            return self._read(consumer, topic, len(partitions), count, seconds)
        finally:
            consumer.close()

    def topics(self):
        """Returns the names of all topics."""
        return asked(lambda: self.admin.list_topics(timeout=LOOK).topics,
                     what="a list of topics")

    @staticmethod
    def _partitions(client, topic):
        return asked(lambda: client.list_topics(topic, LOOK),
                     what=f"partitions of {topic}").topics[topic].partitions

    def ends(self, topic):
        """Returns {partition: offset of the next message}."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap,
                             "group.id": "ends"})
        try:
            return {p: asked(lambda p=p: consumer.get_watermark_offsets(
                        TopicPartition(topic, p), LOOK), what="offsets")[1]
                    for p in self._partitions(consumer, topic)}
        finally:
            consumer.close()

    @staticmethod
    def _read(consumer, topic, partitions, count, seconds):
        messages, ends = [], set()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            message = consumer.poll(0.1)
            if message is None:
                continue
            if message.error():
                if message.error().code() != KafkaError._PARTITION_EOF:
                    raise AssertionError(message.error())
                ends.add(message.partition())
            else:
                messages.append(message)
            if count is None and len(ends) == partitions:
                return messages
            if count is not None and len(messages) >= count:
                return messages
        wanted = f"{count} messages" if count is not None else "the end"
        raise AssertionError(f"{topic}: {len(messages)} messages and not "
                             f"{wanted} within {seconds} s")

    def committed(self, group, topic):
        """Returns {partition: offset} of a group, without partitions that have none."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap,
                             "group.id": group})
        try:
            partitions = self._partitions(consumer, topic)
            found = asked(lambda: consumer.committed(
                [TopicPartition(topic, p) for p in partitions], timeout=LOOK),
                what=f"offsets of {group}")
            return {t.partition: t.offset for t in found if t.offset >= 0}
        finally:
            consumer.close()

    def intent(self, group, topic, partition=0):
        """Returns (offset, what a collector has written beside it, or None)."""
        offset, beside = committed_bytes(self.bootstrap, group, topic,
                                         partition)
        ours = re.fullmatch(rb"shortloop 1 \d+( \d+-\d+)?", beside)
        return offset, ours and beside.decode()


def bombs(kafka, topic, number=1, size=120 << 20, codec="zstd", partition=0):
    """Sends records of zeros, each in a batch of its own of a few KB."""
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
