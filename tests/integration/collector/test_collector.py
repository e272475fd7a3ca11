"""The collector with real Kafka and ClickHouse."""
import hashlib
import signal
import struct
import time

import pytest
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import count, rows, settings, wait_for
from support.events import CHROME, GOOGLEBOT, IPHONE, LinkEvent, click
from support.program import eventually
from support.rule_files import GEO, UA_RULES, country_of

HOUR = 3600 * 1000


# --- fixtures ----------------------------------------------------------------

def stored_offsets(clickhouse):
    """Returns [(partition, offset)] of every row."""
    return [(int(r["partition"]), int(r["offset"]))
            for r in rows(clickhouse, "partition, offset",
                          order="partition, offset")]


def is_not_ready(running, why):
    status, text = running.ready()
    return status == 503 and why in text


def sent_offsets(kafka, topic):
    return sorted((m.partition(), m.offset()) for m in kafka.consume(topic))


# --- events become rows ------------------------------------------------------

def test_every_event_becomes_one_row(kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [click() for _ in range(3000)])
    collector()
    wait_for(tables, 3000)
    assert stored_offsets(tables) == sent_offsets(
        kafka, topics["topic_clicks"])


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_a_row_says_what_the_event_said(kafka, topics, tables, collector):
    now = int(time.time() * 1000)
    kafka.produce(topics["topic_clicks"], [click(
        event_id=5, event_id_high=9, time_ms=now, owner="acme",
        campaign="spring", tags=["a", "b"],
        query=b"x=1&utm_source=news%20letter&utm_medium=cpc&UTM_Campaign=a+b",
        referrer=b"https://www.google.co.uk/search",
        accept_language=b"de-AT,en;q=0.5", cookies={"k": "v"},
        trace_id=bytes.fromhex(TRACE), maybe_sent=True)], partition=1)
    collector()
    wait_for(tables, 1)
    row = rows(tables, "*, toUnixTimestamp64Milli(ts) AS ts_ms")[0]
    assert row["event_id"] == "00000000-0000-0009-0000-000000000005"
    assert int(row["ts_ms"]) == now and row["original_ts"] == row["ts"]
    assert (row["partition"], int(row["offset"])) == (1, 0)
    assert row["topic"] == topics["topic_clicks"] and row["epoch"] == 1
    assert (row["edge"], row["domain"], row["code"]) == (
        "edge-1", "go.example.com", "abc")
    assert int(row["link_id"]) == 42
    assert (row["owner"], row["campaign"], row["tags"]) == (
        "acme", "spring", ["a", "b"])
    assert (row["outcome"], row["status"], row["maybe_sent"]) == (
        "redirected", 302, True)
    assert (row["referrer_host"], row["referrer_site"]) == (
        "www.google.co.uk", "google.co.uk")
    assert (row["channel"], row["language"]) == ("paid", "de")
    assert (row["cookies"], row["trace_id"]) == ({"k": "v"}, TRACE)
    assert row["query"].startswith("x=1&utm_source=news%20letter&")
    assert [row[f"utm_{field}"] for field in (
        "source", "medium", "campaign", "term", "content")] == [
            "news letter", "cpc", "a b", "", ""]
    assert row["user_agent"] == CHROME


@pytest.mark.proof
def test_a_row_knows_place_browser_and_visitor(kafka, topics, tables,
                                               collector):
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1),
        click(link_id=2, user_agent=IPHONE.encode(),
              client_ip=bytes.fromhex("20014860486000000000000000008888")),
        click(link_id=3, client_ip=bytes([192, 168, 1, 1]))])
    collector(geo_files=GEO)
    wait_for(tables, 3)
    desktop, phone, private = rows(
        tables, "*, hex(unique_identity) AS visitor, toString(ip) AS address")
    assert (desktop["country"], desktop["address"]) == (country_of("8.8.8.8"),
                                                        "::ffff:8.8.8.8")
    assert (desktop["ua_family"], desktop["ua_version"]) == ("Chrome",
                                                             "140.0.0.0")
    assert (desktop["os_family"], desktop["device_class"]) == ("Windows",
                                                               "desktop")
    assert desktop["visitor"] == hashlib.sha1(
        bytes([8, 8, 8, 8]) + CHROME.encode()).hexdigest().upper()
    assert (phone["os_family"], phone["os_version"]) == ("iOS", "18.1")
    assert (phone["device_brand"], phone["device_class"]) == ("Apple",
                                                              "mobile")
    assert len(phone["country"]) == 2
    assert private["country"] == "private" and private["city"] == ""


