"""Properties of a link beyond its URL, and its domains."""
import collections
import concurrent.futures
import datetime
import http.client
import signal
import string
import threading
import time
import types

import pytest
import yaml

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    DAY, EXPIRED, HEAD, LINKS_SECTION, NOT_FOUND, REDIRECTED, clicks, links, make_links,
    own_links, start, visit)
from support.spaces import aliases, hashes, snowflakes

IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) "
          "AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1")
ANDROID = ("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 "
           "Chrome/126.0 Mobile Safari/537.36")
WECHAT = ANDROID + " MicroMessenger/8.0.49 NetType/WIFI"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Firefox/127.0"

DEFAULT = "https://www.example.org/"
TARGETS = {"ios": "https://ios.example/", "android": "https://android.example/",
           "wechat": "https://wechat.example/"}


DOMAINS = {"default": "main", "list": [
    {"name": "main", "hosts": ["sho.rt", "b\u00fccher.example"]},
    {"name": "promo", "hosts": ["promo.example", "old.example"],
     "fallback_url": "https://promo.example.org/"},
    {"name": "brief", "hosts": ["brief.example"], "spaces": ["names"]}]}


@pytest.fixture
def domains_config():
    return DOMAINS


# One space of each strategy.
LINKS_SECTION = {**LINKS_SECTION, "spaces": [
    *LINKS_SECTION["spaces"], hashes(), snowflakes(), aliases()]}


def leads(redirector, code, agent=DESKTOP, **headers):
    answer = visit(f"{redirector.url}/{code}",
                   headers={"User-Agent": agent, **headers})
    return answer.headers.get("Location")


def status(redirector, code, method="GET", **headers):
    return visit(f"{redirector.url}/{code}", method,
                 headers=headers).status_code


def status_of_path(redirector, path):
    """Sends the path unchanged: requests would remove dots."""
    connection = http.client.HTTPConnection(
        redirector.section["listen"], timeout=60)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status
    finally:
        connection.close()


def in_seconds(seconds):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (now + datetime.timedelta(seconds=seconds)).isoformat()


# --- targets by device -----------------------------------------------------------

def test_each_device_is_led_to_its_own_target(links, start):
    redirector = start(threads=1, cache_ttl="1h")
    code = links.create(DEFAULT, targets=TARGETS)
    for _ in range(2):  # from Redis, then from the cache
        assert leads(redirector, code, IPHONE) == TARGETS["ios"]
        assert leads(redirector, code, ANDROID) == TARGETS["android"]
        assert leads(redirector, code, WECHAT) == TARGETS["wechat"]
        assert leads(redirector, code, DESKTOP) == DEFAULT
    # One look-up is made, or another where a heartbeat of Redis was late.
    eventually(lambda: 1 <= redirector.metric(
        "shortloop_redirector_redis_lookups_total", result="answered") < 8,
               what="the count")


def test_a_device_without_a_target_is_led_to_the_url(links, start):
    redirector = start()
    code = links.create(DEFAULT, targets={"ios": TARGETS["ios"]})
    assert leads(redirector, code, ANDROID) == DEFAULT
    assert leads(redirector, code, WECHAT) == DEFAULT
    assert leads(redirector, code, IPHONE) == TARGETS["ios"]


def test_only_links_with_targets_vary(links, start):
    redirector = start()
    with_targets = links.create(targets={"ios": TARGETS["ios"]})
    without = links.create()
    for code, vary in [(with_targets, "User-Agent"), (without, None)]:
        answer = visit(f"{redirector.url}/{code}")
        assert answer.headers.get("Vary") == vary


@pytest.mark.parametrize("code_status", [301, 302, 307, 308])
def test_targets_and_statuses_go_together(links, start, code_status):
    code = links.create(targets={"ios": TARGETS["ios"]},
                        redirect_status=code_status)
    answer = visit(f"{start().url}/{code}", headers={"User-Agent": IPHONE})
    assert answer.status_code == code_status
    assert answer.headers["Location"] == TARGETS["ios"]
    assert answer.headers["Vary"] == "User-Agent"
    assert ("max-age=0" in answer.headers["Cache-Control"]) == (
        code_status in (302, 307))


# --- parts of the visit that are passed on -----------------------------------------

