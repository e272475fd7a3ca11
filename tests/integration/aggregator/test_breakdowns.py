"""Several breakdowns in one answer: each has what group_by alone answers, whatever the
sources are."""
import pytest
import requests

from support.clicks import DAILY, DIMENSIONS, clicks_of_two_accounts, instant, rfc3339
from support.copied_days import days_of, wait_copied
from support.keys import key_line
from support.program import eventually

DAY = 86400
FROM = instant("2026-10-24T00:00:00Z")
TO = FROM + 3 * DAY
MOST = 12
MEMBERS = ("group_by", "groups", "rest", "lower_bound", "unique_error", "approximate")
LINKS = (0, 1, 2, 3)


@pytest.fixture
def world(migrated, redis, program, workdir, clickhouse):
    """world(settings): an aggregator, and what asks it with a key.  The clicks are of
    two whole days and of a part of a third."""
    rows = clicks_of_two_accounts(1, 500, [(FROM, TO)], links=LINKS)
    for link in LINKS[1:]:
        migrated.link(f"code{link}", link, owner="ann" if link == 1 else "bob")
    migrated.insert(rows)
    path = workdir / "api.keys"
    path.write_text(key_line("all", "read accounts=*") + key_line("acme", "read account=acme") +
                    key_line("ann", "read account=acme owners=ann"))

    def made(**settings):
        aggregator = program("aggregator", {"aggregator": {
            "settle_every": "500ms", "watermark_every": "500ms", "resettle_every": "1h",
            "keys_file": str(path), **settings}})
        for kind in "owner_day", "value_day", "spanned_day":
            wait_copied(clickhouse, kind, rows)
        return Asker(aggregator, rows)
    return made


class Asker:
    def __init__(self, made, rows):
        self.made, self.rows = made, rows

    def get(self, key, start=FROM, end=TO, **params):
        return requests.get(
            self.made.url + "/v1/clicks", timeout=60,
            headers={"Authorization": f"Bearer {key}"},
            params={"from": rfc3339(start), "to": rfc3339(end), **params})

    def ask(self, key, *args, **params):
        answer = self.get(key, *args, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait_copies(self):
        """The copies are looked up every watermark_every; no rows of them are read."""
        for key in "all", "acme":
            for day in sorted(days_of(self.rows)):
                eventually(lambda k=key, d=day: all(g["ips"] is None for g in self.ask(
                    k, d, d + DAY, group_by="region")["groups"]), 60, what="the copies")

    def assert_equal(self, key, dimensions, *args, **params):
        """Compares with the answers of group_by, whose counts are tested elsewhere."""
        plain = self.ask(key, *args, **params)
        for at in range(0, len(dimensions), MOST):
            names = dimensions[at:at + MOST]
            answer = self.ask(key, *args, breakdowns=",".join(names), **params)
            assert answer["data"] == plain["data"] and answer["total"] == plain["total"]
            assert [b["group_by"] for b in answer["breakdowns"]] == list(names)
            for breakdown in answer["breakdowns"]:
                alone = self.ask(key, *args, group_by=breakdown["group_by"], **params)
                assert breakdown == {name: alone[name] for name in MEMBERS if name in alone}
                assert breakdown["groups"], breakdown


def mixed(*more):
    """All dimensions, so that each answer has some of hours and some of days."""
    half = len(DAILY) // 3 + 1
    hours = list(DIMENSIONS)
    third = len(hours) // 3 + 1
    names = []
    for part in range(3):
        names += hours[part * third:(part + 1) * third] + list(more if part == 0 else ())
        names += DAILY[part * half:(part + 1) * half]
    assert sorted(names) == sorted([*DIMENSIONS, *DAILY, *more])
    return tuple(names)


INSIDE = FROM + 4500, FROM + 2 * DAY + 2700


def test_breakdowns_of_few_rows_are_those_of_group_by(world):
    asker = world()
    some = ("country", "tag", "asn", "city", "link", "utm_source")
    asker.assert_equal("all", some, interval="day")
    asker.assert_equal("acme", (*some, "owner"), bots="include", limit=2)
    asker.assert_equal("ann", some, *INSIDE)
    asker.assert_equal("all", some, code="code1", interval="day", limit=2)
    asker.assert_equal("all", some, country="DE,US", bots="only")

    def refused(key="all", **params):
        answer = asker.get(key, **params)
        assert answer.status_code == 400, answer.text
        return answer.json()
    assert "breakdowns: expected some of" in refused(breakdowns="country,nothing")["detail"]
    assert "format: a CSV" in refused(breakdowns="country", format="csv")["detail"]
    assert "expected one account=NAME" in refused(breakdowns="owner,account")["detail"]


@pytest.mark.long
def test_breakdowns_of_copied_days_are_those_of_group_by(world):
    asker = world(owner_rows_max=0)
    asker.wait_copies()
    asker.assert_equal("all", mixed(), interval="day", limit=2)
    asker.assert_equal("acme", mixed("owner"), tz="Asia/Kathmandu", interval="day", limit=3)
    asker.assert_equal("all", mixed()[:12], *INSIDE, account="acme", owner="ann,bob",
                       bots="include")
    asker.assert_equal("all", ("city", "tag", "region"), *INSIDE, bots="only", limit=1)
    asker.assert_equal("all", ("region", "asn"), limit=1)


@pytest.mark.long
def test_breakdowns_of_a_link_are_those_of_group_by(world):
    exact, many = world(), world(exact_rows_max=10)
    for asker in exact, many:
        asker.assert_equal("all", mixed(), code="code2", limit=2)
        asker.assert_equal("acme", mixed()[:12], code="code2", interval="day",
                           bots="include")
    asker.assert_equal("all", mixed(), verdict="human", limit=2)


@pytest.mark.long
def test_values_that_hours_left_out_are_told_by_each_breakdown(world):
    asker = world(owner_rows_max=0, values_max=1)
    asker.wait_copies()
    for key in "all", "acme":
        answer = asker.ask(key, breakdowns="city,country,region,tag")
        assert [b["lower_bound"] for b in answer["breakdowns"]] == [
            True, key == "acme", True, True]
        asker.assert_equal(key, ("city", "country", "region", "tag"))
