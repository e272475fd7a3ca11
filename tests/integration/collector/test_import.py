"""`collector import`: access logs into a real ClickHouse, each line once."""
import contextlib
import datetime
import gzip
import hashlib
import json
import lzma
import os
import pty
import random
import re
import select
import signal
import subprocess
import threading
import time

import pytest
import requests
import servers
from servers import DEPS
import yaml
from support import memory
from support.clicks import datetime64, instant, some_clicks
from support.events import CHROME
from support.fault_proxy import ClickHouseProxy
from support.keeping import (FROM, PATIENCE, keeper, rows_left, wait_gone,
                             world)  # noqa: F401
from support.program import BIN, eventually
from support.rule_files import BOT_LIST, UA_RULES, country_of

GOOGLEBOT = "Googlebot/2.1 (+http://www.google.com/bot.html)"
START = 1431857103  # 17/May/2015:10:05:03 +0000
UTC = datetime.timezone.utc


def line(at=START, path="/abc", status=302, ip="8.8.8.8", method="GET",
         referrer="-", agent=CHROME):
    when = datetime.datetime.fromtimestamp(at, UTC)
    return (f'{ip} - - [{when:%d/%b/%Y:%H:%M:%S} +0000] '
            f'"{method} {path} HTTP/1.1" {status} 5 "{referrer}" "{agent}"\n')


def some_lines(count, seed=1, step=7):
    rng = random.Random(seed)
    return [line(START + seed + i * step, f"/c{rng.randrange(40)}?n={i}",
                 rng.choice([302, 302, 404]),
                 f"9.{rng.randrange(250)}.1.{rng.randrange(250)}",
                 agent=rng.choice([CHROME, GOOGLEBOT]))
            for i in range(count)]


class Importer:
    patience = 120

    def __init__(self, config):
        self.config = config
        self.out = self.err = ""

    def command(self, *args):
        return [str(BIN / "collector"), "-c", str(self.config), "import",
                *map(str, args)]

    def __call__(self, *args, expect=0, data=b""):
        done = subprocess.run(self.command(*args), input=data,
                              timeout=self.patience, capture_output=True)
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == expect, self.out + self.err
        return self.out


FILES = {"ua_rules": UA_RULES,
         "robots": {"list": BOT_LIST},
         "geo_files": [str(DEPS / "geo/city-ipv4.mmdb")]}


@pytest.fixture
def importer(workdir, base_config):
    """importer(batch_rows=100, ...) has few rules to load; `url` is the address of its
    ClickHouse."""
    rules = workdir / "regexes.yaml"
    rules.write_text("".join(
        f"{part}_parsers:\n  - regex: '(Chrome)/(\\d+)'\n"
        for part in ("user_agent", "os", "device")))

    def make(url=None, robots=None, domains=None, **own):
        server = base_config["clickhouse"]
        path = workdir / ("proxied.yaml" if url else "collector.yaml")
        path.write_text(yaml.safe_dump({
            "clickhouse": {**server, "url": url or server["url"]},
            "robots": robots or {}, "domains": domains or {},
            "collector": {"ua_rules": str(rules), **own}}))
        return Importer(path)
    return make


@pytest.fixture
def log(workdir):
    def write(lines, name="access.log"):
        path = workdir / name
        path.write_text("".join(lines))
        return path
    return write


def offsets(lines):
    at = 0
    for text in lines:
        yield at
        at += len(text.encode())


def assert_once(tables, lines):
    """Checks that each line has its row, by offset, and that there is no other."""
    stored = [row["offset"] for row in tables.rows(
        "SELECT offset FROM clicks ORDER BY offset")]
    assert stored == list(offsets(lines))


# --- lines ---------------------------------------------------------------------

def test_a_line_is_the_click_that_it_was(tables, importer, log):
    importer(**FILES)(log([line(path="/abc?utm_source=news&x=1", ip="8.8.8.8",
                         referrer="https://www.google.com/x")]),
               "--domain", "go.example.com", "--edge", "old-nginx")
    row, = tables.rows("SELECT *, toString(ip) AS address, "
                       "hex(unique_identity) AS visitor FROM clicks")
    assert row["ts"] == row["original_ts"] == "2015-05-17 10:05:03.000"
    assert (row["code"], row["domain"], row["edge"]) == (
        "abc", "go.example.com", "old-nginx")
    assert (row["outcome"], row["status"]) == ("redirected", 302)
    assert row["address"] == "::ffff:8.8.8.8"
    assert row["visitor"].lower() == hashlib.sha1(
        bytes([8, 8, 8, 8]) + CHROME.encode()).hexdigest()
    assert (row["country"], row["ua_family"], row["os_family"]) == (
        country_of("8.8.8.8"), "Chrome", "Windows")
    assert (row["referrer_host"], row["referrer_site"], row["channel"]) == (
        "www.google.com", "google.com", "search")
    assert (row["query"], row["utm_source"]) == (
        "utm_source=news&x=1", "news")
    assert row["verdict"] == "human"
    assert row["topic"].startswith("import:") and row["offset"] == 0


