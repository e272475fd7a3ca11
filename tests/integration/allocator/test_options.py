"""GET /v1/options: what a form for new links needs to know."""
import signal

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, problem
from support.keys import key_line
from support.program import eventually
from support.spaces import USUAL, aliases, hashes, sequence

KEYS = {"boss": "admin", "crm": "create,read", "maker": "create account=shop spaces=names",
        "eye": "read accounts=*"}
LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "30d", "never"],
                 "spaces": [sequence(), hashes("h8", length=8), aliases()]}
LISTED = [
    {"name": "main", "hosts": ["sho.rt"], "accounts": ["crm"]},
    {"name": "promo", "hosts": ["promo.example"], "accounts": ["*"]},
    {"name": "bank", "hosts": ["bank.link"], "accounts": ["bank"]}]


@pytest.fixture
def more_sections():
    return {"domains": {"list": LISTED}, "allocator": {
        "url_schemes": ["myapp"], "default_ttl": "30d", "class_spaces": ["never=h8"]}}


@pytest.fixture
def keys_file(keys_file):
    keys_file.path.write_text("".join(key_line(*item) for item in KEYS.items())
                              + "@crm ttl=1h,never\n")
    return keys_file


def options(api, key, **headers):
    answer = api.call("GET", "/v1/options", key, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def spaces_by_class(options):
    return {each["name"]: each["space"] for each in options["ttl"] if each["allowed"]}


def test_a_form_offers_what_a_create_takes(api):
    boss = options(api, "boss")
    assert boss["ttl"] == [
        {"name": "1h", "ms": 3600000, "allowed": True, "space": "s7"},
        {"name": "30d", "ms": 30 * 86400000, "allowed": True, "space": "s7"},
        {"name": "never", "ms": None, "allowed": True, "space": "h8"}]
    assert boss["url_schemes"] == ["http", "https", "myapp"]
    assert boss["defaults"] == {"ttl": "30d", "space": "s7", "domain": "main",
                                "redirect_status": 302, "pass_query": "none"}
    made = api.post(url="myapp://item/7")
    assert made.status_code == 201, made.text
    for name in ("ttl", "space", "domain", "redirect_status", "pass_query"):
        assert made.json()[name] == boss["defaults"][name]
    for each in boss["ttl"]:
        made = api.create(ttl=each["name"], url=URL + each["name"])
        assert made["space"] == each["space"]
    for name in ("redirect_status", "pass_query"):
        for value in boss[name]:
            assert api.create(**{name: value})[name] == value
        assert f"{name}: expected {boss[name][0]}" in problem(
            api.post(url=URL, **{name: "x"}), 400)


def test_limits_are_those_of_a_create(api):
    most = options(api, "boss")["limits"]
    for fields, more in (
            ({"owner": "o" * most["text_bytes"]}, {"owner": "o" * (most["text_bytes"] + 1)}),
            ({"tags": ["t"] * most["tags"]}, {"tags": ["t"] * (most["tags"] + 1)}),
            ({"description": "d" * most["description_bytes"]},
             {"description": "d" * (most["description_bytes"] + 1)}),
            ({"code": "c" * most["code_bytes"]}, {"code": "c" * (most["code_bytes"] + 1)}),
            ({"max_visits": most["max_visits"]}, {"max_visits": most["max_visits"] + 1}),
            ({"url": URL + "u" * (most["url_bytes"] - len(URL))},
             {"url": URL + "u" * (most["url_bytes"] + 1 - len(URL))})):
        assert api.post(**{"url": URL, **fields}).status_code == 201, fields
        problem(api.post(**{"url": URL, **more}), 400)
    assert api.call("POST", "/v1/links",
                    data=b" " * (most["batch_line_bytes"] + 1)).status_code == 413


def test_a_key_is_offered_only_what_it_may_use(api):
    crm = options(api, "crm")
    assert {each["name"]: each["allowed"] for each in crm["ttl"]} == {
        "1h": True, "30d": False, "never": True}
    # The default class is not for the account, so a create has to name one.
    assert crm["defaults"]["ttl"] is crm["defaults"]["space"] is None
    problem(api.post("crm", url=URL), 403)
    assert [each["name"] for each in crm["domains"]] == ["main", "promo"]
    maker = options(api, "maker")
    assert [each["name"] for each in maker["domains"]] == ["promo"]
    assert maker["defaults"]["domain"] is None
    problem(api.post("maker", url=URL), 403)
    assert maker["spaces"] == [{"name": "names", "strategy": "alias", "code_length": None}]
    # Without a code there is no link in a space of aliases.
    assert spaces_by_class(maker) == {"1h": None, "30d": None, "never": None}
    for key in set(KEYS) - {"boss"}:
        assert "bank" not in api.call("GET", "/v1/options", key).text


def test_who_has_the_options_is_told_when_they_change(api, keys_file):
    first = api.call("GET", "/v1/options", "crm")
    tag = first.headers["ETag"]
    again = api.call("GET", "/v1/options", "crm", headers={"If-None-Match": tag})
    assert (again.status_code, again.text) == (304, "")
    assert again.headers["ETag"] == tag
    assert first.headers["Vary"] == again.headers["Vary"] == "Authorization"
    assert api.call("GET", "/v1/options", "boss",
                    headers={"If-None-Match": tag}).status_code == 200
    with keys_file.path.open("a") as file:
        file.write("@shop ttl=1h\n")
    keys_file.path.write_text(keys_file.path.read_text().replace("1h,never", "1h,30d"))
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: options(api, "crm")["defaults"]["ttl"] == "30d")
    assert api.call("GET", "/v1/options", "crm",
                    headers={"If-None-Match": tag}).status_code == 200


def test_no_key_is_offered_nothing(api):
    problem(api.call("GET", "/v1/options", None), 401)
    problem(api.call("GET", "/v1/options?x=1"), 400)
