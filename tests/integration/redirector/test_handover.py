"""A redirector is replaced while visitors come: by a hand-over socket, or by a service
manager that keeps its sockets.  The visitors are bench_load's, which ends with 1 if any
request of any connection is not answered with a redirect."""
import contextlib
import http.client
import itertools
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import pytest
import requests

import servers
from support import manager as service
from support.load import Load, bench_load  # noqa: F401 (fixture)
from support.program import PATIENCE, eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, Click, clicks, domains_config, links, make_links, start, visit)

EVENTS = "shortloop_redirector_events_total"


@pytest.fixture
def codes(links, workdir):
    path = workdir / "codes"
    path.write_text("".join(links.create() + "\n" for _ in range(20)))
    return path


@pytest.fixture
def code(links):
    return links.create()


@pytest.fixture
def manager():
    with service.running() as made:
        yield made


class BySocket:
    """The next process is started beside the running one."""
    name = "by socket"
    share = 1 / 2  # the share that visitors get at least during restarts

    def __init__(self, sockets):
        self.settings = {"handover_socket": str(sockets / "handover")}

    def start(self, redirector):
        return redirector.start()

    def restart(self, redirector):
        old = redirector.process
        redirector.start(ready=False)
        assert old.wait(PATIENCE) == 0, redirector.log()
        assert redirector.process.running(), redirector.log()


class ByManager:
    """One process ends, and the next is started with its sockets; visitors wait in
    between."""
    name = "by manager"
    share = 1 / 4

    def __init__(self, manager):
        self.settings = {}
        self.manager = manager
        self.restart = manager.restart

    def start(self, redirector):
        """It reports to systemd that it is ready before Redis is up."""
        self.manager.start(redirector)
        redirector.wait_ready()
        return redirector


@pytest.fixture
def sockets():
    """Paths of sockets have to be short."""
    with tempfile.TemporaryDirectory(prefix="shortloop-") as path:
        yield pathlib.Path(path)


@pytest.fixture(params=["socket", "manager"])
def way(request, sockets, manager):
    return BySocket(sockets) if request.param == "socket" else ByManager(manager)


@pytest.fixture
def managed(prepare, manager):
    """managed(setting=...) returns a redirector that the manager has started."""
    return lambda **settings: ByManager(manager).start(prepare(**settings))


@pytest.fixture
def prepare(program, links_config, domains_config, kafka):
    """Returns a redirector that is not started yet.  Its timeouts are long: the machine
    may be busy."""
    def make(way=None, **settings):
        made = program("redirector", {
            "links": links_config, "domains": domains_config,
            "redirector": {"threads": 2, "drain_timeout": "20s",
                           "handover_timeout": "60s",
                           **(way.settings if way else {}), **settings}},
            start=False)
        made.topic = made.config["kafka"]["topic_clicks"]
        return made
    return make


def change(redirector, **settings):
    redirector.write_config({**redirector.config, "redirector": {
        **redirector.section, **settings}})


def event_ids(kafka, topic):
    return [(event.event_id_high, event.event_id) for event in
            (Click.FromString(m.value())
             for m in kafka.consume(topic, seconds=10 * PATIENCE))]


# --- no visit fails -----------------------------------------------------------------

@contextlib.contextmanager
def visited(bench_load, redirector, codes, rate, connections=16):  # noqa: F811
    """Half of the visits come on kept connections, half on one each.  Yields both
    loads."""
    with Load(bench_load, redirector, codes, rate / 2, connections) as kept, Load(
            bench_load, redirector, codes, rate / 2, connections, 1) as single:
        yield kept, single


def go_on(redirector, loads, count):
    """Waits until this many more visits have their event from this process."""
    before = redirector.metric(EVENTS)
    eventually(lambda: redirector.metric(EVENTS) >= before + count
               or not all(load.running() for load in loads))


def restart_under_load(redirector, way, loads, rate, threads):
    """Restarts with each number of threads."""
    for count in threads:
        go_on(redirector, loads, rate / 10)
        change(redirector, threads=count)
        way.restart(redirector)
        redirector.wait_ready()
    eventually(lambda: redirector.metric(EVENTS) >= rate / 10)


def check_events(redirector, kafka, answered):
    """Each answered visit must have an event."""
    assert redirector.stop() == 0
    ids = event_ids(kafka, redirector.topic)
    assert len(ids) == len(set(ids)) == answered


