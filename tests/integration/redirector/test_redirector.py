"""The redirector with real Redis and Kafka; the allocator makes the links."""
import collections
import concurrent.futures
import http.client
import ipaddress
import signal
import socket
import threading
import time
import urllib.parse

import pytest

from support.program import PATIENCE, eventually
from support.redirects import (  # noqa: F401 (fixtures)
    BLOCKED, DAY, EXPIRED, HEAD, LINKS_SECTION, NOT_FOUND, REDIRECTED, clicks,
    domains_config, links, make_links, own_links, start, visit)

NOWHERE = "zzzzzzz"  # checked below: its check character is wrong


# --- answers ---------------------------------------------------------------------

def test_a_live_link_redirects_and_is_asked_for_every_time(links, start):
    code = links.create("https://example.org/a?b=c#d")
    answer = visit(f"{start().url}/{code}")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "https://example.org/a?b=c#d"
    assert answer.headers["Cache-Control"] == "private, max-age=0"
    assert "Referrer-Policy" not in answer.headers


@pytest.mark.parametrize("status, caching", [
    (301, "private, max-age=60"), (308, "private, max-age=60"),
    (307, "private, max-age=0")])
def test_a_link_may_have_another_status(links, start, status, caching):
    code = links.create()
    links.edit(code, redirect_status=status)
    answer = visit(f"{start(permanent_max_age='60s').url}/{code}")
    assert answer.status_code == status
    assert answer.headers["Cache-Control"] == caching


def test_a_permanent_redirect_is_not_kept_beyond_the_links_end(links, start):
    code = links.create()
    links.edit(code, redirect_status=301)
    links.redis.pexpire(links.key(code), 600_000)
    answer = visit(f"{start(permanent_max_age='1h').url}/{code}")
    assert 0 <= int(answer.headers["Cache-Control"].rsplit("=", 1)[1]) <= 600


def test_codes_that_no_link_can_have_are_404_without_redis(links, start):
    redirector = start()
    for code in (NOWHERE, "abc", "a" * 64, "aaaa-aa"):
        assert visit(f"{redirector.url}/{code}").status_code == 404
    # A thread publishes its counts after its answers have been sent.
    eventually(lambda: redirector.metric(
        "shortloop_redirector_refused_codes_total") == 4, what="4 refused")
    assert redirector.metric("shortloop_redirector_redis_lookups_total",
                             result="answered") == 0


# Replaces account and owner that are no longer known.
UNKNOWN = "\x01unknown"


def test_paths_that_are_no_code_are_404(links, start):
    redirector = start()
    for path in ("/", "/humans.txt", "/a/b", "/" + "a" * 65, "/%41bc"):
        assert visit(redirector.url + path).status_code == 404


def test_the_root_leads_to_the_fallback(links, start):
    answer = visit(start(fallback_url="https://www.example.org/").url + "/")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "https://www.example.org/"


def test_a_deleted_link_is_gone(links, start):
    code = links.create()
    links.edit(code, state=1)
    assert visit(f"{start().url}/{code}").status_code == 410


def test_a_blocked_link_is_451(links, start):
    code = links.create()
    links.edit(code, state=2)
    assert visit(f"{start().url}/{code}").status_code == 451


def visited_in_time(links, redirector, state, status):
    """Returns the code of a link of 3s that a visit has found in that state."""
    def visited():
        code = links.create(ttl="3s")
        links.call("PATCH", f"/{code}", state=state)
        found = visit(f"{redirector.url}/{code}").status_code
        return found == status and code
    return eventually(visited, what="a visit in time")


def test_an_expired_link_is_gone_also_from_the_cache(links, start):
    redirector = start(cache_ttl="1h", threads=1)
    code = visited_in_time(links, redirector, "live", 302)
    eventually(lambda: not list(links.redis.scan_iter(f"l:*:{code}")),
               what="the end of the link")
    eventually(lambda: visit(f"{redirector.url}/{code}").status_code == 410)


