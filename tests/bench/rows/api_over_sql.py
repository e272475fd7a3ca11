"""The API's cost beyond ClickHouse's own time: a question, compared with the queries
that the aggregator sends for it, as the same bytes on one kept connection."""
import http.client
import re
import statistics
import time
import urllib.parse

import requests

from machine import Failure, parameter
from settled import Settled
from support.fault_proxy import ClickHouseProxy

LONG = True
CLICKS = parameter("CLICKS", 3_000_000)
ASKED = parameter("ASKED", 200)
QUESTIONS = {
    "a link's month by hour": {"link_id": 2, "interval": "hour"},
    "all links by hour": {"interval": "hour"},
    "all links by country": {"interval": "month", "group_by": "country"},
    "an owner by day": {"account": "account1", "owner": "owner1", "interval": "day"},
    "an owner by country": {"account": "account1", "owner": "owner1",
                            "interval": "month", "group_by": "country"},
}
METRICS = [(f"api_over_sql: {name}", "ms", "less") for name in QUESTIONS]
PEER = "the answer's own queries, one after the other"
# The common name of a question's queries, and a query's number.
QUERY_ID = re.compile(r"&query_id=(aggregator-[^&]*?)%23(\d+)")


class Recorder(ClickHouseProxy):
    """Keeps complete requests; `passed` has the beginnings of their queries."""

    def __init__(self, port):
        self.requests = []
        super().__init__(port)

    def _judge(self, request):
        judged = super()._judge(request)
        with self.lock:
            self.requests.append(request)
        return judged

    def questions(self):
        """Returns [[request, ...]], one list for each question."""
        found = {}
        with self.lock:
            for request in self.requests:
                said = QUERY_ID.search(request.path)
                if said:
                    found.setdefault(said[1], []).append(request)
        return list(found.values())

    def forget(self):
        with self.lock:
            self.requests = []


class Bench(Settled):
    def __init__(self, machine):
        super().__init__(machine, "api_over_sql", CLICKS)

    def set_up(self):
        self.recorder = None
        super().set_up()
        self.fill_links()
        # Neither has anything to settle; the measured one queries the engine directly.
        self.recorder = Recorder(self.engine.port)
        recorded = self.serve(clickhouse={"url": self.recorder.url})
        self.queries = {}
        with requests.Session() as session:
            for name, params in QUESTIONS.items():
                self.ask(session, made=recorded, **params)  # only a first one needs
                self.recorder.forget()
                self.ask(session, made=recorded, **params)
                found = self.recorder.questions()
                if len(found) != 1:
                    raise Failure(f"{name}: queries of {len(found)} questions")
                self.queries[name] = found[0]
        recorded.stop()

    @staticmethod
    def replay(connection, queries):
        """Returns the seconds."""
        start = time.monotonic()
        for query in queries:
            connection.request(query.method, QUERY_ID.sub("", query.path), query.body,
                               {name: value for name, value in query.headers
                                if name.lower() not in ("host", "content-length")})
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 200:
                raise Failure(f"{query.query[:200]}: {said[:200]!r}")
        return time.monotonic() - start

    def ours(self):
        """Measures both sides in turn, question by question, so that a machine that
        gets busy is equally busy for both."""
        found, self.bare = {}, {}
        where = urllib.parse.urlsplit(self.engine.url)
        connection = http.client.HTTPConnection(where.netloc, timeout=600)
        with requests.Session() as session:
            session.trust_env = False
            for name, params in QUESTIONS.items():
                pairs = [(self.ask(session, **params),
                          self.replay(connection, self.queries[name]))
                         for _ in range(ASKED)]
                label = f"api_over_sql: {name}"
                found[label], self.bare[label] = (
                    1000 * statistics.median(side) for side in zip(*pairs))
                print(f"{label}: {len(self.queries[name])} queries", flush=True)
        connection.close()
        return found

    def peer(self):
        """A LONG row has one round, with our side first."""
        return self.bare

    def close(self):
        super().close()
        if getattr(self, "recorder", None):
            self.recorder.close()
