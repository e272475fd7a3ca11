"""Ranges of markers checked by the reclaimer's code, against redis-benchmark's
pipelined GET of a value of the same size, on the same Redis."""
import re
import resource
import shutil

from machine import Failure, built
from support.server import RedisServer

WALL = "marker checked: time"
CPU = "marker checked: CPU of the client"
METRICS = [(WALL, "us", "less"), (CPU, "us", "less")]
PEER = "redis-benchmark -P 256 GET"
BLOCKS = 16384
SAMPLE = "m:{s7:1}"


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.program = built("tests/bench/bench_markers")
        if not shutil.which("redis-benchmark"):
            raise Failure("redis-benchmark is missing; "
                          "try `tools/deps.sh bench`")
        self.redis = RedisServer(machine.directory / "marker-redis").start()
        machine.pin(self.redis.process.pid, machine.server_cpu)
        machine.run([self.program, self.redis.port, BLOCKS, "fill"],
                    machine.load_cpu)

    def ours(self):
        out = self.machine.run(
            [self.program, self.redis.port, BLOCKS,
             str(self.machine.seconds)], self.machine.load_cpu)
        wall, cpu, live = re.match(
            r"([\d.]+) ns, cpu ([\d.]+) ns, live ([\d.]+)", out).groups()
        if float(live) != 1:
            raise Failure(f"only {live} of the markers were found live")
        return {WALL: float(wall) / 1000, CPU: float(cpu) / 1000}

    def peer(self):
        count = int(150000 * self.machine.seconds)
        before = children_cpu()
        out = self.machine.run(
            ["redis-benchmark", "-p", self.redis.port, "-P", "256", "-n", count,
             "--csv", "GET", SAMPLE], self.machine.load_cpu)
        rate = re.search(r'"GET [^"]*","([\d.]+)"', out)
        if not rate:
            raise Failure(f"redis-benchmark said: {out[-300:]}")
        return {WALL: 1e6 / float(rate[1]),
                CPU: (children_cpu() - before) * 1e6 / count}

    def close(self):
        self.redis.kill()
