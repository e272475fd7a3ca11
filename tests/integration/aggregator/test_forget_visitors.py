"""`aggregator forget`: no table has the visitors and links afterwards, and the counts
are those of the remaining rows."""
import hashlib
import itertools
import json
import os
import random
import socket
import threading

import pytest
import requests

from support.asking import ask, ask_range, settled
from support.clicks import (counted, expected_data, instant, left_columns, make_click,
                            rfc3339, some_clicks)
from support.fault_proxy import QUICK, ClickHouseProxy
from support.keeping import (CLICKHOUSE, CLICKS, DAY, FROM, LINKS, OWNERS, PATIENCE, RAW_DAYS, SOON,
                             TO, dropped_days, keeper, of_owner, wait_gone, wait_sealed,
                             world)  # noqa: F401
from support.program import eventually


OF_VISITOR, OF_LINK = left_columns("OF_VISITOR"), left_columns("OF_LINK")
NOBODY = OF_VISITOR["unique_identity"]


@pytest.fixture
def forget(program):
    """forget("--visitor", ...) returns its exit status and its output."""
    def run(*args):
        return program("aggregator", {
            "aggregator": SOON, "clicks": CLICKS, "clickhouse": CLICKHOUSE},
            start=False, args=("forget", "--no-wait", *args)).run()
    return run


def done(result):
    status, output = result
    assert status == 0, output
    return output


def digits(visitor):
    return visitor.encode().hex()


def without(rows, visitors=(), links=()):
    """Returns the expected rows afterwards."""
    def left(row):
        if row["link_id"] in links:
            return {**row, **OF_VISITOR, **OF_LINK, "url": ""}
        return {**row, **OF_VISITOR} if row["unique_identity"] in visitors else row
    return [left(row) for row in rows]


def busiest(rows):
    """Returns the two visitors with most clicks by people."""
    people = [r["unique_identity"] for r in rows if r["outcome"] == "redirected"]
    return sorted(set(people), key=people.count)[-2:]


def visitors_of(rows, link):
    return {r["unique_identity"] for r in rows if r["link_id"] == link}


def is_settled(made, rows, links=LINKS):
    """Waits until answers from the settled tables equal those from rows, also for links
    that are not forgotten."""
    def check():
        for bots in ("exclude", "include"):
            if ask_range(made, FROM, TO, bots=bots, interval="month")["total"] != \
                    counted(rows, bots):
                return False
        for owner in OWNERS:
            if ask_range(made, FROM, TO, account="acme", owner=owner,
                         interval="month")["total"] != counted(of_owner(rows, owner)):
                return False
        # The days are settled after the hours.
        return all(
            ask_range(made, FROM, TO, link_id=link, bots=bots, interval="month")["total"] ==
            counted([r for r in rows if r["link_id"] == link], bots)
            for link in links for bots in ("exclude", "include"))
    settled(made, len(rows), FROM, TO)
    eventually(check, PATIENCE, what="the hours to be settled again")


def assert_counted(made, rows):
    for link in LINKS:
        mine = [r for r in rows if r["link_id"] == link]
        for bots in ("exclude", "include", "only"):
            answer = ask_range(made, FROM, TO, link_id=link, interval="hour", bots=bots)
            assert [{**e, "start": instant(e["start"])} for e in answer["data"]] == \
                expected_data(mine, FROM, TO, "hour", "UTC", bots)
            assert answer["total"] == counted(mine, bots)
    for name in ("country", "device_class", "ua_family", "tag"):
        groups = ask_range(made, FROM, TO, group_by=name, bots="include")["groups"]
        values = [v for r in rows for v in
                  (r["tags"] if name == "tag" else [r[name]])]
        assert {g["value"]: g["events"] for g in groups} == {
            v: values.count(v) for v in set(values)}


