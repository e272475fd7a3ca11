"""Redis is down, slow, or back: which visits wait, which do not, and how many query at
once."""
import collections
import concurrent.futures
import signal
import socket
import threading

import pytest

from support.program import eventually, series_of
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, own_links, start, visit)
from support.redis_proxy import RedisProxy

ANSWERS = "shortloop_redirector_answers_total"
BREAKERS = "shortloop_redirector_breakers"
CHANGES = "shortloop_redirector_breaker_changes_total"
ASKED = "shortloop_redirector_questions_total"


def status(redirector, code):
    return visit(f"{redirector.url}/{code}").status_code


def unavailable(redirector, outcome):
    return redirector.metric(ANSWERS, outcome=outcome, status="503")


def breaker(redirector, of="master"):
    """Returns the state in a redirector with one thread; None in the middle of a
    change."""
    text = visit(f"{redirector.admin}/metrics").text
    states = [labels["state"] for labels, count in series_of(text, BREAKERS)
              if labels["of"] == of and count == 1]
    return states[0] if len(states) == 1 else None


@pytest.fixture
def slow(redis_server, start, base_config):
    """A redirector with a short timeout of look-ups, whose answers from Redis can be
    held back: .proxy."""
    with RedisProxy(redis_server.port) as proxy:
        base_config["redis"].update(address=proxy.address,
                                    command_timeout="10m")

        def make(**settings):
            made = start(**{"threads": 1, "cache_ttl": "1h",
                            "lookup_timeout": "200ms", "breaker_failures": 3,
                            "breaker_wait_max": "1m", **settings})
            made.proxy = proxy
            return made
        yield make


def open_it(redirector, codes):
    """Redis never answers the look-up of the first of three codes, nor later ones on
    that connection; returns the hold."""
    held = redirector.proxy.hold_answer(b"MGET", codes[0].encode())
    for code in codes[:3]:
        assert status(redirector, code) == 503
    eventually(lambda: breaker(redirector) in ("open", "half-open"),
               what="the breaker")
    return held


# --- slow ----------------------------------------------------------------------------

