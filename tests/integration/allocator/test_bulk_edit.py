"""Edits of many links in one request, with a real allocator, Redis and Kafka."""
import json

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.batch import Batch, batch
from support.program import eventually
from support.spaces import USUAL, aliases, sequence

EDIT = "/v1/links/edit"
KEYS = {"boss": "admin", "crm": "create", "ann": "create account=crm owners=ann",
        "shop": "create", "eye": "read accounts=*",
        "slow": "create account=crm rate=1/h burst=3"}
LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "10d", "never"],
                 "spaces": [sequence(), aliases()]}


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def audited(redis, topic, create_space, start, workdir):
    """An allocator with a log of its changes."""
    create_space()
    create_space(name="names")
    path = workdir / "audit.log"
    made = start(topic, audit_file=str(path), node=1)
    made.topic = topic

    def lines():
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]
    made.audit = lines
    return made


def line_of(code=None, **members):
    return json.dumps({**({"code": code} if code else {}), **members}).encode() + b"\n"


def edit(api, lines, query="", **how):
    return batch(api, lines, path=EDIT + query, **how)


def edit_all(api, codes, query="", key="boss", **what):
    """The compact form: the first line says what the others do."""
    first, *others = edit(api, [line_of(**what), *map(line_of, codes)], query, key=key)
    assert first == {"line": 1, "common": True}
    return others


def dump(redis):
    """Returns the links in Redis, and what belongs to them."""
    return {key: redis.dump(key) for kind in ("l", "m", "v", "q", "blocked", "quota")
            for key in redis.scan_iter(kind + ":*", 10000)}


def statuses(answers):
    return [answer.get("status", 200) for answer in answers]


# --- lines -----------------------------------------------------------------------------

def test_every_kind_of_edit_in_one_body(audited, kafka):
    made = [audited.post("crm", url=f"https://a.example/{i}", ttl="1h",
                         tags=["old"]).json() for i in range(6)]
    codes = [link["code"] for link in made]
    etag = audited.get(codes[5]).headers["ETag"]
    answers = edit(audited, [
        line_of(codes[0], patch={"url": "https://b.example/"}),
        line_of(codes[1], patch={"state": "blocked"}),
        line_of(codes[2], delete=True),
        line_of(codes[3], patch={"tags": ["old"]}),
        line_of(codes[4], patch={"ttl": "10d", "owner": "ann", "campaign": "c"}),
        line_of(codes[5], patch={"tags": []}, if_match=etag),
        line_of(codes[5], patch={"description": "again"}),
        line_of(codes[5], patch={"tags": ["x"]}, if_match=etag)])
    assert answers[:7] == [
        {"line": 1, "code": codes[0], "version": 2, "state": "live", "changed": True},
        {"line": 2, "code": codes[1], "version": 2, "state": "blocked", "changed": True},
        {"line": 3, "code": codes[2], "version": 2, "state": "deleted", "changed": True},
        {"line": 4, "code": codes[3], "version": 1, "state": "live", "changed": False},
        {"line": 5, "code": codes[4], "version": 2, "state": "live", "changed": True},
        {"line": 6, "code": codes[5], "version": 2, "state": "live", "changed": True},
        {"line": 7, "code": codes[5], "version": 3, "state": "live", "changed": True}]
    assert (answers[7]["line"], answers[7]["status"]) == (8, 412)
    read = {code: audited.get(code).json() for code in codes if code != codes[2]}
    assert read[codes[0]]["url"] == "https://b.example/"
    assert read[codes[1]]["state"] == "blocked" and not read[codes[1]]["expires_at"]
    assert audited.get(codes[2]).status_code == 410
    assert (read[codes[4]]["ttl"], read[codes[4]]["owner"]) == ("10d", "ann")
    assert read[codes[5]]["tags"] == [] and read[codes[5]]["description"] == "again"
    assert read[codes[5]]["editor"] == "boss"
    # Audit lines and events of each changed link, and of no other.
    changed = [codes[i] for i in (0, 1, 2, 4, 5, 5)]
    eventually(lambda: len(audited.audit()) == len(made) + len(changed))
    lines = audited.audit()[len(made):]
    assert sorted(line["code"] for line in lines) == sorted(changed)
    assert {line["action"] for line in lines if line["code"] == codes[2]} == {"deleted"}
    assert {line["key"] for line in lines} == {"boss"}
    events = events_of(kafka, audited.topic, len(made) + len(changed))
    assert sorted(code for code, e in events if e.link.version > 1) == sorted(changed)


def test_one_edit_for_many_codes(audited):
    codes = create_many(audited, 40)
    answers = edit_all(audited, codes, patch={"tags": ["spring"], "campaign": "c"})
    assert [(a["line"], a["code"], a["version"]) for a in answers] == [
        (i + 2, code, 2) for i, code in enumerate(codes)]
    # A line's own edit wins, and the rest is as it is to be already.
    answers = edit(audited, [line_of(patch={"tags": ["spring"]}),
                             line_of(codes[0], patch={"tags": ["own"]}),
                             line_of(codes[1], delete=True), line_of(codes[2])])
    assert [a.get("changed") for a in answers] == [None, True, True, False]
    assert audited.get(codes[0]).json()["tags"] == ["own"]
    assert audited.get(codes[2]).json()["version"] == 2
    answers = edit_all(audited, codes[3:], delete=True)
    assert {a["state"] for a in answers} == {"deleted"}
    assert {audited.get(code).status_code for code in codes[3:6]} == {410}


