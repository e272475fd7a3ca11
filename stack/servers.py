"""Redis, Kafka and the embedded ClickHouse as processes of one machine.

stack/ctl uses it and leaves them running; the integration tests' servers end with the
tests.  It needs only Python's own library.
"""
import base64
import errno
import fcntl
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
import weakref

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEPS = ROOT / ".deps"
KAFKA_CLASSES = DEPS / "kafka" / "classes.jsa"  # stack/kafka/classes.py


class ServerError(Exception):
    """One line for the user: the failure and what to do."""


def _ports():
    """Yields ports below those that the system assigns to connections, starting
    anywhere and in turn, so that a returned port is not returned again before
    it is in use."""
    ports = range(10240, 32768)
    start = random.SystemRandom().randrange(len(ports))
    while True:
        yield from ports[start:]
        yield from ports[:start]


_candidates = _ports()
_claims = None


def _claimed(port):
    """Claims a port for this process, as long as it lives.  One byte of a file
    is locked for each, so that tests that run side by side, and several runs of
    them, do not get the same one before either has bound it."""
    global _claims
    if _claims is None:
        path = pathlib.Path(tempfile.gettempdir())
        _claims = open(path / f"shortloop-ports-{os.getuid()}", "ab")
    try:
        fcntl.lockf(_claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def free_port():
    """Returns a TCP port of the loopback without a listener at this moment,
    which this function gave to no other process."""
    return next(port for port in _candidates
                if _claimed(port) and not port_taken(port))


def port_taken(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as e:
            if e.errno == errno.EADDRINUSE:
                return True
            raise
    return False


def tail(path, lines=30):
    try:
        with open(path, "rb") as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 200 * lines))
            text = f.read().decode("utf-8", "replace")
    except OSError as e:
        return str(e)
    return "\n".join(text.splitlines()[-lines:])


# A prefix for a command that has to end with this process.  A function to run
# in the child would do the same, but only after a fork, which copies the tables
# of all memory of this process: ten times the processor time.
END_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL", "--"]


