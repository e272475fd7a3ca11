"""A moderator's decision about a link, its code and its URL stays in force, whatever
its maker does and whatever ends."""
import json
import time
import uuid

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import problem
from support.batch import batch
from support.program import eventually
from support.spaces import (
    USUAL, aliases, every_strategy, fields_of, hashes, sequence, snowflakes)

BAD = "https://bad.example/login"

KEYS = {"boss": "admin", "mallory": "create,read-own",
        "mallory-2": "create account=mallory",
        "ann": "create,read-own", "eye": "read accounts=*",
        "head": "admin account=mallory"}


@pytest.fixture
def first_keys():
    return KEYS


LINKS_SECTION = {**USUAL, "ttl_classes": ["2s", "1h", "never"], "hold_max": "2s",
                 "quarantine": "1s",
                 "spaces": [sequence(), hashes(), snowflakes(), aliases(number=5)]}


@pytest.fixture
def more_sections(workdir):
    return {"allocator": {"audit_file": str(workdir / "audit.jsonl"),
                          "url_schemes": ["myapp"]}}


def ask(api, key="mallory", idem=None, **fields):
    return api.call("POST", "/v1/links", key,
                    json={"url": BAD, "ttl": "1h", **fields},
                    headers={"Idempotency-Key": idem} if idem else {})


