"""The present rules are applied to past days."""
import json
import random
import re
import signal
import threading

import pytest
from support.asking import ask, ask_range
from support.clicks import SLOTS, instant, make_click, rfc3339
from support.events import CHROME
from support.fault_proxy import ClickHouseProxy, response
from support.program import eventually
from support.rule_files import UA_RULES

DAY = instant("2026-10-25T00:00:00Z")
PRINT = ("verdict, verdict_reason, verdict_version, device_class, purpose, "
         "ts, offset, user_agent, outcome, unique_identity")


@pytest.fixture
def rescore(program, workdir):
    """rescore("2026-10-25", patterns=[...]) runs it to its end."""
    def run(start, end=None, patterns=("Visitor",), args=(), ok=True, url=None,
            **own):
        path = workdir / "bots.json"
        path.write_text(json.dumps([{"pattern": p} for p in patterns]))
        made = program("collector", {
            "collector": {"ua_rules": UA_RULES, **own},
            "robots": {"list": str(path)},
            "clickhouse": {"url": url} if url else {}}, start=False, args=[
                "rescore", "--from", start, "--to", end or start, *args])
        status, output = made.run()
        assert (status == 0) == ok, output
        return output
    return run


def visit(rng, at, **fields):
    return make_click(rng, at, 1, **{
        "outcome": "redirected", "verdict": "human", "verdict_reason": "",
        "user_agent": CHROME, "device_class": "desktop", **fields})


