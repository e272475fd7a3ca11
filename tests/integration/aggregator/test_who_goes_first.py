"""In ClickHouse, questions come before settling, and before exports: by the priority of
its threads, which a test can see only on a busy machine."""
import concurrent.futures

import pytest
import requests

from support.asking import FROM, ask
from support.clicks import rfc3339, some_clicks
from support.program import eventually

AT_ONCE = 6  # for a key, before its questions give way
DAY = 86400
COMPUTED = ("stats_hourly", "link_slots", "link_days", "sealed_slots", "owner_slots",
            "owner_values", "day_values", "stats_spans")
PATIENCE = 120


def priorities(proxy, kind=None, words=""):
    return {p.params.get("os_thread_priority") for p in proxy.passed
            if kind in (None, p.kind) and words in p.query}


@pytest.mark.long
def test_questions_go_before_what_is_computed(migrated, redis, program, proxy):
    migrated.link("code1", 1)
    migrated.insert(some_clicks(1, 50, [(FROM, FROM + DAY)], links=(1,)))
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url}, "clicks": {"late_window": "1m"},
        "aggregator": {"settle_every": "500ms", "resettle_every": "0s"}})
    for table in COMPUTED:
        eventually(lambda t=table: proxy.count(t), PATIENCE, what=f"rows of {table}")
    of = {"from": rfc3339(FROM), "to": rfc3339(FROM + DAY)}
    assert ask(made, link_id=1, **of)["total"]["clicks"]
    answer = requests.get(made.url + "/v1/export/clicks", params=of, timeout=60)
    assert answer.status_code == 200 and answer.text

    for table in COMPUTED:
        assert priorities(proxy, table) == {"10"}, table
    assert priorities(proxy, words="append_time < fromUnixTimestamp64Milli") == {"15"}
    assert priorities(proxy, words="answer_part") == {None}


def test_who_asks_much_at_once_goes_behind(migrated, redis, program, proxy):
    migrated.insert(some_clicks(1, 50, [(FROM, FROM + DAY)], links=(1,)))
    migrated.link("code1", 1)
    made = program("aggregator", {
        "clickhouse": {"url": proxy.url},
        "aggregator": {"settle_every": "1h", "workers": 16}})
    of = {"from": rfc3339(FROM), "to": rfc3339(FROM + DAY), "link_id": 1}
    count = AT_ONCE + 3
    held = []
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        try:
            for number in range(count):
                held.append(proxy.hold("question", words="answer_part"))
                pool.submit(ask, made, **of)
                assert held[number].here.wait(PATIENCE)
            found = [p.params.get("os_thread_priority") for p in proxy.passed
                     if "answer_part" in p.query]
            assert found == [None] * AT_ONCE + ["1", "2", "3"]
        finally:
            for one in held:
                one.release()
    proxy.passed.clear()
    assert ask(made, **of)["total"]["clicks"]
    assert priorities(proxy, words="answer_part") == {None}
