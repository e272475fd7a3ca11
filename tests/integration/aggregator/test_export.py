"""Exports: what is streamed is what was inserted, in one order, for every reader,
however slow and in however many pieces."""
import collections
import csv
import gzip
import io
import json
import random
import socket
import threading
import time
import urllib.parse

import pytest
import requests
from backports import zstd

from support.clicks import (DAILY, DIMENSIONS, instant, make_click, rfc3339,
                            url_digest)
from support.keys import key_line
from support.openapi import in_the_tree
from support.memory import MIB, status
from support.program import eventually

FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-11-03T00:00:00Z")
DAY = 86400
COLUMNS = ["time", "link_id", "event_id", "code", "domain", "account", "owner",
           "campaign", "tags", "outcome", "status", "verdict", "country", "city",
           "device_class", "os_family", "ua_family", "language", "channel",
           "referrer_host", "referrer_site", "edge", *DAILY]
# Columns for keys that may tell visitors apart.
ALSO = ["cookies", "trace_id"]
RUNNING = ("SELECT count() FROM system.processes WHERE "
           "startsWith(Settings['log_comment'], 'aggregator-') AND "
           "current_database = currentDatabase()")
KEYS = {"all": "read accounts=*", "watcher": "read,visitors account=acme", "ann": "read account=acme owners=ann",
        "bob": "read account=acme owners=bob", "shop-ann": "read account=shop owners=ann",
        "shop": "read-own account=shop", "none": "create"}
# Links, and their state in the archive.
LINKS = {1: {"owner": "ann", "account": "shop"}, 2: {"owner": "bob", "account": "acme"},
         3: {"owner": "ann", "account": "acme"}, 4: {"owner": "bob", "account": "shop"}}
ANN = {"account": "acme", "owner": "ann"}


def some_rows(seed, count, start=FROM, end=TO, links=(0, *LINKS)):
    rng = random.Random(seed)
    nasty = ["plain", "=1+1", "+cmd", "-2", "@x", "a,b", 'say "x"', "a;b",
             "two\nlines", "tab\there", "ümlaut", "back\\slash", ""]
    rows = []
    for _ in range(count):
        link = rng.choice(links)
        rows.append(make_click(
            rng, rng.randrange(start * 1000, end * 1000), link,
            code=f"code{link}", city=rng.choice(nasty),
            **LINKS.get(link, {"account": "", "owner": ""}),
            campaign=rng.choice(nasty), language=rng.choice(nasty),
            referrer_host=rng.choice(nasty),
            referrer_site=rng.choice(nasty), edge="edge-1", domain="main",
            tags=rng.choice([[], ["a"], ["=b", 'c"', "ü"]]), status=302))
    return rows


def key_of(row):
    """Returns the sort key of exports; `place` is partition and offset."""
    return (row["ts_ms"] // 86400000, row["link_id"], row["ts_ms"],
            *row["place"])


def placed(rows, partition=0, first=0):
    return [{**row, "place": (partition, first + i)}
            for i, row in enumerate(rows)]


def expected(rows):
    """Returns the export of these rows, without fields that are random at the
    insert."""
    return [{"time": rfc3339(row["ts_ms"] / 1000) if row["ts_ms"] % 1000 == 0
             else rfc3339(row["ts_ms"] // 1000)[:-1] + f".{row['ts_ms'] % 1000:03}Z",
             "link_id": str(row["link_id"]), "os_family": "", "channel": "",
             **{name: row[name] for name in COLUMNS[3:] if name in row},
             # The dimensions have them so.
             "url": url_digest(row["url"]), "asn": str(row["asn"] or ""),
             **{f"{of}_version": f"{row[f'{of}_family']} {row[f'{of}_version']}".rstrip()
                for of in ("os", "ua")}}
            for row in sorted(rows, key=key_of)]


def test_every_dimension_of_the_api_is_a_column():
    own = {"link": "link_id", "tag": "tags"}
    assert {own.get(name, name) for name in (*DIMENSIONS, *DAILY)} | {"owner"} <= set(COLUMNS)
    row = in_the_tree("aggregator")["components"]["schemas"]["ExportRow"]
    assert [name for name in row["properties"] if name != "cursor"] == [*COLUMNS, *ALSO]
    assert not {*ALSO} & {*row["required"]}


def without_event(rows):
    return [{k: v for k, v in row.items() if k not in ("event_id", "cursor")}
            for row in rows]


class Client:
    def __init__(self, url, key=None):
        self.url = url + "/v1/export/clicks"
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(self, **params):
        return requests.get(self.url, params={k.rstrip("_"): v for k, v in
                                              params.items()},
                            headers=self.headers, timeout=120)

    def ndjson(self, **params):
        """Returns (the rows, the end record)."""
        answer = self.get(**params)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Content-Type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in answer.text.split("\n")[:-1]]
        assert list(lines[-1]) == ["end"]
        return lines[:-1], lines[-1]["end"]

    def range(self, start=FROM, end=TO, **params):
        return self.ndjson(from_=rfc3339(start), to=rfc3339(end), **params)


