"""Shares: the questions that a token may ask, and as which key."""
import datetime
import json
import signal
import time
import urllib.parse

import pytest

from support.allocator import *  # noqa: F401,F403
from support.asking import FROM, TO
from support.clicks import counted, rfc3339, some_clicks
from support.keys import key_line
from support.openapi import described_as
from support.program import eventually, quick
from support.redis_proxy import RedisProxy

DAY = 86400
HALF = TO - DAY
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(TO)}"
CLICKS = f"/v1/clicks?{RANGE}&interval=month"
KEYS = {"boss": "admin", "eye": "read accounts=*", "acme": "read account=acme",
        "ann": "read account=acme owners=ann", "bob": "read account=acme owners=bob",
        "shop": "read-own account=shop", "maker": "create account=acme"}
# {link: owner, account} of the codes code1 ...
LINKS = {1: ("ann", "acme"), 2: ("bob", "acme"), 3: ("ann", "shop")}
LINK = {"code": "code1", "from": rfc3339(FROM), "to": rfc3339(TO)}


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def rows(migrated):
    """Clicks of two hours of each of the two days up to TO, inserted: few hours have to
    be settled."""
    made = some_clicks(3, 300, [(HALF - 7200, HALF), (TO - 7200, TO)], links=list(LINKS))
    for row in made:
        row["owner"], row["account"] = LINKS[row["link_id"]]
    migrated.insert(made)
    for link, (owner, account) in LINKS.items():
        migrated.link(f"code{link}", link, owner=owner, account=account)
    return made


@pytest.fixture
def aggregator(rows, redis, create_space, program, sections, keys_file):
    status, output = create_space()
    assert status == 0, output

    def make(redis=None, settle_every="10m", **settings):
        return program("aggregator", {
            "kafka": {"topic_live": "live"}, "links": sections["links"], **({"redis": redis} if redis else {}),
            "aggregator": {"settle_every": settle_every, "keys_file": str(keys_file.path),
                           **settings}})
    return make


def call(made, method, path, key=None, share=None, password=None, **how):
    headers = how.pop("headers", {})
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if share:
        headers["Authorization"] = f"Share {share}"
    if password is not None:
        headers["Share-Password"] = urllib.parse.quote(password)
    return quick.request(method, made.url + path, headers=headers, timeout=60, **how)


def share(made, key="acme", **body):
    """Returns the answer to a share that is made."""
    answer = call(made, "POST", "/v1/shares", key, json=body)
    assert answer.status_code == 201, answer.text
    assert described_as(answer, "aggregator", "POST", "/v1/shares")
    return answer.json()


def ask(made, token, path=CLICKS, **how):
    answer = call(made, "GET", path, share=token, **how)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(made, token, path=CLICKS, method="GET", **how):
    answer = call(made, method, path, share=token, **how)
    assert answer.status_code >= 400, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code


def total_of(rows, start=FROM, **fields):
    return counted([row for row in rows if row["ts_ms"] >= start * 1000 and
                    all(row[name] == value for name, value in fields.items())])


def is_total(answer, rows, **fields):
    """People and robots are as in the rows; the sum of visitors may be estimated."""
    expected = total_of(rows, **fields)
    for name in "events", "clicks":
        assert answer["total"][name] == expected[name], (fields, name)


# --- what a share shows ----------------------------------------------------------

