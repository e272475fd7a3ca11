"""Owners' tables: their answers equal the counts in Python, and the answers from
rows."""
import collections
import math

import pytest
import requests

from support.clicks import (DIMENSIONS, clicks_of_two_accounts, counted, expected_data,
                            groups_of, hours_events, instant, rfc3339, some_clicks,
                            without_visitors)
from support.copied_days import copied_days, days_of, ends_of, wait_copied
from support.fault_proxy import FAULTS, each_fault, each_step
from support.keys import key_line
from support.program import eventually

# The range includes the end of a month, and of Berlin's summer time.
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-11-02T00:00:00Z")
DAY = 86400
LINKS = (1, 2, 3)
PATIENCE = 120
OWNERS = ("ann", "bob")  # in the account acme; shop has owners of these names, too


def of_owner(rows, owner, account="acme"):
    return [r for r in rows if (r["account"], r["owner"]) == (account, owner)]


def wait_looked_up(asker, rows):
    """Waits until copied days have no visitors of values, where no rows may be read:
    the copies are looked up every watermark_every."""
    for day in sorted(days_of(rows)):
        eventually(lambda d=day: all(g["ips"] is None for g in asker.ask(
            "ann", d, d + DAY, group_by="country")["groups"]), PATIENCE,
            what=f"the copied day {rfc3339(day)}")


def top_of(rows, bots):
    """Returns [(link, clicks)]."""
    clicks = collections.Counter()
    for row in rows:
        clicks[row["link_id"]] += counted([row], bots)["clicks"]
    return sorted(((link, n) for link, n in clicks.items() if n),
                  key=lambda item: (-item[1], item[0]))


