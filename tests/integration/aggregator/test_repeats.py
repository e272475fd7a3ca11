"""Events that were sent twice: one of their rows is a click."""
import datetime
import random
import time
import uuid

import pytest
import requests

from support.asking import ask, ask_range, settled
from support.clicks import counted, hours_events, is_click, rfc3339, some_clicks
from support.fault_proxy import FAULTS, each_step
from support.keeping import (  # noqa: F401
    keeper, wait_gone, wait_sealed, world)
from support.program import eventually

DAY = 86400
LINKS = (1, 2, 3)
PATIENCE = 120
# Two days that are over, whenever the test runs.
FROM = int(time.time()) // DAY * DAY - 4 * DAY
TO = FROM + 2 * DAY


@pytest.fixture
def make(migrated, redis, program):
    for link in LINKS:
        migrated.link(f"code{link}", link)

    def made(url=None, late_window="7d", **settings):
        return program("aggregator", {
            "clickhouse": {"url": url} if url else {},
            "clicks": {"late_window": late_window, "edge_delay": "0s"},
            "aggregator": {"settle_every": "500ms", "reconcile_every": "1s",
                           "resettle_every": "0s", "lease": "1s", **settings}})
    return made


def insert(migrated, rows, partition=0):
    """The rows arrive now: the hours are complete."""
    migrated.insert(rows, partition, append_ms=int(time.time() * 1000))


def once(rows):
    """Returns the rows with ids, so that each has an event of its own."""
    return [{**row, "event_id": str(uuid.uuid4())} for row in rows]


def again(row):
    return {**row, "maybe_sent": True}


def removed(rows):
    """Returns the counts of removed rows."""
    return [{**row, "outcome": "repeated"} for row in rows]


def repeated(clickhouse):
    """Returns {offset} of the rows that are no clicks."""
    return {int(row["n"]) for row in clickhouse.rows(
        "SELECT offset AS n FROM clicks WHERE outcome = 'repeated'")}


def assert_counted(made, rows):
    """Checks the counts of all links, of each, of owners, and by outcome."""
    settled(made, len(rows), FROM, TO)
    eventually(lambda: ask_range(made, FROM, TO, bots="include", interval="month")[
        "total"] == counted(rows, "include"), PATIENCE, what="the clicks counted once")
    for link in LINKS:
        mine = [row for row in rows if row["link_id"] == link]
        eventually(lambda l=link, m=mine: ask_range(
            made, FROM, TO, link_id=l, bots="include", interval="month")["total"] ==
            counted(m, "include"), PATIENCE, what=f"those of link {link}")
    groups = ask_range(made, FROM, TO, group_by="outcome", bots="include")["groups"]
    events = {group["value"]: group["events"] for group in groups}
    assert events == {outcome: sum(row["outcome"] == outcome for row in rows)
                      for outcome in {row["outcome"] for row in rows}}


