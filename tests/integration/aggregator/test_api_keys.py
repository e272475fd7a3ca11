"""API keys of the aggregator: which keys may ask, and whose clicks a key sees;
test_key_matrix.py has each key and route."""
import itertools
import signal

import pytest

import servers
from support.asking import FROM, TO, aggregator  # noqa: F401
from support.clicks import (expected_link_counts, link_counts, rfc3339,
                            some_clicks)
from support.program import eventually, quick

# {name: roles and other words of its line}; the key is its name.
KEYS = {
    "boss": "admin",
    "eye": "read accounts=*",
    "ann": "read account=acme owners=ann",
    "shop-ann": "read account=shop owners=ann",
    "acme": "read-own account=acme",
    "acme-bob": "read-own account=acme owners=bob",
    "maker": "create account=acme",
    "old": "create account=acme",
}
# Lines for the allocator, which may use the same file.
ACCOUNTS = "@acme links=100/month ttl=10d\n@* links=10/day\n"

# {link: owner, account, creator} of the codes code1 ...; there is no code9.
LINKS = {1: ("ann", "acme", "acme"), 2: ("bob", "shop", "shop"),
         3: ("ann", "shop", "shop"), 4: ("bob", "", "old")}
# Keys that read all accounts name one where they ask for an owner.
NAMES_ONE = {"boss": {"account": "shop"}, "eye": {"account": "acme"}}
DAY = 86400
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(TO)}"


@pytest.fixture
def keyed(aggregator, migrated, keys_file):
    def start(keys, **settings):
        return aggregator(keys_file=str(keys_file.write(keys)), **settings)
    keys_file.head = ACCOUNTS
    return start


@pytest.fixture
def links(migrated):
    """Inserts a few clicks of each link, and the archive."""
    rows = some_clicks(5, 400, [(TO - 2 * DAY, TO)], links=list(LINKS))
    for row in rows:
        row["owner"], row["account"], _ = LINKS[row["link_id"]]
    migrated.insert(rows)
    for link, (owner, account, creator) in LINKS.items():
        migrated.link(f"code{link}", link, owner=owner, account=account,
                      creator=creator)
    return rows


def get(made, path, key=None, method="GET"):
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return quick.request(method, made.url + path, headers=headers, timeout=60)


def problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == status
    return answer.json()["detail"]


def of_link(link):
    """Returns every kind of question about one link."""
    clicks = f"/v1/clicks?{RANGE}&interval=month"
    return [f"{clicks}&code=code{link}",
            f"{clicks}&code=code{link}&format=csv",
            f"{clicks}&code=code{link}&group_by=owner&account=acme",
            f"{clicks}&link_id={link}",
            f"/v1/links/code{link}/summary",
            f"/v1/summary?code=code{link}",
            f"/v1/summary?link_id={link}",
            f"/v1/visit-statistics?code=code{link}",
            f"/v1/visit-statistics?link_id={link}&format=csv"]


OVER_ALL = [f"/v1/clicks?{RANGE}&interval=month",
            f"/v1/clicks?{RANGE}&interval=month&format=csv",
            f"/v1/clicks?{RANGE}&interval=month&group_by=link",
            f"/v1/top?{RANGE}", "/v1/pipeline", "/v1/reconciliation"]


# --- clicks that a key sees ----------------------------------------------------

def listed(made, key, limit=1, **parameters):
    """Returns the codes on all pages of a list."""
    codes, cursor = [], ""
    while cursor is not None:
        query = "&".join(f"{k}={v}" for k, v in parameters.items()) + cursor
        answer = get(made, f"/v1/links?limit={limit}&{query}", key)
        assert answer.status_code == 200, answer.text
        codes += [link["code"] for link in answer.json()["links"]]
        following = answer.json()["next"]
        cursor = following and f"&cursor={following}"
    return codes


def days_settled(migrated, rows):
    """A day that is settled between two pages changes the order of its links by
    clicks."""
    eventually(lambda: link_counts(migrated.clickhouse) == expected_link_counts(rows),
               what="days settled")


# Link 5 was ann's, and is bob's now; 4 and 6 belong to no account, 6 and 8 to no owner.
LISTED = {"boss": set(range(1, 9)), "eye": set(range(1, 9)),
          "ann": {1}, "shop-ann": {3}, "acme": {1, 7, 8}, "acme-bob": {7}, "none": {8}}