class Asker:
    """Asks with a key of the owner, and with an unrestricted key and a filter."""

    def __init__(self, made):
        self.made = made

    def _get(self, key, path, start, end, params):
        return requests.get(
            self.made.url + path, timeout=60,
            headers={"Authorization": f"Bearer {key}"},
            params={"from": rfc3339(start), "to": rfc3339(end), **params})

    def ask(self, key, start=FROM, end=TO, path="/v1/clicks", **params):
        answer = self._get(key, path, start, end, params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ask_both(self, owner, **params):
        """The answers must be the same for both keys."""
        answer = self.ask(owner, **params)
        filtered = self.ask("all", account="acme", owner=owner, **params)
        for member in "complete_until", "revision":
            assert answer.pop(member) and filtered.pop(member)
        assert answer == filtered
        return answer

    def problem(self, key, start=FROM, end=TO, **params):
        answer = self._get(key, "/v1/clicks", start, end, params)
        assert answer.status_code == 400, answer.text
        return answer.json()["detail"]

    def events(self, owner):
        return self.ask(owner, interval="month")["total"]["events"]


def assert_answers(asker, rows, dimensions=DIMENSIONS):
    for owner in OWNERS:
        mine = of_owner(rows, owner)
        for zone, interval, bots in (
                ("UTC", "hour", "exclude"), ("Asia/Kathmandu", "day", "include"),
                ("Europe/Berlin", "hour", "only"), ("UTC", "month", "exclude")):
            answer = asker.ask_both(owner, tz=zone, interval=interval, bots=bots)
            assert [{**item, "start": instant(item["start"])}
                    for item in answer["data"]] == expected_data(
                        mine, FROM, TO, interval, zone, bots)
            assert answer["total"] == counted(mine, bots)
        low, high = FROM + DAY + 900, FROM + 3 * DAY + 4500
        inside = [r for r in mine if low * 1000 <= r["ts_ms"] < high * 1000]
        answer = asker.ask(owner, low, high, interval="15m")
        assert answer["total"] == counted(inside)
        assert_groups(asker, owner, mine, FROM, TO, dimensions)
        assert_groups(asker, owner, inside, low, high, dimensions[:2])
        for chosen, start, end, bots in ((mine, FROM, TO, "exclude"),
                                         (inside, low, high, "include")):
            answer = asker.ask(owner, start, end, "/v1/top", bots=bots)
            assert [(int(link["link_id"]), link["clicks"])
                    for link in answer["links"]] == top_of(chosen, bots)


def assert_groups(asker, owner, rows, start, end, dimensions):
    for number, name in enumerate(dimensions):
        bots = ("exclude", "include", "only")[number % 3]
        answer = asker.ask(owner, start, end, group_by=name, bots=bots)
        assert {g.pop("value"): without_visitors(g)
                for g in answer["groups"]} == groups_of(rows, name, bots), name
        assert answer["total"] == counted(rows, bots)


def assert_account(asker, key, rows):
    """The key sees a whole account: its total, each group, and its owners by
    name, also by a filter of a key that sees all."""
    account = rows[0]["account"]
    for owners in rows, of_owner(rows, "ann", account):
        more = {} if owners is rows else {"owner": "ann"}
        for bots in "exclude", "include":
            answer = asker.ask(key, bots=bots, group_by="owner", **more)
            assert answer["total"] == counted(owners, bots)
            assert {g["value"]: g["clicks"] for g in answer["groups"]} == {
                owner: counted(of_owner(owners, owner, account), bots)["clicks"]
                for owner in {r["owner"] for r in owners}}
        assert asker.ask("all", account=account, **more)["total"] == counted(owners)
    for name in "country", "tag", "asn":
        assert_groups(asker, key, rows, FROM, TO, [name])
    assert asker.ask(key, account="other", group_by="country")["total"] == counted([])
    assert [(int(link["link_id"]), link["clicks"]) for link in asker.ask(
        key, path="/v1/top")["links"]] == top_of(rows, "exclude")


@pytest.fixture
def world(migrated):
    for link in LINKS:
        migrated.link(f"code{link}", link, owner="ann" if link == 1 else "bob")
    return migrated


@pytest.fixture
def make(migrated, redis, program, workdir):
    """make(...): groups of owners are read from their tables unless it is set
    otherwise."""
    path = workdir / "api.keys"
    path.write_text("".join(key_line(o, f"read account=acme owners={o}") for o in OWNERS) +
                    key_line("both", "read account=acme owners=bob,ann") +
                    key_line("acme", "read account=acme") +
                    key_line("shop", "read-own account=shop") +
                    key_line("all", "read accounts=*"))

    def made(clickhouse=None, **settings):
        return program("aggregator", {
            "clickhouse": clickhouse or {},
            "aggregator": {"settle_every": "500ms", "watermark_every": "500ms",
                           "keys_file": str(path), "resettle_every": "1h",
                           "owner_rows_max": 0, **settings}})
    return made


@pytest.mark.proof
def test_copied_days_are_what_was_counted_by_hand(make, world, clickhouse):
    rows = clicks_of_two_accounts(1, 800, ends_of(FROM, TO))
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "owner_day", rows)
    eventually(lambda: made.metric("shortloop_aggregator_owner_days_total")
               == len(days_of(rows)))
    asker = Asker(made)
    assert_answers(asker, rows)
    for key, account in ("both", "acme"), ("acme", "acme"), ("shop", "shop"):
        assert_account(asker, key, [r for r in rows if r["account"] == account])
    # A key that sees all accounts names one beside owners.
    for params in {"owner": "ann"}, {"group_by": "owner"}, {
            "owner": "ann", "account": "acme,shop"}, {"owner": "ann", "account": "-shop"}:
        assert "expected one account=NAME" in asker.problem("all", **params)
    few = asker.ask("ann", group_by="country", limit=2)
    assert sum(g["clicks"] for g in few["groups"]) + few["rest"]["clicks"] == \
        few["total"]["clicks"]

    # Clicks of copied days are not read, only those of partial days.
    wait_looked_up(asker, rows)
    clickhouse.query("ALTER TABLE clicks DELETE WHERE ts < toDateTime64("
                     f"{FROM + DAY}, 3, 'UTC') OR ts >= toDateTime64("
                     f"{FROM + 4 * DAY}, 3, 'UTC')", mutations_sync=1)
    assert_answers(asker, rows)


@pytest.mark.long
def test_days_that_changed_are_read_from_clicks_until_they_are_copied_again(
        make, world, clickhouse):
    rows = clicks_of_two_accounts(2, 400, [(FROM, TO)])
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "owner_day", rows)
    before = copied_days(clickhouse, "owner_day")
    late = clicks_of_two_accounts(3, 80, [(FROM + 2 * DAY, FROM + 3 * DAY), (TO - DAY, TO)])
    world.insert(late)
    asker = Asker(made)
    wait_copied(clickhouse, "owner_day", rows, but=days_of(late))
    for owner in OWNERS:
        count = len(of_owner(rows + late, owner))
        eventually(lambda o=owner, n=count: asker.events(o) == n)
    assert_answers(asker, rows + late, ("outcome", "tag"))
    assert made.stop() == 0

    made = make({"query_timeout": "10s"}, resettle_every="0s", clean_every="1s",
                keep_superseded="15s")
    wait_copied(clickhouse, "owner_day", rows + late)
    after = copied_days(clickhouse, "owner_day")
    assert {day for day in before if after[day] != before[day]} == days_of(late)
    for table, *kinds in (("owner_slots", "owner_day"),
                          ("owner_values", "owner_day", "value_day")):
        eventually(lambda t=table, k=kinds: {int(row["attempt"]) for row in clickhouse.rows(
            f"SELECT DISTINCT attempt FROM {t}")} == {
                n for kind in k for n in copied_days(clickhouse, kind).values()},
            PATIENCE, what="superseded attempts to go")
    assert_answers(Asker(made), rows + late, ("country", "tag"))