def make(api, key="mallory", **fields):
    answer = ask(api, key, **fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def block(api, code, key="boss", **fields):
    answer = api.patch(code, key, state="blocked", **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def block_in_time(api, **fields):
    """Returns a link of two seconds that was blocked before it ended."""
    def made():
        link = make(api, ttl="2s", **fields)
        answer = api.patch(link["code"], state="blocked")
        return answer.status_code == 200 and link
    link = eventually(made, what="a block in time")
    # Links for which the block came too late have ended, too.
    time.sleep(2.5)
    return link


def refused(answer):
    return problem(answer, 451)


def blocked_urls(api, account="mallory", key="boss", **params):
    answer = api.call("GET", f"/v1/accounts/{account}/blocked-urls", key,
                      params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["blocked_urls"]


# --- the code and the URL ----------------------------------------------------

@every_strategy
def test_its_maker_does_not_have_it_again_after_its_end(api, strategy):
    fields = fields_of(strategy)
    link = block_in_time(api, **fields)
    got = api.get(link["code"], "mallory").json()
    assert got["state"] == "blocked" and got["expires_at"] is None
    # A blocked URL is refused under its code and under another one, in every kind of
    # request.
    for each in ["sequence", "hash", "snowflake", "alias"]:
        for who in "mallory", "mallory-2", "head":
            assert BAD in refused(ask(api, who, **fields_of(each)))
    assert BAD in refused(ask(api, **fields))
    lines = batch(api, [json.dumps({"url": url, "ttl": "1h", **fields_of(each)})
                        .encode() + b"\n" for each in ("sequence", "hash")
                        for url in (BAD, "https://good.example/" + each)],
                  key="mallory")
    assert [line.get("status") for line in lines] == [451, None, 451, None]
    idem = uuid.uuid4().hex
    refused(ask(api, idem=idem, **fields))
    refused(ask(api, idem=idem, **fields))
    # Another account is not affected.
    assert make(api, "ann", **fields_of(strategy))["account"] == "ann"


@every_strategy
def test_let_go_it_has_its_life_back(api, strategy):
    link = block_in_time(api, **fields_of(strategy))
    changed = api.patch(link["code"], state="live").json()
    assert changed["state"] == "live" and changed["expires_at"]
    assert blocked_urls(api) == []
    assert make(api, **fields_of("snowflake"))
    # The link ends when the rest of its life is over.
    eventually(lambda: api.get(link["code"]).status_code in (404, 410),
               what="its end")


def test_a_link_of_an_hour_has_its_hour_again(api):
    link = make(api)
    block(api, link["code"])
    again = api.patch(link["code"], state="live").json()
    assert abs(seconds(again["expires_at"]) - seconds(link["expires_at"])) < 60


def seconds(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_an_alias_is_not_chosen_again(api):
    link = block_in_time(api, code="sale-26")
    text = problem(ask(api, url="https://good.example/", code="sale-26"), 409)
    assert "blocked" in text
    # The state of another account's link is not revealed.
    text = problem(ask(api, "ann", url="https://good.example/", code="sale-26"),
                   409)
    assert "blocked" not in text
    assert api.get(link["code"]).json()["url"] == BAD


def test_a_request_sent_again_does_not_hand_out_what_is_blocked(api):
    idem = uuid.uuid4().hex
    link = make(api, idem=idem, space="s7")
    block(api, link["code"])
    refused(ask(api, idem=idem, space="s7"))
    # This holds even if Redis has forgotten that the URL is blocked.
    api_redis = forget_urls(api)
    refused(ask(api, idem=idem, space="s7"))
    assert api_redis == 1
    assert api.patch(link["code"], state="live").status_code == 200
    again = ask(api, idem=idem, space="s7")
    assert again.status_code == 201
    assert again.json()["link_id"] == link["link_id"]


def forget_urls(api):
    return api.redis.delete("blocked:{mallory}")


@pytest.fixture(autouse=True)
def with_redis(api, redis):
    api.redis = redis.client()


@pytest.mark.parametrize("space_name", ["h6"])
def test_a_redis_that_forgot_the_url_knows_the_code(api, space_name):
    link = make(api, space=space_name)
    block(api, link["code"])
    assert forget_urls(api) == 1
    assert "blocked" in refused(ask(api, space=space_name))
    # Blocking the link once more stores its URL again.
    block(api, link["code"])
    assert [u["url"] for u in blocked_urls(api)] == [BAD]


def test_what_is_told_of_a_blocked_url(api):
    link = make(api)
    block(api, link["code"])
    entry, = blocked_urls(api)
    assert entry["url"] == BAD and entry["by"] == "boss"
    assert entry["code"] == link["code"] and entry["decisions"] == 1
    assert blocked_urls(api, url=BAD) == [entry]
    assert blocked_urls(api, id=entry["id"]) == [entry]
    assert blocked_urls(api, url="https://good.example/") == []
    assert blocked_urls(api, "ann") == []


# --- ways around --------------------------------------------------------------

def test_who_is_blocked_changes_nothing_of_it(api):
    link = make(api)
    block(api, link["code"])
    for fields in ({"url": "https://good.example/"}, {"ttl": "2s"},
                   {"tags": ["x"]}, {"state": "live"},
                   {"targets": {"ios": "https://good.example/"}},
                   {"max_visits": 1}, {"not_before": None}):
        assert "admin" in problem(
            api.patch(link["code"], "mallory", **fields), 403)
    assert "admin" in problem(api.delete(link["code"], "mallory"), 403)
    refused(ask(api))


def test_another_link_does_not_become_it(api):
    other = make(api, url="https://good.example/")
    block(api, make(api)["code"])
    assert BAD in refused(api.patch(other["code"], "mallory", url=BAD))
    assert "targets" in refused(api.patch(other["code"], "mallory",
                                          targets={"android": BAD}))
    # Even an admin cannot change it: the link has to be let go first.
    refused(api.patch(other["code"], url=BAD))
    assert api.get(other["code"]).json()["version"] == 1
    assert api.patch(other["code"], "mallory", tags=["x"]).status_code == 200


@pytest.mark.parametrize("targets", [
    {"ios": BAD}, {"ios": {"app": "myapp://bad", "fallback": BAD}},
    {"default": BAD}])
def test_a_device_does_not_lead_there_either(api, targets):
    block(api, make(api)["code"])
    fields = {} if "default" in targets else {"url": "https://good.example/"}
    answer = api.call("POST", "/v1/links", "mallory",
                      json={"ttl": "1h", "targets": targets, **fields})
    assert BAD in refused(answer)


def test_what_a_device_was_led_to_is_blocked_as_well(api):
    link = make(api, url="https://good.example/", targets={
        "ios": BAD, "android": {"app": "myapp://bad",
                                "fallback": "https://bad.example/a"}})
    block(api, link["code"])
    assert {u["url"] for u in blocked_urls(api)} == {
        "https://good.example/", BAD, "myapp://bad", "https://bad.example/a"}
    assert "targets" not in refused(ask(api))


@pytest.mark.parametrize("url", ["HTTPS://BAD.example/login",
                                 "https://bad.example:/login",
                                 "https://bad.example./login"])
def test_a_url_is_met_in_its_normal_form(api, url):
    block(api, make(api)["code"])
    refused(ask(api, url=url))


def test_deleting_a_blocked_link_does_not_free_its_url(api):
    link = make(api)
    block(api, link["code"])
    assert api.delete(link["code"]).status_code == 204
    refused(ask(api))
    entry, = blocked_urls(api)
    answer = api.call("DELETE", "/v1/accounts/mallory/blocked-urls",
                      params={"id": entry["id"]})
    assert answer.status_code == 204
    assert make(api)


def test_a_url_is_free_when_the_last_of_its_links_is(api):
    codes = [make(api, **fields_of(s))["code"] for s in
             ("sequence", "snowflake", "hash")]
    for code in codes:
        block(api, code)
    assert blocked_urls(api)[0]["decisions"] == 3
    for code in codes:
        refused(ask(api))
        assert api.patch(code, state="live").status_code == 200
    assert make(api)


def test_a_link_that_is_let_go_with_another_url_leaves_the_old_one_blocked(api):
    link = make(api)
    block(api, link["code"])
    changed = api.patch(link["code"], state="live", url="https://good.example/")
    assert changed.status_code == 200
    refused(ask(api))
    assert make(api, url="https://good.example/")


def test_blocking_twice_and_letting_go_once(api):
    link = make(api, space="s7")
    assert block(api, link["code"])["version"] == 2
    assert block(api, link["code"])["version"] == 3
    assert api.patch(link["code"], state="live").status_code == 200
    assert make(api)


def test_one_who_was_too_late_changes_no_urls(api):
    link = make(api)
    blocked = block(api, link["code"])
    stale = api.patch(link["code"], headers={"If-Match": '"0-1"'}, state="live")
    assert stale.status_code == 412
    refused(ask(api))
    assert blocked["state"] == "blocked"


# --- a URL without a link -----------------------------------------------------

def test_a_url_is_blocked_without_a_link(api):
    path = "/v1/accounts/mallory/blocked-urls"
    answer = api.call("POST", path, json={"url": BAD})
    assert answer.status_code == 201, answer.text
    refused(ask(api))
    entry, = blocked_urls(api)
    assert entry["code"] is None and entry["by"] == "boss"
    assert entry["id"] == answer.json()["id"]
    # Letting go a link does not lift this decision.
    link = make(api, url="https://good.example/")
    block(api, link["code"])
    assert api.patch(link["code"], state="live").status_code == 200
    refused(ask(api))
    assert api.call("DELETE", path, params={"url": BAD}).status_code == 204
    problem(api.call("DELETE", path, params={"url": BAD}), 404)
    assert make(api)


def test_each_decision_is_in_the_audit(api, workdir):
    path = "/v1/accounts/mallory/blocked-urls"
    api.call("POST", path, json={"url": BAD})
    api.call("DELETE", path, params={"url": BAD})

    def written():
        lines = [json.loads(line) for line in
                 (workdir / "audit.jsonl").read_text().splitlines()]
        found = [line for line in lines
                 if line["action"] in ("url_blocked", "url_lifted")]
        return len(found) == 2 and found
    first, second = eventually(written)
    assert [first["action"], second["action"]] == ["url_blocked", "url_lifted"]
    assert first["account"] == "mallory" and first["url"] == BAD
    assert first["key"] == "boss" and first["url_id"] == second["url_id"]


@pytest.mark.parametrize("key", ["mallory", "ann", "eye"])
def test_only_an_admin_moderates(api, key):
    path = "/v1/accounts/mallory/blocked-urls"
    problem(api.call("GET", path, key), 403)
    problem(api.call("POST", path, key, json={"url": BAD}), 403)
    problem(api.call("DELETE", path, key, params={"url": BAD}), 403)


@pytest.mark.parametrize("method, kw, says", [
    ("POST", {"json": {}}, "url"),
    ("POST", {"json": {"url": 5}}, "url"),
    ("POST", {"json": {"url": "javascript:x"}}, "url"),
    ("POST", {"json": {"url": BAD, "x": 1}}, "url"),
    ("GET", {"params": {"id": "xyz"}}, "id"),
    ("GET", {"params": {"cursor": "x"}}, "cursor"),
    ("GET", {"params": {"nonsense": "x"}}, "nonsense"),
    ("DELETE", {}, "required"),
    ("DELETE", {"params": {"cursor": "5"}}, "cursor"),
    ("DELETE", {"params": {"url": BAD, "id": "a" * 32}}, "one of"),
])
def test_what_makes_no_sense_is_a_400_that_says_why(api, method, kw, says):
    path = "/v1/accounts/mallory/blocked-urls"
    assert says in problem(api.call(method, path, **kw), 400)


def test_an_account_that_none_can_be_is_a_404(api):
    problem(api.call("GET", "/v1/accounts/a%20b/blocked-urls"), 404)


@pytest.mark.proof
def test_many_are_listed_by_the_page(api):
    path = "/v1/accounts/mallory/blocked-urls"
    urls = {f"https://bad.example/{i}" for i in range(1300)}
    for url in urls:
        assert api.call("POST", path, json={"url": url}).status_code == 201
    found, cursor, pages = set(), None, 0
    while pages == 0 or cursor:
        answer = api.call("GET", path,
                          params={"cursor": cursor} if cursor else {}).json()
        found |= {entry["url"] for entry in answer["blocked_urls"]}
        cursor, pages = answer["next"], pages + 1
    assert found == urls and pages > 1


# --- a Redis that is full -----------------------------------------------------

def test_a_redis_that_is_full_still_blocks(api, redis):
    link = make(api, space="s7")
    redis.client().config_set("maxmemory", "1")
    try:
        block(api, link["code"])
        assert blocked_urls(api)[0]["url"] == BAD
        assert api.patch(link["code"], state="live").status_code == 200
        assert blocked_urls(api) == []
    finally:
        redis.client().config_set("maxmemory", "0")
