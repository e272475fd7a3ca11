"""Links as they are in texts: with characters after them, and with escapes."""
import http.client
import signal

import pytest

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    HEAD, LINKS_SECTION, NOT_FOUND, REDIRECTED, clicks, domains_config, links,
    make_links, start, visit)

URL = "https://example.org/"
BEHIND = ["/", ".", ")", "),", "%20", "%22", "%E2%80%8B", "%E3%80%82", "*", "/.",
          ")/", "%2F", "%C2%A0", "!?."]


def ask(redirector, path, method="GET", **headers):
    """Sends the path unchanged: requests would remove escapes and dots."""
    connection = http.client.HTTPConnection(redirector.section["listen"],
                                            timeout=60)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        return answer
    finally:
        connection.close()


def escaped(code):
    return "".join(f"%{ord(c):02x}" for c in code)


# --- text after a link -----------------------------------------------------------

def test_what_no_code_can_have_is_passed_over(links, start, clicks):
    redirector = start(threads=1)
    code = links.create()
    for behind in BEHIND:
        answer = ask(redirector, f"/{code}{behind}")
        assert (answer.status, answer.headers["Location"]) == (302, URL), behind
    assert ask(redirector, f"/{code}.?a=b").status == 302
    assert ask(redirector, f"/{code}).", "HEAD").status == 302
    events = clicks(redirector, len(BEHIND) + 2)
    assert {(e.code, e.trimmed) for e in events} == {(code, True)}
    assert [e.outcome for e in events] == [REDIRECTED] * (len(BEHIND) + 1) + [HEAD]


def test_escapes_of_unreserved_characters_are_equal(links, start, clicks):
    redirector = start(threads=1, trim_paths=False)
    code = links.create()
    for path in (f"/{escaped(code)}", f"/{escaped(code[0])}{code[1:]}", f"/{code}"):
        assert ask(redirector, path).headers["Location"] == URL
    assert [(e.code, e.trimmed) for e in clicks(redirector, 3)] == [
        (code, False)] * 3


def test_what_a_code_can_have_is_not_passed_over(links, start, clicks):
    redirector = start()
    code = links.create()
    for path in (f"{code}.html", f"{code})more", f"{code}/more", f"{code}.-",
                 f"{code}%2Fmore", f"{code}%20x", f"%25{code}"):
        assert ask(redirector, f"/{path}").status == 404, path
    assert ask(redirector, f"/{code}").status == 302
    assert [e.code for e in clicks(redirector)] == [code]


def test_nothing_is_passed_over_where_it_is_not_wanted(links, start, clicks):
    redirector = start(trim_paths=False)
    code = links.create()
    for behind in BEHIND:
        assert ask(redirector, f"/{code}{behind}").status == 404, behind
    assert ask(redirector, f"/{code}").status == 302
    assert [(e.code, e.trimmed) for e in clicks(redirector)] == [(code, False)]


def test_a_link_that_hands_its_path_on_gets_it_as_it_is(links, start, clicks):
    redirector = start(threads=1)
    code = links.create("https://example.org/a", pass_path=True)
    for behind, place in [("/", "/a/"), ("/b).", "/a/b)."), (".", "/a"),
                          ("/)", "/a/)")]:
        answer = ask(redirector, f"/{code}{behind}")
        assert answer.headers["Location"] == f"https://example.org{place}"
    assert ask(redirector, f"/{escaped(code)}/b").headers["Location"] == (
        "https://example.org/a/b")
    # This gives no way above the owner's path either.
    for behind in ("/..", ")/..", "/%2e%2e/", "/.;"):
        assert ask(redirector, f"/{code}{behind}").status == 404, behind
    assert [e.trimmed for e in clicks(redirector, 5)] == [
        False, False, True, False, False]


def test_visits_are_counted_in_every_form(links, start, clicks):
    redirector = start(threads=1)
    code = links.create(max_visits=3)
    forms = [f"/{code}.", f"/{escaped(code)}", f"/{code}/", f"/{code})"]
    assert [ask(redirector, form).status for form in forms] == [302, 302, 302, 410]
    assert [(e.code, e.trimmed) for e in clicks(redirector, 4)] == [
        (code, True), (code, False), (code, True), (code, True)]


