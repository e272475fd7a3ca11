"""Visits that each query Redis: the redirector without a cache, against nginx with Lua,
which a user would write otherwise."""
import web
from machine import Failure
from redirecting import Redirecting, measured
from rows.create import MODULES, doubled, modules_directory

PREFIX = "every redirect a look-up in Redis: "
METRICS = [(PREFIX + label, unit, better) for label, unit, better in web.METRICS]
PEER = "nginx, Lua: GET"
LINKS = 10_000

# One command over a pooled connection; no event is sent.
SERVER = """
server {{
    listen 127.0.0.1:{{port}};
    location / {{
        content_by_lua_block {{
            local redis = ngx.socket.tcp()
            assert(redis:connect("127.0.0.1", {redis}))
            local key = "peer:" .. ngx.var.uri:sub(2)
            assert(redis:send({{"*2\\r\\n$3\\r\\nGET\\r\\n$", #key, "\\r\\n", key, "\\r\\n"}}))
            local len = tonumber(assert(redis:receive()):sub(2))
            if len < 0 then
                ngx.exit(404)
            end
            local url = assert(redis:receive(len))
            assert(redis:receive(2))
            redis:setkeepalive(60000, 256)
            ngx.status = 302
            ngx.header["Location"] = url
            ngx.header["Content-Length"] = 0
        }}
    }}
}}
"""


class Bench:
    def __init__(self, machine):
        self.machine = machine
        modules = modules_directory()
        self.made = Redirecting(machine, "lookups", LINKS, cache_size="0B")
        self.nginx = None
        try:
            self.set_up(modules)
        except BaseException:
            self.close()
            raise

    def set_up(self, modules):
        made = self.made
        self.visits = made.file("visits", made.codes)
        for n, code in enumerate(made.codes):
            made.redis.set(f"peer:{code}", f"https://example.org/{n}")
        server = doubled(SERVER.format(redis=made.made.redis.port))
        self.nginx, self.nginx_port = web.start_nginx(
            self.machine, MODULES.format(modules=modules),
            server.replace("{{port}}", "{port}"))
        made.warm_up(self.visits)

    def ours(self):
        before = self.made.lookups()
        out = self.made.measure(self.visits)
        asked = self.made.lookups() - before
        # Concurrent visits of one link share one query.
        if asked < out["requests"] * 0.9:
            raise Failure(f"{out['requests']} visits, and Redis was asked "
                          f"{asked:.0f} times")
        return self.values(out)

    def peer(self):
        return self.values(measured(self.machine, self.nginx, self.nginx_port,
                                    self.visits))

    @staticmethod
    def values(out):
        return {f"{PREFIX}requests": out["rate"], f"{PREFIX}CPU": out["cpu_us"]}

    def close(self):
        self.made.close()
        if self.nginx:
            self.nginx.kill()
