"""A link's groups outlive its rows: the values of each link and day, whose answers equal
those of the rows before they were dropped."""
import pytest
import requests

from support.asking import ask_range
from support.clicks import (DAILY, DIMENSIONS, counted, rfc3339, some_clicks, values_of,
                            without_visitors)
from support.keeping import (DAY, FROM, LINKS, PATIENCE, TO, caught_up, keeper,  # noqa: F401
                             rows_left, wait_gone, world)  # noqa: F401
from support.keys import key_line
from support.program import eventually

SINGLE = [name for name in (*DIMENSIONS, *DAILY) if name not in ("total", "owner")]
MOST = 100


def groups_of_link(made, link, start=FROM, end=TO, key=None, **params):
    """Returns {dimension: {value: counts}}, and what each says of the rest."""
    found, told = {}, {}
    for first in range(0, len(SINGLE), 12):
        answer = requests.get(made.url + "/v1/clicks", timeout=60, params={
            "from": rfc3339(start), "to": rfc3339(end), "link_id": link, "interval": "day",
            "limit": 1000, "breakdowns": ",".join(SINGLE[first:first + 12]), **params},
            headers={"Authorization": f"Bearer {key}"} if key else {})
        assert answer.status_code == 200, answer.text
        for b in answer.json()["breakdowns"]:
            found[b["group_by"]] = {g.pop("value"): without_visitors(g) for g in b["groups"]}
            told[b["group_by"]] = (b["lower_bound"], b.get("rest"))
    return found, told


def expected(rows, bots="exclude"):
    found = {}
    for name in SINGLE:
        values = {v for r in rows for v in values_of(r, name)}
        found[name] = {v: without_visitors(counted(
            [r for r in rows if v in values_of(r, name)], bots)) for v in values}
    return found


@pytest.mark.proof
def test_groups_of_dropped_days_are_those_of_their_rows(
        keeper, world, clickhouse):  # noqa: F811
    rows = some_clicks(1, 500, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)
    assert rows_left(clickhouse) == 0
    for link, bots in zip(LINKS, ("exclude", "include", "only")):
        mine = [r for r in rows if r["link_id"] == link]
        eventually(lambda k=link, m=mine: ask_range(made, FROM, TO, link_id=k)["total"][
            "events"] == len(m), PATIENCE)
        found, told = groups_of_link(made, link, bots=bots)
        assert found == expected(mine, bots)
        assert all(lower is False for lower, rest in told.values())

    # Rows that the groups need beside are bounded.
    world.insert(some_clicks(9, 50, [(FROM + 2 * DAY, FROM + 3 * DAY)], links=LINKS[:1]),
                 progress=False)
    few = keeper(raw_rows_max=30)
    refused = requests.get(few.url + "/v1/clicks", timeout=60, params={
        "from": rfc3339(FROM), "to": rfc3339(TO), "link_id": LINKS[0],
        "breakdowns": "country,city"})
    assert refused.status_code == 400 and "raw_rows_max" in refused.text, refused.text

    # Values of a part of such a day are not known, nor pairs and filters.
    for params, said in ((
            {"from": rfc3339(FROM + 900), "group_by": "country"}, "whole UTC days"),
            ({"from": rfc3339(FROM), "group_by": "country,city"}, "raw_days"),
            ({"from": rfc3339(FROM), "country": "DE"}, "raw_days")):
        answer = requests.get(made.url + "/v1/clicks", timeout=60, params={
            "to": rfc3339(TO), "link_id": LINKS[0], **params})
        assert answer.status_code == 400 and said in answer.text, answer.text


@pytest.mark.long
@pytest.mark.timeout(900)
def test_late_clicks_of_a_dropped_day_are_added(keeper, world, clickhouse):  # noqa: F811
    rows = some_clicks(2, 300, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)
    late = some_clicks(3, 120, [(FROM, FROM + DAY)], links=LINKS[:1])
    caught_up(world)
    world.insert(late)
    mine = [r for r in rows + late if r["link_id"] == LINKS[0]]
    eventually(lambda: groups_of_link(made, LINKS[0])[0] == expected(mine), 3 * PATIENCE,
               what="late clicks in the groups of a link")


@pytest.mark.long
def test_values_beyond_a_hundred_are_the_rest(keeper, world, clickhouse):  # noqa: F811
    rows = some_clicks(3, 900, [(FROM, FROM + DAY)], links=LINKS[:1])
    for number, row in enumerate(rows):
        row.update(utm_term=f"term {number % 150}", account="acme", owner="ann")
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)
    found, told = groups_of_link(made, LINKS[0], bots="include")
    wanted = expected(rows, "include")
    lower, rest = told["utm_term"]
    # A day keeps the values with the most events.
    assert lower is True and len(found["utm_term"]) == min(MOST, len(wanted["utm_term"]))
    for value, counts in found["utm_term"].items():
        assert counts == wanted["utm_term"][value]
    shown = sum(g["events"] for g in found["utm_term"].values())
    assert rest["events"] == len(rows) - shown
    del found["utm_term"], wanted["utm_term"]
    assert found == wanted


