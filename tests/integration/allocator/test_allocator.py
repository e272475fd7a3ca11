"""The allocator with real Redis and Kafka."""
import concurrent.futures
import hashlib
import http.client
import json
import re
import signal
import socket
import time

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.program import PATIENCE, eventually
from support.spaces import sequence, with_key

# --- creating and reading ------------------------------------------------------

def test_a_link_is_created_as_the_design_says(api):
    answer = api.post(url=URL, ttl="1h", owner="ann", campaign="spring",
                      tags=["a", "b"])
    link = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/links/{link['code']}"
    assert len(link["code"]) == 7
    assert link["short_url"] == f"https://sho.rt/{link['code']}"
    assert isinstance(link["link_id"], str) and int(link["link_id"]) > 0
    wanted = {"url": URL, "ttl": "1h", "space": "s7", "generation": 1,
              "version": 1, "state": "live", "owner": "ann",
              "campaign": "spring", "tags": ["a", "b"]}
    assert {k: link[k] for k in wanted} == wanted
    assert link["created_at"].endswith("Z") and link["expires_at"].endswith("Z")


def test_a_created_link_reads_back_the_same(api):
    link = api.create(owner="ann", tags=["x"])
    read = api.get(link["code"]).json()
    read.pop("expires_at")
    link.pop("expires_at")
    assert read == link


def test_a_link_that_never_expires_says_so(api):
    link = api.create(ttl="never")
    assert link["expires_at"] is None
    assert api.get(link["code"]).json()["expires_at"] is None


def test_ttl_classes_take_blocks_of_their_own(api, redis):
    def two():
        """Returns the keys and their remaining times, before the short one expires."""
        links = api.create(ttl="2s"), api.create(ttl="1h")
        keys = [*(k for link in links
                  for k in redis.scan_iter(f"l:*:{link['code']}"))]
        left = [redis.pttl(key) for key in keys]
        return len(keys) == 2 and min(left) > 0 and (keys, left)
    keys, left = eventually(two, what="a look in time")
    assert left[0] <= 2000 < 3500000 < left[1] <= 3600000
    assert keys[0].rsplit(":", 1)[0] != keys[1].rsplit(":", 1)[0]


def test_an_expired_link_is_gone(api):
    code = api.create(ttl="2s")["code"]
    eventually(lambda: api.get(code).status_code == 410)
    assert "expired" in problem(api.get(code), 410)


def test_a_code_that_was_never_made_is_unknown(api):
    code = api.create()["code"]
    other = ("a" if code[-1] != "a" else "b").join([code[:-1], ""])
    problem(api.get(other), 404)
    problem(api.get("nope"), 404)
    problem(api.get("%00%ff"), 404)
    problem(api.get("x" * 2000), 404)


# --- permissions -----------------------------------------------------------------

def test_without_a_good_key_it_is_401(api, subtests):
    for value in (None, "Bearer", "Bearer nobody", "boss",
                  "Basic Ym9zczpib3Nz"):
        with subtests.test(value):
            answer = api.call(
                "POST", "/v1/links", key=None,
                headers={"Authorization": value} if value else {},
                json={"url": URL, "ttl": "1h"})
            problem(answer, 401)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_key_without_the_role_is_403(api):
    code = api.create()["code"]
    assert "create" in problem(api.post("eye", url=URL, ttl="1h"), 403)
    assert "read" in problem(api.get(code, "crm"), 403)
    assert api.get(code, "eye").status_code == 200
    assert api.post("crm", url=URL, ttl="1h").status_code == 201


def test_sighup_reads_the_keys_again(api, keys_file):
    keys_file.write({**KEYS, "late": "create"})
    problem(api.post("late", url=URL, ttl="1h"), 401)
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.post("late", url=URL, ttl="1h").status_code == 201)


def test_a_broken_keys_file_keeps_the_old_keys(api, keys_file):
    keys_file.path.write_text("this is not a key\n")
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: "API keys rejected" in api.program.log())
    api.program.wait_log("api.keys:1")
    assert api.post(url=URL, ttl="1h").status_code == 201


def test_make_key_makes_a_key_that_works(program, sections, api, keys_file):
    status, output = program(
        "allocator", sections, start=False,
        args=["make-key", "--name", "new", "--roles", "create"]).run()
    key, line = output.splitlines()[-2:]
    assert status == 0
    keys_file.path.write_text(line + "\n")
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.post(key, url=URL, ttl="1h").status_code == 201)


