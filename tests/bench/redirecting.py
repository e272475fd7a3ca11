"""A running redirector of one thread with links to visit, a real broker and a real
Redis."""
import json
import random
import time

import requests
import servers
from allocator import KEY, WARM_UP_ROUNDS, Allocator, tool
from machine import BROWSER, Failure, cpu_seconds
from support.kafka import Kafka
from support.program import Program

CONNECTIONS = 64
VISITS = 100_000  # visits in a row before the codes repeat
BATCH = 50_000


def visit(machine, port, codes, *, status=302, rate=0, each=0, seconds=None):
    """Returns bench_load's result of visits to a file of codes."""
    argv = [tool("bench_load"), "-s", status]
    for header in BROWSER:
        argv += ["-H", header]
    argv += [port, f"@{codes}", f"{seconds or machine.seconds:g}", CONNECTIONS, rate,
             each]
    return json.loads(machine.run(argv, machine.load_cpu))


def measured(machine, process, port, codes, **options):
    """Returns the same, and the server's CPU time per visit."""
    used = cpu_seconds(process.pid)
    out = visit(machine, port, codes, **options)
    out["cpu_us"] = (cpu_seconds(process.pid) - used) * 1e6 / out["requests"]
    return out


def each_measured(machine, process, port, prefix, each):
    """Measures a round for each number of requests per connection."""
    codes = machine.directory / "codes"
    codes.write_text("0123abc\n")
    values = {}
    for count, name in each.items():
        out = measured(machine, process, port, codes, each=count)
        values[f"{prefix}{name}: requests"] = out["rate"]
        values[f"{prefix}{name}: CPU"] = out["cpu_us"]
    return values


def by_zipf(codes):
    """Returns visits to these codes; the first has the most."""
    weights = [1 / n for n in range(1, len(codes) + 1)]
    return random.Random(1).choices(codes, weights, k=VISITS)


class Redirecting:
    """`settings` belong to the redirector, `http` to that section, `env` is added to
    the environment; ends with close()."""

    def __init__(self, machine, name, links, http=None, env=None, **settings):
        self.machine = machine
        self.env = env
        self.made = Allocator(machine, name)
        self.directory = self.made.directory
        try:
            self.redis = self.made.redis.client()
            # Scripts fill in the links, and these are not logged.
            self.redis.config_set("appendonly", "no")
            self.codes = self.links(links)
            self.start(settings, http or {})
        except BaseException:
            self.close()
            raise

    def start(self, settings, http):
        made = self.made
        self.port = servers.free_port()
        self.config = dict(made.config, redirector={
            "listen": f"127.0.0.1:{self.port}", "threads": 1,
            "admin": f"127.0.0.1:{servers.free_port()}",
            **settings},
            http=http)
        kafka = Kafka(made.broker.port)
        self.config["kafka"].update(topic_counters=kafka.create_topic("counters"),
                                    topic_renewals=kafka.create_topic("renewals"),
                                    topic_clicks=kafka.clicks_topic(4))
        self.program = made.keep(Program("redirector", self.config, made.directory,
                                         env=self.env))
        made.program.stop()
        self.machine.pin(self.program.process.pid, self.machine.server_cpu)
        for server in (made.redis, made.broker):
            self.machine.pin(server.process.pid, self.machine.load_cpu)

    def links(self, count):
        codes = []
        while len(codes) < count:
            wanted = min(BATCH, count - len(codes))
            codes += self.batch(len(codes), wanted)
        return codes

    def batch(self, first, count):
        lines = "".join(json.dumps({"url": f"https://example.org/{first + i}",
                                    "ttl": "30d"}) + "\n" for i in range(count))
        answer = requests.post(
            f"http://127.0.0.1:{self.made.port}/v1/links/batch", data=lines,
            headers={"Authorization": f"Bearer {KEY}",
                     "Content-Type": "application/x-ndjson"}, timeout=60)
        codes = [json.loads(line).get("code")
                 for line in answer.text.splitlines()][:count]
        if len(codes) < count or not all(codes):
            raise Failure(f"no links made: {answer.text[:300]}")
        return codes

    def file(self, name, codes):
        path = self.directory / name
        path.write_text("".join(f"{code}\n" for code in codes))
        return path

    def lookups(self):
        """Returns how many codes Redis was queried for."""
        return self.program.metric("shortloop_redirector_redis_lookups_total")

    def counts(self):
        return (self.program.metric("shortloop_kafka_delivered_total",
                                    topic=self.config["kafka"]["topic_clicks"]),
                self.program.metric("shortloop_redirector_events_dropped_total"))

    def settled(self):
        """Waits until the broker has acknowledged what was produced."""
        before = None
        while before != (before := self.counts()):
            time.sleep(0.5)
        return before

    def warm_up(self, codes):
        """Fills the cache, and gives the broker time to compile itself."""
        for _ in range(WARM_UP_ROUNDS):
            self.measure(codes)

    def measure(self, codes, **options):
        """Fails the round unless each visit has its event in Kafka."""
        delivered, dropped = self.settled()
        out = measured(self.machine, self.program.process, self.port, codes,
                       **options)
        now_delivered, now_dropped = self.settled()
        if now_dropped > dropped:
            raise Failure(f"{now_dropped - dropped:.0f} events were dropped")
        if now_delivered - delivered != out["requests"]:
            raise Failure(f"{out['requests']} visits, but "
                          f"{now_delivered - delivered:.0f} events")
        return out

    def close(self):
        self.made.close()
