"""4.7 million blocks: 470 million codes a day in blocks of 100."""
from reclaim import Due

# A round takes two minutes and 1.5 GB of Redis, so it runs only when it is named.
LONG = True
ENDED = "4.7 million blocks, all ended"
LIVE = "4.7 million blocks, all live"
MEMORY = "4.7 million blocks: memory of the reclaimer"
METRICS = [(ENDED, "s", "less"), (LIVE, "s", "less"), (MEMORY, "MiB", "less")]
PEER = "redis-benchmark -P 256: a GET and a SET, or a GET, for each"
BLOCKS = 4_700_000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        # A grant has ten blocks of 100: as many codes as one of 1000.
        self.due = Due(machine, "reclaim-large", BLOCKS, 100, 10)

    def ours(self):
        self.due.fill(ended=False)
        live, live_memory, summary = self.due.run()
        self.due.check(summary, live=BLOCKS, lost=0)
        self.due.fill(ended=True)
        ended, ended_memory, summary = self.due.run()
        self.due.check(summary, freed=BLOCKS, lost=0)
        return {ENDED: ended, LIVE: live,
                MEMORY: max(live_memory, ended_memory)}

    def peer(self):
        """This row measures only the reclaimer's memory."""
        get = self.due.peer("GET", "m:{s7:1}")
        put = self.due.peer("SET", "peer", "x" * 60)
        return {ENDED: get + put, LIVE: get, MEMORY: 64}

    def close(self):
        self.due.close()
