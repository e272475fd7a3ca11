"""Visitors of groups whose settled values have none: estimates from the clicks of one
visitor in 16, with the error that the answer states, with and without the rows."""
import pathlib
import random

import pytest
import requests

from support.asking import ask_range
from support.clicks import (DAILY, DIMENSIONS, instant, is_click, is_human, make_click,
                            values_of)
from support.copied_days import days_of, wait_copied
from support.fault_proxy import FAULTS, each_fault, each_step
from support.keeping import caught_up, keeper, rows_left, wait_gone  # noqa: F401
from support.program import eventually

FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-26T00:00:00Z")
DAY = 86400
LINKS = (1, 2, 3)
SCALE = 16
SINGLE = [name for name in (*DIMENSIONS, *DAILY) if name != "total"]
PATIENCE = 120
COUNTED = {"exclude": is_human, "include": is_click,
           "only": lambda row: is_click(row) and not is_human(row)}


def clicks(seed, count, visitors, start=FROM, end=TO):
    """Clicks of two accounts by many visitors; a visitor comes back now and then."""
    rng = random.Random(seed)
    known = ["%020x" % rng.getrandbits(80) for _ in range(visitors)]
    rows = []
    for number in range(count):
        row = make_click(rng, rng.randrange(start * 1000, end * 1000), rng.choice(LINKS))
        row["unique_identity"] = rng.choice(known)
        row["account"] = ("acme", "shop")[number % 4 == 0]
        rows.append(row)
    return sorted(rows, key=lambda row: row["ts_ms"])


@pytest.fixture
def world(migrated):
    for link in LINKS:
        migrated.link(f"code{link}", link, owner="ann" if link == 1 else "bob")
    return migrated


@pytest.fixture
def make(migrated, redis, program):
    """make(...): rows answer for no copied day unless it is set otherwise."""
    def made(clickhouse=None, **settings):
        return program("aggregator", {
            "clickhouse": clickhouse or {},
            "aggregator": {"settle_every": "500ms", "watermark_every": "500ms",
                           "resettle_every": "1h", "day_grace": "0s",
                           "owner_rows_max": 0, **settings}})
    return made


def sampled(clickhouse):
    """Returns the visitors of the rows that belong to the sample."""
    return {row["v"] for row in clickhouse.rows(
        "SELECT DISTINCT toString(unique_identity) AS v FROM clicks "
        f"WHERE cityHash64(unique_identity) % {SCALE} = 0")}


def ask_each(made, names=SINGLE, start=FROM, end=TO, **params):
    """Returns {dimension: {value: group}}."""
    found = {}
    for first in range(0, len(names), 12):
        answer = ask_range(made, start, end, interval="month", limit=1000,
                           breakdowns=",".join(names[first:first + 12]), **params)
        found.update({b["group_by"]: {g["value"]: g for g in b["groups"]}
                      for b in answer["breakdowns"]})
    return found


def wait_estimated(made, start=FROM, end=TO, **params):
    """Waits until every value has visitors: the copies are looked up now and then."""
    def known():
        groups = ask_each(made, ["campaign", "region"], start, end, **params)
        return all("unique_error" in g for of in groups.values() for g in of.values())
    eventually(known, PATIENCE, what="visitors of values")


def assert_estimates(groups, rows, sample, bots="exclude"):
    """Each estimate is that of the sample, and within four times its error."""
    total = 0
    for name, of in groups.items():
        if not any("unique_error" in group for group in of.values()):
            continue  # settled hours know the visitors
        for value, group in of.items():
            mine = [r for r in rows if value in values_of(r, name) and COUNTED[bots](r)]
            there = {r["unique_identity"] for r in mine}
            in_sample = len(there & sample)
            wanted = in_sample * SCALE if in_sample else SCALE // 2
            assert group["visitors"] == min(wanted, len(mine)), (name, value)
            assert group["ips"] is None
            error = (((SCALE - 1) / (SCALE * in_sample)) ** 0.5 if in_sample else 1) \
                if len(mine) > 1 else 0
            assert group["unique_error"] == pytest.approx(error, rel=1e-4)
            # Estimates that reach the number of clicks are cut, and nearer.
            assert abs(group["visitors"] - len(there)) <= 4 * (
                (SCALE - 1) * len(there)) ** 0.5 + SCALE, (name, value)
            total += 1
    assert total > 0


