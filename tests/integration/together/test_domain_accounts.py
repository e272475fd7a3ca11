"""The accounts of a domain and of a space of codes: who may create links there, in
every way of creating them."""
import json
import signal
import types
import uuid

import pytest
import requests
import yaml

from support.allocator import *  # noqa: F401,F403
from support.allocator import Api, problem
from support.batch import Batch, batch
from support.program import eventually
from support.spaces import USUAL, aliases, hashes, sequence, snowflakes

URL = "https://elsewhere.example/login"
KEYS = {"boss": "admin", "acme": "create,read-own", "mallory": "create,read-own",
        "acme-2": "create account=acme spaces=names,h8",
        "eight": "create,read-own account=shop",
        "nine": "create spaces=flakes", "eye": "read accounts=*"}
MAIN = {"name": "main", "hosts": ["sho.rt"]}
PROMO = {"name": "promo", "hosts": ["promo.example"], "accounts": ["acme", "shop"]}
BANK = {"name": "bank", "hosts": ["bank.link"]}
OPEN = {"name": "open", "hosts": ["open.example"], "accounts": ["*"]}
DOMAINS = {"default": "main", "list": [MAIN, PROMO, BANK, OPEN]}


@pytest.fixture
def first_keys():
    return KEYS


LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "never"], "spaces": [
    sequence(), hashes("h8", length=8), snowflakes(), aliases()]}


@pytest.fixture
def domains(workdir):
    """.write({...}) changes the file; .section names it."""
    path = workdir / "domains.yaml"

    def write(content):
        fresh = path.with_suffix(".new")
        fresh.write_text(yaml.safe_dump({"domains": content}))
        fresh.rename(path)
    write(DOMAINS)
    return types.SimpleNamespace(write=write, section={"file": str(path)})


@pytest.fixture
def more_sections(domains):
    return {"domains": domains.section}


@pytest.fixture
def change_domains(api, domains):
    def change(*listed, default="main"):
        before = api.program.log().count("domains reloaded")
        domains.write({"default": default, "list": list(listed)})
        api.program.process.signal(signal.SIGHUP)
        eventually(lambda: api.program.log().count("domains reloaded") > before)
    return change


def strategies():
    return {"sequence": {"space": "s7"}, "hash": {"space": "h8"},
            "snowflake": {"space": "flakes"},
            "alias": {"code": "login-" + uuid.uuid4().hex[:8]}}


def make(api, key, status=201, idem=None, **fields):
    answer = api.call("POST", "/v1/links", key, json={"url": URL, "ttl": "1h", **fields},
                      headers={"Idempotency-Key": idem} if idem else {})
    assert answer.status_code == status, answer.text
    return answer.json()


def line_of(**fields):
    return json.dumps({"url": URL, "ttl": "1h", **fields}).encode() + b"\n"


# {account's key: the domains that it may use}
MAY = {"boss": {"main", "promo", "bank", "open"}, "acme": {"main", "promo", "open"},
       "eight": {"main", "promo", "open"}, "mallory": {"main", "open"}}


@pytest.mark.parametrize("strategy", strategies())
def test_a_domain_is_for_the_accounts_it_names(api, strategy):
    for key, allowed in MAY.items():
        for name in MAY["boss"]:
            status = 201 if name in allowed else 403

            def fields(what):
                return {"url": URL + what, "domain": name, **strategies()[strategy]}
            made = make(api, key, status, **fields(""))
            sent = make(api, key, status, idem=f"{key}-{name}", **fields("?sent"))
            lines = batch(api, [line_of(**fields("?line"))], key=key)
            for answer in (made, sent, *lines):
                if status == 201:
                    host, = [d["hosts"][0] for d in DOMAINS["list"] if d["name"] == name]
                    assert answer["domain"] == name
                    assert answer["short_url"].startswith(f"https://{host}/")
                else:
                    assert answer["status"] == 403
                    assert f"domain: '{name}' is not for the account" in answer["detail"]


