"""A collector and its counts, for tests of the commands that read them: verify, dlq."""
import json

import pytest

from support.events import click, link_event
from support.program import eventually
from support.rule_files import UA_RULES


class World:
    """Topics clicks (two partitions), links and dlq, empty tables, and a collector that
    runs only on request."""

    def __init__(self, kafka, tables, program, base_config):
        self.kafka = kafka
        self.clickhouse = tables
        self.program = program
        self.topics = kafka.collector_topics()
        self.sections = {
            "kafka": {**base_config["kafka"], **self.topics},
            "collector": {
                "group": self.topics["topic_clicks"], "batch_age": "50ms",
                "ua_rules": UA_RULES}}

    def send(self, count, topic="clicks", partition=0):
        make = click if topic == "clicks" else link_event
        self.send_raw([make(i) for i in range(count)], topic, partition)

    def send_raw(self, values, topic="clicks", partition=0, key=None):
        self.kafka.produce(self.topics[f"topic_{topic}"], values, partition,
                           key)

    def ends(self, topic):
        """Returns {partition: one past the last record}."""
        ends = {}
        for m in self.messages(topic):
            ends[m.partition()] = m.offset() + 1
        return ends

    def messages(self, topic):
        return self.kafka.consume(self.topics[f"topic_{topic}"])

    def committed(self, topic):
        """Returns {partition: offset}; an empty partition is committed at 0."""
        found = self.kafka.committed(self.topics["topic_clicks"],
                                     self.topics[f"topic_{topic}"])
        return {p: offset for p, offset in found.items() if offset}

    def collect(self):
        """Runs the collector until everything sent is stored and committed."""
        ends = {t: self.ends(t) for t in ("clicks", "links")}
        made = self.program("collector", self.sections)
        for topic, end in ends.items():
            eventually(lambda t=topic, e=end: self.committed(t) == e,
                       what=f"{topic} committed")
        assert made.stop() == 0

    def settle(self, seen, days=0):
        """Runs an aggregator until it has settled this many events, and closed days."""
        made = self.program("aggregator", {"aggregator": {
            "settle_every": "500ms", "lease": "1s", "day_grace": "0s"}})
        eventually(lambda: int(self.clickhouse.value(
            "SELECT sum(events) FROM stats_hourly WHERE dimension = 'total' "
            "AND (hour, attempt) IN (SELECT unit, max(attempt) FROM settled "
            "WHERE kind = 'hour' GROUP BY unit)")) == seen,
            what="events settled")
        eventually(lambda: int(self.clickhouse.value(
            "SELECT count() FROM settled WHERE kind = 'link_day'")) >= days,
            what="days settled")
        assert made.stop() == 0

    def run(self, *args):
        """Returns (exit status, output) of a command of the collector."""
        return self.program("collector", self.sections, start=False,
                            args=args).run()

    def ask(self, *args):
        """Returns (exit status, parsed JSON)."""
        status, output = self.run(*args, "--json")
        assert output.startswith("{"), output
        return status, json.loads(output.splitlines()[0])


@pytest.fixture
def world(kafka, tables, program, base_config):
    return World(kafka, tables, program, base_config)
