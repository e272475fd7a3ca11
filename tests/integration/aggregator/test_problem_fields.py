"""Problems name the parameter, or the members of a body, that are wrong: each parameter of
the description, schemas/openapi/aggregator.yaml, so also one that is to come."""
import pytest

from support.allocator import *  # noqa: F401,F403
from support.openapi import described_as, in_the_tree, resolve
from support.program import quick

KEYS = {"boss": "admin", "acme": "read account=acme"}
# No parameter takes a control character, a line end, or a backslash without a character
# behind it.
BAD = "\x01\n\\"
# Parameters that must be right, or given, for another to be looked at.
BESIDE = {"/v1/values": {"of": "tag"}}
SHARES = "/v1/shares"


@pytest.fixture
def first_keys():
    return KEYS


@pytest.fixture
def aggregator(migrated, redis, create_space, program, sections, keys_file):
    status, output = create_space()
    assert status == 0, output
    return program("aggregator", {
        "kafka": {"topic_live": "live"}, "links": sections["links"],
        "aggregator": {"keys_file": str(keys_file.path)}})


def request(made, method, path, key="boss", **how):
    return quick.request(method, made.url + path, timeout=60,
                         headers={"Authorization": f"Bearer {key}"}, **how)


def problem(answer, path, method="GET", status=400):
    assert answer.status_code == status, (path, answer.text)
    assert described_as(answer, "aggregator", method, path)
    return answer.json()


def parameters(item):
    """Returns the names in the query string of a path's GET."""
    described = in_the_tree("aggregator")
    for each in item.get("parameters", []):
        each = resolve(described, each)
        if each["in"] == "query" and each.get("style") == "form" and (
                each["schema"].get("type") == "object"):
            yield from each["schema"]["properties"]
        elif each["in"] == "query":
            yield each["name"]


def asked():
    """Returns each (path, parameter)."""
    return [(path, name) for path, item in in_the_tree("aggregator")["paths"].items()
            for name in parameters(item.get("get", {}))]


@pytest.mark.proof
def test_each_wrong_parameter_is_named(aggregator):
    pairs = asked()
    assert len(pairs) > 150 and {("/v1/clicks", "country"), ("/v1/clicks", "tz")} <= set(pairs)
    for path, name in pairs:
        beside = {**BESIDE.get(path, {}), name: BAD}
        answer = request(aggregator, "GET", path.replace("{code}", "code1"), params=beside)
        told = problem(answer, path)
        assert told["field"] == name, (path, name, told)
        assert told["errors"] == [{"field": name, "detail": told["detail"]}], path


def test_a_parameter_that_is_unknown_or_repeated_is_named(aggregator):
    for path, item in in_the_tree("aggregator")["paths"].items():
        # Files have no parameters, and take any.
        if "get" not in item or path == "/openapi.json":
            continue
        at = path.replace("{code}", "code1")
        told = problem(request(aggregator, "GET", at, params={"a\"b": "1"}), path)
        assert told["field"] == "a\"b" and told["errors"], path
        assert problem(request(aggregator, "GET", at + "?a=%zz"), path)["field"] == "a"
        for name in list(parameters(item["get"]))[:1]:
            told = problem(request(aggregator, "GET", f"{at}?{name}=1&{name}=1"), path)
            assert told["field"] == name, path


def test_what_no_parameter_is_wrong_for_names_none(aggregator):
    missing = request(aggregator, "GET", "/v1/links/code1/summary")
    assert "field" not in problem(missing, "/v1/links/{code}/summary", status=404)


def test_a_parameter_that_a_key_may_not_give_is_named(aggregator):
    answer = request(aggregator, "GET", "/v1/export/clicks", "acme",
                     params={"visitor": "ab" * 20})
    assert problem(answer, "/v1/export/clicks", status=403)["field"] == "visitor"
    answer = request(aggregator, "POST", SHARES, "acme", json={"filters": {"account": "shop"}})
    assert problem(answer, SHARES, "POST", 403)["field"] == "filters.account"


def test_all_mistakes_of_a_body_are_told(aggregator):
    described = in_the_tree("aggregator")
    members = set(described["components"]["schemas"]["ShareRequest"]["properties"])
    assert len(members) >= 8
    for name in members:
        one = {"filters": {}, name: [], **({"last_days": None} if name == "from" else {})}
        told = problem(request(aggregator, "POST", SHARES, json=one), SHARES, "POST")
        assert name in {each["field"] for each in told["errors"]}, told

    told = problem(request(aggregator, "POST", SHARES, json=dict.fromkeys(members, [])),
                   SHARES, "POST")
    assert {each["field"] for each in told["errors"]} >= members
    assert told["errors"][0] == {"field": told["field"], "detail": told["detail"]}

    filters = {"link": "1", "tag": 1, "country": "a\\", "channel": "mail"}
    told = problem(request(aggregator, "POST", SHARES, json={
        "filters": filters, "password": "short", "nothing": 1}), SHARES, "POST")
    assert [each["field"] for each in told["errors"]] == [
        "nothing", "filters.link", "filters.tag", "filters.country", "password"]

    many = {f"m{n}": n for n in range(30)}
    told = problem(request(aggregator, "POST", SHARES, json=many), SHARES, "POST")
    assert [each["field"] for each in told["errors"]] == list(many)[:20]
