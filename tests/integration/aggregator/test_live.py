"""GET /v1/live: clicks as they come, and which of them each subscriber gets."""
import json
import signal
import time

import pytest
import requests

from support.asking import (RUNNING, aggregator, ask, begin, is_full,
                            slow)  # noqa: F401
from support.collecting import count, settings
from support.events import GOOGLEBOT, IPHONE, click
from support.kafka import bombs
from support.live import live_click
from support.program import PATIENCE, eventually
from support.rule_files import GEO
from support.sse import Stream

KEYS = {"boss": "admin", "ann": "read account=acme owners=ann",
        "acme": "read-own account=acme"}
# {link: owner, account, creator}, of codes code1 ...
LINKS = {1: ("ann", "acme", "acme"), 2: ("bob", "shop", "shop"),
         3: ("ann", "acme", "acme")}


@pytest.fixture
def topics(kafka):
    return {**kafka.collector_topics(),
            "topic_live": kafka.create_topic("live", 2)}


@pytest.fixture
def live(migrated, redis, program, topics):
    """live() starts an aggregator whose live stream is up."""
    def make(clickhouse=None, **own):
        return program("aggregator", {
            "kafka": topics, "clickhouse": clickhouse or {},
            "aggregator": {"settle_every": "500ms", **own}})
    return make


@pytest.fixture
def listen(request):
    def make(made, *args, **params):
        stream = Stream(made.url, *args, **params)
        request.addfinalizer(stream.close)
        return stream
    return make


@pytest.fixture
def shown(kafka, topics):
    """shown(...) sends clicks as a collector's live events."""
    def show(*clicks):
        kafka.produce(topics["topic_live"],
                      [json.dumps(c).encode() for c in clicks])
    return show


def subscribers(made, number):
    made.wait_metric(number, "shortloop_aggregator_live_subscribers")