@pytest.fixture
def make(migrated, redis, program, workdir):
    """make(keys=False, clickhouse=its settings, **settings) returns an aggregator that
    knows of everything up to two days after TO."""
    path = workdir / "api.keys"
    path.write_text("".join(key_line(name, words)
                            for name, words in KEYS.items()))

    def made(keys=False, clickhouse=None, **settings):
        if keys:
            settings["keys_file"] = str(path)
        started = program("aggregator", {
            "clickhouse": clickhouse or {},
            "aggregator": {"settle_every": "1h", "watermark_every": "500ms",
                           **settings}})
        client = Client(started.url, "all")
        eventually(lambda: client.get(limit=1).status_code == 200,
                   what="the watermark to be read")
        started.wait_metric(0, "shortloop_aggregator_exports_running")
        return started
    return made


def insert(migrated, rows, **args):
    migrated.insert([{k: v for k, v in row.items() if k != "place"}
                     for row in rows], **args)


@pytest.fixture
def world(migrated):
    for link, fields in LINKS.items():
        migrated.link(f"code{link}", link, **fields)
    rows = placed(some_rows(1, 3000))
    insert(migrated, rows, append_ms=TO * 1000)
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    return rows


@pytest.mark.proof
def test_an_export_has_every_row_once_and_in_order(make, world):
    client = Client(make().url)
    rows, end = client.range()
    assert without_event(rows) == expected(world)
    assert all(list(row)[:len(COLUMNS)] == COLUMNS for row in rows)
    assert len({row["event_id"] for row in rows}) == len(rows)
    assert end == {"complete": True, "rows": 3000, "cursor": None,
                   "from": rfc3339(FROM), "to": rfc3339(TO)}
    # One link, by its code and by its id, and a part of the time.
    mine = [row for row in world if row["link_id"] == 3]
    assert without_event(client.range(code="code3")[0]) == expected(mine)
    assert without_event(client.range(link_id="3")[0]) == expected(mine)
    low, high = FROM + DAY + 5000, FROM + 4 * DAY + 77
    some = [row for row in world if low * 1000 <= row["ts_ms"] < high * 1000]
    assert without_event(client.range(low, high)[0]) == expected(some)
    assert without_event(client.range(**ANN)[0]) == expected(mine)
    shops = [row for row in world if row["link_id"] in (1, 4)]
    assert without_event(client.range(account="shop")[0]) == expected(shops)
    url = "https://a.example/"
    assert without_event(client.range(url=url)[0]) == expected(
        [row for row in world if row["url"] == url])
    assert without_event(client.range(url=url_digest(url), **ANN)[0]) == expected(
        [row for row in mine if row["url"] == url])
    assert client.range(account="acme", owner="nobody")[0] == []
    assert client.range(account="nobody")[0] == []
    assert "expected one account=NAME" in client.get(owner="ann").json()["detail"]
    assert client.get(code="nosuch").status_code == 404


def test_the_clicks_of_one_visitor_are_told_who_may(make, world, program):
    made = make(keys=True)
    client = Client(made.url, "watcher")
    visitor = collections.Counter(
        row["unique_identity"] for row in world
        if row["account"] == "acme").most_common(1)[0][0]
    named = visitor.encode().hex()
    his = [row for row in world if row["unique_identity"] == visitor
           and row["account"] == "acme"]
    assert len(his) > 20
    whole = client.range(visitor=named.upper())[0]
    assert without_event(whole) == expected(his)
    assert without_event(client.range(visitor=named, link_id="3")[0]) == expected(
        [row for row in his if row["link_id"] == 3])
    rows, end = client.range(visitor=named, limit=7)
    rest = client.range(visitor=named, cursor=end["cursor"])[0]
    assert without_event(rows + rest) == expected(his) and len(rows) == 7
    assert client.get(visitor="00" * 20).status_code == 400
    assert client.get(visitor="11" * 20, cursor=end["cursor"]).status_code == 400
    for key in "all", "ann":
        answer = Client(made.url, key).get(visitor=named)
        assert answer.status_code == 403
        assert "role 'visitors'" in answer.json()["detail"]
    status, output = program("aggregator", start=False, args=(
        "forget", "--no-wait", "--visitor", named)).run()
    assert status == 0, output
    assert client.range(visitor=named)[0] == []
    assert len(client.range()[0]) == len([r for r in world if r["account"] == "acme"])


