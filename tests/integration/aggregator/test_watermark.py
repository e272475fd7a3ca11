"""The reports of collectors that an aggregator reads, a day at first and then only new
ones, are compared with the definition over all rows."""
import json
import random
import re
import time

import pytest
import requests

from support.asking import FROM, aggregator, ask  # noqa: F401
from support.clicks import instant, make_click, rfc3339
from support.program import eventually

HOUR = 3600_000
DAY = 24 * HOUR
COLUMNS = ("topic", "partition", "epoch", "partitions", "append", "inserted")
# A topic's partitions, by the reports.  The watermark does not wait for the last three.
TOPICS = {"clicks-a": 3, "clicks-b": 1, "clicks-c": 2, "links": 0, "rescore": 0,
          "import:access.log": 0}


def is_stream(row):
    return not row["topic"].startswith(("rescore", "import:"))


def now_ms():
    """Returns whole seconds, as in answers."""
    return int(time.time()) * 1000


def marks_of(rows, now):
    """Returns {(topic, partition): (epoch, partitions, reported, heard)}, by the
    definition."""
    rows = [row for row in rows if is_stream(row)]
    last = {}  # per topic: partitions that were silent for the day before are left out
    for row in rows:
        if row["inserted"] <= now:
            last[row["topic"]] = max(last.get(row["topic"], 0), row["inserted"])
    marks = {}
    for row in rows:
        if row["inserted"] <= last.get(row["topic"], 0) - DAY:
            continue
        key = row["topic"], row["partition"]
        was = marks.get(key, (0, 0, 0, 0))
        if row["epoch"] < was[0]:
            continue
        if row["epoch"] > was[0]:
            was = row["epoch"], 0, 0, 0
        heard = row["inserted"] <= now
        marks[key] = (row["epoch"], max(was[1], row["partitions"]),
                      max(was[2], heard * min(row["append"], row["inserted"])),
                      max(was[3], heard * row["inserted"]))
    return marks


def awaited(marks):
    """Returns (topic, partition, reported) that the watermark waits for; reported 0: it
    is silent."""
    for topic in sorted({topic for topic, _ in marks}):
        of = {p: m for (t, p), m in marks.items() if t == topic}
        for partition in range(max(m[1] for m in of.values())):
            if not of.get(partition, (0, 0, 0, 0))[3]:
                return topic, partition, 0
    counted = {t for (t, _), m in marks.items() if m[1]}
    least = min(((m[2], key) for key, m in marks.items() if key[0] in counted),
                default=None)
    return least and (*least[1], least[0])


class Reports:
    """The rows of ingest_progress, here and in ClickHouse."""

    def __init__(self, clickhouse, seed):
        self.clickhouse = clickhouse
        self.chance = random.Random(seed)
        self.rows = []
        self.epochs = {}

    def add(self, inserted, topic=None, partition=None, up=False):
        chance = self.chance
        topic = topic or chance.choice(list(TOPICS))
        if partition is None:
            partition = chance.randrange(TOPICS[topic] or 1)
        key = topic, partition
        self.epochs[key] = self.epochs.get(key, 1) + up
        row = dict(zip(COLUMNS, (
            topic, partition, self.epochs[key], TOPICS[topic],
            inserted + chance.randrange(-3600, 60) * 1000, inserted)))
        self.rows.append(row)
        self.clickhouse.query(
            "INSERT INTO ingest_progress (topic, partition, epoch, partitions, "
            "append_time, inserted_at) VALUES "
            f"('{topic}', {partition}, {row['epoch']}, {row['partitions']}, "
            f"fromUnixTimestamp64Milli({row['append']}, 'UTC'), "
            f"fromUnixTimestamp64Milli({inserted}, 'UTC'))")

    def late(self):
        """Adds a slow insert, of five minutes."""
        self.add(now_ms() - self.chance.randrange(300) * 1000)

    def new(self):
        self.add(now_ms())

    def up(self):
        self.add(now_ms(), up=True)

    def ahead(self):
        self.add(now_ms() + 2000)

    def cut(self):
        """Removes the newest rows, as in a restored server."""
        now = now_ms()
        past = sorted(row["inserted"] for row in self.rows
                      if is_stream(row) and row["inserted"] <= now)
        if not past:
            return
        at = self.chance.choice(past[-3:])
        self.rows = [row for row in self.rows if row["inserted"] < at]
        self.clickhouse.query(
            "ALTER TABLE ingest_progress DELETE WHERE inserted_at >= "
            f"fromUnixTimestamp64Milli({at}, 'UTC')", mutations_sync=1)

    def empty(self):
        self.rows = []
        self.clickhouse.query("TRUNCATE TABLE ingest_progress")


