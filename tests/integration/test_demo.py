"""The demo holds what was counted against what it sent: its robots and people
are what it says, and a figure that differs ends it."""
import json
import subprocess
import sys

import pytest
import servers
from support.program import BIN
from test_verdicts import DEPS, LISTS

sys.path.append(str(servers.ROOT / "demo"))
import agents  # noqa: E402
import figures  # noqa: E402


def test_the_demos_robots_and_people_are_what_they_were_made_as(
        program, base_config):
    people, _ = agents.people(DEPS / "ua/user-agents.json")
    made = [*agents.robots(), *((agent, "human") for agent in set(people))]
    collector = program("collector", {"collector": LISTS}, start=False)
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
