"""Rate limits per API key, with a running allocator."""
import signal
import time

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.batch import batch
from support.keys import key_line
from support.program import eventually


@pytest.fixture
def limited(api, keys_file):
    """The allocator, with a key `crm` that has these limits."""
    def make(limits):
        keys_file.path.write_text(key_line("boss", "admin")
                                  + key_line("crm", f"create,read {limits}"))
        api.program.process.signal(signal.SIGHUP)
        eventually(lambda: api.get("0000000", key="eye").status_code == 401,
                   what="the new keys")
        return api
    return make


def statuses(api, count, key="crm"):
    return [api.post(key=key, url=URL, ttl="1h").status_code
            for _ in range(count)]


def test_a_key_that_asks_too_often_is_429_and_told_when(limited):
    api = limited("rate=3/h")
    assert statuses(api, 3) == [201] * 3
    answer = api.post(key="crm", url=URL, ttl="1h")
    detail = problem(answer, 429)
    assert "'crm'" in detail
    assert 1 <= int(answer.headers["Retry-After"]) <= 1200
    assert answer.headers["RateLimit-Policy"] == '"key";q=3;w=3600'
    left = dict(p.split("=") for p in
                answer.headers["RateLimit"].split(";")[1:])
    assert left["r"] == "0" and 3500 <= int(left["t"]) <= 3600


def test_who_comes_again_after_the_wait_is_let_in(limited):
    api = limited("rate=20/s burst=1")
    # On a slow machine each request may take as long as the wait.
    eventually(lambda: 429 in statuses(api, 5), what="too many at once")
    eventually(lambda: statuses(api, 1) == [201])


def test_reads_and_creates_share_the_rate(limited):
    api = limited("rate=3/h")
    code = api.create(key="crm")["code"]
    assert [api.get(code, key="crm").status_code for _ in range(3)] == [200, 200, 429]


def test_other_keys_are_not_touched(limited):
    api = limited("rate=1/h")
    statuses(api, 3)
    assert statuses(api, 5, key="boss") == [201] * 5


def test_a_reload_does_not_fill_the_bucket(limited):
    statuses(limited("rate=2/h"), 2)
    assert statuses(limited("rate=2/h burst=2"), 1) == [429]


def test_what_is_limited_is_counted_by_key(limited):
    api = limited("rate=1/h")
    statuses(api, 4)
    api.program.wait_metric(3, "shortloop_allocator_rate_limited_total",
                            key="crm")


def test_the_rest_of_a_line_that_was_refused_costs_nothing(limited):
    api = limited("rate=1/h burst=1")
    answers = batch(api, [b"x" * 40000] * 5, key="crm")
    assert [(a["line"], a["status"]) for a in answers] == [(1, 413)]


def test_a_line_of_a_batch_costs_one_whatever_becomes_of_it(limited):
    api = limited("rate=10/s burst=1")
    began = time.monotonic()
    answer = api.call("POST", "/v1/links/batch", "crm",
                      data=b"\n" * 4 + (b"x" * 70000 + b"\n") * 4,
                      headers={"Content-Type": "application/x-ndjson"})
    assert len(answer.text.splitlines()) == 8
    assert time.monotonic() - began >= 0.65
