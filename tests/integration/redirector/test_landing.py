"""Pages that open an app or a mini program, in place of a redirect."""
import base64
import hashlib
import html.parser
import json
import re
import signal
import subprocess

import pytest

from support.redirects import (  # noqa: F401 (fixtures)
    HEAD, LINKS_SECTION, REDIRECTED, clicks, domains_config, links, make_links, start,
    visit)
from test_redirector_links import ANDROID, DESKTOP, IPHONE, WECHAT

APP, STORE = "myapp://item/7", "https://store.example/app?id=7"
PROGRAM, WEB = "weixin://dl/business/?t=abc", "https://web.example/"
DEFAULT = "https://www.example.org/"
IOS_APP = {"ios": {"app": APP, "fallback": STORE}}
WECHAT_ON_IPHONE = IPHONE + " MicroMessenger/8.0.49 NetType/WIFI"
QQ = ANDROID + " V1_AND_SQ_8.9.28_1 QQ/8.9.28.10155 NetType/WIFI"


@pytest.fixture
def allocator_settings():
    return {"url_schemes": ["myapp", "weixin"]}


class Page(html.parser.HTMLParser):
    """A browser's view of an answer."""

    def __init__(self, answer):
        super().__init__()
        self.tags, self.texts = [], {"script": [], "style": []}
        self.inside = []
        self.feed(answer.text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self.inside and self.inside[-1] in self.texts:
            self.texts[self.inside[-1]].append(data)

    @property
    def root(self):
        return next(attrs for tag, attrs in self.tags if tag == "html")

    @property
    def opens(self):
        return (self.root["data-open"], self.root["data-fallback"],
                self.root["data-browser"])

    def links(self):
        return [attrs["href"] for tag, attrs in self.tags if tag == "a"]


def ask(redirector, code, agent=IPHONE, method="GET"):
    return visit(f"{redirector.url}/{code}", method,
                 headers={"User-Agent": agent})


def page(redirector, code, agent=IPHONE):
    answer = ask(redirector, code, agent)
    assert answer.status_code == 200, answer
    return Page(answer)


def sources(kind, page):
    return [f"{kind}-src"] + [
        "'sha256-%s'" % base64.b64encode(
            hashlib.sha256(text.encode()).digest()).decode()
        for text in page.texts[kind]]


# --- the page --------------------------------------------------------------------

def test_a_page_opens_the_app_and_leads_to_the_store(links, start):
    redirector = start(threads=1)
    code = links.create(DEFAULT, targets=IOS_APP, redirect_status=301)
    for _ in range(2):  # from Redis, then from the cache
        answer = ask(redirector, code)
        shown = Page(answer)
        assert answer.status_code == 200 and "Location" not in answer.headers
        assert shown.opens == (APP, STORE, "browser")
        assert shown.links() == [APP, STORE]
        # Without scripts, the store also opens after a moment.
        assert ("meta", {"http-equiv": "refresh", "content": f"5;url={STORE}"}
                ) in shown.tags
        assert answer.text.index("<noscript>") < answer.text.index("refresh")
    for agent in (ANDROID, DESKTOP):
        answer = ask(redirector, code, agent)
        assert (answer.status_code, answer.headers["Location"]) == (301, DEFAULT)


def test_a_page_may_do_nothing_but_what_stands_in_it(links, start):
    answer = ask(start(), links.create(targets=IOS_APP))
    shown, headers = Page(answer), answer.headers
    policy = [part.split() for part in
              headers["Content-Security-Policy"].split("; ")]
    assert policy == [
        ["default-src", "'none'"], sources("script", shown),
        sources("style", shown), ["img-src", "data:"], ["base-uri", "'none'"],
        ["form-action", "'none'"], ["frame-ancestors", "'none'"]]
    assert len(shown.texts["script"]) == len(shown.texts["style"]) == 1
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "private, no-store"
    assert headers["Referrer-Policy"] == "strict-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Vary"] == "User-Agent"


def test_a_url_is_nothing_but_a_url(links, start):
    redirector = start()
    plain = page(redirector, links.create(targets=IOS_APP))
    app = "myapp://\"><script>alert('&amp;')</script>{{fallback}}"
    store = "https://store.example/?'\"><svg/onload=alert(1)>&lt;"
    shown = page(redirector, links.create(targets={
        "ios": {"app": app, "fallback": store}}))
    # Each is a URI; characters that are allowed in one are escaped for HTML.
    app = "myapp://%22%3E%3Cscript%3Ealert('&amp;')%3C/script%3E%7B%7Bfallback%7D%7D"
    store = "https://store.example/?'%22%3E%3Csvg/onload=alert(1)%3E&lt;"
    assert shown.opens == (app, store, "browser")
    assert shown.links() == [app, store]
    assert [tag for tag, _ in shown.tags] == [tag for tag, _ in plain.tags]
    assert shown.texts == plain.texts


