"""Redirectors are killed with events that Kafka may have or not, and the answers about
them are checked: each redirected visit is one click, at any time, and complete counts
stay the same."""
import collections
import random
import signal
import threading
import time
from urllib.parse import parse_qs

import pytest
import requests

from support.clicks import instant, rfc3339
from support.fault_proxy import PRODUCE
from support.fault_world import kafka_server  # noqa: F401
from support.program import PATIENCE, eventually
from support.reconciling import HOUR, make_world  # noqa: F401
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, Click, domains_config, links, make_links)
from support.visitors import Visitors

SPOOL = "shortloop_redirector_spool_events"
PASSES = "shortloop_aggregator_settle_seconds_count"
FEW, MANY = 8, 40  # visits: a number that memory holds, and one that is spooled as well
MEMORY = 10


class Watch(threading.Thread):
    """Queries the clicks of a range all the time: there are never more than visits
    begun, and never fewer than a complete answer had."""
    QUESTIONS = ({}, {"group_by": "country"}, {"interval": "15m"},
                 {"tz": "Asia/Kolkata", "interval": "day"})

    def __init__(self, url, start, end, begun):
        super().__init__(daemon=True)
        self.url, self.start_s, self.end_s, self.begun = url, start, end, begun
        self.least = collections.Counter()
        self.wrong, self.looks = [], 0
        self.ended = threading.Event()

    def answer(self, **question):
        """Returns (clicks, whether that is complete)."""
        answer = requests.get(f"{self.url}/v1/clicks", timeout=60, params={
            "from": rfc3339(self.start_s), "to": rfc3339(self.end_s),
            "bots": "include", **question})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        until = told["complete_until"]
        return told["total"]["clicks"], bool(until) and instant(until) >= self.end_s

    def look(self, number):
        clicks, complete = self.answer(**self.QUESTIONS[number])
        begun = self.begun()
        if not self.least[number] <= clicks <= begun:
            self.wrong.append((self.QUESTIONS[number], clicks,
                               self.least[number], begun))
        if complete:
            self.least[number] = clicks
        self.looks += complete

    def wait_exactly(self, count, complete=True):
        eventually(lambda: self.answer() == (count, complete), what=f"{count} clicks")

    def run(self):
        while not self.ended.is_set():
            for number in range(len(self.QUESTIONS)):
                self.look(number)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


class Story:
    """One redirector after the other in the same folder, and the broker behind a
    proxy."""

    def __init__(self, world, kafka_server, workdir, hours=1,  # noqa: F811
                 memory=MEMORY):
        self.world, self.proxy, self.hours = world, kafka_server.proxy, hours
        self.topic = world.topics["topic_clicks"]
        self.begun = self.kills = 0
        self.redirector = world.redirector(
            spool_dir=str(workdir / "spool"), linger="200ms",
            kafka={"brokers": [self.proxy.address], "topic_counters": "",
                   "queue_messages": memory})

    def visit(self, count):
        self.begun += count
        self.world.visit(self.redirector, count)

    def stored(self):
        return sum(self.world.kafka.ends(self.topic).values())

    def kill(self):
        self.redirector.kill()
        self.kills += 1

    def start(self):
        self.redirector.start()

    def watch(self, begun=None):
        return Watch(self.world.aggregator.url, self.world.hour,
                     self.world.hour + self.hours * HOUR,
                     begun or (lambda: self.begun))

    def kill_when_stored(self, held):
        """No process gets Kafka's answer to the held request."""
        assert held.here.wait(PATIENCE)
        before = self.stored()
        self.redirector.process.signal(signal.SIGSTOP)
        held.release()
        eventually(lambda: self.stored() > before, what="events stored")
        self.kill()

    def events(self):
        """Returns the number of all events in Kafka."""
        return [Click.FromString(m.value()) for m in
                self.world.kafka.consume(self.topic)]

    def settled(self):
        """Returns the stored events, the settled ones, and those that are no clicks
        since they were sent twice."""
        hours = self.world.reconciliation(hours=self.hours)["hours"]
        return [sum(hour[name] for hour in hours)
                for name in ("stored", "settled", "repeats_removed")]

    def wait_settled(self):
        """Waits until everything in Kafka is settled; returns the numbers of events and
        of rows."""
        ids = [(e.event_id_high, e.event_id) for e in self.events()]
        wanted = [len(ids), len(ids), len(ids) - len(set(ids))]
        eventually(lambda: self.settled() == wanted,
                   what=f"stored, settled and removed: {wanted}")
        return len(set(ids)), len(ids)

    def wait_told(self):
        """Waits until each visit is reported and nothing waits any more."""
        self.redirector.wait_ready()
        eventually(lambda: not self.redirector.metric(SPOOL) and
                   self.wait_settled()[0] == self.begun,
                   what=f"{self.begun} events in Kafka")
        return self.wait_settled()[1]


