"""The redirector: a cached link and a Kafka event a visit, through a real
broker, against nginx `return 302`."""
import hashlib
import time

import requests
import servers
import web
from machine import Failure
from support.kafka import Kafka
from support.program import Program
from support.server import KafkaServer, RedisServer

PREFIX = "redirect with its Kafka event: "
METRICS = [(PREFIX + label, unit, better)
           for label, unit, better in web.METRICS]
PEER = "nginx return 302"
KEY = "bench-key"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.parts = []
        try:
            self.set_up(machine.directory)
        except Exception:
            self.close()
            raise

    def set_up(self, directory):
        redis = self.keep(RedisServer(directory / "redis"))
        broker = self.keep(KafkaServer(directory / "kafka"))
        kafka = Kafka(broker.port)
        kafka.create_topic(exactly="redirector.counters")
        config = self.config(directory, redis.port, broker.port,
                             kafka.clicks_topic(4),
                             kafka.create_topic("links"))
        self.code = self.make_link(config, directory)
        self.redirector = self.keep(Program("redirector", config, directory))
        self.machine.pin(self.redirector.process.pid, self.machine.server_cpu)
        self.port = int(config["redirector"]["listen"].rsplit(":", 1)[1])
        answer = requests.get(f"{self.redirector.url}/{self.code}",
                              allow_redirects=False, timeout=5)
        if answer.status_code != 302:
            raise Failure(f"the link answers {answer.status_code}")
        self.nginx, self.nginx_port = web.start_nginx(self.machine)
        self.parts.append(self.nginx)

    def keep(self, part):
        """Starts a server and remembers to end it."""
        self.parts.append(part)
        part.start()
        return part

    @staticmethod
    def config(directory, redis, kafka, clicks, links):
        key, keys = directory / "space.key", directory / "api.keys"
        key.write_text("0123456789abcdef0123456789abcdef")
        digest = hashlib.sha256(KEY.encode()).hexdigest()
        keys.write_text(f"bench admin sha256:{digest}\n")

        def address():
            return f"127.0.0.1:{servers.free_port()}"
        return {
            "redis": {"address": f"127.0.0.1:{redis}"},
            "kafka": {"brokers": [f"127.0.0.1:{kafka}"],
                      "topic_clicks": clicks, "topic_links": links},
            "links": {"spaces": [{
                "name": "s7", "number": 1, "length": 7,
                "strategy": "sequence",
                "keys": [{"version": 0, "key": f"file:{key}"}]}]},
            "redirector": {"listen": address(), "admin": address(),
                           "threads": 1},
            "allocator": {"listen": address(), "admin": address(),
                          "keys_file": str(keys)},
        }

    def make_link(self, config, directory):
        space = Program("allocator", config, directory,
                        ["create-space", "--space", "s7", "--no-archive"])
        status, said = space.run()
        if status:
            raise Failure(f"create-space: {said[-300:]}")
        allocator = self.keep(Program("allocator", config, directory))
        answer = requests.post(
            allocator.url + "/v1/links", timeout=10,
            json={"url": "https://example.org/a/page", "ttl": "30d"},
            headers={"Authorization": f"Bearer {KEY}"})
        if answer.status_code != 201:
            raise Failure(f"no link made: {answer.text}")
        allocator.stop()
        return answer.json()["code"]

    def counts(self):
        return (self.redirector.metric("shortloop_kafka_delivered_total"),
                self.redirector.metric(
                    "shortloop_redirector_events_dropped_total"))

    def settled(self):
        """Waits until the broker has acknowledged what was produced."""
        before = None
        while before != (before := self.counts()):
            time.sleep(0.5)
        return before

    def ours(self):
        delivered, dropped = self.settled()
        values, answered = web.load(self.machine, self.redirector.process,
                                    self.port, f"/{self.code}")
        now_delivered, now_dropped = self.settled()
        if now_dropped > dropped:
            raise Failure(f"{now_dropped - dropped:.0f} events were dropped")
        # wrk does not count the answers that were under way at its end.
        if now_delivered - delivered < answered:
            raise Failure(f"{answered} redirects, but only "
                          f"{now_delivered - delivered:.0f} events")
        return {PREFIX + k: v for k, v in values.items()}

    def peer(self):
        values, _ = web.load(self.machine, self.nginx, self.nginx_port,
                             f"/{self.code}")
        return {PREFIX + k: v for k, v in values.items()}

    def close(self):
        for part in reversed(self.parts):
            process = getattr(part, "process", part)
            if process and process.running():
                process.kill()
