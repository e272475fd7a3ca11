"""The API against its own description, schemas/openapi/allocator.yaml."""
import json
import signal

import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.keys import key_line
from support.openapi import (
    ANSWER_CHECKS, EXAMPLES, answers_of, in_the_tree, schemathesis, seen, served)
from support.program import eventually
from support.spaces import USUAL, aliases, hashes, sequence, snowflakes

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "never"], "spaces": [
    sequence(), hashes("h8", length=8), snowflakes(), aliases()]}


@pytest.fixture
def more_sections():
    return {"domains": {"default": "main", "list": [
        {"name": "main", "hosts": ["sho.rt"]},
        {"name": "shop", "hosts": ["shop.sho.rt"]}]}}


@pytest.fixture
def make_api(topic, links_config, create_space, start):
    """An allocator with a space of each strategy."""
    def make():
        for each in links_config["spaces"]:
            assert create_space(name=each["name"])[0] == 0
        api = start(topic, node=7, default_ttl="1h", ledger_every="100ms")
        eventually(lambda: api.call("GET", "/v1/spaces").status_code == 200)
        return api
    return make


@pytest.fixture
def full_api(redis, tables, make_api):
    return make_api()


def described_by(api):
    return served(api.program.url + "/openapi.json")


def run(path, api, *args, key="boss", **how):
    return schemathesis(path, api.program.url, *args, key=key, **how)


@pytest.fixture
def narrow(workdir, links_config):
    """Returns the description with values that only a configuration has: TTL classes,
    spaces, an existing link, and URLs that are mostly valid."""
    def make(api, code):
        described = described_by(api)
        schemas = described["components"]["schemas"]
        schemas["Ttl"]["enum"] = links_config["ttl_classes"]
        new = schemas["NewLink"]["properties"]
        new["domain"] = {"type": "string", "enum": ["main", "shop"]}
        schemas["NotBefore"] = {"type": "string", "pattern":
                                "^20[0-9]{2}-0[1-9]-[12][0-9]T0[0-9]:00:00Z$"}
        generated = {"code": False, "space": {"enum": [
            each["name"] for each in links_config["spaces"][:-1]]}}
        alias = {"code": {"pattern": "^[a-z]{1,3}-[a-z]{1,3}$"},
                 "space": {"const": "names"}}
        schemas["NewLink"]["oneOf"] = [
            {"required": either["required"] + needs,
             "properties": {**either["properties"], **properties}}
            for either in schemas["NewLink"]["oneOf"]
            for needs, properties in (([], generated), (["code"], alias))]
        # These examples are of links and URLs that are not here.
        for each in [*described["components"]["parameters"].values(),
                     *described["paths"]["/v1/links/edit"]["post"]["parameters"]]:
            each.pop("example", None)
        described["components"]["parameters"]["Code"]["example"] = code
        known = {"url": "https://known.example", "space": "h8"}
        api.create(**known)
        one = described["paths"]["/v1/links"]["post"]["requestBody"]["content"]
        one["application/json"]["examples"]["again"] = {"value": known}
        # A taken alias, whatever other values are generated.
        taken = {"url": "https://known.example", "code": "abc-xyz"}
        api.create(**taken)
        one["application/json"]["examples"]["taken"] = {"value": taken}
        schemas["Edit"]["properties"]["code"]["examples"] = [code]
        for path, line in (("/v1/links/batch", "NewLink"), ("/v1/links/edit", "Edit")):
            content = described["paths"][path]["post"]["requestBody"]["content"]
            for name in "application/x-ndjson", "application/jsonl":
                # support/openapi_hooks.py writes the lines.  Anything is allowed: a
                # line may be invalid, the batch is not.
                content[name]["schema"] = {"anyOf": [{"type": "array", "items": {
                    "anyOf": [{"$ref": f"#/components/schemas/{line}"}, {}]}}, {}]}
                content[name].pop("examples", None)
        path = workdir / "openapi.json"
        path.write_text(json.dumps(described))
        return path
    return make


# --- the description itself ------------------------------------------------------

def test_what_is_served_is_what_is_in_the_tree(full_api):
    assert described_by(full_api) == in_the_tree("allocator")


def test_every_example_is_what_it_says(full_api):
    """Each request in the description has its first answer."""
    described = described_by(full_api)
    code = full_api.create()["code"]
    for path, item in described["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            for kind, body in operation.get("requestBody", {}).get(
                    "content", {}).items():
                for example in body.get("examples", {}).values():
                    value = example["value"]
                    if isinstance(value, str):
                        value = value.replace("kYq3ZtB", code)
                    answer = full_api.call(
                        method.upper(), path.replace("{code}", code),
                        headers={"Content-Type": kind},
                        data=value if isinstance(value, str)
                        else json.dumps(value))
                    assert answer.status_code in (200, 201), answer.text
                    for line in answer.text.splitlines():
                        assert {"code", "common"} & json.loads(line).keys(), line


# --- the API compared with it -----------------------------------------------------

