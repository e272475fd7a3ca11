"""A Redis with due blocks, and runs of the reclaimer over them."""
import json
import re
import subprocess
import threading
import time

import servers
from machine import BUILD, Failure
from support.program import Program
from support.server import RedisServer

DAY = 86400_000
HOUR = 3600_000

# Markers and ranges in the formats of linkstore/marker.h and linkstore/range.h; a block
# ends at a random time within `spread`.
MARKERS = """
for block = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local ends = tonumber(ARGV[3]) + block * 7919 % tonumber(ARGV[4])
  redis.call('SET', string.format('m:{s7:%.0f}', block), string.format(
    '1 o 30d %.0f %.0f allocator-1-0123456789abcdef', ends - 2592000000, ends))
end
"""
RANGES = """
local each = tonumber(ARGV[3])
for block = tonumber(ARGV[1]), tonumber(ARGV[2]), each do
  redis.call('ZADD', 'issued:{s7}', tonumber(ARGV[4]) + math.floor(block / 64),
    string.format('%.0f-%.0f:1', block, block + each - 1))
end
"""
AT_ONCE = 20000


def config(directory, redis_port, block_size, grant_blocks):
    key = directory / "space.key"
    key.write_text("0123456789abcdef0123456789abcdef")

    def address():
        return f"127.0.0.1:{servers.free_port()}"
    return {
        "redis": {"address": f"127.0.0.1:{redis_port}"},
        "links": {"ttl_classes": ["30d"], "grant_blocks": grant_blocks,
                  "spaces": [{
                      "name": "s7", "number": 1, "length": 7,
                      "strategy": "sequence", "block_size": block_size,
                      "keys": [{"version": 0, "key": f"file:{key}"}]}]},
        "allocator": {"listen": address(), "admin": address()},
        # These rows do not use ClickHouse.
        "reclaimer": {"admin": address(), "record": False},
    }


class Due:
    """Due blocks in a Redis of their own."""

    def __init__(self, machine, name, blocks, block_size, grant_blocks,
                 durable=False):
        self.machine = machine
        self.blocks = blocks
        self.grant_blocks = grant_blocks
        self.directory = machine.directory / name
        # A rewrite of the log during a round would be measured.
        self.redis = RedisServer(
            self.directory / "redis", durable=durable,
            extra=["--auto-aof-rewrite-percentage", "0"]).start()
        try:
            self.client = self.redis.client()
            machine.pin(self.redis.process.pid, machine.server_cpu)
            self.config = config(self.directory, self.redis.port, block_size,
                                 grant_blocks)
            create_space(self.config, self.directory)
            self.program = Program("reclaimer", self.config, self.directory)
        except Exception:
            self.close()
            raise

    def fill(self, ended, first=0):
        fill(self.client, first, self.blocks, self.grant_blocks, ended)

    def run(self, *options):
        """Returns (seconds from the start of the process to its end, MiB, summary)."""
        return run(self.program.config_path, self.machine.load_cpu, *options)

    def peer(self, command, *args):
        """Returns the seconds that redis-benchmark takes for one command a block."""
        out = self.machine.run(
            ["redis-benchmark", "-p", self.redis.port, "-P", "256", "-n",
             self.blocks, "--csv", command, *args], self.machine.load_cpu)
        rate = re.search(rf'"{command} [^"]*","([\d.]+)"', out)
        if not rate:
            raise Failure(f"redis-benchmark said: {out[-300:]}")
        return self.blocks / float(rate[1])

    def check(self, summary, **expected):
        found = {k: summary["spaces"][0][k] for k in expected}
        if found != expected:
            raise Failure(f"expected {expected}, got {found}")

    def close(self):
        self.redis.kill()


def create_space(settings, directory):
    status, said = Program("allocator", settings, directory,
                           ["create-space", "--space", "s7",
                            "--no-archive"]).run()
    if status:
        raise Failure(f"create-space: {said[-300:]}")


def fill(client, first, blocks, grant_blocks, ended):
    """Writes grants of a day; they were due two days ago.  Their blocks ended yesterday
    within an hour, or are visited every day: links are renewed every 6 hours, so their
    ends lie within that time."""
    now = int(time.time() * 1000)
    ends, spread = ((now - DAY, HOUR) if ended
                    else (now + 30 * DAY - 6 * HOUR, 6 * HOUR))
    client.delete("issued:{s7}", "pool:{s7}")
    for at in range(first, first + blocks, AT_ONCE):
        last = min(at + AT_ONCE, first + blocks) - 1
        client.eval(MARKERS, 0, at, last, ends, spread)
        client.eval(RANGES, 0, at, last, grant_blocks, now - 2 * DAY)
    client.set("cursor:{s7}", first + blocks)


def start(config_path, cpu, *options):
    return subprocess.Popen(
        ["taskset", "-c", str(cpu), BUILD / "bin" / "reclaimer", "run",
         "--json", "-c", config_path, *options], cwd=servers.ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Peak(threading.Thread):
    """The peak memory of a process.  The value of wait4 cannot be used: it includes the
    memory of Python before exec."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.mib = 0
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.02):
            try:
                with open(self.path, encoding="ascii") as f:
                    lines = dict(line.split(":", 1) for line in f)
            except OSError:
                return
            if lines["Name"].strip() == "reclaimer" and "VmHWM" in lines:
                self.mib = int(lines["VmHWM"].split()[0]) / 1024


def run(config_path, cpu, *options):
    began = time.monotonic()
    process = start(config_path, cpu, *options)
    peak = Peak(process.pid)
    out, err = process.communicate()
    took = time.monotonic() - began
    peak.over.set()
    if process.returncode:
        raise Failure(f"reclaimer: exit {process.returncode}: {err[-300:]}")
    return took, peak.mib, json.loads(out)