# --- places of the kill ---------------------------------------------------------------

def killed_before_anything_was_sent(story):
    story.visit(FEW)
    story.kill()
    story.start()


def killed_with_events_on_their_way_that_come_first(story):
    held = story.proxy.hold(PRODUCE)
    story.visit(FEW)
    assert held.here.wait(PATIENCE)
    before = story.stored()
    story.kill()
    held.release()
    eventually(lambda: story.stored() > before, what="events stored")
    story.wait_settled()
    story.start()


def killed_with_events_on_their_way_that_come_last(story):
    """The events are there again before that."""
    held = story.proxy.hold(PRODUCE)
    story.visit(FEW)
    assert held.here.wait(PATIENCE)
    story.kill()
    story.start()
    before = story.wait_told()
    held.release()
    eventually(lambda: story.stored() > before, what="late events stored")


def killed_with_events_that_kafka_had(story):
    held = story.proxy.hold(PRODUCE)
    story.visit(FEW)
    story.kill_when_stored(held)
    story.wait_settled()
    story.start()


def killed_in_a_replay(story):
    """There are two kills; the second comes after the first events that it sent."""
    story.proxy.stall()
    story.visit(MANY)
    eventually(lambda: story.redirector.metric(SPOOL) >= MANY - MEMORY)
    story.kill()
    story.proxy.flow()
    for _ in range(2):
        held = story.proxy.hold(PRODUCE)
        story.redirector.start(ready=False)
        story.kill_when_stored(held)
        story.wait_settled()
    story.start()


def killed_while_it_starts(story):
    """It is killed at any moment, with the data of a killed process."""
    held = story.proxy.hold(PRODUCE)
    story.visit(FEW)
    story.kill_when_stored(held)
    chance = random.Random(1)
    for _ in range(8):
        story.redirector.start(ready=False)
        time.sleep(chance.random() / 4)
        story.kill()
    story.start()


POINTS = (killed_before_anything_was_sent,
          killed_with_events_on_their_way_that_come_first,
          killed_with_events_on_their_way_that_come_last,
          killed_with_events_that_kafka_had, killed_in_a_replay, killed_while_it_starts)


def check_verified(world):
    status, said = world.a_collector("verify", start=False).run()
    assert status == 0, said


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", ["0s", "1s"])
def test_wherever_it_is_killed_each_redirect_is_one_click(
        make_world, links, kafka_server, workdir, every,  # noqa: F811
        record_property):
    """All events are late, for an hour that is settled, with any schedule of
    reconciliation."""
    world = make_world(links, partitions=2, reconcile_every=every)
    story = Story(world, kafka_server, workdir)
    rows = 0
    with story.watch() as watch:
        for point in POINTS:
            begun, before = story.begun, rows
            point(story)
            rows = story.wait_told()
            sent_twice = rows - before - (story.begun - begun)
            assert sent_twice or point is killed_before_anything_was_sent, point
            assert watch.answer() == (story.begun, True), point
            assert not watch.wrong, (point, watch.wrong)
        passes = world.aggregator.metric(PASSES)
        eventually(lambda: world.aggregator.metric(PASSES) > passes + 5)
    assert not watch.wrong and watch.looks
    assert watch.answer() == (story.begun, True)
    check_verified(world)
    record_property("summary", f"{story.kills} kills, {story.begun} redirects, "
                    f"{rows} rows, {watch.looks} complete answers")


