"""Values of dimensions that hours do not have, by day: the answers from them equal the
counts in Python, for all links and for owners, with and without the rows."""
import collections

import pytest
import requests

from support.asking import ask_range
from support.clicks import (DAILY, counted, expected_data, groups_of, hours_events,
                            instant, rfc3339, some_clicks, without_url, without_visitors)
from support.copied_days import copied_days, days_of, ends_of, wait_copied
from support.fault_proxy import FAULTS, each_fault, each_step
from support.keys import key_line
from support.program import eventually

# The range includes the end of a month, and of Berlin's summer time.
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-11-02T00:00:00Z")
DAY = 86400
LINKS = (0, 1, 2, 3)
OWNERS = ("ann", "bob")
BOTS = ("exclude", "include", "only")
PATIENCE = 120


def wait_read(made, rows, **of):
    """Waits until copied days have no visitors of values: the copies are looked up
    every watermark_every."""
    for day in sorted(days_of(rows)):
        eventually(lambda d=day: all(g["ips"] is None for g in ask_range(
            made, d, d + DAY, group_by="region", **of)["groups"]), PATIENCE,
            what=f"the copied day {rfc3339(day)}")


def clicks(seed, count, windows=((FROM, TO),)):
    """Clicks without a link have no owner, and are no redirects."""
    rows = some_clicks(seed, count, windows, links=LINKS)
    for number, row in enumerate(rows):
        if not row["link_id"]:
            row.update(owner="", outcome="not_found")
        elif number % 4 == 0:
            row["account"] = "shop"  # its owners have the same names
    return rows


def named(owner):
    return {"account": "acme", "owner": owner}


def chosen(rows, of):
    """Returns the rows that are the account's and owner's, or all."""
    return [r for r in rows if all(r[name] == value for name, value in of.items())]


@pytest.fixture
def world(migrated):
    for link in LINKS[1:]:
        migrated.link(f"code{link}", link, owner="ann" if link == 1 else "bob")
    return migrated


@pytest.fixture
def make(migrated, redis, program):
    """make(...): rows answer for no copied day unless it is set otherwise."""
    def made(clickhouse=None, **settings):
        return program("aggregator", {
            "clickhouse": clickhouse or {},
            "aggregator": {"settle_every": "500ms", "watermark_every": "500ms",
                           "resettle_every": "1h", "owner_rows_max": 0,
                           **settings}})
    return made


def assert_groups(made, rows, start, end, name, bots, **of):
    answer = ask_range(made, start, end, group_by=name, bots=bots, interval="day", **of)
    assert {g.pop("value"): without_visitors(g) for g in answer["groups"]} == \
        groups_of(rows, name, bots), name
    total = counted(rows, bots)
    if bots == "only" and not of:  # settled hours have no visitors of robots
        total.update(visitors=answer["total"]["visitors"], ips=answer["total"]["ips"])
    assert answer["total"] == total
    assert "rest" not in answer and answer["lower_bound"] is False


def assert_answers(made, rows, dimensions=DAILY):
    low, high = FROM + DAY + 900, FROM + 3 * DAY + 4500
    inside = [r for r in rows if low * 1000 <= r["ts_ms"] < high * 1000]
    for of in ({}, *(named(owner) for owner in OWNERS)):
        def mine(some):
            return chosen(some, of)
        for number, name in enumerate(dimensions):
            bots = BOTS[number % 3]
            assert_groups(made, mine(rows), FROM, TO, name, bots, **of)
            if number < 2:
                assert_groups(made, mine(inside), low, high, name, bots, **of)
    for tz, interval in (("Asia/Kathmandu", "hour"), ("UTC", "15m"),
                         ("Europe/Berlin", "day")):
        answer = ask_range(made, FROM, TO, group_by="utm_source", tz=tz,
                           interval=interval)
        assert [{**item, "start": instant(item["start"])} for item in answer["data"]] == \
            expected_data(rows, FROM, TO, interval, tz, "exclude")


