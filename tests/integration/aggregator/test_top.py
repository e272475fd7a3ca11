"""The busiest links and those that grow most: of all links, with filters, and of an
owner's."""
import collections
import random

import pytest
import requests

from support.asking import aggregator, ask_range, settled  # noqa: F401
from support.clicks import counted, instant, make_click, rfc3339
from support.keys import key_line

FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-26T00:00:00Z")
MIDDLE = (FROM + TO) // 2
LINKS = range(1, 31)
BOTS = ("exclude", "include", "only")


@pytest.fixture
def rows(migrated):
    """Clicks of 30 links, each with a share of its own that changes in the middle, and
    of none; most of the links have ann and bob as owners now and then."""
    rng = random.Random(41)
    clicks = []
    for start, end in (FROM, MIDDLE), (MIDDLE, TO):
        shares = [rng.random() ** 3 for _ in range(31)]
        for link in rng.choices(range(31), shares, k=1500):
            owner = "bob" if link == 2 else rng.choice(["ann", "bob"])
            clicks.append(make_click(rng, rng.randrange(start * 1000, end * 1000),
                                     link, owner=owner))
    clicks.sort(key=lambda row: row["ts_ms"])
    migrated.insert(clicks)
    for link in LINKS[:-5]:
        migrated.link(f"code{link}", link, url=f"https://example.com/{link}",
                      owner="ann" if link % 2 else "bob")
    return clicks


def top_of(rows, bots, start=FROM, before=None, limit=100):
    """Returns [(link, clicks, clicks before)], counted in Python."""
    now, then = collections.Counter(), collections.Counter()
    for row in rows:
        clicks = counted([row], bots)["clicks"]
        if not row["link_id"] or not clicks:
            continue
        if row["ts_ms"] >= start * 1000:
            now[row["link_id"]] += 1
        elif before is not None and row["ts_ms"] >= before * 1000:
            then[row["link_id"]] += 1
    rank = {link: now[link] - (then[link] if before is not None else 0)
            for link in {*now, *then}}
    best = sorted((-n, link) for link, n in rank.items() if n > 0)[:limit]
    return [(link, now[link], then[link]) for _, link in best]


def told(answer):
    return [(int(link["link_id"]), link["clicks"], link.get("clicks_before", 0))
            for link in answer["links"]]


@pytest.mark.proof
def test_the_busiest_are_those_counted_by_hand(aggregator, rows):
    made = aggregator()
    settled(made, len(rows), FROM, TO)
    chosen = [r for r in rows if r["country"] == "US" and
              r["device_class"] != "phone"]
    for bots in BOTS:
        answer = ask_range(made, FROM, TO, path="/v1/top", bots=bots, limit=10)
        assert told(answer) == top_of(rows, bots, limit=10)
        assert answer["sort"] == "clicks"
        answer = ask_range(made, FROM, TO, path="/v1/top", bots=bots, country="US",
                           device_class="-phone")
        assert told(answer) == top_of(chosen, bots)
    answer = ask_range(made, FROM, TO, path="/v1/top", bots="include")
    for link in answer["links"]:
        number = int(link["link_id"])
        known = number in LINKS[:-5]
        # The codes of links that the archive does not know come from the clicks.
        assert link["code"] == f"code{number}"
        assert link["url"] == (f"https://example.com/{number}" if known else "")
        mine = counted([r for r in rows if r["link_id"] == number], "include")
        assert {k: link[k] for k in ("clicks", "humans", "bots", "prefetches",
                                     "events")} == {
            k: v for k, v in mine.items() if k not in ("visitors", "ips")}


@pytest.mark.proof
def test_what_grows_is_compared_with_the_range_before(aggregator, rows):
    made = aggregator()
    settled(made, len(rows), FROM, TO)
    for bots in BOTS:
        for params, chosen in ({}, rows), ({"country": "US"}, [
                r for r in rows if r["country"] == "US"]):
            answer = ask_range(made, MIDDLE, TO, path="/v1/top", bots=bots,
                               sort="growth", **params)
            assert answer["sort"] == "growth"
            assert told(answer) == top_of(chosen, bots, MIDDLE, FROM)
            assert len(answer["links"]) < len(LINKS)
    # No time is before 1970.
    assert told(ask_range(made, 0, TO, path="/v1/top", sort="growth")) == \
        top_of(rows, "exclude", 0)


