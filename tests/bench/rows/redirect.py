"""The redirector: cached links and a Kafka event a visit, through a real broker, with
and without a spool, against nginx `return 302`."""
import web
from redirecting import Redirecting, by_zipf, measured

EACH = {"redirect with its Kafka event": {},
        "the same, journal and spool on disk": {"spool_dir": "redirect-spool"}}
P999 = "p99.9 at 70 % of its most"
METRICS = [(f"{name}: {label}", unit, better) for name in EACH
           for label, unit, better in [*web.METRICS, (P999, "us", "less")]]
PEER = "nginx return 302"
LINKS = 10_000


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.made, self.nginx = {}, None
        try:
            for number, (name, settings) in enumerate(EACH.items()):
                self.start(f"redirect-{number}", name, settings)
            self.nginx, self.nginx_port = web.start_nginx(machine)
        except BaseException:
            self.close()
            raise

    def start(self, folder, name, settings):
        settings = {k: str(self.machine.directory / v) for k, v in settings.items()}
        made = Redirecting(self.machine, folder, LINKS, **settings)
        self.visits = made.file("visits", by_zipf(made.codes))
        self.made[name] = made, self.visits
        made.warm_up(self.visits)

    def ours(self):
        values = {}
        for name, (made, visits) in self.made.items():
            values |= self.values(name, made.measure, visits)
        return values

    def peer(self):
        def measure(codes, **options):
            return measured(self.machine, self.nginx, self.nginx_port, codes,
                            **options)
        values = {}
        for name in EACH:
            values |= self.values(name, measure, self.visits)
        return values

    @staticmethod
    def values(name, measure, visits):
        most = measure(visits)
        part = measure(visits, rate=round(most["rate"] * 0.7))
        return {f"{name}: requests": most["rate"], f"{name}: CPU": most["cpu_us"],
                f"{name}: {P999}": part["p999_us"]}

    def close(self):
        for made, _ in self.made.values():
            made.close()
        if self.nginx:
            self.nginx.kill()
