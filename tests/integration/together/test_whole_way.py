"""One code through its whole life and into the next, with all five programs: created,
visited, counted, ended, reclaimed, in quarantine, granted again, visited and counted
only for its new owner."""
import time

import pytest
import requests

from support.clicks import rfc3339
from support.events import CHROME
from support.program import eventually, migrate
from support.reclaim import *  # noqa: F403, fixtures too
from support.rule_files import BOT_LIST, UA_RULES

pytestmark = pytest.mark.confined

OLD, NEW = "https://old.example/", "https://new.example/"


class Stack:
    """The programs that keep running, and the actions of a visitor, an owner and an
    operator."""

    def __init__(self, collector, allocator, redirector, aggregator):
        self.collector = collector
        self.allocator = allocator
        self.redirector = redirector
        self.aggregator = aggregator
        self.created = 0

    def create(self, url, ttl):
        answer = requests.post(
            self.allocator.url + "/v1/links", json={"url": url, "ttl": ttl},
            headers={"Authorization": f"Bearer {API_KEY}"}, timeout=60)
        assert answer.status_code == 201, answer.text
        self.created += 1
        return answer.json()

    def visit(self, link):
        return requests.get(f"{self.redirector.url}/{link['code']}",
                            headers={"User-Agent": CHROME},
                            allow_redirects=False, timeout=60)

    def count(self, **which):
        """Returns the aggregator's answer about two hours around now, or None."""
        quarter = 900
        at = int(time.time()) // quarter * quarter
        answer = requests.get(
            self.aggregator.url + "/v1/clicks", timeout=60,
            params={"from": rfc3339(at - 8 * quarter),
                    "to": rfc3339(at + 8 * quarter), **which})
        return answer.json() if answer.status_code == 200 else None

    def history(self, code):
        """Returns what became of each link of a code, the newest first."""
        answer = requests.get(f"{self.aggregator.url}/v1/links/{code}/history", timeout=60)
        return [(link["generation"], link["state"], link["current"])
                for link in answer.json()["links"]] if answer.status_code == 200 else None

    def becomes(self, code, *lives):
        eventually(lambda: self.history(code) == list(lives), what=f"{code} is {lives}")

    def counts_creations(self):
        """Returns whether each link is counted that was created, also with a code that
        another had before."""
        quarter = 900
        at = int(time.time()) // quarter * quarter
        answer = requests.get(
            self.aggregator.url + "/v1/creations", timeout=60, params={
                "from": rfc3339(at - 8 * quarter), "to": rfc3339(at + quarter),
                "interval": "total", "group_by": "source"}).json()
        assert answer["total"]["links"] <= self.created
        return answer["groups"] == [{"value": "single", "links": self.created}]

    def counted(self, link, clicks):
        """Waits until this many clicks of a link are counted, then checks that there
        are no more."""
        def there():
            got = self.count(link_id=link["link_id"])
            return got and got["total"]["clicks"] >= clicks and got
        got = eventually(there, what=f"{clicks} clicks counted")
        assert got["total"]["clicks"] == clicks
        return got


@pytest.fixture
def stack(space, program, workdir, links_config, kafka, clickhouse):
    links_config["spaces"][0]["block_size"] = 1
    migrate(program)
    space.redis.hset(space.key("space"), "block_size", 1)
    keys = admin_keys(workdir)
    topics = {"topic_renewals": kafka.create_topic("renewals", 1)}
    return Stack(
        program("collector", {
            "kafka": topics,
            "robots": {"list": BOT_LIST},
            "collector": {"batch_age": "100ms", "report_every": "200ms",
                          "ua_rules": UA_RULES}}),
        program("allocator", {"links": links_config,
                              "allocator": {"keys_file": str(keys)}}),
        # This is far longer than quarantine, but no entry outlives its link.
        program("redirector", {"links": links_config, "kafka": topics, "redirector": {
            "threads": 1, "cache_ttl": "1h", "cache_stale": "1h",
            # The absence of a link is forgotten before its code lives again.
            "cache_negative_ttl": "10ms"}}),
        program("aggregator", {"links": links_config,
                               "aggregator": {"settle_every": "500ms"}}))


def reclaimed(reclaimer, space, block):
    """Runs the reclaimer until the block is in the pool."""
    def run():
        done = reclaimer("run", "--space", "s7")
        assert done.status == 0, done
        return block in space.blocks("pool")
    eventually(run, every=0.5, what="the block pooled")


