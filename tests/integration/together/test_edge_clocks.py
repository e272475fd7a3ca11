"""Redirectors whose clocks are wrong, go back or jump ahead: which links exist, who is
notified, and that each visit is reported once, depend on Redis' clock or on none."""
import collections
import datetime
import email.utils
import time

import pytest

from support import protobuf
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    DAY, LINKS_SECTION, Links, change_and_wait, clicks, domains_config, links,
    make_links, start, visit)
from support.spaces import snowflakes

Counters = protobuf.message("counters.proto", "shortloop.RedirectorCounters")
HOUR = 3600
SKEWS = {"two hours behind": -2 * HOUR, "three days behind": -72 * HOUR,
         "two hours ahead": 2 * HOUR, "three days ahead": 72 * HOUR}

LINKS_SECTION = {**LINKS_SECTION, "spaces": [*LINKS_SECTION["spaces"], snowflakes()]}


def status(redirector, code):
    return visit(f"{redirector.url}/{code}").status_code


def in_seconds(seconds):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (now + datetime.timedelta(seconds=seconds)).isoformat()


# --- existing links ---------------------------------------------------------------

@pytest.mark.parametrize("seconds", SKEWS.values(), ids=SKEWS)
def test_links_are_there_from_the_first_moment_until_their_end_by_redis(
        links, start, skew, seconds):
    redirector = start(env=skew(seconds), cache_negative_ttl="0s")
    said = f"Redis' clock is {abs(seconds) // HOUR}h " if abs(seconds) < DAY // 1000 \
        else f"Redis' clock is {abs(seconds) // HOUR // 24}d "
    eventually(lambda: said in redirector.ready()[1], what="/readyz to say so")
    assert redirector.ready()[0] == 200
    codes = {space: links.create(space=space) for space in ("s7", "flakes")}
    assert {space: status(redirector, code) for space, code in codes.items()} == {
        "s7": 302, "flakes": 302}
    begun, later = (links.create(not_before=in_seconds(n)) for n in (-60, 1800))
    assert (status(redirector, begun), status(redirector, later)) == (302, 404)
    coming = links.create(not_before=in_seconds(4))
    eventually(lambda: status(redirector, coming) == 302, 30,
               what="the beginning by Redis' clock")
    # The link ends: Redis has deleted it, and the redirector's cache has dropped it.
    brief = links.create(ttl="3s")
    eventually(lambda: not list(links.redis.scan_iter(f"l:*:{brief}")),
               what="the end of the link")
    assert status(redirector, brief) in (404, 410)


def test_a_code_that_may_be_anothers_soon_is_told_as_nobodys(
        links, start, clicks, skew):
    """The block was opened again a moment ago: a code that is not issued yet was the
    former owner's, or will be another's, whatever this host's clock is."""
    redirector = start(env=skew(72 * HOUR), cache_negative_ttl="0s", threads=1)
    code = links.create(owner="ann")
    marker = links.marker_key(code)
    _, _, *rest = links.redis.get(marker).split(" ")
    links.redis.delete(links.key(code))

    links.redis.set(marker, " ".join(["2", "o", *rest]))
    assert status(redirector, code) == 410
    # The code was never issued, as far as is known.
    links.redis.set(marker, " ".join(["1", "o", "3s", *rest[1:]]))
    rest[1] = str(int(rest[1]) + 60_000)
    links.redis.set(marker, " ".join(["1", "o", "30d", *rest[1:]]))
    assert status(redirector, code) == 404
    assert [c.link_id for c in clicks(redirector)] == [0, 0]


# --- reported visits --------------------------------------------------------------

# The times that a clock is set to, one after the other.
JOURNEY = [0, 72 * HOUR, 0, -1, -2 * HOUR, -72 * HOUR, -1, 2 * HOUR]


class Edge:
    """A redirector whose clock is set while it runs."""

    def __init__(self, start, links, wall_clock, workdir, counters):
        self.clock, self.code, self.visits = wall_clock, links.create(), 0
        self.counters = counters
        self.program = start(
            env=wall_clock.env, spool_dir=str(workdir / "spool"), threads=1,
            instance="here", counters_every="100ms", linger="300ms",
            client_rate="1/m", client_burst=VISITS, limit_exempt=[],
            cache_ttl="1h",
            kafka_settings={"topic_counters": self.counters})

    def visit(self, expected=302):
        got = visit(f"{self.program.url}/{self.code}?n={self.visits}")
        assert got.status_code == expected
        self.visits += expected == 302
        return got


# Per network; then one a minute.
VISITS = 26


@pytest.fixture
def make_edge(start, links, kafka, wall_clock, workdir):  # noqa: F811
    def make(timestamps="LogAppendTime"):
        return Edge(start, links, wall_clock, workdir, kafka.create_topic(
            "counters", message_timestamp_type=timestamps))
    return make


