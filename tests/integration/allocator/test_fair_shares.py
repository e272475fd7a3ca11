"""The limits of what one API key, or a client without a key, can take from others:
batches, and memory for bodies."""
import http.client
import json
import socket
import threading

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL
from support.batch import Batch, batch, good
from support.keys import key_line
from support.program import eventually

# The batches under way.  An answered one is counted for a moment longer.
BATCHES = "shortloop_allocator_batches"


@pytest.fixture
def make_api(redis, topic, create_space, start, keys_file, sections):
    """An allocator of one thread; `limits` are those of the key crm.  Its Redis can be
    paused."""
    sections["redis"] = {"command_timeout": "60s"}

    def make(limits="rate=1/h burst=2", **settings):
        keys_file.path.write_text(
            key_line("boss", "admin") + key_line("web", "create")
            + key_line("crm", f"create,read {limits}")
            + key_line("crm-2", "create account=crm rate=1/h burst=1"))
        assert create_space()[0] == 0
        return start(topic, threads=1, **settings)
    return make


# --- batches ------------------------------------------------------------------

def test_a_throttled_account_leaves_room_for_others(make_api):
    api = make_api()
    waiting = [Batch(api, [good(i) for i in range(50)], key=key)
               for key in ("crm", "crm-2", "crm", "crm-2", "crm")]
    try:
        statuses = [b.response().status for b in waiting]
        assert sorted(statuses) == [200, 200, 429, 429, 429]
        refused = next(b for b in waiting if b.response().status == 429)
        assert refused.response().headers["Retry-After"]
        assert "'crm'" in json.loads(refused.response().read())["detail"]
        assert all("code" in a for a in batch(api, [good(1)] * 300, key="web"))
        api.program.wait_metric(2, BATCHES)
    finally:
        for b in waiting:
            b.close()


@pytest.mark.parametrize("keep_open", [False, True])
def test_a_client_that_left_while_its_batch_waited_is_noticed(make_api,
                                                              keep_open):
    api = make_api()
    with Batch(api, [good(i) for i in range(9)], key="crm",
               keep_open=keep_open) as b:
        assert len(b.read(2)) == 2
        assert api.program.metric(BATCHES) == 1
    api.program.wait_metric(0, BATCHES)
    api.program.wait_metric(1, "shortloop_allocator_batches_total",
                            outcome="aborted")


def test_a_batch_waits_for_its_rate_only_so_long(make_api):
    api = make_api(batch_wait_max="1s")
    with Batch(api, [good(i) for i in range(9)], key="crm") as b:
        answers = b.read(3)
        assert "code" in answers[0] and "code" in answers[1]
        assert (answers[2]["line"], answers[2]["status"]) == (3, 429)
        assert "1s" in answers[2]["detail"]
        with pytest.raises((http.client.IncompleteRead, OSError)):
            b.response().read()
    api.program.wait_metric(0, BATCHES)
    api.program.wait_metric(1, "shortloop_allocator_batches_total",
                            outcome="late")
    for outcome, count in (("created", 2), ("denied", 1), ("invalid", 0)):
        api.program.wait_metric(count, "shortloop_allocator_creates_total",
                                outcome=outcome)


def test_many_short_waits_are_added_up(make_api):
    api = make_api("rate=20/s burst=1", batch_wait_max="1s")

    def answered():
        with Batch(api, [good(i) for i in range(200)], key="crm") as b:
            answers = b.read(200)
        assert answers[-1]["status"] == 429 and len(answers) < 100
        return len(answers)
    # There are fewer if the machine made a wait much longer than the rate did, and some
    # more if it was slow in between.
    eventually(lambda: answered() >= 10, what="many waits")


class Trickle:
    """Sends the bytes of a line that never ends, as slowly as allowed."""

    def __init__(self, batch):
        self.batch = batch
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            while not self.stop.wait(0.1):
                self.batch.send(b"x")
        except OSError:
            pass  # the answer has the reason

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


# Accepted work is finished after that time even on a slow machine.
TIME_MAX = 4  # seconds


def assert_breaks_off_with_408(api, b, answers):
    assert all("code" in a for a in answers[:-1])
    assert (answers[-1]["line"], answers[-1]["status"]) == (len(answers), 408)
    assert f"allocator.batch_time_max, {TIME_MAX}s" in answers[-1]["detail"]
    with pytest.raises((http.client.IncompleteRead, OSError)):
        b.response().read()
    api.program.wait_metric(0, BATCHES)
    api.program.wait_metric(1, "shortloop_allocator_batches_total",
                            outcome="late")


