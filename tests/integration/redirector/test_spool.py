"""Click events on disk while Kafka is down: the redirector with a real broker that is
stopped, or hangs."""
import collections
import contextlib
import re
import signal
import socket
import struct
import threading

import pytest

import servers
from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, domains_config, links, make_links, start, visit)

EVENTS = "shortloop_redirector_spool_events"
DROPPED = "shortloop_redirector_events_dropped_total"
REPLAYED = "shortloop_redirector_events_replayed_total"
MISSING = "shortloop_redirector_{}_missing"
# Memory has room for few events: later ones are spooled while Kafka hangs.
SMALL = {"queue_messages": 10}


@pytest.fixture
def spool(workdir):
    return workdir / "spool"


@pytest.fixture
def visits(links):
    """visits(redirector, n) makes this many visits, all redirected."""
    code = links.create()

    def make(redirector, count):
        for _ in range(count):
            assert visit(f"{redirector.url}/{code}").status_code == 302
    return make


@contextlib.contextmanager
def standing_still(server):
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def by_id(events):
    found = collections.defaultdict(list)
    for event in events:
        found[event.event_id_high, event.event_id].append(event)
    return found


def are_once(events, count):
    """Checks that there are this many events, each once, except for repeats that are
    marked and otherwise equal."""
    found = by_id(events)
    assert len(found) == count
    for same in found.values():
        assert sum(not e.maybe_sent for e in same) <= 1
        for event in same:
            event.maybe_sent = False
        assert all(e == same[0] for e in same)
    return found


def replayed(redirector):
    redirector.wait_ready()
    redirector.wait_metric(0, EVENTS)


def kill_with_ten_in_memory(redirector):
    """Thirty events are spooled; its next start brings all forty."""
    redirector.kill()
    redirector.start(ready=False)
    # It serves, and new events come after the old ones.
    eventually(lambda: redirector.ready()[0])
    # Ten were in the journal, too.
    redirector.wait_metric(40, EVENTS)


def test_events_of_an_outage_are_in_kafka_when_it_is_back(
        start, visits, clicks, spool, kafka_server):
    redirector = start(spool_dir=str(spool), threads=2)
    visits(redirector, 5)
    # Events that a broker leaves unanswered at its end would come again, marked.
    redirector.wait_metric(5, "shortloop_kafka_delivered_total",
                           topic=redirector.topic)
    kafka_server.stop()
    try:
        visits(redirector, 20)  # in memory, as long as the outage is unknown
        eventually(lambda: "kafka:" in redirector.ready()[1])
        visits(redirector, 30)
        eventually(lambda: redirector.metric(EVENTS) >= 30)
        redirector.wait_log("spooling click events")
        eventually(lambda: "spool: spooling: " in redirector.ready()[1])
        assert redirector.metric("shortloop_redirector_spool_bytes") > 30 * 100
    finally:
        kafka_server.start()
    replayed(redirector)
    redirector.wait_log("spooled click events replayed")
    # The state changes after the log line.
    eventually(lambda: "spool" not in redirector.ready()[1])
    assert not list(spool.glob("*.segment"))
    assert redirector.metric(REPLAYED) >= 30
    assert redirector.metric(DROPPED) == 0
    events = clicks(redirector)
    # Kafka has answered nothing since: the spooled events were certainly not sent.
    assert sum(not e.maybe_sent for e in events) >= 35
    are_once(events, 55)


@pytest.mark.proof
def test_what_a_killed_redirector_spooled_comes_from_the_next_one(
        program, start, visits, clicks, spool, kafka_server):
    redirector = start(spool_dir=str(spool), threads=1, kafka_settings=SMALL)
    with standing_still(kafka_server):
        visits(redirector, 40)
        redirector.wait_metric(30, EVENTS)
        # No other process may have the folder meanwhile.
        other = program("redirector", {
            **redirector.config, "redirector": {
                **redirector.section, "listen": f"127.0.0.1:{servers.free_port()}",
                "admin": f"127.0.0.1:{servers.free_port()}"}}, start=False)
        status, said = other.run()
        assert status == 75
        assert (f"redirector.spool_dir: spool {spool}: in use by process "
                f"{redirector.process.pid}") in said
        kill_with_ten_in_memory(redirector)
    replayed(redirector)
    # They may have arrived before, too.
    assert redirector.metric("shortloop_redirector_events_recovered_total") == 10
    are_once(clicks(redirector), 40)


