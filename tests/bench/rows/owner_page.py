"""A page about a month of one owner's clicks, all its questions one after the other: by
hour with visitors, six dimensions, and the busiest links.  From owners' tables, against
the same questions about the same owner to rows (another aggregator, with a filter that
takes all), of an owner of about 1 % of all clicks and of an ordinary one; and the page of
all owners."""
import time

import requests

from settled import Settled, percentiles

LONG = True
CLICKS = 10_000_000
ASKED, PEER_ASKED = 30, 3
DIMENSIONS = ("country", "city", "device_class", "ua_family", "referrer_host", "channel")
PAGES = ("ordinary owner", "owner of 1 %", "all owners")
METRICS = [(f"owner_page: {kind}, {what}", "ms", "less")
           for kind in PAGES for what in ("p50", "p99")]
PEER = "the same, counted in rows of clicks"


class Bench(Settled):
    def __init__(self, machine):
        super().__init__(machine, "owner_page", CLICKS)
        sizes = self.database.rows(
            "SELECT owner, sum(events) AS n FROM owner_slots GROUP BY owner "
            "ORDER BY n DESC")
        shares = [(row["owner"], int(row["n"]) / CLICKS) for row in sizes]
        self.owners = {
            "owner of 1 %": min(shares, key=lambda s: abs(s[1] - 0.01))[0],
            "ordinary owner": shares[len(shares) // 2][0], "all owners": None}
        self.report()

    def report(self):
        """What the table has no row for."""
        sizes = {row["table"]: int(row["n"]) for row in self.database.rows(
            "SELECT table, sum(bytes_on_disk) AS n FROM system.parts WHERE active "
            "AND database = currentDatabase() GROUP BY table")}
        rows = sizes.pop("clicks")
        print(f"settled in {self.settle_seconds:.0f} s; of {rows / CLICKS:.1f} bytes "
              "a row of clicks: " + ", ".join(
                  f"{name} {100 * size / rows:.1f} %" for name, size in sorted(
                      sizes.items(), key=lambda item: -item[1])
                  if size > rows / 1000), flush=True)

    def page(self, session, owner, **more):
        of = {**more, **({"owner": owner} if owner else {})}
        start = time.monotonic()
        self.ask(session, interval="hour", **of)
        for dimension in DIMENSIONS:
            self.ask(session, interval="day", group_by=dimension, **of)
        self.ask(session, "/v1/top", **of)
        return time.monotonic() - start

    def measured(self, times, **more):
        found = {}
        with requests.Session() as session:
            for kind in PAGES:
                found.update(percentiles(f"owner_page: {kind}", [
                    self.page(session, self.owners[kind], **more)
                    for _ in range(times)]))
        return found

    def ours(self):
        return self.measured(ASKED)

    def peer(self):
        return self.measured(PEER_ASKED, domain="d.example")