@pytest.mark.long
def test_few_rows_have_visitors_of_each_value(make, world, clickhouse):
    rows = clicks_of_two_accounts(4, 300, [(FROM, FROM + 2 * DAY)])
    world.insert(rows)
    mine = of_owner(rows, "ann")
    for most, known in ((1000000, True), (100, False)):
        made = make(owner_rows_max=most)
        wait_copied(clickhouse, "owner_day", rows)
        asker = Asker(made)
        # The copies are known soon after.
        eventually(lambda a=asker, k=known: all(
            (g["ips"] is not None) == k
            for g in a.ask("ann", group_by="country")["groups"]))
        answer = asker.ask("ann", group_by="country")
        expected = {value: counted([r for r in mine if r["country"] == value])
                    for value in {r["country"] for r in mine}}
        for group in answer["groups"]:
            counts = expected[group.pop("value")]
            assert group == counts if known else without_visitors(group) == \
                without_visitors(counts)
        assert made.stop() == 0


@pytest.mark.proof
def test_what_is_read_of_rows_for_an_owner_is_by_their_links(make, world, clickhouse):
    """Rows answer what no table of owners has: two dimensions, filters, the open
    day."""
    rows = some_clicks(14, 60, [(FROM, FROM + DAY)], links=(1,))
    rows = [{**row, "owner": "ann"} for row in rows]
    others = [{**row, "owner": "bob", "link_id": 2 + n % 2} for n, row in enumerate(
        some_clicks(15, 200, [(FROM, FROM + DAY)], links=(2,)) * 150)]
    world.insert(rows)
    world.insert(others)
    clickhouse.query("OPTIMIZE TABLE clicks FINAL")
    made = make(raw_rows_max=12000, owner_rows_max=12000)
    asker = Asker(made)
    for params in {"group_by": "country,device_class"}, {"verdict": "human"}:
        total = counted([row for row in rows if row["verdict"] == "human"]
                        if "verdict" in params else rows)
        for key, more in ("ann", {}), ("all", {"account": "acme", "owner": "ann"}):
            answer = asker.ask(key, FROM, FROM + DAY, **params, **more)
            assert answer["total"] == total
    assert "raw_rows_max" in asker.problem("bob", FROM, FROM + DAY,
                                           group_by="country,device_class")


@pytest.mark.proof
def test_where_no_rows_may_be_read_none_are(make, program, world, clickhouse):
    """A day without reports, as after a restore, has no known number of rows: 0."""
    rows = clicks_of_two_accounts(7, 200, [(FROM, FROM + DAY)])
    world.insert(rows, progress=False)
    status, output = program("aggregator", {}, start=False, args=(
        "settle", "--from", rfc3339(FROM), "--to", rfc3339(FROM + DAY))).run()
    assert status == 0, output
    made = make(owner_rows_max=0)
    wait_copied(clickhouse, "owner_day", rows)
    asker = Asker(made)
    # The copies are known soon after.
    eventually(lambda: all(g["ips"] is None for g in asker.ask(
        "ann", group_by="country")["groups"]), PATIENCE, what="no visitors of values")


@pytest.mark.proof
def test_values_beyond_the_busiest_are_one_row(make, world, clickhouse):
    rows = clicks_of_two_accounts(5, 600, [(FROM, FROM + 2 * DAY)])
    for row in rows:
        row["country"] = f"C{row['ts_ms'] % 97}"
    world.insert(rows)
    made = make(values_max=5)
    wait_copied(clickhouse, "owner_day", rows)
    for owner in OWNERS:
        mine = of_owner(rows, owner)
        kept = collections.Counter()
        for day in days_of(rows):
            counts = collections.Counter(
                r["country"] for r in mine
                if day * 1000 <= r["ts_ms"] < (day + DAY) * 1000)
            kept.update(dict(sorted(counts.items(),
                                    key=lambda item: (-item[1], item[0]))[:5]))
        asker = Asker(made)
        # An answer from rows has no rest: the copies are known soon after.
        eventually(lambda o=owner, n=len(mine) - kept.total(): asker.ask(
            o, group_by="country").get("rest", {}).get("events") == n)
        answer = asker.ask(owner, group_by="country", bots="include")
        assert {g["value"]: g["events"] for g in answer["groups"]} == kept
        assert answer["rest"]["events"] == len(mine) - kept.total()
        assert answer["total"] == counted(mine, "include")


