"""`reclaimer verify`: each block is in exactly one state, and each link is within its
block's life; and how --repair corrects violations."""
import threading
import time

import pytest
import redis as redis_client

import servers
from support.fault_proxy import ClickHouseProxy
from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too

MONTH = 30 * 86400 * 1000
LATER = 12 * 3600 * 1000


def verify(reclaimer, *args, **settings):
    """Returns what `verify` found; all blocks must be accounted for."""
    done = reclaimer("verify", *args, **settings)
    assert done.status in (0, 1), done
    found = done.space
    assert done.status == (1 if found["findings_left"] else 0), done
    assert found["blocks"] == found["cursor"] - found["first"], done
    return found


def findings(found):
    return [(f["finding"], f.get("first"), f.get("last"))
            for f in found["findings"]]


def opened(space, blocks, opened_ms, end, generation=1, state="o"):
    with space.redis.pipeline() as p:
        for block in blocks:
            p.set(space.marker_key(block),
                  f"{generation} {state} 30d {opened_ms} {end} test-1-ab")
        p.execute()


def of_all_states(space):
    """The blocks 0 to 9 are in one state each, in the order of the states."""
    t = now()
    space.issue(0, 0, score=t + MONTH + 1500)
    opened(space, [0], t - 500, t + MONTH)
    space.issue(1, 1, score=t + LATER)
    opened(space, [1], t - 60000, t + LATER)
    space.issue(2, 2, score=t + LATER)
    opened(space, [2], t - 60000, t - 1)
    space.issue(3, 3, score=t - 1000)
    opened(space, [3], t - 60000, t - 1000)
    space.redis.zadd(space.key("pool"), {"4-4:2": t + LATER, "5-5:3": t - 1})
    opened(space, [4], t, t, state="c")
    opened(space, [5], t, t, generation=2, state="c")
    space.redis.zadd(space.key("out"), {"6-6:1": t})
    opened(space, [7], t, t, generation=32767, state="c")
    space.redis.hset(space.key("space"), "retired", 1)
    space.issue(8, 8, score=0)
    space.issue(9, 9, score=t + LATER)
    space.redis.hset(space.key("space"), "gaps", "9-9 ")


STATES = ["held", "live", "due later", "due", "quarantined", "pooled", "out",
          "retired", "lost", "gap"]


# --- states --------------------------------------------------------------------------

@pytest.fixture
def long_hold(links_config):
    """This is longer than a test takes: blocks held at the start are held at its
    end."""
    links_config["hold_max"] = "50s"


def test_every_state_is_told_apart(long_hold, space, reclaimer):
    of_all_states(space)
    found = verify(reclaimer)
    assert found["states"] == {state: 1 for state in STATES}
    assert found["findings"] == [] and found["at_rest"] is True


def test_an_empty_space_is_in_order(space, reclaimer):
    assert verify(reclaimer)["blocks"] == 0


def test_a_space_that_began_higher_has_no_hole_below(space, reclaimer,
                                                     program, links_config):
    space.redis.flushall()
    made = program("allocator", {"links": links_config}, start=False,
                   args=["create-space", "--space", "s7", "--no-archive",
                         "--first-block", "1000"])
    assert made.run()[0] == 0, made.log()
    space.ended(1000, 1009)
    assert verify(reclaimer)["states"]["due"] == 10


def test_what_an_allocator_makes_is_in_order(long_hold, allocator, space,
                                             reclaimer):
    for _ in range(50):
        allocator.create("30d")
    found = verify(reclaimer, "--deep")
    assert found["findings"] == [] and found["links"] == 50
    assert found["states"]["held"] >= 3


def test_verify_changes_nothing(space, reclaimer):
    of_all_states(space)
    space.issue(20, 25)
    before = space.everything()
    verify(reclaimer, "--deep")
    assert space.everything() == before


def test_text_is_for_people(space, begin):
    of_all_states(space)
    done = Done(begin("verify"))
    assert done.status == 0, done
    assert "Each of 10 blocks is in exactly one state." in done.out
    space.redis.zrem(space.key("issued"), "1-1:1")
    done = Done(begin("verify"))
    assert done.status == 1, done
    assert "neither issued nor pooled nor out" in done.out
    assert "Findings that remain: 1." in done.out


# --- findings ------------------------------------------------------------------------

