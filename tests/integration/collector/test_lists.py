"""Each entry of our own lists must be reachable: this finds entries that no code ever
matches, or that follow a shorter one that matches all of their texts.  The lists are
read from the sources, and tested with the program."""
import ast
import itertools
import json
import pathlib
import re
import subprocess

import pytest
import yaml
from servers import DEPS
from support.program import BIN
from support.rule_files import BOT_LIST, UA_RULES

ROOT = pathlib.Path(__file__).parents[3]
STRING = r'"(?:\\.|[^"\\])*"'
parse = re._parser.parse  # the parser of re itself


# --- reading --------------------------------------------------------------------

def source(path):
    """Returns the source without comments, with macros of text expanded."""
    text = (ROOT / path).read_text()
    text = re.sub(rf'({STRING})|/\*.*?\*/', lambda m: m[1] or " ", text,
                  flags=re.S).replace("\\\n", " ")
    for name, value in re.findall(rf'#define (\w+)\s+({STRING})\s*\n', text):
        text = re.sub(rf'\b{name}\b', lambda _: value, text)
    return text


def strings(text):
    """Returns each text in C; adjacent literals are joined."""
    return ["".join(ast.literal_eval(part) for part in re.findall(STRING, run))
            for run in re.findall(rf'{STRING}(?:\s*{STRING})*', text)]


def table(path, name):
    found = re.search(rf'\b{name}\[\d*\](?:\[\d+\])? = \{{(.*?)\}};',
                      source(path), re.S)
    assert found, f"{path} has no {name}"
    return found[1]


def entries(path, name):
    """Yields the first text of each entry in braces, and its other texts."""
    rows = re.findall(rf'\{{\s*((?:{STRING}|[^{{}}"])*)\}}', table(path, name))
    found = [strings(row) for row in rows if strings(row)]
    assert found, f"{path}: {name} is empty"
    return found


# --- texts that an expression matches --------------------------------------------

def samples(tree):
    """Returns texts that the tree matches, one for each of its alternatives."""
    pieces = [[""]]
    for kind, value in tree:
        kind = str(kind)
        if kind in ("LITERAL", "NOT_LITERAL"):
            pieces.append([chr(value) if kind == "LITERAL" else "~"])
        elif kind == "IN":
            pieces.append([one_of(value)])
        elif kind == "ANY":
            pieces.append(["x"])
        elif kind == "BRANCH":
            pieces.append([s for branch in value[1] for s in samples(branch)])
        elif kind == "SUBPATTERN":
            pieces.append(samples(value[3]))
        elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
            pieces.append([s * value[0] for s in samples(value[2])])
    return ["".join(parts) for parts in itertools.product(*pieces)]


def one_of(choices):
    for kind, value in choices:
        if str(kind) == "LITERAL":
            return chr(value)
        if str(kind) == "RANGE":
            return chr(value[0])
        if str(kind) == "CATEGORY":
            return {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "w",
                    "CATEGORY_SPACE": " "}[str(value)]
    return "~"


def first_group(tree):
    """Returns the first group of an expression as a tree."""
    for kind, value in tree:
        if str(kind) == "SUBPATTERN":
            return value[3] if value[0] == 1 else first_group(value[3])
        if str(kind) == "MAX_REPEAT" and first_group(value[2]):
            return first_group(value[2])
    return []


@pytest.fixture
def explain(workdir):
    """explain(visits) returns the reason of each, by our own lists alone."""
    config = workdir / "collector.yaml"
    config.write_text(yaml.safe_dump({"collector": {"ua_rules": UA_RULES}}))

    def run(visits):
        done = subprocess.run(
            [BIN / "collector", "-c", config, "explain", "--why"], check=True,
            stdout=subprocess.PIPE, timeout=120, input="".join(
                json.dumps(visit) + "\n" for visit in visits).encode())
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(found) == len(visits)
        return found
    return run


# --- robots ---------------------------------------------------------------------

# Texts for these cannot be derived from the expression.
BY_HAND = {
    "^[-\\s\"'_.?]+$": ["-"],
    "^Mozilla/\\d\\.\\d+(?: ?\\((?:compatible)?;? ?\\))?$": [
        "Mozilla/5.0", "Mozilla/4.0 (compatible;)"],
    "AppleWebKit/.* \\(?https?://": ["AppleWebKit/5 x https://x.example"],
    "\\+ ?(?:https?://|www\\.)": ["x +http://x.example"],
    "[(;,] ?https?://": ["x (https://x.example)"],
    "[\\w.+-](?:@|": ["x@x.example", "x(at)x.example"],
    "^Mozilla/5\\.0 \\((?:Windows NT": ["Mozilla/5.0 (X11; Linux x86_64)",
                                        "Mozilla/5.0 (Macintosh; x)",
                                        "Mozilla/5.0 (Windows NT 10.0)"],
}


def texts_of(regex):
    for start, texts in BY_HAND.items():
        if regex.startswith(start):
            return texts
    return [text + " " if regex.endswith("\\b") else text
            for text in samples(parse(regex))]


@pytest.mark.parametrize("path, name, origin", [
    ("common/agent/bots.c", "own_bots", "own"),
    ("common/agent/structure.c", "structure_rules", "structure")])