OUTCOMES = [
    ("GET", 302, "redirected"), ("GET", 301, "redirected"),
    ("GET", 200, "redirected"), ("GET", 304, "redirected"),
    ("HEAD", 302, "head"), ("GET", 404, "not_found"),
    ("HEAD", 404, "not_found"), ("GET", 410, "expired"),
    ("GET", 451, "blocked"), ("GET", 503, "unspecified"),
    ("GET", 400, "unspecified"), ("POST", 302, "unspecified")]


def test_the_status_says_the_outcome(tables, importer, log):
    importer()(log([line(method=method, status=status)
                    for method, status, _ in OUTCOMES]))
    assert [row["outcome"] for row in tables.rows(
        "SELECT outcome FROM clicks ORDER BY offset")] == [
            outcome for _, _, outcome in OUTCOMES]


def test_a_code_is_its_owners_of_that_time(tables, importer, log):
    for link_id, made, owner, version in (
            (11, START - 100, "ann", 1), (12, START + 100, "bob", 1),
            (12, START + 100, "bert", 2)):
        tables.query("INSERT INTO links FORMAT JSONEachRow", json.dumps({
            "code": "abc", "link_id": link_id, "version": version,
            "created_at": datetime64(made * 1000), "url": "https://x.example/",
            "owner": owner, "campaign": "spring", "tags": ["a", "b"]}).encode())
    importer()(log([line(START - 200), line(START), line(START + 100),
                    line(START + 999), line(START, "/other"),
                    line(START, status=404)]))
    assert [(row["link_id"], row["owner"], row["tags"])
            for row in tables.rows("SELECT link_id, owner, tags FROM clicks "
                                   "ORDER BY offset")] == [
        (0, "", []), (11, "ann", ["a", "b"]), (12, "bert", ["a", "b"]),
        (12, "bert", ["a", "b"]), (0, "", []), (0, "", [])]


# Under these, as under a redirector of them: {host: the links that it shows}.
DOMAINS = {"default": "main", "list": [
    {"name": "main", "hosts": ["sho.rt", "www.sho.rt"]},
    {"name": "promo", "hosts": ["promo.example"], "accounts": ["crm"]},
    {"name": "small", "hosts": ["small.example"], "spaces": ["s7"]}]}
SHOWN = {"sho.rt": ["free", "main", "wide"], "WWW.sho.rt:443": ["free", "main", "wide"],
         "promo.example": ["promo"], "small.example": ["tiny"],
         "unknown.example": ["free", "main", "wide"],
         "-": ["free", "main", "promo", "tiny", "wide"]}
# {code: (domain, space)}
BOUND = {"free": ("", "s7"), "main": ("main", "s7"), "promo": ("promo", "s7"),
         "tiny": ("small", "s7"), "wide": ("", "hash")}


def make_bound_links(tables):
    tables.query("INSERT INTO links FORMAT JSONEachRow", "\n".join(json.dumps({
        "code": code, "link_id": number, "version": 1, "domain": domain, "space": space,
        "created_at": datetime64(START * 1000 - 1), "url": "https://x.example/",
        "owner": f"of-{code}"}) for number, (code, (domain, space)) in enumerate(
            [*BOUND.items(), ("vast", ("small", "hash"))], 1)).encode())


def codes_with_link(tables):
    found = {}
    for row in tables.rows("SELECT domain, code, owner FROM clicks WHERE link_id != 0 "
                           "ORDER BY code"):
        assert row["owner"] == f"of-{row['code']}"
        found.setdefault(row["domain"], []).append(row["code"])
    return found


def visits_under_all_hosts():
    return [f"{host} {line(path=f'/{code}')}" for host in SHOWN
            for code in [*BOUND, "vast"]]


def as_redirectors_show(shown):
    """A space that the domain does not have is shown nowhere but without a host."""
    merged = {}
    for host, codes in shown.items():
        name = "" if host == "-" else host.lower().partition(":")[0]
        merged[name] = codes + (["vast"] if host == "-" else [])
    return {name: sorted(codes) for name, codes in merged.items()}


def test_a_host_has_the_links_that_it_shows(tables, importer, log):
    make_bound_links(tables)
    out = importer(domains=DOMAINS)(log(visits_under_all_hosts()), "--format", "vhost")
    assert codes_with_link(tables) == as_redirectors_show(SHOWN)
    assert "19 name a link of another domain, as sho.rt/promo: they are clicks of " \
           "no link" in out


def test_without_domains_a_links_domain_is_a_host(tables, importer, log):
    tables.query("INSERT INTO links FORMAT JSONEachRow", json.dumps({
        "code": "abc", "link_id": 7, "version": 1, "domain": "go.example",
        "created_at": datetime64(START * 1000 - 1), "owner": "of-abc"}).encode())
    importer()(log([f"{host} {line()}" for host in (
        "go.example", "GO.example:80", "evil.example", "-")]), "--format", "vhost")
    assert codes_with_link(tables) == {"go.example": ["abc"] * 2, "": ["abc"]}


def test_domains_in_redis_are_given_as_a_file(tables, importer, log, workdir):
    shared = importer(domains={"shared": True})
    lines = log([f"sho.rt {line(path='/promo')}", f"promo.example {line(path='/promo')}"])
    shared(lines, "--format", "vhost", expect=64)
    assert "--domains FILE (the output of allocator domains show)" in shared.err
    domains = workdir / "domains.yaml"
    domains.write_text("domains: [")
    shared(lines, "--format", "vhost", "--domains", domains, expect=78)
    assert f"--domains: domains.file: {domains}" in shared.err
    domains.write_text(yaml.safe_dump({"domains": DOMAINS}))
    make_bound_links(tables)
    shared(lines, "--format", "vhost", "--domains", domains)
    assert codes_with_link(tables) == {"promo.example": ["promo"]}


