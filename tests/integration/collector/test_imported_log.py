"""An imported log of visits is counted in Python from its lines, and every number of
the API must be the same.  ACCESS_LOG names another log, in the combined format."""
import collections
import datetime
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import urllib.parse

import maxminddb
import pytest
from servers import DEPS
import yaml

from support.asking import ask_range, settled
from support.clicks import DAILY, VISITED, counted, expected_data, instant
from support.events import CHROME
from support.keeping import PATIENCE
from support.program import BIN, eventually
from support.rule_files import BOT_LIST, UA_RULES

CITY = DEPS / "geo/city-ipv4.mmdb"
DAY = 86400
LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+)[^"]*" (\d+) \S+ '
                  r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$')
OWNERS = ("ann", "bob")
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"
GOOGLEBOT = "Googlebot/2.1 (+http://www.google.com/bot.html)"
OUTCOMES = {404: "not_found", 410: "expired", 451: "blocked"}


def made_log(path):
    """Writes days of two months, which include the end of Berlin's summer time."""
    rng = random.Random(7)
    start = instant("2025-10-12T00:00:00Z")
    lines = []
    for _ in range(1500):
        at = datetime.datetime.fromtimestamp(
            start + int(rng.random() ** 2 * 24 * DAY), datetime.timezone(
                datetime.timedelta(hours=rng.choice([0, 0, 2, -5]))))
        lines.append((at, (
            f"{rng.choice(['8.8', '81.2', '2.125', '175.16'])}.{rng.randrange(4)}."
            f"{rng.randrange(60)} - - [{at:%d/%b/%Y:%H:%M:%S %z}] "
            f'"{rng.choice(["GET"] * 9 + ["HEAD", "POST"])} '
            f'/c{int(rng.expovariate(0.2))}{rng.choice(["", "/x", "?utm_source=mail"])} '
            f'HTTP/1.1" {rng.choice([302] * 9 + [404, 410, 451, 500, 200])} 5 '
            f'"{rng.choice(["-", "https://www.google.com/", "https://Blog.example:8/a"])}"'
            f' "{rng.choice([CHROME, FIREFOX, GOOGLEBOT, "-"])}"\n')))
    path.write_text("".join(text for _, text in sorted(lines)))


def outcome_of(method, status):
    if method == "HEAD" and 200 <= status < 400:
        return "head"
    if method == "GET" and 200 <= status < 400:
        return "redirected"
    return OUTCOMES.get(status, "unspecified")


def row_of(text):
    """Returns the row of a line, by a parser of the test's own; None: the line is not
    in the format, or has no code."""
    match = LINE.match(text.rstrip("\n"))
    if not match:
        return None
    ip, at, method, uri, status, referrer, agent = match.groups()
    when = datetime.datetime.strptime(at, "%d/%b/%Y:%H:%M:%S %z")
    path = re.fullmatch(r"/([0-9A-Za-z_-]{1,64})/?", urllib.parse.urlsplit(uri).path)
    if not path:
        return None
    code = path[1]
    referrer, agent = ("" if v == "-" else v for v in (referrer, agent))
    return {"ts_ms": int(when.timestamp()) * 1000, "ip": ip, "code": code,
            "outcome": outcome_of(method, int(status)), "referrer": referrer,
            "agent": agent, "unique_identity": (ip, agent), "link_id": 0, "account": "",
            "owner": "",
            "referrer_host": urllib.parse.urlsplit(referrer).hostname or "",
            "utm_source": "".join(urllib.parse.parse_qs(
                urllib.parse.urlsplit(uri).query).get("utm_source", [""])[:1]),
            "language": ""}


class Log:
    def __init__(self, path, config):
        self.path = path
        text = path.read_bytes().decode("utf-8", "backslashreplace")
        self.rows = [row for line in text.splitlines() if (row := row_of(line))]
        self.start = min(row["ts_ms"] for row in self.rows) // 1000 // DAY * DAY
        self.end = (max(row["ts_ms"] for row in self.rows) // 1000 // DAY + 1) * DAY
        self.give_links()
        self.find_places()
        self.judge(config)

    def give_links(self):
        popular = collections.Counter(
            row["code"] for row in self.rows
            if re.fullmatch(r"[0-9A-Za-z_-]{1,64}", row["code"])).most_common(5)
        self.links = {code: number for number, (code, _) in enumerate(popular, 1)}
        for row in self.rows:
            if row["outcome"] == "not_found":
                continue  # there was no link then
            row["link_id"] = self.links.get(row["code"], 0)
            if row["link_id"]:
                row.update(account="acme", owner=OWNERS[row["link_id"] % 2])

    def find_places(self):
        with maxminddb.open_database(CITY) as places:
            for row in self.rows:
                place = places.get(row["ip"]) or {}
                for name, member in (("country", "country_code"), ("city", "city"),
                                     ("region", "state1")):
                    row[name] = place.get(member) or ""

    def judge(self, config):
        """Adds the values of `collector explain`, which needs no server: other tests
        check browsers and robots."""
        asked = sorted({(row["ip"], row["agent"]) for row in self.rows})
        done = subprocess.run(
            [str(BIN / "collector"), "-c", str(config), "explain"],
            capture_output=True, timeout=120, input="".join(
                json.dumps({"ip": ip, "ua": agent}) + "\n"
                for ip, agent in asked).encode())
        assert done.returncode == 0, done.stderr
        told = dict(zip(asked, map(json.loads, done.stdout.splitlines())))
        assert len(told) == len(asked)
        for row in self.rows:
            said = told[row["ip"], row["agent"]]
            row["verdict"] = said["verdict"]["class"]
            row["verdict_reason"] = said["verdict"]["reason"] or ""
            if row["outcome"] == "head" and row["verdict"] == "human":
                row["verdict"], row["verdict_reason"] = "prefetch", "HEAD request"
            row["device_class"] = said["device_class"]
            row["ua_family"] = said["user_agent"]["family"]
            row["os_family"] = said["os"]["family"]
            for name in "brand", "model":
                row[f"device_{name}"] = said["device"][name] or ""
            row["continent"] = said["geo"]["continent"] or ""

    def of(self, **fields):
        return [row for row in self.rows
                if all(row[name] == value for name, value in fields.items())]


@pytest.fixture
def log(workdir, base_config, migrated):
    path = pathlib.Path(os.environ.get("ACCESS_LOG", workdir / "access.log"))
    if "ACCESS_LOG" not in os.environ:
        made_log(path)
    config = workdir / "collector.yaml"
    config.write_text(yaml.safe_dump({
        "clickhouse": base_config["clickhouse"],
        "robots": {"list": BOT_LIST},
        "collector": {"ua_rules": UA_RULES,
                      "scan_codes": 0, "scan_not_found": 0,
                      "geo_files": [str(CITY)]}}))
    made = Log(path, config)
    for code, link in made.links.items():
        migrated.link(code, link, owner=OWNERS[link % 2], created_at=made.start - DAY,
                      changed_at=made.start - DAY)
    done = subprocess.run([str(BIN / "collector"), "-c", str(config), "import",
                           str(path)], capture_output=True, timeout=PATIENCE)
    assert done.returncode in (0, 1), done.stderr
    assert f" {len(made.rows)} became clicks" in done.stdout.decode()
    return made


# The dimensions that a line or `explain` gives, of hours and of whole days.
NAMES = ("country", "region", "city", "continent", "device_class", "outcome", "verdict",
         "verdict_reason", "ua_family", "os_family", "device_brand", "device_model",
         "language", "referrer_host", "utm_source", "account")


def check_groups(made, log, name, bots, **params):
    answer = ask_range(made, log.start, log.end, group_by=name, bots=bots, limit=1000,
                       **params)
    found = collections.defaultdict(list)
    for row in log.of(**params):
        if row["link_id"] or "owner" not in params:
            found[row[name]].append(row)
    said = {g.pop("value"): g for g in answer["groups"]}
    assert set(said) == set(found), name
    for value, rows in found.items():
        so = counted(rows, bots)
        # Neither settled nor counted in rows: these are visitors of clicks with a link.
        if name not in (*VISITED, *DAILY):
            linked = counted([row for row in rows if row["link_id"]], bots)
            so = {**so, "visitors": linked["visitors"], "ips": linked["ips"]}
        # Groups whose visitors are estimated from the sample have an error of their own.
        error = 3 * said[value].pop("unique_error", answer["unique_error"])
        for which, number in said[value].items():
            if which in ("visitors", "ips"):
                assert number is None or abs(number - so[which]) <= error * so[which], (
                    name, bots, params, value, which)
            else:
                assert number == so[which], (name, value, which)


def check_totals(made, log):
    for tz, interval, bots in (
            ("UTC", "hour", "exclude"), ("Asia/Kathmandu", "day", "include"),
            ("Europe/Berlin", "week", "only"), ("America/New_York", "day", "exclude"),
            ("UTC", "month", "include")):
        for params, rows in (
                [({}, log.rows)] +
                [({"link_id": link}, log.of(link_id=link))
                 for link in log.links.values()] +
                [({"account": "acme", "owner": owner}, log.of(owner=owner))
                 for owner in OWNERS]):
            answer = ask_range(made, log.start, log.end, tz=tz, interval=interval,
                               bots=bots, **params)
            expected = expected_data(rows, log.start, log.end, interval, tz, bots)
            for item in [*answer["data"], answer["total"]]:
                item.pop("start", None)
            for item in expected:
                item.pop("start")
            total = counted(rows, bots)
            close(answer, expected, total)


def close(answer, expected, total):
    """Counts must be exact, and visitors within three times their error."""
    error = 3 * answer["unique_error"]
    for said, so in zip([*answer["data"], answer["total"]], [*expected, total]):
        for name in "visitors", "ips":
            is_said, is_so = said.pop(name), so.pop(name)
            if is_so is None or is_said is None:
                assert is_said is None or is_said == 0
            else:
                assert abs(is_said - is_so) <= error * is_so
        assert said == so


@pytest.mark.long
def test_every_number_of_an_imported_log_is_that_of_its_lines(
        program, redis, log, clickhouse):
    made = program("aggregator", {"aggregator": {
        "settle_every": "500ms", "watermark_every": "500ms", "groups_max": 1000,
        "buckets_max": 10000}})
    settled(made, len(log.rows), log.start, log.end)
    check_totals(made, log)
    for name, bots in itertools.product(NAMES, ("exclude", "include")):
        check_groups(made, log, name, bots)
        for owner in OWNERS:
            check_groups(made, log, name, bots, account="acme", owner=owner)
    for name, value in (("country", "US"), ("device_class", "desktop"),
                        ("outcome", "not_found"), ("verdict", "bot")):
        # A verdict filter counts every visitor with that verdict.
        whom = {} if name == "verdict" else {"bots": "include"}
        answer = ask_range(made, log.start, log.end, interval="month",
                           **{name: value}, **whom)
        total = counted(log.of(**{name: value}), "include")
        close({**answer, "data": []}, [], total)
    for bots in "exclude", "include":
        top = ask_range(made, log.start, log.end, path="/v1/top", bots=bots, limit=100)
        clicks = collections.Counter()
        for link in log.links.values():
            clicks[link] = counted(log.of(link_id=link), bots)["clicks"]
        assert {int(link["link_id"]): link["clicks"] for link in top["links"]
                if int(link["link_id"])} == +clicks
    days = int(clickhouse.value("SELECT uniqExact(toDate(ts)) FROM clicks"))
    eventually(lambda: clickhouse.value(
        "SELECT uniqExact(unit) FROM settled WHERE kind = 'link_day'") == days, PATIENCE,
        what="the days to be settled")
    for link in log.links.values():
        told = ask_range(made, log.start, log.end, path="/v1/visit-statistics",
                         link_id=link)["days"]
        for number, day in enumerate(told):
            low = (log.start + number * DAY) * 1000
            mine = [row for row in log.of(link_id=link)
                    if low <= row["ts_ms"] < low + DAY * 1000]
            people, everybody = counted(mine), counted(mine, "include")
            if not day["settled"]:
                assert not mine
                continue
            assert (day["pv"], day["uv"], day["ip"], day["human_uv"], day["human_ip"],
                    day["effective"], day["ineffective"]) == (
                len(mine), everybody["visitors"], everybody["ips"], people["visitors"],
                people["ips"], people["humans"], len(mine) - people["humans"])
