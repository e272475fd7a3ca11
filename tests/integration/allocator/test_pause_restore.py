"""A link that its owner pauses, and a deleted link that comes back."""
import json
import signal

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, events_of, problem
from support.program import eventually
from support.spaces import (
    USUAL, aliases, every_strategy, fields_of, hashes, sequence, snowflakes)

KEYS = {"boss": "admin", "crm": "create,read-own", "shop": "create,read-own",
        "ann": "create,read-own account=crm owners=ann", "eye": "read accounts=*"}
LINKS_SECTION = {**USUAL, "ttl_classes": ["2s", "1h", "never"], "hold_max": "2s",
                 "quarantine": "1h",
                 "spaces": [sequence(), hashes(), snowflakes(), aliases(number=5)]}
FIELDS = {"url": "https://example.org/autumn", "ttl": "1h", "owner": "ann",
          "campaign": "mail", "tags": ["a", "b"], "description": "d",
          "targets": {"ios": "https://example.org/ios"}, "max_visits": 5}
# A restored link has its own values of these.
OWN = {"version", "expires_at", "editor", "changed_at"}


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def deny_file(workdir):
    path = workdir / "deny"
    path.write_text("")
    return path


@pytest.fixture
def more_sections(workdir, deny_file):
    return {"allocator": {"audit_file": str(workdir / "audit.jsonl"),
                          "url_deny_file": str(deny_file)}}