@pytest.mark.parametrize("cache_ttl", ["1h", "0s"])
def test_a_blocked_link_is_451_beyond_its_end(links, start, cache_ttl):
    """The link is blocked after its last visit, with about two seconds left."""
    redirector = start(cache_ttl=cache_ttl, threads=1)
    code = visited_in_time(links, redirector, "blocked", 451)
    # A link with the same life that is not blocked ends after the blocked one would
    # have.
    other = links.create("https://example.org/other", ttl="3s")
    eventually(lambda: not list(links.redis.scan_iter(f"l:*:{other}")),
               what="the end of the other")
    assert visit(f"{redirector.url}/{code}").status_code == 451
    assert links.redis.pttl(links.key(code)) == -1


def test_a_code_without_a_link_is_gone_if_it_may_have_had_one(links, start):
    redirector = start(cache_negative_ttl="0s")
    code = links.create()
    marker = links.marker_key(code)
    generation, state, *rest = links.redis.get(marker).split(" ")
    links.redis.delete(links.key(code))

    def answer(*fields):
        links.redis.set(marker, " ".join([*fields, *rest]))
        return visit(f"{redirector.url}/{code}").status_code

    assert answer("1", "o") == 404
    assert answer("1", "c") == 410
    assert answer("2", "o") == 410
    rest[1] = str(int(rest[1]) - 31 * 86400 * 1000)  # opened 31 days ago
    assert answer("1", "o") == 410
    links.redis.delete(marker)
    assert visit(f"{redirector.url}/{code}").status_code == 404


def test_a_visit_to_an_expired_link_is_its_former_owners_where_that_is_certain(
        links, start, clicks):
    """The marker's generation decides: the event has no owner while the code may
    already be another's, who would then get the former owner's visit."""
    redirector = start(cache_negative_ttl="0s", threads=1)
    code = links.create(owner="ann")
    first = links.record(code).link_id
    second = first + (1 << 42)
    marker = links.marker_key(code)
    _, _, name, opened, *rest = links.redis.get(marker).split(" ")
    links.redis.delete(links.key(code))
    old = str(int(opened) - 31 * DAY)

    cases = [("1", "o", opened, 404, 0), ("1", "o", old, 410, first),
             ("1", "c", opened, 410, first), ("2", "o", opened, 410, 0),
             ("2", "o", old, 410, second), ("2", "c", opened, 410, second),
             (None, None, None, 404, 0)]
    for generation, state, at, status, _ in cases:
        if generation:
            links.redis.set(marker, " ".join([generation, state, name, at, *rest]))
        else:
            links.redis.delete(marker)
        assert visit(f"{redirector.url}/{code}").status_code == status
    told = sorted(clicks(redirector), key=lambda c: c.event_id)
    assert [c.link_id for c in told] == [case[-1] for case in cases]
    assert [c.outcome for c in told] == [
        EXPIRED if case[3] == 410 else NOT_FOUND for case in cases]
    # Redis no longer has account and owner: they are unknown, and empty for an event
    # without a link.
    for whose in [c.account for c in told], [c.owner for c in told]:
        assert whose == [UNKNOWN if c.link_id else "" for c in told]
    assert {c.code for c in told} == {code}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS",
                                    "PATCH"])
def test_other_methods_are_405(links, start, method):
    code = links.create()
    answer = visit(f"{start().url}/{code}", method)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"


def test_head_is_answered_like_get_without_a_body(links, start, clicks):
    redirector = start()
    code = links.create("https://example.org/x")
    answer = visit(f"{redirector.url}/{code}", "HEAD")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "https://example.org/x"
    answer = visit(f"{redirector.url}/{NOWHERE}", "HEAD")
    assert (answer.status_code, answer.content) == (404, b"")
    assert sorted(c.outcome for c in clicks(redirector)) == [NOT_FOUND, HEAD]