PASSING = [
    # (pass_query, pass_path, the text after the code, the resulting target)
    ("none", False, "?c=9&d=1", "https://example.org/a?b=1&utm_source=own#f"),
    ("add", False, "?b=9&d=%C3%A4&utm_source=x",
     "https://example.org/a?b=1&utm_source=own&d=%C3%A4#f"),
    ("override", False, "?b=9&utm_source=x&utm_term=y",
     "https://example.org/a?utm_source=own&b=9&utm_term=y#f"),
    ("none", True, "/c/d?b=9", "https://example.org/a/c/d?b=1&utm_source=own#f"),
    ("add", True, "/?d", "https://example.org/a/?b=1&utm_source=own&d#f"),
]


def test_what_a_link_says_goes_on(links, start, clicks):
    redirector = start()
    for number, (query, path, follows, wanted) in enumerate(PASSING):
        code = links.create("https://example.org/a?b=1&utm_source=own#f",
                            pass_query=query, pass_path=path,
                            redirect_status=301 if number % 2 else 302)
        for _ in range(2):  # looked up, and cached
            answer = visit(f"{redirector.url}/{code}{follows}")
            assert answer.headers["Location"] == wanted
            assert ("max-age=0" in answer.headers["Cache-Control"]) == \
                (number % 2 == 0)
    events = clicks(redirector)
    assert [e.outcome for e in events] == [REDIRECTED] * 2 * len(PASSING)


def test_each_target_takes_what_goes_on(links, start):
    code = links.create(targets={"ios": "https://ios.example/"}, pass_query="add")
    url = f"{start().url}/{code}?a=b"
    assert visit(url, headers={"User-Agent": IPHONE}).headers["Location"] == \
        "https://ios.example/?a=b"
    assert visit(url).headers["Location"].endswith("?a=b")


def test_a_path_that_does_not_go_on_is_no_click(links, start, clicks):
    redirector = start()
    plain, passing = links.create(), links.create(pass_path=True)
    gone = links.create(pass_path=True)
    links.redis.delete(links.key(gone))
    for path in (f"{plain}/-", f"{plain}/more", f"{passing}/%2e%2e/more",
                 f"{passing}/a/%2E", f"{passing}/..;a/more", f"{gone}/more", "no-such-code/more", "a%2Fb/c"):
        assert status_of_path(redirector, path) == 404, path
    assert visit(f"{redirector.url}/{plain}").status_code == 302
    assert [e.code for e in clicks(redirector)] == [plain]


def test_an_edit_ends_what_goes_on(links, start):
    redirector = start(cache_ttl="100ms")
    code = links.create(pass_path=True, pass_query="add")
    assert visit(f"{redirector.url}/{code}/a?b").status_code == 302
    links.change(code, pass_path=None, pass_query=None)
    eventually(lambda: visit(f"{redirector.url}/{code}/a?b").status_code == 404)
    # The other thread has a cache of its own.
    eventually(lambda: not leads(redirector, f"{code}?b").endswith("?b"))


# --- not before ------------------------------------------------------------------

def test_a_link_is_not_there_before_its_time(links, start, clicks):
    redirector = start(cache_negative_ttl="60s")

    def visited_early():
        """Returns (code, answer); it retries on a machine so busy that the visit was
        not early."""
        begins = time.time() + 3
        code = links.create(not_before=in_seconds(3))
        early = visit(f"{redirector.url}/{code}")
        return time.time() < begins and (code, early)
    code, early = eventually(visited_early, what="a visit before its time")
    assert early.status_code == 404
    assert early.headers["Cache-Control"] == "no-store"
    # The absence is not cached beyond the link's time, however long absences are.
    eventually(lambda: status(redirector, code) == 302)
    events = [e for e in clicks(redirector) if e.code == code]
    missed = [e for e in events if e.outcome == NOT_FOUND]
    assert missed and all(e.link_id == 0 and e.owner == "" for e in missed)
    assert [bool(e.link_id) for e in events
            if e.outcome == REDIRECTED] == [True]


def test_a_link_whose_time_has_come_redirects(links, start):
    code = links.create(not_before=in_seconds(-60))
    assert status(start(), code) == 302


