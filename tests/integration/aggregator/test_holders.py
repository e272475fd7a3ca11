"""Links that changed hands: each key has the clicks of its account and owners, in every
view of one link, before and after the days are sealed."""
import collections
import json

import pytest
import requests

from support.clicks import counted, instant, is_click, is_human, rfc3339, some_clicks
from support.copied_days import wait_copied
from support.keys import key_line
from support.program import eventually

DAY = 86400
FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-27T00:00:00Z")
# Both changes are within a day.
FIRST, SECOND = FROM + DAY + 3 * 3600, FROM + DAY + 15 * 3600
# {link: its holders, in turn}
HOLDERS = {1: [("acme", "ann"), ("acme", "bob"), ("shop", "ann")],
           2: [("shop", "ann"), ("acme", "ann"), ("acme", "bob")]}
# {key: its line, and the links that it sees now}
KEYS = {"boss": ("admin", {1, 2}), "acme": ("read account=acme", {2}),
        "shop": ("read account=shop", {1}),
        "acme-ann": ("read account=acme owners=ann", set()),
        "acme-bob": ("read account=acme owners=bob", {2}),
        "shop-ann": ("read account=shop owners=ann", {1})}
PATIENCE = 120


def holder_at(link, at_ms):
    return HOLDERS[link][(at_ms >= FIRST * 1000) + (at_ms >= SECOND * 1000)]


@pytest.fixture
def rows(migrated):
    made = some_clicks(1, 900, [(FROM, TO)], links=tuple(HOLDERS))
    for row in made:
        row["account"], row["owner"] = holder_at(row["link_id"], row["ts_ms"])
    # A visit after a link's end, of which the holder was not known any more.
    made[-1].update(outcome="expired", account="\x01unknown", owner="\x01unknown")
    migrated.insert(made)
    for link, holders in HOLDERS.items():
        for version, (account, owner) in enumerate(holders, 1):
            migrated.link(f"code{link}", link, account=account, owner=owner,
                          version=version)
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    return made


@pytest.fixture
def asked(migrated, redis, program, workdir, rows):
    path = workdir / "api.keys"
    path.write_text("".join(key_line(key, line) for key, (line, _) in KEYS.items()))
    made = program("aggregator", {"aggregator": {
        "settle_every": "500ms", "watermark_every": "500ms", "resettle_every": "1h",
        "keys_file": str(path)}})

    def ask(key, path, **params):
        answer = requests.get(made.url + path, timeout=60, params=params,
                              headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
        return answer
    ask.made = made
    return ask


def held(rows, key, link):
    """Returns the rows of the link that the key may count."""
    words = dict(word.split("=") for word in KEYS[key][0].split()[1:])
    return [r for r in rows if r["link_id"] == link and (
        r["account"] == "\x01unknown" or (
            words.get("account") in (None, r["account"]) and
            words.get("owners") in (None, r["owner"])))]


def visits(rows):
    """Returns what /v1/visit-statistics has for a day."""
    clicks = [r for r in rows if is_click(r)]
    humans = [r for r in rows if is_human(r)]
    return {"pv": len(rows), "uv": len({r["unique_identity"] for r in clicks}),
            "ip": len({r["ip"] for r in clicks}), "effective": len(humans),
            "ineffective": len(rows) - len(humans)}


def assert_views(ask, rows, key, link):
    mine = held(rows, key, link)
    span = {"from": rfc3339(FROM), "to": rfc3339(TO)}
    for bots in "exclude", "include", "only":
        total = ask(key, "/v1/clicks", link_id=link, interval="hour", bots=bots,
                    **span).json()["total"]
        assert total == counted(mine, bots), (key, link, bots)
    groups = ask(key, "/v1/clicks", link_id=link, group_by="country", bots="include",
                 **span).json()["groups"]
    assert {g["value"]: g["events"] for g in groups} == collections.Counter(
        r["country"] for r in mine)
    groups = ask(key, "/v1/clicks", link_id=link, group_by="account,owner",
                 bots="include", **span).json()["groups"]
    assert {tuple(g["values"]): g["events"] for g in groups} == collections.Counter(
        (r["account"], r["owner"]) for r in mine)
    summary = ask(key, "/v1/summary", link_id=link).json()
    assert (summary["events"], summary["clicks"]) == (
        len(mine), counted(mine)["clicks"])
    days = ask(key, "/v1/visit-statistics", link_id=link, **span).json()["days"]
    for day in days:
        start = instant(day["day"] + "T00:00:00Z") * 1000
        expected = visits([r for r in mine if start <= r["ts_ms"] < start + DAY * 1000])
        assert {name: day[name] for name in expected} == expected, (key, link, day)
    lines = ask(key, "/v1/export/clicks", link_id=link, **span).text.splitlines()
    exported = [json.loads(line) for line in lines[:-1]]
    assert collections.Counter(r["owner"] for r in exported) == collections.Counter(
        r["owner"] for r in mine)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_each_holder_has_its_own_clicks(asked, rows, clickhouse, subtests):
    wait_copied(clickhouse, "sealed_day", rows)
    eventually(lambda: all(day["settled"] for day in asked(
        "boss", "/v1/visit-statistics", link_id=1, **{
            "from": rfc3339(FROM), "to": rfc3339(TO)}).json()["days"]), PATIENCE,
        what="the days to be settled")
    for key, (_, links) in KEYS.items():
        for link in links:
            with subtests.test(key=key, link=link):
                assert_views(asked, rows, key, link)
        listed = asked(key, "/v1/links", sort="clicks").json()["links"]
        assert {int(found["link_id"]): found["clicks"] for found in listed} == {
            link: counted(held(rows, key, link))["clicks"] for link in links}
    # Rows answer alike.
    clickhouse.query("ALTER TABLE settled DELETE WHERE kind = 'sealed_day'",
                     mutations_sync=1)
    asked.made.stop()
    asked.made.start()
    eventually(lambda: asked.made.ready()[0] == 200, what="ready")
    for key, (_, links) in KEYS.items():
        for link in links:
            with subtests.test(key=key, link=link, sealed=False):
                eventually(lambda: asked(key, "/v1/pipeline").status_code == 200
                           if key == "boss" else True)
                assert_views(asked, rows, key, link)