def test_a_link_of_a_domain_answers_only_there(links, start):
    redirector = start()
    code = links.create()
    links.edit(code, domain="s.example")
    url = f"{redirector.url}/{code}"
    assert visit(url, headers={"Host": "S.Example:80"}).status_code == 302
    assert visit(url, headers={"Host": "t.example"}).status_code == 404
    with connect(redirector) as s:  # HTTP/1.0 requires no header for it
        s.sendall(f"GET http://s.example/{code} HTTP/1.0\r\n\r\n".encode())
        assert s.makefile("rb").readline().split()[1] == b"302"


def test_an_edit_is_seen_when_the_cached_link_ends(links, start):
    redirector = start(cache_ttl="500ms")
    code = links.create("https://example.org/1")
    assert visit(f"{redirector.url}/{code}").status_code == 302
    links.edit(code, url="https://example.org/2")
    eventually(lambda: visit(f"{redirector.url}/{code}").headers["Location"]
               == "https://example.org/2")


def test_a_damaged_record_is_no_redirect(links, start):
    redirector = start()
    code = links.create()
    links.edit(code, url="https://example.org/\r\nSet-Cookie: a=b")
    answer = visit(f"{redirector.url}/{code}")
    assert answer.status_code == 503
    assert "Set-Cookie" not in answer.headers


# --- renewal ---------------------------------------------------------------------

def marker_end(links, code):
    return int(links.redis.get(links.marker_key(code)).split()[4])


def bring_near_its_end(links, code):
    """Sets link and marker to their state some time after the last visit."""
    marker = links.redis.get(links.marker_key(code)).split()
    marker[4] = str(int(time.time() * 1000) + DAY)
    links.redis.set(links.marker_key(code), " ".join(marker))
    links.redis.pexpire(links.key(code), DAY)


def test_a_visit_renews_the_link_and_its_marker(links, start):
    redirector = start(threads=1)
    code = links.create()
    bring_near_its_end(links, code)
    assert visit(f"{redirector.url}/{code}").status_code == 302
    eventually(lambda: links.redis.pttl(links.key(code)) > DAY)
    assert marker_end(links, code) >= \
        time.time() * 1000 + links.redis.pttl(links.key(code)) - 100


def test_visits_keep_a_link_alive(links, start):
    redirector = start()

    def lives_on():
        """Returns whether a link lived twice as long as without visits; on a busy
        machine a visit may come too late."""
        before = time.monotonic()
        code, seen = links.create(ttl="3s"), before
        while seen < before + 6:
            time.sleep(0.5)
            status = visit(f"{redirector.url}/{code}").status_code
            links.redis.ping()  # waits for a Redis that stalled
            since, seen = seen, time.monotonic()
            if status != 302:
                assert seen - since > 1, "visited in time"
                return False
        return True
    eventually(lives_on, what="a link that was visited in time")


def test_a_link_is_renewed_once_per_interval(links, links_config, start):
    links_config["renew_every"] = "1h"
    redirector = start(cache_ttl="0s")
    code = links.create()
    key = links.key(code)

    def visit_when_due():
        links.redis.pexpire(key, DAY)
        assert visit(f"{redirector.url}/{code}").status_code == 302

    def renewals():
        return redirector.metric("shortloop_redirector_renewals_total",
                                 result="done")
    visit_when_due()
    eventually(lambda: links.redis.pttl(key) > DAY, what="the first visit's")
    for _ in range(20):
        visit_when_due()
    assert links.redis.pttl(key) <= DAY
    eventually(lambda: renewals() >= 1, what="the count")
    assert renewals() == 1


# --- events ----------------------------------------------------------------------

def test_each_click_is_one_event_that_says_what_happened(links, start, clicks):
    redirector = start()
    code = links.create("https://example.org/")
    link = links.edit(code, account="acme", owner="ann", campaign="spring")
    before = time.time() * 1000
    visit(f"{redirector.url}/{code}?a=1&b=%20x", headers={
        "User-Agent": "agent/1.0", "Referer": "https://from.example/page",
        "Accept-Language": "de-AT,de;q=0.7", "Sec-Purpose": "prefetch",
        "Host": "S.Example:8080"})
    [click] = clicks(redirector)
    assert before - 1 <= click.time_ms <= time.time() * 1000
    assert (click.edge, click.domain) == ("edge-1", "s.example")
    assert (click.code, click.link_id) == (code, link.link_id)
    assert (click.account, click.owner, click.campaign) == ("acme", "ann", "spring")
    assert (click.outcome, click.status) == (REDIRECTED, 302)
    assert click.client_ip == ipaddress.ip_address("127.0.0.1").packed
    assert click.user_agent == b"agent/1.0"
    assert click.referrer == b"https://from.example/page"
    assert click.accept_language == b"de-AT,de;q=0.7"
    assert (click.query, click.prefetch) == (b"a=1&b=%20x", "prefetch")
    assert not click.maybe_sent


