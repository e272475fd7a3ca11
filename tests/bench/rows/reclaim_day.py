"""A day of 90,000 blocks, from the start of the reclaimer's process to its end, against
a GET and a SET for each by redis-benchmark, the minimum for a block that has ended."""
from reclaim import Due

ENDED = "a day of 90,000 blocks, all ended"
LIVE = "a day of 90,000 blocks, all live"
METRICS = [(ENDED, "s", "less"), (LIVE, "s", "less")]
PEER = "redis-benchmark -P 256: a GET and a SET, or a GET, for each"
BLOCKS = 90000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        # This is the usual grant: one block of 1000.
        self.due = Due(machine, "reclaim-day", BLOCKS, 1000, 1, durable=True)

    def ours(self):
        self.due.fill(ended=True)
        ended, _, summary = self.due.run()
        self.due.check(summary, freed=BLOCKS, lost=0)
        self.due.fill(ended=False)
        live, _, summary = self.due.run()
        self.due.check(summary, live=BLOCKS, lost=0)
        return {ENDED: ended, LIVE: live}

    def peer(self):
        get = self.due.peer("GET", "m:{s7:1}")
        put = self.due.peer("SET", "peer", "x" * 60)
        return {ENDED: get + put, LIVE: get}

    def close(self):
        self.due.close()
