"""Wrong clocks: a collector's clock decides nothing, Kafka's and ClickHouse's are
trusted within possible limits, and what goes beyond is detected and reported."""
import json
import random
import time

import pytest
import requests
from support.clickhouse import ClickHouse, ClickHouseServer
from support.clicks import (Collector, datetime64, instant, make_click,
                            rfc3339, some_clicks)
from support.events import click
from support.program import eventually
from support.rule_files import UA_RULES
import servers

PATIENCE = 120
NEAR = 300  # seconds; a test may take this long, and wrong clocks differ by more
HOUR = 3600
DAY = 24 * HOUR


class World:
    """Real collectors on one partition, and an aggregator."""

    def __init__(self, kafka, clickhouse, program, config, skew):
        self.kafka, self.clickhouse, self.program = kafka, clickhouse, program
        self.skew = skew
        self.topic = config["kafka"]["topic_clicks"]
        self.group = f"clocks-{self.topic}"
        self.sent = 0

    def send(self, count, at=None):
        time_ms = int((at or time.time()) * 1000)
        self.kafka.produce(self.topic, [click(self.sent + i, time_ms=time_ms)
                                        for i in range(count)], partition=0)
        self.sent += count

    def collector(self, seconds=0, **own):
        return self.program("collector", {"collector": {
            "group": self.group, "batch_age": "100ms", "report_every": "100ms",
            "ua_rules": UA_RULES, **own}}, env=self.skew(seconds))

    def aggregator(self, seconds=0, start=True, args=(), edge_delay="5s", **own):
        return self.program("aggregator", {"clicks": {"edge_delay": edge_delay},
                                           "aggregator": {
            "settle_every": "500ms", **own}}, env=self.skew(seconds),
            start=start, args=args)

    def command(self, program, seconds, *args):
        """Runs a command on a host with a wrong clock: returns (exit status,
        output)."""
        own = {"group": self.group, "ua_rules": UA_RULES} \
            if program == "collector" else {}
        return self.program(program, {program: own}, args=args, start=False,
                            env=self.skew(seconds)).run()

    def value(self, what):
        return self.clickhouse.value(what)

    def stored(self):
        return int(self.value("SELECT count() FROM clicks"))

    def wait_stored(self):
        eventually(lambda: int(self.value(
            "SELECT uniqExact(offset) FROM clicks")) == self.sent, PATIENCE,
            what=f"{self.sent} events stored")
        assert self.stored() == self.sent

    def wait_idle(self):
        """Waits until it is reported that nothing is left to read."""
        eventually(lambda: int(self.value(
            "SELECT countIf(rows = 0 AND dead_lettered = 0 AND first = "
            f"{self.sent}) FROM ingest_progress")), PATIENCE,
            what="an idle report")


@pytest.fixture
def world(kafka, tables, redis, program, base_config, skew):
    base_config["kafka"]["topic_clicks"] = kafka.clicks_topic(1)
    return World(kafka, tables, program, base_config, skew)


