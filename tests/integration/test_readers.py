"""Who reads while days are settled, sealed, copied for owners, rolled up, dropped and
settled again sees each of them once and whole."""
import collections
import random
import threading

import pytest
import requests

from support.asking import settled
from support.clicks import counted, expected_data, instant, rfc3339, some_clicks
from support.keeping import (  # noqa: F401
    DAY, FROM, LINKS, OWNERS, PATIENCE, TO, dropped_days, keeper, of_owner, wait_gone,
    world)
from support.program import eventually

READERS = 4
ROUNDS = 6


def clicks(seed, count, windows):
    """Those of no link are nobody's."""
    return [{**row, "owner": row["owner"] if row["link_id"] else ""}
            for row in some_clicks(seed, count, windows, links=(0, *LINKS))]


def numbers(answer):
    """{start: counts}"""
    return {instant(item.pop("start")): item for item in answer["data"]}


def groups(answer):
    return {g["value"]: g["clicks"] for g in answer["groups"] if g["clicks"]}


def links_of(answer):
    return {int(link["link_id"]): link["clicks"] for link in answer["links"]}


def by_hour(rows):
    return {item.pop("start"): item
            for item in expected_data(rows, FROM, TO, "hour", "UTC")}


class Truth:
    """What is said of these rows: {name: (path, parameters, what is read of an answer,
    expected)}."""

    def __init__(self, rows):
        self.asked = {}
        for link in LINKS:
            mine = [row for row in rows if row["link_id"] == link]
            self.add(f"link {link}", "/v1/clicks", {"link_id": link}, numbers,
                     by_hour(mine))
            self.add(f"life of {link}", "/v1/summary", {"link_id": link},
                     lambda answer: answer["events"], len(mine), ranged=False)
        for owner in OWNERS:
            mine = of_owner(rows, owner)
            self.add(f"owner {owner}", "/v1/clicks", {"owner": owner}, numbers,
                     by_hour(mine))
            for name in ("country", "device_class"):
                self.add(f"{name} of {owner}", "/v1/clicks",
                         {"owner": owner, "group_by": name, "interval": "day"},
                         groups, self.clicks(mine, name))
            self.add(f"top of {owner}", "/v1/top", {"owner": owner}, links_of,
                     self.clicks(mine, "link_id"))
        self.add("all", "/v1/clicks", {}, numbers, by_hour(rows))
        self.add("country of all", "/v1/clicks", {"group_by": "country"}, groups,
                 self.clicks(rows, "country"))

    @staticmethod
    def clicks(rows, name):
        found = collections.defaultdict(list)
        for row in rows:
            found[row[name]].append(row)
        counts = {value: counted(mine)["clicks"] for value, mine in found.items()}
        return {value: n for value, n in counts.items() if n}

    def add(self, name, path, params, read, expected, ranged=True):
        if ranged:
            params = {"from": rfc3339(FROM), "to": rfc3339(TO), **params}
        self.asked[name] = path, params, read, expected


class Reader(threading.Thread):
    """Asks one thing after the other until it is told to end; what it was told that is
    not so is in `wrong`."""

    def __init__(self, url, seed):
        super().__init__(daemon=True)
        self.url, self.chance = url, random.Random(seed)
        self.truths = []  # the newest last; others were so
        self.hours_settled = self.ending = False
        self.reads, self.refused, self.wrong = 0, collections.Counter(), []
        self.seen = set()  # hours over all links

    def run(self):
        with requests.Session() as session:
            while not self.ending and not self.wrong:
                try:
                    self.read(session)
                except Exception as e:  # pylint: disable=broad-except
                    self.wrong.append(repr(e))

    def read(self, session):
        truths = list(self.truths)
        name = self.chance.choice(list(truths[-1].asked))
        path, params, read, _ = truths[-1].asked[name]
        settled_before = self.hours_settled
        answer = session.get(self.url + path, params=params, timeout=60)
        if answer.status_code != 200:
            self.refused[answer.status_code] += 1
            return
        self.reads += 1
        # It may have changed while the answer was on its way.
        expected = [truth.asked[name][3] for truth in {*truths, *self.truths}]
        said = read(answer.json())
        if not settled_before and name.endswith("all"):
            self.check_hours(name, said, expected)
        elif said not in expected:
            self.wrong.append((name, said, expected))

    def check_hours(self, name, said, expected):
        """Before all are settled each is there or not, and one that was stays."""
        if name != "all":
            return
        for start, counts in said.items():
            if counts["events"] == 0 and start not in self.seen:
                continue
            if counts not in [truth[start] for truth in expected]:
                self.wrong.append((name, start, counts))
            self.seen.add(start)


@pytest.fixture
def readers():
    started = []

    def start(made, rows):
        for seed in range(READERS):
            reader = Reader(made.url, seed)
            reader.truths.append(Truth(rows))
            started.append(reader)
        for reader in started:
            reader.start()
        return started
    yield start
    for reader in started:
        reader.ending = True
    for reader in started:
        reader.join()


def go_on(readers, rows=None, settled_all=False):
    """From now on this may be told as well."""
    for reader in readers:
        if rows is not None:
            reader.truths.append(Truth(rows))
        reader.hours_settled |= settled_all


def is_so(readers):
    """From now on nothing else is."""
    for reader in readers:
        reader.truths = reader.truths[-1:]


@pytest.mark.long
@pytest.mark.timeout(1200)  # four minutes by itself
def test_no_reader_sees_a_day_twice_or_half(keeper, world, clickhouse, readers):
    rows = clicks(31, 500, [(FROM, TO)])
    world.insert(rows)
    made = keeper(reconcile_every="0s")
    # The first look at what is sealed: until then some answers are refused.
    eventually(lambda: requests.get(made.url + "/v1/pipeline", timeout=60).ok)
    reading = readers(made, rows)
    settled(made, len(rows), FROM, TO)
    go_on(reading, settled_all=True)
    wait_gone(clickhouse)
    for number in range(ROUNDS):
        before = dropped_days(clickhouse)
        start = FROM + DAY * (number % 3) + 7200
        late = clicks(40 + number, 30, [(start, start + 3600)])
        for row in late:
            row["unique_identity"] = rows[0]["unique_identity"]
        rows = rows + late
        go_on(reading, rows)
        world.insert(late)
        settled(made, len(rows), FROM, TO)
        eventually(lambda b=before: dropped_days(clickhouse) != b, PATIENCE,
                   what="the day to be dropped again")
        wait_gone(clickhouse)
        is_so(reading)
    for reader in reading:
        reader.ending = True
    for reader in reading:
        reader.join()
        assert not reader.wrong, reader.wrong[0]
    reads = sum(reader.reads for reader in reading)
    assert reads > 300 * ROUNDS
    refused = sum((reader.refused for reader in reading), collections.Counter())
    assert set(refused) <= {429, 503} and sum(refused.values()) < reads / 20, refused
