"""Ids that are made under a node number: none is made twice over a restart, even if the
clock was set back, or a thread was late."""
import json
import signal
import socket

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, Api, problem
from support.program import PATIENCE, eventually
from support.spaces import sequence, snowflakes

NODE = "node:{0}"
EPOCH = 1577836800000
LINKS_SECTION = {"ttl_classes": ["1h"], "spaces": [sequence(), snowflakes()]}


@pytest.fixture
def spaces(redis, create_space):
    for name in ("s7", "flakes"):
        status, output = create_space(name=name)
        assert status == 0, output


def link_number(link):
    return int(link["link_id"])


def ms_of(link):
    return (link_number(link) & (1 << 57) - 1) // 2**16 + EPOCH


def create(api):
    return api.post(url=URL, ttl="1h", space="flakes")


def wait_created(api):
    """Returns the first link that it makes."""
    return eventually(lambda: (lambda a: a.status_code == 201 and a.json())(create(api)),
                      what="a link")


# --- a clock that was set back --------------------------------------------------

def test_no_id_is_made_twice_when_the_clock_was_set_back_before_a_restart(
        spaces, program, sections, topic, wall_clock):
    sections["kafka"] = {"topic_links": topic}
    wall_clock.set(4)
    first = Api(program("allocator", sections, env=wall_clock.env))
    wait_created(first)
    made = [create(first).json() for _ in range(20)]
    wall_clock.set(0)
    detail = problem(create(first), 503)
    assert "went back" in detail
    assert first.program.stop() == 0
    second = Api(program("allocator", sections, env=wall_clock.env))
    after = wait_created(second)
    assert link_number(after) > max(link_number(link) for link in made)
    assert after["code"] not in [link["code"] for link in made]


# --- a thread that is late ------------------------------------------------------

class HalfSent:
    """A create whose last byte is still to come."""

    def __init__(self, api):
        host, port = api.program.section["listen"].split(":")
        body = json.dumps({"url": URL, "ttl": "1h", "space": "flakes"}).encode()
        self.connection = socket.create_connection((host, int(port)), PATIENCE)
        self.connection.sendall(
            b"POST /v1/links HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
            b"Authorization: Bearer boss\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body))
        # The thread has accepted the request.
        assert self.connection.recv(99).startswith(b"HTTP/1.1 100 ")
        self.connection.sendall(body[:-1])
        self.last = body[-1:]

    def end(self):
        """Returns (status, headers, body) of the answer."""
        self.connection.sendall(self.last)
        answer = b""
        while part := self.connection.recv(65536):
            answer += part
        self.connection.close()
        head, body = answer.decode().split("\r\n\r\n", 1)
        return int(head.split()[1]), head, json.loads(body)


def is_given_up(redis):
    return redis.hget(NODE, "holder") in ("", b"")


def late_create(redis, start, topic):
    """Returns the answer to a create that is half sent when the lease is given up, or
    None if it is on the thread that gives the lease up, after its answer."""
    api = start(topic, threads=8, drain_timeout="60s")
    last = wait_created(api)
    late = HalfSent(api)
    api.program.process.signal(signal.SIGTERM)
    try:
        eventually(lambda: is_given_up(redis), 3, what="the lease to be given up")
    except AssertionError:
        late.end()
        assert api.program.process.wait(PATIENCE) == 0
        return None
    until = int(redis.hget(NODE, "until"))
    assert ms_of(last) < until
    answer = late.end()
    assert api.program.process.wait(PATIENCE) == 0
    return answer


def test_a_create_that_is_late_makes_no_id_of_a_lease_that_was_given_up(
        spaces, redis, start, topic):
    answer = next(filter(None, (late_create(redis, start, topic) for _ in range(10))))
    status, head, body = answer
    assert status == 503, body
    assert "Retry-After: " in head and "application/problem+json" in head
    assert "given up" in body["detail"]
    # The successor need not wait for it.
    wait_created(start(topic))