@pytest.mark.long
def test_the_holder_has_the_groups_of_his_clicks(
        keeper, world, clickhouse, workdir):  # noqa: F811
    path = workdir / "api.keys"
    path.write_text(key_line("boss", "admin") + key_line("shop", "read-own account=shop"))
    rows = some_clicks(4, 300, [(FROM, FROM + DAY)], links=LINKS[:1])
    for row in rows[150:]:
        row["account"] = "shop"  # the link was transferred
    world.link("code1", 1, account="acme", owner="ann", version=2)
    world.link("code1", 1, account="shop", owner="ann", version=3)
    world.insert(rows)
    made = keeper(keys_file=str(path))
    wait_gone(clickhouse, 1)
    assert groups_of_link(made, LINKS[0], key="boss")[0] == expected(rows)
    mine = [r for r in rows if r["account"] == "shop"]
    assert groups_of_link(made, LINKS[0], key="shop")[0] == expected(mine)


@pytest.mark.long
def test_a_forgotten_link_has_no_values(keeper, world, clickhouse, program):  # noqa: F811
    rows = some_clicks(5, 200, [(FROM, FROM + DAY)], links=LINKS)
    for row in rows:
        if row["link_id"] == 2:  # it has no visitor, so no set names the day
            row.update(outcome="expired")
    world.insert(rows)
    keeper()
    wait_gone(clickhouse, 1)
    world.link("code2", 2, change="deleted", state="deleted", version=2)
    status, said = program("aggregator", args=("forget", "--no-wait", "--link-id", "2"),
                           start=False).run()
    assert status == 0, said
    left = clickhouse.rows("SELECT link_id, max(value != '') AS has_values, "
                           "sumIf(events, dimension = 'country') AS n "
                           "FROM link_values GROUP BY link_id ORDER BY link_id")
    assert [(int(r["link_id"]), int(r["has_values"]), int(r["n"])) for r in left] == [
        (link, int(link != 2), sum(r["link_id"] == link for r in rows)) for link in LINKS]


@pytest.mark.long
def test_a_forgotten_visitor_leaves_no_values_of_few(
        keeper, world, clickhouse, program):  # noqa: F811
    rows = some_clicks(7, 60, [(FROM, FROM + DAY)], links=LINKS[1:])
    alone = some_clicks(8, 1, [(FROM, FROM + DAY)], links=LINKS[:1])
    alone[0].update(outcome="redirected", verdict="human", unique_identity="%020d" % 7)
    world.insert(rows + alone)
    keeper()
    wait_gone(clickhouse, 1)
    status, said = program("aggregator", args=(
        "forget", "--no-wait", "--visitor", ("%020d" % 7).encode().hex()), start=False).run()
    assert status == 0, said
    left = {int(r["link_id"]): int(r["has_values"]) for r in clickhouse.rows(
        "SELECT link_id, max(value != '') AS has_values FROM link_values GROUP BY link_id")}
    assert left == {1: 0, 2: 1, 3: 1}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_late_clicks_are_added_also_where_rows_are_kept_for_ever(
        keeper, world, clickhouse):  # noqa: F811
    rows = some_clicks(10, 100, [(FROM, FROM + DAY)], links=LINKS[:1])
    world.insert(rows)
    made = keeper()
    wait_gone(clickhouse, 1)
    assert made.stop() == 0
    late = some_clicks(11, 40, [(FROM, FROM + DAY)], links=LINKS[:1])
    caught_up(world)
    world.insert(late)
    kept = keeper(raw_days=0)
    eventually(lambda: groups_of_link(kept, LINKS[0])[0] == expected(rows + late),
               3 * PATIENCE, what="late clicks in the groups of a link")


@pytest.mark.long
def test_nothing_is_copied_while_rows_are_kept(keeper, world, clickhouse):  # noqa: F811
    rows = some_clicks(6, 100, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    made = keeper(raw_days=0)
    eventually(lambda: made.metric("shortloop_aggregator_sampled_days_total") >= 1, PATIENCE)
    eventually(lambda: made.metric("shortloop_aggregator_rolled_up_days_total") >= 1, PATIENCE)
    assert int(clickhouse.value("SELECT count() FROM link_values")) == 0
    assert made.metric("shortloop_aggregator_link_value_days_total") == 0