# --- refusals ----------------------------------------------------------------------

BAD_BODIES = [
    (b"", "not JSON"), (b"{", "not JSON"), (b"[]", "not a JSON object"),
    (b'{"url":1}', "url: expected a string"),
    (b'{"url":"https://a.example/","url":"https://b.example/"}', "not JSON"),
    (b'{"ttl":"1h"}', "url: is required"),
    (b'{"url":"https://a.example/"}', "ttl: expected one of 2s, 1h, never"),
    (b'{"url":"https://a.example/","ttl":"9d"}', "2s, 1h, never"),
    (b'{"url":"https://a.example/","ttl":"1h","colour":"red"}', "colour"),
    (b'{"url":"https://a.example/","ttl":"1h","space":"s9"}', "space"),
    (b'{"url":"https://a.example/","ttl":"1h","owner":["x"]}', "owner"),
    (b'{"url":"https://a.example/","ttl":"1h","owner":"a\\nb"}', "owner"),
    (b'{"url":"https://a.example/","ttl":"1h","tags":"x"}', "tags"),
    (b'{"url":"https://a.example/","ttl":"1h","tags":[1]}', "tags"),
    (b'{"url":"https://a.example/","ttl":"1h","campaign":"'
     + b"c" * 129 + b'"}', "campaign"),
    (b'{"url":"ftp://a.example/","ttl":"1h"}', "http://"),
    (b'{"url":"javascript:alert(1)","ttl":"1h"}', "url"),
    (b'{"url":"/relative","ttl":"1h"}', "url"),
    (b'{"url":"https://","ttl":"1h"}', "url"),
    (b'{"url":"https:///etc","ttl":"1h"}', "url"),
    (b'{"url":"https://a.example/\\r\\nX: y","ttl":"1h"}', "control"),
    (b'{"url":"https://a.example/a b","ttl":"1h"}', "%20"),
    (b'{"url":"https://a.example/' + b"a" * 8200 + b'","ttl":"1h"}', "8192"),
    (b'\xff\xfe', "not JSON"), (b'[' * 5000, "not JSON"),
]


def test_a_bad_body_is_a_400_that_says_why(api, subtests):
    for body, says in BAD_BODIES:
        with subtests.test(str(body[:60])):
            answer = api.call("POST", "/v1/links", data=body,
                              headers={"Content-Type": "application/json"})
            assert says in problem(answer, 400)


def test_a_body_is_told_all_its_mistakes(api):
    code = api.create()["code"]
    wrong = {"url": "", "owner": 1, "colour": "red"}
    for answer in (api.post(ttl="1h", **wrong), api.patch(code, **wrong)):
        told = answer.json()
        assert problem(answer, 400) == told["errors"][0]["detail"]
        assert told["field"] == "url"
        assert [error["field"] for error in told["errors"]] == ["url", "owner", "colour"]
        assert all(error["detail"].startswith(error["field"]) for error in told["errors"])
    missing = api.post(ttl="13d").json()
    assert [error["field"] for error in missing["errors"]] == ["ttl", "url"]
    # A body that is no object has no fields.
    assert not {"field", "errors"} & set(api.call(
        "POST", "/v1/links", data=b"[]",
        headers={"Content-Type": "application/json"}).json())


def test_the_longest_url_is_taken(api):
    url = "https://a.example/" + "a" * (8192 - 18)
    assert api.get(api.create(url=url)["code"]).json()["url"] == url


def test_a_query_parameter_is_refused(api):
    answer = api.call("POST", "/v1/links?dry_run=1",
                      json={"url": URL, "ttl": "1h"})
    assert "dry_run" in problem(answer, 400)


def test_another_content_type_is_415(api):
    problem(api.call("POST", "/v1/links", data={"url": URL}), 415)
    problem(api.call("POST", "/v1/links", data=b"{}"), 415)


LINK_METHODS = "GET, HEAD, PATCH, DELETE"


def test_another_method_is_405_with_allow(api, subtests):
    for method, path, allow in (("GET", "/v1/links", "POST"),
                                ("DELETE", "/v1/links", "POST"),
                                ("POST", "/v1/links/abc", LINK_METHODS),
                                ("PUT", "/v1/links/abc", LINK_METHODS)):
        with subtests.test(f"{method} {path}"):
            answer = api.call(method, path)
            problem(answer, 405)
            assert answer.headers["Allow"] == allow


