"""nginx as a peer, and a round of load on either side."""
import shutil

import servers
from machine import Failure, built, children, cpu_seconds

METRICS = [("requests", "1/s", "more"), ("CPU", "us a request", "less")]
# The number of requests per connection, and its label.
ENDING = {10: "10 requests a connection", 1: "1 request a connection"}
EACH = {0: "kept alive", **ENDING}

CONFIG = """
{modules}
worker_processes 1;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/nginx-error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    {server}
}}
"""

REDIRECTS = """
server {{
    listen 127.0.0.1:{port};
    return 302 https://example.org/;
}}
"""


def start_nginx(machine, modules="", server=REDIRECTS, config=CONFIG):
    """Returns (process, port) of nginx with one worker that answers 302, or is
    configured by `server`, where {port} is the port."""
    binary = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if not binary:
        raise Failure("nginx is not installed; try `tools/deps.sh bench`")
    port = servers.free_port()
    directory = machine.directory / f"nginx-{port}"
    directory.mkdir()
    path = directory / "nginx.conf"
    path.write_text(config.format(dir=directory, modules=modules,
                                  server=server.format(port=port)))
    process = machine.start("nginx", [binary, "-c", path],
                            machine.server_cpu,
                            lambda: servers.port_taken(port))
    return process, port


def worker(nginx):
    """Returns the process that has the connections."""
    return children(nginx.pid)[0]


def load(machine, process, port, path):
    """Runs one round: returns the metrics, and how many requests were answered."""
    before = cpu_seconds(process.pid)
    rate, requests = machine.wrk(port, path)
    used = cpu_seconds(process.pid) - before
    return {"requests": rate, "CPU": used * 1e6 / requests}, requests


def start_answering(machine, name):
    """Returns (process, port) of one of our programs that answers 302 to every
    request."""
    port = servers.free_port()
    return machine.start(name, [built(f"tests/bench/{name}"), port],
                         machine.server_cpu,
                         lambda: servers.port_taken(port)), port


def visit_metrics(prefix, each):
    return [(f"{prefix}{name}: {label}", unit, better)
            for name in each.values() for label, unit, better in METRICS]