def codes_of(tables):
    return [row["code"] for row in tables.rows("SELECT code FROM clicks ORDER BY offset")]


def test_codes_lie_behind_the_prefix(tables, importer, log):
    out = importer()(log([line(path="/go/abc"), line(path="/gone/x"),
                          line(path="/go"), line(path="/"),
                          line(path="/go/d/e?f")]), "--path-prefix", "/go/")
    assert codes_of(tables) == ["abc"]
    assert "2 are not below the path prefix" in out
    assert "2 are elsewhere: they name no code, as /go" in out


def test_what_the_redirector_takes_for_no_code_is_elsewhere(tables, importer, log):
    out = importer()(log([line(path=path) for path in (
        "/favicon.ico", "/abc", "/css/x.css", "/", "/abc/d", "//abc", "/d/", "/e?f=/g")]))
    assert codes_of(tables) == ["abc", "d", "e"]
    assert "5 are elsewhere: they name no code, as /favicon.ico" in out
    assert "without an address: 0, without a user agent: 0, without a code: 5" in out


# --- refusals ------------------------------------------------------------------

def caddy(**request):
    return json.dumps({"ts": START + 0.25, "status": 302, "request": {
        "method": "GET", "uri": "/abc", "host": "go.example", **request}}) + "\n"


LACKING = [
    ([line(ip="-")] * 3, "none has a client's address", 3),
    ([line(agent="-")] * 3, "none has a user agent", 3),
    ([line(path="/favicon.ico"), line(path="/")], "none names a code", 0),
    (["nonsense\n"] * 3, "none could be read", 0),
    (["\n"] * 3, "none names a code", 0),
    ([caddy(remote_ip="8.8.8.8", heads={"User-Agent": [CHROME]})],
     "none has a user agent", 1),
    ([caddy(ip_of_peer="8.8.8.8", headers={"User-Agent": [CHROME]})],
     "none has a client's address", 1)]


@pytest.mark.parametrize("lines, why, forced", LACKING, ids=[
    "address", "agent", "code", "unreadable", "blank", "json agent", "json address"])
def test_a_log_in_which_no_line_has_it_is_refused(tables, importer, log, lines, why, forced):
    """The refusal leaves no record of the log, so that it can be imported correctly."""
    run = importer()
    out = run(log(lines), expect=65)
    assert why in run.err and "nothing was imported" in run.err
    assert f"  {forced} would become clicks" in out
    if "{" in lines[0]:
        assert re.search("not understood: .*request.(heads.User-Agent|ip_of_peer)", out)
    assert tables.value("SELECT count() FROM clicks") == 0
    assert tables.value("SELECT count() FROM ingest_progress") == 0
    run(log(lines), "--dry-run", expect=65)
    run(log(lines), "--force", expect=1 if "nonsense" in lines[0] else 0)
    assert tables.value("SELECT count() FROM clicks") == forced


def test_a_log_that_has_grown_is_refused_for_nothing(tables, importer, log):
    run = importer()
    run(log([line()]))
    assert "0 became clicks" in run(log([line(), line(path="/favicon.ico")]))


def test_a_host_name_is_no_address(tables, importer, log):
    """%v %h without a port is read as it is, and in the format that the user names."""
    run = importer()
    lines = ["go.example " + line(), "go.example " + line(START + 1)]
    assert "(vhost, " in run(log(lines))
    assert tables.rows("SELECT DISTINCT domain, toString(ip) AS address FROM clicks") == [
        {"domain": "go.example", "address": "::ffff:8.8.8.8"}]
    out = run(log(lines + [line()], "b"), "--format=combined", "--identity=b", expect=1)
    assert "2 could not be read" in out
    assert "line 1: not an address: 'go.example'" in out


def test_whom_a_proxy_named(tables, importer, log):
    """nginx' own `main`: by the first public address, by the proxies, by the peer."""
    lines = [line(ip="10.0.0.1").rstrip() + f' "{forwarded}"\n' for forwarded in (
        "203.0.113.12, 198.51.100.7", "-", "evil")]
    run = importer()
    for number, (options, expected) in enumerate((
            ([], "203.0.113.12"), (["--trusted-proxies", "10.0.0.0/8"], "198.51.100.7"),
            (["--client-address=peer"], "10.0.0.1"))):
        out = run(log(lines), "--identity", str(number), *options)
        assert "(main, " in out
        assert [row["address"] for row in tables.rows(
            "SELECT toString(ip) AS address FROM clicks WHERE topic = "
            f"'import:{number}' ORDER BY offset")] == [
                f"::ffff:{ip}" for ip in (expected, "10.0.0.1", "10.0.0.1")]
        assert ("1 name a client that is no address, as 'evil'" in out) == (number == 0)


