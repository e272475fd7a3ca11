"""Redirectors whose counters are compared with what is stored and settled, with a
collector and an aggregator.

An hour is checked when it is over, so the redirectors' clocks are two hours behind."""
import time

import pytest
import requests

from support.clicks import rfc3339
from support.program import eventually
from support.redirects import visit
from support.rule_files import UA_RULES

HOUR = 3600
LOST = ("answered_produced", "produced_acknowledged", "acknowledged_stored",
        "stored_settled")
NOTHING_LOST = dict.fromkeys(LOST, 0)


class World:
    def __init__(self, program, kafka, tables, skew, links, links_config, topics,
                 clicks, aggregator):
        self.program, self.kafka, self.tables = program, kafka, tables
        self.links, self.links_config = links, links_config
        self.skew, self.topics, self.section = skew, topics, clicks
        # The middle of an hour that was over two hours ago.
        self.hour = int(time.time()) // HOUR * HOUR - 2 * HOUR
        self.behind = self.hour + HOUR // 2 - int(time.time())
        self.code = links.create()
        self.collector = self.a_collector()
        self.aggregator = program("aggregator", {"clicks": clicks, "aggregator": {
            "settle_every": "500ms", "watermark_every": "500ms",
            "reconcile_every": "100ms", **aggregator}})

    def a_collector(self, *args, start=True):
        return self.program("collector", {
            "kafka": self.topics, "clicks": self.section, "collector": {
                "group": self.topics["topic_clicks"], "batch_age": "50ms",
                "report_every": "100ms", "ua_rules": UA_RULES}},
            args=args, start=start)

    def redirector(self, instance="here", kafka=None, **settings):
        return self.program("redirector", {
            "kafka": {**self.topics, **(kafka or {})}, "links": self.links_config,
            "redirector": {"threads": 2, "edge": "edge-1", "instance": instance,
                           "counters_every": "200ms", **settings}},
            env=self.skew(self.behind))

    def visit(self, redirector, count):
        for _ in range(count):
            assert visit(f"{redirector.url}/{self.code}").status_code == 302

    def ask(self, hours=1, **params):
        return requests.get(
            self.aggregator.url + "/v1/reconciliation", timeout=60,
            params={"from": rfc3339(self.hour),
                    "to": rfc3339(self.hour + hours * HOUR), **params})

    def reconciliation(self, **params):
        answer = self.ask(**params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def clicks(self):
        """Sends visits of people and robots, and returns the counts of the hour's
        answers."""
        answer = requests.get(
            self.aggregator.url + "/v1/clicks", timeout=60,
            params={"from": rfc3339(self.hour), "to": rfc3339(self.hour + HOUR),
                    "bots": "include"})
        assert answer.status_code == 200, answer.text
        return answer.json()["total"]["clicks"]

    def pipeline(self):
        return requests.get(self.aggregator.url + "/v1/pipeline", timeout=60).json()

    def told(self):
        """Returns the present state of the hour."""
        return self.reconciliation()["hours"][0]

    def wait(self, **figures):
        """Waits until the hour has these figures; returns it."""
        def there():
            hour = self.told()
            return all(hour[name] == figures[name] for name in figures) and hour
        try:
            return eventually(there)
        except AssertionError:
            raise AssertionError(f"{figures} are not in {self.told()}") from None

    def settle(self, *args):
        status, said = self.program("aggregator", args=[
            "settle", "--from", rfc3339(self.hour), "--to",
            rfc3339(self.hour + HOUR), *args], start=False).run()
        assert status == 0, said

    def records(self):
        """Returns the messages in the topic of counters."""
        return [m.value()
                for m in self.kafka.consume(self.topics["topic_counters"])]


@pytest.fixture
def make_world(program, kafka, tables, skew, links_config):
    """make_world(links, setting=...) makes a world with these links, and settings of
    its aggregator; `clicks` are settings of section clicks."""
    def make(links, partitions=1, clicks=None, **aggregator):
        topics = {**kafka.collector_topics(clicks=partitions),
                  "topic_counters": kafka.create_topic("counters", 2)}
        return World(program, kafka, tables, skew, links, links_config, topics,
                     {"edge_delay": "0s", **(clicks or {})}, aggregator)
    return make


@pytest.fixture
def world(make_world, links):
    return make_world(links)
