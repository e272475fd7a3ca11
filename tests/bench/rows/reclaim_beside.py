"""Redirects while the reclaimer runs, against redirects while it does not.

Links are visited one after the other, at a rate that does not depend on the answers, so
that most visits query Redis; a round fails unless the reclaimer worked all the time and
freed only blocks that had ended."""
import json
import math
import signal
import time

from machine import Failure
from reclaim import fill, start
from redirecting import Redirecting, visit
from support.program import Program

FULL = "redirect p99 beside a run at full speed"
PACED = "redirect p99 beside a run at --rate 5000/s"
METRICS = [(FULL, "us", "less"), (PACED, "us", "less")]
PEER = "the same redirector with no run beside it"
LINKS = 20000
VISITS = 4000  # a second
SLICES = 5
FIRST = 1_000_000  # the first block; far from those with the links
BLOCKS_A_SECOND = 300_000  # more than a run can do
PACE = 5000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.made = made = Redirecting(machine, "reclaim-beside", LINKS)
        self.redis = made.redis
        self.codes = made.file("visits", made.codes)
        self.reclaimer = Program(
            "reclaimer", dict(made.config, reclaimer={"record": False, "admin": ""}),
            made.directory)
        machine.pin(made.program.process.pid, machine.load_cpu)
        machine.pin(made.made.redis.process.pid, machine.server_cpu)

    def p99(self):
        """Returns the p99 of the quietest slice, since other load on the machine is not
        the subject."""
        p99 = min(self.slice() for _ in range(SLICES))
        if math.isinf(p99):
            raise Failure(f"never {VISITS} visits a second: the machine is busy")
        return p99

    def slice(self):
        out = visit(self.machine, self.made.port, self.codes, rate=VISITS,
                    seconds=self.machine.seconds / SLICES)
        if out["rate"] < VISITS * 0.9:
            return math.inf  # the load generator had no core
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