def test_times_without_a_zone(tables, importer, log):
    """Berlin's summer time ended between them."""
    run = importer()
    lines = [f'8.8.8.8 {day} 10:05:03 /abc "{CHROME}"\n'
             for day in ("2015-10-24", "2015-10-25")]
    for number, options in enumerate(([], ["--zone", "Europe/Berlin"])):
        run(log(lines), "--identity", str(number), "--format",
            '$remote_addr $time_iso8601 $uri "$http_user_agent"', *options)
    assert [str(row["clicked"]) for row in tables.rows(
        "SELECT toString(ts) AS clicked FROM clicks ORDER BY topic, offset")] == [
            "2015-10-24 10:05:03.000", "2015-10-25 10:05:03.000",
            "2015-10-24 08:05:03.000", "2015-10-25 09:05:03.000"]


def test_logs_in_other_formats(tables, importer, log):
    run = importer()
    run(log(['go.example:443 ' + line(START)], "vhost"))
    run(log([json.dumps({"time_iso8601": "2015-05-17T12:05:04+02:00",
                         "remote_addr": "2001:db8::1", "host": "json.example",
                         "request": "GET /abc HTTP/2.0", "status": "302",
                         "http_user_agent": CHROME}) + "\n"], "json"))
    run(log(["1431857105.500|9.9.9.9|/abc|302|curl/8\n"], "custom"),
        "--format", "$msec|$remote_addr|$uri|$status|$http_user_agent")
    run(log([json.dumps({"when": 1431857106, "who": "1.1.1.1", "what": "/abc"})
             + "\n"], "keys"),
        "--format=json", "--json-keys=time=when,address=who,uri=what", "--force")
    assert [(row["ms"], row["address"], row["domain"], row["code"])
            for row in tables.rows(
                "SELECT toUnixTimestamp64Milli(ts) - 1431857103000 AS ms, "
                "toString(ip) AS address, domain, code FROM clicks "
                "ORDER BY ts")] == [
        (0, "::ffff:8.8.8.8", "go.example", "abc"),
        (1000, "2001:db8::1", "json.example", "abc"),
        (2500, "::ffff:9.9.9.9", "", "abc"),
        (3000, "::ffff:1.1.1.1", "", "abc")]


def test_what_cannot_be_read_is_told_and_kept(tables, importer, log, workdir):
    rejects = workdir / "rejects"
    broken = ["nonsense\n", line()[:60] + "\n", "x" * (2 << 20) + "\n"]
    lines = [line(), broken[0], "\n", line(START + 1), broken[1], broken[2],
             '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "-" 408 0 "-" "-"\n',
             line(START + 2)]
    out = importer()(log(lines), "--rejects", rejects, expect=1)
    assert tables.value("SELECT count() FROM clicks") == 3
    assert "3 could not be read" in out
    assert "line 2: column 9: expected ' '" in out
    assert "line 5: column 61: expected" in out
    assert "line 6: longer than" in out
    assert "1 are blank" in out and "1 are no requests" in out
    kept = rejects.read_text().splitlines()
    assert kept[:2] == [text.rstrip("\n") for text in broken[:2]]
    assert tables.rows("SELECT rows, dead_lettered FROM ingest_progress") == [
        {"rows": 3, "dead_lettered": 3}]


# --- once ------------------------------------------------------------------------

def test_a_second_import_adds_nothing(tables, importer, log):
    lines = some_lines(500)
    path = log(lines)
    run = importer(batch_rows=100)
    run(path)
    assert_once(tables, lines)
    out = run(path)
    assert "0 became clicks" in out
    assert "500 had been imported before" in out
    assert_once(tables, lines)
    assert tables.value("SELECT sum(rows) FROM ingest_progress") == 500


def test_renamed_packed_copied_it_is_the_same_log(tables, importer, log,
                                                  workdir):
    lines = some_lines(300)
    path = log(lines)
    run = importer()
    run(path)
    path.rename(workdir / "access.log.1")
    run(workdir / "access.log.1")
    packed = workdir / "access.log.2.gz"
    packed.write_bytes(gzip.compress("".join(lines).encode()))
    run(packed)
    run(log(lines[:120], "beginning"))
    run("-", "--identity", tables.value(
        "SELECT any(substring(topic, 8)) FROM clicks"),
        data="".join(lines).encode())
    assert_once(tables, lines)


def test_of_a_log_that_grows_only_what_is_new(tables, importer, log):
    lines = some_lines(400)
    run = importer(batch_rows=64)
    for count in (1, 2, 50, 51, 400):
        run(log(lines[:count]))
        assert_once(tables, lines[:count])


def test_a_line_without_its_end_waits_for_it(tables, importer, log):
    lines = some_lines(3)
    run = importer()
    out = run(log(["".join(lines)[:-9]]))
    assert "the last line has no end yet" in out
    assert_once(tables, lines[:2])
    run(log(lines))
    assert_once(tables, lines)


def test_logs_with_the_same_first_line_are_told_apart(tables, importer, log):
    first = line()
    run = importer()
    run(log([first, *some_lines(5, seed=2)], "a"))
    run(log([first, *some_lines(7, seed=3)], "b"))
    assert tables.value("SELECT count() FROM clicks") == 6 + 8
    assert tables.value("SELECT uniqExact(topic) FROM clicks") == 2
    out = run(log([first], "c"), expect=65)
    assert out == "" and "--identity" in run.err
    run(log([first, *some_lines(9, seed=3)], "b"))
    assert tables.value("SELECT count() FROM clicks") == 6 + 10


