"""Editing and deleting links through the allocator, with real Redis and Kafka."""
import concurrent.futures
import signal

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import KEYS, URL, events_of, problem
from support.program import eventually


# --- PATCH -------------------------------------------------------------------

def test_an_edit_changes_what_it_names_and_nothing_else(api):
    link = api.create(owner="ann", tags=["a"], description="old")
    answer = api.patch(link["code"], url="https://example.org/new",
                       tags=["b", "c"])
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert changed["url"] == "https://example.org/new"
    assert changed["tags"] == ["b", "c"]
    assert changed["description"] == "old" and changed["owner"] == "ann"
    assert changed["link_id"] == link["link_id"]
    assert changed["version"] == 2 and changed["editor"] == "boss"
    assert changed["changed_at"] >= link["created_at"]
    got = api.get(link["code"]).json()
    assert {**got, "expires_at": 0} == {**changed, "expires_at": 0}


def test_all_that_a_link_may_say_can_be_edited(api):
    link = api.create()
    fields = {"targets": {"ios": "https://example.org/i"},
              "not_before": "2030-01-01T00:00:00Z", "max_visits": 5,
              "redirect_status": 301, "description": "d", "campaign": "c",
              "pass_query": "override", "pass_path": True}
    answer = api.patch(link["code"], **fields)
    assert answer.status_code == 200, answer.text
    assert {k: answer.json()[k] for k in fields} == fields
    answer = api.patch(link["code"], **{k: None for k in fields})
    assert answer.json()["targets"] == {}
    assert answer.json()["max_visits"] is None
    assert answer.json()["redirect_status"] == 302
    assert answer.json()["pass_query"] == "none"
    assert answer.json()["pass_path"] is False


def has_ended(api, code):
    return api.get(code).status_code in (404, 410)


def test_a_longer_class_lifts_the_end_of_link_and_block(api, redis):
    def changed_in_time():
        link = api.create(ttl="2s")
        answer = api.patch(link["code"], ttl="1h")
        return answer.status_code == 200 and (link, answer.json())
    link, changed = eventually(changed_in_time, what="a change in time")
    assert changed["ttl"] == "1h"
    later = api.create(ttl="2s")["code"]
    eventually(lambda: has_ended(api, later), what="the end of a later link")
    assert api.get(link["code"]).status_code == 200
    key = next(k for k in redis.client().scan_iter(f"l:*:{link['code']}"))
    assert redis.client().pttl(key) > 3_500_000


def test_a_shorter_class_ends_the_link_sooner(api):
    link = api.create(ttl="1h")
    assert api.patch(link["code"], ttl="2s").status_code == 200
    eventually(lambda: has_ended(api, link["code"]), what="the end of the link")


def test_a_link_is_blocked_and_let_go(api):
    code = api.create()["code"]
    assert api.patch(code, state="blocked").json()["state"] == "blocked"
    assert api.patch(code, state="live").json()["state"] == "live"


def test_whoever_made_a_link_does_not_let_it_go(api):
    code = api.post(key="crm", url=URL, ttl="1h").json()["code"]
    assert api.patch(code, state="blocked").status_code == 200
    assert "admin" in problem(api.patch(code, key="crm", state="live"), 403)
    assert "admin" in problem(api.patch(code, key="crm", tags=["x"]), 403)
    assert api.get(code).json()["state"] == "blocked"


def test_whoever_made_a_link_does_not_delete_a_block(api):
    """The maker cannot let it expire either: both would free its code."""
    code = api.post(key="crm", url=URL, ttl="1h").json()["code"]
    assert api.patch(code, state="blocked").status_code == 200
    assert "admin" in problem(api.delete(code, key="crm"), 403)
    assert "admin" in problem(api.patch(code, key="crm", ttl="2s"), 403)
    assert api.get(code).json()["state"] == "blocked"
    assert api.patch(code, state="live").status_code == 200
    assert api.delete(code, key="crm").status_code == 204


