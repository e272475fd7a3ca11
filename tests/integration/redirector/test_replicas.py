"""Links are looked up in a replica, and visitors never notice it: not when it lacks a
link, is behind, hangs, or is down."""
import concurrent.futures
import signal
import time

import pytest

import servers
from support.passage import Passage
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, make_links, own_links, start, visit)
from support.replication import follow, in_sync
from support.sentinel import Sentinel
from support.server import RedisServer

FIRST, SECOND = "https://example.org/1", "https://example.org/2"
UNKNOWN = "ZZZZZZZ"
ASKED = "shortloop_redirector_questions_total"
ANSWERS = "shortloop_redirector_replica_answers_total"


class Replica(RedisServer):
    """A replica of a Redis that can be cut off from it: .passage."""

    def behind(self, master):
        master.client().config_set("repl-diskless-sync-delay", 0)
        self.passage = Passage(master.port).__enter__()
        follow(self, self.passage)
        return self

    def fall_behind(self, master):
        """From now on it gets no updates."""
        in_sync(master, self)
        self.passage.stop()


@pytest.fixture
def replica(own_redis, workdir):
    made = Replica(workdir / "replica").start()
    made.behind(own_redis)
    yield made
    made.passage.__exit__()
    made.kill()


@pytest.fixture
def edge(start, base_config):
    """edge(replica, ...) starts a redirector with one thread that looks each visit up,
    and has found that the replica may be used."""
    def make(*replicas, **settings):
        base_config["redis"]["replicas"] = [
            f"127.0.0.1:{replica.port}" for replica in replicas]
        made = start(**{"threads": 1, "cache_ttl": "0s",
                        "replica_timeout": "20s", **settings})
        eventually(lambda: has_replica(made), what="its replica")
        return made
    return make


def has_replica(edge):
    return edge.metric("shortloop_redirector_threads_with_replica") > 0


def answer(edge, code):
    got = visit(f"{edge.url}/{code}")
    return got.headers.get("Location", got.status_code)


def came_of_it(edge, result):
    return edge.metric(ANSWERS, result=result)


def by_replica(edge, code, what):
    """Visits have this answer, after a while from the replica."""
    before = came_of_it(edge, "used")

    def used():
        assert answer(edge, code) == what
        return came_of_it(edge, "used") > before
    eventually(used, what="an answer of the replica")


# --- normal operation ------------------------------------------------------------------

def test_live_links_are_looked_up_in_the_replica(
        own_redis, own_links, replica, edge):
    code, blocked = own_links.create(FIRST), own_links.create(FIRST)
    own_links.change(blocked, state="blocked")
    in_sync(own_redis, replica)
    redirector = edge(replica)
    by_replica(redirector, code, FIRST)
    by_replica(redirector, blocked, 451)
    eventually(lambda: "replicas" not in redirector.ready()[1],
               what="a replica that is not behind")
    # It soon has edits as well.
    own_links.change(code, url=SECOND)
    eventually(lambda: answer(redirector, code) == SECOND)
    by_replica(redirector, code, SECOND)


def test_threads_begin_with_different_replicas(
        own_redis, own_links, replica, edge, workdir):
    other = RedisServer(workdir / "other").start()
    try:
        follow(other, own_redis)
        redirector = edge(replica, other, threads=2)
        for server in (replica, other):
            eventually(lambda: any(
                c["addr"] != c["laddr"] and c["cmd"].startswith("info") and
                c["age"] for c in server.client().client_list()
                if c["flags"] == "N"), what="a thread there")
        eventually(lambda: has_replica(redirector), what="a replica in use")
    finally:
        other.kill()


# --- data that the replica lacks -----------------------------------------------------