@pytest.mark.proof
def test_groups_have_the_visitors_that_the_sample_has(make, world, clickhouse):
    rows = clicks(1, 9000, 6000)
    for number, row in enumerate(rows):
        row["utm_term"] = f"{number % 400:0200}"  # too many bytes for a URL
    world.insert(rows)
    made = make()
    for kind in "owner_day", "value_day", "sampled_day":
        wait_copied(clickhouse, kind, rows)
    eventually(lambda: made.metric("shortloop_aggregator_sampled_days_total")
               == len(days_of(rows)))
    sample = sampled(clickhouse)
    for number, of in enumerate(({}, {"account": "acme"},
                                 {"account": "acme", "owner": "ann"})):
        mine = [r for r in rows if all(r[k] == v for k, v in of.items())]
        bots = list(COUNTED)[number]
        wait_estimated(made, **of)
        groups = ask_each(made, bots=bots, **of)
        assert set(groups) == set(SINGLE)
        assert_estimates(groups, mine, sample, bots)

    # Days are not read from the rows any more.
    before = ask_each(made, account="acme")
    clickhouse.query("TRUNCATE TABLE clicks")
    assert ask_each(made, account="acme") == before
    answer = requests.get(made.url + "/v1/clicks", timeout=60, params={
        "from": "2026-10-24", "to": "2026-10-26", "group_by": "campaign",
        "account": "acme", "format": "csv"})
    head, *lines = answer.text.splitlines()
    assert head == "campaign,clicks,visitors,ips,humans,bots,prefetches,events,unique_error"
    assert {line.rsplit(",", 8)[2] + " " + line.rsplit(",", 1)[1] for line in lines} == {
        f"{g['visitors']} {g['unique_error']:.4g}" for g in before["campaign"].values()}


