"""How long a click takes, at 10,000 a second, to become a row that a query sees, with
the default settings."""
import bisect
import time

import servers
from clicks import Clicks, PARTITIONS
from machine import Failure

MIDDLE = "click to row at 10,000/s: median"
WORST = "click to row at 10,000/s: p99"
METRICS = [(MIDDLE, "ms", "less"), (WORST, "ms", "less")]
PEER = "two seconds, which are promised"
PROMISED_MS = 2000
RATE = 10000
SECONDS = 20
LOOK_S = 0.02


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.clicks = Clicks(machine, "delay")

    def watch(self, database, count, producer):
        """Returns [(when, {partition: last offset seen})] when all rows are there; rows
        of a partition come in the order of their offsets."""
        seen, rows = [], 0
        deadline = time.monotonic() + 120
        while rows < count:
            answer = database.rows(
                "SELECT partition, max(offset) AS newest, count() AS n "
                "FROM clicks GROUP BY partition")
            seen.append((time.time() * 1000,
                         {r["partition"]: r["newest"] for r in answer}))
            rows = sum(r["n"] for r in answer)
            if time.monotonic() > deadline or (
                    not producer.running() and producer.wait(1)):
                raise Failure(f"{rows} of {count} rows: "
                              f"{producer.log()[-300:]}")
            time.sleep(LOOK_S)
        return seen

    @staticmethod
    def delays(database, seen):
        found = []
        for partition in range(PARTITIONS):
            when = [at for at, last in seen if partition in last]
            lasts = [last[partition] for _, last in seen if partition in last]
            for row in database.rows(
                    "SELECT offset, toUnixTimestamp64Milli(original_ts) AS said "
                    f"FROM clicks WHERE partition = {partition}"):
                at = when[bisect.bisect_left(lasts, row["offset"])]
                found.append(at - row["said"])
        return sorted(found)

    def ours(self):
        database = self.clicks.database()
        self.clicks.new_topic()
        program = self.clicks.collector(database).start()
        count = RATE * SECONDS
        producer = servers.Process(
            "bench_clicks", self.clicks.producer(count, RATE),
            self.clicks.directory / "bench_clicks.log")
        found = self.delays(database, self.watch(database, count, producer))
        program.process.kill()
        database.drop()
        if len(found) != count:
            raise Failure(f"{len(found)} rows of {count} clicks")
        return {MIDDLE: found[len(found) // 2],
                WORST: found[len(found) * 99 // 100]}

    def peer(self):
        return {MIDDLE: PROMISED_MS, WORST: PROMISED_MS}

    def close(self):
        self.clicks.close()
