"""The operator's own rules for verdicts: for new clicks, in `explain`, and applied to
past days, with a preview."""
import ipaddress
import json
import random
import subprocess

import pytest
import yaml
from support.asking import aggregator, ask_range, settled  # noqa: F401
from support.clicks import counted, groups_of, instant, make_click, without_visitors
from support.collecting import *  # noqa: F403
from support.copied_days import wait_copied
from support.events import CHROME, GOOGLEBOT, click
from support.mmdb import Mmdb
from support.program import BIN, eventually
from support.rule_files import BOT_LIST, UA_RULES

DAY = instant("2026-10-25T00:00:00Z")
RULES = [
    {"verdict": "human", "reason": "our office", "account": "acme",
     "owner": "ann", "network": "203.0.113.0/24"},
    {"verdict": "bot", "reason": "rented 'servers' \\ größe", "account": "acme",
     "owner": ["ann", "o'\\b"], "asn": [64500, 64501]},
    {"verdict": "monitor", "reason": "probes", "agent": ["chrome/140", "nothing"],
     "network": ["198.51.100.0/25", "2001:db8::/32"]},
]
RENTED, OFFICE, PROBES = "8.8.4.7", "203.0.113.9", "2001:db8::9"


@pytest.fixture
def rules(workdir):
    def write(rules=RULES):
        path.write_text(yaml.safe_dump(rules, allow_unicode=True))
        return str(path)
    path = workdir / "verdict-rules.yaml"
    return write


@pytest.fixture
def places(workdir):
    return str(Mmdb().add("8.8.4.0/24", {"autonomous_system_number": 64500})
               .save(workdir / "asn.mmdb"))


def by_hand(owner, address, asn, agent, head=False, purpose=""):
    """Returns verdict and reason by RULES; None: none of them decides.  `owner` has the
    form account/owner."""
    ahead = ("prefetch", "purpose header") if purpose else \
        ("prefetch", "HEAD request") if head else None
    address = ipaddress.ip_address(address)

    def is_in(*networks):
        return any(address in ipaddress.ip_network(n) for n in networks
                   if ipaddress.ip_network(n).version == address.version)
    if owner == "acme/ann" and is_in("203.0.113.0/24"):
        return ahead or ("human", "rule: our office")
    if owner in ("acme/ann", "acme/o'\\b") and asn in (64500, 64501):
        return "bot", "rule: rented 'servers' \\ größe"
    if "Chrome/140" in agent and is_in("198.51.100.0/25", "2001:db8::/32"):
        return "monitor", "rule: probes"
    return None


def test_rules_decide_as_clicks_come(collector, kafka, topics, clickhouse,  # noqa: F405
                                     migrated, rules, places):
    running = collector(verdict_rules=rules(), geo_files=[places])
    asked, events, number = [], [], 0
    for owner in "acme/ann", "acme/bob", "acme/o'\\b", "shop/ann":
        for address in RENTED, OFFICE, PROBES, "198.51.100.127", "198.51.100.128":
            for agent in CHROME, GOOGLEBOT:
                for outcome, prefetch in (1, ""), (5, ""), (1, "prefetch"):
                    asked.append((owner, address, agent, outcome == 5, prefetch))
                    number += 1
                    events.append(click(
                        number, link_id=number, account=owner.split("/")[0],
                        owner=owner.split("/")[1], outcome=outcome, prefetch=prefetch,
                        user_agent=agent.encode(),
                        client_ip=ipaddress.ip_address(address).packed))
    kafka.produce(topics["topic_clicks"], events)
    wait_for(clickhouse, number)  # noqa: F405
    found = rows(clickhouse, "link_id, verdict, verdict_reason")  # noqa: F405
    decided = 0
    for row, (owner, address, agent, head, purpose) in zip(found, asked):
        wanted = by_hand(owner, address, 64500 if address == RENTED else 0, agent,
                         head, purpose)
        if wanted:
            assert (row["verdict"], row["verdict_reason"]) == wanted, row
            decided += 1
        else:
            assert not row["verdict_reason"].startswith("rule: ")
            assert (row["verdict"] == "bot") == (agent == GOOGLEBOT), row
    assert 30 < decided < number - 30
    assert running.stop() == 0