def test_visits_before_its_time_do_not_keep_a_link_alive(links, start):
    redirector = start()

    def there():
        """Returns the code and its key, of another link if this one had ended by
        then."""
        code = links.create(ttl="3s", not_before=in_seconds(3600))
        keys = list(links.redis.scan_iter(f"l:*:{code}"))
        return keys and (code, keys[0])
    code, key = eventually(there, what="a link")
    end = time.time() + 6
    while links.redis.exists(key) and time.time() < end:
        # The link may expire during the request.
        assert status(redirector, code) == 404 or not links.redis.exists(key)
        time.sleep(0.1)
    assert not links.redis.exists(key)


# --- a maximum number of visits --------------------------------------------------

def test_visits_beyond_the_last_are_gone(links, start, clicks):
    redirector = start()
    code = links.create(max_visits=3)
    answers = [visit(f"{redirector.url}/{code}") for _ in range(5)]
    assert [a.status_code for a in answers] == [302] * 3 + [410] * 2
    assert "Location" not in answers[3].headers
    outcomes = [e.outcome for e in clicks(redirector)]
    assert sorted(outcomes) == [REDIRECTED] * 3 + [EXPIRED] * 2


def test_many_visitors_at_two_edges_get_exactly_the_visits(links, start):
    edges = [start(), start()]
    code = links.create(max_visits=50)
    urls = [f"{edges[i % 2].url}/{code}" for i in range(200)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        got = collections.Counter(
            a.status_code for a in pool.map(visit, urls))
    assert got == {302: 50, 410: 150}


def test_head_does_not_count_but_knows(links, start, clicks):
    edges = [start(), start()]
    code = links.create(max_visits=1)
    for _ in range(3):
        assert status(edges[0], code, "HEAD") == 302
    assert status(edges[0], code) == 302
    assert [status(edge, code, "HEAD") for edge in edges] == [410, 410]
    assert status(edges[1], code) == 410
    outcomes = [e.outcome for e in clicks(edges[0])]
    assert sorted(outcomes) == [REDIRECTED, EXPIRED] + [HEAD] * 3


@pytest.mark.parametrize("code_status", [301, 302, 307, 308])
def test_an_answer_that_was_counted_is_not_kept(links, start, code_status):
    code = links.create(max_visits=2, redirect_status=code_status)
    answer = visit(f"{start().url}/{code}")
    assert answer.status_code == code_status
    assert answer.headers["Cache-Control"] == "no-store"


def test_visits_that_are_not_shown_are_not_counted(links, start):
    redirector = start()
    code = links.create(max_visits=1, domain="promo")
    assert status(redirector, code, Host="sho.rt") == 404
    assert status(redirector, code, "POST", Host="promo.example") == 405
    assert status(redirector, code, Host="promo.example") == 302
    assert status(redirector, code, Host="promo.example") == 410


def test_more_visits_are_seen_when_the_cached_link_ends(links, start):
    redirector = start(cache_ttl="300ms")
    code = links.create(max_visits=1)
    assert [status(redirector, code) for _ in range(2)] == [302, 410]
    links.change(code, max_visits=2)
    eventually(lambda: status(redirector, code) == 302)
    assert status(redirector, code) == 410


def test_without_redis_no_visit_is_given_away(own_redis, own_links, start):
    redirector = start(threads=1, cache_ttl="60s")
    limited = own_links.create(max_visits=3)
    other = own_links.create()
    assert status(redirector, limited) == status(redirector, other) == 302
    own_redis.kill()
    answer = visit(f"{redirector.url}/{limited}")
    assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)
    assert status(redirector, limited, "HEAD") == 503
    assert status(redirector, other) == 302
    own_redis.start()
    eventually(lambda: status(redirector, limited) != 503)
    left = [status(redirector, limited) for _ in range(3)]
    assert left in ([302, 410, 410], [410, 410, 410])


def test_only_visits_that_are_allowed_keep_a_link_alive(links, start):
    redirector = start(cache_ttl="100ms")
    kept = links.create(max_visits=100_000)
    spent = links.create(max_visits=1)
    kept_key, spent_key = links.key(kept), links.key(spent)
    assert status(redirector, spent) == 302
    eventually(lambda: status(redirector, spent) == 410)
    links.redis.pexpire(spent_key, DAY)

    def renewed():
        assert status(redirector, kept) == 302
        assert status(redirector, spent) == 410
        return links.redis.pttl(kept_key) > DAY
    # Two rounds are needed: the second is an interval after the first, so the other
    # link could be renewed, too.
    for _ in range(2):
        links.redis.pexpire(kept_key, DAY)
        eventually(renewed, what="a renewal")
    assert links.redis.pttl(spent_key) <= DAY


