"""Codes that were never issued, as in an attempt to try all of them, against nginx
`return 404`. Few texts of seven characters are codes of the space at all: the others
are refused without a query to Redis."""
import random
import string

import web
from redirecting import Redirecting, measured

PREFIX = "wrong codes: "
ASKED = f"{PREFIX}Redis asked, of 100"
METRICS = [(PREFIX + label, unit, better)
           for label, unit, better in web.METRICS] + [(ASKED, "%", "less")]
PEER = "nginx return 404; of Redis 1 in 15, which is wanted"
CODES = 100_000
LETTERS = string.digits + string.ascii_letters

NOT_FOUND = """
server {{
    listen 127.0.0.1:{port};
    location / {{ return 404; }}
}}
"""


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.made = Redirecting(machine, "wrong-codes", 1)
        self.nginx = None
        try:
            draw = random.Random(1)
            self.visits = self.made.file("visits", (
                "".join(draw.choices(LETTERS, k=7)) for _ in range(CODES)))
            self.nginx, self.nginx_port = web.start_nginx(machine, server=NOT_FOUND)
        except BaseException:
            self.close()
            raise

    def ours(self):
        asked = self.made.lookups()
        out = measured(self.machine, self.made.program.process, self.made.port,
                       self.visits, status=404)
        asked = self.made.lookups() - asked
        return self.values(out, 100 * asked / out["requests"])

    def peer(self):
        return self.values(measured(self.machine, self.nginx, self.nginx_port,
                                    self.visits, status=404), 100 / 15)

    @staticmethod
    def values(out, asked):
        return {f"{PREFIX}requests": out["rate"], f"{PREFIX}CPU": out["cpu_us"],
                ASKED: asked}

    def close(self):
        self.made.close()
        if self.nginx:
            self.nginx.kill()
