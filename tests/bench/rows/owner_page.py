"""The dashboard's page about a month, with all its queries at once, as a browser sends
them: for an ordinary owner, for one with about 1 % of all clicks, for an account of a hundred
owners with as many, and for all.
The answers come from owners' tables and rollups; the peer has the same questions with a
filter that takes all, answered from rows.  The size of the settled tables is measured,
too."""
import storage
from machine import Failure, parameter
from page import Page
from settled import Settled, percentiles

LONG = True
CLICKS = parameter("CLICKS", 10_000_000)
ASKED, PEER_ASKED = parameter("ASKED", 200), 3
PAGES = ("ordinary owner", "owner of 1 %", "account of 1 %", "all owners")
BY_LINK = "settled by link"
ALL = "all settled tables"
SUPERSEDED = "superseded rows, at most"
# The target shares of clicks' bytes, and of the settled tables' rows.
WANTED = {BY_LINK: 20, ALL: 100, SUPERSEDED: 2}
METRICS = [(f"owner_page: {kind}, {what}", "ms", "less")
           for kind in PAGES for what in ("p50", "p99")] + [
           (BY_LINK, "% of clicks", "less"), (ALL, "% of clicks", "less"),
           (SUPERSEDED, "%", "less")]
PEER = "the same, counted in rows of clicks; storage: what is wanted"
LOOKS = 20  # half seconds between checks of superseded rows


def nearest(shares, wanted):
    return min(shares, key=lambda found: abs(found[1] - wanted))[0]


class Bench(Settled):
    def __init__(self, machine):
        self.looks = self.superseded = 0
        super().__init__(machine, "owner_page", CLICKS)

    def set_up(self):
        super().set_up()
        self.fill_links()
        shares = self.owners()
        self.of = {
            "owner of 1 %": nearest(shares, 0.01),
            "account of 1 %": nearest(self.accounts(), 0.01),
            "ordinary owner": shares[len(shares) // 2][0], "all owners": {}}
        print(f"owner_page: settled in {self.settle_seconds:.0f} s", flush=True)
        self.merged()
        storage.report(self.database)

    def while_settling(self, settler):
        if self.looks % LOOKS == 0:
            self.superseded = max(self.superseded,
                                  storage.superseded(self.database))
        self.looks += 1

    def measured(self, made, times, **more):
        found = {}
        with Page(made.url, timeout=600) as page:
            for kind in PAGES:
                seen = [page.load(**self.range(), **self.of[kind], **more)
                        for _ in range(times)]
                if not all(total["events"] for _, total in seen):
                    raise Failure(f"{kind}: a page without clicks")
                found.update(percentiles(f"owner_page: {kind}",
                                         [seconds for seconds, _ in seen]))
        return found

    def ours(self):
        by_link, all_tables = storage.of_raw(self.database)
        return {**self.measured(self.aggregator, ASKED), BY_LINK: by_link,
                ALL: all_tables, SUPERSEDED: max(
                    self.superseded, storage.superseded(self.database))}

    def peer(self):
        """Uses an aggregator that may read all rows, without a time limit."""
        made = self.serve(clickhouse={"query_timeout": "10m"}, keep_open="11m",
                          raw_rows_max=10 * CLICKS)
        found = self.measured(made, PEER_ASKED, domain="d.example")
        made.stop()
        return {**found, **WANTED}
