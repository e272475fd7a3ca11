"""Kills the collector while clicks come in, and lets it prove afterwards that
each was counted once."""

import json
import os
import signal
import subprocess
import time

import console

SECONDS = 60  # that verify, or a restart, may take


class Unproved(Exception):
    """Something was counted twice, or not at all."""


class Collector:
    def __init__(self, root, config):
        self.root, self.config = root, config
        self.state = os.path.join(os.path.dirname(config), "run/collector.json")
        self.starting = None

    def kill(self):
        """kill -9, in the middle of whatever it does."""
        with open(self.state) as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)

    def start(self):
        """Once: whatever becomes of the demo, the stack has a collector again."""
        if self.starting:
            return
        self.starting = subprocess.Popen(
            [os.path.join(self.root, "stack/ctl"), "up"], cwd=self.root,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_started(self):
        out, _ = self.starting.communicate(timeout=SECONDS)
        if self.starting.returncode:
            raise Unproved("the collector did not start again: " + out.strip())

    def verify(self, since):
        """The command as an operator gives it, its output, its status."""
        words = ["verify", "--from",
                 time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since))]
        done = subprocess.run(
            [os.path.join(self.root, "build/bin/collector"), *words, "-c",
             self.config], capture_output=True, text=True, timeout=SECONDS,
            cwd=self.root, check=False)
        return words, done

    def show(self, number, since):
        console.heading(number, "Every click was counted once")
        words, done = self.verify(since)
        console.say(console.bold("$ collector " + " ".join(words)))
        for line in done.stdout.splitlines():
            console.say(line)
        if done.returncode:
            raise Unproved(f"collector verify exited {done.returncode}: "
                           + done.stderr.strip())