@pytest.mark.confined
def test_no_visit_fails_while_redirectors_follow_each_other(
        prepare, way, bench_load, codes, kafka):
    """There are fewer, more and as many threads as sockets that are handed over."""
    redirector = way.start(prepare(way))
    with visited(bench_load, redirector, codes, 800) as loads:
        restart_under_load(redirector, way, loads, 800, (1, 3, 3, 2))
        answered = sum(load.stop() for load in loads)
    check_events(redirector, kafka, answered)


def test_of_starts_in_a_row_the_last_one_serves(prepare, sockets, bench_load, codes,
                                               kafka):
    """The starts are faster than any of them becomes ready: each has the sockets from
    the one before it, whichever that is, while visitors come by port and socket."""
    way = BySocket(sockets)
    path = sockets / "visits"
    redirector = way.start(prepare(way, listen_unix=str(path)))
    load = Load(bench_load, redirector, codes, 400, 8, 1)
    processes = [redirector.process]
    try:
        for _ in range(3):
            redirector.start(ready=False)
            processes.append(redirector.process)
        eventually(lambda: sum(p.running() for p in processes) == 1)
        last, = [p for p in processes if p.running()]
        assert [p.wait(PATIENCE) for p in processes if p is not last] == [0] * 3
        redirector.process = last
        before = redirector.metric(EVENTS)
        eventually(lambda: redirector.metric(EVENTS) >= before + 40)
        with inside(path) as s:
            assert answer_to(s, codes.read_text().split()[0]) == FOUND
        answered = load.stop() + 1
    finally:
        load.process.kill()
        for process in processes:
            if process is not redirector.process:
                process.kill()
    assert redirector.stop() == 0
    ids = event_ids(kafka, redirector.topic)
    assert len(ids) == len(set(ids)) == answered


RATE = 20000
RESTARTS = 20  # at least


def for_seconds(seconds, values):
    """There are at least RESTARTS of them, however long that takes."""
    until = time.monotonic() + seconds
    for i, value in enumerate(itertools.cycle(values)):
        if i >= RESTARTS and time.monotonic() >= until:
            return
        yield value


class Rush:
    """Visits at RATE, and how many of them were answered."""

    def __init__(self, tool, redirector, codes):
        self.tool, self.redirector, self.codes = tool, redirector, codes
        self.answered = 0

    def rate(self, meanwhile):
        """Returns the rate during meanwhile(loads)."""
        with visited(self.tool, self.redirector, self.codes, RATE, 64) as loads:
            meanwhile(loads)
            self.answered += sum(load.stop() for load in loads)
        return sum(load.result["rate"] for load in loads)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_visit_fails_for_a_minute(prepare, way, bench_load, codes, kafka,
                                     record_property):
    """The load is real: while restarts follow each other, the rate is a good share of
    the rate without them, before or after.  The machine may get busier in between, so
    one of several attempts must succeed."""
    redirector = way.start(prepare(way))
    rush = Rush(bench_load, redirector, codes)
    seconds = int(os.environ.get("HANDOVER_SECONDS", 60))
    restarts, tries = [], []

    def alone(loads):
        go_on(redirector, loads, 2 * RATE)

    def restarted(loads):
        threads = for_seconds(seconds, [2, 1, 2, 4])
        restart_under_load(redirector, way, loads, RATE, (
            restarts.append(n) or n for n in threads))

    def is_loaded():
        tries.append([rush.rate(alone), rush.rate(restarted), rush.rate(alone)])
        before, beside, after = tries[-1]
        return beside >= min(before, after) * way.share
    assert any(is_loaded() for _ in range(3)), tries
    check_events(redirector, kafka, rush.answered)
    record_property("summary", f"{len(restarts)} restarts {way.name}; visits/s answered "
                    f"before, beside and after them, of {RATE}: {tries}")


# --- connections --------------------------------------------------------------------

def keep(redirector, code):
    connection = http.client.HTTPConnection(redirector.section["listen"],
                                            timeout=PATIENCE)
    ask(connection, code)
    return connection


def ask(connection, code):
    """Returns the Connection header of the answer."""
    connection.request("GET", f"/{code}")
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 302
    return answer.getheader("Connection")


def wait_for_last(connection, code):
    """Once the process has begun to end, its next answer announces that it is the last:
    this is a moment after the log line, when another process serves."""
    eventually(lambda: ask(connection, code) == "close", what="the last answer")