@pytest.mark.proof
def test_an_event_that_was_sent_twice_is_one_click(make, migrated, clickhouse):
    rows = once(some_clicks(1, 300, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    twice = [again(row) for row in clicks[10:40]]
    thrice = [again(row) for row in clicks[20:30]]
    insert(migrated, rows)
    insert(migrated, twice)
    insert(migrated, thrice)
    made = make()

    assert_counted(made, rows + removed(twice + thrice))

    assert repeated(clickhouse) == set(range(300, 340))
    made.wait_metric(40, "shortloop_aggregator_repeats_removed_total")
    hours = {row["ts_ms"] // 3600000 * 3600 for row in twice}
    assert len(hours) > 3
    for hour in hours:
        of = sum(row["ts_ms"] // 3600000 * 3600 == hour for row in twice + thrice)
        told = ask_range(made, hour, hour + 3600, path="/v1/reconciliation")["hours"][0]
        assert (told["repeats"], told["repeats_removed"]) == (of, of)
        assert told["lost"]["stored_settled"] == 0


@pytest.mark.long
def test_the_one_that_stays_is_the_first_that_kafka_stored(make, migrated, clickhouse):
    """This holds even if that row comes later, from a partition that is behind."""
    rows = once(some_clicks(2, 60, [(FROM, TO)], links=LINKS))
    sent = [row for row in rows if is_click(row)][:10]
    now = int(time.time() * 1000)
    migrated.insert([again(row) for row in sent], append_ms=now)
    migrated.insert([again(row) for row in sent[:5]], append_ms=now + 1)
    made = make()
    assert_counted(made, sent + removed(sent[:5]))
    assert repeated(clickhouse) == set(range(10, 15))

    migrated.insert([again(row) for row in sent[5:8]], append_ms=now + 2)
    assert_counted(made, sent + removed(sent[:8]))
    assert repeated(clickhouse) == set(range(10, 18))

    migrated.insert(rows, append_ms=now - 1)
    assert_counted(made, rows + removed(sent + sent[:8]))
    assert repeated(clickhouse) == set(range(18))


@pytest.mark.proof
def test_only_what_was_sent_again_is_removed(make, migrated, clickhouse):
    rows = once(some_clicks(3, 50, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    # Another event of the same link and time.
    others = [again({**row, "event_id": str(uuid.uuid4())}) for row in clicks[:10]]
    # These repeats are not marked.
    silent = clicks[10:20]
    insert(migrated, rows + others + silent)
    twice = [again(clicks[25])]
    insert(migrated, twice)
    made = make()

    assert_counted(made, rows + others + silent + removed(twice))
    assert len(repeated(clickhouse)) == 1


@pytest.mark.proof
def test_one_whose_time_was_moved_is_found(make, migrated, clickhouse):
    """The event waited for so long that its day was about to be sealed."""
    rows = once(some_clicks(7, 50, [(FROM, FROM + DAY)], links=LINKS))
    late = [{**again(row), "ts_ms": (TO - 1800) * 1000, "original_ms": row["ts_ms"]}
            for row in rows if is_click(row)][:3]
    insert(migrated, rows + late)

    assert_counted(make(), rows + removed(late))


@pytest.mark.long
def test_clicks_of_a_sealed_day_are_removed_and_it_is_sealed_again(make, migrated,
                                                                  clickhouse):
    rows = once(some_clicks(4, 200, [(FROM, FROM + DAY)], links=LINKS))
    insert(migrated, rows)
    made = make(late_window="1m")
    sealed = ("SELECT max(attempt) FROM settled WHERE kind = 'sealed_day' AND unit = "
              f"toDateTime({FROM}, 'UTC')")
    first = eventually(lambda: int(clickhouse.value(sealed)), PATIENCE)
    assert_counted(made, rows)

    twice = [again(row) for row in rows if is_click(row)][:20]
    insert(migrated, twice)

    assert_counted(made, rows + removed(twice))
    eventually(lambda: int(clickhouse.value(sealed)) > first and int(clickhouse.value(
        "SELECT sum(clicks) FROM sealed_slots WHERE (toStartOfDay(slot), attempt) IN "
        "(SELECT unit, max(attempt) FROM settled WHERE kind = 'sealed_day' "
        "GROUP BY unit)")) == counted(rows, "include")["clicks"], PATIENCE,
        what="the day sealed again")


def shuffled(rng, rows):
    return rng.sample(rows, len(rows))


def sent_twice(rng, clicks, now):
    """Returns rows of these clicks in states that redirectors and collectors can leave:
    two or three, of which one is not marked, or none, in any order, and of any
    partition; sometimes with a time that was moved to another hour or day."""
    rows = []
    for click in clicks:
        first = click if rng.random() < 0.7 else again(click)
        more = [again(click) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
        if more and rng.random() < 0.2:
            more[0] = {**more[0], "original_ms": click["ts_ms"], "ts_ms": now}
        rows += [first, *more]
    return shuffled(rng, rows)


QUESTIONS = ({}, {"link_id": 1}, {"link_id": 2, "group_by": "country"},
             {"account": "acme", "owner": "ann"}, {"country": "DE"}, {"group_by": "utm_source"},
             {"tz": "Asia/Kolkata", "interval": "day"})


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def intervals(answer):
    """Returns (start, whether it is complete, clicks) of each interval."""
    ends = [*(data["start"] for data in answer["data"][1:]), answer["to"]]
    until = answer["complete_until"]
    for data, end in zip(answer["data"], ends):
        yield data["start"], bool(until) and at(until) >= at(end), data["clicks"]


def is_about(row, question):
    return all(str(row[name]) == str(value) for name, value in question.items()
               if name in ("link_id", "account", "owner", "country"))


class Watch:
    """Sends all questions about a range, again and again: no answer may have more
    clicks than events were sent, or fewer than an answer that was complete."""

    def __init__(self, made, start, end):
        self.made, self.start, self.end = made, start, end
        self.sent = []
        self.promised = {}

    def look(self):
        for i, question in enumerate(QUESTIONS):
            answer = ask_range(self.made, self.start, self.end, bots="include",
                               **question)
            events = {row["event_id"] for row in self.sent if is_about(row, question)}
            assert answer["total"]["clicks"] <= len(events), question
            for start, complete, clicks in intervals(answer):
                assert clicks >= self.promised.get((i, start), 0), (question, start)
                if complete:
                    self.promised[i, start] = clicks
        return ask_range(self.made, self.start, self.end,
                         bots="include")["total"]["clicks"]


@pytest.mark.long
@pytest.mark.parametrize("every", ["0s", "1s"])
def test_no_answer_counts_an_event_twice_nor_less_than_it_promised(
        make, migrated, clickhouse, every):
    """This holds at any time, for any schedule of reconciliation."""
    rng = random.Random(9)
    now = int(time.time()) // 900 * 900
    start = now // 3600 * 3600 - 5 * 3600
    clicks = [{**row, "outcome": "redirected"} for row in once(some_clicks(
        9, 400, [(start, now)], links=LINKS))]
    migrated.partitions = 2
    made = make(reconcile_every=every, day_grace="0s")
    watch = Watch(made, start, now)
    for part in range(8):
        rows = sent_twice(rng, clicks[part::8], (now - 300) * 1000)
        for some in (rows[::2], rows[1::2]):
            watch.sent += some
            insert(migrated, some, rng.randrange(2))
            for partition in range(2):
                migrated.report([], partition, int(time.time() * 1000))
            for _ in range(3):
                watch.look()
    eventually(lambda: watch.look() == len(clicks), PATIENCE,
               what="each click counted once")
    assert watch.promised
    assert_repeats_left(clickhouse, watch.sent)
    assert made.metric("shortloop_aggregator_repeats_removed_total") >= \
        len(watch.sent) - len(clicks)


def assert_repeats_left(clickhouse, rows):
    """One row of each event is a click."""
    kept = clickhouse.rows("SELECT event_id FROM clicks WHERE outcome != 'repeated'")
    assert len(kept) == len({row["event_id"] for row in rows}) == \
        len({row["event_id"] for row in kept})


@pytest.mark.proof
def test_an_answer_from_rows_leaves_repeats_out_that_nobody_has_marked(
        make, migrated, clickhouse):
    rows = once(some_clicks(10, 60, [(FROM, TO)], links=(1,)))
    insert(migrated, rows)
    made = make()
    assert_counted(made, rows)
    clicks = [row for row in rows if is_click(row)]
    # These rows are not reported, so that no hour is settled with them.
    migrated.insert([again(row) for row in clicks[:10]], progress=False)

    asked = {"bots": "include", "from": rfc3339(FROM), "to": rfc3339(TO)}
    total = ask(made, "/v1/clicks", link_id=1, **asked)["total"]
    assert total["clicks"] == len(clicks)
    busiest = ask(made, "/v1/top", country="DE,US,IN,BR,", **asked)["links"][0]
    assert busiest["clicks"] == len(clicks)
    humans = [row for row in clicks if row["verdict"] == "human"]
    assert ask(made, "/v1/links/code1/summary")["clicks"] == len(humans)


@pytest.mark.proof
def test_an_answer_and_an_export_look_as_far_back_as_settling_does(
        make, migrated, clickhouse):
    """Both rows were moved, by a window that is longer than most."""
    days = 50
    made = make(late_window=f"{days}d")
    first, second = once(some_clicks(11, 2, [(FROM - 1, FROM)], links=(1,)))
    old = (FROM - 2 * days * DAY) * 1000
    first = {**first, "outcome": "redirected", "original_ms": old,
             "ts_ms": (FROM - (days - 1) * DAY) * 1000}
    second = {**again(first), "ts_ms": (FROM + 1) * 1000}
    insert(migrated, [first])
    settled(made, 1, FROM - days * DAY, TO)

    def export():
        return requests.get(made.url + "/v1/export/clicks", timeout=60, params={
            "from": rfc3339(FROM), "to": rfc3339(FROM + DAY)})
    eventually(lambda: export().status_code == 200, what="the watermark to be read")
    # The row is not reported, so that its hour is not settled.
    migrated.insert([second], append_ms=int(time.time() * 1000), progress=False)

    asked = {"link_id": 1, "bots": "include", "from": rfc3339(FROM),
             "to": rfc3339(TO)}
    assert ask(made, "/v1/clicks", **asked)["total"]["clicks"] == 0
    assert ask(made, "/v1/links/code1/summary")["clicks"] == int(
        is_click(first) and first["verdict"] == "human")
    answer = export()
    # The exception is a settler that has searched meanwhile, as it does at its start.
    assert repeated(clickhouse) or (
        answer.status_code == 503 and "sent twice" in answer.text), answer.text


STEPS = ("ingest_progress", "alter")


@pytest.fixture
def send_again(migrated):
    """Inserts rows that are found to be repeats when their hours are settled.  Or these
    rows are the first, of another hour: then other rows are repeats, whose hours are
    reported."""
    before = int(time.time() * 1000) - 60000

    def send(rows, first):
        if not first:
            insert(migrated, rows)
            return
        moved = [{**row, "ts_ms": (TO - 1800) * 1000, "original_ms": row["ts_ms"]}
                 for row in rows]
        migrated.insert(moved, append_ms=before)
    return send


@pytest.mark.long
@pytest.mark.parametrize("kinds, first", [(("alter",), False), (STEPS, True)])
def test_killed_at_any_step_it_removes_what_is_left(make, migrated, clickhouse, proxy,
                                                    send_again, kinds, first):
    rows = once(some_clicks(5, 200, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    insert(migrated, rows)
    made = make(proxy.url)
    assert_counted(made, rows)
    twice = [again(row) for row in clicks[:10 * len(kinds)]]

    for gone in each_step(proxy, kinds, made.kill,
                          lambda some: send_again(some, first), twice):
        made.start()
        assert_counted(made, rows + removed(gone))
    assert len(repeated(clickhouse)) == len(twice)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_removing_leaves_one_click(make, migrated, clickhouse,
                                                          proxy, send_again, fault):
    rows = once(some_clicks(8, 200, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    insert(migrated, rows)
    made = make(proxy.url, settle_timeout="4s")
    assert_counted(made, rows)
    proxy.delay = 0.5
    gone = []
    for step, kind in enumerate(STEPS):
        proxy.at(1, fault, kind)
        more = [again(row) for row in clicks[5 * step:5 * step + 5]]
        send_again(more, first=True)
        gone += more
        assert_counted(made, rows + removed(gone))
    assert proxy.faults() == {fault: len(STEPS)}
    assert len(repeated(clickhouse)) == len(gone)


@pytest.mark.long
@pytest.mark.parametrize("marked", [False, True])
def test_before_a_day_is_dropped_each_of_its_events_is_one_click(  # noqa: F811
        keeper, world, clickhouse, marked):
    """Repeats that were not found yet, and repeats that a settler marked without
    publishing it, since it had lost its lease."""
    start, end = FROM - 20 * DAY, FROM - 19 * DAY
    rows = once(some_clicks(7, 100, [(start, end)], links=LINKS))
    twice = [again(row) for row in rows if is_click(row)][:10]
    world.insert(rows + [{**row, "maybe_sent": False} for row in twice])
    former = keeper(raw_days=0)
    wait_sealed(clickhouse, 1)
    former.stop()
    clickhouse.query("ALTER TABLE clicks UPDATE maybe_sent = true" +
                     (", outcome = 'repeated'" if marked else "") +
                     f" WHERE offset >= {len(rows)} SETTINGS mutations_sync = 2")

    made = keeper(reconcile_every="0s")
    wait_gone(clickhouse, 1)

    total = ask_range(made, start, end, bots="include", interval="month")["total"]
    assert total == counted(rows + removed(twice), "include")
    found = made.metric("shortloop_aggregator_repeats_removed_total")
    assert found == (0 if marked else len(twice))


@pytest.mark.long
def test_of_dropped_days_all_rows_that_come_are_counted(  # noqa: F811
        keeper, world, clickhouse):
    """For the other rows there are none left to compare."""
    rows = once(some_clicks(6, 100, [(FROM - 20 * DAY, FROM - 19 * DAY)], links=LINKS))
    world.insert(rows)
    made = keeper(reconcile_every="1s")
    wait_gone(clickhouse, 1)

    late = [again(row) for row in rows if is_click(row)][:10]
    world.insert(late)

    start, end = FROM - 20 * DAY, FROM - 19 * DAY
    eventually(lambda: ask_range(made, start, end, bots="include", interval="month")[
        "total"]["clicks"] == counted(rows + late, "include")["clicks"], PATIENCE,
        what="the late rows counted")
    assert not repeated(clickhouse)
    assert made.metric("shortloop_aggregator_repeats_removed_total") == 0
