"""Batches of links with a real allocator, Redis and Kafka."""
import json
import signal
import time

import pytest
import redis as redis_module

from support.allocator import *  # noqa: F403, fixtures too
from support.batch import NDJSON, Batch, batch, good
from support.program import eventually
from support.protobuf import message
from support.spaces import aliases, hashes, snowflakes, with_key

URL_MAX = 8192


Link = message("link.proto", "shortloop.Link")


def stored(server):
    """Returns code and URL of every link in Redis."""
    client = redis_module.Redis(port=server.port)
    keys = list(client.scan_iter("l:*", 10000))
    values = []
    for at in range(0, len(keys), 5000):
        values += client.mget(keys[at:at + 5000])
    client.close()
    return {key.decode().rsplit(":", 1)[1]: Link.FromString(value).url
            for key, value in zip(keys, values)}


# --- answers to a line ----------------------------------------------------------

def test_a_line_is_answered_what_a_single_create_is(api):
    single = api.create(owner="ann", tags=["a"], url="https://example.org/7")
    lines = batch(api, [good(7, owner="ann", tags=["a"])])
    own = ("code", "short_url", "link_id", "created_at", "expires_at")
    assert len(lines) == 1 and lines[0].keys() == single.keys()
    assert {k: v for k, v in lines[0].items() if k not in own} == \
        {k: v for k, v in single.items() if k not in own}
    assert api.get(lines[0]["code"]).json()["url"] == "https://example.org/7"


def test_an_empty_batch_has_an_empty_answer(api):
    assert batch(api, []) == []


def test_an_empty_line_is_a_bad_one(api):
    answers = batch(api, [b"\n", good(1), b" \t\r\n", good(2), b"\r"])
    assert [a.get("line") for a in answers] == [1, None, 3, None, 5]
    assert all(a["status"] == 400 for a in answers if "line" in a)


def test_the_last_line_may_have_no_line_end(api):
    answers = batch(api, [good(1), good(2).rstrip()])
    assert [a["url"][-1] for a in answers] == ["1", "2"]


def test_lines_may_end_in_crlf(api):
    answers = batch(api, [good(1).rstrip() + b"\r\n", b"x\r\n"])
    assert answers[0]["url"] == "https://example.org/1"
    assert answers[1]["line"] == 2


def test_jsonl_is_ndjson_too(api):
    assert "code" in batch(api, [good(1)], content_type="application/jsonl")[0]
    assert "code" in batch(api, [good(1)],
                           content_type=NDJSON + "; charset=utf-8")[0]


BAD = {
    b"{": "not JSON",
    b"nonsense": "not JSON",
    b"{} {}": "not JSON",
    b"[]": "not a JSON object",
    b"3": "not JSON",
    b"null": "not JSON",
    b'{"url":"https://example.org/","ttl":"1h","hue":1}': "hue:",
    b'{"ttl":"1h"}': "url:",
    b'{"url":7,"ttl":"1h"}': "url:",
    b'{"url":"ftp//example.org","ttl":"1h"}': "url:",
    b'{"url":"https://example.org/%s","ttl":"1h"}' % (b"x" * URL_MAX): "url:",
    b'{"url":"https://example.org/","url":"https://a/"}': "not JSON",
    b'{"url":"https://example.org/","ttl":"2h"}': "ttl:",
    b'{"url":"https://example.org/","ttl":"1h","space":"s9"}': "space:",
    b'{"url":"https://example.org/\xff","ttl":"1h"}': "not JSON",
    b'{"url":"https://example.org/\0","ttl":"1h"}': "not JSON",
    b'{"url":"https://example.org/\\u0000","ttl":"1h"}': "not JSON",
    b'{"\xf0\x9f\x98\x80%s":1}' % ("ä" * 40).encode(): "",
    b"\0\0\0": "not JSON",
    b'{"url":"https://example.org/","max_visits":3\0}': "NUL",
    b"\xef\xbb\xbf{}": "not JSON",
    b"x" * (1 << 20): "longer than",
}


def test_a_bad_line_is_told_what_is_wrong(api, subtests):
    answers = batch(api, [line + b"\n" for line in BAD])
    assert len(answers) == len(BAD)
    for number, (line, words) in enumerate(BAD.items(), 1):
        with subtests.test(line[:60]):
            answer = answers[number - 1]
            assert answer["line"] == number
            assert answer["status"] == (413 if len(line) > 65536 else 400)
            assert answer["title"] and words in answer["detail"]


