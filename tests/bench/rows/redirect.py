"""The redirector: cached links and a Kafka event a visit, through a real broker,
against nginx `return 302`."""
import web
from redirecting import Redirecting, by_zipf, measured

PREFIX = "redirect with its Kafka event: "
LATENCY = f"{PREFIX}p99.9 at 70 % of its most"
METRICS = [(PREFIX + label, unit, better)
           for label, unit, better in web.METRICS] + [(LATENCY, "us", "less")]
PEER = "nginx return 302"
LINKS = 10_000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.made = Redirecting(machine, "redirect", LINKS)
        self.nginx = None
        try:
            self.visits = self.made.file("visits", by_zipf(self.made.codes))
            self.nginx, self.nginx_port = web.start_nginx(machine)
            self.made.measure(self.visits)  # all of them are in the cache now
        except BaseException:
            self.close()
            raise

    def ours(self):
        return self.values(self.made.measure)

    def peer(self):
        def measure(codes, **options):
            return measured(self.machine, self.nginx, self.nginx_port, codes,
                            **options)
        return self.values(measure)

    def values(self, measure):
        most = measure(self.visits)
        part = measure(self.visits, rate=round(most["rate"] * 0.7))
        return {f"{PREFIX}requests": most["rate"], f"{PREFIX}CPU": most["cpu_us"],
                LATENCY: part["p999_us"]}

    def close(self):
        self.made.close()
        if self.nginx:
            self.nginx.kill()
