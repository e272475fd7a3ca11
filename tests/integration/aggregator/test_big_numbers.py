"""Offsets beyond 2^31, 2^32, 2^40, 2^53 and near 2^63, and billions of clicks."""
import csv
import io

import pytest
import requests
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from support.asking import ask_range
from support.clicks import (Collector, counted, expected_link_counts, instant,
                            link_counts, rfc3339, some_clicks)
from support.counting import World
from support.fault_proxy import ClickHouseProxy
from support.program import eventually
from support.rule_files import UA_RULES
from test_import import importer, offsets, some_lines  # noqa: F401

START, END = instant("2026-10-24T00:00:00Z"), instant("2026-10-25T00:00:00Z")
OFFSETS = [0, 1_800_000_000, 2**31 - 10, 2**32 - 10, 2**40, 2**53 - 10,
           2**63 - 1000]


@pytest.fixture
def migrated(tables):
    return Collector(tables, partitions=len(OFFSETS))


@pytest.fixture
def aggregator(migrated, redis, program):
    def make(**settings):
        return program("aggregator", {"aggregator": {
            "settle_every": "500ms", "resettle_every": "0s", **settings}})
    return make


def total(made):
    return ask_range(made, START, END, interval="month")["total"]


def insert_at_each_offset(migrated, first=0):
    """Inserts an hour for each partition, of rows that begin at its offset."""
    rows = []
    for partition, offset in enumerate(OFFSETS):
        hour = START + 3600 * partition
        migrated.offsets[partition] = offset + first
        block = some_clicks(offset + first, 60, [(hour, hour + 3600)])
        migrated.insert(block, partition, append_ms=(END + 60) * 1000)
        rows += block
    return rows


@pytest.mark.proof
def test_hours_are_settled_whatever_their_offsets(aggregator, migrated):
    rows = insert_at_each_offset(migrated)
    made = aggregator()

    eventually(lambda: total(made)["events"] == len(rows),
               what="all hours settled")
    assert total(made) == counted(rows)
    rows += insert_at_each_offset(migrated, 100)
    eventually(lambda: total(made) == counted(rows),
               what="all hours settled again")
    eventually(lambda: link_counts(migrated.clickhouse) ==
               expected_link_counts(rows), what="the day settled")
    assert made.metric("shortloop_aggregator_held_back_hours") == 0


def test_a_sum_beyond_2_to_53_is_answered_to_the_last_digit(aggregator,
                                                            migrated):
    """The settled counts are inserted directly: no test can send so many clicks."""
    many = 2**53 + 1
    clickhouse = migrated.clickhouse
    clickhouse.query(
        "INSERT INTO stats_hourly (dimension, hour, attempt, slot, value, "
        "events, clicks, bots, prefetches) SELECT d, "
        f"toDateTime({START}, 'UTC'), 7, toDateTime({START} + n * 900, 'UTC'), "
        f"v, {many}, {many} - n, 2, 1 FROM (SELECT arrayJoin([('total', ''), "
        "('verdict', 'human'), ('country', 'DE'), ('link', '18446744073709551615')]) AS t, "
        "t.1 AS d, t.2 AS v, arrayJoin([0, 1, 2]) AS n)")
    clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt) SELECT 'hour', "
        f"toDateTime({START}, 'UTC'), 7")
    made = aggregator()
    params = {"from": rfc3339(START), "to": rfc3339(END), "bots": "include",
              "interval": "15m", "group_by": "country"}

    answer = requests.get(made.url + "/v1/clicks", params=params).json()

    assert answer["total"]["events"] == 3 * many
    assert answer["total"]["clicks"] == 3 * many - 3
    assert answer["total"]["humans"] == 3 * many - 3 - 9
    assert [item["clicks"] for item in answer["data"][:3]] == [
        many, many - 1, many - 2]
    assert answer["groups"][0]["events"] == 3 * many
    text = requests.get(made.url + "/v1/clicks",
                        params={**params, "format": "csv"}).text
    line = next(csv.DictReader(io.StringIO(text)))
    assert (line["events"], line["clicks"]) == (str(3 * many),
                                                str(3 * many - 3))
    top = requests.get(made.url + "/v1/top", params={
        "from": rfc3339(START), "to": rfc3339(END), "bots": "include"}).json()
    assert (top["links"][0]["link_id"], top["links"][0]["events"]) == (
        str(2**64 - 1), 3 * many)