SCRIPT = """
const [script, attributes, hidden] = JSON.parse(process.argv[1]);
const seen = {went: [], timers: []}, handlers = {};
const listen = (name, handler) => { handlers[name] = handler; };
globalThis.document = {
  documentElement: {getAttribute: (name) => attributes[name]},
  addEventListener: listen, hidden,
};
globalThis.window = {addEventListener: listen};
globalThis.location = {
  set href(url) { seen.went.push(url); },
  replace: (url) => seen.went.push(url),
};
const timers = new Map();
globalThis.setTimeout = (run, ms) => { timers.set(1, run); return 1; };
globalThis.clearTimeout = (id) => timers.delete(id);
(0, eval)(script);
if (hidden && handlers.visibilitychange)
  handlers.visibilitychange();
timers.forEach((run) => run());
console.log(JSON.stringify(seen.went));
"""


def goes_to(shown, app_opens=False):
    """Returns where the page's script leads, with or without the app."""
    script, = shown.texts["script"]
    done = subprocess.run(
        ["node", "-e", SCRIPT, json.dumps([script, shown.root, app_opens])],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_script_goes_to_the_store_when_no_app_opens(links, start):
    redirector = start()
    for targets, opens in [(IOS_APP, APP), ({"ios": {
            "mini_program": PROGRAM, "fallback": STORE}}, PROGRAM)]:
        code = links.create(targets=targets)
        shown = page(redirector, code)
        assert goes_to(shown) == [opens, STORE]
        assert goes_to(shown, app_opens=True) == [opens]
        # Where the script cannot work, a redirect would remove the hint before it is
        # read.
        assert goes_to(page(redirector, code, WECHAT_ON_IPHONE)) == []


# --- clients that get a page -----------------------------------------------------

def test_windows_of_other_apps_get_the_hint(links, start):
    redirector = start()
    code = links.create(targets={"ios": IOS_APP["ios"],
                                 "android": IOS_APP["ios"]})
    for agent, browser in [
            (IPHONE, "browser"), (ANDROID, "browser"), (QQ, "qq"),
            (WECHAT, "wechat"), (WECHAT_ON_IPHONE, "wechat"),
            (WECHAT + " miniProgram/wx12", "mini-program")]:
        assert page(redirector, code, agent).opens == (APP, STORE, browser)


def test_wechat_gets_its_own_target_then_a_page_then_the_url(links, start):
    redirector = start()
    program = {"mini_program": PROGRAM, "fallback": WEB}
    own = links.create(targets={**IOS_APP, "wechat": program})
    assert page(redirector, own, WECHAT).opens == (PROGRAM, WEB, "wechat")
    assert page(redirector, own, IPHONE).opens == (APP, STORE, "browser")
    # WeChat gets the system's target only if it is a page, which explains how to leave
    # WeChat.
    mixed = links.create(DEFAULT, targets={**IOS_APP, "android": WEB})
    assert page(redirector, mixed, WECHAT_ON_IPHONE).opens[0] == APP
    assert ask(redirector, mixed, WECHAT).headers["Location"] == DEFAULT
    assert ask(redirector, mixed, ANDROID).headers["Location"] == WEB


def test_a_url_link_opens_anywhere(links, start):
    url_link = "https://wxaurl.cn/abc"
    code = links.create(targets={"wechat": {"mini_program": url_link,
                                            "fallback": WEB}})
    assert page(start(), code, WECHAT).opens == (url_link, WEB, "browser")


# --- other properties of a link ----------------------------------------------------

def test_what_goes_on_goes_to_both(links, start):
    redirector = start()
    code = links.create(targets={"ios": {"app": "myapp://a?b=1#f",
                                         "fallback": STORE}},
                        pass_query="add", pass_path=True)
    shown = page(redirector, f"{code}/x?c=\"><b>&id=8")
    assert shown.opens == ("myapp://a/x?b=1&c=%22%3E%3Cb%3E&id=8#f",
                           "https://store.example/app/x?id=7&c=%22%3E%3Cb%3E",
                           "browser")
    assert ask(redirector, f"{code}/..%2fx").status_code == 404


def test_no_path_becomes_the_host_of_an_app(links, start):
    answer = links.call("POST", url=WEB, ttl="30d", pass_path=True, targets={
        "ios": {"app": "myapp://", "fallback": STORE}})
    assert answer.status_code == 400
    assert "pass_path: an app has neither a host" in answer.json()["detail"]
    code = links.create("myapp://item", pass_path=True)
    answer = links.call("PATCH", f"/{code}", url="myapp:///")
    assert answer.status_code == 400
    assert "pass_path: url has neither a host" in answer.json()["detail"]
    # An app target that exists nevertheless gets nothing of the visit.
    links.edit(code, url="myapp://")
    redirector = start()
    answer = visit(f"{redirector.url}/{code}/evil.example/a")
    assert answer.headers["Location"] == "myapp://"
    links.change(code, description="a link that can still be described")


def test_a_page_counts_as_a_visit(links, start, clicks):
    redirector = start(threads=1)
    code = links.create(targets=IOS_APP, max_visits=2, redirect_status=301)
    head = ask(redirector, code, method="HEAD")
    assert (head.status_code, head.text) == (200, "")
    assert int(head.headers["Content-Length"]) == len(
        ask(redirector, code).content)
    assert ask(redirector, code).status_code == 200
    assert ask(redirector, code).status_code == 410
    for outcome, count in (("redirected", 2), ("head", 1)):
        redirector.wait_metric(count, "shortloop_redirector_answers_total",
                               outcome=outcome, status="200")
    events = clicks(redirector)
    assert [(e.outcome, e.status) for e in events][:3] == [
        (HEAD, 200), (REDIRECTED, 200), (REDIRECTED, 200)]
    assert len(events) == 4 and events[0].link_id == events[1].link_id != 0


# --- contents of a record ------------------------------------------------------------

def test_who_knows_no_pages_finds_the_fallback_in_the_record(links):
    code = links.create(DEFAULT, targets={
        **IOS_APP, "wechat": {"mini_program": PROGRAM, "fallback": WEB}})
    assert [(t.device, t.url) for t in links.record(code).targets] == [
        (1, STORE), (3, WEB)]


def test_a_record_from_elsewhere_opens_nothing_dangerous(links, start):
    redirector = start()
    for name, url in [("app", "javascript:alert(1)"),
                      ("app", "intent://x#Intent;end"),
                      ("mini_program", "data:text/html,x"),
                      ("url", "http://store.example/"),
                      ("url", "javascript:alert(1)")]:
        opens = "app" if name == "url" else name
        code = links.create(targets={"ios": {opens: PROGRAM,
                                             "fallback": STORE}})
        bad = links.record(code)
        setattr(bad.targets[0], name, url)
        links.store(code, bad)
        answer = ask(redirector, code)
        assert answer.status_code == 503 and url not in answer.text


def test_a_target_is_edited_and_shown_as_it_was_given(links, start):
    redirector = start()
    code = links.create(targets=IOS_APP)
    assert page(redirector, code).opens[0] == APP
    wanted = {"ios": {"mini_program": PROGRAM, "fallback": WEB},
              "android": STORE}
    links.change(code, targets=wanted)
    assert links.call("GET", f"/{code}").json()["targets"] == wanted
    links.change(code, description="another field")
    assert links.call("GET", f"/{code}").json()["targets"] == wanted
    links.change(code, targets=None)
    assert links.call("GET", f"/{code}").json()["targets"] == {}


def test_a_wrong_target_is_named(links):
    for target, says in [
            ({"app": "other://x", "fallback": STORE},
             "targets: ios: app: the scheme other is none of those in "
             "allocator.url_schemes"),
            ({"app": "javascript:alert(1)", "fallback": STORE},
             "targets: ios: app: the scheme javascript"),
            ({"app": APP, "fallback": "myapp://x"},
             "targets: ios: fallback: must begin with https://"),
            ({"app": APP}, "targets: ios: fallback: is required")]:
        answer = links.call("POST", url=DEFAULT, ttl="30d",
                            targets={"ios": target})
        assert answer.status_code == 400 and says in answer.json()["detail"]


# --- custom pages --------------------------------------------------------------------

OWN = ("<!doctype html><title>%s</title><script>go()</script>"
       "<p data-in='{{browser}}'><a href='{{open}}'>a</a>"
       "<a href='{{fallback}}'>b</a>\n")


def titles(redirector, code):
    """Returns the titles from all threads."""
    return {re.search("<title>(.*)</title>", ask(redirector, code).text)[1]
            for _ in range(20)}


def test_a_page_of_ones_own_is_read_again(links, start, workdir):
    own = workdir / "app.html"
    own.write_text(OWN % "one")
    redirector = start(app_page_file=str(own))
    code = links.create(targets=IOS_APP)
    shown = page(redirector, code)
    assert shown.links() == [APP, STORE]
    assert " ".join(sources("script", shown)) in ask(
        redirector, code).headers["Content-Security-Policy"]
    assert titles(redirector, code) == {"one"}
    own.write_text(OWN % "two")
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log("landing pages reloaded")
    assert titles(redirector, code) == {"two"}
    # The other page is ours.
    program = links.create(targets={"ios": {"mini_program": PROGRAM,
                                            "fallback": WEB}})
    assert titles(redirector, program) == {"Open the mini program"}


def test_a_page_with_a_mistake_is_rejected_and_the_old_one_stays(
        links, start, workdir):
    own = workdir / "app.html"
    own.write_text(OWN % "one")
    redirector = start(app_page_file=str(own))
    code = links.create(targets=IOS_APP)
    own.write_text(OWN % "two" + "<a href={{open}}>\n")
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log(f"{own}:2: an attribute's value needs quotes")
    redirector.wait_metric(1, "shortloop_redirector_reload_failures_total")
    assert titles(redirector, code) == {"one"}


def test_a_page_with_a_mistake_is_found_before_the_start(
        program, links_config, workdir):  # noqa: F811
    own = workdir / "mini.html"
    own.write_text("\n<p onclick='x()'>\n")
    for args in (["--check"], []):
        made = program("redirector", {
            "links": links_config,
            "redirector": {"mini_program_page_file": str(own)}},
            start=False, args=args)
        status, output = made.run()
        assert status == 78
        assert f"{own}:2: the page's policy keeps" in output
