"""The verdicts of clicks, by the real lists, rules and limits."""
import json
import subprocess
import time

from servers import DEPS
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import rows, wait_for
from support.events import CHROME, GOOGLEBOT, IPHONE, click
from support.program import BIN, eventually
from support.rule_files import BOT_LIST, UA_RULES

IMESSAGE = ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/"
            "601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 "
            "facebookexternalhit/1.1 Facebot Twitterbot/1.0")
ANDROID_15 = ("Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; "
              "wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 "
              "Chrome/142.0.7444.142 Mobile Safari/537.36 Instagram "
              "406.0.0.58.159 Android")
VERDICTS = [
    (CHROME, {}, "human", ""),
    (IPHONE, {}, "human", ""),
    (ANDROID_15, {}, "human", ""),
    (GOOGLEBOT, {}, "bot", "listed crawler"),
    ("", {}, "bot", "no user agent"),
    ("Crawly/1.0", {}, "bot", "uap spider"),
    ("WhatsApp/2.23.20.0 A", {}, "preview", "listed preview"),
    ("TelegramBot (like TwitterBot)", {}, "preview", "listed preview"),
    (IMESSAGE, {}, "preview", "listed preview"),
    ("Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
     {}, "monitor", "listed monitor"),
    ("Mozilla/5.0 zgrab/0.x", {}, "scanner", "listed scanner"),
    (CHROME, {"prefetch": "prefetch;prerender"}, "prefetch", "purpose header"),
    (CHROME, {"prefetch": "Preview"}, "prefetch", "purpose header"),
    (CHROME, {"outcome": 5}, "prefetch", "HEAD request"),
    (GOOGLEBOT, {"prefetch": "prefetch"}, "bot", "listed crawler"),
]


def test_the_first_rule_that_knows_decides(kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [
        click(link_id=i, user_agent=agent.encode(), **fields)
        for i, (agent, fields, _, _) in enumerate(VERDICTS)])
    running = collector()
    wait_for(tables, len(VERDICTS))
    eventually(lambda: running.metric("shortloop_collector_verdicts_total",
                                      verdict="preview") == 3)
    assert [(r["verdict"], r["verdict_reason"]) for r in rows(tables)] == [
        (verdict, reason) for _, _, verdict, reason in VERDICTS]


def test_what_a_verdict_was_made_of_is_kept(kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [
        click(link_id=1, user_agent=GOOGLEBOT.encode(), prefetch="prefetch"),
        click(link_id=2, prefetch="x" * 1000), click(link_id=3)])
    collector()
    wait_for(tables, 3)
    assert [r["purpose"] for r in rows(tables)] == ["prefetch", "x" * 64, ""]


def test_a_burst_is_a_scanners(kafka, topics, tables, collector):
    now = int(time.time() * 1000) - 60000

    def send(link_id, count, code, **fields):
        kafka.produce(topics["topic_clicks"], [
            click(link_id=link_id, code=code.format(i), time_ms=now + 10 * i,
                  **fields) for i in range(count)], partition=0)

    send(1, 50, "code{}")
    send(2, 12, "gone", outcome=2, client_ip=bytes([8, 8, 4, 4]))
    for i in range(30):  # one from each address
        send(3, 1, "code%d" % i, client_ip=bytes([8, 8, 0, i]))
    send(4, 50, "code{}", user_agent=GOOGLEBOT.encode())
    collector(scan_codes=20, scan_not_found=10, scan_window="1m")
    wait_for(tables, 142)
    found = tables.rows("SELECT link_id, verdict, verdict_reason, count() AS n "
                        "FROM clicks GROUP BY ALL ORDER BY ALL")
    assert [tuple(r.values()) for r in found] == [
        (1, "human", "", 19), (1, "scanner", "burst of codes", 31),
        (2, "human", "", 9), (2, "scanner", "burst of not found", 3),
        (3, "human", "", 30), (4, "bot", "listed crawler", 50)]


LISTS = {"collector": {"ua_rules": UA_RULES},
         "robots": {"list": BOT_LIST,
                    "patterns": str(DEPS / "bots/isbot-patterns.json")}}
EXCEPTED = {r"AP3A\.240617\.008", "MetaIAB Facebook"}

