"""From Kafka to ClickHouse: the collector against a sink that uses the usual Go
libraries, on the same topic and table."""
import time
import uuid

import peers
import servers
from clicks import Clicks
from machine import cpu_seconds

RATE = "collector: events a second of CPU"
WALL = "collector: events by the clock"
ENGINE = "collector: CPU of ClickHouse"
METRICS = [(RATE, "1/s", "more"), (WALL, "1/s", "more"),
           (ENGINE, "us an event", "less")]
PEER = "franz-go + ch-go, nothing looked up"
EVENTS = 2_000_000
# The default batch of clickhouse_sinker, and the collector's age.
PEER_ROWS, PEER_MS = 262144, 1000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.binary = peers.build_go("sink-peer")
        self.clicks = Clicks(machine, "collector")
        try:
            machine.run(self.clicks.producer(EVENTS), machine.load_cpu)
        except Exception:
            self.close()
            raise

    def round(self, database, process):
        """Counts from now on, so that the start-up costs belong to neither side."""
        start, used = time.monotonic(), cpu_seconds(process.pid)
        there = database.value("SELECT count() FROM clicks")
        engine = cpu_seconds(self.clicks.engine.process.pid)
        ended, engine_ended = self.clicks.wait_for(database, EVENTS, process)
        seconds = time.monotonic() - start
        process.kill()
        self.clicks.check(database, EVENTS)
        database.drop()
        count, used = EVENTS - there, ended - used
        return {RATE: count / used, WALL: count / seconds,
                ENGINE: (engine_ended - engine) * 1e6 / count}

    def ours(self):
        database = self.clicks.database()
        return self.round(database,
                          self.clicks.collector(database).start().process)

    def peer(self):
        database = self.clicks.database()
        process = servers.Process(
            "sink-peer",
            [self.binary, f"127.0.0.1:{self.clicks.broker.port}",
             self.clicks.topic, f"peer-{uuid.uuid4().hex[:8]}",
             self.clicks.engine.url, database.database,
             PEER_ROWS, PEER_MS], self.clicks.directory / "sink-peer.log")
        return self.round(database, process)

    def close(self):
        self.clicks.close()
