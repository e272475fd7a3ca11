"""Many processes that issue codes (tests/faults/issue.c), a Redis with an append-only
file, and the faults of both."""
import os
import pathlib
import random
import re
import signal
import subprocess
import threading
import time

import yaml

import servers
from support.program import PATIENCE, eventually
from support.server import RedisServer

BUILD = pathlib.Path(os.environ.get(
    "SHORTLOOP_BIN", servers.ROOT / "build" / "bin")).parent
ISSUE = BUILD / "tests" / "faults" / "issue"
JUDGE = BUILD / "tests" / "faults" / "judge"
COUNTS = ("refused", "dropped", "late", "resent", "taken", "expired",
          "returned")


class ForgetfulRedis(RedisServer):
    """A Redis that can lose its last writes, as after a power failure or a failover."""

    def __init__(self, directory):
        # Redis must not rewrite the file, since a single file is cut.
        super().__init__(directory, durable=True, extra=[
            "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"])
        self.start_seconds = 300  # it loads millions of links
        self.sizes = []  # (time, bytes) of the file
        self.watching = threading.Event()
        self.watcher = None

    def file(self):
        return next((self.directory / "appendonlydir").glob("*.incr.aof"))

    def watch(self):
        """Records how the file grows, to know where to cut."""
        def look():
            while not self.watching.wait(0.05):
                self.sizes.append((time.monotonic(),
                                   self.file().stat().st_size))
        self.watcher = threading.Thread(target=look, daemon=True)
        self.watcher.start()

    def end(self):
        self.watching.set()
        if self.watcher:
            self.watcher.join()
        self.kill()

    def forget(self, seconds):
        """Kills Redis, cuts off what it wrote in its last `seconds`, in the middle of a
        command, and starts it again."""
        at = time.monotonic() - seconds
        self.forget_from(max([size for when, size in self.sizes
                              if when <= at], default=0))

    def forget_from(self, size):
        self.kill()
        was = self.file().stat().st_size
        with open(self.file(), "r+b") as f:
            f.truncate(min(was, size + 7))
        self.start()


class Issuer:
    def __init__(self, config, directory, name, ttl, rate, high_water_file):
        self.codes = directory / f"{name}.codes"
        self.process = servers.Process(
            name, [ISSUE, config, "run", ttl, rate, name, self.codes,
                   *([high_water_file] if high_water_file else [])],
            directory / f"{name}.log")
        self.log_path = self.process.log_path

    def kill(self):
        self.process.kill()

    def sleep(self):
        self.process.signal(signal.SIGSTOP)

    def wake(self):
        self.process.signal(signal.SIGCONT)

    def stop(self):
        """Expects a clean end, except from an issuer that has only just started."""
        assert self.process.stop(PATIENCE) in (0, -signal.SIGTERM), \
            self.process.log()

    def issued(self):
        """Returns the number of answered codes, from the size of the log."""
        return self.codes.stat().st_size // 48 if self.codes.exists() else 0

    def counts(self):
        """Returns an empty result for a killed issuer."""
        return numbers(self.process.log())


def numbers(text):
    return {k: int(n) for k, n in re.findall(r"([a-z]+) (\d+)", text)}


