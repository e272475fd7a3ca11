"""`collector explain`: the rows of visits, without any server."""
import hashlib
import ipaddress
import json
import random
import signal
import subprocess

import maxminddb
import pytest
from servers import DEPS
import yaml
from support.program import BIN
from support.rule_files import BOT_LIST, UA_RULES

CITY = DEPS / "geo/city-ipv4.mmdb"
ASN = DEPS / "geo/asn-country.mmdb"
CHROME = ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
          "(KHTML, like Gecko) Chrome/140.0.7339.80 Safari/537.36")
NOTHING = {
    "user_agent": {"family": "Other", "major": None, "minor": None,
                   "patch": None},
    "os": {"family": "Other", "major": None, "minor": None, "patch": None,
           "patch_minor": None},
    "device": {"family": "Other", "brand": None, "model": None},
    "geo": dict.fromkeys(
        ["continent", "country", "region", "city", "postal_code", "latitude",
         "longitude", "time_zone", "asn", "as_org"]),
    "visitor": None, "referrer": {"host": None, "site": None, "channel": "direct"},
    "device_class": "other"}


@pytest.fixture
def config(workdir):
    path = workdir / "collector.yaml"
    path.write_text(yaml.safe_dump({
        "robots": {"list": BOT_LIST,
                   "patterns": str(DEPS / "bots/isbot-patterns.json")},
        "collector": {"ua_rules": UA_RULES,
                      "source_list": str(DEPS / "sources/referrers.json"),
                      "geo_files": [str(CITY), str(ASN)]}}))
    return path


class Explain:
    def __init__(self, config):
        self.command = [str(BIN / "collector"), "-c", str(config), "explain"]
        self.stderr = ""

    def __call__(self, lines, *args, expect=0):
        """Returns answers to lines of bytes or questions; `expect`: exit status."""
        text = b"\n".join(
            line if isinstance(line, bytes) else json.dumps(line).encode()
            for line in lines) + b"\n"
        done = subprocess.run([*self.command, *args], input=text,
                              capture_output=True, timeout=120)
        self.stderr = done.stderr.decode()
        assert done.returncode == expect, self.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(lines)
        return answers


@pytest.fixture
def explain(config):
    return Explain(config)


def test_all_that_is_known_of_a_visit_in_this_order(explain):
    answer, = explain([{"ip": "8.8.8.8", "ua": CHROME,
                        "referrer": "https://www.google.co.uk/search?q=x",
                        "headers": {"Accept-Language": "de"}}])
    assert list(answer) == ["user_agent", "os", "device", "geo", "verdict",
                            "visitor", "referrer", "device_class"]
    assert answer["user_agent"] == {"family": "Chrome", "major": "140",
                                    "minor": "0", "patch": "7339"}
    assert answer["os"] == {"family": "Windows", "major": "10", "minor": None,
                            "patch": None, "patch_minor": None}
    assert answer["device"] == {"family": "Other", "brand": None, "model": None}
    assert answer["verdict"]["class"] == "human"
    assert answer["verdict"]["reason"] is None
    assert answer["verdict"]["rules"] >= 1
    assert answer["visitor"] == hashlib.sha1(
        bytes([8, 8, 8, 8]) + CHROME.encode()).hexdigest()
    assert answer["referrer"] == {"host": "www.google.co.uk", "site": "google.co.uk",
                                  "channel": "search"}
    assert answer["device_class"] == "desktop"


def test_absent_values_are_null(explain):
    nothing, nulls, empty = explain([
        {}, {"ip": None, "ua": None, "referrer": None, "headers": None},
        {"ip": "", "ua": "", "referrer": "", "headers": {}, "more": [1]}])
    verdict = nothing.pop("verdict")
    assert nothing == NOTHING
    assert verdict["class"] == "bot"
    for other in (nulls, empty):
        assert other.pop("verdict") == verdict
        assert other == NOTHING


def test_headers_stand_in_and_their_names_have_no_case(explain):
    plain, headers, both = explain([
        {"ip": "8.8.8.8", "ua": CHROME, "referrer": "https://t.co/x"},
        {"ip": "8.8.8.8", "headers": {"user-AGENT": CHROME,
                                      "REFERER": ["https://t.co/x"]}},
        {"ip": "8.8.8.8", "ua": CHROME, "referrer": "https://t.co/x",
         "headers": {"User-Agent": "curl/8", "Referer": "https://a.example"}}])
    assert plain == headers == both
    assert plain["referrer"] == {"host": "t.co", "site": "t.co", "channel": "social"}


def test_a_prefetch_is_told_by_any_of_its_headers(explain):
    answers = explain([{"ip": "8.8.8.8", "ua": CHROME, "headers": {name: "prefetch"}}
                       for name in ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz",
                                    "x-moz")])
    assert [answer["verdict"]["class"] for answer in answers] == ["prefetch"] * 5