def test_a_refusal_says_nothing_of_others(api):
    for key in ("acme", "mallory", "nine"):
        answers = [api.post(key, url=URL, ttl="1h", domain=name)
                   for name in ("bank", "bonk", "' or ''='", "b\u00fccher", "")]
        details = [problem(answer, 403) for answer in answers]
        for name, detail in zip(("bank", "bonk", "' or ''='", "b\u00fccher", ""),
                                details):
            assert detail.startswith(f"domain: '{name}' is not for the account ")
            assert detail.replace(f"'{name}'", "'bank'", 1) == details[0]
        assert "shop" not in details[0] and "bank.link" not in details[0]
        assert details[0].count("bank") == 1
    # An admin gets the list of domains.
    assert "main, promo, bank, open" in problem(
        api.post(url=URL, ttl="1h", domain="bonk"), 400)


def test_a_name_of_any_length_is_refused_whole(api):
    assert "x" * 128 in problem(api.post("acme", url=URL, ttl="1h", domain="x" * 128), 403)
    problem(api.post("acme", url=URL, ttl="1h", domain="x" * 129), 400)
    problem(api.post("acme", url=URL, ttl="1h", domain=["main"]), 400)


def test_the_default_domain_is_for_all_until_it_names_some(api, change_domains):
    assert make(api, "mallory")["domain"] == "main"
    change_domains(PROMO, BANK, default="promo")
    detail = problem(api.post("mallory", url=URL, ttl="1h"), 403)
    assert detail == ("domain: the default one is not for the account 'mallory', which "
                      "may use none")
    assert make(api, "acme")["domain"] == "promo"
    change_domains(MAIN, BANK)
    assert make(api, "mallory")["domain"] == "main"


# --- links from before ---------------------------------------------------------------

def test_who_lost_a_domain_reads_and_deletes_and_neither_edits_nor_creates(
        api, change_domains):
    link = make(api, "acme", domain="promo")
    code = link["code"]
    change_domains(MAIN, {**PROMO, "accounts": ["shop"]})
    for fields in ({"url": "https://evil.example/"}, {"tags": ["x"]}, {"ttl": "never"},
                   {"targets": {"ios": "https://evil.example/"}}):
        detail = problem(api.patch(code, "acme", **fields), 403)
        assert "'promo'" in detail and "shop" not in detail
    assert api.get(code, "acme").json()["version"] == link["version"]
    assert api.get(code + "/qr", "acme").status_code == 200
    # For other accounts, the link still does not exist.
    problem(api.patch(code, "eight", url="https://evil.example/"), 404)
    assert api.patch(code, tags=["by-admin"]).status_code == 200
    assert api.delete(code, "acme").status_code == 204
    # A domain without accounts is only for admins.
    other = make(api, "eight", domain="promo")["code"]
    change_domains(MAIN, {"name": "promo", "hosts": ["promo.example"]})
    problem(api.patch(other, "eight", tags=["x"]), 403)
    assert api.patch(other, tags=["x"]).status_code == 200


def test_a_link_changes_its_domain_to_one_of_its_account(api):
    code = make(api, "acme", domain="main")["code"]
    changed = api.patch(code, key="acme", domain="promo")
    assert changed.status_code == 200, changed.text
    assert changed.json()["domain"] == "promo"
    assert changed.json()["short_url"] == f"https://promo.example/{code}"
    for name in "bank", "nowhere":
        assert f"domain: '{name}' is not for the account 'acme'" in problem(
            api.patch(code, key="acme", domain=name), 403)
    # An admin, too, leaves it where its account may be.
    assert "domain: 'bank' is not for the account 'acme'" in problem(
        api.patch(code, domain="bank"), 400)
    assert "domain: 'promo' is not for the account 'mallory'" in problem(
        api.patch(code, account="mallory"), 400)
    moved = api.patch(code, account="mallory", domain="open")
    assert (moved.json()["account"], moved.json()["domain"]) == ("mallory", "open")
    back = api.patch(code, key="mallory", domain=None)
    assert back.json()["short_url"] == f"https://sho.rt/{code}"


