"""Edits of many links in one request, with a real allocator, Redis and Kafka."""
import json

import pytest
import requests

from support.allocator import *  # noqa: F403, fixtures too
from support.batch import Batch, batch
from support.program import eventually
from support.rule_files import UA_RULES
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


def test_many_are_restored_once(audited):
    kept, gone = ([audited.create()["code"] for _ in range(3)] for _ in range(2))
    edit_all(audited, gone, delete=True)
    for changed in (True, False):
        answers = edit_all(audited, kept + gone, restore=True)
        assert [a.get("changed") for a in answers] == [False] * 3 + [changed] * 3
        assert {a["state"] for a in answers} == {"live"}


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
    # The end is computed from what is left of the life.
    assert [{**a["link"], "expires_at": None} for a in answers] == [
        {**audited.get(code).json(), "expires_at": None} for code in codes[:3]]
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


def test_a_line_is_told_all_its_mistakes(audited):
    code = audited.post("crm", url=URL, ttl="1h").json()["code"]
    wrong, right = edit(audited, [
        line_of(code, patch={"url": 1, "state": "gone"}), line_of(code, patch={"owner": "ann"})])
    assert (wrong["line"], wrong["field"]) == (1, "patch.url")
    assert [error["field"] for error in wrong["errors"]] == ["patch.url", "patch.state"]
    assert right["changed"]
    answer = audited.call("POST", EDIT + "?owner=ann&account=crm", data=json.dumps(
        {"patch": {"url": 1, "tags": 2}}).encode(),
        headers={"Content-Type": "application/json"})
    assert [error["field"] for error in answer.json()["errors"]] == ["patch.url", "patch.tags"]


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
            ({"state": "live"}, [200, 200, 403, 404], [404, 200, 404, 404], [200] * 4),
            ({"state": "blocked"}, [403] * 4, [403] * 4, None),
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


@pytest.mark.proof
def test_many_lines_of_one_code_fail_together_without_redis(own_redis, topic,
                                                            create_space, start):
    """Each that failed begins the next one; all of these fail at once."""
    create_space()
    create_space(name="names")
    api = start(topic, node=1, batch_in_flight=50000, batch_bytes="64MiB", threads=1)
    code = api.create()["code"]
    lines = [line_of(code, patch={"description": str(i)}) for i in range(20000)]
    with Batch(api, lines, path=EDIT) as running:
        assert running.read(1)[0]["changed"]
        own_redis.stop()
        own_redis.kill()
        answers = running.read()
    assert {answer.get("status") for answer in answers[-1000:]} == {503}
    own_redis.start()
    eventually(lambda: api.get(code).status_code == 200, what="the same program")


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


# --- filters -------------------------------------------------------------------------------

@pytest.fixture
def archived(audited, kafka, tables, program):
    """.archive(n) waits until the archive has n versions of links."""
    program("collector", {"kafka": {"topic_links": audited.topic},
                          "collector": {"batch_age": "100ms", "ua_rules": UA_RULES}})

    def archive(versions):
        eventually(lambda: tables.value(
            "SELECT sum(newest) FROM (SELECT max(version) AS newest FROM links "
            "GROUP BY code)") == versions, what="the archive")
    audited.archive = archive
    audited.tables = tables
    return audited


def by_filter(api, what, key="boss", kind="application/merge-patch+json", **params):
    return api.call("POST", EDIT, key, params=params, data=json.dumps(what),
                    headers={"Content-Type": kind})


def run_filter(api, what, key="boss", **params):
    """Returns the answers, and what the last line says."""
    answer = by_filter(api, what, key, **params)
    assert answer.status_code == 200, answer.text
    *lines, end = [json.loads(line) for line in answer.text.splitlines()]
    return lines, end["end"]