@pytest.mark.proof
def test_days_that_are_not_sampled_are_counted_in_rows(make, world, clickhouse):
    """An open day, and parts of days."""
    rows = clicks(2, 4000, 2500)
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "sampled_day", rows)
    wait_copied(clickhouse, "owner_day", rows)
    more = clicks(3, 1500, 900, TO, TO + DAY // 2)
    known = {r["unique_identity"] for r in rows}
    for row, old in zip(more[::3], sorted(known)):
        row["unique_identity"] = old  # visitors of both days count once
    world.insert(more)
    start, end = FROM + 4500, TO + DAY // 2 - 4500
    inside = [r for r in rows + more if start * 1000 <= r["ts_ms"] < end * 1000]
    mine = [r for r in inside if r["account"] == "acme"]
    eventually(lambda: ask_range(made, start, end, account="acme")["total"]["events"]
               == len(mine), PATIENCE)
    names = ["campaign", "country", "tag", "domain"]
    wait = {"account": "acme"}
    eventually(lambda: all("unique_error" in g for g in ask_each(
        made, names, start, end, **wait)["campaign"].values()), PATIENCE)
    assert_estimates(ask_each(made, names, start, end, **wait), mine, sampled(clickhouse))


@pytest.mark.long
def test_they_stay_when_the_rows_are_dropped(keeper, world, clickhouse):  # noqa: F811
    rows = clicks(4, 3000, 2000)
    caught_up(world)
    world.insert(rows)
    sample = sampled(clickhouse)
    made = keeper()
    wait_gone(clickhouse, len(days_of(rows)))
    assert rows_left(clickhouse) == 0
    wait_estimated(made)
    assert_estimates(ask_each(made), rows, sample)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_late_clicks_join_the_sample_of_a_dropped_day(
        keeper, world, clickhouse):  # noqa: F811
    rows = clicks(4, 1500, 1000, FROM, FROM + DAY)
    caught_up(world)
    world.insert(rows)
    sample = sampled(clickhouse)
    made = keeper()
    wait_gone(clickhouse, len(days_of(rows)))
    late = clicks(5, 300, 200, FROM, FROM + DAY)
    world.insert(late)
    both = sample | sampled(clickhouse)
    eventually(lambda: ask_range(made, FROM, TO)["total"]["events"]
               == len(rows + late), 3 * PATIENCE)

    def agree():
        try:
            assert_estimates(ask_each(made, ["campaign", "region"]), rows + late, both)
        except AssertionError:
            return False
        return True
    eventually(agree, 3 * PATIENCE, what="late clicks in the sample of a dropped day")


@pytest.mark.long
def test_a_forgotten_visitor_of_a_dropped_day_is_in_no_group(
        keeper, world, clickhouse, program):  # noqa: F811
    rows = clicks(6, 1500, 900)
    caught_up(world)
    world.insert(rows)
    sample = sampled(clickhouse)
    made = keeper()
    wait_gone(clickhouse, len(days_of(rows)))
    visitor = next(r["unique_identity"] for r in rows
                   if is_human(r) and r["campaign"] == "spring"
                   and r["unique_identity"] in sample)
    status, said = program("aggregator", args=(
        "forget", "--no-wait", "--visitor", visitor.encode().hex()), start=False).run()
    assert status == 0, said
    digest = clickhouse.value(
        f"SELECT toUInt32(bitShiftRight(cityHash64(toFixedString('{visitor}', 20)), 32))")
    assert int(clickhouse.value("SELECT count() FROM sampled_clicks "
                                f"WHERE visitor_digest = {digest}")) == 0
    emptied = clickhouse.rows(
        "SELECT DISTINCT city, utm_term, ua_family, toString(channel) AS c "
        "FROM sampled_clicks WHERE rarity > 0 AND visitor_digest = 0")
    assert emptied == [{"city": "", "utm_term": "", "ua_family": "Other", "c": "unknown"}]
    assert int(clickhouse.value("SELECT sum(events) FROM sampled_clicks")) == len(rows)

    def agree():
        try:
            assert_estimates(ask_each(made, ["campaign"]), rows, sample - {visitor})
        except AssertionError:
            return False
        return True
    # Answers are kept for a minute at most.
    eventually(agree, PATIENCE, what="groups without the forgotten visitor")


STEPS = ("sampled_clicks", "settled:sampling", "settled:sampled_day")


def assert_sampled(made, clickhouse, rows):
    wait_copied(clickhouse, "sampled_day", rows)
    wait_estimated(made)
    assert_estimates(ask_each(made, ["campaign", "region"]), rows, sampled(clickhouse))


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_sampling_leaves_what_the_rows_say(
        make, world, clickhouse, proxy, fault):
    made = make(clickhouse={"url": proxy.url}, settle_timeout="4s", resettle_every="0s",
                lease="1s")
    proxy.delay = 0.5
    rows = clicks(10, 600 * len(STEPS), 1500, FROM, FROM + DAY)
    for there in each_fault(proxy, fault, STEPS, world.insert, rows):
        assert_sampled(made, clickhouse, there)


@pytest.mark.long
def test_killed_at_any_step_of_sampling_it_goes_on(make, world, clickhouse, proxy):
    made = make(clickhouse={"url": proxy.url}, resettle_every="0s", lease="1s")
    rows = clicks(20, 600 * len(STEPS), 1500, FROM, FROM + DAY)
    for there in each_step(proxy, STEPS, made.kill, world.insert, rows):
        made.start()
        assert_sampled(made, clickhouse, there)


def test_each_dimension_is_one_of_the_sample(migrated, clickhouse):
    """The sample has the columns that the dimensions' expressions need."""
    columns = {row["name"] for row in clickhouse.rows(
        "SELECT name FROM system.columns WHERE database = currentDatabase() "
        "AND table = 'sampled_clicks'")}
    text = (pathlib.Path(__file__).parents[3] /
            "aggregator/sql/parts/sampled_columns.sql").read_text()
    listed = set(text.replace(",", " ").split())
    assert columns == listed | {"rarity", "account", "owner", "slot", "attempt", "events",
                                "visitor_digest"}
