"""Reference files are read again while events go on."""
import os
import signal

from support.program import eventually
from test_collector import (  # noqa: F401
    click, collector, count, rows, tables, topics, wait_for)

VISITOR = b"Visitor/1.0"


def reloads(running):
    return running.metric("shortloop_collector_reloads_total")


def test_events_go_on_while_files_are_read(kafka, topics, tables, collector,
                                           workdir):
    bots = workdir / "bots.json"
    bots.write_text('[{"pattern": "NotYet"}]')
    running = collector(bot_list=str(bots))
    # Reading it takes as long as nobody writes into it.
    bots.unlink()
    os.mkfifo(bots)
    running.process.signal(signal.SIGHUP)
    pipe = os.open(bots, os.O_WRONLY)

    kafka.produce(topics["topic_clicks"],
                  [click(link_id=1, user_agent=VISITOR) for _ in range(500)])
    wait_for(tables, 500)
    assert reloads(running) == 0

    os.write(pipe, b'[{"pattern": "Visitor"}]')
    os.close(pipe)
    eventually(lambda: reloads(running) == 1, 60)
    kafka.produce(topics["topic_clicks"], [click(link_id=2, user_agent=VISITOR)])
    wait_for(tables, 501)
    assert [r["verdict"] for r in rows(
        tables, "DISTINCT link_id, verdict")] == ["human", "bot"]


def test_every_reload_asked_for_is_made(kafka, topics, tables, collector,
                                        workdir):
    bots = workdir / "bots.json"
    bots.write_text('[{"pattern": "NotYet"}]')
    running = collector(bot_list=str(bots))
    for i in range(5):
        bots.write_text('[{"pattern": "Visitor%d"}]' % i)
        running.process.signal(signal.SIGHUP)
        eventually(lambda: reloads(running) >= i + 1, 60)
        kafka.produce(topics["topic_clicks"], [
            click(link_id=i, user_agent=b"Visitor%d" % i)])
    wait_for(tables, 5)
    assert [r["verdict"] for r in rows(tables)] == ["bot"] * 5
