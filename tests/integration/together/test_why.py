"""GET /v1/links/{code}/why and `allocator explain`, compared with what a redirector
answers to the visit that they explain."""
import json
import urllib.parse

import pytest
import requests

from support.keys import API_KEY
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, links, make_links, own_links, start, visit)
from support.spaces import aliases, hashes, snowflakes

IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) "
          "AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1")
ANDROID = ("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 "
           "Chrome/126.0 Mobile Safari/537.36")
WECHAT = ANDROID + " MicroMessenger/8.0.49 NetType/WIFI"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Firefox/127.0"
AGENTS = [IPHONE, ANDROID, WECHAT, DESKTOP, ""]
URL = "https://www.example.org/"
FALLBACK = "https://fallback.example/"

DOMAINS = {"shared": True, "default": "main", "list": [
    {"name": "main", "hosts": ["sho.rt", "b\u00fccher.example"]},
    {"name": "promo", "hosts": ["promo.example", "old.example"]},
    {"name": "brief", "hosts": ["brief.example"], "spaces": ["names"]},
    {"name": "idle", "hosts": ["idle.example"]}]}
HOSTS = ["sho.rt", "SHO.rt:8080", "promo.example", "brief.example", "unknown.example",
         "idle.example"]
LINKS_SECTION = {**LINKS_SECTION, "ttl_classes": ["1s", "30d"], "spaces": [
    *LINKS_SECTION["spaces"], hashes(), snowflakes(), aliases()]}


@pytest.fixture
def domains_config():
    return DOMAINS


def why(links, code, **params):
    answer = links.call("GET", f"/{code}/why?" + urllib.parse.urlencode(params))
    assert answer.status_code == 200, answer.text
    return answer.json()


def visited(redirector, code, host, agent):
    """Returns the parts of a redirector's answer that are explained."""
    answer = visit(f"{redirector.url}/{code}", headers={
        "Host": host, "User-Agent": agent})
    page = ("app" if "myapp:" in answer.text else
            "mini_program" if "weixin:" in answer.text else None)
    return {"status": answer.status_code, "location": answer.headers.get("Location"),
            "page": page if answer.status_code == 200 else None}


def make_all(links):
    """Returns the codes of links of all kinds."""
    made = {
        "plain": links.create(URL),
        "as no URI": links.create(URL + "путь?a|b"),
        "permanent": links.create(URL, redirect_status=308),
        "targets": links.create(URL, targets={
            "ios": "https://ios.example/", "android": "https://android.example/",
            "wechat": "https://wechat.example/"}),
        "android": links.create(URL, targets={"android": "https://android.example/"}),
        "pages": links.create(URL, targets={
            "ios": {"app": "myapp://item/7", "fallback": FALLBACK},
            "android": {"app": "myapp://item/7", "fallback": FALLBACK},
            "wechat": {"mini_program": "weixin://dl/business/", "fallback": FALLBACK}}),
        "page": links.create(URL, targets={
            "android": {"app": "myapp://item/7", "fallback": FALLBACK}}),
        "promo": links.create(URL, domain="promo"),
        "hash": links.create(URL, space="h6"), "snowflake": links.create(URL, space="flakes"),
        "alias": links.create(URL, code="my-alias"),
        "brief": links.create(URL, code="brief-alias", domain="brief"),
        "later": links.create(URL, not_before="2100-01-01T00:00:00Z"),
        "deleted": links.create(URL), "blocked": links.create(URL),
        "paused": links.create(URL), "idle": links.create(URL, domain="idle"),
        "idle, deleted": links.create(URL, domain="idle"),
        "denied": links.create("https://bad.example/"),
        "denied for phones": links.create(URL, targets={"ios": "https://bad.example/"}),
        "over": links.create(URL, max_visits=1), "none": "my-other-alias"}
    for name in ("deleted", "idle, deleted"):
        links.delete(made[name])
    links.change(made["blocked"], state="blocked")
    links.change(made["paused"], state="paused")
    return made


@pytest.fixture
def allocator_settings():
    return {"url_schemes": ["myapp", "weixin"]}


@pytest.fixture
def idle(links, program):
    """The domain idle is paused, once links are there, and bad.example denied."""
    def make(*programs):
        config = links.allocator.config
        for words in (["takedown", "--no-links", "bad.example"],
                      ["domains", "pause", "idle"]):
            status, output = program("allocator", config, start=False, args=words).run()
            assert status == 0, output
        for name in ("denied_hosts", "domains"):
            eventually(lambda: all(p.metric(f"shortloop_{name}_revision") > 0
                                   for p in (links.allocator, *programs)), what=name)
    return make