def test_rotated_while_it_asks_which_log_that_is(tables, importer, log, proxy):
    old, new = some_lines(55), some_lines(80, seed=500)
    run, proxied = importer(), importer(url=proxy.url)
    run(log(old[:50]))
    path = log(old)
    rotated = path.with_suffix(".log.1")

    def rotate():
        path.rename(rotated)
        log(new)
    proxy.call_at(1, rotate, "import_journal")
    assert "5 became clicks" in proxied(path)
    assert "0 became clicks" in run(rotated)
    assert "80 became clicks" in run(path)
    stored = tables.rows("SELECT topic, groupArray(offset) AS places FROM (SELECT "
                         "* FROM clicks ORDER BY offset) GROUP BY topic")
    assert sorted(row["places"] for row in stored) == sorted(
        list(offsets(lines)) for lines in (old, new))


def test_a_pipe_is_asked_for_its_name(tables, importer, workdir):
    """A pipe cannot be read twice, once for its head and once for its lines."""
    lines = some_lines(5)
    path = workdir / "pipe"
    os.mkfifo(path)

    def feed(pipe):
        with contextlib.suppress(BrokenPipeError):
            pipe.write_text("".join(lines))
    run = importer()
    for args, status in ((), 65), (("--identity", "edge-1"), 0):
        feeder = threading.Thread(target=feed, args=(path,), daemon=True)
        feeder.start()
        run(path, *args, expect=status)
        assert status == 0 or "--identity" in run.err
        feeder.join()
    assert_once(tables, lines)


def test_the_same_lines_under_two_names_are_two_logs(tables, importer, log):
    path = log(some_lines(5))
    run = importer()
    run(path, "--identity", "edge-1")
    run(path, "--identity", "edge-2")
    assert tables.value("SELECT count() FROM clicks") == 10


