"""The audit file of a running allocator."""
import concurrent.futures
import json
import signal

import pytest
import requests

from support.allocator import *  # noqa: F403, fixtures too
from support.allocator import KEYS, URL, create_many, events_of, problem
from support.program import eventually
from support.redis_proxy import RedisProxy

pytestmark = pytest.mark.confined


@pytest.fixture
def log(workdir):
    path = workdir / "audit.log"

    def lines():
        """Returns the whole lines: the last may still be written."""
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]
    lines.path = path
    return lines


@pytest.fixture
def audited(redis, topic, create_space, start, log):
    create_space()
    made = start(topic, audit_file=str(log.path))
    made.topic = topic
    return made


def test_a_create_leaves_a_line(redis, topic, create_space, start, log):
    create_space()
    audited = start(topic, audit_file=str(log.path), url_credentials=True)
    answer = audited.call(
        "POST", "/v1/links", "crm",
        json={"url": "https://ann:secret@example.org/", "ttl": "1h",
              "owner": "ann"},
        headers={"X-Request-Id": "abc-1",
                 "X-Forwarded-For": "198.51.100.4"})
    assert answer.status_code == 201, answer.text
    link = answer.json()
    eventually(lambda: len(log()) == 1)
    line = log()[0]
    wanted = {"action": "created", "key": "crm", "client": "127.0.0.1",
              "forwarded_for": "198.51.100.4", "request_id": "abc-1",
              "code": link["code"], "link_id": link["link_id"],
              "space": "s7", "owner": "ann"}
    assert {k: line[k] for k in wanted} == wanted
    assert line["changes"]["url"] == {
        "old": None, "new": "https://***@example.org/"}


def test_a_create_that_nobody_heard_of_is_told_when_it_is_sent_again(
        audited, log, redis, kafka):
    def send():
        answer = audited.call("POST", "/v1/links", json={
            "url": URL, "ttl": "1h"}, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 201, answer.text
        return answer.json()["link_id"]

    def state():
        return redis.client().get(record)[:1]
    first = send()
    record = next(iter(redis.client().scan_iter("i:*")))
    eventually(lambda: state() in ("d", b"d") and len(log()) == 1)
    # the same state as if the allocator had been killed once Redis had the link
    redis.client().setrange(record, 0, "p")
    assert [send(), send()] == [first, first]
    eventually(lambda: state() in ("d", b"d") and len(log()) == 2)
    assert [line["link_id"] for line in log()] == [first, first]
    assert log()[1]["action"] == "created"
    events = events_of(kafka, audited.topic, 2)
    assert [e.link.link_id for _, e in events] == [int(first)] * 2


@pytest.fixture
def proxied(redis, redis_server, topic, create_space, start, log, base_config):
    """.proxy can drop answers of its Redis, which are then lost."""
    create_space()
    with RedisProxy(redis_server.port) as proxy:
        base_config["redis"].update(address=proxy.address,
                                    command_timeout="1s")
        made = start(topic, audit_file=str(log.path), drain_timeout="100ms")
        made.topic, made.proxy = topic, proxy
        yield made


@pytest.mark.parametrize("word, method, fields, status, change", [
    (b"tombstone", "DELETE", None, 204, 3),
    (b"keep", "PATCH", {"state": "blocked"}, 200, 4),
    (b"life", "PATCH", {"ttl": "never"}, 200, 2),
])
def test_a_change_whose_answer_is_lost_is_told_once(
        proxied, log, kafka, word, method, fields, status, change):
    link = proxied.create()
    held = proxied.proxy.hold_answer(word)
    answer = proxied.call(
        method, f"/v1/links/{link['code']}", json=fields,
        headers={"Content-Type": "application/merge-patch+json"})
    assert held.here.is_set()
    assert answer.status_code == status, answer.text
    proxied.create(url="https://example.org/another")
    eventually(lambda: len(log()) == 3)
    assert [line["action"] for line in log()] == [
        "created", "deleted" if status == 204 else "changed", "created"]
    assert log()[1]["changes"]
    events = [e for _, e in events_of(kafka, proxied.topic, 3)]
    assert sorted(e.change for e in events) == sorted([1, change, 1])
    assert max(e.link.version for e in events) == 2


def test_a_change_that_stays_unsure_as_the_program_ends_is_logged(proxied):
    code = proxied.create()["code"]
    held = proxied.proxy.hold_answer(b"tombstone")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(proxied.delete, code)
        assert held.here.wait(60)
        proxied.proxy.close()
        eventually(lambda: "redis" in proxied.program.ready()[1])
        proxied.program.stop()
        try:
            assert answer.result().status_code == 503
        except requests.ConnectionError:
            pass  # it had drained for long enough
    line = next(line for line in proxied.program.log().splitlines()
                if "may have been made unreported" in line)
    assert code in line and "deleted" in line and "boss" in line


def test_what_is_refused_leaves_none(audited, log):
    problem(audited.post("crm", url="nonsense", ttl="1h"), 400)
    problem(audited.post("eye", url=URL, ttl="1h"), 403)
    audited.create()
    eventually(lambda: len(log()) == 1)


def test_every_create_of_many_has_its_line(audited, log):
    codes = create_many(audited, 2000)
    eventually(lambda: len(log()) == 2000)
    assert sorted(line["code"] for line in log()) == sorted(codes)


def test_sighup_makes_the_file_anew_and_tells_of_the_keys(audited, log):
    audited.create()
    eventually(lambda: len(log()) == 1)
    log.path.rename(log.path.with_suffix(".1"))
    audited.program.process.signal(signal.SIGHUP)
    eventually(lambda: len(log()) == 1)
    audited.create()
    eventually(lambda: len(log()) == 2)
    assert [line["action"] for line in log()] == ["keys_reloaded", "created"]
    assert log()[0]["keys"] == len(KEYS)


def test_a_clean_end_writes_what_was_queued(audited, log):
    codes = create_many(audited, 500)
    audited.program.stop()
    assert sorted(line["code"] for line in log()) == sorted(codes)


def test_a_full_disk_shows_and_does_not_stop_creates(
        redis, topic, create_space, start, log):
    create_space()
    log.path.symlink_to("/dev/full")
    api = start(topic, audit_file=str(log.path))
    api.create()
    eventually(lambda: "audit: " in api.program.ready()[1])
    status, reason = api.program.ready()
    assert status == 503 and "No space left" in reason
    assert api.create()
    eventually(lambda: api.program.metric(
        "shortloop_allocator_audit_write_failures_total") >= 1)
    log.path.unlink()
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.program.ready()[0] == 200)
    eventually(lambda: [line["action"] for line in log()].count("created")
               == 2)


def test_an_audit_file_that_cannot_be_opened_is_one_clear_line(
        redis, create_space, start):
    create_space()
    program = start(ready=False, audit_file="/nonexistent/audit.log").program
    assert program.process.wait(60) == 78
    assert "allocator.audit_file" in program.log()
