"""Encoding ids and decoding codes, against the Rust crate sqids, which other projects
use to make short codes (no key, no check character)."""
import re

import peers
from machine import Failure, built

METRICS = [
    ("code of an id", "ns CPU", "less"),
    ("id of a code", "ns CPU", "less"),
    ("next code, 1 thread", "ns CPU", "less"),
    ("next code, 4 threads", "ns CPU", "less"),
]
NAMES = ["encode", "decode", "next1", "next4"]
PEER = "sqids (Rust)"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.binaries = {"ours": built("tests/bench/bench_codes"),
                         "peer": peers.build("codes-peer")}

    def round(self, side):
        # Four threads need more than one core; the parts with one thread stay on the
        # core where they start.
        cores = f"{self.machine.server_cpu},{self.machine.load_cpu}"
        out = self.machine.run(
            [self.binaries[side], str(self.machine.seconds)], cores)
        found = dict(re.findall(r"(\w+) ([\d.]+)", out))
        if set(found) != set(NAMES):
            raise Failure(f"{side}: {out.strip()}")
        return {metric[0]: float(found[name])
                for metric, name in zip(METRICS, NAMES)}

    def ours(self):
        return self.round("ours")

    def peer(self):
        return self.round("peer")

    def close(self):
        pass
