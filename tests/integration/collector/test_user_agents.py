"""Real user agents, compared with the rules of uap-core tried one after another by
another engine of regular expressions: no prefilter, no cache, no PCRE2."""
import json
import random
import re
import subprocess

import pytest
from servers import DEPS
import yaml
from support.program import BIN

AGENTS = 1000

# For each section: the answer's fields, the keys of replacements, and the meaning of a
# rule without one.
SECTIONS = {
    "user_agent": (("family", "major", "minor", "patch"),
                   ("family_replacement", "v1_replacement", "v2_replacement",
                    "v3_replacement"), ("$1", "$2", "$3", "$4")),
    "os": (("family", "major", "minor", "patch", "patch_minor"),
           ("os_replacement", "os_v1_replacement", "os_v2_replacement",
            "os_v3_replacement", "os_v4_replacement"),
           ("$1", "$2", "$3", "$4", "$5")),
    "device": (("family", "brand", "model"),
               ("device_replacement", "brand_replacement",
                "model_replacement"), ("$1", "", "$1"))}


class Reference:
    """Implements docs/specification.md of uap-core."""

    def __init__(self, path):
        with open(path, "rb") as f:
            found = yaml.load(f, getattr(yaml, "CSafeLoader",
                                         yaml.SafeLoader))
        self.rules = {part: [
            (re.compile(rule["regex"], re.ASCII | (
                re.IGNORECASE if rule.get("regex_flag") == "i" else 0)),
             [rule.get(key) or fallback
              for key, fallback in zip(keys, fallbacks)])
            for rule in found[f"{part}_parsers"]]
            for part, (_, keys, fallbacks) in SECTIONS.items()}

    def __call__(self, agent):
        return {part: self.answer(part, agent) for part in SECTIONS}

    def answer(self, part, agent):
        names = SECTIONS[part][0]
        for regex, templates in self.rules[part]:
            match = regex.search(agent)
            if match:
                values = [self.fill(t, match) for t in templates]
                return {name: value or ("Other" if name == "family" else None)
                        for name, value in zip(names, values)}
        return {name: "Other" if name == "family" else None for name in names}

    @staticmethod
    def fill(template, match):
        def group(number):
            number = int(number[1])
            return (match[number] or "") if number <= match.re.groups else ""
        return re.sub(r"\$([1-9])", group, str(template)).strip()


def some_agents():
    chance = random.Random(1)
    browsers = {entry["userAgent"] for entry in json.loads(
        (DEPS / "ua/user-agents.json").read_text())}
    robots = {text for entry in json.loads(
        (DEPS / "bots/crawler-user-agents.json").read_text())
        for text in entry["instances"]}
    return [ua for kind in (browsers, robots)
            for ua in chance.sample(sorted(kind), AGENTS // 2)
            if ua.isascii()]


def corrected(expected, answer):
    """Returns the rules' result, corrected where our table of devices is more precise
    (docs/collector.md)."""
    device, system = expected["device"], expected["os"]["family"]
    if device["model"] == "K" and system == "Android":
        expected["device"] = device | {"family": "Other", "model": None}
    if system in ("Other", "Linux", "Mac OS X") \
            and answer["os"]["family"] in ("iOS", "Android", "HarmonyOS"):
        expected["os"] = answer["os"]
        return True
    return False


@pytest.mark.timeout(600)
def test_what_is_known_of_them_is_what_the_rules_say(workdir):
    rules = DEPS / "uap/regexes.yaml"
    config = workdir / "collector.yaml"
    config.write_text(yaml.safe_dump({"collector": {"ua_rules": str(rules)}}))
    agents, reference = some_agents(), Reference(rules)
    answers = subprocess.run(
        [BIN / "collector", "-c", config, "explain"], check=True, text=True,
        stdout=subprocess.PIPE, timeout=300,
        input="".join(json.dumps({"ua": ua}) + "\n" for ua in agents)).stdout
    known = systems = 0
    for agent, line in zip(agents, answers.splitlines(), strict=True):
        answer, expected = json.loads(line), reference(agent)
        systems += corrected(expected, answer)
        assert {part: answer[part] for part in SECTIONS} == expected, agent
        known += expected["user_agent"]["family"] != "Other"
    assert known > AGENTS // 2
    assert systems < AGENTS // 100
