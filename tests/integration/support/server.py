"""Servers that live during a test run; they end with pytest."""
import shutil

import redis

import servers
from support.program import PATIENCE


class Server:
    """A test may call start(), stop() and kill() repeatedly; the port and the directory
    stay the same."""

    name = "server"
    start_seconds = 300

    def __init__(self, directory):
        self.directory = directory
        self.log_path = directory / f"{self.name}.log"
        self.port = servers.free_port()
        self.process = None
        self.env = {}

    def command(self):
        raise NotImplementedError

    def probe(self):
        raise NotImplementedError

    def start(self):
        self.process = servers.Process(self.name, self.command(),
                                       self.log_path, env=self.env)
        servers.wait_ready(self.process, self.probe, self.start_seconds)
        return self

    def running(self):
        return self.process is not None and self.process.running()

    def stop(self):
        return self.process.stop(PATIENCE)

    def kill(self):
        """Sends SIGKILL and waits for the end."""
        if self.process:
            self.process.kill()

    def signal(self, number):
        """SIGSTOP and SIGCONT make a server hang and go on."""
        self.process.signal(number)


class RedisServer(Server):
    name = "redis"
    start_seconds = 300

    def __init__(self, directory, durable=False, extra=()):
        super().__init__(directory)
        self.durable = durable
        self.extra = list(extra)

    def command(self):
        return servers.redis_command(self.directory, self.port,
                                     durable=self.durable, extra=self.extra)

    def probe(self):
        return servers.redis_ready(self.port)

    def client(self):
        return redis.Redis(port=self.port, decode_responses=True)


# A broker of a test starts often and does little: the second compiler takes half of the
# processor time of a start, and saves less.
QUICK = ["-XX:TieredStopAtLevel=1"]

# A killed broker is accepted again when its former session has expired, which takes
# nine seconds by default.
SOON_BACK = """\
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=300
"""


class KafkaServer(Server):
    name = "kafka"
    # {file: content} of a formatted directory; formatting takes a JVM a second, and the
    # brokers of a run may be alike.
    formatted = {}

    def __init__(self, directory, extra=""):
        super().__init__(directory)
        self.controller = servers.free_port()
        self.extra = SOON_BACK + extra

    def command(self):
        data = self.directory / "data"
        if data.exists():
            return self._command()
        if self.formatted:
            data.mkdir(parents=True)
            for name, content in self.formatted.items():
                (data / name).write_bytes(content)
            return self._command()
        command = self._command()
        self.formatted.update({path.name: path.read_bytes()
                               for path in data.iterdir()})
        return command

    def _command(self):
        return servers.kafka_command(self.directory, self.port,
                                     self.controller, options=QUICK,
                                     extra=self.extra)

    def probe(self):
        return servers.kafka_ready(self.port)


PROXIED = """\
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},\
PROXIED://127.0.0.1:{behind}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},PROXIED://{proxy}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,\
PROXIED:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
"""


class ProxiedKafkaServer(KafkaServer):
    """A broker with two ports: `port`, and one whose clients are directed to `proxy`
    (support.fault_proxy.KafkaProxy), at `proxy.address`."""

    def __init__(self, directory, proxy, extra=""):
        super().__init__(directory, extra)
        self.proxy = proxy
        self.proxy.kafka_port = servers.free_port()
        self.extra += PROXIED.format(
            port=self.port, controller=self.controller,
            behind=self.proxy.kafka_port, proxy=self.proxy.address)


NGINX = """\
daemon off;
worker_processes 1;
pid {dir}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    lingering_close off;
    lingering_timeout 100ms;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {{
        listen 127.0.0.1:{port};
{locations}
    }}
}}
"""


class NginxServer(Server):
    """Answers by `locations`; uses nothing outside of its directory."""

    name = "nginx"

    def __init__(self, directory, locations):
        super().__init__(directory)
        self.locations = locations
        self.binary = shutil.which("nginx",
                                   path="/usr/sbin:/usr/bin:/usr/local/sbin")

    def command(self):
        if not self.binary:
            raise servers.ServerError("nginx is not installed; try `make deps`")
        self.directory.mkdir(parents=True, exist_ok=True)
        config = self.directory / "nginx.conf"
        config.write_text(NGINX.format(dir=self.directory, port=self.port,
                                       locations=self.locations))
        return [self.binary, "-p", self.directory, "-c", config,
                "-e", self.log_path]

    def probe(self):
        return servers.port_taken(self.port)