@pytest.mark.proof
@pytest.mark.first
@pytest.mark.timeout(600)
@pytest.mark.parametrize("over", [True, pytest.param(False, marks=pytest.mark.long)])
def test_killed_under_load_it_counts_each_answered_visit_once(
        make_world, links, kafka_server, workdir, over,  # noqa: F811
        record_property):
    """Tested in an hour that is over, and in the present one, which is settled by what
    came since."""
    world = make_world(links, partitions=2, reconcile_every="0s")
    if not over:
        world.hour, world.behind = int(time.time()) // HOUR * HOUR, 0
    story = Story(world, kafka_server, workdir, hours=1 if over else 2, memory=1000)
    chance = random.Random(2)
    with Visitors(story.redirector, world.code, pause=0.002) as visitors, \
            story.watch(lambda: len(visitors.begun)) as watch:
        for number in range(8):
            before = len(visitors.answered)
            held = story.proxy.hold(PRODUCE)
            eventually(lambda: len(visitors.answered) > before + 100)
            if number % 2:
                story.kill_when_stored(held)
            else:
                held.release()
                time.sleep(chance.random() / 4)
                story.kill()
            story.start()
        before = len(visitors.answered)
        eventually(lambda: len(visitors.answered) > before + 100)
        visitors.stop()
        eventually(lambda: not story.redirector.metric(SPOOL))
        assert story.redirector.stop() == 0
        events, rows = story.wait_settled()
        watch.wait_exactly(events, over)
    assert not watch.wrong
    told = {int(parse_qs(e.query.decode())["n"][0]) for e in story.events()}
    answered = set(visitors.answered)
    assert len(told) == events and answered <= told
    # A visit without an answer may be reported, one for each thread.
    assert len(told - answered) <= story.kills * len(visitors.threads)
    assert rows > events
    check_verified(world)
    record_property("summary", f"{story.kills} kills, {len(answered)} redirects, "
                    f"{events} events, {rows} rows")


MARGIN = 60  # s


@pytest.mark.long
@pytest.mark.parametrize("moved", [False, True])
def test_sent_again_into_the_next_hour_it_is_one_click(
        make_world, links, kafka_server, workdir, moved):  # noqa: F811
    """The collector moves the second event, which waited for longer than `late_window`,
    to an hour that is settled as well; or both events."""
    now = int(time.time())
    boundary = now // HOUR * HOUR - HOUR
    # Events that Kafka stores a margin from now on are moved beyond the boundary.
    window = now - boundary + MARGIN
    world = make_world(links, partitions=2, reconcile_every="0s",
                       clicks={"late_window": f"{window}s"})
    world.hour = boundary - HOUR
    world.behind = boundary - (1200 if moved else MARGIN // 2) - int(time.time())
    story = Story(world, kafka_server, workdir, hours=2)
    with story.watch() as watch:
        held = story.proxy.hold(PRODUCE)
        story.visit(FEW)
        story.kill_when_stored(held)
        story.wait_settled()
        eventually(lambda: time.time() - window > boundary + 1, 2 * MARGIN)
        story.start()
        rows = story.wait_told()
        watch.wait_exactly(FEW)
    assert not watch.wrong
    hours = world.tables.rows(
        "SELECT toHour(ts, 'UTC') AS h, countIf(outcome = 'repeated') AS n, "
        "countIf(ts != original_ts) AS m FROM clicks GROUP BY h ORDER BY min(ts)")
    assert len(hours) == 2
    assert int(hours[0]["n"]) == 0 and bool(int(hours[0]["m"])) == moved
    assert int(hours[1]["n"]) == rows - FEW and int(hours[1]["m"]) >= rows - FEW
    check_verified(world)