def kill_during(run, path, tables, rows):
    """Kills an import once there are this many rows."""
    process = subprocess.Popen(run.command(path), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    eventually(lambda: process.poll() is not None or tables.value(
        "SELECT count() FROM clicks") >= rows, every=0.002, what="rows")
    process.kill()
    process.wait()


@pytest.mark.proof
def test_killed_anywhere_it_goes_on_where_it_was(tables, importer, log):
    lines = some_lines(6000, step=1)
    path = log(lines)
    run = importer(batch_rows=100, parts_per_second=1000)
    for rows in range(1, 5000, 900):
        kill_during(run, path, tables, rows)
    run(path)
    assert_once(tables, lines)
    # The reports have as many rows of each hour as there are.
    told = tables.rows(
        "SELECT tupleElement(h, 1) AS start, sum(tupleElement(h, 2)) AS n "
        "FROM ingest_progress ARRAY JOIN CAST(hours, "
        "'Array(Tuple(UInt32, UInt64))') AS h GROUP BY start ORDER BY start")
    assert told == tables.rows(
        "SELECT toUnixTimestamp(toStartOfHour(ts)) AS start, count() AS n "
        "FROM clicks GROUP BY start ORDER BY start")


def test_killed_before_it_told_the_very_block_is_sent_again(tables, importer,
                                                            log):
    """This is the state after a kill between the insert and its report."""
    lines = some_lines(250)
    run = importer(batch_rows=100)
    run(log(lines[:250]))
    last = list(offsets(lines))[199]
    tables.query(f"ALTER TABLE ingest_progress DELETE WHERE last > {last}",
                 mutations_sync=1)
    # The log has grown meanwhile: the block ends at its former end.
    more = lines + some_lines(30, seed=9)
    out = run(log(more))
    assert "50 had been stored by an import that was ended" in out
    assert_once(tables, more)
    sent = tables.rows("SELECT first, last FROM import_journal "
                       "WHERE what = 'block' ORDER BY at")
    at = list(offsets(more))
    assert [(row["first"], row["last"]) for row in sent] == [
        (at[0], at[99]), (at[100], at[199]), (at[200], at[249]),
        (at[200], at[249]), (at[250], at[279])]


def test_a_shorter_copy_does_not_take_over_a_block(tables, importer, log):
    lines = some_lines(100)
    run = importer()
    run(log(lines))
    tables.query("ALTER TABLE ingest_progress DELETE WHERE 1",
                 mutations_sync=1)
    run(log(lines[:40], "copy"), expect=65)
    assert "a longer copy" in run.err
    run(log(lines))
    assert_once(tables, lines)


def a_day_ahead(tables, where):
    """Changes rows of the journal to what ClickHouse writes with such a clock; the
    clock has been set back since."""
    tables.query("INSERT INTO import_journal SELECT * REPLACE (at + INTERVAL 1 "
                 f"DAY AS at) FROM import_journal WHERE {where}")


@pytest.mark.parametrize("fault", ["error_before", "error_after",
                                   "drop_before", "drop_after"])
def test_a_batch_without_clicks_is_reported_once(tables, importer, log, proxy,
                                                 fault):
    lines = [line(path="/elsewhere"), "\n", line(path="/elsewhere")]
    proxy.at(1, fault, "ingest_progress")
    out = importer(url=proxy.url)(log(lines), "--path-prefix", "/go", "--force",
                                  "--wait", "10s")
    assert "2 are not below the path prefix" in out and "1 are blank" in out
    assert proxy.faults() == {fault: 1}
    assert tables.rows("SELECT first, last, rows, dead_lettered, lost "
                       "FROM ingest_progress") == [
        {"first": 0, "last": len("".join(lines[:2])), "rows": 0,
         "dead_lettered": 0, "lost": 0}]


@pytest.mark.parametrize("ahead", [
    pytest.param(False, id="clock right"),
    pytest.param(True, id="begun when it was ahead")])
def test_a_second_import_of_a_log_ends_the_first(tables, importer, log,
                                                     ahead):
    lines = some_lines(4000, step=1)
    path = log(lines)
    run = importer(batch_rows=50, parts_per_second=2)  # takes 40 seconds
    first = subprocess.Popen(run.command(path), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    eventually(lambda: tables.value("SELECT count() FROM clicks") > 0)
    if ahead:
        a_day_ahead(tables, "what = 'run'")
    importer(batch_rows=500, parts_per_second=1000)(path)
    _, said = first.communicate(timeout=60)
    assert first.returncode == 75
    assert b"another import of this log has begun" in said
    assert_once(tables, lines)


@pytest.mark.proof
def test_told_to_stop_it_says_so_and_the_next_goes_on(tables, importer, log):
    lines = some_lines(3000, step=1)
    path = log(lines)
    run = importer(batch_rows=50, parts_per_second=2)  # takes 30 seconds
    process = subprocess.Popen(run.command(path), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    eventually(lambda: tables.value("SELECT count() FROM clicks") > 0)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 75
    importer(parts_per_second=1000)(path)
    assert_once(tables, lines)


def test_a_packed_log_that_is_cut_off_is_imported_as_far_as_it_goes(
        tables, importer, workdir, log):
    lines = some_lines(5000)
    whole = gzip.compress("".join(lines).encode())
    path = workdir / "access.log.gz"
    path.write_bytes(whole[:len(whole) // 2])
    run = importer()
    run(path, expect=65)
    assert "cut off" in run.err
    assert 0 < tables.value("SELECT count() FROM clicks") < 5000
    path.write_bytes(whole)
    run(path)
    assert_once(tables, lines)


def test_an_empty_log_is_no_failure_and_an_unknown_packing_is(
        tables, importer, log, workdir):
    run = importer()
    lines = some_lines(2)
    empty, half, packed = log([], "empty"), log([lines[0][:-1]], "half"), \
        workdir / "log.xz"
    packed.write_bytes(lzma.compress("".join(lines).encode()))
    out = run(empty, half, packed, log(lines), expect=65)
    assert out.count("0 became clicks") == 2
    assert "packed by xz" in run.err
    assert_once(tables, lines)


def test_what_a_clock_that_was_ahead_wrote_stops_no_import(tables, importer,
                                                          log):
    lines = some_lines(100)
    run = importer()
    run(log(lines[:50]))
    a_day_ahead(tables, "what = 'run'")
    tables.query(
        "INSERT INTO import_journal (identity, what, run, at) SELECT "
        "any(identity), 'run', 7, now64(6) + INTERVAL 1 DAY FROM "
        "import_journal")
    run(log(lines))
    run(log(lines))
    assert_once(tables, lines)


def test_a_block_is_taken_over_whatever_the_clock_was(tables, importer, log):
    """Two imports were killed; the later one wrote when the clock was right again."""
    lines = some_lines(90)
    at = list(offsets(lines))
    run = importer()
    run(log(lines[:30]))
    identity = tables.value("SELECT any(identity) FROM import_journal")
    for number, day, first, last in ((2, 1, 0, 29), (3, 0, 30, 59)):
        tables.query(
            "INSERT INTO import_journal (identity, what, run, number, first, last, "
            f"at) SELECT '{identity}', k, {number}, {number}, "
            f"if(k = 'run', 0, {at[first]}), if(k = 'run', 0, {at[last]}),"
            f" now64(6) + INTERVAL {day} DAY "
            "FROM (SELECT arrayJoin(['run', 'block']) AS k)")
    tables.query("INSERT INTO import_journal (identity, what, run, number, first, "
                 f"last, at) VALUES ('{identity}', 'block', 2, 2, {at[30]}, "
                 f"{at[44]}, now64(6) + INTERVAL 1 DAY)")
    run(log(lines))
    assert_once(tables, lines)
    assert [(row["first"], row["last"]) for row in tables.rows(
        "SELECT first, last FROM ingest_progress ORDER BY first")] == [
            (at[0], at[29]), (at[30], at[59]), (at[60], at[89])]


class Interrupted(ClickHouseProxy):
    """Calls a function once, when a query with that beginning has been executed and not
    answered."""
    text = function = None

    def at_answer(self, text, function):
        self.text, self.function = text, function

    def _ask(self, request):
        answer = super()._ask(request)
        if self.text and request.query.startswith(self.text):
            self.text = None
            self.function()
        return answer


@pytest.fixture
def interrupted(clickhouse_server):
    with Interrupted(clickhouse_server.port) as proxy:
        yield proxy


def test_one_that_slept_until_its_token_was_forgotten(tables, importer, log,
                                                      interrupted):
    """The block was the log's newest at the time of the query; another import has sent
    the same block since, and others sent so much that its token is forgotten."""
    for table in ("clicks", "ingest_progress"):
        tables.query(f"ALTER TABLE {table} MODIFY SETTING "
                     "non_replicated_deduplication_window = 4")
    lines = some_lines(100)
    path = log(lines)
    first, second = importer(url=interrupted.url), importer()

    def meanwhile():
        second(path)
        for n in range(12):
            for table in ("clicks", "ingest_progress"):
                tables.query(f"INSERT INTO {table} (topic) VALUES ('other')",
                             insert_deduplication_token=f"other-{n}")
    interrupted.at_answer("SELECT if(countIf(", meanwhile)

    first(path, expect=75)

    assert "another import of this log has begun" in first.err
    assert interrupted.function and not interrupted.text
    tables.query("ALTER TABLE clicks DELETE WHERE topic = 'other'",
                 mutations_sync=1)
    assert_once(tables, lines)
    assert tables.value("SELECT sum(rows) FROM ingest_progress") == len(lines)


def test_one_that_slept_and_is_still_the_newest_goes_on(tables, importer, log,
                                                        interrupted):
    for table in ("clicks", "ingest_progress"):
        tables.query(f"ALTER TABLE {table} MODIFY SETTING "
                     "non_replicated_deduplication_window = 40")
    lines = some_lines(100)
    run = importer(url=interrupted.url, parts_per_second=20)
    # This is longer than one of 40 tokens is surely kept at that pace.
    interrupted.at_answer("SELECT if(countIf(",
                          lambda: time.sleep(1.5))
    run(log(lines))
    assert not interrupted.text
    # The stored rows were queried before it was sent.
    assert any(p.query.startswith("KILL QUERY") for p in interrupted.passed)
    assert_once(tables, lines)
    assert tables.value("SELECT sum(rows) FROM ingest_progress") == len(lines)


# --- counts ------------------------------------------------------------------------

@pytest.mark.proof
def test_imported_hours_are_settled_and_settled_again(tables, importer, log,
                                                      redis, program):
    aggregator = program("aggregator", {"aggregator": {"settle_every": "500ms"}})
    lines = [line(START + i * 1800, ip=f"9.9.9.{i % 4}") for i in range(10)]
    run = importer()

    def clicks():
        answer = requests.get(aggregator.url + "/v1/clicks", timeout=60,
                              params={
            "from": "2015-05-17T10:00:00Z", "to": "2015-05-17T16:00:00Z",
            "interval": "hour", "bots": "include"})
        assert answer.status_code == 200, answer.text
        return [item["clicks"] for item in answer.json()["data"]]

    run(log(lines[:6]))
    eventually(lambda: clicks() == [2, 2, 2, 0, 0, 0], what="settled")
    run(log(lines))
    eventually(lambda: clicks() == [2, 2, 2, 2, 2, 0], what="settled again")
    run(log([line(START + 60, path="/late")] * 3, "other.log"))
    eventually(lambda: clicks() == [5, 2, 2, 2, 2, 0], what="and again")


SEPTEMBER = instant("2026-09-10T00:00:00Z")


def days_ago(tables, table, column, days, where):
    """Sets the time of these rows to that many days ago; a column of the key is not
    updated."""
    tables.query(f"INSERT INTO {table} SELECT * REPLACE ({column} - INTERVAL {days} DAY AS "
                 f"{column}) FROM {table} WHERE {where}")
    tables.query(f"ALTER TABLE {table} DELETE WHERE {column} > now() - INTERVAL 1 DAY AND "
                 f"({where})", mutations_sync=1)


@pytest.mark.long
def test_its_journal_is_thinned_with_the_days_and_no_line_comes_twice(
        tables, importer, log, keeper, world):  # noqa: F811
    lines = [line(SEPTEMBER + i * 60, f"/c{i}") for i in range(100)]
    at = list(offsets(lines))
    blocks = [(at[i], at[i + 9]) for i in range(0, 100, 10)]
    run = importer(batch_rows=10, parts_per_second=1000)
    run(log(lines[:50]))
    run(log(lines[:90]))
    # Killed imports: one block was followed by other blocks of another import, and one
    # is the last.
    for number, (first, last) in ((1, (at[5], at[14])), (2, blocks[9])):
        tables.query(
            "INSERT INTO import_journal (identity, what, run, number, first, last) SELECT "
            f"any(identity), 'block', 7, {number}, {first}, {last} FROM import_journal")
    # A dropped day in a later month.
    world.insert(some_clicks(1, 20, [(FROM, FROM + 3600)]))
    days_ago(tables, "import_journal", "at", 10, "1")
    imported = "startsWith(topic, 'import:') AND first"
    days_ago(tables, "ingest_progress", "inserted_at", 20, f"{imported} < {at[60]}")
    days_ago(tables, "ingest_progress", "inserted_at", 10, f"{imported} >= {at[60]}")

    def kept(what):
        return [(row["number"], row["first"], row["last"]) for row in tables.rows(
            "SELECT number, first, last FROM import_journal WHERE "
            f"what = '{what}' ORDER BY number, first")]
    heads = kept("head")
    made = keeper()
    wait_gone(tables, 2)
    # The kept reports, and blocks that no report covers.
    eventually(lambda: kept("block") == [(2, *block) for block in blocks[6:]], PATIENCE,
               what="the journal to be thinned")
    assert len(kept("run")) == 1 and kept("run")[0][0] == 2
    assert kept("head") == heads
    assert made.stop() == 0

    out = run(log(lines[:90], "renamed.log"))
    assert "0 became clicks" in out and "90 had been imported before" in out
    assert rows_left(tables) == 0
    run(log(lines))
    assert [row["offset"] for row in tables.rows(
        "SELECT offset FROM clicks ORDER BY offset")] == at[90:]


# --- other properties ------------------------------------------------------------

def test_years_in_one_log(tables, importer, log):
    day = 86400
    lines = [line(START + i * day // 2) for i in range(400)]
    importer(parts_per_second=1000)(log(lines))
    assert_once(tables, lines)
    assert tables.value("SELECT uniqExact(toDate(ts)) FROM clicks") >= 200


@pytest.mark.long
def test_a_block_takes_no_more_than_the_memory_there_is(tables, importer, log):
    """Blocks have no other limit, and the log is larger than the memory."""
    filler = "x" * 1200
    lines = [line(START + i, f"/c{i}?q={i}", agent=f"Chrome/{i} {filler}{i}",
                  referrer=f"https://r{i}.example/{filler}")
             for i in range(60000)]
    path = log(lines)
    assert path.stat().st_size > 144 * memory.MIB
    run = importer(memory="128MiB", ua_cache="1MiB", geo_cache="1MiB",
                   scan_memory="1MiB", batch_rows=1000000,
                   batch_bytes="512MiB", max_text="4KiB")
    process = servers.Process("import", run.command(path),
                              path.with_suffix(".txt"))
    peak = 0
    while process.running():
        now = memory.status(process.pid)
        peak = max(peak, now.get("VmHWM", 0) - now.get("RssFile", 0))
        time.sleep(0.01)
    assert process.wait() == 0, process.log()
    assert 32 * memory.MIB < peak < 128 * memory.MIB
    assert tables.value("SELECT count() FROM clicks") == len(lines)


@pytest.mark.long
def test_a_server_that_is_late_is_waited_for(clickhouse_server, tables,
                                             importer, log):
    lines = some_lines(50)
    path = log(lines)
    run = importer()
    clickhouse_server.kill()
    run(path, "--wait", "0s", expect=75)
    assert "waiting for ClickHouse" not in run.err
    process = subprocess.Popen(run.command("--wait=1h", path),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stderr.fileno(), False)
    said = b""

    def waiting():
        nonlocal said
        said += process.stderr.read() or b""
        return b"waiting for ClickHouse" in said
    eventually(waiting)
    clickhouse_server.start()
    assert process.wait(120) == 0
    assert_once(tables, lines)


def test_a_dry_run_asks_no_server(importer, log):
    out = importer()(log([line(), "nonsense\n"]), "--dry-run", expect=1)
    assert "1 would become clicks" in out
    assert "line 2" in out


@pytest.mark.proof
def test_a_terminal_sees_a_bar(tables, importer, log):
    path = log(some_lines(2000, step=1))
    run = importer(batch_rows=50, parts_per_second=2)  # takes 20 seconds
    parent, child = pty.openpty()
    process = subprocess.Popen(run.command(path), stdout=subprocess.DEVNULL,
                               stderr=child)
    os.close(child)
    seen = b""

    def bar():
        nonlocal seen
        if select.select([parent], [], [], 0.1)[0]:
            seen += os.read(parent, 65536)
        return re.search(rb"access\.log \[#*\.*\] +\d+%  \d+ bytes, .*"
                         rb"lines, \d+/s, .* left", seen)
    eventually(bar)
    process.kill()
    process.wait()
    os.close(parent)


REFUSED = [
    ([], 64, "which logs"),
    (["/nowhere/at/all.log"], 66, "/nowhere/at/all.log"),
    (["-"], 64, "--identity"),
    (["--identity", "a b", "LOG"], 64, "'a b'"),
    (["--identity", "x", "LOG", "LOG"], 64, "one log"),
    (["--format", "nonsense", "LOG"], 64, "nonsense"),
    (["--format", "%h %r", "LOG"], 64, "--format: it has no time"),
    (["--json-keys", "what=x", "LOG"], 64, "--json-keys"),
    (["--path-prefix", "go", "LOG"], 64, "a slash"),
    (["--wait", "soon", "LOG"], 64, "--wait"),
    (["--client-address", "proxy", "LOG"], 64, "--client-address"),
    (["--trusted-proxies", "10.0.0.1/8", "LOG"], 64, "--trusted-proxies"),
    (["--zone", "Mars/Olympus", "LOG"], 64, "--zone"),
    (["--zone", "../etc/passwd", "LOG"], 64, "--zone"),
    (["--why", "LOG"], 64, "--why")]


@pytest.mark.parametrize("args, status, words", REFUSED)
def test_what_makes_no_sense_is_refused(importer, log, args, status, words):
    path = str(log([line()]))
    run = importer()
    run(*[path if arg == "LOG" else arg for arg in args], expect=status)
    assert words in run.err and run.out == ""