class Process:
    """A child in a process group of its own, with its output in a file."""

    # The living Process objects: tests measure the processor time they use.
    started = weakref.WeakSet()

    def __init__(self, name, argv, log_path, *, cwd=None, env=None,
                 outlive=False, pass_fds=()):
        self.name = name
        self.argv = [str(a) for a in argv]
        self.log_path = pathlib.Path(log_path)
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log_path, "ab") as log:
            try:
                self.popen = subprocess.Popen(
                    self.argv if outlive else [*END_WITH_PARENT, *self.argv],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=cwd or ROOT, start_new_session=True,
                    pass_fds=pass_fds, env={**os.environ, **(env or {})})
            except OSError as e:
                raise ServerError(f"{name}: cannot run {e.filename}: "
                                  f"{e.strerror}; try `make deps`") from e
        self.started.add(self)

    @property
    def pid(self):
        return self.popen.pid

    def running(self):
        return self.popen.poll() is None

    def log(self):
        return self.log_path.read_text("utf-8", "replace")

    def signal(self, number, timeout=60):
        """For SIGSTOP, waits until every thread has stopped: on a busy machine
        they run on for a while."""
        self.popen.send_signal(number)
        until = time.monotonic() + timeout
        while number == signal.SIGSTOP and not self.is_stopped():
            if time.monotonic() > until:
                raise ServerError(f"{self.name} did not stop")
            time.sleep(0.002)

    def is_stopped(self):
        """Returns true if no thread runs, nor will without SIGCONT."""
        def state(task):
            try:
                return (task / "stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return "X"  # it has ended
        return all(state(task) in "TtZX"
                   for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir())

    def wait(self, timeout=30):
        return self.popen.wait(timeout)

    def stop(self, timeout=30):
        """SIGTERM, then SIGKILL after `timeout`.  Returns the exit status."""
        if self.running():
            self.popen.terminate()
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerError(f"{self.name}: did not end {timeout} s after "
                              f"SIGTERM; killed. Log: {self.log_path}")

    def kill(self):
        if self.running():
            os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait()


def wait_ready(process, probe, seconds):
    """Calls `probe` until it is true; a dead process or a timeout is an error
    that shows the end of the log."""
    deadline = time.monotonic() + seconds
    pause = 0.01
    while not probe():
        if not process.running():
            raise ServerError(f"{process.name}: ended with status "
                              f"{process.popen.returncode}; the end of "
                              f"{process.log_path}:\n"
                              f"{tail(process.log_path)}")
        if time.monotonic() > deadline:
            raise ServerError(f"{process.name}: not ready after {seconds} s; "
                              f"the end of {process.log_path}:\n"
                              f"{tail(process.log_path)}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


def exchange(port, request, length):
    """Sends `request` and returns the first `length` bytes, or b''."""
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as s:
            s.sendall(request)
            answer = b""
            while len(answer) < length:
                piece = s.recv(length - len(answer))
                if not piece:
                    return b""
                answer += piece
            return answer
    except OSError:
        return b""


# --- Redis -------------------------------------------------------------------

def redis_command(directory, port, *, durable, extra=()):
    if not shutil.which("redis-server"):
        raise ServerError("redis-server is not installed; try `make deps`")
    directory.mkdir(parents=True, exist_ok=True)
    return ["redis-server", "--port", port, "--bind", "127.0.0.1",
            "--dir", directory, "--save", "",
            "--appendonly", "yes" if durable else "no",
            "--maxmemory-policy", "noeviction", "--daemonize", "no", *extra]


def redis_ready(port):
    return exchange(port, b"PING\r\n", 5) == b"+PONG"


# --- Kafka -------------------------------------------------------------------

KAFKA_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
# An idle controller writes nothing: a third of an idle broker's processor time.
metadata.max.idle.interval.ms=0
"""


def java_command(main, *options):
    if not shutil.which("java"):
        raise ServerError("java is not installed; try `make deps`")
    libs = DEPS / "kafka" / "libs"
    if not libs.is_dir():
        raise ServerError(f"{libs} is missing; run `make deps`")
    classes = [f"-XX:SharedArchiveFile={KAFKA_CLASSES}", "-Xlog:cds=off",
               "-Xlog:cds+dynamic=off"] if KAFKA_CLASSES.exists() else []
    return ["java", *options, *classes, "-XX:+UseSerialGC",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
            "-cp", f"{libs}/*", main]


def kafka_command(directory, port, controller, *, heap="512m", options=(),
                  extra=""):
    """Formats the directory the first time.  `options`: more of the JVM's.
    `extra`: more lines of properties, which win over those above."""
    directory.mkdir(parents=True, exist_ok=True)
    data = directory / "data"
    properties = directory / "server.properties"
    properties.write_text(KAFKA_PROPERTIES.format(
        port=port, controller=controller, data=data) + extra)
    if not (data / "meta.properties").exists():
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()
        done = subprocess.run(
            java_command("kafka.tools.StorageTool", "-XX:TieredStopAtLevel=1")
            + ["format", "--ignore-formatted", "-c", str(properties),
               # It is one word: an id may begin with "-".
               "--cluster-id=" + cluster.rstrip("=")],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise ServerError("kafka: cannot format its directory: "
                              + done.stderr[-2000:])
    return [*java_command("kafka.Kafka", f"-Xms{heap}", f"-Xmx{heap}", *options),
            properties]


def kafka_ready(port):
    """Returns true if an ApiVersions request is answered: the broker has
    started.
    """
    request = struct.pack(">hhih", 18, 0, 7, -1)
    answer = exchange(port, struct.pack(">i", len(request)) + request, 10)
    return answer[4:10] == struct.pack(">ih", 7, 0)


# --- ClickHouse --------------------------------------------------------------

def clickhouse_command(directory, port, *, binary=None, extra=()):
    binary = pathlib.Path(binary or ROOT / "build/bin/clickhouse-embedded")
    # Selects another engine: a path, relative to the top of the tree.
    library = ROOT / os.environ.get("SHORTLOOP_ENGINE",
                                    ".deps/chdb/libchdb.so")
    if not binary.exists():
        raise ServerError(f"{binary} is missing; run `make`")
    if not library.exists():
        raise ServerError(f"{library} is missing; run `make deps`")
    directory.mkdir(parents=True, exist_ok=True)
    return [binary, "--listen", f"127.0.0.1:{port}", "--path", directory,
            "--library", library, *extra]


def http_status(url, timeout=2):
    """Returns the status of a GET, or 0 if there is no answer."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status
    except urllib.error.HTTPError as e:
        return e.code
    except OSError:
        return 0


def clickhouse_ready(port):
    return http_status(f"http://127.0.0.1:{port}/ping") == 200
