"""Renewals reach the archive: link_ends has the end that Redis has of each version of a link
that a visit renewed."""
import tempfile

import pytest

from support.collecting import settings
from support.fault_world import kafka_server  # noqa: F401
from support.program import eventually
from support.protobuf import message
from support.redirects import (  # noqa: F401 (fixtures)
    DAY, LINKS_SECTION, change_and_wait, domains_config, links, make_links, start, visit)

Renewals = message("renewal.proto", "shortloop.Renewals")
DROPPED = "shortloop_redirector_renewals_unreported_total"


@pytest.fixture
def topics(kafka):
    return {**kafka.collector_topics(), "topic_renewals": kafka.create_topic("renewals", 2)}


@pytest.fixture
def collector(program, base_config, topics, tables):
    return program("collector", settings(base_config, topics))


@pytest.fixture
def redirector(start, topics):
    """redirector(setting=...) starts one that looks each link up anew."""
    def make(**own):
        return start(kafka_settings={"topic_renewals": topics["topic_renewals"],
                                     **own.pop("kafka", {})},
                     cache_ttl="0s", **own)
    return make


def shorten(links, code, left=DAY):
    """Makes the link due for renewal."""
    assert links.redis.pexpire(links.key(code), left)


def renew(links, code, edge):
    """Returns the link's end in Redis after a visit has renewed it."""
    shorten(links, code)
    before = links.redis.pexpiretime(links.key(code))

    def end():
        # It renews a link once a second at most.
        assert visit(f"{edge.url}/{code}").status_code == 302
        now = links.redis.pexpiretime(links.key(code))
        return now > before and now
    return eventually(end, what="the renewal")


def ends(tables):
    """Returns {(link_id, version): the end in ms}."""
    return {(int(r["link_id"]), r["version"]): int(r["ms"]) for r in tables.rows(
        "SELECT link_id, version, toUnixTimestamp64Milli(ends_at) AS ms "
        "FROM link_ends FINAL")}


def wait_ends(tables, expected):
    eventually(lambda: ends(tables) == expected,
               what=f"{expected} in link_ends")


def test_the_archive_has_the_end_that_redis_has(links, redirector, collector, tables):
    edge = redirector()
    code, young = links.create(), links.create("https://example.org/young")
    link = links.record(code)
    # This visit raises nothing, so it is not reported.
    assert visit(f"{edge.url}/{young}").status_code == 302
    end = renew(links, code, edge)
    wait_ends(tables, {(link.link_id, link.version): end})
    edge.wait_metric(1, "shortloop_redirector_renewals_reported_total")
    collector.wait_metric(1, "shortloop_collector_renewals_stored_total")


def test_an_edit_begins_a_new_version(links, redirector, collector, tables):
    edge = redirector()
    code = links.create()
    link = links.record(code)
    first = renew(links, code, edge)
    change_and_wait(links, edge, code, ttl="6s")
    assert links.record(code).version > link.version
    change_and_wait(links, edge, code, ttl="30d")
    version = links.record(code).version
    second = renew(links, code, edge)
    wait_ends(tables, {(link.link_id, link.version): first,
                       (link.link_id, version): second})


def test_the_last_renewal_of_two_redirectors_counts(links, redirector, collector, tables):
    edges = [redirector(edge=f"edge-{n}") for n in (1, 2)]
    codes = [links.create(f"https://example.org/{n}") for n in range(3)]
    expected = {}
    for _ in range(2):
        for edge in edges:
            for code in codes:
                link = links.record(code)
                expected[link.link_id, link.version] = renew(links, code, edge)
    wait_ends(tables, expected)


def test_the_end_of_the_process_sends_what_it_has(links, redirector, topics, kafka):
    edge = redirector()
    code = links.create()
    link = links.record(code)
    end = renew(links, code, edge)
    # Redis' answer has come when the counter says so.
    edge.wait_metric(1, "shortloop_redirector_renewals_total", result="done")
    assert edge.stop() == 0
    records = [Renewals.FromString(m.value())
               for m in kafka.consume(topics["topic_renewals"])]
    assert [(list(r.link_ids), list(r.versions), list(r.ends_ms)) for r in records] == [
        ([link.link_id], [link.version], [end])]


def test_a_hand_over_loses_none(links, redirector, collector, tables):
    codes = [links.create(f"https://example.org/{n}") for n in range(2)]
    with tempfile.TemporaryDirectory(prefix="shortloop-") as sockets:
        edge = redirector(handover_socket=f"{sockets}/handover")
        former = edge.process
        expected = {}
        for code in codes:
            link = links.record(code)
            expected[link.link_id, link.version] = renew(links, code, edge)
            edge.wait_metric(1, "shortloop_redirector_renewals_total", result="done")
            if edge.process is former:
                edge.start()
                assert former.wait(60) == 0
    wait_ends(tables, expected)


def test_renewals_wait_while_kafka_is_away(links, redirector, collector, tables,
                                           kafka_server):  # noqa: F811
    edge = redirector(kafka={"brokers": [kafka_server.proxy.address]})
    code = links.create()
    link = links.record(code)
    kafka_server.proxy.refuse()
    end = renew(links, code, edge)
    edge.wait_metric(1, "shortloop_redirector_renewals_total", result="done")
    assert ends(tables) == {}
    kafka_server.proxy.accept()
    wait_ends(tables, {(link.link_id, link.version): end})
    assert edge.metric(DROPPED, reason="refused") == 0
    assert edge.metric(DROPPED, reason="undelivered") == 0


def test_records_that_come_again_or_late_change_nothing(collector, topics, tables, kafka):
    def record(*renewals):
        ids, versions, times = zip(*renewals)
        return Renewals(link_ids=ids, versions=versions,
                        ends_ms=times).SerializeToString()
    largest = 2**64 - 1
    new = record((7, 1, 1_900_000_000_123), (2**53 + 1, 2**31, 1_800_000_000_001))
    old = record((7, 1, 1_900_000_000_122), (largest, 2**32 - 1, 2**63))
    kafka.produce(topics["topic_renewals"], [new, old, new, old])
    collector.wait_metric(8, "shortloop_collector_renewals_stored_total")
    # The year 2299 is the last that a DateTime64 has.
    assert ends(tables) == {
        (7, 1): 1_900_000_000_123, (2**53 + 1, 2**31): 1_800_000_000_001,
        (largest, 2**32 - 1): 10413791999000}


def test_a_record_that_is_none_becomes_a_dead_letter(collector, topics, tables, kafka):
    uneven = Renewals(link_ids=[1, 2], versions=[1], ends_ms=[1, 2]).SerializeToString()
    good = Renewals(link_ids=[3], versions=[4], ends_ms=[5]).SerializeToString()
    kafka.produce(topics["topic_renewals"], [b"\xff", uneven, good], partition=0)
    wait_ends(tables, {(3, 4): 5})
    letters = kafka.consume(topics["topic_dlq"], 2)
    assert [m.value() for m in letters] == [b"\xff", uneven]
    assert {dict(m.headers())["topic"].decode() for m in letters} == {
        topics["topic_renewals"]}
    assert collector.metric("shortloop_collector_dead_lettered_total") == 2


@pytest.mark.parametrize("other", ["topic_clicks", "topic_links", "topic_counters"])
def test_the_topic_is_no_other_one(program, base_config, topics, other):
    kafka = {**topics, "topic_counters": "counters"}
    made = program("collector", {"kafka": {**kafka, "topic_renewals": kafka[other]}},
                   start=False, args=["--check"])
    status, said = made.run()
    assert status == 78
    assert f"kafka.topic_renewals: '{kafka[other]}' is the topic of other events" in said
