"""For schemathesis: how batches are written, and that each of their answers is
a link or a problem as the description has it."""
import json
import os

import jsonschema_rs
import schemathesis

with open(os.environ["OPENAPI"], encoding="utf-8") as file:
    DESCRIBED = json.load(file)


def validator(name):
    return jsonschema_rs.validator_for(
        {"$ref": f"#/components/schemas/{name}",
         "components": DESCRIBED["components"]})


VALID = {True: validator("Problem"), False: validator("Link")}


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(ctx, value):
    if isinstance(value, list):
        value = "".join(json.dumps(line) + "\n" for line in value)
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.check
def remembered(ctx, response, case):
    """Notes what was answered, for the test to see what was tried."""
    with open(os.environ["ANSWERS"], "a", encoding="utf-8") as log:
        log.write(f"{case.operation.method.upper()} {case.path} "
                  f"{response.request.method} {response.status_code}\n")


@schemathesis.check
def batch_lines(ctx, response, case):
    if case.path != "/v1/links/batch" or response.status_code != 200:
        return
    sent = response.request.body or b""
    asked = [line for line in sent.split(b"\n") if line.strip(b"\r")]
    answers = [json.loads(line) for line in response.content.splitlines()]
    assert len(answers) == len(asked), (len(asked), len(answers))
    for answer in answers:
        VALID["title" in answer].validate(answer)
        assert answer.get("status") != 500, answer