@pytest.mark.proof
def test_a_list_has_what_its_key_sees(keyed, links, migrated, subtests):
    made = keyed({**KEYS, "none": "read account=acme owners=,carol"}, resettle_every="0s")
    days_settled(migrated, links)
    for version, owner in (1, "ann"), (2, "bob"):
        migrated.link("code5", 5, owner=owner, account="shop",
                      creator="shop", version=version)
    migrated.link("code6", 6, owner="", account="", creator="gone")
    migrated.link("code7", 7, owner="bob", account="acme", creator="maker")
    migrated.link("code8", 8, owner="", account="acme", creator="maker")

    assert get(made, "/v1/links", "maker").status_code == 403
    for (key, sees), sort in zip(LISTED.items(), itertools.cycle(("created", "clicks"))):
        codes = {f"code{link}" for link in sees}
        with subtests.test(key=key, sort=sort):
            assert set(listed(made, key, sort=sort)) == codes
            assert set(listed(made, key, 4, sort=sort, q="code")) == codes
            named = NAMES_ONE.get(key, {})
            anns = {"shop": {"code3"}, "acme": {"code1"}}.get(
                named.get("account"), {"code1", "code3"})
            assert set(listed(made, key, 4, sort=sort, owner="ann", **named)) == codes & anns
    assert "expected one account=NAME" in problem(
        get(made, "/v1/links?owner=ann", "eye"), 400)


@pytest.mark.long
def test_a_link_that_goes_to_another_owner_is_in_no_later_page(keyed, links, migrated):
    made = keyed(KEYS, resettle_every="0s")
    migrated.link("code5", 5, owner="ann", account="acme")
    days_settled(migrated, links)
    for sort in "created", "clicks":
        first = get(made, f"/v1/links?limit=1&sort={sort}", "ann").json()
        left = {"code1", "code5"} - {link["code"] for link in first["links"]}
        (code,) = left
        number = int(code[-1])
        version = {"created": 2, "clicks": 4}[sort]
        migrated.link(code, number, owner="bob", account="shop", version=version)
        following = get(made, f"/v1/links?limit=1&sort={sort}&cursor={first['next']}",
                        "ann").json()
        assert following["links"] == [] and following["next"] is None
        migrated.link(code, number, owner="ann", account="acme", version=version + 1)


@pytest.mark.proof
@pytest.mark.parametrize("key", ["ann", "acme-bob"])
def test_what_is_hidden_is_answered_like_what_is_not_there(keyed, links, key):
    made = keyed(KEYS)

    for hidden, nothing in zip(of_link(2), of_link(9)):
        one, other = get(made, hidden, key), get(made, nothing, key)
        assert one.status_code == 404
        assert one.content.replace(b"code2", b"code9").replace(
            b"link_id 2", b"link_id 9") == other.content
        assert {**one.headers, "Date": ""} == {**other.headers, "Date": ""}


@pytest.mark.proof
def test_what_is_seen_is_what_everybody_else_sees(keyed, links):
    made = keyed(KEYS)

    for path in of_link(1):
        for key in "ann", "acme":
            # The answers differ until the watermark is known, and are equal from then
            # on.
            eventually(lambda p=path, k=key: get(made, p, k).content ==
                       get(made, p, "boss").content)


def test_a_link_is_its_present_owners(keyed, links, migrated):
    made = keyed(KEYS)
    migrated.link("code1", 1, owner="bob", account="acme", version=2)
    # The code went to another link and owner.
    migrated.link("code3", 33, owner="bob", account="acme")

    assert get(made, "/v1/clicks?code=code1", "ann").status_code == 404
    assert get(made, "/v1/clicks?code=code1", "acme-bob").status_code == 200
    assert get(made, "/v1/clicks?code=code3", "ann").status_code == 404
    assert get(made, "/v1/clicks?link_id=3", "ann").status_code == 404
    assert get(made, "/v1/clicks?link_id=3", "shop-ann").status_code == 200
    assert get(made, "/v1/clicks?code=code3", "acme-bob").status_code == 200


