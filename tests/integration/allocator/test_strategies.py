"""Spaces of all strategies, domains, and repeated requests: the allocator with real
Redis and Kafka."""
import concurrent.futures
import re
import time
import uuid

import pytest
import requests

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, Api, problem
from support.program import PATIENCE, eventually
from support.redis_proxy import RedisProxy
from support.spaces import (
    USUAL, aliases, hashes, sequence, snowflakes, with_key)


LINKS_SECTION = {**USUAL, "ttl_classes": ["2s", "1h", "never"], "spaces": [
    sequence(), hashes(), snowflakes(), sequence("s8", 4, 8, look_alikes="exclude"),
    aliases(number=5)]}


SPACES = ["s7", "h6", "flakes", "s8", "names"]


# --- hash --------------------------------------------------------------------

def test_the_same_url_of_an_owner_has_the_same_code(api):
    first = api.create(space="h6", owner="ann")
    again = api.post(url=URL, ttl="1h", space="h6", owner="ann")
    assert again.status_code == 200
    assert again.json()["code"] == first["code"]
    assert again.json()["link_id"] == first["link_id"]
    other = api.create(space="h6", owner="bob")
    assert other["code"] != first["code"]
    assert re.fullmatch("[0-9A-Za-z]{6}", first["code"])
    assert api.get(first["code"]).json()["owner"] == "ann"


def test_urls_that_are_one_uri_have_the_same_code(api):
    codes = {api.post(url=url, ttl="1h", space="h6").json()["code"] for url in [
        "https://M\u00fcnchen.example/路?a=|", "HTTPS://xn--mnchen-3ya.example/路?a=%7C",
        "https://xn--mnchen-3ya.example/%E8%B7%AF?a=%7C"]}
    assert len(codes) == 1


def test_a_url_hashed_at_once_from_all_sides_is_one_link(api):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(
            lambda _: api.call("POST", "/v1/links", json={
                "url": URL, "ttl": "1h", "space": "h6"}), range(40)))
    assert {a.status_code for a in answers} == {200, 201}
    assert sum(a.status_code == 201 for a in answers) == 1
    assert len({a.json()["link_id"] for a in answers}) == 1


def test_a_hashed_code_that_expired_belongs_to_its_next_link_anew(api):
    first = api.create(space="h6", ttl="2s")

    def next_link():
        made = api.post(url=URL, ttl="2s", space="h6").json()
        assert made["code"] == first["code"]
        return made["link_id"] != first["link_id"]
    eventually(next_link, what="the end of the first link")


def set_hash_codes(sections, method):
    sections["links"]["spaces"][1]["hash_codes"] = method


def test_a_hash_space_keeps_the_way_its_codes_are_made(redis, topic, sections,
                                                       create_space, start):
    set_hash_codes(sections, "md5-quarters")
    for name in SPACES:
        assert create_space(name=name)[0] == 0
    old = start(topic)
    codes = [old.create(space="h6", owner=o)["code"] for o in "abcd"]
    old.program.stop()
    del sections["links"]["spaces"][1]["hash_codes"]
    assert "nothing to do" in create_space(name="h6")[1]
    again = start(topic)
    for owner, code in zip("abcd", codes):
        answer = again.post(url=URL, ttl="1h", space="h6", owner=owner)
        assert (answer.status_code, answer.json()["code"]) == (200, code)
    again.program.stop()
    set_hash_codes(sections, "keyed")
    other = start(topic, ready=False)
    assert other.program.process.wait(60) == 78
    assert "hash_codes = md5-quarters" in other.program.log()


def test_create_space_says_what_codes_are_worth(redis, sections, workdir,
                                                create_space):
    sections["links"]["spaces"] = [
        *(with_key(workdir, space) for space in (
            sequence("s4", 1, 4, 10), sequence("s5", 2, 5), sequence("s6", 3, 6))),
        {**sections["links"]["spaces"][1], "name": "h8", "length": 8,
         "number": 9, "hash_codes": "md5-quarters"},
        {**sections["links"]["spaces"][1], "name": "h7", "length": 7,
         "number": 10}]
    said = {name: create_space(name=name)[1]
            for name in ("s4", "s5", "s6", "h8", "h7")}
    assert "warning: codes of 4 characters" in said["s4"]
    assert "one guess in 30 hits" in said["s4"]
    assert "one guess in 221 hits" in said["s5"]
    assert "one guess in 4294 hits" in said["h8"]
    assert "warning" not in said["s6"] + said["h7"]


# --- snowflake ---------------------------------------------------------------

def test_snowflakes_are_distinct_and_neighbours_unlike(api):
    links = [api.create(space="flakes") for _ in range(50)]
    codes = [link["code"] for link in links]
    assert len(set(codes)) == 50
    assert all(re.fullmatch("[0-9A-Za-z]{11}", c) for c in codes)
    assert len({c[:4] for c in codes}) > 25
    assert api.get(codes[7]).json()["link_id"] == links[7]["link_id"]