def test_a_share_of_a_link_shows_it_alone(aggregator, rows, migrated):
    made = aggregator(settle_every="500ms")
    whole, half = share(made, code="code1"), share(made, **{**LINK, "from": rfc3339(HALF)})

    assert whole["url"] == "/#share=" + whole["token"] and len(whole["token"]) == 22
    assert whole["link_id"] == "1" and whole["created_by"] == "acme"
    for path in CLICKS, CLICKS + "&code=code1", CLICKS + "&link_id=1":
        assert ask(made, whole["token"], path)["total"] == total_of(rows, link_id=1)
        assert ask(made, half["token"], path)["total"] == total_of(rows, HALF, link_id=1)
    # The range is cut, and the answer has what it was cut to.
    assert ask(made, half["token"])["from"] == rfc3339(HALF)
    assert ask(made, half["token"], "/v1/clicks")["to"] == rfc3339(TO)
    # Another link, and all of them.
    for token in whole["token"], half["token"]:
        for path in "&code=code2", "&link_id=2", "&code=code9":
            assert refused(made, token, CLICKS + path) == 404
        assert refused(made, token, f"/v1/top?{RANGE}") == 403
        assert refused(made, token, f"/v1/visit-statistics?{RANGE}&code=code2") == 404
    before = f"from={rfc3339(FROM)}&to={rfc3339(HALF)}"
    assert refused(made, half["token"], f"/v1/clicks?{before}") == 403

    def days_of(one):
        return ask(made, one["token"], f"/v1/visit-statistics?{RANGE}")["days"]
    # Days are settled meanwhile.
    eventually(lambda: days_of(half) == days_of(whole)[-1:] and
               days_of(half)[0]["pv"] == sum(
                   row["link_id"] == 1 and row["ts_ms"] >= HALF * 1000 for row in rows))
    for path in "/v1/links/code1/summary", "/v1/summary", "/v1/summary?code=code1":
        assert ask(made, whole["token"], path)["events"] == total_of(
            rows, link_id=1)["events"]
        assert refused(made, half["token"], path) == 403
    assert refused(made, whole["token"], "/v1/links/code2/summary") == 404

    # The code goes to another link: the share stays with its own.
    migrated.link("code1", 7, owner="ann", account="acme")
    assert ask(made, whole["token"], CLICKS + "&code=code1")["link_id"] == "1"
    # The link goes to another account: nothing is left.
    migrated.link("code1", 1, owner="ann", account="shop", version=2)
    assert refused(made, whole["token"]) == 404


def test_a_share_gives_nothing_else(aggregator):
    made = aggregator()
    tokens = [share(made, **of)["token"] for of in (LINK, {"filters": {}})]
    tokens.append(share(made, "boss", filters={})["token"])

    for token in tokens:
        for path in ("/v1/links", "/v1/links/code1/history", "/v1/values?of=tag",
                     "/v1/creations", "/v1/pipeline", "/v1/reconciliation", "/v1/archived-spaces",
                     "/v1/reclaim-runs", "/v1/export/clicks", "/v1/live", "/v1/shares"):
            assert refused(made, token, path) == 403, path
        assert refused(made, token, "/v1/shares", "POST", json=LINK) == 403
        assert refused(made, token, "/v1/shares/" + "0" * 24, "DELETE") == 403
        answer = call(made, "GET", "/v1/me", share=token)
        assert answer.status_code == 200
        assert described_as(answer, "aggregator", "GET", "/v1/me")
        told = answer.json()
        assert told["name"] is told["account"] is None and told["roles"] == []
        assert "created_by" not in told["share"] and "token" not in answer.text
    assert ask(made, tokens[0], "/v1/me")["share"]["from"] == LINK["from"]
    for wrong in "A" * 22, "short", tokens[0][:-1], tokens[0].swapcase():
        answer = call(made, "GET", CLICKS, share=wrong)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Share realm="shortloop"'