def test_older_names_of_the_purpose_header_are_known(links, start, clicks):
    redirector = start()
    code = links.create("https://example.org/")
    for name in ("Purpose", "X-Purpose", "X-Moz", "X-Mox"):
        visit(f"{redirector.url}/{code}", headers={name: name.lower()})
    assert sorted(c.prefetch for c in clicks(redirector)) == [
        "", "purpose", "x-moz", "x-purpose"]


def test_every_outcome_is_reported(links, start, clicks):
    redirector = start()
    codes = [links.create() for _ in range(3)]
    deleted = links.edit(codes[1], state=1)
    links.edit(codes[2], state=2)
    for path in (*codes, NOWHERE, "", "robots.txt"):
        visit(f"{redirector.url}/{path}")
    visit(f"{redirector.url}/{codes[0]}", "POST")
    found = {c.code: c for c in clicks(redirector)}
    assert {code: (c.outcome, c.status) for code, c in found.items()} == {
        codes[0]: (REDIRECTED, 302), codes[1]: (EXPIRED, 410),
        codes[2]: (BLOCKED, 451), NOWHERE: (NOT_FOUND, 404)}
    assert found[NOWHERE].link_id == 0
    assert found[codes[1]].link_id == deleted.link_id


def test_event_ids_are_unique(links, start, clicks):
    redirector = start()
    code = links.create()
    for _ in range(50):
        visit(f"{redirector.url}/{code}")
    ids = {(c.event_id_high, c.event_id) for c in clicks(redirector)}
    assert len(ids) == 50


def test_long_text_is_cut(links, start, clicks):
    redirector = start(max_user_agent="10B", max_query="5B")
    code = links.create()
    visit(f"{redirector.url}/{code}?" + "q" * 100,
          headers={"User-Agent": "u" * 1000})
    [click] = clicks(redirector)
    assert (click.user_agent, click.query) == (b"u" * 10, b"qqqqq")


@pytest.mark.parametrize("trusted, header, value, want", [
    (["127.0.0.0/8"], "x-forwarded-for", "1.1.1.1, 192.0.2.7", "192.0.2.7"),
    (["127.0.0.0/8", "10.0.0.0/8"], "x-forwarded-for",
     "1.1.1.1, 2001:db8::7, 10.0.0.1", "2001:db8::7"),
    (["127.0.0.0/8"], "x-forwarded-for", "192.0.2.7, nonsense", "127.0.0.1"),
    (["10.0.0.0/8"], "x-forwarded-for", "192.0.2.7", "127.0.0.1"),
    (["127.0.0.0/8"], "forwarded", 'for="[2001:db8::9]:80";proto=https',
     "2001:db8::9"),
])
def test_the_client_is_who_trusted_proxies_say(links, start, clicks, trusted,
                                               header, value, want):
    redirector = start(trusted_proxies=trusted, client_header=header)
    visit(f"{redirector.url}/{links.create()}", headers={header: value})
    [click] = clicks(redirector)
    assert ipaddress.ip_address(click.client_ip) == ipaddress.ip_address(want)


def test_the_header_that_proxies_do_not_set_is_ignored(links, start, clicks):
    redirector = start(trusted_proxies=["127.0.0.1"])
    visit(f"{redirector.url}/{links.create()}",
          headers={"Forwarded": "for=192.0.2.7"})
    [click] = clicks(redirector)
    assert ipaddress.ip_address(click.client_ip) == \
        ipaddress.ip_address("127.0.0.1")