def refused(made, path="/v1/live", key=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = requests.get(made.url + path, headers=headers, timeout=60)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer


# --- the whole way -------------------------------------------------------------

@pytest.mark.proof
def test_a_click_is_shown_with_its_verdict_and_nothing_of_its_visitor(
        kafka, topics, tables, program, base_config, live, listen):
    collector = program("collector", settings(base_config, topics,
                                              geo_files=GEO))
    made = live()
    people, all_ = listen(made).ready(), listen(made, bots="include").ready()

    kafka.produce(topics["topic_clicks"], [
        click(1, link_id=2 ** 63 + 5, code="abc", account="acme", owner="ann",
              campaign="autumn", user_agent=IPHONE.encode(),
              referrer=b"https://www.google.com/search?q=secret",
              query=b"token=secret", cookies={"c": "secret"}),
        click(2, link_id=6, code="def", owner='"\n\xff'.encode(
            "latin-1").decode("latin-1"), user_agent=GOOGLEBOT.encode()),
        # These are too old, or no clicks.
        click(3, time_ms=int(time.time() * 1000) - 61_000),
        click(4, outcome=2, status=404, link_id=0), click(5, outcome=5)])

    eventually(lambda: len(all_.clicks()) == 2 and people.clicks())
    one, other = sorted(all_.clicks(), key=lambda c: c["code"])
    assert people.clicks() == [one]
    assert one.pop("ts").startswith("20") and one == {
        "id": "00000000-0000-0007-0000-000000000002", "code": "abc",
        "link_id": "9223372036854775813", "domain": "go.example.com",
        "account": "acme", "owner": "ann", "campaign": "autumn", "country": "US",
        "device_class": "mobile", "os_family": "iOS",
        "ua_family": "Mobile Safari", "channel": "search",
        "referrer_host": "www.google.com", "referrer_site": "google.com",
        "verdict": "human", "reason": "", "human": True}
    assert other["verdict"] == "bot" and other["human"] is False
    assert other["reason"]
    assert other["owner"] == '"\n\xff'
    assert b"secret" not in all_.raw and b"8.8.8" not in all_.raw
    assert people.header("Content-Type") == "text/event-stream"
    assert people.header("Cache-Control") == "no-store"
    assert "retry: 2000\n\n" in people.body()
    assert [i for name, i, _ in people.events() if name == "click"] == [
        "00000000-0000-0007-0000-000000000002"]

    # They are counted once, as without the stream.
    eventually(lambda: count(tables) == 5)
    collector.wait_metric(2, "shortloop_collector_live_total")
    assert collector.metric("shortloop_collector_live_dropped_total",
                            reason="old") == 1
    eventually(lambda: ask(made, bots="include")["total"]["clicks"] == 3)


def test_ingestion_goes_on_while_nobody_takes_what_is_shown(
        kafka, topics, tables, program, base_config):
    # No broker makes such a topic by itself.
    topics["topic_live"] = "no such topic"
    collector = program("collector", settings(base_config, topics))
    kafka.produce(topics["topic_clicks"], [click(i) for i in range(5_000)])

    eventually(lambda: count(tables) == 5_000)
    eventually(lambda: collector.metric(
        "shortloop_collector_live_dropped_total") == 5_000)
    assert collector.metric("shortloop_collector_live_total") == 0
    collector.wait_log("live topic disconnected")
    assert collector.ready()[0] == 200


@pytest.mark.parametrize("other", ["topic_clicks", "topic_links", "topic_dlq"])
def test_the_topic_is_one_of_its_own(program, base_config, other):
    for name in "collector", "aggregator":
        config = {"kafka": {**base_config["kafka"], "topic_live": "same",
                            other: "same"}}
        status, output = program(name, config, start=False,
                                 args=["--check"]).run()
        assert status == 78
        assert f"kafka.topic_live: {other} is 'same', too" in output


# --- subscribers and their clicks ----------------------------------------------

@pytest.mark.proof
def test_what_cannot_be_unpacked_is_stepped_over(kafka, topics, live, listen):
    made = live()
    stream = listen(made, bots="include").ready()
    bombs(kafka, topics["topic_live"], 3)

    def is_shown():
        kafka.produce(topics["topic_live"], [json.dumps(live_click(1)).encode()],
                      partition=0)
        return stream.clicks()
    eventually(is_shown, what="a click behind them")


def test_filters_choose(live, listen, shown, migrated):
    migrated.link("code1", 1, owner="ann")
    made = live()
    asked = {
        "": {"1", "2", "3"},
        "bots=include": {"1", "2", "3", "4", "5"},
        "bots=only": {"4", "5"},
        "verdict=prefetch": {"5"},
        "verdict=human": {"1", "2", "3"},
        "code=code1": {"1"},
        "link_id=1": {"1"},
        "account=acme&owner=bob": {"2"},
        "account=acme&owner=": {"3"},
        "domain=b.example": {"3"},
        "country=FR": {"2"},
        "country=": {"3"},
        "country=FR&account=acme&owner=ann": set(),
        "account=acme": {"1", "2", "3"},
        "account=shop": set(),
        "country=FR,": {"2", "3"},
        "account=acme&owner=-bob": {"1", "3"},
        "verdict=-human,bot": {"5"},
        "account=acme&owner=ann&bots=include": {"1", "4", "5"},
    }
    streams = {query: listen(made, "/v1/live" + (query and "?" + query)).ready()
               for query in asked}
    # This click shows that each stream was offered all earlier ones.
    everything = listen(made, bots="include").ready()

    shown(live_click(1), live_click(2, owner="bob", country="FR"),
          live_click(3, owner="", country="", domain="b.example"),
          live_click(4, verdict="bot", human=False),
          live_click(5, verdict="prefetch", human=False))
    eventually(lambda: len(everything.clicks()) == 5)
    for query, links in asked.items():
        eventually(lambda s=streams[query], n=len(links):
                   len(s.clicks()) >= n, what=query)
        assert {c["link_id"] for c in streams[query].clicks()} == links, query


REFUSED = {
    "from=2026-01-01": "from: no such parameter; known here: code, link_id, "
    "bots, account, owner, domain, country, verdict",
    "owner=a": "owner: an owner belongs to an account: expected one account=NAME "
    "beside it",
    "account=a&owner=b&owner=c": "owner: given more than once",
    "verdict=robot": "verdict: expected human, bot, prefetch, preview, "
    "monitor or scanner",
    "verdict=bot&bots=include": "bots, verdict: give one of them",
    "code=a&link_id=1": "code, link_id: give one of them",
    "country=" + "x" * 256: "country: expected values of up to 255 bytes",
}


def test_what_makes_no_sense_is_refused(live):
    made = live()
    for query, says in REFUSED.items():
        answer = refused(made, "/v1/live?" + query)
        assert (answer.status_code, answer.json()["detail"]) == (400, says)
    answer = requests.post(made.url + "/v1/live", timeout=60)
    assert answer.status_code == 405


def test_without_a_topic_there_is_no_stream(aggregator):  # noqa: F811
    made = aggregator()
    answer = refused(made)
    assert answer.status_code == 404
    assert "kafka.topic_live is not set" in answer.json()["detail"]


def test_a_key_is_sent_what_it_may_see(live, listen, shown, migrated,
                                       keys_file):
    made = live(keys_file=str(keys_file.write(KEYS)))
    for link, (owner, account, creator) in LINKS.items():
        if link < 3:
            migrated.link(f"code{link}", link, owner=owner, account=account,
                          creator=creator)
    for path in "/v1/live", "/v1/live?code=code1":
        assert refused(made, path).status_code == 401
    # The answer is the same as for a link that does not exist.
    hidden, nothing = (refused(made, f"/v1/live?code=code{n}", "ann")
                       for n in (2, 9))
    assert hidden.status_code == 404
    assert hidden.content.replace(b"code2", b"code9") == nothing.content

    boss, ann, acme, one = streams = [
        listen(made, key="boss").ready(), listen(made, key="ann").ready(),
        listen(made, key="acme").ready(),
        listen(made, key="ann", link_id=1).ready()]
    # The archive decides whose a link is, not the click; link 3 gets there late, and
    # link 9 never.
    shown(*[live_click(n, owner="ann") for n in (1, 2, 3, 9)])
    migrated.link("code3", 3, owner="ann", account="acme", creator="acme")
    eventually(lambda: len(boss.clicks()) == 4)
    # The first of them waits for the archive; if that is too slow, a later one comes.
    eventually(lambda: "code3" in ann.codes() or shown(live_click(3)), every=1)
    shown(live_click(1, code="last"))
    for stream in streams:
        eventually(lambda s=stream: "last" in s.codes())
    assert set(boss.codes()) == {"code1", "code2", "code3", "code9", "last"}
    assert set(ann.codes()) == {"code1", "code3", "last"}
    assert set(acme.codes()) == set(ann.codes())
    assert sorted(one.codes()) == ["code1", "last"]

    # A revoked key sees nothing more.
    keys_file.write({"boss": "admin"})
    made.process.signal(signal.SIGHUP)
    for stream in streams[1:]:
        eventually(lambda s=stream: s.whole())
    subscribers(made, 1)


@pytest.fixture
def ann(live, listen, migrated, keys_file):
    """Returns her stream; link 1 is hers."""
    made = live(keys_file=str(keys_file.write(KEYS)))
    migrated.link("code1", 1, owner="ann")
    stream = listen(made, key="ann").ready()
    subscribers(made, 1)
    return stream


def test_clicks_of_others_cost_a_key_none_of_its_own(ann, shown):
    """Even thousands, of links that were not queried yet, cost nothing."""
    for n in range(4):
        shown(*[live_click(1000 + n * 3000 + i, owner="bob") for i in range(3000)],
              live_click(1))
    eventually(lambda: len(ann.clicks()) == 4, what="her four clicks")
    assert set(ann.codes()) == {"code1"} and not ann.lost()


def test_links_the_archive_lacks_keep_no_others_waiting(ann, shown):
    # There are always more of them than one query has room for.
    shown(*[live_click(2000 + n) for n in range(2500)], live_click(1))
    eventually(lambda: ann.codes() == ["code1"], what="her click")


@pytest.mark.proof
def test_a_click_is_not_given_up_before_its_link_was_asked_for(
        live, listen, keys_file, migrated, proxy, shown):
    """This holds however slow the archive is with earlier queries."""
    migrated.link("code1", 1, owner="ann")
    made = live({"url": proxy.url}, keys_file=str(keys_file.write(KEYS)))
    stream, whole = (listen(made, key=key).ready() for key in ("ann", "boss"))
    subscribers(made, 2)
    held = proxy.hold(words="SELECT link_id, toValidUTF8(argMax(owner")
    shown(live_click(2000))
    assert held.here.wait(PATIENCE)
    shown(*[live_click(2001 + n) for n in range(2500)], live_click(1))
    eventually(lambda: "code1" in whole.codes(), what="who sees all to see it")
    time.sleep(2)  # longer than a click waits once its link was queried
    held.release()
    eventually(lambda: stream.codes() == ["code1"], what="her click")


def test_there_are_so_many_streams_and_no_more(live, listen, keys_file):
    made = live(keys_file=str(keys_file.write(KEYS)), live_subscribers=3, live_per_key=2)
    first = listen(made, key="boss").ready()
    listen(made, key="boss").ready()
    answer = refused(made, key="boss")
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0
    assert answer.json()["detail"] == (
        "this API key has too many live streams under way")
    listen(made, key="ann").ready()
    answer = refused(made, key="ann")
    assert answer.status_code == 429
    assert answer.json()["detail"] == "too many live streams are under way"

    # A stream that ends makes room at once.
    first.close()
    subscribers(made, 2)
    listen(made, key="boss").ready()
    # HEAD is answered as GET would be.
    answer = requests.head(made.url + "/v1/live", timeout=60,
                           headers={"Authorization": "Bearer boss"})
    assert answer.status_code == 429


# --- queries to the archive ----------------------------------------------------

@pytest.fixture
def slow_links(migrated, clickhouse):
    """The archive takes minutes to answer about a link."""
    migrated.link("code1", 1, owner="ann")
    clickhouse.query(
        "CREATE TABLE many_links ENGINE = MergeTree ORDER BY link_id AS "
        "SELECT * EXCEPT (number) FROM links CROSS JOIN numbers(3000) AS n")
    clickhouse.query("RENAME TABLE links TO quick_links")
    clickhouse.query(
        "CREATE VIEW links AS SELECT * FROM many_links "
        "WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1, "
        "function_sleep_max_microseconds_per_block = 1000000000")


def test_the_look_for_a_link_is_a_question_of_its_key(live, keys_file, slow_links,
                                                      clickhouse):
    made = live(keys_file=str(keys_file.write(KEYS)), answer_timeout="10m",
                key_questions_max=1)
    conn = begin(made, "/v1/live?code=code1", "boss")
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="it runs")

    answer = refused(made, "/v1/live?code=code1", "boss")
    assert answer.status_code == 429
    assert answer.json()["detail"] == (
        "this API key has too many questions under way")
    made.wait_metric(1, "shortloop_aggregator_refused_total")

    conn.close()
    eventually(lambda: clickhouse.value(RUNNING) == 0, what="it is ended")
    made.wait_metric(1, "shortloop_aggregator_cancelled_total")
    subscribers(made, 0)
    # The key may ask again.
    answer = refused(made, "/v1/visit-statistics?link_id=x", "boss")
    assert answer.status_code == 400


