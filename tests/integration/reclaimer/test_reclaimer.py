"""The reclaimer with a real Redis.

Most blocks are written directly in the formats of linkstore/marker.h and
linkstore/range.h; the last part goes the whole way, with links from the allocator and
visits of the redirector.
"""
import concurrent.futures
import signal
import time

import pytest
import requests

import servers
from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too

# With this rate a run of a thousand blocks takes 50 seconds, so it is surely under way
# when it is disturbed.
SLOWLY = "20"


# --- states of blocks --------------------------------------------------------------

def test_ended_blocks_go_to_the_pool_under_the_next_generation(space,
                                                               reclaimer):
    space.ended(0, 9)
    done = reclaimer("run")
    assert done.status == 0, done
    assert done.space["freed"] == done.space["scanned"] == 10
    assert list(space.ranges("pool")) == ["0-9:2"]
    assert space.ranges("issued") == {}
    assert {space.marker(block)[1] for block in range(10)} == {"c"}


def test_pooled_blocks_wait_for_the_quarantine_first(space, reclaimer):
    space.ended(0, 0)
    before = now()
    assert reclaimer("run").status == 0
    assert before + 2000 <= space.ranges("pool")["0-0:2"] <= now() + 2000


def test_neighbouring_ranges_become_one(space, reclaimer):
    for block in (4, 2, 3):
        space.ended(block, block)
    assert reclaimer("run").status == 0
    assert list(space.ranges("pool")) == ["2-4:2"]


def test_a_live_block_is_looked_at_again_at_its_end(space, reclaimer):
    end = now() + 60000
    space.ended(0, 4)
    space.mark([2], end=end)
    done = reclaimer("run")
    assert (done.space["freed"], done.space["live"]) == (4, 1)
    assert space.ranges("issued") == {"2-2:1": end + 1}
    assert space.blocks("pool") == [0, 1, 3, 4]
    assert space.marker(2)[1] == "o"


def test_a_block_that_never_ends_is_never_due_again(space, reclaimer):
    space.issue(0, 0)
    space.mark([0], end=NEVER)
    assert reclaimer("run").space["live"] == 1
    assert space.ranges("issued") == {"0-0:1": float("inf")}


def test_what_is_not_due_is_left_alone(space, reclaimer):
    space.issue(0, 3, score=now() + 60000)
    space.mark(range(4))
    assert reclaimer("run").space["scanned"] == 0
    assert space.ranges("pool") == {}


def test_a_block_closed_by_its_holder_is_pooled(space, reclaimer):
    space.issue(0, 0)
    space.mark([0], state="c", end=now() + 60000)
    assert reclaimer("run").space["freed"] == 1


def test_the_marker_of_a_later_generation_is_exceeded(space, reclaimer):
    space.issue(0, 0, generation=2)
    space.mark([0], generation=5)
    assert reclaimer("run").space["freed"] == 1
    assert list(space.ranges("pool")) == ["0-0:6"]


def test_ranges_of_several_generations_each_get_their_next(space, reclaimer):
    space.ended(0, 1, generation=1)
    space.ended(2, 3, generation=7)
    assert reclaimer("run").space["freed"] == 4
    assert set(space.ranges("pool")) == {"0-1:2", "2-3:8"}


def test_a_second_run_finds_nothing(space, reclaimer):
    space.ended(0, 9)
    reclaimer("run")
    assert reclaimer("run").space["scanned"] == 0


@pytest.mark.parametrize("chunk", [1, 7, 16384])
def test_a_range_larger_than_a_chunk_is_worked_off_whole(space, reclaimer,
                                                         chunk):
    space.ended(0, 99)
    space.mark([50], end=now() + 60000)
    done = reclaimer("run", chunk=chunk)
    assert (done.space["freed"], done.space["live"]) == (99, 1)
    assert space.blocks("pool") == [b for b in range(100) if b != 50]
    assert list(space.ranges("issued")) == ["50-50:1"]


