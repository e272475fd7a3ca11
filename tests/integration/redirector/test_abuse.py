"""Clients that send too many requests: rates by network, and what other clients get."""
import collections
import concurrent.futures
import signal
import time
import uuid

import pytest
import requests

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start, visit)
from support.spaces import aliases

ENUMERATOR, NEIGHBOUR, OTHER = "198.51.100.1", "198.51.100.2", "203.0.113.7"
NOT_DECODING = "zzzzzzz"
LINKS_SECTION = {**LINKS_SECTION, "spaces": [  # any name may be requested
    *LINKS_SECTION["spaces"], aliases(number=2)]}


@pytest.fixture
def limited(start):
    """limited(setting=...) starts a redirector behind a proxy, with one thread unless
    more are given."""
    return lambda **settings: start(
        **{"threads": 1, "trusted_proxies": ["127.0.0.0/8"], **settings})


def ask(redirector, code, client, **kw):
    return visit(f"{redirector.url}/{code}", **kw,
                 headers={"X-Forwarded-For": client})


def status(redirector, code, client):
    return ask(redirector, code, client).status_code


def guess():
    return "name-" + uuid.uuid4().hex


def guesses(redirector, client, count):
    return [status(redirector, guess(), client) for _ in range(count)]


def asked(redirector):
    return redirector.metric("shortloop_redirector_redis_lookups_total",
                             result="answered")


# --- codes without a link ---------------------------------------------------------

@pytest.mark.proof
def test_guessing_names_asks_redis_no_more_than_the_burst(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=40)
    assert guesses(redirector, ENUMERATOR, 100) == [404] * 40 + [429] * 60
    redirector.wait_metric(60, "shortloop_redirector_answers_total",
                           outcome="over_unknown", status="429")
    assert asked(redirector) == 40
    calls = links.redis.info("commandstats")["cmdstat_mget"]["calls"]
    assert guesses(redirector, ENUMERATOR, 10) == [429] * 10
    assert links.redis.info("commandstats")["cmdstat_mget"]["calls"] == calls


def test_guessing_over_many_connections_at_once_asks_no_more(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=40)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(
            lambda _: status(redirector, guess(), ENUMERATOR), range(160)))
    assert (answers.count(404), answers.count(429)) == (40, 120)


def test_guessing_asks_no_more_than_its_rate_in_the_long_run(links, limited):
    redirector = limited(unknown_rate="50/s", unknown_burst=10)
    begun = time.monotonic()
    answers = guesses(redirector, ENUMERATOR, 300)
    took = time.monotonic() - begun
    assert 10 <= answers.count(404) <= 10 + 50 * took + 1
    eventually(lambda: asked(redirector) == answers.count(404))


def test_others_are_served_beside_one_who_guesses(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=3)
    code = links.create()
    assert guesses(redirector, ENUMERATOR, 4)[-1] == 429
    assert status(redirector, guess(), NEIGHBOUR) == 404
    assert status(redirector, code, OTHER) == 302


def test_cached_links_go_on_for_one_who_guesses(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=3, cache_ttl="50ms")
    cached, other = links.create(), links.create()
    assert status(redirector, cached, OTHER) == 302
    assert guesses(redirector, ENUMERATOR, 4)[-1] == 429
    before = asked(redirector)
    for _ in range(20):
        assert status(redirector, cached, ENUMERATOR) == 302
    # A known link stays known, also when Redis is queried for it again.
    def asked_again():
        assert status(redirector, cached, ENUMERATOR) == 302
        return asked(redirector) > before
    eventually(asked_again, what="another question")
    # The answer is never a 404, as there is a link.
    assert status(redirector, other, ENUMERATOR) == 429
    assert status(redirector, other, OTHER) == 302
    assert status(redirector, other, ENUMERATOR) == 302


def test_codes_that_cannot_be_cost_a_token_and_no_redis(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=3)
    assert [status(redirector, NOT_DECODING, ENUMERATOR)
            for _ in range(5)] == [404] * 3 + [429] * 2
    assert guesses(redirector, ENUMERATOR, 1) == [429]
    redirector.wait_metric(3, "shortloop_redirector_refused_codes_total")
    assert asked(redirector) == 0


def test_visitors_of_links_pay_nothing(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=1, cache_size=0)
    codes = [links.create() for _ in range(5)]
    deleted = links.create()
    links.delete(deleted)
    assert [status(redirector, code, ENUMERATOR) for code in codes * 3] == (
        [302] * 15)
    assert status(redirector, deleted, ENUMERATOR) == 410
    assert guesses(redirector, ENUMERATOR, 2) == [404, 429]