def test_a_batch_that_trickles_in_lasts_only_so_long(make_api):
    api = make_api(batch_time_max=f"{TIME_MAX}s")
    with Batch(api, [good(1), good(2)], key="web", keep_open=True) as b:
        with Trickle(b):
            answers = b.read(3)
        assert len(answers) == 3
        assert_breaks_off_with_408(api, b, answers)


def test_what_is_under_way_when_a_batch_must_end_is_answered(make_api, redis):
    api = make_api(batch_time_max=f"{TIME_MAX}s", batch_in_flight=4)
    assert "code" in batch(api, [good(0)], key="web")[0]
    redis.client_pause(TIME_MAX * 1000 + 1000)
    with Batch(api, [good(i) for i in range(40)], key="web",
               keep_open=True) as b:
        answers = b.read(1)
        while "code" in answers[-1]:
            answers += b.read(1)
        assert_breaks_off_with_408(api, b, answers)


def test_a_batch_whose_lines_are_all_taken_up_is_answered(make_api, redis):
    api = make_api(batch_time_max=f"{TIME_MAX}s")
    assert "code" in batch(api, [good(0)], key="web")[0]
    redis.client_pause(TIME_MAX * 1000 + 1000)
    answers = batch(api, [good(i) for i in range(40)], key="web")
    assert len(answers) == 40 and all("code" in a for a in answers)


# --- bodies -------------------------------------------------------------------

def send_head(api, method, path, *headers):
    host, port = api.program.section["listen"].split(":")
    client = socket.create_connection((host, int(port)), timeout=60)
    client.sendall("\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}",
                                *headers, "", ""]).encode())
    return client


def answer_of(client, method="POST"):
    answer = http.client.HTTPResponse(client, method=method)
    answer.begin()
    return answer.status, json.loads(answer.read())["detail"]


LONG = "Content-Length: 8388608"


@pytest.mark.parametrize("method, path, headers, status", [
    ("POST", "/v1/links", [LONG], 401),
    ("POST", "/v1/links", ["Transfer-Encoding: chunked"], 401),
    ("POST", "/v1/links", [LONG, "Authorization: Bearer nobody"], 401),
    ("POST", "/v1/links", [LONG, "Expect: 100-continue"], 401),
    ("PATCH", "/v1/links/abcdefg", [LONG], 401),
    ("DELETE", "/v1/links/abcdefg", [LONG], 401),
    ("GET", "/v1/links/abcdefg", [LONG], 401),
    ("GET", "/v1/spaces", [LONG, "Authorization: Bearer web"], 403),
    ("POST", "/v1/links", [LONG, "Authorization: Bearer web"], 413),
    ("PATCH", "/v1/links/abcdefg", [LONG, "Authorization: Bearer web"], 413),
    ("POST", "/v1/nothing", [LONG], 404),
    ("POST", "/v1/spaces", [LONG], 405),
])
def test_no_body_is_waited_for_that_would_be_refused(make_api, method, path,
                                                     headers, status):
    api = make_api()
    with send_head(api, method, path, *headers) as client:
        assert answer_of(client, method)[0] == status


def test_bodies_of_nobody_take_no_memory(make_api):
    api = make_api()
    clients = []
    try:
        for _ in range(8):
            clients.append(send_head(api, "POST", "/v1/links", LONG))
            try:
                clients[-1].sendall(b"x" * 4_000_000)
            except OSError:
                pass  # it was refused meanwhile
        api.program.wait_metric(0, "shortloop_http_buffer_bytes")
        assert api.post(url=URL + "x" * 8000, ttl="1h",
                        targets={"ios": URL + "x" * 8000}).status_code == 201
    finally:
        for client in clients:
            client.close()


def test_a_body_is_as_long_as_a_line_of_a_batch(make_api):
    api = make_api()
    head = json.dumps({"url": URL, "ttl": "1h"})
    for size, status in ((65536, 201), (65537, 413)):
        answer = api.call("POST", "/v1/links", data=head.ljust(size).encode(),
                          headers={"Content-Type": "application/json"})
        assert answer.status_code == status
