"""A collector with topics and tables of the test's own; a test file gets the fixtures
by `from support.collecting import *`."""
import pytest

from support.program import eventually
from support.rule_files import BOT_LIST, UA_RULES


@pytest.fixture
def topics(kafka):
    return kafka.collector_topics()


def settings(base_config, topics, late_window="7d", robots=None, **collector):
    """Sections for program(): small batches, a group of this test's own."""
    return {
        # The broker removes a killed member as soon as it is allowed to.
        "kafka": {**base_config["kafka"], **topics,
                  "options": ["session.timeout.ms=6000"]},
        "clicks": {"late_window": late_window},
        "collector": {
            "group": topics["topic_clicks"], "batch_age": "100ms",
            "ua_rules": UA_RULES, **collector},
        "robots": robots or {"list": BOT_LIST}}


@pytest.fixture
def collector(program, base_config, topics):
    def make(start=True, ready=True, **own):
        return program("collector", settings(base_config, topics, **own),
                       start=start, ready=ready)
    return make


def rows(clickhouse, columns="*", table="clicks", order="link_id"):
    return clickhouse.rows(f"SELECT {columns} FROM {table} ORDER BY {order}")


def count(clickhouse, table="clicks"):
    return int(clickhouse.value(f"SELECT count() FROM {table}"))


def wait_for(clickhouse, number, table="clicks"):
    eventually(lambda: count(clickhouse, table) >= number,
               what=f"{number} rows in {table}")