def test_bad_lines_fail_alone(audited):
    code = audited.create()["code"]
    bad = {b"nonsense": 400, b"": 400, b"{}": 400, b'{"code":3,"delete":true}': 400,
           line_of("nothere", delete=True).strip(): 404,
           line_of("", delete=True).strip(): 400,
           line_of(code).strip(): 400,
           line_of(patch={"tags": []}).strip(): 400,
           line_of(code, patch={"hue": 1}).strip(): 400,
           line_of(code, patch={"url": "nothing"}).strip(): 400,
           line_of(code, patch={"ttl": "3h"}).strip(): 400,
           line_of(code, patch={"tags": []}, delete=True).strip(): 400,
           b'{"code":"' + b"x" * 70000 + b'"}': 413}
    lines = [line_of(code, patch={"tags": ["a"]}), *(b + b"\n" for b in bad),
             line_of(code, patch={"tags": ["b"]})]
    answers = edit(audited, lines)
    assert statuses(answers) == [200, *bad.values(), 200]
    assert [a["line"] for a in answers] == list(range(1, len(lines) + 1))
    assert audited.get(code).json()["tags"] == ["b"]


def test_a_bad_first_line_edits_nothing(audited):
    code = audited.create()["code"]
    answers = edit(audited, [line_of(patch={"hue": 1}), line_of(code)])
    assert statuses(answers) == [400, 400]
    assert "patch: hue:" in answers[0]["detail"]


def test_whole_links_are_answered_on_demand(audited):
    codes = create_many(audited, 4)
    answers = edit_all(audited, codes[:3], "?answer=links", patch={"tags": ["a"]})
    assert [a["link"] for a in answers] == [audited.get(code).json()
                                            for code in codes[:3]]
    deleted, = edit_all(audited, codes[3:], "?answer=links", delete=True)
    assert "link" not in deleted


def test_lines_of_one_code_are_worked_on_in_order(audited):
    code, other = (link["code"] for link in (audited.create(), audited.create()))
    lines = [line_of(code, patch={"description": str(i)}) for i in range(300)]
    answers = edit(audited, lines + [line_of(other, delete=True)])
    assert [a["version"] for a in answers] == [*range(2, 302), 2]
    assert audited.get(code).json()["description"] == "299"


def test_a_bad_request_is_refused_as_a_whole(audited):
    def send(query="", kind="application/x-ndjson", key="boss", method="POST"):
        return audited.call(method, EDIT + query, key, data=b"",
                            headers={"Content-Type": kind})
    assert "dry_run:" in problem(send("?dry_run=1"), 400)
    assert "answer:" in problem(send("?answer=short"), 400)
    assert "hue:" in problem(send("?hue=1"), 400)
    assert problem(send(kind="text/plain"), 415)
    assert problem(send(key="eye"), 403)
    assert send(key=None).status_code == 401
    assert send(method="GET").status_code == 405
    assert send().status_code == 200


# --- permission ------------------------------------------------------------------------

def test_a_line_may_what_its_key_may(audited):
    mine = audited.post("crm", url=URL, ttl="1h").json()["code"]
    anns = audited.post("crm", url=URL, ttl="1h", owner="ann").json()["code"]
    stopped = audited.post("crm", url=URL + "2", ttl="1h").json()["code"]
    others = audited.post("shop", url=URL, ttl="1h").json()["code"]
    assert audited.patch(stopped, state="blocked").status_code == 200
    codes = [mine, anns, stopped, others]
    for patch, crm, ann, boss in (
            ({"tags": ["t"]}, [200, 200, 403, 404], [404, 200, 404, 404], [200] * 4),
            ({"state": "live"}, [403] * 4, [403] * 4, [200] * 4),
            ({"account": "shop"}, [403, 403, 403, 404], [404, 403, 404, 404], None),
            ({"owner": "bob"}, [200, 200, 200, 404], None, [200] * 4)):
        for key, expected in (("crm", crm), ("ann", ann), ("boss", boss)):
            if expected:
                for query in ("?dry_run=true", ""):
                    assert statuses(edit_all(
                        audited, codes, query, key, patch=patch)) == expected
    # The same as one by one.
    for key in "crm", "ann":
        assert statuses(edit_all(audited, codes, "?dry_run=true", key, delete=True)) == \
            statuses(edit_all(audited, codes, key=key, delete=True))
    assert audited.get(others).status_code == 200


