"""A day that has ended is settled, sealed, copied and rolled up: the cost of engine and
aggregator, against the minimum that could be done with its rows."""
import time

import storage
from machine import cpu_seconds, parameter
from settled import KINDS, Settled
from support.memory import MIB, MemoryWatch

LONG = True
EVENTS = parameter("EVENTS", 10_000_000)
EACH = "settle_day: CPU a dimension"
TOTAL = "settle_day: CPU in all"
ENGINE_MEMORY = "settle_day: memory of ClickHouse"
OWN_MEMORY = "settle_day: memory of the aggregator"
METRICS = [(EACH, "s", "less"), (TOTAL, "s", "less"),
           (ENGINE_MEMORY, "MiB", "less"), (OWN_MEMORY, "MiB", "less")]
PEER = ("GROUP BY link_id over the same rows; 0.9 s for each 10 million events and "
        "1 GiB, which are wanted")
WANTED_S, WANTED_EVENTS, WANTED_MIB = 0.9, 10_000_000, 1024
PEER_ASKED = 5
LEAST = "SELECT link_id, count() FROM clicks GROUP BY link_id FORMAT Null"
# When the last hour, and the day in each table, was published.
ENDED = f"""
SELECT toString(kind) AS k, toUnixTimestamp64Milli(max(settled_at)) AS ms
FROM settled WHERE kind IN {('hour', *KINDS)} GROUP BY kind ORDER BY ms
"""


class Bench(Settled):
    def __init__(self, machine):
        self.used = []  # (when, CPU seconds of both so far)
        self.engine_mib = self.own_mib = 0
        super().__init__(machine, "settle_day", EVENTS, days=1)

    def fill(self):
        """Restarts the engine afterwards, so that its memory is that of settling."""
        super().fill()
        self.merged()
        self.database.session.close()
        self.engine.stop()
        self.engine.start()

    def settle(self):
        """Counts from the start of the settler on."""
        self.before = cpu_seconds(self.engine.process.pid)
        with MemoryWatch(self.engine) as engine:
            self.used.append((time.time(), 0.0))
            super().settle()
            self.engine_mib = engine.peak / MIB

    def while_settling(self, settler):
        self.used.append((time.time(), cpu_seconds(settler.process.pid) +
                          cpu_seconds(self.engine.process.pid) - self.before))
        self.own_mib = max(self.own_mib, MemoryWatch(settler).peak / MIB)

    def at(self, when):
        """Returns the CPU seconds up to then, interpolated between two samples."""
        for (t0, c0), (t1, c1) in zip(self.used, self.used[1:]):
            if when <= t1:
                return c0 + (c1 - c0) * max(0, when - t0) / (t1 - t0)
        return self.used[-1][1]

    def report(self, dimensions):
        said, before = [], 0.0
        for row in self.database.rows(ENDED):
            until = self.at(int(row["ms"]) / 1000)
            said.append(f"{row['k']} {until - before:.1f}")
            before = until
        print(f"settle_day: {dimensions} dimensions, {self.settle_seconds:.0f} s by the "
              f"clock; CPU seconds until published: {', '.join(said)}", flush=True)

    def ours(self):
        dimensions = self.database.value(
            "SELECT uniqExact(dimension) FROM (SELECT dimension FROM stats_hourly "
            "UNION ALL SELECT dimension FROM day_values)")
        self.report(dimensions)
        storage.report(self.database)
        total = self.at(max(int(row["ms"])
                            for row in self.database.rows(ENDED)) / 1000)
        return {EACH: total / dimensions, TOTAL: total,
                ENGINE_MEMORY: self.engine_mib, OWN_MEMORY: self.own_mib}

    def peer(self):
        self.merged()
        before = cpu_seconds(self.engine.process.pid)
        for _ in range(PEER_ASKED):
            self.database.query(LEAST)
        least = (cpu_seconds(self.engine.process.pid) - before) / PEER_ASKED
        return {EACH: WANTED_S * EVENTS / WANTED_EVENTS, TOTAL: least,
                ENGINE_MEMORY: WANTED_MIB, OWN_MEMORY: WANTED_MIB}