def test_who_waits_for_a_slow_redis_waits_for_a_while_only(links, slow):
    redirector = slow(breaker_failures=1000)
    cached, other = links.create(), links.create()
    eventually(lambda: status(redirector, cached) == 302)
    held = redirector.proxy.hold_answer(b"MGET", other.encode())
    answer = visit(f"{redirector.url}/{other}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    # It may be late on its way to Redis, too.
    assert held.here.wait(60) and not held.gone.is_set()
    assert unavailable(redirector, "late") >= 1
    assert status(redirector, cached) == 302
    held.release()
    eventually(lambda: status(redirector, other) == 302)


def test_after_failures_in_a_row_nobody_waits_and_redis_is_let_alone(
        links, slow):
    redirector = slow()
    cached = links.create()
    codes = [links.create() for _ in range(3)]
    eventually(lambda: status(redirector, cached) == 302)
    held = open_it(redirector, codes)
    # One look-up is tried now and then, at growing intervals; all others get the
    # refusal.
    asked = redirector.metric(ASKED, of="master")
    for code in codes * 8:
        assert status(redirector, code) == 503
    assert redirector.metric(ASKED, of="master") - asked <= 8
    assert unavailable(redirector, "breaker_open") >= 16
    assert status(redirector, cached) == 302
    assert redirector.metric(CHANGES, of="master", to="open") >= 1
    held.release()
    for code in codes:
        eventually(lambda: status(redirector, code) == 302)
    assert breaker(redirector) == "closed"
    assert redirector.metric(CHANGES, of="master", to="closed") >= 1
    eventually(lambda: "look-ups" not in redirector.ready()[1])


@pytest.fixture
def stalling(own_redis):
    """While it is set, Redis stalls for three fifths of each half second."""
    goes_on, ended = threading.Event(), threading.Event()
    client = own_redis.client()

    def stall():
        while not ended.wait(0.5):
            if goes_on.is_set():
                client.client_pause(300)
    thread = threading.Thread(target=stall)
    thread.start()
    yield goes_on
    ended.set()
    thread.join()


def test_a_redis_that_stalls_now_and_then_is_let_alone(own_links, stalling, start):
    """There are never enough failures in a row to open the breaker."""
    redirector = start(threads=1, cache_ttl="0s", lookup_timeout="100ms",
                       breaker_failures=10000)
    codes = [own_links.create() for _ in range(8)]  # one code shares look-ups
    for code in codes:
        eventually(lambda c=code: status(redirector, c) == 302)
    refused = unavailable(redirector, "breaker_open")
    stop = threading.Event()

    def visits(code):
        while not stop.wait(0.05):
            status(redirector, code)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        visitors = [pool.submit(visits, code) for code in codes]
        try:
            stalling.set()
            eventually(lambda: redirector.metric(CHANGES, of="master", to="open"))
        finally:
            stalling.clear()
            stop.set()
    assert all(v.exception() is None for v in visitors)
    # A link that was answered once stood in, and does so at once.
    assert unavailable(redirector, "breaker_open") == refused
    eventually(lambda: status(redirector, codes[0]) == 302 and
               breaker(redirector) == "closed")


def test_an_open_breaker_is_told_and_tried_without_visits(links, slow):
    redirector = slow()
    codes = [links.create() for _ in range(3)]
    held = open_it(redirector, codes)
    redirector.wait_log("look-ups paused")
    # The redirector is not ready while the breaker is open; half-open, visits are its
    # trials.
    eventually(lambda: breaker(redirector) == "half-open",
               what="half-open by itself")
    code, text = redirector.ready()
    assert code == 200
    assert "look-ups: the breaker is half-open on 1 of 1 threads" in text
    assert status(redirector, codes[0]) == 503
    states = collections.Counter()

    def told():
        states[redirector.ready()] += 1
        return any(c == 503 and "look-ups: the breaker is open" in t
                   for c, t in states)
    assert status(redirector, codes[1]) == 503

    def told_when_tried():
        if breaker(redirector) == "half-open":
            status(redirector, codes[2])
        return told()
    eventually(told_when_tried, what="that it is open")  # waits become longer
    held.release()
    eventually(lambda: status(redirector, codes[0]) == 302)
    redirector.wait_log("look-ups resumed")


def test_counted_visits_are_not_tried_while_it_is_open(links, slow):
    redirector = slow()
    counted = links.create(max_visits=50)
    codes = [links.create() for _ in range(3)]
    eventually(lambda: status(redirector, counted) == 302)
    held = open_it(redirector, codes)
    # A visit may itself be the trial, and waits then, but not each time.
    before = unavailable(redirector, "breaker_open")
    answers = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def refused():
            answers.append(pool.submit(status, redirector, counted))
            return unavailable(redirector, "breaker_open") >= before + 7
        eventually(refused, what="seven that are not tried")
        held.release()
        assert {a.result() for a in answers} <= {302, 503}
    eventually(lambda: status(redirector, counted) == 302)


# --- back ----------------------------------------------------------------------------

class Visitors:
    """Many connections, with a request each for a code of its own."""

    def __init__(self, redirector, codes):
        host, port = redirector.section["listen"].split(":")
        self.codes = codes
        self.sockets = [socket.create_connection((host, int(port)), 60)
                        for _ in codes]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sock in self.sockets:
            sock.close()

    def ask(self):
        for sock, code in zip(self.sockets, self.codes):
            sock.sendall(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % code.encode())

    def answers(self):
        return collections.Counter(
            int(sock.recv(65536).split(b" ")[1]) for sock in self.sockets)


def missed(redirector):
    return redirector.metric("shortloop_redirector_cache_lookups_total",
                             result="miss")


def test_those_who_waited_do_not_ask_all_at_once(links, slow):
    """Redis has been connected to, and is queried for 200 codes."""
    redirector = slow(lookups_at_first=4, lookup_timeout="60s")
    codes = [links.create() for _ in range(200)]
    held = redirector.proxy.hold_answer(b"MGET")
    with Visitors(redirector, codes) as visitors:
        visitors.ask()
        assert held.here.wait(60)
        eventually(lambda: missed(redirector) == 200, what="all look-ups")
        assert redirector.metric(ASKED, of="master") == 4
        held.release()
        assert visitors.answers() == {302: 200}
    assert redirector.metric(ASKED, of="master") == 200


def test_a_redis_that_was_killed_is_asked_for_one_link_first(
        own_redis, own_links, start):
    redirector = start(threads=1, breaker_failures=3)
    codes = [own_links.create() for _ in range(5)]
    own_redis.signal(signal.SIGSTOP)
    with Visitors(redirector, codes[:4]) as visitors:
        visitors.ask()
        eventually(lambda: missed(redirector) == 4, what="all look-ups")
        own_redis.kill()
        assert visitors.answers() == {503: 4}
    assert redirector.metric(CHANGES, of="master", to="open") == 1
    own_redis.start()
    eventually(lambda: status(redirector, codes[4]) == 302)
    assert redirector.metric(CHANGES, of="master", to="half-open") >= 1
    assert breaker(redirector) == "closed"
    for code in codes:
        assert status(redirector, code) == 302


# --- one write a turn ------------------------------------------------------------------

def test_look_ups_of_one_turn_leave_in_one_write(own_redis, own_links, start):
    count = 24  # fewer than the events of one turn of the loop
    redirector = start(threads=1, lookups_at_first=2000)
    codes = [own_links.create() for _ in range(count + 1)]
    assert status(redirector, codes[-1]) == 302
    own_links.allocator.stop()
    client = own_redis.client()
    with Visitors(redirector, codes[:count]) as visitors:
        # The connections are accepted in earlier turns.
        eventually(lambda: redirector.metric(
            "shortloop_http_connections", listener="redirector") >= count)
        redirector.process.signal(signal.SIGSTOP)
        before = client.info()
        visitors.ask()
        redirector.process.signal(signal.SIGCONT)
        assert visitors.answers() == {302: count}
        after = client.info()
    reads, commands = (
        after[name] - before[name] for name in
        ("total_reads_processed", "total_commands_processed"))
    asked = 2 * count  # PTTL and MGET
    others = commands - asked  # each of them may need a read of its own
    assert 0 <= others
    assert reads - others <= 3, (reads, commands)
