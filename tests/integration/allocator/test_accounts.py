"""Two customers of one allocator: which links belong to whom, in every way that a link
can be requested, created, found, changed and sent again."""
import json
import signal
import uuid

import pytest
import redis as redis_module

from support.allocator import *  # noqa: F401,F403
from support.allocator import events_of, problem
from support.batch import batch
from support.program import eventually
from support.protobuf import message
from support.spaces import (
    USUAL, aliases, fields_of, hashes, sequence, snowflakes)

Link = message("link.proto", "shortloop.Link")
LOGIN = "https://bank.example/login"

KEYS = {"boss": "admin", "victim": "create,read-own",
        "mallory": "create,read-own", "eye": "read accounts=*",
        "mallory-2": "create account=mallory",
        "ann": "create,read-own account=mallory owners=ann,Ann%20Smith",
        "bob": "create account=mallory owners=bob,",
        "old": "create account=acme", "new": "create account=acme"}


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def reload(api, keys_file):
    def make(keys):
        mark = uuid.uuid4().hex
        keys_file.write({**keys, mark: "read"})
        api.program.process.signal(signal.SIGHUP)
        eventually(lambda: api.get("0000000", key=mark).status_code == 404)
    return make


LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "never"], "spaces": [
    sequence(), hashes(), snowflakes(), hashes("old8", 4, 8, hash_codes="md5-quarters"),
    aliases(number=5)]}


def make(api, key, status=201, idem=None, **fields):
    answer = api.call("POST", "/v1/links", key,
                      json={"url": LOGIN, "ttl": "1h", **fields},
                      headers={"Idempotency-Key": idem} if idem else {})
    assert answer.status_code == status, answer.text
    return answer.json()


STRATEGIES = ["sequence", "hash", "md5", "snowflake", "alias"]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def line_of(**fields):
    return json.dumps({"url": LOGIN, "ttl": "1h", **fields}).encode() + b"\n"


def make_by(api, made_by, key, strategy, **fields):
    fields.update(fields_of(strategy))
    if made_by == "single":
        return make(api, key, **fields)
    if made_by == "batch":
        link, = batch(api, [line_of(**fields)], key=key)
        assert "link_id" in link, link
        return link
    # The request is sent twice; the second answer has the link as it is replayed.
    idem = uuid.uuid4().hex
    first = make(api, key, idem=idem, **fields)
    again = api.call("POST", "/v1/links", key,
                     json={"url": LOGIN, "ttl": "1h", **fields},
                     headers={"Idempotency-Key": idem})
    assert again.status_code in (200, 201), again.text
    assert again.json()["link_id"] == first["link_id"]
    return again.json()


# Permissions depend on what is stored, however it was created.
every_link = pytest.mark.parametrize("strategy, made_by", [
    pytest.param(strategy, made_by, marks=[] if made_by == "single"
                 or strategy == "sequence" else pytest.mark.long)
    for strategy in STRATEGIES for made_by in ("single", "batch", "idem")])


# --- by the hash of a URL -----------------------------------------------------

both_hashes = pytest.mark.parametrize("hashes", ["h6", "old8"])


@both_hashes
@pytest.mark.parametrize("bait", [
    {"targets": {"ios": "https://evil.example/"}},
    {"not_before": "2099-01-01T00:00:00Z"}, {"max_visits": 1},
    {"tags": ["x"]}, {"campaign": "x"}, {"description": "x"},
    {"redirect_status": 301}, {"ttl": "never"}, {}])
def test_a_customer_is_never_handed_anothers_link(api, hashes, bait):
    hers = make(api, "mallory", space=hashes, **bait)
    mine = make(api, "victim", space=hashes)
    assert mine["code"] != hers["code"] and mine["link_id"] != hers["link_id"]
    assert (mine["account"], mine["creator"]) == ("victim", "victim")
    assert (mine["targets"], mine["not_before"], mine["max_visits"],
            mine["tags"], mine["campaign"], mine["description"],
            mine["redirect_status"], mine["ttl"]) == \
        ({}, None, None, [], None, None, 302, "1h")
    # Each account finds its own link again, and only that.
    assert make(api, "victim", 200, space=hashes)["link_id"] == mine["link_id"]
    assert make(api, "mallory", 200, space=hashes)["link_id"] == hers["link_id"]
    assert make(api, "boss", space=hashes)["code"] not in (
        mine["code"], hers["code"])