def test_what_may_have_been_sent_is_sent_again_and_says_so(
        start, visits, clicks, spool, kafka_server):
    """A stopped broker has them in its socket, and stores them when it goes on."""
    redirector = start(spool_dir=str(spool), threads=1, linger="0s",
                       drain_timeout="100ms")
    with standing_still(kafka_server):
        visits(redirector, 20)
        assert redirector.stop() == 0
        assert "click events spooled" in redirector.log()
        assert list(spool.glob("*.segment"))
    redirector.start()
    replayed(redirector)
    are_once(clicks(redirector), 20)


@pytest.mark.proof
def test_a_full_disk_costs_events_and_no_redirects(
        start, visits, clicks, spool, workdir, kafka_server, disk_full):
    full = workdir / "full"
    redirector = start(spool_dir=str(spool), threads=2, kafka_settings=SMALL,
                       env=disk_full(full))
    with standing_still(kafka_server):
        visits(redirector, 20)
        redirector.wait_metric(10, EVENTS)
        full.touch()
        visits(redirector, 25)
        redirector.wait_metric(25, DROPPED, reason="spool_failed")
        redirector.wait_log("click events dropped")
        assert "No space left on device" in redirector.log()
        eventually(lambda: "No space left on device" in redirector.ready()[1])
        full.unlink()
        made = 45

        def spooled_again():
            nonlocal made
            visits(redirector, 1)
            made += 1
            return redirector.metric(EVENTS) > 10
        eventually(spooled_again)
    replayed(redirector)
    dropped = redirector.metric(DROPPED)
    assert dropped == redirector.metric(DROPPED, reason="spool_failed")
    are_once(clicks(redirector), made - dropped)


def test_a_disk_that_is_full_at_the_start_costs_no_redirects(
        start, visits, clicks, spool, workdir, kafka, kafka_server, disk_full):
    """Neither spool nor journal can be made, and both are, once there is room."""
    full = workdir / "full"
    full.touch()
    redirector = start(
        spool_dir=str(spool), threads=2, env=disk_full(full),
        kafka_settings={**SMALL, "topic_counters": kafka.create_topic("counters")})
    status, said = redirector.ready()
    assert status == 200
    assert re.search("spool: .*No space left on device", said)
    assert re.search("journal: .*No space left on device", said)
    assert redirector.metric(MISSING.format("spool")) == 1
    assert redirector.metric(MISSING.format("journal")) == 1
    redirector.wait_log("spool not opened, trying again")
    redirector.wait_log("journal of click events not made, trying again")
    redirector.wait_log("counters are in memory alone")
    visits(redirector, 5)
    redirector.wait_metric(5, "shortloop_kafka_delivered_total",
                           topic=redirector.config["kafka"]["topic_clicks"])
    assert redirector.metric(DROPPED) == 0
    full.unlink()
    redirector.wait_metric(0, MISSING.format("spool"))
    redirector.wait_metric(0, MISSING.format("journal"))
    eventually(lambda: "No space left" not in redirector.ready()[1])
    with standing_still(kafka_server):
        visits(redirector, 40)
        redirector.wait_metric(30, EVENTS)
        kill_with_ten_in_memory(redirector)
    replayed(redirector)
    assert redirector.metric("shortloop_redirector_events_recovered_total") == 10
    are_once(clicks(redirector), 45)


@pytest.mark.proof
def test_a_spool_that_is_full_takes_no_more(start, links, clicks, spool,
                                            kafka_server):
    redirector = start(spool_dir=str(spool), spool_max_bytes="1MiB", threads=1,
                       max_query="8KiB", kafka_settings=SMALL)
    code = links.create()
    with standing_still(kafka_server):
        for _ in range(200):
            assert visit(f"{redirector.url}/{code}?{'q' * 6000}"
                         ).status_code == 302
        eventually(lambda: redirector.metric(EVENTS) + redirector.metric(
            DROPPED, reason="spool_full") == 190)
        kept = redirector.metric(EVENTS)
        assert 150 <= kept < 175
        assert redirector.metric("shortloop_redirector_spool_bytes") <= 1 << 20
    replayed(redirector)
    are_once(clicks(redirector), kept + 10)


