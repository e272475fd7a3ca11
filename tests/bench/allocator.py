"""A running allocator with a durable Redis and a real broker, as the target of a
load."""
import hashlib
import json
import time

import servers
from machine import Failure, built, cpu_seconds
from support.kafka import Kafka
from support.program import Program
from support.server import KafkaServer, RedisServer

KEY = "bench-key"
WARM_UP_ROUNDS = 4


class Allocator:
    """One thread; what is on it after a round answered that round."""

    def __init__(self, machine, name):
        self.machine = machine
        self.directory = machine.directory / name
        self.parts = []
        try:
            # A rewrite of the log during a round would be measured.
            self.redis = self.keep(RedisServer(
                self.directory / "redis", durable=True,
                extra=["--auto-aof-rewrite-percentage", "0"]))
            self.broker = self.keep(KafkaServer(self.directory / "kafka"))
            self.config = self.make_config()
            self.make_space()
            self.program = self.keep(
                Program("allocator", self.config, self.directory))
        except Exception:
            self.close()
            raise
        self.port = self.config["allocator"]["listen"].rsplit(":", 1)[1]

    def keep(self, part):
        """Starts a server and registers it for the end."""
        self.parts.append(part)
        part.start()
        return part

    def make_config(self):
        key, keys = self.directory / "space.key", self.directory / "api.keys"
        key.write_text("0123456789abcdef0123456789abcdef")
        digest = hashlib.sha256(KEY.encode()).hexdigest()
        keys.write_text(f"bench admin sha256:{digest}\n")

        def address():
            return f"127.0.0.1:{servers.free_port()}"
        return {
            "redis": {"address": f"127.0.0.1:{self.redis.port}"},
            "kafka": {"brokers": [f"127.0.0.1:{self.broker.port}"],
                      "topic_links":
                      Kafka(self.broker.port).create_topic("links", 4)},
            "links": {"spaces": [{
                "name": "s7", "number": 1, "length": 7,
                "strategy": "sequence",
                "keys": [{"version": 0, "key": f"file:{key}"}]}]},
            "allocator": {"listen": address(), "admin": address(),
                          "threads": 1, "keys_file": str(keys)},
        }

    def make_space(self):
        status, said = Program("allocator", self.config, self.directory,
                               ["create-space", "--space", "s7",
                                "--no-archive"]).run()
        if status:
            raise Failure(f"create-space: {said[-300:]}")

    def settled(self):
        """Waits until the broker has acknowledged what was produced; returns how many
        events that is so far."""
        before = None
        while before != (before := self.program.metric(
                "shortloop_kafka_delivered_total")):
            time.sleep(0.5)
        return before

    def warm_up(self, argv, cpu):
        """A broker that has just started compiles itself on a core that is measured; an
        event then costs several times the CPU that it costs later."""
        for _ in range(WARM_UP_ROUNDS):
            self.measure(argv, cpu)

    def measure(self, argv, cpu, new_keys=1):
        """Returns the output of a load generator, and the CPU time of the allocator.
        The round fails if a link has no event, or is not in Redis, which has that many
        new keys a link."""
        client = self.redis.client()
        delivered, keys = self.settled(), client.dbsize()
        used = cpu_seconds(self.program.process.pid)
        out = json.loads(self.machine.run(argv, cpu))
        used = cpu_seconds(self.program.process.pid) - used
        made = out.get("links") or out["requests"]
        delivered, keys = (self.settled() - delivered, client.dbsize() - keys)
        client.close()
        if delivered < made - 1 + new_keys or keys < made * new_keys:
            raise Failure(f"{made} links were answered, but {delivered:.0f} "
                          f"events are in Kafka and {keys} keys in Redis")
        out["cpu_us"] = used * 1e6 / made
        return out

    def close(self):
        for part in reversed(self.parts):
            process = getattr(part, "process", part)
            if process and process.running():
                process.kill()


def tool(name):
    return built(f"tests/bench/{name}")