def make(api, key, **fields):
    answer = api.post(key, **{"url": URL, "ttl": "1h", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["code"]


def test_a_filter_edits_what_it_matches(archived, redis, kafka):
    mine = [make(archived, "crm", campaign="spring", url=f"https://a.example/{i}")
            for i in range(5)]
    others = [make(archived, "crm", campaign="autumn"), make(archived, "crm"),
              make(archived, "shop", campaign="spring")]
    archived.archive(8)
    before = dump(redis)
    counted = by_filter(archived, {"patch": {"tags": ["x"]}}, "crm", campaign="spring",
                        dry_run="true").json()
    assert counted == {"dry_run": True, "links": 5, "examples": sorted(mine)}
    assert dump(redis) == before
    lines, end = run_filter(archived, {"patch": {"tags": ["x"]}}, "crm",
                            campaign="spring")
    assert lines == [{"line": i + 1, "code": code, "version": 2, "state": "live",
                      "changed": True} for i, code in enumerate(sorted(mine))]
    assert end == {"changed": 5, "unchanged": 0, "skipped": 0, "failed": 0,
                   "after": max(mine)}
    assert {archived.get(code).json()["version"] for code in others} == {1}
    eventually(lambda: len(archived.audit()) == 8 + 5)
    assert {line["key"] for line in archived.audit()[8:]} == {"crm"}
    assert sum(e.link.version == 2 for _, e in events_of(
        kafka, archived.topic, 13)) == 5
    # Again: nothing is left to do, whether or not the archive knows.
    lines, end = run_filter(archived, {"patch": {"tags": ["x"]}}, "crm",
                            campaign="spring")
    assert (end["changed"], end["unchanged"]) == (0, 5)
    # All that is deleted stays deleted, and the archive forgets it.
    lines, end = run_filter(archived, {"delete": True}, "crm", campaign="spring")
    assert end["changed"] == 5 and {line["state"] for line in lines} == {"deleted"}
    archived.archive(8 + 5 + 5)
    counted = by_filter(archived, {"delete": True}, "crm", campaign="spring",
                        dry_run="true").json()
    assert counted["links"] == 0
    # Superseded versions of a deleted link may still be proposed.
    _, end = run_filter(archived, {"delete": True}, "crm", campaign="spring")
    assert end["changed"] == end["failed"] == 0
    # A mistake is undone in the same way.
    counted = by_filter(archived, {"restore": True}, "crm", campaign="spring",
                        dry_run="true").json()
    assert counted["links"] == 5
    back, end = run_filter(archived, {"restore": True}, "crm", campaign="spring")
    assert end["changed"] == 5 and {line["state"] for line in back} == {"live"}
    assert {line["code"] for line in back} == {line["code"] for line in lines}


def test_a_filter_never_leaves_its_keys_bounds(archived):
    codes = {(key, owner): make(archived, key, campaign="c", **(
        {"owner": owner} if owner else {}))
        for key in ("crm", "shop") for owner in ("ann", "bob", "")}
    archived.archive(len(codes))

    def edited(key, **params):
        counted = by_filter(archived, {"patch": {"tags": [key]}}, key, dry_run="true",
                            **params).json()
        lines, end = run_filter(archived, {"patch": {"description": key + str(params)}}, key,
                                **params)
        assert counted["links"] == len(lines) == end["changed"], lines
        return {whose for whose, code in codes.items()
                if code in {line["code"] for line in lines}}
    assert edited("crm", campaign="c") == {w for w in codes if w[0] == "crm"}
    assert edited("ann", campaign="c") == {("crm", "ann")}
    assert edited("shop", owner="ann") == {("shop", "ann")}
    assert edited("shop", owner="") == {("shop", "")}
    assert edited("boss", campaign="c") == set(codes)
    assert edited("boss", account="crm", owner="bob") == {("crm", "bob")}
    for key, params in (("crm", {"account": "shop"}), ("ann", {"owner": "bob"})):
        assert problem(by_filter(archived, {"delete": True}, key, **params), 403)
    # A state is an admin's, for each link.
    lines, end = run_filter(archived, {"patch": {"state": "blocked"}}, "crm",
                            campaign="c")
    assert {line["status"] for line in lines} == {403} and end["failed"] == 3


@pytest.mark.proof
def test_a_link_is_checked_again_as_redis_has_it(archived, program):
    """The archive proposes links that have changed since."""
    codes = [make(archived, "crm", url=f"https://old.example/{i}", tags=["t"])
             for i in range(4)]
    target = make(archived, "crm", url="https://else.example/",
                  targets={"ios": "https://OLD.example:443/app"})
    other = make(archived, "crm", url="https://x.old.example/?https://old.example/")
    archived.archive(6)
    hosts = {"url_host": "Old.Example"}
    assert by_filter(archived, {"delete": True}, dry_run="true",
                     **hosts).json()["links"] == 5
    archived.patch(codes[0], url="https://new.example/")
    archived.delete(codes[1])
    lines, end = run_filter(archived, {"patch": {"url": "https://new.example/"}}, **hosts)
    by_code = {line["code"]: line for line in lines}
    assert "match" in by_code[codes[0]]["skipped"]
    assert "no such link" in by_code[codes[1]]["skipped"]
    assert by_code[codes[2]]["changed"] and by_code[target]["changed"]
    assert other not in by_code
    assert end == {"changed": 3, "unchanged": 0, "skipped": 2, "failed": 0,
                   "after": max(by_code)}
    # The range of creation, tags and domains.
    assert run_filter(archived, {"patch": {"description": "x"}}, tag="t",
                      created="2020-01-01..2100-01-01")[1]["changed"] == 3
    assert run_filter(archived, {"delete": True}, created="2020-01-01..2020-02-01")[
        0] == []
    assert run_filter(archived, {"patch": {"description": "y"}}, domain="",
                      tag="t")[1]["changed"] == 3


@pytest.mark.proof
def test_a_run_over_pages_is_resumed_after_a_kill(archived):
    codes = sorted(create_many(archived, 2600))
    archived.archive(2600)
    with requests.post(
            archived.program.url + EDIT, params={"created": "2020-01-01..2100-01-01"},
            data='{"patch":{"tags":["x"]}}', stream=True, timeout=60, headers={
                "Authorization": "Bearer boss",
                "Content-Type": "application/merge-patch+json"}) as answer:
        read = [json.loads(line) for line, _ in zip(
            answer.iter_lines(chunk_size=1), range(1200))]
        archived.program.kill()
    assert [line["code"] for line in read] == codes[:1200]
    archived.program.start()
    lines, end = run_filter(archived, {"patch": {"tags": ["x"]}},
                            created="2020-01-01..2100-01-01", after=read[-1]["code"])
    assert [line["code"] for line in lines] == codes[1200:]
    assert end["changed"] + end["unchanged"] == 1400 and not end["failed"]
    for code in codes[::100]:
        link = archived.get(code).json()
        assert (link["tags"], link["version"]) == (["x"], 2)


@pytest.mark.proof
def test_a_run_that_waits_ends_with_the_program(archived, start):
    codes = [make(archived, "crm", campaign="c") for _ in range(6)]
    archived.archive(6)
    archived.program.stop()
    api = start(archived.topic, node=1, drain_timeout="200ms")
    with requests.post(
            api.program.url + EDIT, params={"campaign": "c"}, stream=True, timeout=60,
            data='{"patch":{"tags":["x"]}}', headers={
                "Authorization": "Bearer slow",
                "Content-Type": "application/merge-patch+json"}) as answer:
        # The question and two links use the burst up; the third waits for an hour.
        lines = answer.iter_lines(chunk_size=1)
        read = [json.loads(next(lines)) for _ in range(2)]
        assert api.program.stop() == 0
        with pytest.raises(requests.RequestException):
            list(lines)
    assert [line["code"] for line in read] == sorted(codes)[:2]


def test_a_filter_takes_one_of_its_accounts_places(archived, start):
    make(archived, "crm", tags=["t"])
    archived.archive(1)
    api = start(archived.topic, node=2, batches_per_account=1, threads=1)
    with Batch(api, path=EDIT, key="crm", keep_open=True) as running:
        assert running.response().status == 200
        for _ in range(3):
            assert "under way" in problem(
                by_filter(api, {"patch": {"tags": []}}, "crm", tag="t"), 429)
        running.end()
        assert running.read() == []
    assert run_filter(api, {"patch": {"tags": []}}, "crm", tag="t")[1]["changed"] == 1


def test_a_filter_is_refused_with_a_reason(audited):
    """No archive runs here."""
    for params, reason in (({}, "a filter is needed"), ({"after": "x"}, "a filter"),
                           ({"hue": "1", "owner": "a"}, "hue:"),
                           ({"created": "2026-11-01"}, "created:"),
                           ({"created": "2026-11-08..2026-11-01"}, "created:"),
                           ({"url_host": "a b"}, "url_host:"),
                           ({"owner": "a"}, "owner: expected one account=NAME"),
                           ({"owner": "a", "dry_run": "1"}, "dry_run:"),
                           ({"owner": "a", "after": "x" * 99}, "after:")):
        assert reason in problem(by_filter(audited, {"delete": True}, **params), 400)
    for body in ({}, {"delete": True, "code": "x"}, {"patch": {"hue": 1}}, [],
                 {"delete": True, "if_match": "*"}):
        assert problem(by_filter(audited, body, tag="a"), 400)
    assert problem(by_filter(audited, {"delete": True, "x": "y" * 70000}, tag="a"), 413)
    assert problem(by_filter(audited, {"delete": True}, "eye", tag="a"), 403)
    for dry_run in "true", "false":
        assert "archive" in problem(by_filter(
            audited, {"delete": True}, tag="a", dry_run=dry_run), 503)
