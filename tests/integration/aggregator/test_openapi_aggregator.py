"""The aggregator's API against its own description, schemas/openapi/aggregator.yaml."""
import json
import re

import pytest
import requests

import servers
from support.clicks import datetime64, hours_events, instant, rfc3339, some_clicks
from support.keys import key_line
from support.openapi import (
    EXAMPLES, described_as, in_the_tree, remembered, resolve, schemathesis, seen, served)
from support.program import eventually

# The range has as many hours as /v1/reconciliation answers at once.
FROM, TO = instant("2026-10-03T00:00:00Z"), instant("2026-10-05T00:00:00Z")
DAY = 86400
COUNT = 400
KEYS = {"boss": "admin", "ann": "read account=acme owners=ann",
        "acme": "read-own account=acme", "maker": "create"}
# {link: owner, account}, of codes code1 ...
LINKS = {1: ("ann", "acme"), 2: ("bob", "shop"), 3: ("ann", "shop")}
LIVE = "/v1/live"
# test_shares.py compares their answers with the description.
SHARES = {"/v1/shares", "/v1/shares/{id}"}
CREATIONS = "/v1/creations"
# Parameters that find something.  Their only values are these, as any other is refused
# or not found ...
ONLY = {
    "code": ["code1", "code2", "gone"], "link_id": ["1", "2", "9"],
    "from": [rfc3339(FROM), "2026-10-04"], "to": [rfc3339(TO), "2026-10-06"],
    "tz": ["UTC", "Asia/Kolkata"], "period": ["all"]}
# ... and half of the generated values of these.
OFTEN = {
    "created_from": ["2026-09-01"], "created_to": [rfc3339(TO)],
    "owner": ["ann", "bob", ""], "tag": ["a", "b"], "q": ["code", "example"],
    "space": ["s7"], "url": ["https://example.com/"], "limit": [1, 2],
    "If-None-Match": ['"0"', "*", '"1", "2"']}
# Some of many similar values.
FILTERS = {"country": ["DE,US", "-DE"], "verdict": ["human", "-bot"],
           "asn": ["", "-1"]}
ALIKE = {"campaign", "domain"}
GROUPS = ["country", "link", "tag", "ua_family", "os_version"]
# Parameters that need a role beside that to read.
OF_VISITORS = {"visitor", "also"}
# Parameters that may come with a cursor.
WITH_CURSORS = {"limit", "format", "cursor"}


# --- data --------------------------------------------------------------------------

@pytest.fixture
def world(migrated, clickhouse):
    """Clicks of some links in two days, and two runs of the reclaimer."""
    for link, (owner, account) in LINKS.items():
        migrated.link(f"code{link}", link, owner=owner, account=account,
                      tags=["a", f"t{link}"], campaign="autumn", domain="main",
                      description="a", creator="crm", editor="crm", max_visits=9,
                      expires_at=datetime64(TO * 1000), not_before=FROM,
                      targets={"ios": "https://ios.example/"})
    migrated.creations([
        {"link_id": link + 10 * day, "slot": FROM + DAY * day, "owner": owner,
         "account": account, "domain": f"d{link}", "space": f"s{link}",
         "source": ["single", "batch"][link % 2], "code_length": link}
        for link, (owner, account) in LINKS.items() for day in (0, 1)])
    migrated.insert(some_clicks(1, COUNT, [(FROM, TO)], links=list(LINKS)))
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    clickhouse.query(
        "INSERT INTO reclaim_runs SELECT 's7', toDateTime64(number + 1, 3), "
        "toDateTime64(number + 2, 3), 6, 1, 1, 1, 1, 1, 1, 0.5, true, 'said', "
        "'host' FROM numbers(2)")
    # A collector that continues to report: a future time is not checked.
    clickhouse.query(
        "INSERT INTO collectors SELECT 'one', now64(3, 'UTC') + toIntervalSecond("
        "15 * number), true, 'said', ['clicks'], [0], [7] FROM numbers(240)")