def test_more_ranges_than_are_asked_for_at_once_are_all_found(space,
                                                              reclaimer):
    blocks = range(0, 5000, 2)
    space.issue_each([(block, block) for block in blocks])
    space.mark(blocks)
    assert reclaimer("run", "--dry-run").space["freed"] == 2500
    assert reclaimer("run").space["freed"] == 2500
    assert space.blocks("pool") == list(blocks)


def test_max_blocks_leaves_the_rest_due(space, reclaimer):
    space.ended(0, 99)
    assert reclaimer("run", "--max-blocks", "30").space["freed"] == 30
    assert reclaimer("status").space["due"] == 70
    assert reclaimer("run").space["freed"] == 70
    assert space.blocks("pool") == list(range(100))


def test_rate_is_kept(space, reclaimer):
    space.ended(0, 99)
    done = reclaimer("run", "--rate", "50")
    assert done.space["freed"] == 100
    assert 1.5 < done.space["seconds"] < 60  # a minute's rate: 120


# --- dry runs ------------------------------------------------------------------------

def test_a_dry_run_changes_nothing_and_foretells_the_run(space, reclaimer):
    space.ended(0, 9)
    space.mark([4], end=now() + 60000)
    before = space.everything()
    plan = reclaimer("run", "--dry-run", chunk=3)
    assert plan.status == 0 and plan.json["dry_run"] is True
    assert space.everything() == before
    run = reclaimer("run")
    counts = ("scanned", "freed", "live", "lost", "gap", "skipped")
    assert [plan.space[k] for k in counts] == [run.space[k] for k in counts]


def test_a_dry_run_needs_no_lock(space, reclaimer):
    space.ended(0, 0)
    space.redis.set(space.key("lock"), "somebody's")
    assert reclaimer("run", "--dry-run").space["freed"] == 1


# --- lost markers ----------------------------------------------------------------------

def test_a_lost_marker_is_counted_and_its_block_not_pooled(space, reclaimer):
    space.ended(0, 4)
    space.redis.delete(space.marker_key(3))
    done = reclaimer("run")
    assert done.status == 0, done
    assert (done.space["freed"], done.space["lost"]) == (4, 1)
    assert space.ranges("issued") == {"3-3:1": 0}
    assert reclaimer("status").space["lost"] == 1
    assert reclaimer("run").space["scanned"] == 0


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_more_lost_markers_than_a_few_stop_the_run(space, reclaimer, dry):
    space.ended(0, 9)
    space.redis.delete(*map(space.marker_key, range(2, 6)))
    before = space.everything()
    done = reclaimer("run", *dry, max_lost=3)
    assert done.status == 70, done
    assert done.space["lost"] == 4
    assert "4 blocks of space s7 have no marker" in done.err
    after = space.everything()
    after.pop(space.key("lock"), None)
    assert after == before


def test_lost_markers_add_up_over_chunks(space, reclaimer):
    space.ended(0, 9)
    space.redis.delete(*map(space.marker_key, range(0, 10, 3)))
    done = reclaimer("run", max_lost=3, chunk=2)
    assert (done.status, done.space["lost"]) == (70, 4)
    assert set(space.blocks("pool")) <= {1, 2, 4, 5, 7, 8}


def test_blocks_skipped_when_redis_forgot_stop_nothing(space, reclaimer):
    space.issue(0, 99)
    space.redis.hset(space.key("space"), "gaps", "0-99 ")
    done = reclaimer("run", max_lost=0)
    assert done.status == 0, done
    assert (done.space["gap"], done.space["lost"]) == (100, 0)
    assert space.ranges("pool") == {}


def test_a_gap_block_granted_again_is_lost_like_any_other(space, reclaimer):
    """The block was skipped once, under its first generation."""
    space.issue(0, 9, generation=2)
    space.redis.hset(space.key("space"), "gaps", "0-99 ")
    done = reclaimer("run", max_lost=9)
    assert (done.status, done.space["lost"]) == (70, 10), done
    assert space.ranges("issued") == {"0-9:2": space.ranges("issued")["0-9:2"]}
    assert reclaimer("run", max_lost=10).space["gap"] == 0