def answer(aggregator, since=6 * HOUR, **params):
    got = requests.get(aggregator.url + "/v1/clicks", params={
        "from": rfc3339(int(time.time()) // HOUR * HOUR - since),
        "to": rfc3339(int(time.time()) // HOUR * HOUR + 2 * HOUR),
        "interval": "hour", **params}, timeout=PATIENCE)
    assert got.status_code == 200, got.text
    return got.json()


def is_ready_and_tells(program, what):
    status, text = program.ready()
    return status == 200 and what in text


def complete_until(aggregator):
    said = answer(aggregator)["complete_until"]
    return instant(said) if said else 0


def wait_settled(aggregator, events, seconds=PATIENCE, since=6 * HOUR):
    eventually(lambda: answer(aggregator, since)["total"]["events"] == events,
               seconds,
               what=f"{events} events settled")


# --- a collector's clock ------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("seconds", [DAY, -DAY, -600, 600])
def test_what_a_collector_tells_has_the_time_of_clickhouse(world, seconds):
    world.send(5)
    made = world.collector(seconds)
    world.wait_stored()
    world.wait_idle()
    row, = world.clickhouse.rows(
        "SELECT max(abs(toUnixTimestamp64Milli(inserted_at) - "
        "toUnixTimestamp64Milli(now64(3)))) AS stored, "
        "max(abs(toUnixTimestamp64Milli(append_time) - "
        "toUnixTimestamp64Milli(now64(3)))) AS told FROM ingest_progress")
    assert int(row["stored"]) < NEAR * 1000
    assert int(row["told"]) < NEAR * 1000
    eventually(lambda: is_ready_and_tells(made, "clock: this host's is"),
               PATIENCE, what="/readyz to tell of the clock")
    assert abs(made.metric("shortloop_collector_clock_ahead_seconds") -
               seconds) < NEAR


@pytest.mark.proof
def test_an_idle_report_of_a_clock_a_day_ahead_makes_nobody_read_again(world):
    """The next owner continues where the blocks end, whatever the former one
    reported."""
    world.send(20)
    first = world.collector()
    world.wait_stored()
    assert first.stop() == 0
    ahead = world.collector(2 * DAY)
    world.wait_idle()
    assert ahead.stop() == 0
    world.send(20)
    second = world.collector(report_every="10m")
    world.wait_stored()
    assert second.stop() == 0
    world.send(5)
    third = world.collector()
    world.wait_stored()
    third.wait_metric(5, "shortloop_collector_consumed_total")


@pytest.mark.proof
def test_one_of_a_former_version_that_is_a_day_ahead_is_not_believed(world):
    """The former version wrote its own clock; its rows stay for ever."""
    world.send(20)
    first = world.collector()
    world.wait_stored()
    assert first.stop() == 0
    tomorrow = datetime64(int((time.time() + DAY) * 1000))
    world.clickhouse.query(
        "INSERT INTO ingest_progress (epoch, topic, partition, partitions, "
        "first, last, append_time, inserted_at, collector) VALUES "
        f"(1, '{world.topic}', 0, 1, 20, 19, '{tomorrow}', '{tomorrow}', "
        "'old')")
    # The events are stored and not reported, as after a kill.
    world.send(20)
    second = world.collector()
    world.wait_stored()
    assert second.stop() == 0
    world.clickhouse.query("ALTER TABLE ingest_progress DELETE WHERE "
                           "first >= 20 AND rows > 0 OR first > 20",
                           mutations_sync=1)
    world.send(5)
    third = world.collector()
    world.wait_stored()
    third.wait_log("stored=20")
    made = world.aggregator()
    wait_settled(made, world.sent)
    assert complete_until(made) <= time.time() + 1
    eventually(lambda: is_ready_and_tells(made, "beyond ClickHouse's clock"),
               what="/readyz to tell")
    assert made.metric("shortloop_aggregator_clock_ahead_seconds") > DAY - 600
    # Later reports are read as they come, not by the hourly recheck.
    world.send(5)
    wait_settled(made, world.sent)


@pytest.mark.proof
@pytest.mark.parametrize("seconds", [
    DAY, *(pytest.param(n, marks=pytest.mark.long) for n in (-900, -DAY))])
def test_blocks_of_a_collector_whose_clock_is_wrong_settle_at_once(world,
                                                                   seconds):
    world.send(5)
    right = world.collector()
    made = world.aggregator()
    wait_settled(made, 5)
    assert right.stop() == 0
    wrong = world.collector(seconds)
    # The events are in hours that no other report touches.
    for i in range(1, 4):
        world.send(5, time.time() - i * HOUR)
        wait_settled(made, world.sent)
    assert complete_until(made) <= time.time() + 1
    assert wrong.stop() == 0
    world.collector()
    world.send(5, time.time() - 4 * HOUR)
    wait_settled(made, world.sent)


@pytest.mark.long
def test_the_watermark_passes_no_block_of_a_collector_that_is_slow(world):
    """Hours before the watermark stay unchanged."""
    world.collector(-900)
    made = world.aggregator(edge_delay="0s")
    for i in range(5):
        world.send(10, time.time() - i * HOUR)
        mark = time.time()
        eventually(lambda: complete_until(made) > mark + 1, PATIENCE,
                   what="the watermark behind what was sent")
        assert answer(made)["total"]["events"] == world.sent


# --- Kafka's clock -------------------------------------------------------------

@pytest.mark.proof
def test_append_times_beyond_clickhouses_clock_move_nothing_beyond(
        world, clickhouse):
    told = Collector(clickhouse)
    now = int(time.time())
    told.insert([make_click(random.Random(1), now * 1000, 1)],
                append_ms=(now + DAY) * 1000)
    made = world.aggregator(edge_delay="0s")
    wait_settled(made, 1)
    eventually(lambda: complete_until(made), what="a watermark")
    assert complete_until(made) <= time.time() + 1
    eventually(lambda: "beyond ClickHouse's clock" in made.ready()[1],
               what="/readyz to tell")
    made.wait_log("a clock is ahead")


# --- the clock of a client --------------------------------------------------------

@pytest.mark.parametrize("seconds", [
    -DAY, pytest.param(DAY, marks=pytest.mark.long)])
def test_verify_looks_at_what_came_last_by_clickhouses_clock(world, seconds):
    world.send(10)
    collector = world.collector()
    world.wait_stored()
    world.wait_idle()
    assert collector.stop() == 0
    world.clickhouse.query("ALTER TABLE clicks DELETE WHERE offset = 9",
                           mutations_sync=1)
    status, output = world.command("collector", seconds, "verify", "--json")
    assert status == 1, output
    finding, = json.loads(output[output.index("{"):])["findings"]
    assert (finding["finding"], finding["first"]) == ("missing", 9)
    status, output = world.command("collector", seconds, "verify", "--from",
                                   "2999-01-01")
    assert status == 64 and "--from lies in the future" in output


@pytest.mark.parametrize("seconds", [
    -DAY, pytest.param(DAY, marks=pytest.mark.long)])
def test_an_answer_ends_by_clickhouses_clock(world, clickhouse, seconds):
    now = int(time.time())
    Collector(clickhouse).insert(
        some_clicks(10, 10, [(now - 60, now)], links=(1,)))
    made = world.aggregator(seconds)
    for path, events in (("/v1/clicks", lambda a: a["total"]["events"]),
                         ("/v1/top", lambda a: a["links"][0]["events"]
                          if a["links"] else 0)):
        eventually(lambda p=path, e=events: e(requests.get(
            made.url + p, params={"bots": "include"},
            timeout=PATIENCE).json()) == 10, what=f"{path} to have them")


@pytest.mark.parametrize("seconds", [
    -DAY, pytest.param(DAY, marks=pytest.mark.long)])
def test_what_is_settled_or_scored_again_ends_by_clickhouses_clock(
        world, clickhouse, seconds):
    now = int(time.time())
    rows = some_clicks(9, 10, [(now - 60, now)], links=(1,))
    Collector(clickhouse).insert(rows)
    since = rfc3339((now - 60) // HOUR * HOUR)

    def touched(seconds):
        return len({row["ts_ms"] // 1000 // seconds for row in rows})
    status, output = world.command("aggregator", seconds, "settle", "--from",
                                   since)
    assert status == 0, output
    assert f"settled {touched(HOUR)} hours and 0 days" in output
    status, output = world.command("collector", seconds, "rescore", "--from",
                                   since[:10])
    assert status == 0, output
    assert f": {touched(DAY)} days with clicks" in output


# --- an aggregator's clock --------------------------------------------------------

def days_settled(clickhouse):
    return {int(row["start"]) for row in clickhouse.rows(
        "SELECT DISTINCT toUnixTimestamp(unit) AS start FROM settled "
        "WHERE kind = 'link_day'")}


@pytest.mark.proof
@pytest.mark.parametrize("seconds", [
    2 * DAY, pytest.param(-5 * DAY, marks=pytest.mark.long)])
def test_days_close_by_clickhouses_clock(world, clickhouse, seconds):
    told = Collector(clickhouse)
    now = int(time.time())
    told.insert(some_clicks(7, 10, [(now - 3 * DAY, now - 3 * DAY + 1),
                                    (now, now + 1)], links=(1,)))
    made = world.aggregator(seconds, day_grace="10m")
    wait_settled(made, 10, PATIENCE, since=4 * DAY)
    eventually(lambda: days_settled(clickhouse), what="a day settled")
    told.insert(some_clicks(8, 10, [(now, now + 1)], links=(1,)))
    # A pass settles one day; later passes would settle another.
    wait_settled(made, 20, PATIENCE, since=4 * DAY)
    passes = made.metric("shortloop_aggregator_settle_seconds_count")
    eventually(lambda: made.metric(
        "shortloop_aggregator_settle_seconds_count") > passes + 3)
    assert days_settled(clickhouse) == {(now - 3 * DAY) // DAY * DAY}


@pytest.mark.parametrize("seconds", [
    2 * DAY, pytest.param(-5 * DAY, marks=pytest.mark.long)])
def test_what_another_has_staged_is_deleted_by_clickhouses_clock(
        world, clickhouse, seconds):
    now = int(time.time())
    for attempt in ((now - DAY) * 1000 << 20, now * 1000 << 20):
        clickhouse.query(
            "INSERT INTO link_slots (link_id, slot, attempt, clicks) VALUES "
            f"(1, toDateTime({now // 900 * 900}, 'UTC'), {attempt}, 1)")
    world.aggregator(seconds, clean_every="1s", keep_superseded="15m")
    eventually(lambda: [row["attempt"] for row in clickhouse.rows(
        "SELECT attempt FROM link_slots")] == [now * 1000 << 20],
        what="the old attempt to go, and no other")


def reconciled(clickhouse):
    row, = clickhouse.rows(
        "SELECT count() AS kept, toUInt32(max(hour)) AS newest, sum(events_settled) AS n, "
        "countIf(settling) AS open FROM reconciled_hours FINAL")
    return int(row["kept"]), int(row["newest"]), int(row["n"]), int(row["open"])


@pytest.mark.parametrize("seconds", [
    2 * DAY, pytest.param(-2 * DAY, marks=pytest.mark.long)])
def test_hours_are_reconciled_when_the_watermark_has_passed_them(world, clickhouse,
                                                                 seconds):
    told = Collector(clickhouse)
    now = int(time.time())
    told.insert(some_clicks(9, 10, [(now - 3 * HOUR, now - 3 * HOUR + 1)], links=(1,)))
    told.report([], 0, now * 1000)
    made = world.aggregator(seconds, reconcile_every="100ms")
    last = (now - 5) // HOUR * HOUR - HOUR
    eventually(lambda: reconciled(clickhouse) == (24, last, 10, 0), PATIENCE,
               what="a day's hours to be reconciled")
    passes = made.metric("shortloop_aggregator_settle_seconds_count")
    eventually(lambda: made.metric(
        "shortloop_aggregator_settle_seconds_count") > passes, 2 * PATIENCE,
        what="another pass")
    assert reconciled(clickhouse) == (24, last, 10, 0)


# --- ClickHouse's clock ----------------------------------------------------------

class SkewedServer(ClickHouseServer):
    """The clock is wrong from its next start on."""
    seconds = 0

    def __init__(self, directory, skew):
        super().__init__(directory)
        self.skew = skew

    def start(self):
        self.process = servers.Process(
            self.name, self.command(), self.log_path,
            env=self.skew(self.seconds) | {"SKEW_VDSO": "1"})
        servers.wait_ready(self.process, self.probe, self.start_seconds)
        return self

    def restart(self, seconds):
        self.kill()
        self.seconds = seconds
        return self.start()


@pytest.fixture
def skewed(workdir, skew):
    server = SkewedServer(workdir / "clickhouse-skewed", skew)
    yield server
    server.kill()


@pytest.mark.proof
@pytest.mark.parametrize("before, after", [
    (HOUR, 0), *(pytest.param(before, after, marks=pytest.mark.long)
                 for before, after in ((0, -2 * DAY), (2 * DAY, 0), (0, HOUR)))])
def test_clickhouse_comes_back_with_another_clock(
        kafka, redis, program, base_config, skew, skewed, before, after):
    skewed.seconds = before
    skewed.start()
    tables = ClickHouse.with_new_database(skewed.url)
    base_config["clickhouse"] = {"url": skewed.url,
                                 "database": tables.database}
    base_config["kafka"]["topic_clicks"] = kafka.clicks_topic(1)
    world = World(kafka, tables, program, base_config, skew)
    status, output = world.aggregator(start=False, args=["migrate"]).run()
    assert status == 0, output
    collector = world.collector()
    made = world.aggregator()
    world.send(10)
    wait_settled(made, 10)
    skewed.restart(after)
    world.send(10)
    world.wait_stored()
    wait_settled(made, 20)
    # A recovery works, too, and new reports are read as they come.
    assert collector.stop() == 0
    again = world.collector()
    world.send(5)
    wait_settled(made, 25)
    world.wait_stored()
    again.wait_metric(5, "shortloop_collector_consumed_total")
    if after < before:
        made.wait_metric(1, "shortloop_aggregator_clock_went_back_total")
        made.wait_log("ClickHouse's clock went back")


@pytest.mark.long
def test_replicas_whose_clocks_differ_by_seconds_lose_nothing(world,
                                                              clickhouse):
    """The rows alternate between the times of the two replicas."""
    told = Collector(clickhouse)
    made = world.aggregator()
    now = int(time.time())
    rows = some_clicks(5, 100, [(now - HOUR, now)], links=(1,))
    for i in range(10):
        told.clock_ms = (time.time() + (2 if i % 2 else -2)) * 1000
        told.insert(rows[i * 10:i * 10 + 10])
        wait_settled(made, i * 10 + 10)
    assert made.metric("shortloop_aggregator_clock_went_back_total") == 0
    assert made.metric("shortloop_aggregator_late_hours_total") == 0


@pytest.mark.proof
def test_blocks_with_times_long_read_are_found_and_told(world, clickhouse):
    """This is more than progress_overlap covers."""
    told = Collector(clickhouse)
    made = world.aggregator(recheck_every="1s", progress_overlap="10s")
    now = int(time.time())
    told.insert(some_clicks(5, 10, [(now - 60, now)], links=(1,)))
    wait_settled(made, 10)
    # The pass that settled them may have begun before they were reported.
    eventually(lambda: int(clickhouse.value(
        "SELECT countIf(read_until > now64(3) - toIntervalMinute(1)) "
        "FROM settled WHERE kind = 'pass'")), what="a pass that has read it")
    told.clock_ms = (time.time() - 300) * 1000
    told.insert(some_clicks(6, 10, [(now - 3 * HOUR, now - 3 * HOUR + 1)],
                            links=(1,)))
    wait_settled(made, 20)
    eventually(lambda: made.metric(
        "shortloop_aggregator_late_hours_total") >= 1, what="it told")
    made.wait_log("blocks came with times that had been read")


# --- mending published marks -----------------------------------------------------

def publish(world, seconds, read_until=None):
    """Publishes like an aggregator whose own clock was ahead, as the report's was."""
    at = datetime64(int((time.time() + seconds) * 1000))
    read_until = read_until or f"'{at}'"
    world.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt, read_until, complete_until, "
        "settled_at, settler) VALUES ('pass', now(), "
        f"{int(time.time() * 1000) << 20}, {read_until}, '{at}', now64(3), "
        "'old')")


@pytest.mark.proof
def test_a_mark_that_was_published_too_far_is_mended(world):
    world.send(5)
    world.collector()
    made = world.aggregator(edge_delay="0s")
    wait_settled(made, 5)
    eventually(lambda: complete_until(made), what="all partitions heard of")
    status, output = world.aggregator(start=False, args=["watermark"]).run()
    assert status == 0, output
    publish(world, DAY)
    eventually(lambda: complete_until(made) > time.time() + HOUR)
    status, output = world.aggregator(start=False, args=["watermark"]).run()
    assert status == 1 and "beyond" in output, output

    status, output = world.aggregator(start=False, args=[
        "watermark", "--mend"]).run()

    assert status == 0, output
    eventually(lambda: 0 < complete_until(made) <= time.time() + 1)
    before = complete_until(made)
    eventually(lambda: complete_until(made) > before, what="it to go on")
    assert complete_until(made) <= time.time() + 1
    world.send(5)
    wait_settled(made, 10)


@pytest.mark.proof
def test_a_settler_that_had_read_the_wrong_mark_does_not_bring_it_back(world):
    """It publishes without knowing of the mend."""
    world.send(5)
    world.collector()
    made = world.aggregator(edge_delay="0s")
    wait_settled(made, 5)
    eventually(lambda: complete_until(made), what="all partitions heard of")
    publish(world, DAY)
    assert world.aggregator(start=False, args=[
        "watermark", "--mend"]).run()[0] == 0
    publish(world, DAY)

    def gone_on(since=0):
        said = complete_until(made)
        return since < said <= time.time() + 1 and said
    # The mark is read again in each pass, and a pass may have begun before the mend;
    # the second has not.
    first = eventually(gone_on, what="the mended mark")
    second = eventually(lambda: gone_on(first), what="it to go on")
    eventually(lambda: complete_until(made) > second, what="it to go on")
    assert complete_until(made) <= time.time() + 1


@pytest.mark.long
def test_a_mend_outlives_the_cleaning(world):
    """This holds even if the newest row is from a settler that did not know of the
    mend."""
    world.send(5)
    collector = world.collector()
    made = world.aggregator(edge_delay="0s")
    wait_settled(made, 5)
    eventually(lambda: complete_until(made), what="all partitions heard of")
    collector.stop()
    made.stop()
    publish(world, DAY)
    assert world.aggregator(start=False, args=[
        "watermark", "--mend"]).run()[0] == 0
    # The settler has read everything, so that no pass publishes anything.
    publish(world, DAY, "(SELECT max(inserted_at) FROM ingest_progress)")
    made = world.program("aggregator", {
        "clickhouse": {"query_timeout": "1s"},
        "aggregator": {"settle_every": "500ms", "clean_every": "1s",
                       "keep_superseded": "2s"}})
    eventually(lambda: int(world.value(
        "SELECT count() FROM settled WHERE kind = 'pass'")) <= 2, PATIENCE,
        what="superseded rows to go")
    assert made.stop() == 0
    # The aggregator of the questions has a longer timeout.
    assert complete_until(world.aggregator()) <= time.time() + 1


@pytest.mark.proof
def test_a_mark_that_is_right_is_not_mended(world):
    world.send(5)
    world.collector()
    made = world.aggregator()
    wait_settled(made, 5)
    eventually(lambda: complete_until(made))
    status, output = world.aggregator(start=False, args=[
        "watermark", "--mend"]).run()
    assert status == 70 and "nothing to mend" in output
    later = rfc3339(int(time.time()) + HOUR)
    status, output = world.aggregator(start=False, args=[
        "watermark", "--mend", "--to", later]).run()
    assert status == 64, output
    lower = int(time.time()) - 600
    made.stop()
    status, output = world.aggregator(start=False, args=[
        "watermark", "--mend", "--to", rfc3339(lower)]).run()
    assert status == 0, output
    assert int(world.value(
        "SELECT toUnixTimestamp(argMax(complete_until, attempt)) "
        "FROM settled")) == lower