def test_what_it_lacks_is_asked_of_the_master(
        own_redis, own_links, replica, edge):
    redirector = edge(replica, replica_lag_max="1h")
    by_replica(redirector, own_links.create(FIRST), FIRST)
    replica.fall_behind(own_redis)
    lacked = came_of_it(redirector, "lacked")
    new = own_links.create(FIRST)
    assert answer(redirector, new) == FIRST
    assert came_of_it(redirector, "lacked") == lacked + 1
    assert answer(redirector, UNKNOWN) == 404


def test_a_link_that_has_ended_there_is_not_gone(
        own_redis, own_links, replica, edge):
    """The link was deleted and the deletion undone: the replica still has it as
    deleted."""
    code, other = own_links.create(FIRST), own_links.create(FIRST)
    own_links.delete(code)
    in_sync(own_redis, replica)
    redirector = edge(replica, replica_lag_max="1h", cache_negative_ttl="0s")
    by_replica(redirector, other, FIRST)
    assert answer(redirector, code) == 410
    replica.fall_behind(own_redis)
    own_links.edit(code, state=0, url=FIRST)  # no message about it
    assert answer(redirector, code) == FIRST


@pytest.mark.parametrize("told, kept", [
    (True, "0s"), (True, "1h"), (False, "0s")])
def test_a_deleted_link_is_not_served_by_a_replica_that_is_behind(
        own_redis, own_links, replica, edge, told, kept):
    code = own_links.create(FIRST)
    redirector = edge(replica, replica_lag_max="1h", cache_ttl=kept)

    def asks_it():
        assert answer(redirector, own_links.create(SECOND)) == SECOND
        return came_of_it(redirector, "used") > 0
    eventually(asks_it, what="an answer of the replica")
    assert answer(redirector, code) == FIRST
    replica.fall_behind(own_redis)
    if not told:  # the message is lost
        own_redis.client().client_kill_filter(_type="pubsub")
    own_links.delete(code)
    eventually(lambda: answer(redirector, code) != FIRST, what="the change")
    until = time.monotonic() + 1.2
    while time.monotonic() < until:
        assert answer(redirector, code) == 410
        time.sleep(0.02)
    assert replica.client().exists(own_links.key(code))


def test_one_that_is_too_far_behind_is_not_asked(
        own_redis, own_links, replica, edge):
    code = own_links.create(FIRST)
    in_sync(own_redis, replica)
    redirector = edge(replica, replica_lag_max="1s")
    by_replica(redirector, code, FIRST)
    replica.fall_behind(own_redis)
    own_links.create(FIRST)  # a link that the replica lacks
    # It may have been behind for a moment before: from here on it stays behind.
    time.sleep(1.1)
    eventually(lambda: not has_replica(redirector), what="behind")
    eventually(lambda: ("replicas: 1 of 1 threads query the master only: the replica "
                        "is behind") in redirector.ready()[1])
    assert redirector.ready()[0] == 200
    before = redirector.metric(ASKED, of="replica")
    for _ in range(10):
        assert answer(redirector, code) == FIRST
    assert redirector.metric(ASKED, of="replica") == before
    replica.passage.go_on()
    by_replica(redirector, code, FIRST)


# --- down ------------------------------------------------------------------------------

def test_one_that_hangs_costs_no_visit(own_redis, own_links, replica, edge):
    code = own_links.create(FIRST)
    in_sync(own_redis, replica)
    redirector = edge(replica, replica_timeout="100ms", replica_lag_max="1h")
    by_replica(redirector, code, FIRST)
    before = came_of_it(redirector, "failed")  # failures while it was only slow
    replica.signal(signal.SIGSTOP)
    try:
        for _ in range(20):
            assert answer(redirector, code) == FIRST
        # It was given up, and is tried now and then.
        assert 1 <= came_of_it(redirector, "failed") - before < 20
        assert redirector.metric("shortloop_redirector_breaker_changes_total",
                                 of="replica", to="open") >= 1
        assert redirector.ready()[0] == 200
    finally:
        replica.signal(signal.SIGCONT)
    by_replica(redirector, code, FIRST)


