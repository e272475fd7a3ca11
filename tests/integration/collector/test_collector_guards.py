"""Each guard against storing events twice, where no other guard helps: forgotten
tokens, requests that arrive after their sender has died, owners that do not know that
they have lost a partition."""
import random
import signal
import struct
import time

import pytest
from support.click_source import click_ends, link_event, varint
from support.collectors import PATIENCE, SESSION
from support.fault_proxy import COMMIT, PRODUCE
from support.fault_world import *  # noqa: F403 (fixtures)
from support.program import eventually
from support.reckoning import stored

pytestmark = pytest.mark.timeout(600)
WINDOW = 10  # tokens that a table keeps in tests that need them forgotten soon
REST = 3     # seconds in which a forbidden event could happen


@pytest.fixture
def partitions():
    return 1


@pytest.fixture
def own_settings():
    """With WINDOW tokens, a token is surely kept for a second; and only blocks are
    reported."""
    return {"parts_per_second": 5, "report_every": "10m"}


class World:
    def __init__(self, kafka, topics, tables, crowd, kafka_proxy):
        self.kafka = kafka
        self.topic = topics["topic_clicks"]
        self.links = topics["topic_links"]
        self.tables = tables
        self.kafka_proxy = kafka_proxy
        self.first, self.second, _ = crowd.members
        self.ends = click_ends(random.Random(1), 10)
        self.sent = 0
        self.poison = set()

    def expected(self):
        return [o for o in range(self.sent) if o not in self.poison]

    def produce(self, count, *poison):
        now = b"\x18" + varint(int(time.time() * 1000))
        self.kafka.produce(self.topic, [
            b"\x09" + struct.pack("<Q", self.sent + n) + now +
            self.ends[n % 10] for n in range(count)] + [*poison], partition=0)
        self.sent += count
        self.poison.update(range(self.sent, self.sent + len(poison)))
        self.sent += len(poison)

    def rows(self):
        return stored(self.tables, "clicks", self.topic, 0)

    def all_there_once(self):
        """Checks that nothing is missing and nothing comes later."""
        eventually(lambda: len(self.rows()) >= len(self.expected()), PATIENCE,
                   what=f"{self.sent} rows")
        eventually(lambda: self.kafka.committed(self.topic, self.topic) ==
                   {0: self.sent}, PATIENCE, what="the commit")
        time.sleep(0.5)
        assert self.rows() == self.expected()

    def start(self, member):
        """Waits until it owns the partition and is at its end."""
        member.start()
        member.program.wait_ready(PATIENCE)
        self.produce(1)
        self.all_there_once()

    def keep_few_tokens(self):
        for table in ("clicks", "ingest_progress"):
            self.tables.query(f"ALTER TABLE {table} MODIFY SETTING "
                              f"non_replicated_deduplication_window = {WINDOW}")

    def forget_tokens(self):
        """Inserts so many other rows that the former tokens are forgotten."""
        for n in range(WINDOW + 2):
            for table, columns in (("clicks", "topic, offset"),
                                   ("ingest_progress", "topic, first")):
                self.tables.query(
                    f"INSERT INTO {table} ({columns}) VALUES ('other', {n})",
                    insert_deduplication_token=f"other-{time.time_ns()}")


@pytest.fixture
def world(kafka, topics, tables, crowd, kafka_server):
    return World(kafka, topics, tables, crowd, kafka_server.proxy)


# --- tokens ------------------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("fault", ["error_after", *(
    pytest.param(fault, marks=pytest.mark.long)
    for fault in ("drop_after", "cut_answer", "hang_after", "twice"))])
def test_a_block_stored_without_an_answer_is_stored_once(world, fault):
    world.first.proxy.at(2, fault, "clicks")
    world.first.proxy.at(2, fault, "ingest_progress")
    world.start(world.first)
    world.produce(100)
    world.all_there_once()
    assert world.first.proxy.count("clicks", fault) == 1
    assert world.tables.value(
        "SELECT sum(rows) FROM ingest_progress WHERE rows > 0 AND "
        f"topic = '{world.topic}'") == world.sent


@pytest.mark.long
def test_links_stored_without_an_answer_are_told_of_once(world):
    world.first.proxy.at(1, "error_after", "links")
    world.first.proxy.at(2, "error_after", "ingest_progress")
    world.start(world.first)
    world.kafka.produce(world.links, [link_event(n) for n in range(1, 101)],
                        partition=0)
    told = ("SELECT sum(rows) FROM ingest_progress WHERE "
            f"topic = '{world.links}'")
    eventually(lambda: world.kafka.committed(world.topic, world.links).get(0)
               == 100, PATIENCE, what="the commit")
    assert world.tables.value(told) == 100
    assert world.tables.value("SELECT count() FROM links") == 100