def make(api, key="crm", **fields):
    answer = api.post(key, **{**FIELDS, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


def restore(api, code, key="crm", **headers):
    return api.call("POST", f"/v1/links/{code}/restore", key, headers=headers)


def purge(api, code, key="crm"):
    return api.call("DELETE", f"/v1/links/{code}?purge=true", key)


def record(redis, code):
    client = redis.client()
    key = next(k for k in client.scan_iter("l:*") if k.endswith(":" + code)
               or k == f"l:{{{code}}}")
    return client.execute_command("GET", key, NEVER_DECODE=True)


def audit_of(api, code, workdir, count):
    path = workdir / "audit.jsonl"

    def lines():
        found = [json.loads(line) for line in path.read_text().splitlines()]
        found = [line for line in found if line["code"] == code]
        return len(found) >= count and found
    return eventually(lines, what=f"{count} lines of the audit")


# --- paused ----------------------------------------------------------------------

def test_an_owner_pauses_a_link_and_continues_it(api):
    link = make(api)
    paused = api.patch(link["code"], "ann", state="paused")
    assert paused.status_code == 200, paused.text
    assert paused.json()["state"] == "paused"
    assert paused.json()["expires_at"][:16] == link["expires_at"][:16]
    # It is edited like any other, and stays paused.
    assert api.patch(link["code"], "ann", tags=[]).json()["state"] == "paused"
    assert api.get(link["code"], "crm").json()["state"] == "paused"
    assert api.patch(link["code"], "crm", state="live").json()["state"] == "live"


def test_nobody_else_pauses_it(api):
    code = make(api)["code"]
    problem(api.patch(code, "shop", state="paused"), 404)
    problem(api.patch(code, "eye", state="paused"), 403)
    problem(api.patch(make(api, owner="bob")["code"], "ann", state="paused"), 404)
    assert api.get(code, "crm").json()["state"] == "live"


def test_a_pause_undoes_no_block(api):
    code = make(api)["code"]
    assert api.patch(code, state="blocked").status_code == 200
    assert "admin" in problem(api.patch(code, "crm", state="paused"), 403)
    assert "admin" in problem(api.patch(code, "crm", state="live"), 403)
    # An admin lets it go into a pause; it has its life back.
    assert api.patch(code, state="paused").json()["expires_at"]
    assert api.patch(code, "crm", state="live").status_code == 200
    assert "admin" in problem(api.patch(code, "crm", state="blocked"), 403)


def test_a_paused_link_ends_as_any_other(api):
    def paused_in_time():
        code = make(api, ttl="2s")["code"]
        return api.patch(code, "crm", state="paused").status_code == 200 and code
    code = eventually(paused_in_time, what="a pause in time")
    eventually(lambda: api.get(code).status_code in (404, 410), what="its end")


def test_the_same_url_finds_its_paused_link(api):
    link = make(api, space="h6")
    api.patch(link["code"], "crm", state="paused")
    again = api.post("crm", **{**FIELDS, "space": "h6"})
    assert again.status_code == 200 and again.json()["code"] == link["code"]
    assert again.json()["state"] == "paused"


# --- restored --------------------------------------------------------------------

@every_strategy
def test_a_deleted_link_comes_back_as_it_was(api, redis, strategy):
    link = make(api, **fields_of(strategy))
    code = link["code"]
    assert api.delete(code, "crm").status_code == 204
    assert "restore" in problem(api.get(code, "crm"), 410)
    problem(api.patch(code, "crm", tags=[]), 410)
    problem(api.delete(code, "crm"), 410)
    answer = restore(api, code)
    assert answer.status_code == 200, answer.text
    back = answer.json()
    assert {k: v for k, v in back.items() if k not in OWN} == \
        {k: v for k, v in link.items() if k not in OWN}
    assert back["version"] == 3 and back["editor"] == "crm"
    assert back["expires_at"][:15] == link["expires_at"][:15]
    assert api.get(code, "crm").json()["link_id"] == link["link_id"]
    assert answer.headers["ETag"] == api.get(code, "crm").headers["ETag"]


def test_a_restore_of_what_is_there_changes_nothing(api):
    link = make(api)
    answer = restore(api, link["code"])
    assert answer.status_code == 200 and answer.json()["version"] == 1
    assert api.delete(link["code"], "crm").status_code == 204
    assert restore(api, link["code"]).json()["version"] == 3
    assert restore(api, link["code"]).json()["version"] == 3


def test_it_comes_back_in_the_state_it_had(api):
    code = make(api)["code"]
    api.patch(code, "crm", state="paused")
    api.delete(code, "crm")
    assert restore(api, code).json()["state"] == "paused"


def test_a_blocked_link_comes_back_by_an_admin_alone_and_blocked(api):
    link = make(api)
    code = link["code"]
    api.patch(code, state="blocked")
    assert api.delete(code).status_code == 204
    assert "admin" in problem(restore(api, code), 403)
    assert "admin" in problem(purge(api, code), 403)
    back = restore(api, code, "boss")
    assert back.status_code == 200 and back.json()["state"] == "blocked"
    assert back.json()["expires_at"] is None
    problem(api.post("crm", **FIELDS), 451)
    assert api.patch(code, state="live").status_code == 200
    assert api.get(code, "crm").json()["expires_at"][:15] == link["expires_at"][:15]
    assert api.post("crm", **FIELDS).status_code == 201


def test_nobody_else_restores_it(api):
    mine, bobs = make(api)["code"], make(api, owner="bob")["code"]
    for code in (mine, bobs):
        assert api.delete(code, "crm").status_code == 204
    unknown = problem(restore(api, "nolink7"), 404)
    assert problem(restore(api, mine, "shop"), 404) == unknown
    assert problem(restore(api, bobs, "ann"), 404) == unknown
    problem(restore(api, mine, "eye"), 403)
    assert restore(api, mine, "ann").status_code == 200


def test_what_may_not_be_made_does_not_come_back(api, deny_file):
    blocked, denied, other = (
        make(api, url="https://blocked.example/x")["code"],
        make(api, targets={"ios": "https://denied.example/x"})["code"],
        make(api, url="https://blocked.example/x")["code"])
    for code in (blocked, denied):
        assert api.delete(code, "crm").status_code == 204
    api.patch(other, state="blocked")
    assert "https://blocked.example/x" in problem(restore(api, blocked), 451)
    deny_file.write_text("denied.example\n")
    api.program.process.signal(signal.SIGHUP)

    def refusal():
        answer = restore(api, denied)
        if answer.status_code == 200:  # the list was not read yet
            api.delete(denied, "crm")
            return None
        return problem(answer, 403)
    assert "denied.example" in eventually(refusal, what="the new list")
    assert api.patch(other, state="live").status_code == 200
    assert restore(api, blocked).status_code == 200


def test_if_match_is_of_the_deletion(api):
    link = make(api)
    tag = f'"{int(link["link_id"]):x}-%d"'
    api.delete(link["code"], "crm")
    problem(restore(api, link["code"], **{"If-Match": tag % 1}), 412)
    assert restore(api, link["code"], **{"If-Match": tag % 2}).status_code == 200


def test_an_expired_link_does_not_come_back(api):
    code = make(api, ttl="2s")["code"]
    eventually(lambda: api.get(code).status_code in (404, 410), what="its end")
    assert restore(api, code, "boss").status_code in (404, 410)


@pytest.mark.parametrize("query, says", [
    ("purge=yes", "purge"), ("purge", "purge"), ("for_good=true", "for_good"),
    ("purge=%ff", "")])
def test_a_deletion_with_another_query_is_refused(api, query, says):
    code = make(api)["code"]
    answer = api.call("DELETE", f"/v1/links/{code}?{query}", "crm")
    assert says in problem(answer, 400)
    assert api.get(code, "crm").status_code == 200


# --- purged ----------------------------------------------------------------------

@every_strategy
def test_a_purged_link_leaves_nothing_of_where_it_led(api, redis, strategy):
    first = make(api, **fields_of(strategy))["code"]
    assert purge(api, first).status_code == 204
    later = make(api, **fields_of(strategy))["code"]
    assert api.delete(later, "crm").status_code == 204
    assert b"autumn" in record(redis, later)
    assert purge(api, later).status_code == 204
    for code in (first, later):
        assert b"example.org" not in record(redis, code)
        assert b"mail" not in record(redis, code)
        assert "for good" in problem(restore(api, code), 410)
        problem(purge(api, code), 410)


def test_every_step_is_an_event_and_a_line_of_the_audit(api, kafka, workdir):
    code = make(api)["code"]
    api.patch(code, "crm", state="paused")
    api.delete(code, "crm")
    restore(api, code)
    api.patch(code, "crm", state="live")
    purge(api, code)
    events = [e for key, e in events_of(kafka, api.topic, 6) if key == code]
    assert [e.change for e in events] == [1, 2, 3, 5, 2, 3]
    assert [e.link.version for e in events] == [1, 2, 3, 4, 5, 6]
    # The archive keeps what a deleted link was.
    assert events[2].link.url == FIELDS["url"] and events[2].link.state == 1
    assert list(events[2].link.tags) == FIELDS["tags"]
    assert events[3].link.state == 3 and events[3].link.url == FIELDS["url"]
    assert events[5].link.url == "" and not events[5].link.tags
    lines = audit_of(api, code, workdir, 6)
    assert [line["action"] for line in lines] == \
        ["created", "changed", "deleted", "restored", "changed", "deleted"]
    assert lines[2]["changes"] == {"state": {"old": "paused", "new": "deleted"}}
    assert lines[3]["changes"] == {"state": {"old": "deleted", "new": "paused"}}
    assert lines[5]["changes"]["url"] == {"old": FIELDS["url"], "new": None}
