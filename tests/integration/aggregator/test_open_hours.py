"""Hours that are not over are settled by what arrived: the attempt before, and the rows
beyond it.  Each figure is compared with the same clicks in Python."""
import random
import time

import pytest

from support.asking import aggregator, ask_range  # noqa: F401
from support.clicks import DIMENSIONS, VISITED, counted, counted_group, make_click
from support.fault_proxy import FAULTS, Meeting
from support.program import eventually

HOUR = 3600


class Present:
    """Clicks of the hour in which the test began, or of an earlier one."""

    def __init__(self, seed, hours_ago=0):
        self.start = (int(time.time()) // HOUR - hours_ago) * HOUR
        self.rng = random.Random(seed)
        self.clicks = []

    def draw(self, count, **fields):
        until = min(int(time.time() * 1000), (self.start + HOUR) * 1000 - 1)
        fresh = [make_click(self.rng,
                            self.rng.randint(self.start * 1000, until),
                            self.rng.choice([1, 2, 3]), **fields)
                 for _ in range(count)]
        self.clicks += fresh
        return fresh

    def ask(self, made, **params):
        return ask_range(made, self.start, self.start + HOUR, interval="hour",
                         bots="include", **params)

    def settled(self, made):
        eventually(lambda: self.ask(made)["total"]["events"] ==
                   len(self.clicks), what="the hour to be settled")

    def is_right(self, made):
        """Checks all settled data, by dimension and value."""
        if self.ask(made)["total"] != counted(self.clicks, "include"):
            return False
        for dimension in DIMENSIONS:
            wanted = {}
            for click in self.clicks:
                for value in click["tags"] if dimension == "tag" else [
                        str(click["link_id" if dimension == "link" else dimension])]:
                    wanted.setdefault(value, []).append(click)
            found = {g.pop("value"): g for g in
                     self.ask(made, group_by=dimension)["groups"]}
            for value, clicks in wanted.items():
                right = counted_group(clicks, dimension, "include")
                group = found.pop(value, {"clicks": 0})
                if dimension in VISITED and group != right or \
                        group["clicks"] != right["clicks"]:
                    return False
            if any(group["clicks"] for group in found.values()):
                return False
        return True

    def wait_right(self, made):
        self.settled(made)
        eventually(lambda: self.is_right(made), what="every figure to be right")


@pytest.fixture
def present():
    return Present(11)


def added(made):
    return made.metric("shortloop_aggregator_hours_added_total")


def wait_added(made, count):
    made.wait_metric(count, "shortloop_aggregator_hours_added_total")


def newest(clickhouse, start, what="attempt"):
    return clickhouse.value(
        f"SELECT argMax({what}, attempt) FROM settled WHERE kind = 'hour' "
        f"AND unit = toDateTime({start}, 'UTC')")


@pytest.mark.proof
def test_an_open_hour_is_settled_by_what_arrives(aggregator, migrated,  # noqa: F811
                                                 present):
    migrated.partitions = 2
    made = aggregator()
    for n in range(6):
        migrated.insert(present.draw(40 + n), partition=n % 2)
        present.settled(made)
    present.wait_right(made)
    wait_added(made, 5)

    # The next settler begins with all rows, and continues in the same way.
    assert made.stop() == 0
    other = aggregator()
    migrated.insert(present.draw(30))
    present.wait_right(other)
    assert added(other) == 0
    migrated.insert(present.draw(30), partition=1)
    present.wait_right(other)
    wait_added(other, 1)


@pytest.mark.proof
def test_rows_behind_the_frontier_are_counted(aggregator, migrated,  # noqa: F811
                                              present):
    made = aggregator()
    late = present.draw(25)
    first = migrated.offsets[0]
    # These rows are stored, and not reported before later ones.
    append_ms = max(row["ts_ms"] for row in late)
    migrated.insert(late, progress=False)
    migrated.insert(present.draw(40))
    eventually(lambda: present.ask(made)["total"]["events"] >= 40)
    migrated.report(late, 0, append_ms, first)
    present.wait_right(made)
    migrated.insert(present.draw(10))
    present.wait_right(made)


@pytest.mark.long
def test_a_block_that_comes_after_later_ones_is_counted(
        aggregator, migrated, present):  # noqa: F811
    made = aggregator()
    migrated.insert(present.draw(20))
    present.settled(made)
    migrated.offsets[0] += 30
    migrated.insert(present.draw(20))
    present.settled(made)
    wait_added(made, 1)
    # Its offsets are beyond the frontier.
    migrated.offsets[0] = 20
    migrated.insert(present.draw(30))
    present.wait_right(made)
    wait_added(made, 1)


@pytest.mark.long
def test_verdicts_that_change_are_seen(aggregator, migrated, clickhouse,  # noqa: F811
                                       present):
    made = aggregator()
    for _ in range(2):
        migrated.insert(present.draw(40))
        present.settled(made)
    wait_added(made, 1)
    clickhouse.query("ALTER TABLE clicks UPDATE verdict = 'bot' WHERE 1",
                     mutations_sync=1)
    for click in present.clicks:
        click["verdict"] = "bot"
    migrated.tell("rescore", {present.start: 0})
    present.wait_right(made)
    migrated.insert(present.draw(15))
    present.wait_right(made)
    # A second run has the same report.
    clickhouse.query("ALTER TABLE clicks UPDATE verdict = 'human' WHERE 1",
                     mutations_sync=1)
    for click in present.clicks:
        click["verdict"] = "human"
    migrated.tell("rescore", {present.start: 0})
    present.wait_right(made)


@pytest.mark.long
def test_imports_into_an_open_hour_are_counted(aggregator, migrated, clickhouse,  # noqa: F811
                                               present):
    made = aggregator()
    migrated.insert(present.draw(20))
    present.settled(made)
    clicks = present.draw(10)
    clickhouse.query("INSERT INTO clicks SELECT * REPLACE('import:it\\'s\\\\one' "
                     "AS topic, offset + 0 AS offset) FROM clicks WHERE offset < 10")
    present.clicks[-10:] = present.clicks[:10]
    clickhouse.query(
        "INSERT INTO ingest_progress (epoch, topic, partition, partitions, first, "
        "last, rows, dead_lettered, hours, append_time, collector) SELECT 1, "
        f"'import:it\\'s\\\\one', 0, 0, 0, 9, 10, 0, map(toUInt32({present.start}), "
        "toUInt64(10)), now64(3), 'test'")
    assert len(clicks) == 10
    present.wait_right(made)
    migrated.insert(present.draw(20))
    present.wait_right(made)
    wait_added(made, 2)


@pytest.mark.long
def test_offsets_near_the_end_of_their_range(aggregator, migrated,  # noqa: F811
                                             present):
    made = aggregator()
    for at in 2**31 - 20, 2**32 - 20, 2**53 - 20, 2**63 - 100:
        migrated.offsets[0] = at
        for _ in range(2):
            migrated.insert(present.draw(20))
            present.settled(made)
    present.wait_right(made)
    wait_added(made, 7)


@pytest.mark.long
def test_what_another_settled_meanwhile_is_not_added_to(
        aggregator, migrated, program, present, clickhouse):  # noqa: F811
    made = aggregator()
    for _ in range(2):
        migrated.insert(present.draw(30))
        present.settled(made)
    wait_added(made, 1)
    before = newest(clickhouse, present.start)
    day = time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(present.start))
    status, output = program("aggregator", args=["settle", "--from", day],
                             start=False).run()
    assert status == 0, output
    eventually(lambda: newest(clickhouse, present.start) > before)
    migrated.insert(present.draw(30))
    present.wait_right(made)
    wait_added(made, 1)