def test_a_refusal_says_what_to_do(keyed, links):
    made = keyed(KEYS)

    answer = get(made, "/v1/top")
    assert "Authorization: Bearer <key>" in problem(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="shortloop"'
    answer = get(made, "/v1/top", "wrong")
    assert "not known" in problem(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="shortloop"'
    answer = get(made, "/v1/top", "maker")
    assert "'read' or 'read-own'" in problem(answer, 403)
    assert "insufficient_scope" in answer.headers["WWW-Authenticate"]
    assert problem(get(made, "/v1/pipeline", "ann"), 403).startswith(
        "this key sees the links of its owners only: ")
    assert problem(get(made, "/v1/pipeline", "acme"), 403) == (
        "this key sees the links of its account only: this is about all of them")


def test_a_page_of_another_origin_asks_with_a_key(keyed):
    origin = "https://a.example"
    made = keyed(KEYS, cors_origins=[origin])

    def ask(method, **headers):
        return quick.request(method, made.url + "/v1/top", timeout=60,
                             headers={"Origin": origin, **headers})
    # A browser sends a preflight first, without the key.
    first = ask("OPTIONS", **{"Access-Control-Request-Method": "GET"})
    assert first.status_code == 204
    assert "Authorization" in first.headers["Access-Control-Allow-Headers"]
    for headers, status in ({}, 401), ({"Authorization": "Bearer eye"}, 200):
        answer = ask("GET", **headers)
        assert answer.status_code == status
        assert answer.headers["Access-Control-Allow-Origin"] == origin


# --- rates -----------------------------------------------------------------------

def test_a_key_that_asks_too_often_is_429_and_told_when(keyed):
    made = keyed({"slow": "read accounts=* rate=3/h", "eye": "read accounts=*"})

    assert [get(made, "/v1/top", "slow").status_code
            for _ in range(3)] == [200] * 3
    answer = get(made, "/v1/clicks?code=nobody", "slow")
    assert "'slow'" in problem(answer, 429)
    assert 1 <= int(answer.headers["Retry-After"]) <= 1200
    assert answer.headers["RateLimit-Policy"] == '"key";q=3;w=3600'
    assert answer.headers["RateLimit"].startswith('"key";r=0;t=')
    made.wait_metric(1, "shortloop_aggregator_rate_limited_total", key="slow")
    assert get(made, "/v1/top", "eye").status_code == 200
    assert get(made, "/openapi.json", "slow").status_code == 200


def test_the_settings_rate_is_that_of_keys_that_say_none(keyed):
    made = keyed({"eye": "read accounts=*", "own": "read accounts=* rate=3/h", "boss": "admin"},
                 key_rate="1/h", key_burst=2)

    def statuses(key):
        return [get(made, "/v1/clicks", key).status_code for _ in range(4)]
    assert statuses("eye") == [200, 200, 429, 429]
    assert statuses("own") == [200, 200, 200, 429]
    assert statuses("boss") == [200] * 4


def test_a_bad_rate_is_a_config_error(program, keys_file):
    made = program("aggregator", {"aggregator": {
        "keys_file": str(keys_file.write(KEYS)), "key_rate": "often"}}, start=False)

    status, output = made.run()

    assert status == 78
    assert "aggregator.key_rate: 'often': expected" in output


# --- the file ----------------------------------------------------------------------

def test_sighup_reads_the_keys_again(keyed, keys_file):
    made = keyed({"eye": "read accounts=*", "slow": "read accounts=* rate=1/h"})
    assert get(made, "/v1/top", "slow").status_code == 200
    keys_file.write({"boss": "admin", "slow": "read accounts=* rate=1/h"})

    made.process.signal(signal.SIGHUP)

    eventually(lambda: get(made, "/v1/top", "boss").status_code == 200)
    assert get(made, "/v1/top", "eye").status_code == 401
    # Used-up requests stay used up.
    assert get(made, "/v1/top", "slow").status_code == 429
    made.wait_log("API keys reloaded")


def test_a_file_with_a_mistake_leaves_the_keys(keyed, keys_file):
    made = keyed({"eye": "read accounts=*"})
    keys_file.write({"boss": "admin", "eye": "owner"})

    made.process.signal(signal.SIGHUP)

    made.wait_log("API keys rejected, the old ones stay")
    assert ":4: expected roles" in made.log()
    assert get(made, "/v1/top", "eye").status_code == 200
    assert get(made, "/v1/top", "boss").status_code == 401


@pytest.mark.parametrize("args", [(), ("--check",)])
def test_a_file_that_cannot_be_read_is_told_before_a_start(program, workdir,
                                                           args):
    made = program("aggregator", {"aggregator": {
        "keys_file": str(workdir / "none")}}, start=False, args=args)

    status, output = made.run()

    assert status == 78
    assert f"aggregator.keys_file: {workdir / 'none'}: No such file" in output


# --- without a file ------------------------------------------------------------------

WARNING = "the API answers anybody, for all accounts"


@pytest.mark.long
def test_without_a_file_anybody_sees_all(aggregator, links):
    made = aggregator()

    for path in OVER_ALL + [p for link in LINKS for p in of_link(link)]:
        assert get(made, path).status_code == 200
        assert get(made, path, "wrong").status_code == 200
    assert WARNING not in made.log()


def test_beyond_loopback_that_is_warned_of_once(aggregator, keyed):
    def anywhere():
        return {"listen": f"0.0.0.0:{servers.free_port()}", "threads": 2}

    assert aggregator(**anywhere()).log().count(WARNING) == 1
    assert WARNING not in keyed(KEYS, **anywhere()).log()
