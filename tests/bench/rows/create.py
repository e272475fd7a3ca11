"""Links created one a request, stored in Redis and in Kafka, against nginx with Lua
that does an INCR and a SET, the minimum for a shortener."""
import json
import pathlib

import web
from allocator import KEY, Allocator, tool
from machine import Failure, cpu_seconds

RATE = 10000  # half of the promised 20,000/s
PREFIX = "create: "
LATENCY = f"{PREFIX}tp999 at {RATE:,}/s"
METRICS = [(PREFIX + label, unit, better)
           for label, unit, better in web.METRICS] + [(LATENCY, "us", "less")]
PEER = "nginx, Lua: INCR, SET"
CONNECTIONS = 64

MODULES = """
load_module {modules}/ndk_http_module.so;
load_module {modules}/ngx_http_lua_module.so;
"""

# Two commands over one pooled connection, with the request as the value; no JSON is
# parsed, no key is checked, no event is sent.
SERVER = """
client_body_buffer_size 64k;
server {{
    listen 127.0.0.1:{{port}};
    location = /v1/links {{
        lua_need_request_body on;
        content_by_lua_block {{
            local body = ngx.req.get_body_data()
            local redis = ngx.socket.tcp()
            assert(redis:connect("127.0.0.1", {redis}))
            assert(redis:send("*2\\r\\n$4\\r\\nINCR\\r\\n$7\\r\\ncounter\\r\\n"))
            local id = assert(redis:receive()):sub(2)
            local key = "peer:" .. id
            assert(redis:send({{
                "*5\\r\\n$3\\r\\nSET\\r\\n$", #key, "\\r\\n", key, "\\r\\n$", #body,
                "\\r\\n", body, "\\r\\n$2\\r\\nEX\\r\\n$7\\r\\n2592000\\r\\n"}}))
            assert(redis:receive() == "+OK")
            redis:setkeepalive(60000, 256)
            local answer = '{{"code":"' .. id .. '","url":' .. body .. '}}'
            ngx.status = 201
            ngx.header["Content-Type"] = "application/json"
            ngx.header["Content-Length"] = #answer
            ngx.print(answer)
        }}
    }}
}}
"""


def doubled(text):
    """Doubles the braces once more, for str.format."""
    return text.replace("{", "{{").replace("}", "}}")


def modules_directory():
    for path in ("/usr/lib/nginx/modules", "/usr/lib64/nginx/modules"):
        if (pathlib.Path(path) / "ngx_http_lua_module.so").exists():
            return path
    raise Failure("nginx has no Lua; try `tools/deps.sh bench`")


class Bench:
    def __init__(self, machine):
        self.machine = machine
        self.load = tool("bench_load")
        self.nginx = None
        modules = modules_directory()
        self.allocator = Allocator(machine, "create")
        try:
            self.spread_out()
            server = SERVER.format(redis=self.allocator.redis.port)
            server = doubled(server).replace("{{port}}", "{port}")
            self.nginx, self.peer_port = web.start_nginx(
                machine, MODULES.format(modules=modules), server)
            self.allocator.warm_up(self.argv(self.allocator.port),
                                   machine.load_cpu)
        except Exception:
            self.close()
            raise

    def spread_out(self):
        """The server gets a core of its own as far as possible; the rest shares the
        other."""
        a = self.allocator
        self.machine.pin(a.program.process.pid, self.machine.server_cpu)
        for server in (a.redis, a.broker):
            self.machine.pin(server.process.pid, self.machine.load_cpu)

    def argv(self, port, *rate):
        return [self.load, port, KEY, f"{self.machine.seconds:g}", CONNECTIONS,
                *rate]

    def ours(self):
        cpu = self.machine.load_cpu
        most = self.allocator.measure(self.argv(self.allocator.port), cpu)
        half = self.allocator.measure(
            self.argv(self.allocator.port, RATE), cpu)
        return self.values(most, half)

    def peer(self):
        cpu = self.machine.load_cpu
        used = cpu_seconds(self.nginx.pid)
        most = json.loads(self.machine.run(self.argv(self.peer_port), cpu))
        used = cpu_seconds(self.nginx.pid) - used
        most["cpu_us"] = used * 1e6 / most["requests"]
        half = json.loads(
            self.machine.run(self.argv(self.peer_port, RATE), cpu))
        return self.values(most, half)

    @staticmethod
    def values(most, half):
        if half["rate"] < RATE * 0.99:
            raise Failure(f"only {half['rate']:.0f} of {RATE} a second")
        return {PREFIX + "requests": most["rate"],
                PREFIX + "CPU": most["cpu_us"], LATENCY: half["p999_us"]}

    def close(self):
        if self.nginx and self.nginx.running():
            self.nginx.kill()
        self.allocator.close()