@pytest.fixture
def edge(make_edge):
    return make_edge()


def last_counters(kafka, edge):
    last = {}
    for message in kafka.consume(edge.counters):
        record = Counters.FromString(message.value())
        known = last.setdefault((record.boot, record.hour_ms), record)
        if record.sequence > known.sequence:
            last[record.boot, record.hour_ms] = record
    return last.values()


def test_each_visit_is_told_once_wherever_the_clock_goes(edge, clicks, kafka):
    told = []  # (hour, error of the clock) of each visit
    for seconds in JOURNEY:
        edge.clock.set(seconds)
        for _ in range(3):
            answer = edge.visit()
            told.append(seconds)
        date = email.utils.parsedate_to_datetime(answer.headers["Date"])
        assert abs(date.timestamp() - time.time() - seconds) < 60
        # Periodic reports continue: those of the counters.
        before = edge.program.metric("shortloop_kafka_delivered_total",
                                     topic=edge.counters)
        eventually(lambda: edge.program.metric(
            "shortloop_kafka_delivered_total", topic=edge.counters) > before, 15, what=f"{seconds}")
        # Events in the journal belong to the next start, three days before or after.
        edge.program.kill()
        edge.program.start()
    events = clicks(edge.program)
    ids = collections.defaultdict(list)
    for event in events:
        ids[event.event_id_high, event.event_id].append(event)
    assert len(ids) == edge.visits == len(told)
    for same in ids.values():
        assert len({(e.query, e.time_ms) for e in same}) == 1
        assert sum(not e.maybe_sent for e in same) <= 1
    times = sorted((int(same[0].query[2:]), same[0].time_ms) for same in ids.values())
    for (n, time_ms), seconds in zip(times, told):
        assert abs(time_ms / 1000 - time.time() - seconds) < 600, n

    last = last_counters(kafka, edge)
    assert not any(record.inexact for record in last)
    assert sum(record.redirected for record in last) == edge.visits
    hours = collections.Counter(ms // 3_600_000 for _, ms in times)
    for record in last:
        hours[record.hour_ms // 3_600_000] -= record.redirected
    assert not any(hours.values())


def test_limits_and_what_is_remembered_go_by_no_wall_clock(edge, links):
    """A clock that jumps ahead lets no request through, and one that goes back refuses
    none."""
    edge.visit()
    before = edge.program.metric("shortloop_redirector_redis_lookups_total",
                                 result="answered")
    for seconds in [72 * HOUR, -72 * HOUR, 0] * 8:
        edge.clock.set(seconds)
        edge.visit()
    # All answers come from the cache, except where a heartbeat of Redis was late.
    assert edge.program.metric("shortloop_redirector_redis_lookups_total",
                               result="answered") <= before + 3
    change_and_wait(links, edge.program, edge.code, url="https://example.org/changed")
    assert edge.visit().headers["Location"].endswith("/changed")
    refused = None
    for seconds in [72 * HOUR, -72 * HOUR] * 30:
        edge.clock.set(seconds)
        got = visit(f"{edge.program.url}/{edge.code}")
        if got.status_code == 429:
            refused = got
            break
    assert refused is not None
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_counters_that_a_topic_refuses_are_told_when_the_clock_is_right(
        make_edge, kafka):
    """The topic has no times of the brokers: they refuse records that are an hour
    ahead."""
    edge = make_edge("CreateTime")
    edge.clock.set(2 * HOUR)
    edge.visit()
    edge.program.wait_log("this host's clock is wrong, and the topic goes by it")
    edge.clock.set(0)
    edge.visit()
    assert edge.program.stop() == 0
    last = last_counters(kafka, edge)
    assert sum(record.redirected for record in last) == 2
    assert len({record.hour_ms for record in last if record.redirected}) == 2


@pytest.mark.parametrize("seconds", [2 * HOUR, 0])
def test_events_of_links_that_a_topic_refuses_are_told_on_readyz(
        links, program, kafka, skew, seconds):
    topic = kafka.create_topic("links", message_timestamp_type="CreateTime")
    config = links.allocator.config
    assert links.allocator.stop() == 0  # the node number is free for the next
    made = program("allocator", {
        "links": config["links"], "kafka": {"topic_links": topic},
        "allocator": {"keys_file": config["allocator"]["keys_file"]}},
        env=skew(seconds))
    Links(made, links.redis).create()
    if not seconds:
        made.wait_metric(1, "shortloop_kafka_delivered_total", topic=topic)
    eventually(lambda: ("link events are being lost: kafka: Broker: Invalid timestamp"
                        in made.ready()[1]) == bool(seconds))
    assert made.ready()[0] == 200
    assert made.metric("shortloop_allocator_events_lost_total") == bool(seconds)