@both_hashes
def test_a_link_that_was_edited_is_not_handed_to_another(api, hashes):
    hers = make(api, "mallory", space=hashes, url="https://evil.example/")
    assert api.patch(hers["code"], "mallory", url=LOGIN).status_code == 200
    mine = make(api, "victim", space=hashes)
    assert mine["code"] != hers["code"]
    problem(api.patch(mine["code"], "mallory", url="https://evil.example/"), 404)


@both_hashes
def test_in_a_batch_customers_are_kept_apart_too(api, hashes):
    lines = [json.dumps({"url": LOGIN, "ttl": "1h", "space": hashes,
                         **more}).encode() + b"\n"
             for more in ({"max_visits": 1}, {"owner": "victim"})]
    hers = batch(api, lines, key="mallory")
    mine = batch(api, lines[1:], key="victim")
    assert {link["account"] for link in hers} == {"mallory"}
    assert mine[0]["account"] == "victim"
    assert len({link["code"] for link in hers + mine}) == 3


@both_hashes
def test_more_accounts_than_candidates_share_a_url(api, reload, hashes):
    names = [f"tenant-{i}" for i in range(40)]
    reload({**KEYS, **{name: "create" for name in names}})
    codes = {make(api, name, space=hashes)["code"] for name in names}
    assert len(codes) == 40


# --- permissions --------------------------------------------------------------

@every_link
def test_who_may_read(api, strategy, made_by):
    code = make_by(api, made_by, "victim", strategy)["code"]
    for path in ("", "/qr"):
        status = {key: api.get(code + path, key).status_code
                  for key in ("victim", "mallory", "mallory-2", "eye", "boss")}
        assert status == {"victim": 200, "mallory": 404, "mallory-2": 403,
                          "eye": 200, "boss": 200}


@every_link
def test_who_may_edit(api, strategy, made_by):
    link = make_by(api, made_by, "mallory", strategy)
    code = link["code"]
    for key, status in (("victim", 404), ("new", 404), ("eye", 403)):
        problem(api.patch(code, key, tags=["x"]), status)
    assert api.patch(code, "mallory-2", tags=["x"]).json()["version"] == 2
    assert api.patch(code, "mallory", tags=["y"]).json()["version"] == 3
    changed = api.patch(code, "boss", tags=["z"]).json()
    assert changed["version"] == 4
    assert (changed["account"], changed["creator"], changed["editor"]) == (
        "mallory", "mallory", "boss")


@every_link
def test_who_may_block(api, strategy, made_by):
    code = make_by(api, made_by, "mallory", strategy)["code"]
    for key in ("mallory", "mallory-2", "victim", "eye"):
        problem(api.patch(code, key, state="blocked"), 403)
    assert api.patch(code, "boss", state="blocked").status_code == 200
    problem(api.patch(code, "mallory", state="live"), 403)
    assert api.get(code).json()["state"] == "blocked"


@every_link
def test_who_may_delete(api, strategy, made_by):
    first, second = (make_by(api, made_by, "mallory", strategy,
                             url=LOGIN + "?" + n) for n in "12")
    for key, status in (("victim", 404), ("new", 404), ("eye", 403)):
        problem(api.delete(first["code"], key), status)
    assert api.delete(first["code"], "mallory-2").status_code == 204
    assert api.delete(second["code"], "boss").status_code == 204


def test_a_taken_alias_says_nothing_of_its_link(api):
    make(api, "victim", code="spring-sale", description="secret")
    answer = api.post(key="mallory", url=LOGIN, ttl="1h", code="spring-sale")
    assert "secret" not in problem(answer, 409) and "victim" not in answer.text


# --- requests sent again ------------------------------------------------------

@every_strategy
def test_a_request_sent_again_is_its_accounts(api, strategy):
    fields = fields_of(strategy)
    hers = make(api, "mallory", idem="same", **fields)
    again = api.call("POST", "/v1/links", "mallory-2",
                     json={"url": LOGIN, "ttl": "1h", **fields},
                     headers={"Idempotency-Key": "same"})
    assert again.status_code in (200, 201)
    assert again.json()["link_id"] == hers["link_id"]
    if strategy == "alias":
        problem(api.call("POST", "/v1/links", "victim",
                         json={"url": LOGIN, "ttl": "1h", **fields},
                         headers={"Idempotency-Key": "same"}), 409)
        fields = fields_of(strategy)
    mine = make(api, "victim", idem="same", **fields)
    assert mine["link_id"] != hers["link_id"]
    assert mine["account"] == "victim"