@pytest.mark.proof
def test_values_of_days_are_those_counted_by_hand(make, world, clickhouse):
    rows = clicks(1, 900, ends_of(FROM, TO))
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "value_day", rows)
    eventually(lambda: made.metric("shortloop_aggregator_value_days_total")
               == len(days_of(rows)))
    wait_read(made, rows)
    wait_read(made, rows, **named("ann"))
    assert_answers(made, rows)
    few = ask_range(made, FROM, TO, group_by="region", limit=1)
    assert len(few["groups"]) == 1
    for count in "events", "clicks", "humans":
        assert few["groups"][0][count] + few["rest"][count] == few["total"][count]

    # The days' rows are not read, only those of partial days.
    clickhouse.query("ALTER TABLE clicks DELETE WHERE ts < toDateTime64("
                     f"{FROM + DAY}, 3, 'UTC') OR ts >= toDateTime64("
                     f"{FROM + 4 * DAY}, 3, 'UTC')", mutations_sync=1)
    assert_answers(made, rows)


@pytest.mark.proof
def test_a_key_of_an_owner_has_the_values_of_that_owner(make, world, clickhouse, workdir):
    path = workdir / "api.keys"
    path.write_text("".join(key_line(o, f"read account=acme owners={o}") for o in OWNERS))
    rows = clicks(2, 300, [(FROM, FROM + 2 * DAY)])
    world.insert(rows)
    made = make(keys_file=str(path))
    wait_copied(clickhouse, "value_day", rows)

    def ask(owner):
        return requests.get(
            made.url + "/v1/clicks", timeout=60,
            headers={"Authorization": f"Bearer {owner}"},
            params={"from": rfc3339(FROM), "to": rfc3339(FROM + 2 * DAY),
                    "group_by": "utm_campaign"}).json()
    for owner in OWNERS:
        eventually(lambda o=owner: all(g["ips"] is None for g in ask(o)["groups"]),
                   PATIENCE, what="the copied days to be read")
        mine = chosen(rows, named(owner))
        answer = ask(owner)
        assert {g.pop("value"): without_visitors(g) for g in answer["groups"]} == \
            groups_of(mine, "utm_campaign")
        assert answer["total"] == counted(mine)


@pytest.mark.long
def test_few_rows_have_visitors_of_each_value(make, world, clickhouse):
    rows = clicks(3, 300, [(FROM, FROM + 2 * DAY)])
    world.insert(rows)
    made = make(owner_rows_max=1000000)
    wait_copied(clickhouse, "value_day", rows)
    answer = ask_range(made, FROM, TO, group_by="region")
    assert {g.pop("value"): without_url(g) for g in answer["groups"]} == {
        value: counted([r for r in rows if r["region"] == value])
        for value in {r["region"] for r in rows}}


@pytest.mark.long
def test_values_beyond_the_busiest_are_one_row(make, world, clickhouse):
    rows = clicks(4, 600, [(FROM, FROM + 2 * DAY)])
    for row in rows:
        row["utm_term"] = f"t{row['ts_ms'] % 97}"
    world.insert(rows)
    made = make(values_max=5)
    wait_copied(clickhouse, "value_day", rows)
    for of in {}, named("bob"):
        mine = chosen(rows, of)
        kept = collections.Counter()
        for day in days_of(rows):
            counts = collections.Counter(
                r["utm_term"] for r in mine
                if day * 1000 <= r["ts_ms"] < (day + DAY) * 1000)
            kept.update(dict(sorted(counts.items(),
                                    key=lambda item: (-item[1], item[0]))[:5]))

        def ask(of=of):
            return ask_range(made, FROM, FROM + 2 * DAY, group_by="utm_term",
                             bots="include", **of)
        # An answer from rows has no rest: the copies are known soon after.
        eventually(lambda n=len(mine) - kept.total(): ask().get("rest", {}).get(
            "events") == n, PATIENCE, what="the rest of the values")
        answer = ask()
        assert answer["lower_bound"] is True
        assert {g["value"]: g["events"] for g in answer["groups"]} == kept
        assert answer["total"] == counted(mine, "include")