def test_days_of_links_hold_billions(migrated):
    """The sums of a quarter of an hour do not fit into 32 bits."""
    migrated.clickhouse.query(
        "INSERT INTO link_slots (link_id, slot, attempt, clicks, bots, "
        f"prefetches, effective, ineffective) SELECT 1, {START}, 5, "
        "5000000000, 5000000001, 5000000002, 5000000003, 5000000004")
    assert list(migrated.clickhouse.rows(
        "SELECT clicks, bots, prefetches, effective, ineffective FROM "
        "link_slots")[0].values()) == [5 * 10**9 + i for i in range(5)]


@pytest.mark.long
def test_rescoring_rows_far_on_settles_their_hours(aggregator, migrated,
                                                   program, workdir):
    rows = insert_at_each_offset(migrated)
    made = aggregator()
    eventually(lambda: total(made) == counted(rows))
    (workdir / "bots.json").write_text('[{"pattern": "nobody at all"}]')

    status, output = program("collector", {
        "collector": {"ua_rules": UA_RULES},
        "robots": {"list": str(workdir / "bots.json")}}, start=False,
        args=["rescore", "--from", "2026-10-24", "--to", "2026-10-24"]).run()

    # These rows have no agent, so rescoring makes all of them people's.
    assert status == 0, output
    clicks = sum(row["outcome"] == "redirected" for row in rows)
    bots = migrated.clickhouse.value(
        "SELECT countIf(verdict != 'human' AND outcome = 'redirected') "
        "FROM clicks")
    assert bots != counted(rows)["bots"] + counted(rows)["prefetches"]
    eventually(lambda: total(made)["humans"] == clicks - bots,
               what="settled again")
    assert total(made)["events"] == len(rows)


# --- the whole way --------------------------------------------------------------

def move_start(kafka_server, topic, offsets):
    """Makes each partition of an empty topic begin at another offset: its log is one
    segment, and a segment's name is the offset of its first record."""
    kafka_server.stop()
    for partition, offset in enumerate(offsets):
        log = kafka_server.directory / "data" / f"{topic}-{partition}"
        for path in log.glob("0" * 20 + ".*"):
            path.rename(log / f"{offset:020}{path.suffix}")
    kafka_server.start()


def commit(kafka, topic, offsets):
    """Commits for the group with the topic's name."""
    kafka.admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(
        topic, [TopicPartition(topic, partition, offset)
                for partition, offset in enumerate(offsets)])]
    )[topic].result(60)


def named(kafka, topic):
    """Returns the block that each partition's commit names as about to be stored."""
    return [(kafka.intent(topic, topic, partition)[1] or "").rpartition(" ")[2]
            for partition in range(len(OFFSETS))]


@pytest.mark.long
def test_topics_that_begin_far_on_are_counted_once(
        kafka_server, kafka, tables, clickhouse_server, program,
        base_config, redis):
    """Includes recoveries with named blocks, and others that use only the rows, since
    commits are rolled back."""
    world = World(kafka, tables, program, base_config)
    topic = kafka.clicks_topic(len(OFFSETS))
    world.topics["topic_clicks"] = topic
    world.sections["kafka"]["topic_clicks"] = topic
    world.sections["collector"]["group"] = topic
    move_start(kafka_server, topic, OFFSETS)

    for round_ in (1, 2, 3):
        if round_ > 1:
            commit(kafka, topic, OFFSETS)
        for partition in range(len(OFFSETS)):
            world.send(100, partition=partition)
        # One collector is killed while its blocks are named and under way; then another
        # starts.
        with ClickHouseProxy(clickhouse_server.port) as proxy:
            held = [proxy.hold("clicks") for _ in OFFSETS]
            made = program("collector", {
                **world.sections, "clickhouse": {
                    **base_config["clickhouse"], "url": proxy.url}})
            eventually(lambda: named(kafka, topic) == [
                f"{offset + 100 * (round_ - 1)}-{offset + 100 * round_ - 1}"
                for offset in OFFSETS], 60, what="all blocks named")
            made.kill()
            world.collect()
            for request in held:
                request.release()
        world.settle(100 * round_ * len(OFFSETS))

    status, said = world.ask("verify")
    assert status == 0, said
    assert (said["events"], said["rows"]) == (300 * len(OFFSETS),) * 2
    firsts = tables.rows("SELECT min(offset) AS low, max(offset) AS high "
                         "FROM clicks GROUP BY partition ORDER BY low")
    assert [(row["low"], row["high"]) for row in firsts] == [
        (offset, offset + 299) for offset in OFFSETS]
    gone = [offset + 150 for offset in OFFSETS]
    tables.query("ALTER TABLE clicks DELETE WHERE offset IN "
                 f"({', '.join(map(str, gone))})", mutations_sync=1)
    status, said = world.ask("verify")
    assert status == 1
    assert [(f["finding"], f["partition"], f["first"], f["last"])
            for f in said["findings"]] == [
        ("missing", partition, offset, offset)
        for partition, offset in enumerate(gone)]


