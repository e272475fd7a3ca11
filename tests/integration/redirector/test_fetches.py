"""Requests that are no clicks of people use up no visit of a link with a maximum number
of visits."""
import collections
import concurrent.futures
import json
import signal

import pytest

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, REDIRECTED, clicks, domains_config, links, make_links, start, visit)

PERSON = ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
          "(KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36")
WHATSAPP = "WhatsApp/2.23.20.0 A"
FETCHES = [
    ("GET", {"User-Agent": WHATSAPP}),
    ("GET", {"User-Agent": "Slackbot-LinkExpanding 1.0 "
                           "(+https://api.slack.com/robots)"}),
    ("GET", {"User-Agent": "TelegramBot (like TwitterBot)"}),
    ("GET", {"User-Agent": "facebookexternalhit/1.1 "
             "(+http://www.facebook.com/externalhit_uatext.php)"}),
    ("GET", {"User-Agent": "Mozilla/5.0+(compatible; UptimeRobot/2.0; "
             "http://www.uptimerobot.com/)"}),
    ("GET", {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; "
             "+http://www.google.com/bot.html)"}),
    ("GET", {"User-Agent": "Mozilla/4.0 (compatible; ms-office; "
                           "MSOffice 16)"}),
    ("GET", {"User-Agent": PERSON, "Sec-Purpose": "prefetch"}),
    ("GET", {"User-Agent": PERSON, "Sec-Purpose": "prefetch;prerender"}),
    ("GET", {"User-Agent": PERSON, "Purpose": "prefetch"}),
    ("GET", {"User-Agent": PERSON, "X-Purpose": "preview"}),
    ("GET", {"User-Agent": PERSON, "X-Moz": "prefetch"}),
    ("HEAD", {"User-Agent": PERSON}),
    ("HEAD", {"User-Agent": "curl/8.5.0"}),
]
# These requests use the link, whichever client sends them.
VISITS = [
    {"User-Agent": PERSON},
    {"User-Agent": "curl/8.5.0"},
    {"User-Agent": "Wget/1.21.4"},
    {"User-Agent": "python-requests/2.32.3"},
    {"User-Agent": "Mozilla/5.0"},
    {"User-Agent": "-"},
    {"User-Agent": None},
    # This is the browser inside an app, not the app's fetcher.
    {"User-Agent": PERSON + " Instagram 330.0.0.0"},
    {"User-Agent": PERSON, "Sec-Purpose": "navigation"},
]


def ask(redirector, code, method="GET", **headers):
    return visit(f"{redirector.url}/{code}", method, headers=headers)


def answer(redirector, code, headers, method="GET"):
    return ask(redirector, code, method, **headers).status_code


def test_what_fetches_a_link_leaves_its_visit_to_the_person(links, start,
                                                            clicks):
    edges = [start(), start()]
    code = links.create(max_visits=1)
    for method, headers in FETCHES:
        got = ask(edges[0], code, method, **headers)
        assert (got.status_code, "Location" in got.headers,
                got.headers["Cache-Control"]) == (302, True, "no-store"), headers
    assert answer(edges[1], code, {"User-Agent": PERSON}) == 302
    for headers in ({"User-Agent": PERSON}, {"User-Agent": WHATSAPP}):
        assert [answer(edge, code, headers) for edge in edges] == [410, 410]
    assert edges[0].metric("shortloop_redirector_counted_visits_total",
                           result="fetch") == len(FETCHES)
    # They are not counted, but each has an event.
    assert len(clicks(edges[0])) == len(FETCHES) + 2


@pytest.mark.parametrize("headers", VISITS, ids=str)
def test_what_somebody_uses_a_link_by_counts(links, start, headers):
    redirector = start()
    code = links.create(max_visits=1)
    assert answer(redirector, code, headers) == 302
    assert answer(redirector, code, {"User-Agent": PERSON}) == 410


def test_who_calls_himself_a_robot_does_not_get_more_and_more(links, start,
                                                              clicks):
    edges = [start(uncounted_fetches=7), start(uncounted_fetches=7)]
    code = links.create(max_visits=1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = collections.Counter(pool.map(
            lambda i: answer(edges[i % 2], code, {"User-Agent": WHATSAPP}),
            range(40)))
    assert got == {302: 7, 429: 33}
    over = ask(edges[0], code, "HEAD", **{"User-Agent": PERSON})
    assert over.status_code == 429 and "Location" not in over.headers
    assert answer(edges[0], code, {"User-Agent": PERSON}) == 302
    assert answer(edges[1], code, {"User-Agent": WHATSAPP}) == 410
    assert sum(e.outcome == REDIRECTED for e in clicks(edges[0])) \
        + sum(e.outcome == REDIRECTED for e in clicks(edges[1])) == 8


@pytest.mark.parametrize("least, visits, fetches", [
    (0, 5, 0), (3, 1, 3), (3, 5, 5), (1000000, 2, 30)])
def test_a_link_of_many_visits_may_be_fetched_as_often(links, start, least,
                                                       visits, fetches):
    redirector = start(uncounted_fetches=least)
    code = links.create(max_visits=visits)
    got = [answer(redirector, code, {"User-Agent": WHATSAPP})
           for _ in range(30)]
    assert got == [302] * fetches + [429] * (30 - fetches)
    assert answer(redirector, code, {"User-Agent": PERSON}) == 302


def test_fetches_keep_no_link_alive(links, start):
    redirector = start(cache_ttl="100ms")
    code = links.create(max_visits=5)
    day = 86_400_000
    links.redis.pexpire(links.key(code), day)
    assert answer(redirector, code, {"User-Agent": WHATSAPP}) == 302
    assert links.redis.pttl(links.key(code)) <= day
    eventually(lambda: answer(redirector, code, {"User-Agent": PERSON}) in
               (302, 410) and links.redis.pttl(links.key(code)) > day)


def test_the_list_of_robots_is_that_of_the_collector(links, start, workdir):
    """The list is reloaded on SIGHUP; an invalid list changes nothing."""
    listed = workdir / "robots.json"
    listed.write_text(json.dumps(
        [{"pattern": "Peeker/", "tags": ["social-preview"]}]))
    redirector = start(robots={"list": str(listed)})
    code = links.create(max_visits=2)
    assert answer(redirector, code, {"User-Agent": "Peeker/2"}) == 302
    assert answer(redirector, code, {"User-Agent": "Gazer/2"}) == 302
    listed.write_text('[{"pattern": "("}]')
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log("robots rejected")
    assert answer(redirector, code, {"User-Agent": "Peeker/2"}) == 302
    listed.write_text(json.dumps([{"pattern": "Gazer/"}]))
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log("robots reloaded")
    assert answer(redirector, code, {"User-Agent": "Gazer/2"}) == 302
    assert [answer(redirector, code, {"User-Agent": "Peeker/2"})
            for _ in range(2)] == [302, 410]
