"""The HTTP server alone, with keep-alive and with connections that end after some
requests, against nginx `return 302`, with the same load as the bare loops."""
import web
from redirecting import each_measured

PREFIX = "HTTP answer 302, "
METRICS = web.visit_metrics(PREFIX, web.EACH)
PEER = "nginx return 302"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.nginx = web.start_nginx(machine)
        self.server = web.start_answering(machine, "bench_http")

    def ours(self):
        return each_measured(self.machine, *self.server, PREFIX, web.EACH)

    def peer(self):
        return each_measured(self.machine, *self.nginx, PREFIX, web.EACH)

    def close(self):
        self.server[0].kill()
        self.nginx[0].kill()
