"""One of our programs: its configuration file, its process, its metrics."""
import os
import pathlib
import re
import time

import requests
import yaml

import servers

# The timeout of a test, in seconds.  No test measures speed, since machines are busy
# with other work.
PATIENCE = 120

# For frequent requests: this session does not search the environment for proxies each
# time, and keeps no connection to a program that may have been killed.
quick = requests.Session()
quick.trust_env = False
quick.headers["Connection"] = "close"

BIN = pathlib.Path(os.environ.get("SHORTLOOP_BIN", servers.ROOT / "build/bin"))


class Program:
    """Started by start(); ended by stop() or with the test."""

    def __init__(self, name, config, directory, args=(), env=None,
                 binaries=BIN, under=()):
        """`under` is the command that starts it, if it is not started directly."""
        self.name = name
        self.under = list(under)
        self.binaries = binaries
        self.config = config
        self.directory = pathlib.Path(directory)
        self.args = list(args)
        self.env = env or {}
        self.pass_fds = ()
        self.process = None
        self.directory.mkdir(parents=True, exist_ok=True)
        self.config_path = self.directory / f"{name}.yaml"
        self.log_path = self.directory / f"{name}.log"
        self.write_config(config)

    def write_config(self, config):
        self.config = config
        self.config_path.write_text(yaml.dump(
            config, Dumper=yaml.CSafeDumper, sort_keys=False))

    @property
    def section(self):
        return self.config.get(self.name, {})

    @property
    def url(self):
        """Returns the address where it serves."""
        return f"http://{self.section['listen']}"

    @property
    def admin(self):
        return f"http://{self.section['admin']}"

    def start(self, ready=True, timeout=PATIENCE):
        self.process = servers.Process(
            self.name, [*self.under, self.binaries / self.name,
                        "-c", self.config_path, *self.args],
            self.log_path, env=self.env, pass_fds=self.pass_fds)
        if ready:
            self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout=PATIENCE):
        servers.wait_ready(self.process, lambda: self.ready()[0] == 200,
                           timeout)

    def ready(self):
        """Returns (status, text) of /readyz; (0, reason) if there is no answer."""
        try:
            answer = quick.get(self.admin + "/readyz", timeout=10)
            return answer.status_code, answer.text
        except requests.RequestException as e:
            return 0, str(e)

    def log(self):
        return self.process.log() if self.process else ""

    def series(self, name, **labels):
        """Returns the values of the series with that name and these labels."""
        text = quick.get(self.admin + "/metrics", timeout=PATIENCE).text
        return [value for series, value in series_of(text, name)
                if labels.items() <= series.items()]

    def metric(self, name, **labels):
        """Returns the sum of these series."""
        values = self.series(name, **labels)
        if not values:
            raise KeyError(f"{self.name} has no metric {name} {labels}")
        return sum(values)

    def wait_metric(self, value, name, **labels):
        """Waits for a value: a program counts and logs its work when it is done, a
        moment after others see it."""
        def reached():
            values = self.series(name, **labels)
            return values and sum(values) == value
        eventually(reached, what=f"{name}: {value}")

    def wait_log(self, text):
        eventually(lambda: text in self.log(), what=f"logged: {text}")

    def stop(self, timeout=PATIENCE):
        """Sends SIGTERM; returns the exit status."""
        return self.process.stop(timeout)

    def kill(self):
        self.process.kill()

    def run(self, timeout=PATIENCE):
        """Runs a command to its end.  Returns (status, output)."""
        self.start(ready=False)
        status = self.process.wait(timeout)
        return status, self.log()


def migrate(program):
    """Makes the tables in an operator's way."""
    status, output = program("aggregator", args=["migrate"],
                             start=False).run()
    assert status == 0, output


LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def series_of(text, name):
    for line in text.splitlines():
        if not line.startswith(name):
            continue
        match = re.match(r"(\w+)(?:\{(.*)\})? (\S+)$", line)
        if match and match[1] == name:
            yield dict(LABEL.findall(match[2] or "")), float(match[3])


def eventually(check, seconds=PATIENCE, every=None, what="condition"):
    """Waits until check() is true and returns its value.  Without `every`, in s, the
    checks become rarer with time, since each takes processor time from the process it
    waits for."""
    start = time.monotonic()
    while True:
        value = check()
        if value:
            return value
        waited = time.monotonic() - start
        if waited > seconds:
            raise AssertionError(f"{what}: not within {seconds} s "
                                 f"(last: {value!r})")
        time.sleep(every or min(max(0.02, waited / 10), 0.5))
