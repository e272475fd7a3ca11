"""Events that were sent twice: of their rows one is a click."""
import time
import uuid

import pytest

from support.asking import ask_range, settled
from support.clicks import counted, hours_events, is_click, some_clicks
from support.fault_proxy import FAULTS, each_step
from support.keeping import (  # noqa: F401
    keeper, wait_gone, wait_sealed, world)
from support.program import eventually

DAY = 86400
LINKS = (1, 2, 3)
PATIENCE = 120
# Two days that are over, whenever this runs.
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
    """As of now: the hours are complete."""
    migrated.insert(rows, partition, append_ms=int(time.time() * 1000))


def once(rows):
    """With ids by which their events can be told from others."""
    return [{**row, "event_id": str(uuid.uuid4())} for row in rows]


def again(row):
    return {**row, "maybe_sent": True}


def removed(rows):
    """As they are counted."""
    return [{**row, "outcome": "repeated"} for row in rows]


def repeated(clickhouse):
    """{offset} of the rows that are no clicks."""
    return {int(row["n"]) for row in clickhouse.rows(
        "SELECT offset AS n FROM clicks WHERE outcome = 'repeated'")}


def assert_counted(made, rows):
    """Of all links, of each, of owners, and by outcome."""
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


def test_the_one_that_stays_is_not_marked_or_the_first(make, migrated, clickhouse):
    """Also when it comes later, from a partition that is behind."""
    rows = once(some_clicks(2, 60, [(FROM, TO)], links=LINKS))
    sent = [row for row in rows if is_click(row)][:10]
    insert(migrated, [again(row) for row in sent])
    insert(migrated, [again(row) for row in sent[:5]])
    made = make()
    assert_counted(made, sent + removed(sent[:5]))
    assert repeated(clickhouse) == set(range(10, 15))

    insert(migrated, rows)

    assert_counted(made, rows + removed(sent + sent[:5]))
    assert repeated(clickhouse) == set(range(15))


def test_only_what_was_sent_again_is_removed(make, migrated, clickhouse):
    rows = once(some_clicks(3, 50, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    # Of the same link and time, another event.
    others = [again({**row, "event_id": str(uuid.uuid4())}) for row in clicks[:10]]
    # Nobody says that it was sent again.
    silent = clicks[10:20]
    insert(migrated, rows + others + silent)
    twice = [again(clicks[25])]
    insert(migrated, twice)
    made = make()

    assert_counted(made, rows + others + silent + removed(twice))
    assert len(repeated(clickhouse)) == 1


def test_one_whose_time_was_moved_is_found(make, migrated, clickhouse):
    """As it waited for so long that its day was about to be sealed."""
    rows = once(some_clicks(7, 50, [(FROM, FROM + DAY)], links=LINKS))
    late = [{**again(row), "ts_ms": (TO - 1800) * 1000, "original_ms": row["ts_ms"]}
            for row in rows if is_click(row)][:3]
    insert(migrated, rows + late)

    assert_counted(make(), rows + removed(late))


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


STEPS = ("alter", "ingest_progress")


@pytest.fixture
def send_again(migrated, clickhouse, proxy):
    """Inserts rows, which are settled before they are found to be repeats: so their
    hours have to be told of."""
    def send(rows):
        there = hours_events(clickhouse)
        held = proxy.hold(words="PARTITION BY event_id")
        assert held.here.wait(60), "nobody looks for repeats"
        insert(migrated, rows)
        eventually(lambda: hours_events(clickhouse) == there + len(rows), PATIENCE,
                   what="the rows settled")
        held.release()
    return send


@pytest.mark.long
@pytest.mark.parametrize("kinds", [("alter",), STEPS])
def test_killed_at_any_step_it_removes_what_is_left(make, migrated, clickhouse, proxy,
                                                    send_again, kinds):
    rows = once(some_clicks(5, 200, [(FROM, TO)], links=LINKS))
    clicks = [row for row in rows if is_click(row)]
    insert(migrated, rows)
    made = make(proxy.url)
    assert_counted(made, rows)
    twice = [again(row) for row in clicks[:10 * len(kinds)]]

    for gone in each_step(proxy, kinds, made.kill, send_again, twice):
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
        send_again(more)
        gone += more
        assert_counted(made, rows + removed(gone))
    assert proxy.faults() == {fault: len(STEPS)}
    assert len(repeated(clickhouse)) == len(gone)


@pytest.mark.parametrize("marked", [False, True])
def test_before_a_day_is_dropped_each_of_its_events_is_one_click(  # noqa: F811
        keeper, world, clickhouse, marked):
    """Those that nobody has looked for, and those that a settler marked when their
    hours were settled, and did not say so: it had lost its lease."""
    start, end = FROM - 20 * DAY, FROM - 19 * DAY
    rows = once(some_clicks(7, 100, [(start, end)], links=LINKS))
    twice = [again(row) for row in rows if is_click(row)][:10]
    world.insert(rows + twice)
    former = keeper(raw_days=0, reconcile_every="0s")
    wait_sealed(clickhouse, 1)
    assert not repeated(clickhouse)
    former.stop()
    if marked:
        clickhouse.query("ALTER TABLE clicks UPDATE outcome = 'repeated' "
                         "WHERE maybe_sent SETTINGS mutations_sync = 2")

    made = keeper(reconcile_every="1h")
    wait_gone(clickhouse, 1)

    total = ask_range(made, start, end, bots="include", interval="month")["total"]
    assert total == counted(rows + removed(twice), "include")
    found = made.metric("shortloop_aggregator_repeats_removed_total")
    assert found == (0 if marked else len(twice))


@pytest.mark.long
def test_of_dropped_days_all_rows_that_come_are_counted(  # noqa: F811
        keeper, world, clickhouse):
    """Of the others there are none to compare them with."""
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
