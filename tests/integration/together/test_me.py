"""GET /v1/me of allocator and aggregator, with one file of keys."""
import datetime

import pytest
import requests

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, problem
from support.keys import key_line
from support.program import eventually
from support.spaces import USUAL, aliases, hashes, sequence

KEYS = {"boss": "admin", "crm": "create,read rate=1/h burst=9",
        "ann": "read-own account=crm owners=,ann", "eye": "read accounts=*",
        "maker": "create account=shop spaces=names,h8", "slow": "read rate=1/h"}
ACCOUNTS = ("@crm links=3/day bytes=1MiB/month ttl=1h,never spaces=s7,h8\n"
            "@shop links=5/month\n")
LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "30d", "never"],
                 "spaces": [sequence(), hashes("h8", length=8), aliases()]}
# The members that both programs have.
SHARED = ["name", "account", "accounts", "roles", "owners", "rate"]


@pytest.fixture
def more_sections():
    return {"domains": {"list": [
        {"name": "main", "hosts": ["sho.rt", "www.sho.rt"]},
        {"name": "promo", "hosts": ["promo.example"], "accounts": ["crm"],
         "base_url": "https://promo.example:8443/go", "spaces": ["h8"]},
        {"name": "bank", "hosts": ["bank.link"], "accounts": ["bank"]},
        {"name": "admins", "hosts": ["admins.link"]}]}}


@pytest.fixture
def keys_file(keys_file):
    keys_file.path.write_text(
        "".join(key_line(*item) for item in KEYS.items()) + ACCOUNTS)
    return keys_file


def me(api, key):
    answer = api.call("GET", "/v1/me", key)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def names(items):
    return [each["name"] for each in items]


def test_a_key_learns_what_it_may_do_and_nothing_of_others(api):
    crm = me(api, "crm")
    assert crm["spaces"] == [
        {"name": "s7", "strategy": "sequence", "code_length": 7},
        {"name": "h8", "strategy": "hash", "code_length": 8}]
    assert crm["domains"] == [
        {"name": "main", "host": "sho.rt", "base_url": "https://sho.rt",
         "default": True, "paused": False, "spaces": ["s7", "h8"]},
        {"name": "promo", "host": "promo.example",
         "base_url": "https://promo.example:8443/go", "default": False, "paused": False,
         "spaces": ["h8"]}]
    assert crm["ttl"] == ["1h", "never"]
    ann = me(api, "ann")
    assert ann["owners"] == ["", "ann"] and ann["roles"] == ["read"]
    assert names(ann["domains"]) == ["main", "promo"]
    maker = me(api, "maker")
    assert maker["account"] == "shop" and maker["roles"] == ["create"]
    assert names(maker["domains"]) == ["main"]
    assert maker["spaces"] == [
        {"name": "h8", "strategy": "hash", "code_length": 8},
        {"name": "names", "strategy": "alias", "code_length": None}]
    assert maker["ttl"] == ["1h", "30d", "never"]
    eye = me(api, "eye")
    assert eye["accounts"] == "*" and names(eye["domains"]) == ["main"]
    boss = me(api, "boss")
    assert boss["roles"] == ["read", "visitors", "create", "admin"]
    assert names(boss["domains"]) == ["main", "promo", "bank", "admins"]
    assert boss["quota"] == {"links": None, "bytes": None} and boss["rate"] is None
    for key in set(KEYS) - {"boss"}:
        assert "bank" not in api.call("GET", "/v1/me", key).text


def test_a_quota_is_what_redis_counts_of_all_keys(api):
    assert me(api, "crm")["quota"]["links"]["used"] == 0
    for owner in ("ann", "bob"):
        assert api.post("crm", url=URL, ttl="1h", owner=owner).status_code == 201
    quota = me(api, "ann")["quota"]
    assert quota["links"].pop("resets_at").endswith("T00:00:00Z")
    ends = datetime.datetime.fromisoformat(quota["bytes"].pop("resets_at"))
    assert ends.day == 1 and ends > datetime.datetime.now(datetime.timezone.utc)
    assert quota["links"] == {"used": 2, "max": 3, "period": "day"}
    assert quota["bytes"].pop("used") > 2 * len(URL)
    assert quota["bytes"] == {"max": 1 << 20, "period": "month"}
    assert me(api, "maker")["quota"] == {"bytes": None, "links": {
        "used": 0, "max": 5, "period": "month",
        "resets_at": ends.strftime("%Y-%m-%dT00:00:00Z")}}


def test_the_rate_is_that_of_the_next_refusal(api):
    first, second = me(api, "crm")["rate"], me(api, "crm")["rate"]
    assert (first["left"], second["left"]) == (8, 7)
    assert first["burst"] == 9 and first["window_seconds"] == 9 * 3600
    assert me(api, "slow")["rate"]["left"] == 0
    refused = api.call("GET", "/v1/me", "slow")
    problem(refused, 429)
    assert refused.headers["RateLimit-Policy"] == '"key";q=1;w=3600'


def test_no_key_learns_nothing(api):
    for key in (None, "nobody"):
        problem(api.call("GET", "/v1/me", key), 401)
    assert "'x'" in problem(api.call("GET", "/v1/me?x=1"), 400)
    answer = api.call("POST", "/v1/me")
    problem(answer, 405)
    assert answer.headers["Allow"] == "GET, HEAD"


def test_without_redis_a_quota_is_not_known(own_redis, api):
    assert me(api, "crm")["quota"]["links"]["used"] == 0
    own_redis.kill()
    eventually(lambda: api.program.ready()[0] == 503)
    problem(api.call("GET", "/v1/me", "crm"), 503)
    assert me(api, "eye")["quota"] == {"links": None, "bytes": None}


def test_both_programs_say_the_same_of_a_key(api, migrated, program, keys_file):
    other = program("aggregator", {"aggregator": {"keys_file": str(keys_file.path)}})
    for key in KEYS:
        answer = requests.get(other.url + "/v1/me", timeout=60,
                              headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        mine, here = answer.json(), me(api, key)
        assert list(mine) == SHARED
        # Each program has its own defaults of the rate, and its own count.
        if "rate=" in KEYS[key]:
            assert mine["rate"]["left"] == here["rate"]["left"]
        assert ([mine[each] for each in SHARED[:-1]]
                == [here[each] for each in SHARED[:-1]])
