"""Readers get each day once and whole while days are settled, sealed, copied for
owners, rolled up, dropped and settled again, also while aggregators are killed and
ClickHouse fails."""
import collections
import contextlib
import queue
import random
import threading

import pytest
import requests

from support.clicks import (counted, expected_data, groups_of, instant, rfc3339,
                            some_clicks)
from support.fault_proxy import FAULTS, QUICK, Meetings
from support.keeping import (CLICKHOUSE, CLOSING, DAY, DROPPING, FROM,  # noqa: F401
                             LINKS, OWNERS, PATIENCE, TO, dropped_days, is_counted,
                             keeper, of_owner, wait_counted, wait_gone, world)
from support.program import eventually

READERS = 4
ROUNDS = 6
# All tables that a pass changes, in order.
STEPS = ("stats_hourly", "settled:hour", "settled:pass", "link_slots", "link_days",
         "settled:link_day", *CLOSING, *DROPPING)


def clicks(seed, count, windows):
    """Clicks without a link have no owner."""
    return [{**row, "owner": row["owner"] if row["link_id"] else ""}
            for row in some_clicks(seed, count, windows, links=(0, *LINKS))]


def numbers(answer):
    """Returns {start: counts}."""
    return {instant(item.pop("start")): item for item in answer["data"]}


def groups(answer):
    return {g["value"]: g["clicks"] for g in answer["groups"] if g["clicks"]}


def links_of(answer):
    return {link["link_id"]: link["clicks"] for link in answer["links"]}


def by_interval(rows, interval, tz):
    return {item.pop("start"): item
            for item in expected_data(rows, FROM, TO, interval, tz)}


def visits(answer):
    return [[day[name] for name in ("effective", "ineffective", "uv", "ip", "human_uv",
                                    "human_ip")] for day in answer["days"]]


Asked = collections.namedtuple("Asked", "path params read expected settled_only")


