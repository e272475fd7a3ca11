"""Kills Kafka and the collector while clicks come in, and then has the
collector prove that each was counted once."""

import json
import os
import signal
import subprocess
import time

import console

SECONDS = 240  # for verify, or for a restart


class Unproved(Exception):
    """A click was counted twice, or not at all."""


class Stack:
    """The running programs, which are killed at any moment, and started again.
    """

    def __init__(self, root, dev):
        self.root, self.run = root, os.path.join(dev, "run")
        self.killed = False
        self.starting = None

    def kill(self, name):
        """Sends kill -9."""
        with open(os.path.join(self.run, name + ".json")) as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)
        self.killed = True

    def start(self):
        """Starts the killed programs, if there are any."""
        if self.killed and not self.starting:
            self.starting = subprocess.Popen(
                [os.path.join(self.root, "stack/ctl"), "up"], cwd=self.root,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_started(self):
        if not self.starting:
            return
        out, _ = self.starting.communicate(timeout=SECONDS)
        if self.starting.returncode:
            raise Unproved("what was killed did not start again: " + out.strip())
        self.starting, self.killed = None, False


class Collector:
    def __init__(self, root, config):
        self.root, self.config = root, config

    def verify(self, since):
        """Returns the command as an operator types it, its output, its status.
        """
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