def pipeline_that(made, is_so):
    def check():
        found = pipeline(made)
        return found if found and is_so(found) else None
    return check


def ms_of(text):
    return round(instant(text) * 1000) if text else 0


def pipeline(made):
    """Returns None until it has read reports for the first time."""
    answer = requests.get(made.url + "/v1/pipeline", timeout=60)
    return answer.json() if answer.status_code == 200 else None


def said(made):
    answer = pipeline(made)
    if not answer:
        return None
    marks = {(m["topic"], m["partition"]):
             (m["epoch"], ms_of(m["reported_until"]), ms_of(m["heard_at"]))
             for m in answer["partitions"]}
    waits = answer["waits_for"]
    return marks, waits and (waits["topic"], waits["partition"],
                             ms_of(waits["reported_until"]))


def expected(rows):
    marks = marks_of(rows, now_ms())
    return ({key: (m[0], m[2], m[3]) for key, m in marks.items()},
            awaited(marks))


def agree(made, reports, when):
    def check():
        both.append((said(made), expected(reports.rows)))
        return both[-1][0] == both[-1][1]
    both = []
    try:
        eventually(check, every=0.05)
    except AssertionError:
        raise AssertionError(f"{when}: {both[-1][0]} is said, and "
                             f"{both[-1][1]} is so") from None


@pytest.mark.proof
@pytest.mark.parametrize("seed, steps, recheck_every", [
    (3, 15, "1s"), *(pytest.param(*long, marks=pytest.mark.long)
                     for long in ((1, 25, "1h"), (2, 300, "5s")))])
def test_what_is_read_bit_by_bit_is_what_all_rows_say(
        aggregator, migrated, clickhouse, program, seed, steps, recheck_every):
    made = aggregator(watermark_every="500ms", recheck_every=recheck_every)
    reports = Reports(clickhouse, seed)
    # One report is of a topic that is silent for a day when another one comes; the
    # other is the first of its partition, from a day earlier.
    reports.add(now_ms() - 25 * HOUR, "clicks-b", 0)
    reports.add(now_ms() - 60 * HOUR, "clicks-c", 0)
    reports.add(now_ms() - 30 * HOUR, "clicks-c", 0)
    reports.add(now_ms() - 26 * HOUR, "clicks-c", 1)
    acts = [reports.new] * 6 + [reports.late] * 4 + [reports.up, reports.ahead,
                                                      reports.cut]
    for step in range(steps):
        act = reports.empty if step == steps // 2 else \
            reports.chance.choice(acts)
        agree(made, reports, f"before step {step}")
        act()
    for topic in ("clicks-a", "clicks-b", "clicks-c"):
        for partition in range(TOPICS[topic]):
            reports.add(now_ms(), topic, partition)
    # No row is ahead that the command could read in between.
    eventually(lambda: all(row["inserted"] < now_ms() for row in reports.rows))
    agree(made, reports, "at last")
    topic, partition, reported = expected(reports.rows)[1]
    status, output = program("aggregator", {"clicks": {"edge_delay": "0s"}},
                             args=["watermark"], start=False).run()
    assert status == 0, output
    assert re.search(f"waits for +partition {partition} of {topic}$", output,
                     re.M), output
    assert ms_of(re.search(r"reported +(\S+)", output)[1]) == reported


@pytest.mark.proof
def test_the_answer_says_which_partition_is_waited_for(aggregator, migrated):
    migrated.partitions = 2
    made = aggregator()
    base = FROM
    click = make_click(random.Random(1), base * 1000, 1)
    migrated.insert([click], partition=0, append_ms=(base + 100) * 1000)
    first = eventually(pipeline_that(made, lambda p: p["waits_for"]))
    assert first["waits_for"]["partition"] == 1
    assert first["waits_for"]["reported_until"] is None
    assert first["complete_until"] is None
    migrated.report([], partition=1, append_ms=(base + 60) * 1000)
    then = eventually(pipeline_that(made, lambda p: p["complete_until"]))
    assert then["waits_for"] == {
        "topic": then["partitions"][0]["topic"], "partition": 1,
        "reported_until": rfc3339(base + 60), "silent_since": None}
    assert then["complete_until"] == rfc3339(base + 55)
    assert then["held_back"] == {"hours": 0, "days": 0}
    assert abs(instant(then["clickhouse_time"]) - time.time()) < 600


