"""Questions about whole days over all links are answered from `stats_spans`, with the
same counts as from the slots of `stats_hourly` and from rows."""
import itertools

import pytest

from support.asking import aggregator, ask_range, settled  # noqa: F401
from support.clicks import (DIMENSIONS, VISITED, counted, counted_group, expected_data,
                            instant, some_clicks, without_visitors)
from support.copied_days import copied_days, days_of, wait_copied
from support.fault_proxy import FAULTS, ClickHouseProxy, each_fault, each_step
from support.program import eventually

FROM, TO = instant("2026-10-20T00:00:00Z"), instant("2026-10-24T00:00:00Z")
DAY = 86400
LINKS = (0, 1, 2, 3)
PATIENCE = 120
BOTS = ("exclude", "include", "only")
# Range, interval and zone: whole days, parts of days, and hours that begin at half
# hours.
RANGES = [(FROM, TO, "hour", "UTC"), (FROM, TO, "day", "UTC"), (FROM, TO, "month", "UTC"),
          (FROM, TO, "15m", "UTC"), (FROM + 900, TO - 4500, "hour", "UTC"),
          (FROM + DAY, FROM + 3 * DAY - 900, "day", "Europe/Berlin"),
          (FROM, TO, "hour", "Asia/Kolkata"), (FROM, TO, "day", "Asia/Kolkata")]


@pytest.fixture
def world(migrated):
    for link in LINKS[1:]:
        migrated.link(f"code{link}", link)
    return migrated


@pytest.fixture
def proxy(clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port) as proxy:
        yield proxy


def within(rows, start, end):
    return [r for r in rows if start * 1000 <= r["ts_ms"] < end * 1000]


def assert_total(made, rows, start, end, interval, tz, bots):
    answer = ask_range(made, start, end, interval=interval, tz=tz, bots=bots)
    wanted = expected_data(rows, start, end, interval, tz, bots)
    total = counted(within(rows, start, end), bots)
    found = [{**e, "start": instant(e["start"])} for e in answer["data"]]
    assert [{k: e[k] for k in wanted[0]} for e in found] == wanted
    assert answer["total"] == total


def assert_groups(made, rows, start, end, name, bots):
    def of(row):
        return row["tags"] if name == "tag" else [str(row["link_id"])] \
            if name == "link" else [row[name]]
    answer = ask_range(made, start, end, group_by=name, bots=bots, interval="month")
    inside = within(rows, start, end)
    wanted = {value: counted_group([r for r in inside if value in of(r)], name, bots)
              for value in {v for r in inside for v in of(r)}}
    found = {g.pop("value"): g for g in answer["groups"]}
    if name not in VISITED:  # they are estimated (test_group_visitors.py)
        found, wanted = ({value: without_visitors(g) for value, g in of.items()}
                         for of in (found, wanted))
    assert found == wanted


def assert_answers(made, rows):
    for (start, end, interval, tz), bots in zip(RANGES, itertools.cycle(BOTS)):
        assert_total(made, rows, start, end, interval, tz, bots)
    assert_total(made, rows, FROM, TO, "hour", "UTC", "include")
    for name, bots in zip(DIMENSIONS, itertools.cycle(BOTS)):
        assert_groups(made, rows, FROM, TO, name, bots)
        assert_groups(made, rows, FROM + 4500, TO - 900, name, bots)


def busiest(made, start, end, **params):
    links = ask_range(made, start, end, path="/v1/top", bots="include", **params)["links"]
    return {int(link["link_id"]): (link["clicks"], link.get("clicks_before"))
            for link in links}


def assert_busiest(made, rows):
    def clicks(start, end):
        return {link: n for link in LINKS[1:] for n in [counted(
            [r for r in within(rows, start, end) if r["link_id"] == link],
            "include")["clicks"]] if n}
    for start, end in ((FROM, TO), (FROM + 4500, TO - DAY - 900)):
        assert {link: n for link, (n, _) in busiest(made, start, end).items()} == \
            clicks(start, end)
    # The range before ends within a day.
    start, end = FROM + 2 * DAY + 7200, TO
    now, before = clicks(start, end), clicks(2 * start - end, start)
    wanted = {link: (n, before.get(link, 0)) for link, n in now.items()
              if n > before.get(link, 0)}
    assert busiest(made, start, end, sort="growth") == wanted


@pytest.mark.proof
@pytest.mark.parametrize("pairs", [
    pytest.param(list(zip(DIMENSIONS, itertools.cycle(BOTS[::-1]))), id="some"),
    pytest.param(list(itertools.product(DIMENSIONS, BOTS)), id="all",
                 marks=pytest.mark.long)])