def visit_at_once(address, request, count):
    """Sends this many requests on one connection, without waiting for an answer."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        sender = threading.Thread(target=connection.sendall,
                                  args=[request * count])
        sender.start()
        answers = b""
        while answers.count(b"HTTP/1.1 302 ") < count:
            more = connection.recv(1 << 16)
            assert more
            answers += more
        sender.join()


def spool_visits(redirector, request, count):
    """Spools this many except for the few that memory takes, kills the redirector, and
    has the next one replay with plenty of memory."""
    visit_at_once(redirector.section["listen"], request, count)
    eventually(lambda: redirector.metric(EVENTS) >= count - 2 * SMALL["queue_messages"])
    redirector.kill()
    config = dict(redirector.config)
    config["kafka"] = {name: value for name, value in config["kafka"].items()
                       if name not in SMALL}
    redirector.write_config(config)


def acknowledged(spool):
    """Returns the acknowledged position, from its file (common/spool/position.h)."""
    noted = (spool / "position").read_bytes()
    entries = [struct.unpack_from("<8xQQ", noted, at) for at in (0, 512)]
    return max(entries)[1]


@pytest.mark.proof
def test_a_kill_in_a_replay_repeats_little_of_what_had_arrived(
        start, links, clicks, spool, kafka_server):
    """The events of half a second arrive before each kill, and are recorded: only
    events that were under way come again."""
    redirector = start(spool_dir=str(spool), threads=1, linger="0s",
                       spool_replay_rate=1000, kafka_settings=SMALL)
    request = f"GET /{links.create()} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with standing_still(kafka_server):
        spool_visits(redirector, request, 1800)
    shares = [0]
    # If it were recorded once a second, each share would be zero; on a busy machine a
    # thread may be late once or twice.
    while shares[-1] < 0.5 and len(shares) < 4:
        before = acknowledged(spool)
        redirector.start()
        arrived = eventually(lambda: (n := redirector.metric(REPLAYED)) >= 500 and n)
        redirector.kill()
        shares.append((acknowledged(spool) - before) / arrived)
    redirector.start()
    replayed(redirector)
    assert redirector.metric(DROPPED) == 0
    are_once(clicks(redirector), 1800)
    assert shares[-1] >= 0.5, shares


def test_what_finds_no_room_in_the_journal_is_spooled(start, links, clicks,
                                                      spool):
    """Kafka's client holds its events for so long that others fill the journal."""
    redirector = start(spool_dir=str(spool), spool_journal_bytes="1MiB",
                       threads=1, max_query="64KiB", linger="1s",
                       http={"max_header_bytes": "64KiB"})
    request = (f"GET /{links.create()}?{'q' * 40000} HTTP/1.1\r\n"
               "Host: x\r\n\r\n").encode()
    made = 0

    def full():
        nonlocal made
        visit_at_once(redirector.section["listen"], request, 30)
        made += 30
        return redirector.metric("shortloop_redirector_journal_full_total")
    eventually(full)
    # The count is that of the disk.
    eventually(lambda: redirector.metric("shortloop_redirector_events_spooled_total"))
    replayed(redirector)
    assert redirector.metric(DROPPED) == 0
    are_once(clicks(redirector), made)


def test_under_systemd_there_is_a_spool_by_default(start, workdir, visits, clicks):
    """This applies to a unit with a state directory of its own; without one, there is a
    message."""
    own = workdir / "own"
    own.mkdir()
    redirector = start(env={"STATE_DIRECTORY": f"{workdir}:{own}"})
    assert "spool_dir" not in redirector.ready()[1]
    assert list((own / "spool").glob("journal-*"))
    visits(redirector, 3)
    assert len(clicks(redirector)) == 3
    bare = start()
    assert bare.ready()[0] == 200
    assert "memory holds 100000 events" in bare.ready()[1]
    assert "there is no spool_dir" in bare.log()


def test_a_folder_that_cannot_be_made_is_said_at_the_start(program, links_config):
    status, said = program("redirector", {
        "links": links_config,
        "redirector": {"spool_dir": "/proc/none/spool"}}, start=False).run()
    assert status == 71
    assert "redirector.spool_dir: spool /proc/none/spool: cannot make it" in said