def test_another_path_is_404(api, subtests):
    for path in ("/", "/v1", "/v1/links/", "/v1/links/a/b", "/v1/linksx",
                 "/v2/links"):
        with subtests.test(path):
            problem(api.call("GET", path), 404)


MALFORMED = [
    b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00" * 40,
    b"POST /v1/links\r\n\r\n",
    b"POST /v1/links HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/links HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"GET /v1/links/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
]


def test_a_malformed_request_is_a_400_and_does_no_harm(api, subtests):
    host, port = api.program.section["listen"].split(":")
    for raw in MALFORMED:
        with subtests.test(str(raw[:40])):
            with socket.create_connection((host, int(port)), timeout=60) as s:
                s.sendall(raw)
                assert s.recv(4096).startswith(b"HTTP/1.1 400")
            assert api.create()


# --- many links ------------------------------------------------------------------

@pytest.mark.proof
def test_thousands_of_creates_give_distinct_codes_and_as_many_events(
        api, kafka):
    codes = create_many(api, 5000)
    assert len(set(codes)) == 5000
    events = events_of(kafka, api.topic, 5000)
    assert sorted(key for key, _ in events) == sorted(codes)
    assert len({event.link.link_id for _, event in events}) == 5000
    assert all(event.code == key and event.change == 1 and event.space == "s7"
               and event.expires_ms > event.link.created_ms
               for key, event in events)
    time.sleep(0.3)
    assert len(kafka.consume(api.topic)) == 5000
    api.program.wait_metric(5000, "shortloop_allocator_creates_total",
                            outcome="created")


@pytest.mark.proof
def test_what_is_used_up_fast_is_granted_in_larger_pieces(api):
    """"Fast" means within a second, so the test must be fast as well."""
    metric = api.program.metric

    def larger():
        create_many(api, 4000, connections=8)
        return metric("shortloop_allocator_blocks_granted_total") > \
            2 * metric("shortloop_allocator_grants_total", outcome="granted")
    eventually(larger)


@pytest.mark.proof
def test_no_create_waits_for_a_block_but_the_first(own_redis, topic,
                                                   links_config, create_space,
                                                   start):
    """This holds where blocks are used up and where they are held too long, if there is
    a request in the last fifth of that time."""
    links_config["hold_max"] = "4s"
    links_config["spaces"][0]["block_size"] = 100
    create_space()
    api = start(topic, threads=1)

    def waited():
        return api.program.metric("shortloop_allocator_creates_waited_total")

    def in_time():
        api.create()
        begun = last = time.monotonic()
        before, blocks = waited(), set()
        while last < begun + 7 or len(blocks) <= 5:
            blocks.add(int(api.create()["link_id"]) // 100)
            # The first blocks are used up, the others are held too long.
            time.sleep(0.05 if len(blocks) > 5 else 0)
            asked, last = last, time.monotonic()
            if last - asked > 0.5:
                return False
        assert waited() == before
        return True
    api.create()
    assert waited() == 1
    eventually(in_time, 3 * PATIENCE, what="creates in time")


def test_two_allocators_share_a_space(api, start):
    other = start(api.topic)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda a: create_many(a, 1000, 2), [api, other]))
    assert len(set(both[0] + both[1])) == 2000


# --- Redis comes and goes ----------------------------------------------------------

def test_it_waits_for_a_redis_that_is_late(own_redis, topic, create_space,
                                           start):
    assert create_space()[0] == 0
    own_redis.stop()
    api = start(topic, ready=False)
    eventually(lambda: api.program.ready()[0] == 503)
    assert "redis" in api.program.ready()[1]
    answer = api.post(url=URL, ttl="1h")
    problem(answer, 503)
    assert answer.headers["Retry-After"]
    own_redis.start()
    api.program.wait_ready()
    assert api.create()


def test_a_redis_that_restarts_makes_no_code_twice(own_redis, topic,
                                                   create_space, start):
    assert create_space()[0] == 0
    api = start(topic)
    before = create_many(api, 1000)
    own_redis.kill()
    problem(api.post(url=URL, ttl="1h"), 503)
    own_redis.start()
    api.program.wait_ready()
    # A thread that was idle has not noticed yet that its connection is gone.
    after = create_many(api, 1000, patience=60)
    assert len(set(before + after)) == 2000
    assert all(api.get(code).status_code == 200 for code in before[::50])
    assert api.program.metric(
        "shortloop_allocator_create_conflicts_total") == 0