def test_edits_are_seen_when_the_cached_link_ends(links, start):
    redirector = start(cache_ttl="300ms")
    code = links.create(DEFAULT)
    assert leads(redirector, code, IPHONE) == DEFAULT
    links.change(code, targets={"ios": TARGETS["ios"]}, redirect_status=307)
    eventually(lambda: leads(redirector, code, IPHONE) == TARGETS["ios"])
    # The other thread has a cache of its own.
    eventually(lambda: status(redirector, code) == 307)
    links.change(code, not_before=in_seconds(3600))
    eventually(lambda: status(redirector, code) == 404)


# --- domains ---------------------------------------------------------------------

def test_a_link_answers_under_every_host_of_its_domain(links, start):
    redirector = start()
    code = links.create(domain="promo")
    for host in ("promo.example", "OLD.example.:8080"):
        assert status(redirector, code, Host=host) == 302
    for host in ("sho.rt", "other.example", "promo"):
        assert status(redirector, code, Host=host) == 404


def test_the_host_of_a_whole_url_counts_and_not_the_header(links, start):
    host, port = start().section["listen"].split(":")
    code = links.create(domain="promo")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)

    def asked(url_host, header):
        connection.request("GET", f"http://{url_host}/{code}",
                           headers={"Host": header})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    assert asked("promo.example", "sho.rt") == 302
    assert asked("sho.rt:80", "promo.example") == 404


def test_a_blocked_host_is_swapped_by_configuration_alone(links, start):
    code = links.create(domain="promo")
    main, promo, brief = DOMAINS["list"]
    redirector = start(domains={**DOMAINS, "list": [
        main, {**promo, "hosts": ["fresh.example"]}, brief]})
    assert status(redirector, code, Host="fresh.example") == 302
    assert status(redirector, code, Host="promo.example") == 404


@pytest.fixture
def domains_file(workdir):
    """.section, and .write({...}) to change it."""
    path = workdir / "domains.yaml"

    def write(domains):
        fresh = path.with_suffix(".new")
        fresh.write_text(yaml.safe_dump({"domains": domains}))
        fresh.rename(path)
    write(DOMAINS)
    return types.SimpleNamespace(path=path, write=write,
                                 section={"file": str(path)})


def test_a_blocked_host_is_swapped_while_visits_go_on(links, start,
                                                      domains_file):
    code = links.create(domain="promo")
    redirector = start(domains=domains_file.section, threads=2)
    main, promo, brief = DOMAINS["list"]
    ended = threading.Event()

    def visit_on():
        seen = set()
        while not ended.is_set():
            seen.add(status(redirector, code, Host="promo.example"))
        return seen
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        others = [pool.submit(visit_on) for _ in range(2)]
        for i in range(6):
            domains_file.write({**DOMAINS, "list": [main, {
                **promo, "hosts": [f"fresh{i}.example", "promo.example"],
                "fallback_url": f"https://fresh{i}.example.org/"}, brief]})
            redirector.process.signal(signal.SIGHUP)
            host = {"Host": f"fresh{i}.example"}
            eventually(lambda: all(status(redirector, code, **host) == 302
                                   for _ in range(5)), what="the new host")
            assert leads(redirector, "", **host) == \
                f"https://fresh{i}.example.org/"
        ended.set()
        assert [other.result() for other in others] == [{302}, {302}]
    assert status(redirector, code, Host="fresh0.example") == 404


def test_allocators_make_short_urls_with_the_new_host(links, domains_file,
                                                      program):
    config = links.allocator.config
    links.allocator.stop()
    links.allocator = program("allocator", {
        **{name: config[name] for name in ("links", "kafka", "allocator")},
        "domains": domains_file.section})
    code = links.create(domain="promo")

    def short_url():
        return links.call("GET", f"/{code}").json()["short_url"]
    assert short_url() == f"https://promo.example/{code}"
    main, promo, brief = DOMAINS["list"]
    domains_file.write({**DOMAINS, "list": [main, {
        **promo, "hosts": ["fresh.example", "promo.example"]}]})
    links.allocator.process.signal(signal.SIGHUP)
    eventually(lambda: short_url() == f"https://fresh.example/{code}")
    refused = links.call("POST", url=DEFAULT, ttl="30d", domain="brief")
    assert refused.status_code == 400
    assert "expected one of main, promo" in refused.text


