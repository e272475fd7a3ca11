"""The fixtures of the allocator's tests; a test file gets them by `from
support.allocator import *`."""
import concurrent.futures
import http.client
import json
import time

import pytest
import requests

from support.protobuf import message
from support.spaces import USUAL, sequence

LinkEvent = message("link.proto", "shortloop.LinkEvent")

KEYS = {"boss": "admin", "crm": "create", "eye": "read accounts=*"}
URL = "https://example.org/some/where?a=1#b"
LINKS_SECTION = {**USUAL, "ttl_classes": ["2s", "1h", "never"],
                 "spaces": [sequence()]}


class Api:
    """One allocator from a client's view."""

    def __init__(self, program):
        self.program = program
        self.session = requests.Session()

    def call(self, method, path, key="boss", **kw):
        headers = kw.pop("headers", {})
        if key:
            headers.setdefault("Authorization", f"Bearer {key}")
        return self.session.request(method, self.program.url + path,
                                    headers=headers, timeout=60, **kw)

    def post(self, key="boss", **fields):
        return self.call("POST", "/v1/links", key, json=fields)

    def create(self, ttl="1h", **fields):
        answer = self.post(url=fields.pop("url", URL), ttl=ttl, **fields)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def get(self, code, key="boss"):
        return self.call("GET", f"/v1/links/{code}", key)

    def patch(self, code, key="boss", headers=None, **fields):
        return self.call("PATCH", f"/v1/links/{code}", key, json=fields, headers={
            "Content-Type": "application/merge-patch+json", **(headers or {})})

    def delete(self, code, key="boss", **headers):
        return self.call("DELETE", f"/v1/links/{code}", key, headers=headers)


@pytest.fixture
def first_keys():
    """{name: roles and other words of its line}; a module may have its own."""
    return KEYS


@pytest.fixture
def more_sections():
    """{section: settings} beside those of `sections`; a module may have its own."""
    return {}


@pytest.fixture
def sections(links_config, keys_file, more_sections):
    # With domains, their section has the beginning of a short URL.
    mine = {"keys_file": str(keys_file.path), "threads": 2}
    return {"links": links_config, "domains": {"base_url": "https://sho.rt"}, **more_sections,
            "allocator": {**mine, **more_sections.get("allocator", {})}}


@pytest.fixture
def create_space(program, sections):
    def make(*args, name="s7"):
        command = program("allocator", sections, start=False,
                          args=["create-space", "--no-archive", "--space",
                                name, *args])
        return command.run()
    return make


@pytest.fixture
def start(program, sections):
    """start(topic=..., setting=...) starts an allocator."""
    def make(topic=None, ready=True, kafka_settings=None, **settings):
        mine = {**sections, "allocator": {**sections["allocator"], **settings},
                "kafka": {**({"topic_links": topic} if topic else {}),
                          **(kafka_settings or {})}}
        return Api(program("allocator", mine, ready=ready))
    return make


@pytest.fixture
def topic(kafka):
    return kafka.create_topic("links", 2)


@pytest.fixture
def created_spaces(redis, links_config, create_space):
    """The spaces of section `links` are created."""
    for space in links_config["spaces"]:
        status, output = create_space(name=space["name"])
        assert status == 0, output


@pytest.fixture
def api(created_spaces, topic, start):
    made = start(topic)
    made.topic = topic
    return made


def problem(answer, status):
    """Returns the detail of the answer, which must be a problem object."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status and body["title"]
    assert body["type"].startswith("/problems/")
    return body["detail"]


def create_many(api, count, connections=4, ttl="1h", patience=0):
    """Creates links over that many keep-alive connections; returns the codes.  With
    patience, a request answered by 503 is retried for that many seconds."""
    until = time.monotonic() + patience

    def run(n):
        codes = []
        host, port = api.program.section["listen"].split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        i = 0
        while i < n:
            connection.request(
                "POST", "/v1/links",
                json.dumps({"url": f"https://example.org/{i}", "ttl": ttl}),
                {"Content-Type": "application/json",
                 "Authorization": "Bearer boss"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status == 503 and time.monotonic() < until:
                time.sleep(0.05)
                continue
            assert answer.status == 201, body
            codes.append(json.loads(body)["code"])
            i += 1
        connection.close()
        return codes
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        parts = pool.map(run, [count // connections] * connections)
        return [code for part in parts for code in part]


def events_of(kafka, topic, count):
    return [(m.key().decode(), LinkEvent.FromString(m.value()))
            for m in kafka.consume(topic, count)]