@pytest.mark.proof
def test_filters_stay(aggregator, rows):
    made = aggregator()

    def of(key, path=CLICKS, **filters):
        return ask(made, share(made, key, filters=filters)["token"], path)
    is_total(of("acme"), rows, account="acme")
    is_total(of("ann"), rows, account="acme", owner="ann")
    is_total(of("acme", owner="bob"), rows, account="acme", owner="bob")
    is_total(of("acme", campaign="spring"), rows, account="acme", campaign="spring")
    is_total(of("boss", account="shop"), rows, account="shop")
    is_total(of("boss", account="shop", owner="ann"), rows, account="shop")
    is_total(of("boss", campaign="spring"), rows, campaign="spring")
    # Both have to match: no parameter removes a filter.
    also = CLICKS + "&campaign=spring&campaign=,spring"
    assert refused(made, share(made, filters={})["token"], also) == 400
    for path, expected in ((CLICKS + "&campaign=spring,", {"campaign": "spring"}),
                           (CLICKS + "&domain=go.example",
                            {"campaign": "spring", "domain": "go.example"})):
        is_total(of("acme", path, campaign="spring"), rows, account="acme", **expected)
    assert of("acme", CLICKS + "&campaign=-spring", campaign="spring")["total"][
        "events"] == 0
    assert of("boss", CLICKS + "&account=acme", account="shop")["total"]["events"] == 0
    assert of("acme", CLICKS + "&owner=ann", owner="bob")["total"]["events"] == 0
    # Groups and the busiest links are within them, too.
    for dimension in "link", "owner", "account", "campaign":
        groups = of("acme", f"{CLICKS}&group_by={dimension}", owner="bob",
                    campaign="spring")["groups"]
        assert {group["value"] for group in groups} == {
            "link": {"2"}, "owner": {"bob"}, "account": {"acme"},
            "campaign": {"spring"}}[dimension]
    top = of("acme", f"/v1/top?{RANGE}", owner="ann")["links"]
    assert [link["code"] for link in top] == ["code1"]
    assert of("acme", CLICKS + "&code=code1", campaign="spring")["total"] == total_of(
        rows, link_id=1, campaign="spring")
    token = share(made, filters={"owner": "bob"})["token"]
    assert refused(made, token, CLICKS + "&code=code1") == 404
    for path in "/v1/links/code2/summary", f"/v1/visit-statistics?{RANGE}&code=code2":
        assert refused(made, token, path) == 403
    # Growth is not that over a range which is not shared.
    token = share(made, filters={}, **{"from": rfc3339(HALF)})["token"]
    assert ask(made, token, f"/v1/top?{RANGE}")["from"] == rfc3339(HALF)
    assert refused(made, token, f"/v1/top?{RANGE}&sort=growth") == 403


@pytest.mark.proof
def test_no_name_of_a_range_is_beyond_it(aggregator):
    made = aggregator()
    for body in LINK, {"filters": {}, "from": rfc3339(HALF)}:
        token = share(made, **{**body, "from": rfc3339(HALF)})["token"]

        def begins(token=token):
            """Before an hour is settled all begins today."""
            begin = ask(made, token, "/v1/clicks?period=all")["from"]
            assert begin >= rfc3339(HALF)
            return begin == rfc3339(HALF)
        eventually(begins)
        assert refused(made, token, CLICKS + "&compare=previous") == 403
    # A breakdown is of the filters, as a group is.
    token = share(made, filters={"owner": "bob", "campaign": "spring"})["token"]
    parts = ask(made, token, CLICKS + "&breakdowns=link,owner,account")["breakdowns"]
    assert [[group["value"] for group in part["groups"]] for part in parts] == [
        ["2"], ["bob"], ["acme"]]


def test_last_days_end_with_today(aggregator):
    made = aggregator()
    token = share(made, filters={}, last_days=30)["token"]
    asked = f"/v1/clicks?from={rfc3339(FROM - 300 * DAY)}&interval=month"

    def days():
        first = (datetime.datetime.now(datetime.timezone.utc) -
                 datetime.timedelta(days=29)).date().isoformat()
        return ask(made, token, asked)["from"][:10] == first
    eventually(days)
    assert ask(made, token, "/v1/me")["share"]["last_days"] == 30


@pytest.mark.proof
def test_an_etag_is_of_what_is_shown(aggregator):
    made = aggregator()
    tags = set()
    for body in {"filters": {}}, {"filters": {"campaign": "spring"}}, {
            "filters": {"owner": "ann"}}, LINK:
        token = share(made, **body)["token"]

        def tag_of(token=token):
            """It changes until the watermark is known."""
            tag = call(made, "GET", CLICKS, share=token).headers["ETag"]
            again = call(made, "GET", CLICKS, share=token, headers={"If-None-Match": tag})
            return tag if again.status_code == 304 else None
        tag = eventually(tag_of)
        for other in tags:
            assert call(made, "GET", CLICKS, share=token,
                        headers={"If-None-Match": other}).status_code == 200
        tags.add(tag)


# --- making one --------------------------------------------------------------------

