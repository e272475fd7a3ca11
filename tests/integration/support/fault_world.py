"""The fixtures for tests of collectors under faults: a broker and a ClickHouse of their
own, which can be killed, and a crowd of collectors behind proxies."""
import os
import random

import pytest
from conftest import watch
from support.collectors import OPTIONS, Crowd
from support.rule_files import UA_RULES

SEED = int(os.environ.get("COLLECTOR_SEED", random.randrange(10**6)))


@pytest.fixture
def kafka_server(request, proxied_kafka_server):
    """Collectors connect through its proxy."""
    server = proxied_kafka_server
    if not server.running():
        server.start()
    server.proxy.calm()
    return watch(request, server)


@pytest.fixture
def partitions():
    return 6


@pytest.fixture
def topics(kafka, partitions):
    return kafka.collector_topics(partitions, 2)


@pytest.fixture
def tables(tables):
    # Merges would make one row of a link that was stored twice.
    tables.query("ALTER TABLE links MODIFY SETTING "
                 "max_bytes_to_merge_at_max_space_in_pool = 1, "
                 "max_bytes_to_merge_at_min_space_in_pool = 1")
    return tables


@pytest.fixture
def own_settings():
    """A module's own settings of the section collector."""
    return {}


def settings(base_config, topics, kafka_server, own):
    return {
        "log": {"format": "logfmt", "level": "info"},
        "kafka": {"brokers": [kafka_server.proxy.address], **topics,
                  "topic_counters": "", "topic_renewals": "",
                  "options": OPTIONS},
        "clickhouse": {**base_config["clickhouse"], "connect_timeout": "1s",
                       "query_timeout": "5s"},
        "collector": {
            "group": topics["topic_clicks"], "batch_age": "300ms",
            "batch_rows": 5000, "retry_backoff_max": "500ms",
            "parts_per_second": 100,
            "ua_rules": UA_RULES, **own}}


@pytest.fixture
def crowd(program, base_config, topics, tables, kafka_server,
          clickhouse_server, own_settings):
    made = Crowd(program, settings(base_config, topics, kafka_server,
                                   own_settings),
                 clickhouse_server, kafka_server, seed=SEED)
    yield made
    made.close()
