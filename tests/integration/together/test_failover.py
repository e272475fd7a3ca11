"""A Redis becomes a replica, and another takes its place: programs find the master by
its role, in a list of addresses or through a sentinel, and leave a server that refuses
writes."""
import pytest
import requests

import servers
from support.allocator import *  # noqa: F403, fixtures too
from support.program import eventually
from support.reclaim import BRIEF
from support.replication import follow, in_sync
from support.sentinel import Sentinel
from support.server import RedisServer


def swap(master, replica):
    """The replica has all data of the master, and is promoted."""
    in_sync(master, replica)
    replica.client().replicaof("NO", "ONE")
    follow(master, replica)


@pytest.fixture
def pair(workdir):
    servers = [RedisServer(workdir / name, extra=(
        "--repl-diskless-sync-delay", "0")).start() for name in "ab"]
    follow(servers[1], servers[0])
    yield servers
    for server in servers:
        server.kill()


@pytest.fixture
def at(sections, create_space, start, topic):
    """at(address=...) starts an allocator with that setting and its space."""
    def run(**redis):
        sections["redis"] = redis
        status, output = create_space()
        assert status == 0, output
        return start(topic)
    return run


def addresses(servers):
    return ", ".join(f"127.0.0.1:{server.port}" for server in servers)


def creates(api):
    answer = api.post(url=URL, ttl="1h")
    return answer.status_code == 201 and answer.json()["code"]


def is_there(server, code):
    return bool(list(server.client().scan_iter(f"l:*:{code}")))


def readyz(api):
    return requests.get(api.program.admin + "/readyz", timeout=60)


@pytest.mark.long
def test_an_allocator_leaves_a_master_that_was_demoted(pair, at):
    a, b = pair
    api = at(address=addresses(pair))
    first = api.create()["code"]
    swap(a, b)
    code = eventually(lambda: creates(api), what="a new link")
    assert is_there(b, code) and is_there(b, first)
    assert eventually(lambda: readyz(api).status_code == 200)
    # The roles are swapped back.
    swap(b, a)
    code = eventually(lambda: creates(api), what="a new link")
    assert is_there(a, code)


@pytest.mark.proof
def test_the_order_of_the_addresses_does_not_matter(pair, at, program,
                                                    sections):
    api = at(address=addresses(reversed(pair)))
    assert is_there(pair[0], api.create()["code"])
    # A command with a blocking connection.
    status, output = program("reclaimer", {**BRIEF, **sections}, start=False,
                             args=["status"]).run()
    assert status == 0, output


@pytest.mark.proof
def test_with_a_replica_alone_nobody_is_ready(pair, at):
    """Nothing is written meanwhile, but the role is checked nevertheless."""
    a, b = pair
    api = at(address=addresses([a]))
    swap(a, b)

    def says_why():
        answer = readyz(api)
        return answer.status_code == 503 and "replica" in answer.text
    eventually(says_why, what="not ready")
    assert api.post(url=URL, ttl="1h").status_code == 503
    swap(b, a)
    assert eventually(lambda: creates(api), what="a new link")


def test_a_job_refuses_a_replica(pair, at, program, sections):
    at(address=addresses([pair[0]]))
    sections["redis"] = {"address": addresses([pair[1]])}
    status, output = program("reclaimer", {**BRIEF, **sections}, start=False,
                             args=["status"]).run()
    assert status == 75
    assert "replica" in output


def test_a_master_that_dies_is_followed_through_a_sentinel(pair, at, workdir,
                                                           program, sections):
    a, b = pair
    sentinel = Sentinel(workdir / "sentinel", a).start()
    try:
        eventually(sentinel.knows_replica, what="the replica")
        # The first sentinel does not answer.
        api = at(sentinels=["127.0.0.1:1", f"127.0.0.1:{sentinel.port}"])
        assert is_there(a, api.create()["code"])
        in_sync(a, b)
        a.kill()
        sentinel.mind()
        eventually(lambda: sentinel.master() == b.port, what="another master")
        code = eventually(lambda: creates(api), what="a new link")
        assert is_there(b, code)
        status, output = program("reclaimer", {**BRIEF, **sections}, start=False,
                                 args=["status"]).run()
        assert status == 0, output
    finally:
        sentinel.kill()


