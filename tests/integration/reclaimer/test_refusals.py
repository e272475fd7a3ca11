"""Redis has lost data, a clock is wrong, a space has another name: the run is refused
with its reason (70) and pools nothing, or gives the right result if it can.  Other
refusals are in test_reclaimer.py and test_reclaimer_run.py."""
import subprocess
import time

import pytest
import requests
from redis.crc import key_slot

import servers
from support.program import eventually
from support.reclaim import *  # noqa: F403, fixtures too

SKEWS = {"an hour ahead": 3600, "an hour behind": -3600,
         "a year ahead": 365 * 86400, "a year behind": -365 * 86400}


# --- data that Redis has lost ------------------------------------------------------

def test_evicted_markers_are_refused_also_when_nothing_may_be_evicted_now(
        make_space, own_redis, reclaimer):
    """Memory ran short, and an operator corrected the settings: evicted keys stay
    lost."""
    client = own_redis.client()
    space = make_space(client)
    space.ended(0, 99)
    used = client.info("memory")["used_memory"]
    client.config_set("maxmemory", used + 100_000)
    client.config_set("maxmemory-policy", "allkeys-random")
    for i in range(400):
        client.set(f"ballast:{i}", "x" * 1000)
    assert client.info("stats")["evicted_keys"] > 0
    client.config_set("maxmemory", 0)
    client.config_set("maxmemory-policy", "noeviction")
    # The space's own keys were not evicted, or an operator restored them.
    space.redis.hset(space.key("space"), mapping={"number": 1})
    space.redis.set(space.key("cursor"), 100, nx=True)
    done = reclaimer("run")
    assert done.status == 70, done
    assert "has evicted" in done.err
    assert space.ranges("pool") == {}


def test_a_redis_that_was_emptied_is_refused(space, reclaimer):
    space.ended(0, 9)
    space.redis.flushall()
    for args in (["run"], ["run", "--dry-run"]):
        done = reclaimer(*args)
        assert done.status == 70, done
        assert "s7 has no record" in done.err
    assert [key for key in space.redis.scan_iter() if "lock" not in key] == []


@pytest.mark.parametrize("node", range(3))
def test_a_cluster_of_which_one_node_was_emptied_is_refused(space, reclaimer,
                                                            node):
    """Each of three nodes has a third of the slots."""
    space.ended(0, 299)
    slots = range(node * 5462, (node + 1) * 5462)
    gone = [key for key in space.redis.scan_iter()
            if key_slot(key.encode()) in slots]
    assert len(gone) > 50
    space.redis.delete(*gone)
    done = reclaimer("run")
    assert done.status == 70, done
    if key_slot(b"{s7}") in slots:
        assert "s7 has no record" in done.err
    else:
        assert "have no marker" in done.err
    # Nothing is pooled from a chunk in which markers are missing.
    assert space.ranges("pool") == {}


def test_a_member_of_the_pool_that_makes_no_sense_stops_nobody(
        make_space, own_redis, reclaimer):
    """The pool's head is read after a restart of Redis, since Redis may have
    forgotten.  An unreadable member stays where it is, for verify to report."""
    space = make_space(own_redis.client())
    space.ended(0, 9)
    space.redis.zadd(space.key("pool"), {"what?": 1})
    own_redis.stop()
    own_redis.start()
    space.redis = own_redis.client()
    done = reclaimer("run")
    assert (done.status, done.space["freed"]) == (0, 10), done
    assert list(space.ranges("pool")) == ["what?", "0-9:2"]
    found = reclaimer("verify")
    assert found.status == 1
    assert "what?" in found.out


# --- contradictions with the configuration -----------------------------------------

def test_a_renamed_space_is_refused(space, reclaimer, links_config):
    """The space's keys contain its name: under another name there is nothing."""
    space.ended(0, 9)
    before = space.everything()
    links_config["spaces"][0]["name"] = "s8"
    done = reclaimer("run", links=links_config)
    assert done.status == 70, done
    assert "s8 has no record" in done.err
    assert space.everything() == before


def test_a_space_under_another_ones_name_is_refused(space, reclaimer,
                                                    links_config):
    """The names of two spaces were swapped."""
    space.ended(0, 9)
    links_config["spaces"][0].update(number=2, length=8)
    done = reclaimer("run", links=links_config)
    assert done.status == 78, done
    assert "s7 was created with" in done.err
    assert space.ranges("pool") == {}


# --- clocks ------------------------------------------------------------------------

def test_the_skew_reaches_a_program(skew):
    year = subprocess.run(["date", "-u", "+%Y"], text=True,
                          env=skew(SKEWS["a year ahead"]) | {"PATH": "/bin"},
                          capture_output=True).stdout
    assert int(year) == time.gmtime().tm_year + 1


@pytest.mark.parametrize("seconds", SKEWS.values(), ids=SKEWS)
def test_a_run_goes_by_the_clock_of_redis(space, begin, skew, seconds):
    end = now() + 60_000
    space.ended(0, 9)
    space.mark([4], end=end)
    space.issue(10, 19, score=end)
    space.mark(range(10, 20), end=end)
    before = now()
    done = Done(begin("run", "--json", env=skew(seconds), record=False))
    assert done.status == 0, done
    assert (done.space["freed"], done.space["live"]) == (9, 1)
    assert space.blocks("pool") == [b for b in range(10) if b != 4]
    assert space.ranges("issued") == {"4-4:1": end + 1, "10-19:1": end}
    for score in space.ranges("pool").values():
        assert before + 2000 <= score <= now() + 2000


@pytest.mark.parametrize("seconds", SKEWS.values(), ids=SKEWS)
def test_links_live_by_the_clock_of_redis(space, program, workdir, kafka,
                                          links_config, skew, reclaimer,
                                          seconds):
    """An allocator and a redirector with wrong clocks, one in each direction, create
    and visit it."""
    keys = admin_keys(workdir)
    allocator = Allocator(program("allocator", {
        "links": links_config, "allocator": {"keys_file": str(keys)},
        "kafka": {"topic_links": kafka.create_topic("links", 2)}},
        env=skew(seconds)), space.redis)
    redirector = program("redirector", {
        "links": links_config, "redirector": {"threads": 1},
        "kafka": {"topic_clicks": kafka.clicks_topic()}}, env=skew(-seconds))

    def visit(code):
        return requests.get(f"{redirector.url}/{code}", allow_redirects=False,
                            timeout=60).status_code

    def lives_by_that_clock():
        """Returns False on a machine so busy that a check or a visit came too late."""
        begun = now()
        visited, left = (allocator.create("3s")["code"] for _ in range(2))
        keys = list(space.redis.scan_iter(f"l:*:{visited}"))
        if not keys:
            return False
        key = keys[0]
        block = int(key.split("}")[0].rsplit(":", 1)[1])
        marker, ttl = space.marker(block), space.redis.pttl(key)
        seen = now()
        if seen - begun > 1000:
            return False
        assert begun + 3000 <= int(marker[4]) <= seen + 5000
        assert 1000 < ttl <= 3000
        end = seen + 3500
        while seen < end:
            status, ttl = visit(visited), space.redis.pttl(key)
            before, seen = seen, now()
            if seen - before > 1000:
                return False
            assert status == 302
            time.sleep(0.2)
        assert 1000 < ttl <= 3000
        assert visit(left) == 410
        assert reclaimer("run", record=False).status == 0
        pooled = block in space.blocks("pool")
        if not space.redis.exists(key):
            return False
        assert not pooled
        return True
    eventually(lives_by_that_clock, what="all in time")
