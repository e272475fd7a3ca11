"""The latency of good clients while slowhttptest (Debian's) keeps a thousand
connections busy with requests that never end, and without it.  A visit counts from the
time at which it was due, at a fixed rate. Below some 200 us the difference of the two
is noise of the machine."""
import os
import shutil
import signal
import subprocess
import time

from machine import Failure
from redirecting import Redirecting, visit
from support.slowhttptest import MODES

PREFIX = "good clients' p99 beside "
SLOW = 1000
RATE = 2000  # for good clients; keeps no core busy
METRICS = [(PREFIX + mode, "us", "less") for mode in MODES]
PEER = "the same, alone; 0.5 is wanted"
LINKS = 1000


class Slow:
    """slowhttptest, restarted whenever it ends, which it does when all of its
    connections have an answer; begins when it has made all of its connections."""

    AGAIN = ["bash", "-c", 'while :; do "$@"; done', "again"]

    def __init__(self, made, mode):
        self.made = made
        self.most = self.connections() + SLOW * 0.9
        self.process = subprocess.Popen(
            made.machine.pinned(made.machine.load_cpu, [
                *self.AGAIN, "slowhttptest", *MODES[mode], "-c", SLOW, "-r", SLOW,
                "-p", "60", "-l", "600", "-u",
                f"http://127.0.0.1:{made.port}/{made.codes[0]}"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self):
        until = time.monotonic() + 30
        while self.connections() < self.most:
            if time.monotonic() > until:
                self.__exit__()
                raise Failure("slowhttptest did not make its connections")
            time.sleep(0.05)
        return self

    def connections(self):
        """Returns how many were made so far."""
        return self.made.program.metric("shortloop_http_connections_total",
                                        listener="redirector")

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Bench:
    def __init__(self, machine):
        if not shutil.which("slowhttptest"):
            raise Failure("slowhttptest is not installed; try `tools/deps.sh long`")
        self.machine = machine
        # Slow clients are slow for a whole round.
        self.made = Redirecting(machine, "slow-clients", LINKS, http={
            "header_timeout": "10m", "body_timeout": "10m", "write_timeout": "10m"})
        try:
            self.visits = self.made.file("visits", self.made.codes)
            self.made.measure(self.visits)
        except BaseException:
            self.close()
            raise

    def p99(self):
        return visit(self.machine, self.made.port, self.visits, rate=RATE)["p99_us"]

    def ours(self):
        values = {}
        for mode in MODES:
            with Slow(self.made, mode):
                values[PREFIX + mode] = self.p99()
        return values

    def peer(self):
        return {PREFIX + mode: self.p99() for mode in MODES}

    def close(self):
        self.made.close()
