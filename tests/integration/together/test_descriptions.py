"""The descriptions of both APIs, as one host serves them: no path means two things, all
operations have names and examples, and a client that is made of them compiles and works."""
import json
import shutil
import subprocess

import jsonschema_rs
import pytest

import servers
from support.allocator import *  # noqa: F403, fixtures too
from support.openapi import in_the_tree, served
from support.program import migrate

PROGRAMS = ("allocator", "aggregator")
# Both programs answer these: a host may send them to either.
BOTH = {("/v1/me", "get"), ("/openapi.json", "get")}
CLIENT = servers.ROOT / ".deps/client/node_modules"


def operations(name):
    return {(path, method): operation
            for path, item in in_the_tree(name)["paths"].items()
            for method, operation in item.items() if method != "parameters"}


def resolve(name, thing):
    while "$ref" in thing:
        kind, part = thing["$ref"].split("/")[2:]
        thing = in_the_tree(name)["components"][kind][part]
    return thing


def test_no_path_means_two_things():
    allocator, aggregator = map(operations, PROGRAMS)
    assert set(allocator) & set(aggregator) == BOTH
    for each in BOTH:
        for member in ("operationId", "tags"):
            assert allocator[each][member] == aggregator[each][member]
    # The allocator says more of a key, and the same of what both say; shares are the
    # aggregator's.
    ours, theirs = (in_the_tree(name)["components"]["schemas"]["Me"]["properties"]
                    for name in PROGRAMS)
    assert "share" not in ours
    for member, schema in theirs.items():
        if member == "share":
            continue
        kinds = {**schema}, {**ours[member]}
        for kind in kinds:
            kind.pop("description", None)
        if member not in ("name",):  # without a file of keys an aggregator has none
            assert kinds[0].get("type", "") in (kinds[1].get("type", ""), [
                kinds[1].get("type"), "null"]), member


def test_each_operation_has_a_name_a_tag_and_a_place():
    names = {}
    for name in PROGRAMS:
        described = in_the_tree(name)
        assert [server["url"] for server in described["servers"]] == ["/"]
        tags = {tag["name"] for tag in described["tags"]}
        assert all(tag["description"] for tag in described["tags"])
        for key, operation in operations(name).items():
            assert set(operation["tags"]) <= tags and operation["tags"], key
            assert operation["summary"], key
            names.setdefault(operation["operationId"], set()).add(key)
        assert tags == {tag for operation in operations(name).values()
                        for tag in operation["tags"]}
    assert all(len(keys) == 1 for keys in names.values()), names


def examples_of(name, content):
    """Returns the examples of an answer."""
    named = [resolve(name, each)["value"] for each in content.get("examples", {}).values()]
    return named or [content["example"]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_answer_has_an_example_that_is_one(name):
    described = in_the_tree(name)
    for key, operation in operations(name).items():
        for status, response in operation["responses"].items():
            content = resolve(name, response).get("content", {}).get("application/json")
            if not content or not status.startswith("2"):
                continue
            for example in examples_of(name, content):
                jsonschema_rs.validate({**content["schema"],
                                        "components": described["components"]}, example)
                assert key[0] == "/openapi.json" or example.keys() >= set(
                    resolve(name, content["schema"]).get("required", [])), key


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_text_that_is_asked_for_has_an_example(name):
    """A value of its own list, a number, and what an answer gives need none."""
    for key, operation in operations(name).items():
        item = in_the_tree(name)["paths"][key[0]]
        for each in [*operation.get("parameters", []), *item.get("parameters", [])]:
            each = resolve(name, each)
            schema = resolve(name, each["schema"])
            if (each["in"] == "header" or each["name"] == "cursor" or "enum" in schema
                    or schema.get("type") not in ("string", None)):
                continue
            assert "example" in each, (key, each["name"])
            jsonschema_rs.validate({**each["schema"], "components": in_the_tree(
                name)["components"]}, each["example"])


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_client_made_of_both_compiles_and_works(api, tables, program, sections, keys_file,
                                                  workdir):
    aggregator = program("aggregator", {"links": sections["links"], "aggregator": {
        "keys_file": str(keys_file.path)}})
    urls = {"allocator": api.program.url, "aggregator": aggregator.url}
    for name, url in urls.items():
        path = workdir / f"{name}.json"
        path.write_text(json.dumps(served(url + "/openapi.json")))
        run("node", CLIENT / "openapi-typescript/bin/cli.js", path, "-o",
            workdir / f"{name}.ts", cwd=workdir)
    shutil.copy(servers.ROOT / "tests/client/use.ts", workdir)
    (workdir / "node_modules").symlink_to(CLIENT)
    (workdir / "package.json").write_text('{"type": "module"}')
    run("node", CLIENT / "typescript/bin/tsc", "--strict", "--skipLibCheck", "--module",
        "esnext", "--moduleResolution", "bundler", "--target", "es2022", "--lib",
        "es2022,dom", "use.ts", cwd=workdir)
    said = json.loads(run("node", "use.js", *urls.values(), "boss", cwd=workdir))
    assert said == {"made": 201, "same": True, "links": 0, "complete": said["complete"],
                    "refused": 400}