@pytest.mark.long
def test_days_that_changed_are_read_from_rows_until_they_are_copied_again(
        make, world, clickhouse):
    rows = clicks(5, 300, [(FROM, FROM + 3 * DAY)])
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "value_day", rows)
    before = copied_days(clickhouse, "value_day")
    late = clicks(6, 60, [(FROM + DAY, FROM + 2 * DAY)])
    world.insert(late)
    eventually(lambda: hours_events(clickhouse) == len(rows + late), PATIENCE,
               what="the late clicks to be settled")
    eventually(lambda: set(copied_days(clickhouse, "value_day")) ==
               days_of(rows) - days_of(late))

    def is_counted(of):
        return ask_range(made, FROM, TO, group_by="region", **of)["total"]["events"] == \
            len(chosen(rows + late, of))
    for of in {}, named("ann"), named("bob"):
        eventually(lambda o=of: is_counted(o))
    assert_answers(made, rows + late, ("asn", "os_version", "utm_source"))
    assert made.stop() == 0

    made = make({"query_timeout": "10s"}, resettle_every="0s", clean_every="1s",
                keep_superseded="15s")
    wait_copied(clickhouse, "value_day", rows + late)
    after = copied_days(clickhouse, "value_day")
    assert {day for day in before if after[day] != before[day]} == days_of(late)
    eventually(lambda: {int(row["attempt"]) for row in clickhouse.rows(
        "SELECT DISTINCT attempt FROM day_values")} == set(after.values()),
        PATIENCE, what="superseded attempts to go")
    assert_answers(made, rows + late, ("asn", "os_version", "utm_source"))


@pytest.mark.long
def test_a_day_of_which_rows_are_gone_is_not_copied(make, world, clickhouse):
    """The same for a day with rows without a link that no hour counts."""
    rows = clicks(7, 600, [(FROM, FROM + 3 * DAY)])
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "value_day", rows)
    assert made.stop() == 0
    clickhouse.query("ALTER TABLE settled DELETE WHERE kind = 'value_day'",
                     mutations_sync=1)
    clickhouse.query("ALTER TABLE clicks DELETE WHERE offset % 50 = 0 AND "
                     f"toDate(ts) = toDate(toDateTime({FROM + DAY}, 'UTC'))",
                     mutations_sync=1)
    world.insert([{**rows[0], "link_id": 0}], progress=False)
    made = make()
    eventually(lambda: set(copied_days(clickhouse, "value_day")) == {FROM + 2 * DAY},
               PATIENCE, what="the third day to be copied")
    eventually(lambda: made.metric("shortloop_aggregator_value_days_total") == 1)
    assert "settling fails" not in made.log()


# --- faults ------------------------------------------------------------------------

STEPS = ("day_values", "settled:valuing", "settled:value_day")


def assert_copied(made, clickhouse, rows):
    wait_copied(clickhouse, "value_day", rows)
    wait_read(made, rows)
    assert_groups(made, rows, FROM, TO, "region", "include")
    for owner in OWNERS:
        wait_read(made, rows, **named(owner))
        assert_groups(made, chosen(rows, named(owner)), FROM, TO, "asn", "include",
                      **named(owner))


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_copying_leaves_what_the_rows_say(
        make, world, clickhouse, proxy, fault):
    made = make({"url": proxy.url}, settle_timeout="4s", resettle_every="0s",
                lease="1s")
    proxy.delay = 0.5
    rows = clicks(10, 300 * len(STEPS), [(FROM, FROM + DAY)])
    for there in each_fault(proxy, fault, STEPS, world.insert, rows):
        assert_copied(made, clickhouse, there)


@pytest.mark.long
def test_killed_at_any_step_of_copying_it_goes_on(make, world, clickhouse, proxy):
    made = make({"url": proxy.url}, resettle_every="0s", lease="1s")
    rows = clicks(20, 200 * len(STEPS), [(FROM, FROM + DAY)])
    for there in each_step(proxy, STEPS, made.kill, world.insert, rows):
        made.start()
        assert_copied(made, clickhouse, there)