def test_missing_blocks_are_named(space, reclaimer):
    space.ended(0, 9)
    space.issue(20, 29, score=now() + LATER)
    opened(space, range(20, 30), now(), now() + LATER)
    assert findings(verify(reclaimer)) == [("missing", 10, 19)]


def test_overlaps_are_named_with_both_members(space, reclaimer):
    space.ended(0, 9)
    space.redis.zadd(space.key("pool"), {"5-6:2": 1})
    space.redis.zadd(space.key("issued"), {"8-8:4": 1})
    found = verify(reclaimer)
    assert findings(found) == [("twice", 5, 6), ("twice", 8, 8)]
    assert found["findings"][0]["where"] == "issued 0-9:1 and pool 5-6:2"


def test_malformed_members_are_named(space, reclaimer):
    space.ended(0, 9)
    space.redis.zadd(space.key("issued"), {"what\n": 1, "3-1:1": 2,
                                           "00-1:1": 2, "1-2:99999": 5})
    found = verify(reclaimer)
    assert {f["finding"] for f in found["findings"]} == {"malformed"}
    assert sorted(f["where"] for f in found["findings"]) == sorted(
        ["'what\\x0a' in issued", "'3-1:1' in issued", "'00-1:1' in issued",
         "'1-2:99999' in issued"])


def test_members_above_the_cursor_are_named(space, reclaimer):
    space.ended(0, 9)
    space.redis.zadd(space.key("pool"), {"9-12:2": 1})
    found = verify(reclaimer)
    assert ("beyond", 9, 12) in findings(found)
    assert ("twice", 9, 9) in findings(found)


@pytest.mark.parametrize("state, generation, finding", [
    ("o", 1, "pool-open"), ("c", 2, "pool-open"), (None, 0, "pool-unmarked")])
def test_pooled_blocks_must_be_closed(space, reclaimer, state, generation,
                                      finding):
    space.ended(0, 9)
    space.redis.delete(space.key("issued"))
    space.redis.zadd(space.key("pool"), {"0-9:2": 1})
    opened(space, range(10), now(), now(), state="c")
    space.redis.delete(space.marker_key(4))
    if state:
        opened(space, [4], now(), now() + 60000, generation, state)
    assert findings(verify(reclaimer)) == [(finding, 4, 4)]


def test_damaged_markers_are_named(space, reclaimer):
    space.ended(0, 9)
    space.redis.set(space.marker_key(3), "what?")
    space.redis.delete(space.marker_key(4))
    space.redis.lpush(space.marker_key(4), "a list")
    assert findings(verify(reclaimer)) == [("damaged", 3, 4)]


def test_a_lost_block_with_a_marker_is_named(space, reclaimer):
    space.ended(0, 9)
    space.redis.zadd(space.key("issued"), {"0-9:1": 0})
    space.redis.delete(space.marker_key(7))
    found = verify(reclaimer)
    assert findings(found) == [("lost-marked", 0, 6), ("lost-marked", 8, 9)]
    assert found["states"]["lost"] == 1


def test_a_block_that_would_never_be_looked_at_is_named(space, reclaimer):
    space.issue(0, 1, score=float("inf"))
    opened(space, [0], 1, NEVER)
    opened(space, [1], 1, 1, state="c")
    assert findings(verify(reclaimer)) == [("stuck", 1, 1)]


def test_blocks_that_lost_their_markers_long_before_their_time_are_named(
        space, reclaimer):
    """No run would notice it for weeks."""
    space.issue(0, 99, score=now() + 20 * 86400 * 1000)
    space.redis.zadd(space.key("unopened"), {"50:1": 50})
    found = verify(reclaimer)
    assert findings(found) == [("unmarked", 0, 49), ("unmarked", 51, 99)]
    assert (found["states"]["lost"], found["states"]["due later"]) == (0, 1)


def test_a_block_for_ever_without_its_marker_is_named(allocator, space,
                                                      reclaimer):
    """Either no run has checked it yet, or one has, and gave it a score without an
    end."""
    code = allocator.create("never")["code"]
    eventually(lambda: not space.redis.exists(space.key("unopened")))
    allocator.program.kill()
    space.redis.delete(*space.redis.scan_iter("m:*"), allocator.key(code))
    assert findings(verify(reclaimer)) == [("unmarked", 0, 1)]
    space.redis.zadd(space.key("issued"), {"0-1:1": float("inf")})
    assert findings(verify(reclaimer)) == [("unmarked", 0, 1)]


