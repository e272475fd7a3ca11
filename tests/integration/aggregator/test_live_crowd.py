"""GET /v1/live with thousands of subscribers: slow ones, and a key that is revoked
while its streams are open."""
import json
import os
import signal

import pytest

from support.crowd import Crowd
from support.keys import key_line
from support.live import live_click
from support.memory import MIB, MemoryWatch, status
from support.program import eventually

SUBSCRIBERS = int(os.environ.get("LIVE_SUBSCRIBERS", "3000"))
SLOW = SUBSCRIBERS // 20
QUEUE = 50  # clicks that wait for a subscriber
BYTES = 4000  # approximate size of one click
# The memory of a subscriber by the setting live_subscribers.
TAKES = 128 << 10


@pytest.mark.long
def test_thousands_listen_and_a_key_that_is_taken_back_hears_no_more(
        migrated, redis, kafka, workdir, program):
    keys = workdir / "keys"
    keys.write_text(key_line("stays", "admin") + key_line("goes", "admin"))
    topics = {**kafka.collector_topics(),
              "topic_live": kafka.create_topic("live", 2)}
    made = program("aggregator", {
        "kafka": topics,
        "aggregator": {"keys_file": str(keys), "live_subscribers": 100_000,
                       "live_per_key": 100_000, "live_queue": QUEUE}})
    shown = 0

    def show(number):
        nonlocal shown
        kafka.produce(topics["topic_live"], [
            json.dumps(live_click(shown + n, campaign="x" * BYTES)).encode()
            for n in range(number)])
        shown += number

    with Crowd(made.url) as crowd:
        stays = crowd.join(SUBSCRIBERS // 2, "stays")
        goes = crowd.join(SUBSCRIBERS // 2, "goes")
        slow = crowd.join(SLOW, "stays", reads=False, buffer=4096)
        slow_goes = crowd.join(SLOW, "goes", reads=False, buffer=4096)
        eventually(lambda: all(m.ready for m in stays + goes),
                   what="all are ready", seconds=60)
        before = status(made.process.pid)["RssAnon"]
        with MemoryWatch(made) as memory:
            # Until each stream that is not read has lost clicks.
            while made.metric("shortloop_aggregator_live_lost_total") < 2 * SLOW:
                show(20)
                eventually(lambda: all(m.clicks == shown for m in stays + goes),
                           what="each reader has each click", seconds=60)
            taken = memory.peak - before
        assert taken < 64 * MIB + (SUBSCRIBERS + 2 * SLOW) * TAKES

        keys.write_text(key_line("stays", "admin"))
        made.process.signal(signal.SIGHUP)
        eventually(lambda: all(m.whole() for m in goes),
                   what="the streams of the key end", seconds=60)
        at_the_end = {m.clicks for m in goes}
        # This includes streams that are not read: they keep no subscriber's place.
        made.wait_metric(len(stays) + len(slow),
                         "shortloop_aggregator_live_subscribers")
        show(5)
        eventually(lambda: all(m.clicks == shown for m in stays),
                   what="the others go on", seconds=60)
        assert at_the_end == {shown - 5} == {m.clicks for m in goes}
        assert not any(m.ended for m in stays) and slow_goes