@pytest.fixture
def recorded(migrated):
    """Clicks of three visitors with cookies and traces, and of one without."""
    cookies = [{"id": "7", "=a": "=1+1"}, {}, {"q": 'say "x", b\udcff\n'}, {"ü": ""}]
    traces = ["0af7651916cd43dd8448eb211c80319c", "", "=1+1", "-2"]
    for link, fields in LINKS.items():
        migrated.link(f"code{link}", link, **fields)
    rows = [{**row, "unique_identity": f"visitor {n} " + 10 * ".", "cookies": of, "trace_id": trace}
            for n, (row, of, trace) in enumerate(zip(
                some_rows(2, 4, end=FROM + 60, links=(3,)), cookies, traces))]
    rows.sort(key=lambda row: row["ts_ms"])
    insert(migrated, rows, append_ms=TO * 1000)
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    return rows


def valid(value):
    """Returns the value with bytes that are not UTF-8 replaced."""
    if isinstance(value, dict):
        return {valid(k): valid(v) for k, v in value.items()}
    return value.replace("\udcff", "\ufffd")


@pytest.mark.proof
def test_cookies_and_traces_are_told_who_may(make, recorded, program):
    made = make(keys=True)
    client = Client(made.url, "watcher")
    told = [{name: valid(row[name]) for name in ALSO} for row in recorded]

    def also(of, **params):
        rows, _ = client.range(also=of, **params)
        assert without_event(rows)[0].keys() - {*COLUMNS} == {*of.split(",")}
        assert [list(row)[len(COLUMNS) - 1:][:len(of.split(","))]
                for row in without_event(rows)] == [
            [name for name in ALSO if name in of]] * len(rows)
        return [{k: v for k, v in row.items() if k in ALSO} for row in rows]

    assert also("cookies,trace_id") == also("trace_id,cookies") == told
    for name in ALSO:
        assert also(name) == [{name: row[name]} for row in told]
    visitor = recorded[0]["unique_identity"].encode().hex()
    assert also("cookies,trace_id", visitor=visitor) == told[:1]
    plain, end = client.range(limit=2)
    assert not {*ALSO} & {*plain[0]}
    # A cursor goes on with the same columns.
    assert client.get(from_=rfc3339(FROM), to=rfc3339(TO), also="cookies",
                      cursor=end["cursor"]).status_code == 400
    _, end = client.range(limit=2, also="cookies")
    assert also("cookies", cursor=end["cursor"]) == [
        {"cookies": row["cookies"]} for row in told[2:]]

    for wrong in "", "cookies,", "cookies,cookies", "ip", "cookie", "cookies trace_id":
        answer = client.get(also=wrong)
        assert (answer.status_code, answer.json()["field"]) == (400, "also"), wrong
    for key in "all", "ann", "bob", "shop":
        answer = Client(made.url, key).get(also="trace_id")
        assert (answer.status_code, answer.json()["field"]) == (403, "also")
        assert "role 'visitors'" in answer.json()["detail"]

    status, output = program("aggregator", start=False, args=(
        "forget", "--no-wait", "--visitor", visitor)).run()
    assert status == 0, output
    assert also("cookies,trace_id") == [{"cookies": {}, "trace_id": ""}, *told[1:]]


@pytest.mark.proof
def test_cookies_in_csv_are_one_json_text(make, recorded):
    answer = Client(make().url).get(from_=rfc3339(FROM), to=rfc3339(TO), format="csv",
                                    also="trace_id,cookies")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert list(rows[0]) == [*COLUMNS, *ALSO, "cursor"]
    assert [json.loads(row["cookies"]) for row in rows] == [
        valid(row["cookies"]) for row in recorded]
    assert "'=1+1" in {row["trace_id"] for row in rows}


