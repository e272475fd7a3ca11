"""kill -9 of a run at every command that it sends to Redis, before and after Redis has
executed it; then a complete run.  The final state must equal that of an undisturbed
run: issued, pool, markers, links and counters.

Normally another run waits for the killed one's lock to expire; here the lock is
removed, as if that time had passed (test_killed_and_run_again... waits)."""
import itertools
import threading

import pytest

from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy

QUARANTINE = 2000


def furnish(space):
    """Makes every state that a run can find; chunks of 8 cut ranges in two."""
    future = now() + 3600 * 1000
    space.ended(0, 19)
    space.mark([3, 4, 11], end=future)  # renewed
    space.mark([7], end=future + 5000)
    space.mark([9], state="c")  # closed by its holder
    space.mark([15], end=NEVER)
    space.redis.delete(space.marker_key(17))  # lost
    space.issue(20, 23, generation=3)
    space.mark([20, 21, 22, 23], generation=2, state="c")  # never opened
    space.issue(24, 30, generation=2)
    space.mark(range(24, 31), generation=2)
    space.mark([26], generation=5)  # a Redis that forgot
    space.issue(31, 33, generation=32767)  # the last generation
    space.mark(range(31, 34), generation=32767)
    space.issue(34, 37)
    space.redis.hset(space.key("space"), "gaps", "34-37 ")
    space.issue(40, 41, score=future)  # not due
    space.mark(range(40, 42), end=future)
    space.redis.zadd(space.key("pool"), {"38-39:4": 1})
    for block in (3, 4, 7, 11, 15, 40):
        space.redis.set(f"l:{{s7:{block}}}:alive", "x", ex=3000)


class Picture:
    """A copy of everything in Redis, which can be restored."""

    def __init__(self, redis):
        self.redis = redis
        raw = redis_bytes(redis)
        self.keys = {key: (raw.dump(key), max(raw.pttl(key), 0))
                     for key in raw.keys("*")}

    def restore(self):
        raw = redis_bytes(self.redis)
        raw.flushdb()
        with raw.pipeline() as p:
            for key, (value, ttl) in self.keys.items():
                p.restore(key, ttl, value)
            p.execute()


def outcome(space, since):
    """Returns the state after a run, without the times at which blocks may be granted
    again and were reclaimed."""
    left = {}
    for key, (value, _) in space.everything().items():
        if key == space.key("reclaimed"):
            assert all(since <= score <= now() for _, score in value), value
            value = sorted(member for member, _ in value)
        if key == space.key("pool"):
            for member, score in value:
                assert score == 1 or (since + QUARANTINE <= score <=
                                      now() + QUARANTINE), member
            value = sorted(member for member, _ in value)
        left[key] = value
    left.pop(space.key("lock"), None)
    return left


def of_one_day(look):
    """Returns look(), and the day; it repeats if the day ended meanwhile, since each
    day has its own counters."""
    while True:
        begun = now() // 86400_000
        found = look()
        if now() // 86400_000 == begun:
            return found, begun


@pytest.fixture
def run_behind(begin, base_config):
    """run_behind(proxy) does a complete run, or one up to the point where the proxy
    kills it."""
    direct = base_config["redis"]["address"]

    def run(proxy=None):
        started = threading.Event()
        process = None

        def kill():
            started.wait()
            process.kill()

        if proxy:
            proxy.on_end = kill
            base_config["redis"]["address"] = proxy.address
        try:
            process = begin("run", "--json", chunk=8, max_lost=5,
                            sample_every=10**9, record=False)
        finally:
            base_config["redis"]["address"] = direct
        started.set()
        return Done(process)
    return run


@pytest.mark.proof
def test_a_run_killed_at_any_command_and_run_again_ends_as_if_never_killed(
        space, run_behind, redis_server):
    furnish(space)
    before = Picture(space.redis)
    run_behind()  # Redis knows the scripts from here on

    def undisturbed():
        """Returns (commands, outcome)."""
        before.restore()
        since = now()
        with RedisProxy(redis_server.port) as proxy:
            done = run_behind(proxy)
            commands = list(proxy.commands)
        assert done.status == 0, done
        assert (done.space["freed"], done.space["live"], done.space["lost"],
                done.space["gap"]) == (28, 5, 1, 4), done
        return commands, outcome(space, since)

    def killed_at(number, reach):
        """Returns (how it was killed, outcome of the next run); None: it had ended
        before."""
        before.restore()
        since = now()
        with RedisProxy(redis_server.port) as proxy:
            proxy.end_at(number, reach)
            killed = run_behind(proxy)
            commands = list(proxy.commands)
        if len(commands) < number:
            assert killed.status == 0, (number, killed)
            return None
        assert killed.status == -9, (number, killed)
        space.redis.delete(space.key("lock"))
        done = run_behind()
        where = (f"killed at command {number}, {commands[number - 1]}, "
                 f"reach={reach}")
        assert done.status == 0, (where, done)
        return where, outcome(space, since)

    def kill_at_each(reach):
        """Returns the number of commands.  A slow run has more: it renews its lock, and
        searches for lost blocks again."""
        nonlocal expected, day
        for number in itertools.count(1):
            found, at = of_one_day(lambda n=number: killed_at(n, reach))
            if found is None:
                return number - 1
            if at != day:
                (_, expected), day = of_one_day(undisturbed)
            where, left = found
            assert left == expected, where

    (commands, expected), day = of_one_day(undisturbed)
    assert len(commands) > 20
    for reach in (False, True):
        count = kill_at_each(reach)
        assert count > 20
        print(f"kills at {count} commands, reach={reach}")
