"""A URL checked and normalized by the allocator, against libcurl's parser on the same
URLs."""
from machine import built

LABEL = "URL of a link checked"
METRICS = [(LABEL, "ns", "less")]
PEER = "libcurl's URL parser"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.program = built("tests/bench/bench_urls")

    def time(self, what):
        out = self.machine.run(
            [self.program, what, str(self.machine.seconds)],
            self.machine.load_cpu)
        return {LABEL: float(out.split()[0])}

    def ours(self):
        return self.time("policy")

    def peer(self):
        return self.time("curl")

    def close(self):
        pass
