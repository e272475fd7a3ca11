"""Anything may happen to a redirector while visitors come: its files are reloaded,
links change, servers go down, it hands over to a successor.  Each answered visit has
its event.  tests/run-long repeats this with programs under ThreadSanitizer, where the
first data race ends the program.

RACE_SECONDS sets the duration."""
import contextlib
import http.client
import itertools
import json
import os
import random
import signal
import string
import tempfile
import time

import pytest

from support.program import PATIENCE, eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, make_links, own_links, start)
from support.repeating import Repeating
from support.visitors import Visitors
from test_kills import answer, visits_told

SECONDS = float(os.environ.get("RACE_SECONDS", 60))
THREADS = 4
LETTERS = string.digits + string.ascii_letters


class Beside(Repeating):
    """with Beside(step): calls step() again and again; the test raises what it raises,
    except for connections that end."""

    def __init__(self, step, pause=0.01):
        super().__init__(pause)
        self.once = step
        self.count, self.failure = 0, None

    def step(self):
        try:
            self.once()
            self.count += 1
        except (OSError, http.client.HTTPException):
            pass  # down, for now
        except Exception as e:  # pylint: disable=broad-except
            self.failure = e
            self.ended.set()

    def __exit__(self, *_):
        super().__exit__()
        if self.failure:
            raise self.failure


def ask(address, method, path, **headers):
    with contextlib.closing(http.client.HTTPConnection(
            address, timeout=30)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().read()


class Files:
    """The files that SIGHUP reloads."""

    def __init__(self, folder):
        self.deny, self.domains = folder / "deny.txt", folder / "domains.json"
        self.app, self.log = folder / "assetlinks.json", folder / "access.log"
        self.turn = itertools.count()
        self.change()

    def settings(self):
        return {"deny_file": str(self.deny), "access_log": str(self.log)}

    def change(self):
        turn = next(self.turn)
        self.deny.write_text(f"203.0.113.{turn % 256}\n")
        self.app.write_text(f"[{turn}]")
        self.domains.write_text(json.dumps({"domains": {"list": [{
            "name": "main", "hosts": ["127.0.0.1", f"h{turn}.example"],
            "assetlinks": str(self.app)}]}}))
        with contextlib.suppress(FileNotFoundError):
            self.log.rename(self.log.with_suffix(".1"))


class Scene:
    """A redirector, and all events around it."""

    def __init__(self, redirector, files, redis, kafka):
        self.redirector, self.files = redirector, files
        self.redis, self.kafka = redis, kafka
        self.happened = []

    def reload(self, visitors):
        for _ in range(5):
            self.files.change()
            self.redirector.process.signal(signal.SIGHUP)
            answer(visitors, 20)

    def lose_kafka(self, visitors):
        """Events are spooled, and replayed."""
        self.kafka.signal(signal.SIGSTOP)
        try:
            answer(visitors, 200)
        finally:
            self.kafka.signal(signal.SIGCONT)

    def lose_redis(self, visitors):
        self.redis.kill()
        answer(visitors, 100)  # from the caches
        self.redis.start()

    def hand_over(self, visitors):
        former = self.redirector.process
        self.redirector.start(ready=False)
        answer(visitors, 100)
        assert former.wait(3 * PATIENCE) == 0, "the former one"

    def play(self, visitors):
        """Runs each event once."""
        for scene in (self.reload, self.lose_kafka, self.lose_redis, self.hand_over):
            scene(visitors)
            eventually(lambda: self.redirector.ready()[0] == 200, 3 * PATIENCE)
            answer(visitors, 100)
            self.happened.append(scene.__name__)


@pytest.fixture
def scene(start, own_links, own_redis, kafka, kafka_server, workdir):  # noqa: F811
    files = Files(workdir)
    with tempfile.TemporaryDirectory(prefix="shortloop-") as sockets:
        redirector = start(
            threads=THREADS, instance="here", cache_size="1MiB", cache_ttl="100ms",
            linger="20ms", drain_timeout="60s", counters_every="200ms",
            handover_socket=f"{sockets}/handover", handover_timeout="60s",
            spool_dir=str(workdir / "spool"), trusted_proxies=["127.0.0.0/8"],
            client_header="x-forwarded-for", unknown_rate="5/s", client_rate="100/s",
            domains={"file": str(files.domains)}, **files.settings(),
            kafka_settings={"topic_counters": kafka.create_topic("counters")})
        yield Scene(redirector, files, own_redis, kafka_server)
        kafka_server.signal(signal.SIGCONT)


def others(redirector, codes):
    """Other visitors: from many networks, for many links and for codes without one."""
    address = redirector.section["listen"]
    draw = random.Random(7)

    def step():
        code = draw.choice([*codes, "".join(draw.choices(LETTERS, k=7)),
                            "robots.txt", ".well-known/assetlinks.json"])
        ask(address, draw.choice(["GET", "GET", "HEAD", "POST"]), f"/{code}", **{
            "X-Forwarded-For": f"8.8.{draw.randrange(256)}.{draw.randrange(9)}",
            "User-Agent": draw.choice(["curl/8", "iPhone MicroMessenger", "Android"])})
    return step


def watcher(redirector):
    admin = redirector.section["admin"]
    return lambda: [ask(admin, "GET", path) for path in ("/metrics", "/readyz")]


def editor(links, code):
    """Redirectors are notified of each change."""
    turn = itertools.count()

    def step():
        state = ("live", "blocked")[next(turn) % 2]
        # Redis may be down.
        links.call("PATCH", f"/{code}", state=state)
    return step


@pytest.mark.long
@pytest.mark.timeout(600 + 5 * SECONDS)
def test_whatever_happens_at_once_each_answered_visit_is_told(
        scene, own_links, clicks, record_property):
    good = own_links.create()
    changed, counted = own_links.create(), own_links.create(max_visits=1000)
    redirector = scene.redirector
    steps = (others(redirector, [changed, counted]), watcher(redirector),
             editor(own_links, changed))
    until = time.monotonic() + SECONDS
    with contextlib.ExitStack() as stack:
        besides = [stack.enter_context(Beside(step)) for step in steps]
        visitors = stack.enter_context(Visitors(redirector, good, pause=0.001))
        while time.monotonic() < until or not scene.happened:
            scene.play(visitors)
    assert all(beside.count for beside in besides)
    redirector.wait_metric(0, "shortloop_redirector_spool_events")
    assert redirector.metric("shortloop_redirector_events_dropped_total") == 0
    told = visits_told([event for event in clicks(redirector)
                        if event.query.startswith(b"n=")])
    assert set(visitors.answered) <= told.keys()
    record_property("summary", (
        f"{len(scene.happened)} scenes, {len(visitors.answered)} visits answered, "
        f"{[beside.count for beside in besides]} times beside"))