@pytest.mark.proof
def test_csv_has_the_same_and_no_formula(make, world):
    client = Client(make().url)
    answer = client.get(from_=rfc3339(FROM), to=rfc3339(TO), format="csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert list(rows[0]) == [*COLUMNS, "cursor"]

    def shielded(text):
        return "'" + text if text[:1] in ("=", "+", "-", "@", "\t") else text

    found = [{k: v for k, v in row.items() if k not in ("event_id", "cursor")}
             for row in rows]
    for row in found:
        row["tags"] = json.loads(row["tags"])
    assert found == [
        {k: v if isinstance(v, list) else shielded(str(v))
         for k, v in row.items()} for row in expected(world)]
    assert any(row["city"] == "'=1+1" for row in found)
    # The format is chosen by Accept; an impossible one is a 400.
    client.headers["Accept"] = "application/x-ndjson;q=0.5, TEXT/CSV"
    assert client.get(from_=rfc3339(FROM), to=rfc3339(TO)).text == answer.text
    client.headers["Accept"] = "text/csv;q=0"
    assert client.range(limit=1)[1]["rows"] == 1
    assert client.get(format="xml").status_code == 400


@pytest.mark.proof
@pytest.mark.parametrize("limit", [
    2999, *(pytest.param(limit, marks=pytest.mark.long) for limit in (700, 3000, 100000))])
def test_pages_are_the_whole(make, world, migrated, limit):
    made = make()
    client = Client(made.url)
    whole, _ = client.range()
    rows, end = client.range(limit=limit)
    late = placed(some_rows(7, 200), 0, 3000)
    insert(migrated, late, append_ms=(TO + 3 * DAY) * 1000)
    migrated.report([], 0, (TO + 4 * DAY) * 1000)
    while not end["complete"]:
        assert end["cursor"] == rows[-1]["cursor"]
        more, end = client.range(limit=limit, cursor=end["cursor"])
        rows += more
    assert without_event(rows) == without_event(whole)
    # A new export has the new rows.
    eventually(lambda: len(client.range()[0]) == 3200)


@pytest.mark.proof
def test_an_export_goes_on_from_any_row_that_has_a_cursor(make, world):
    client = Client(make().url)
    whole, _ = client.range(**ANN)
    first, _ = client.range(**ANN, limit=411)
    again, end = client.range(**ANN, cursor=first[-1]["cursor"])
    assert without_event(again) == without_event(whole[411:])
    assert end["complete"]
    again, end = client.range(**ANN, cursor=whole[-1]["cursor"])
    assert again == [] and end["complete"]


@pytest.mark.proof
def test_a_cursor_is_strict(make, world):
    client = Client(make().url)
    rows, end = client.range(link_id="3", limit=5)
    good = end["cursor"]
    rng = random.Random(3)
    bad = ["", "x", good[:-1], good[:-2], good + "00", good[:20], good + "zz"]
    for _ in range(60):
        at = rng.randrange(len(good))
        other = rng.choice([c for c in "0123456789abcdef" if c != good[at]])
        bad.append(good[:at] + other + good[at + 1:])
    when = {"from_": rfc3339(FROM), "to": rfc3339(TO)}
    for cursor in bad:
        answer = client.get(link_id="3", cursor=cursor, **when)
        assert answer.status_code == 400, cursor
        assert "cursor" in answer.json()["detail"]
    for params in ({}, {"link_id": "1"}, ANN):
        assert client.get(cursor=good, **when, **params).status_code == 400
    assert client.get(link_id="3", cursor=good).status_code == 400
    for params in ({"link_id": "0"}, {"link_id": "x"}, {"nosuch": "1"},
                   {"limit": "0"}, {"code": "a b"}, {"from": "soon"},
                   {"owner": "a", "code": "b"}, {"owner": "x" * 129},
                   {"limit": "1000000001"}, {"owner": "a\x01b"}):
        answer = client.get(**params)
        assert answer.status_code == 400, params


@pytest.mark.proof
def test_a_key_exports_what_it_sees(make, world):
    made = make(keys=True)
    sees = {"all": {0, 1, 2, 3, 4}, "ann": {3}, "bob": {2}, "shop": {1, 4},
            "shop-ann": {1}}
    for name, links in sees.items():
        client = Client(made.url, name)
        rows, _ = client.range()
        assert without_event(rows) == expected(
            [row for row in world if row["link_id"] in links]), name
        for link in LINKS:
            answer = client.get(link_id=link, limit=1)
            assert answer.status_code == (200 if link in links else 404)
        for account, link in ("acme", 3), ("shop", 1):
            rows, _ = client.range(account=account, owner="ann")
            assert {int(row["link_id"]) for row in rows} == links & {link}
    # A cursor gives no permission.
    bob = {"account": "acme", "owner": "bob"}
    cursor = Client(made.url, "all").range(**bob, limit=1)[1]["cursor"]
    assert Client(made.url, "ann").range(**bob, cursor=cursor)[0] == []
    assert Client(made.url, "none").get().status_code == 403
    assert Client(made.url, "nosuch").get().status_code == 401
    unseen = [Client(made.url, "ann").get(link_id=link).text
              for link in ("2", "99")]
    assert unseen[0].replace("2", "N") == unseen[1].replace("99", "N")


# --- more links than one query has room for ---------------------------------------

MANY = 25000  # this needs three queries, with the longest possible numbers
FIRST_LINK = 2 ** 64 - 1 - MANY
MANY_DAYS = (FROM, FROM + 2 * DAY, FROM + 5 * DAY)
MANY_ROWS = 30000  # rows a day; more than one answer may have


# The queries of exports.
CLICKS_QUESTION = " FROM clicks WHERE ts >= fromUnixTimestamp64Milli({from:Int64}"


def questions_of_clicks(proxy):
    return sum(CLICKS_QUESTION in passed.query for passed in proxy.passed)


@pytest.fixture
def many(migrated, clickhouse):
    """ann's rows of three days: [(ts_ms, link_id, offset)] in the order of exports. bob
    has one of much earlier, and one of later."""
    clickhouse.query(
        "INSERT INTO links (code, link_id, version, space, generation, change, state, "
        "account, owner) SELECT 'c' || toString(number), "
        f"{FIRST_LINK} + number, 1, 's7', 1, 'created', 'live', 'acme', 'ann' "
        f"FROM numbers({MANY})")
    for number, day in enumerate(MANY_DAYS):
        clickhouse.query(
            "INSERT INTO clicks (epoch, topic, partition, offset, append_time, ts, "
            "original_ts, link_id, event_id) SELECT 1, 'clicks', 0, "
            f"{number * MANY_ROWS} + number, toDateTime64({TO}, 3, 'UTC'), "
            f"toDateTime64({day}, 3, 'UTC') + number * 2000 / 1000, "
            "toDateTime64(0, 3, 'UTC'), "
            f"{FIRST_LINK} + number * 7919 % {MANY}, generateUUIDv4() "
            f"FROM numbers({MANY_ROWS})")
    rng = random.Random(4)
    insert(migrated, [make_click(rng, at * 1000, 2) for at in
                      (FROM - 400 * DAY, TO - DAY)], append_ms=TO * 1000)
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    return [(day * 1000 + i * 2000, FIRST_LINK + i * 7919 % MANY,
             number * MANY_ROWS + i)
            for number, day in enumerate(MANY_DAYS)
            for i in sorted(range(MANY_ROWS), key=lambda i: (i * 7919 % MANY, i))]


def short(rows):
    return [(round(instant(row["time"]) * 1000), int(row["link_id"])) for row in rows]


@pytest.mark.long
def test_an_export_of_many_links_asks_for_days_that_have_rows(make, many, proxy,
                                                              clickhouse):
    made = make(clickhouse={"url": proxy.url})
    before = questions_of_clicks(proxy)
    rows, end = Client(made.url).range(instant("2020-01-01T00:00:00Z"), **ANN)
    assert short(rows) == [(ts_ms, link) for ts_ms, link, _ in many]
    assert end["complete"] and end["rows"] == len(many)
    # There is not a query for each of 2,500 days: ClickHouse knows without reading
    # which days have rows.
    assert questions_of_clicks(proxy) - before < 60
    (seek,) = {passed.query for passed in proxy.passed
               if "SELECT count(), toUnixTimestamp64Milli(min(ts))" in passed.query}
    answer = json.loads(clickhouse.query(f"{seek} FORMAT JSON",
                                         param_from=f"{FROM * 1000}"))
    assert answer["statistics"]["rows_read"] < 100


@pytest.mark.long
def test_pages_of_many_links_are_the_whole(make, many):
    client = Client(make().url)
    rows, end = client.range(**ANN, limit=21001)
    while not end["complete"]:
        assert end["cursor"] == rows[-1]["cursor"]
        more, end = client.range(**ANN, limit=21001, cursor=end["cursor"])
        rows += more
    assert short(rows) == [(ts_ms, link) for ts_ms, link, _ in many]


# --- slow clients, and clients that close -------------------------------------

@pytest.fixture
def big(migrated, clickhouse):
    """A link with more clicks than buffers can hold."""
    migrated.link("code9", 9, owner="ann")
    clickhouse.query(
        "INSERT INTO clicks (epoch, topic, partition, offset, append_time, ts, "
        "original_ts, link_id, code, account, owner, city, event_id) "
        "SELECT 1, 'clicks', 0, "
        f"number, toDateTime64({TO}, 3, 'UTC'), "
        f"toDateTime64({FROM}, 3, 'UTC') + number / 1000, "
        "toDateTime64(0, 3, 'UTC'), 9, 'code9', 'acme', 'ann', repeat('x', 60), "
        "generateUUIDv4() FROM numbers(400000)")
    migrated.report([], 0, (TO + 2 * DAY) * 1000)


@pytest.mark.proof
def test_an_export_is_compressed_for_who_asks(make, world):
    client = Client(make().url)
    client.headers["Accept-Encoding"] = "identity"
    plain = client.get(from_=rfc3339(FROM), to=rfc3339(TO))
    assert "Content-Encoding" not in plain.headers
    for coding, decode in (("gzip", gzip.decompress), ("zstd", zstd.decompress)):
        client.headers["Accept-Encoding"] = coding
        answer = requests.get(
            client.url, params={"from": rfc3339(FROM), "to": rfc3339(TO)},
            headers=client.headers, timeout=60, stream=True)
        assert answer.headers["Content-Encoding"] == coding
        raw = answer.raw.read(decode_content=False)
        assert len(raw) < len(plain.content) / 3
        assert decode(raw) == plain.content
    client.headers["Accept-Encoding"] = "identity;q=0"
    assert client.get().status_code == 406


def open_export(made, key=None, version="1.1", **params):
    at = urllib.parse.urlsplit(made.url)
    query = urllib.parse.urlencode(
        {"from": rfc3339(FROM), "to": rfc3339(TO), **params})
    conn = socket.socket()
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    conn.settimeout(60)
    conn.connect((at.hostname, at.port))
    said = f"Authorization: Bearer {key}\r\n" if key else ""
    conn.sendall(f"GET /v1/export/clicks?{query} HTTP/{version}\r\nHost: a\r\n"
                 f"{said}\r\n".encode())
    return conn


def exported(made):
    return made.metric("shortloop_aggregator_export_rows_total")


def still(value, what):
    """Waits until value() has been constant for a while."""
    last = [None, 0.0]

    def settled():
        now = value()
        if now != last[0]:
            last[:] = [now, time.monotonic()]
        return now if now and time.monotonic() - last[1] > 1 else None
    return eventually(settled, what=what)


@pytest.mark.long
def test_a_reader_that_keeps_up_is_asked_for_more_at_once(make, big, proxy):
    made = make(clickhouse={"url": proxy.url})
    proxy.passed.clear()
    rows, end = Client(made.url).range()
    assert end["complete"] and end["rows"] == len(rows) == 400000
    asked = [int(passed.params["param_max"]) for passed in proxy.passed
             if CLICKS_QUESTION in passed.query]
    assert asked[0] == 8192
    assert max(asked) > 16384


def test_days_of_many_rows_are_asked_for_one_by_one(make, migrated, proxy, clickhouse):
    """The last query of a day finds few rows, and that does not change the next one."""
    migrated.link("code9", 9, owner="ann")
    days, rows = 3, 9000
    clickhouse.query(
        "INSERT INTO clicks (epoch, topic, partition, offset, append_time, ts, "
        "original_ts, link_id, event_id) SELECT 1, 'clicks', 0, number, "
        f"toDateTime64({TO}, 3, 'UTC'), addSeconds(toDateTime64({FROM}, 3, 'UTC'), "
        f"number % {days} * {DAY} + intDiv(number, {days})), "
        f"toDateTime64(0, 3, 'UTC'), 9, generateUUIDv4() FROM numbers({days * rows})")
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    made = make(clickhouse={"url": proxy.url})
    proxy.passed.clear()
    end = Client(made.url).range(FROM, FROM + days * DAY)[1]
    assert end["complete"] and end["rows"] == days * rows
    asked = [passed.params for passed in proxy.passed if CLICKS_QUESTION in passed.query]
    assert {int(p["param_to"]) - int(p["param_from"]) for p in asked} == {DAY * 1000}


@pytest.mark.long
def test_a_slow_reader_is_waited_for(make, big):
    made = make()
    conn = open_export(made)
    assert still(lambda: exported(made), "nothing more is read") < 100000
    received = conn.recv(1 << 20)
    while b"0\r\n\r\n" not in received[-7:]:
        received = received[-7:] + conn.recv(1 << 20)
    assert 400000 <= exported(made) <= 400001
    made.wait_metric(0, "shortloop_aggregator_exports_running")


@pytest.mark.proof
def test_a_client_that_goes_frees_its_slot(make, big):
    made = make(exports_max=1)
    for _ in range(3):
        conn = open_export(made)
        assert b"200 OK" in conn.recv(100)
        assert Client(made.url).get().status_code == 429
        conn.close()
        made.wait_metric(0, "shortloop_aggregator_exports_running")
    assert exported(made) < 400000


@pytest.mark.long
def test_a_link_that_goes_to_another_owner_leaves_its_clicks_with_the_former(
        make, big, migrated):
    made = make(keys=True)
    conn = open_export(made, "ann")
    received = conn.recv(100)
    assert b"200 OK" in received
    ann, bob = Client(made.url, "ann"), Client(made.url, "bob")
    first, end = ann.range(limit=5)
    migrated.link("code9", 9, owner="bob", version=2)
    assert exported(made) < 400000
    while b"0\r\n\r\n" not in received[-7:]:
        received = received[-1000:] + conn.recv(1 << 20)
    line = next(line for line in received.split(b"\n") if line.startswith(b'{"end"'))
    end_of_all = json.loads(line)["end"]
    assert end_of_all["complete"] and end_of_all["rows"] == 400000
    # A new request, or one with a cursor, has what the key held at each click.
    more = ann.range(cursor=end["cursor"], limit=5)[0]
    assert len(more) == 5 and not {row["event_id"] for row in more} & {
        row["event_id"] for row in first}
    assert bob.range(limit=7)[0] == []


@pytest.mark.proof
def test_the_query_of_an_export_whose_client_goes_is_ended(make, big,
                                                           clickhouse):
    clickhouse.query("RENAME TABLE clicks TO quick_clicks")
    clickhouse.query(
        "CREATE VIEW clicks AS SELECT * FROM quick_clicks "
        "WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1, "
        "function_sleep_max_microseconds_per_block = 1000000000")
    made = make()
    conn = open_export(made)
    eventually(lambda: clickhouse.value(RUNNING) == 1, what="it runs")
    conn.close()
    eventually(lambda: clickhouse.value(RUNNING) == 0, what="it is gone")
    made.wait_metric(0, "shortloop_aggregator_exports_running")


@pytest.mark.proof
def test_exports_are_bounded(make, big):
    made = make(keys=True, exports_max=3, key_exports_max=2)
    conns = [open_export(made, "ann") for _ in range(2)]
    for conn in conns:
        assert b"200 OK" in conn.recv(100)
    refused = Client(made.url, "ann").get()
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert "exports" in refused.json()["detail"]
    conns.append(open_export(made, "all"))
    assert b"200 OK" in conns[-1].recv(100)
    assert Client(made.url, "bob").get().status_code == 429
    # Questions are answered all the time.
    answer = requests.get(made.url + "/v1/pipeline", timeout=60,
                          headers={"Authorization": "Bearer all"})
    assert answer.status_code == 200
    for conn in conns:
        conn.close()
    made.wait_metric(0, "shortloop_aggregator_exports_running")
    assert Client(made.url, "bob").get(limit=1).status_code == 200


@pytest.mark.proof
def test_an_error_half_way_is_seen(make, big, clickhouse):
    made = make()
    conns = {version: open_export(made, version=version)
             for version in ("1.1", "1.0")}
    for conn in conns.values():
        assert b"200 OK" in conn.recv(100)
    still(lambda: exported(made), "nothing more is read")
    clickhouse.query("RENAME TABLE clicks TO no_clicks")
    received = b"x"
    whole = b""
    while received:
        received = conns["1.1"].recv(1 << 20)
        whole = whole[-100:] + received
    assert not whole.endswith(b"0\r\n\r\n") and b"Exception" not in whole
    with pytest.raises(ConnectionResetError):
        while conns["1.0"].recv(1 << 20):
            pass
    made.wait_metric(2, "shortloop_aggregator_export_failures_total")
    refused = Client(made.url).get()
    assert refused.status_code in (500, 503)
    assert "Exception" not in refused.text and "clicks" not in refused.text


@pytest.mark.long
def test_head_and_a_stop(make, big):
    made = make(drain_timeout="30s")
    answer = requests.head(made.url + "/v1/export/clicks", timeout=60)
    assert answer.status_code == 200 and not answer.content
    assert requests.post(made.url + "/v1/export/clicks",
                         timeout=60).status_code == 405
    # An aggregator that ends returns a cursor.
    conn = open_export(made)
    assert b"200 OK" in conn.recv(100)
    still(lambda: exported(made), "nothing more is read")
    ended = []
    stop = threading.Thread(target=lambda: ended.append(made.stop()))
    stop.start()
    received, last = b"x", b""
    while received:
        received = conn.recv(1 << 20)
        last = (last + received)[-2000:]
    stop.join()
    assert ended == [0]
    line = next(line for line in last.split(b"\n") if line.startswith(b'{"end"'))
    end = json.loads(line)["end"]
    assert not end["complete"] and 0 < end["rows"] < 400000
    rest, end = Client(make().url).range(cursor=end["cursor"])
    assert end["complete"]
    assert not made.log().count("level=error")


@pytest.mark.long
def test_a_row_that_cannot_be_read_ends_it_where_it_is(make, big, proxy):
    """Lines of one answer are made while the next one is read."""
    answers = []

    def damage(answer):
        head, end, body = answer.partition(b"\r\n\r\n")
        if body.count(b"\n") < 8000:
            return answer
        answers.append(len(body))
        if len(answers) == 2:
            at = body.index(b"\n", len(body) // 2) + 1
            body = body[:at] + b"x" + body[at + 1:]
        return head + end + body
    proxy.say(damage, "question")
    made = make(clickhouse={"url": proxy.url})
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        Client(made.url).range()
    assert len(answers) > 1
    made.wait_metric(1, "shortloop_aggregator_export_failures_total")
    made.wait_metric(0, "shortloop_aggregator_exports_running")
    assert "of the answer is" in made.log() and "not a number" in made.log()
    assert not made.metric("shortloop_aggregator_cancelled_total")
    proxy.calm()
    end = Client(made.url).range()[1]
    assert end["complete"]


@pytest.fixture
def far(migrated):
    """A click of ann's, and for ten years before it one of bob's every forty days."""
    for link in 1, 2:
        migrated.link(f"code{link}", link, **LINKS[link])
    rng = random.Random(5)
    rows = placed([make_click(rng, (FROM - day * DAY) * 1000, 2)
                   for day in range(40, 3650, 40)] + some_rows(5, 1, links=(1,)))
    insert(migrated, rows, append_ms=TO * 1000)
    migrated.report([], 0, (TO + 2 * DAY) * 1000)
    return rows[-1]


@pytest.mark.proof
@pytest.mark.parametrize("by", [
    {"link_id": 1}, pytest.param({"account": "shop", "owner": "ann"}, marks=pytest.mark.long),
    {"format": "csv", "link_id": 1}])
def test_a_stop_before_the_first_row_is_no_end(make, far, proxy, by):
    when = {"from": rfc3339(FROM - 4000 * DAY), "to": rfc3339(TO)}
    made = make(clickhouse={"url": proxy.url}, drain_timeout="60s",
                watermark_every="1m")
    # The first of the queries that find nothing.
    held = proxy.hold("question", words=CLICKS_QUESTION)
    conn = open_export(made, **{**when, **by})
    assert held.here.wait(60)
    stop = threading.Thread(target=made.stop)
    stop.start()
    eventually(lambda: not listens(made), what="the stop to begin")
    held.release()
    received, more = b"", b"x"
    while more:
        more = conn.recv(1 << 20)
        received += more
    stop.join()
    if by.get("format") == "csv":
        # Without a row there is no cursor: the answer must not look complete.
        assert b"2026-" not in received.partition(b"\r\n\r\n")[2]
        assert not received.endswith(b"0\r\n\r\n") or b" 503 " in received[:20]
        return
    line = next(line for line in received.split(b"\n") if line.startswith(b'{"end"'))
    end = json.loads(line)["end"]
    assert not end["complete"] and end["rows"] == 0 and end["cursor"]
    rows, end = Client(make().url).ndjson(**{**when, **by}, cursor=end["cursor"])
    assert without_event(rows) == expected([far])
    assert end["complete"]


def listens(made):
    at = urllib.parse.urlsplit(made.url)
    try:
        socket.create_connection((at.hostname, at.port), 10).close()
        return True
    except ConnectionError:
        return False


# --- the largest ------------------------------------------------------------------

ROWS = 10_000_000


@pytest.fixture
def huge(migrated, clickhouse):
    """An owner's ten million clicks of a thousand links in ten days, and as many of
    other owners."""
    for link in range(1, 1001):
        migrated.link(f"code{link}", link, owner="ann")
    for part in range(10):
        clickhouse.query(
            "INSERT INTO clicks (epoch, topic, partition, offset, append_time, "
            "ts, original_ts, link_id, code, city, country, os_family, "
            "ua_family, account, owner, event_id) SELECT 1, 'clicks', 0, number, "
            f"toDateTime64({TO}, 3, 'UTC'), toDateTime64({FROM} + {part} * 86400, "
            "3, 'UTC') + number * 43 / 1000, toDateTime64(0, 3, 'UTC'), "
            "number % 2000 + 1, 'code' || toString(number % 2000 + 1), 'Berlin', "
            "'DE', 'Android', 'Chrome Mobile', 'acme', "
            "if(number % 2000 < 1000, 'ann', 'bob'), generateUUIDv4() "
            f"FROM numbers({part} * 2000000, 2000000)"
            .replace("number * 43", f"(number - {part} * 2000000) * 43"))
    migrated.report([], 0, (TO + 2 * DAY) * 1000)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_million_rows_in_bounded_memory(make, huge):
    made = make(keys=True)
    start = time.monotonic()
    answer = requests.get(
        made.url + "/v1/export/clicks", stream=True, timeout=3600,
        params={"from": rfc3339(FROM), "to": rfc3339(TO)},
        headers={"Authorization": "Bearer ann"})
    rows, most, last = 0, 0, b""
    for piece in answer.iter_content(1 << 20):
        rows += piece.count(b"\n")
        last = (last + piece)[-1000:]
        most = max(most, status(made.process.pid)["VmRSS"])
    seconds = time.monotonic() - start
    end = json.loads(last.split(b"\n")[-2])["end"]
    print(f"{ROWS / seconds:.0f} rows/s, {most / MIB:.0f} MiB")
    assert rows - 1 == end["rows"] == ROWS and end["complete"]
    assert most < 64 * MIB