def test_visits_that_wait_for_one_answer_pay_for_one_question(
        make_links, own_redis, limited):
    links = make_links(own_redis.client())
    redirector = limited(unknown_rate="1/h", unknown_burst=2)
    code, waiting = links.create(), 12
    with concurrent.futures.ThreadPoolExecutor(waiting) as pool:
        own_redis.signal(signal.SIGSTOP)
        answers = [pool.submit(status, redirector, code, ENUMERATOR)
                   for _ in range(waiting)]
        eventually(lambda: redirector.metric(
            "shortloop_redirector_cache_lookups_total",
            result="miss") == waiting)
        own_redis.signal(signal.SIGCONT)
        assert [a.result() for a in answers] == [302] * waiting
    assert guesses(redirector, ENUMERATOR, 3) == [404, 404, 429]


def test_what_was_refused_may_be_asked_for_after_the_wait(links, limited):
    redirector = limited(unknown_rate="1/s", unknown_burst=1)
    code = links.create()
    answers = [ask(redirector, guess(), ENUMERATOR) for _ in range(5)]
    limited_ones = [a for a in answers if a.status_code == 429]
    assert {a.headers["Retry-After"] for a in limited_ones} <= {"1"}
    assert all(a.headers["Cache-Control"] == "no-store" for a in limited_ones)
    eventually(lambda: status(redirector, code, ENUMERATOR) == 302)


def test_a_refused_guess_is_no_event(links, limited, clicks):
    redirector = limited(unknown_rate="1/h", unknown_burst=2)
    assert guesses(redirector, ENUMERATOR, 6).count(429) == 4
    assert len(clicks(redirector)) == 2


def test_a_redis_that_is_away_costs_no_token(make_links, own_redis, limited):
    links = make_links(own_redis.client())
    redirector = limited(unknown_rate="1/h", unknown_burst=2)
    code = links.create()
    own_redis.kill()
    for _ in range(5):
        assert status(redirector, code, ENUMERATOR) == 503
    own_redis.start()
    eventually(lambda: redirector.ready()[0] == 200, what="Redis again")
    assert guesses(redirector, ENUMERATOR, 3) == [404, 404, 429]


# --- all requests -----------------------------------------------------------------

def test_a_network_gets_no_more_than_its_rate(links, limited, clicks):
    redirector = limited(client_rate="1/h", client_burst=5)
    code = links.create()
    assert [status(redirector, code, ENUMERATOR) for _ in range(8)] == (
        [302] * 5 + [429] * 3)
    assert 3500 <= int(ask(redirector, "", ENUMERATOR).headers[
        "Retry-After"]) <= 3600
    assert status(redirector, code, NEIGHBOUR) == 302
    redirector.wait_metric(4, "shortloop_redirector_answers_total",
                           outcome="over_rate", status="429")
    assert len(clicks(redirector)) == 6


@pytest.mark.parametrize("rule, what, well, outcome", [
    ("client", lambda code: code, 302, "over_rate"),
    ("unknown", lambda code: guess(), 404, "over_unknown")])
def test_each_thread_has_the_burst_once(links, limited, rule, what, well, outcome):
    """One connection gets no more than one burst; a client with many connections gets
    one for each thread."""
    threads, burst = 3, 10
    redirector = limited(threads=threads, **{f"{rule}_rate": "1/h",
                                             f"{rule}_burst": burst})
    code = links.create()
    with requests.Session() as one:
        assert [one.get(f"{redirector.url}/{what(code)}", allow_redirects=False,
                        headers={"X-Forwarded-For": NEIGHBOUR}).status_code
                for _ in range(2 * burst)] == [well] * burst + [429] * burst
    # A thread gets less than its burst of 200 connections once in 10^21 runs.
    answers = [status(redirector, what(code), ENUMERATOR) for _ in range(200)]
    assert collections.Counter(answers) == {
        well: threads * burst, 429: 200 - threads * burst}
    redirector.wait_metric(burst + 200 - threads * burst,
                           "shortloop_redirector_answers_total",
                           outcome=outcome, status="429")


def test_a_64_of_ipv6_is_one_network(links, limited):
    redirector = limited(client_rate="1/h", client_burst=2)
    code = links.create()
    assert [status(redirector, code, f"2001:db8:0:1::{n}")
            for n in range(4)] == [302, 302, 429, 429]
    assert status(redirector, code, "2001:db8:0:2::1") == 302


@pytest.mark.proof
def test_networks_may_be_exempt(links, limited):
    redirector = limited(client_rate="1/h", client_burst=1, unknown_rate="1/h",
                         unknown_burst=1, limit_exempt=["198.51.100.0/30"])
    assert guesses(redirector, ENUMERATOR, 5) == [404] * 5
    assert guesses(redirector, OTHER, 2) == [404, 429]


@pytest.mark.parametrize("client", ["10.1.2.3", "192.168.7.7", "172.31.1.1",
                                    "100.64.0.9", "::1", "fd00::7",
                                    "::ffff:10.1.2.3"])
def test_a_balancer_that_nobody_named_is_not_limited(links, limited, client):
    redirector = limited(client_rate="1/h", client_burst=1, unknown_rate="1/h",
                         unknown_burst=1)
    assert guesses(redirector, client, 5) == [404] * 5
    assert guesses(redirector, "172.32.1.1", 2) == [404, 429]


