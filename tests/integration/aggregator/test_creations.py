"""GET /v1/creations of the aggregator, compared with the same counted in Python."""
import collections
import random
import time

import pytest

from support.asking import aggregator  # noqa: F401
from support.clicks import rfc3339
from support.keys import key_line
from support.program import eventually, quick
from support.spaces import aliases, sequence

LINKS_SECTION = {"ttl_classes": ["10d"], "spaces": [sequence(), aliases()]}
DAY, HOUR, SLOT = 86400, 3600, 900
# Three days that are over, by the clock of ClickHouse.
TO = int(time.time()) // DAY * DAY
FROM = TO - 3 * DAY
LINKS = 3000
COLUMN = {"space": "space", "code_length": "code_length", "ttl": "ttl_class",
          "account": "account", "owner": "owner", "domain": "domain", "source": "source",
          "strategy": None}
STRATEGY = {"s7": "sequence", "names": "alias"}


def some_links(seed=1):
    chance = random.Random(seed)
    return [{"link_id": 2**48 + i, "slot": FROM + chance.randrange(3 * DAY // SLOT) * SLOT,
             "space": chance.choice(["s7", "s7", "names", "gone"]),
             "code_length": chance.choice([4, 7, 12]),
             "ttl_class": chance.choice(["10d", "never"]),
             "account": chance.choice(["acme", "acme", "shop"]),
             "owner": chance.choice(["", "ann", "bob", "ключ"]),
             "domain": chance.choice(["", "go.example"]),
             "source": chance.choice(["single", "batch"])} for i in range(LINKS)]


def value_of(link, dimension):
    if dimension == "strategy":
        return STRATEGY.get(link["space"], "")
    return str(link[COLUMN[dimension]])


def ask(made, status=200, key=None, **params):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    params = {"from": rfc3339(FROM), "to": rfc3339(TO), "interval": "day",
              **{name.rstrip("_"): value for name, value in params.items()}}
    answer = quick.get(made.url + "/v1/creations", params=params, headers=headers,
                       timeout=60)
    assert answer.status_code == status, answer.text
    return answer.json() if "json" in answer.headers["Content-Type"] else answer.text


def groups(links, dimension):
    found = collections.Counter(value_of(link, dimension) for link in links)
    return [{"value": value, "links": n} for value, n in
            sorted(found.items(), key=lambda item: (-item[1], item[0].encode()))]


def settled(clickhouse):
    return int(clickhouse.value("SELECT sum(n) FROM (SELECT argMax(links, attempt) AS n "
                                "FROM settled_creations GROUP BY hour)") or 0)


def compare(made, links, **more):
    """Compares all that can be asked; `more`: parameters that change no number."""
    assert ask(made, **more)["total"] == {"links": len(links)}
    for interval, unit in (("hour", HOUR), ("day", DAY), ("total", 3 * DAY)):
        counts = collections.Counter((link["slot"] - FROM) // unit for link in links)
        answer = ask(made, interval=interval, **more)
        assert answer["interval"] == interval
        assert answer["data"] == [
            {"start": rfc3339(FROM + i * unit), "links": counts[i]}
            for i in range(3 * DAY // unit)]
    for dimension in COLUMN:
        params = dict(more, account="acme") if dimension == "owner" else more
        some = [link for link in links
                if dimension != "owner" or link["account"] == "acme"]
        answer = ask(made, group_by=dimension, **params)
        assert answer["groups"] == groups(some, dimension), dimension
        assert "rest" not in answer
        one = some[0]
        answer = ask(made, **{**params, dimension: value_of(one, dimension) or ","})
        assert answer["total"]["links"] == sum(
            value_of(link, dimension) == value_of(one, dimension) for link in some)


@pytest.fixture
def made(migrated, aggregator):
    def make(**settings):
        return aggregator(watermark_every="200ms", **settings)
    return make


def test_rows_and_settled_hours_count_the_same(migrated, clickhouse, program, redis, links_config):
    links = some_links()
    old = int(time.time() * 1000) - 4 * 3600 * 1000
    migrated.creations(links, old)
    # With this overlap rows may always be missing from settled hours: none is read.
    rows = program("aggregator", {"links": links_config, "aggregator": {
        "settle_every": "300ms", "progress_overlap": "7d"}})
    compare(rows, links)
    eventually(lambda: settled(clickhouse) == LINKS, what="hours settled")
    clickhouse.query("CREATE TABLE kept AS " + "creations")
    clickhouse.query("EXCHANGE TABLES creations AND kept")
    compare(rows, links)
    clickhouse.query("EXCHANGE TABLES creations AND kept")
    made = program("aggregator", {"links": links_config,
                                  "aggregator": {"settle_every": "300ms"}})
    compare(made, links)
    # The rows are not read any more, but for hours that a zone cuts in two.
    clickhouse.query("RENAME TABLE created_links TO hidden")
    clickhouse.query("CREATE TABLE created_links AS hidden")
    compare(made, links)
    half = ask(made, tz="Asia/Kolkata")["total"]["links"]
    assert half < LINKS
    clickhouse.query("EXCHANGE TABLES created_links AND hidden")
    answer = ask(made, tz="Asia/Kolkata")
    assert answer["total"]["links"] == LINKS == sum(b["links"] for b in answer["data"])


def test_what_comes_twice_or_late_is_counted_once(migrated, clickhouse, made):
    links = some_links()
    old = int(time.time() * 1000) - 4 * 3600 * 1000
    migrated.creations(links[:2000], old)
    migrated.creations(links[:1000], old)
    run = made(settle_every="300ms", progress_overlap="0s")
    eventually(lambda: settled(clickhouse) == 2000, what="hours settled")
    assert ask(run)["total"]["links"] == 2000
    # Those that come late are counted at once, before their hours are settled again.
    migrated.creations(links[1500:])
    assert ask(run)["total"]["links"] == LINKS
    eventually(lambda: settled(clickhouse) == LINKS, what="hours settled again")
    compare_some = ask(run, group_by="account")
    assert compare_some["groups"] == groups(links, "account")
    clickhouse.query("OPTIMIZE TABLE created_links FINAL")
    assert ask(run)["total"]["links"] == LINKS


def test_fewer_rows_than_before_are_not_published(migrated, clickhouse, made):
    links = some_links()
    migrated.creations(links, int(time.time() * 1000) - 4 * 3600 * 1000)
    run = made(settle_every="300ms", progress_overlap="0s")
    eventually(lambda: settled(clickhouse) == LINKS, what="hours settled")
    clickhouse.query("TRUNCATE TABLE created_links")
    migrated.report_creations(links)
    eventually(lambda: "rows of created_links are gone" in run.log(), what="the warning")
    assert settled(clickhouse) == LINKS


def test_counts_are_complete_up_to_what_the_links_topic_reported(migrated, made):
    links = some_links()
    run = made()
    assert ask(run)["complete_until"] is None and ask(run)["complete"] is False
    migrated.creations(links, append_ms=(FROM + DAY) * 1000)
    # The setting edge_delay of the fixture is 5 s.
    eventually(lambda: ask(run)["complete_until"] == rfc3339(FROM + DAY - 5),
               what="the report to be read")
    migrated.report_creations([], append_ms=(TO + DAY) * 1000)
    eventually(lambda: ask(run)["complete"], what="the report to be read")
    assert ask(run)["complete_until"] == rfc3339(TO)


def test_groups_are_limited_and_have_a_rest(migrated, made):
    links = some_links()
    migrated.creations(links)
    run = made()
    every = groups(links, "space")
    answer = ask(run, group_by="space", limit=1)
    assert answer["groups"] == every[:1]
    assert answer["rest"] == {"links": sum(g["links"] for g in every[1:])}
    text = ask(run, group_by="space", format="csv")
    assert text.split() == ["space,links"] + [f"{g['value']},{g['links']}" for g in every]
    assert ask(run, format="csv").split()[0] == "start,links"


def test_wrong_questions_are_refused(migrated, made):
    run = made()
    for params, said in (({"group_by": "country"}, "group_by: expected one of space"),
                         ({"group_by": "space,ttl"}, "group_by: expected one of space"),
                         ({"country": "DE"}, "country: no such parameter"),
                         ({"interval": "year"}, "month or total"),
                         ({"owner": "ann"}, "account=NAME"),
                         ({"group_by": "owner"}, "account=NAME"),
                         ({"bots": "only"}, "no such parameter")):
        assert said in ask(run, status=400, **params)["detail"]


def test_a_key_sees_the_links_of_its_account(migrated, made, workdir):
    links = some_links()
    migrated.creations(links)
    keys = {"boss": "admin", "acme": "read account=acme", "ann": "read account=acme owners=ann"}
    path = workdir / "keys"
    path.write_text("".join(key_line(*item) for item in keys.items()))
    run = made(keys_file=str(path))
    seen = {"boss": links, "acme": [k for k in links if k["account"] == "acme"]}
    seen["ann"] = [k for k in seen["acme"] if k["owner"] == "ann"]
    for key, some in seen.items():
        for dimension in ("space", "account", "source"):
            answer = ask(run, key=key, group_by=dimension)
            assert answer["total"]["links"] == len(some)
            assert answer["groups"] == groups(some, dimension)
    assert ask(run, key="acme", account="shop")["total"]["links"] == 0
    assert ask(run, key="acme", group_by="owner")["groups"] == groups(seen["acme"], "owner")