def test_domains_with_a_mistake_are_rejected_and_the_old_ones_stay(
        links, start, domains_file, program, links_config):
    code = links.create(domain="promo")
    redirector = start(domains=domains_file.section)
    domains_file.path.write_text("domains: {list: [{name: promo}]}")
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log("domains rejected, the old ones stay")
    assert "domains.yaml: domains.list[0].hosts: is required" in \
        redirector.log()
    assert status(redirector, code, Host="promo.example") == 302
    checked = program("redirector", {
        "links": links_config, "domains": domains_file.section},
        start=False, args=["--check"]).run()
    assert checked[0] == 78 and "domains.yaml" in checked[1]


@pytest.fixture
def shared(links, start, program):
    """.domains(...) runs the command of that name; .edges and links.allocator use what
    it stores."""
    config = links.allocator.config
    sections = {**{name: config[name] for name in ("links", "kafka", "allocator")},
                "domains": {**DOMAINS, "shared": True}}
    links.allocator.stop()
    links.allocator = program("allocator", sections)

    def run(*words):
        return program("allocator", sections, start=False,
                       args=["domains", *words]).run()
    return types.SimpleNamespace(domains=run, edges=[
        start(domains=sections["domains"], unknown_hosts="refuse")
        for _ in range(2)])


def revision(program):
    return program.metric("shortloop_domains_revision")


def test_a_blocked_host_is_swapped_everywhere_by_one_command(links, shared):
    code = links.create(domain="promo")
    fresh = {"Host": "fresh.example"}
    assert [status(e, code, **fresh) for e in shared.edges] == [404, 404]
    got, text = shared.domains("swap", "promo.example", "fresh.example")
    assert got == 0, text
    programs = [*shared.edges, links.allocator]
    eventually(lambda: all(revision(p) > 0 for p in programs))
    for redirector in shared.edges:
        for host in ("fresh.example", "promo.example"):
            assert [status(redirector, code, Host=host) for _ in range(5)] == \
                [302] * 5
    assert links.call("GET", f"/{code}").json()["short_url"] == \
        f"https://fresh.example/{code}"
    got, text = shared.domains("swap", "promo.example", "fresh.example")
    assert got == 0 and "already" in text


def test_a_domain_is_paused_and_resumed_with_its_links(links, shared):
    code, counted, other = (links.create(domain="promo"),
                            links.create(domain="promo", max_visits=2),
                            links.create(domain="main"))
    promo = {"Host": "promo.example"}

    def everywhere(code, got, **headers):
        return all(status(edge, code, **headers) == got for edge in shared.edges)
    assert everywhere(code, 302, **promo) and everywhere(other, 302, Host="sho.rt")
    got, text = shared.domains("pause", "promo")
    assert got == 0, text
    eventually(lambda: everywhere(code, 410, **promo), what="the pause")
    page = visit(f"{shared.edges[0].url}/{code}", headers=promo)
    assert "<h1>Paused</h1>" in page.text
    # Its visits are not used up, and other domains go on.
    assert everywhere(counted, 410, **promo)
    assert everywhere(other, 302, Host="sho.rt")
    programs = [*shared.edges, links.allocator]
    eventually(lambda: all(revision(p) > 0 for p in programs))
    refused = links.call("POST", url=DEFAULT, ttl="30d", domain="promo")
    assert refused.status_code == 403 and "'promo' is paused" in refused.text
    assert "already" in shared.domains("pause", "promo")[1]
    assert shared.domains("resume", "promo")[0] == 0
    eventually(lambda: everywhere(code, 302, **promo), what="the end of the pause")
    assert everywhere(counted, 302, **promo) and everywhere(counted, 410, **promo)
    got, text = shared.domains("pause", "nobody")
    assert got == 65 and "'nobody' is not the name of a domain" in text