def test_what_was_granted_for_ever_and_not_opened_is_named(space, reclaimer):
    """The blocks are of killed allocators of an earlier version: they never become
    due."""
    space.issue(0, 1, score=float("inf"))
    space.issue(2, 3, score=float("inf"), generation=2)
    space.redis.zadd(space.key("unopened"),
                     {"0:1": 0, "1:1": 1, "2:2": 2, "3:2": 3})
    opened(space, [2, 3], 1, 1, state="c")
    assert findings(verify(reclaimer)) == [("unopened", 0, 1),
                                           ("unopened", 2, 3)]


def test_more_retired_than_written_down_is_told(space, reclaimer):
    of_all_states(space)
    space.redis.hset(space.key("space"), "retired", 2)
    assert [f["finding"] for f in verify(reclaimer)["findings"]] == ["retired"]


def test_a_redis_that_evicts_is_a_finding_and_no_place_to_repair(
        make_space, own_redis, reclaimer, tables):
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 9)
    client.config_set("maxmemory-policy", "allkeys-lru")
    assert [f["finding"] for f in verify(reclaimer)["findings"]] == ["blind"]
    assert reclaimer("verify", "--repair").status == 70


@pytest.mark.parametrize("gone", ["space", "cursor"])
def test_without_record_or_cursor_nothing_can_be_said(space, reclaimer, gone):
    space.ended(0, 9)
    space.redis.delete(space.key(gone))
    done = reclaimer("verify")
    assert done.status == 70, done
    assert "s7" in done.space["error"]


def test_large_spaces_and_many_ranges_are_walked_whole(space, reclaimer):
    blocks = list(range(0, 60000, 2))
    space.issue_each([(b, b) for b in blocks])
    space.mark(blocks)
    space.redis.zadd(space.key("out"), {f"{b}-{b}:1": 5
                                        for b in range(1, 59999, 2)})
    found = verify(reclaimer)
    assert found["findings"] == []
    assert (found["states"]["due"], found["states"]["out"]) == (30000, 29999)
    space.redis.zrem(space.key("out"), "777-777:1")
    assert findings(verify(reclaimer)) == [("missing", 777, 777)]


# --- in use --------------------------------------------------------------------------

@pytest.mark.proof
def test_a_space_in_use_is_not_accused(space, reclaimer, allocator,
                                       redis_server):
    """There are grants, hand-backs, runs and holds all the time."""
    stop = threading.Event()
    client = redis_client.Redis(port=redis_server.port, decode_responses=True)
    mover = Space(client)

    def move():
        turn = 0
        while not stop.is_set():
            turn += 1
            allocator.create("3s" if turn % 3 else "30d")

    def run():
        while not stop.is_set():
            reclaimer("run")
            cursor = int(client.get(mover.key("cursor")))
            reclaimer("hold", "--blocks", f"0-{cursor // 2}")
            reclaimer("release", "--blocks", f"0-{cursor // 2}")

    threads = [threading.Thread(target=f) for f in (move, move, run)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: int(client.get(mover.key("cursor"))) > 20,
                   what="some blocks")
        for _ in range(12):
            found = verify(reclaimer, "--deep")
            assert found["findings"] == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert verify(reclaimer)["findings"] == []


def test_rate_is_kept(space, reclaimer):
    space.ended(0, 2999)
    assert verify(reclaimer, "--rate", "2000")["seconds"] > 1


@pytest.mark.parametrize("args", [["verify"], ["run", "--dry-run"]])
def test_no_verdict_is_of_a_master_that_has_become_a_replica(
        make_space, own_redis, begin, reclaimer, args):
    """A server without a link to its master answers everything, and nothing moves."""
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 2999)
    client.config_resetstat()
    process = begin(*args, "--rate", "1000", "--json")

    def reads():
        stats = client.info("commandstats")
        return sum(stats.get(f"cmdstat_{c}", {}).get("calls", 0)
                   for c in ("get", "mget"))

    eventually(lambda: reads() > 20, what="the reading of markers")
    client.replicaof("127.0.0.1", servers.free_port())
    done = Done(process)
    assert done.status == 75, done
    assert "it is a replica" in done.space["error"]
    assert not done.space.get("at_rest")
    client.replicaof("NO", "ONE")
    assert reclaimer(*args).status == 0


