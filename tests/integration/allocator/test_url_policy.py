"""The allowed targets of links: the allocator's rules for URLs, and its lists of
domains."""
import signal
import time

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import problem
from support.program import PATIENCE, eventually


@pytest.fixture
def lists(workdir):
    """lists(deny="...", allow="...") writes them; .settings name them."""
    def write(**texts):
        for name, text in texts.items():
            (workdir / f"{name}.domains").write_text(text)
    write.settings = lambda *names: {
        f"url_{name}_file": str(workdir / f"{name}.domains")
        for name in names}
    return write


@pytest.fixture
def ruled(redis, topic, create_space, start):
    """ruled(setting=...) starts an allocator with these rules."""
    def make(**settings):
        status, output = create_space()
        assert status == 0, output
        return start(topic, **settings)
    return make


def refusal(api, url, **fields):
    return problem(api.post(url=url, ttl="1h", **fields), 400)


def reload(api, says):
    before = api.program.log().count(says)
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.program.log().count(says) > before)


# --- normalization ---------------------------------------------------------------

@pytest.mark.parametrize("given, stored", [
    ("HTTPS://Example.ORG/A?b=C", "https://example.org/A?b=C"),
    ("http://M\u00fcnchen.example./", "http://xn--mnchen-3ya.example/"),
    ("http://0x7f.1:8080/x", "http://127.0.0.1:8080/x"),
    ("https://example.org/%7e/\u4e2d", "https://example.org/%7e/%E4%B8%AD")])
def test_a_url_is_stored_in_one_form(ruled, given, stored):
    link = ruled().create(url=given)
    assert link["url"] == stored


def test_targets_follow_the_same_rules(ruled):
    api = ruled()
    link = api.create(targets={"ios": "HTTPS://Example.org/App"})
    assert link["targets"]["ios"] == "https://example.org/App"
    detail = problem(api.post(
        url="https://example.org/", ttl="1h",
        targets={"ios": "https://sho.rt/x"}), 400)
    assert "targets" in detail and "ios" in detail and "our own" in detail


# --- refusals --------------------------------------------------------------------

@pytest.mark.parametrize("url, says", [
    ("https://sho.rt/abc", "our own"),
    ("http://SHO.rt.:8080/a/b?c", "our own"),
    ("https://user:secret@example.org/", "password"),
    ("javascript:alert(1)", "http://"),
    ("weixin://dl/business", "http://"),
    ("https://example.org\\@sho.rt/", "backslash"),
    ("https://example.org/\u0085", "%C2%85"),
    ("https://example.org/\u2028", "%E2%80%A8"),
    ("https://example.org/\u202egnp.exe", "%E2%80%AE"),
    ("http://[64:ff9b::7f00:1]/", "IPv4"),
    ("http://[2002:7f00:1::]/", "IPv4"),
    ("https://a..b/", "empty label"),
    ("https://example.org/" + "a" * 8192, "8192")])
def test_what_is_wrong_with_a_url_is_said(ruled, url, says):
    api = ruled()
    detail = refusal(api, url)
    assert detail.startswith("url: ") and says in detail


def test_a_url_of_8_kib_is_taken(ruled):
    url = "https://example.org/".ljust(8192, "a")
    assert ruled().create(url=url)["url"] == url


def test_app_schemes_and_credentials_can_be_allowed(ruled):
    api = ruled(url_schemes=["weixin", "myapp"], url_credentials=True)
    for url in ("weixin://dl/business/?t=Ab", "myapp:open",
                "https://user:secret@example.org/"):
        assert api.create(url=url)["url"] == url


def test_addresses_can_be_refused(ruled):
    api = ruled(url_ip_hosts="refuse")
    for url in ("http://192.0.2.7/", "http://3221225991/", "http://[::1]/"):
        assert "domain name" in refusal(api, url)


@pytest.mark.parametrize("settings, says", [
    ({"url_schemes": ["javascript"]}, "javascript is never allowed"),
    ({"url_schemes": ["Data"]}, "data is never allowed"),
    ({"url_schemes": ["my app"]}, "'my app' is not a scheme"),
    ({"url_ip_hosts": "maybe"}, "allow, refuse")])
def test_settings_that_make_no_sense_are_named(program, sections, settings,
                                               says):
    command = program("allocator", {
        **sections, "allocator": {**sections["allocator"], **settings}},
        start=False, args=["--check"])
    status, said = command.run()
    assert status == 78 and says in said


def test_a_bad_line_of_a_list_ends_the_start(program, sections, lists):
    lists(deny="good.example\nhttps://bad.example/\n")
    command = program("allocator", {
        **sections, "allocator": {**sections["allocator"],
                                  **lists.settings("deny")}}, start=False)
    status, said = command.run()
    assert status == 78
    assert "url_deny_file" in said and "deny.domains:2:" in said


# --- lists of domains ------------------------------------------------------------

def test_denied_domains_are_refused(ruled, lists):
    lists(deny="# never\n.evil.example\nbad.example  # alone\n")
    api = ruled(**lists.settings("deny"))
    for url in ("https://evil.example/", "https://a.b.EVIL.example./x",
                "http://bad.example:8080/"):
        assert "may not" in refusal(api, url)
    api.create(url="https://www.bad.example/")


def test_only_allowed_domains_are_taken_and_deny_wins(ruled, lists):
    lists(allow=".good.example\n", deny="worst.good.example\n")
    api = ruled(**lists.settings("allow", "deny"))
    api.create(url="https://www.good.example/")
    assert "not on the list" in refusal(api, "https://other.example/")
    assert "may not" in refusal(api, "https://worst.good.example/")


def test_sighup_reads_the_lists_again(ruled, lists):
    lists(deny="a.example\n")
    api = ruled(**lists.settings("deny"))
    refusal(api, "https://a.example/")
    lists(deny="b.example\nc.example\n")
    reload(api, "lists of domains reloaded")
    api.program.wait_log("denied=2")
    api.create(url="https://a.example/")
    refusal(api, "https://b.example/")


def test_a_list_with_a_mistake_changes_nothing(ruled, lists):
    lists(deny="a.example\n")
    api = ruled(**lists.settings("deny"))
    lists(deny="b.example\nb..example\n")
    reload(api, "lists of domains rejected, the old ones stay")
    api.program.wait_log("deny.domains:2:")
    refusal(api, "https://a.example/")
    api.create(url="https://b.example/")


def rounds_while_reloading(api):
    """Returns how often links are made while the lists are reloaded."""
    before = api.program.log().count("lists of domains reloaded")
    done, end = 0, time.monotonic() + PATIENCE
    api.program.process.signal(signal.SIGHUP)
    while api.program.log().count("lists of domains reloaded") == before:
        assert time.monotonic() < end
        api.create()
        refusal(api, "https://evil.example/")
        done += 1
    return done


def test_creating_goes_on_while_a_large_list_is_read(ruled, lists):
    """If the loops waited, at most one round would end during each reload; on a busy
    machine, a round may take as long as the list."""
    lists(deny="".join(f"n{i}.example\n" for i in range(1000000)) +
          "evil.example\n")
    api = ruled(**lists.settings("deny"))
    api.create()
    assert any(rounds_while_reloading(api) >= 2 for _ in range(10))
