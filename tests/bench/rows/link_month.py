"""One link's month by hour with distinct visitors: through the API, with most of the
days sealed, against the same question to a copy of the clicks ordered by time.  The
links are an ordinary one, one with 1 % of all clicks and one with 5 %."""
import time

import requests

from machine import Failure, parameter
from settled import DAY, Settled, percentiles

LONG = True
CLICKS = parameter("CLICKS", 3_000_000)
LINKS = {"ordinary": 5000, "1 %": 2, "5 %": 1}
ASKED, PEER_ASKED = parameter("ASKED", 200), 20
METRICS = [(f"link_month: {kind} link, {what}", "ms", "less")
           for kind in LINKS for what in ("p50", "p99")]
PEER = "the same SQL on clicks in the order of time"

HUMAN = "outcome = 'redirected' AND verdict = 'human'"
BY_TIME = f"""
SELECT toStartOfHour(ts) AS h, count(), countIf(outcome = 'redirected'),
    countIf({HUMAN}), uniqExactIf(unique_identity, {HUMAN}), uniqExactIf(ip, {HUMAN})
FROM clicks_by_time WHERE link_id = {{link:UInt64}}
    AND ts >= toDateTime64({{start:UInt32}}, 3, 'UTC')
    AND ts < toDateTime64({{end:UInt32}}, 3, 'UTC')
GROUP BY h WITH TOTALS ORDER BY h
"""


class Bench(Settled):
    def __init__(self, machine):
        super().__init__(machine, "link_month", CLICKS)

    def fill(self):
        super().fill()
        for link in LINKS.values():
            self.database.query(
                "INSERT INTO links (code, link_id, version, url) VALUES "
                f"('c{link}', {link}, 1, 'https://example.com/')")
        self.database.query(
            f"CREATE TABLE clicks_by_time AS {self.database.database}.clicks "
            "ENGINE = MergeTree PARTITION BY toYYYYMMDD(ts) ORDER BY ts")
        for day in range(self.start, self.end, DAY):
            self.database.query(
                "INSERT INTO clicks_by_time SELECT * FROM clicks WHERE "
                f"toDate(ts) = toDate(toDateTime({day}, 'UTC'))")

    def check(self, session, link):
        """The measured answer must have all of the link's clicks."""
        events = self.asked(session, "/v1/clicks", link_id=link, interval="hour",
                            **self.range())[1]["total"]["events"]
        rows = self.database.value(
            f"SELECT count() FROM clicks_by_time WHERE link_id = {link}")
        if events != rows:
            raise Failure(f"link {link}: {events} events of {rows} clicks")

    def ours(self):
        found = {}
        with requests.Session() as session:
            for kind, link in LINKS.items():
                self.check(session, link)
                found.update(percentiles(f"link_month: {kind} link", [
                    self.ask(session, link_id=link, interval="hour")
                    for _ in range(ASKED)]))
        return found

    def peer(self):
        found = {}
        for kind, link in LINKS.items():
            seconds = []
            for _ in range(PEER_ASKED):
                start = time.monotonic()
                self.database.query(BY_TIME, param_link=link,
                                    param_start=self.start, param_end=self.end)
                seconds.append(time.monotonic() - start)
            found.update(percentiles(f"link_month: {kind} link", seconds))
        return found
