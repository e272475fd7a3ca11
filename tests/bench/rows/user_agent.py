"""Parsing user agents without a cache, against the Rust crate of the ua-parser project,
with the same rules and strings."""
import json
import random
import re

import peers
from machine import ROOT, Failure, built

LABEL = "user agent parsed, no cache"
METRICS = [(LABEL, "ns", "less")]
PEER = "ua-parser (Rust)"
BROWSERS, ROBOTS = 4000, 1000
RULES = ROOT / ".deps" / "uap" / "regexes.yaml"


def write_strings(path):
    """Writes browsers by their share of the market, and robots; each string once."""
    chance = random.Random(1)
    with open(ROOT / ".deps/ua/user-agents.json", encoding="utf-8") as f:
        browsers = json.load(f)
    with open(ROOT / ".deps/bots/crawler-user-agents.json",
              encoding="utf-8") as f:
        robots = [text for entry in json.load(f)
                  for text in entry["instances"]]
    strings = chance.choices([b["userAgent"] for b in browsers],
                             [b["weight"] for b in browsers], k=BROWSERS)
    strings += chance.sample(robots, min(ROBOTS, len(robots)))
    strings = [s for s in dict.fromkeys(strings) if s and "\n" not in s]
    chance.shuffle(strings)
    path.write_text("\n".join(strings) + "\n", encoding="utf-8")


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.strings = machine.directory / "user-agents.txt"
        write_strings(self.strings)
        self.binaries = {"ours": built("tests/bench/bench_ua"),
                         "peer": peers.build("ua-peer")}
        self.known = {}

    def round(self, side):
        out = self.machine.run(
            [self.binaries[side], RULES, self.strings,
             str(self.machine.seconds)], self.machine.server_cpu)
        nanoseconds, known = re.match(r"([\d.]+) ns, known ([\d.]+)",
                                      out).groups()
        self.known[side] = known
        if len(set(self.known.values())) > 1:
            raise Failure(f"the two sides disagree: {self.known}")
        return {LABEL: float(nanoseconds)}

    def ours(self):
        return self.round("ours")

    def peer(self):
        return self.round("peer")

    def close(self):
        pass