def test_a_lost_marker_costs_a_block_and_no_request(api, redis):
    api.create()
    for key in redis.scan_iter("m:*"):
        redis.delete(key)
    # The requests use one connection: its thread is the one that holds a block.
    assert len({api.create()["code"] for _ in range(50)}) == 50
    assert api.program.metric("shortloop_allocator_blocks_dropped_total") > 0


def test_a_cursor_that_went_back_makes_no_code_twice(api, redis, start):
    before = create_many(api, 1000)
    # Otherwise the allocator would report what it has seen, and the cursor would be
    # raised.
    api.program.process.signal(signal.SIGSTOP)
    redis.set("cursor:{s7}", 0)
    other = start(api.topic)
    after = create_many(other, 500)
    api.program.process.signal(signal.SIGCONT)
    more = create_many(api, 500)
    assert len(set(before + after + more)) == 2000
    assert other.program.metric("shortloop_allocator_opens_refused_total") > 0


def test_a_killed_allocator_leaves_its_block_alone(api, start):
    before = create_many(api, 50, 2)
    api.program.kill()
    after = create_many(start(api.topic), 200, 2)
    assert len(set(before + after)) == 250


# --- spaces --------------------------------------------------------------------------

def test_a_missing_space_is_told_and_waited_for(redis, topic, create_space,
                                                start):
    api = start(topic, ready=False)
    eventually(lambda: "does not exist" in api.program.ready()[1])
    status, reason = api.program.ready()
    assert status == 503
    assert "allocator create-space --space s7" in reason
    answer = api.post(url=URL, ttl="1h")
    assert "create-space" in problem(answer, 503)
    assert answer.headers["Retry-After"]
    assert create_space()[0] == 0
    api.program.wait_ready()
    assert api.create()


def test_a_space_is_created_once(redis, create_space):
    assert "created space s7" in create_space()[1]
    assert redis.get("cursor:{s7}") == "0"
    status, output = create_space()
    assert status == 0 and "nothing to do" in output


@pytest.mark.parametrize("args, status", [
    (["create-space"], 64), (["create-space", "--space", "s9"], 64),
    (["create-space", "--space", "s7", "--first-block", "x"], 64),
    (["make-key", "--name", "a"], 64), (["explode"], 64),
    (["make-key", "--name", "a", "--roles", "owner"], 64)])
def test_a_wrong_command_line_exits_64(program, sections, args, status):
    command = program("allocator", sections, start=False, args=args)
    assert command.run()[0] == status, command.log()


def test_a_space_with_another_key_exits_78(api, sections, workdir, start):
    api.create()
    sections["links"]["spaces"] = [with_key(workdir, sequence(), "f" * 32)]
    other = start(api.topic, ready=False)
    assert other.program.process.wait(60) == 78
    assert "s7" in other.program.log()


def test_a_space_with_another_block_size_exits_78(api, sections, workdir,
                                                  start):
    sections["links"]["spaces"] = [with_key(workdir, sequence(block_size=50))]
    other = start(api.topic, ready=False)
    assert other.program.process.wait(60) == 78


def test_what_redis_says_is_logged_and_not_answered(own_redis, topic,
                                                    create_space, start):
    """A script that finds a damaged marker reports its lines in the error."""
    assert create_space()[0] == 0
    api = start(topic, threads=1)
    code = api.create()["code"]
    own_redis.client().set("m:{s7:0}", "no marker")
    answers = [api.post(url=URL, ttl="1h"),
               api.call("PATCH", f"/v1/links/{code}",
                        json={"ttl": "2s"})]
    for answer in answers:
        said = problem(answer, 503)
        assert not re.search("redis:|script|ERR|WRONGTYPE|127\\.0", said), said
        assert "the log" in said and answer.headers["Retry-After"]
    api.program.wait_log("the marker m:{s7:0} is damaged")


def test_a_full_space_is_a_507(redis, topic, sections, workdir, create_space,
                               start):
    sections["links"]["spaces"] = [
        with_key(workdir, sequence("s4", length=4, block_size=100000))]
    sections["links"]["grant_blocks"] = 1
    assert create_space(name="s4")[0] == 0
    api = start(topic)
    answers = [api.post(url=URL, ttl=ttl) for ttl in ("2s", "1h", "never")]
    assert [a.status_code for a in answers] == [201, 201, 507]
    assert "full" in problem(answers[2], 507)


# --- held blocks -----------------------------------------------------------------------

def pooled(redis):
    return redis.zcard("pool:{s7}")


