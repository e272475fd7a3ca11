"""Fifty dashboards that query a whole page every fifteen seconds, half of them for all
links and half for one link each, while a million clicks a minute arrive."""
import threading
import time

import arriving
from arriving import Arriving, Figure, produced
from machine import Failure, parameter
from page import REFRESH_S, Page
from settled import DAY, instant, key, percentiles

LONG = True
SECONDS = parameter("SECONDS", 300)
CLIENTS = parameter("CLIENTS", 50)
WANTED_MS = 1000
FIGURE_S = 60
PAGE = "dashboards: a page"
BEHIND = "dashboards: settled figure behind, most"
MEMORY = {name: f"dashboards: memory of the {name}" for name in
          ("aggregator", "collector")}
METRICS = [(f"{PAGE}, p50", "ms", "less"), (f"{PAGE}, p99", "ms", "less"),
           (BEHIND, "s", "less"),
           *((label, "MiB", "less") for label in MEMORY.values())]
PEER = "a second and 60 s, which are wanted; memory: after a tenth of the time"
HOUR = 3600
MASK = (1 << 64) - 1


def code_of(link):
    """Returns the link_th most frequent code of bench_clicks.c, counted from 0."""
    z = link + 7
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & MASK
    return f"{(z ^ (z >> 31)) >> 36:07x}"


class Client(threading.Thread):
    """Begins at a random time within its first turn."""

    def __init__(self, bench, number, until):
        super().__init__(daemon=True)
        self.url = bench.arriving.url
        self.number = number
        self.until = until
        self.ended = bench.ended
        self.seconds = []
        self.problem = None
        self.start()

    def run(self):
        about = {"code": code_of(self.number)} if self.number % 2 else {}
        due = time.monotonic() + REFRESH_S * self.number / CLIENTS
        try:
            with Page(self.url, key(f"client{self.number}")) as page:
                while due < self.until and not self.ended.wait(
                        max(0, due - time.monotonic())):
                    self.seconds.append(page.load(
                        interval="hour", tz="Europe/Berlin", **day(), **about)[0])
                    # Like the page, it counts from the time of its answers.
                    due = time.monotonic() + REFRESH_S
        except Exception as e:  # pylint: disable=broad-exception-caught
            self.problem = e


def day():
    """Does what rangeOf("24h") of web/api.js does."""
    end = -(-int(time.time()) // HOUR) * HOUR
    return {"from": instant(end - DAY), "to": instant(end)}


class Bench:
    def __init__(self, machine):
        self.ended = threading.Event()
        self.arriving = Arriving(machine, "dashboards", (
            "watcher", *(f"client{i}" for i in range(CLIENTS))))
        try:
            self.arriving.tables.query(
                "INSERT INTO links (code, link_id, version, url) VALUES " + ", ".join(
                    f"('{code_of(i)}', {i + 1}, 1, 'https://example.com/{i}')"
                    for i in range(CLIENTS)))
        except Exception:
            self.close()
            raise

    def ours(self):
        process, count = self.arriving.arrive(SECONDS)
        figure = Figure(self.arriving, count, SECONDS)
        clients = [Client(self, i, time.monotonic() + SECONDS) for i in range(CLIENTS)]
        try:
            time.sleep(SECONDS / 10)
            self.before = self.arriving.memory()
            produced(process, SECONDS)
            for client in clients:
                client.join()
            memory = self.arriving.memory()
            behind = figure.behind()
        finally:
            self.ended.set()
            figure.stop()
        return {**self.pages(clients), BEHIND: behind[-1],
                **{label: memory[name] for name, label in MEMORY.items()}}

    def pages(self, clients):
        for client in clients:
            if client.problem or not client.seconds:
                raise Failure(f"client {client.number}: {client.problem}")
        seconds = [s for client in clients for s in client.seconds]
        print(f"dashboards: {len(seconds)} pages of {CLIENTS} clients, "
              f"{arriving.RATE} clicks a second", flush=True)
        return percentiles(PAGE, seconds)

    def peer(self):
        """Returns the results of the round before: this row has one round."""
        return {f"{PAGE}, p50": WANTED_MS, f"{PAGE}, p99": WANTED_MS,
                BEHIND: FIGURE_S, **{label: self.before[name]
                                     for name, label in MEMORY.items()}}

    def close(self):
        self.ended.set()
        self.arriving.close()
