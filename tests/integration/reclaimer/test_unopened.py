"""A program is killed between a grant and the opening of its blocks: that is no loss,
and no run is refused for it.  Blocks that were opened and have lost their markers still
are a loss."""
import concurrent.futures

import pytest
import requests

from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy

GRANTED = 64


@pytest.fixture(autouse=True)
def large_grants(links_config):
    links_config.update(hold_max="1h", grant_blocks=GRANTED)


@pytest.fixture
def killed(space, redis_server, program, workdir, links_config, kafka):
    """killed(words, ttl) returns an allocator that is killed with -9 as it sends a
    command with these words, which does not reach Redis."""
    keys = admin_keys(workdir)

    # Redis knows the scripts, so that they are sent command by command.
    scripts = servers.ROOT / "linkstore" / "scripts"
    space.redis.script_load("".join(
        (scripts / f"{name}.lua").read_text()
        for name in ("lib_time", "lib_marker", "open")))

    def run(words, ttl="3s"):
        with RedisProxy(redis_server.port) as proxy:
            held = proxy.hold(words)
            allocator = program("allocator", {
                "links": links_config, "redis": {
                    # A held command must not be sent again.
                    "address": proxy.address, "command_timeout": "60s"},
                "allocator": {"keys_file": str(keys), "threads": 1},
                "kafka": {"topic_links": kafka.create_topic("links", 2)}})
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                asked = pool.submit(
                    requests.post, allocator.url + "/v1/links",
                    json={"url": "https://example.org/", "ttl": ttl},
                    headers={"Authorization": f"Bearer {API_KEY}"}, timeout=60)
                assert held.here.wait(60), "no such command was sent"
                allocator.kill()
                proxy.close()
                held.release()
                assert asked.exception()
    return run


@pytest.fixture
def brief_hold(links_config):
    links_config.update(hold_max="2s")


def pool_all(space):
    """The blocks of the next grant have had owners before."""
    space.redis.zadd(space.key("pool"), {f"0-{GRANTED - 1}:2": 1})
    space.redis.set(space.key("cursor"), GRANTED)
    space.mark(range(GRANTED), state="c")


def wait_until_due(space):
    """Waits until the blocks are due."""
    eventually(lambda: all(score < now() for score in
                           space.ranges("issued").values()),
               what="a time to look at them")


def make_due(space):
    for member in space.ranges("issued"):
        space.redis.zadd(space.key("issued"), {member: now() - 1000})


def test_a_grant_cut_short_is_reclaimed_and_not_taken_for_a_loss(
        killed, space, reclaimer):
    killed(b"m:{s7:0}")
    assert space.blocks("issued") == list(range(GRANTED))
    assert not list(space.redis.scan_iter("m:*"))
    make_due(space)
    done = reclaimer("run", max_lost=0)
    assert done.status == 0, done
    assert (done.space["freed"], done.space["lost"]) == (GRANTED, 0)
    assert space.blocks("pool") == list(range(GRANTED))
    # An open that is still under way fails.
    assert {tuple(space.marker(block)[:2]) for block in range(GRANTED)} == {
        ("1", "c")}
    assert reclaimer("verify").status == 0
    assert not space.redis.exists(space.key("unopened"))


@pytest.mark.parametrize("reused", [False, True])
@pytest.mark.parametrize("ttl", ["3s", "never"])
def test_it_comes_due_by_itself_whatever_it_was_granted_for(
        brief_hold, killed, space, reclaimer, ttl, reused):
    if reused:
        pool_all(space)
    killed(b"m:{s7:0}", ttl)
    assert space.blocks("issued") == list(range(GRANTED))
    wait_until_due(space)
    done = reclaimer("run", max_lost=0)
    assert (done.status, done.space["freed"]) == (0, GRANTED), done
    assert list(space.ranges("pool")) == [
        f"0-{GRANTED - 1}:{3 if reused else 2}"]
    assert not space.redis.exists(space.key("unopened"), space.key("endless"))
    assert reclaimer("verify").status == 0


def test_what_was_opened_for_ever_is_looked_at_once(
        brief_hold, killed, space, reclaimer):
    killed(b"m:{s7:40}", "never")
    wait_until_due(space)
    done = reclaimer("run", max_lost=0)
    assert (done.status, done.space["live"], done.space["freed"]) == (
        0, 40, GRANTED - 40), done
    assert space.ranges("issued") == {"0-39:1": float("inf")}
    assert reclaimer("run").space["scanned"] == 0
    assert reclaimer("verify", "--deep").status == 0