def test_a_paused_link_has_its_own_answer(links, start):
    page, fallback = start(), start(fallback_paused=True,
                                    fallback_url="https://fall.back/")
    code = links.create()
    assert status(page, code) == status(fallback, code) == 302
    links.change(code, state="paused")
    eventually(lambda: status(page, code) == 410, what="the pause")
    assert "<h1>Paused</h1>" in visit(f"{page.url}/{code}").text
    eventually(lambda: leads(fallback, code) == "https://fall.back/",
               what="the pause")
    assert page.metric("shortloop_redirector_answers_total", outcome="paused",
                       status="410") >= 2
    links.change(code, state="live")
    eventually(lambda: status(page, code) == status(fallback, code) == 302 and
               leads(fallback, code) != "https://fall.back/",
               what="the end of the pause")


def test_a_restored_link_leads_again(links, start):
    redirector = start()
    code = links.create()
    assert status(redirector, code) == 302
    links.delete(code)
    eventually(lambda: status(redirector, code) == 410, what="the deletion")
    assert links.call("POST", f"/{code}/restore").status_code == 200
    eventually(lambda: status(redirector, code) == 302, what="the restore")


def test_shared_domains_are_checked_replaced_and_dropped(
        links, shared, workdir):
    redirector = shared.edges[0]
    code = links.create(domain="promo")
    own = workdir / "own.yaml"
    own.write_text(yaml.safe_dump({"domains": {"list": [
        {"name": "promo", "hosts": ["own.example"], "spaces": ["s9"]}]}}))
    got, text = shared.domains("push", str(own))
    assert got == 78 and "own.yaml" in text and "s9" in text
    assert "none in Redis" in shared.domains("show")[1]
    own.write_text(own.read_text().replace("s9", "s7"))
    assert shared.domains("push", str(own))[0] == 0
    eventually(lambda: status(redirector, code, Host="own.example") == 302)
    assert status(redirector, code, Host="promo.example") == 404
    assert "own.example" in shared.domains("show")[1]
    # A reload by SIGHUP does not undo it.
    redirector.process.signal(signal.SIGHUP)
    eventually(lambda: redirector.log().count("domains reloaded") == 2)
    assert status(redirector, code, Host="own.example") == 302
    before = revision(redirector)
    assert shared.domains("drop")[0] == 0
    eventually(lambda: status(redirector, code, Host="promo.example") == 302)
    # The revision is published a moment after it is in use.
    eventually(lambda: revision(redirector) > before, what="another revision")
    # Each program checks what others stored.
    links.redis.hset("domains", mapping={
        "revision": int(revision(redirector)) + 1, "text": "domains: ["})
    redirector.wait_log("domains rejected, the old ones stay")
    assert status(redirector, code, Host="promo.example") == 302
    links.redis.hset("domains", "revision", "x")
    eventually(lambda: "domains: the domains in Redis" in redirector.ready()[1])
    assert redirector.ready()[0] == 200


def test_a_link_without_a_domain_is_the_default_ones(links, start):
    """A link without a domain does not appear on domains that were added later."""
    redirector = start()
    code = links.create()
    links.edit(code, domain="")
    for host, expected in (("sho.rt", 302), ("xn--bcher-kva.example", 302),
                           ("other.example", 302), ("promo.example", 404),
                           ("brief.example", 404)):
        assert status(redirector, code, Host=host) == expected


def test_an_unknown_host_is_the_default_domains(links, start):
    redirector = start()
    code = links.create(domain="main")
    assert status(redirector, code, Host="other.example") == 302
    assert status(redirector, code, Host="promo.example") == 404


def test_unknown_hosts_can_be_refused(links, start, clicks):
    redirector = start(unknown_hosts="refuse",
                        fallback_url="https://www.example.org/")
    code = links.create()
    assert status(redirector, code, Host="other.example") == 404
    assert status(redirector, "", Host="other.example") == 404
    assert status(redirector, code, Host="sho.rt") == 302
    assert status(redirector, "", Host="sho.rt") == 302
    eventually(lambda: redirector.metric(
        "shortloop_redirector_answers_total", outcome="unknown_host",
        status="404") == 2,
               what="the count")
    assert len(clicks(redirector)) == 1


def test_a_space_that_a_domain_does_not_allow_is_404_there(links, start):
    redirector = start()
    generated, named = links.create(), links.create(code="sale")
    for code in (generated, named):
        links.edit(code, domain="brief")
    assert status(redirector, named, Host="brief.example") == 302
    assert status(redirector, generated, Host="brief.example") == 404
    other = links.create()
    links.edit(other, domain="promo")
    assert status(redirector, other, Host="promo.example") == 302


