"""Every redirector uses a changed link within a second, although it caches links for an
hour; after a received change the old link is never used again."""
import collections
import concurrent.futures
import signal
import subprocess
import time

import pytest

import servers
from support.deaf import Deaf
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    DAY, Links, change_and_wait, clicks, domains_config, heard, links, make_links, own_links, start, subscriptions, visit)
from support.redis_proxy import RedisProxy
from support.replication import follow, in_sync
from support.server import RedisServer
from support.spaces import aliases, sequence

LINK_DELETED = 1  # schemas/link.proto
FIRST, SECOND = "https://example.org/1", "https://example.org/2"
# The guarantee, in s.  However late the test itself checks on a busy machine: a request
# later than that after a change never gets the old link.
PROMISED = 1
# A space of blocks and one of aliases.
LINKS_SECTION = {"ttl_classes": ["30d", "1s"], "hold_max": "1h", "quarantine": "2h",
                 "renew_every": "1d", "spaces": [sequence(), aliases("named", 2)]}


def subscribed(redirector):
    return redirector.metric("shortloop_redirector_subscribed") == 1


@pytest.fixture
def edge(start):
    """edge(...) starts a redirector that caches links for an hour and receives
    changes."""
    def make(**settings):
        made = start(**{"threads": 2, "cache_ttl": "1h", "cache_stale": "1h",
                        "permanent_max_age": "1h", **settings})
        eventually(lambda: subscribed(made), what="it subscribes")
        return made
    return make


def answer(edge, code):
    got = visit(f"{edge.url}/{code}")
    return got.headers.get("Location", got.status_code)


def know(edges, code, what):
    """Brings the link into the caches of both threads of each edge; a thread gets no
    request once in 500,000 times."""
    for edge in edges:
        for _ in range(20):
            assert answer(edge, code) == what


def lookups(edge):
    return edge.metric("shortloop_redirector_redis_lookups_total",
                       result="answered")


def is_told(edge, code, what, since):
    """Returns whether it is answered in time; a 503 is a late query to Redis."""
    begun = time.monotonic()
    got = answer(edge, code)
    assert got in (what, 503) or begun < since + PROMISED
    return got == what


def sees(edges, code, what):
    """All of their threads use the change in time, and none goes back."""
    since = time.monotonic()
    for edge in edges:
        eventually(lambda: is_told(edge, code, what, since), what=f"{code}: {what}")
        for _ in range(10):
            assert answer(edge, code) == what


def sees_unheard(edges, code, what):
    """The same without a message: each thread queries Redis when its entry is no longer
    known to be current, at different times."""
    for edge in edges:
        eventually(lambda: all(answer(edge, code) == what for _ in range(10)),
                   what=f"{code}: {what}")


# --- normal operation --------------------------------------------------------------

# Every edge that knows the first must answer with the second.
CHANGES = [
    (FIRST, lambda links, code: links.change(code, url=SECOND), SECOND),
    (SECOND, lambda links, code: links.change(code, state="blocked"), 451),
    (451, lambda links, code: links.change(code, state="live"), SECOND),
    (SECOND, lambda links, code: links.delete(code), 410),
]


@pytest.mark.proof
def test_changes_are_seen_on_every_edge(links, edge):
    edges = [edge(), edge()]
    for name in ({}, {"code": "spring-sale"}):
        code = links.create(FIRST, **name)
        for before, change, after in CHANGES:
            know(edges, code, before)
            change(links, code)
            sees(edges, code, after)


def test_a_shorter_life_is_seen_by_those_that_keep_the_link(links, edge):
    """The end itself causes no message."""
    redirector = edge(threads=1)
    code = links.create(FIRST)
    key = links.key(code)
    know([redirector], code, FIRST)
    change_and_wait(links, redirector, code, ttl="1s")
    eventually(lambda: not links.redis.exists(key), what="its end")
    assert answer(redirector, code) in (404, 410)


def test_cached_links_stay_cached(links, edge):
    """Neither time nor changes of other links cause another query."""
    redirector = edge(threads=1)
    code, other = links.create(FIRST), links.create(FIRST)

    def asked_once():
        """The exception is a late heartbeat, on a busy machine."""
        assert answer(redirector, code) == FIRST
        before, until = lookups(redirector), time.monotonic() + 1.2
        links.change(other, url=FIRST + str(until))
        while time.monotonic() < until:
            assert answer(redirector, code) == FIRST
            time.sleep(0.05)
        return lookups(redirector) == before
    eventually(asked_once, what="no question in a second")