# --- intents -----------------------------------------------------------------

@pytest.mark.proof
def test_nothing_is_sent_before_the_brokers_know_its_name(world):
    world.start(world.first)

    def in_time():
        """Its session lasts longer; when it ends, another session follows."""
        inserts = world.first.proxy.count("clicks")
        begun = time.monotonic()
        held = world.kafka_proxy.hold(COMMIT)
        world.produce(100)
        assert held.here.wait(PATIENCE)
        time.sleep(REST / 3)
        none = world.first.proxy.count("clicks") == inserts
        took = time.monotonic() - begun
        held.release()
        world.all_there_once()
        assert none or took > SESSION * 0.75
        return none
    eventually(in_time, PATIENCE, what="a look in time")


@pytest.mark.proof
def test_a_block_that_arrives_after_its_sender_has_died(world):
    """The next owner has more to read, but sends the same block."""
    world.start(world.first)
    held = world.first.proxy.hold("clicks")
    world.produce(100)
    assert held.here.wait(PATIENCE)
    world.first.program.kill()
    world.produce(100)
    world.second.start()
    eventually(lambda: len(world.rows()) >= world.sent, PATIENCE,
               what="the new owner's rows")
    held.release()
    assert held.met.wait(PATIENCE)
    world.all_there_once()


@pytest.mark.long
def test_an_owner_that_is_one_no_more_sends_nothing(world):
    """The commit hangs until another member owns the partition, and is refused."""
    world.start(world.first)
    world.second.start()
    world.second.program.wait_ready(PATIENCE)
    held = world.kafka_proxy.hold(COMMIT)
    world.produce(100)
    assert held.here.wait(PATIENCE)
    world.produce(100)
    world.all_there_once()
    held.release()
    time.sleep(REST)
    assert world.rows() == list(range(world.sent))


# --- queries for stored rows -------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("kind", ["clicks", pytest.param(
    "ingest_progress", marks=pytest.mark.long)])
def test_what_was_stored_before_a_kill_and_whose_token_is_gone(world, kind):
    world.keep_few_tokens()
    world.start(world.first)
    world.first.proxy.call_at(1, world.first.program.kill, kind, True)
    world.produce(100)
    eventually(lambda: not world.first.running(), PATIENCE, what="the kill")
    # Since they were sent slowly, they are more than one block.
    assert len(world.rows()) > 1
    world.forget_tokens()
    world.produce(50)
    world.second.start()
    world.all_there_once()


@pytest.mark.long
def test_what_was_stored_without_an_answer_and_whose_token_is_gone(world):
    world.keep_few_tokens()
    world.start(world.first)
    proxy = world.first.proxy
    proxy.at(1, "error_after", "clicks")
    world.produce(100)
    eventually(lambda: proxy.count("clicks", "error_after") == 1, PATIENCE,
               what="a try")
    # It cannot query the stored rows before tokens are forgotten.
    proxy.every("error_before", "question")
    time.sleep(REST / 2)  # tokens are kept for a second, since others insert no faster
    world.forget_tokens()
    proxy.calm()
    world.all_there_once()


# --- clocks that stop --------------------------------------------------------

@pytest.mark.long
def test_one_that_slept_until_its_token_was_forgotten(world):
    """Its block was named before the sleep; another collector has stored it since."""
    world.keep_few_tokens()
    world.start(world.first)
    held = world.kafka_proxy.hold(COMMIT)
    world.produce(100)
    assert held.here.wait(PATIENCE)
    world.first.signal(signal.SIGSTOP)
    held.release()
    world.second.start()
    eventually(lambda: len(world.rows()) >= world.sent, PATIENCE,
               what="the new owner's rows")
    world.forget_tokens()
    world.first.signal(signal.SIGCONT)
    time.sleep(REST)
    world.all_there_once()


@pytest.mark.proof
def test_one_that_slept_while_its_block_was_on_its_way(world):
    """It sleeps while it waits for a dead letter of the block."""
    world.keep_few_tokens()
    world.start(world.first)
    held = world.kafka_proxy.hold(PRODUCE)
    world.produce(100, b"\xff poison")
    assert held.here.wait(PATIENCE)
    time.sleep(REST / 2)  # until the block is named
    world.first.signal(signal.SIGSTOP)
    held.release()
    world.second.start()
    eventually(lambda: len(world.rows()) >= world.sent - 1, PATIENCE,
               what="the new owner's rows")
    world.forget_tokens()
    world.first.signal(signal.SIGCONT)
    time.sleep(REST)
    world.all_there_once()