# Truncated to 31 or 32 bits, each of these is 0 or negative.
FAR = [2**31, 2**32, 2**40, 2**53, 2**63 - 2**31]


@pytest.fixture
def far_logs(tables, workdir):  # noqa: F811
    """(name, position) of logs whose reports are at that position."""
    (workdir / "access.log").write_text("".join(some_lines(20)))
    return [(f"far-{n}", position) for n, position in enumerate(FAR)]


def told_of(tables, name, last):  # noqa: F811
    """The lines up to `last` are imported."""
    tables.query("INSERT INTO ingest_progress (topic, first, last, rows) "
                 f"SELECT 'import:{name}', 0, {last}, 0")


def test_a_log_that_was_imported_that_far_is_passed_over(
        importer, tables, workdir, far_logs):  # noqa: F811
    run = importer()
    for name, position in far_logs:
        told_of(tables, name, position)
        out = run(workdir / "access.log", "--identity", name)
        assert "0 became clicks" in out
        assert "20 had been imported before" in out
    assert tables.value("SELECT count() FROM clicks") == 0
    assert tables.value("SELECT count() FROM ingest_progress") == len(FAR)


def test_a_block_that_ends_that_far_on_is_waited_for(
        importer, tables, workdir, far_logs):  # noqa: F811
    run = importer()
    at = list(offsets(some_lines(20)))
    for name, position in far_logs:
        told_of(tables, name, at[9])
        tables.query("INSERT INTO import_journal (identity, what, run, number, "
                     f"first, last) SELECT '{name}', 'block', 1, 1, "
                     f"{at[10]}, {position}")
        run(workdir / "access.log", "--identity", name, expect=65)
        assert "a longer copy" in run.err
        told_of(tables, name, position)
        run(workdir / "access.log", "--identity", name)
    assert tables.value("SELECT count() FROM clicks") == 0


def test_rows_that_far_on_are_no_other_lines(importer, tables, workdir,
                                             far_logs):  # noqa: F811
    """A killed import has stored these rows and not reported them."""
    run = importer()
    at = list(offsets(some_lines(20)))
    for name, position in far_logs:
        far = [position + n for n in at]
        tables.query("INSERT INTO clicks (topic, offset, ts) SELECT "
                     f"'import:{name}', arrayJoin({[at[3]] + far}), "
                     "'2015-05-17'")
        out = run(workdir / "access.log", "--identity", name)
        assert "1 had been stored by an import that was ended" in out
        assert [row["offset"] for row in tables.rows(
            f"SELECT offset FROM clicks WHERE topic = 'import:{name}' "
            "ORDER BY offset")] == at + far
        assert tables.value("SELECT max(last) FROM ingest_progress WHERE "
                            f"topic = 'import:{name}'") == at[-1]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_log_of_more_than_4_gib_is_imported_once(importer, tables, workdir):
    """The middle of the file is one line of zeros, which takes no room on a disk."""
    path = workdir / "access.log"
    head, tail = some_lines(20), some_lines(30, seed=2)
    path.write_text("".join(head))
    with path.open("r+b") as log:
        log.seek(2**32 + 1000)
        log.write(b"\n" + "".join(tail[:20]).encode())
    run = importer(batch_rows=7)
    run.patience = 1500
    assert "40 became clicks" in run(path, expect=1)  # the line of zeros
    with path.open("ab") as log:
        log.write("".join(tail[20:]).encode())

    run(path)

    found = [row["offset"] for row in tables.rows(
        "SELECT offset FROM clicks ORDER BY offset")]
    assert found == [*offsets(head),
                     *(2**32 + 1001 + at for at in offsets(tail))]
    told = tables.rows("SELECT max(last) AS high, sum(rows) AS n FROM "
                       "ingest_progress")[0]
    assert (told["high"], told["n"]) == (found[-1], len(found))
