"""Random addresses looked up without a cache, against libmaxminddb's own look-up and
decoding of the same fields, on the same files; both sides must read the same values."""
import re

from machine import ROOT, Failure, built

V4 = "place of an IPv4 address, no cache"
V6 = "place of an IPv6 address, no cache"
METRICS = [(V4, "ns", "less"), (V6, "ns", "less")]
PEER = "libmaxminddb"
FILES = {V4: ("city-ipv4.mmdb", "v4"), V6: ("city-ipv6.mmdb", "v6")}


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.program = built("tests/bench/bench_geo")
        self.read = {}

    def time(self, side, label):
        file, family = FILES[label]
        out = self.machine.run(
            [self.program, side, ROOT / ".deps" / "geo" / file, family,
             str(self.machine.seconds / 2)], self.machine.server_cpu)
        nanoseconds, digest = re.match(r"([\d.]+) ns, digest (\w+)",
                                       out).groups()
        if self.read.setdefault(label, digest) != digest:
            raise Failure(f"{label}: the two sides read different things")
        return float(nanoseconds)

    def ours(self):
        return {label: self.time("ours", label) for label in FILES}

    def peer(self):
        return {label: self.time("libmaxminddb", label) for label in FILES}

    def close(self):
        pass
