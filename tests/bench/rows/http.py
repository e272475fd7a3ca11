"""The HTTP server alone, against nginx `return 302`."""
import web

METRICS = [(f"HTTP answer 302: {label}", unit, better)
           for label, unit, better in web.METRICS]
PEER = "nginx return 302"


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.peer_process, self.peer_port = web.start_nginx(machine)
        self.process, self.port = web.start_answering(machine, "bench_http")

    def round(self, process, port):
        values, _ = web.load(self.machine, process, port, "/0123abc")
        return {f"HTTP answer 302: {k}": v for k, v in values.items()}

    def ours(self):
        return self.round(self.process, self.port)

    def peer(self):
        return self.round(self.peer_process, self.peer_port)

    def close(self):
        self.process.kill()
        self.peer_process.kill()