def test_an_admin_deletes_a_blocked_link(api):
    code = api.post(key="crm", url=URL, ttl="1h").json()["code"]
    assert api.patch(code, state="blocked").status_code == 200
    assert api.delete(code).status_code == 204


@pytest.mark.parametrize("fields, says", [
    ({}, "nothing is to be changed"),
    ({"url": "javascript:alert(1)"}, "url"),
    ({"url": None}, "url"),
    ({"ttl": "99d"}, "ttl"),
    ({"space": "s8"}, "space"),
    ({"account": "a b"}, "account: expected 1 to 64 of"),
    ({"account": None}, "account: a link cannot be without"),
    ({"domain": "none"}, "domain: leave it out, none is configured"),
    ({"state": "gone"}, "state"),
    ({"nonsense": 1}, "nonsense"),
])
def test_a_bad_edit_is_a_400_that_says_why(api, fields, says):
    code = api.create()["code"]
    assert says in problem(api.patch(code, **fields), 400)
    assert api.get(code).json()["version"] == 1


def test_an_edit_of_another_type_is_415(api):
    code = api.create()["code"]
    problem(api.call("PATCH", f"/v1/links/{code}", data=b"url=x"), 415)


def test_an_edit_of_no_link_is_404_and_of_an_expired_one_410(api):
    problem(api.patch("AAAAAAA", tags=[]), 404)
    code = api.create(ttl="2s")["code"]
    eventually(lambda: has_ended(api, code), what="the end of the link")
    problem(api.patch(code, tags=[]), 410)


def test_a_key_edits_what_it_made_and_an_admin_all(api, keys_file):
    keys_file.write({**KEYS, "web": "create"})
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.post("web", url=URL, ttl="1h").status_code == 201)
    mine = api.post(key="crm", url=URL, ttl="1h").json()["code"]
    assert api.patch(mine, key="crm", tags=["x"]).status_code == 200
    problem(api.patch(mine, key="web", tags=["x"]), 404)
    problem(api.patch(mine, key="eye", tags=["x"]), 403)
    problem(api.delete(mine, key="web"), 404)
    assert api.patch(mine, key="boss", tags=["y"]).json()["editor"] == "boss"
    assert api.get(mine).json()["creator"] == "crm"


def test_an_owner_is_changed_by_a_key_that_may_write_for_both(api, keys_file):
    keys_file.write({**KEYS, "ann": "create,read account=crm owners=ann",
                     "both": "create,read account=crm owners=ann,bob"})
    api.program.process.signal(signal.SIGHUP)
    code = api.post(key="crm", url=URL, ttl="1h", owner="ann").json()["code"]
    eventually(lambda: api.get(code, "ann").status_code == 200, what="the new keys")

    assert "owner: this API key may not write for it" in problem(
        api.patch(code, key="ann", owner="bob"), 403)
    assert api.get(code, "ann").json()["version"] == 1
    changed = api.patch(code, key="both", owner="bob")
    assert changed.status_code == 200, changed.text
    assert (changed.json()["owner"], changed.json()["version"]) == ("bob", 2)
    assert api.get(code, "ann").status_code == 404
    problem(api.patch(code, key="ann", owner="ann"), 404)
    assert api.patch(code, key="both", owner=None).status_code == 403
    assert api.patch(code, key="crm", owner=None).json()["owner"] is None