class Truth:
    """The expected answers for these rows, by the name of the question."""

    def __init__(self, rows):
        self.asked = {}
        for link in LINKS:
            mine = [row for row in rows if row["link_id"] == link]
            self.add(f"link {link}", "/v1/clicks", {"link_id": link}, numbers,
                     by_interval(mine, "hour", "UTC"))
            self.add(f"link {link} in Kathmandu", "/v1/clicks",
                     {"link_id": link, "tz": "Asia/Kathmandu", "interval": "day"},
                     numbers, by_interval(mine, "day", "Asia/Kathmandu"))
            self.add(f"life of {link}", "/v1/summary", {"link_id": link},
                     lambda answer: answer["events"], len(mine), ranged=False)
            self.add(f"visits of {link}", "/v1/visit-statistics", {"link_id": link},
                     visits, self.visits(mine), settled_only=True)
        for owner in OWNERS:
            mine, of = of_owner(rows, owner), {"account": "acme", "owner": owner}
            self.add(f"owner {owner}", "/v1/clicks", of, numbers,
                     by_interval(mine, "hour", "UTC"))
            for name in ("country", "device_class"):
                self.add(f"{name} of {owner}", "/v1/clicks",
                         {**of, "group_by": name, "interval": "day"},
                         groups, self.clicks(mine, name))
            self.add(f"top of {owner}", "/v1/top", of, links_of,
                     self.clicks(mine, "link_id"))
        self.add("hours", "/v1/clicks", {}, numbers, by_interval(rows, "hour", "UTC"),
                 settled_only=True)
        self.add("days in Berlin", "/v1/clicks",
                 {"tz": "Europe/Berlin", "interval": "day"}, numbers,
                 by_interval(rows, "day", "Europe/Berlin"), settled_only=True)
        for name in ("country", "region"):
            self.add(name, "/v1/clicks", {"group_by": name}, groups,
                     self.clicks(rows, name), settled_only=True)

    @staticmethod
    def clicks(rows, name):
        return {value: counts["clicks"] for value, counts in groups_of(rows, name).items()
                if counts["clicks"]}

    @staticmethod
    def visits(rows):
        days = []
        for low in range(FROM, TO, DAY):
            mine = [row for row in rows if low <= row["ts_ms"] // 1000 < low + DAY]
            clicks, people = counted(mine, "include"), counted(mine)
            days.append([people["humans"], len(mine) - people["humans"],
                         clicks["visitors"], clicks["ips"], people["visitors"],
                         people["ips"]])
        return days

    def add(self, name, path, params, read, expected, ranged=True, settled_only=False):
        if ranged:
            params = {"from": rfc3339(FROM), "to": rfc3339(TO), **params}
        self.asked[name] = Asked(path, params, read, expected, settled_only)


class Reader(threading.Thread):
    """Asks one question after the other until it is stopped; wrong answers are in
    `wrong`."""

    def __init__(self, urls, seed, may_fail):
        """`may_fail`: the aggregator that answers may be killed."""
        super().__init__(daemon=True)
        self.urls, self.chance, self.may_fail = urls, random.Random(seed), may_fail
        self.truths = []  # the newest last; earlier ones were valid before
        self.all_settled = self.ending = False
        self.reads, self.refused, self.wrong = 0, collections.Counter(), []
        self.seen = set()  # hours over all links

    def run(self):
        with requests.Session() as session:
            while not self.ending and not self.wrong:
                try:
                    self.read(session)
                except requests.RequestException as e:
                    if not self.may_fail:
                        self.wrong.append(repr(e))
                    self.refused["away"] += 1
                except Exception as e:  # pylint: disable=broad-except
                    self.wrong.append(repr(e))

    def read(self, session):
        truths = list(self.truths)
        name = self.chance.choice(list(truths[-1].asked))
        asked = truths[-1].asked[name]
        settled_before = self.all_settled
        answer = session.get(self.chance.choice(self.urls) + asked.path,
                             params=asked.params, timeout=60)
        if answer.status_code != 200:
            self.refused[answer.status_code] += 1
            return
        self.reads += 1
        # The data may have changed while the answer was under way.
        expected = [truth.asked[name].expected for truth in {*truths, *self.truths}]
        said = asked.read(answer.json())
        if asked.settled_only and not settled_before:
            self.check_hours(name, said, expected)
        elif said not in expected:
            self.wrong.append((name, said, expected))

    def check_hours(self, name, said, expected):
        """Before all hours are settled, each is there or not; with one aggregator, an
        hour that was there stays."""
        if name != "hours":
            return
        for start, counts in said.items():
            if counts["events"] == 0 and (len(self.urls) > 1 or start not in self.seen):
                continue
            if counts not in [truth[start] for truth in expected]:
                self.wrong.append((name, start, counts))
            self.seen.add(start)


@pytest.fixture
def readers():
    started = []

    def start(urls, rows, may_fail=False):
        truth = Truth(rows)
        for seed in range(READERS):
            reader = Reader(urls, seed, may_fail)
            reader.truths.append(truth)
            started.append(reader)
        for reader in started:
            reader.start()
        return started
    yield start
    for reader in started:
        reader.ending = True
    for reader in started:
        reader.join()


def go_on(readers, rows=None, all_settled=False):
    """From now on the answers for these rows are valid, too."""
    truth = Truth(rows) if rows is not None else None
    for reader in readers:
        if truth:
            reader.truths.append(truth)
        reader.all_settled |= all_settled


def is_so(readers):
    """From now on only the newest answers are valid."""
    for reader in readers:
        reader.truths = reader.truths[-1:]


def assert_right(readers):
    wrong = [what for reader in readers for what in reader.wrong]
    assert not wrong, wrong[0]


def reads_of(readers):
    assert_right(readers)
    return sum(reader.reads for reader in readers)


def wait_reads(readers, more):
    there = reads_of(readers)
    eventually(lambda: reads_of(readers) >= there + more, PATIENCE,
               what=f"{more} more reads")


def end(readers):
    """Returns (reads, {reason of refusal: number}) of all readers, if no answer was
    wrong."""
    for reader in readers:
        reader.ending = True
    for reader in readers:
        reader.join()
    return (reads_of(readers),
            sum((reader.refused for reader in readers), collections.Counter()))


def late_clicks(rows, number):
    """Returns clicks of one hour, by a visitor whom its day already has."""
    start = FROM + DAY * (number % 3) + 7200
    late = clicks(40 + number, 30, [(start, start + 3600)])
    for row in late:
        row["unique_identity"] = rows[0]["unique_identity"]
    return late


@pytest.mark.long
@pytest.mark.timeout(1200)  # four minutes when run alone
def test_no_reader_sees_a_day_twice_or_half(keeper, world, clickhouse, readers):
    rows = clicks(31, 500, [(FROM, TO)])
    world.insert(rows)
    made = keeper(reconcile_every="0s")
    # This waits for the first check of sealed days: until then some answers are
    # refused.
    eventually(lambda: requests.get(made.url + "/v1/pipeline", timeout=60).ok)
    reading = readers([made.url], rows)
    wait_counted(made, rows)
    # A day is dropped once it is settled, which may be later than its hours are
    # counted.
    wait_gone(clickhouse)
    go_on(reading, all_settled=True)
    for number in range(ROUNDS):
        before = dropped_days(clickhouse)
        late = late_clicks(rows, number)
        rows = rows + late
        go_on(reading, rows)
        world.insert(late)
        wait_counted(made, rows)
        eventually(lambda b=before: dropped_days(clickhouse) != b, PATIENCE,
                   what="the day to be dropped again")
        wait_gone(clickhouse)
        is_so(reading)
    reads, refused = end(reading)
    assert reads > 300 * ROUNDS
    assert set(refused) <= {429, 503} and sum(refused.values()) < reads / 20, refused


class Disturbance:
    """Disturbs the aggregators and their server, once at each step until calm() is
    called.  The waiting thread acts, since a process ends with the thread that started
    it."""

    def __init__(self, how, proxy, redis, server, made, readers):
        self.how, self.proxy, self.redis = how, proxy, redis
        self.server, self.made, self.readers = server, made, readers
        self.meetings = Meetings()

    def begin(self, carried_out):
        for number, step in enumerate(STEPS):
            if self.how == "faults":
                fault = list(FAULTS)[(number + 5 * carried_out) % len(FAULTS)]
                self.proxy.at(1, fault, step)
            else:
                self.proxy.call_at(1, self.meetings.wait, step, carried_out)
        self.proxy.at_random(0.03, QUICK, ("question",))

    def until(self, check):
        """Waits until check() is true; it may fail while the server does."""
        def look():
            assert_right(self.readers)
            self.act()
            with contextlib.suppress(AssertionError, requests.RequestException):
                return check()
            return False
        eventually(look, 10 * PATIENCE, what="a round")

    def act(self):
        """Returns False if no step waits."""
        with contextlib.suppress(queue.Empty):
            self.meetings.act(self.restart if self.how == "restarts"
                              else self.kill_the_settler)
            return True
        return False

    def restart(self):
        self.server.kill()
        self.server.start()

    def kill_the_settler(self):
        """Kills the holder of the lease, if there is one."""
        for key in self.redis.keys("settle:*"):
            holder = self.redis.get(key) or "::"
            for one in self.made:
                if holder.split(":")[1] == str(one.process.pid):
                    one.kill()
                    one.start(ready=False)

    def calm(self):
        self.proxy.calm()
        while self.act():
            pass


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("how", ("kills", "restarts", "faults"))
def test_no_reader_of_two_that_are_disturbed_sees_a_day_twice_or_half(
        keeper, world, clickhouse, clickhouse_server, redis, proxy, readers, how):
    rows = clicks(31, 500, [(FROM, TO)])
    world.insert(rows)
    proxy.delay = 0.5
    made = [keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s",
                   settle_timeout="15s", reconcile_every="0s") for _ in range(2)]
    reading = readers([one.url for one in made], rows, may_fail=True)
    disturbance = Disturbance(how, proxy, redis, clickhouse_server, made, reading)
    for number in range(3):
        disturbance.begin(carried_out=number % 2 == 1)
        before = dropped_days(clickhouse)
        if number:
            late = late_clicks(rows, number)
            rows = rows + late
            go_on(reading, rows)
            world.insert(late)
        disturbance.until(lambda b=before: dropped_days(clickhouse) != b)
        disturbance.until(lambda: all(is_counted(one, rows) for one in made))
        disturbance.calm()
        for one in made:
            one.wait_ready()
            wait_counted(one, rows)
        wait_gone(clickhouse)
        go_on(reading, all_settled=True)
        is_so(reading)
        wait_reads(reading, 200)
    reads, refused = end(reading)
    assert reads > 1000
    assert set(refused) <= {429, 503, "away"}, refused
    assert all(any(proxy.count(step, fault) for fault in ("call", *FAULTS))
               for step in STEPS), proxy.faults()
