"""How soon every thread of two edges uses a change of a link: from the answer to PATCH
until the last of them redirects to the new URL; also when the subscription to changes
has just gone silent, so that links are queried again."""
import http.client
import time

import requests

import servers
from allocator import KEY, Allocator
from machine import Failure, parameter
from support.deaf import Deaf
from support.kafka import Kafka
from support.program import Program, eventually

CHANGES = parameter("CHANGES", 1000)
DEAF_CHANGES = max(1, CHANGES // 10)  # each change waits for a new subscription
EDGES, THREADS = 2, 2
HEARING = "a change told by all threads"
DEAF = "a change told by all threads, subscription silent"
METRICS = [(f"{which}: {what}", "ms", "less") for which in (HEARING, DEAF)
           for what in ("median", "p99", "most")]
PEER = "a second, which is promised"
PROMISED_MS = 1000
LONG = True
URL = "https://example.org/"


class Edge:
    """A redirector, and a connection to each of its threads."""

    def __init__(self, machine, made, number, redis):
        kafka = Kafka(made.broker.port)
        self.machine = machine
        self.config = dict(
            made.config, redis={"address": redis}, redirector={
                "listen": f"127.0.0.1:{servers.free_port()}",
                "admin": f"127.0.0.1:{servers.free_port()}",
                "threads": THREADS, "cache_ttl": "1h"})
        self.config["kafka"] = dict(made.config["kafka"],
                                    topic_counters=kafka.create_topic("counters"),
                                    topic_renewals=kafka.create_topic("renewals"),
                                    topic_clicks=kafka.clicks_topic(4))
        self.program = made.keep(Program("redirector", self.config,
                                         made.directory / f"edge-{number}"))
        machine.pin(self.program.process.pid, machine.server_cpu)
        self.connections = []

    def series(self, name):
        return self.program.series(f"shortloop_redirector_{name}")

    def entries(self):
        return self.series("cache_entries")

    def connect(self, codes):
        """The caches do not have `codes` yet: the thread whose cache grows by one owns
        the connection."""
        of = {}
        for code in codes:
            before = self.entries()
            connection = http.client.HTTPConnection(self.config["redirector"]["listen"],
                                                    timeout=60)
            target(connection, code)
            eventually(lambda: self.entries() != before, what="a link in a cache")
            grown = [b > a for a, b in zip(before, self.entries())]
            of.setdefault(grown.index(True), connection)
            if len(of) == THREADS:
                self.connections = list(of.values())
                return
        raise Failure("no connection to each thread")

    def subscribed(self):
        return self.series("subscribed") == [1]


def target(connection, code):
    connection.request("GET", f"/{code}")
    answer = connection.getresponse()
    answer.read()
    return answer.getheader("Location")


class Bench:
    def __init__(self, machine):
        self.made = Allocator(machine, "staleness")
        self.deaf = None
        try:
            self.set_up(machine)
        except BaseException:
            self.close()
            raise

    def set_up(self, machine):
        self.api = requests.Session()
        self.api.trust_env = False
        self.api.headers["Authorization"] = f"Bearer {KEY}"
        self.links = f"http://127.0.0.1:{self.made.port}/v1/links"
        self.number = 0
        self.code = self.create()
        self.deaf = Deaf(self.made.redis.port)
        addresses = [f"127.0.0.1:{self.made.redis.port}", self.deaf.address]
        self.hearing, self.silent = (
            [Edge(machine, self.made, EDGES * i + j, address) for j in range(EDGES)]
            for i, address in enumerate(addresses))
        codes = [self.create() for _ in range(16 * THREADS)]
        for edge in (*self.hearing, *self.silent):
            edge.connect(codes)

    def create(self):
        answer = self.api.post(self.links, json={"url": URL, "ttl": "30d"}, timeout=60)
        if answer.status_code != 201:
            raise Failure(f"no link made: {answer.text[:300]}")
        return answer.json()["code"]

    def change(self):
        self.number += 1
        url = f"{URL}{self.number}"
        answer = self.api.patch(f"{self.links}/{self.code}", json={"url": url},
                                timeout=60)
        if answer.status_code != 200:
            raise Failure(f"no link changed: {answer.text[:300]}")
        return url

    def told(self, edges, url):
        """Returns the ms until the last thread uses the change."""
        since = time.monotonic()
        left = [c for edge in edges for c in edge.connections]
        while left:
            left = [c for c in left if target(c, self.code) != url]
            if time.monotonic() > since + 60:
                raise Failure(f"{len(left)} threads were not told of a change")
        return (time.monotonic() - since) * 1000

    def heard(self):
        found = []
        for _ in range(CHANGES):
            found.append(self.told(self.hearing, self.change()))
            if not all(edge.subscribed() for edge in self.hearing):
                raise Failure("there was no subscription")
        return found

    def unheard(self):
        """Returns changes whose subscription worked until just before the change."""
        found = []
        for _ in range(DEAF_CHANGES):
            eventually(lambda: all(edge.subscribed() for edge in self.silent),
                       what="subscriptions")
            self.told(self.silent, self.change())
            self.deaf.deaf = True
            found.append(self.told(self.silent, self.change()))
            self.deaf.deaf = False
        return found

    def ours(self):
        values = {}
        for which, found in ((HEARING, self.heard()), (DEAF, self.unheard())):
            found.sort()
            values[f"{which}: median"] = found[len(found) // 2]
            values[f"{which}: p99"] = found[len(found) * 99 // 100]
            values[f"{which}: most"] = found[-1]
        return values

    def peer(self):
        return {metric[0]: PROMISED_MS for metric in METRICS}

    def close(self):
        if self.deaf:
            self.deaf.close()
        self.made.close()