def test_robots_and_prefetches_are_told_from_visitors(kafka, topics, tables,
                                                      collector):
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1),
        click(link_id=2, user_agent=GOOGLEBOT.encode()),
        click(link_id=3, prefetch="prefetch;prerender"),
        click(link_id=4, outcome=5),
        click(link_id=5, user_agent=b""),
        click(link_id=6, user_agent=b"facebookexternalhit/1.1")])
    collector()
    wait_for(tables, 6)
    assert [(r["verdict"], r["verdict_reason"]) for r in rows(tables)] == [
        ("human", ""), ("bot", "listed crawler"),
        ("prefetch", "purpose header"), ("prefetch", "HEAD request"),
        ("bot", "no user agent"), ("preview", "listed preview")]


def test_clicks_that_took_long_into_kafka_are_counted(kafka, topics, tables, collector):
    """The clicks in time are of an edge whose clock is ahead, as a busy machine's may
    be."""
    now = int(time.time() * 1000)
    kafka.produce(topics["topic_clicks"], [
        click(time_ms=now - HOUR), click(time_ms=now - 1000 * HOUR),
        click(time_ms=now + 4 * 60_000), click(time_ms=now + HOUR)])
    running = collector()
    wait_for(tables, 4)
    running.wait_metric(2, "shortloop_collector_late_events_total")


def test_an_impossible_time_is_moved_and_kept_beside(kafka, topics, tables,
                                                     collector):
    now = int(time.time() * 1000)
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1, time_ms=now - 1000 * HOUR),
        click(link_id=2, time_ms=now + 1000 * HOUR),
        click(link_id=3, time_ms=now - 30 * HOUR)])
    collector(late_window="48h")
    wait_for(tables, 3)
    early, late, fine = [
        {k: int(v) for k, v in r.items()} for r in rows(tables, """
            toUnixTimestamp64Milli(ts) AS taken,
            toUnixTimestamp64Milli(original_ts) AS said,
            toUnixTimestamp64Milli(append_time) AS stored""")]
    assert early["taken"] == early["stored"] - 48 * HOUR
    assert early["said"] == now - 1000 * HOUR
    assert late["taken"] == late["stored"] + 5 * 60 * 1000
    assert fine["taken"] == fine["said"] == now - 30 * HOUR


def test_links_are_archived(kafka, topics, tables, collector):
    event = LinkEvent(change=1, time_ms=5000, space="s7", code="abc",
                      expires_ms=9000)
    event.link.link_id = 77
    event.link.version = 1
    event.link.url = "https://example.org/"
    event.link.tags.extend(["x", "y"])
    event.link.created_ms = 5000
    event.link.ttl_class = "10d"
    event.link.description = "the spring sale"
    event.link.account = "acme"
    event.link.creator = "campaigns"
    event.link.editor = "support"
    event.link.not_before_ms = 6000
    event.link.max_visits = 2**63
    event.link.query_pass = 2
    event.link.path_pass = True
    event.link.source = 1
    event.link.targets.add(device=1, url="https://example.org/ios")
    event.link.targets.add(device=3, url="https://example.org/wechat",
                           mini_program="weixin://dl/business/?t=a")
    event.link.targets.add(device=2, url="https://store.example/",
                           app="myapp://item/7")
    kafka.produce(topics["topic_links"], [event.SerializeToString()])
    collector()
    wait_for(tables, 1, "links")
    row = rows(tables, table="links")[0]
    assert (row["code"], int(row["link_id"]), row["url"]) == (
        "abc", 77, "https://example.org/")
    assert (row["change"], row["state"], row["tags"]) == (
        "created", "live", ["x", "y"])
    assert row["expires_at"] == "1970-01-01 00:00:09.000"
    assert (row["description"], row["account"], row["creator"],
            row["editor"]) == (
        "the spring sale", "acme", "campaigns", "support")
    assert row["targets"] == {"ios": "https://example.org/ios",
                              "wechat": "https://example.org/wechat",
                              "wechat_mini_program":
                              "weixin://dl/business/?t=a",
                              "android": "https://store.example/",
                              "android_app": "myapp://item/7"}
    assert row["not_before"] == "1970-01-01 00:00:06.000"
    assert int(row["max_visits"]) == 2**63
    assert (row["pass_query"], row["pass_path"]) == ("override", True)
    assert row["source"] == "batch"