@pytest.mark.proof
def test_the_look_for_owners_has_an_end(live, listen, keys_file, slow_links, shown,
                                        clickhouse):
    made = live(keys_file=str(keys_file.write(KEYS)), answer_timeout="10s")
    stream = listen(made, key="ann").ready()
    shown(live_click(1))
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="it runs")
    eventually(lambda: clickhouse.value(RUNNING) == 0, what="it is ended")
    made.wait_log("live: cannot query the owners of links")
    eventually(lambda: stream.lost() == 1)


def test_the_look_for_owners_takes_its_turn(live, listen, keys_file, slow, shown,
                                            migrated, clickhouse):
    """A key has sent many slow questions; then clicks come."""
    migrated.link("code2", 2, owner="ann")
    made = live(keys_file=str(keys_file.write({**KEYS, "all": "read accounts=*"})), workers=1,
                answer_timeout="10m", key_questions_max=10)
    stream, whole = (listen(made, key=key).ready() for key in ("ann", "all"))
    conns = [begin(made, key="boss")]
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs")
    conns += [begin(made, key="boss") for _ in range(9)]
    eventually(lambda: is_full(made, "boss"))
    # When the second click comes, a query for the first should already have been sent.
    for number in 2, 3:
        shown(live_click(number))
        eventually(lambda n=number: f"code{n}" in whole.codes())
    assert not stream.clicks()

    conns.pop(0).close()
    eventually(stream.clicks)
    assert stream.codes() == ["code2"]
    for conn in conns:
        conn.close()