@every_strategy
def test_a_batch_sent_again_is_its_accounts(api, strategy):
    lines = [line_of(url=LOGIN + "?" + n, **fields_of(strategy)) for n in "12"]
    headers = {"Idempotency-Key": "same"}
    hers = batch(api, lines, key="mallory", headers=headers)
    again = batch(api, lines, key="mallory-2", headers=headers)
    assert [a["link_id"] for a in again] == [a["link_id"] for a in hers]
    assert {a["creator"] for a in hers + again} == {"mallory"}
    if strategy == "alias":
        taken = batch(api, lines, key="victim", headers=headers)
        assert [a["status"] for a in taken] == [409, 409]
        lines = [line_of(**fields_of(strategy)) for _ in lines]
    mine = batch(api, lines, key="victim", headers=headers)
    assert not {a["link_id"] for a in mine} & {a["link_id"] for a in hers}
    assert {a["account"] for a in mine} == {"victim"}


# --- several keys of one account ----------------------------------------------

def test_a_key_is_rotated_without_new_codes(api, reload):
    link = make(api, "old", space="h6", owner="ann")
    sent = make(api, "old", idem="again")
    assert make(api, "new", 200, space="h6", owner="ann")["code"] == \
        link["code"]
    reload({name: roles for name, roles in KEYS.items() if name != "old"})
    problem(api.post("old", url=LOGIN, ttl="1h"), 401)
    assert make(api, "new", 200, space="h6", owner="ann")["code"] == \
        link["code"]
    assert make(api, "new", idem="again")["link_id"] == sent["link_id"]
    assert api.patch(link["code"], "new", tags=["x"]).status_code == 200


def test_events_and_answers_name_the_account(api, kafka):
    make(api, "new", code="an-alias")
    api.patch("an-alias", "old", tags=["x"])
    api.delete("an-alias", "new")
    for _, event in events_of(kafka, api.topic, 3):
        assert (event.link.account, event.link.creator) == ("acme", "new")


# --- owners -------------------------------------------------------------------

@every_strategy
def test_a_key_writes_for_its_owners_only(api, strategy):
    assert "owner" in problem(api.post(
        "ann", url=LOGIN, ttl="1h", owner="bob", **fields_of(strategy)), 403)
    assert "owner" in problem(api.post(
        "ann", url=LOGIN, ttl="1h", **fields_of(strategy)), 403)
    link = make(api, "ann", owner="Ann Smith", **fields_of(strategy))
    none = make(api, "bob", **fields_of(strategy))
    assert none["code"] != link["code"]
    problem(api.patch(link["code"], "bob", tags=["x"]), 404)
    problem(api.delete(link["code"], "bob"), 404)
    problem(api.patch(none["code"], "ann", tags=["x"]), 404)
    assert api.patch(link["code"], "mallory", tags=["x"]).status_code == 200
    assert api.patch(link["code"], "ann", tags=["y"]).status_code == 200


def test_a_line_for_another_owner_fails_alone(api):
    lines = [json.dumps({"url": LOGIN, "ttl": "1h", "owner": owner}).encode()
             + b"\n" for owner in ("ann", "bob", "ann")]
    answers = batch(api, lines, key="ann", headers={"Idempotency-Key": "x"})
    assert [a.get("status") for a in answers] == [None, 403, None]


@pytest.mark.proof
def test_a_key_does_not_replay_for_an_owner_that_is_not_its(api):
    make(api, "mallory", idem="x", owner="bob")
    problem(api.call("POST", "/v1/links", "ann",
                     json={"url": LOGIN, "ttl": "1h", "owner": "bob"},
                     headers={"Idempotency-Key": "x"}), 403)


# --- unchanged properties -----------------------------------------------------

def test_what_another_edits_or_deletes_keeps_its_account(api, redis_server):
    code = make(api, "mallory", code="an-alias")["code"]
    with redis_module.Redis(port=redis_server.port) as client:
        for change in (lambda: api.patch(code, "boss", tags=["x"]),
                       lambda: api.delete(code, "boss")):
            assert change().status_code in (200, 204)
            link = Link.FromString(client.get(f"l:{{{code}}}"))
            assert (link.account, link.editor) == ("mallory", "boss")