def test_whole_days_are_answered_without_their_slots(aggregator, world,  # noqa: F811
                                                     clickhouse, pairs):
    rows = some_clicks(1, 900, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = aggregator(late_window="3650d", resettle_every="1h", watermark_every="500ms",
                      answer_cache="0")  # otherwise answers would be cached ones
    wait_copied(clickhouse, "spanned_day", rows)
    eventually(lambda: made.metric("shortloop_aggregator_rolled_up_days_total")
               == len(days_of(rows)))
    assert_answers(made, rows)
    assert_busiest(made, rows)

    # Without the slots, the days between are answered the same.
    clickhouse.query("ALTER TABLE stats_hourly DELETE WHERE 1", mutations_sync=1)
    for interval, bots in itertools.product(("hour", "day", "month"), BOTS):
        assert_total(made, rows, FROM, TO, interval, "UTC", bots)
    for name, bots in pairs:
        assert_groups(made, rows, FROM, TO, name, bots)
    assert {link: n for link, (n, _) in busiest(made, FROM, TO).items()} == {
        link: counted([r for r in rows if r["link_id"] == link], "include")["clicks"]
        for link in LINKS[1:]}


@pytest.mark.long
def test_days_that_changed_are_read_from_slots_until_they_are_rolled_up_again(
        aggregator, program, world, clickhouse):  # noqa: F811
    rows = some_clicks(2, 400, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = aggregator(late_window="3650d", resettle_every="1h", watermark_every="500ms")
    wait_copied(clickhouse, "spanned_day", rows)
    before = copied_days(clickhouse, "spanned_day")

    late = some_clicks(3, 80, [(FROM + 2 * DAY, FROM + 3 * DAY)], links=LINKS)
    world.insert(late)
    eventually(lambda: set(copied_days(clickhouse, "spanned_day")) ==
               days_of(rows) - days_of(late))
    settled(made, len(rows + late), FROM, TO)
    assert_answers(made, rows + late)
    assert made.stop() == 0

    made = program("aggregator", {
        "clickhouse": {"query_timeout": "4s"}, "clicks": {"late_window": "3650d"},
        "aggregator": {"settle_every": "500ms",
                       "resettle_every": "0s", "clean_every": "1s",
                       "keep_superseded": "7s"}})
    wait_copied(clickhouse, "spanned_day", rows + late)
    after = copied_days(clickhouse, "spanned_day")
    assert {day for day in before if after[day] != before[day]} == days_of(late)
    settled(made, len(rows + late), FROM, TO)
    assert_answers(made, rows + late)
    # Former rollups are deleted.
    for table in "stats_spans", "settled WHERE kind = 'spanning'":
        eventually(lambda of=table: {int(row["attempt"]) for row in clickhouse.rows(
            f"SELECT DISTINCT attempt FROM {of}")} == set(after.values()), PATIENCE,
            what="superseded rows to go")
    assert_answers(made, rows + late)


STEPS = ("stats_spans", "settled:spanning", "settled:spanned_day")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_leaves_what_the_rows_say(program, redis, world, clickhouse,
                                                      proxy, fault):
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url, "query_timeout":
                       "2s" if fault.startswith("hang_") else "30s"},
        "aggregator": {"settle_every": "500ms", "settle_timeout": "4s",
                       "resettle_every": "0s", "lease": "1s"},
        "clicks": {"late_window": "1m"}})
    proxy.delay = 0.5
    rows = some_clicks(10, 300 * len(STEPS), [(FROM, FROM + DAY)], links=LINKS)
    for there in each_fault(proxy, fault, STEPS, world.insert, rows):
        wait_copied(clickhouse, "spanned_day", there)
        settled(made, len(there), FROM, TO)
        assert_answers(made, there)


@pytest.mark.long
def test_killed_at_any_step_it_goes_on(program, redis, world, clickhouse, proxy):
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url},
        "aggregator": {"settle_every": "500ms", "resettle_every": "0s", "lease": "1s"},
        "clicks": {"late_window": "1m"}})
    rows = some_clicks(20, 200 * len(STEPS), [(FROM, FROM + DAY)], links=LINKS)
    for there in each_step(proxy, STEPS, made.kill, world.insert, rows):
        made.start()
        wait_copied(clickhouse, "spanned_day", there)
        settled(made, len(there), FROM, TO)
        assert_answers(made, there)