def test_each_robot_of_ours_is_found_by_its_own_entry(explain, path, name,
                                                      origin):
    tried = [(text, regex) for regex, *_ in entries(path, name)
             for text in texts_of(regex)]
    assert len(tried) > 20
    answers = explain([{"ua": text} for text, _ in tried])
    shadowed = [(text, regex, answer["why"]["verdict"])
                for (text, regex), answer in zip(tried, answers)
                if answer["why"]["verdict"] is None
                or answer["why"]["verdict"].get("pattern") != regex
                or answer["why"]["verdict"]["origin"] != origin]
    assert shadowed == []


def test_what_is_vague_or_excepted_is_in_the_lists():
    """The lists as they are installed, by the lock file."""
    listed = {entry["pattern"] for entry in
              json.loads(pathlib.Path(BOT_LIST).read_text())}
    listed |= set(json.loads((DEPS / "bots/isbot-patterns.json").read_text()))
    vague = strings(table("common/agent/structure.c", "vague_patterns"))
    assert len(vague) > 30 and [v for v in vague if v not in listed] == []
    sample = yaml.safe_load((ROOT / "config/shortloop.yaml").read_text())
    assert [e for e in sample["robots"]["except"] if e not in listed] == []


# --- sources of visitors ----------------------------------------------------------

def test_each_site_of_ours_is_found_by_its_host(explain):
    hosts = entries("collector/enrich/sites.c", "hosts")
    brands = entries("collector/enrich/sites.c", "brands")
    asked = [(f"https://{host}/", host, channel, "own")
             for host, channel in hosts]
    asked += [(f"https://www.{brand}.{country}/", brand, channel, "brand")
              for brand, channel in brands for country in ("de", "co.uk")]
    answers = explain([{"referrer": url} for url, *_ in asked])
    lost = [(url, answer["why"]["referrer"]) for (url, site, channel, origin),
            answer in zip(asked, answers)
            if answer["referrer"]["channel"] != channel
            or answer["why"]["referrer"]["entry"] != site
            or answer["why"]["referrer"]["origin"] != origin]
    assert len(hosts) > 200 and lost == []


def once(names):
    return sorted(names) == sorted(set(names))


def test_words_of_campaigns_are_written_as_they_are_compared():
    media = [name for name, _ in entries("collector/enrich/channel.c", "media")]
    words = [name for name, _ in entries("collector/enrich/channel.c", "words")]
    names = [name for name, in entries("collector/enrich/utm.c", "names")]
    labels = strings(table("collector/enrich/sources.c", "words"))
    for listed, form in [(media, "[a-z0-9]{1,63}"),  # plain_word
                         (words, "[^A-Z]{1,64}"), (names, "[a-z0-9_]{1,28}"),
                         # A label of two letters is a country's anyway.
                         (labels, "(?!..$)[a-z0-9-]+")]:
        assert once(listed)
        assert [x for x in listed if not re.fullmatch(form, x)] == []
    # A value with that beginning is paid by its beginning; no entry could change it.
    assert [x for x in media if x.startswith("paid")] == []


# --- devices --------------------------------------------------------------------

def holds_another(words):
    return [(word, other) for word in words for other in words
            if word != other and other in word]


@pytest.mark.parametrize("name", [
    "console_words", "tv_words", "wearable_words", "tablet_words",
    "mobile_words"])
def test_no_word_of_a_device_is_part_of_another(name):
    words = strings(table("collector/enrich/device_class.c", name))
    assert once(words) and holds_another(words) == []


def test_each_system_is_one_that_the_rules_or_the_table_name():
    text = source("collector/enrich/device_class.c")
    rules = yaml.load(pathlib.Path(UA_RULES).read_bytes(),
                      getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    known = {name for rule in rules["os_parsers"]
             for name in ([rule["os_replacement"]]
                          if rule.get("os_replacement") else
                          samples(first_group(parse(rule["regex"]))))}
    ours = strings(re.search(r"name_of_system.*?\};", text, re.S)[0])
    lists = [strings(table("collector/enrich/device_class.c", name)) for name in
             ("tv_systems", "wearable_systems", "mobile_systems",
              "desktop_systems")]
    systems = [system for listed in lists for system in listed]
    assert once(systems)
    unknown = " ".join(s for s in systems if s not in known | set(ours))
    assert unknown == ""
    # Words that are checked alone, before the lists of phones and desktops.
    alone = set(re.findall(r'ua_is\(ua, UA_OS_FAMILY, ("[^"]*")\)',
                           text[text.index("*device_class("):]))
    assert [s for s in lists[2] + lists[3] if f'"{s}"' in alone] == []


def test_each_word_of_the_table_of_devices_stands_where_it_is_looked_for():
    text = table("common/agent/device.c", "words")
    rows = re.split(r"\['(.)'\] =", text)[1:]
    assert len(rows) > 20
    for letter, words in zip(rows[::2], rows[1::2]):
        found = re.findall(rf'\{{({STRING}), (SAYS_\w+), (\w+)\}}', words)
        assert len(found) == words.count("SAYS_") > 0
        assert [w for w, *_ in found if w[1] != letter] == []
        anywhere = {(w[1:-1], says) for w, says, where in found
                    if where == "ANYWHERE"}
        assert [w for w, says, _ in found for other, same in anywhere
                if w[1:-1] != other and w[1:-1].startswith(other)
                and says == same] == []


def test_media_of_the_list_of_sources_are_known():
    known = strings(table("collector/enrich/sources.c", "channels"))[::2]
    listed = json.loads((DEPS / "sources/referrers.json").read_text())
    assert {entry["medium"] for entry in listed.values()} <= set(known)
