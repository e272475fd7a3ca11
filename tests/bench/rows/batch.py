"""Links created by the line, stored in Redis and in Kafka, against
redis-benchmark's pipelined SET of a record of the same size: what the same
Redis can take at all.  Redis, allocator and client share both cores."""
import re
import shutil

from allocator import KEY, Allocator, tool
from machine import Failure

RATE = "batch: links"
METRICS = [(RATE, "1/s", "more")]
PEER = "redis-benchmark -P 64 SET"
LINKS_A_SECOND = 100000  # a round's length, about
RECORD = 110  # bytes of such a link in Redis


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.client = tool("bench_batch")
        if not shutil.which("redis-benchmark"):
            raise Failure("redis-benchmark is missing; "
                          "try `tools/deps.sh bench`")
        self.cores = f"{machine.server_cpu},{machine.load_cpu}"
        self.links = int(LINKS_A_SECOND * machine.seconds)
        self.allocator = Allocator(machine, "batch")
        a = self.allocator
        for part in (a.program, a.redis, a.broker):
            machine.pin(part.process.pid, self.cores)
        try:
            a.warm_up(self.argv(), self.cores)
        except Exception:
            self.close()
            raise

    def argv(self):
        return [self.client, self.allocator.port, KEY, self.links]

    def ours(self):
        out = self.allocator.measure(self.argv(), self.cores)
        return {RATE: out["rate"]}

    def peer(self):
        out = self.machine.run(
            ["redis-benchmark", "-p", self.allocator.redis.port, "-P", "64",
             "-c", "4", "-n", self.links, "-r", "100000000", "-d", RECORD,
             "-t", "set", "--csv"], self.cores)
        rate = re.search(r'"SET[^"]*","([\d.]+)"', out)
        if not rate:
            raise Failure(f"redis-benchmark said: {out[-300:]}")
        return {RATE: float(rate[1])}

    def close(self):
        self.allocator.close()