def test_one_that_is_killed_is_come_back_to(own_redis, own_links, replica, edge):
    code = own_links.create(FIRST)
    in_sync(own_redis, replica)
    redirector = edge(replica)
    by_replica(redirector, code, FIRST)
    replica.kill()
    eventually(lambda: not has_replica(redirector), what="away")
    assert answer(redirector, code) == FIRST
    # Before that, it may have been behind for a moment.
    eventually(lambda: f"query the master only: redis 127.0.0.1:{replica.port}: " in
               redirector.ready()[1])
    assert redirector.ready()[0] == 200
    replica.start()
    # The replica has no data and no master: the answers do not depend on it.
    assert answer(redirector, code) == FIRST
    follow(replica, replica.passage)
    by_replica(redirector, code, FIRST)


def test_the_next_takes_the_place_of_one_that_is_away_or_a_master(
        own_redis, own_links, replica, edge, base_config, start):
    code = own_links.create(FIRST)
    in_sync(own_redis, replica)

    class Nowhere:
        port = servers.free_port()
    redirector = edge(Nowhere, own_redis, replica)
    by_replica(redirector, code, FIRST)


def test_while_the_master_is_away_it_stands_in(own_redis, own_links, replica,
                                               edge):
    """It stands in for links that no cache has; it cannot prove that there is none."""
    code, blocked, changed, counted, deleted, more = (
        own_links.create(FIRST) for _ in range(6))
    own_links.delete(deleted)
    own_links.change(blocked, state="blocked")
    own_links.change(counted, max_visits=5)
    in_sync(own_redis, replica)
    redirector = edge(replica)
    by_replica(redirector, code, FIRST)
    # A change was received, but not for which link.
    own_links.change(changed, url=SECOND)
    own_redis.kill()
    assert answer(redirector, blocked) == 451
    assert answer(redirector, code) == FIRST
    eventually(lambda: redirector.ready()[0] == 503, what="the master away")
    assert answer(redirector, changed) in (SECOND, 503)
    assert answer(redirector, deleted) == 503
    assert answer(redirector, counted) == 503
    eventually(lambda: not has_replica(redirector), what="out of date")
    assert answer(redirector, more) == FIRST
    assert came_of_it(redirector, "stood_in") >= 1


def test_it_stands_in_for_who_had_asked_the_master_when_that_went(
        own_redis, own_links, replica, edge, base_config):
    """Each visit has a code of its own, since a cached link would stand in itself."""
    base_config["redis"]["command_timeout"] = "10m"
    other, *codes = (own_links.create(FIRST) for _ in range(200))
    in_sync(own_redis, replica)
    redirector = edge(replica, replica_lag_max="1s")
    by_replica(redirector, other, FIRST)
    asked = redirector.metric(ASKED, of="master")
    own_redis.signal(signal.SIGSTOP)
    answers = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        def waits_for_master():
            answers.append(pool.submit(answer, redirector, codes.pop()))
            return redirector.metric(ASKED, of="master") > asked
        eventually(waits_for_master)
        time.sleep(1.1)  # the last news of the master is old by now
        own_redis.kill()
        assert {a.result() for a in answers} == {FIRST}
    assert came_of_it(redirector, "stood_in") >= 1


# --- sentinels -------------------------------------------------------------------------

@pytest.fixture
def group(own_redis, workdir, base_config):
    """Two replicas of own_redis, and a sentinel that knows both; programs know only
    this sentinel, and one that does not answer."""
    replicas = [RedisServer(workdir / name).start() for name in ("b", "c")]
    own_redis.client().config_set("repl-diskless-sync-delay", 0)
    for replica in replicas:
        follow(replica, own_redis)
    sentinel = Sentinel(workdir / "sentinel", own_redis).start()
    eventually(lambda: sentinel.knows_replicas(2), what="the replicas")
    base_config["redis"] = {
        "sentinels": [f"127.0.0.1:{servers.free_port()}", f"127.0.0.1:{sentinel.port}"],
        "sentinel_replicas": True}
    yield replicas, sentinel
    for server in (sentinel, *replicas):
        server.kill()