def creation(link_id, created_ms, change=1, **fields):
    event = LinkEvent(change=change, time_ms=created_ms + 5, space="s7", code="abcdef%d" % change)
    event.link.link_id = link_id
    event.link.version = change
    event.link.created_ms = created_ms
    event.link.ttl_class = "10d"
    for name, value in fields.items():
        setattr(event.link, name, value)
    return event.SerializeToString()


def test_creations_stay_what_they_were(kafka, topics, tables, collector):
    """A link that is edited afterwards, in one batch with its creation, and whose
    events come twice."""
    hour = 1_790_000_000_000 // HOUR * HOUR
    sent = [creation(1, hour + 899_999, account="acme", owner="ann", source=1),
            creation(1, hour + 899_999, change=2, account="acme", owner="bob", source=1),
            creation(2, hour + 900_000, account="shop", domain="go.example")]
    kafka.produce(topics["topic_links"], sent + sent)
    collector()
    wait_for(tables, 2, "links FINAL")
    found = tables.rows("""
        SELECT toUnixTimestamp(slot) AS n_slot, link_id, space, code_length, ttl_class, account,
            owner, domain, source
        FROM created_links FINAL ORDER BY link_id""")
    assert [list(row.values()) for row in found] == [
        [hour // 1000, 1, "s7", 7, "10d", "acme", "ann", "", "batch"],
        [hour // 1000 + 900, 2, "s7", 7, "10d", "shop", "", "go.example", "single"]]
    reported = eventually(lambda: tables.rows("""
        SELECT h, sum(n) AS n_links, any(link_partitions) AS size, max(partitions) AS n_clicks
        FROM ingest_progress
        ARRAY JOIN mapKeys(creations) AS h, mapValues(creations) AS n GROUP BY h"""))
    assert [(row["h"], int(row["n_links"]), row["n_clicks"]) for row in reported] == [
        (hour // 1000, 4, 0)]


def test_idle_partitions_of_links_are_reported(kafka, topics, tables, collector):
    collector()
    idle = eventually(lambda: tables.rows(
        "SELECT partition, partitions, link_partitions FROM ingest_progress "
        f"WHERE topic = '{topics['topic_links']}'"))
    assert {(row["partitions"], row["link_partitions"] > 0) for row in idle} == {(0, True)}



def test_a_block_is_reported_with_its_hours(kafka, topics, tables, collector):
    base = int(time.time() * 1000) // HOUR * HOUR
    kafka.produce(topics["topic_clicks"], [
        click(time_ms=base - 1), click(time_ms=base), click(time_ms=base + 1),
        b"broken"], partition=0)
    # All events make one block, however slowly they come: it ends with the collector.
    running = collector(batch_age="10m", report_every="10m",
                        drain_timeout="50s")
    running.wait_metric(4, "shortloop_collector_consumed_total")
    assert running.stop() == 0
    report, = tables.rows("SELECT * FROM ingest_progress WHERE rows > 0")
    assert (int(report["first"]), int(report["last"])) == (0, 3)
    assert (int(report["rows"]), int(report["dead_lettered"])) == (3, 1)
    assert {int(k): int(v) for k, v in report["hours"].items()} == {
        base // 1000 - 3600: 1, base // 1000: 2}


def test_a_partition_without_events_is_reported_as_read_to_its_end(
        kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [click() for _ in range(5)],
                  partition=0)
    before = time.time()
    collector(report_every="200ms")
    told = eventually(lambda: {
        (int(r["partition"]), int(r["first"]), int(r["partitions"]))
        for r in tables.rows("SELECT * FROM ingest_progress WHERE rows = 0")
    } >= {(0, 5, 2), (1, 0, 2)}, what="reports of both partitions")
    assert told
    newest = tables.value("SELECT toUnixTimestamp64Milli(max(append_time)) "
                          "FROM ingest_progress WHERE rows = 0")
    assert before * 1000 <= int(newest) <= time.time() * 1000


# --- nothing is lost ---------------------------------------------------------

def test_offsets_are_committed_after_the_rows_are_there(kafka, topics, tables,
                                                        collector):
    kafka.produce(topics["topic_clicks"], [click() for _ in range(10)],
                  partition=0)
    collector()
    eventually(lambda: kafka.committed(topics["topic_clicks"],
                                       topics["topic_clicks"]).get(0) == 10,
               what="the commit")
    assert count(tables) == 10


def test_sigterm_inserts_what_is_held(kafka, topics, tables, collector):
    running = collector(batch_age="10m", drain_timeout="50s")
    kafka.produce(topics["topic_clicks"], [click() for _ in range(100)])
    eventually(lambda: running.metric("shortloop_collector_consumed_total")
               == 100)
    assert count(tables) == 0
    assert running.stop() == 0
    assert count(tables) == 100
    assert sum(kafka.committed(topics["topic_clicks"],
                               topics["topic_clicks"]).values()) == 100


@pytest.mark.long
def test_a_kill_in_the_middle_loses_nothing(kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [click() for _ in range(20000)])
    for _ in range(3):
        running = collector(ready=False, batch_rows=500)
        before = count(tables)
        eventually(lambda: count(tables) > before, what="progress")
        running.kill()
    last = collector(batch_rows=500)
    expected = sent_offsets(kafka, topics["topic_clicks"])
    eventually(lambda: sorted(set(stored_offsets(tables))) == expected,
               every=0.5, what="every offset in the table")
    assert last.stop() == 0


@pytest.mark.proof
def test_partitions_move_to_a_second_collector_and_back(kafka, topics, tables,
                                                        collector):
    first = collector()
    kafka.produce(topics["topic_clicks"], [click() for _ in range(500)])
    second = collector()
    kafka.produce(topics["topic_clicks"], [click() for _ in range(500)])
    wait_for(tables, 1000)
    assert second.stop() == 0
    kafka.produce(topics["topic_clicks"], [click() for _ in range(500)])
    expected = sent_offsets(kafka, topics["topic_clicks"])
    eventually(lambda: sorted(set(stored_offsets(tables))) == expected,
               what="every offset in the table")
    assert first.stop() == 0


def test_a_broken_message_goes_to_the_dead_letters(kafka, topics, tables,
                                                   collector):
    broken = [b"\xff\xff\x00garbage", b"", click(client_ip=b"12345"),
              click(time_ms=0)]
    messages = [click(), *broken, click()]
    kafka.produce(topics["topic_clicks"], messages, partition=1)
    running = collector()
    wait_for(tables, 2)
    dead = kafka.consume(topics["topic_dlq"], len(broken))
    assert [m.value() or b"" for m in dead] == broken
    headers = [dict(m.headers()) for m in dead]
    assert [h["offset"] for h in headers] == [b"1", b"2", b"3", b"4"]
    assert {h["partition"] for h in headers} == {b"1"}
    assert {h["topic"] for h in headers} == {topics["topic_clicks"].encode()}
    assert [h["reason"] for h in headers] == [
        b"not a protobuf message", b"not a click: time 0 ms",
        b"not a click: a client address of 5 bytes",
        b"not a click: time 0 ms"]
    running.wait_metric(4, "shortloop_collector_dead_lettered_total")
    eventually(lambda: kafka.committed(topics["topic_clicks"],
                                       topics["topic_clicks"]).get(1) == 6,
               what="the commit")


@pytest.mark.proof
def test_without_a_topic_for_dead_letters_nothing_is_passed_over(
        kafka, topics, tables, collector):
    kafka.delete_topic(topics["topic_dlq"])
    kafka.produce(topics["topic_clicks"], [click(), b"broken"], partition=0)
    # It is ready until its first attempt, and never again after that.
    running = collector(ready=False)
    eventually(lambda: "dead letters" in running.ready()[1],
               what="/readyz to say why")
    # The intent may not be committed yet either.
    assert kafka.committed(topics["topic_clicks"],
                           topics["topic_clicks"]).get(0, 0) == 0
    kafka.create_topic(exactly=topics["topic_dlq"])
    wait_for(tables, 1)
    assert kafka.consume(topics["topic_dlq"], 1)[0].value() == b"broken"
    eventually(lambda: running.ready()[0] == 200, what="ready again")


@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_rows_arrive_under_every_compression(program, base_config, kafka,
                                             topics, tables, compression):
    """The other tests use zstd, the default."""
    sections = settings(base_config, topics)
    sections["clickhouse"] = {**base_config["clickhouse"],
                              "compression": compression}
    kafka.produce(topics["topic_clicks"], [click() for _ in range(2000)])
    program("collector", sections)
    wait_for(tables, 2000)
    assert stored_offsets(tables) == sent_offsets(kafka,
                                                  topics["topic_clicks"])


# --- servers that go and come back -------------------------------------------

@pytest.mark.proof
def test_clickhouse_goes_and_comes_back(kafka, topics, tables, collector,
                                        clickhouse_server):
    running = collector(retry_backoff_max="500ms")
    kafka.produce(topics["topic_clicks"], [click() for _ in range(100)])
    wait_for(tables, 100)
    clickhouse_server.kill()
    kafka.produce(topics["topic_clicks"], [click() for _ in range(1000)])
    # Either request may find it first.
    eventually(lambda: is_not_ready(running, "clickhouse: "))
    clickhouse_server.start()
    wait_for(tables, 1100)
    eventually(lambda: running.ready()[0] == 200, what="ready again")
    assert stored_offsets(tables) == sent_offsets(kafka,
                                                  topics["topic_clicks"])


@pytest.mark.long
def test_what_is_held_stays_bounded_while_clickhouse_is_away(
        kafka, topics, tables, collector, clickhouse_server):
    running = collector(batch_rows=200, retry_backoff_max="1s")
    for partition in range(2):
        kafka.produce(topics["topic_clicks"], [click()], partition=partition)
    wait_for(tables, 2)
    clickhouse_server.kill()
    for partition in range(2):
        kafka.produce(topics["topic_clicks"], [click() for _ in range(2500)],
                      partition=partition)
    eventually(lambda: running.metric("shortloop_collector_breaker_open") == 1)
    # Each partition has a block under way, and another that is full twice over.
    eventually(lambda: running.metric(
        "shortloop_collector_paused_partitions") == 2)
    taken = running.metric("shortloop_collector_consumed_total")
    assert taken <= 2 + 2 * (400 + 400)
    assert running.metric("shortloop_collector_buffered_bytes") < 1600 * 1000
    clickhouse_server.start()
    wait_for(tables, 5002)
    assert stored_offsets(tables) == sent_offsets(kafka,
                                                  topics["topic_clicks"])


@pytest.mark.long
def test_kafka_goes_and_comes_back(kafka, topics, tables, collector,
                                   kafka_server):
    running = collector()
    kafka.produce(topics["topic_clicks"], [click() for _ in range(100)])
    wait_for(tables, 100)
    kafka_server.kill()
    eventually(lambda: is_not_ready(running, "kafka: "))
    kafka_server.start()
    kafka.produce(topics["topic_clicks"], [click() for _ in range(100)])
    expected = sent_offsets(kafka, topics["topic_clicks"])
    eventually(lambda: sorted(set(stored_offsets(tables))) == expected,
               what="every offset in the table")
    eventually(lambda: running.ready()[0] == 200, what="ready again")


@pytest.mark.long
def test_it_ends_also_when_kafka_is_away(kafka, topics, tables, collector,
                                         kafka_server):
    running = collector(batch_age="10m")
    kafka.produce(topics["topic_clicks"], [click() for _ in range(100)])
    eventually(lambda: running.metric("shortloop_collector_consumed_total")
               == 100)
    kafka_server.kill()
    assert running.stop(60) == 0
    # No block is sent before Kafka has its intent.
    assert count(tables) == 0
    kafka_server.start()
    collector()
    wait_for(tables, 100)


def test_tables_that_come_late_are_waited_for(kafka, topics, clickhouse,
                                              collector):
    running = collector(ready=False, retry_backoff_max="500ms")
    kafka.produce(topics["topic_clicks"], [click() for _ in range(10)])
    eventually(lambda: "clicks" in running.ready()[1] and "clickhouse" in
               running.ready()[1], what="/readyz to name the table")
    clickhouse.migrate()
    wait_for(clickhouse, 10)


def test_kafka_that_comes_late_is_waited_for(program, base_config, tables,
                                             free_port):
    running = program("collector", {
        "kafka": {"brokers": [f"127.0.0.1:{free_port()}"]},
        "collector": {"ua_rules": UA_RULES}},
        ready=False)
    for why in "kafka: ", "Connection refused":
        eventually(lambda w=why: is_not_ready(running, w), what=why)
    assert running.stop() == 0


# --- odd input and odd files -------------------------------------------------

def test_a_user_agent_of_nearly_a_megabyte(kafka, topics, tables, collector):
    huge = (b"Mozilla/5.0 (" + b"; Android 14 Build/X " * 50000)[:900000]
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1, user_agent=huge), click(link_id=2)])
    collector(max_text="1KiB")
    wait_for(tables, 2)
    big, small = rows(tables, "length(user_agent) AS n, os_family,"
                              "hex(unique_identity) AS visitor")
    assert (int(big["n"]), big["os_family"]) == (1024, "Android")
    assert big["visitor"] == hashlib.sha1(
        bytes([8, 8, 8, 8]) + huge).hexdigest().upper()
    assert int(small["n"]) == len(CHROME)


def test_bytes_that_are_no_text_are_kept_as_they_are(kafka, topics, tables,
                                                     collector):
    odd = bytes(range(256))
    kafka.produce(topics["topic_clicks"], [click(
        user_agent=odd, referrer=odd, accept_language=odd, query=odd)])
    collector()
    wait_for(tables, 1)
    row, = rows(tables, "hex(user_agent) AS ua, hex(query) AS asked, channel")
    assert row["ua"] == row["asked"] == odd.hex().upper()
    assert row["channel"] == "unknown"


def test_an_outcome_of_the_future_is_unspecified(kafka, topics, tables,
                                                 collector):
    # Field 11, varint: outcome 99.
    event = click() + struct.pack("BB", 11 << 3, 99)
    kafka.produce(topics["topic_clicks"], [event])
    collector()
    wait_for(tables, 1)
    assert rows(tables, "outcome")[0]["outcome"] == "unspecified"


def test_sighup_reads_the_files_again(kafka, topics, tables, collector,
                                      workdir):
    bots = workdir / "bots.json"
    bots.write_text('[{"pattern": "NotYet"}]')
    running = collector(robots={"list": str(bots)})
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1, user_agent=b"Visitor/1.0")])
    wait_for(tables, 1)
    bots.write_text('[{"pattern": "Visitor"}]')
    running.process.signal(signal.SIGHUP)
    eventually(lambda: running.metric("shortloop_collector_reloads_total"))
    kafka.produce(topics["topic_clicks"], [
        click(link_id=2, user_agent=b"Visitor/1.0")])
    wait_for(tables, 2)
    assert [r["verdict"] for r in rows(tables)] == ["human", "bot"]