def assert_nowhere(clickhouse, visitors):
    """Neither the identity nor anything derived from it is in any table except the
    list."""
    said = ", ".join(f"'{v}'" for v in visitors)
    assert int(clickhouse.value(
        f"SELECT count() FROM clicks WHERE unique_identity IN ({said})")) == 0
    for table, digest in (("sealed_slots", "bitShiftRight(cityHash64(v), 16)"),
                          ("owner_slots",
                           "toUInt32(bitShiftRight(cityHash64(v), 32))")):
        assert int(clickhouse.value(
            f"SELECT count() FROM {table} WHERE hasAny(arrayConcat(people, others), "
            f"arrayMap(v -> {digest}, [{said}]))")) == 0, table
    assert int(clickhouse.value(
        "SELECT count() FROM sampled_clicks WHERE has(arrayMap("
        f"v -> toUInt32(bitShiftRight(cityHash64(v), 32)), [{said}]), "
        "visitor_digest)")) == 0
    for visitor, table, column in itertools.product(
            visitors, ("stats_hourly", "stats_spans"), ("people", "others")):
        assert int(clickhouse.value(
            f"SELECT countIf(finalizeAggregation({column}) > 0 AND "
            "finalizeAggregation(arrayReduce('uniqCombinedMergeState(14)', "
            f"[{column}, initializeAggregation('uniqCombinedState(14)', "
            f"cityHash64(toFixedString('{visitor}', 20)))])) = finalizeAggregation({column})) "
            f"FROM {table}")) == 0, (table, column)


def superseded_are_gone(clickhouse, visitors):
    """The aggregator deletes copies that are no longer read."""
    def check():
        try:
            assert_nowhere(clickhouse, visitors)
        except AssertionError:
            return False
        return True
    eventually(check, PATIENCE, what="former copies to be deleted")
    assert_nowhere(clickhouse, visitors)


VALUES = ("stats_hourly", "stats_spans", "owner_values", "day_values")


def values_left(clickhouse, *values):
    said = ", ".join(f"'{value}'" for value in values)
    return {table: n for table in VALUES if (n := int(clickhouse.value(
        f"SELECT count() FROM {table} WHERE value IN ({said})")))}


@pytest.mark.long
def test_it_says_done_when_what_was_settled_before_is_deleted(
        keeper, world, clickhouse, forget):  # noqa: F811
    """Values that only this visitor had are in no attempt of an hour or copy of a day
    then, read or not."""
    rows = some_clicks(11, 300, [(FROM, TO)], links=LINKS)
    visitor, = busiest(rows)[-1:]
    for row in rows:
        if row["unique_identity"] == visitor:
            row.update(referrer_host="secret.example", city="Nowhere", region="XX-1",
                       utm_term="his")
    world.insert(rows)
    keeper(raw_days=0)
    wait_sealed(clickhouse)
    his = ("secret.example", "Nowhere", "XX-1", "his")
    eventually(lambda: len(values_left(clickhouse, *his)) >= 3, PATIENCE,
               what="his values settled")

    output = done(forget("--visitor", digits(visitor)))
    assert "not done: " in output and "done: nothing" not in output
    output = eventually(
        lambda: (said := done(forget())) and "done: nothing" in said and said, PATIENCE,
        every=1, what="the end of it")
    assert "not done" not in output
    assert values_left(clickhouse, *his) == {}