# --- deep ----------------------------------------------------------------------------

def deep(reclaimer):
    found = verify(reclaimer, "--deep")
    return sorted(f["where"].split(": ")[-1] for f in found["findings"]
                  if f["finding"] == "link")


@pytest.fixture
def link(allocator, space):
    """Returns the key and the block of a live link."""
    code = allocator.create("30d")["code"]
    return allocator.key(code), allocator.block(code)


def test_a_sound_link_is_no_finding(link, reclaimer):
    assert deep(reclaimer) == []


@pytest.mark.parametrize("change, text", [
    (lambda m: None, "its block has no marker"),
    (lambda m: [m[0], "c", *m[2:]], "its block is closed"),
    (lambda m: ["2", *m[1:]], "its block has another generation"),
    (lambda m: [*m[:4], str(now() + 60000), m[5]], "it ends after its block"),
    (lambda m: ["what"], "its block has no marker")])
def test_a_link_that_its_marker_denies_is_named(link, space, reclaimer,
                                                change, text):
    key, block = link
    marker = change(space.marker(block))
    if marker:
        space.redis.set(space.marker_key(block), " ".join(marker))
    else:
        space.redis.delete(space.marker_key(block))
    assert deep(reclaimer) == [text]


def test_links_where_none_can_be_are_named(link, space, reclaimer):
    key, block = link
    code = key.split(":")[-1]
    raw = space.redis.dump(key)
    space.redis.restore(f"l:{{s7:{block + 1}}}:{code}", 0, raw)
    space.redis.set(f"l:{{s7:{block}}}:nocode!", "x")
    space.redis.set(f"l:{{s7:{block}x}}:{code}", "x")
    space.redis.set("l:{s8:1}:other", "x")  # not of this space
    assert deep(reclaimer) == ["it belongs to another block",
                               "the key is of no link",
                               "the key is of no link"]


def test_a_link_of_a_block_never_issued_is_named(link, allocator, space,
                                                 reclaimer):
    key, block = link
    allocator.program.kill()  # its next grant would raise the cursor again
    space.redis.set(space.key("cursor"), block)
    assert "its block was never issued" in deep(reclaimer)


# --- repair --------------------------------------------------------------------------

def repair(reclaimer, status=0):
    done = reclaimer("verify", "--repair")
    assert done.status == status, done
    return done.space


def test_without_clickhouse_nothing_is_repaired(space, reclaimer):
    space.ended(0, 9)
    space.redis.set(space.key("cursor"), 20)
    before = space.everything()
    done = reclaimer("verify", "--repair")
    assert done.status == 75, done
    assert "without the archive" in done.err
    assert space.everything() == before