def test_more_visits_are_seen_at_once(links, edge):
    redirector = edge(threads=1)
    code = links.create(FIRST, max_visits=1)
    assert [answer(redirector, code) for _ in range(3)] == [FIRST, 410, 410]
    links.change(code, max_visits=2)
    eventually(lambda: answer(redirector, code) == FIRST)
    assert answer(redirector, code) == 410


def test_a_deleted_link_has_no_more_visits_before_that_is_heard(links, edge):
    redirector = edge(threads=1)
    code = links.create(FIRST, max_visits=2)
    assert answer(redirector, code) == FIRST
    links.edit(code, state=LINK_DELETED, url="")  # without a message
    assert answer(redirector, code) == 410


def test_an_operator_who_changed_links_by_hand_can_say_so(links, edge):
    edges = [edge(), edge()]
    codes = [links.create(FIRST) for _ in range(3)]
    for code in codes:
        know(edges, code, FIRST)
    for code in codes:
        links.edit(code, url=SECOND)
    for code in codes:  # no message has come yet
        before = lookups(edges[0])
        # The exception is a late heartbeat, on a busy machine.
        assert answer(edges[0], code) == FIRST or lookups(edges[0]) > before

    def say(text):
        """Both must receive it: a subscription that was silent for two seconds is
        renewed."""
        eventually(lambda: links.redis.publish("link-changes", text) == 2,
                   what="two subscriptions")
    say(" ".join(codes[:2]))
    for code in codes[:2]:
        sees(edges, code, SECOND)
    say("*")
    sees(edges, codes[2], SECOND)


def test_a_message_that_cannot_be_read_means_everything(links, edge):
    redirector = edge(threads=1)
    code = links.create(FIRST)
    for i, message in enumerate(["", "a  b", "a " * 40000 + "a"]):
        assert answer(redirector, code) == (f"{SECOND}{i - 1}" if i else FIRST)
        links.edit(code, url=f"{SECOND}{i}")
        links.redis.publish("link-changes", message)
        eventually(lambda: answer(redirector, code) == f"{SECOND}{i}")
    # A message without an end closes the connection.
    before = subscriptions(redirector)
    links.redis.publish("link-changes", "x" * (1 << 20))
    eventually(lambda: subscriptions(redirector) > before and
               subscribed(redirector))


def test_what_nobody_told_of_is_seen_after_cache_ttl(links, edge):
    """The same with an allocator of a version that publishes nothing."""
    redirector = edge(threads=1, cache_ttl="1s")
    code = links.create(FIRST)
    assert answer(redirector, code) == FIRST
    links.edit(code, url=SECOND)
    eventually(lambda: answer(redirector, code) == SECOND)
    assert heard(redirector) == 0


@pytest.mark.long
def test_a_flood_of_changes_passes_and_none_is_missed(links, edge):
    edges = [edge(), edge()]
    codes = [links.create(FIRST) for _ in range(4)]
    for code in codes:
        know(edges, code, FIRST)
        links.edit(code, url=SECOND)
    pipe = links.redis.pipeline()
    for i in range(6000):
        pipe.publish("link-changes", codes[i] if i < 4 else f"other{i}")
    pipe.execute()
    for code in codes:
        sees(edges, code, SECOND)


# --- messages that are lost ----------------------------------------------------------

def test_changes_while_a_connection_breaks_are_seen_after_it(
        own_redis, own_links, edge):
    edges = [edge(), edge()]
    code = own_links.create(FIRST)
    know(edges, code, FIRST)
    before = [subscriptions(e) for e in edges]
    own_links.redis.client_kill_filter(_type="pubsub")
    own_links.edit(code, url=SECOND)  # without a message
    sees_unheard(edges, code, SECOND)
    for redirector, count in zip(edges, before):
        eventually(lambda: subscriptions(redirector) > count and
                   subscribed(redirector))
    # The new master may have other links than the former one.
    code = own_links.create(FIRST)
    know(edges, code, FIRST)
    own_links.edit(code, url=SECOND)
    own_links.redis.client_kill_filter(_type="normal", skipme=True)
    sees_unheard(edges, code, SECOND)


def test_without_the_right_to_listen_links_are_asked_for_again(
        own_redis, own_links, start, base_config):
    own_links.redis.acl_setuser("edge", enabled=True, passwords=["+secret"],
                                commands=["+@all"], keys=["*"],
                                reset_channels=True)
    secret = own_redis.directory / "secret"
    secret.write_text("secret")
    base_config["redis"].update(username="edge", password=f"file:{secret}")
    redirector = start(cache_ttl="1h", threads=1)
    code = own_links.create(FIRST)
    assert answer(redirector, code) == FIRST
    own_links.change(code, url=SECOND)
    eventually(lambda: answer(redirector, code) == SECOND)
    # The reason is known after its first attempt to subscribe.
    status, text = eventually(lambda: (said := redirector.ready()) and
                              "link changes: " in said[1] and said)
    assert status == 200
    assert "link changes: links are looked up every second: " in text
    assert "NOPERM" in text