# --- refusals ----------------------------------------------------------------------------

def test_a_policy_that_may_evict_is_refused(make_space, own_redis, begin):
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 0)
    client.config_set("maxmemory-policy", "allkeys-lru")
    for args in (["run"], ["run", "--dry-run"]):
        done = Done(begin(*args))
        assert done.status == 70
        assert "allkeys-lru" in done.err
    assert space.ranges("pool") == {}


def test_a_run_stops_when_redis_may_evict_from_now_on(make_space, own_redis,
                                                     begin):
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 999)
    process = begin("run", "--rate", SLOWLY)
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    client.config_set("maxmemory-policy", "allkeys-lru")
    assert Done(process).status == 70
    assert len(space.blocks("pool")) < 1000


def test_a_space_that_is_gone_is_refused(redis, reclaimer):
    done = reclaimer("run")
    assert done.status == 70, done
    assert "s7 has no record" in done.err
    assert "s7 has no record" in done.space["error"]


def test_a_cursor_that_is_gone_is_refused(space, reclaimer):
    space.ended(0, 0)
    space.redis.delete(space.key("cursor"))
    assert reclaimer("run").status == 70
    assert space.ranges("pool") == {}


def test_a_damaged_marker_is_refused(space, reclaimer):
    space.ended(0, 1)
    space.redis.set(space.marker_key(1), "what?")
    assert reclaimer("run").status == 70
    assert space.ranges("pool") == {}


def test_a_block_issued_twice_is_refused(space, reclaimer):
    space.ended(0, 9)
    space.ended(5, 5, generation=2)
    done = reclaimer("run")
    assert done.status == 70 and "issued twice" in done.err
    assert space.ranges("pool") == {}


def test_another_key_than_the_spaces_is_a_wrong_configuration(
        space, reclaimer, links_config, workdir):
    other = workdir / "other.key"
    other.write_text("another secret, as long as needed")
    links_config["spaces"][0]["keys"][0]["key"] = f"file:{other}"
    space.ended(0, 0)
    done = reclaimer("run", links=links_config)
    assert done.status == 78, done
    assert space.ranges("pool") == {}


@pytest.mark.parametrize("args", [
    [], ["walk"], ["run", "--rate", "0"], ["run", "--rate", "-1"],
    ["run", "--max-blocks", "many"], ["run", "--space", "s9"],
    ["status", "--dry-run"], ["status", "--space", "s9"]])
def test_a_command_line_without_sense_is_64(space, begin, args):
    done = Done(begin(*args))
    assert done.status == 64, done
    assert done.err.strip()


def test_a_full_redis_is_reclaimed_all_the_same(make_space, own_redis, begin):
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 9)
    client.config_set("maxmemory", 1)
    done = Done(begin("run"))
    assert done.status == 0, done
    assert space.blocks("pool") == list(range(10))


def test_redis_away_means_try_again(reclaimer, base_config, redis):
    base_config["redis"]["address"] = f"127.0.0.1:{servers.free_port()}"
    for args in (["run"], ["run", "--dry-run"], ["status"]):
        done = reclaimer(*args)
        assert done.status == 75, done
        assert "refused" in done.err


def test_a_failing_space_does_not_keep_the_next_from_its_run(
        redis, space, reclaimer, links_config):
    """s6 was never created; s7 is reclaimed nevertheless."""
    first = {**links_config["spaces"][0], "name": "s6", "number": 2,
             "length": 6}
    links_config["spaces"].insert(0, first)
    space.ended(0, 4)
    done = reclaimer("run", links=links_config)
    assert done.status == 70
    assert [s["freed"] for s in done.json["spaces"]] == [0, 5]


