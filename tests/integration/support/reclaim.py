"""The fixtures of the reclaimer's tests; a test file gets them by `from support.reclaim
import *`."""
import json
import os
import subprocess
import time

import pytest
import redis as redis_client
import requests

import servers
from support.keys import API_KEY, admin_keys
from support.program import BIN
from support.spaces import USUAL, sequence

NEVER = "never"


def now():
    return int(time.time() * 1000)


LINKS_SECTION = {**USUAL, "ttl_classes": ["3s", "30d", "never"], "hold_max": "2s",
                 "quarantine": "2s", "spaces": [sequence(block_size=20)]}


def redis_bytes(client):
    """Returns another client of that server, whose answers are bytes."""
    return redis_client.Redis(
        port=client.connection_pool.connection_kwargs["port"])


class Space:
    """Space s7 in Redis, written and read in the documented formats of linkstore."""

    def __init__(self, redis, name="s7"):
        self.redis = redis
        self.name = name

    def key(self, what):
        return f"{what}:{{{self.name}}}"

    def marker_key(self, block):
        return f"m:{{{self.name}:{block}}}"

    def issue(self, first, last, generation=1, score=None):
        """Adds a range that is due."""
        score = now() - 1000 if score is None else score
        self.redis.zadd(self.key("issued"),
                        {f"{first}-{last}:{generation}": score})
        cursor = int(self.redis.get(self.key("cursor")))
        self.redis.set(self.key("cursor"), max(cursor, last + 1))

    def issue_each(self, ranges):
        """Adds many due ranges."""
        score = now() - 1000
        self.redis.zadd(self.key("issued"),
                        {f"{first}-{last}:1": score for first, last in ranges})
        self.redis.set(self.key("cursor"), ranges[-1][1] + 1)

    def mark(self, blocks, end=None, generation=1, state="o"):
        end = now() - 500 if end is None else end
        with self.redis.pipeline() as p:
            for block in blocks:
                p.set(self.marker_key(block),
                      f"{generation} {state} 3s 1000 {end} test-1-ab")
            p.execute()

    def ended(self, first, last, generation=1):
        self.issue(first, last, generation)
        self.mark(range(first, last + 1), generation=generation)

    def marker(self, block):
        return self.redis.get(self.marker_key(block)).split(" ")

    def ranges(self, what):
        """Returns {member: score} of `issued` or `pool`."""
        return dict(self.redis.zrange(self.key(what), 0, -1, withscores=True))

    def blocks(self, *whats):
        """Returns the blocks in them, with repetitions if there are any.  Several sets
        are read at one instant, as the last commands of a killed process may still
        arrive."""
        # A full Redis refuses transactions.
        with self.redis.pipeline(transaction=len(whats) > 1) as p:
            for what in whats:
                p.zrange(self.key(what), 0, -1)
            members = sum(p.execute(), [])
        blocks = []
        for member in members:
            first, last = member.split(":")[0].split("-")
            blocks += range(int(first), int(last) + 1)
        return sorted(blocks)

    def everything(self):
        read = {"string": self.redis.get, "hash": self.redis.hgetall,
                "zset": lambda key: self.redis.zrange(key, 0, -1,
                                                      withscores=True),
                "list": lambda key: self.redis.lrange(key, 0, -1)}
        return {key: (read[self.redis.type(key)](key), self.redis.ttl(key))
                for key in self.redis.scan_iter()}


# How long redirectors and collectors cache a code; this is shorter than that
# quarantine.
BRIEF = {"redirector": {"cache_ttl": "500ms", "cache_negative_ttl": "500ms",
                        "cache_stale": "1s", "permanent_max_age": "1s"},
         "collector": {"max_lag": "1s"}}


@pytest.fixture
def make_space(program, links_config):
    """make_space(redis) makes space s7 in an operator's way."""
    def make(redis):
        space = program("allocator", {"links": links_config}, start=False,
                        args=["create-space", "--space", "s7", "--no-archive"])
        assert space.run()[0] == 0, space.log()
        return Space(redis)
    return make


@pytest.fixture
def space(make_space, redis):
    return make_space(redis)


class Done:
    """The result of a command."""

    def __init__(self, process):
        self.out, self.err = process.communicate(timeout=60)
        self.status = process.returncode

    def __str__(self):
        return f"exit {self.status}\n{self.out}\n{self.err}"

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def space(self):
        spaces = self.json["spaces"]
        assert len(spaces) == 1, self
        return spaces[0]


@pytest.fixture
def begin(program, links_config):
    """begin("run", "--rate", "9", sample_every=1) returns a started process. `sections`
    replaces those of other programs, `stderr` is its output for errors, `env` is added
    to the environment."""
    started = []

    def make(*args, links=None, sections=None, stderr=subprocess.PIPE,
             env=None, **settings):
        made = program("reclaimer", {
            **BRIEF, **(sections or {}), "links": links or links_config,
            "reclaimer": settings}, start=False)
        started.append(subprocess.Popen(
            [*made.under, BIN / "reclaimer", *args, "-c", made.config_path],
            text=True,
            stdout=subprocess.PIPE, stderr=stderr, cwd=servers.ROOT,
            env={**os.environ, **(env or {})}))
        return started[-1]

    yield make
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture
def reclaimer(begin):
    """reclaimer("run", ...) runs it to its end, with --json."""
    def run(*args, **settings):
        return Done(begin(*args, "--json", **settings))
    return run


class Allocator:
    def __init__(self, program, redis):
        self.program = program
        self.redis = redis

    def create(self, ttl="3s"):
        answer = requests.post(
            self.program.url + "/v1/links",
            json={"url": "https://example.org/", "ttl": ttl},
            headers={"Authorization": f"Bearer {API_KEY}"}, timeout=60)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def key(self, code):
        keys = list(self.redis.scan_iter(f"l:*:{code}"))
        assert len(keys) == 1, keys
        return keys[0]

    def block(self, code):
        return int(self.key(code).split("}")[0].rsplit(":", 1)[1])


@pytest.fixture
def allocator(space, program, workdir, links_config, kafka):
    keys = admin_keys(workdir)
    return Allocator(program("allocator", {
        "links": links_config, "allocator": {"keys_file": str(keys)},
        "kafka": {"topic_links": kafka.create_topic("links", 2)}}),
        space.redis)
