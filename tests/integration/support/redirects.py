"""A redirector, and links that the real allocator makes for it.

The module has fixtures; a test module imports those it uses."""

import pytest
import redis as redis_client
import requests

from support.keys import API_KEY, admin_keys
from support.program import eventually
from support.protobuf import message
from support.spaces import sequence

Click = message("click.proto", "shortloop.Click")
Link = message("link.proto", "shortloop.Link")

REDIRECTED, NOT_FOUND, EXPIRED, BLOCKED, HEAD = range(1, 6)
# The rest of a link's life, in ms, that makes its renewal due: its TTL is 30 days.
DAY = 86_400_000


def visit(url, method="GET", **kw):
    return requests.request(method, url, allow_redirects=False, timeout=60,
                            **kw)


LINKS_SECTION = {"ttl_classes": ["3s", "6s", "30d"], "hold_max": "5s",
                 "quarantine": "5s", "renew_every": "1s", "spaces": [sequence()]}


@pytest.fixture
def domains_config():
    """Section `domains` of both programs; a test module may have its own."""
    return {}


class Links:
    """Creates links through the allocator and edits them in Redis."""

    def __init__(self, allocator, redis):
        self.allocator = allocator
        self.redis = redis

    def call(self, method, path="", **fields):
        return requests.request(
            method, f"{self.allocator.url}/v1/links{path}", json=fields or None,
            headers={"Authorization": f"Bearer {API_KEY}"}, timeout=60)

    def create(self, url="https://example.org/", ttl="30d", **fields):
        answer = self.call("POST", url=url, ttl=ttl, **fields)
        assert answer.status_code == 201, answer.text
        return answer.json()["code"]

    def change(self, code, **fields):
        answer = self.call("PATCH", f"/{code}", **fields)
        assert answer.status_code == 200, answer.text

    def delete(self, code):
        answer = self.call("DELETE", f"/{code}")
        assert answer.status_code == 204, answer.text

    def key(self, code):
        keys = [*self.redis.scan_iter(f"l:*:{code}"),
                *self.redis.scan_iter(f"l:{{{code}}}")]
        assert len(keys) == 1, keys
        return keys[0]

    def marker_key(self, code):
        return "m:" + self.key(code).split(":", 1)[1].rsplit(":", 1)[0]

    def record(self, code):
        """Returns the link's record in Redis."""
        with self.bytes_client() as client:
            return Link.FromString(client.get(self.key(code)))

    def store(self, code, link):
        with self.bytes_client() as client:
            client.set(self.key(code), link.SerializeToString(), keepttl=True)

    def bytes_client(self):
        port = self.redis.connection_pool.connection_kwargs["port"]
        return redis_client.Redis(port=port)

    def edit(self, code, **fields):
        link = self.record(code)
        for name, value in fields.items():
            setattr(link, name, value)
        self.store(code, link)
        return link


def subscriptions(redirector):
    return redirector.metric("shortloop_redirector_subscriptions_total")


def heard(edge):
    return edge.metric("shortloop_redirector_invalidations_total", of="link")


def change_and_wait(links, edge, code, **fields):
    """Changes a link and waits until the edge has received it; repeats the change if
    the edge had given up its subscription meanwhile, as after two seconds without
    data."""
    before, begun = heard(edge), subscriptions(edge)
    links.change(code, **fields)

    def hears():
        nonlocal begun
        now = subscriptions(edge)
        if now != begun:
            begun = now
            links.redis.publish("link-changes", code)
        return heard(edge) > before
    eventually(hears, what="it hears of the change")


@pytest.fixture
def make_links(program, workdir, links_config, domains_config,
               allocator_settings, kafka):
    """make_links(redis) makes an allocator and its spaces in that Redis."""
    def make(redis):
        keys = admin_keys(workdir)
        sections = {"links": links_config,
                    "domains": {"base_url": "https://sho.rt", **domains_config},
                    "kafka": {"topic_links": kafka.create_topic("links")},
                    "allocator": {"keys_file": str(keys),
                                  **allocator_settings}}
        for name in [space["name"] for space in links_config["spaces"]]:
            made = program("allocator", sections, start=False,
                           args=["create-space", "--space", name,
                                 "--no-archive"])
            assert made.run()[0] == 0, made.log()
        return Links(program("allocator", sections), redis)
    return make


@pytest.fixture
def links(make_links, redis, kafka):
    return make_links(redis)


@pytest.fixture
def own_links(make_links, own_redis):
    """The same in a Redis that can be killed without a loss of data."""
    return make_links(own_redis.client())


@pytest.fixture
def start(program, links_config, domains_config, kafka):
    """start(setting=...) starts a redirector; its clicks go to .topic."""
    def make(ready=True, kafka_settings=None, domains=None, http=None, env=None,
             robots=None, **settings):
        topic = kafka.clicks_topic(1)  # keeps the events in order
        settings.setdefault("threads", 2)
        settings.setdefault("edge", "edge-1")
        made = program("redirector", {
            "links": links_config, "redirector": settings,
            "domains": domains or domains_config,
            "kafka": {"topic_clicks": topic, **(kafka_settings or {})},
            **({"robots": robots} if robots else {}),
            **({"http": http} if http else {})},
            env=env, ready=ready)
        made.topic = topic
        return made
    return make


@pytest.fixture
def clicks(kafka):
    """clicks(redirector, n) returns its first n events; clicks(redirector) all of them,
    once the redirector has stopped."""
    def read(redirector, count=None):
        if count is None and redirector.process.running():
            assert redirector.stop() == 0
        return [Click.FromString(m.value())
                for m in kafka.consume(redirector.topic, count)]
    return read