def test_a_run_in_progress_keeps_a_repair_out(space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.set(space.key("lock"), "a run's")
    assert reclaimer("verify", "--repair").status == 75
    assert reclaimer("verify").status == 0


def test_of_several_spaces_the_worst_decides_the_status(
        space, redis, program, reclaimer, links_config, tables):
    """The failure of a run at s7 is temporary, that of s6 is not."""
    links_config["spaces"].append({**links_config["spaces"][0], "name": "s6",
                                   "number": 2, "length": 6})
    made = program("allocator", {"links": links_config}, start=False,
                   args=["create-space", "--space", "s6", "--no-archive"])
    assert made.run()[0] == 0, made.log()
    other = Space(redis, "s6")
    space.redis.set(space.key("lock"), "a run's")
    assert reclaimer("verify", "--repair").status == 75
    other.redis.zadd(other.key("issued"), {"nonsense": 1})
    done = reclaimer("verify", "--repair")
    assert done.status == 1, done
    first, second = done.json["spaces"]
    assert "error" in first and second["findings_left"] == 1
    other.redis.delete(other.key("cursor"))
    assert reclaimer("verify", "--repair").status == 70


def test_a_lost_block_without_any_link_is_pooled(space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.delete(space.marker_key(3))
    reclaimer("run")
    before = now()
    found = repair(reclaimer)
    assert (found["lost_pooled"], found["lost_kept"]) == (1, 0)
    assert "3-3:2" in space.ranges("pool")
    assert space.marker(3)[:2] == ["1", "c"]
    assert space.ranges("pool")["3-3:2"] >= before + 2000
    assert verify(reclaimer)["findings"] == []


def test_gap_blocks_are_pooled_once_a_run_has_set_them_aside(space, reclaimer,
                                                             tables):
    space.issue(0, 99)
    space.redis.hset(space.key("space"), "gaps", "0-99 ")
    assert repair(reclaimer)["lost_pooled"] == 0
    reclaimer("run")
    assert repair(reclaimer)["lost_pooled"] == 100
    assert space.blocks("pool") == list(range(100))


def test_blocks_put_aside_are_pooled_once_nothing_knows_a_link(space, reclaimer,
                                                               tables):
    """Redis forgot the grant; the marker is that of the former generation."""
    space.issue(0, 9, generation=2)
    space.mark(range(10), state="c")
    space.redis.hset(space.key("space"), "set_aside", "0-7:2 ")
    link_id = 1 << 57 | 2 << 42 | 3 * 20 + 7
    tables.query("INSERT INTO links (code, link_id, version, space) "
                 f"VALUES ('x', {link_id}, 1, 's7')")
    assert verify(reclaimer)["findings"] == []
    reclaimer("run")
    # Two were never opened by their holders.
    assert space.blocks("pool") == [8, 9]
    assert verify(reclaimer)["findings"] == []
    found = repair(reclaimer)
    assert (found["lost_pooled"], found["lost_kept"]) == (7, 1)
    assert space.blocks("issued") == [3]
    assert space.marker(4)[:2] == ["2", "c"]
    assert "0-2:3" in space.ranges("pool")
    assert verify(reclaimer)["findings"] == []


def test_lost_blocks_of_several_ranges_are_pooled(space, reclaimer, tables):
    for first, last in ((0, 3), (4, 4), (8, 11)):
        space.issue(first, last, score=0)
    space.issue(5, 7)
    space.mark(range(5, 8))
    assert repair(reclaimer)["lost_pooled"] == 9
    assert space.blocks("pool") == [0, 1, 2, 3, 4, 8, 9, 10, 11]


@pytest.mark.parametrize("fault", ["error_before", "cut_answer"])
def test_a_lost_block_is_kept_when_the_archive_fails(space, reclaimer, tables,
                                                     clickhouse_server, fault):
    """Any of its answers may be lost: that does not mean that there is no link."""
    space.issue(0, 9, score=0)
    tables.query("INSERT INTO links (code, link_id, version, space) VALUES "
                 f"('x', {1 << 57 | 1 << 42 | 3 * 20}, 1, 's7')")
    with ClickHouseProxy(clickhouse_server.port) as proxy:
        for number in range(1, 20):
            proxy.at(number, fault, "question")
            done = reclaimer("verify", "--repair",
                             sections={"clickhouse": {"url": proxy.url}})
            if not proxy.count(fault=fault):
                break
            assert done.status != 0, done
            assert space.blocks("pool") == []
            proxy.passed.clear()
    assert number > 2
    assert (done.space["lost_pooled"], done.space["lost_kept"]) == (9, 1)
    assert space.blocks("issued") == [3]


def test_a_lost_range_is_asked_for_in_parts_of_its_own(space, reclaimer, tables):
    """The archive is queried for 4096 blocks at a time."""
    space.issue(0, 4999, score=0)
    known = [4095, 4096, 4999]
    tables.query("INSERT INTO links (code, link_id, version, space) VALUES " + ",".join(
        f"('x', {1 << 57 | 1 << 42 | block * 20}, 1, 's7')" for block in known))
    found = repair(reclaimer)
    assert (found["lost_pooled"], found["lost_kept"]) == (4997, 3)
    assert space.blocks("issued") == known
    assert space.blocks("pool") == [b for b in range(5000) if b not in known]


def test_a_lost_block_with_an_archived_link_is_kept(space, reclaimer, tables):
    space.issue(0, 9, score=0)
    of = {3: 1, 5: 2}  # block: generation
    for block, generation in of.items():
        link_id = 1 << 57 | generation << 42 | block * 20 + 7
        tables.query("INSERT INTO links (code, link_id, version, space) "
                     f"VALUES ('x', {link_id}, 1, 's7')")
    tables.query("INSERT INTO links (code, link_id, version, space) VALUES "
                 f"('x', {2 << 57 | 1 << 42 | 80}, 1, 's8')")
    found = repair(reclaimer)
    assert (found["lost_pooled"], found["lost_kept"]) == (8, 2)
    assert space.blocks("issued") == [3, 5]
    assert space.ranges("issued") == {"3-3:1": 0, "5-5:1": 0}


def test_a_lost_block_with_a_link_in_redis_is_kept(link, space, reclaimer,
                                                   tables):
    key, block = link
    space.redis.delete(space.marker_key(block), space.key("issued"))
    space.issue(block, block, score=0)
    space.redis.set(space.key("cursor"), block + 1)
    found = reclaimer("verify", "--repair").space
    assert (found["lost_pooled"], found["lost_kept"]) == (0, 1)
    assert block in space.blocks("issued")


def test_missing_blocks_become_issued_until_after_the_longest_ttl(
        space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.set(space.key("cursor"), 20)
    space.mark([12], generation=4)
    before = now()
    repair(reclaimer)
    assert space.ranges("issued")["10-19:4"] >= before + MONTH + 2000
    found = verify(reclaimer)
    assert (found["findings"], found["states"]["gap"]) == ([], 9)


def test_of_two_states_the_stricter_stays(space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.zadd(space.key("pool"), {"5-12:2": 1})
    space.redis.zadd(space.key("out"), {"7-7:1": 1})
    space.redis.set(space.key("cursor"), 13)
    space.mark(range(10, 13), state="c")
    repair(reclaimer)
    assert space.blocks("out") == [7]
    assert space.blocks("issued") == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert space.blocks("pool") == [10, 11, 12]
    assert verify(reclaimer)["findings"] == []


def test_an_open_pooled_block_is_judged_by_the_next_run(space, reclaimer,
                                                        tables):
    space.ended(0, 9)
    space.redis.delete(space.key("issued"))
    space.redis.zadd(space.key("pool"), {"0-9:2": 1})
    opened(space, range(10), now(), now(), state="c")
    opened(space, [4], now(), now() + 60000)
    repair(reclaimer)
    assert space.blocks("issued") == [4]
    assert reclaimer("run").space["live"] == 1
    assert verify(reclaimer)["findings"] == []


def test_a_stuck_block_is_freed_by_the_next_run(space, reclaimer, tables):
    space.issue(0, 3, score=float("inf"))
    opened(space, [0, 1, 3], 1, NEVER)
    opened(space, [2], 1, 1, state="c")
    repair(reclaimer)
    assert reclaimer("run").space["freed"] == 1
    assert space.blocks("pool") == [2]


def test_unmarked_blocks_are_judged_by_the_next_run(space, reclaimer, tables):
    space.issue(0, 3, score=now() + LATER)
    opened(space, [0, 3], now() - 60000, now() + LATER)
    repair(reclaimer)
    assert verify(reclaimer)["findings"] == []
    assert reclaimer("run", max_lost=1).status == 70
    assert reclaimer("run", max_lost=2).space["lost"] == 2
    assert repair(reclaimer)["lost_pooled"] == 2
    assert space.blocks("pool") == [1, 2]


def test_what_was_granted_for_ever_and_not_opened_is_pooled_unless_it_had_links(
        space, reclaimer, tables):
    """The marker of the former generation proves nothing: Redis may have forgotten the
    opening, and links."""
    space.issue(0, 3, score=float("inf"), generation=2)
    space.issue(4, 5, score=float("inf"))
    opened(space, range(4), 1, 1, state="c")
    space.redis.zadd(space.key("unopened"),
                     {"0:2": 0, "4:1": 4, "5:1": 5})
    link_id = 1 << 57 | 2 << 42 | 2 * 20 + 7
    tables.query("INSERT INTO links (code, link_id, version, space) "
                 f"VALUES ('x', {link_id}, 1, 's7')")
    found = repair(reclaimer)
    assert (found["lost_pooled"], found["lost_kept"]) == (5, 1)
    assert space.blocks("issued") == [2]
    assert space.marker(0)[:2] == ["2", "c"]
    assert verify(reclaimer)["findings"] == []
    assert reclaimer("run").space["scanned"] == 0


def test_what_cannot_be_repaired_remains(space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.set(space.marker_key(3), "what?")
    space.redis.zadd(space.key("pool"), {"nonsense": 1})
    space.redis.set(space.key("cursor"), 12)
    found = repair(reclaimer, status=1)
    assert [(f["finding"], f["repaired"]) for f in found["findings"]] == [
        ("malformed", False), ("damaged", False), ("missing", True)]
    assert found["findings_left"] == 2


def test_a_repair_is_written_down(space, reclaimer, tables):
    space.ended(0, 9)
    space.redis.set(space.key("cursor"), 12)
    repair(reclaimer)
    assert " repair 10-11 2 " in space.redis.lindex(space.key("hand"), 0)


def test_a_second_repair_finds_nothing(space, reclaimer, tables):
    of_all_states(space)
    space.redis.set(space.key("cursor"), 30)
    space.redis.zadd(space.key("pool"), {"1-3:9": 1})
    repair(reclaimer)
    before = space.everything()
    assert repair(reclaimer)["findings"] == []
    assert space.everything() == before


def test_a_space_in_use_is_repaired(space, reclaimer, allocator, tables):
    """Meanwhile blocks are granted and handed back."""
    stop = threading.Event()
    space.ended(0, 99)
    space.redis.zrem(space.key("issued"), "0-99:1")
    space.issue(0, 49)
    space.issue(60, 99)
    space.redis.zadd(space.key("pool"), {"90-95:2": now() + LATER})

    def move():
        while not stop.is_set():
            allocator.create("30d")

    threads = [threading.Thread(target=move) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: int(space.redis.get(space.key("cursor"))) > 105,
                   what="some blocks")
        found = repair(reclaimer)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert [(f["finding"], f["first"], f["last"], f["repaired"])
            for f in found["findings"]] == [
        ("missing", 50, 59, True), ("twice", 90, 95, True)]
    assert verify(reclaimer, "--deep")["findings"] == []


def test_a_repair_that_stops_tells_what_it_pooled(space, begin, tables):
    """It stops because another run has its lock by then."""
    # Neighbours of two generations are two ranges.
    space.redis.zadd(space.key("issued"), {f"{b}-{b}:{1 + b % 2}": 0
                                           for b in range(800)})
    space.redis.set(space.key("cursor"), 800)
    process = begin("verify", "--repair", "--json")
    eventually(lambda: space.ranges("pool"), what="a first range")
    space.redis.set(space.key("lock"), "another's")
    done = Done(process)
    assert done.status == 75, done
    assert "error" in done.space and done.space["at_rest"] is False
    assert 0 < done.space["lost_pooled"] < 800
    assert done.space["lost_pooled"] == len(space.blocks("pool"))


@pytest.mark.proof
@pytest.mark.parametrize("after", [
    0.2, *(pytest.param(s, marks=pytest.mark.long) for s in (0.05, 0.5))])
def test_a_repair_that_is_killed_is_taken_up_by_the_next(space, begin,
                                                         reclaimer, tables,
                                                         after):
    blocks = list(range(0, 600, 2))
    space.redis.zadd(space.key("issued"), {f"{b}-{b}:1": 0 for b in blocks})
    space.redis.zadd(space.key("pool"), {f"{b}-{b}:2": 1
                                         for b in range(1, 600, 2)})
    opened(space, range(1, 600, 2), 1, 1, state="c")
    space.redis.zadd(space.key("pool"), {"1-20:2": 5})
    space.redis.set(space.key("cursor"), 610)
    process = begin("verify", "--repair")
    eventually(lambda: space.redis.exists(space.key("hand")),
               what="a first repair")
    time.sleep(after)
    process.kill()
    process.wait()
    assert set(space.blocks("pool", "issued")) >= set(range(600))
    space.redis.delete(space.key("lock"))  # without this, the next run would wait for it
    repair(reclaimer)
    reclaimer("run")
    assert verify(reclaimer)["findings"] == []
    assert space.blocks("pool", "issued") == list(range(610))
    assert len(space.blocks("issued")) == 10


@pytest.mark.parametrize("args", [["run", "--deep"], ["status", "--repair"],
                                  ["verify", "--rate", "0"],
                                  ["verify", "--dry-run"]])
def test_a_command_line_without_sense_is_64(space, begin, args):
    assert Done(begin(*args)).status == 64
