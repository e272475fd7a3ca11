"""The API's answers while ClickHouse hangs, refuses, or breaks off."""
import concurrent.futures
import contextlib

import pytest
import requests

from support.asking import FROM, TO, aggregator, ask  # noqa: F401
from support.clicks import rfc3339, some_clicks
from support.fault_proxy import ClickHouseProxy, response
from support.program import eventually

DAY = 86400
SUMMARY = "/v1/links/code1/summary"
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(FROM + DAY)}"
# Each path queries ClickHouse; /v1/pipeline also has the result of the last query.
PATHS = [f"/v1/clicks?{RANGE}", f"/v1/clicks?{RANGE}&code=code1",
         f"/v1/clicks?{RANGE}&country=DE", f"/v1/top?{RANGE}", SUMMARY,
         "/v1/summary?link_id=1", "/v1/visit-statistics?link_id=1", "/v1/links", f"/v1/reconciliation?{RANGE}",
         "/v1/pipeline", "/v1/archived-spaces", "/v1/reclaim-runs"]


@pytest.fixture
def proxy(clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port) as standing:
        yield standing


@pytest.fixture
def make(migrated, redis, program, proxy):
    migrated.link("code1", 1)
    migrated.insert(some_clicks(1, 50, [(FROM, FROM + DAY)], links=(1,)))

    def made(**settings):
        # This is longer than any test waits, so only answer_timeout ends an answer.
        started = program("aggregator", {
            "clickhouse": {"url": proxy.url, "query_timeout": "10m"},
            "aggregator": {"settle_every": "500ms", "keep_open": "11m",
                           **settings}})
        eventually(lambda: ask(started, SUMMARY)["events"] == 50)
        return started
    return made


def get(made, path=SUMMARY):
    return requests.get(made.url + path, timeout=120)


# --- a ClickHouse that hangs -------------------------------------------------------

def test_those_who_wait_for_a_clickhouse_that_hangs_are_told_so(make, proxy):
    """If the timeouts followed each other, they would wait for minutes."""
    made = make(workers=1, queue_max=60, key_questions_max=1000,
                answer_timeout="5s")
    proxy.every("hang_before", "question")

    with concurrent.futures.ThreadPoolExecutor(80) as clients:
        answers = list(clients.map(lambda _: get(made), range(80)))

    assert {answer.status_code for answer in answers} == {503}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
    told = [answer.json()["detail"] for answer in answers]
    assert any("ClickHouse is away" in detail for detail in told)
    assert proxy.count("question", "hang_before") > 0

    proxy.calm()

    def again():
        with contextlib.suppress(requests.RequestException):
            answer = get(made)
            return answer.status_code == 200 and answer.json()["events"] == 50
        return False
    eventually(again, 120, what="an answer, as ClickHouse answers again")


def test_beyond_the_queue_nobody_waits_for_it(make, proxy):
    made = make(workers=1, queue_max=1, answer_timeout="10m")
    proxy.every("hang_before", "question")

    def hangs():
        return any(p.fault == "hang_before" and "FROM links" in p.query
                   for p in list(proxy.passed))

    with concurrent.futures.ThreadPoolExecutor(3) as clients:
        try:
            asked = [clients.submit(get, made)]
            eventually(hangs, 60, what="the worker to wait for ClickHouse")
            asked += [clients.submit(get, made) for _ in range(2)]
            done = concurrent.futures.wait(
                asked, 120, concurrent.futures.FIRST_COMPLETED).done
        finally:
            proxy.calm()
            proxy.cut()
    refused = [one.result() for one in done]
    assert [answer.status_code for answer in refused] == [503]
    assert refused[0].headers["Retry-After"] == "1"
    assert made.metric("shortloop_aggregator_refused_total") == 1
    # The waiting requests are answered, or refused because the connection was cut.
    assert {one.result().status_code for one in asked} <= {200, 503}


# --- a ClickHouse that gives a reason ----------------------------------------------

SECRET = "Unknown table expression identifier 'secret' in scope SELECT ip FROM secret"


def refused(status, code):
    text = f"Code: {code}. DB::Exception: {SECRET}. (UNKNOWN_TABLE) (version 26)\n"
    return lambda _: response(status, "Failed",
                              [("X-ClickHouse-Exception-Code", code)],
                              text.encode())


def broken(whole):
    """Returns an exception after half an answer that has begun as a 200; `whole`: as
    its text, without a sign that something is missing."""
    def change(answer):
        head, body = answer.split(b"\r\n\r\n", 1)
        said = (body[:len(body) // 2] +
                f"\nCode: 395. DB::Exception: {SECRET}\n".encode())
        answer = response(200, "OK", [], said)
        return answer if whole else answer.replace(
            f"Content-Length: {len(said)}".encode(),
            f"Content-Length: {len(said) + 1}".encode())
    return change


@pytest.mark.proof
@pytest.mark.parametrize("change", [
    pytest.param(refused(404, 60), id="refused"),
    pytest.param(refused(500, 241), id="overloaded"),
    pytest.param(broken(False), id="cut-in-the-middle"),
    pytest.param(broken(True), id="exception-in-the-middle"),
])
def test_what_clickhouse_says_is_for_the_log(make, proxy, change):
    made = make(answer_cache="0")  # otherwise no query is sent
    for path in PATHS:
        assert get(made, path).status_code == 200, path
    proxy.say(change, "question")

    for path in PATHS:
        answer = get(made, path)
        assert answer.status_code in (500, 503), (path, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json"
        for word in ("secret", "Code:", "DB::", "SELECT", "395", "241"):
            assert word not in answer.text, (path, answer.text)
            assert word not in str(answer.headers), path
    made.wait_log("no answer")

    proxy.calm()
    for path in PATHS:
        eventually(lambda p=path: get(made, p).status_code == 200, 120)
