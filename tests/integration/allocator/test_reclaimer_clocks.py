"""A Redis whose clock is wrong, compared with two others, and a reclaimer with a wrong
clock: no block changes hands because of the first, and the second decides nothing."""

import time

import pytest

import servers
from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.server import RedisServer

HOUR, DAY = 3600, 86_400


@pytest.fixture
def own_redis(workdir, wall_clock):
    """Only Redis has that clock."""
    server = SkewedRedis(workdir / "redis", wall_clock.env)
    yield server.start()
    server.kill()


class SkewedRedis(RedisServer):
    def __init__(self, directory, env):
        super().__init__(directory)
        self.env = env

    def start(self):
        self.process = servers.Process(self.name, self.command(), self.log_path,
                                       env=self.env)
        servers.wait_ready(self.process, self.probe, self.start_seconds)
        return self


@pytest.fixture
def space(make_space, own_redis):
    """The blocks 0 to 9 have ended; 10 to 19 end tomorrow."""
    made = make_space(own_redis.client())
    made.ended(0, 9)
    tomorrow = now() + DAY * 1000
    made.issue(10, 19, score=tomorrow)
    made.mark(range(10, 20), end=tomorrow)
    return made


def redis_now(space):
    seconds, us = space.redis.time()
    return seconds + us / 1e6


def test_the_clock_reaches_redis(space, wall_clock):
    for seconds in (3 * DAY, -2 * HOUR):
        wall_clock.set(seconds)
        assert abs(redis_now(space) - time.time() - seconds) < 60


@pytest.mark.parametrize("seconds, said", [
    (3 * DAY, "3d ahead of this host's"), (-2 * HOUR, "2h behind this host's")])
def test_what_two_other_clocks_deny_is_no_ground_to_reclaim(
        space, tables, reclaimer, wall_clock, seconds, said):
    """A clock that is ahead ends live links; one that is behind would record a
    quarantine that ends too early once it is right."""
    before = space.everything()
    wall_clock.set(seconds)
    for args in (("run",), ("run", "--dry-run")):
        done = reclaimer(*args)
        assert done.status == 70, done
        for part in ("Redis' clock is ", said, "ClickHouse's"):
            assert part in done.space["error"], done
    assert space.everything().keys() <= before.keys()
    assert space.ranges("pool") == {}
    status = reclaimer("status").json["spaces"][0]
    assert "Redis' clock is " in status["refused"], status
    wall_clock.set(0)
    assert reclaimer("run").space["freed"] == 10
    assert space.blocks("pool") == [*range(10)]
    assert space.blocks("issued") == [*range(10, 20)]


@pytest.mark.parametrize("seconds", [3 * DAY, -3 * DAY])
def test_a_reclaimer_whose_own_clock_is_wrong_says_so_and_goes_by_the_others(
        space, tables, begin, skew, seconds):
    done = Done(begin("run", "--json", env=skew(seconds)))
    assert done.status == 0 and done.space["freed"] == 10, done
    assert "nothing goes by this host's clock" in done.err
    assert space.blocks("issued") == [*range(10, 20)]
    # The row of its run is in the right order among the others.
    row, = tables.rows(
        "SELECT max(abs(dateDiff('second', started_at, now64(3)))) AS started, "
        "countIf(started_at > finished_at) AS wrong FROM reclaim_runs")
    assert int(row["started"]) < 300 and int(row["wrong"]) == 0


@pytest.mark.parametrize("seconds", [3 * DAY, -2 * HOUR])
def test_a_clock_that_jumps_during_a_run_ends_it(space, begin, wall_clock, seconds):
    """This holds even if no other clock can be queried.  If Redis' clock is ahead, the
    run's lock may have expired by it before the clock is checked."""
    run = begin("run", "--json", "--rate", "4/s", record=False)
    eventually(lambda: space.ranges("pool"), what="the first blocks")
    wall_clock.set(seconds)
    done = Done(run)
    assert done.status == 70 or (done.status == 75 and seconds > 0), done
    assert "Redis' clock has jumped" in done.space["error"] or seconds > 0, done
    assert done.space["freed"] < 10
    assert space.blocks("issued")[-10:] == [*range(10, 20)]


# --- grants from the pool -----------------------------------------------------------

@pytest.fixture
def pooled(make_space, own_redis):
    """Block 0 is in quarantine for another hour."""
    made = make_space(own_redis.client())
    made.redis.set(made.key("cursor"), 1)
    made.redis.zadd(made.key("pool"), {"0-0:2": now() + HOUR * 1000})
    return made


def test_a_clock_that_is_ahead_shortens_no_quarantine(
        pooled, program, workdir, links_config, kafka, wall_clock):
    wall_clock.set(3 * DAY)
    allocator = Allocator(program("allocator", {
        "links": links_config, "allocator": {"keys_file": str(admin_keys(workdir))},
        "kafka": {"topic_links": kafka.create_topic("links", 2)}}), pooled.redis)
    assert allocator.block(allocator.create("30d")["code"]) == 1
    assert pooled.blocks("pool") == [0]
    eventually(lambda: "Redis' clock is 3d ahead of this host's" in
               allocator.program.ready()[1], what="/readyz to say so")
    assert allocator.program.ready()[0] == 200
