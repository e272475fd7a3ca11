"""Memory of idle keep-alive connections after one request, as the process has it; the
kernel's memory is the same for both."""
import resource
import socket

import web
from machine import BROWSER, Failure
from redirecting import Redirecting
from support.memory import status

IDLE = "an idle connection kept alive"
METRICS = [(IDLE, "bytes", "less")]
PEER = "nginx return 302"
CONNECTIONS = 15_000
SPARE = 100  # further descriptors of this script

CONFIG = web.CONFIG.replace("worker_connections 1024", "worker_connections 20000")


class Bench:
    def __init__(self, machine):
        self.machine = machine
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most < CONNECTIONS + SPARE:
            raise Failure(f"{most} descriptors a process are too few")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def ours(self):
        made = Redirecting(self.machine, "idle", 1, http={
            "idle_timeout": "5m", "max_connections": CONNECTIONS + SPARE})
        try:
            return self.grown(made.program.process.pid, made.port, made.codes[0])
        finally:
            made.close()

    def peer(self):
        nginx, port = web.start_nginx(self.machine, config=CONFIG)
        try:
            return self.grown(web.worker(nginx), port, "a")
        finally:
            nginx.kill()

    def grown(self, pid, port, code):
        lines = "\r\n".join([f"GET /{code} HTTP/1.1", "Host: 127.0.0.1", *BROWSER])
        request = f"{lines}\r\n\r\n".encode()
        kept = [ask(port, request) for _ in range(SPARE)]  # cost of the first ones
        before = status(pid)["VmRSS"]
        try:
            kept += [ask(port, request) for _ in range(CONNECTIONS - SPARE)]
            grown = status(pid)["VmRSS"] - before
        finally:
            for one in kept:
                one.close()
        return {IDLE: grown / (CONNECTIONS - SPARE)}

    def close(self):
        pass


def ask(port, request):
    """Returns a connection that has its answer."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(request)
    if not connection.recv(4096).startswith(b"HTTP/1.1 302"):
        raise Failure("not the answer that was expected")
    return connection
