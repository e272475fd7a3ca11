"""Redirects while the reclaimer runs, against redirects while it does not.

Links are visited one after the other, at a rate that does not depend on the answers,
so that most visits ask Redis; a round fails unless the reclaimer was at work all the
time and nothing else than blocks that had ended was freed."""
import json
import math
import signal
import time

import requests
import servers
from allocator import KEY, Allocator, tool
from machine import Failure
from reclaim import fill, start
from support.kafka import Kafka
from support.program import Program

FULL = "redirect p99 beside a run at full speed"
PACED = "redirect p99 beside a run at --rate 5000/s"
METRICS = [(FULL, "us", "less"), (PACED, "us", "less")]
PEER = "the same redirector with no run beside it"
LINKS = 20000
VISITS = 4000  # a second
CONNECTIONS = 64
SLICES = 5
FIRST = 1_000_000  # block: far from those that the links are in
BLOCKS_A_SECOND = 300_000  # more than a run gets done
PACE = 5000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.load = tool("bench_load")
        self.made = Allocator(machine, "reclaim-beside")
        try:
            self.set_up()
        except Exception:
            self.close()
            raise

    def set_up(self):
        made = self.made
        self.redis = made.redis.client()
        # What is freed is filled in by scripts: no log of that.
        self.redis.config_set("appendonly", "no")
        self.codes = made.directory / "codes"
        self.codes.write_text("".join(f"{code}\n" for code in self.links()))
        self.listen = servers.free_port()
        config = dict(
            made.config, reclaimer={"record": False, "admin": ""},
            redirector={"listen": f"127.0.0.1:{self.listen}", "threads": 1,
                        "admin": f"127.0.0.1:{servers.free_port()}"})
        config["kafka"]["topic_clicks"] = Kafka(
            made.broker.port).clicks_topic(4)
        self.redirector = made.keep(
            Program("redirector", config, made.directory))
        made.program.stop()
        self.reclaimer = Program("reclaimer", config, made.directory)
        self.machine.pin(self.redirector.process.pid, self.machine.load_cpu)
        self.machine.pin(made.redis.process.pid, self.machine.server_cpu)

    def links(self):
        lines = "".join(json.dumps({"url": f"https://example.org/{i}",
                                    "ttl": "30d"}) + "\n"
                        for i in range(LINKS))
        answer = requests.post(
            f"http://127.0.0.1:{self.made.port}/v1/links/batch", data=lines,
            headers={"Authorization": f"Bearer {KEY}",
                     "Content-Type": "application/x-ndjson"}, timeout=60)
        codes = [json.loads(line).get("code")
                 for line in answer.text.splitlines()]
        if len(codes) < LINKS or not all(codes[:LINKS]):
            raise Failure(f"no links made: {answer.text[:300]}")
        return codes[:LINKS]

    def p99(self):
        """Of the quietest slice: what others do to the machine in between is not
        what is asked for."""
        p99 = min(self.slice() for _ in range(SLICES))
        if math.isinf(p99):
            raise Failure(f"never {VISITS} visits a second: the machine is busy")
        return p99

    def slice(self):
        out = json.loads(self.machine.run(
            [self.load, self.listen, f"@{self.codes}",
             f"{self.machine.seconds / SLICES:g}", CONNECTIONS, VISITS],
            self.machine.load_cpu))
        if out["rate"] < VISITS * 0.9:
            return math.inf  # the load had no core
        return out["p99_us"]

    def beside(self, blocks, *options):
        fill(self.redis, FIRST, blocks, 10, ended=True)
        process = start(self.reclaimer.config_path, self.machine.load_cpu,
                        *options)
        time.sleep(0.3)
        p99 = self.p99()
        if process.poll() is not None:
            raise Failure(f"the run was over too soon: {process.stderr.read()}"
                          f"{process.stdout.read()}")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        if process.returncode or json.loads(out)["spaces"][0]["lost"]:
            raise Failure(f"reclaimer: {err[-300:]}{out[-300:]}")
        return p99

    def ours(self):
        seconds = self.machine.seconds + 3
        return {FULL: self.beside(int(BLOCKS_A_SECOND * seconds)),
                PACED: self.beside(int(PACE * seconds * 2), "--rate",
                                   f"{PACE}/s")}

    def peer(self):
        p99 = self.p99()
        return {FULL: p99, PACED: p99}

    def close(self):
        self.made.close()
