"""Clicks arrive at a rate and are settled meanwhile: broker, collector, engine,
aggregator, and the delay of the aggregator's figure."""
import bisect
import threading
import time

import requests

import servers
import storage
from clicks import Clicks
from machine import Failure, cpu_seconds, parameter
from settled import instant, key
from support.clickhouse import ClickHouse, ClickHouseError
from support.kafka import Kafka
from support.keys import key_line
from support.memory import MIB, status
from support.program import Program, eventually
from support.server import RedisServer

A_MINUTE = parameter("A_MINUTE", 1_000_000)
RATE = max(1, A_MINUTE // 60)
LOOK_S = 0.5
LOOKS = 20  # half seconds between checks of superseded rows
FOLLOW_S = 600  # the last click is settled within this time
HOUR = 3600
# The number of a click gives its time: how many had come until when.
CAME = """
SELECT intDiv(toUnixTimestamp64Milli(original_ts), 100) AS tenth, count() AS n
FROM clicks GROUP BY tenth ORDER BY tenth
"""


class Arriving(Clicks):
    """Settings are the defaults, except for addresses and paths; ends with close()."""

    def __init__(self, machine, name, keys=("watcher",)):
        super().__init__(machine, name)
        try:
            self.set_up(keys)
        except BaseException:
            self.close()
            raise

    def set_up(self, keys):
        self.redis = self.keep(RedisServer(self.directory / "redis"))
        self.others["topic_live"] = Kafka(self.broker.port).create_topic("live", 4)
        path = self.directory / "api.keys"
        path.write_text("".join(key_line(name, "read accounts=*") for name in keys))
        self.tables = self.database()
        self.collecting = self.run(self.collector(self.tables))
        self.aggregating = self.run(Program("aggregator", {
            "redis": {"address": f"127.0.0.1:{self.redis.port}"},
            "kafka": {"brokers": [f"127.0.0.1:{self.broker.port}"],
                      "topic_clicks": self.topic, **self.others},
            "clickhouse": {"url": self.engine.url, "database": self.tables.database},
            "aggregator": {"listen": f"127.0.0.1:{servers.free_port()}",
                           "admin": f"127.0.0.1:{servers.free_port()}",
                           "keys_file": str(path)}}, self.directory))
        self.url = self.aggregating.url

    def run(self, program):
        program.start()
        self.parts.append(program.process)
        return program

    def arrive(self, seconds):
        """Starts the producer; returns (the producer, the number of clicks)."""
        count = RATE * seconds
        process = servers.Process("bench_clicks", self.producer(count, RATE),
                                  self.directory / "bench_clicks.log")
        self.parts.append(process)
        return process, count

    def memory(self):
        """Returns {program: MiB}, without mapped files."""
        found = {}
        for name, process in (("aggregator", self.aggregating.process),
                              ("collector", self.collecting.process),
                              ("ClickHouse", self.engine.process)):
            now = status(process.pid)
            found[name] = (now["VmRSS"] - now["RssFile"]) / MIB
        return found

    def cpu(self):
        return {name: cpu_seconds(process.pid) for name, process in (
            ("aggregator", self.aggregating.process),
            ("collector", self.collecting.process),
            ("ClickHouse", self.engine.process))}


class Figure(threading.Thread):
    """Polls the figure of these hours until it has all `count` clicks."""

    def __init__(self, arriving, count, seconds):
        super().__init__(daemon=True)
        self.arriving = arriving
        self.count = count
        self.database = ClickHouse(arriving.engine.url, arriving.tables.database)
        self.until = time.monotonic() + seconds + FOLLOW_S
        self.start_hour = int(time.time()) // HOUR * HOUR - HOUR
        self.seen = []  # (ms, events)
        self.superseded = 0.0  # the maximum, in % of the settled tables' rows
        self.problem = None
        self.ended = threading.Event()
        self.start()

    def run(self):
        try:
            with requests.Session() as session:
                session.trust_env = False
                session.headers.update(key("watcher"))
                while not self.ended.wait(LOOK_S) and not self.look(session):
                    if time.monotonic() > self.until:
                        raise Failure(f"{self.seen[-1][1]} of {self.count} clicks "
                                      "settled")
        except (Failure, ClickHouseError, requests.RequestException) as e:
            self.problem = e

    def look(self, session):
        """Returns true when everything is settled."""
        answer = session.get(self.arriving.url + "/v1/clicks", timeout=60, params={
            "from": instant(self.start_hour), "to": instant(self.start_hour + 4 * HOUR),
            "bots": "include"})
        if answer.status_code != 200:
            raise Failure(f"/v1/clicks: {answer.text[:200]}")
        events = answer.json()["total"]["events"]
        self.seen.append((time.time() * 1000, events))
        if len(self.seen) % LOOKS == 0:
            self.superseded = max(self.superseded,
                                  storage.superseded(self.database))
        return events >= self.count

    def stop(self):
        self.ended.set()
        self.join()

    def behind(self):
        """Returns ascending [seconds], one for each poll: the age of the first click
        that the figure lacked."""
        self.join()
        if self.problem:
            raise Failure(f"the figure: {self.problem}")
        ends, total = [], 0
        tenths = self.arriving.tables.rows(CAME)
        for row in tenths:
            total += int(row["n"])
            ends.append(total)
        if total != self.count or self.seen[-1][1] != self.count:
            raise Failure(f"{self.count} clicks, {total} rows, "
                          f"{self.seen[-1][1]} settled")
        found = []
        for at, events in self.seen:
            missing = bisect.bisect_right(ends, events)
            came = (100 * int(tenths[missing]["tenth"]) if missing < len(tenths)
                    else at)
            found.append(max(0.0, (at - came) / 1000))
        return sorted(found)


def produced(process, seconds):
    """Waits until the broker has all clicks; the row is valid only if the broker kept
    up."""
    eventually(lambda: not process.running(), seconds + FOLLOW_S, 0.2,
               "all clicks produced")
    if process.wait():
        raise Failure(f"bench_clicks: {process.log()[-300:]}")
    took = float(process.log().rsplit(" in ", 1)[1].split()[0])
    if took > 1.1 * seconds + 1:
        raise Failure(f"clicks of {seconds} s took {took:.0f}: the machine is busy")