def test_sigterm_hands_untouched_blocks_back(api, redis):
    api.create()
    api.program.wait_metric(2, "shortloop_allocator_blocks_held")
    assert api.program.stop() == 0
    assert pooled(redis) == 1


def test_blocks_handed_back_are_issued_under_the_next_generation(
        redis, topic, sections, create_space, start):
    """The blocks are issued after a hold."""
    sections["links"]["hold_max"] = "1s"
    assert create_space()[0] == 0
    api = start(topic)
    api.create()
    assert api.program.stop() == 0
    again = start(topic)
    eventually(lambda: again.create()["generation"] == 2, every=0.2)


def test_an_idle_allocator_lets_go_after_hold_max(redis, topic, sections,
                                                  create_space, start):
    sections["links"]["hold_max"] = "1s"
    assert create_space()[0] == 0
    api = start(topic)
    first = api.create()
    # There are more if a grant ended before it was opened.
    eventually(lambda: pooled(redis) >= 1)
    api.program.wait_metric(0, "shortloop_allocator_blocks_held")
    assert api.create()["code"] != first["code"]


def test_sigterm_answers_what_has_been_asked(api):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        # These are more links than there is time for, however late the stop comes.
        many = pool.submit(create_many, api, 10**6, 4)
        eventually(lambda: api.program.metric(
            "shortloop_allocator_creates_total", outcome="created") > 200)
        assert api.program.stop() == 0
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            many.result()


# --- Kafka comes and goes ----------------------------------------------------------------

def test_creates_go_on_without_kafka_and_events_follow(
        redis, kafka, kafka_server, topic, create_space, start):
    assert create_space()[0] == 0
    api = start(topic)
    kafka_server.signal(signal.SIGSTOP)
    try:
        eventually(lambda: "kafka" in api.program.ready()[1])
        codes = [api.create()["code"] for _ in range(20)]
    finally:
        kafka_server.signal(signal.SIGCONT)
    api.program.wait_ready()
    assert sorted(k for k, _ in events_of(kafka, topic, 20)) == sorted(codes)
    assert api.program.metric("shortloop_allocator_events_lost_total") == 0


def test_lost_events_are_counted_and_told(redis, create_space, start):
    assert create_space()[0] == 0
    api = start(ready=False, kafka_settings={"queue_messages": 5})
    eventually(lambda: api.program.ready()[0] == 503)
    eventually(lambda: api.post(url=URL, ttl="1h").status_code == 201)
    for _ in range(9):
        api.create()
    api.program.wait_metric(5, "shortloop_allocator_events_lost_total")
    assert "lost" in api.program.ready()[1]


# --- starting ------------------------------------------------------------------------------

def test_a_port_in_use_is_one_clear_line(api, start, free_port):
    address = f"127.0.0.1:{free_port()}"
    with socket.create_server(("127.0.0.1", int(address.split(":")[1]))):
        other = start(api.topic, ready=False, listen=address)
        assert other.program.process.wait(60) == 71
    assert address in other.program.log()


def test_a_missing_keys_file_is_one_clear_line(start):
    other = start(ready=False, keys_file="/nonexistent/api.keys")
    assert other.program.process.wait(60) == 78
    assert "/nonexistent/api.keys" in other.program.log()


@pytest.mark.parametrize("settings, says", [
    ({"default_ttl": "9d"}, "allocator.default_ttl"),
    ({"default_space": "s9"}, "allocator.default_space"),
    ({"threads": 0}, "allocator.threads"), ({"thread": 1}, "thread")])
def test_a_wrong_setting_is_named(start, settings, says):
    other = start(ready=False, **settings)
    assert other.program.process.wait(60) == 78
    assert says in other.program.log()


@pytest.mark.parametrize("url, says", [
    ("sho.rt", "domains.base_url"), ("https://sho.rt/", "slash"),
    ('https://sho.rt/"', "domains.base_url"), ("https://sho.rt:0", "port")])
def test_a_wrong_beginning_of_short_urls_is_named(program, sections, url, says):
    other = program("allocator", {**sections, "domains": {"base_url": url}}, ready=False)
    assert other.process.wait(60) == 78
    assert says in other.log()


@pytest.mark.parametrize("size, status, says", [
    (8193, 400, "8192"), (1 << 20, 413, "too long")])
def test_a_url_that_is_too_long_is_refused_and_does_no_harm(api, size, status,
                                                            says):
    answer = api.post(url="https://example.org/".ljust(size, "x"), ttl="1h")
    assert says in problem(answer, status)
    api.create()