def test_a_link_from_the_same_host_is_internal(explain):
    answer, = explain([{"referrer": "https://go.example.com/x",
                        "headers": {"host": "GO.example.com:8080"}}])
    assert answer["referrer"] == {"host": "go.example.com", "site": "example.com",
                                  "channel": "internal"}


def test_places_are_those_of_the_files(explain):
    rng = random.Random(5)
    asked = [str(ipaddress.IPv4Address(rng.randrange(1 << 24, 223 << 24)))
             for _ in range(400)]
    answers = explain([{"ip": ip} for ip in asked])
    found = 0
    with maxminddb.open_database(str(CITY)) as city:
        for ip, answer in zip(asked, answers):
            record = city.get(ip)
            if not record or not record.get("city"):
                continue
            geo = answer["geo"]
            assert geo["country"] == record["country_code"], ip
            assert geo["city"] == record["city"], ip
            assert geo["latitude"] == (record["latitude"] or None), ip
            found += 1
    assert found > 100


def test_addresses_in_other_spellings_are_the_same_visitor(explain):
    plain, mapped = explain([{"ip": "8.8.4.4", "ua": CHROME},
                             {"ip": "::ffff:8.8.4.4", "ua": CHROME}])
    assert plain == mapped


def test_every_line_has_its_answer_whatever_it_is(explain):
    lines = [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b'{"ua": 5}',
             b'{"headers": []}', b'{"headers": {"User-Agent": 1}}',
             b'{"ua": "\\ud800"}', b'{"ua": "a\\u0000b"}', b"{}",
             b'{"ip": "300.1.2.3", "ua": "curl/8"}', b"{}"]
    answers = explain(lines, expect=65)
    broken = [i for i, answer in enumerate(answers) if list(answer) == ["error"]]
    assert broken == list(range(9))
    # An invalid address does not affect the other fields.
    assert "300.1.2.3" in answers[11]["error"]
    assert answers[11]["user_agent"]["family"] == "curl"
    assert answers[11]["geo"] == NOTHING["geo"]
    assert "10 of 13 lines" in explain.stderr
    assert "line 1: an empty line" in explain.stderr


def test_a_last_line_needs_no_newline(explain):
    done = subprocess.run(explain.command, input=b"{}\n{}",
                          capture_output=True, timeout=60)
    assert done.stdout.count(b"\n") == 2 and done.returncode == 0


def test_a_very_long_line_is_answered_and_the_rest_goes_on(explain):
    agent = CHROME + " x" * (1 << 19)
    long, longer, after = explain(
        [{"ua": agent}, {"ua": "y" * (9 << 20)}, {"ua": CHROME}], expect=65)
    assert long["user_agent"]["family"] == "Chrome"
    assert list(longer) == ["error"]
    assert after["user_agent"]["family"] == "Chrome"