def test_explain_names_the_rule(workdir, rules):
    config = workdir / "collector.yaml"
    config.write_text(yaml.safe_dump({
        "robots": {"list": BOT_LIST},
        "collector": {"ua_rules": UA_RULES, "verdict_rules": rules()}}))
    visits = [{"ip": PROBES, "ua": CHROME},
              {"ip": OFFICE, "ua": GOOGLEBOT, "account": "acme", "owner": "ann"},
              {"ip": OFFICE, "ua": GOOGLEBOT, "account": "acme", "owner": "ann", "method": "HEAD"},
              {"ip": OFFICE, "ua": CHROME, "owner": "bob", "method": "GET"},
              {"ip": OFFICE, "ua": CHROME, "owner": "bob", "method": "HEAD"}]
    done = subprocess.run(
        [BIN / "collector", "-c", config, "explain", "--why"], timeout=120,
        input="".join(json.dumps(visit) + "\n" for visit in visits), text=True,
        capture_output=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(a["verdict"]["class"], a["verdict"]["reason"]) for a in answers] == [
        ("monitor", "rule: probes"), ("human", "rule: our office"),
        ("prefetch", "HEAD request"), ("human", None), ("prefetch", "HEAD request")]
    assert [a["why"]["verdict"] for a in answers[:2]] == [
        {"origin": "verdict_rules", "entry": 3}, {"origin": "verdict_rules", "entry": 1}]
    assert answers[4]["why"]["verdict"] == {"method": "HEAD"}


def test_rules_that_can_take_nothing_are_remarked_on(workdir, rules, places):
    config = workdir / "collector.yaml"
    for files, chosen, remarked in ([], RULES, True), ([places], RULES, False), (
            [], RULES[2:], False):
        config.write_text(yaml.safe_dump({"collector": {
            "ua_rules": UA_RULES, "verdict_rules": rules(chosen), "geo_files": files}}))
        done = subprocess.run([BIN / "collector", "-c", config, "--check"], timeout=120,
                              text=True, capture_output=True, check=True)
        assert ("warning: verdict_rules name asn" in done.stderr) == remarked
        assert "ok" in done.stdout


# --- past days ----------------------------------------------------------------

@pytest.fixture
def rescore(program, rules):
    def run(*args, chosen=RULES, **own):
        status, output = program("collector", {
            "robots": {"list": BOT_LIST},
            "collector": {"ua_rules": UA_RULES,
                          "verdict_rules": rules(chosen), **own}}, start=False, args=[
                "rescore", "--from", "2026-10-25", "--to", "2026-10-25",
                *args]).run()
        assert status == 0, output
        return output
    return run


def past_clicks(count=600):
    rng = random.Random(5)
    clicks = []
    for i in range(count):
        agent = rng.choice([CHROME, GOOGLEBOT])
        head = rng.random() < 0.2
        robot = agent == GOOGLEBOT
        clicks.append(make_click(
            rng, (DAY + i * 60) * 1000, rng.choice([1, 2, 3]),
            account=rng.choice(["acme", "acme", "shop"]),
            owner=rng.choice(["ann", "bob", "o'\\b"]),
            ip="::ffff:" + address if "." in (address := rng.choice(
                [RENTED, OFFICE, PROBES, "198.51.100.1", "198.51.100.128"]))
            else address,
            asn=rng.choice([0, 64500, 64501, 64502]), user_agent=agent,
            outcome="head" if head else "redirected", purpose="",
            verdict="bot" if robot else "prefetch" if head else "human",
            verdict_reason="listed crawler" if robot else
            "HEAD request" if head else "",
            device_class="robot" if robot else "desktop"))
    return clicks


def is_anns(row):
    return (row["account"], row["owner"]) == ("acme", "ann")


def judged(row):
    return by_hand(f"{row['account']}/{row['owner']}", row["ip"].removeprefix("::ffff:"), row["asn"],
                   row["user_agent"], row["outcome"] == "head") or \
        (row["verdict"], row["verdict_reason"])


@pytest.mark.proof
def test_rules_judge_past_days_after_a_preview(rescore, clickhouse, migrated,
                                               aggregator):
    before = past_clicks()
    migrated.insert(before)
    made = aggregator()
    settled(made, len(before), DAY, DAY + 86400)
    columns = "verdict, verdict_reason"
    stored = clickhouse.rows(f"SELECT {columns} FROM clicks ORDER BY offset")
    wanted = [judged(row) for row in before]
    changes = sum(row["verdict"] != v for row, (v, _) in zip(before, wanted))

    preview = rescore("--dry-run")
    assert f"{changes} verdicts would change" in preview
    for number, rule in enumerate(RULES, 1):
        taken = [(row, v) for row, (v, reason) in zip(before, wanted)
                 if reason == f"rule: {rule['reason']}"]
        # HEAD requests of an office keep their verdicts, and match rules, too.
        if number == 1:
            taken = [(row, v) for row, (v, _) in zip(before, wanted)
                     if is_anns(row) and row["ip"].endswith(OFFICE)]
        changed = sum(row["verdict"] != v for row, v in taken)
        assert (f"    rule {number} ({rule['reason']}): takes {len(taken)} clicks, "
                f"{changed} would change\n") in preview
    assert clickhouse.rows(
        f"SELECT {columns} FROM clicks ORDER BY offset") == stored

    assert f"{changes} verdicts changed" in rescore()
    found = clickhouse.rows(f"SELECT {columns} FROM clicks ORDER BY offset")
    assert [(r["verdict"], r["verdict_reason"]) for r in found] == wanted
    after = [{**row, "verdict": v} for row, (v, _) in zip(before, wanted)]
    eventually(lambda: ask_range(made, DAY, DAY + 86400, interval="day")["total"] ==
               counted(after), what="the hours to be settled again")

    assert ": 0 verdicts changed" in rescore()
    # Without the rules everything is as before.
    assert f"{changes} verdicts changed" in rescore(chosen=[])
    found = clickhouse.rows(f"SELECT {columns} FROM clicks ORDER BY offset")
    assert [r["verdict"] for r in found] == [r["verdict"] for r in before]


