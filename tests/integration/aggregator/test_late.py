"""Clicks before the watermark: marked by their rows, counted, and settled again."""
import random
import time

import pytest
import requests

from support.asking import aggregator, ask  # noqa: F401
from support.clicks import datetime64, make_click, rfc3339
from support.program import eventually

HOUR = 3600
DELAY = 5  # seconds: clicks.edge_delay


class World:
    """A log of two partitions, in the second hour before this one."""

    def __init__(self, migrated, aggregator):  # noqa: F811
        migrated.partitions = 2
        self.log, self.chance = migrated, random.Random(1)
        self.start = int(time.time()) // HOUR * HOUR - 2 * HOUR
        self.late = self.stored = 0
        self.made = aggregator(edge_delay=f"{DELAY}s", watermark_every="500ms",
                               reconcile_every="100ms")

    def click(self, partition, at_ms, append_ms):
        """ms after the hour's start: the time of the click, and of storing in Kafka."""
        self.log.insert([make_click(self.chance, self.start * 1000 + at_ms, 1)],
                        partition, self.start * 1000 + append_ms)
        self.stored += 1
        self.late += append_ms - at_ms > DELAY * 1000

    def report(self, partition, append_ms):
        self.log.report([], partition, self.start * 1000 + append_ms)

    def hour(self):
        answer = ask(self.made, "/v1/reconciliation", **{
            "from": rfc3339(self.start), "to": rfc3339(self.start + HOUR)})
        return answer["hours"][0]

    def wait_settled(self):
        """Waits until the clicks are shown, counted and settled; returns how many are
        late."""
        hour = eventually(lambda: self.hour()["settled"] == self.stored and self.hour(),
                          what=f"{self.stored} events settled")
        assert (hour["stored"], hour["late"]) == (self.stored, self.late)
        return hour["late"]

    def pipeline(self):
        answer = requests.get(self.made.url + "/v1/pipeline", timeout=60)
        return answer.json() if answer.status_code == 200 else {}

    def wait_complete(self, ms, partition):
        """Waits until the watermark is this many ms after the hour's start, where it
        waits for that partition."""
        expected = rfc3339((self.start * 1000 + ms) / 1000), partition

        def there():
            told = self.pipeline()
            return told.get("waits_for") and expected == (
                told["complete_until"], told["waits_for"]["partition"])
        eventually(there, what=f"{expected}, not {self.pipeline()}")


@pytest.fixture
def world(migrated, aggregator):  # noqa: F811
    return World(migrated, aggregator)


@pytest.mark.proof
def test_a_click_is_late_that_took_longer_than_it_may(world):
    for over in (-1, 0, 1):
        world.click(0, 60_000 + over, 60_000 + DELAY * 1000 + 2 * over)
    world.click(1, 70_000, 69_000)  # an edge's clock is ahead
    assert world.wait_settled() == 1


@pytest.mark.long
def test_what_a_stalled_partition_brings_an_hour_late_is_told(world, program):
    for minute in range(10):
        world.click(0, minute * 60_000, minute * 60_000 + 40)
        world.click(1, minute * 60_000, minute * 60_000 + 90)
    # One partition continues, the other one stalls.
    for minute in range(10, 50):
        world.click(0, minute * 60_000, minute * 60_000 + 40)
    world.report(0, 2 * HOUR * 1000)
    assert world.wait_settled() == 0
    world.wait_complete(9 * 60_000 + 90 - DELAY * 1000, 1)

    # No guarantee was given for what it brings then.
    for minute in range(10, 50):
        world.click(1, minute * 60_000, minute * 60_000 + HOUR * 1000)
    world.report(1, 2 * HOUR * 1000 - 1000)
    assert world.wait_settled() == 40
    world.wait_complete(2 * HOUR * 1000 - 1000 - DELAY * 1000, 1)

    # The click is before the watermark: the hour was complete.
    world.click(0, 30_000, 2 * HOUR * 1000)
    assert world.wait_settled() == 41
    world.made.wait_metric(41, "shortloop_aggregator_late_events")

    # Imported clicks are not of a slow redirector.
    at = world.start * 1000 + 1000
    world.log.clickhouse.query(
        "INSERT INTO clicks (topic, offset, ts, original_ts, append_time) VALUES "
        f"('import:a', 1, '{datetime64(at)}', '{datetime64(at)}', "
        f"'{datetime64(at + HOUR * 1000)}')")
    world.log.tell("import:a", {world.start: 1}, 1)
    eventually(lambda: world.hour()["imported"] == 1 and
               world.hour()["settled"] == world.stored + 1)
    assert world.hour()["late"] == 41

    _, page = program("aggregator", {"clicks": {"edge_delay": f"{DELAY}s"}},
                      start=False, args=["doctor"]).run()
    assert f"late            41 of {world.stored} events of these hours came more " \
        "than 5s after their time" in page