@pytest.mark.long
def test_a_topic_that_is_silent_is_waited_for_until_it_is_retired(
        aggregator, migrated, clickhouse, program):
    def command(name, **settings):
        return program("aggregator", {"clicks": {"edge_delay": "5s"},
                                      "aggregator": settings},
                       args=[name], start=False).run()[1]

    reports = Reports(clickhouse, 5)
    now = now_ms()
    for ago, topic in ((100 * DAY, "clicks-b"), (0, "clicks-a"), (0, "links")):
        for partition in range(TOPICS[topic] or 1):
            reports.add(now - ago, topic, partition)
    old, *new = [row["append"] for row in reports.rows if row["topic"] != "links"]
    promised = {topic: rfc3339((min(ms) - 5000) / 1000)
                for topic, ms in (("clicks-a", new), ("clicks-b", [old]))}
    made = aggregator(watermark_every="100ms")
    told = eventually(pipeline_that(made, lambda p: p["complete_until"]))
    assert told["complete_until"] == promised["clicks-b"]
    assert told["waits_for"] == {
        "topic": "clicks-b", "partition": 0, "reported_until": rfc3339(old / 1000),
        "silent_since": rfc3339((now - 100 * DAY) / 1000)}
    eventually(lambda: "waits for topic clicks-b" in made.ready()[1],
               what="/readyz to tell")
    for name in ("doctor", "watermark"):
        assert "no collector has reported on clicks-b since" in command(name)
        assert "aggregator.retired_topics" in command(name)
        assert "no collector has reported" not in command(name, retired_topics=["clicks-b"])
    assert made.stop() == 0

    # A silent topic may still be read by a collector.
    made = aggregator(watermark_every="100ms", retired_topics=["clicks-b", "clicks-a"])
    told = eventually(pipeline_that(
        made, lambda p: p["complete_until"] == promised["clicks-a"]))
    assert told["waits_for"]["topic"] == "clicks-a"
    assert told["waits_for"]["silent_since"] is None
    assert {p["topic"]: p["retired"] for p in told["partitions"]} == {
        "clicks-a": False, "clicks-b": True, "links": False}
    # It is no longer retired when a collector reports it.
    reports.add(now_ms(), "clicks-b", 0)
    eventually(pipeline_that(made, lambda p: not any(
        p["retired"] for p in p["partitions"])))


def test_a_partition_that_is_new_is_waited_for_and_nothing_is_taken_back(
        aggregator, migrated):
    migrated.link("code1", 1)
    made = aggregator(watermark_every="100ms")
    click = make_click(random.Random(3), FROM * 1000, 1)
    migrated.insert([click], append_ms=(FROM + 100) * 1000)
    first = rfc3339(FROM + 95)
    eventually(pipeline_that(made, lambda p: p["complete_until"] == first))
    # The topic has one more partition from here on.
    migrated.partitions = 2
    migrated.report([], partition=0, append_ms=(FROM + 200) * 1000)
    told = eventually(pipeline_that(
        made, lambda p: p["waits_for"]["partition"] == 1))
    assert told["waits_for"]["reported_until"] is None
    assert told["complete_until"] == first
    # An edge whose clock is an hour ahead guarantees nothing by it.
    ahead = make_click(random.Random(4), (FROM + 3800) * 1000, 1)
    migrated.insert([ahead], partition=1, append_ms=(FROM + 150) * 1000)
    told = eventually(pipeline_that(made, lambda p: p["complete_until"] != first))
    assert told["complete_until"] == rfc3339(FROM + 145)
    assert told["waits_for"]["partition"] == 1
    # The answer has nothing of an hour after it: that comes when it is settled.
    eventually(lambda: ask(made, "/v1/clicks", **{
        "from": rfc3339(FROM), "to": rfc3339(FROM + 7200),
        "link_id": 1})["total"]["events"] == 2)