# --- Redis and Kafka down ----------------------------------------------------------

def test_without_redis_only_cached_links_redirect(own_redis, own_links, start):
    redirector = start(threads=1, cache_ttl="100ms", retry_after="7s")
    cached, other = own_links.create(), own_links.create()
    assert visit(f"{redirector.url}/{cached}").status_code == 302
    own_redis.kill()
    eventually(lambda: redirector.ready()[0] == 503, what="not ready")
    assert "redis" in redirector.ready()[1]
    time.sleep(0.2)
    assert visit(f"{redirector.url}/{cached}").status_code == 302
    answer = visit(f"{redirector.url}/{other}")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "7"
    assert visit(f"{redirector.url}/{NOWHERE}").status_code == 404
    own_redis.start()
    redirector.wait_ready()
    assert visit(f"{redirector.url}/{other}").status_code == 302


def test_started_before_redis_it_denies_nothing(own_redis, own_links, start):
    code = own_links.create()
    own_redis.kill()
    redirector = start(ready=False)
    eventually(lambda: redirector.ready()[0] == 503, what="it runs")
    for path in (code, NOWHERE):
        assert visit(f"{redirector.url}/{path}").status_code == 503
    own_redis.start()
    redirector.wait_ready()
    assert visit(f"{redirector.url}/{code}").status_code == 302
    assert visit(f"{redirector.url}/{NOWHERE}").status_code == 404


def test_a_redis_that_lost_its_data_denies_no_link(links, start):
    redirector = start()
    code = links.create()
    links.redis.flushall()
    eventually(lambda: redirector.ready()[0] == 503, what="not ready")
    assert visit(f"{redirector.url}/{code}").status_code == 503


def test_visits_of_one_code_share_a_question(own_redis, own_links, start,
                                             base_config):
    code = own_links.create()
    base_config["redis"]["command_timeout"] = "60s"
    redirector = start(threads=1, cache_ttl="1h")
    own_redis.signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = [pool.submit(visit, f"{redirector.url}/{code}")
                   for _ in range(20)]
        time.sleep(0.5)
        own_redis.signal(signal.SIGCONT)
        assert {a.result().status_code for a in answers} == {302}
    # One look-up is made, or another where a heartbeat of Redis was late.
    eventually(lambda: 1 <= redirector.metric(
        "shortloop_redirector_redis_lookups_total", result="answered") < 10,
               what="the count")


def test_without_kafka_it_redirects_and_reports_later(links, start, clicks,
                                                      kafka, kafka_server):
    redirector = start()
    code = links.create()
    kafka_server.stop()
    try:
        eventually(lambda: "kafka" in redirector.ready()[1])
        for _ in range(20):
            assert visit(f"{redirector.url}/{code}").status_code == 302
    finally:
        kafka_server.start()
    redirector.wait_ready()
    assert len(clicks(redirector, 20)) == 20


def test_events_beyond_the_queue_are_counted(links, start, kafka_server):
    redirector = start(kafka_settings={"queue_messages": 10})
    code = links.create()
    kafka_server.signal(signal.SIGSTOP)
    try:
        for _ in range(30):
            assert visit(f"{redirector.url}/{code}").status_code == 302
        redirector.wait_metric(20, "shortloop_redirector_events_dropped_total",
                               reason="queue_full")
        redirector.wait_metric(10, "shortloop_redirector_events_total")
    finally:
        kafka_server.signal(signal.SIGCONT)


# --- the connection ----------------------------------------------------------------

def connect(redirector):
    parts = urllib.parse.urlsplit(redirector.url)
    return socket.create_connection((parts.hostname, parts.port), PATIENCE)


