"""Repeated statements over settled counts are sent once: what the cache may hide, and
what it must not."""
import concurrent.futures

import pytest

from support.asking import FROM, TO, ask_range, begin
from support.clicks import (DIMENSIONS, counted, groups_of, rfc3339, some_clicks,
                            without_visitors)
from support.fault_proxy import ClickHouseProxy
from support.program import eventually

DAY = 86400
REMEMBERED = "shortloop_aggregator_answers_remembered_total"
BY_COUNTRY = {"group_by": "country", "interval": "month", "bots": "include"}


@pytest.fixture
def proxy(clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port) as standing:
        yield standing


@pytest.fixture
def clicks(migrated):
    rows = some_clicks(1, 300, [(FROM, FROM + DAY)])
    migrated.insert(rows)
    return rows


@pytest.fixture
def make(migrated, redis, program, proxy, clicks):
    def made(**settings):
        started = program("aggregator", {
            "clickhouse": {"url": proxy.url},
            "clicks": {"late_window": "7d"},
            "aggregator": {"settle_every": "500ms", **settings}})
        settled(started, clicks)
        return started
    return made


def settled(made, clicks):
    """Waits until no later answer differs."""
    def check():
        answer = ask_range(made, interval="day")
        return answer["total"]["events"] == len(clicks) and answer["waiting"] is False
    eventually(check, what=f"{len(clicks)} events settled")


def asked(proxy):
    """Returns how often the query by country was sent."""
    return sum(p.kind == "question" and "'country'" in p.query and
               "answer_part" in p.query for p in proxy.passed)


def is_right(answer, clicks):
    assert answer["total"] == counted(clicks, "include")
    found = {g.pop("value"): without_visitors(g) for g in answer["groups"]}
    assert found == groups_of(clicks, "country", "include")


def test_the_same_is_asked_once(make, proxy, clicks):
    made = make()
    first = ask_range(made, **BY_COUNTRY)
    before = made.metric(REMEMBERED)
    assert [ask_range(made, **BY_COUNTRY) for _ in range(3)] == [first] * 3
    assert asked(proxy) == 1 and made.metric(REMEMBERED) >= before + 3
    is_right(first, clicks)

    others = [{"bots": "exclude"}, {"limit": 1}, {"interval": "day"}]
    for number, other in enumerate(others):
        assert ask_range(made, **{**BY_COUNTRY, **other}) != first
        assert asked(proxy) == 2 + number


@pytest.mark.parametrize("memory", ["0", "64"])
def test_without_memory_each_is_asked(make, proxy, memory):
    made = make(answer_cache=memory)
    assert ask_range(made, **BY_COUNTRY) == ask_range(made, **BY_COUNTRY)
    assert asked(proxy) == 2


@pytest.mark.proof
def test_what_is_published_since_is_in_the_answer(make, migrated, clicks):
    made = make()
    is_right(ask_range(made, **BY_COUNTRY), clicks)
    more = some_clicks(2, 200, [(FROM, FROM + 2 * DAY)])
    migrated.insert(more)
    settled(made, clicks + more)
    # For each dimension that days are counted by, also from rows.
    for name in DIMENSIONS:
        total = ask_range(made, **{**BY_COUNTRY, "group_by": name})["total"]
        assert total == counted(clicks + more, "include"), name
    is_right(ask_range(made, **BY_COUNTRY), clicks + more)


@pytest.mark.proof
def test_what_is_published_elsewhere_is_no_reason_to_ask(make, proxy, migrated, clicks):
    made = make()
    hours = (made, FROM, FROM + DAY // 2)  # no whole day, since that would be rolled up
    first = ask_range(*hours, **BY_COUNTRY)
    more = some_clicks(2, 200, [(FROM + DAY, FROM + 2 * DAY)])
    migrated.insert(more)
    settled(made, clicks + more)
    assert ask_range(*hours, **BY_COUNTRY)["groups"] == first["groups"]
    assert asked(proxy) == 1


def test_what_is_asked_at_once_is_asked_once(make, proxy, clicks):
    made = make()
    held = proxy.hold("question", words="'country'")
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        try:
            answers = [pool.submit(ask_range, made, **BY_COUNTRY) for _ in range(5)]
            assert held.here.wait(60)
        finally:
            held.release()
    assert asked(proxy) == 1
    for answer in answers:
        is_right(answer.result(), clicks)


@pytest.mark.proof
def test_who_waits_for_one_that_leaves_asks(make, proxy, clicks):
    made = make()
    path = (f"/v1/clicks?group_by=country&interval=month&bots=include&"
            f"from={rfc3339(FROM)}&to={rfc3339(TO)}")
    held = proxy.hold("question", words="'country'")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        try:
            with begin(made, path):
                assert held.here.wait(60)
                answer = pool.submit(ask_range, made, **BY_COUNTRY)
            is_right(answer.result(60), clicks)
        finally:
            held.release()
    assert asked(proxy) == 2


def test_a_failure_is_not_remembered(make, proxy, clicks):
    made = make()
    proxy.hold("question", "cut_answer", "'country'").release()
    eventually(lambda: is_answered(made, clicks))
    assert asked(proxy) == 2


def is_answered(made, clicks):
    try:
        answer = ask_range(made, **BY_COUNTRY)
    except AssertionError:
        return False
    is_right(answer, clicks)
    return True
