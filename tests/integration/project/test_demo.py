"""The demo compares the counts with what it sent: its robots and people are counted as
such, and a figure that differs ends it."""
import collections
import json
import os
import random
import subprocess
import sys
import time

import pytest
import servers
from servers import DEPS
from support.asking import aggregator  # noqa: F401
from support.clicks import make_click
from support.program import BIN
from test_verdicts import LISTS

sys.path.append(str(servers.ROOT / "demo"))
import agents  # noqa: E402
import api  # noqa: E402
import demo  # noqa: E402
import figures  # noqa: E402


def test_the_demos_robots_and_people_are_what_they_were_made_as(
        program, base_config):
    people, _ = agents.people(DEPS / "ua/user-agents.json")
    made = [*agents.robots(), *((agent, "human") for agent in set(people))]
    collector = program("collector", LISTS, start=False)
    answers = subprocess.run(
        [BIN / "collector", "-c", collector.config_path, "explain"],
        check=True, stdout=subprocess.PIPE, input="".join(
            json.dumps({"ua": agent}) + "\n" for agent, _ in made).encode())
    found = [json.loads(line)["verdict"]["class"]
             for line in answers.stdout.splitlines()]
    assert [(agent, verdict) for (agent, _), verdict in zip(made, found)] \
        == made


def test_a_figure_that_differs_ends_the_demo_with_a_line():
    sent = {"human": 26540, "bot": 3460}
    figures.compare("clicks by verdict", sent, dict(sent, scanner=0))
    with pytest.raises(figures.Difference) as why:
        figures.compare("clicks by verdict", sent,
                        {"human": 26541, "bot": 3459})
    assert str(why.value) == (
        "clicks by verdict differ: bot: sent 3,460, counted 3,459, "
        "human: sent 26,540, counted 26,541")


def test_what_was_never_sent_is_a_difference():
    with pytest.raises(figures.Difference, match="DE: sent 0, counted 1"):
        figures.compare("clicks by country", {"US": 3}, {"US": 3, "DE": 1})


# --- the collector that is killed -------------------------------------------------

