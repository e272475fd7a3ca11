"""A collector takes no more than it can hold, and inserts no more often than allowed:
parts_per_second over all collectors, collector.memory with any server down."""
import os
import re
import time

import pytest
from support.events import Click
from support.memory import MIB, MemoryWatch
from support.program import eventually
from support.rule_files import UA_RULES
from support.traffic import Traffic

CACHES = {"ua_cache": "4MiB", "geo_cache": "4MiB"}
OUTAGE = int(os.environ.get("OUTAGE_SECONDS", 600))
PATIENCE = 150  # seconds; the machine may be slow
RATE = int(os.environ.get("OUTAGE_RATE", 10000))

# The machine may be slow; each slow step has its own timeout.
pytestmark = pytest.mark.timeout(600)


# --- fixtures ----------------------------------------------------------------

@pytest.fixture
def topics(kafka):
    """topics(partitions) returns the section's settings."""
    return kafka.collector_topics


@pytest.fixture
def collector(program, base_config, proxy):
    def make(topics, ready=True, **own):
        return program("collector", {
            "kafka": {**base_config["kafka"], **topics,
                      "options": ["session.timeout.ms=6000"]},
            "clickhouse": {**base_config["clickhouse"], "url": proxy.url},
            "collector": {"group": topics["topic_clicks"],
                          "batch_age": "100ms", "retry_backoff_max": "500ms",
                          "ua_rules": UA_RULES,
                          **CACHES, **own}}, ready=ready)
    return make


def metric(running, name, **labels):
    return running.metric(f"shortloop_collector_{name}", **labels)


def sent(kafka, topic):
    return sum(kafka.ends(topic).values())


def stored(clickhouse):
    return int(clickhouse.value("SELECT count() FROM clicks"))


def each_is_there_once(kafka, clickhouse, topic):
    """Checks by offset, without fetching millions of rows."""
    ends = {p: end for p, end in kafka.ends(topic).items() if end}
    found = {int(r["partition"]): r for r in clickhouse.rows(
        "SELECT partition, count() AS n, uniqExact(offset) AS once, "
        "min(offset) AS low, max(offset) AS high FROM clicks "
        "GROUP BY partition")}
    assert set(found) == set(ends)
    for partition, end in ends.items():
        row = {k: int(v) for k, v in found[partition].items()}
        assert (row["n"], row["once"], row["low"], row["high"]) == (
            end, end, 0, end - 1), f"partition {partition}: {row}, {end} sent"


def drained(kafka, clickhouse, topic, seconds):
    """Waits for as many rows as there are events; then checks each."""
    total = sent(kafka, topic)
    eventually(lambda: stored(clickhouse) >= total, seconds, 0.5,
               what=f"{total} rows")
    each_is_there_once(kafka, clickhouse, topic)
    return total


def blocks(clickhouse):
    """Returns (time in s, rows, parts) of each block, by the time of its insert."""
    return [(float(r["stored"]), int(r["rows"]), int(r["parts"]))
            for r in clickhouse.rows(
                "SELECT toUnixTimestamp64Milli(inserted_at) / 1000 AS stored, "
                "rows, length(arrayDistinct(arrayMap(h -> intDiv("
                "toUInt32(h), 86400), mapKeys(hours)))) AS parts "
                "FROM ingest_progress WHERE rows > 0 ORDER BY stored")]


def most_in_a_second(found):
    """Returns the parts in the busiest second."""
    most = first = parts = 0
    for at, _, made in found:
        parts += made
        while found[first][0] <= at - 1:
            parts -= found[first][2]
            first += 1
        most = max(most, parts)
    return most


# --- frequency of inserts ----------------------------------------------------