def waiting(redirector):
    """Connects while no process accepts."""
    host, port = redirector.section["listen"].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def answer_to(s, code):
    s.sendall(f"GET /{code} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    received = b""
    while piece := s.recv(65536):
        received += piece
    return received.split(b"\r\n", 1)[0]


FOUND = b"HTTP/1.1 302 Found"


def test_a_kept_connection_may_ask_once_more(prepare, sockets, code, links):
    """The successor already serves; a client of the former process continues with
    it."""
    way = BySocket(sockets)
    redirector = way.start(prepare(way))
    kept = keep(redirector, code)
    old = redirector.process
    redirector.start(ready=False)
    redirector.wait_log("relieved by a successor")
    assert visit(f"{redirector.url}/{code}").status_code == 302
    assert old.running()
    wait_for_last(kept, code)
    assert old.wait(PATIENCE) == 0
    assert ask(kept, code) is None  # on a new connection, to the successor


def is_refused(connect):
    try:
        with connect():
            return False
    except ConnectionRefusedError:
        return True


def test_one_that_drains_keeps_no_socket_from_a_third(prepare, sockets, code):
    """The second process is killed while the first still has a visitor; it had sockets
    that all threads shared: for more threads than it had, and the Unix socket."""
    way = BySocket(sockets)
    path = sockets / "visits"
    redirector = way.start(prepare(way, threads=3, listen_unix=str(path),
                                   drain_timeout="300s"))
    change(redirector, threads=1)
    way.restart(redirector)
    kept = keep(redirector, code)
    old = redirector.process
    redirector.start(ready=False)
    eventually(lambda: redirector.log().count("relieved by a successor") == 2)
    redirector.kill()
    eventually(lambda: is_refused(lambda: inside(path)))
    eventually(lambda: is_refused(lambda: waiting(redirector)))
    redirector.start()
    assert old.running()
    assert [answer_to(waiting(redirector), code) for _ in range(20)] == [FOUND] * 20
    with inside(path) as s:
        assert answer_to(s, code) == FOUND
    wait_for_last(kept, code)
    assert old.wait(PATIENCE) == 0
    with inside(path) as s:
        assert answer_to(s, code) == FOUND


def answers_soon(redirector):
    with contextlib.suppress(requests.RequestException):
        return requests.get(redirector.admin + "/healthz", timeout=1).ok
    return False


def test_the_former_one_leaves_the_admin_port(prepare, sockets, code):
    """It still has a visitor, and the next process is stopped: no process answers."""
    way = BySocket(sockets)
    redirector = way.start(prepare(way))
    kept = keep(redirector, code)
    old = redirector.process
    redirector.start(ready=False)
    redirector.wait_log("relieved by a successor")
    redirector.process.signal(signal.SIGSTOP)
    try:
        eventually(lambda: not answers_soon(redirector))
        assert old.running()
    finally:
        redirector.process.signal(signal.SIGCONT)
    wait_for_last(kept, code)
    eventually(lambda: answers_soon(redirector))


def test_it_is_the_last_answer_while_a_manager_waits(managed, manager, code):
    """It accepts until all clients are gone that were connected before."""
    redirector = managed()
    kept = keep(redirector, code)
    old = redirector.process
    old.signal(signal.SIGUSR2)
    redirector.wait_log("stopping")
    assert answer_to(waiting(redirector), code) == FOUND
    assert old.running()
    wait_for_last(kept, code)
    assert old.wait(PATIENCE) == 0
    # No process runs, and clients wait for the next one.
    with waiting(redirector) as s:
        manager.start(redirector)
        assert answer_to(s, code) == FOUND


def test_who_waits_outlives_a_crash_under_a_manager(managed, manager, code):
    redirector = managed(threads=3)
    redirector.kill()
    visitors = [waiting(redirector) for _ in range(20)]
    change(redirector, threads=1)
    manager.start(redirector)
    assert [answer_to(s, code) for s in visitors] == [FOUND] * 20


def test_a_stop_closes_the_port_for_good(managed, manager, code):
    redirector = managed()
    kept = keep(redirector, code)
    assert manager.stop(redirector) == 0
    assert kept.sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        waiting(redirector)


# --- sockets --------------------------------------------------------------------------

@contextlib.contextmanager
def inside(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(PATIENCE)
        s.connect(str(path))
        yield s


PROXIED = b"PROXY TCP4 192.0.2.7 192.0.2.1 4000 80\r\n"


def test_the_unix_socket_and_its_proxies_are_handed_over(
        prepare, way, sockets, code, kafka):
    path = sockets / "visits"
    redirector = prepare(way, listen_unix=str(path), proxy_protocol=["unix"])
    way.start(redirector)
    file = os.stat(path)
    for _ in range(2):
        way.restart(redirector)
        with inside(path) as s:
            s.sendall(PROXIED)
            assert answer_to(s, code) == FOUND
    assert os.stat(path).st_ino == file.st_ino
    assert redirector.stop() == 0
    assert not path.exists()
    events = [Click.FromString(m.value()) for m in kafka.consume(redirector.topic)]
    assert [e.client_ip for e in events] == [bytes([192, 0, 2, 7])] * 2


def test_an_address_that_changes_is_left_by_the_next_one(prepare, way, code):
    redirector = way.start(prepare(way))
    former = dict(redirector.section)
    change(redirector, listen=f"127.0.0.1:{servers.free_port()}",
           admin=f"127.0.0.1:{servers.free_port()}", threads=1)
    way.restart(redirector)
    redirector.wait_ready()
    assert visit(f"{redirector.url}/{code}").status_code == 302
    for address in (former["listen"], former["admin"]):
        host, port = address.rsplit(":", 1)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=PATIENCE)


def test_who_waits_at_an_address_that_is_left_is_answered(managed, manager, code):
    redirector = managed()
    redirector.kill()
    with waiting(redirector) as s:
        change(redirector, listen=f"127.0.0.1:{servers.free_port()}")
        manager.start(redirector)
        assert answer_to(s, code) == FOUND
    # Its own two, and the admin port's.
    eventually(lambda: len(manager.store) == 3)


@pytest.mark.parametrize("threads", [1, 3])
def test_sockets_of_a_socket_unit_are_taken(prepare, manager, code, threads):
    """Without ReusePort= there is one socket for all threads."""
    redirector = prepare(threads=threads)
    host, port = redirector.section["listen"].rsplit(":", 1)
    with socket.create_server((host, int(port))) as made:
        manager.unit_sockets["shortloop-redirector.socket"] = made
        manager.start(redirector)
        assert {visit(f"{redirector.url}/{code}").status_code
                for _ in range(20)} == {302}
        manager.restart(redirector)
        assert visit(f"{redirector.url}/{code}").status_code == 302
        # Sockets of the socket unit are not stored in addition.
        assert len(manager.store) == 1


def test_a_socket_that_is_of_no_use_is_named(prepare, manager):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        manager.unit_sockets["dns.socket"] = made
        redirector = manager.start(prepare(), ready=False)
        assert redirector.process.wait(PATIENCE) == 78
    assert "(dns.socket) is no stream socket that listens" in redirector.log()


# --- a start that fails ----------------------------------------------------------------

def fails(redirector, status):
    """Another process with this configuration is started; the old one runs on."""
    old = redirector.process
    redirector.start(ready=False)
    assert redirector.process.wait(PATIENCE) == status, redirector.log()
    redirector.process, failed = old, redirector.process
    assert old.running()
    return failed


def test_a_successor_that_cannot_serve_changes_nothing(prepare, sockets, code):
    way = BySocket(sockets)
    path = sockets / "visits"
    redirector = way.start(prepare(way, listen_unix=str(path)))
    kept = keep(redirector, code)
    good = redirector.config
    change(redirector, fallback_url="ftp://example.org")
    fails(redirector, 78)
    closed = {**good["redis"], "address": f"127.0.0.1:{servers.free_port()}"}
    redirector.write_config({**good, "redis": closed, "redirector": {
        **good["redirector"], "handover_timeout": "100ms"}})
    fails(redirector, 75)
    assert f"process {redirector.process.pid}, which goes on" in redirector.log()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        redirector.write_config({**good, "redirector": {
            **good["redirector"],
            "admin": f"127.0.0.1:{taken.getsockname()[1]}"}})
        fails(redirector, 71)
    redirector.write_config(good)
    assert ask(kept, code) is None
    assert visit(f"{redirector.url}/{code}").status_code == 302
    with inside(path) as s:
        assert answer_to(s, code) == FOUND
    kept.close()
    way.restart(redirector)
    assert visit(f"{redirector.url}/{code}").status_code == 302


@pytest.fixture(scope="session")
def no_handover(tmp_path_factory):
    """no_handover(flag) returns the environment of a program that cannot hand over
    while the file `flag` exists."""
    library = tmp_path_factory.mktemp("handover") / "no_handover.so"
    source = servers.ROOT / "tests/integration/support/no_handover.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return lambda flag: {"LD_PRELOAD": str(library), "NO_HANDOVER": str(flag)}


def test_a_successor_that_could_not_hand_over_relieves_nobody(
        prepare, sockets, code, no_handover):
    way, flag = BySocket(sockets), sockets / "flag"
    redirector = prepare(way)
    redirector.env.update(no_handover(flag))
    way.start(redirector)
    kept = keep(redirector, code)
    flag.touch()
    fails(redirector, 71)
    assert "eventfd" in redirector.log()
    redirector.wait_log("the successor has ended, going on")
    assert "relieved by a successor" not in redirector.log()
    assert ask(kept, code) is None
    assert visit(f"{redirector.url}/{code}").status_code == 302
    kept.close()
    flag.unlink()
    way.restart(redirector)
    assert visit(f"{redirector.url}/{code}").status_code == 302


def test_a_successor_that_is_killed_changes_nothing(prepare, sockets, code, redis):
    """It is killed while it waits for Redis, with all sockets."""
    way = BySocket(sockets)
    redirector = way.start(prepare(way))
    good, old = redirector.config, redirector.process
    redirector.write_config({**good, "redis": {
        **good["redis"], "address": f"127.0.0.1:{servers.free_port()}"}})
    redirector.start(ready=False)
    redirector.wait_log("handing sockets over")
    redirector.wait_log("taking over")
    redirector.kill()
    redirector.process = old
    redirector.wait_log("the successor has ended, going on")
    redirector.write_config(good)
    assert {visit(f"{redirector.url}/{code}").status_code
            for _ in range(10)} == {302}
    way.restart(redirector)
    assert visit(f"{redirector.url}/{code}").status_code == 302


def test_a_stale_hand_over_socket_keeps_nobody_from_starting(prepare, sockets, code):
    way = BySocket(sockets)
    redirector = way.start(prepare(way))
    redirector.kill()
    assert pathlib.Path(way.settings["handover_socket"]).is_socket()
    way.start(redirector)
    assert visit(f"{redirector.url}/{code}").status_code == 302
    assert redirector.stop() == 0
    assert not pathlib.Path(way.settings["handover_socket"]).exists()


def test_redis_is_waited_for_before_the_doors_are_opened(managed, manager, code,
                                                         redis_server):
    """After a restart no client gets a 503 because the process has just started."""
    redirector = managed()
    redirector.kill()
    redis_server.signal(signal.SIGSTOP)
    try:
        with waiting(redirector) as s:
            manager.start(redirector, ready=False)
            redirector.wait_log("Kafka connected")
            redis_server.signal(signal.SIGCONT)
            assert answer_to(s, code) == FOUND
    finally:
        redis_server.signal(signal.SIGCONT)


# --- the spool ---------------------------------------------------------------------------

def test_the_spool_goes_to_the_successor(prepare, way, workdir, code, kafka,
                                         kafka_server):
    """Kafka is stopped: the former process spools its events when it ends, and the next
    one waits for the folder until then."""
    spool = workdir / "spool"
    redirector = way.start(prepare(way, spool_dir=str(spool), drain_timeout="500ms",
                                   linger="0s"))
    kafka_server.signal(signal.SIGSTOP)
    try:
        for _ in range(10):
            assert visit(f"{redirector.url}/{code}").status_code == 302
        way.restart(redirector)
        for _ in range(10):
            assert visit(f"{redirector.url}/{code}").status_code == 302
        eventually(lambda: redirector.metric(
            "shortloop_redirector_spool_events") == 10)
        if isinstance(way, BySocket):
            assert "waiting for the spool" in redirector.log()
            redirector.wait_log("spool taken over")
    finally:
        kafka_server.signal(signal.SIGCONT)
    redirector.wait_ready()
    redirector.wait_metric(0, "shortloop_redirector_spool_events")
    assert redirector.stop() == 0
    events = [Click.FromString(m.value()) for m in kafka.consume(redirector.topic)]
    assert len({(e.event_id_high, e.event_id) for e in events}) == 20
    sure = [(e.event_id_high, e.event_id) for e in events if not e.maybe_sent]
    assert len(sure) == len(set(sure))