# Agents of an access log that no list of names has.
NAMELESS = [
    "-", "Mozilla/4.0", "Mozilla/4.0 (compatible;)", "&as_qdr=all",
    "UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/",
    "Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)",
    "Chef Client/10.18.2 (ruby-1.9.3-p327; ohai-6.16.0; x86_64-linux; "
    "+http://opscode.com)",
    "Digg Feed Fetcher 1.0 (Mozilla/5.0 (Macintosh; Intel Mac OS X 10_7_1) "
    "AppleWebKit/534.48.3 (KHTML, like Gecko) Version/5.1 Safari/534.48.3)",
    "Liferea/1.8.3 (Linux; en_GB.UTF-8; http://liferea.sf.net/)",
    "distilator/0.1 (http://people.freebsd.org/~ehaupt/distilator/)",
    "portscout/0.8.1", "fetch libfetch/2.0", "Ruby", "IrssiUrlLog/0.2",
    "Newsify/120 CFNetwork/672.0.8 Darwin/14.0.0",
    "Mozilla/5.0 (Windows NT 6.1; rv:6.0) Gecko/20110814 Firefox/6.0 "
    "Google favicon",
    "Mozilla/5.0 (compatible; Google Desktop/5.9.1005.12335; "
    "http://desktop.google.com/)",
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; "
    "http://www.tropicdesigns.net)",
    "ZDM/4.0; Windows Mobile 8.0", "eZ Publish Link Validator",
]
# People whom isbot classifies as robots.
MISTAKEN = [
    "Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; "
    "chromeframe/19.0.1084.52)",
    "MAXX_MAUI WAP Browser", "Maui Browser",
    "User-Agent: Mozilla/5.0 (Windows NT 5.1)",
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; "
    "TheFreeDictionary.com; .NET CLR 1.1.4322)",
    "Nokia6610I/1.0 (3.10) Profile/MIDP-1.0 Configuration/CLDC-1.0 "
    "(Google WAP Proxy/1.0)",
    "LG KE850 Prada",
]


def verdicts(program, base_config, agents):
    """Returns (class, reason) of each."""
    made = program("collector", LISTS, start=False)
    answers = subprocess.run(
        [BIN / "collector", "-c", made.config_path, "explain"], check=True,
        stdout=subprocess.PIPE, input="".join(
            json.dumps({"ua": ua}) + "\n" for ua in agents).encode()).stdout
    found = [json.loads(line)["verdict"] for line in answers.splitlines()]
    return [(v["class"], v["reason"]) for v in found]


def isbot(agents):
    """Returns npm's isbot's own result for each."""
    script = """const { isbot } = require(process.argv[1]);
        const agents = JSON.parse(require("fs").readFileSync(0, "utf8"));
        console.log(JSON.stringify(agents.map((agent) => isbot(agent))));"""
    answer = subprocess.run(
        ["node", "-e", script, DEPS / "npm/node_modules/isbot"], check=True,
        stdout=subprocess.PIPE, input=json.dumps(agents).encode()).stdout
    return json.loads(answer)


def listed_robots():
    """Returns (pattern, example) of crawler-user-agents."""
    return [(entry["pattern"], example) for entry in json.loads(
        (DEPS / "bots/crawler-user-agents.json").read_text())
        for example in entry["instances"]]


def browsers():
    return sorted({entry["userAgent"] for entry in json.loads(
        (DEPS / "ua/user-agents.json").read_text())})


def test_robots_are_robots_and_people_people(program, base_config):
    """Tests every robot with an example in the list, and a thousand real browsers."""
    robots, people = listed_robots(), browsers()
    found = verdicts(program, base_config,
                     [ua for _, ua in robots] + people)
    assert {pattern for (pattern, _), (kind, _) in zip(robots, found)
            if kind == "human"} <= EXCEPTED
    assert set(found[len(robots):]) == {("human", None)}


def test_robots_without_a_name_are_robots_for_a_reason(program, base_config):
    found = verdicts(program, base_config, NAMELESS)
    assert [ua for ua, (kind, _) in zip(NAMELESS, found)
            if kind == "human"] == []
    assert all(reason for _, reason in found)


def test_whatever_isbot_finds_is_found_but_its_mistakes(program, base_config):
    robots = [ua for pattern, ua in listed_robots() if pattern not in EXCEPTED]
    agents = robots + browsers() + NAMELESS + MISTAKEN
    theirs = isbot(agents)
    ours = [kind != "human"
            for kind, _ in verdicts(program, base_config, agents)]
    assert sum(theirs[-len(MISTAKEN):]) == len(MISTAKEN)
    missed = [ua for ua, they, we in zip(agents, theirs, ours)
              if they and not we]
    assert missed == MISTAKEN
    assert sum(ours[:len(robots)]) > sum(theirs[:len(robots)])