@pytest.mark.long
def test_all_collectors_together_keep_to_parts_per_second(
        kafka, topics, tables, collector):
    """Two collectors with 24 partitions that have events all the time."""
    partitions, rate = 24, 6
    where = topics(partitions)
    running = [collector(where, name=f"c{i}", parts_per_second=rate)
               for i in range(2)]
    with Traffic(kafka, where["topic_clicks"], 2000):
        eventually(lambda: [metric(r, "partitions") // 12
                            for r in running] == [1, 1], PATIENCE,
                   what="half of the partitions each")
        # The pace does not apply to blocks that were given back on the way.
        start = float(tables.value("SELECT toUnixTimestamp64Milli("
                                   "now64(3)) / 1000"))
        eventually(lambda: len([b for b in blocks(tables) if b[0] > start])
                   >= 5 * rate, PATIENCE, 0.2, what="five seconds of blocks")
        found = [b for b in blocks(tables) if b[0] > start]
        end = found[-1][0]
    # A bucket holds at most a second of its collector's share.
    assert sum(b[2] for b in found) <= rate * (end - start) + rate + 2
    assert most_in_a_second(found) <= 2 * rate + 2
    for r in running:
        assert metric(r, "parts_total", table="clicks") > 0
    drained(kafka, tables, where["topic_clicks"], PATIENCE)


@pytest.mark.long
def test_blocks_that_wait_for_the_pace_grow_to_twice_their_size(
        kafka, topics, tables, collector):
    where = topics(1)
    collector(where, batch_rows=100, parts_per_second=2)
    with Traffic(kafka, where["topic_clicks"], 0):
        eventually(lambda: sent(kafka, where["topic_clicks"]) >= 1500, PATIENCE)
        eventually(lambda: len(blocks(tables)) >= 8, PATIENCE,
                   what="eight blocks")
        found = blocks(tables)
    assert max(rows for _, rows, _ in found) == 200
    assert len(found) <= 2 * (found[-1][0] - found[0][0]) + 3


@pytest.mark.long
def test_a_block_of_many_days_takes_as_many_turns(kafka, topics, tables,
                                                  collector):
    """A block has six days and there are three parts a second, so there is half a block
    a second."""
    where = topics(1)
    now = int(time.time() * 1000)
    days = [Click(event_id=i + 1, time_ms=now - i % 6 * 86400_000,
                  client_ip=b"\x08\x08\x08\x08",
                  user_agent=b"Visitor/1.0").SerializeToString()
            for i in range(60)]
    collector(where, parts_per_second=3, batch_rows=6, batch_age="10ms")
    kafka.produce(where["topic_clicks"], days)
    drained(kafka, tables, where["topic_clicks"], PATIENCE)
    found = blocks(tables)
    assert len(found) >= 5 and all(parts == 6 for _, _, parts in found)
    parts = sum(parts for _, _, parts in found[1:])
    assert parts <= 3 * (found[-1][0] - found[0][0]) + 3


# --- memory ------------------------------------------------------------------

def outage(kafka, tables, collector, proxy, where, seconds, rate,
           memory=96, parts_per_second=50, **traffic):
    """ClickHouse refuses for that many seconds of traffic, and longer if the held rows
    have not reached their limit by then.  Returns the peak of memory."""
    topic = where["topic_clicks"]
    running = collector(where, memory=f"{memory}MiB", max_text="1MiB",
                        parts_per_second=parts_per_second)
    with Traffic(kafka, topic, rate, **traffic) as source, \
            MemoryWatch(running) as held:
        eventually(lambda: stored(tables) > 0, PATIENCE, what="rows before it")
        proxy.refuse()
        until = time.monotonic() + seconds
        eventually(lambda: metric(running, "paused_partitions") > 0 and
                   metric(running, "buffered_bytes") >
                   metric(running, "buffered_bytes_max") * 0.45, PATIENCE, 0.2,
                   what="blocks that fill their share")
        while time.monotonic() < until:
            status, text = running.ready()
            assert status == 0 or (  # it has not answered in time
                status == 503 and text.startswith("clickhouse: "))
            time.sleep(1)
        taken = metric(running, "consumed_total")
        assert taken < sent(kafka, topic)
        # The lag of paused partitions is known, too.
        eventually(lambda: metric(running, "lag_events") > seconds * rate / 4,
                   PATIENCE, what="the lag to grow")
        proxy.accept()
        eventually(lambda: metric(running, "consumed_total") > taken, PATIENCE,
                   what="reading to go on")
        source.stop()
        drained(kafka, tables, topic, PATIENCE + 2 * seconds)
        peak = held.peak
    eventually(lambda: running.ready()[0] == 200, PATIENCE,
               what="ready again")
    eventually(lambda: metric(running, "lag_events") == 0, PATIENCE,
               what="no lag")
    eventually(lambda: metric(running, "paused_partitions") == 0, PATIENCE,
               what="no partition paused")
    assert metric(running, "memory_bytes_max") == memory * MIB
    print(f"peak {peak / MIB:.0f} of {memory} MiB, "
          f"{stored(tables)} events, pressed "
          f"{metric(running, 'memory_pressed_total'):.0f} times")
    assert peak <= memory * MIB
    return running