@pytest.mark.proof
def test_an_owner_has_the_top_of_what_was_his(aggregator, rows, workdir):
    path = workdir / "api.keys"
    path.write_text(key_line("ann", "read account=acme owners=ann") +
                    key_line("all", "read accounts=*") +
                    key_line("none", "read account=acme owners=carol") +
                    key_line("acme", "read-own account=acme") +
                    key_line("shop", "read account=shop"))
    made = aggregator(keys_file=str(path))

    def ask_as(key, **params):
        return requests.get(
            made.url + "/v1/top", timeout=60,
            headers={"Authorization": f"Bearer {key}"},
            params={"from": rfc3339(FROM), "to": rfc3339(TO), **params})

    mine = [r for r in rows if (r["account"], r["owner"]) == ("acme", "ann")]
    answer = ask_as("ann").json()
    assert told(answer) == top_of(mine, "exclude")
    for link in answer["links"]:
        number = int(link["link_id"])
        hers_now = number in LINKS[:-5] and number % 2
        # The target of a link that was hers once is visible only to its present owner.
        assert link["url"] == (f"https://example.com/{number}" if hers_now else "")
        assert (link["account"], link["owner"]) == ("acme", "ann")
        assert link["code"] == f"code{number}"
    assert told(ask_as("ann", country="DE", bots="include").json()) == top_of(
        [r for r in mine if r["country"] == "DE"], "include")
    growing = ask_as("ann", sort="growth", **{"from": rfc3339(MIDDLE)}).json()
    assert told(growing) == top_of(mine, "exclude", MIDDLE, FROM)
    assert ask_as("ann", owner="bob").json()["links"] == []
    assert ask_as("none").json()["links"] == []
    for key in "acme", "shop":
        theirs = [r for r in rows if r["account"] == key]
        assert told(ask_as(key).json()) == top_of(theirs, "exclude")
        assert told(ask_as("all", account=key, country="DE").json()) == top_of(
            [r for r in theirs if r["country"] == "DE"], "exclude")
    for link in ask_as("all").json()["links"]:
        assert bool(link["url"]) == (int(link["link_id"]) in LINKS[:-5])


@pytest.mark.proof
def test_what_would_read_too_many_rows_is_refused(aggregator, rows):
    made = aggregator(raw_rows_max=500)
    settled(made, len(rows), FROM, TO)
    bounds = {"from": rfc3339(FROM), "to": rfc3339(TO)}
    answer = requests.get(made.url + "/v1/top", timeout=60,
                          params={**bounds, "country": "US"})
    assert answer.status_code == 400
    assert "raw_rows_max" in answer.json()["detail"]
    answer = requests.get(made.url + "/v1/top", timeout=60,
                          params={**bounds, "sort": "visitors"})
    assert answer.status_code == 400
    assert answer.json()["detail"] == "sort: expected clicks or growth"
    assert told(ask_range(made, FROM, TO, path="/v1/top")) == top_of(rows, "exclude")


def test_the_archive_may_have_more_links_than_rows_are_read(
        aggregator, migrated, clickhouse, workdir):
    rng = random.Random(42)
    rows = [make_click(rng, FROM * 1000 + n, n, owner="ann", outcome="redirected",
                       verdict="human") for n in range(1, 201)]
    migrated.insert(rows)
    clickhouse.query(
        "INSERT INTO links (code, link_id, version, state, url, account, owner) SELECT "
        "concat('code', toString(number + 1)), number + 1, 1, 'live', "
        "'https://example.com/', 'acme', 'ann' FROM numbers(60000)")
    path = workdir / "api.keys"
    path.write_text(key_line("ann", "read account=acme owners=ann") +
                    key_line("all", "read accounts=*"))
    made = aggregator(raw_rows_max=30000, keys_file=str(path))
    for key, params in ("ann", {}), ("all", {"country": "-XX"}), (
            "all", {"account": "acme", "owner": "ann"}):
        answer = requests.get(
            made.url + "/v1/top", timeout=60, headers={"Authorization": f"Bearer {key}"},
            params={"from": rfc3339(FROM), "to": rfc3339(TO), "limit": 200, **params})
        assert answer.status_code == 200, answer.text
        assert told(answer.json()) == top_of(rows, "exclude", limit=200)
        assert {link["url"] for link in answer.json()["links"]} == {"https://example.com/"}


@pytest.mark.proof
def test_as_many_links_as_may_be_asked_for_are_answered(aggregator, migrated):
    rng = random.Random(43)
    first = (1 << 62) + 1
    rows = [make_click(rng, FROM * 1000 + n, first + n, outcome="redirected",
                       verdict="human") for n in range(10000)]
    migrated.insert(rows)
    made = aggregator(groups_max=10000)
    settled(made, len(rows), FROM, TO)
    links = ask_range(made, FROM, TO, path="/v1/top", limit=10000)["links"]
    assert [int(link["link_id"]) for link in links] == list(range(first, first + 10000))
    assert {link["code"] for link in links} == {row["code"] for row in rows}