def test_the_failure_that_needs_a_person_decides_the_status(
        space, reclaimer, links_config):
    """Another run is at s7, a temporary failure; s6 was never created, a permanent
    one."""
    links_config["spaces"].append({**links_config["spaces"][0], "name": "s6",
                                   "number": 2, "length": 6})
    space.ended(0, 4)
    space.redis.set(space.key("lock"), "a run's")
    done = reclaimer("run", links=links_config)
    assert done.status == 70, done
    assert "no record" in done.err and "space=s7" in done.err
    assert all("error" in s for s in done.json["spaces"])
    assert len(done.json["spaces"]) == 2


# --- several runs, and runs that end early ---------------------------------------------

def test_two_runs_at_once_exclude_each_other(space, begin, reclaimer):
    space.ended(0, 999)
    first = begin("run", "--rate", SLOWLY)
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    second = reclaimer("run")
    assert second.status == 75, second
    assert "another reclaimer" in second.err
    # The first run continues, and the next takes what it leaves.
    before = len(space.blocks("pool"))
    eventually(lambda: len(space.blocks("pool")) > before, what="another chunk")
    first.terminate()
    assert Done(first).status == 0
    assert reclaimer("run").status == 0
    assert space.blocks("pool") == list(range(1000))


def test_a_run_gives_its_lock_up(space, reclaimer):
    space.ended(0, 0)
    reclaimer("run")
    assert not space.redis.exists(space.key("lock"))


def test_a_run_whose_lock_is_taken_stops(space, begin):
    space.ended(0, 999)
    first = begin("run", "--rate", SLOWLY)
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    space.redis.set(space.key("lock"), "another's")
    done = Done(first)
    assert done.status == 75, done
    assert space.redis.get(space.key("lock")) == "another's"
    assert len(space.blocks("pool")) < 1000


def test_sigterm_ends_a_run_between_chunks(space, begin, reclaimer):
    space.ended(0, 999)
    process = begin("run", "--rate", SLOWLY, "--json")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    process.send_signal(signal.SIGTERM)
    done = Done(process)
    assert done.status == 0, done
    assert done.json["interrupted"] is True
    assert 0 < done.space["freed"] < 1000
    assert len(space.blocks("pool")) == done.space["freed"]
    rest = reclaimer("run")
    assert rest.space["freed"] == 1000 - done.space["freed"]
    assert rest.json["interrupted"] is False


@pytest.mark.parametrize("after", [
    pytest.param(0.05, marks=pytest.mark.long), 0.3,
    pytest.param(0.6, marks=pytest.mark.long)])
def test_killed_and_run_again_nothing_is_lost_or_pooled_twice(
        space, begin, reclaimer, after):
    space.issue_each([(first, first + 2) for first in range(0, 3000, 3)])
    space.mark(range(3000))
    live = list(range(0, 3000, 7))
    space.mark(live, end=now() + 600000)
    process = begin("run", "--rate", "4000", chunk=16, lock_ttl="5s")
    time.sleep(after)
    process.kill()
    process.wait()
    assert space.blocks("pool", "issued") == list(range(3000))
    done = eventually(lambda: (d := reclaimer("run")).status == 0 and d,
                      every=0.5, what="the killed run's lock")
    assert space.blocks("issued") == live
    assert space.blocks("pool") == sorted(set(range(3000)) - set(live))
    assert done.space["lost"] == done.space["skipped"] == 0


def test_a_range_handed_back_meanwhile_is_skipped(space, begin):
    for block in range(10, 40, 2):
        space.ended(block, block)
    process = begin("run", "--rate", "2", "--json")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    member = sorted(space.ranges("issued"))[-1]
    assert space.redis.zrem(space.key("issued"), member) == 1
    done = Done(process)
    assert done.status == 0, done
    assert (done.space["freed"], done.space["skipped"]) == (14, 1)
    assert int(member.split("-")[0]) not in space.blocks("pool")


def test_redis_that_goes_away_in_the_middle_loses_nothing(make_space,
                                                          own_redis, begin):
    space = make_space(own_redis.client())
    space.ended(0, 999)
    process = begin("run", "--rate", SLOWLY, lock_ttl="5s")
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    own_redis.kill()
    done = Done(process)
    assert done.status == 75, done
    own_redis.start()
    space.redis = own_redis.client()
    assert space.blocks("pool", "issued") == list(range(1000))


