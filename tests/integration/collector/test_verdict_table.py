"""The table in docs/collector.md of how many robots and people are classified as
robots, here and by isbot.  Counts are those of the versions named in docs; the
assertions hold for all versions.

uap-core's test cases are Debian's package of that name (tools/packages/test.txt).
docs/collector.md also has rows of a log and of isbot's examples, which are in no
package; no test checks these rows.
"""
import pathlib

import pytest
import yaml
from test_verdicts import isbot, verdicts

CASES = pathlib.Path("/usr/share/uap-core")
BROWSER_CASES = ["tests/test_ua", *(
    f"test_resources/{name}" for name in (
        "pgts_browser_list", "firefox_user_agent_strings",
        "opera_mini_user_agent_strings", "podcasting_user_agent_strings"))]
# Families that people use; many of the other families are robots'.
BROWSERS = {
    "Android", "Avant", "Brave", "Camino", "Chrome", "Chrome Mobile", "Chromium",
    "Crazy Browser", "Dillo", "ELinks", "Edge", "Epiphany", "Firefox", "Galeon",
    "IE", "IE Mobile", "K-Meleon", "Konqueror", "Links", "Lynx", "Maxthon",
    "Mobile Safari", "MyIE2", "NetFront", "Netscape", "Opera", "Opera Mini",
    "Opera Mobile", "Safari", "Samsung Internet", "SeaMonkey", "UC Browser",
    "Vivaldi", "Whale", "iCab"}

# Agents of these families that are robots, by a part of the agent: first robots with a
# browser's name, then people.
ROBOT_BROWSERS = [
    "Google Web Preview", "Web Link Validator", "UrlMonitor",
    "ODP links test", "Link Checker Pro", "www.medchecker.com", "khrap.org",
    "trojanchecker.com"]
MISTAKEN_BROWSERS = [
    # the page of the person who made, sells or uses it
    "www.learntohack.nil", "johnbokma.com", "www.dxbrowser.de",
    "www.ScreenSurfer.de", "www.tropicdesigns.net", "user@ch.eu.csc.com",
    # no blanks, or in other places than in browsers
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
    """Returns {user agent: family} of uap-core's."""
    assert CASES.is_dir(), f"{CASES} is missing: run 'make deps'"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = {}
    for name in names:
        with open(CASES / f"{name}.yaml", "rb") as text:
            for case in yaml.load(text, loader)["test_cases"]:
                found.setdefault(case["user_agent_string"], case["family"])
    return found


class Judged:
    """Agents, and which of them are robots by our lists and by isbot."""

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
    """Returns agents that contain no part of a list."""
    parts = [part for names in lists for part in names]
    return [agent for agent in agents
            if not any(part == agent or len(part) > 3 and part in agent
                       for part in parts)]


def assert_few(unknown, agents):
    """The names are of the cases in Debian 12 and 13; a later package may have a few
    more."""
    assert len(unknown) * 1000 <= len(agents), unknown


@pytest.mark.proof
def test_browsers_of_uap_core_are_people_but_those_named(judged):
    found = judged([agent for agent, family in cases(*BROWSER_CASES).items()
                    if family in BROWSERS])
    assert len(found.agents) > 10_000
    assert_few(unnamed(found.robots(), ROBOT_BROWSERS, MISTAKEN_BROWSERS),
               found.agents)
    assert sum(found.ours) * 10 < sum(found.theirs)


@pytest.mark.proof
def test_devices_of_uap_core_are_people_but_those_named(judged):
    found = judged([agent for agent, family in
                    cases("tests/test_device").items() if family != "Spider"])
    assert len(found.agents) > 16_000
    assert_few(unnamed(found.robots(), ROBOT_DEVICES, MISTAKEN_DEVICES), found.agents)
    assert sum(found.ours) * 30 < sum(found.theirs)
