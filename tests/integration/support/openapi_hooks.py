"""Hooks for schemathesis: the key of a request, the format of batches, and a check that
each line of an answer in lines matches the description."""
import functools
import itertools
import json
import os

import jsonschema_rs
import schemathesis
from schemathesis.generation import GenerationMode

with open(os.environ["OPENAPI"], encoding="utf-8") as file:
    DESCRIBED = json.load(file)
KEYS = json.loads(os.environ["OPENAPI_KEYS"])
turns = {}


@functools.cache
def validator(name):
    return jsonschema_rs.validator_for(
        {"$ref": f"#/components/schemas/{name}",
         "components": DESCRIBED["components"]})


def leave_one(case):
    """Keeps one of the parameters that exclude each other (x-one-of, of a path): the
    one that the case is about, or the first.  Coverage sends all of them, except for
    one; what is generated at random has several of many parameters."""
    if case.meta is None:
        return
    if case.meta.phase.name != "coverage" and \
            case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    about = getattr(case.meta.phase.data, "parameter", None)
    for group in DESCRIBED.get("x-one-of", {}).get(case.path, []):
        there = [name for name in group if name in case.query]
        left = about if about in there else "".join(there[:1])
        for name in set(there) - {left}:
            del case.query[name]
    # Parameters that are refused without one of each of these groups (x-needs).
    for name, groups in DESCRIBED.get("x-needs", {}).get(case.path, {}).items():
        if name in case.query and name != about and not all(
                set(group) & set(case.query) for group in groups):
            del case.query[name]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    leave_one(case)
    if not KEYS:
        return
    turn = turns.setdefault(case.operation.label, itertools.cycle(KEYS))
    case.headers.pop("Authorization", None)
    key = next(turn)
    if key:
        case.headers["Authorization"] = f"Bearer {key}"


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(ctx, value):
    if isinstance(value, list):
        value = "".join(json.dumps(line) + "\n" for line in value)
    return value if isinstance(value, bytes) else str(value).encode()


def filled(response):
    """Returns the members of an answer that have a value."""
    kind = response.headers.get("content-type", [""])[0]
    if response.status_code != 200 or kind != "application/json":
        return []
    return [name for name, value in response.json().items() if value]


@schemathesis.check
def remembered(ctx, response, case):
    """Records the answer, so that the test can check what was tried."""
    method = case.operation.method.upper()
    key = response.request.headers.get("Authorization", "").split(" ")[-1]
    with open(os.environ["ANSWERS"], "a", encoding="utf-8") as log:
        log.write(json.dumps({
            "operation": f"{method} {case.path}", "key": key or None,
            "as_described": response.request.method == method,
            "status": response.status_code,
            "filled": filled(response)}) + "\n")


@schemathesis.check
def batch_lines(ctx, response, case):
    kinds = {"/v1/links/batch": "Link", "/v1/links/edit": "EditAnswer"}
    if case.path not in kinds or response.status_code != 200:
        return
    if "json" in response.headers["content-type"][0].replace("ndjson", ""):
        return
    if "ndjson" not in response.request.headers["Content-Type"].replace("jsonl", "ndjson"):
        *answers, end = [json.loads(line) for line in response.content.splitlines()]
        assert end.keys() == {"end"}
        for answer in answers:
            validator("EditAnswer").validate(answer)
        return
    sent = response.request.body or b""
    asked = [line for line in sent.split(b"\n") if line.strip(b"\r")]
    answers = [json.loads(line) for line in response.content.splitlines()]
    assert len(answers) == len(asked), (len(asked), len(answers))
    for answer in answers:
        validator("Problem" if "title" in answer else kinds[case.path]).validate(
            answer)
        assert answer.get("status") != 500, answer


@schemathesis.check
def export_lines(ctx, response, case):
    if (case.path != "/v1/export/clicks" or response.status_code != 200
            or "csv" in response.headers["content-type"][0]):
        return
    *rows, end = [json.loads(line) for line in response.content.splitlines()]
    for row in rows:
        validator("ExportRow").validate(row)
    validator("ExportEnd").validate(end)
    assert end["end"]["rows"] == len(rows)
