"""Questions whose clients have closed, and keys that send too many questions at
once."""
import re
import socket

import requests

from support.asking import (QUICK, RUNNING, aggregator, ask, begin, is_full,
                            slow)  # noqa: F401
from support.fault_proxy import ClickHouseProxy
from support.keys import key_line
from support.program import eventually


def test_the_query_of_a_client_that_goes_is_ended(aggregator, slow, clickhouse):
    made = aggregator(answer_timeout="10m")
    conn = begin(made)
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="it runs")
    conn.close()
    eventually(lambda: clickhouse.value(RUNNING) == 0, what="it is gone")
    made.wait_metric(1, "shortloop_aggregator_cancelled_total")
    # The worker is free for other clients.
    assert ask(made, "/v1/pipeline")["partitions"] == []


def test_a_client_that_closes_its_side_is_told_to_ask_again(aggregator, slow, clickhouse):
    made = aggregator(answer_timeout="10m")
    with begin(made) as conn:
        eventually(lambda: clickhouse.value(RUNNING) == 1, what="it runs")
        conn.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: conn.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 1\r\n" in answer and b"nobody waits" in answer


def test_those_that_wait_are_not_asked(aggregator, slow, clickhouse):
    made = aggregator(workers=1, answer_timeout="10m")
    conns = [begin(made) for _ in range(4)]
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs")
    for conn in conns:
        conn.close()
    made.wait_metric(4, "shortloop_aggregator_cancelled_total")
    eventually(lambda: clickhouse.value(RUNNING) == 0, what="none runs")
    assert ask(made, "/v1/pipeline")["partitions"] == []


class Timeless(ClickHouseProxy):
    """A proxy before a server that ignores the time limit of a query and does not
    notice that its client has closed."""

    def _ask(self, request):
        request.path = re.sub("&max_execution_time=[0-9]+", "", request.path)
        return super()._ask(request)


def test_the_query_of_an_overdue_answer_is_ended(slow, redis, program, clickhouse,
                                                 clickhouse_server):
    with Timeless(clickhouse_server.port) as proxy:
        made = program("aggregator", {"clickhouse": {"url": proxy.url},
                                      "aggregator": {"answer_timeout": "3s"}})

        def overdue_while_asked():
            answer = requests.get(made.url + "/v1/links/code1/summary", timeout=60)
            assert answer.status_code == 503
            return any("FROM clicks" in p.query and "{link_id:" in p.query
                       for p in list(proxy.passed))

        eventually(overdue_while_asked)
        eventually(lambda: clickhouse.value(RUNNING) == 0, what="it is ended")
    assert made.metric("shortloop_aggregator_cancelled_total") == 0


def test_a_key_has_so_many_questions_at_once(aggregator, slow, clickhouse,
                                             workdir):
    path = workdir / "api.keys"
    path.write_text(key_line("one", "read accounts=*") + key_line("two", "read accounts=*"))
    made = aggregator(workers=1, key_questions_max=3, keys_file=str(path),
                      answer_timeout="10m")
    conns = [begin(made, key="one") for _ in range(3)]
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs")

    def ask_as(key):
        return requests.get(made.url + "/v1/pipeline", timeout=60,
                            headers={"Authorization": f"Bearer {key}"})

    eventually(lambda: ask_as("one").status_code == 429)
    refused = ask_as("one")
    assert refused.headers["Retry-After"] == "1"
    assert "too many questions" in refused.json()["detail"]
    for conn in conns:
        conn.close()
    assert ask_as("two").status_code == 200
    eventually(lambda: ask_as("one").status_code == 200)


def keys_of(workdir, *names):
    path = workdir / "api.keys"
    path.write_text("".join(key_line(name, "read accounts=*") for name in names))
    return str(path)


def test_keys_take_turns(aggregator, slow, clickhouse, workdir):
    """One key has sent many slow questions; another gets its answer after one of
    them."""
    made = aggregator(workers=1, answer_timeout="10m", key_questions_max=10,
                      keys_file=keys_of(workdir, "one", "two"))
    slow_ones = [begin(made, key="one")]
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs")
    slow_ones += [begin(made, key="one") for _ in range(9)]
    eventually(lambda: is_full(made, "one"))
    others = [begin(made, QUICK, "two") for _ in range(10)]
    eventually(lambda: is_full(made, "two"))

    slow_ones.pop(0).close()
    assert b" 200 " in others[0].recv(4096)
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="the next one runs")
    for conn in slow_ones:
        conn.close()


def test_a_key_leaves_a_worker_to_others(aggregator, slow, clickhouse, workdir):
    made = aggregator(workers=2, answer_timeout="10m",
                      keys_file=keys_of(workdir, "one", "two"))
    conns = [begin(made, key="one") for _ in range(4)]
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs")
    for _ in range(2):
        with begin(made, QUICK, "two") as other:
            assert b" 200 " in other.recv(4096)
    # The query of an answer that has come may remain for a moment.
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="one runs, and no other")
    for conn in conns:
        conn.close()
