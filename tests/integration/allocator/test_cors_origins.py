"""Which pages may use the allocator's API in a browser (CORS)."""
import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL

LISTED, OTHER = "https://links.example", "https://links.example.evil.example"
EXPOSED = ("ETag, Location, Retry-After, RateLimit, RateLimit-Policy, "
           "Idempotency-Replayed")
PREFLIGHT = {"Access-Control-Request-Method": "PATCH",
             "Access-Control-Request-Headers": "authorization, if-match"}


@pytest.fixture
def make_api(redis, topic, create_space, start):
    def make(**settings):
        assert create_space()[0] == 0
        return start(topic, **settings)
    return make


def cors(answer):
    return {name: value for name, value in answer.headers.items()
            if name.lower().startswith("access-control-")}


def answers(api, origin):
    """Requests of all kinds, with their statuses: (answer, status)."""
    sent = {"Origin": origin} if origin else {}
    made = api.call("POST", "/v1/links", json={"url": URL, "ttl": "1h"}, headers={**sent})
    path = f"/v1/links/{made.json()['code']}"
    return [(made, 201), (api.call("GET", path, headers={**sent}), 200),
            (api.call("GET", "/openapi.json", headers={**sent}), 200),
            (api.call("GET", path, None, headers={**sent}), 401),
            (api.call("PATCH", path, json={"ttl": "x"}, headers={
                **sent, "Content-Type": "application/merge-patch+json"}), 400),
            (api.call("PATCH", path, json={"description": "x"}, headers={
                **sent, "If-Match": '"0-0"',
                "Content-Type": "application/merge-patch+json"}), 412),
            (api.call("POST", "/v1/links/batch", data=b"{}\n", headers={
                **sent, "Content-Type": "application/x-ndjson"}), 200),
            (api.call("DELETE", path, headers={**sent}), 204),
            (api.call("GET", "/none", headers={**sent}), 404),
            (api.call("PUT", path, headers={**sent}), 405)]


def preflight(api, origin, path="/v1/links/any", **headers):
    return api.call("OPTIONS", path, None, headers={
        **({"Origin": origin} if origin else {}), **PREFLIGHT, **headers})


def test_a_listed_origin_may_read_every_answer(make_api):
    api = make_api(cors_origins=["http://localhost:3000", LISTED])
    for answer, status in answers(api, LISTED):
        assert answer.status_code == status, answer.text
        assert cors(answer) == {"Access-Control-Allow-Origin": LISTED,
                                "Access-Control-Expose-Headers": EXPOSED}
        assert "Origin" in answer.headers["Vary"]
    for origin in (OTHER, "null", None, LISTED + "/"):
        for answer, status in answers(api, origin):
            assert (answer.status_code, cors(answer)) == (status, {})
            assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize("origins, allowed", [([LISTED], LISTED), (["*"], "*")])
def test_a_preflight_says_what_may_be_sent(make_api, origins, allowed):
    api = make_api(cors_origins=origins)
    for path in ("/v1/links", "/v1/links/any", "/v1/links/batch", "/v1/me"):
        answer = preflight(api, LISTED, path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert cors(answer) == {
            "Access-Control-Allow-Origin": allowed,
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PATCH, DELETE",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, "
                                            "If-None-Match, Idempotency-Key",
            "Access-Control-Max-Age": "3600",
            "Access-Control-Expose-Headers": EXPOSED}
    assert preflight(api, None).status_code == 405
    assert api.call("OPTIONS", "/v1/links", headers={"Origin": LISTED}).status_code == 405
    assert preflight(api, OTHER).status_code == (405 if allowed == LISTED else 204)


def test_by_default_only_the_description_is_for_every_page(make_api):
    api = make_api()
    for answer, _ in answers(api, LISTED):
        described = answer.url.endswith("/openapi.json")
        assert cors(answer) == ({"Access-Control-Allow-Origin": "*"} if described else {})
    assert (preflight(api, LISTED).status_code, cors(preflight(api, LISTED))) == (405, {})


def test_what_is_no_origin_is_a_configuration_error(program, sections):
    sections["allocator"]["cors_origins"] = [LISTED, "https://Links.example/page"]
    status, output = program("allocator", sections, start=False, args=["--check"]).run()
    assert status == 78
    assert "allocator.cors_origins: https://Links.example/page is no origin" in output