def test_the_log_names_one_who_is_over_a_limit(links, limited):
    redirector = limited(unknown_rate="1/h", unknown_burst=1)
    assert guesses(redirector, ENUMERATOR, 20).count(429) == 19
    assert guesses(redirector, OTHER, 20).count(429) == 19
    redirector.wait_log("client limited")
    [line] = [line for line in redirector.log().splitlines()
              if "client limited" in line]
    assert ENUMERATOR in line
    assert "unknown_rate" in line


def test_a_proxy_that_says_no_client_is_not_limited(links, limited):
    redirector = limited(client_rate="1/h", client_burst=1, unknown_rate="1/h",
                         unknown_burst=1)
    assert [visit(f"{redirector.url}/{guess()}").status_code
            for _ in range(3)] == [404] * 3


def test_without_a_proxy_the_peer_is_the_client(links, start):
    redirector = start(threads=1, client_rate="1/h", client_burst=2,
                       limit_exempt=[])
    assert guesses(redirector, ENUMERATOR, 3) == [404, 404, 429]
    assert guesses(redirector, OTHER, 1) == [429]


def test_rates_may_be_off(links, start):
    redirector = start(unknown_rate="none", unknown_burst=1, limit_exempt=[])
    assert guesses(redirector, ENUMERATOR, 20) == [404] * 20


@pytest.mark.parametrize("settings, said", [
    ({"client_rate": "often"}, "redirector.client_rate: 'often': expected a "
     "number, 1 to 1000000, or none"),
    ({"unknown_rate": "5/d"}, "redirector.unknown_rate: '5/d': expected"),
    ({"limit_exempt": ["10.0.0.1/8"]},
     "redirector.limit_exempt: '10.0.0.1/8' has bits set beyond")])
def test_rates_that_make_no_sense_are_refused(program, links_config, settings,
                                              said):
    made = program("redirector", {"links": links_config, "redirector": settings},
                   start=False, args=["--check"])
    status, output = made.run()
    assert status == 78
    assert said in output


# --- denied networks --------------------------------------------------------------

def reload(redirector):
    redirector.process.signal(signal.SIGHUP)


@pytest.fixture
def deny_file(workdir):
    path = workdir / "deny.txt"
    path.write_text("; a list\n198.51.100.0/31 ; SBL1\n2001:db8::/32\n")
    return path


def test_denied_networks_get_403_and_no_event(links, limited, clicks,
                                              deny_file):
    redirector = limited(deny_file=str(deny_file))
    code = links.create()
    answer = ask(redirector, code, ENUMERATOR)
    assert answer.status_code == 403
    assert answer.headers["Cache-Control"] == "no-store"
    assert status(redirector, "", "2001:db8::7") == 403
    assert status(redirector, code, NEIGHBOUR) == 302
    redirector.wait_metric(2, "shortloop_redirector_answers_total",
                           outcome="denied", status="403")
    assert len(clicks(redirector)) == 1


def test_denied_networks_are_read_again(links, start, deny_file):
    redirector = start(deny_file=str(deny_file),
                       trusted_proxies=["127.0.0.0/8"])
    code = links.create()
    redirector.wait_metric(2, "shortloop_redirector_denied_networks")
    deny_file.write_text(f"{OTHER}\n")
    reload(redirector)
    redirector.wait_log("denied networks reloaded")
    # Both threads use the new list.
    assert {status(redirector, code, OTHER) for _ in range(20)} == {403}
    assert {status(redirector, code, ENUMERATOR) for _ in range(20)} == {302}
    redirector.wait_metric(1, "shortloop_redirector_denied_networks")


def test_a_list_with_a_mistake_is_rejected_and_the_old_one_stays(
        links, limited, deny_file):
    redirector = limited(deny_file=str(deny_file))
    code = links.create()
    deny_file.write_text(f"{OTHER}\nexample.com\n")
    reload(redirector)
    redirector.wait_log(f"{deny_file}:2: 'example.com' is not a network")
    redirector.wait_metric(1, "shortloop_redirector_reload_failures_total")
    assert status(redirector, code, ENUMERATOR) == 403
    assert status(redirector, code, OTHER) == 302
    deny_file.unlink()
    reload(redirector)
    redirector.wait_log(f"{deny_file}: No such file")
    assert status(redirector, code, ENUMERATOR) == 403


@pytest.mark.parametrize("args", [["--check"], []])
def test_a_list_with_a_mistake_is_found_before_the_start(program, links_config,
                                                         deny_file, args):
    deny_file.write_text("10.0.0.1/8\n")
    made = program("redirector", {
        "links": links_config, "redirector": {"deny_file": str(deny_file)}},
        start=False, args=args)
    code, output = made.run()
    assert code == 78
    assert f"{deny_file}:1: '10.0.0.1/8' has bits set beyond" in output
