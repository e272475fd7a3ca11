"""The disks of Redis' log of writes and of Kafka's log fill up while all programs run:
no visit fails that could be answered, nothing is reported as done that is not, and once
there is room each click is counted exactly once."""
import collections
import time

import pytest
import requests
from conftest import watch

from support.clicks import rfc3339
from support.program import eventually
from support.redirects import (LINKS_SECTION, domains_config,  # noqa: F401
                               make_links, start, visit)
from support.rule_files import UA_RULES
from support.server import KafkaServer, RedisServer
from support.visitors import Visitors

SPOOLED = "shortloop_redirector_events_spooled_total"
SPOOL = "shortloop_redirector_spool_events"
DROPPED = "shortloop_redirector_events_dropped_total"


@pytest.fixture
def full(workdir):
    """{server: the file that fills its disk}"""
    return {name: workdir / f"{name}.full" for name in ("redis", "kafka")}


@pytest.fixture
def own_redis(request, workdir, disk_full, full):
    """The log is synced each second, Redis' default: with `always` Redis ends
    itself."""
    server = watch(request, RedisServer(workdir / "redis", durable=True))
    server.env = disk_full(full["redis"], "/appendonlydir/")
    yield server.start()
    server.kill()


@pytest.fixture
def kafka_server(request, workdir, disk_full, full):
    server = watch(request, KafkaServer(workdir / "kafka"))
    server.env = disk_full(full["kafka"], "/kafka/data/")
    yield server.start()
    server.kill()


@pytest.fixture
def stack(program, links_config, workdir, tables, make_links,  # noqa: F811
          own_redis):
    links_config["quarantine"] = "2d"
    made = collections.namedtuple(
        "Stack", "links redirector collector aggregator reclaimer")
    links = make_links(own_redis.client())
    topics = {"topic_links": links.allocator.config["kafka"]["topic_links"]}
    return made(
        links,
        program("redirector", {"links": links_config, "redirector": {
            "threads": 2, "spool_dir": str(workdir / "spool"), "linger": "20ms"}}),
        program("collector", {"kafka": topics, "collector": {
            "batch_age": "100ms", "report_every": "200ms", "ua_rules": UA_RULES}}),
        program("aggregator", {"clicks": {"edge_delay": "0s"}, "aggregator": {
            "settle_every": "500ms"}}),
        lambda *args: program("reclaimer", {"links": links_config}, args=args,
                              start=False).run())


def counted(stack, code):
    """Returns the clicks of the hours around now."""
    quarter = 900
    at = int(time.time()) // quarter * quarter
    answer = requests.get(stack.aggregator.url + "/v1/clicks", timeout=60, params={
        "from": rfc3339(at - 4 * quarter), "to": rfc3339(at + 4 * quarter),
        "code": code, "bots": "include"})
    return answer.json()["total"]["clicks"] if answer.status_code == 200 else None


def refused(answer):
    """The request was not done, and may be retried."""
    assert answer.status_code == 503, (answer.status_code, answer.text)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert int(answer.headers["Retry-After"]) > 0
    assert "MISCONF" not in answer.text


def answer_some(visitors, count=300):
    before = len(visitors.answered)
    eventually(lambda: len(visitors.answered) > before + count)


@pytest.mark.long
def test_disks_that_fill_cost_no_visit_and_no_click(
        stack, full, kafka_server, start):  # noqa: F811
    links = stack.links
    code, other = links.create(), links.create(url="https://example.org/other")
    with Visitors(stack.redirector, code, pause=0.002) as visitors:
        answer_some(visitors)

        # Redis has written what it could, and refuses all later writes.
        full["redis"].touch()
        eventually(lambda: links.call("POST", url="https://example.org/x",
                                      ttl="30d").status_code != 201)
        refused(links.call("POST", url="https://example.org/y", ttl="30d"))
        refused(links.call("PATCH", f"/{other}", url="https://example.org/z"))
        refused(links.call("DELETE", f"/{other}"))
        answer_some(visitors)
        # The link was never looked up before, so Redis is queried.
        assert visit(f"{stack.redirector.url}/{other}").headers["Location"] == \
            "https://example.org/other"
        # The redirector still gets changes, and a new one serves.
        assert stack.redirector.metric("shortloop_redirector_subscriptions_total") == 1
        second = start()
        assert visit(f"{second.url}/{other}").status_code == 302
        assert second.stop() == 0
        status, said = stack.reclaimer("run")
        assert status == 69, said
        full["redis"].unlink()
        eventually(lambda: links.call("POST", url="https://example.org/x",
                                      ttl="30d").status_code == 201)
        links.change(other, url="https://example.org/z")
        eventually(lambda: visit(f"{stack.redirector.url}/{other}").headers[
            "Location"] == "https://example.org/z")

        # A broker whose only disk fails ends.
        full["kafka"].touch()
        eventually(lambda: not kafka_server.running(), seconds=120,
                   what="the broker gives up")
        eventually(lambda: stack.redirector.metric(SPOOLED) > 0)
        answer_some(visitors)
        full["kafka"].unlink()
        kafka_server.start()
        answer_some(visitors)
    assert not visitors.others
    stack.redirector.wait_metric(0, SPOOL)
    assert stack.redirector.metric(DROPPED) == 0
    # A visit whose connection ended before its answer does not count; there is none
    # here.
    eventually(lambda: counted(stack, code) == len(visitors.answered), seconds=120,
               what=f"{len(visitors.answered)} clicks")
    assert stack.reclaimer("run")[0] == 0
