"""Cores, processes and CPU time of the measured machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import servers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
TICKS = os.sysconf("SC_CLK_TCK")

# Headers that a browser sends; both sides get the same.
BROWSER = [
    "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
    "(KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Accept: text/html,application/xhtml+xml",
    "Accept-Language: de-DE,de;q=0.9,en;q=0.8",
    "Referer: https://news.example/today",
]


class Failure(Exception):
    """The reason, in one line, why a row could not be measured."""


def parameter(name, default):
    """Returns a row's size: BENCH_<name> in the environment."""
    text = os.environ.get(f"BENCH_{name}", str(default))
    if not text.isascii() or not text.isdigit() or not int(text):
        sys.exit(f"bench: BENCH_{name} is {text!r}, no whole number above 0")
    return int(text)


class Machine:
    def __init__(self, directory, options):
        cpus = os.sched_getaffinity(0)
        self.directory = directory
        self.seconds = options.seconds
        self.server_cpu = options.server_cpu
        self.load_cpu = options.load_cpu
        if self.load_cpu not in cpus:
            self.load_cpu = min(cpus)
        if self.server_cpu not in cpus:
            self.server_cpu = min(cpus)

    def pinned(self, cpu, argv):
        return ["taskset", "-c", str(cpu), *[str(a) for a in argv]]

    def start(self, name, argv, cpu, ready, seconds=30):
        """Starts a process that lives until it is killed, at the latest at the end of
        this script."""
        process = servers.Process(name, self.pinned(cpu, argv),
                                  self.directory / f"{name}.log")
        servers.wait_ready(process, ready, seconds)
        return process

    def run(self, argv, cpu):
        """Runs a command to its end; returns its output."""
        done = subprocess.run(self.pinned(cpu, argv), capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise Failure(f"{pathlib.Path(str(argv[0])).name}: "
                          f"{(done.stderr or done.stdout).strip()[-500:]}")
        return done.stdout

    @staticmethod
    def pin(pid, cpu):
        """Puts every thread of a running process on one core."""
        subprocess.run(["taskset", "-a", "-p", "-c", str(cpu), str(pid)],
                       check=True, capture_output=True)

    def wrk(self, port, path):
        """Returns (requests per second, requests) of 64 keep-alive connections."""
        if not shutil.which("wrk"):
            raise Failure("wrk is not installed; try `tools/deps.sh bench`")
        argv = ["wrk", "-t1", "-c64", f"-d{self.seconds:g}s"]
        for header in BROWSER:
            argv += ["-H", header]
        out = self.run([*argv, f"http://127.0.0.1:{port}{path}"],
                       self.load_cpu)
        if "Non-2xx or 3xx" in out or "Socket errors" in out:
            raise Failure(f"wrk: {out.strip()[-500:]}")
        return (float(re.search(r"Requests/sec: *([\d.]+)", out)[1]),
                int(re.search(r"(\d+) requests in", out)[1]))


def cpu_seconds(pid):
    """Returns the user and system time of a process and its children so far."""
    total = 0
    for one in [pid, *children(pid)]:
        with open(f"/proc/{one}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(p) for p in f.read().split()]


def built(name):
    path = BUILD / name
    if not path.exists():
        raise Failure(f"{path} is missing; `make bench` builds it")
    return path