def test_an_unknown_code_is_unknown_in_every_form(links, start, clicks):
    redirector = start(threads=1, cache_negative_ttl="1m")
    code = links.create()
    links.redis.delete(links.key(code))
    for path in (f"/{code}.", f"/{code}/", f"/{escaped(code)}", f"/{code}"):
        assert ask(redirector, path).status == 404
    assert [(e.code, e.outcome, e.trimmed) for e in clicks(redirector, 4)] == [
        (code, NOT_FOUND, True), (code, NOT_FOUND, True),
        (code, NOT_FOUND, False), (code, NOT_FOUND, False)]
    # The code is looked up once, then cached.
    eventually(lambda: redirector.metric(
        "shortloop_redirector_redis_lookups_total", result="answered") == 1)


def test_codes_that_are_tried_cost_the_same_in_every_form(links, start):
    redirector = start(threads=1, unknown_rate="1/h", unknown_burst=3,
                       limit_exempt=["192.0.2.0/24"])
    statuses = [ask(redirector, f"/no-such-{i}.").status for i in range(4)]
    assert statuses == [404, 404, 404, 429]


# --- files that every host has ---------------------------------------------------

def test_crawlers_may_do_all_unless_a_domain_says_otherwise(links, start, workdir,
                                                            clicks):
    own = workdir / "robots.txt"
    own.write_text("User-agent: *\nDisallow: /\n")
    redirector = start(domains={"list": [
        {"name": "main", "hosts": ["a.example"]},
        {"name": "own", "hosts": ["b.example"], "robots_txt": str(own)}]})
    for host, text in [("a.example", "User-agent: *\nDisallow:\n"),
                       ("b.example", own.read_text())]:
        answer = ask(redirector, "/robots.txt", Host=host)
        assert (answer.status, answer.text) == (200, text)
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    tag = answer.headers["ETag"]
    assert ask(redirector, "/robots.txt", Host="b.example",
               **{"If-None-Match": tag}).status == 304
    own.write_text("User-agent: *\nDisallow: /x\n")
    redirector.process.signal(signal.SIGHUP)
    eventually(lambda: "/x" in ask(redirector, "/robots.txt",
                                   Host="b.example").text)
    assert clicks(redirector) == []


def test_without_domains_there_is_a_robots_txt_and_no_icon(links, start, clicks):
    redirector = start()
    assert ask(redirector, "/robots.txt").text == "User-agent: *\nDisallow:\n"
    answer = ask(redirector, "/favicon.ico")
    assert (answer.status, answer.text) == (204, "")
    assert "max-age" in answer.headers["Cache-Control"]
    assert ask(redirector, "/favicon.ico", "HEAD").status == 204
    assert clicks(redirector) == []


def test_a_domain_says_what_crawlers_do_with_its_redirects(links, start):
    redirector = start(fallback_url="https://www.example.org/", domains={"list": [
        {"name": "main", "hosts": ["a.example"]},
        {"name": "quiet", "hosts": ["b.example"],
         "x_robots_tag": "noindex, nofollow"}]})
    for fields, query in (({}, ""), ({"redirect_status": 301}, ""),
                          ({"pass_query": "add"}, "?a=b"), (None, "")):
        codes = ["", ""] if fields is None else [links.create(**fields) for _ in "ab"]
        if fields is not None:
            links.edit(codes[1], domain="quiet")
        for _ in range(2):
            main = ask(redirector, f"/{codes[0]}{query}", Host="a.example")
            quiet = ask(redirector, f"/{codes[1]}{query}", Host="b.example")
            assert quiet.headers["X-Robots-Tag"] == "noindex, nofollow"
            assert main.headers["X-Robots-Tag"] is None
            assert quiet.headers["Location"] == main.headers["Location"]
            assert quiet.headers["Cache-Control"] == main.headers["Cache-Control"]


@pytest.mark.parametrize("domain, says", [
    ({"x_robots_tag": "noindex\r\nSet-Cookie: a=b"}, "x_robots_tag: expected"),
    ({"x_robots_tag": "no\u00efndex"}, "x_robots_tag: expected"),
    ({"x_robots_tag": " noindex"}, "x_robots_tag: expected"),
    ({"x_robots_tag": "n" * 257}, "x_robots_tag: expected"),
    ({"robots_txt": "/no/such/file"}, "robots_txt: /no/such/file"),
])
def test_wrong_settings_for_crawlers_are_named(program, links_config, domain, says):
    status, output = program("redirector", {
        "links": links_config, "domains": {"list": [
            {"name": "main", "hosts": ["a.example"], **domain}]}},
        start=False, args=["--check"]).run()
    assert status != 0
    assert says in output