def test_a_master_that_the_sentinels_do_not_know_is_told(pair, sections, start,
                                                         workdir):
    sentinel = Sentinel(workdir / "sentinel", pair[0]).start()
    try:
        sections["redis"] = {"sentinels": [f"127.0.0.1:{sentinel.port}"],
                             "master_name": "other"}
        api = start(ready=False)
        eventually(lambda: "knows no master 'other'" in api.program.ready()[1],
                   what="the reason")
    finally:
        sentinel.kill()


def moves_that_are_known(server):
    """Waits until the allocator, which checks its space repeatedly, has seen the last
    moves: the confirmation after a create may still be under way."""
    def scripts():
        return server.client().info("commandstats")["cmdstat_evalsha"]["calls"]

    ran = scripts()
    eventually(lambda: scripts() > ran + 5, what="checks of the space")
    return int(server.client().hget("space:{s7}", "moves"))


@pytest.mark.proof
def test_one_that_took_over_an_older_copy_is_noticed_under_its_run_id(
        pair, at, sections):
    """A backup is loaded by REPLICAOF: the server and the run_id are the same, and
    later grants are lost."""
    a, b = pair
    sections["allocator"]["space_check_every"] = "100ms"
    api = at(address=addresses([a]))
    before = create_many(api, 100)
    in_sync(a, b)
    b.client().replicaof("NO", "ONE")
    run_id = a.client().info("server")["run_id"]
    before += create_many(api, 2000)
    moves = moves_that_are_known(a)
    follow(a, b)
    a.client().replicaof("NO", "ONE")
    assert a.client().info("server")["run_id"] == run_id
    eventually(lambda: a.client().hget("space:{s7}", "forgot") == "1",
               what="noticed")
    assert int(a.client().hget("space:{s7}", "moves")) > moves
    # Each thread has found the master again.
    eventually(lambda: readyz(api).status_code == 200, what="ready")
    eventually(lambda: creates(api), what="a new link")
    after = create_many(api, 200)
    assert not set(before) & set(after)


def test_a_redirector_renews_on_the_new_master(pair, at, program, sections,
                                               links_config, kafka):
    a, b = pair
    api = at(address=addresses(pair))
    redirector = program("redirector", {
        "links": links_config, "redis": sections["redis"],
        "kafka": {"topic_clicks": kafka.clicks_topic()},
        "redirector": {"cache_ttl": "0s"}})
    code = api.create(ttl="1h")["code"]
    key, = a.client().scan_iter(f"l:*:{code}")

    def visited_and_renewed(server):
        answer = requests.get(f"{redirector.url}/{code}", timeout=60,
                              allow_redirects=False)
        return answer.status_code == 302 and \
            server.client().pttl(key) > 3_000_000

    a.client().pexpire(key, 600_000)
    eventually(lambda: visited_and_renewed(a), what="a renewal")
    swap(a, b)
    b.client().pexpire(key, 600_000)
    eventually(lambda: visited_and_renewed(b), what="a renewal there")


def test_a_redirector_hears_of_changes_from_the_new_master(
        pair, at, program, sections, links_config, kafka):
    """The former master has no master, and gets no messages."""
    a, b = pair
    api = at(address=addresses(pair))
    redirector = program("redirector", {
        "links": links_config, "redis": sections["redis"],
        "kafka": {"topic_clicks": kafka.clicks_topic()},
        "redirector": {"threads": 1, "cache_ttl": "1h"}})
    code = api.create(url=URL, ttl="never")["code"]

    def target():
        return requests.get(f"{redirector.url}/{code}", timeout=60,
                            allow_redirects=False).headers.get("Location")
    assert target() == URL
    swap(a, b)
    a.client().replicaof("127.0.0.1", servers.free_port())
    eventually(lambda: api.patch(code, url=URL + "2").status_code == 200,
               what="an allocator that has found the new master")
    eventually(lambda: target() == URL + "2", what="the change")