# --- status -------------------------------------------------------------------------------

def test_status_tells_where_the_blocks_are(space, reclaimer, links_config):
    links_config["quarantine"] = "1h"  # they are still in quarantine then
    space.ended(0, 9)
    reclaimer("run")
    space.ended(10, 12)
    space.issue(13, 14, score=now() + 60000)
    space.issue(15, 15, score=0)
    status = reclaimer("status")
    assert status.status == 0, status
    found = status.space
    assert found["capacity"] == 62 ** 6 // 20
    assert (found["cursor"], found["issued"], found["due"], found["lost"],
            found["pooled"], found["quarantined"]) == (16, 6, 3, 1, 0, 10)
    assert found["next_due"] is not None and found["refused"] is None
    assert (found["reclaimed_today"], found["pooled_today"]) == (10, 10)


def test_status_is_readable(space, begin):
    space.ended(0, 1233)
    done = Done(begin("status"))
    assert done.status == 0, done
    assert "1,234" in done.out and "quarantined" in done.out
    assert "The last runs are not known" in done.out


def test_status_tells_of_a_malformed_entry(space, reclaimer):
    """Status cannot count here, and a run would be refused."""
    for key in ("issued", "pool", "out"):
        space.redis.zadd(space.key(key), {"what?": 1})
        done = reclaimer("status")
        assert done.status == 0, done
        assert "what?" in done.space["refused"]
        space.redis.delete(space.key(key))


def test_status_tells_why_a_run_would_be_refused(redis, reclaimer):
    status = reclaimer("status")
    assert status.status == 0
    assert "s7 has no record" in status.space["refused"]


def test_status_tells_of_a_key_that_a_run_would_miss(space, reclaimer):
    """The counts need no key."""
    space.ended(0, 9)
    space.redis.hset(space.key("space"), mapping={"key:1": "0" * 16,
                                                  "used:1": now()})
    assert reclaimer("run").status == 78
    done = reclaimer("status")
    assert done.status == 0, done
    assert "key version 1, which is not configured" in done.space["refused"]
    assert done.space["issued"] == 10


def test_the_summary_is_readable(space, begin):
    space.ended(0, 9)
    done = Done(begin("run", "--dry-run"))
    lines = done.out.splitlines()
    assert lines[0].split()[:5] == ["space", "due", "would", "free", "live"]
    assert lines[1].split()[:4] == ["s7", "10", "10", "0"]
    assert lines[2] == "A dry run: nothing was changed."


# --- the archive and metrics ----------------------------------------------------------------

def test_each_run_leaves_a_row_in_clickhouse(space, tables, reclaimer):
    space.ended(0, 9)
    space.mark([0], end=now() + 60000)
    reclaimer("run", "--dry-run")
    reclaimer("run")
    rows = tables.rows("SELECT * FROM reclaim_runs")
    assert len(rows) == 1
    row = rows[0]
    assert (row["space"], row["scanned"], row["freed"], row["live"],
            row["error"]) == ("s7", 10, 9, 1, "")
    runs = reclaimer("status").space["runs"]
    assert [(r["scanned"], r["freed"]) for r in runs] == [(10, 9)]


def test_a_run_that_was_refused_leaves_its_reason(space, tables, reclaimer):
    space.ended(0, 9)
    space.redis.delete(*map(space.marker_key, range(10)))
    assert reclaimer("run").status == 70
    assert "have no marker" in tables.value("SELECT error FROM reclaim_runs")


def test_without_clickhouse_blocks_are_freed_all_the_same(space, reclaimer):
    space.ended(0, 9)
    done = reclaimer("run")
    assert done.status == 0 and done.space["freed"] == 10
    assert "not recorded" in done.err


def test_nothing_is_said_of_clickhouse_when_recording_is_off(space,
                                                             reclaimer):
    space.ended(0, 0)
    assert "not recorded" not in reclaimer("run", record=False).err