@pytest.mark.parametrize("reused", [False, True])
def test_links_for_ever_that_redis_forgot_keep_their_codes(
        brief_hold, allocator, space, reclaimer, reused):
    """The blocks' node of a cluster has lost its last writes.  The marker of a former
    owner is there again, and proves nothing."""
    if reused:
        pool_all(space)
    code = allocator.create("never")["code"]
    eventually(lambda: not space.redis.exists(space.key("unopened")))
    allocator.program.kill()
    space.redis.delete(*space.redis.scan_iter("m:*"), allocator.key(code))
    if reused:
        space.mark(range(GRANTED), state="c")
    wait_until_due(space)
    done = reclaimer("run", max_lost=0)
    assert (done.status, done.space["freed"], done.space["lost"]) == (
        70, 0, GRANTED), done
    done = reclaimer("run", max_lost=GRANTED)
    assert (done.status, done.space["lost"]) == (0, GRANTED), done
    assert not space.ranges("pool")
    assert reclaimer("verify").status == 0


@pytest.mark.parametrize("reused", [False, True])
def test_a_block_that_is_opened_as_the_run_looks_is_no_loss(
        space, begin, redis_server, reused):
    space.issue(0, 0, generation=2)
    if reused:
        space.mark([0], state="c")
        space.redis.zadd(space.key("endless"), {"0:2": 0})
    space.redis.zadd(space.key("unopened"), {"0:2": 0})
    with RedisProxy(redis_server.port) as proxy:
        held = proxy.hold(b"unopened:{s7}")
        run = begin("run", "--json", max_lost=0, sections={
            "redis": {"address": proxy.address}})
        assert held.here.wait(60)
        space.mark([0], end="never", generation=2)
        space.redis.delete(space.key("unopened"))
        held.release()
        done = Done(run)
    assert (done.status, done.space["live"], done.space["lost"]) == (
        0, 1, 0), done
    assert space.ranges("issued") == {"0-0:2": float("inf")}


def test_of_a_grant_half_opened_each_block_is_judged_by_itself(
        killed, space, reclaimer):
    killed(b"m:{s7:40}")
    opened = len(list(space.redis.scan_iter("m:*")))
    assert opened == 40
    for key in space.redis.scan_iter("m:*"):
        words = space.redis.get(key).split(" ")
        words[4] = str(now() - 500)
        space.redis.set(key, " ".join(words))
    make_due(space)
    done = reclaimer("run", max_lost=0)
    assert (done.status, done.space["freed"]) == (0, GRANTED), done


def test_opened_blocks_that_lost_their_markers_are_a_loss(allocator, space,
                                                          reclaimer):
    """The same number of blocks were opened; Redis lost their markers."""
    code = allocator.create("30d")["code"]
    eventually(lambda: not space.redis.exists(space.key("unopened")))
    markers = list(space.redis.scan_iter("m:*"))
    assert len(markers) == GRANTED
    space.redis.delete(*markers, allocator.key(code))
    allocator.program.kill()
    make_due(space)
    done = reclaimer("run", max_lost=3)
    assert (done.status, done.space["freed"]) == (70, 0), done
    assert not space.ranges("pool")


def test_a_link_in_a_block_that_should_have_none_stops_the_run(
        allocator, space, reclaimer):
    """A mark that contradicts the links is not trusted: such blocks are in the sample
    like any other."""
    block = allocator.block(allocator.create(ttl="30d")["code"])
    allocator.program.kill()
    space.redis.delete(*space.redis.scan_iter("m:*"))
    space.redis.zadd(space.key("unopened"),
                     {f"{b}:1": b for b in range(GRANTED)})
    make_due(space)
    done = reclaimer("run", max_lost=1, sample_every=1)
    assert (done.status, done.space["freed"]) == (70, 0), done
    assert f"block {block} of space s7 has ended, but 1 of its" in done.err
    assert not space.ranges("pool")


def test_the_mark_of_another_generation_says_nothing(space, reclaimer):
    space.issue(0, 0, generation=2)
    space.redis.zadd(space.key("unopened"), {"0:1": 0})
    done = reclaimer("run", max_lost=1)
    assert (done.space["freed"], done.space["lost"]) == (0, 1), done


def test_after_redis_has_forgotten_no_mark_is_believed(space, reclaimer):
    space.issue(0, 0)
    space.redis.zadd(space.key("unopened"), {"0:1": 0})
    space.redis.hset(space.key("space"), "run_id", "another")
    space.redis.delete(space.key("pool"))
    first = reclaimer("run", max_lost=1)
    assert (first.space["freed"], first.space["lost"]) == (0, 1), first