BAD = [
    ({}, "code, link_id, filters"), ({**LINK, "filters": {}}, "code, link_id, filters"),
    ({"code": "a b"}, "code"), ({"code": 1}, "code"), ({"link_id": "x"}, "link_id"),
    ({"link_id": "-1"}, "link_id"), ({"filters": []}, "filters"),
    ({"filters": {"nothing": "x"}}, "filters"), ({"filters": {"link": "1"}}, "filters"),
    ({"filters": {"campaign": 1}}, "filters"), ({"filters": {"campaign": "a\n"}}, "filters"),
    ({"filters": {"verdict": "people"}}, "filters"),
    ({"filters": dict.fromkeys(["campaign", "domain", "tag", "city", "language", "country",
                                "channel", "edge", "owner"], "a")}, "filters"),
    ({**LINK, "from": "soon"}, "from"), ({**LINK, "from": LINK["to"]}, "from"),
    ({**LINK, "to": "2026-10-03T00:01:00Z"}, "to"), ({**LINK, "last_days": 3}, "last_days"),
    ({"filters": {}, "last_days": 0}, "last_days"),
    ({"filters": {}, "last_days": 3661}, "last_days"),
    ({"filters": {}, "last_days": 1.5}, "last_days"),
    ({**LINK, "expires_at": "2001-01-01"}, "expires_at"),
    ({**LINK, "expires_at": "2999-01-01"}, "expires_at"),
    ({**LINK, "password": "short"}, "password"), ({**LINK, "password": "x" * 129}, "password"),
    ({**LINK, "nothing": 1}, "nothing"), ([], "the body"),
]