def test_a_line_is_refused_a_blocked_url(audited):
    first, second = (audited.post("crm", url=f"https://a.example/{i}",
                                  ttl="1h").json()["code"] for i in range(2))
    edit_all(audited, [first], patch={"state": "blocked"})
    for query in "?dry_run=true", "":
        answer, = edit_all(audited, [second], query,
                           patch={"url": "https://a.example/0"})
        assert answer["status"] == 451
    edit_all(audited, [first], patch={"state": "live"})
    answer, = edit_all(audited, [second], patch={"url": "https://a.example/0"})
    assert answer["changed"]


# --- dry runs and repetition -------------------------------------------------------------

def test_a_dry_run_writes_nothing(audited, redis, kafka):
    codes = create_many(audited, 20)
    edit_all(audited, codes[:1], patch={"state": "blocked"})
    eventually(lambda: len(audited.audit()) == 21)
    before = dump(redis)
    for what in ({"patch": {"tags": ["a"], "ttl": "10d"}}, {"patch": {"state": "live"}},
                 {"patch": {"state": "blocked"}}, {"delete": True}):
        answers = edit_all(audited, codes, "?dry_run=true", **what)
        assert all(a["dry_run"] and "changed" in a for a in answers)
        assert any(a["changed"] for a in answers)
    linked, = edit_all(audited, codes[:1], "?dry_run=true&answer=links",
                       patch={"state": "live"})
    assert linked["link"]["state"] == "live" and linked["link"]["expires_at"]
    assert dump(redis) == before
    audited.create()
    eventually(lambda: len(audited.audit()) == 22)
    events = events_of(kafka, audited.topic, 22)
    assert sum(e.link.version > 1 for _, e in events) == 1


def test_the_same_body_again_changes_nothing(audited, redis):
    # An edit of targets is refused if another link to the same URL is blocked.
    codes = [audited.create(url=f"https://example.org/{i}")["code"] for i in range(10)]
    lines = [line_of(patch={"tags": ["a"], "ttl": "10d", "not_before": None,
                            "targets": {"ios": "https://i.example/"}}),
             *map(line_of, codes[:8]), line_of(codes[8], patch={"state": "blocked"}),
             line_of(codes[9], delete=True)]
    answers = edit(audited, lines)
    assert all(a.get("changed") for a in answers[1:]), answers
    before = dump(redis)
    again = edit(audited, lines)
    assert [{**a, "changed": True} for a in again[1:]] == answers[1:]
    assert not any(a["changed"] for a in again[1:])
    assert dump(redis) == before
    # A deleted link is deleted for its account only.
    assert statuses(edit_all(audited, [codes[9]], key="shop", delete=True)) == [404]
    assert statuses(edit_all(audited, [codes[9]], patch={"tags": []})) == [410]


def test_a_run_that_was_killed_is_sent_again(audited):
    codes = create_many(audited, 2000)
    lines = [line_of(patch={"tags": ["spring"], "state": "blocked"}),
             *map(line_of, codes[:1000]),
             *(line_of(code, delete=True) for code in codes[1000:])]
    with Batch(audited, lines[:1500], path=EDIT, keep_open=True) as b:
        b.read(300)
        audited.program.kill()
    audited.program.start()
    answers = edit(audited, lines)
    assert statuses(answers) == [200] * len(lines)
    assert sum(not a["changed"] for a in answers[1:]) >= 299
    assert {a["state"] for a in answers[1:1001]} == {"blocked"}
    for code in codes[:1000:100]:
        link = audited.get(code).json()
        assert (link["tags"], link["version"]) == (["spring"], 2)
    assert {audited.get(code).status_code for code in codes[1000::100]} == {410}


# --- limits --------------------------------------------------------------------------------

def test_a_line_costs_one_of_its_keys_rate(redis, topic, create_space, start):
    create_space()
    create_space(name="names")
    api = start(topic, node=1, batch_wait_max="100ms")
    code = api.post("crm", url=URL, ttl="1h").json()["code"]
    with Batch(api, [line_of(code, patch={"description": str(i)}) for i in range(9)],
               key="slow", path=EDIT) as b:
        answers = b.read(4)
    assert statuses(answers) == [200, 200, 200, 429]
    assert api.get(code).json()["description"] == "2"


def test_edits_and_batches_share_an_accounts_places(redis, topic, create_space, start):
    create_space()
    create_space(name="names")
    api = start(topic, node=1, batches_per_account=1, threads=1)
    with Batch(api, path=EDIT, key="crm", keep_open=True) as running:
        assert running.response().status == 200
        for path in EDIT, "/v1/links/batch":
            assert "under way" in problem(api.call(
                "POST", path, "crm", data=b"",
                headers={"Content-Type": "application/x-ndjson"}), 429)
        running.end()
        assert running.read() == []


def test_edits_are_counted(audited):
    codes = create_many(audited, 4)
    edit_all(audited, codes, patch={"tags": ["x"]})
    edit_all(audited, codes, patch={"tags": ["x"]})

    def count(name, outcome):
        return audited.program.metric(f"shortloop_allocator_{name}_total",
                                      outcome=outcome)
    assert count("batch_lines", "changed") == count("changes", "changed") == 4
    assert count("batch_lines", "unchanged") == 4 + 2
    assert count("changes", "unchanged") == 4