def test_the_explanation_is_what_a_redirector_answers(links, start, idle):
    redirector = start(threads=1)
    codes = make_all(links)
    idle(redirector)
    assert visited(redirector, codes["over"], "sho.rt", DESKTOP)["status"] == 302
    unlike = []
    for name, code in codes.items():
        for host in HOSTS:
            for agent in AGENTS:
                told = why(links, code, host=host, user_agent=agent)
                got = visited(redirector, code, host, agent)
                if told["answer"] != got:
                    unlike.append((name, host, agent[:20], told["answer"], got))
    assert not unlike


def test_each_answer_has_its_reason(links, idle):
    codes = make_all(links)
    idle()
    says = {"paused": "The link is paused", "denied": "a host that was taken down",
            "denied for phones": "a host that was taken down",
            "idle": "The domain idle is paused",
            "idle, deleted": "was deleted",
            "plain": "is redirected to the link's URL.",
            "later": "unknown until the link begins, at 2100-01-01T00:00:00Z",
            "deleted": "was deleted", "blocked": "A moderator blocked",
            "none": "No link has this code in the space names"}
    for name, text in says.items():
        assert text in why(links, codes[name])["why"], name
    assert "for ios" in why(links, codes["targets"], user_agent=IPHONE)["why"]
    assert "opens an app" in why(links, codes["page"], user_agent=WECHAT)["why"]
    other = why(links, codes["promo"], host="sho.rt")
    assert "belongs to another domain, promo" in other["why"]
    assert other["host"] == {"name": "sho.rt", "domain": "main", "shows": False}
    assert "links of the space s7 are not shown" in why(
        links, codes["plain"], host="brief.example")["why"]


def test_what_is_read_is_shown(links):
    code = links.create(URL, max_visits=3, domain="promo")
    link = links.call("GET", f"/{code}").json()
    found = why(links, code)
    assert found["space"] == "s7" and found["strategy"] == "sequence"
    assert found["marker"]["open"] and found["marker"]["ttl"] == "30d"
    assert found["marker"]["generation"] == link["generation"] == found["link"]["generation"]
    assert found["block"] >= 0 and found["id_in_block"] >= 0 and found["key_version"] == 0
    for name in ("link_id", "version", "state", "not_before", "max_visits", "domain"):
        assert found["link"][name] == link[name], name
    assert found["link"]["visits"] == 0
    assert found["host"] == {"name": "promo.example", "domain": "promo", "shows": True}
    assert found["device"] == {"system": "default", "in_app": "browser",
                               "target": "default"}


def test_visits_are_counted_and_not_used_up_by_questions(links, start):
    redirector = start(threads=1)
    code = links.create(URL, max_visits=2)
    for visits in (0, 1, 2):
        for _ in range(3):
            found = why(links, code)
            assert found["link"]["visits"] == visits
            assert found["answer"]["status"] == (302 if visits < 2 else 410)
        visited(redirector, code, "sho.rt", DESKTOP)
    assert "may be visited 2 times and has had 2 visits" in why(links, code)["why"]


def test_an_expired_link_and_texts_that_are_no_codes(links):
    code = links.create(URL, ttl="1s")
    # The noted clock of Redis is behind by as long as an answer takes: until it is
    # past the end as well, the code may be one that was not issued.
    eventually(lambda: why(links, code)["answer"]["status"] == 410, what="its end")
    gone = why(links, code)
    assert gone["link"] is None and "has expired" in gone["why"]
    for text in ("x" * 65, "a.b"):
        assert links.call("GET", f"/{text}/why").status_code == 404
    for text in ("Zzzzzzz", "no-such-alias"):
        found = why(links, text)
        assert found["answer"]["status"] == 404 and found["link"] is None
        assert found["why"].startswith("No link has this code"), found["why"]


def test_a_wrong_question_is_refused(links):
    code = links.create(URL)
    for query, says in (("hots=sho.rt", "hots: expected host or user_agent"),
                        ("host=a&host=b", "host: is given twice")):
        answer = links.call("GET", f"/{code}/why?{query}")
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith(says)


def test_without_redis_nothing_is_explained(own_links, own_redis):
    code = own_links.create(URL)
    own_redis.kill()
    eventually(lambda: own_links.call("GET", f"/{code}/why").status_code == 503)


def params_of(options):
    return {key[2:].replace("-", "_"): value
            for key, value in zip(options[::2], options[1::2])}


def test_the_command_prints_the_same(links, program):
    codes = make_all(links)
    for name, options in (("targets", ["--user-agent", IPHONE]), ("none", []),
                          ("promo", ["--host", "sho.rt"]), ("blocked", [])):
        status, output = program("allocator", links.allocator.config, start=False,
                                 args=["explain", *options, codes[name]]).run()
        assert status == 0, output
        printed = json.loads(output[output.index("{"):])
        told = why(links, codes[name], **params_of(options))
        for each in printed, told:
            # It is computed from the time left.
            (each["link"] or {}).pop("expires_at", None)
        assert printed == told
    status, output = program("allocator", links.allocator.config, start=False,
                             args=["explain"]).run()
    assert status != 0 and "expected a code" in output