@pytest.mark.long
def test_a_visitor_is_in_no_table_and_all_counts_are_those_of_the_rows(
        keeper, world, clickhouse, forget):  # noqa: F811
    rows = some_clicks(1, 700, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    is_settled(made, rows)
    visitors = busiest(rows)
    mine = sum(r["unique_identity"] in visitors for r in rows)

    for visitor in visitors:
        output = done(forget("--visitor", digits(visitor)))
    assert "slots" in output and "are settled again" in output
    kept = without(rows, visitors)
    assert int(clickhouse.value("SELECT count() FROM clicks")) == len(rows)
    assert int(clickhouse.value(
        "SELECT count() FROM clicks WHERE unique_identity = toFixedString('', 20) AND "
        "ip = toIPv6('::') AND user_agent = '' AND channel = 'unknown'")) == mine
    is_settled(made, kept)
    assert_counted(made, kept)
    wait_sealed(clickhouse)
    assert_counted(made, kept)
    superseded_are_gone(clickhouse, visitors)

    # A second run has nothing to do, and nothing is settled.
    told = clickhouse.value("SELECT count() FROM ingest_progress "
                            "WHERE topic = 'rescore'")
    assert "2 visitors and links: 0 rows of clicks, 0 slots" in done(forget())
    assert clickhouse.value("SELECT count() FROM ingest_progress "
                            "WHERE topic = 'rescore'") == told


@pytest.mark.long
def test_a_visitor_of_dropped_days_is_in_no_set_and_in_no_state(
        keeper, world, clickhouse, forget):  # noqa: F811
    rows = some_clicks(2, 500, [(FROM, TO)], links=LINKS)
    # One hour lacks the visitors; all other hours have some of them.
    visitors = busiest(rows)[:1]
    quiet = FROM + 5 * 3600
    rows = [r for r in rows if r["unique_identity"] not in visitors or
            not quiet * 1000 <= r["ts_ms"] < (quiet + 3600) * 1000]
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse)
    before = {name: ask_range(made, FROM, TO, group_by=name, bots="include")
              for name in ("country", "ua_family", "tag", "link", "account")}
    links = {(link, bots): ask_range(made, FROM, TO, link_id=link, bots=bots)
             for link in LINKS for bots in ("exclude", "include")}

    assert "whose rows are dropped" in done(forget("--visitor", digits(visitors[0])))
    assert_nowhere(clickhouse, visitors)
    # The links' uniques are as exact as before: one digest stands for the forgotten
    # visitors.
    for (link, bots), said in links.items():
        now = ask_range(made, FROM, TO, link_id=link, bots=bots)
        assert (now["data"], now["total"]) == (said["data"], said["total"])
    # Counts over all links stay; the visitors of these hours are unknown.
    came = {r["ts_ms"] // 3600000 * 3600 for r in rows
            if r["unique_identity"] in visitors and r["outcome"] == "redirected"}
    for name, said in before.items():
        now = ask_range(made, FROM, TO, group_by=name, bots="include")
        strip = [[{k: v for k, v in entry.items() if k not in ("visitors", "ips")}
                  for entry in answer["groups"]] for answer in (now, said)]
        assert strip[0] == strip[1]
        assert now["total"]["visitors"] is None and now["total"]["ips"] is None
        assert now["total"]["events"] == len(rows)
    for entry in ask_range(made, FROM, TO, interval="hour", bots="include")["data"]:
        start = instant(entry["start"])
        inside = [r for r in rows if start * 1000 <= r["ts_ms"] < (start + 3600) * 1000]
        assert entry["clicks"] == counted(inside, "include")["clicks"]
        assert entry["visitors"] == (None if start in came else
                                     counted(inside, "include")["visitors"])

    # Later clicks are counted beside: unknown figures stay unknown.
    late = [make_click(random.Random(3), (min(came) + 60) * 1000 + i, 1,
                       unique_identity="somebody else, later")
            for i in range(20)]
    world.insert(late)
    settled(made, len(rows + late), FROM, TO)
    answer = ask_range(made, min(came), min(came) + 3600, bots="include")
    assert answer["total"]["visitors"] is None
    assert answer["total"]["events"] == sum(
        min(came) * 1000 <= r["ts_ms"] < (min(came) + 3600) * 1000 for r in rows + late)
    wait_gone(clickhouse)
    assert_nowhere(clickhouse, visitors)


def late_click(number):
    """Makes a late click by a visitor of its own, on a day that was dropped."""
    return make_click(random.Random(number), (FROM + 5 * 3600 + 60 * number) * 1000, 1,
                      unique_identity=hashlib.sha1(b"l%d" % number).hexdigest()[:20],
                      outcome="redirected")


@pytest.mark.long
def test_a_late_visitor_of_a_day_that_was_dropped_twice_is_in_no_state(
        keeper, world, clickhouse, forget):  # noqa: F811
    """A day's base has a report of a visitor that was forgotten before; the next one is
    still processed."""
    rows = some_clicks(31, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)
    first, second = late_click(1), late_click(2)
    world.insert([first])
    done(forget("--visitor", digits(first["unique_identity"])))
    eventually(lambda: int(clickhouse.value(
        "SELECT count() FROM dropped_sources WHERE topic = 'rescore' AND attempt IN "
        "(SELECT max(attempt) FROM settled WHERE kind = 'dropped_day')")),
        PATIENCE, what="the day to be dropped with the report")
    assert made.stop() == 0

    made = keeper(resettle_every="7d")  # only hours are settled
    world.insert([second])
    settled(made, len(rows) + 2, FROM, TO)
    done(forget("--visitor", digits(second["unique_identity"])))
    superseded_are_gone(clickhouse, [second["unique_identity"]])