def test_who_may_not_publish_changes_links_all_the_same(
        own_redis, own_links, program, base_config):
    own_links.redis.acl_setuser("writer", enabled=True, passwords=["+secret"],
                                commands=["+@all"], keys=["*"],
                                reset_channels=True)
    secret = own_redis.directory / "secret"
    secret.write_text("secret")
    base_config["redis"].update(username="writer", password=f"file:{secret}")
    code = own_links.create(FIRST)
    sections = own_links.allocator.config
    own_links.allocator.stop()
    own_links.allocator = program("allocator", {
        name: sections[name] for name in ("links", "kafka", "allocator")})
    own_links.change(code, state="blocked")
    eventually(lambda: "nobody is told of changed links" in
               own_redis.log_path.read_text())


@pytest.fixture
def between(redis_server, base_config):
    made = Deaf(redis_server.port)
    base_config["redis"]["address"] = made.address
    yield made
    made.close()


def test_while_the_subscription_is_silent_links_are_asked_for_again(
        between, links, edge):
    """This happens in time, too; a query to Redis has a long timeout, so that nothing
    stands in."""
    redirector = edge(threads=1, lookup_timeout="10s")
    code = links.create(FIRST)
    assert answer(redirector, code) == FIRST
    between.deaf = True
    links.change(code, url=SECOND)
    since = time.monotonic()
    eventually(lambda: is_told(redirector, code, SECOND, since))


@pytest.mark.long
def test_a_silent_subscription_is_made_anew(between, links, edge):
    redirector = edge(threads=1)
    seen = between.subscribers
    between.deaf = True
    eventually(lambda: not subscribed(redirector) and
               between.subscribers > seen, what="it subscribes anew")
    assert redirector.ready()[0] == 200
    between.deaf = False
    eventually(lambda: subscribed(redirector))


# --- another master -------------------------------------------------------------------

@pytest.fixture
def followers(own_redis, workdir):
    """Two servers that have all data of own_redis, and can be promoted."""
    own_redis.client().config_set("repl-diskless-sync-delay", 0)
    made = [RedisServer(workdir / name).start() for name in ("b", "c")]
    for server in made:
        follow(server, own_redis)
    yield made
    for server in made:
        server.kill()


@pytest.fixture
def own_between(own_redis, own_links, base_config):
    """It comes after the allocator, which connects to own_redis itself."""
    made = Deaf(own_redis.port)
    base_config["redis"]["address"] = made.address
    yield made
    made.close()


def disbelieved(edge):
    return edge.metric("shortloop_redirector_replica_answers_total", result="outdated")


def told(edge, code):
    """Returns the answers of all threads; a thread gets no request once in 10^12
    times."""
    return {answer(edge, code) for _ in range(40)}


@pytest.mark.parametrize("with_replica", [False, True])
def test_what_a_former_master_says_of_a_link_that_was_blocked_is_not_told(
        own_redis, own_links, own_between, followers, edge, base_config, with_replica):
    """The former master still acts as a master, and one of two threads is still
    connected to it; the other, with the subscription, is connected to its successor.
    The former master's replica is not trusted either."""
    successor, replica = followers
    if with_replica:
        base_config["redis"]["replicas"] = [f"127.0.0.1:{replica.port}"]
    redirector = edge(threads=2, replica_timeout="20s")
    blocked, other = own_links.create(FIRST), own_links.create(FIRST)
    know([redirector], blocked, FIRST)
    know([redirector], other, FIRST)
    in_sync(own_redis, successor)
    client = successor.client()
    client.replicaof("NO", "ONE")
    own_between.to = successor.port
    assert told(redirector, "no-such-link") == {404}  # this queries masters only
    assert len(own_between.askers) == 2
    own_between.cut_one()
    eventually(lambda: client.pubsub_numsub("link-changes")[0][1] == 1,
               what="a subscription there")
    Links(own_links.allocator, client).edit(blocked, state=2)
    before = heard(redirector)

    def hears():
        """The number of new subscriptions does not matter."""
        client.publish("link-changes", blocked)
        return heard(redirector) > before
    eventually(hears, what="it hears of the change")

    def knows_better():
        answers = told(redirector, blocked)
        assert FIRST not in answers
        return answers == {451, 503} and disbelieved(redirector) >= with_replica
    eventually(knows_better, what="an answer of each Redis")
    assert told(redirector, other) == {FIRST}
    own_redis.kill()
    successor.kill()
    eventually(lambda: redirector.ready()[0] == 503, what="Redis is away")
    assert told(redirector, blocked) == {451, 503}
    assert told(redirector, other) == {FIRST}