@pytest.mark.parametrize("strategy", strategies())
def test_a_request_sent_again_takes_the_right_anew(api, change_domains, strategy):
    fields = {"domain": "promo", **strategies()[strategy]}
    link = make(api, "acme", idem="again", **fields)
    assert api.call("POST", "/v1/links", "acme", json={"url": URL, "ttl": "1h", **fields},
                    headers={"Idempotency-Key": "again"}).json()["code"] == link["code"]
    change_domains(MAIN, {**PROMO, "accounts": ["shop"]})
    assert "'promo'" in make(api, "acme", 403, idem="again", **fields)["detail"]
    lines = batch(api, [line_of(**fields)], key="acme",
                  headers={"Idempotency-Key": "again"})
    assert lines[0]["status"] == 403


def test_the_same_url_under_another_domain_is_another_link(api, change_domains):
    fields = {"space": "h8"}
    on_promo = make(api, "acme", domain="promo", **fields)
    on_main = make(api, "acme", **fields)
    assert on_main["code"] != on_promo["code"] and on_main["domain"] == "main"
    assert make(api, "acme", 200, domain="promo", **fields)["code"] == on_promo["code"]
    assert make(api, "acme", 200, domain="main", **fields)["code"] == on_main["code"]
    change_domains(MAIN, {**PROMO, "accounts": ["shop"]}, OPEN)
    problem(api.post("acme", url=URL, ttl="1h", domain="promo", **fields), 403)
    assert make(api, "acme", 200, **fields)["code"] == on_main["code"]
    assert make(api, "acme", domain="open", **fields)["domain"] == "open"


def test_a_blocked_link_is_no_way_around_under_another_domain(api, redis):
    """This holds even if Redis has forgotten that the URL is blocked."""
    link = make(api, "acme", domain="promo", space="h8")
    assert api.patch(link["code"], state="blocked").status_code == 200
    assert redis.client().delete("blocked:{acme}") == 1
    problem(api.post("acme", url=URL, ttl="1h", domain="promo", space="h8"), 451)
    problem(api.post("acme", url=URL, ttl="1h", domain="main", space="h8"), 451)


def test_lines_of_a_batch_go_by_the_domains_of_their_time(api, change_domains):
    with Batch(api, [line_of(domain="promo")], key="acme", keep_open=True) as sent:
        assert sent.read(1)[0]["domain"] == "promo"
        change_domains(MAIN, {**PROMO, "accounts": ["shop"]})
        sent.send(line_of(domain="promo") + line_of(domain="main"))
        refused, made = sent.read(2)
        assert refused["status"] == 403 and made["domain"] == "main"
        sent.end()


# --- shared domains ------------------------------------------------------------------

def test_shared_domains_keep_whose_they_are(redis, kafka, links_config, create_space,
                                            sections, program, workdir):
    for each in links_config["spaces"]:
        assert create_space(name=each["name"])[0] == 0
    sections["domains"] = {"shared": True, "list": [MAIN]}
    sections["kafka"] = {"topic_links": kafka.create_topic("links", 1),
                         "topic_clicks": kafka.create_topic("clicks", 1)}
    allocator = Api(program("allocator", sections))
    redirector = program("redirector", {
        "links": links_config, "domains": sections["domains"],
        "kafka": sections["kafka"],
        "redirector": {"unknown_hosts": "refuse"}})
    pushed = workdir / "pushed.yaml"

    def command(*words):
        return program("allocator", sections, start=False,
                       args=["domains", *words]).run()

    def takes(revision):
        return all(p.metric("shortloop_domains_revision") > revision
                   for p in (allocator.program, redirector))
    pushed.write_text(yaml.safe_dump({"domains": {"list": [
        {**PROMO, "accounts": ["no body"]}]}}))
    status, text = command("push", str(pushed))
    assert status == 78 and "promo: accounts: 'no body'" in text
    pushed.write_text(yaml.safe_dump({"domains": DOMAINS}))
    assert command("push", str(pushed))[0] == 0
    eventually(lambda: takes(0), what="the domains")
    assert make(allocator, "acme", domain="promo")["domain"] == "promo"
    problem(allocator.post("mallory", url=URL, ttl="1h", domain="promo"), 403)
    before = redirector.metric("shortloop_domains_revision")
    assert command("swap", "promo.example", "fresh.example")[0] == 0
    eventually(lambda: takes(before), what="the swap")
    shown = yaml.safe_load(command("show")[1])["domains"]["list"]
    assert [d.get("accounts") or [] for d in shown] == [[], ["acme", "shop"], [], ["*"]]
    link = make(allocator, "acme", domain="promo")
    assert link["short_url"].startswith("https://fresh.example/")
    problem(allocator.post("mallory", url=URL, ttl="1h", domain="promo"), 403)
    answer = requests.get(redirector.url + "/" + link["code"], allow_redirects=False,
                          headers={"Host": "fresh.example"}, timeout=60)
    assert (answer.status_code, answer.headers["Location"]) == (302, URL)