@pytest.mark.proof
def test_a_link_is_forgotten_with_its_visitors_and_its_texts(
        keeper, world, clickhouse, forget):  # noqa: F811
    rows = some_clicks(4, 400, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    world.link("secret", 77, url="https://example.com/secret-offer", state="live",
               owner="ann", description="secret plan", tags=["secret-tag"])
    made = keeper(raw_days=0)
    wait_sealed(clickhouse)
    is_settled(made, rows)
    assert ask(made, "/v1/links", q="secret")["links"]

    status, output = forget("--link", "code2")
    assert status == 70 and "link 2 (code code2) is live: delete it first" in output
    assert int(clickhouse.value("SELECT count() FROM forgotten")) == 0
    for code, link in (("code2", 2), ("secret", 77)):
        world.link(code, link, url="https://example.com/secret-offer", state="deleted",
                   version=2, owner="ann", description="secret plan", tags=["secret-tag"])
        assert ask(made, f"/v1/links/{code}/summary")["link_id"] == str(link)
    assert "that link 2 is no longer live is known from the archive only" in done(
        forget("--link", "code2"))
    done(forget("--link-id", "77"))

    kept = without(rows, links=(2,))
    is_settled(made, kept, links=set(LINKS) - {2})
    assert_counted_of_all(made, kept)
    for path in ("/v1/links/code2/summary", "/v1/links/secret/summary"):
        assert requests.get(made.url + path, timeout=60).status_code == 404
    for params in ({"link_id": 2}, {"code": "code2"}, {"code": "secret"}):
        assert requests.get(made.url + "/v1/clicks", params=params,
                            timeout=60).status_code == 404
    assert ask(made, "/v1/links", q="secret")["links"] == []
    assert {link["code"] for link in ask(made, "/v1/links")["links"]} == \
        {"code1", "code3"}
    # The data that issuing needs are there.
    assert clickhouse.rows("SELECT DISTINCT code, link_id, space, generation FROM links "
                           "WHERE state = 'forgotten' ORDER BY code") == [
        {"code": "code2", "link_id": 2, "space": "s7", "generation": 1},
        {"code": "secret", "link_id": 77, "space": "s7", "generation": 1}]
    for row in clickhouse.rows("SELECT * FROM links WHERE link_id IN (2, 77)"):
        assert "secret" not in json.dumps({**row, "code": ""})
        assert row["owner"] == "" and row["tags"] == []
    gone = visitors_of(rows, 2)
    assert int(clickhouse.value(
        "SELECT count() FROM clicks WHERE link_id = 2 AND "
        "(unique_identity != toFixedString('', 20) OR notEmpty(tags) OR "
        "url_digest != toFixedString('', 16))")) == 0
    assert gone & visitors_of(kept, 1), "visitors of other links stay"


@pytest.mark.proof
@pytest.mark.parametrize("params", [{}, {"country": "-XX"}, {"account": "acme", "owner": "ann,bob"}])
def test_a_link_that_is_forgotten_is_not_among_the_busiest(
        keeper, world, forget, params):  # noqa: F811
    rows = some_clicks(7, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)

    def listed():
        links = ask_range(made, FROM, TO, path="/v1/top", **params)["links"]
        return {(link["link_id"], link["code"]) for link in links}

    eventually(lambda: listed() == {(str(n), f"code{n}") for n in LINKS}, PATIENCE,
               what="all links to be listed")
    world.link("code2", 2, state="deleted", version=2)
    done(forget("--link", "code2"))
    assert listed() == {(str(n), f"code{n}") for n in LINKS if n != 2}


def assert_counted_of_all(made, rows):
    for owner in OWNERS:
        assert ask_range(made, FROM, TO, account="acme", owner=owner, bots="include")[
            "total"] == counted(of_owner(rows, owner), "include")
    assert ask_range(made, FROM, TO, bots="include")["total"] == counted(rows, "include")


@pytest.mark.long
def test_a_link_of_dropped_days_keeps_its_counts(keeper, world, clickhouse,  # noqa: F811
                                                 forget):
    rows = some_clicks(6, 300, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse)
    before = {link: ask_range(made, FROM, TO, link_id=link, bots="include")
              for link in LINKS}
    total = ask_range(made, FROM, TO, bots="include")["total"]
    world.link("code2", 2, state="deleted", version=2)
    assert "whose rows are dropped" in done(forget("--link", "code2"))
    assert requests.get(made.url + "/v1/clicks", params={"link_id": 2},
                        timeout=60).status_code == 404
    for link in (1, 3):
        now = ask_range(made, FROM, TO, link_id=link, bots="include")
        assert (now["data"], now["total"]) == (before[link]["data"],
                                               before[link]["total"])
    assert ask_range(made, FROM, TO, bots="include")["total"] == total
    sets = clickhouse.rows(
        "SELECT sum(clicks) AS c, uniqExactArray(arrayConcat(people, others)) AS v, "
        "uniqExactArray(arrayConcat(people_ips, others_ips)) AS a FROM sealed_slots "
        "WHERE link_id = 2 AND (toDate(slot), attempt) IN (SELECT toDate(unit), "
        "max(attempt) FROM settled WHERE kind = 'sealed_day' GROUP BY unit)")[0]
    assert int(sets["c"]) == before[2]["total"]["clicks"]
    assert (int(sets["v"]), int(sets["a"])) == (1, 1)


def test_a_link_whose_visitors_were_forgotten_before_keeps_no_address(
        world, clickhouse, forget):  # noqa: F811
    """The day was dropped; only its visitors' identities had been forgotten, which
    leaves the addresses."""
    nobody = "bitShiftRight(cityHash64(toFixedString('', 20)), 16)"
    clickhouse.query("INSERT INTO settled (kind, unit, attempt) SELECT 'dropped_day', "
                     f"toDateTime({FROM}, 'UTC'), 1")
    clickhouse.query("INSERT INTO sealed_slots (link_id, slot, attempt, people, people_ips, "
                     f"others_ips) SELECT 2, toDateTime({FROM}, 'UTC'), 1, [{nobody}], "
                     "[7, 8], [9]")
    world.link("code2", 2, state="deleted", version=2)

    assert "1 slots of links, whose rows are dropped" in done(forget("--link", "code2"))
    nowhere = ("bitShiftRight(cityHash64(reinterpretAsFixedString(toIPv6('::'))), 16)")
    assert int(clickhouse.value(
        "SELECT arrayDistinct(arrayConcat(people_ips, others_ips)) = "
        f"[{nowhere}] AND people = [{nobody}] FROM sealed_slots")) == 1
    assert " 0 slots of dropped days" in done(forget())


@pytest.mark.proof
def test_what_was_to_be_forgotten_is_told_elsewhere_and_again(
        keeper, world, clickhouse, forget, workdir):  # noqa: F811
    """A backup restores rows; another server gets the list from a file."""
    rows = some_clicks(5, 200, [(FROM, TO)], links=LINKS)
    visitor = busiest(rows)[0]
    world.insert(rows)
    clickhouse.query(f"CREATE TABLE backup AS {clickhouse.database}.clicks")
    clickhouse.query("INSERT INTO backup SELECT * FROM clicks")
    dry = done(forget("--visitor", digits(visitor), "--dry-run"))
    assert "would be changed" in dry
    assert int(clickhouse.value("SELECT count() FROM forgotten")) == 0
    done(forget("--visitor", digits(visitor)))
    kept = clickhouse.rows("SELECT * FROM clicks ORDER BY offset")
    told = done(forget("--list"))
    assert json.loads(told.splitlines()[-1])["visitor"] == digits(visitor).upper()

    clickhouse.query("TRUNCATE TABLE clicks")
    clickhouse.query("INSERT INTO clicks SELECT * FROM backup")
    done(forget())
    assert clickhouse.rows("SELECT * FROM clicks ORDER BY offset") == kept

    clickhouse.query("TRUNCATE TABLE clicks")
    clickhouse.query("TRUNCATE TABLE forgotten")
    clickhouse.query("INSERT INTO clicks SELECT * FROM backup")
    (workdir / "list").write_text(told.splitlines()[-1] + "\n")
    done(forget("--file", str(workdir / "list")))
    assert clickhouse.rows("SELECT * FROM clicks ORDER BY offset") == kept
    assert done(forget("--list")).splitlines()[-1] == told.splitlines()[-1]


def test_visits_after_it_are_another_visitor(world, clickhouse, forget):  # noqa: F811
    now = int(clickhouse.value("SELECT toUnixTimestamp(now())"))
    visitor = hashlib.sha1(b"v").hexdigest()[:20]
    click = make_click(random.Random(1), 0, 1, unique_identity=visitor)
    world.insert([{**click, "ts_ms": (now - 3600) * 1000}])
    world.insert([{**click, "ts_ms": (now + 3600) * 1000}], append_ms=(now + 3600) * 1000)
    # The click was sent again long after it was made.
    world.insert([{**click, "ts_ms": (now - 7200) * 1000}], append_ms=(now + 3600) * 1000)
    assert "2 rows of clicks" in done(forget("--visitor", digits(visitor)))
    assert [r["v"] for r in clickhouse.rows(
        "SELECT unique_identity = toFixedString('', 20) AS v FROM clicks "
        "ORDER BY offset")] == [1, 0, 1]


@pytest.mark.long
def test_visits_after_it_stay_in_dropped_days(keeper, world, clickhouse, forget,  # noqa: F811
                                              workdir):
    """Only slots give the times of visits: slots that began before are emptied."""
    rows = some_clicks(21, 700, [(FROM, TO)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse)
    visitor = busiest(rows)[-1]
    until = FROM + DAY + 12 * 3600 + 60
    (workdir / "list").write_text(
        '{"visitor":"%s","until":"%s"}\n' % (digits(visitor).upper(), rfc3339(until)))
    done(forget("--file", str(workdir / "list")))

    def came(start, end):
        return {r["ts_ms"] // 900000 * 900 for r in rows
                if r["unique_identity"] == visitor and r["outcome"] == "redirected"
                and start * 1000 <= r["ts_ms"] < end * 1000}

    def check():
        for table, digest in (("sealed_slots", "bitShiftRight(cityHash64(v), 16)"),
                              ("owner_slots",
                               "toUInt32(bitShiftRight(cityHash64(v), 32))")):
            slots = clickhouse.rows(
                f"SELECT DISTINCT toUInt32(slot) AS s_start FROM {table} WHERE hasAny("
                f"arrayConcat(people, others), arrayMap(v -> {digest}, ['{visitor}']))")
            assert {int(row["s_start"]) for row in slots} == came(until + 900, TO), table
        for entry in ask_range(made, FROM, TO, interval="hour", bots="include")["data"]:
            start = instant(entry["start"])
            inside = [r for r in rows
                      if start * 1000 <= r["ts_ms"] < (start + 3600) * 1000]
            known = all(slot > until for slot in came(start, start + 3600))
            assert entry["visitors"] == (
                counted(inside, "include")["visitors"] if known else None), start

    assert len(came(FROM, until)) > 2 and len(came(until + 900, TO)) > 2
    check()
    # The whole list is applied again, as after a restore.
    done(forget())
    check()


@pytest.mark.long
def test_of_an_hour_only_slots_are_emptied_that_had_begun(
        keeper, world, clickhouse, forget, workdir):  # noqa: F811
    hour = FROM + 12 * 3600
    rows = [make_click(random.Random(n), (hour + minute * 60) * 1000, 1,
                       unique_identity=hashlib.sha1(name).hexdigest()[:20],
                       outcome="redirected", verdict="human")
            for n, (minute, name) in enumerate([(2, b"v"), (20, b"w"), (50, b"v")])]
    world.insert(rows)
    keeper()
    wait_gone(clickhouse, 1)
    (workdir / "list").write_text('{"visitor":"%s","until":"%s"}\n' % (
        digits(rows[0]["unique_identity"]), rfc3339(hour + 300)))
    done(forget("--file", str(workdir / "list")))
    assert clickhouse.rows(
        "SELECT DISTINCT toUInt32(slot) AS s_start, emptied AS gone FROM stats_hourly "
        "WHERE dimension = 'total' ORDER BY s_start") == [
            {"s_start": hour, "gone": True}, {"s_start": hour + 900, "gone": False},
            {"s_start": hour + 2700, "gone": False}]


@pytest.mark.parametrize("hours_ago", [(2, 1, 4), (4, 1, 2), (1, 4, 2)])
def test_of_one_who_is_listed_twice_the_latest_time_counts(
        world, clickhouse, forget, workdir, hours_ago):  # noqa: F811
    now = int(clickhouse.value("SELECT toUnixTimestamp(now())"))
    visitor = hashlib.sha1(b"v").hexdigest()[:20]
    click = make_click(random.Random(1), 0, 1, unique_identity=visitor)
    for hours in 3, 1.5, 0.5:
        world.insert([{**click, "ts_ms": int((now - 3600 * hours) * 1000)}])
    (workdir / "list").write_text("".join(
        '{"visitor":"%s","until":"%s"}\n' % (digits(visitor), rfc3339(now - 3600 * hours))
        for hours in hours_ago))
    assert "1 visitors and links: 2 rows" in done(
        forget("--file", str(workdir / "list")))
    assert [r["v"] for r in clickhouse.rows(
        "SELECT unique_identity = toFixedString('', 20) AS v FROM clicks "
        "ORDER BY offset")] == [1, 1, 0]


@pytest.mark.parametrize("args, status, said", [
    (("--visitor", "12"), 65, "--visitor: a visitor is 40 hexadecimal digits"),
    (("--visitor", "0" * 40), 65, "40 hexadecimal digits"),
    (("--link", "nosuch"), 66, "no such link"),
    (("--link-id", "9x"), 64, "'9x' is no number"),
    (("--link-id", "18446744073709551616"), 64, "is no number"),
    (("--link", "a", "--link-id", "1"), 64, "not both"),
    (("--list", "--visitor", "A" * 40), 64, "--list and --visitor, not both: --list forgets nothing"),
    (("--list", "--link-id", "1"), 64, "--list and --link-id, not both"),
    (("--list", "--file", "/nonexistent/list"), 64, "--list and --file, not both"),
    (("--file", "/nonexistent/list"), 66, "/nonexistent/list"),
])
def test_a_wrong_wish_is_one_clear_line(world, clickhouse, forget, args, status,  # noqa: F811
                                        said):
    result = forget(*args)
    assert result[0] == status and said in result[1], result
    assert int(clickhouse.value("SELECT count() FROM forgotten")) == 0


@pytest.mark.parametrize("line, said", [
    ('{"visitor":"AA"}', "line 2"),
    ('{"until":"2026-11-24T00:00:00Z"}', "either 'visitor' or 'link_id'"),
    ('{"link_id":"7","visitor":"%s","until":"2026-11-24T00:00:00Z"}' % ("A" * 40),
     "either"),
    ('{"link_id":"x","until":"2026-11-24T00:00:00Z"}', "a number in quotes"),
    ('{"link_id":"18446744073709551616","until":"2026-11-24T00:00:00Z"}',
     "a number in quotes"),
    ('{"link_id":"7","until":"soon"}', "'until'"),
    ('{"link_id":"7","until":"2026-11-24T00:00:00Z","also":1}', "line 2"),
    ('{"link_id":"7","until":"2126-11-24T00:00:00Z"}', "is in the future"),
    ("not json", "line 2"),
])
def test_a_damaged_list_is_refused_whole(world, clickhouse, forget, workdir,  # noqa: F811
                                         line, said):
    (workdir / "list").write_text(
        '{"link_id":"5","until":"2026-11-24T00:00:00Z"}\n' + line + "\n")
    result = forget("--file", str(workdir / "list"))
    assert result[0] == 65 and said in result[1], result
    assert f"{workdir / 'list'}: line 2: " in result[1], result
    assert int(clickhouse.value("SELECT count() FROM forgotten")) == 0


# The number of requests of a command whose list has one visitor of one day, and some
# more.
STEPS = 30


class Interrupted:
    """The command through a proxy: a test sets what happens to its nth request."""

    def __init__(self, program, proxy):
        self.program, self.proxy = program, proxy

    def command(self, visitor):
        return self.program("aggregator", {
            "aggregator": SOON, "clicks": CLICKS,
            "clickhouse": {**CLICKHOUSE, "url": self.proxy.url}},
            start=False, args=("forget", "--no-wait", "--visitor", digits(visitor)))

    def run(self, visitor):
        status, _ = self.command(visitor).run()
        return status

    def held_at(self, visitor, kind):
        """Returns (command, held): its next request of that kind is held."""
        held = self.proxy.hold(kind)
        command = self.command(visitor).start(ready=False)
        assert held.here.wait(PATIENCE)
        return command, held

    def killed_at(self, visitor, number, carried_out):
        """Sends kill -9 when that request is sent, or has been executed."""
        command = self.command(visitor)
        known, met = threading.Event(), threading.Event()

        def kill():
            # The request may come before start() has returned.
            known.wait(PATIENCE)
            command.kill()
            met.set()
        self.proxy.call_at(number, kill, carried_out=carried_out)
        command.start(ready=False)
        known.set()
        command.process.wait(PATIENCE)
        return met.is_set()


@pytest.fixture
def interrupted(program, clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port) as proxy:
        yield Interrupted(program, proxy)


def many_visitors(count, seed):
    """Returns visitors who each came in two hours of the first day."""
    rng = random.Random(seed)
    names = [hashlib.sha1(b"m%d" % i).hexdigest()[:20] for i in range(count)]
    rows = [make_click(rng, (FROM + hour * 3600 + rng.randrange(3600)) * 1000, link,
                       unique_identity=name, outcome="redirected")
            for name in names for hour in (3, 17) for link in LINKS]
    return names, sorted(rows, key=lambda row: row["ts_ms"])


def unfinished_runs(clickhouse):
    return int(clickhouse.value(
        "SELECT uniqExact(run) FROM rescored WHERE state = 'begun' AND run NOT IN "
        "(SELECT run FROM rescored WHERE state = 'done')"))


@pytest.mark.long
def test_a_day_that_is_dropped_before_its_rows_are_changed_is_found_again(
        keeper, world, clickhouse, interrupted):  # noqa: F811
    rows = some_clicks(32, 200, [(FROM, FROM + DAY)], links=LINKS)
    visitors = busiest(rows)[-1:]
    world.insert(rows)
    made = keeper(raw_days=0)
    wait_sealed(clickhouse, 1)
    assert made.stop() == 0
    command, held = interrupted.held_at(visitors[0], "rescored")
    keeper()
    eventually(lambda: dropped_days(clickhouse), PATIENCE, what="the day to be dropped")
    held.release()
    assert command.process.wait(PATIENCE) == 0, command.log()
    superseded_are_gone(clickhouse, visitors)


def test_a_run_that_goes_on_is_ended_by_itself_alone(world, clickhouse,  # noqa: F811
                                                     forget, interrupted):
    rows = some_clicks(33, 200, [(FROM, FROM + DAY)], links=LINKS)
    visitors = busiest(rows)
    world.insert(rows)
    command, held = interrupted.held_at(visitors[0], "alter")
    assert "1 days are being changed by another run" in done(
        forget("--visitor", digits(visitors[1])))
    assert unfinished_runs(clickhouse) == 1
    held.release()
    assert command.process.wait(PATIENCE) == 0, command.log()
    assert unfinished_runs(clickhouse) == 0


def test_a_run_that_was_killed_is_ended_by_the_next(world, clickhouse,  # noqa: F811
                                                    forget, interrupted):
    rows = some_clicks(34, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    command, held = interrupted.held_at(busiest(rows)[0], "alter")
    command.kill()
    command.process.wait(PATIENCE)
    assert unfinished_runs(clickhouse) == 1
    said = done(forget())
    held.release()
    if os.environ.get("SHORTLOOP_CONFINED") == "1":  # see docs/aggregator.md
        assert "1 days are being changed by another run" in said
    else:
        assert "1 days of a run that was stopped" in said
        assert unfinished_runs(clickhouse) == 0


# The name of a command in a container with this host's name; no process has that number
# here.
NAMESAKE = f"{socket.gethostname()}:2147483647:forget"


@pytest.mark.parametrize("host, hours, left", [
    ("elsewhere:1:forget", 0, 1), ("elsewhere:1:forget", 2, 0), (NAMESAKE, 0, 1),
    (f"{NAMESAKE}:6bd3c5d7-27b2-4bf5-8d49-5a4e0ad1b26f:4026531836:1", 0, 1)])
def test_one_of_another_host_is_ended_when_it_is_too_old_to_go_on(
        world, clickhouse, forget, host, hours, left):  # noqa: F811
    clickhouse.query(
        "INSERT INTO rescored (day, run, state, rules, rows, hours, at, host) SELECT "
        f"toDate({FROM // DAY}), 7, 'begun', 0, 1, [toUInt32({FROM})], "
        f"now64(3, 'UTC') - toIntervalHour({hours}), '{host}'")
    done(forget())
    assert unfinished_runs(clickhouse) == left
    assert int(clickhouse.value("SELECT count() FROM ingest_progress WHERE "
                                f"has(mapKeys(hours), {FROM})")) == 1 - left


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("how", [*QUICK, "killed before", "killed after"])
def test_one_that_ended_anywhere_is_finished_by_the_next(
        keeper, world, clickhouse, forget, interrupted, how, dropped):  # noqa: F811
    """Any request may fail, before or after it was executed: the next run has the same
    result as a run without a fault."""
    visitors, rows = many_visitors(STEPS, 8)
    world.insert(rows)
    made = keeper(raw_days=RAW_DAYS if dropped else 0)
    if dropped:
        wait_gone(clickhouse, 1)
    else:
        wait_sealed(clickhouse, 1)
    reached = 0
    for number, visitor in enumerate(visitors, 1):
        if how.startswith("killed"):
            reached += interrupted.killed_at(visitor, number, how == "killed after")
        else:
            interrupted.proxy.at(number, how)
            interrupted.run(visitor)
            reached = len(interrupted.proxy.faults())
        interrupted.proxy.calm()
        # The next run does not know what came before the list was written.
        done(forget("--visitor", digits(visitor)))
    assert reached
    assert unfinished_runs(clickhouse) == 0
    kept = without(rows, visitors)
    if dropped:
        for link in LINKS:
            total = ask_range(made, FROM, TO, link_id=link, bots="include")["total"]
            assert total["clicks"] == sum(r["link_id"] == link for r in rows)
            assert total["visitors"] == 1
    else:
        is_settled(made, kept)
        assert_counted(made, kept)
    # Data settled during a run are settled again, and deleted.
    superseded_are_gone(clickhouse, visitors)