class Links(demo.Demo):
    """A demo whose redirector gives these `answers`, and whose collector records what
    is done to it."""

    def __init__(self, monkeypatch, clicks, answers):
        self.rng = random.Random(1)
        self.long = [{"code": "a", "url": "https://example.org/"}]
        self.short = [{"code": "b", "url": "https://example.org/"}]
        self.before, self.groups_before = {}, {}
        self.aggregator = self
        self.stack, self.done = self, []
        monkeypatch.setattr(demo, "CLICKS", clicks)
        monkeypatch.setattr(demo, "KAFKA_CLICKS", clicks // 3)
        monkeypatch.setattr(demo, "redirector_metric",
                            lambda name: 0 if "kafka_up" in name else clicks)
        monkeypatch.setattr(demo.traffic, "Connection", lambda *at: self)
        self.send = answers

    def clicks(self, **_):
        return {"total": {}, "groups": []}

    def __getattr__(self, name):
        if name not in ("kill", "start", "wait_started", "close"):
            raise AttributeError(name)
        return lambda *of: self.done.append(name)

    def issue(self, *_):
        """The links exist."""


def redirects(batch, _):
    return [(302, "https://example.org/") for _ in batch]


@pytest.mark.parametrize("clicks", [1, 3, 1000])
def test_of_however_few_clicks_the_collector_comes_back(clicks, monkeypatch):
    made = Links(monkeypatch, clicks, redirects)
    made.send_clicks()
    last = len(made.done) - made.done[::-1].index("kill")
    assert "start" in made.done[last:]
    assert made.done[-1] == "wait_started"


def test_after_a_failure_the_stack_has_its_collector(monkeypatch):
    def breaks_off(batch, rng):
        if made.done:
            raise ConnectionError
        return redirects(batch, rng)

    made = Links(monkeypatch, 1000, breaks_off)
    with pytest.raises(ConnectionError):
        made.send_clicks()
    assert made.done == ["kill", "start"]


def test_it_can_be_read_in_a_terminal_without_its_lines():
    done = subprocess.run(
        [sys.executable, "-c", "import console, demo\n"
         "def begin():\n"
         "    console.heading(1, 'begins')\n"
         "    raise demo.Failure('and ends')\n"
         "demo.Demo = begin\n"
         "demo.main()"], capture_output=True, check=False, cwd=servers.ROOT / "demo",
        env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert b"?? 1. begins ??" in done.stdout, done.stderr
    assert b"demo failed: and ends" in done.stderr


# --- figures ---------------------------------------------------------------------

def clicks_now(link_id, number, code=None):
    """Returns redirects of a moment ago: three of four by people, some of whom come
    again."""
    chance = random.Random(link_id)
    return [make_click(
        chance, int(time.time() * 1000), link_id,
        code=code or f"code{link_id}", outcome="redirected",
        verdict="bot" if i % 4 == 3 else "human") for i in range(number)]


class Shown(demo.Demo):
    """A demo whose visits are rows: a real aggregator's answers must equal what it
    sent."""

    def __init__(self, base, migrated, rows):
        self.aggregator = api.Aggregator(base)
        self.migrated = migrated
        self.before = {"clicks": 0, "humans": 0}
        self.groups_before = {d: collections.Counter()
                              for d in demo.DIMENSIONS}
        people = [row for row in rows if row["verdict"] == "human"]
        self.sent, self.sent_countries, self.sent_verdicts = (
            collections.Counter(row[key] for row in rows)
            for key in ("code", "country", "verdict"))
        self.sent_people = collections.Counter(row["code"] for row in people)
        self.sent_visitors = {
            code: {row["unique_identity"] for row in people
                   if row["code"] == code} for code in self.sent}
        self.goes_elsewhere = 0  # visits that are counted for a former owner

    def visit(self, code, user_agent="demo", times=1):
        former = self.goes_elsewhere
        self.migrated.insert(clicks_now(2, times, code)
                             + clicks_now(1, former, code))
        return [(302, "https://new.example/")] * times

    def show_command(self, *args):
        pass


@pytest.fixture
def shown(aggregator, migrated, monkeypatch):  # noqa: F811
    rows = clicks_now(1, 90) + clicks_now(2, 40)
    migrated.insert(rows)
    migrated.link("code1", 1)
    migrated.link("code2", 2)
    monkeypatch.setattr(demo, "CLICKS", len(rows))
    return Shown(aggregator().url, migrated, rows)


def less_visits(made):
    made.sent["code1"] -= 1


def less_people(made):
    made.sent_people["code2"] -= 1


def less_visitors(made):
    made.sent_visitors["code1"].pop()


def less_from_a_country(made):
    made.sent_countries["DE"] -= 1


def less_robots(made):
    made.sent_verdicts["bot"] -= 1


def one_person_more_in_all(made):
    made.before["humans"] -= 1


def test_counts_that_are_what_was_sent_are_shown(shown, capsys):
    shown.show_counts()
    out = capsys.readouterr().out
    assert "all equal" in out
    line, = (line.split() for line in out.splitlines() if " code1 " in line)
    people = str(shown.sent_people["code1"])
    visitors = str(len(shown.sent_visitors["code1"]))
    assert line[2:8] == ["90", "90", people, people, visitors, visitors]


@pytest.mark.parametrize("mistake, what", [
    (less_visits, "clicks of codes differ: code1: "),
    (less_people, "people's clicks of codes differ: code2: "),
    (less_visitors, "visitors of codes differ: code1: "),
    (less_from_a_country, "clicks by country differ: DE: "),
    (less_robots, "clicks by verdict differ: bot: "),
    (one_person_more_in_all, "people differ: people: ")])
def test_each_figure_that_is_one_more_than_was_sent_ends_it(
        shown, mistake, what):
    mistake(shown)
    with pytest.raises(figures.Difference, match=what):
        shown.show_counts()


def test_more_clicks_than_were_sent_end_it(shown, monkeypatch):
    monkeypatch.setattr(demo, "CLICKS", demo.CLICKS - 1)
    with pytest.raises(demo.Failure, match="sent 129 but settled 130"):
        shown.show_counts()


# --- a code's two owners ---------------------------------------------------------

WAS = {"code": "code1", "link_id": "1"}
NOW = {"code": "code1", "link_id": "2", "url": "https://new.example/"}


@pytest.fixture
def reused(aggregator, migrated):  # noqa: F811
    rows = clicks_now(1, 90)
    migrated.insert(rows)
    migrated.link("code1", 1)
    migrated.link("code1", 2, created_at=1790000001)
    return Shown(aggregator().url, migrated, rows)


def test_owners_whose_clicks_are_their_own_are_shown(reused, capsys):
    reused.compare_statistics(WAS, NOW)
    assert "after 3 visits: 3, and 90 unchanged" in capsys.readouterr().out


def test_a_click_that_the_new_owner_did_not_have_ends_it(reused, migrated):
    migrated.insert(clicks_now(2, 1, "code1"))
    with pytest.raises(figures.Difference,
                       match="two owners differ: now: sent 0, counted 1$"):
        reused.compare_statistics(WAS, NOW)


def test_a_click_of_the_former_owner_that_is_gone_ends_it(reused):
    reused.sent["code1"] += 1
    with pytest.raises(
            figures.Difference,
            match="two owners differ: former: sent 91, counted 90$"):
        reused.compare_statistics(WAS, NOW)


def test_a_new_click_counted_for_the_former_owner_ends_it(reused):
    reused.goes_elsewhere = 1
    with pytest.raises(figures.Difference,
                       match="after the new one's differ: former: "):
        reused.compare_statistics(WAS, NOW)