@pytest.mark.proof
def test_rows_that_go_from_an_open_hour_hold_it_back(aggregator, migrated,  # noqa: F811
                                                     clickhouse, present):
    made = aggregator()
    for _ in range(2):
        migrated.insert(present.draw(30))
        present.settled(made)
    wait_added(made, 1)
    clickhouse.query("DELETE FROM clicks WHERE offset < 10")
    migrated.insert(present.draw(5))
    eventually(lambda: made.metric("shortloop_aggregator_held_back_hours") == 1,
               what="the hour to be held back")
    assert present.ask(made)["total"]["events"] == 60


@pytest.mark.proof
def test_values_that_were_counted_together(aggregator, migrated,  # noqa: F811
                                           clickhouse, present):
    made = aggregator(values_max=2)
    migrated.insert(present.draw(60, country="DE"))
    present.settled(made)
    assert newest(clickhouse, present.start, "provisional") is False
    # Firefox and others are there already, and one more is the busiest now.
    for _ in range(3):
        migrated.insert(present.draw(60, country="DE", ua_family="Safari"))
        present.settled(made)
    eventually(lambda: newest(clickhouse, present.start, "provisional") is True,
               what="an hour that is provisional")
    total = present.ask(made)["total"]
    assert total == counted(present.clicks, "include")
    groups = present.ask(made, group_by="ua_family")
    assert sum(g["clicks"] for g in groups["groups"]) + \
        groups["rest"]["clicks"] == total["clicks"]