def test_a_made_up_snowflake_is_unknown(api):
    problem(api.get("zzzzzzzzzzz"), 404)


def test_link_ids_of_lone_links_are_never_those_of_blocks(api):
    ids = [int(api.create(space=s)["link_id"])
           for s in ("s7", "flakes", "h6")]
    assert [i >> 57 for i in ids] == [1, 63, 63]


def test_two_allocators_of_one_node_do_not_both_make_snowflakes(api, start):
    second = start(ready=False)

    def refused():
        try:
            answer = second.post(url=URL, ttl="1h", space="flakes")
        except requests.ConnectionError:
            return False  # it does not listen yet
        assert answer.status_code == 503 and answer.headers["Retry-After"]
        return "node" in answer.json()["detail"]
    eventually(refused, what="the node as the reason")
    third = start(node=1)
    third.create(space="flakes")


# --- alias -------------------------------------------------------------------

def test_a_chosen_code_is_given_once(api):
    link = api.create(code="spring-sale")
    assert link["code"] == "spring-sale" and link["space"] == "names"
    assert link["short_url"] == "https://sho.rt/spring-sale"
    taken = api.post(url=URL, ttl="1h", code="spring-sale")
    assert "spring-sale" in problem(taken, 409)
    assert "Retry-After" not in taken.headers
    assert api.create(code="Spring-Sale")["code"] == "Spring-Sale"
    assert api.get("spring-sale").json()["link_id"] == link["link_id"]


@pytest.mark.parametrize("code, status, says", [
    ("a b", 400, "code"),
    ("x" * 65, 400, "code"),
    ("", 400, "code"),
    ("robots", 409, "reserved"),
    ("Admin", 409, "reserved"),
    ("batch", 409, "reserved"),  # /v1/links/batch is another route
    ("abcdefg", 409, "7"),       # it would be a code of s7
    ("abcdef", 409, "6"),
    ("elevenchars", 409, "11"),
])
def test_an_alias_that_cannot_be_is_refused(api, code, status, says):
    assert says in problem(api.post(url=URL, ttl="1h", code=code), status)


def test_an_alias_may_have_a_generated_length_with_a_dash(api):
    assert api.create(code="abc-efg")["code"] == "abc-efg"


def test_a_deleted_alias_waits_for_its_quarantine(api):
    api.create(code="once", ttl="never")
    before = time.monotonic()
    assert api.call("DELETE", "/v1/links/once").status_code == 204
    found = api.get("once")
    if time.monotonic() - before < 5:
        problem(found, 410)
    answer = eventually(lambda: (a := api.post(
        url=URL, ttl="1h", code="once")).status_code != 409 and a)
    assert time.monotonic() - before > 5
    assert (answer.status_code, answer.json()["version"]) == (201, 1)


def test_an_alias_that_expired_waits_for_its_quarantine(api):
    def again():
        return api.post(url=URL, ttl="1h", code="brief")
    before = time.monotonic()
    api.create(code="brief", ttl="2s")
    eventually(lambda: api.get("brief").status_code == 404)
    answer = again()
    if time.monotonic() - before < 2 + 5:
        assert "expired and is in quarantine" in problem(answer, 409)
    eventually(lambda: answer.status_code == 201 or again().status_code == 201)
    assert api.get("brief").json()["version"] == 1


def test_a_space_asks_for_what_its_strategy_needs(api):
    assert "code" in problem(
        api.post(url=URL, ttl="1h", space="names"), 400)
    assert "code" in problem(
        api.post(url=URL, ttl="1h", space="s7", code="mine"), 400)


# --- the choice of a space ---------------------------------------------------

def test_a_class_has_its_own_default_space(created_spaces, topic, start):
    api = start(topic, class_spaces=["never=s8"])
    assert api.create(ttl="never")["space"] == "s8"
    assert api.create(ttl="1h")["space"] == "s7"
    assert api.create(ttl="never", space="s7")["space"] == "s7"


def test_a_space_without_lookalikes_makes_none(api):
    codes = "".join(api.create(space="s8")["code"] for _ in range(60))
    assert not set(codes) & set("0O1lI")


# --- domains -----------------------------------------------------------------

DOMAINS = {"default": "main", "list": [
    {"name": "main", "hosts": ["sho.rt", "www.sho.rt"]},
    {"name": "shop", "hosts": ["buy.example"], "spaces": ["s8", "names"]}]}


@pytest.fixture
def domains(created_spaces, topic, program, sections):
    def make(config=DOMAINS, node=0):
        return Api(program("allocator", {
            **sections, "domains": config,
            "allocator": {**sections["allocator"], "node": node}}))
    return make


def test_a_link_is_made_under_its_domain(domains):
    api = domains()
    assert api.create()["short_url"].startswith("https://sho.rt/")
    link = api.create(domain="shop")
    assert link["space"] == "s8" and link["domain"] == "shop"
    assert link["short_url"] == f"https://buy.example/{link['code']}"
    assert "shop" in problem(
        api.post(url=URL, ttl="1h", domain="shop", space="s7"), 400)
    assert "expected one of" in problem(
        api.post(url=URL, ttl="1h", domain="nowhere"), 400)


