"""A bare loop of io_uring against the same with epoll: what io_uring could save, before
a server's own work is added."""
import web
from redirecting import each_measured

PREFIX = "a bare loop answering 302, "
METRICS = web.visit_metrics(PREFIX, web.EACH)
PEER = "the same loop of epoll"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.epoll = web.start_answering(machine, "bench_bare")
        self.uring = web.start_answering(machine, "bench_uring")

    def ours(self):
        return each_measured(self.machine, *self.uring, PREFIX, web.EACH)

    def peer(self):
        return each_measured(self.machine, *self.epoll, PREFIX, web.EACH)

    def close(self):
        self.uring[0].kill()
        self.epoll[0].kill()