@pytest.fixture
def make(world, redis, program, clickhouse, workdir):
    """make(keys=False, ...) returns an aggregator that has settled the clicks."""
    path = workdir / "api.keys"
    path.write_text("".join(key_line(*item) for item in KEYS.items()))

    def made(keys=False, kafka=None, **settings):
        if keys:
            settings["keys_file"] = str(path)
        started = program("aggregator", {"kafka": kafka or {}, "aggregator": {
            "settle_every": "1s", "watermark_every": "1s", **settings}})
        eventually(lambda: hours_events(clickhouse) == COUNT, what="settled")
        eventually(lambda: get(started, "/v1/export/clicks?limit=1").status_code
                   == 200, what="the watermark to be read")
        return started
    return made


def get(made, path, key="boss", **kw):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return requests.get(made.url + path, timeout=60,
                        headers={**headers, **kw.pop("headers", {})}, **kw)


def cursor_of(made, path):
    """Returns the cursor at the end of the first page."""
    last = json.loads(get(made, path + "?limit=1").text.splitlines()[-1])
    return last["end"]["cursor"] if "end" in last else last["next"]


def often(schema, values):
    return {"anyOf": [{"enum": values}, schema]}


def narrow(made, path, without=()):
    """Writes the description to `path` with values from the tables, and without the
    endless stream and some parameters.  Exports have only the few existing clicks."""
    described = served(made.url + "/openapi.json")
    for path_ in SHARES | {LIVE}:
        del described["paths"][path_]
    described["x-one-of"] = {
        route: [[name, "cursor"] for name in sorted(names_of(route) - WITH_CURSORS)]
        for route in described["paths"]}
    described["x-one-of"]["/v1/clicks"] = [
        ["code", "link_id"], ["verdict", "bots"], ["group_by", "breakdowns"],
        ["format", "breakdowns"], ["format", "compare"], ["from", "period"],
        ["to", "period"], ["period", "compare"]]
    described["x-needs"] = {
        "/v1/clicks": {"compare_groups": [["compare"], ["group_by", "breakdowns"]]}}
    described["x-one-of"]["/v1/summary"] = [["code", "link_id"]]
    described["x-one-of"]["/v1/visit-statistics"] = [["code", "link_id"]]
    described["x-one-of"]["/v1/top"] = [
        ["verdict", "bots"], ["from", "period"], ["to", "period"]]
    described["x-one-of"]["/v1/export/clicks"].append(["code", "link_id", "owner"])
    shared = described["components"]
    parameters = [*shared["parameters"].values()]
    lists = [shared["parameters"]["filters"]]
    for route, item in described["paths"].items():
        taken = item["get"].get("parameters", [])
        taken[:] = [each for each in taken if each.get("name") not in ALIKE | {*without}]
        for each in taken:
            if each.get("name") == "cursor":
                each["schema"] = {"enum": [cursor_of(made, route)]}
            elif each.get("name") == "filters" and route == CREATIONS:
                each["schema"]["properties"] = {"account": {"enum": ["acme,shop", "-acme"]}}
            elif each.get("name") == "filters":
                lists.append(each)
            elif each.get("name") in ("group_by", "breakdowns") and route != CREATIONS:
                each["schema"]["items"]["enum"] = GROUPS
            elif (route, each.get("name")) == ("/v1/links", "code"):
                # It is the beginning of a code.
                each["schema"] = often(each["schema"], ONLY["code"])
            elif "name" in each:
                parameters.append(each)
    for each in lists:
        of = each["schema"]["properties"]
        each["schema"]["properties"] = {
            name: often(of[name], FILTERS[name]) for name in FILTERS}
    for each in parameters:
        # Examples are of a world that this one is not.
        each.pop("example", None)
        if each["name"] in ONLY:
            each["schema"] = {"enum": ONLY[each["name"]]}
        elif each["name"] in OFTEN:
            each["schema"] = often(each["schema"], OFTEN[each["name"]])
    path.write_text(json.dumps(described))
    return path