@pytest.mark.long
def test_a_day_is_copied_again_when_only_reasons_change(rescore, clickhouse, migrated,
                                                        aggregator):
    """No verdict changes, and a reason is one of the values that days are copied of."""
    before = past_clicks(300)
    migrated.insert(before)
    made = aggregator(resettle_every="0s", watermark_every="500ms", owner_rows_max=0)
    wait_copied(clickhouse, "value_day", before)

    def reasons_are_those_of(rows):
        for of in {}, {"account": "acme", "owner": "ann"}:
            answer = ask_range(made, DAY, DAY + 86400, group_by="verdict_reason",
                               bots="include", **of)
            if {g.pop("value"): without_visitors(g) for g in answer["groups"]} != \
                    groups_of([r for r in rows if not of or is_anns(r)],
                              "verdict_reason", "include"):
                return False
        return True
    eventually(lambda: reasons_are_those_of(before), what="the copied day")

    rented = {"verdict": "bot", "reason": "rented", "agent": "Googlebot"}
    assert ": 0 verdicts changed" in rescore(chosen=[rented])
    after = [{**row, "verdict_reason": "rule: rented"} if row["verdict"] == "bot"
             else row for row in before]
    assert after != before
    eventually(lambda: reasons_are_those_of(after), what="the reasons of now")


def test_rules_judge_an_owner_s_past_days(rescore, clickhouse, migrated):
    """The preview does not contain other owners' matching clicks either."""
    before = past_clicks()
    migrated.insert(before)
    columns = "verdict, verdict_reason, verdict_version"
    others = f"SELECT {columns} FROM clicks WHERE (account, owner) != " \
        "('acme', 'ann') ORDER BY offset"
    stored = clickhouse.rows(others)
    anns = [row for row in before if is_anns(row)]
    wanted = [judged(row) for row in anns]
    changes = sum(row["verdict"] != v for row, (v, _) in zip(anns, wanted))
    taken = sum(reason == "rule: probes" for _, reason in wanted)

    preview = rescore("--account", "acme", "--owner", "ann", "--dry-run")
    assert f"{changes} verdicts would change" in preview
    assert f"    rule 3 (probes): takes {taken} clicks, " in preview
    assert f"{changes} verdicts changed" in rescore(
        "--account", "acme", "--owner", "ann")
    assert [(r["verdict"], r["verdict_reason"]) for r in clickhouse.rows(
        f"SELECT {columns} FROM clicks WHERE (account, owner) = ('acme', 'ann') ORDER BY "
        "offset")] == wanted
    assert clickhouse.rows(others) == stored


def test_rules_go_before_bursts(rescore, clickhouse, migrated):
    rng = random.Random(6)
    burst = [make_click(rng, (DAY + i) * 1000, 1, code=f"code{i}", owner=owner,
                        ip=f"::ffff:{OFFICE}", user_agent=CHROME, asn=0,
                        unique_identity=owner * 5, outcome="redirected",
                        verdict="human", verdict_reason="")
             for i in range(30) for owner in ("anna", "bobb")]
    migrated.insert(burst)
    office = [{**RULES[0], "owner": "anna"}]
    output = rescore(chosen=office, scan_codes=20)
    assert "(human to scanner 30)" in output
    assert clickhouse.rows("SELECT owner, any(toString(verdict)) AS v, "
                           "uniqExact(verdict) AS n FROM clicks GROUP BY owner "
                           "ORDER BY owner") == [
        {"owner": "anna", "v": "human", "n": 1},
        {"owner": "bobb", "v": "scanner", "n": 1}]


@pytest.mark.long
def test_the_largest_file_of_rules_is_applied(rescore, clickhouse, migrated):
    migrated.insert(past_clicks(20))
    many = [{"verdict": "bot", "reason": str(n), "network": [
        f"10.{n}.{i}.0/24" for i in range(16)]} for n in range(50)]
    many.append({"verdict": "scanner", "reason": "all", "network": "0.0.0.0/0"})
    assert 14000 < len(yaml.safe_dump(many)) <= 16384
    rescore(chosen=many)
    assert clickhouse.value("SELECT groupUniqArray(toString(verdict)) FROM clicks "
                            "WHERE NOT startsWith(IPv6NumToString(ip), '2001')") == [
        "scanner"]