def test_a_run_is_seen_in_metrics(space, begin, free_port):
    space.ended(0, 999)
    admin = f"127.0.0.1:{free_port()}"
    process = begin("run", "--rate", SLOWLY, admin=admin)
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    text = requests.get(f"http://{admin}/metrics", timeout=60).text
    assert 'shortloop_reclaimer_blocks_total{result="freed"}' in text
    assert "shortloop_reclaimer_lost_blocks_max 3" in text
    # Redis is checked, and works, after each chunk.
    eventually(lambda: requests.get(f"http://{admin}/readyz",
                                    timeout=60).status_code == 200, what="ready")
    process.terminate()
    assert Done(process).status == 0


# --- the whole way ------------------------------------------------------------------------------

def test_a_code_lives_ends_is_pooled_and_lives_again(allocator, space,
                                                     reclaimer):
    """Created, expired, dry run, run, pool, quarantine, generation 2."""
    first = allocator.create()
    block = allocator.block(first["code"])
    due = min(space.ranges("issued").values())
    assert reclaimer("run", "--dry-run").space["scanned"] == 0 or now() >= due
    plan = eventually(
        lambda: (p := reclaimer("run", "--dry-run").space)["freed"] and p,
        every=0.3, what="the end of the block")
    done = reclaimer("run")
    assert done.status == 0, done
    assert done.space["freed"] >= plan["freed"] >= 1
    assert done.space["sampled"] >= 1
    # The block is granted again as soon as its quarantine is over, maybe by now.
    assert block in space.blocks("pool", "issued")

    def again():
        link = allocator.create("30d")
        return link if link["generation"] == 2 else None
    link = eventually(again, every=0.01, what="generation 2")
    assert link["link_id"] != first["link_id"]


def test_a_visited_link_keeps_its_block(allocator, space, reclaimer, program,
                                        links_config, kafka):
    redirector = program("redirector", {
        "links": links_config, "redirector": {"threads": 1},
        "kafka": {"topic_clicks": kafka.clicks_topic()}})

    last = None  # when the link was created or visited

    def visited(code, until):
        """Returns False if visits came so late that the link had ended."""
        nonlocal last
        while not until():
            asked = now()
            answer = requests.get(f"{redirector.url}/{code}",
                                  allow_redirects=False, timeout=60)
            if now() - last >= 1500:  # 3 s, renewed when 2 s are left
                return False
            assert answer.status_code == 302
            last = asked
            time.sleep(0.2)
        return True

    def keeps_it():
        nonlocal last
        last = now()
        code = allocator.create("3s")["code"]
        block = allocator.block(code)
        end = int(space.marker(block)[4])
        if not visited(code, lambda: now() >= end + 500):
            return False
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            run = pool.submit(reclaimer, "run")
            if not visited(code, run.done):
                return False
        done = run.result()
        assert done.status == 0, done
        assert done.space["live"] >= 1
        assert block not in space.blocks("pool")
        assert block in space.blocks("issued")
        return True
    eventually(keeps_it, what="visits in time")


def test_a_live_link_in_a_block_that_ended_stops_the_run(allocator, space,
                                                         reclaimer):
    """However such a marker came about, the code must not get a second owner."""
    block = allocator.block(allocator.create("30d")["code"])

    def make_due():
        """This fails if its holder has just handed back another block of the range."""
        member = next(m for m in space.ranges("issued") if block in range(
            *(int(x) + i for i, x in enumerate(m.split(":")[0].split("-")))))
        return space.redis.zadd(space.key("issued"), {member: now() - 1000},
                                xx=True, ch=True)
    eventually(make_due, what="its range")
    marker = space.marker(block)
    marker[4] = str(now() - 500)
    space.redis.set(space.marker_key(block), " ".join(marker))
    done = reclaimer("run", sample_every=1)
    assert done.status == 70, done
    assert "links are alive" in done.err
    assert done.space["freed"] == 0
    # Its holder may have handed back others meanwhile.
    assert block not in space.blocks("pool")
