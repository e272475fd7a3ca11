"""Three collectors under all faults: they are killed, frozen, joined and removed, the
broker is restarted and cut off, ClickHouse refuses, hangs, answers 500 after it has
stored, and cuts its answers.  Every event is stored once, by topic, partition and
offset.

COLLECTOR_EVENTS, _KILLS and _SEED change the numbers; a seed repeats the decisions, not
the milliseconds.
"""
import os
import time

import pytest
from support.click_source import HOT, hot_code, newest_version
from support.collectors import PATIENCE, Events
from support.fault_world import *  # noqa: F403 (fixtures)
from support.fault_world import SEED, settings
from support.program import eventually
from support.reckoning import Reckoning

OTHERS = {  # numbers of the other faults for a hundred kills
    "freeze": 5, "freeze_at": 5, "join_and_leave": 6, "leave_and_join": 6,
    "restart_broker": 2, "end_broker": 1, "cut_kafka": 8,
    "refuse_clickhouse": 6, "restart_clickhouse": 2}


# --- the run -----------------------------------------------------------------

class Run:
    def __init__(self, crowd, events, clickhouse, kafka, topics):
        self.crowd = crowd
        self.events = events
        self.clickhouse = clickhouse
        self.kafka = kafka
        self.topics = topics
        self.begun = time.monotonic()
        self.told = 0
        self.say(f"seed {SEED}")

    def say(self, what):
        print(f"{time.monotonic() - self.begun:6.1f} s  {what}", flush=True)

    def rows(self, table="clicks"):
        return self.clickhouse.value(f"SELECT count() FROM {table}")

    def tell(self, every=5):
        if time.monotonic() < self.told + every:
            return
        self.told = time.monotonic()
        self.say(f"{self.events.clicks:,} sent, {self.rows():,} rows, "
                 f"{self.crowd.faults()} requests failed, {self.crowd.done}")

    def plan(self, kills):
        """Returns the faults in the seed's order."""
        others = [name for name, number in OTHERS.items()
                  for _ in range(number)]
        steps = ["kill", "kill_at"] * (kills // 2) + self.crowd.chance.sample(
            others, len(others) * kills // 100)
        self.crowd.chance.shuffle(steps)
        return steps

    def disturbed(self, total, kills, behind):
        """Sends all events during the faults; at most `behind` events may wait to be
        stored before the next fault."""
        steps = self.plan(kills)
        each = total // len(steps) + 1
        self.crowd.disturb(*self.crowd.everyone)
        for step in steps:
            self.events.more(each)
            self.crowd.do(step)
            self.events.wait()
            self.tell()
            eventually(lambda: self.rows() >= self.events.clicks - behind,
                       PATIENCE, 0.2, what=f"rows after {step}")
            self.crowd.alive()

    def drained(self):
        """Waits without faults until everything is stored and committed."""
        self.crowd.calm()
        self.events.end()
        self.say("calm")
        eventually(self.all_stored, PATIENCE, 0.5, what="all rows")
        for topic in ("topic_clicks", "topic_links"):
            eventually(lambda name=self.topics[topic]: self.lag(name) == 0,
                       PATIENCE, 0.5, what=f"the commits of {topic}")
        for member in self.crowd.members:
            self.crowd.stop(member)
        self.tell(0)

    def all_stored(self):
        return (self.rows() >= self.events.clicks and
                self.rows("links") >= self.events.links)

    def lag(self, topic):
        reckoned = self.kafka.committed(self.topics["topic_clicks"], topic)
        return sum(end - reckoned.get(p, 0)
                   for p, end in self.kafka.ends(topic).items())

    def reckon(self):
        poison = self.events.noted("poison")
        reckoning = Reckoning(self.clickhouse, self.kafka, poison,
                              self.events.noted("change"),
                              self.crowd.inserts_of)
        reckoning.check("clicks", self.topics["topic_clicks"])
        reckoning.check("links", self.topics["topic_links"],
                        "code LIKE 'l%'")
        reckoning.check_reports(self.topics["topic_clicks"])
        reckoning.check_dead_letters(self.topics["topic_dlq"])
        reckoning.verdict()
        for number in range(HOT):
            assert self.clickhouse.value(
                "SELECT max(version) FROM links WHERE code = "
                f"'{hot_code(number)}'") == newest_version(
                    number, self.events.changes)
        assert self.clickhouse.value(
            "SELECT uniqExact(event_id) FROM clicks") == self.events.clicks
        self.say(f"{reckoning.events:,} events, each once; "
                 f"{len(poison)} poison")

    def verify(self, program, sections):
        """The collector's own command must report the same."""
        for topic in ("clicks", "links"):
            status, output = program(
                "collector", sections, start=False,
                args=["verify", "--topic", topic]).run(600)
            self.say(output)
            assert status == 0


@pytest.fixture
def events(workdir, kafka, topics):
    made = Events(workdir, kafka.bootstrap, topics, SEED)
    yield made
    made.kill()


@pytest.fixture
def run(crowd, events, tables, kafka, topics):
    made = Run(crowd, events, tables, kafka, topics)
    crowd.start()
    return made


@pytest.fixture
def verify(run, program, base_config, topics, kafka_server):
    sections = settings(base_config, topics, kafka_server, {})
    sections["clickhouse"]["query_timeout"] = "60s"
    return lambda: run.verify(program, sections)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_event_is_stored_once_whatever_fails(run, verify):
    run.disturbed(100_000, kills=8, behind=50_000)
    run.drained()
    run.reckon()
    verify()


@pytest.mark.long
@pytest.mark.first
@pytest.mark.timeout(7200)
def test_two_million_events_through_a_hundred_kills(run, verify):
    run.disturbed(int(os.environ.get("COLLECTOR_EVENTS", 2_000_000)),
                  int(os.environ.get("COLLECTOR_KILLS", 100)), behind=60_000)
    run.drained()
    run.reckon()
    verify()


# --- ends --------------------------------------------------------------------

@pytest.mark.long
def test_one_that_is_stopped_while_it_joins_ends_well(crowd, kafka_server):
    """Some versions of librdkafka abort in this case."""
    kafka_server.proxy.delay = 0.1
    member = crowd.guest
    for n in range(8):
        member.start()
        eventually(lambda started=n + 1: member.program.log().count(
            "ClickHouse connected") >= started, what="its start")
        time.sleep(0.3 + n * 0.2)
        crowd.stop(member)