# --- failures ------------------------------------------------------------------

@pytest.mark.proof
def test_who_reads_slowly_is_told_what_it_lost(live, listen, shown):
    made = live(live_queue=100)
    slow = listen(made, buffer=4096, held=True)
    quick = listen(made).ready()
    subscribers(made, 2)
    long = "x" * 8000
    sent = 0
    # Until its buffers and the system's are full.
    while not made.metric("shortloop_aggregator_live_lost_total"):
        for _ in range(5):
            shown(*[live_click(sent + i, campaign=long) for i in range(100)])
            sent += 100
            eventually(lambda: quick.raw.count(b"event: click\n") == sent)
    slow.go.set()
    # Every loss is reported.
    eventually(lambda: len(slow.clicks()) + slow.lost() == sent)
    assert slow.lost() == made.metric("shortloop_aggregator_live_lost_total")
    assert len(quick.clicks()) == sent and not quick.lost()
    # The stream continues with the newest clicks.
    assert str(sent - 1) in {c["link_id"] for c in slow.clicks()}


def test_what_is_no_click_is_left_out(kafka, topics, live, listen, shown):
    made = live()
    stream = listen(made, bots="include").ready()
    good = live_click(1, more="than is known", ip="8.8.8.8")
    bad = [b"", b"{", b"[]", b"\xff", b"x" * 20_000,
           *(json.dumps({**good, **change}).encode() for change in (
               {"id": "a\ndata: x"}, {"human": "yes"}, {"link_id": 1},
               {"owner": None}, {"link_id": "-1"}))]
    kafka.produce(topics["topic_live"], bad)
    shown(good)
    eventually(stream.clicks)
    made.wait_metric(len(bad), "shortloop_aggregator_live_rejected_total")
    assert len(stream.clicks()) == 1
    assert not {"more", "ip"} & set(stream.clicks()[0])


@pytest.mark.long
def test_it_goes_on_after_a_broker_and_a_partition(
        kafka, kafka_server, topics, live, listen, shown):
    made = live()
    stream = listen(made).ready()
    shown(live_click(1))
    eventually(lambda: stream.codes() == ["code1"])
    kafka_server.stop()
    kafka_server.start()
    shown(live_click(2))
    eventually(lambda: stream.codes() == ["code1", "code2"])
    # There is no listener: clicks meanwhile are not kept.
    stream.close()
    subscribers(made, 0)
    kafka.add_partitions(topics["topic_live"], 3)
    shown(live_click(3))
    other = listen(made).ready()
    kafka.produce(topics["topic_live"],
                  [json.dumps(live_click(4)).encode()], partition=2)
    eventually(other.clicks)
    assert other.codes() == ["code4"]


def test_an_end_ends_streams(live, listen):
    made = live(drain_timeout="60s")
    stream = listen(made).ready()
    assert made.stop() == 0
    eventually(lambda: stream.ended)
    assert stream.whole()
