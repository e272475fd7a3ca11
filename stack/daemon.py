"""A process that continues after stack/ctl has ended.  It is found again by its
file build/dev/run/<name>.json: pid, start time, and the fingerprint of what it
was started from."""
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import time
import urllib.error
import urllib.request

import servers
from settings import DEV

RUN = DEV / "run"
STOP_SECONDS = 30
LOG_MAX = 32 << 20


class Failure(Exception):
    """One line for the user."""


def start_time(pid):
    """Returns the start time in clock ticks after boot, which distinguishes a
    process from a later one with the same pid; None if there is none."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


class Daemon:
    def __init__(self, name, ports, command, probe):
        self.name = name
        self.ports = ports
        self.command = command
        self.probe = probe
        self.config = None
        self.ready_url = None
        self.log_path = DEV / f"{name}.log"
        self.state_path = RUN / f"{name}.json"
        self.child = None

    @property
    def state(self):
        try:
            return json.loads(self.state_path.read_text())
        except (OSError, ValueError):
            return {}

    @property
    def pid(self):
        """Returns the pid of our own process only."""
        state = self.state
        pid, started = state.get("pid"), state.get("started")
        if pid and started is not None and start_time(pid) == started:
            return pid
        return None

    def running(self):
        if self.child:
            self.child.poll()
        return self.pid is not None

    def ready(self):
        return self.running() and self.probe()

    def reason(self):
        """Returns why it is not ready, with its own message if it has one."""
        if not self.ready_url:
            return "no answer"
        try:
            with urllib.request.urlopen(self.ready_url, timeout=2) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as e:
            return "; ".join(e.read().decode().strip().splitlines())
        except OSError as e:
            return str(getattr(e, "reason", e))

    def failure(self):
        """The failure of a process that has ended, with the end of its log."""
        return Failure(f"{self.name} ended; the end of {self.log_path}:\n"
                       f"{servers.tail(self.log_path, 8)}")

    def fingerprint(self, argv):
        """Returns the hash of command, program file and configuration."""
        digest = hashlib.sha256("\0".join(map(str, argv)).encode())
        program = pathlib.Path(argv[0])
        if program.is_absolute():
            digest.update(str(program.stat().st_mtime_ns).encode())
        if self.config:
            digest.update(self.config.read_bytes())
        return digest.hexdigest()

    def changed(self):
        return self.state.get("from") != self.fingerprint(self.command())

    def start(self):
        for port in self.ports:
            if servers.port_taken(port):
                raise Failure(
                    f"{self.name}: port {port} is in use by another program; "
                    "stop it, or move ours (stack/ctl tells how)")
        self.trim_log()
        argv = self.command()
        self.child = servers.Process(self.name, argv, self.log_path,
                                     outlive=True).popen
        started = start_time(self.child.pid)
        if started is None:
            raise self.failure()
        RUN.mkdir(parents=True, exist_ok=True)
        self.state_path.write_text(json.dumps({
            "pid": self.child.pid, "started": started,
            "from": self.fingerprint(argv)}))

    def trim_log(self):
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_MAX:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))

    def stop(self):
        self.signal(signal.SIGTERM)
        if not self.wait_gone(STOP_SECONDS):
            print(f"stack: {self.name} did not end {STOP_SECONDS} s after "
                  "SIGTERM; killing it", flush=True)
            self.signal(signal.SIGKILL)
            self.wait_gone(STOP_SECONDS)
        self.state_path.unlink(missing_ok=True)

    def signal(self, number):
        """Signals the process; one that ends meanwhile needs no signal."""
        pid = self.pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def wait_gone(self, seconds):
        deadline = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