@pytest.mark.proof
def test_a_provisional_hour_is_settled_as_a_whole_once_it_is_over(
        aggregator, migrated, clickhouse):  # noqa: F811
    past = Present(12, hours_ago=2)
    # Rows of a published attempt do not change otherwise.
    made = aggregator(answer_cache="0")
    migrated.insert(past.draw(100))
    past.wait_right(made)
    # The state is as if it had been settled by what arrived, without all of a value.
    before = newest(clickhouse, past.start)
    clickhouse.query("ALTER TABLE stats_hourly DELETE WHERE "
                     "dimension = 'ua_family' AND value = 'Chrome'",
                     mutations_sync=1)
    assert not past.is_right(made)
    clickhouse.query("ALTER TABLE settled UPDATE provisional = true WHERE "
                     f"kind = 'hour' AND attempt = {before}", mutations_sync=1)
    eventually(lambda: newest(clickhouse, past.start) > before,
               what="the hour to be settled as a whole")
    past.wait_right(made)
    assert newest(clickhouse, past.start, "provisional") is False
    assert added(made) == 0


@pytest.mark.long
def test_superseded_attempts_of_an_open_hour_go_soon(migrated, redis, program,
                                                     clickhouse, present):
    made = program("aggregator", {
        "clickhouse": {"query_timeout": "8s"},
        "aggregator": {"settle_every": "500ms", "keep_open": "9s"}})
    for _ in range(4):
        migrated.insert(present.draw(30))
        present.settled(made)
    eventually(lambda: clickhouse.value(
        "SELECT uniqExact(attempt) FROM stats_hourly") == 1,
        what="superseded attempts to go")
    present.wait_right(made)
    migrated.insert(present.draw(30))
    present.wait_right(made)


def test_superseded_attempts_outlive_questions(program):
    status, output = program("aggregator", {
        "clickhouse": {"query_timeout": "90s"},
        "aggregator": {"keep_open": "90s"}}, start=False, args=["--check"]).run()
    assert status == 78
    assert "keep_open must be longer than clickhouse.query_timeout" in output


# --- failures ------------------------------------------------------------------

@pytest.fixture
def behind_proxy(migrated, redis, program, proxy):
    """behind_proxy(settle_timeout, **settings of `clickhouse`) returns an
    aggregator."""
    def make(settle_timeout="60s", **clickhouse):
        return program("aggregator", {
            "clickhouse": {"url": proxy.url, **clickhouse},
            "aggregator": {"settle_every": "500ms", "settle_timeout": settle_timeout,
                           "lease": "1s"}})
    return make


def wait_events(clickhouse, present):
    """The query goes to the server itself, since the proxy fails."""
    eventually(lambda: int(clickhouse.value(
        "SELECT sum(events) FROM stats_hourly WHERE dimension = 'total' AND "
        "(hour, attempt) IN (SELECT unit, max(attempt) FROM settled WHERE "
        "kind = 'hour' GROUP BY unit)")) == len(present.clicks),
        what="the hour to be settled")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_while_an_open_hour_is_settled(behind_proxy, migrated, proxy,
                                               clickhouse, present, fault):
    proxy.delay = 0.5
    made = behind_proxy(settle_timeout="4s", query_timeout="2s")
    migrated.insert(present.draw(30))
    wait_events(clickhouse, present)
    for step in "stats_hourly", "settled:hour", "stats_hourly", "settled:hour":
        proxy.at(1, fault, step)
        migrated.insert(present.draw(30))
        wait_events(clickhouse, present)
    assert proxy.faults() == {fault: 4}
    present.wait_right(made)
    migrated.insert(present.draw(30))
    present.wait_right(made)


@pytest.mark.long
@pytest.mark.parametrize("step, carried_out", [
    ("stats_hourly", True), ("settled:hour", False), ("stats_hourly", False),
    ("settled:hour", True)])
def test_killed_while_an_open_hour_is_settled(behind_proxy, migrated, proxy,
                                              clickhouse, present, step, carried_out):
    made = behind_proxy()
    for _ in range(2):
        migrated.insert(present.draw(30))
        wait_events(clickhouse, present)
    meeting = Meeting()
    proxy.call_at(1, meeting.wait, step, carried_out)
    migrated.insert(present.draw(30))
    assert meeting.here.wait(60)
    made.kill()
    meeting.gone.set()
    made.start()
    present.wait_right(made)
    migrated.insert(present.draw(30))
    present.wait_right(made)


@pytest.mark.long
def test_two_that_settle_one_open_hour_at_once(aggregator, migrated, redis,  # noqa: F811
                                               clickhouse, present):
    """The lease is taken away again and again, so that both settle the hour."""
    migrated.partitions = 2
    both = [aggregator(lease="1s"), aggregator(lease="1s")]

    def insert(partition):
        migrated.insert(present.draw(20), partition=partition)
        for key in redis.keys("settle:*"):
            redis.delete(key)
        # No reader sees more than there is.
        for made in both:
            assert present.ask(made)["total"]["events"] <= len(present.clicks)
    for n in range(30):
        insert(n % 2)
    # One of them may have had no processor all the time.
    eventually(lambda: all(made.metric("shortloop_aggregator_hours_total") > 0
                           for made in both) or insert(0),
               every=0.1, what="both to have settled the hour")
    wait_events(clickhouse, present)
    for made in both:
        present.wait_right(made)
