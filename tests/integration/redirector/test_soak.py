"""A redirector that runs for a long time, with more links than its cache holds and
servers that go down: at the end it has as much memory and as many descriptors as near
the start.

SOAK_CODES (5 million) sets the number of links, SOAK_SECONDS (600) the duration of
their visits.  A fifth of that is for filling up: minute 2 of ten.  Small numbers give a
quick check: SOAK_CODES=200000 SOAK_SECONDS=60."""
import json
import os
import signal
import statistics
import subprocess
import time

import pytest
import redis
import requests

import servers
from support import memory
from support.keys import API_KEY
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    domains_config, make_links, own_links, start)
from support.server import RedisServer

CODES = int(os.environ.get("SOAK_CODES", 5_000_000))
SECONDS = float(os.environ.get("SOAK_SECONDS", 600))
BATCH = 50_000
# Every fifth visit is to one of a few codes, which stay in the cache; without Redis
# only these are answered.
HOT = max(10, CODES // 5000)
# Each code is looked up at least once, even if a fifth of the visits finds no Redis.
RATE = max(100, round(1.25 * 1.25 * CODES / SECONDS))
CONNECTIONS, EACH = 64, 1000
# 64 MiB for five million, the default; an entry takes 200 to 400 bytes.
CACHE_BYTES = max(1 << 20, CODES * 13)
AWAY = SECONDS / 40
WINDOW = SECONDS / 30
GROWTH = 0.02
# Memory of malloc: events under way take less than this at any moment.
TRANSIENT = memory.MIB / 2
# The queue for Kafka in memory is full once before the first sample, as the cache is.
QUEUE = {"queue_messages": 10000}
JOURNAL = "4MiB"
SPARE_DESCRIPTORS = 2  # a client of Kafka may keep one more connection for a while
OUTAGES = (("kafka",), ("redis",), ("kafka", "redis"), ("kafka",), ("redis",))

SPOOLED = "shortloop_redirector_spool_events"
LOOKUPS = "shortloop_redirector_redis_lookups_total"
EVICTIONS = "shortloop_redirector_cache_evictions_total"
DROPPED = "shortloop_redirector_events_dropped_total"


# --- links -----------------------------------------------------------------------------

@pytest.fixture
def own_redis(workdir):
    """The data written by SAVE survive a kill.  Reading a log of five million links
    would take longer."""
    server = RedisServer(workdir / "redis")
    yield server.start()
    server.kill()


LINKS_SECTION = {"ttl_classes": ["30d"], "spaces": [
    {"name": "s7", "number": 1, "length": 7, "strategy": "sequence"}]}


def create(allocator, first, count):
    lines = "".join(f'{{"url":"https://example.org/{first + i}","ttl":"30d"}}\n'
                    for i in range(count))
    answer = requests.post(
        f"{allocator.url}/v1/links/batch", data=lines, timeout=600,
        headers={"Authorization": f"Bearer {API_KEY}",
                 "Content-Type": "application/x-ndjson"})
    codes = [json.loads(line)["code"] for line in answer.text.splitlines()]
    assert len(codes) == count
    return codes


@pytest.fixture
def codes(own_links, own_redis, workdir):
    """Returns a file with all codes, every fifth a hot one; the allocator has ended."""
    path, hot = workdir / "codes", []
    with path.open("w") as out:
        for first in range(0, CODES, BATCH):
            made = create(own_links.allocator, first, min(BATCH, CODES - first))
            hot = hot or made[:HOT]
            for n, code in enumerate(made):
                out.write(code + "\n")
                if n % 4 == 3:
                    out.write(hot[n // 4 % len(hot)] + "\n")
    assert own_links.allocator.stop(600) == 0
    with redis.Redis(port=own_redis.port, socket_timeout=600) as client:
        assert client.dbsize() >= CODES
        assert client.save()
    return path


# --- load ------------------------------------------------------------------------------

def compiled(out, source, *options):
    subprocess.run(["cc", "-O2", *options, "-o", out, servers.ROOT / source],
                   check=True)
    return out


@pytest.fixture
def load(start, kafka, codes, workdir):
    """Visits all of them in turn, again and again, at RATE."""
    tool = compiled(workdir / "bench_load", "tests/bench/bench_load.c", "-D_GNU_SOURCE")
    library = compiled(workdir / "heap_info.so",
                       "tests/integration/support/heap_info.c", "-shared", "-fPIC")
    heap = workdir / "heap"
    made = Load(start(spool_dir=str(workdir / "spool"), spool_journal_bytes=JOURNAL,
                      cache_size=f"{CACHE_BYTES}B", lookup_timeout="1s",
                      kafka_settings=QUEUE,
                      env={"LD_PRELOAD": str(library), "HEAP_INFO": str(heap)}),
                tool, codes, heap)
    yield made
    made.process.kill()


class Load:
    """A link that is not in the cache gets 503 while Redis is down."""

    def __init__(self, redirector, tool, codes, heap):
        self.heap = heap
        port = redirector.section["listen"].rpartition(":")[2]
        self.redirector = redirector
        self.process = subprocess.Popen(
            [*servers.END_WITH_PARENT, tool, "-r", "-o", "503", port, f"@{codes}",
             str(10 * SECONDS), str(CONNECTIONS), str(RATE), str(EACH)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def goes_on(self):
        if self.process.poll() is not None:
            raise AssertionError(self.process.communicate()[1])
        return True

    def stop(self):
        self.process.terminate()
        out, said = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, said
        return json.loads(out)


# --- memory and descriptors --------------------------------------------------------------

class Window:
    """Samples for WINDOW seconds, five times a second: the medians of the resident set,
    of its anonymous part, of malloc's allocations, and of the descriptors."""

    def __init__(self, load):
        pid, taken = load.redirector.process.pid, []
        until = time.monotonic() + WINDOW
        while time.monotonic() < until:
            now = memory.status(pid)
            taken.append((now["VmRSS"], now["RssAnon"], memory.heap_in_use(load.heap),
                          len(os.listdir(f"/proc/{pid}/fd"))))
            time.sleep(0.2)
        self.resident, self.anonymous, self.in_use, self.descriptors = map(
            statistics.median, zip(*taken))

    def __str__(self):
        return (f"{self.resident / memory.MIB:.2f} MiB resident, "
                f"{self.anonymous / memory.MIB:.2f} anonymous, "
                f"{self.in_use / memory.MIB:.2f} in use, "
                f"{self.descriptors:g} descriptors")


def has_not_grown(full, end, transient=0):
    return end - full <= max(GROWTH * full, transient)


def settle(load):
    """Waits until everything is as without an outage: ready, and nothing on disk."""
    redirector = load.redirector
    eventually(lambda: load.goes_on() and redirector.ready()[0] == 200 and
               redirector.metric(SPOOLED) == 0, 300 + SECONDS,
               what="events replayed")


def fill_queue(load, kafka):
    """A broker that hangs is waited for, unlike one that is down."""
    kafka.signal(signal.SIGSTOP)
    try:
        eventually(lambda: load.redirector.metric(SPOOLED) > 0, SECONDS,
                   what="no room in the queue")
    finally:
        kafka.signal(signal.SIGCONT)
    settle(load)


def outage(load, away):
    """It ends when everything is normal again."""
    redirector = load.redirector
    unavailable = redirector.metric("shortloop_redirector_answers_total", status="503")
    for server in away:
        server.kill()
    if any(server.name == "kafka" for server in away):
        eventually(lambda: redirector.metric(SPOOLED) > 0, what="events spooled")
    if any(server.name == "redis" for server in away):
        eventually(lambda: redirector.metric(
            "shortloop_redirector_answers_total", status="503") > unavailable)
    time.sleep(AWAY)
    for server in away:
        server.start()
    settle(load)


def is_full(redirector):
    """Returns whether each thread's cache drops one entry for another."""
    return min(redirector.series(EVICTIONS)) > 0


def looked_up(redirector):
    return redirector.metric(LOOKUPS, result="answered")


def wait_until(load, moment):
    while time.monotonic() < moment:
        load.goes_on()
        time.sleep(0.2)


@pytest.mark.long
@pytest.mark.timeout(1800 + 20 * SECONDS)
def test_neither_memory_nor_descriptors_grow(load, own_redis, kafka, kafka_server,
                                             record_property):
    redirector, by_name = load.redirector, {"redis": own_redis, "kafka": kafka_server}
    pid = redirector.process.pid
    begun = time.monotonic()

    # Memory that an outage takes for the first time belongs to filling up; the cache
    # comes first, since it would take what a queue gives back.
    eventually(lambda: load.goes_on() and is_full(redirector), 5 * SECONDS,
               what="a full cache")
    fill_queue(load, kafka_server)
    outage(load, by_name.values())
    wait_until(load, begun + SECONDS / 5)
    settle(load)
    full = Window(load)

    between = []  # MiB, for the analysis of a failure
    for i, away in enumerate(OUTAGES):
        wait_until(load, begun + SECONDS * (0.25 + 0.14 * i))
        outage(load, [by_name[name] for name in away])
        between.append(round(memory.status(pid)["RssAnon"] / memory.MIB, 2))
    eventually(lambda: load.goes_on() and looked_up(redirector) >= CODES,
               5 * SECONDS, what="all codes looked up")
    wait_until(load, begun + SECONDS - WINDOW)
    settle(load)
    end = Window(load)

    answered = load.stop()
    text = (f"{CODES} codes, {answered['requests']} visits, {answered['others']} of them "
            f"503; full: {full}; anonymous after each outage: {between}; "
            f"at the end: {end}")
    record_property("summary", text)
    assert has_not_grown(full.in_use, end.in_use, TRANSIENT), text
    assert has_not_grown(full.resident, end.resident), text
    assert has_not_grown(full.anonymous, end.anonymous), text
    assert end.descriptors <= full.descriptors + SPARE_DESCRIPTORS, text
    assert redirector.metric(DROPPED) == 0
    assert redirector.stop() == 0
    told = sum(kafka.ends(redirector.topic).values())
    assert told >= answered["requests"] - answered["others"]