def test_an_admin_gives_a_link_to_another_account(api, keys_file, kafka):
    keys_file.write({**KEYS, "crm": "create,read", "shop": "create,read"})
    api.program.process.signal(signal.SIGHUP)
    link = api.post(key="crm", url=URL, ttl="1h", owner="ann").json()
    code = link["code"]
    eventually(lambda: api.get(code, "crm").status_code == 200, what="the new keys")

    assert "account: it takes an API key with the role 'admin'" in problem(
        api.patch(code, key="crm", account="shop"), 403)
    problem(api.patch(code, key="shop", account="shop"), 404)
    moved = api.patch(code, account="shop", owner="cy")
    assert moved.status_code == 200, moved.text
    assert (moved.json()["account"], moved.json()["owner"]) == ("shop", "cy")
    assert moved.json()["link_id"] == link["link_id"]
    # The name of the former account's key is not told to the new one.
    assert moved.json()["creator"] is None
    assert api.get(code, "shop").json()["creator"] is None
    assert api.get(code, "crm").status_code == 404
    assert api.get(code, "shop").status_code == 200
    problem(api.delete(code, key="crm"), 404)
    assert api.patch(code, key="shop", tags=["x"]).status_code == 200
    told = [(e.link.version, e.link.account, e.link.owner)
            for _, e in events_of(kafka, api.topic, 3)]
    assert told == [(1, "crm", "ann"), (2, "shop", "cy"), (3, "shop", "cy")]

    # A moderator's decision is that account's.
    assert api.patch(code, state="blocked").status_code == 200
    assert "a blocked link stays with its account" in problem(
        api.patch(code, account="crm"), 400)
    assert api.patch(code, state="live").status_code == 200
    # Nor does a link go where its URL is blocked.
    other = api.post(key="crm", url=URL, ttl="1h").json()["code"]
    assert api.patch(other, state="blocked").status_code == 200
    assert api.patch(code, account="crm").status_code == 451


def test_if_match_refuses_an_edit_of_what_was_not_seen(api):
    code = api.create()["code"]
    tag = api.get(code).headers["ETag"]
    assert api.patch(code, headers={"If-Match": tag},
                     tags=["1"]).status_code == 200
    problem(api.patch(code, headers={"If-Match": tag}, tags=["2"]), 412)
    assert api.get(code).json()["tags"] == ["1"]


@pytest.mark.parametrize("match, status", [
    ('"a,b", {}', 200),
    ('{},"a"', 200),
    ('*', 200),
    ('W/{}', 412),
    ('"a", "b"', 412),
])
def test_if_match_may_list_several(api, match, status):
    code = api.create()["code"]
    tag = api.get(code).headers["ETag"]
    answer = api.patch(code, headers={"If-Match": match.format(tag)},
                       tags=["1"])
    assert answer.status_code == status, answer.text


def test_edits_at_once_are_all_kept_one_after_the_other(api):
    code = api.create()["code"]

    def edit(i):
        for _ in range(20):
            answer = api.patch(code, tags=[str(i)])
            if answer.status_code == 200:
                return answer.json()["version"]
            assert answer.status_code == 503
        raise AssertionError("never written")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(edit, range(12)))
    assert sorted(versions) == list(range(2, 14))


def test_a_link_that_was_not_edited_is_not_read_again(api):
    code = api.create()["code"]
    tag = api.get(code).headers["ETag"]

    def again(method="GET"):
        return api.call(method, f"/v1/links/{code}",
                        headers={"If-None-Match": f'"a", {tag}'})
    for answer in again(), again("HEAD"):
        assert answer.status_code == 304 and not answer.content
        assert answer.headers["ETag"] == tag
    assert api.patch(code, tags=["1"]).status_code == 200
    assert again().json()["tags"] == ["1"]


# --- DELETE ------------------------------------------------------------------

def test_a_deleted_link_is_gone_and_its_code_is_not_free(api, redis):
    link = api.create()
    assert api.delete(link["code"]).status_code == 204
    assert "deleted" in problem(api.get(link["code"]), 410)
    problem(api.delete(link["code"]), 410)
    problem(api.patch(link["code"], tags=[]), 410)
    assert next(redis.client().scan_iter(f"l:*:{link['code']}"))


def test_every_change_is_an_event(api, kafka):
    code = api.create()["code"]
    api.patch(code, tags=["x"])
    api.patch(code, state="blocked")
    api.delete(code)
    events = [e for key, e in events_of(kafka, api.topic, 4) if key == code]
    assert [e.change for e in events] == [1, 2, 4, 3]
    assert [e.link.version for e in events] == [1, 2, 3, 4]
    assert events[3].link.state == 1 and events[3].link.editor == "boss"