@pytest.mark.proof
def test_a_mistake_is_named(aggregator):
    made = aggregator()

    for body, field in BAD:
        answer = call(made, "POST", "/v1/shares", "acme", json=body)
        assert answer.status_code == 400, (body, answer.text)
        assert answer.json()["detail"].startswith(field), (body, answer.text)
        assert described_as(answer, "aggregator", "POST", "/v1/shares")
    for data in "", "{", '{"code":"code1","code":"code1"}', "x" * 70000:
        answer = call(made, "POST", "/v1/shares", "acme", data=data,
                      headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, answer.text
    assert call(made, "POST", "/v1/shares", "acme", data="{}").status_code == 415
    assert call(made, "POST", "/v1/shares?a=1", "acme", json=LINK).status_code == 400
    for method, path, allowed in (("PUT", "/v1/shares", "GET, HEAD, POST"),
                                  ("GET", "/v1/shares/x", "DELETE"),
                                  ("POST", "/v1/clicks", "GET, HEAD")):
        answer = call(made, method, path, "acme")
        assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


@pytest.mark.proof
def test_nobody_shares_what_he_does_not_read(aggregator):
    made = aggregator()

    def status(key, **body):
        answer = call(made, "POST", "/v1/shares", key, json=body)
        assert described_as(answer, "aggregator", "POST", "/v1/shares")
        return answer.status_code
    assert status(None, **LINK) == 401
    assert status("maker", **LINK) == 403
    for key in "shop", "bob":
        assert status(key, code="code1") == status(key, code="code9") == 404
        assert status(key, link_id="1") == 404
    for key, filters in (("acme", {"account": "shop"}), ("acme", {"account": "-acme"}),
                         ("ann", {"owner": "bob"}), ("ann", {"owner": "ann,bob"}),
                         ("shop", {"account": "acme", "owner": "ann"})):
        assert status(key, filters=filters) == 403, (key, filters)
    # An owner belongs to an account.
    for key in "boss", "eye":
        assert status(key, filters={"owner": "ann"}) == 400
        assert status(key, filters={"owner": "ann", "account": "acme,shop"}) == 400


# --- the end of one ------------------------------------------------------------------

def listed(made, key, **query):
    """Returns the ids of all pages."""
    found, cursor = [], {}
    while cursor is not None:
        answer = call(made, "GET", "/v1/shares", key, params={**query, **cursor})
        assert answer.status_code == 200, answer.text
        assert described_as(answer, "aggregator", "GET", "/v1/shares")
        assert "token" not in answer.text and "digest" not in answer.text
        found += [item["id"] for item in answer.json()["shares"]]
        following = answer.json()["next"]
        cursor = {"cursor": following} if following else None
    return found


@pytest.mark.proof
def test_who_lists_and_ends_a_share(aggregator, redis):
    made, other = aggregator(), aggregator()
    ids, tokens = {}, {}
    for name, key, body in (
            ("anns", "ann", {"filters": {}}), ("all", "acme", {"filters": {}}),
            ("bobs", "acme", {"code": "code2"}), ("shops", "eye", {"code": "code3"}),
            ("boss", "boss", {"filters": {}})):
        answer = share(made, key, **body)
        ids[name], tokens[name] = answer["id"], answer["token"]
    sees = {"acme": ["bobs", "all", "anns"], "ann": ["anns"], "bob": ["bobs"],
            "shop": ["shops"], "boss": ["boss"], "eye": []}
    for key, names in sees.items():
        assert listed(made, key) == [ids[name] for name in names], key
        assert listed(other, key, limit=1) == listed(made, key)
    assert listed(made, "eye", account="acme") == listed(made, "acme")
    for method, path, status in (("GET", "/v1/shares?account=acme", 403),
                                 ("GET", "/v1/shares?cursor=00", 400),
                                 ("GET", "/v1/shares?limit=0", 400),
                                 ("DELETE", "/v1/shares/" + ids["anns"], 404),
                                 ("DELETE", "/v1/shares/" + "0" * 24, 404),
                                 ("DELETE", "/v1/shares/nothing", 404)):
        assert call(made, method, path, "shop").status_code == status, path
    assert call(made, "DELETE", "/v1/shares/" + ids["anns"], "maker").status_code == 403
    assert call(made, "DELETE", "/v1/shares/" + ids["all"], "ann").status_code == 404

    # Nobody else's is ended; one that is ended is unknown everywhere at once.
    for name, key in ("anns", "acme"), ("bobs", "bob"), ("shops", "shop"), ("boss", "eye"):
        assert ask(other, tokens[name])
        answer = call(made, "DELETE", "/v1/shares/" + ids[name], key)
        assert answer.status_code == 204 and not answer.content
        assert refused(other, tokens[name]) == refused(made, tokens[name]) == 401
        assert call(other, "DELETE", "/v1/shares/" + ids[name], key).status_code == 404
    assert listed(other, "acme") == [ids["all"]]
    assert f"share={ids['anns']}" in made.log() and tokens["anns"] not in made.log()
    # Neither the token nor anything that leads to it is stored.
    stored = redis.get(f"share:{{shares}}:{ids['all']}")
    assert tokens["all"] not in stored and json.loads(stored)["password"] == ""


@pytest.mark.proof
def test_a_share_ends_by_itself_and_an_account_has_so_many(aggregator):
    made = aggregator(shares_max=2)
    end = time.time() + 3
    first = share(made, **LINK, expires_at=rfc3339(int(end) + 1))
    kept = share(made, "eye", code="code1")
    answer = call(made, "POST", "/v1/shares", "acme", json=LINK)
    if answer.status_code == 201:
        assert time.time() >= int(end) + 1
    else:
        assert answer.status_code == 429 and "shares_max" in answer.text
        assert described_as(answer, "aggregator", "POST", "/v1/shares")
    share(made, "shop", filters={})
    eventually(lambda: call(made, "GET", CLICKS, share=first["token"]).status_code == 401)
    assert time.time() >= int(end) + 1
    assert first["id"] not in listed(made, "acme")
    eventually(lambda: call(made, "POST", "/v1/shares", "acme",
                            json=LINK).status_code in (201, 429))
    assert call(made, "POST", "/v1/shares", "acme", json=LINK).status_code == 429
    assert ask(made, kept["token"])


@pytest.mark.proof
def test_a_share_has_no_more_than_its_key(aggregator, rows, keys_file):
    made = aggregator()
    every = {name: share(made, key, filters=filters)["token"] for name, key, filters in (
        ("all", "acme", {}), ("bobs", "acme", {"owner": "bob"}), ("boss", "boss", {}))}
    link = share(made, "acme", code="code2")["token"]

    def now(**keys):
        keys_file.write({**KEYS, **keys})
        before = made.log().count("API keys reloaded")
        made.process.signal(signal.SIGHUP)
        eventually(lambda: made.log().count("API keys reloaded") > before)
    now(acme="read account=acme owners=ann", boss="read account=shop")
    is_total(ask(made, every["all"]), rows, account="acme", owner="ann")
    is_total(ask(made, every["boss"]), rows, account="shop")
    assert refused(made, every["bobs"]) == 403
    assert refused(made, link) == 404
    now(acme="read account=acme", boss="admin")
    is_total(ask(made, every["bobs"]), rows, account="acme", owner="bob")
    eventually(lambda: ask(made, every["boss"])["total"]["events"] == len(rows))
    assert ask(made, link)
    for line in "read account=shop", "create account=acme", None:
        now(acme=line) if line else keys_file.write(
            {name: words for name, words in KEYS.items() if name != "acme"})
        if not line:
            made.process.signal(signal.SIGHUP)
        eventually(lambda: call(made, "GET", CLICKS, share=every["all"]).status_code == (
            403 if line and line.startswith("read") else 401))
    # Another key with the name is another key.
    keys_file.path.write_text(keys_file.path.read_text() + key_line(
        "acme", "read account=acme", "another"))
    made.process.signal(signal.SIGHUP)
    eventually(lambda: call(made, "GET", CLICKS, "another").status_code == 200)
    assert refused(made, every["all"]) == 401


# --- passwords, Redis ------------------------------------------------------------------

PASSWORD = "größer als nötig+%41"


@pytest.mark.proof
def test_a_password_is_asked_for_and_not_guessed(aggregator):
    made = aggregator()
    answer = share(made, **LINK, password=PASSWORD)
    token = answer["token"]
    assert answer["has_password"] and PASSWORD not in json.dumps(answer)

    def status(password):
        return call(made, "GET", CLICKS, share=token, password=password)
    answer = status(None)
    assert answer.status_code == 401
    assert answer.json()["type"] == "/problems/share-password"
    assert status(PASSWORD).status_code == 200
    wrong = [status(f"{PASSWORD}{n}").status_code for n in range(12)]
    assert set(wrong) == {401, 429} and wrong == sorted(wrong)
    answer = status("another password")
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) >= 1
    # The right one is let in while others guess.
    assert status(PASSWORD).status_code == 200
    assert status("x" * 400).status_code == 400
    assert call(made, "GET", "/v1/me", share=token).status_code == 401
    # Without a password none is compared.
    free = share(made, **LINK)["token"]
    assert call(made, "GET", CLICKS, share=free, password="any").status_code == 200


