"""`reclaimer run`: its blocks, its rate, its waits, and its output."""
import os
import pty
import re
import signal
import time

import pytest

import servers
from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too
from support.redis_proxy import RedisProxy, name_of

DAY = 86400_000
TODAY = now() // DAY * DAY  # may be yesterday when a test runs


def day_of(ms):
    return time.strftime("%Y-%m-%d", time.gmtime(ms / 1000))


def midnight(days_ago):
    return TODAY - days_ago * DAY


def tomorrow():
    """Returns the start of tomorrow; in the last minutes of a day, that of the day
    after."""
    return (now() + 600_000) // DAY * DAY + DAY


# --- days ------------------------------------------------------------------------

@pytest.fixture
def days(space):
    """One block a day: block 1 was due a day ago, 2 two days ago, 3 three, at noon."""
    for ago in (1, 2, 3):
        space.issue(ago, ago, score=midnight(ago) + DAY // 2)
    space.mark([1, 2, 3])
    return space


def test_a_day_is_what_was_due_on_it(days, reclaimer):
    done = reclaimer("run", "--day", day_of(midnight(2)))
    assert done.status == 0, done
    assert days.blocks("pool") == [2]
    assert days.blocks("issued") == [1, 3]


def test_until_a_day_is_what_was_due_earlier_too(days, reclaimer):
    done = reclaimer("run", "--day", day_of(midnight(2)), "--until-day")
    assert done.status == 0, done
    assert days.blocks("pool") == [2, 3]


def test_without_a_day_all_that_is_due_is_freed(days, reclaimer):
    assert reclaimer("run").space["freed"] == 3


def test_a_day_begins_and_ends_at_midnight_utc(space, reclaimer):
    start = midnight(2)
    for block, score in enumerate((start - 1, start, start + DAY - 1,
                                   start + DAY)):
        space.issue(block, block, score=score)
    space.mark(range(4))
    assert reclaimer("run", "--day", day_of(start)).status == 0
    assert space.blocks("pool") == [1, 2]


def test_a_dry_run_of_a_day_foretells_the_run(days, reclaimer):
    day = ["--day", day_of(midnight(3))]
    plan, run = reclaimer("run", "--dry-run", *day), reclaimer("run", *day)
    assert plan.space["freed"] == run.space["freed"] == 1


def test_a_day_that_has_not_begun_is_refused(space, reclaimer):
    begin = tomorrow()
    space.issue(0, 0, score=begin + 5)
    space.mark([0])
    for more in ([], ["--dry-run"]):
        done = reclaimer("run", "--day", day_of(begin), *more)
        assert done.status == 64, done
        assert "nothing is reclaimed before its time" in done.err
    assert space.ranges("pool") == {}


def test_until_a_day_to_come_is_until_now(space, reclaimer):
    space.issue(0, 0, score=now() - 5)
    space.issue(1, 1, score=now() + 60_000)
    space.mark([0, 1])
    done = reclaimer("run", "--day", day_of(midnight(-5)), "--until-day")
    assert done.status == 0, done
    assert space.blocks("pool") == [0]


def test_a_live_block_of_a_past_day_is_not_freed(space, reclaimer):
    space.issue(0, 0, score=midnight(2) + 5)
    space.mark([0], end=now() + 60_000)
    done = reclaimer("run", "--day", day_of(midnight(2)))
    assert (done.space["live"], done.space["freed"]) == (1, 0)


def test_lost_blocks_belong_to_no_day(space, reclaimer):
    space.issue(0, 0, score=0)
    done = reclaimer("run", "--day", "1970-01-02", "--until-day")
    assert done.status == 0 and done.space["scanned"] == 0


@pytest.mark.parametrize("args, told", [
    (["--day", "2026-02-30"], "--day: '2026-02-30' is no day"),
    (["--day", "2026-11-21T00:00:00Z"], "is no day"),
    (["--day", "yesterday"], "is no day"),
    (["--until-day"], "--until-day needs --day"),
    (["--rate", "10/m"], "--rate: '10/m'"),
    (["--rate", "/s"], "--rate: '/s'"),
    (["--wait=soon"], "--wait: "),
    (["--wait", "--dry-run"], "--wait: a dry run does not wait"),
])
def test_options_without_sense_are_64(space, begin, args, told):
    done = Done(begin("run", *args))
    assert done.status == 64, done
    assert told in done.err


# --- rates -------------------------------------------------------------------------

def test_a_rate_may_say_per_second(space, reclaimer):
    space.ended(0, 99)
    done = reclaimer("run", "--rate", "50/s")
    assert done.space["freed"] == 100
    assert 1.5 < done.space["seconds"] < 60  # a minute's rate: 120


def test_a_slow_run_is_an_even_one(space, begin):
    """A run that was stopped catches up at once, so only one of several runs has to go
    on evenly all the time."""
    def is_even(first):
        space.ended(first, first + 199)
        process = begin("run", "--rate", "100")
        eventually(lambda: len(space.blocks("pool")) > first,
                   what="a first chunk")
        seen = []
        while process.poll() is None:
            before = time.monotonic()
            freed = len(space.blocks("pool"))
            seen.append((before, time.monotonic(), freed))
            time.sleep(0.1)
        assert Done(process).status == 0
        all_seen.append(seen)
        return len(seen) > 2 and all(
            more - few <= 50 + 100 * (ended - begun)
            for (begun, _, few), (_, ended, more) in zip(seen, seen[1:]))
    all_seen = []
    assert any(is_even(first) for first in range(0, 1000, 200)), all_seen


@pytest.fixture
def begin_behind(begin, base_config):
    """begin_behind(proxy, ...) is begin(...) with its Redis behind that proxy."""
    def make(proxy, *args, **settings):
        direct = base_config["redis"]
        base_config["redis"] = {"address": proxy.address,
                                "command_timeout": "60s"}
        process = begin(*args, **settings)
        base_config["redis"] = direct
        return process
    return make


def renewals(lefts):
    """Returns how often a lock had more time left than at the former check."""
    return sum(0 < before < left for before, left in zip(lefts, lefts[1:]))


def test_a_slow_run_keeps_its_lock(space, begin_behind, redis_server):
    """There is a second between two of six blocks, and the lock is renewed every three:
    it is checked before each command."""
    space.ended(0, 5)
    lefts = []
    with RedisProxy(redis_server.port) as proxy:
        proxy.on_command = lambda command: lefts.append(
            space.redis.pttl(space.key("lock")))
        done = Done(begin_behind(proxy, "run", "--rate", "1", lock_ttl="12s"))
    assert done.status == 0, done
    assert len(space.blocks("pool")) == 6
    taken = next(i for i, left in enumerate(lefts) if left > 0)
    assert min(lefts[taken:]) > 0 and renewals(lefts) >= 1, lefts


# --- members ------------------------------------------------------------------------

def test_live_neighbours_that_end_together_stay_one_range(space, reclaimer):
    end = now() + 60_000
    for block in range(100):
        space.issue(block, block)
        space.mark([block], end=end + block)
    assert reclaimer("run").space["live"] == 100
    assert space.ranges("issued") == {"0-99:1": end + 100}


def test_a_range_kept_together_is_freed_when_the_last_has_ended(space,
                                                                reclaimer):
    for _ in range(10):
        space.redis.delete(space.key("issued"), space.key("pool"))
        end = now() + 3000
        space.issue(0, 1)
        space.mark([0], end=end)
        space.mark([1], end=end + 100)
        live = reclaimer("run").space["live"]
        if now() < end:
            break  # otherwise they may have ended before the run
    assert live == 2
    done = eventually(lambda: (d := reclaimer("run")).space["freed"] and d,
                      every=0.1, what="the end of both")
    assert now() >= end + 100 and done.space["freed"] == 2


def test_many_ranges_of_scattered_blocks_are_all_settled(space, reclaimer):
    """There are more members and parts than one script takes."""
    blocks = list(range(0, 3000, 2))
    space.issue_each([(b, b) for b in blocks])
    live = set(blocks[::3])
    space.mark(blocks)
    space.mark(live, end=now() + 600_000)
    done = reclaimer("run")
    assert (done.space["freed"], done.space["live"]) == (1000, 500)
    assert space.blocks("pool") == sorted(set(blocks) - live)
    assert space.blocks("issued") == sorted(live)


def test_one_wide_range_in_shreds_is_settled(space, reclaimer):
    space.issue(0, 4999)
    space.mark(range(5000))
    space.mark(range(0, 5000, 2), end=NEVER)
    done = reclaimer("run", chunk=16384)
    assert (done.space["freed"], done.space["live"]) == (2500, 2500)
    assert space.blocks("pool") == list(range(1, 5000, 2))


@pytest.mark.parametrize("member", ["0-0", "5-3:1", "0-0:1x", "9" * 30, "0-0:0",
                                    "0-99999999999999:1", "00-0:1", "0-0:01"])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_malformed_entry_is_refused(space, reclaimer, member, more):
    space.redis.zadd(space.key("issued"), {member: now() - 1000})
    done = reclaimer("run", *more)
    assert done.status == 70, done
    assert "no range" in done.err
    assert space.ranges("pool") == {}


def test_a_malformed_entry_of_any_bytes_leaves_a_summary(space, reclaimer):
    """This holds even where the entry is cut: after 60 bytes, in the middle of a
    character."""
    for member in (b"\xff\xfe\x1b[2J", "\u00fc".encode() * 40, b"x" * 59 + b"\xc3\xbc"):
        space.redis.delete(space.key("issued"))
        space.redis.zadd(space.key("issued"), {member: now() - 1000})
        done = reclaimer("run")
        assert done.status == 70, done
        assert "no range" in done.space["error"]


# --- two at once ----------------------------------------------------------------------

def test_who_leaves_says_who_is_at_it(space, begin, reclaimer):
    space.ended(0, 999)
    first = begin("run", "--rate", "10")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    done = reclaimer("run")
    assert done.status == 75, done
    assert f"process {first.pid} on" in done.err


def test_who_waits_goes_on_after_the_other(space, begin, begin_behind,
                                           redis_server, workdir):
    space.ended(0, 299)
    said = workdir / "said"
    with RedisProxy(redis_server.port) as proxy, said.open("w") as stderr:
        held = proxy.hold(b"m:{s7:150}")
        first = begin_behind(proxy, "run", "--max-blocks", "200", "--rate",
                             "1000", lock_ttl="60s")
        assert held.here.wait(60), "the first is not at it"
        second = begin("run", "--wait", "--json", stderr=stderr)
        eventually(lambda: "waiting for another run" in said.read_text())
        held.release()
        second = Done(second)
        assert Done(first).status == 0
    assert second.status == 0, second
    assert second.space["freed"] == 100
    assert space.blocks("pool") == list(range(300))


def test_who_has_waited_long_enough_leaves(space, begin, reclaimer):
    space.ended(0, 999)
    first = begin("run", "--rate", "10")  # a hundred seconds
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    before = time.monotonic()
    second = reclaimer("run", "--wait=500ms")
    assert second.status == 75, second
    assert time.monotonic() - before > 0.4
    assert first.poll() is None


def test_who_waits_can_be_told_to_end(space, begin, workdir):
    space.redis.set(space.key("lock"), "somebody's")
    said = workdir / "said"
    with said.open("w") as stderr:
        process = begin("run", "--wait", "--json", stderr=stderr)
    eventually(lambda: "waiting for another run" in said.read_text())
    process.terminate()
    done = Done(process)
    assert done.status == 0 and done.json["interrupted"] is True


def test_a_sample_of_a_large_block_keeps_the_lock(make_space, redis, begin_behind,
                                                  links_config, redis_server):
    """There are 79 queries of 30 ms each, and the lock is checked before each."""
    links_config["spaces"][0]["block_size"] = 20000
    space = make_space(redis)
    space.ended(0, 0)
    lefts = []

    def slow_down(command):
        if name_of(command) == "EXISTS":
            lefts.append(space.redis.pttl(space.key("lock")))
            time.sleep(0.03)
    with RedisProxy(redis_server.port) as proxy:
        proxy.on_command = slow_down
        done = Done(begin_behind(proxy, "run", "--json", lock_ttl="12s"))
    assert done.status == 0, done
    assert done.space["sampled"] == 1
    assert len(lefts) == 79 and min(lefts) > 0 and renewals(lefts) >= 3, lefts


def test_a_killed_run_keeps_the_next_waiting_for_seconds_only(space, begin):
    space.ended(0, 999)
    first = begin("run", "--rate", "10")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    first.kill()
    first.wait()
    assert space.redis.pttl(space.key("lock")) <= 5000
    second = Done(begin("run", "--wait=40s", "--json"))
    assert second.status == 0, second
    assert space.blocks("pool") == list(range(1000))


def test_a_run_that_stood_still_too_long_pools_nothing_more(space, begin,
                                                            reclaimer):
    """Another run took over meanwhile: the run that wakes up must notice."""
    space.ended(0, 999)
    first = begin("run", "--rate", "10", lock_ttl="3s")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    first.send_signal(signal.SIGSTOP)
    eventually(lambda: not space.redis.exists(space.key("lock")),
               what="the end of the lock")
    assert reclaimer("run").status == 0
    first.send_signal(signal.SIGCONT)
    done = Done(first)
    assert done.status == 75, done
    assert space.blocks("pool") == list(range(1000))


def test_a_missed_run_is_caught_up_by_the_next(days, reclaimer):
    """There was no run for three days; one run frees what each would have."""
    assert reclaimer("run").space["freed"] == 3
    assert days.blocks("pool") == [1, 2, 3]


# --- output ------------------------------------------------------------------------------

def test_a_terminal_sees_a_bar_with_the_time_left(space, begin):
    space.ended(0, 299)
    ours, theirs = pty.openpty()
    process = begin("run", "--rate", "75", stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert process.wait(60) == 0
    bars = re.findall(r"s7 \[[#.]{24}\] +(\d+)%  (\d+) blocks, \d+/s, "
                      r"(\d+) freed, 0 live, (-|\d+:\d\d) left",
                      shown.decode())
    assert len(bars) > 3, shown
    assert [int(b[1]) for b in bars] == sorted(int(b[1]) for b in bars)
    assert any(0 < int(b[0]) < 100 and b[3] != "-" for b in bars)


def test_elsewhere_the_log_tells_how_far_it_is(space, begin):
    space.ended(0, 299)
    done = Done(begin("run", "--rate", "75", progress_every="200ms"))
    lines = re.findall(r"reclaiming.* space=s7 scanned=(\d+) of=(\d+) "
                       r"freed=\d+ live=0 blocks_per_second=\d+ "
                       r"seconds_left=(-?\d+)", done.err)
    assert len(lines) >= 3, done
    assert {total for _, total, _ in lines if total != "0"} == {"300"}


def test_the_bar_knows_the_end_of_a_run_of_many_ranges(space, begin):
    """There are more ranges than are read at once: the total is estimated first, then
    known."""
    space.issue_each([(b, b) for b in range(0, 3000, 2)])
    space.mark(range(0, 3000, 2))
    done = Done(begin("run", "--rate", "3000", chunk=256,
                      progress_every="100ms"))
    totals = [int(t) for t in re.findall(r" of=(\d+)", done.err)]
    assert totals and all(t in (0, 1500) for t in totals), done


# --- the archive ------------------------------------------------------------------------

@pytest.fixture
def runs(clickhouse):
    """Returns a function for the rows of reclaim_runs."""
    clickhouse.query((servers.ROOT / "schemas/clickhouse/"
                      "reclaim_runs.sql").read_text())
    return lambda: clickhouse.rows("SELECT * FROM reclaim_runs")


def test_a_run_that_left_for_another_leaves_a_row(space, reclaimer, runs):
    space.redis.set(space.key("lock"), "somebody's")
    assert reclaimer("run").status == 75
    assert ["another reclaimer" in row["error"] for row in runs()] == [True]


def test_a_run_that_was_refused_as_blind_leaves_a_row(space, reclaimer, runs):
    space.redis.delete(space.key("cursor"))
    assert reclaimer("run").status == 70
    assert ["lost its cursor" in row["error"] for row in runs()] == [True]


def test_a_run_that_found_no_redis_leaves_a_row(reclaimer, runs, base_config):
    base_config["redis"]["address"] = f"127.0.0.1:{servers.free_port()}"
    assert reclaimer("run").status == 75
    assert ["refused" in row["error"] for row in runs()] == [True]


def test_a_run_of_a_day_and_one_that_was_ended_leave_a_row_each(days, begin,
                                                                reclaimer,
                                                                runs):
    assert reclaimer("run", "--day", day_of(midnight(2))).status == 0
    days.ended(100, 999)
    process = begin("run", "--rate", "10")
    eventually(lambda: len(days.blocks("pool")) > 1, what="a first chunk")
    process.terminate()
    assert Done(process).status == 0
    rows = sorted(runs(), key=lambda row: row["started_at"])
    assert [row["interrupted"] for row in rows] == [False, True]
    assert rows[0]["freed"] == 1 and 0 < rows[1]["freed"] < 902
