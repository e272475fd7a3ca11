"""Groups of a compared range: those of the answer, each with the counts that the range has
by itself."""
import pytest
import requests

from support.asking import aggregator  # noqa: F401
from support.clicks import instant, rfc3339, some_clicks
from support.openapi import described_as
from support.program import eventually

DAY, WEEK, HOUR = 86400, 7 * 86400, 3600
FROM = instant("2026-10-24T00:00:00Z")
TO = FROM + 2 * DAY
NONE = dict.fromkeys(
    ("clicks", "visitors", "ips", "humans", "bots", "prefetches", "events"), 0)
# Its clicks before are too many for groups, if raw_rows_max says so.
MANY, ROWS_MAX = 3, 60

COMPARED = {"compare": "previous", "compare_groups": "true"}


@pytest.fixture
def rows(migrated):
    """Clicks of two days and of the same days a week before.  A value of three dimensions,
    the busiest, is new."""
    made = some_clicks(4, 250, [(FROM, TO), (FROM - WEEK, TO - WEEK)], links=(1, 2))
    made += [{**row, "city": "Newtown", "campaign": "new", "utm_source": "new"}
             for row in some_clicks(5, 150, [(FROM + HOUR, FROM + 2 * HOUR)], links=(1, 2))]
    made += some_clicks(6, 9, [(FROM, TO)], links=(MANY,))
    made += some_clicks(7, 3 * ROWS_MAX, [(FROM - WEEK, TO - WEEK)], links=(MANY,))
    for link in 1, 2, MANY:
        migrated.link(f"code{link}", link, owner="ann")
    made.sort(key=lambda row: row["ts_ms"])
    migrated.insert(made)
    return made


@pytest.fixture
def make(aggregator, rows):  # noqa: F811
    def made(**settings):
        started = aggregator(**settings)
        eventually(lambda: ask(started, start=FROM - WEEK, bots="include")["total"]["events"]
                   == len(rows), what="settled")
        return started
    return made


def ask(made, start=FROM, end=TO, **params):
    answer = requests.get(made.url + "/v1/clicks", timeout=60, params={
        "from": rfc3339(start), "to": rfc3339(end), "interval": "month", **params})
    assert answer.status_code == 200, answer.text
    assert described_as(answer, "aggregator", "GET", "/v1/clicks")
    return answer.json()


def value_of(group):
    return group.get("value") or tuple(group.get("values", ("",)))


def counts_of(group):
    return group and {name: group[name] for name in NONE}


def assert_groups(made, now, then, **about):
    """Compares with the answer for the other range, which is tested elsewhere.  Returns
    the counts."""
    alone = ask(made, FROM - WEEK, TO - WEEK, group_by=now["group_by"], limit=1000, **about)
    known = {value_of(group): counts_of(group) for group in alone["groups"]}
    absent = None if alone["lower_bound"] else NONE
    assert now["groups"] and then["lower_bound"] == alone["lower_bound"]
    assert [(value_of(group), counts_of(group["counts"])) for group in then["groups"]] == [
        (value_of(group), known.get(value_of(group), absent)) for group in now["groups"]]
    return {value_of(group): counts_of(group["counts"]) for group in then["groups"]}


def assert_compared(made, names, limit=100, **about):
    """Compares each dimension by itself, and all of them as breakdowns."""
    found = {}
    for name in names:
        answer = ask(made, **COMPARED, group_by=name, limit=limit, **about)
        found[name] = assert_groups(made, answer, answer["compare"], **about)
    answer = ask(made, **COMPARED, breakdowns=",".join(names), limit=limit, **about)
    compared = answer["compare"]["breakdowns"]
    assert [each["group_by"] for each in compared] == list(names)
    for now, then in zip(answer["breakdowns"], compared):
        assert assert_groups(made, now, then, **about) == found[now["group_by"]]
    assert answer["compare"]["total"] == ask(made, FROM - WEEK, TO - WEEK, **about)["total"]
    return found


@pytest.mark.proof
def test_each_group_has_the_counts_of_the_compared_range(make):
    made = make()
    found = assert_compared(made, ("country", "campaign", "tag", "utm_source", "link"))
    # A value that is new had no clicks; another had some, also if it was not among the busiest.
    assert found["campaign"]["new"] == NONE == found["utm_source"]["new"]
    assert all(counts["events"] for counts in found["country"].values())
    assert_compared(made, ("country", "asn", "city"), limit=1, bots="include")
    assert_compared(made, ("country", "campaign"), account="acme", device_class="phone,tablet")
    assert_compared(made, ("country", "city"), code="code1")
    pairs = ask(made, **COMPARED, group_by="country,campaign")
    found = assert_groups(made, pairs, pairs["compare"])
    assert {counts["events"] for (_, campaign), counts in found.items()
            if campaign == "new"} == {0}
    # More values had clicks than groups_max.
    answer = ask(make(groups_max=2), **COMPARED, group_by="campaign", limit=1)
    assert answer["compare"]["groups"] == [{"value": "new", "counts": None}]
    assert not answer["compare"]["lower_bound"]


@pytest.mark.proof
def test_values_that_hours_left_out_are_not_known(make):
    made = make(values_max=1)
    found = assert_compared(made, ("city", "country"))
    assert found["city"]["Newtown"] is None and any(found["city"].values())
    assert None not in found["country"].values()


@pytest.mark.proof
def test_a_total_is_known_without_groups(make):
    made = make(raw_rows_max=ROWS_MAX)
    about = {"code": f"code{MANY}", "bots": "include"}
    total = ask(made, FROM - WEEK, TO - WEEK, **about)["total"]
    assert total["events"] == 3 * ROWS_MAX
    answer = ask(made, **COMPARED, group_by="country", **about)
    assert answer["compare"]["total"] == total and "unknown" not in answer["compare"]
    assert [(group["value"], group["counts"]) for group in answer["compare"]["groups"]] == [
        (group["value"], None) for group in answer["groups"]]
    answer = ask(made, **COMPARED, breakdowns="country,tag", **about)
    for now, then in zip(answer["breakdowns"], answer["compare"]["breakdowns"]):
        assert [group["counts"] for group in then["groups"]] == [None] * len(now["groups"])

    # A range that is not there has no groups, and a question without groups neither.
    answer = ask(made, 0, DAY, **{**COMPARED, "compare": "year"}, group_by="country")
    assert answer["compare"]["unknown"] == "there is no such range"
    assert answer["compare"]["groups"] == [] == answer["groups"]
    assert "groups" not in ask(made, compare="year", group_by="country")["compare"]
