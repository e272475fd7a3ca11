"""Allocators that write late to a block which has another holder by now: they are
refused, continue with a block of their own, and no link is harmed."""
import concurrent.futures
import re
import signal
import time

import pytest
import requests

from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy
from support.spaces import sequence

IDS = (1 << 42) - 1
LINKS_SECTION = {"ttl_classes": ["1s", "6s", "30d"], "hold_max": "1s",
                 "quarantine": "1500ms", "grant_blocks": 2,
                 "spaces": [sequence(block_size=20)]}


class Writer:
    """One allocator."""

    def __init__(self, program, block_size=20):
        self.program = program
        self.block_size = block_size

    def post(self, url="https://example.org/", ttl="1s"):
        return requests.post(
            self.program.url + "/v1/links", json={"url": url, "ttl": ttl},
            headers={"Authorization": f"Bearer {API_KEY}"}, timeout=60)

    def create(self, url="https://example.org/", ttl="1s"):
        answer = self.post(url, ttl)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def block(self, link):
        return (int(link["link_id"]) & IDS) // self.block_size

    def own(self, link):
        """Returns block and generation."""
        return self.block(link), link["generation"]


@pytest.fixture
def writer(space, program, workdir, links_config, kafka, base_config):
    keys = admin_keys(workdir)
    topic = kafka.create_topic("links", 2)

    def start(address=None):
        redis = {**base_config["redis"], "command_timeout": "60s"}
        return Writer(program("allocator", {
            "links": links_config, "redis": {
                **redis, **({"address": address} if address else {})},
            "allocator": {"keys_file": str(keys), "threads": 1},
            "kafka": {"topic_links": topic}}))
    return start


def reclaimed(reclaimer, space, block):
    def run():
        assert reclaimer("run", record=False).status == 0
        return block in space.blocks("pool")
    eventually(run, every=0.2, what="the block pooled")


def taken_over(writer, block):
    """Makes links of a new owner in the block's next generation."""
    def create():
        link = writer.create("https://new.example/", "30d")
        return writer.own(link) == (block, 2) and link
    first = eventually(create, every=0.02, what="the block again")
    return [first] + [writer.create("https://new.example/", "30d")
                      for _ in range(3)]


def records(space, block):
    return {key: space.redis.get(key)
            for key in [space.marker_key(block)]} | {
        key: redis_bytes(space.redis).get(key)
        for key in space.redis.scan_iter(f"l:{{s7:{block}}}:*")}


def leads_to(space, link, url):
    keys = list(space.redis.scan_iter(f"l:*:{link['code']}"))
    assert len(keys) == 1, keys
    assert url.encode() in redis_bytes(space.redis).get(keys[0])


def test_a_holder_stopped_past_its_blocks_end_harms_nobody(space, writer,
                                                           reclaimer):
    """A create that waited all the time gets a code of its own."""
    sleeper, other = writer(), writer()
    block = sleeper.block(sleeper.create())
    sleeper.program.process.signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        queued = pool.submit(sleeper.post, "https://late.example/", "30d")
        reclaimed(reclaimer, space, block)
        taken_over(other, block)
        before = records(space, block)
        assert len(before) > 1
        sleeper.program.process.signal(signal.SIGCONT)
        late = queued.result()
    assert late.status_code == 201, late.text
    late = late.json()
    assert sleeper.own(late) != (block, 1)
    leads_to(space, late, "https://late.example/")
    more = [sleeper.create("https://late.example/", "30d") for _ in range(40)]
    assert not {(block, 1), (block, 2)} & {sleeper.own(m) for m in more}
    assert records(space, block) == before


def test_a_create_that_arrives_after_the_close_gets_another_block(
        redis_server, space, writer, reclaimer):
    """The request was sent within the hold; the network is slow."""
    with RedisProxy(redis_server.port) as proxy:
        slow, other = writer(proxy.address), writer()
        held = proxy.hold(b"l:{s7:")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            # Such links still exist when this test checks them.
            queued = pool.submit(slow.post, "https://late.example/", "6s")
            assert held.here.wait(60), "no create was sent"
            block = int(re.search(rb"l:\{s7:(\d+)\}:", held.command)[1])
            reclaimed(reclaimer, space, block)
            taken_over(other, block)
            before = records(space, block)
            held.release()
            late = queued.result()
        assert late.status_code == 201, late.text
        assert slow.own(late.json()) != (block, 1)
        leads_to(space, late.json(), "https://late.example/")
        assert records(space, block) == before


def test_a_create_outlasts_blocks_that_expire_while_they_are_opened(
        redis_server, space, writer):
    """Redis answers after the hold: the granted blocks are dropped, and waiting
    requests get a code of the next grant."""
    with RedisProxy(redis_server.port) as proxy:
        slow = writer(proxy.address)
        held = proxy.hold(b"m:{s7:")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            queued = pool.submit(slow.post, "https://late.example/", "30d")
            assert held.here.wait(60), "no block was opened"
            time.sleep(2)
            held.release()
            late = queued.result(timeout=60)
        assert late.status_code == 201, late.text
        leads_to(space, late.json(), "https://late.example/")


def test_of_two_holders_of_one_block_the_late_one_is_refused(
        space, writer, links_config):
    """Redis has lost more than the gap covers: the block is granted again, to another
    allocator, which opens it.  Neither checks the space meanwhile: an allocator that
    has seen more raises the cursor."""
    links_config["hold_max"] = "1h"
    first = writer()
    block = first.block(first.create(ttl="30d"))
    first.program.process.signal(signal.SIGSTOP)
    for key in [space.marker_key(block),
                *space.redis.scan_iter(f"l:{{s7:{block}}}:*")]:
        space.redis.delete(key)
    space.redis.set(space.key("cursor"), block)
    space.redis.delete(space.key("issued"))
    second = writer()
    mine = second.create("https://second.example/", "30d")
    assert second.own(mine) == (block, 1)
    before = records(space, block)
    first.program.process.signal(signal.SIGCONT)
    late = [first.create("https://first.example/", "30d") for _ in range(5)]
    assert block not in {first.block(link) for link in late}
    assert records(space, block) == before
    for link in late:
        leads_to(space, link, "https://first.example/")
    leads_to(space, mine, "https://second.example/")