def test_a_broken_file_is_refused_and_the_old_one_stays(
        kafka, topics, tables, collector, workdir):
    bots = workdir / "bots.json"
    bots.write_text('[{"pattern": "Visitor"}]')
    running = collector(robots={"list": str(bots)})
    bots.write_text('[{"pattern": "("}]')
    running.process.signal(signal.SIGHUP)
    eventually(lambda: running.metric(
        "shortloop_collector_reload_failures_total"))
    running.wait_log("bots.json: entry 0: (: at character 1")
    kafka.produce(topics["topic_clicks"], [click(user_agent=b"Visitor/1.0")])
    wait_for(tables, 1)
    assert rows(tables, "verdict")[0]["verdict"] == "bot"


@pytest.mark.parametrize("own, said", [
    ({"ua_rules": "/nowhere/regexes.yaml"}, "/nowhere/regexes.yaml"),
    ({"robots": {"list": "/nowhere/bots.json"}}, "/nowhere/bots.json"),
    ({"geo_files": ["/nowhere/city.mmdb"]}, "/nowhere/city.mmdb"),
    ({"geo_files": [__file__]}, "test_collector.py"),
    ({"batch_rows": 0}, "collector.batch_rows"),
    ({"batch_age": "soon"}, "collector.batch_age"),
    ({"offset_reset": "middle"}, "collector.offset_reset"),
    ({"batch_row": 5}, "batch_row"),
])
def test_a_wrong_setting_ends_with_78_and_one_line(program, own, said):
    made = program("collector", {
        "robots": own.get("robots", {}),
        "collector": {"ua_rules": UA_RULES, **{
            name: value for name, value in own.items() if name != "robots"}}},
        start=False)
    status, output = made.run()
    assert status == 78
    assert len(output.strip().splitlines()) == 1 and said in output
