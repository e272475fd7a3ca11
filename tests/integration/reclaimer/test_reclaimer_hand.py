"""Manual holds, and what status reports about them and about overdue blocks."""
import json

import pytest

from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too

S7 = ("--space", "s7")


def test_held_blocks_are_neither_run_nor_pooled(space, reclaimer):
    space.ended(0, 9)
    done = reclaimer("hold", *S7, "--blocks", "3-4", "--reason", "evidence")
    assert done.status == 0, done
    assert (done.json["blocks"], done.json["already"]) == (2, 0)
    run = reclaimer("run")
    assert run.space["scanned"] == run.space["freed"] == 8
    assert space.blocks("pool") == [b for b in range(10) if b not in (3, 4)]
    assert space.blocks("out") == [3, 4]
    assert space.marker(3)[1] == "o"


def test_released_blocks_are_judged_by_the_next_run(space, reclaimer):
    space.ended(0, 9)
    reclaimer("hold", *S7, "--blocks", "0-9")
    space.mark([4], end=now() + 60000)
    assert reclaimer("run").space["scanned"] == 0
    done = reclaimer("release", *S7, "--blocks", "2-9")
    assert done.status == 0 and done.json["blocks"] == 8, done
    run = reclaimer("run")
    assert (run.space["freed"], run.space["live"]) == (7, 1)
    assert space.blocks("out") == [0, 1]
    assert space.blocks("issued") == [4]


def test_blocks_of_the_pool_go_through_quarantine_again(space, reclaimer):
    space.ended(0, 3)
    reclaimer("run")
    reclaimer("hold", *S7, "--blocks", "1")
    reclaimer("release", *S7, "--blocks", "1")
    before = now()
    assert reclaimer("run").space["freed"] == 1
    assert space.ranges("pool")["1-1:3"] >= before + 2000


def test_a_run_goes_on_around_what_is_held_meanwhile(space, begin, reclaimer):
    space.issue_each([(first, first + 9) for first in range(0, 1000, 10)])
    space.mark(range(1000))
    process = begin("run", "--rate", "400", "--json", chunk=50)
    eventually(lambda: space.ranges("pool"), what="a first chunk")
    # 75: the blocks keep moving, so it is retried.
    done = eventually(lambda: (d := reclaimer("hold", *S7, "--blocks",
                                              "15-984")).status != 75 and d,
                      what="the hold")
    assert done.status == 0, done
    assert done.json["blocks"] + done.json["already"] == 970, done
    run = Done(process)
    assert run.status == 0, run
    assert space.blocks("out") == list(range(15, 985))
    reclaimer("run")
    assert space.blocks("pool") == [*range(15), *range(985, 1000)]
    assert space.blocks("issued") == []


def test_an_allocator_is_never_granted_a_held_block(space, reclaimer,
                                                    allocator):
    space.redis.zadd(space.key("pool"), {"0-9:2": 1})
    space.redis.set(space.key("cursor"), 10)
    space.mark(range(10), state="c")
    reclaimer("hold", *S7, "--blocks", "0-7")
    codes = [allocator.create("30d")["code"] for _ in range(100)]
    assert not {allocator.block(code) for code in codes} & set(range(8))
    assert space.blocks("out") == list(range(8))


def test_the_allocators_ledger_tells_what_is_out(space, reclaimer, program,
                                                 links_config):
    space.ended(0, 9)
    reclaimer("hold", *S7, "--blocks", "3-4")
    shown = program("allocator", {"links": links_config}, start=False,
                    args=["spaces", "--json"])
    status, output = shown.run()
    assert status == 0, shown.log()
    blocks = json.loads(output)["spaces"][0]["blocks"]
    assert (blocks["out"], blocks["issued"]) == (2, 8)


def test_status_lists_what_is_out_and_by_whom(space, reclaimer, begin):
    space.ended(0, 9)
    reclaimer("hold", *S7, "--blocks", "3-4", "--reason", "a court asks")
    status = reclaimer("status").space
    assert (status["out"], status["issued"]) == (2, 8)
    held = status["out_ranges"]
    assert [(r["first"], r["last"], r["generation"], r["reason"])
            for r in held] == [(3, 4, 1, "a court asks")]
    assert "@" in held[0]["by"] and held[0]["since"].startswith("20")
    text = Done(begin("status")).out
    assert "Out of circulation" in text and "a court asks" in text


def test_status_tells_what_is_overdue(space, reclaimer):
    space.issue(0, 9, score=now() - 7200 * 1000)
    space.issue(10, 14)
    assert reclaimer("status", overdue_after="1h").space["overdue"] == 10
    assert reclaimer("status").space["overdue"] == 0
    assert reclaimer("status").space["due"] == 15


def test_blocks_never_issued_cannot_be_held(space, reclaimer):
    space.ended(0, 9)
    done = reclaimer("hold", *S7, "--blocks", "9-10")
    assert done.status == 65 and "block 10 was never issued" in done.err


def test_what_is_not_out_cannot_be_released(space, reclaimer):
    space.ended(0, 9)
    done = reclaimer("release", *S7, "--blocks", "5")
    assert done.status == 66 and "block 5 is not out" in done.err


@pytest.mark.parametrize("args", [
    ["hold"], ["hold", "--blocks", "9-3"], ["hold", "--blocks", "3-"],
    ["hold", "--blocks", "-3"], ["hold", "--blocks", "1,2"],
    ["hold", "--blocks", "99999999999999999999"], ["release"],
    ["hold", "--blocks", "1", "--reason", "two\nlines"],
    ["hold", "--blocks", "1", "--reason", "x" * 201],
    ["hold", "--space", "s9", "--blocks", "1"],
    ["run", "--blocks", "1"], ["status", "--reason", "x"]])
def test_a_command_line_without_sense_is_64(space, begin, args):
    space.ended(0, 9)
    done = Done(begin(*args))
    assert done.status == 64, done
    assert space.ranges("out") == {}


def test_with_several_spaces_one_has_to_be_named(space, begin, links_config):
    links_config["spaces"].append({**links_config["spaces"][0], "name": "s6",
                                   "number": 2, "length": 6})
    done = Done(begin("hold", "--blocks", "1", links=links_config))
    assert done.status == 64 and "name one" in done.err


def test_a_space_of_another_key_is_left_alone(space, reclaimer, links_config,
                                              workdir):
    space.ended(0, 9)
    other = workdir / "other.key"
    other.write_text("another secret, as long as needed")
    links_config["spaces"][0]["keys"][0]["key"] = f"file:{other}"
    done = reclaimer("hold", *S7, "--blocks", "1", links=links_config)
    assert done.status == 78, done