# --- races and Redis down --------------------------------------------------------------

@pytest.fixture
def held_edge(redis_server, edge, base_config):
    """A redirector whose answers from Redis, but not published messages, can be held
    back: .proxy."""
    with RedisProxy(redis_server.port) as proxy:
        base_config["redis"]["address"] = proxy.address
        made = edge(threads=1)
        made.proxy = proxy
        yield made


def test_an_answer_from_before_a_change_is_not_kept_nor_told(links, held_edge):
    code = links.create(FIRST)
    held = held_edge.proxy.hold_answer(b"MGET", code.encode())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        before = pool.submit(answer, held_edge, code)
        assert held.here.wait(60)
        change_and_wait(links, held_edge, code, state="blocked")
        after = pool.submit(answer, held_edge, code)
        held.release()
        assert (before.result(), after.result()) == (451, 451)
    assert answer(held_edge, code) == 451


def test_a_link_that_changes_while_it_is_read_is_not_guessed(links, held_edge):
    code = links.create(FIRST)
    held = held_edge.proxy.hold_answer(b"MGET", code.encode())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        got = pool.submit(answer, held_edge, code)
        for i in range(4):
            assert held.here.wait(60)
            change_and_wait(links, held_edge, code, url=f"{FIRST}/{i}")
            now, held = held, held_edge.proxy.hold_answer(b"MGET", code.encode())
            now.release()
        assert got.result() == 503
        held.release()
        held.here.set()
    assert answer(held_edge, code) == f"{FIRST}/3"


def test_a_visit_that_is_being_counted_is_not_led_to_a_blocked_link(
        links, held_edge):
    code = links.create(FIRST, max_visits=5)
    held = held_edge.proxy.hold_answer(b"EVALSHA", b"v:{", code.encode())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        got = pool.submit(answer, held_edge, code)
        assert held.here.wait(60)
        change_and_wait(links, held_edge, code, state="blocked")
        held.release()
        assert got.result() == 503
    assert answer(held_edge, code) == 451


def test_an_edge_that_is_cut_off_goes_on_for_cache_stale(
        own_redis, own_links, edge):
    """The exception is a link whose blocking it had received."""
    patient, brief = edge(threads=1), edge(threads=1, cache_stale="1s")
    code, blocked = own_links.create(FIRST), own_links.create(FIRST)
    for code_of in (code, blocked):
        know([patient, brief], code_of, FIRST)
    change_and_wait(own_links, patient, blocked, state="blocked")
    own_redis.kill()
    for redirector in (patient, brief):
        eventually(lambda: redirector.ready()[0] == 503, what="Redis is away")
    assert (answer(patient, code), answer(patient, blocked)) == (FIRST, 503)
    eventually(lambda: answer(brief, code) == 503)
    assert (answer(patient, code), answer(patient, blocked)) == (FIRST, 503)


@pytest.fixture(scope="session")
def slept(tmp_path_factory):
    """slept(flag) returns the environment of a program whose machine has slept for a
    day once the file `flag` exists."""
    library = tmp_path_factory.mktemp("slept") / "slept.so"
    source = servers.ROOT / "tests/integration/support/slept.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return lambda flag: {"LD_PRELOAD": str(library), "SLEPT": str(flag)}


def test_what_was_cached_before_the_machine_slept_is_not_told(
        own_redis, own_links, edge, slept, workdir):
    """The ends have passed meanwhile, and no clock of the cache shows it."""
    flag = workdir / "slept"
    redirector = edge(threads=1, env=slept(flag))
    code, other = own_links.create(FIRST), own_links.create(FIRST)
    know([redirector], code, FIRST)
    know([redirector], other, FIRST)
    before = lookups(redirector)
    flag.touch()
    assert answer(redirector, code) == FIRST
    assert lookups(redirector) == before + 1
    own_redis.kill()
    eventually(lambda: redirector.ready()[0] == 503, what="Redis is away")
    assert answer(redirector, code) == FIRST
    assert answer(redirector, other) == 503


@pytest.mark.long
def test_redis_that_hangs_is_stood_in_for(own_redis, own_links, edge,
                                          base_config):
    base_config["redis"]["command_timeout"] = "500ms"
    redirector = edge(threads=1)
    code = own_links.create(FIRST)
    assert answer(redirector, code) == FIRST
    own_redis.signal(signal.SIGSTOP)
    try:
        answers = collections.Counter()
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            answers[answer(redirector, code)] += 1
            time.sleep(0.05)
    finally:
        own_redis.signal(signal.SIGCONT)
    assert set(answers) == {FIRST}