def visited(stack, times):
    """Returns a link of three seconds with this many visits; it retries if a busy
    machine visited it too late."""
    def make():
        begun = time.monotonic()
        link = stack.create(OLD, "3s")
        for _ in range(times):
            answer = stack.visit(link)
            if time.monotonic() - begun > 2.5:
                return None
            assert (answer.status_code, answer.headers["Location"]) == (302, OLD)
        return link
    return eventually(make, what="visits in time")


def again(stack, code):
    """Creates links until one gets that code."""
    def create():
        link = stack.create(NEW, "30d")
        return link["code"] == code and link
    return eventually(create, every=0.02, what=f"{code} again")


def test_a_code_gets_a_new_owner_and_nothing_of_the_old_one(stack, space,
                                                            reclaimer):
    old = visited(stack, 3)
    stack.counted(old, 3)
    block = int(old["link_id"]) & ((1 << 42) - 1)
    stack.becomes(old["code"], (1, "expired", True))

    reclaimed(reclaimer, space, block)
    assert stack.visit(old).status_code == 410
    stack.becomes(old["code"], (1, "reclaimed", True))
    new = again(stack, old["code"])
    stack.becomes(old["code"], (2, "live", True), (1, "reclaimed", False))

    assert new["link_id"] != old["link_id"] and new["generation"] == 2
    # The link has no visits: it is known, and starts at zero.
    fresh = eventually(
        lambda: (c := stack.count(code=new["code"])) and
        c["link_id"] == new["link_id"] and c, what="the new owner in the archive")
    assert fresh["total"]["events"] == 0

    for _ in range(2):
        answer = stack.visit(new)
        assert (answer.status_code, answer.headers.get("Location")) == (302, NEW)
    stack.counted(new, 2)
    stack.counted(old, 3)
    # The visit in between belongs to the former owner, and is no click.
    told = stack.count(link_id=old["link_id"], group_by="outcome")
    assert told["total"]["events"] == 4
    assert {g["value"]: (g["events"], g["clicks"]) for g in told["groups"]} == {
        "redirected": (3, 3), "expired": (1, 0)}
    eventually(stack.counts_creations, what="all links counted as created")


def test_visits_keep_a_link_alive_in_lists(stack, space, clickhouse):
    """The archive's end is that of the creation; each visit puts it off."""
    link = visited(stack, 1)
    end = eventually(lambda: clickhouse.value(
        f"SELECT toUnixTimestamp64Milli(max(expires_at)) FROM links "
        f"WHERE link_id = {link['link_id']}"), what="the link in the archive")

    def goes_on():
        assert stack.visit(link).status_code == 302
        return time.time() * 1000 > int(end) + 2000
    eventually(goes_on, every=0.2, what="two seconds after its first end")
    told = requests.get(f"{stack.aggregator.url}/v1/links/{link['code']}/summary",
                        timeout=60).json()
    assert told["state"] == "live" and told["expires_at"] > rfc3339(int(end) // 1000)
    stack.becomes(link["code"], (1, "expired", True))
    assert int(clickhouse.value(
        f"SELECT max(ends_at) > fromUnixTimestamp64Milli(toInt64({end}), 'UTC') FROM link_ends "
        f"WHERE link_id = {link['link_id']}"))


@pytest.mark.proof
def test_a_new_owner_is_asked_for_before_the_archive_has_it(
        stack, space, reclaimer, clickhouse):
    old = visited(stack, 1)
    stack.counted(old, 1)
    # The archive has the old link: Redis, which is queried too, does not have it.
    eventually(lambda: clickhouse.value(
        f"SELECT count() FROM links WHERE link_id = {old['link_id']}"),
        what="the old owner in the archive")
    stack.collector.kill()
    block = int(old["link_id"]) & ((1 << 42) - 1)

    reclaimed(reclaimer, space, block)
    assert stack.count(code=old["code"])["link_id"] == old["link_id"]
    new = again(stack, old["code"])

    answer = stack.count(code=new["code"])
    assert answer["link_id"] == new["link_id"] != old["link_id"]
    assert answer["total"]["events"] == 0
    assert stack.count(link_id=new["link_id"])["total"]["events"] == 0
    assert stack.count(link_id=old["link_id"])["total"]["events"] == 1


@pytest.mark.long
def test_a_redirector_with_the_old_link_cached_serves_the_new_one(
        stack, space, reclaimer):
    """Even the cached absence of the link must be gone when the code lives again."""
    old = visited(stack, 1)
    block = int(old["link_id"]) & ((1 << 42) - 1)
    reclaimed(reclaimer, space, block)
    new = again(stack, old["code"])
    answer = stack.visit(new)
    assert (answer.status_code, answer.headers["Location"]) == (302, NEW)
