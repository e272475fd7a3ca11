"""A broker, an engine and clicks in Kafka, for the rows about the collector."""
import collections
import json
import random
import time
import uuid

import servers
from machine import ROOT, Failure, built, cpu_seconds
from support.clickhouse import ClickHouse, ClickHouseServer
from support.kafka import Kafka
from support.program import Program
from support.server import KafkaServer

DEPS = ROOT / ".deps"
PARTITIONS = 4
WAIT_S = 300


def write_agents(path):
    """Writes each string once, the most frequent first: browsers by their share of the
    market, with robots between them."""
    chance = random.Random(1)
    with open(DEPS / "ua/user-agents.json", encoding="utf-8") as f:
        shares = collections.Counter()
        for browser in json.load(f):
            shares[browser["userAgent"]] += browser["weight"]
    with open(DEPS / "bots/crawler-user-agents.json", encoding="utf-8") as f:
        robots = [text for entry in json.load(f)
                  for text in entry["instances"]]
    agents = [text for text, _ in shares.most_common()]
    for text in robots:
        agents.insert(chance.randrange(20, len(agents)), text)
    agents = [a for a in dict.fromkeys(agents)
              if a and "\n" not in a and len(a) < 2048]
    path.write_text("\n".join(agents) + "\n", encoding="utf-8")


class Clicks:
    """A topic of clicks; each round has a database and a group of its own."""

    def __init__(self, machine, name):
        self.machine = machine
        self.directory = machine.directory / name
        self.directory.mkdir()
        self.agents = self.directory / "agents.txt"
        write_agents(self.agents)
        self.parts = []
        try:
            self.broker = self.keep(KafkaServer(self.directory / "kafka"))
            self.engine = self.keep(ClickHouseServer(self.directory / "ch"))
        except Exception:
            self.close()
            raise
        kafka = Kafka(self.broker.port)
        # The same settings as in `make up`.
        bound = {"compression_type": "lz4", "max_message_bytes": 262144}
        self.topic = kafka.clicks_topic(PARTITIONS, **bound)
        self.others = {"topic_counters": "", "topic_renewals": "",
                       "topic_links": kafka.create_topic("links", **bound),
                       "topic_dlq": kafka.create_topic("dlq")}

    def keep(self, part):
        """Starts a server and registers it for the end."""
        self.parts.append(part)
        part.start()
        return part

    def new_topic(self):
        self.topic = Kafka(self.broker.port).clicks_topic(PARTITIONS)

    def producer(self, count, rate=None):
        argv = [built("tests/bench/bench_clicks"),
                f"127.0.0.1:{self.broker.port}", self.topic, self.agents,
                count]
        return argv + ([rate] if rate else [])

    def database(self):
        """Returns a new database with empty tables."""
        found = ClickHouse.with_new_database(self.engine.url)
        status, said = Program(
            "aggregator", {"clickhouse": {"url": self.engine.url,
                                          "database": found.database}},
            self.directory, ["migrate"]).run()
        if status:
            raise Failure(f"aggregator migrate: {said[-300:]}")
        return found

    def collector(self, database):
        """Returns a collector that is not started; its settings are the defaults,
        except for addresses and paths."""
        return Program("collector", {
            "kafka": {"brokers": [f"127.0.0.1:{self.broker.port}"],
                      "topic_clicks": self.topic, **self.others},
            "clickhouse": {"url": self.engine.url,
                           "database": database.database},
            "robots": {"list": str(DEPS / "bots/crawler-user-agents.json")},
            "collector": {
                "admin": f"127.0.0.1:{servers.free_port()}",
                "group": f"bench-{uuid.uuid4().hex[:8]}",
                "ua_rules": str(DEPS / "uap/regexes.yaml"),
                "geo_files": [str(DEPS / "geo/city-ipv4.mmdb"),
                              str(DEPS / "geo/city-ipv6.mmdb"),
                              str(DEPS / "geo/asn-country.mmdb")]}},
            self.directory)

    def wait_for(self, database, count, process):
        """Waits until the table has this many rows; returns (CPU seconds of the
        process, CPU seconds of the engine) at that time."""
        deadline = time.monotonic() + WAIT_S
        while database.value("SELECT count() FROM clicks") < count:
            if not process.running():
                raise Failure(f"{process.name} ended: {process.log()[-300:]}")
            if time.monotonic() > deadline:
                raise Failure(f"{process.name}: not all of {count} rows within "
                              f"{WAIT_S} s")
            time.sleep(0.05)
        return cpu_seconds(process.pid), cpu_seconds(self.engine.process.pid)

    @staticmethod
    def check(database, count):
        """Checks that every event is stored once."""
        rows, offsets = database.rows(
            "SELECT count() AS n, uniqExact(partition, offset) AS o "
            "FROM clicks")[0].values()
        if rows != count or offsets != count:
            raise Failure(f"{count} events, but {rows} rows of {offsets} "
                          "events")

    def close(self):
        for part in reversed(self.parts):
            if part.running():
                part.kill()
