"""What clicks are taken for, by the real lists, rules and limits."""
import json
import subprocess
import time

from support.program import BIN, eventually
from test_collector import (  # noqa: F401
    CHROME, DEPS, GOOGLEBOT, IPHONE, click, collector, rows, tables, topics,
    wait_for)

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
    for i in range(30):  # one of each address
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


def test_robots_are_robots_and_people_people(program, base_config):
    """Every robot that the list gives an example of, and a thousand browsers
    in use."""
    robots = [(entry["pattern"], example) for entry in json.loads(
        (DEPS / "bots/crawler-user-agents.json").read_text())
        for example in entry["instances"]]
    people = sorted({entry["userAgent"] for entry in json.loads(
        (DEPS / "ua/user-agents.json").read_text())})
    made = program("collector", {"collector": {
        "ua_rules": str(DEPS / "uap/regexes.yaml"),
        "bot_list": str(DEPS / "bots/crawler-user-agents.json")}},
        start=False)
    answers = subprocess.run(
        [BIN / "collector", "-c", made.config_path, "explain"], check=True,
        stdout=subprocess.PIPE, input="".join(
            json.dumps({"ua": ua}) + "\n"
            for ua in [ua for _, ua in robots] + people).encode()).stdout
    classes = [json.loads(line)["verdict"]["class"]
               for line in answers.splitlines()]
    assert {p for (p, _), c in zip(robots, classes) if c == "human"} <= {
        r"AP3A\.240617\.008", "MetaIAB Facebook"}
    assert set(classes[len(robots):]) == {"human"}