def some_visits(count=300, start=DAY, hours=3, **fields):
    rng = random.Random(7)
    return [visit(rng, (start + i * 3600 * hours // count) * 1000, **fields)
            for i in range(count)]


def table(clickhouse, columns=PRINT):
    return clickhouse.rows(f"SELECT {columns} FROM clicks ORDER BY offset")


def counts(clickhouse):
    return {r["verdict"]: int(r["n"]) for r in clickhouse.rows(
        "SELECT verdict, count() AS n FROM clicks GROUP BY verdict")}


def test_a_newer_list_judges_past_days(clickhouse, migrated, rescore):
    migrated.insert(some_visits(100) +
                    some_visits(50, user_agent="Visitor/1.0") +
                    some_visits(20, user_agent="Other/1.0", verdict="bot",
                                device_class="robot"))

    output = rescore("2026-10-25")

    assert counts(clickhouse) == {"human": 120, "bot": 50}
    assert "2026-10-25: 70 verdicts changed " \
        "(human to bot 50, bot to human 20)" in output
    assert clickhouse.rows(
        "SELECT DISTINCT user_agent, device_class, verdict_reason FROM clicks "
        "WHERE user_agent != '%s' ORDER BY ALL" % CHROME) == [
            {"user_agent": "Other/1.0", "device_class": "other",
             "verdict_reason": ""},
            {"user_agent": "Visitor/1.0", "device_class": "robot",
             "verdict_reason": "listed crawler"}]
    versions = clickhouse.value("SELECT groupUniqArray(verdict_version) "
                                "FROM clicks")
    assert len(versions) == 1 and versions[0] >> 24 == 3


def test_rescoring_twice_changes_nothing(clickhouse, migrated, rescore):
    migrated.insert(some_visits(100) +
                    some_visits(50, user_agent="Visitor/1.0"))
    rescore("2026-10-25")
    once = table(clickhouse)
    parts = clickhouse.rows("SELECT name FROM system.parts WHERE active AND "
                            "table = 'clicks' AND "
                            "database = currentDatabase()")
    told = clickhouse.value("SELECT count() FROM ingest_progress")

    output = rescore("2026-10-25")

    assert "0 verdicts changed" in output
    assert table(clickhouse) == once
    assert clickhouse.rows("SELECT name FROM system.parts WHERE active AND "
                           "table = 'clicks' AND "
                           "database = currentDatabase()") == parts
    assert clickhouse.value("SELECT count() FROM ingest_progress") == told


def test_a_dry_run_changes_nothing(clickhouse, migrated, rescore):
    migrated.insert(some_visits(50, user_agent="Visitor/1.0"))
    before = table(clickhouse)

    output = rescore("2026-10-25", args=["--dry-run"])

    assert "50 verdicts would change (human to bot 50)" in output
    assert table(clickhouse) == before
    assert clickhouse.value("SELECT count() FROM rescored") == 0
    assert not [t for t in clickhouse.tables() if t.startswith("rescore_")]


def test_headers_that_were_kept_are_judged_again(clickhouse, migrated,
                                                 rescore):
    migrated.insert(
        some_visits(5, purpose="prefetch") +
        some_visits(5, outcome="head", verdict="human") +
        some_visits(5, user_agent="Visitor/1", verdict="human") +
        some_visits(5, user_agent="Visitor/1", purpose="prefetch",
                    verdict="prefetch"))
    rescore("2026-10-25")
    assert [(r["verdict"], r["verdict_reason"], r["purpose"])
            for r in table(clickhouse)[::5]] == [
        ("prefetch", "purpose header", "prefetch"),
        ("prefetch", "HEAD request", ""),
        ("bot", "listed crawler", ""), ("bot", "listed crawler", "prefetch")]
    rescore("2026-10-25", patterns=["Nobody"])
    assert [r["verdict"] for r in table(clickhouse)[::5]] == [
        "prefetch", "prefetch", "human", "prefetch"]


def test_only_the_days_asked_for_change(clickhouse, migrated, rescore):
    for day in range(4):
        migrated.insert(some_visits(10, DAY + 86400 * day, hours=24,
                                    user_agent="Visitor/1.0"))
    rescore("2026-10-26", "2026-10-27")
    assert [r["d"] for r in clickhouse.rows(
        "SELECT DISTINCT toString(toDate(ts)) AS d FROM clicks "
        "WHERE verdict = 'bot' ORDER BY d")] == ["2026-10-26", "2026-10-27"]


def test_a_day_that_was_dropped_is_refused(clickhouse, migrated, rescore):
    migrated.insert(some_visits(20, user_agent="Visitor/1.0"))
    drop = ("INSERT INTO settled (kind, unit, attempt) SELECT 'dropped_day', "
            f"toDateTime({DAY} + {{}}, 'UTC'), 1")
    clickhouse.query(drop.format(-86400))
    assert "20 verdicts changed" in rescore("2026-10-25")
    clickhouse.query(drop.format(0))
    output = rescore("2026-10-25", patterns=("Nobody",), ok=False)
    assert "20261025: an aggregator has dropped the day" in output
    assert counts(clickhouse) == {"bot": 20}
    assert not clickhouse.rows(
        "SELECT run FROM rescored GROUP BY run HAVING countIf(state = 'done') = 0")


@pytest.mark.parametrize("statement", [1, 2])
def test_a_day_that_is_dropped_meanwhile_leaves_no_run_behind(
        clickhouse, migrated, rescore, proxy, statement):
    """The day is dropped before its rows are changed, or after."""
    migrated.insert(some_visits(20, user_agent="Visitor/1.0"))

    def drop():
        clickhouse.query("INSERT INTO settled (kind, unit, attempt) SELECT "
                         f"'dropped_day', toDateTime({DAY}, 'UTC'), 1")
    proxy.call_at(1, drop, "rescored" if statement == 1 else "alter", True)
    output = rescore("2026-10-25", ok=False, url=proxy.url)
    assert "an aggregator has dropped the day" in output
    assert [row["state"] for row in clickhouse.rows(
        "SELECT state FROM rescored ORDER BY at, state")] == ["begun", "done"]


@pytest.mark.proof
def test_a_settled_hour_changes_after_rescoring(clickhouse, migrated, rescore,
                                                redis, program):
    migrated.insert(some_visits(40, hours=1) +
                    some_visits(30, DAY + 3600, hours=1,
                                user_agent="Visitor/1.0"))
    migrated.link("code1", 1)
    made = program("aggregator", {"aggregator": {
        "settle_every": "500ms", "resettle_every": "0s"}})

    def total():
        return ask_range(made)["total"]
    eventually(lambda: total()["events"] == 70)
    assert (total()["clicks"], total()["bots"]) == (70, 0)
    blocks = "SELECT unit, max(blocks) AS n, max(rows) AS r FROM settled " \
        "WHERE kind = 'hour' GROUP BY unit ORDER BY unit"
    eventually(lambda: [int(r["n"]) for r in clickhouse.rows(blocks)] ==
               [1, 1])

    rescore("2026-10-25")

    eventually(lambda: total()["bots"] == 30, what="settled again")
    assert (total()["events"], total()["clicks"]) == (70, 40)
    # Only the hour that changed is settled again, with the same number of clicks.
    assert [(int(r["n"]), int(r["r"])) for r in clickhouse.rows(blocks)] == [
        (1, 40), (2, 30)]
    eventually(lambda: int(clickhouse.value(
        f"SELECT sum(effective) FROM {SLOTS}")) == 40,
        what="the day settled again")
    eventually(lambda: ask(made, code="code1", **{
        "from": rfc3339(DAY), "to": rfc3339(DAY + 86400)})["total"][
            "clicks"] == 40, what="the day not to be read as it was sealed")


def test_hours_are_told_of_what_their_counts_are_made_of(clickhouse, migrated,
                                                         rescore):
    """A reason is counted by day, as is a class; a version is not."""
    agent = {"user_agent": "Visitor/1.0", "verdict": "bot", "device_class": "robot",
             "verdict_reason": "listed crawler"}
    migrated.insert(some_visits(20, hours=1, **agent) +
                    some_visits(20, DAY + 3600, hours=1,
                                **{**agent, "verdict_reason": "rule: rented"}) +
                    some_visits(20, DAY + 7200, hours=1,
                                **{**agent, "device_class": "other"}))
    output = rescore("2026-10-25")
    assert ": 0 verdicts changed, 60 rows relabelled, 2 hours will be settled " \
        "again\n" in output
    assert hours_told(clickhouse) == [DAY + 3600, DAY + 7200]


# --- runs for one account or owner ----------------------------------------------

ACME = ["--account", "acme"]
ANN = [*ACME, "--owner", "ann"]


def owned_visits(owner, hours, **fields):
    """Returns visits from the day's start, two a minute."""
    return some_visits(120 * hours, hours=hours, owner=owner,
                       user_agent="Visitor/1.0", **fields)


def verdicts_of(clickhouse, owner):
    return clickhouse.value("SELECT groupUniqArray(toString(verdict)) FROM clicks "
                            f"WHERE account = 'acme' AND owner = '{owner}'")


def hours_told(clickhouse):
    return [int(r["h"]) for r in clickhouse.rows(
        "SELECT DISTINCT h FROM ingest_progress ARRAY JOIN mapKeys(hours) AS h "
        "WHERE topic = 'rescore' ORDER BY h")]


def unfinished(clickhouse):
    """Returns accounts and owners of runs that were begun and not finished."""
    return [r["whose"] for r in clickhouse.rows(
        "SELECT any(concat(account, ' ', owner)) AS whose FROM rescored GROUP BY run HAVING "
        "countIf(state = 'done') = 0 ORDER BY whose")]


def undo_end(clickhouse):
    """Makes the state of a run that was killed after its mutation."""
    clickhouse.query("TRUNCATE TABLE ingest_progress")
    clickhouse.query("ALTER TABLE rescored DELETE WHERE state = 'done'",
                     mutations_sync=1)


@pytest.mark.proof
def test_an_owner_s_clicks_are_judged_again_and_no_others(
        clickhouse, migrated, rescore):
    migrated.insert(owned_visits("ann", 1) + owned_visits("bob", 3) +
                    owned_visits("o'\\b", 2) + owned_visits("", 2) +
                    owned_visits("ann", 1, account="shop"))
    of_others = ("SELECT * FROM clicks WHERE (account, owner) != ('acme', 'ann') "
                 "ORDER BY offset")
    before = clickhouse.rows(of_others)

    preview = rescore("2026-10-25", args=[*ANN, "--dry-run"])
    assert "2026-10-25: 120 verdicts would change (human to bot 120), 1 hours " \
        "would be settled again\n" in preview
    assert verdicts_of(clickhouse, "ann") == ["human"]
    assert "120 verdicts changed (human to bot 120), 1 hours will be settled " \
        "again\n" in rescore("2026-10-25", args=ANN)

    assert verdicts_of(clickhouse, "ann") == ["bot"]
    assert clickhouse.rows(of_others) == before
    assert hours_told(clickhouse) == [DAY]
    assert clickhouse.rows("SELECT DISTINCT account, owner, rows FROM rescored") == [
        {"account": "acme", "owner": "ann", "rows": 120}]
    assert ": 0 verdicts changed\n" in rescore("2026-10-25", args=ANN)
    # The same for a name that has to be quoted, for the account, and for all others.
    rescore("2026-10-25", args=[*ACME, "--owner", "o'\\b"])
    assert counts(clickhouse) == {"bot": 360, "human": 720}
    assert "of links of acme, 600 verdicts changed" in rescore("2026-10-25", args=ACME)
    assert "120 verdicts changed" in rescore("2026-10-25")


def test_days_without_clicks_of_the_owner_are_not_counted(clickhouse, migrated,
                                                          rescore):
    migrated.insert(owned_visits("bob", 1))
    for own in {"scan_codes": 0, "scan_not_found": 0}, {"scan_codes": 20}:
        output = rescore("2026-10-25", args=ANN, **own)
        assert ": 0 days with clicks of links of acme/ann, 0 verdicts changed" in output
    for args, says in (([*ACME, "--owner", ""], "--owner: needs a name"),
                       (["--account", ""], "--account: needs a name"),
                       (["--owner", "ann"], "expected --account beside it")):
        assert says in rescore("2026-10-25", args=args, ok=False)
    assert counts(clickhouse) == {"human": 120}


def test_a_burst_goes_over_links_of_several_owners(clickhouse, migrated, rescore):
    rng = random.Random(8)
    migrated.insert([visit(rng, (DAY + i) * 1000, code=f"code{i}",
                           owner="ann" if i % 2 else "bob",
                           unique_identity="scan" * 5) for i in range(30)])
    assert "15 verdicts changed (human to scanner 15)" in rescore(
        "2026-10-25", args=ANN, scan_codes=20)
    assert verdicts_of(clickhouse, "ann") == ["scanner"]
    assert verdicts_of(clickhouse, "bob") == ["human"]


def test_an_owner_s_run_does_not_finish_one_over_all_owners(
        clickhouse, migrated, rescore):
    """The owner's rows that it changed are reported, though."""
    migrated.insert(owned_visits("ann", 1) + owned_visits("bob", 2))
    rescore("2026-10-25")
    undo_end(clickhouse)

    output = rescore("2026-10-25", args=ANN)

    assert "0 verdicts changed" in output
    assert "a run over more links that was stopped is still to be finished" in output
    assert "a run that was stopped finished" not in output
    assert DAY in hours_told(clickhouse)
    assert unfinished(clickhouse) == [" "]
    assert "a run that was stopped finished" in rescore("2026-10-25")
    assert hours_told(clickhouse) == [DAY, DAY + 3600]
    assert not unfinished(clickhouse)


def test_an_owner_s_run_is_finished_by_the_same_or_by_all_owners(
        clickhouse, migrated, rescore):
    migrated.insert(owned_visits("ann", 1) + owned_visits("bob", 2))
    rescore("2026-10-25", args=ANN)
    rescore("2026-10-25", args=[*ACME, "--owner", "bob"])
    rescore("2026-10-25", args=["--account", "shop"])
    undo_end(clickhouse)
    assert unfinished(clickhouse) == ["acme ann", "acme bob"]

    output = rescore("2026-10-25", args=ANN)
    assert "a run that was stopped finished" in output
    assert "more links" not in output
    assert unfinished(clickhouse) == ["acme bob"]
    assert hours_told(clickhouse) == [DAY]
    assert "a run that was stopped finished" in rescore("2026-10-25", args=ACME)
    assert not unfinished(clickhouse)
    assert hours_told(clickhouse) == [DAY, DAY + 3600]


# --- interrupted runs --------------------------------------------------------

def test_what_was_begun_is_finished_by_the_next_run(clickhouse, migrated,
                                                    rescore):
    """The run was killed after the mutation: no row differs any more, but the hours are
    still reported."""
    migrated.insert(some_visits(50, user_agent="Visitor/1.0"))
    rescore("2026-10-25")
    clickhouse.query("TRUNCATE TABLE ingest_progress")
    clickhouse.query("ALTER TABLE rescored DELETE WHERE state = 'done'",
                     mutations_sync=1)

    output = rescore("2026-10-25")

    assert "a run that was stopped" in output
    told = clickhouse.rows("SELECT topic, rows, mapKeys(hours) AS starts, "
                           "mapValues(hours) AS n FROM ingest_progress")
    assert len(told) == 1 and told[0]["topic"] == "rescore"
    assert sorted(told[0]["starts"]) == [DAY, DAY + 3600, DAY + 7200]
    assert [int(n) for n in told[0]["n"]] == [0, 0, 0]
    assert int(told[0]["rows"]) == 0
    assert "a run that was stopped" not in rescore("2026-10-25")


@pytest.mark.long
@pytest.mark.parametrize("whose", [[], ANN], ids=["all-owners", "ann"])
def test_a_run_killed_anywhere_can_be_run_again(clickhouse, migrated, program,
                                                rescore, workdir, whose):
    rng = random.Random(3)
    rows = []
    for i in range(4000):
        agent = rng.choice([f"Visitor/{rng.randrange(800)}", CHROME,
                            f"Person/{rng.randrange(800)}"])
        rows.append(visit(rng, (DAY + i * 20) * 1000, user_agent=agent,
                          owner=rng.choice(["ann", "bob"])))
    migrated.insert(rows)
    path = workdir / "bots.json"
    path.write_text('[{"pattern": "Visitor"}]')
    made = program("collector", {
        "collector": {"ua_rules": UA_RULES}, "robots": {"list": str(path)}},
        start=False, args=["rescore", "--from", "2026-10-25", *whose])

    def steps():
        """Returns how many steps a run has done, since the test began."""
        return int(clickhouse.value(
            "SELECT (SELECT count() FROM rescored) + (SELECT count() FROM "
            "system.mutations WHERE database = currentDatabase() AND table = "
            "'clicks') + (SELECT count() FROM system.tables WHERE database = "
            "currentDatabase() AND startsWith(name, 'rescore_'))"))

    for wanted in range(1, 8):
        before = steps()
        made.start(ready=False)
        eventually(lambda: steps() >= before + wanted or
                   not made.process.running(), every=0.002)
        made.kill()

    rescore("2026-10-25", "2026-10-26", args=whose)

    wanted = [("bot" if r["user_agent"].startswith("Visitor") and
               (not whose or r["owner"] == "ann") else "human") for r in rows]
    assert [r["verdict"] for r in table(clickhouse)] == wanted
    assert int(clickhouse.value(
        "SELECT uniqExact(h) FROM ingest_progress ARRAY JOIN mapKeys(hours) "
        "AS h WHERE topic = 'rescore'")) == len(
            {r["ts_ms"] // 3600000 for r, w in zip(rows, wanted)
             if w == "bot"})
    assert int(clickhouse.value(
        "SELECT countIf(state = 'begun') - countIf(state = 'done') "
        "FROM rescored")) == 0


def test_a_run_ends_only_those_whose_hours_it_told(clickhouse, migrated,
                                                   program):
    """A run that begins during another's mutation and is killed is left for the next
    run to finish."""
    migrated.insert(some_visits(50, user_agent="Visitor/1.0"))
    clickhouse.query("SYSTEM STOP MERGES clicks")
    made = program("collector", {"collector": {
        "ua_rules": UA_RULES}}, start=False,
        args=["rescore", "--from", "2026-10-25", "--to", "2026-10-25"])
    made.start(ready=False)
    eventually(lambda: int(clickhouse.value(
        "SELECT count() FROM system.mutations WHERE table = 'clicks' AND "
        "database = currentDatabase() AND NOT is_done")), what="a mutation")
    clickhouse.query("INSERT INTO rescored (day, run, state, rules, hours) VALUES "
                     "('2026-10-25', 7, 'begun', 1, [1792886400])")
    clickhouse.query("SYSTEM START MERGES clicks")
    eventually(lambda: not made.process.running(), what="the end")
    assert clickhouse.rows("SELECT run, countIf(state = 'done') AS n FROM "
                           "rescored GROUP BY run HAVING n = 0") == [
                               {"run": 7, "n": 0}]


def test_a_run_that_is_told_to_stop_leaves_no_tables(clickhouse, migrated,
                                                     program, workdir):
    migrated.insert(some_visits(2000, user_agent="Visitor/1.0"))
    made = program("collector", {"collector": {
        "ua_rules": UA_RULES}}, start=False,
        args=["rescore", "--from", "2026-10-25", "--to", "2026-10-25"])
    made.start(ready=False)
    eventually(lambda: not made.process.running() or any(
        t.startswith("rescore_") for t in clickhouse.tables()),
        every=0.002)

    status = made.stop(timeout=60)

    # The signal itself can end it, if it comes when everything is done.
    assert status in (0, 75, -signal.SIGTERM), made.log()
    left = [t for t in clickhouse.tables() if t.startswith("rescore_")]
    # Tables of a change that goes on without the run stay.
    assert not left or "update: stopped" in made.log()


class Asynchronous(ClickHouseProxy):
    """Acts as a server whose profile has async_insert=1, wait_for_async_insert=0: it
    answers inserts before it stores them, unless they have other settings (here it
    never stores them, as the tests' engine has no such inserts)."""
    later = ()

    def _ask(self, request):
        if re.match(r"INSERT INTO .* FORMAT ", request.query) and \
                "async_insert=0" not in request.path:
            self.later += (request,)
            return response(200, "OK", [], b"")
        return super()._ask(request)


def test_a_profile_that_inserts_asynchronously_changes_nothing(
        clickhouse_server, clickhouse, migrated, rescore):
    migrated.insert(some_visits(50, user_agent="Visitor/1.0"))
    with Asynchronous(clickhouse_server.port) as proxy:
        output = rescore("2026-10-25", url=proxy.url)
    assert not proxy.later
    assert "50 verdicts changed (human to bot 50)" in output
    assert counts(clickhouse) == {"bot": 50}


# --- a late change -----------------------------------------------------------

class Late(ClickHouseProxy):
    """Cuts the connection of the first change of clicks, which arrives when it is let
    in; calls `before`[what] once, before a request with that beginning."""
    was_cut = False
    answer = None

    def __init__(self, port):
        self.before = {}
        self.comes, self.came = threading.Event(), threading.Event()
        super().__init__(port)

    def _meet(self, request, client, fault):
        for what in [w for w in self.before if request.query.startswith(w)]:
            self.before.pop(what)()
        if self.was_cut or not request.query.startswith("ALTER TABLE clicks"):
            return super()._meet(request, client, fault)
        self.was_cut = True
        self._end(client)
        self.comes.wait()
        self.answer = self._ask(request)
        self.came.set()
        return False

    def let_in(self):
        self.comes.set()
        assert self.came.wait(60)


@pytest.fixture
def late(clickhouse_server):
    with Late(clickhouse_server.port) as proxy:
        yield proxy
        proxy.comes.set()


def mutations(clickhouse):
    """Returns the mutations under way."""
    return int(clickhouse.value(
        "SELECT count() FROM system.mutations WHERE table = 'clicks' AND "
        "database = currentDatabase() AND NOT is_done"))


def test_a_change_that_comes_after_the_next_run_is_refused(
        clickhouse, migrated, rescore, late):
    migrated.insert(some_visits(50) + some_visits(50, user_agent="Visitor/1"))
    assert "update" in rescore("2026-10-25", url=late.url, ok=False)
    output = rescore("2026-10-25", patterns=["Nobody"])
    assert "a run that was stopped finished" in output
    assert not [t for t in clickhouse.tables() if t.startswith("rescore_")]

    late.let_in()

    eventually(lambda: not mutations(clickhouse))
    assert counts(clickhouse) == {"human": 100}
    assert b"UNKNOWN_TABLE" in late.answer


def test_a_change_that_comes_after_an_owner_s_run_is_refused(
        clickhouse, migrated, rescore, late):
    """It would revert the changes of the owner's rows."""
    migrated.insert(owned_visits("ann", 1) + owned_visits("bob", 1))
    rescore("2026-10-25", url=late.url, ok=False)
    rescore("2026-10-25", patterns=["Nobody"], args=ANN)

    late.let_in()

    eventually(lambda: not mutations(clickhouse))
    assert b"UNKNOWN_TABLE" in late.answer
    assert counts(clickhouse) == {"human": 240}


def test_a_change_that_comes_as_the_next_run_begins_is_ended(
        clickhouse, migrated, rescore, late):
    """The change comes after the run has searched for changes, and before it drops
    their tables."""
    migrated.insert(some_visits(50) + some_visits(50, user_agent="Visitor/1"))
    rescore("2026-10-25", url=late.url, ok=False)
    clickhouse.query("SYSTEM STOP MERGES clicks")

    def before_drop():
        late.comes.set()
        eventually(lambda: mutations(clickhouse) == 1)
    late.before = {"DROP TABLE": before_drop,
                   "ALTER TABLE clicks": lambda: clickhouse.query(
                       "SYSTEM START MERGES clicks")}
    output = rescore("2026-10-25", patterns=["Nobody"], url=late.url)

    assert "a run that was stopped finished" in output
    assert not late.before and late.came.wait(60)
    assert mutations(clickhouse) == 0
    assert counts(clickhouse) == {"human": 100}


def test_a_change_that_was_under_way_is_waited_for(clickhouse, migrated,
                                                   rescore, late):
    """The next run rescores what it left."""
    migrated.insert(some_visits(50) + some_visits(50, user_agent="Visitor/1"))
    rescore("2026-10-25", url=late.url, ok=False)
    late.let_in()
    eventually(lambda: counts(clickhouse) == {"human": 50, "bot": 50})
    output = rescore("2026-10-25", patterns=["Nobody"])
    assert "50 verdicts changed (bot to human 50)" in output
    assert counts(clickhouse) == {"human": 100}


def test_a_mutation_of_somebody_else_is_left_alone(clickhouse, migrated,
                                                   rescore):
    """Another mutation fails on a day with an interrupted run."""
    migrated.insert(some_visits(50))
    rescore("2026-10-25")
    clickhouse.query("INSERT INTO rescored (day, run, state, rules) VALUES "
                     "('2026-10-25', 7, 'begun', 1)")
    clickhouse.query("ALTER TABLE clicks DELETE IN PARTITION ID '20261025' "
                     "WHERE throwIf(code != '') = 0", mutations_sync=0)
    failing = ("SELECT count() FROM system.mutations WHERE table = 'clicks' AND "
               "database = currentDatabase() AND latest_fail_reason != '' AND "
               "NOT is_done")
    eventually(lambda: clickhouse.value(failing) == 1)
    output = rescore("2026-10-25")
    assert "a run that was stopped finished" in output
    assert clickhouse.value(failing) == 1


# --- bursts --------------------------------------------------------------------

WINDOW, CODES, LOST = 60000, 20, 10
LIMITS = {"scan_window": "1m", "scan_codes": CODES, "scan_not_found": LOST}


def windows_with_too_many(times):
    """Returns [(start, end)] of every window that begins with one of these requests and
    has too many: (ms, code, not found), in order."""
    found = []
    for i, (start, _, _) in enumerate(times):
        inside = [r for r in times[i:] if r[0] <= start + WINDOW]
        if len({code for _, code, _ in inside}) >= CODES or \
                len({(at, code) for at, code, lost in inside if lost}) >= LOST:
            found.append((inside[0][0], inside[-1][0]))
    return found


def brute_force(rows):
    """Tries every window of every visitor."""
    by_visitor = {}
    for row in rows:
        by_visitor.setdefault(row["unique_identity"], []).append(
            (row["ts_ms"], row["code"], row["outcome"] == "not_found"))
    too_many = {who: windows_with_too_many(sorted(times))
                for who, times in by_visitor.items()}
    return ["scanner" if any(low <= row["ts_ms"] <= high for low, high
                             in too_many[row["unique_identity"]]) else "human"
            for row in rows]


@pytest.mark.proof
def test_bursts_are_those_found_by_trying_every_window(clickhouse, migrated,
                                                       rescore):
    rng = random.Random(11)
    rows = []
    for who in range(60):
        identity = f"{who:020}"
        at = (DAY + 86400 - 400 if who % 5 == 0 else
              DAY + rng.randrange(80000)) * 1000
        pace = rng.choice([200, 2500, 3500, 5000, 8000, 20000])
        for _ in range(rng.choice([5, 30, 120])):
            at += rng.randrange(pace)
            rows.append(visit(
                rng, at, unique_identity=identity,
                code=f"c{rng.randrange(rng.choice([15, 25, 10000]))}",
                outcome=rng.choice(["redirected", "redirected", "not_found"])))
    rng.shuffle(rows)
    migrated.insert(rows[::2])
    migrated.insert(rows[1::2])
    rows = rows[::2] + rows[1::2]
    wanted = brute_force(rows)
    assert 500 < wanted.count("scanner") < len(rows) - 500

    rescore("2026-10-24", "2026-10-26", **LIMITS)

    assert [r["verdict"] for r in table(clickhouse)] == wanted
    rescore("2026-10-24", "2026-10-26", scan_codes=0, scan_not_found=0)
    assert counts(clickhouse) == {"human": len(rows)}


def test_robots_make_no_bursts(clickhouse, migrated, rescore):
    migrated.insert([visit(random.Random(1), (DAY + i) * 1000, code=f"c{i}",
                           unique_identity="robot", user_agent="Visitor/1.0")
                     for i in range(50)])
    rescore("2026-10-25", **LIMITS)
    assert counts(clickhouse) == {"bot": 50}


# --- arguments ------------------------------------------------------------------

@pytest.mark.parametrize("start, end, says", [
    ("yesterday", "2026-10-25", "--from"),
    ("2026-10-25", "2026-10-24", "--from and --to"),
    ("2026-10-25", "2026-13-01", "--to")])
def test_days_that_are_none_are_refused(rescore, start, end, says):
    assert says in rescore(start, end, ok=False)


def test_without_clickhouse_it_says_so(rescore):
    assert "ClickHouse" in rescore("2026-10-25", ok=False)


def test_days_without_clicks_are_passed_over(migrated, rescore):
    assert "0 days with clicks" in rescore("2020-01-01", "2020-01-05")
