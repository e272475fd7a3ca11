"""stack/ctl: the work of `make up` and `make down`, in a directory of its own."""
import json
import os
import socket
import subprocess
import sys

import pytest
import requests

import daemon
import dev
import servers
import settings

NAMES = ["redis", "kafka", "kafka_controller", "clickhouse", "redirector",
         "allocator", "aggregator", "redirector_admin", "allocator_admin",
         "collector_admin", "aggregator_admin", "reclaimer_admin"]
DAEMONS = ["redis", "kafka", "clickhouse", "allocator", "redirector",
           "collector", "aggregator"]


class Stack:
    def __init__(self, directory):
        self.directory = directory
        self.log_path = directory / "ctl.log"
        self.ports = {name: servers.free_port() for name in NAMES}

    def ctl(self, command, **variables):
        ports = {f"SHORTLOOP_{name.upper()}_PORT": str(port)
                 for name, port in self.ports.items()}
        return subprocess.run(
            [servers.ROOT / "stack/ctl", command], text=True,
            capture_output=True, timeout=600,
            env={**os.environ, **ports, **variables,
                 "SHORTLOOP_DEV": str(self.directory)})

    def pids(self):
        return {path.stem: json.loads(path.read_text())["pid"]
                for path in (self.directory / "run").glob("*.json")}

    def create_link(self, url):
        key = (self.directory / "api.key").read_text().strip()
        return requests.post(
            f"http://127.0.0.1:{self.ports['allocator']}/v1/links",
            headers={"Authorization": f"Bearer {key}"},
            json={"url": url, "ttl": "10d"}, timeout=60).json()["code"]

    def visit(self, code):
        answer = requests.get(
            f"http://127.0.0.1:{self.ports['redirector']}/{code}",
            allow_redirects=False, timeout=60)
        return answer.status_code, answer.headers.get("Location")


@pytest.fixture
def stack(workdir):
    made = Stack(workdir / "stack")
    made.directory.mkdir()
    yield made
    made.ctl("down")


def is_alive(pid):
    """Returns whether it is alive; a zombie is not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.timeout(900)
def test_up_and_down_and_up_again(stack):
    up = stack.ctl("up")
    assert up.returncode == 0, up.stdout + up.stderr
    first = stack.pids()
    assert sorted(first) == sorted(DAEMONS)

    for name in ("api.key", "api.keys", "space-s7.key"):
        assert (stack.directory / name).stat().st_mode & 0o077 == 0, name

    # Everything is up already: nothing is started twice.
    again = stack.ctl("up")
    assert again.returncode == 0 and "all is up" in again.stdout
    assert stack.pids() == first

    code = stack.create_link("https://example.org/kept")
    assert stack.visit(code) == (302, "https://example.org/kept")
    assert stack.ctl("status").returncode == 0

    # A program that ended is started again; the others are left alone.
    os.kill(first["collector"], 9)
    assert stack.ctl("up").returncode == 0
    second = stack.pids()
    assert {n for n in first if first[n] != second[n]} == {"collector"}

    down = stack.ctl("down")
    assert down.returncode == 0 and stack.pids() == {}
    assert not any(is_alive(pid) for pid in second.values())
    assert stack.ctl("status").returncode == 3

    # The data are kept.
    assert stack.ctl("up").returncode == 0
    assert stack.visit(code) == (302, "https://example.org/kept")
    assert stack.ctl("down").returncode == 0


def test_a_port_in_use_is_one_clear_line(stack):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", stack.ports["redis"]))
        holder.listen()
        up = stack.ctl("up")
    assert up.returncode == 1
    assert up.stderr.count("\n") == 1
    assert f"port {stack.ports['redis']} is in use" in up.stderr


@pytest.mark.parametrize("port", ["0", "x", "70000"])
def test_a_wrong_port_is_one_clear_line(stack, port):
    up = stack.ctl("up", SHORTLOOP_REDIS_PORT=port)
    assert up.returncode == 1
    assert up.stderr == (
        f"stack: SHORTLOOP_REDIS_PORT={port}: a port is 1 to 65535\n")


def test_down_leaves_a_stranger_with_an_old_pid_alone(stack):
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        (stack.directory / "run").mkdir(exist_ok=True)
        (stack.directory / "run/redis.json").write_text(json.dumps(
            {"pid": stranger.pid, "started": 1, "from": ""}))
        assert stack.ctl("down").returncode == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


# --- without a stack -------------------------------------------------------------

def test_down_takes_no_dead_process_for_its_own(stack):
    """A process that died before its start was recorded is not taken for its own
    either."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    (stack.directory / "run").mkdir()
    (stack.directory / "run/collector.json").write_text(json.dumps(
        {"pid": dead.pid, "started": None, "from": ""}))
    down = stack.ctl("down")
    assert (down.returncode, down.stdout) == (0, "stack: was down\n"), down.stderr


def test_what_ends_at_once_is_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon, "DEV", tmp_path)
    monkeypatch.setattr(daemon, "RUN", tmp_path / "run")
    program = daemon.Daemon("collector", [], lambda: [
        "/bin/sh", "-c", "echo no library >&2; exit 127"], lambda: False)

    def of_a_zombie(pid, start_time=daemon.start_time):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return start_time(pid)

    monkeypatch.setattr(daemon, "start_time", of_a_zombie)
    with pytest.raises(daemon.Failure, match="(?s)collector ended.*no library"):
        program.start()
    monkeypatch.undo()
    assert not program.running()
    program.stop()


def test_one_that_ends_before_its_signal_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon, "RUN", tmp_path)
    program = daemon.Daemon("collector", [], None, None)
    dead = subprocess.Popen(["true"])
    dead.wait()
    pids = iter([dead.pid])
    monkeypatch.setattr(daemon.Daemon, "pid",
                        property(lambda self: next(pids, None)))
    program.stop()


@pytest.mark.parametrize("name", ["redis", "kafka", "clickhouse"])
def test_a_server_whose_port_moved_has_changed(tmp_path, monkeypatch, name):
    monkeypatch.setattr(dev, "DEV", tmp_path)
    (tmp_path / "kafka/data").mkdir(parents=True)
    (tmp_path / "kafka/data/meta.properties").touch()  # it is formatted

    def fingerprint(**moved):
        stores, _ = dev.make_daemons({**settings.PORTS, **moved})
        server, = (store for store in stores if store.name == name)
        return server.fingerprint(server.command())

    assert fingerprint() == fingerprint() != fingerprint(**{name: 29095})


def test_a_relative_directory_is_the_callers(tmp_path):
    """The demo uses the stack's directory, although it runs from elsewhere."""
    done = subprocess.run(
        [sys.executable, "-c", "import os, settings, demo\n"
         "print(settings.DEV, demo.DEV, os.environ['SHORTLOOP_DEV'])\n"
         "print(settings.CONFIG, demo.CONFIG)\n"
         "print(settings.API_KEY, demo.API_KEY)"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
        env={**os.environ, "SHORTLOOP_DEV": "other", "PYTHONPATH":
             f"{servers.ROOT}/stack:{servers.ROOT}/demo"})
    assert done.stdout.split() == (
        3 * [f"{tmp_path}/other"] + 2 * [f"{tmp_path}/other/shortloop.yaml"]
        + 2 * [f"{tmp_path}/other/api.key"])