# --- spaces --------------------------------------------------------------------------

def test_a_key_creates_in_its_spaces_only(api):
    refused = problem(api.post("acme-2", url=URL, ttl="1h", space="s7"), 403)
    assert refused == ("space: 's7' is not for this API key, which may use h8, names")
    # An unknown space is refused in the same way.
    assert problem(api.post("acme-2", url=URL, ttl="1h", space="s77"), 403) == \
        refused.replace("s7'", "s77'")
    assert "s7, h8, flakes, names" in problem(
        api.post("acme", url=URL, ttl="1h", space="s77"), 400)
    # The key's own space is used by default.
    assert make(api, "acme-2")["space"] == "h8"
    assert make(api, "acme-2", code="my-alias")["space"] == "names"
    assert make(api, "nine")["space"] == "flakes"
    problem(api.post("nine", url=URL, ttl="1h", code="my-name"), 403)
    assert make(api, "acme")["space"] == "s7"
    lines = batch(api, [line_of(space="s7"), line_of(), line_of(space="flakes")],
                  key="nine")
    assert [line.get("status", line.get("space")) for line in lines] == [
        403, "flakes", "flakes"]


def test_other_keys_of_the_account_keep_their_spaces(api):
    """A key's spaces limit where it creates: existing links belong to its account."""
    code = make(api, "acme", space="s7")["code"]
    assert api.patch(code, "acme-2", tags=["x"]).status_code == 200
    assert api.delete(code, "acme-2").status_code == 204


def test_an_account_has_its_spaces(api, keys_file):
    before = api.program.log().count("API keys reloaded")
    keys_file.write(KEYS)
    text = keys_file.path.read_text()
    keys_file.path.write_text(text + "@shop spaces=h8 links=100/day\n@* spaces=s7,names\n")
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: api.program.log().count("API keys reloaded") > before)
    assert make(api, "eight")["space"] == "h8"
    assert "which may use h8" in problem(
        api.post("eight", url=URL, ttl="1h", space="s7"), 403)
    assert make(api, "mallory")["space"] == "s7"
    problem(api.post("mallory", url=URL, ttl="1h", space="h8"), 403)
    # Both lines count: the account's and the key's own.
    assert "which may use names" in problem(
        api.post("acme-2", url=URL, ttl="1h", space="h8"), 403)
    problem(api.post("nine", url=URL, ttl="1h"), 403)
    assert make(api, "boss", space="flakes")["space"] == "flakes"
    assert api.program.metric("shortloop_allocator_quota_refused_total",
                              account="shop", quota="spaces") == 1


@pytest.mark.parametrize("line, said", [
    ("x create {} spaces=s9", "spaces=: 's9' is not one of links.spaces"),
    ("x create {} spaces=", "spaces=: expected names of spaces"),
    ("x create {} spaces=s7,,h8", "spaces=: expected names of spaces"),
    ("x admin {} spaces=s7", "admin"),
    ("@crm spaces=s9", "spaces=: 's9': expected some of links.spaces"),
    ("@crm spaces=s7,", "spaces=: '': expected some of links.spaces")])
def test_spaces_that_there_are_not_are_refused_with_the_line(
        keys_file, sections, program, line, said):
    keys_file.path.write_text("# keys\n" + line.format("sha256:" + "0f" * 32) + "\n")
    status, text = program("allocator", sections, start=False, args=["--check"]).run()
    assert status == 78 and ":2: " in text and said in text


def test_make_key_writes_spaces(program):
    made = program("allocator", start=False, args=[
        "make-key", "--name", "crm", "--roles", "create", "--spaces", "s7,names"])
    status, text = made.run()
    assert status == 0 and text.splitlines()[1].endswith(" spaces=s7,names")
