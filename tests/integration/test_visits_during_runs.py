"""A visit that arrives at any moment of a run keeps its link: the real
redirector, and runs stopped at each of their commands or going on without end."""
import hashlib
import random
import threading
import time

import pytest
import requests

from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy

TTL = 3000


@pytest.fixture
def redirector(program, links_config, kafka):
    return program("redirector", {
        "links": links_config,
        "redirector": {"threads": 1, "cache_ttl": "0s"},
        "kafka": {"topic_clicks": kafka.clicks_topic()}})


def visit(redirector, code):
    return requests.get(f"{redirector.url}/{code}", allow_redirects=False,
                        timeout=5).status_code


def bring_near_its_end(space, key, block, ms):
    """As a link is whose last visit was some time ago: it, its block's end and
    the time to look at that go together."""
    end = now() + ms
    marker = space.marker(block)
    marker[4] = str(end)
    space.redis.set(space.marker_key(block), " ".join(marker))
    space.redis.pexpireat(key, end)
    member = next(m for m in space.ranges("issued") if block in range(
        int(m.split("-")[0]), int(m.split("-")[1].split(":")[0]) + 1))
    space.redis.zadd(space.key("issued"), {member: now() - 1})
    return end


def test_a_visit_between_any_two_commands_of_a_run_keeps_its_link(
        allocator, space, begin, redirector, redis_server, base_config):
    """While the run stands still the link is visited, a moment before its
    end; then the run goes on."""
    code = allocator.create("3s")["code"]
    key, block = allocator.key(code), allocator.block(code)
    direct = base_config["redis"]["address"]

    def visit_late():
        time.sleep(max(0, end - now() - 150) / 1000)
        assert visit(redirector, code) == 302
        eventually(lambda: space.redis.pttl(key) > TTL - 500,
                   what="the renewal")
        visited.set()

    def run(number):
        with RedisProxy(redis_server.port) as proxy:
            if number:
                proxy.call_at(number, visit_late)
            base_config["redis"]["address"] = proxy.address
            process = begin("run", "--json", record=False, max_lost=99)
            base_config["redis"]["address"] = direct
            done = Done(process)
            return done, len(proxy.commands)

    visited = threading.Event()
    end = bring_near_its_end(space, key, block, 60000)
    run(0)
    end = bring_near_its_end(space, key, block, 60000)
    done, commands = run(0)
    assert done.status == 0 and done.space["live"] >= 1, done
    assert commands > 8
    for number in range(1, commands + 1):
        visited.clear()
        end = bring_near_its_end(space, key, block, 800)
        done, _ = run(number)
        assert done.status == 0, (number, done)
        assert visited.is_set(), number
        assert space.redis.pttl(key) > 0, number
        marker = space.marker(block)
        assert (marker[1], int(marker[4]) > end) == ("o", True), number
        assert block not in space.blocks("pool"), number
        assert block in space.blocks("issued"), number
    # What the last run wrote down was before the visit: the next sees it.
    time.sleep(0.9)
    done, _ = run(0)
    assert done.status == 0 and block not in space.blocks("pool")
    assert visit(redirector, code) == 302
    print(f"a visit at each of {commands} commands")


@pytest.fixture
def crowd(space, program, workdir, links_config, kafka):
    """An allocator with blocks of two links, so that many end at many times."""
    keys = workdir / "keys"
    digest = hashlib.sha256(API_KEY.encode()).hexdigest()
    keys.write_text(f"test admin sha256:{digest}\n")
    links_config["spaces"][0]["block_size"] = 2
    links_config["hold_max"] = "1s"
    space.redis.hset(space.key("space"), "block_size", 2)
    return Allocator(program("allocator", {
        "links": links_config, "allocator": {"keys_file": str(keys)},
        "kafka": {"topic_links": kafka.create_topic("links", 2)}}),
        space.redis)


def test_links_that_are_visited_outlive_runs_without_end(crowd, space, begin,
                                                         redirector):
    """Visited at random within their life, renewed each time, while what
    nobody visits is reclaimed around them and granted again."""
    loved = [crowd.create("3s")["code"] for _ in range(24)]
    rng = random.Random(5)
    over = time.monotonic() + 12
    lost, freed = [], 0

    def love(codes):
        at = {code: time.monotonic() + rng.uniform(0.2, 2) for code in codes}
        while time.monotonic() < over:
            code = min(at, key=at.get)
            time.sleep(max(0, at[code] - time.monotonic()))
            if visit(redirector, code) != 302:
                lost.append(code)
                return
            at[code] = time.monotonic() + rng.uniform(0.2, 1.8)

    threads = [threading.Thread(target=love, args=(loved[i::4],))
               for i in range(4)]
    for thread in threads:
        thread.start()
    while time.monotonic() < over:
        crowd.create("3s")  # visited by nobody
        done = Done(begin("run", "--json", record=False))
        assert done.status == 0, done
        freed += done.space["freed"]
    for thread in threads:
        thread.join()
    assert lost == []
    assert freed > 5
    pooled = set(space.blocks("pool"))
    assert not pooled & {crowd.block(code) for code in loved}