# --- the description itself --------------------------------------------------------

def names_of(path):
    """Returns the parameters in the query string."""
    described = in_the_tree("aggregator")
    names = set()
    for each in described["paths"][path]["get"].get("parameters", []):
        each = resolve(described, each)
        if each["name"] == "filters":
            names |= set(each["schema"]["properties"])
        elif each["in"] == "query":
            names.add(each["name"])
    return names


@pytest.fixture
def empty(migrated, redis, program):
    return program("aggregator", {"kafka": {"topic_live": "live"}})


def test_what_is_served_is_what_is_in_the_tree(empty):
    assert served(empty.url + "/openapi.json") == in_the_tree("aggregator")


def test_the_parameters_that_are_known_are_those_described(empty):
    """The answer names the first unknown parameter, and the known ones."""
    for path, item in in_the_tree("aggregator")["paths"].items():
        if path == "/openapi.json" or "get" not in item:
            continue
        names = names_of(path)
        answer = get(empty, path.replace("{code}", "code1"),
                     params={**dict.fromkeys(names, "1"), "nosuch": "1"})
        said, _, known = answer.json()["detail"].partition("; known here: ")
        assert said == "nosuch: no such parameter", path
        known = set(known.split(", ")) - {"", "none", "and dimensions to filter by"}
        assert known <= names, path


def test_the_manual_has_what_is_described_and_nothing_else():
    manual = (servers.ROOT / "docs/aggregator.md").read_text()
    dimensions = re.search(r"<!-- begin: dimensions(.*?)<!-- end -->", manual, re.DOTALL)[1]
    asking, export, links, live = [
        {name for row in table.splitlines()
         for name in re.findall(r"`(\w+)`", row.split("|")[1])}
        for table in re.findall(
            r"\n\| parameter \|.*\n\|[-|]+\n((?:\|.*\n)+)", manual)]

    assert set(re.findall(r"/v1/[a-z/-]*[a-zA-Z]+[a-z0-9A-Z/]*", manual)) == {
        path.replace("{code}", "Ab3dE7x").replace("{id}", "0c5a8e7b13f24d6a90e1b2c3")
        for path in in_the_tree("aggregator")["paths"]} - {"/openapi.json"}
    assert export == names_of("/v1/export/clicks")
    assert links == names_of("/v1/links")
    assert live == names_of(LIVE)
    # "a dimension but `link`"
    filters = names_of("/v1/clicks") - (asking - {"link"})
    assert filters | {"link"} <= set(re.findall(r"\w+", dimensions))


# --- the API compared with it --------------------------------------------------------

SEEN = {
    "GET /v1/clicks": {200, 304, 400, 404},
    "GET /v1/creations": {200, 304, 400},
    "GET /v1/top": {200, 304, 400},
    "GET /v1/links": {200, 304, 400},
    "GET /v1/values": {200, 304, 400},
    "GET /v1/links/{code}/summary": {200, 304, 404},
    "GET /v1/links/{code}/history": {200, 304, 400, 404},
    "GET /v1/summary": {200, 304, 400, 404},
    "GET /v1/visit-statistics": {200, 304, 400, 404},
    "GET /v1/pipeline": {200, 304},
    "GET /v1/reclaim-runs": {200, 304, 400},
    "GET /v1/archived-spaces": {200, 304},
    "GET /v1/export/clicks": {200, 400, 404},
    "GET /v1/reconciliation": {200, 304, 400},
    "GET /v1/me": {200},
    "GET /openapi.json": {200, 304},
}
# Members that have no value here: no day was dropped, no redirector reported, no hour
# has more values than are kept, nothing waits, no link has max_visits or was reclaimed,
# no code has had more links than are answered.
NEVER = {"rows_from", "counts_from", "counted_from", "gaps", "kept_at", "lower_bound",
         "waiting", "reclaimed_at", "max_visits", "visits", "more"}
