"""The table in docs/collector.md of how many robots and people are taken for
robots, here and by isbot.  Counts hold for the versions that docs names; what is
asserted is what has to hold of any.

uap-core's test cases are Debian's package of that name (tools/packages/test.txt).
Two sources are in no package, and their tests run where an environment variable
names them: ACCESS_LOG, a log of a web server (common combined format), and
ISBOT_EXAMPLES, fixtures/crawlers.yml of isbot's repository.
"""
import os
import pathlib
import re

import pytest
import yaml
from test_verdicts import MISTAKEN, isbot, verdicts

CASES = pathlib.Path("/usr/share/uap-core")
BROWSER_CASES = ["tests/test_ua", *(
    f"test_resources/{name}" for name in (
        "pgts_browser_list", "firefox_user_agent_strings",
        "opera_mini_user_agent_strings", "podcasting_user_agent_strings"))]
# Families that people use; of the cases' others many are robots'.
BROWSERS = {
    "Android", "Avant", "Brave", "Camino", "Chrome", "Chrome Mobile", "Chromium",
    "Crazy Browser", "Dillo", "ELinks", "Edge", "Epiphany", "Firefox", "Galeon",
    "IE", "IE Mobile", "K-Meleon", "Konqueror", "Links", "Lynx", "Maxthon",
    "Mobile Safari", "MyIE2", "NetFront", "Netscape", "Opera", "Opera Mini",
    "Opera Mobile", "Safari", "Samsung Internet", "SeaMonkey", "UC Browser",
    "Vivaldi", "Whale", "iCab"}

# Of those, who is taken for a robot, by a part of the agent: first robots that say
# a browser's name, then people.
ROBOT_BROWSERS = [
    "Google Web Preview", "Web Link Validator", "UrlMonitor",
    "ODP links test", "Link Checker Pro", "www.medchecker.com", "khrap.org",
    "trojanchecker.com"]
MISTAKEN_BROWSERS = [
    # the page of whoever made, sells or uses it
    "www.learntohack.nil", "johnbokma.com", "www.dxbrowser.de",
    "www.ScreenSurfer.de", "www.tropicdesigns.net", "user@ch.eu.csc.com",
    # no blanks, or not where browsers have them
    "Mozilla/5.0+(", "UserAgent: Mozilla", "Mozilla 5.0 (MSIE 6.0 Win 98)",
    "(Firefox/1.0; Mac OS X Panther)", "Mozilla Firefox/5.0",
    # words of isbot's
    "Netscape/7.", "AmigaOS; Avant", "Franciscans Australia", "FirePHP"]
ROBOT_DEVICES = [
    "WhatsApp/", "WhatsApp+/", "WordPress/", "Connector Spider",
    "symantecspider", "PostmanRuntime", "YahooMobileMail/1.0",
    "search.ch/2.8"]
MISTAKEN_DEVICES = [
    "Mozilla/5.0+(", "(com.eakalin.filmizle)", "SkyNet/1.5.0",
    "(null)/(null) watchOS", "AppleTV/1.1", "(compatible; Go.Web/6.5;",
    "ACER-E200", "HAIER-N60", "AUDIOVOX-9155GPX", "Ice", "?ua=SAMSUNG-",
    "Http://Atamg.wup.ru/", "ABC NP3/"]


def cases(*names):
    """{user agent: family} of uap-core's."""
    assert CASES.is_dir(), f"{CASES} is missing: run 'make deps'"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = {}
    for name in names:
        with open(CASES / f"{name}.yaml", "rb") as text:
            for case in yaml.load(text, loader)["test_cases"]:
                found.setdefault(case["user_agent_string"], case["family"])
    return found


class Judged:
    """Agents, and which are robots by us and by isbot."""

    def __init__(self, program, base_config, agents):
        self.agents = agents
        self.ours = [kind != "human" for kind, _ in
                     verdicts(program, base_config, agents)]
        self.theirs = isbot(agents)

    def robots(self):
        return [agent for agent, ours in zip(self.agents, self.ours) if ours]

    def __str__(self):
        return (f"\nof {len(self.agents)}: {sum(self.ours)} here, "
                f"{sum(self.theirs)} by isbot")


@pytest.fixture
def judged(program, base_config):
    def judge(agents):
        made = Judged(program, base_config, agents)
        print(made)
        return made
    return judge


def unnamed(agents, *lists):
    """Those of which no list has a part."""
    parts = [part for names in lists for part in names]
    return [agent for agent in agents
            if not any(part == agent or len(part) > 3 and part in agent
                       for part in parts)]


def assert_few(unknown, agents):
    """Names are of the cases that Debian 12 and 13 have; a later package may have
    some more, but not many."""
    assert len(unknown) * 1000 <= len(agents), unknown


def test_browsers_of_uap_core_are_people_but_those_named(judged):
    found = judged([agent for agent, family in cases(*BROWSER_CASES).items()
                    if family in BROWSERS])
    assert len(found.agents) > 10_000
    assert_few(unnamed(found.robots(), ROBOT_BROWSERS, MISTAKEN_BROWSERS),
               found.agents)
    assert sum(found.ours) * 10 < sum(found.theirs)


def test_devices_of_uap_core_are_people_but_those_named(judged):
    found = judged([agent for agent, family in
                    cases("tests/test_device").items() if family != "Spider"])
    assert len(found.agents) > 16_000
    assert_few(unnamed(found.robots(), ROBOT_DEVICES, MISTAKEN_DEVICES), found.agents)
    assert sum(found.ours) * 30 < sum(found.theirs)


# --- what is in no package -----------------------------------------------------

def named(variable, what):
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} names no {what}")
    return pathlib.Path(path)


def test_of_a_real_log_as_many_robots_are_found_as_isbot_finds(judged):
    """A visit is a line.  What isbot calls a robot and is none does not count."""
    text = named("ACCESS_LOG", "access log").read_bytes().decode(
        "utf-8", "backslashreplace")
    lines = [(line.split(" ")[0], match[1]) for line in text.splitlines() if (
        match := re.search(r'"((?:[^"\\]|\\.)*)"\s*$', line))]
    assert lines, "no line ends in a user agent"
    found = judged([agent for _, agent in lines])
    for what, key in (("visitors", lines), ("agents", found.agents)):
        print(f"{what}: of {len(set(key))}:", *(
            f"{len({k for k, is_robot in zip(key, by) if is_robot})} {who}"
            for by, who in ((found.ours, "here,"), (found.theirs, "by isbot"))))
    robots = [(ours, theirs) for agent, ours, theirs in
              zip(found.agents, found.ours, found.theirs)
              if (ours or theirs) and agent not in MISTAKEN]
    print(f"visits of robots: {len(robots)}; missed here "
          f"{sum(not ours for ours, _ in robots)}, by isbot "
          f"{sum(not theirs for _, theirs in robots)}")
    assert sum(ours for ours, _ in robots) >= sum(
        theirs for _, theirs in robots)


def test_of_isbots_examples_but_few_are_missed(judged):
    examples = yaml.safe_load(
        named("ISBOT_EXAMPLES", "fixtures/crawlers.yml").read_text())
    found = judged([agent for agents in examples.values() for agent in agents])
    missed = unnamed(
        [agent for agent, ours in zip(found.agents, found.ours) if not ours],
        # Proxies in front of people, and browsers.
        ["googleweblight", "Nexus 5 Build/JOP40D", "secureurl.fwdcdn.com",
         "Anonymous, Mozilla/5.0", "WebMoney Advisor",
         "Mozilla/5.0 (Mixnode) AppleWebKit/537.36 (KHTML, like Gecko)"])
    assert missed == []
