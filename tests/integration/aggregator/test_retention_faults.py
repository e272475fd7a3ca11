"""Days are closed and dropped while ClickHouse fails, restarts and aggregators are
killed, or two of them run: the counts are those of the former rows."""
import itertools
import signal

import pytest

from support.clicks import some_clicks
from support.fault_proxy import FAULTS, Meetings
from support.keeping import (CLICKHOUSE, CLOSING, DAY, DROPPING, FROM,  # noqa: F401
                             LINKS, PATIENCE, TO, assert_counted, keeper, wait_counted,
                             wait_gone, wait_sealed, world)
from support.program import eventually


@pytest.fixture
def sealed(keeper, world, clickhouse):
    """sealed(rows, more): more clicks of a day come, so it is sealed again and not
    dropped; no aggregator runs."""
    def seal(rows, more):
        world.insert(more)
        rows += more
        made = keeper(raw_days=0)
        wait_counted(made, rows)
        wait_sealed(clickhouse, 1)
        assert made.stop() == 0
    return seal


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_of_dropping_loses_and_doubles_nothing(
        keeper, sealed, clickhouse, proxy, fault):
    proxy.delay = 0.5
    rows = []
    for step, table in enumerate(DROPPING):
        sealed(rows, some_clicks(20 + step, 150, [(FROM, FROM + DAY)], links=LINKS))
        made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s",
                      settle_timeout="4s", start=False)
        proxy.at(1, fault, table)
        made.start()
        wait_gone(clickhouse, 1)
        assert_counted(made, rows)
        assert made.stop() == 0
    assert proxy.faults() == {fault: len(DROPPING)}


@pytest.mark.long
def test_killed_at_any_moment_of_dropping(keeper, sealed, clickhouse, proxy):
    rows = []
    for step, (table, carried_out) in enumerate(itertools.product(DROPPING, (False, True))):
        sealed(rows, some_clicks(40 + step, 100, [(FROM, FROM + DAY)], links=LINKS))
        made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s",
                      start=False)
        proxy.call_at(1, made.kill, table, carried_out)
        made.start(ready=False)
        eventually(lambda m=made: not m.process.running(),
                   PATIENCE, what="the kill")
        made = keeper(lease="1s")
        wait_gone(clickhouse, 1)
        assert_counted(made, rows)
        assert made.stop() == 0


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("carried_out", (False, True))
def test_a_server_restarted_at_any_step_from_rows_to_none(
        keeper, world, clickhouse, clickhouse_server, proxy, carried_out):
    meetings = Meetings()

    def restart():
        clickhouse_server.kill()
        clickhouse_server.start()

    rows = some_clicks(70, 300, [(FROM, TO)], links=(0, *LINKS))
    world.insert(rows)
    made = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s", start=False)
    for step in CLOSING + DROPPING:
        proxy.call_at(1, meetings.wait, step, carried_out)
    made.start()
    for _ in CLOSING + DROPPING:
        meetings.act(restart, 5 * PATIENCE)
    wait_gone(clickhouse)
    wait_counted(made, rows)
    assert_counted(made, rows)
    restart()
    wait_counted(made, rows)
    assert_counted(made, rows)


@pytest.mark.long
@pytest.mark.parametrize("step", CLOSING + DROPPING)
def test_a_step_of_one_that_stood_still_comes_when_another_has_done_it(
        keeper, world, clickhouse, proxy, step):
    """It had the lease when it checked; its packet is late."""
    rows = some_clicks(71, 200, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(rows)
    held = proxy.hold(step)
    first = keeper(clickhouse={**CLICKHOUSE, "url": proxy.url}, lease="1s")
    assert held.here.wait(PATIENCE)
    first.process.signal(signal.SIGSTOP)
    second = keeper(lease="1s")
    wait_gone(clickhouse, 1)
    wait_counted(second, rows)
    held.release()
    assert held.met.wait(PATIENCE)
    first.process.signal(signal.SIGCONT)
    # Both continue, and more clicks come.
    more = some_clicks(72, 50, [(FROM, FROM + DAY)], links=LINKS)
    world.insert(more)
    for made in first, second:
        wait_counted(made, rows + more)
    wait_gone(clickhouse, 1)
    for made in first, second:
        assert_counted(made, rows + more)