def mixed(count):
    """Returns lines of every kind, and the expected answer to each: a URL, a line
    number or None."""
    bad = [line for line in BAD if len(line) < 65536]
    lines, expected = [], []
    for i in range(count):
        if i % 5000 == 1234:
            lines.append(b"y" * (1 << 20) + b"\n")
            expected.append(i + 1)
        elif i % 10 == 3:
            lines.append(bad[i // 10 % len(bad)] + b"\n")
            expected.append(i + 1)
        elif i % 10 == 7:
            lines.append(b" \n" if i % 20 == 7 else b"\n")
            expected.append(i + 1)
        else:
            lines.append(good(i))
            expected.append(f"https://example.org/{i}")
    return lines, expected


def matches(answer, expected):
    return expected == (answer["line"] if "line" in answer else answer["url"])


@pytest.mark.long
def test_100000_lines_of_every_kind_are_answered_in_order(api, redis_server):
    lines, expected = mixed(100000)
    answers = batch(api, lines)
    assert len(answers) == len(expected)
    wrong = [(a, e) for a, e in zip(answers, expected) if not matches(a, e)]
    assert not wrong, wrong[:3]
    made = {a["code"]: a["url"] for a in answers if "code" in a}
    assert len(made) == sum(isinstance(e, str) for e in expected)
    assert stored(redis_server) == made
    api.program.wait_metric(len(made), "shortloop_allocator_batch_lines_total",
                            outcome="created")
    api.program.wait_metric(0, "shortloop_allocator_batch_lines_in_flight")
    api.program.wait_metric(1, "shortloop_allocator_batches_total",
                            outcome="complete")


def test_every_link_of_a_batch_is_told_to_kafka(api, kafka):
    answers = batch(api, (good(i) for i in range(3000)))
    events = events_of(kafka, api.topic, 3000)
    assert {code for code, _ in events} == {a["code"] for a in answers}


@pytest.fixture
def rich(redis, topic, workdir, links_config, create_space, start):
    """An allocator with a space of each strategy."""
    links_config["spaces"] += [
        with_key(workdir, hashes()), with_key(workdir, snowflakes()), aliases(number=5)]
    for made in links_config["spaces"]:
        assert create_space(name=made["name"])[0] == 0
    return start(topic)


def test_lines_of_all_strategies_go_side_by_side(rich):
    taken = rich.create(code="autumn-sale")
    lines = [good(1), good(2, space="h6"), good(2, space="h6"),
             good(3, space="flakes"), good(4, code="winter-sale"),
             good(5, code="autumn-sale"), good(6, code="a/b"),
             good(7, space="names")]
    answers = batch(rich, lines * 100)
    for at in range(0, 800, 8):
        one, two, three, four, five, six, seven, eight = answers[at:at + 8]
        assert len(one["code"]) == 7 and len(four["code"]) == 11
        assert two["code"] == three["code"] and len(two["code"]) == 6
        assert at or five["code"] == "winter-sale"
        assert not at or (five["line"], five["status"]) == (at + 5, 409)
        assert (six["line"], six["status"]) == (at + 6, 409)
        assert taken["code"] in six["detail"]
        assert (seven["line"], seven["status"]) == (at + 7, 400)
        assert (eight["line"], eight["status"]) == (at + 8, 400)
    rich.program.wait_metric(199, "shortloop_allocator_batch_lines_total",
                             outcome="denied")


# --- clients ----------------------------------------------------------------------

def test_what_was_answered_exists_when_the_connection_is_cut(api,
                                                             redis_server):
    def endless():
        i = 0
        while True:
            yield good(i)
            i += 1
    b = Batch(api, endless())
    answers = b.read(5000)
    b.cut()
    eventually(lambda: api.program.metric(
        "shortloop_allocator_batches_total", outcome="aborted") == 1)
    api.program.wait_metric(0, "shortloop_allocator_batches")
    api.program.wait_metric(0, "shortloop_allocator_batch_lines_in_flight")
    links = stored(redis_server)
    assert len(answers) == 5000
    assert all(links[a["code"]] == a["url"] for a in answers)


def resend(api, lines, key):
    """Sends the batch again until no line is answered that its first request is still
    under way."""
    def attempt():
        answers = batch(api, lines, headers={"Idempotency-Key": key})
        return all(a.get("status") != 409 for a in answers) and answers
    return eventually(attempt, every=1)


@pytest.mark.proof
def test_a_batch_that_was_cut_creates_nothing_twice_when_sent_again(
        api, redis_server):
    lines = [good(i) if i % 7 else b"bad\n" for i in range(30000)]
    # The other half never comes: the batch does not end before its connection is cut.
    b = Batch(api, lines[:15000], headers={"Idempotency-Key": "autumn-1"},
              keep_open=True)
    first = b.read(8000)
    b.cut()
    eventually(lambda: api.program.metric("shortloop_allocator_batches") == 0)
    assert 6800 <= len(stored(redis_server)) < 13000
    again = resend(api, lines, "autumn-1")
    assert [a["link_id"] if "code" in a else a["line"] for a in first] == \
        [a["link_id"] if "code" in a else a["line"] for a in again[:8000]]
    made = {a["code"]: a["url"] for a in again if "code" in a}
    assert len(made) == sum(i % 7 > 0 for i in range(30000))
    assert stored(redis_server) == made
    assert api.program.metric("shortloop_allocator_batch_lines_total",
                              outcome="present") > 6000


@pytest.mark.long
def test_a_batch_whose_allocator_was_killed_creates_nothing_twice(
        api, redis_server):
    lines = [good(i) for i in range(20000)]
    with Batch(api, lines, headers={"Idempotency-Key": "autumn-2"}) as b:
        first = b.read(5000)
        api.program.kill()
    api.program.start()
    again = resend(api, lines, "autumn-2")
    assert [a["link_id"] for a in first] == \
        [a["link_id"] for a in again[:5000]]
    assert stored(redis_server) == {a["code"]: a["url"] for a in again}
    assert len(stored(redis_server)) == 20000


def test_a_key_belongs_to_a_line_and_its_text(api):
    headers = {"Idempotency-Key": "autumn-3"}
    first = batch(api, [good(1), good(1)], headers=headers)
    assert first[0]["code"] != first[1]["code"]
    again = batch(api, [good(1), good(2), b"x\n", good(3)], headers=headers)
    assert again[0]["code"] == first[0]["code"]
    assert (again[1]["line"], again[1]["status"]) == (2, 422)
    assert "code" in again[3]
    assert "visible" in refusal(api, 400, headers={"Idempotency-Key": "a b"})


def test_answers_come_while_lines_are_still_to_be_sent(api):
    with Batch(api, [good(1)], keep_open=True) as b:
        assert b.read(1)[0]["url"] == "https://example.org/1"
        b.send(good(2))
        assert b.read(1)[0]["url"] == "https://example.org/2"
        b.end()
        assert b.read() == []


def memory_of(api):
    with open(f"/proc/{api.program.process.pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f
                    if line.startswith("VmRSS:"))


def test_a_slow_reader_does_not_grow_memory(redis, topic, create_space, start):
    assert create_space()[0] == 0
    api = start(topic, threads=1)
    api.topic = topic
    batch(api, (good(i) for i in range(20000)))
    before = memory_of(api)

    def many():
        for i in range(400000):  # 140 MB of answers
            yield good(i)
    with Batch(api, many(), receive_buffer=4096) as b:
        b.read(10)
        done = -1
        while done != (done := api.program.metric(
                "shortloop_allocator_batch_lines_total", outcome="created")):
            time.sleep(1)
        assert done < 200000, "it was not held back"
        assert memory_of(api) - before < 24 << 20
        b.cut()
    eventually(lambda: api.program.metric("shortloop_allocator_batches") == 0)


def test_a_long_line_is_not_held(api):
    batch(api, [good(1)])
    before = memory_of(api)
    answers = batch(api, [b"x" * (1 << 20) for _ in range(64)] + [b"\n", good(2)])
    assert [a.get("line") for a in answers] == [1, None]
    assert memory_of(api) - before < 8 << 20


@pytest.mark.proof
def test_two_batches_at_once_do_not_mix(api):
    with Batch(api, (good(f"a{i}") for i in range(20000))) as one, \
            Batch(api, (good(f"b{i}") for i in range(20000))) as two:
        first, second = one.read(), two.read()
    assert [a["url"] for a in first] == \
        [f"https://example.org/a{i}" for i in range(20000)]
    assert [a["url"] for a in second] == \
        [f"https://example.org/b{i}" for i in range(20000)]
    assert len({a["code"] for a in first + second}) == 40000


@pytest.mark.proof
def test_singles_are_served_beside_a_batch(api):
    with Batch(api, (good(i) for i in range(50000))) as b:
        b.read(1000)
        assert api.create()["code"]
        assert len(b.read()) == 49000


# --- permissions and refusals ---------------------------------------------------

def refusal(api, status, **kw):
    with Batch(api, [good(1)], **kw) as b:
        assert b.response().status == status
        body = json.loads(b.response().read())
        assert body["status"] == status
        return body["detail"]


def test_a_batch_needs_a_key_with_the_role(api):
    refusal(api, 401, key=None)
    refusal(api, 401, key="nobody")
    assert "create" in refusal(api, 403, key="eye")
    assert batch(api, [good(1)], key="crm")[0]["creator"] == "crm"


def test_a_batch_that_is_not_ndjson_is_415(api):
    for kind in (None, "application/json", "text/plain",
                 "application/x-ndjsonx"):
        assert NDJSON in refusal(api, 415, content_type=kind)
    assert "Content-Encoding" in refusal(
        api, 415, headers={"Content-Encoding": "gzip"})


def test_other_methods_and_queries_are_refused(api):
    answer = api.call("GET", "/v1/links/batch")
    problem(answer, 405)
    assert answer.headers["Allow"] == "POST"
    problem(api.call("POST", "/v1/links/batch?x=1", data=good(1),
                     headers={"Content-Type": NDJSON}), 400)


def test_a_connection_is_kept_after_a_batch(api):
    for i in range(3):
        answer = api.call("POST", "/v1/links/batch", data=good(i),
                          headers={"Content-Type": NDJSON})
        assert answer.json()["url"] == f"https://example.org/{i}"
        assert api.create()
    api.program.wait_metric(1, "shortloop_http_connections_total",
                            listener="api")


def test_one_batch_too_many_is_a_503(redis, topic, create_space, start):
    assert create_space()[0] == 0
    api = start(topic, threads=1, batches_max=1)
    with Batch(api, [good(1)], keep_open=True) as b:
        b.read(1)
        assert "1 batches" in refusal(api, 503)
    eventually(lambda: api.program.metric("shortloop_allocator_batches") == 0)
    assert len(batch(api, [good(2)])) == 1


def test_few_lines_in_flight_are_enough(redis, topic, create_space, start):
    assert create_space()[0] == 0
    api = start(topic, threads=1, batch_in_flight=1)
    assert len(batch(api, (good(i) for i in range(300)))) == 300


def test_a_batch_beyond_its_rate_is_read_more_slowly(api, keys_file):
    text = keys_file.path.read_text()
    keys_file.path.write_text(text.replace(
        "crm create", "crm create").replace(
        "\n", "  rate=100/s burst=50\n"))
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: "API keys reloaded" in api.program.log())
    started = time.monotonic()
    answers = batch(api, (good(i) for i in range(200)), key="crm")
    assert all("code" in a for a in answers) and len(answers) == 200
    # With a rate per minute this would take a minute and a half.
    assert 1.3 < time.monotonic() - started < 80


# --- without Redis, and at the end ------------------------------------------------

def test_lines_without_redis_are_503(own_redis, program, sections, kafka):
    sections = {**sections,
                "kafka": {"topic_links": kafka.create_topic("links", 1)}}
    make = program("allocator", sections, start=False,
                   args=["create-space", "--space", "s7", "--no-archive"])
    assert make.run()[0] == 0
    api = Api(program("allocator", sections))
    with Batch(api, [good(1)], keep_open=True) as b:
        assert "code" in b.read(1)[0]
        own_redis.kill()
        b.send(good(2) + good(3))
        assert [(a["line"], a["status"]) for a in b.read(2)] == \
            [(2, 503), (3, 503)]
        own_redis.start()
        eventually(lambda: api.program.ready()[0] == 200)
        b.send(good(4))
        assert "code" in b.read(1)[0]
        b.end()
        assert b.read() == []


def test_sigterm_lets_a_batch_finish(api):
    with Batch(api, [good(1)], keep_open=True) as b:
        b.read(1)
        api.program.process.signal(signal.SIGTERM)
        time.sleep(0.3)
        b.send(good(2))
        b.end()
        assert b.read()[0]["url"] == "https://example.org/2"
    assert api.program.process.wait(60) == 0
