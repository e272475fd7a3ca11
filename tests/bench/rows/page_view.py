"""A page about a month in two requests: figures, chart, comparison and eight breakdowns in
one, and the busiest links; of an account with about 1 % of all clicks, and of all.  And
polls of these pages while nothing changes."""
import http.client
import time
import urllib.parse

from machine import Failure, parameter
from page import DIMENSIONS, ROWS, Page
from settled import Settled, percentiles

LONG = True
CLICKS = parameter("CLICKS", 3_000_000)
ASKED = parameter("ASKED", 200)
BREAKDOWNS = ",".join(dict.fromkeys([*DIMENSIONS, "country", "device_class", "os_family",
                                     "ua_family", "language", "referrer_host", "channel",
                                     "city"]))
NAMES = BREAKDOWNS.split(",")[:8]
WANTED_MS = {"account of 1 %": 150, "all": 200, "poll": 2}
METRICS = [(f"page_view: {kind}, {what}", "ms", "less")
           for kind in WANTED_MS for what in ("p50", "p99")]
PEER = "the targets"
UNCHANGED = "shortloop_aggregator_polls_unchanged_total"


class Bench(Settled):
    def __init__(self, machine):
        super().__init__(machine, "page_view", CLICKS)

    def set_up(self):
        super().set_up()
        self.fill_links()
        account = min(self.accounts(), key=lambda found: abs(found[1] - 0.01))[0]
        self.of = {"account of 1 %": account, "all": {}}
        print(f"page_view: settled in {self.settle_seconds:.0f} s", flush=True)
        self.merged()

    def questions(self, kind):
        about = {**self.range(), **self.of[kind], "bots": "include", "limit": ROWS}
        return (("/v1/clicks", {**about, "interval": "day", "compare": "previous",
                                "breakdowns": ",".join(NAMES)}), ("/v1/top", about))

    def load(self, page, kind):
        """Returns the seconds until both answers are there."""
        start = time.monotonic()
        view, top = page.at_once(*self.questions(kind))
        seconds = time.monotonic() - start
        if not view["total"]["events"] or not top["links"] or not all(
                b["groups"] for b in view["breakdowns"]):
            raise Failure(f"{kind}: a page without clicks")
        return seconds

    def polls(self):
        """Returns the seconds of each poll; fails unless nearly all were answered from
        memory."""
        connection = http.client.HTTPConnection(
            urllib.parse.urlsplit(self.aggregator.url).netloc, timeout=60)

        def get(target, etag=None):
            start = time.monotonic()
            connection.request("GET", target,
                               headers={"If-None-Match": etag} if etag else {})
            answer = connection.getresponse()
            answer.read()
            return time.monotonic() - start, answer
        targets = [path + "?" + urllib.parse.urlencode(params) for kind in self.of
                   for path, params in self.questions(kind)]
        tags = {target: get(target)[1].headers["ETag"] for target in targets}
        before, found = self.aggregator.metric(UNCHANGED), []
        for number in range(5 * ASKED):
            target = targets[number % len(targets)]
            seconds, answer = get(target, tags[target])
            if answer.status != 304:
                raise Failure(f"{target}: {answer.status}")
            found.append(seconds)
        connection.close()
        if self.aggregator.metric(UNCHANGED) < before + 0.98 * len(found):
            raise Failure("polls were not answered from memory")
        return found

    def ours(self):
        found = {}
        with Page(self.aggregator.url, timeout=600) as page:
            for kind in self.of:
                self.load(page, kind)  # only the first one finds nothing in memory
                found.update(percentiles(f"page_view: {kind}", [
                    self.load(page, kind) for _ in range(ASKED)]))
        found.update(percentiles("page_view: poll", self.polls()))
        return found

    def peer(self):
        return {f"page_view: {kind}, {what}": ms for kind, ms in WANTED_MS.items()
                for what in ("p50", "p99")}