def test_each_line_is_answered_before_the_next_is_asked(explain):
    with subprocess.Popen(explain.command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        for major in range(50):
            question = {"ua": CHROME.replace("140", str(major + 90))}
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["user_agent"]["major"] == str(major + 90)
        # Half a line is not a question yet, and delays nothing.
        process.stdin.write(b'{"ua": ')
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stdout.read() == b""


@pytest.mark.long
def test_order_is_kept_over_many_lines(explain):
    questions = [{"ua": f"Firefox/{n % 500}.{n}"} for n in range(20000)]
    for n, answer in enumerate(explain(questions)):
        assert answer["user_agent"]["minor"] == str(n)


def test_nobody_reading_the_answers_ends_it(explain, workdir):
    questions = workdir / "questions"
    questions.write_bytes(b"{}\n" * 200000)
    with open(questions, "rb") as source, subprocess.Popen(
            explain.command, stdin=source, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 71
        assert b"standard output" in process.stderr.read()


def test_why_names_the_rules(explain):
    answer, robot, prefetch, private = explain(
        [{"ip": "8.8.8.8", "ua": CHROME, "referrer": "https://www.google.com/",
          "headers": {"Accept-Language": "fr;q=0.5,de"}},
         {"ua": "Googlebot/2.1"},
         {"ua": CHROME, "headers": {"Purpose": "prefetch"}},
         {"ip": "10.1.2.3"}], "--why")
    why = answer["why"]
    rules = (DEPS / "uap/regexes.yaml").read_text().splitlines()
    for part in ("user_agent", "os"):
        assert why[part]["regex"] in rules[why[part]["line"] - 1]
        assert why[part]["rule"] > 0
    assert why["device"] is None  # no rule matches it: Other
    country = why["geo"]["country"]
    assert country["file"] == str(CITY)
    with maxminddb.open_database(str(CITY)) as city:
        assert country["network"] == "{0}/{1}".format(
            ipaddress.ip_network("8.8.8.8/%d" % city.get_with_prefix_len(
                "8.8.8.8")[1], strict=False).network_address,
            city.get_with_prefix_len("8.8.8.8")[1])
    assert why["referrer"] == {"domain": "google.com", "origin": "source_list",
                               "entry": "www.google.com"}
    assert why["language"] == "de"
    bots = json.loads((DEPS / "bots/crawler-user-agents.json").read_text())
    verdict = robot["why"]["verdict"]
    assert bots[verdict["entry"] - 1]["pattern"] == verdict["pattern"]
    assert verdict["origin"] == "bot_list"
    assert prefetch["why"]["verdict"]["purpose"] == "prefetch"
    assert private["geo"]["country"] == "private"
    assert private["why"]["geo"]["country"] == {
        "file": None, "network": None, "special": "private"}


def test_why_names_what_knows_a_robot(explain):
    fetcher, mail, own = explain(
        [{"ua": "Digg Feed Fetcher 1.0 (Mozilla/5.0 (Macintosh))"},
         {"ua": "Ezooms/1.0 (help@moz.example)"}, {"ua": "WhatsApp/2"}],
        "--why")
    patterns = json.loads((DEPS / "bots/isbot-patterns.json").read_text())
    why = fetcher["why"]["verdict"]
    assert why["origin"] == "bot_patterns"
    assert patterns[why["entry"] - 1] == why["pattern"] == "feed"
    assert fetcher["verdict"]["reason"] == "listed pattern"
    assert fetcher["device_class"] == "robot"
    assert mail["why"]["verdict"]["origin"] == "structure"
    assert mail["verdict"]["reason"] == "e-mail address"
    assert own["why"]["verdict"] == {"origin": "own", "pattern": "WhatsApp"}


CHANNELS = [
    ("www.google.co.uk", "search", "google.co.uk", "www.google.co.uk"),
    ("docs.google.com", "referral", "google.com", None),
    ("google.github.io", "referral", "google.github.io", None),
    ("google.com.evil.com", "referral", "evil.com", None),
    ("mail.example.org", "referral", "example.org", None),
    ("t.co.", "social", "t.co", "t.co"),
    ("search.brave.com", "search", "brave.com", "search.brave.com"),
    ("webmail.bigpond.com", "email", "bigpond.com", "webmail.bigpond.com"),
    ("gemini.google.com", "ai", "google.com", "gemini.google.com"),
    ("google.com.br", "search", "google.com.br", "google.com.br"),
]


def test_a_channel_is_decided_within_the_registrable_domain(explain, subtests):
    answers = explain([{"referrer": f"https://{host}/x"} for host, *_ in CHANNELS],
                      "--why")
    for (host, channel, domain, entry), answer in zip(CHANNELS, answers):
        with subtests.test(host=host):
            assert answer["referrer"] == {"host": host.rstrip("."), "site": domain,
                                          "channel": channel}
            why = answer["why"]["referrer"]
            assert (why["domain"], why["entry"]) == (domain, entry)
            assert bool(why["origin"]) == bool(entry)


@pytest.mark.parametrize("section, setting", [
    ("robots", "patterns"), ("collector", "source_list")])
def test_a_list_that_is_not_there_is_named(config, section, setting):
    settings = yaml.safe_load(config.read_text())
    settings[section][setting] = "/nowhere/list.json"
    config.write_text(yaml.safe_dump(settings))
    done = subprocess.run([BIN / "collector", "-c", config, "explain"],
                          input=b"{}\n", capture_output=True, timeout=60)
    assert done.returncode == 78
    assert done.stdout == b"" and "/nowhere/list.json" in done.stderr.decode()


@pytest.mark.long
def test_other_patterns_are_other_rules(config, workdir):
    """This tells rescore that other rules made the verdicts."""
    settings = yaml.safe_load(config.read_text())
    patterns = workdir / "patterns.json"
    settings["robots"]["patterns"] = str(patterns)
    config.write_text(yaml.safe_dump(settings))
    numbers = set()
    for words in (["feed"], ["feed", "fetch"], ["fetch", "feed"]):
        patterns.write_text(json.dumps(words))
        answer, = Explain(config)([{}])
        numbers.add(answer["verdict"]["rules"])
    assert len(numbers) == 3


def test_a_broken_file_is_named_and_nothing_is_answered(config, workdir):
    settings = yaml.safe_load(config.read_text())
    broken = workdir / "broken.mmdb"
    broken.write_bytes(b"no database")
    settings["collector"]["geo_files"] = [str(broken)]
    config.write_text(yaml.safe_dump(settings))
    done = subprocess.run([BIN / "collector", "-c", config, "explain"],
                          input=b"{}\n", capture_output=True, timeout=60)
    assert done.returncode == 78
    assert done.stdout == b"" and str(broken) in done.stderr.decode()