def all_have_replicas(redirector):
    return redirector.metric("shortloop_redirector_threads_with_replica") == 2


def test_replicas_are_found_through_sentinels_and_after_a_failover(
        own_redis, group, make_links, start):
    replicas, sentinel = group
    links = make_links(own_redis.client())
    code, other = links.create(FIRST), links.create(FIRST)
    redirector = start(threads=2, cache_ttl="0s", cache_negative_ttl="0s",
                       replica_timeout="20s")
    eventually(lambda: all_have_replicas(redirector), what="replicas")
    by_replica(redirector, code, FIRST)
    assert answer(redirector, UNKNOWN) == 404

    for replica in replicas:
        in_sync(own_redis, replica)
    own_redis.kill()
    sentinel.mind()
    ports = [replica.port for replica in replicas]
    eventually(lambda: int(sentinel.master()) in ports, what="another master")
    sentinel.mind(after=30_000)  # there is no other master if this one is only slow
    # The sentinel has only one replica, and one of the threads may have to switch to
    # it.
    eventually(lambda: all_have_replicas(redirector), what="the replica that is left")
    by_replica(redirector, code, FIRST)
    eventually(lambda: links.call("DELETE", f"/{other}").status_code in (204, 404),
               what="an allocator that has found the new master")
    eventually(lambda: answer(redirector, other) == 410)
    assert answer(redirector, UNKNOWN) == 404


def test_a_sentinel_that_is_away_changes_nothing_that_a_visitor_sees(
        own_redis, group, make_links, start):
    """Its former knowledge does not matter either: a replica that is gone is searched
    for in vain."""
    replicas, sentinel = group
    links = make_links(own_redis.client())
    code = links.create(FIRST)
    redirector = start(threads=2, cache_ttl="0s", cache_negative_ttl="0s",
                       replica_timeout="20s")
    eventually(lambda: all_have_replicas(redirector), what="replicas")
    sentinel.signal(signal.SIGSTOP)
    by_replica(redirector, code, FIRST)
    for replica in replicas:
        replica.kill()
    assert answer(redirector, code) == FIRST
    new = links.create(SECOND)
    assert answer(redirector, new) == SECOND
    assert answer(redirector, UNKNOWN) == 404
    eventually(lambda: not has_replica(redirector), what="no replica")
    sentinel.signal(signal.SIGCONT)
    eventually(lambda: "threads query the master only" in redirector.ready()[1])
    assert redirector.ready()[0] == 200
    assert answer(redirector, code) == FIRST


# --- settings --------------------------------------------------------------------------

@pytest.mark.parametrize("replicas, says", [
    (["nonsense"], "redis.replicas: redis: the address 'nonsense'"),
    (["127.0.0.1:1", "127.0.0.1:1"],
     "redis.replicas: 127.0.0.1:1 is there twice"),
    (["127.0.0.1:99999"], "redis.replicas: redis: the address"),
])
def test_bad_settings_are_said(own_redis, base_config, start, program,
                               links_config, replicas, says):
    base_config["redis"]["replicas"] = replicas
    status, output = program("redirector", {"links": links_config},
                             args=["--check"], start=False).run()
    assert status == 78
    assert says in output


@pytest.mark.parametrize("settings, says", [
    ({}, "redis.sentinel_replicas: there are no redis.sentinels"),
    ({"sentinels": ["127.0.0.1:1"], "replicas": ["127.0.0.1:2"]},
     "redis.sentinel_replicas: redis.replicas are named as well"),
])
def test_sentinels_have_to_be_there_to_be_asked(program, links_config, settings, says):
    status, output = program("redirector", {
        "links": links_config, "redis": {"sentinel_replicas": True, **settings}},
        args=["--check"], start=False).run()
    assert status == 78
    assert says in output