def test_pipelined_requests_are_answered_in_order(links, start, clicks):
    redirector = start()
    codes = [links.create(f"https://example.org/{i}") for i in range(3)]
    wanted = [codes[i % 3] for i in range(30)]
    with connect(redirector) as s:
        s.sendall(b"".join(b"GET /%s HTTP/1.1\r\nHost: s.example\r\n\r\n"
                           % code.encode() for code in wanted))
        got = []
        with s.makefile("rb") as f:
            for _ in wanted:
                assert f.readline().split()[1] == b"302"
                headers = http.client.parse_headers(f)
                got.append(headers["Location"])
                f.read(int(headers["Content-Length"]))
    assert got == [f"https://example.org/{codes.index(c)}" for c in wanted]
    assert collections.Counter(c.code for c in clicks(redirector)) == \
        collections.Counter(wanted)


@pytest.mark.parametrize("request_bytes", [
    b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
])
def test_malformed_requests_get_a_4xx(links, start, request_bytes):
    redirector = start()
    with connect(redirector) as s:
        s.sendall(request_bytes)
        assert s.makefile("rb").readline().split()[1][:1] == b"4"
    assert visit(f"{redirector.url}/{NOWHERE}").status_code == 404


# --- start and end -----------------------------------------------------------------

def count_redirects(redirector, code, stop):
    """Sends visits over one connection until it is refused or closed."""
    parts = urllib.parse.urlsplit(redirector.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=60)
    answered = 0
    try:
        while not stop.is_set():
            connection.request("GET", f"/{code}")
            answer = connection.getresponse()
            answer.read()
            answered += answer.status == 302
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()
    return answered


def test_sigterm_under_load_loses_no_event(links, start, clicks):
    redirector = start(drain_timeout="20s")
    codes = [links.create() for _ in range(8)]
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        visitors = [pool.submit(count_redirects, redirector, code, stop)
                    for code in codes]
        eventually(lambda: redirector.metric(
            "shortloop_redirector_events_total") > 200, what="redirects")
        assert redirector.stop() == 0
        stop.set()
        answered = [v.result() for v in visitors]
    found = collections.Counter(c.code for c in clicks(redirector))
    assert sum(answered) > 100
    assert [found[code] for code in codes] == answered


def test_another_key_than_the_spaces_ends_the_program(links, program, workdir,
                                                      links_config):
    key = workdir / "other.key"
    key.write_text("another key, long enough for a space")
    space = {**links_config["spaces"][0],
             "keys": [{"version": 0, "key": f"file:{key}"}]}
    redirector = program("redirector", {
        "links": {**links_config, "spaces": [space]}}, ready=False)
    assert redirector.process.wait(60) == 78
    assert "s7" in redirector.log()


def test_a_missing_space_is_said_and_answers_503(redis, start):
    redirector = start(ready=False)
    eventually(lambda: "s7" in redirector.ready()[1])
    assert visit(f"{redirector.url}/{NOWHERE}").status_code == 503


@pytest.mark.parametrize("settings, said", [
    ({"trusted_proxies": ["10.0.0.1/8"]}, "trusted_proxies"),
    ({"fallback_url": "ftp://example.org"}, "fallback_url"),
    ({"cache_tll": "1s"}, "cache_tll"),
    ({"threads": 1000}, "threads"),
    ({"client_header": "via"}, "client_header"),
    ({"proxy_protocol": ["10.0.0.1/8"]}, "redirector.proxy_protocol"),
    ({"proxy_protocol": ["unix:/a"]}, "redirector.proxy_protocol"),
    ({"listen_unix": "r.sock"}, "redirector.listen_unix: 'r.sock'"),
    ({"listen_unix": "/" + "a" * 107}, "too long"),
    ({"listen_unix_mode": "432"}, "redirector.listen_unix_mode: '432'"),
    ({"listen_unix_mode": "0888"}, "listen_unix_mode"),
])
def test_wrong_settings_are_named(program, links_config, settings, said):
    redirector = program("redirector", {"links": links_config,
                                        "redirector": settings},
                         start=False, args=["--check"])
    status, output = redirector.run()
    assert status == 78
    assert said in output


def test_a_port_in_use_is_one_clear_line(program, links_config):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        redirector = program("redirector", {
            "links": links_config, "redirector": {"listen": address}},
            start=False)
        status, output = redirector.run()
    assert status != 0
    assert address in output