OWN = {"GET /v1/clicks", "GET /v1/creations", "GET /v1/links", "GET /v1/values",
       "GET /v1/links/{code}/summary", "GET /v1/links/{code}/history",
       "GET /v1/summary", "GET /v1/top", "GET /v1/visit-statistics",
       "GET /v1/export/clicks"}
# Members that have no value without a file of keys, or without a share.
OF_KEYS = {"GET /v1/me": {"name", "account", "owners", "rate", "share"}}
ANSWERED = {"boss": set(SEEN), "ann": OWN, "acme": OWN}


def members(described, operation):
    """Returns the members of a JSON answer."""
    path = operation.removeprefix("GET ")
    content = described["paths"][path]["get"]["responses"]["200"]["content"]
    schema = content.get("application/json", {}).get("schema", {})
    of = resolve(described, schema).get("properties", {})
    return {name for name in of if "const" not in of[name]} - NEVER


@pytest.mark.proof
@pytest.mark.first
@pytest.mark.timeout(1800)
def test_the_aggregator_keeps_to_its_description(make, workdir):
    made = make()
    path = narrow(made, workdir / "openapi.json")
    schemathesis(path, made.url, "--max-examples", str(EXAMPLES // 10),
                 "--phases", "coverage,fuzzing")
    seen(path, SEEN)
    # Members that also have a value.
    filled = {}
    for answer in remembered(path):
        filled.setdefault(answer["operation"], set()).update(answer["filled"])
    described = in_the_tree("aggregator")
    for operation in SEEN:
        assert members(described, operation) - OF_KEYS.get(operation, set()) <= (
            filled[operation]), operation


def expected(key, operation):
    if operation == "GET /openapi.json":
        return 200
    if key in (None, "wrong"):
        return 401
    return 200 if operation in ANSWERED[key] else 403


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_with_keys_it_keeps_to_its_description(make, workdir):
    made = make(keys=True)
    path = narrow(made, workdir / "openapi.json", OF_VISITORS)
    keys = [None, "wrong", "boss", "ann", "acme"]
    schemathesis(path, made.url, "--max-examples", str(EXAMPLES),
                 "--phases", "fuzzing", "--mode", "positive",
                 # It has no parameters: it would be requested once, with one key.
                 "--exclude-path", "/v1/me", keys=keys)
    for key in keys:
        seen(path, {operation: {expected(key, operation)}
                    for operation in set(SEEN) - {"GET /v1/me"}}, key=key)
    for answer in remembered(path, status=200):
        assert expected(answer["key"], answer["operation"]) == 200, answer


# --- the stream --------------------------------------------------------------------

@pytest.mark.proof
def test_the_live_stream_is_as_described(make):
    """The brokers are down meanwhile."""
    made = make(keys=True, kafka={"topic_live": "live"}, live_per_key=1)
    refused = {400: get(made, LIVE + "?bots=no"), 401: get(made, LIVE, None),
               403: get(made, LIVE, "maker"), 404: get(made, LIVE + "?code=gone"),
               406: get(made, LIVE, headers={"Accept-Encoding": "identity;q=0"})}
    with get(made, LIVE + "?code=code1", stream=True) as stream:
        lines = stream.iter_lines()
        assert next(lines) == b"retry: 2000"
        refused[429] = get(made, LIVE, stream=True)
    assert stream.status_code == 200 and described_as(stream, "aggregator", "GET", LIVE)
    for status, answer in refused.items():
        assert answer.status_code == status, answer.text
        assert described_as(answer, "aggregator", "GET", LIVE)


def test_without_a_topic_there_is_no_live_stream(migrated, redis, program):
    answer = get(program("aggregator"), LIVE)
    assert answer.status_code == 404 and described_as(answer, "aggregator", "GET", LIVE)