def test_each_domain_has_its_fallback(links, start):
    redirector = start(fallback_url="https://www.example.org/")
    assert leads(redirector, "", Host="sho.rt") == "https://www.example.org/"
    assert leads(redirector, "", Host="promo.example") == (
        "https://promo.example.org/")
    assert status(redirector, "zzzzzzz", Host="promo.example") == 404


def test_unknown_codes_may_lead_to_the_fallback(links, start, clicks):
    redirector = start(fallback_unknown=True)
    bound = links.create(domain="main")
    for code in ("zzzzzzz", bound):
        assert leads(redirector, code, Host="promo.example") == (
            "https://promo.example.org/")
    assert status(redirector, "zzzzzzz", Host="sho.rt") == 404
    gone = links.create(domain="promo")
    links.edit(gone, state=1)
    assert status(redirector, gone, Host="promo.example") == 410
    assert status(redirector, "humans.txt", Host="promo.example") == 404
    told = [(e.outcome, e.status, e.link_id) for e in clicks(redirector)]
    assert told.count((NOT_FOUND, 302, 0)) == 2
    assert (NOT_FOUND, 404, 0) in told


def test_events_name_the_host(links, start, clicks):
    redirector = start()
    code = links.create(domain="promo")
    assert status(redirector, code, Host="Old.Example:80") == 302
    assert clicks(redirector)[0].domain == "old.example"


# --- links without a block -------------------------------------------------------

@pytest.mark.parametrize("fields", [
    {"space": "h6"}, {"space": "flakes"}, {"code": "sale"}, {"code": "a"},
    {"code": "with-hyphen_and_1"}, {"code": "x" * 64}])
def test_links_of_every_strategy_redirect(links, start, clicks, fields):
    redirector = start()
    code = links.create("https://example.org/here", **fields)
    assert code == fields.get("code", code)
    for _ in range(2):
        assert leads(redirector, code) == "https://example.org/here"
    event = clicks(redirector)[0]
    assert event.code == code and event.link_id >> 57 == 63


def test_an_alias_that_nobody_has_is_unknown(links, start):
    redirector = start()
    links.create(code="Sale")
    for code in ("sale", "sale-2", "-", "y" * 64):
        assert status(redirector, code) == 404
    assert status(redirector, "y" * 65) == 404
    # Once the code is issued, it is found when its cached absence has expired.
    links.create(code="sale")
    eventually(lambda: status(redirector, "sale") == 302)


@pytest.mark.parametrize("fields", [
    {"space": "h6"}, pytest.param({"space": "flakes"}, marks=pytest.mark.long),
    pytest.param({"code": "sale"}, marks=pytest.mark.long)])
def test_their_visits_are_counted_and_keep_them_alive(links, start, fields):
    redirector = start(cache_ttl="100ms")
    code = links.create(max_visits=40, **fields)
    links.redis.pexpire(links.key(code), DAY)
    assert status(redirector, code) == 302
    eventually(lambda: links.redis.pttl(links.key(code)) > DAY)
    got = [status(redirector, code) for _ in range(40)]
    assert got == [302] * 39 + [410]


def test_a_lone_link_that_was_deleted_is_gone(links, start):
    redirector = start(cache_ttl="300ms")
    code = links.create(code="sale")
    assert status(redirector, code) == 302
    links.delete(code)
    eventually(lambda: status(redirector, code) == 410)


# --- invented codes --------------------------------------------------------------

@pytest.mark.proof
def test_redis_is_not_asked_for_hash_codes_made_up(links, start):
    """The exception is one in 15 of those with a possible check character."""
    redirector = start()
    real = links.create(space="h6")
    assert status(redirector, real) == 302
    asked = redirector.metric("shortloop_redirector_redis_lookups_total",
                              result="answered")
    symbols = string.digits + string.ascii_uppercase + string.ascii_lowercase
    invented = {a + b + real[2:] for a in symbols for b in symbols[:16]} - {real}
    for code in invented:
        assert status(redirector, code) == 404
    more = redirector.metric("shortloop_redirector_redis_lookups_total",
                             result="answered") - asked
    # 66 of 992 are expected; 107 or more happen by chance once in 10^6.
    assert 0 < more < 107
