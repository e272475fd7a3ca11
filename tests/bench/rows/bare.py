"""The HTTP server alone, against the minimum for a server: llhttp in an epoll loop,
without checks, limits and timeouts."""
import web
from redirecting import each_measured

PREFIX = "HTTP answer 302 over a bare loop, "
METRICS = web.visit_metrics(PREFIX, web.EACH)
PEER = "a bare loop of epoll with llhttp"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.bare = web.start_answering(machine, "bench_bare")
        self.server = web.start_answering(machine, "bench_http")

    def ours(self):
        return each_measured(self.machine, *self.server, PREFIX, web.EACH)

    def peer(self):
        return each_measured(self.machine, *self.bare, PREFIX, web.EACH)

    def close(self):
        self.server[0].kill()
        self.bare[0].kill()