SEEN = {
    "POST /v1/links": {200, 201, 400, 401, 409, 415, 422},
    "POST /v1/links/batch": {200, 400, 401, 415},
    "POST /v1/links/edit": {200, 400, 401},
    "GET /v1/links/{code}": {200, 401, 404, 410},
    "PATCH /v1/links/{code}": {200, 400, 401, 404, 410, 412, 415},
    "DELETE /v1/links/{code}": {204, 401, 404, 410},
    "POST /v1/links/{code}/restore": {200, 401, 404},
    "GET /v1/links/{code}/qr": {200, 304, 400, 401, 404, 410},
    "GET /v1/links/{code}/why": {200, 400, 401},
    "GET /v1/accounts/{account}/blocked-urls": {200, 400, 401, 404},
    "POST /v1/accounts/{account}/blocked-urls": {201, 400, 401, 415},
    "DELETE /v1/accounts/{account}/blocked-urls": {400, 401, 404},
    "GET /v1/spaces": {200, 401},
    "GET /v1/spaces/{name}": {200, 401, 404},
    "GET /v1/me": {200, 401},
    "GET /v1/options": {200, 401},
    "GET /openapi.json": {200},
}


@pytest.mark.proof
@pytest.mark.first
@pytest.mark.timeout(1800)
def test_the_api_keeps_to_its_description(full_api, narrow):
    path = narrow(full_api, full_api.create()["code"])
    run(path, full_api, "--max-examples", str(EXAMPLES))
    seen(path, SEEN)


# No other key reads this.
FOR_ADMINS = {"GET /v1/accounts/{account}/blocked-urls"}


@pytest.mark.long
def test_it_keeps_to_it_with_a_key_that_may_only_read(full_api, narrow):
    path = narrow(full_api, full_api.create()["code"])
    run(path, full_api, "--max-examples", "20", "--phases",
        "examples,fuzzing", key="eye")
    answers = answers_of(path)
    for operation, statuses in answers.items():
        may_ask = operation.startswith("GET ") and operation not in FOR_ADMINS
        assert (403 in statuses) != may_ask, (operation, statuses)


@pytest.mark.long
def test_it_keeps_to_it_with_a_key_that_asks_too_often(full_api, narrow,
                                                       keys_file):
    path = narrow(full_api, full_api.create()["code"])
    with keys_file.path.open("a") as file:
        file.write(key_line("slow", "admin rate=1/h burst=1"))
    full_api.program.process.signal(signal.SIGHUP)
    # This is its only request, so the speed of the machine does not matter.
    eventually(lambda: full_api.call("GET", "/v1/spaces",
                                     "slow").status_code == 200)
    run(path, full_api, "--max-examples", "20", "--phases", "fuzzing",
        "--exclude-path", "/v1/links/batch", "--exclude-path", "/v1/links/edit",
        key="slow")
    answers = answers_of(path)
    for operation, statuses in answers.items():
        if "{" in operation or operation == "POST /v1/links":
            assert 429 in statuses, (operation, statuses)


@pytest.mark.long
@pytest.mark.first
@pytest.mark.timeout(1800)
def test_it_keeps_to_it_without_redis(own_redis, make_api, narrow):
    api = make_api()
    path = narrow(api, api.create()["code"])
    own_redis.kill()
    eventually(lambda: api.program.ready()[0] == 503)
    run(path, api, "--max-examples", "20", "--phases", "fuzzing",
        "--mode", "positive", checks=ANSWER_CHECKS)
    answers = answers_of(path)
    assert 503 in answers["POST /v1/links"]
    assert 503 in answers["GET /v1/links/{code}"]
    # The ledger stays as it was last read.
    assert set(answers["GET /v1/spaces"]) == {200}


# --- detection of differences ------------------------------------------------------

def no_bad_requests(described):
    del described["paths"]["/v1/links"]["post"]["responses"]["400"]


def no_changed_at(described):
    link = described["components"]["schemas"]["Link"]
    link["required"].remove("changed_at")
    del link["properties"]["changed_at"]


def no_problems(described):
    described["components"]["responses"]["BadRequest"]["content"] = {
        "text/plain": {}}


def other_tags(described):
    described["components"]["headers"]["ETag"]["schema"]["pattern"] = "^no$"


@pytest.mark.long
@pytest.mark.parametrize("forget, found", [
    (no_bad_requests, "Undocumented status code"),
    (no_changed_at, "Response violates schema"),
    (no_problems, "Undocumented Content-Type"),
    (other_tags, "Response header does not conform"),
], ids=["status", "field", "type", "header"])
def test_what_the_description_lacks_is_found(full_api, narrow, forget, found):
    path = narrow(full_api, full_api.create()["code"])
    described = json.loads(path.read_text())
    forget(described)
    path.write_text(json.dumps(described))
    output = run(path, full_api, "--max-examples", "10", "--phases",
                 "examples,fuzzing", "--include-path", "/v1/links",
                 "--no-shrink", status=1)
    assert found in output, output
