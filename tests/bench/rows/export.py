"""The largest export of one owner, alone; and another owner's page while half of fifty
clients of the first owner export all the time, and half load their page."""
import json
import socket
import threading
import time
import urllib.parse

from machine import Failure, parameter
from page import REFRESH_S, Page, Refused
from settled import Settled, key, percentiles
from support.memory import MIB, MemoryWatch

LONG = True
CLICKS = parameter("CLICKS", 10_000_000)
CLIENTS = parameter("CLIENTS", 50)
ASKED = parameter("ASKED", 200)
RATE = "export: rows"
MEMORY = "export: memory of the aggregator"
PAGE = "export: another owner's page beside it"
METRICS = [(RATE, "1/s", "more"), (MEMORY, "MiB", "less"),
           (f"{PAGE}, p50", "ms", "less"), (f"{PAGE}, p99", "ms", "less")]
PEER = "200,000 rows a second and 64 MiB, which are wanted; the page without exports"
WANTED_RATE, WANTED_MIB = 200_000, 64
PIECE = 1 << 20
TIMEOUT_S = 300  # maximum time without a byte


class Export:
    """A GET of /v1/export/clicks over HTTP/1.0, whose answer has no chunks."""

    def __init__(self, url, params, name):
        where = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((where.hostname, where.port), TIMEOUT_S)
        self.socket.sendall((
            f"GET /v1/export/clicks?{urllib.parse.urlencode(params)} HTTP/1.0\r\n"
            f"Host: {where.netloc}\r\nAuthorization: {key(name)['Authorization']}"
            "\r\n\r\n").encode())

    def run(self, go_on=lambda: True):
        """Returns (status, rows, the end of the answer)."""
        head, end, lines = b"", b"", 0
        with self.socket:
            while b"\r\n\r\n" not in head:
                piece = self.socket.recv(PIECE)
                if not piece:
                    raise Failure(f"export: {head[:200]!r}")
                head += piece
            head, _, piece = head.partition(b"\r\n\r\n")
            while go_on():
                lines += piece.count(b"\n")
                end = (end + piece)[-4096:]
                piece = self.socket.recv(PIECE)
                if not piece:
                    break
        return int(head.split(b" ", 2)[1]), lines - 1, end


class Client(threading.Thread):
    """Sends requests again and again; after a Retry-After it waits, as most clients
    would."""

    def __init__(self, bench):
        super().__init__(daemon=True)
        self.bench = bench
        self.done = self.refused = 0
        self.problem = None
        self.start()

    def run(self):
        try:
            self.ask_on(self.bench.ended)
        except (OSError, Failure) as e:
            self.problem = e

    def ask_on(self, ended):
        raise NotImplementedError

    def wait(self, ended):
        self.refused += 1
        ended.wait(1)


class Exporter(Client):
    """`done` counts rows."""

    def ask_on(self, ended):
        params = {**self.bench.big, **self.bench.range()}
        while not ended.is_set():
            status, rows, end = Export(self.bench.aggregator.url, params, "big").run(
                lambda: not ended.is_set())
            if status == 200:
                self.done += rows
            elif status == 429:
                self.wait(ended)
            else:
                raise Failure(f"export: {status} {end[:200]!r}")


class Reader(Client):
    """A browser that loads the page as often as the page does by itself; `done` counts
    pages."""

    def ask_on(self, ended):
        with Page(self.bench.aggregator.url, key("big"), TIMEOUT_S) as page:
            while not ended.is_set():
                try:
                    page.load(**self.bench.range())
                    self.done += 1
                    ended.wait(REFRESH_S)
                except Refused:
                    self.wait(ended)


def words(whose):
    """Returns the words of a key of that owner."""
    return f"read account={whose['account']} owners={whose['owner']}"


class Bench(Settled):
    def __init__(self, machine):
        self.ended = threading.Event()
        super().__init__(machine, "export", CLICKS)

    def fill(self):
        super().fill()
        self.fill_links()

    def settings(self):
        owners = self.owners()
        self.big, self.rows = owners[0][0], round(owners[0][1] * self.clicks)
        self.other = min(owners[1:], key=lambda s: abs(s[1] - 0.01))[0]
        return {"keys_file": self.keys(big=words(self.big), other=words(self.other))}

    def export(self):
        start = time.monotonic()
        status, rows, end = Export(
            self.aggregator.url, {**self.big, **self.range()}, "big").run()
        seconds = time.monotonic() - start
        if status != 200:
            raise Failure(f"export: {status} {end[:200]!r}")
        said = json.loads(end.splitlines()[-1])["end"]
        if not said["complete"] or not said["rows"] == rows == self.rows:
            raise Failure(f"export: {rows} rows of {self.rows}: {said}")
        return rows / seconds

    def page(self):
        with Page(self.aggregator.url, key("other")) as page:
            return percentiles(PAGE, [page.load(**self.range())[0]
                                      for _ in range(ASKED)])

    def beside(self):
        clients = [(Reader if i % 2 else Exporter)(self) for i in range(CLIENTS)]
        try:
            found = self.page()
        finally:
            self.ended.set()
            for client in clients:
                client.join()
        for client in clients:
            if client.problem:
                raise Failure(f"a client: {client.problem}")
        for kind, what in (Exporter, "rows"), (Reader, "pages"):
            these = [c for c in clients if isinstance(c, kind)]
            done = sum(c.done for c in these)
            print(f"export: {done} {what} of {self.big['owner']} beside the page, "
                  f"{sum(c.refused for c in these)} times refused", flush=True)
            if not done:
                raise Failure(f"no {what} beside the page")
        return found

    def ours(self):
        with MemoryWatch(self.aggregator) as memory:
            rate = self.export()
            alone = memory.peak / MIB
        print(f"export: {self.rows} rows of {self.big['owner']}", flush=True)
        return {RATE: rate, MEMORY: alone, **self.beside()}

    def peer(self):
        return {RATE: WANTED_RATE, MEMORY: WANTED_MIB, **self.page()}

    def close(self):
        self.ended.set()
        super().close()