class Issuers:
    """A number of issuers at work in one class, some of which are replaced now and
    then.  A new one has no high water, unless there is a high_water_file."""

    def __init__(self, config, directory, ttl="1h", count=8, rate=0,
                 high_water_file=None):
        assert ISSUE.exists(), f"{ISSUE} is missing; make fault-programs"
        self.config = config
        self.directory = directory
        self.ttl = ttl
        self.rate = rate  # links a second for each issuer; 0: as many as possible
        self.high_water_file = high_water_file
        self.chance = random.Random(1)
        self.all = []
        self.killed = self.stopped = 0
        self.run(ISSUE, config, "create")
        self.begun = time.monotonic()
        self.working = [self.start() for _ in range(count)]

    @staticmethod
    def run(*argv):
        done = subprocess.run(argv, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        return done

    def start(self):
        issuer = Issuer(self.config, self.directory,
                        f"issuer-{len(self.all)}", self.ttl, self.rate,
                        self.high_water_file)
        self.all.append(issuer)
        return issuer

    def any(self):
        return self.chance.randrange(len(self.working))

    def replace_one(self):
        """Ends one by kill -9 in two of three cases, otherwise by SIGTERM."""
        i = self.any()
        if self.chance.random() < 2 / 3:
            self.working[i].kill()
            self.killed += 1
        else:
            self.working[i].stop()
            self.stopped += 1
        self.working[i] = self.start()

    def trouble(self, seconds, more=None):
        """Replaces issuers at random for that long, and calls `more` in between."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.chance.uniform(0.1, 0.5))
            self.replace_one()
            if more:
                more()

    def work(self, seconds):
        """Lets them work for that long, and longer if none has answered a code by
        then."""
        before = self.issued()
        time.sleep(seconds)
        eventually(lambda: self.issued() > before, what="codes issued")

    def stop_once_it_goes_on(self, issuer):
        """Ensures that one issuer that saw Redis go and come back prints its counts,
        however many are killed later."""
        before = issuer.issued()
        eventually(lambda: issuer.issued() > before, what="it to go on")
        issuer.stop()
        self.stopped += 1
        self.working[self.working.index(issuer)] = self.start()

    def kill_all(self):
        for issuer in self.working:
            issuer.kill()
        self.killed += len(self.working)

    def start_all(self):
        self.working = [self.start() for _ in self.working]

    def stop_all(self):
        for issuer in self.working:
            issuer.process.popen.terminate()
        for issuer in self.working:
            issuer.stop()

    def issued(self):
        return sum(i.issued() for i in self.all)

    def count(self, what):
        """Returns the sum over those that ended cleanly."""
        return sum(i.counts().get(what, 0) for i in self.all)

    def judge(self):
        """Prints the state of every answered code.  No code may have been answered
        twice, and no link overwritten."""
        took = time.monotonic() - self.begun
        done = self.run(JUDGE, self.config, *(i.codes for i in self.all
                                              if i.codes.exists()))
        found = numbers(done.stdout)
        print(f"{done.stdout.strip()}; {took:.1f} s, "
              f"{found['issued'] / took:,.0f} codes/s, {self.killed} killed, "
              f"{self.stopped} stopped")
        print(*(f"{what} {self.count(what)}" for what in COUNTS))
        assert found["twice"] == 0, done.stderr
        assert found["overwritten"] == 0, done.stderr
        return found


def write_config(directory, redis_port, **links):
    """Writes the one file of issuers, judge and reclaimer."""
    key = directory / "space.key"
    key.write_text("a secret of the fault tests")
    path = directory / "faults.yaml"
    path.write_text(yaml.safe_dump({
        "redis": {"address": f"127.0.0.1:{redis_port}"},
        "log": {"format": "logfmt", "level": "info"},
        # No process caches a link, so any quarantine is long enough.
        "redirector": {"cache_ttl": "0s", "cache_negative_ttl": "0s",
                       "cache_stale": "0s", "permanent_max_age": "0s"},
        "collector": {"max_lag": "0s"},
        "reclaimer": {"admin": f"127.0.0.1:{servers.free_port()}",
                      "record": False, "sample_every": 10,
                      # This covers blocks of an issuer that was killed before it opened
                      # them.
                      "max_lost": 1000000, "lock_ttl": "5s"},
        "links": {"ttl_classes": ["2s", "1h"], "hold_max": "3s",
                  "quarantine": "1s", "grant_blocks": 8, **links,
                  "spaces": [{"name": "s7", "number": 7, "length": 7,
                              "block_size": 1000,
                              "keys": [{"version": 0,
                                        "key": f"file:{key}"}]}]}}))
    return path