@pytest.mark.long
def test_memory_holds_while_clickhouse_is_away(kafka, topics, tables,
                                               collector, proxy):
    """The seconds of the ten minutes below."""
    outage(kafka, tables, collector, proxy, topics(8), 3, 5000,
           agent_bytes=2000)


@pytest.mark.long
def test_memory_holds_with_large_events(kafka, topics, tables, collector,
                                        proxy):
    """The events have 200 kB each, which lz4 compresses a hundredfold: an answer of
    Kafka's is far larger than it looks."""
    outage(kafka, tables, collector, proxy, topics(4), 5, 100,
           agent_bytes=200_000)


@pytest.mark.long
def test_memory_holds_with_many_partitions(kafka, topics, tables, collector,
                                           proxy):
    outage(kafka, tables, collector, proxy, topics(24), 0, 2000,
           parts_per_second=10, agent_bytes=4000)


@pytest.mark.proof
def test_partitions_are_paused_while_clickhouse_is_slow(
        kafka, topics, tables, collector, proxy):
    """An insert takes four seconds: ClickHouse is up and ready, but too slow for all
    events."""
    where = topics(4)
    running = collector(where, memory="96MiB", max_text="1MiB")
    with Traffic(kafka, where["topic_clicks"], 1500, agent_bytes=8000):
        eventually(lambda: stored(tables) > 0, PATIENCE, what="rows before it")
        proxy.delay = 4
        proxy.every("delay", "clicks")
        eventually(lambda: metric(running, "paused_partitions") > 0,
                   PATIENCE, 0.2, what="partitions paused")
        status, text = running.ready()
        assert status == 200
        assert re.search(r"flow: \d of 5 partitions paused, \d+ of \d+ MiB of "
                         r"rows held, \d+ of 96 MiB of memory in use", text)
    proxy.calm()
    drained(kafka, tables, where["topic_clicks"], 2 * PATIENCE)
    eventually(lambda: metric(running, "paused_partitions") == 0, PATIENCE)


@pytest.mark.long
def test_what_was_taken_and_is_not_stored_is_lag(kafka, topics, tables,
                                                 collector, proxy):
    """This holds whether the events are still held, or were dropped to be read
    again."""
    where = topics(2)
    topic = where["topic_clicks"]
    running = collector(where, parts_per_second=1000)
    with Traffic(kafka, topic, 1000) as source:
        eventually(lambda: stored(tables) > 0, PATIENCE, what="rows before it")
        proxy.refuse()
        eventually(lambda: sent(kafka, topic) > stored(tables) + 2000,
                   PATIENCE, what="events that are not stored")
        source.stop()
    left = sent(kafka, topic) - stored(tables)
    eventually(lambda: metric(running, "lag_events") >= left, PATIENCE,
               what="lag of what was taken and is not stored")
    proxy.accept()
    drained(kafka, tables, topic, PATIENCE)
    eventually(lambda: metric(running, "lag_events") == 0, PATIENCE)


@pytest.mark.long
@pytest.mark.first
@pytest.mark.timeout(0)
def test_ten_minutes_without_clickhouse_lose_nothing(kafka, topics, tables,
                                                     collector, proxy):
    outage(kafka, tables, collector, proxy, topics(8), OUTAGE, RATE,
           memory=256)


def test_too_little_memory_is_refused_with_what_takes_it(program):
    made = program("collector", {"collector": {
        "ua_rules": UA_RULES, "memory": "64MiB"}},
        start=False)
    status, output = made.run()
    assert status == 78
    assert "collector.memory: 64 MiB is too little" in output
    assert "ua_cache" in output and "geo_cache" in output
