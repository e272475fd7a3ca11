"""A million clicks a minute: the delays of the open hour's settled figure and of the
live stream, with the default settings."""
import bisect
import datetime
import re
import time

import arriving
from arriving import Arriving, Figure, produced
from machine import Failure, parameter
from support.sse import Stream

LONG = True
SECONDS = parameter("SECONDS", 180)
FIGURE_MIDDLE = "open_hour: settled figure behind, median"
FIGURE_WORST = "open_hour: settled figure behind, most"
LIVE_MIDDLE = "open_hour: live stream behind, p50"
LIVE_WORST = "open_hour: live stream behind, p99"
MEMORY = "open_hour: memory of the aggregator"
COLLECTOR = "open_hour: memory of the collector"
METRICS = [(FIGURE_MIDDLE, "s", "less"), (FIGURE_WORST, "s", "less"),
           (LIVE_MIDDLE, "ms", "less"), (LIVE_WORST, "ms", "less"),
           (MEMORY, "MiB", "less"), (COLLECTOR, "MiB", "less")]
PEER = "60 s and 1 s, which are wanted; memory: as it was at the beginning"
FIGURE_S, LIVE_MS = 60, 1000
# This owner has a few dozen a second: a client in Python keeps up, and nothing is lost
# on the way.
LISTENED = "owner-499"
LIVE_TS = re.compile(rb'"ts":"([^"]+)"')


class Listener(Stream):
    """Records when its bytes came."""

    def __init__(self, *args, **kwargs):
        self.came = []  # (ms, bytes so far)
        super().__init__(*args, **kwargs)

    def take(self, got):
        super().take(got)
        self.came.append((time.time() * 1000, len(self.raw)))

    def behind(self):
        """Returns ascending [ms], from the time of a click to its arrival in the
        stream."""
        ends = [end for _, end in self.came]
        found = []
        for match in LIVE_TS.finditer(self.raw):
            said = datetime.datetime.fromisoformat(
                match[1].decode().replace("Z", "+00:00"))
            at, _ = self.came[bisect.bisect_left(ends, match.end())]
            found.append(at - said.timestamp() * 1000)
        return sorted(found)


class Bench:
    def __init__(self, machine):
        self.arriving = Arriving(machine, "open_hour")

    def ours(self):
        stream = Listener(self.arriving.url, key="watcher", account="acme", owner=LISTENED,
                          bots="include")
        try:
            return self.measured(stream.ready())
        finally:
            stream.close()

    def measured(self, stream):
        self.before, used = self.arriving.memory(), self.arriving.cpu()
        process, count = self.arriving.arrive(SECONDS)
        figure = Figure(self.arriving, count, SECONDS)
        try:
            produced(process, SECONDS)
            behind = figure.behind()
        finally:
            figure.stop()
        memory, cpu = self.arriving.memory(), self.arriving.cpu()
        live = stream.behind()
        if stream.lost() or stream.ended or not live:
            raise Failure(f"the live stream: {len(live)} clicks, {stream.lost()} lost")
        print(f"open_hour: {count} clicks at {arriving.RATE} a second, {len(live)} of "
              "them live; CPU seconds: " + ", ".join(
                  f"{name} {cpu[name] - used[name]:.1f}" for name in cpu)
              + f"; memory of ClickHouse {self.before['ClickHouse']:.0f} MiB, then "
              f"{memory['ClickHouse']:.0f}; superseded rows, at most, of the tables of "
              f"this hour alone: {figure.superseded:.1f} %", flush=True)
        return {FIGURE_MIDDLE: behind[len(behind) // 2], FIGURE_WORST: behind[-1],
                LIVE_MIDDLE: live[len(live) // 2],
                LIVE_WORST: live[len(live) * 99 // 100],
                MEMORY: memory["aggregator"], COLLECTOR: memory["collector"]}

    def peer(self):
        """Returns the results of the round before: this row has one round."""
        return {FIGURE_MIDDLE: FIGURE_S, FIGURE_WORST: FIGURE_S,
                LIVE_MIDDLE: LIVE_MS, LIVE_WORST: LIVE_MS,
                MEMORY: self.before["aggregator"], COLLECTOR: self.before["collector"]}

    def close(self):
        self.arriving.close()
