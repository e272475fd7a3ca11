"""Questions to an aggregator; a test file gets the fixture by `from support.asking
import aggregator  # noqa: F401`."""
import select
import socket
import urllib.parse

import pytest
import requests

from support.clicks import instant, rfc3339, some_clicks
from support.program import eventually

# The range of questions unless a test gives another.
FROM, TO = instant("2026-10-03T00:00:00Z"), instant("2026-11-02T00:00:00Z")

# Reads no clicks, as the day is long over.
QUICK = "/v1/visit-statistics?link_id=1&from=2026-10-01&to=2026-10-02"
# The number of queries of questions and exports that ClickHouse runs in the test's
# database; queries of an aggregator that an earlier test ended may still run.
RUNNING = ("SELECT count() FROM system.processes WHERE "
           "current_database = currentDatabase() AND "
           "startsWith(Settings['log_comment'], 'aggregator-')")


@pytest.fixture
def slow(migrated, clickhouse):
    """Clicks of a link that take minutes to read."""
    migrated.link("code1", 1)
    migrated.insert(some_clicks(1, 3000, [(FROM, FROM + 86400)], links=(1,)),
                    progress=False)
    clickhouse.query("RENAME TABLE clicks TO quick_clicks")
    clickhouse.query(
        "CREATE VIEW clicks AS SELECT * FROM quick_clicks "
        "WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1, "
        "function_sleep_max_microseconds_per_block = 1000000000")


@pytest.fixture
def aggregator(migrated, redis, program):
    def make(late_window="7d", edge_delay="5s", **settings):
        return program("aggregator", {
            "clicks": {"late_window": late_window, "edge_delay": edge_delay},
            "aggregator": {"settle_every": "500ms", **settings}})
    return make


def ask(aggregator, path="/v1/clicks", **params):
    answer = requests.get(aggregator.url + path, params=params, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def begin(aggregator, path="/v1/links/code1/summary", key=None):
    """Returns a connection on which a question was sent."""
    at = urllib.parse.urlsplit(aggregator.url)
    conn = socket.create_connection((at.hostname, at.port), 60)
    said = f"Authorization: Bearer {key}\r\n" if key else ""
    conn.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n{said}\r\n".encode())
    return conn


def is_full(aggregator, key):
    """Returns whether the key has the maximum number of waiting questions."""
    with begin(aggregator, QUICK, key) as conn:
        return bool(select.select([conn], [], [], 1)[0]) and \
            b" 429 " in conn.recv(4096)


def ask_range(aggregator, start=FROM, end=TO, **params):
    return ask(aggregator, **{"from": rfc3339(start), "to": rfc3339(end),
                              **params})


def settled(aggregator, events, start=FROM, end=TO):
    """Waits until the settled hours have this many events."""
    def check():
        total = ask_range(aggregator, start, end, interval="month")["total"]
        return total["events"] == events
    eventually(check, what=f"{events} events settled")
