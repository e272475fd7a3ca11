"""Cookies and traces of visits: recorded by name, stored, and forgotten."""
import pytest

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start, visit)
from support.rule_files import UA_RULES

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
AGENT = "Recorded/1.0"


def ask(redirector, code, **headers):
    assert visit(f"{redirector.url}/{code}", headers={
        "User-Agent": AGENT, **headers}).status_code == 302


def test_nothing_is_recorded_unless_it_is_wanted(links, start, clicks):
    code, redirector = links.create(), start(threads=1)
    ask(redirector, code, Cookie="id=1", traceparent=TRACEPARENT)
    event, = clicks(redirector)
    assert not event.cookies and not event.trace_id


def test_cookies_are_recorded_by_name(links, start, clicks):
    code = links.create()
    redirector = start(threads=1, max_cookie="8B",
                       record_cookies=["id", "consent", "more"])
    # The first of each name is recorded, and no other name; values are cut; the same
    # for codes without a link.
    ask(redirector, code, Cookie='secret=1; id="7"; id=8; xid=9; consent=; ID=5')
    ask(redirector, code, Cookie="more=123456789012")
    ask(redirector, code, traceparent=TRACEPARENT)
    assert visit(f"{redirector.url}/nolink", headers={
        "Cookie": "a=b;id=3"}).status_code == 404
    first, second, third, fourth = sorted(clicks(redirector),
                                          key=lambda e: e.event_id)
    assert first.cookies == {"id": "7", "consent": ""}
    assert second.cookies == {"more": "12345678"}
    assert not third.cookies and not third.trace_id
    assert fourth.cookies == {"id": "3"}


def test_a_trace_is_recorded_if_it_is_one(links, start, clicks):
    code = links.create()
    redirector = start(threads=1, record_traceparent=True)
    for value in (TRACEPARENT, TRACEPARENT.upper(), TRACEPARENT.replace("00", "01", 1),
                  f"{TRACEPARENT}, {TRACEPARENT}"):
        ask(redirector, code, traceparent=value, Cookie="id=1")
    events = sorted(clicks(redirector), key=lambda e: e.event_id)
    assert [e.trace_id.hex() for e in events] == [TRACE, "", "", ""]
    assert not any(e.cookies for e in events)


@pytest.mark.parametrize("setting, said", [
    ({"record_cookies": ["a;b"]}, "'a;b' is not a cookie's name"),
    ({"record_cookies": [f"c{i}" for i in range(9)]}, "9 names, at most 8")])
def test_names_that_cannot_be_are_refused(program, links_config, setting, said):
    status, text = program("redirector", {
        "links": links_config, "redirector": setting}, start=False,
        args=["--check"]).run()
    assert status == 78 and f"redirector.record_cookies: {said}" in text


def test_what_was_recorded_is_stored_and_forgotten(
        links, links_config, program, kafka, tables):
    topics = {**kafka.collector_topics(clicks=1), "topic_counters": ""}
    code = links.create()
    redirector = program("redirector", {
        "kafka": topics, "links": links_config, "redirector": {
            "threads": 1, "record_cookies": ["id"], "record_traceparent": True}})
    program("collector", {"kafka": topics, "collector": {
        "group": topics["topic_clicks"], "batch_age": "50ms",
        "ua_rules": UA_RULES}})
    ask(redirector, code, Cookie="id=7", traceparent=TRACEPARENT)
    ask(redirector, code, Cookie="id=7", traceparent=TRACEPARENT,
        **{"User-Agent": "Other/1.0"})

    def stored():
        return tables.rows("SELECT user_agent, cookies, trace_id, "
                           "hex(unique_identity) AS visitor FROM clicks "
                           "ORDER BY offset")
    eventually(lambda: len(stored()) == 2)
    first, other = stored()
    assert (first["cookies"], first["trace_id"]) == ({"id": "7"}, TRACE)
    status, said = program("aggregator", {}, start=False, args=[
        "forget", "--no-wait", "--visitor", first["visitor"]]).run(180)
    assert status == 0, said
    gone, kept = stored()
    assert (gone["user_agent"], gone["cookies"], gone["trace_id"]) == ("", {}, "")
    assert kept == other
