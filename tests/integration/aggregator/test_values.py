"""GET /v1/values of the aggregator, compared with the same counted in Python."""
import collections
import json
import random

import pytest

from support.asking import aggregator  # noqa: F401
from support.clicks import datetime64, rfc3339
from support.program import quick

START_MS = 1_790_000_000_000
TAGS = ["a", "A b", "Ärger", "per%cent", "back\\slash", "it's", "ключ", "under_score", "ab"]
KEYS = {"boss": "admin", "acme": "read account=acme", "shop": "read-own account=shop",
        "ann": "read account=acme owners=ann", "nobodys": "read account=acme owners=,bob"}
OF = {"tag": "tags", "owner": "owner", "campaign": "campaign", "domain": "domain"}


def make_row(chance, link_id, version):
    return {
        "code": f"c{link_id}", "link_id": link_id, "version": version, "space": "s7",
        "state": chance.choice(["live", "live", "deleted", "blocked"]),
        "created_at": datetime64(START_MS + link_id * 1000), "url": "https://a.example/",
        "account": chance.choice(["acme", "acme", "shop"]),
        "owner": chance.choice(["ann", "bob", "", "Ann"]),
        "campaign": chance.choice(["", "autumn", "Autumn 2026", "winter"]),
        "domain": chance.choice(["", "main", "shop"]),
        "tags": chance.sample(TAGS, chance.choice([0, 1, 1, 3]))}


@pytest.fixture
def links(migrated):
    """Returns the newest versions of links of up to four, in parts that no merge
    joins; every fifth link has lost its first versions by a merge."""
    clickhouse, chance, newest = migrated.clickhouse, random.Random(7), {}
    clickhouse.query("ALTER TABLE links MODIFY SETTING "
                     "max_bytes_to_merge_at_max_space_in_pool = 1")
    parts = [[], [], [], []]
    for link_id in range(1, 120):
        last = chance.choice([1, 1, 2, 4])
        for version in range(last if link_id % 5 == 0 else 1, last + 1):
            newest[link_id] = make_row(chance, link_id, version)
            parts[version - 1].append(newest[link_id])
    chance.shuffle(parts)
    for rows in parts:
        clickhouse.query("INSERT INTO links FORMAT JSONEachRow",
                         "\n".join(json.dumps(row) for row in rows).encode())
    return list(newest.values())


def values(made, key=None, status=200, **params):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = quick.get(made.url + "/v1/values", params=params, headers=headers,
                       timeout=60)
    assert answer.status_code == status, answer.text
    return answer.json()


def counted(links, of, q="", account=None, owners=None):
    """Returns what an answer must have."""
    found = collections.defaultdict(list)
    for link in links:
        if ((account is None or link["account"] == account)
                and (owners is None or link["owner"] in owners)):
            there = link[OF[of]]
            for value in there if isinstance(there, list) else [there]:
                if value and q.lower() in value.lower():
                    found[value].append(link["link_id"])
    ranked = sorted(found.items(), key=lambda item: (
        -len(item[1]), -max(item[1]), item[0].encode()))
    return [{"value": value, "links": len(ids),
             "latest": rfc3339(START_MS // 1000 + max(ids))} for value, ids in ranked]


def test_values_are_those_of_newest_versions(aggregator, links):
    made = aggregator()
    for of in set(OF) - {"owner"}:
        assert values(made, of=of) == {**values(made, of=of), "of": of, "more": False,
                                       "values": counted(links, of)}
    for q in ("a", "ÄR", "%", "_", "\\", "КЛЮЧ", "'", "none of them", ""):
        assert values(made, of="tag", q=q)["values"] == counted(links, "tag", q), q
    for account in ("acme", "shop", "nobody", ""):
        assert values(made, of="owner", account=account)["values"] == counted(
            links, "owner", account=account)


def test_the_most_used_come_first_up_to_a_limit(aggregator, links):
    made = aggregator()
    every = counted(links, "tag")
    for limit in (1, 3, len(every)):
        answer = values(made, of="tag", limit=limit)
        assert answer["values"] == every[:limit]
        assert answer["more"] == (limit < len(every))


def test_a_key_has_the_values_of_links_that_it_sees(aggregator, links, keys_file):
    made = aggregator(keys_file=str(keys_file.write(KEYS)))
    for key, sees in {"boss": {}, "acme": {"account": "acme"}, "shop": {"account": "shop"},
                      "ann": {"account": "acme", "owners": ["ann"]},
                      "nobodys": {"account": "acme", "owners": ["", "bob"]}}.items():
        for of in set(OF) - ({"owner"} if key == "boss" else set()):
            assert values(made, key, of=of)["values"] == counted(links, of, **sees), key
    # Another account than the key's own has nothing for it.
    for of in OF:
        assert values(made, "acme", of=of, account="shop")["values"] == []


def test_forgotten_links_have_no_values(aggregator, links, migrated):
    migrated.link("gone", 999, state="forgotten", tags=["secret"], version=2)
    assert values(aggregator(), of="tag", q="secret")["values"] == []


def test_a_wrong_question_is_refused_by_its_name(aggregator, migrated):
    made = aggregator()
    for params, says in (({}, "of: expected tag,"), ({"of": "link"}, "of: expected tag,"),
                         ({"of": "tag", "q": "x" * 129}, "q: "),
                         ({"of": "tag", "q": "\n"}, "q: "),
                         ({"of": "tag", "account": "\x01"}, "account: "),
                         ({"of": "tag", "limit": "0"}, "limit: "),
                         ({"of": "owner"}, "of=owner: an owner belongs to an account"),
                         ({"of": ["tag", "tag"]}, "of: given more than once")):
        assert values(made, status=400, **params)["detail"].startswith(says), params


def test_an_unchanged_answer_is_a_304(aggregator, links):
    made = aggregator()
    answer = quick.get(made.url + "/v1/values?of=tag", timeout=60)
    assert quick.get(made.url + "/v1/values?of=tag", timeout=60, headers={
        "If-None-Match": answer.headers["ETag"]}).status_code == 304
