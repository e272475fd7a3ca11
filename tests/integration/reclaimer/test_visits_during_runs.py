"""A visit at any moment of a run keeps its link: the real redirector, and runs that are
stopped at each of their commands or never end."""
import concurrent.futures
import random
import threading
import time

import pytest
import requests

from support.program import PATIENCE, eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy

TTL = 3000
# The minimum life after a visit's renewal, in seconds: it skips a link that has more
# left than its TTL less an eighth.
KEPT = TTL / 1000 * 7 / 8


@pytest.fixture
def redirector(program, links_config, kafka):
    return program("redirector", {
        "links": links_config,
        "redirector": {"threads": 1, "cache_ttl": "0s"},
        "kafka": {"topic_clicks": kafka.clicks_topic()}})


def visit(redirector, code):
    return requests.get(f"{redirector.url}/{code}", allow_redirects=False,
                        timeout=60).status_code


def lives_until(space, key, block, end):
    """Returns False if it has ended."""
    if not space.redis.pexpireat(key, end):
        return False
    marker = space.marker(block)
    marker[4] = str(end)
    return space.redis.set(space.marker_key(block), " ".join(marker))


def bring_near_its_end(space, key, block, ms):
    """Sets a link to the state some time after its last visit: the link, its block's
    end and the time of the next check move together."""
    end = now() + ms
    lives_until(space, key, block, end)
    member = next(m for m in space.ranges("issued") if block in range(
        int(m.split("-")[0]), int(m.split("-")[1].split(":")[0]) + 1))
    space.redis.zadd(space.key("issued"), {member: now() - 1})
    return end


def test_a_visit_between_any_two_commands_of_a_run_keeps_its_link(
        allocator, space, begin, redirector, redis_server, base_config):
    """While the run is stopped the link is visited, a moment before its end; then the
    run goes on."""
    direct = base_config["redis"]

    def fresh():
        """Returns a link, its key and its block; retries on a machine so slow that it
        has ended by then."""
        while True:
            code = allocator.create("3s")["code"]
            keys = list(space.redis.scan_iter(f"l:*:{code}"))
            if keys:
                return code, keys[0], int(keys[0].split("}")[0].split(":")[2])

    def visit_late():
        time.sleep(max(0, end - now() - 150) / 1000)
        if visit(redirector, code) != 302:
            # We woke after its time was over: that proves nothing.
            assert now() >= end, number
            return
        # A renewed link ends 3 s from now; otherwise it has ended, renewed too late or
        # not.
        ends = eventually(lambda: (e := space.redis.pexpiretime(key)) != end and e,
                          what="the renewal")
        if ends < 0:
            assert now() >= end, number
            return
        assert ends > end + TTL - 500, number
        renewed.append(ends)
        visited.set()

    def run(number):
        with RedisProxy(redis_server.port) as proxy:
            if number:
                proxy.call_at(number, visit_late)
            # It may be stopped for long.
            base_config["redis"] = {"address": proxy.address,
                                    "command_timeout": "60s"}
            process = begin("run", "--json", record=False, max_lost=99,
                            lock_ttl="60s")
            base_config["redis"] = direct
            done = Done(process)
            return done, len(proxy.commands)

    visited = threading.Event()
    renewed = []  # until when
    code, key, block = fresh()
    end = bring_near_its_end(space, key, block, 60000)
    run(0)
    end = bring_near_its_end(space, key, block, 60000)
    done, commands = run(0)
    assert done.status == 0 and done.space["live"] >= 1, done
    assert commands > 8
    for number in range(1, commands + 1):
        visited.clear()
        deadline = time.monotonic() + PATIENCE
        while not visited.is_set():
            assert time.monotonic() < deadline, f"never in time: {number}"
            if not space.redis.exists(key):
                code, key, block = fresh()
            end = bring_near_its_end(space, key, block, 800)
            if space.redis.pexpiretime(key) != end:
                continue  # it had ended
            done, _ = run(number)
            assert done.status == 0, (number, done)
            marker = space.marker(block)
            pool, issued = space.blocks("pool"), space.blocks("issued")
            if visited.is_set() and not lives_until(space, key, block,
                                                    now() + 60000):
                visited.clear()  # it may have ended again before everything was read
        assert (marker[1], int(marker[4]) > end) == ("o", True), number
        assert block not in pool, number
        assert block in issued, number
    # The last run's record is from before the visit: the next run sees the visit,
    # however late it is.
    time.sleep(0.9)
    done, _ = run(0)
    assert done.status == 0 and block not in space.blocks("pool")
    assert visit(redirector, code) == 302
    print(f"a visit at each of {commands} commands")


@pytest.fixture
def crowd(space, program, workdir, links_config, kafka):
    """An allocator with blocks of two links, so that many blocks end at many times."""
    keys = admin_keys(workdir)
    links_config["spaces"][0]["block_size"] = 2
    links_config["hold_max"] = "1s"
    space.redis.hset(space.key("space"), "block_size", 2)
    return Allocator(program("allocator", {
        "links": links_config, "allocator": {"keys_file": str(keys)},
        "kafka": {"topic_links": kafka.create_topic("links", 2)}}),
        space.redis)


def block_of(link):
    """The blocks have two links."""
    return int(link["link_id"]) % (1 << 42) // 2


@pytest.mark.long
def test_links_that_are_visited_outlive_runs_without_end(crowd, space, begin,
                                                         redirector):
    """The links are visited within their life, and renewed each time; unvisited links
    around them are reclaimed and their blocks granted again."""
    rng = random.Random(5)
    over = time.monotonic() + 12
    stop = threading.Event()
    renewed = []

    def love():
        """Visits six links again and again.  A link that a busy machine visits too late
        is replaced with another."""
        loved = {}  # code: its block, the time of its last visit and of the next

        def soon():
            return time.monotonic() + rng.uniform(0.2, 1.8)

        while not stop.is_set():
            while len(loved) < 6:
                begun = time.monotonic()
                made = crowd.create("3s")
                loved[made["code"]] = (block_of(made), begun, soon())
            code = min(loved, key=lambda c: loved[c][2])
            block, last, due = loved[code]
            time.sleep(max(0, due - time.monotonic()))
            begun = time.monotonic()
            status = visit(redirector, code)
            pooled = block in space.blocks("pool")
            if time.monotonic() - last > KEPT:
                del loved[code]
                continue
            assert (status, pooled) == (302, False), code
            loved[code] = (block, begun, soon())
            renewed.append(code)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        visitors = [pool.submit(love) for _ in range(4)]
        try:
            freed = 0
            while time.monotonic() < over or freed <= 5:
                assert time.monotonic() < over + PATIENCE, "nothing was freed"
                crowd.create("3s")  # never visited
                done = Done(begin("run", "--json", record=False))
                assert done.status == 0, done
                freed += done.space["freed"]
        finally:
            stop.set()
        for visitor in visitors:
            visitor.result()
    assert len(renewed) > 24