@pytest.mark.proof
def test_the_answer_for_a_range_that_is_over_stays_the_same(aggregator, migrated):
    """This holds whatever comes later, also for the total over all links."""
    end = FROM + 3600
    migrated.link("code1", 1)
    made = aggregator()
    migrated.insert([make_click(random.Random(2), FROM * 1000, 1)],
                    append_ms=(end + 60) * 1000)
    for asked in ({"code": "code1"}, {}):
        params = {"from": rfc3339(FROM), "to": rfc3339(end), **asked}
        for path in ("/v1/clicks",) if asked else ("/v1/clicks", "/v1/top"):
            eventually(lambda p=path, q=params: ask(made, p, **q)["complete"])
            first = requests.get(made.url + path, params=params, timeout=60)
            until = eventually(pipeline_that(
                made, lambda p: p["complete_until"]))["complete_until"]
            migrated.report([], partition=0,
                            append_ms=(instant(until) + 600) * 1000)
            eventually(pipeline_that(
                made, lambda p, u=until: p["complete_until"] > u))
            again = requests.get(made.url + path, params=params, timeout=60,
                                 headers={"If-None-Match":
                                          first.headers["ETag"]})
            assert again.status_code == 304, json.dumps(again.json())


# --- clicks in no count ------------------------------------------------------------

def test_dead_letters_and_lost_offsets_are_told_by_partition(aggregator, clickhouse):
    now = now_ms()

    def report(topic, partition, first, last, dead, lost, inserted):
        clickhouse.query(
            "INSERT INTO ingest_progress (epoch, topic, partition, partitions, first, "
            "last, rows, dead_lettered, lost, append_time, inserted_at) VALUES "
            f"(1, '{topic}', {partition}, 2, {first}, {last}, 0, {dead}, {lost}, "
            f"fromUnixTimestamp64Milli({inserted}, 'UTC'), "
            f"fromUnixTimestamp64Milli({inserted}, 'UTC'))")

    report("clicks-a", 0, 10, 19, 3, 0, now - HOUR)
    report("clicks-a", 0, 10, 19, 3, 0, now - HOUR + 1000)  # the same block, again
    report("clicks-a", 0, 20, 29, 4, 0, now - 2 * HOUR)
    report("clicks-a", 0, 30, 34, 0, 5, now - 2 * HOUR)
    report("clicks-a", 1, 10, 19, 0, 0, now - HOUR)  # no event of it is missing
    report("links", 0, 7, 7, 1, 0, now - HOUR)
    report("clicks-a", 0, 0, 9, 9, 0, now - 2 * DAY)
    report("import:access.log", 0, 0, 9, 9, 0, now - HOUR)
    made = aggregator()

    told = eventually(pipeline_that(made, lambda p: p["partitions"]),
                      what="the reports to be read")["not_counted"]

    assert told["partitions"] == [
        {"topic": "clicks-a", "partition": 0, "dead_lettered": 7, "lost": 5},
        {"topic": "links", "partition": 0, "dead_lettered": 1, "lost": 0}]
    since = ms_of(told["from"])
    assert since % HOUR == 0 and DAY <= now_ms() - since < DAY + 2 * HOUR


# --- reports of collectors about themselves -------------------------------------------

def test_collectors_tell_what_they_promise_and_how_far_they_are_behind(
        aggregator, clickhouse):
    def tell(collector, ago_s, once, lags):
        clickhouse.query(
            "INSERT INTO collectors SELECT "
            f"'{collector}', now64(3, 'UTC') - INTERVAL {ago_s} SECOND, {once}, "
            f"'says {collector}', {['clicks'] * len(lags)}, {list(lags)}, "
            f"{list(lags.values())}")

    made = aggregator()
    found = eventually(lambda: pipeline(made))
    assert (found["collectors"], found["exactly_once"], found["lag"]) == ([], None, None)
    tell("gone", 4000, False, {})
    tell("silent", 600, False, {3: 30})
    tell("moved", 40, True, {0: 7, 1: 5})
    tell("one", 50, False, {0: 90})
    # Clocks may differ, but must not decide: future rows do not count.
    tell("one", -600, False, {0: 80})
    tell("one", 20, True, {0: 2})
    tell("two", 20, True, {})
    found = pipeline(made)
    assert [(c["collector"], c["exactly_once"], c["guarantee"],
             {p["partition"]: p["lag"] for p in c["partitions"]})
            for c in found["collectors"]] == [
                ("moved", True, "says moved", {0: 7, 1: 5}),
                ("one", True, "says one", {0: 2}),
                ("silent", False, "says silent", {3: 30}),
                ("two", True, "says two", {})]
    assert found["exactly_once"] is True
    assert (found["lag"]["events"], found["lag"]["partitions"]) == (7, 2)
    assert found["lag"]["as_of"] == found["collectors"][0]["told_at"]
    tell("two", 0, False, {})
    assert pipeline(made)["exactly_once"] is False