@pytest.mark.proof
def test_a_share_has_a_rate_of_its_own(aggregator):
    made = aggregator(key_rate="1/h", key_burst=3)
    token = share(made, "boss", **LINK)["token"]

    assert [call(made, "GET", CLICKS, share=token).status_code
            for _ in range(4)] == [200] * 3 + [429]
    assert call(made, "GET", CLICKS, "boss").status_code == 200


@pytest.mark.proof
def test_without_redis_nothing_is_known_of_a_share(aggregator, redis_server):
    with RedisProxy(redis_server.port) as proxy:
        made = aggregator(redis={"address": proxy.address})
        answer = share(made, **LINK)
        proxy.close()
        for key, token, method, path in (
                (None, answer["token"], "GET", CLICKS), (None, answer["token"], "GET", "/v1/me"),
                ("acme", None, "GET", "/v1/shares"),
                ("acme", None, "DELETE", "/v1/shares/" + answer["id"])):
            said = call(made, method, path, key, token)
            assert said.status_code == 503 and said.headers["Retry-After"], path
        assert call(made, "POST", "/v1/shares", "acme", json=LINK).status_code == 503
        assert call(made, "GET", CLICKS, "acme").status_code == 200


def test_where_there_are_no_keys_there_are_no_shares(rows, redis, program, sections):
    made = program("aggregator", {"links": sections["links"]})

    assert call(made, "POST", "/v1/shares", json=LINK).status_code == 404
    assert call(made, "GET", "/v1/shares").status_code == 404
    assert refused(made, "A" * 22) == 401
