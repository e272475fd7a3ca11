"""Links created in a batch, one a line, stored in Redis and in Kafka, against
redis-benchmark's pipelined SET of a record of the same size: the maximum of the same
Redis.  Redis, allocator and client share both cores."""
import re
import shutil

from allocator import KEY, Allocator, tool
from machine import Failure, cpu_seconds

RATE = "batch: links"
CPU = "batch: CPU of servers"  # Redis and, on our side, the allocator
METRICS = [(RATE, "1/s", "more"), (CPU, "us a link", "less")]
PEER = "redis-benchmark -P 64 SET"
LINKS_A_SECOND = 100000  # the approximate length of a round
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

    def redis_seconds(self):
        return cpu_seconds(self.allocator.redis.process.pid)

    def ours(self):
        used = self.redis_seconds()
        out = self.allocator.measure(self.argv(), self.cores)
        used = self.redis_seconds() - used
        return {RATE: out["rate"],
                CPU: out["cpu_us"] + used * 1e6 / self.links}

    def peer(self):
        used = self.redis_seconds()
        out = self.machine.run(
            ["redis-benchmark", "-p", self.allocator.redis.port, "-P", "64",
             "-c", "4", "-n", self.links, "-r", "100000000", "-d", RECORD,
             "-t", "set", "--csv"], self.cores)
        rate = re.search(r'"SET[^"]*","([\d.]+)"', out)
        if not rate:
            raise Failure(f"redis-benchmark said: {out[-300:]}")
        used = self.redis_seconds() - used
        return {RATE: float(rate[1]), CPU: used * 1e6 / self.links}

    def close(self):
        self.allocator.close()