def test_a_blocked_host_is_swapped_without_touching_a_link(domains):
    code = domains().create(domain="shop")["code"]
    moved = {**DOMAINS, "list": [DOMAINS["list"][0], {
        **DOMAINS["list"][1], "hosts": ["new.example", "buy.example"]}]}
    assert domains(moved, node=1).get(code).json()["short_url"] == \
        f"https://new.example/{code}"


def test_a_link_does_not_lead_to_ourselves(domains):
    api = domains()
    for url in ("https://sho.rt/abc", "http://WWW.Sho.rt:8080/x",
                "https://buy.example./"):
        assert "url" in problem(api.post(url=url, ttl="1h"), 400)


# --- Idempotency-Key ---------------------------------------------------------

def send(api, key, caller="boss", **fields):
    return api.call("POST", "/v1/links", caller,
                    json={"url": URL, "ttl": "1h", **fields},
                    headers={"Idempotency-Key": key})


@pytest.mark.parametrize("fields", [{}, {"space": "flakes"}, {"space": "h6"},
                                    {"code": "by-name"}])
def test_a_request_sent_again_creates_nothing_again(api, redis, fields):
    key = uuid.uuid4().hex
    first = send(api, key, **fields)
    assert first.status_code == 201, first.text
    again = send(api, key, **fields)
    assert again.json()["link_id"] == first.json()["link_id"]
    if again.status_code == 200:  # a hash finds its link without the key, too
        assert fields == {"space": "h6"}
    else:
        assert again.status_code == 201
        assert again.headers["Idempotency-Replayed"] == "true"
    assert len(list(redis.client().scan_iter("l:*"))) == 1


def test_a_key_belongs_to_one_request(api):
    key = uuid.uuid4().hex
    assert send(api, key).status_code == 201
    assert "Idempotency-Key" in problem(send(api, key, tags=["x"]), 422)
    # another caller's key is another key
    assert send(api, key, caller="crm").status_code == 201


@pytest.mark.parametrize("space", ["s7", "h6"])
def test_a_key_belongs_to_one_request_before_that_is_answered(
        created_spaces, redis_server, topic, start, base_config, space):
    key = uuid.uuid4().hex
    with RedisProxy(redis_server.port) as proxy:
        base_config["redis"].update(address=proxy.address,
                                    command_timeout="60s")
        api = start(topic)
        # Another allocator, whose connections are not held.
        other = start(topic, node=1)
        held = proxy.hold(b"https://example.org/first")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(send, api, key, space=space,
                                url="https://example.org/first")
            assert held.here.wait(60)
            problem(send(other, key, space=space,
                         url="https://example.org/second"), 422)
            held.release()
            made = first.result()
        assert made.status_code == 201, made.text


@pytest.mark.parametrize("fields", [{}, {"space": "h6"}])
def test_one_key_from_all_sides_is_one_link(api, redis, fields):
    key = uuid.uuid4().hex

    def once(_):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = Api(api.program).call(
                "POST", "/v1/links", json={"url": URL, "ttl": "1h", **fields},
                headers={"Idempotency-Key": key})
            if answer.status_code == 201 or "space" in fields:
                assert answer.status_code in (200, 201), answer.text
                return answer.json()["link_id"]
            assert answer.status_code == 409, answer.text
            time.sleep(0.05)
        raise AssertionError("never answered")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(once, range(16)))
    assert len(ids) == 1
    assert len(list(redis.client().scan_iter("l:*"))) == 1


def test_a_replay_of_a_link_that_ended_does_not_make_it_again(api):
    key = uuid.uuid4().hex
    made = send(api, key, ttl="2s")
    assert made.status_code == 201
    eventually(lambda: api.get(made.json()["code"]).status_code in (404, 410),
               what="the end of the link")
    problem(send(api, key, ttl="2s"), 410)


def leave_plan(redis, deadline):
    """Only the plan of the last request is left, as if the rest of it was lost."""
    record, = redis.scan_iter("i:*")
    words = redis.get(record).split()
    for link in redis.scan_iter("l:*"):
        redis.delete(link)
    redis.set(record, " ".join(["p", str(deadline), *words[2:]]), ex=86400)


@pytest.mark.parametrize("ttl, status", [("2s", 410), ("1h", 201)])
def test_a_plan_of_which_the_link_may_have_ended_is_not_made_again(api, redis, ttl,
                                                                   status):
    key = uuid.uuid4().hex
    assert send(api, key, ttl=ttl, space="flakes").status_code == 201
    leave_plan(redis, int(time.time() * 1000) - 1)
    again = send(api, key, ttl=ttl, space="flakes")
    assert again.status_code == status, again.text
    assert len(list(redis.scan_iter("l:*"))) == (status == 201)


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a b"])
def test_a_key_that_is_none_is_a_400(api, key):
    assert "Idempotency-Key" in problem(send(api, key), 400)