@pytest.mark.long
def test_of_many_visitors_digests_that_are_alike_are_allowed_for(make, world, clickhouse):
    rows = clicks_of_two_accounts(9, 60, [(FROM, FROM + DAY)])
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "owner_day", rows)
    asker = Asker(made)
    eventually(lambda: asker.events("ann") == len(of_owner(rows, "ann")))
    # A thousand of three million visitors share a digest with another one.
    attempt = copied_days(clickhouse, "owner_day")[FROM]
    clickhouse.query(
        "INSERT INTO owner_slots (account, owner, slot, attempt, events, clicks, people) "
        f"SELECT 'acme', 'ann', toDateTime({FROM} + 900 * (number % 96)), {attempt}, count(), count(), "
        "arraySort(groupUniqArray(toUInt32(bitShiftRight(cityHash64(number), 32)))) "
        "FROM numbers(3000000) GROUP BY number % 96")
    digests = clickhouse.value(
        "SELECT uniqCombined64Array(17)(people) FROM owner_slots "
        "WHERE (account, owner) = ('acme', 'ann')")
    allowed_for = round(-2**32 * math.log1p(-digests / 2**32))
    assert allowed_for > digests + 1000
    # The copied days are looked up every watermark_every: before that, rows are
    # counted.
    eventually(lambda: asker.ask("ann", interval="day")["total"]["visitors"] ==
               allowed_for, what="visitors of copied days")


@pytest.mark.long
def test_a_day_of_which_rows_are_gone_is_not_copied(make, world, clickhouse):
    rows = clicks_of_two_accounts(6, 600, [(FROM, FROM + 3 * DAY)])
    world.insert(rows)
    made = make()
    wait_copied(clickhouse, "owner_day", rows)
    assert made.stop() == 0
    gone = FROM + DAY
    clickhouse.query("ALTER TABLE settled DELETE WHERE kind = 'owner_day'",
                     mutations_sync=1)
    clickhouse.query("ALTER TABLE clicks DELETE WHERE offset % 50 = 0 AND "
                     f"toDate(ts) = toDate(toDateTime({gone}, 'UTC'))",
                     mutations_sync=1)
    make()
    wait_copied(clickhouse, "owner_day", rows, but=[gone])


def assert_copied(made, clickhouse, rows):
    wait_copied(clickhouse, "owner_day", rows)
    for owner in OWNERS:
        count = len(of_owner(rows, owner))
        eventually(lambda o=owner, n=count: Asker(made).events(o) == n)
    assert_answers(Asker(made), rows, ("country", "tag"))


@pytest.mark.long
def test_a_day_with_late_clicks_while_it_is_copied_is_copied_with_them(
        make, world, clickhouse, proxy):
    rows = clicks_of_two_accounts(7, 200, [(FROM, FROM + DAY)])
    held = proxy.hold("owner_values")
    made = make({"url": proxy.url}, settle_timeout="10m", resettle_every="0s")
    world.insert(rows)
    assert held.here.wait(60), "nothing was held"
    late = clicks_of_two_accounts(8, 40, [(FROM, FROM + DAY)])
    world.insert(late)
    eventually(lambda: hours_events(clickhouse) == len(rows + late), PATIENCE,
               what="the late clicks to be settled")
    held.release()
    assert_copied(made, clickhouse, rows + late)
    assert "hours of it were settled meanwhile" in made.log()
    assert "settling fails" not in made.log()


# --- faults ------------------------------------------------------------------------

STEPS = ("owner_slots", "owner_values", "settled:copying", "settled:owner_day")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_copying_leaves_what_the_rows_say(
        make, world, clickhouse, proxy, fault):
    made = make({"url": proxy.url}, settle_timeout="4s", resettle_every="0s",
                lease="1s")
    proxy.delay = 0.5
    rows = clicks_of_two_accounts(10, 300 * len(STEPS), [(FROM, FROM + DAY)])
    for there in each_fault(proxy, fault, STEPS, world.insert, rows):
        assert_copied(made, clickhouse, there)


@pytest.mark.long
def test_killed_at_any_step_of_copying_it_goes_on(make, world, clickhouse, proxy):
    made = make({"url": proxy.url}, resettle_every="0s", lease="1s")
    rows = clicks_of_two_accounts(20, 200 * len(STEPS), [(FROM, FROM + DAY)])
    for there in each_step(proxy, STEPS, made.kill, world.insert, rows):
        made.start()
        assert_copied(made, clickhouse, there)
