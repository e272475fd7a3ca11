"""Links created by two accounts in three spaces, one by one and in batches, changed and
deleted since: each number of /v1/creations is that of the answers with 201, and a list has
them as the allocator does."""
import collections
import json
import time

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.clicks import rfc3339
from support.program import eventually, migrate, quick
from support.rule_files import BOT_LIST, UA_RULES
from support.spaces import USUAL, aliases, hashes, sequence

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "never"],
                 "spaces": [sequence(), hashes(), aliases(number=3)]}
KEYS = {"boss": "admin", "acme": "create,read account=acme",
        "shop": "create,read account=shop"}
STRATEGY = {"s7": "sequence", "h6": "hash", "names": "alias"}
HOUR = 3600


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def more_sections():
    return {"domains": {"list": [
        {"name": "main", "hosts": ["sho.rt"], "accounts": ["*"]},
        {"name": "promo", "hosts": ["promo.example"], "scheme": "http", "accounts": ["*"],
         "base_url": "http://promo.example:8443/go"}]}}


@pytest.fixture
def stack(program, workdir, kafka, redis, clickhouse, sections, create_space, keys_file):
    migrate(program)
    topic = kafka.create_topic("links", 2)
    for name in STRATEGY:
        create_space(name=name)
    at = {"kafka": {"topic_links": topic, "topic_clicks": kafka.create_topic("clicks", 1),
                    "topic_counters": kafka.create_topic("counters", 1),
                    "topic_dlq": kafka.create_topic("dlq", 1)}}
    collect = {**at, "robots": {"list": BOT_LIST}, "collector": {
        "batch_age": "100ms", "report_every": "200ms", "ua_rules": UA_RULES}}

    class Stack:
        api = Api(program("allocator", {**sections, **at}))
        aggregator = program("aggregator", {
            "links": sections["links"], "domains": sections["domains"], "clicks": {"edge_delay": "1s"}, "aggregator": {
                "settle_every": "300ms", "watermark_every": "200ms",
                "keys_file": str(keys_file.path)}})

        def collector(self):
            return program("collector", collect)

        def redeliver(self):
            kafka.produce(topic, [event.value() for event in kafka.consume(topic)])
    return Stack()


def fields_of(space, i):
    return {"url": f"https://example.org/{space}/{i}", "ttl": ["1h", "never"][i % 2],
            "domain": ["main", "promo"][i // 2 % 2], "pass_path": i % 4 == 0,
            **({"pass_query": ["add", "override"][i // 3 % 2]} if i % 3 else {}),
            **({"redirect_status": [301, 308][i // 5 % 2]} if i % 5 else {}),
            **({"code": f"alias-{i:03}"} if space == "names" else {"space": space})}


def ask(stack, key="boss", **params):
    now = int(time.time()) // HOUR * HOUR
    answer = quick.get(stack.aggregator.url + "/v1/creations", timeout=60, params={
        "from": rfc3339(now - 24 * HOUR), "to": rfc3339(now + 2 * HOUR),
        "interval": "total", **params}, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def groups(made, dimension):
    found = collections.Counter(link[dimension] for link in made)
    return dict(found)


def check(stack, made):
    eventually(lambda: ask(stack)["total"]["links"] == len(made), what="all links counted")
    for dimension in ("space", "code_length", "ttl", "account", "strategy", "source", "domain"):
        answer = ask(stack, group_by=dimension)
        assert {g["value"]: g["links"] for g in answer["groups"]} == groups(made, dimension)
    for account in ("acme", "shop"):
        mine = [link for link in made if link["account"] == account]
        for key, params in ((account, {}), ("boss", {"account": account})):
            answer = ask(stack, key=key, group_by="owner", **params)
            assert {g["value"]: g["links"] for g in answer["groups"]} == groups(mine, "owner")
            assert answer["total"]["links"] == len(mine)
    assert ask(stack, key="acme", account="shop")["total"]["links"] == 0


def remember(made, link, source):
    made.append({"space": link["space"], "code_length": str(len(link["code"])),
                 "ttl": link["ttl"], "account": link["account"],
                 "owner": link["owner"] or "", "domain": link["domain"] or "",
                 "strategy": STRATEGY[link["space"]], "source": source})
    return link


def create(stack, account, fields):
    answer = stack.api.post(account, **fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_each_number_is_that_of_the_links_made(stack):
    collector, made, links = stack.collector(), [], []
    for i in range(24):
        account = ["acme", "shop"][i % 2]
        space = list(STRATEGY)[i % 3]
        owner = ["", "ann", "bob"][i // 3 % 3]
        fields = fields_of(space, i) | ({"owner": owner} if owner else {})
        links.append(remember(made, create(stack, account, fields), "single"))
        # The same request finds the link of a hash space, and creates none.
        if space == "h6":
            assert stack.api.post(account, **fields).status_code == 200
    for account in ("acme", "shop"):
        batch = [fields_of(list(STRATEGY)[i % 3], 100 + i + 50 * (account == "shop"))
                 for i in range(30)]
        body = "".join(json.dumps(fields) + "\n" for fields in batch)
        answer = stack.api.call("POST", "/v1/links/batch", account, data=body, headers={
            "Content-Type": "application/x-ndjson"})
        # All of them are new.
        for line in answer.text.splitlines():
            remember(made, json.loads(line), "batch")
    assert len(made) == 84
    check(stack, made)

    # Whatever becomes of them changes nothing.
    assert stack.api.patch(links[0]["code"], owner="carl", ttl="never").status_code == 200
    assert stack.api.patch(links[1]["code"], "shop", url="https://b.example/").status_code == 200
    assert stack.api.delete(links[2]["code"], "acme").status_code == 204
    assert stack.api.delete(links[4]["code"], "acme").status_code == 204
    assert stack.api.call("POST", f"/v1/links/{links[2]['code']}/restore", "acme"
                          ).status_code == 200
    collector.kill()
    stack.redeliver()
    last = create(stack, "acme", {"url": "https://example.org/last", "ttl": "1h"})
    remember(made, last, "single")
    stack.collector()
    check(stack, made)
    eventually(lambda: ask(stack)["complete_until"], what="all partitions reported")
    check_list(stack, links[:4] + links[5:])


def check_list(stack, links):
    """Compares what a list says of links with what the allocator does."""
    answer = quick.get(stack.aggregator.url + "/v1/links", timeout=60,
                       params={"limit": 1000}, headers={"Authorization": "Bearer boss"}).json()
    listed = {link["link_id"]: link for link in answer["links"]}
    for link in links:
        theirs, ours = listed[link["link_id"]], stack.api.get(link["code"]).json()
        # In the archive each version has a time, and the end is by the event's clock.
        for name in set(ours) - {"changed_at", "expires_at"}:
            assert theirs[name] == ours[name], name
    assert {link["short_url"].rpartition("/")[0] for link in listed.values()} == {
        "https://sho.rt", "http://promo.example:8443/go"}
