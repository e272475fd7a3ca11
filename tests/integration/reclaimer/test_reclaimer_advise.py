"""`reclaimer advise` over blocks with known links."""
import json
import time

import pytest
import requests

from support.reclaim import *  # noqa: F403, fixtures too


def create(allocator, count):
    """Returns the keys of this many new links, in order."""
    line = json.dumps({"url": "https://example.org/", "ttl": "30d"})
    answer = requests.post(
        allocator.program.url + "/v1/links/batch",
        data="\n".join([line] * count),
        headers={"Authorization": f"Bearer {API_KEY}",
                 "Content-Type": "application/x-ndjson"}, timeout=60)
    codes = [json.loads(text)["code"] for text in answer.text.splitlines()]
    where = {key.rsplit(":", 1)[1]: key
             for key in allocator.redis.scan_iter("l:*", count=1000)}
    return [where[code] for code in codes]


@pytest.fixture
def full_blocks(allocator, space):
    """make(n) makes n blocks of 20 links each that no holder has any more; returns
    {block: [keys in the order of their creation]}."""
    def make(count):
        keys = {}
        while sum(len(k) == 20 for k in keys.values()) < count:
            for key in create(allocator, 20 * count):
                block = int(key.split("}")[0].rsplit(":", 1)[1])
                keys.setdefault(block, []).append(key)
        # The allocator is granted no more blocks, and its holds end.
        allocator.program.stop()
        time.sleep(2.1)  # hold_max
        full = {b: k for b, k in keys.items() if len(k) == 20}
        part = [k for b, ks in keys.items() if b not in full for k in ks]
        if part:
            space.redis.delete(*part)
        # These include the blocks that were opened ahead.
        for block in range(int(space.redis.get(space.key("cursor")))):
            if block not in full:
                space.redis.delete(space.marker_key(block))
        return full
    return make


def sizes(done):
    assert done.status == 0, done
    return {s["block_size"]: s for s in done.space["sizes"]}


def test_dead_halves_would_come_back_from_half_blocks(full_blocks, space,
                                                      reclaimer, begin):
    blocks = full_blocks(32)
    for keys in blocks.values():
        space.redis.delete(*keys[:10])
    done = reclaimer("advise")
    found = sizes(done)
    assert set(found) == {10, 20, 40, 80, 160}
    assert found[20]["trapped"] == 0.5
    assert found[10]["trapped"] == 0 and found[10]["trapped_error"] == 0
    live = done.space["live_blocks"]
    assert found[10]["codes_given_back"] == pytest.approx(live * 10)
    assert found[10]["markers"] == 2 * found[20]["markers"]
    assert done.space["sampled"] == len(blocks)
    assert done.space["advice"]["enough"] is True
    text = Done(begin("advise")).out
    assert "Block size: blocks of" in text and "advised" in text


def test_scattered_dead_codes_stay_trapped(full_blocks, space, reclaimer):
    for keys in full_blocks(31).values():
        space.redis.delete(*keys[::2])
    done = reclaimer("advise")
    found = sizes(done)
    assert found[10]["trapped"] == found[20]["trapped"] == 0.5
    assert done.space["advice"]["block_size"] >= 20


def test_few_live_blocks_make_no_advice(space, reclaimer):
    space.ended(0, 99)
    done = reclaimer("advise")
    assert done.status == 0 and done.space["sampled"] == 0
    assert done.space["advice"]["enough"] is False
    assert done.space["advice"]["block_size"] == 20


def test_an_empty_space_is_no_error(space, reclaimer):
    assert reclaimer("advise").status == 0


def test_without_a_space_nothing_can_be_said(space, reclaimer):
    space.redis.delete(space.key("space"))
    assert reclaimer("advise").status != 0


def test_the_interval_follows_quarantine(space, reclaimer, links_config):
    advice = reclaimer("advise").space["advice"]
    assert advice["interval_seconds"] == 60
    links_config["quarantine"] = "12h"
    links_config["ttl_classes"] = ["10d"]
    advice = reclaimer("advise", links=links_config).space["advice"]
    assert advice["interval_seconds"] == 3600


def test_advice_changes_nothing(full_blocks, space, reclaimer):
    full_blocks(2)
    before = space.redis.dbsize()
    reclaimer("advise")
    assert space.redis.dbsize() == before


@pytest.mark.parametrize("args", [["--sample", "0"], ["--sample", "2000000"],
                                  ["--days", "3"]])
def test_a_command_line_without_sense_is_64(space, begin, args):
    assert Done(begin("advise", *args)).status == 64
