"""Tests a program's API against its own description with schemathesis."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import jsonschema_rs
import requests
import yaml

import servers

ANSWER_CHECKS = ("status_code_conformance,content_type_conformance,"
                 "response_schema_conformance,response_headers_conformance,"
                 "batch_lines,export_lines,remembered")
# Without use_after_free: a deleted link is explained, and may be restored.
CHECKS = (ANSWER_CHECKS + ",not_a_server_error,allow_header_conformance,"
          "unsupported_method,ignored_auth,"
          "ensure_resource_availability,negative_data_rejection,"
          "missing_required_header")
# The number of examples of an operation; make test-long uses more.
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "60"))

# Methods that the server's parser knows; others are a 501.
SETTINGS = """
[phases.coverage]
unexpected-methods = ["GET", "POST", "PUT", "PATCH", "DELETE",
                      "OPTIONS", "TRACE"]

# The defaults, 413, 414 and 431: a text beyond its bound may be too long for any body,
# or any line.
[checks]
negative_data_rejection.expected-statuses = [
    400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 428, 429,
    431, "5xx"]
"""


@functools.cache
def in_the_tree(name):
    """Returns the description of the program `name`; it must not be modified."""
    path = servers.ROOT / f"schemas/openapi/{name}.yaml"
    return yaml.load(path.read_text(), yaml.CSafeLoader)


def resolve(described, thing):
    while "$ref" in thing:
        kind, name = thing["$ref"].split("/")[2:]
        thing = described["components"][kind][name]
    return thing


def described_as(answer, name, method, path):
    """Returns whether the answer matches the description of the program `name`."""
    described = in_the_tree(name)
    responses = described["paths"][path][method.lower()]["responses"]
    response = resolve(described, responses[str(answer.status_code)])
    for field, header in response.get("headers", {}).items():
        header = resolve(described, header)
        if header.get("required") or field in answer.headers:
            assert re.search(header["schema"].get("pattern", ""), answer.headers[field])
    if "content" not in response:
        return not answer.content
    kind = answer.headers["Content-Type"]
    if kind in ("application/json", "application/problem+json"):
        jsonschema_rs.validate({**response["content"][kind]["schema"],
                                "components": described["components"]}, answer.json())
    return kind in response["content"]


def served(url):
    answer = requests.get(url, timeout=60)
    assert answer.headers["Content-Type"] == "application/json"
    return answer.json()


def schemathesis(path, url, *args, key=None, keys=(), checks=CHECKS, status=0):
    """Runs schemathesis with the description at `path`, the same way every time;
    returns its output.  With `keys` each operation is requested with each of them; None
    is no key."""
    settings = path.with_name("schemathesis.toml")
    settings.write_text(SETTINGS)
    path.with_name("answers").unlink(missing_ok=True)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file",
               str(settings), "run", str(path), "--url", url,
               "--checks", checks, "--seed", "4711",
               "--generation-deterministic", "--no-color",
               "--suppress-health-check", "all", "--continue-on-failure",
               "--request-timeout", "120",
               *args]
    if key:
        command += ["-H", f"Authorization: Bearer {key}"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=1800, cwd=path.parent,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "support.openapi_hooks",
             "PYTHONPATH": str(pathlib.Path(__file__).parent.parent),
             "OPENAPI": str(path), "OPENAPI_KEYS": json.dumps(keys),
             "ANSWERS": str(path.with_name("answers"))}, check=False)
    # The output has the failures and the summary; between them may be a body of 100 kB.
    assert done.returncode == status, (done.stdout[:4000] + "\n...\n" +
                                       done.stdout[-4000:])
    return done.stdout


def remembered(path, **equal):
    """Returns lines of support/openapi_hooks.py, for the described methods."""
    for line in path.with_name("answers").read_text().splitlines():
        answer = json.loads(line)
        if answer["as_described"] and equal.items() <= answer.items():
            yield answer


def answers_of(path, **equal):
    """Returns {"POST /v1/links": {201: 12, 400: 34}}."""
    found = {}
    for answer in remembered(path, **equal):
        statuses = found.setdefault(answer["operation"], {})
        statuses[answer["status"]] = statuses.get(answer["status"], 0) + 1
    return found


def seen(path, expected, **equal):
    """Checks what must occur in a valid run: {operation: statuses}."""
    answers = answers_of(path, **equal)
    assert set(answers) == set(expected)
    for operation, statuses in expected.items():
        assert statuses <= set(answers[operation]), (operation,
                                                     answers[operation])
    assert max(max(statuses) for statuses in answers.values()) < 500
