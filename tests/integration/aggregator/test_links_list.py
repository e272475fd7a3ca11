"""GET /v1/links of the aggregator: filters, order and pages, compared with the same
computed in Python."""
import json
import random
import re
import time

import jsonschema_rs
import pytest
import requests
import yaml

import servers
from support.asking import aggregator, ask  # noqa: F401
from support.clicks import datetime64, instant, make_click, rfc3339
from support.keys import key_line
from support.program import eventually

DAY = 86400
START_MS = 1_790_000_000_000

COUNTS = {"clicks", "humans", "bots", "prefetches"}
OWNERS = ["", "ann", "Ann", "bob's", 'odd "owner"', "back\\slash", "per%cent",
          "Владелец"]
TAGS = ["a", "b", "under_score", "per%cent", "it's", 'quote"', "back\\slash",
        "tab\\t", "ключ", "a,b", "[a]", "]) OR 1=1 --"]
CAMPAIGNS = ["", "autumn", "Autumn 2026"]
WORDS = ["Shop", "news", "100%25", "a_b", "axb", "Ärger", "КАТАЛОГ", "path"]


# --- links -------------------------------------------------------------------

def make_version(chance, link_id, code, created_ms, version, **fields):
    return {
        "code": code, "link_id": link_id, "version": version, "space": "s7",
        "generation": 1, "change": "changed" if version > 1 else "created",
        "state": chance.choices(["live", "deleted", "blocked", "paused"],
                                [75, 15, 5, 5])[0],
        "ttl_class": "10d", "created_at": datetime64(created_ms),
        "changed_at": datetime64(created_ms + version * 1000),
        "expires_at": 0,
        "url": f"https://{chance.choice(WORDS)}.example/"
               f"{chance.choice(WORDS)}?n={chance.randrange(50)}",
        "redirect_status": 302, "account": "shop" if link_id % 5 == 0 else "acme",
        "owner": chance.choice(OWNERS),
        "campaign": chance.choice(CAMPAIGNS),
        "tags": chance.sample(TAGS, chance.choice([0, 1, 1, 3])),
        "domain": chance.choice(["", "main", "shop"]),
        "description": chance.choice(["", "", "Sale of SHOP", "50% off"]),
        "created_ms": created_ms, **fields}


class Archive:
    """Rows of `links` that no merge joins, and their expected state in Python."""

    def __init__(self, clickhouse):
        self.clickhouse = clickhouse
        self.rows = []
        clickhouse.query("ALTER TABLE links MODIFY SETTING "
                         "max_bytes_to_merge_at_max_space_in_pool = 1")

    def insert(self, rows):
        self.rows += rows
        self.clickhouse.query(
            "INSERT INTO links FORMAT JSONEachRow", "\n".join(
                json.dumps({k: v for k, v in row.items()
                            if k != "created_ms"}) for row in rows).encode())

    def newest(self):
        """A link whose code belongs to another by now is reclaimed."""
        links, present = {}, {}
        for row in self.rows:
            if (row["link_id"] not in links
                    or links[row["link_id"]]["version"] < row["version"]):
                links[row["link_id"]] = row
            present[row["code"]] = max(present.get(row["code"], 0), row["link_id"])
        return {n: {**row, "state": row["state"] if n == present[row["code"]] else "reclaimed"}
                for n, row in links.items()}

    def listed(self, **filters):
        """Returns the link_ids of a list by creation."""
        links = [link for link in self.newest().values()
                 if passes(link, **filters)]
        links.sort(key=lambda link: (link["created_ms"], link["link_id"]),
                   reverse=True)
        return [str(link["link_id"]) for link in links]


def passes(link, q=None, tag=None, url=None, code=None, created_from=None,
           created_to=None, **equal):
    texts = [link[field] for field in ("url", "description", "code", "owner",
                                       "campaign")] + link["tags"]
    if q is not None and not any(q.lower() in text.lower() for text in texts):
        return False
    return ((code is None or link["code"].startswith(code)) and (tag is None or tag in link["tags"])
            and (url is None or link["url"] == url)
            and (created_from is None
                 or link["created_ms"] >= created_from * 1000)
            and (created_to is None or link["created_ms"] < created_to * 1000)
            and all(link[name] == value for name, value in equal.items()))


@pytest.fixture
def archive(migrated):
    return Archive(migrated.clickhouse)


def fill(archive, seed, count=300):
    """Makes links of up to four versions in as many inserts; several were created in
    one millisecond, and every tenth code has a second generation."""
    chance = random.Random(seed)
    links, inserts = [], [[], [], [], []]
    for n in range(1, count + 1):
        created = START_MS + chance.randrange(count // 2) * 1000
        links.append((n, f"Code{n}", created, 1))
        if n % 10 == 0:
            links.append((n + (1 << 42), f"Code{n}", created + 10_000_000, 2))
    for link_id, code, created, generation in links:
        for version in range(1, chance.choice([1, 1, 2, 4]) + 1):
            inserts[version - 1].append(make_version(
                chance, link_id, code, created, version,
                generation=generation))
    chance.shuffle(inserts)  # the newest version need not come last
    for rows in inserts:
        archive.insert(rows)
    return chance


def parameters(filters):
    return {name: rfc3339(value) if name.startswith("created_") else value
            for name, value in filters.items()}


def pages(made, limit, between=None, **filters):
    """Returns the links of all pages; `between` is called before each but the first."""
    links, cursor = [], {}
    for _ in range(500):
        answer = ask(made, "/v1/links", limit=limit, **parameters(filters),
                     **cursor)
        assert len(answer["links"]) <= limit
        links += answer["links"]
        if answer["next"] is None:
            return links
        cursor = {"cursor": answer["next"]}
        if between:
            between()
    raise AssertionError("pages without an end")


def ids(links):
    return [link["link_id"] for link in links]


def refused(made, says, **params):
    answer = requests.get(made.url + "/v1/links", params=params, timeout=60)
    assert answer.status_code == 400, answer.text
    assert answer.json()["detail"].startswith(says), answer.text


# --- fields of a link ----------------------------------------------------------

def test_a_link_is_answered_as_the_archive_has_it(aggregator, archive):
    archive.insert([{
        "code": "Ab3", "link_id": (1 << 63) + 5, "version": 3, "space": "s7",
        "generation": 4, "change": "changed", "state": "blocked",
        "ttl_class": "10d", "created_at": datetime64(START_MS + 7),
        "changed_at": datetime64(START_MS + 1000),
        "expires_at": datetime64(START_MS + DAY * 1000),
        "url": "https://example.com/\t\\x", "redirect_status": 307,
        "owner": "ann", "campaign": "", "tags": ["a\\b", 'c"', ""],
        "domain": "main", "description": "two\nlines", "account": "acme",
        "creator": "key", "editor": "other", "max_visits": 9,
        "pass_query": "override", "pass_path": True,
        "targets": {"ios": "https://ios.example/"}, "not_before": 0}])
    answer = ask(aggregator(), "/v1/links")
    at = START_MS // 1000
    assert answer["links"] == [{
        "code": "Ab3", "short_url": "http://localhost:8080/Ab3",
        "link_id": str((1 << 63) + 5), "space": "s7",
        "url": "https://example.com/\t\\x", "ttl": "10d", "state": "blocked",
        "generation": 4, "version": 3, "current": True,
        "created_at": rfc3339(at)[:-1] + ".007Z",
        "changed_at": rfc3339(at + 1), "expires_at": rfc3339(at + DAY),
        "reclaimed_at": None, "visits": None,
        "not_before": None, "owner": "ann", "account": "acme",
        "campaign": None, "domain": "main", "description": "two\nlines",
        "creator": "key", "editor": "other", "max_visits": 9,
        "redirect_status": 307, "pass_query": "override", "pass_path": True,
        "tags": ["a\\b", 'c"', ""],
        "targets": {"ios": "https://ios.example/"}}]
    assert answer["sort"] == "created" and answer["next"] is None


def test_answers_are_as_they_are_described(aggregator, archive):
    chance = fill(archive, 16, 30)
    described = yaml.safe_load(
        (servers.ROOT / "schemas/openapi/aggregator.yaml").read_text())
    schemas = described["components"]["schemas"]
    made = aggregator()
    for filters in ({}, {"sort": "clicks"}, {"sort": "ends", "order": "asc"},
                    {"clicks": "true"}, some_filters(chance)):
        answer = ask(made, "/v1/links", limit=5, **parameters(filters))
        jsonschema_rs.validate({
            "$ref": "#/components/schemas/Links",
            "components": described["components"]}, answer)
        assert set(answer) <= set(schemas["Links"]["properties"])
        for link in answer["links"]:
            assert set(link) | COUNTS == set(schemas["Link"]["properties"])


def test_bytes_that_are_no_text_are_answered_as_text(aggregator, archive):
    archive.clickhouse.query(
        "INSERT INTO links (code, link_id, url, owner, tags) VALUES "
        "('c', 1, 'https://\\xff\\xc3', '\\xfe', ['\\xff', 'a'])")
    link, = ask(aggregator(), "/v1/links")["links"]
    assert link["url"] == "https://�"
    assert link["owner"] == "�" and link["tags"] == ["�", "a"]


@pytest.mark.proof
def test_the_newest_link_of_a_code_is_its_present_one(aggregator, archive):
    chance = fill(archive, 1, 60)
    archive.insert([make_version(chance, 999, "Code10", START_MS, 1)])
    newest = {}
    for link in archive.newest().values():
        newest[link["code"]] = max(newest.get(link["code"], 0),
                                   link["link_id"])
    made = aggregator()
    for filters in {}, {"account": "acme", "owner": "ann"}, {"created_to": START_MS // 1000 + 9}:
        links = pages(made, 7, **filters)
        assert links and all(
            link["current"] == (newest[link["code"]] == int(link["link_id"]))
            for link in links)


# --- filters -------------------------------------------------------------------

def some_filters(chance):
    drawn = {
        "q": lambda: chance.choice(WORDS + [
            "sHOP.", "ärger", "каталог", "de1", "50% O", "%", "_", "a_b",
            "\\", "?n=1", "E", "https://news.example/", "no such words",
            "bob's", "AUTUMN 2", "владелец", "КЛЮЧ", "tab\t"[:3], "OR 1=1"]),
        "code": lambda: chance.choice(["Code", "Code1", "Code10", "code", "C", "odd"]),
        "tag": lambda: chance.choice(TAGS + ["A"]),
        "owner": lambda: chance.choice(OWNERS + ["nobody"]),
        "campaign": lambda: chance.choice(CAMPAIGNS),
        "domain": lambda: chance.choice(["", "main", "shop"]),
        "state": lambda: chance.choice(["live", "deleted", "blocked", "paused"]),
        "created_from": lambda: START_MS // 1000 + chance.randrange(100),
        "created_to": lambda: START_MS // 1000 + 100 + chance.randrange(9999),
    }
    names = chance.sample(sorted(drawn), chance.choice([0, 1, 1, 2, 3]))
    of = {"account": chance.choice(["acme", "shop"])} if "owner" in names else {}
    return {**of, **{name: drawn[name]() for name in names}}


@pytest.mark.proof
@pytest.mark.parametrize("seed, count", [
    (1, 15), pytest.param(2, 200, marks=pytest.mark.long)])
def test_filters_pass_what_they_pass_in_python(aggregator, archive, seed,
                                               count):
    chance = fill(archive, seed)
    made = aggregator()
    for _ in range(count):
        filters = some_filters(chance)
        links = pages(made, chance.choice([20, 100, 1000]), **filters)
        assert ids(links) == archive.listed(**filters), filters
    url = chance.choice(archive.rows)["url"]
    assert ids(pages(made, 9, url=url)) == archive.listed(url=url)
    assert ids(pages(made, 9, url=url.upper())) == []


@pytest.mark.proof
def test_what_only_older_versions_pass_is_not_listed(aggregator, archive):
    """All but a few match, so pages are short, and lead to these few."""
    chance = random.Random(3)
    links = [(n, f"c{n}", START_MS + n * 1000) for n in range(1, 301)]
    archive.insert([make_version(chance, *link, 1, tags=["old"])
                    for link in links])
    archive.insert([make_version(chance, *link, 2, tags=["new"])
                    for link in links if link[0] % 60])
    made = aggregator()
    assert ids(pages(made, 2, tag="old")) == ["300", "240", "180", "120", "60"]
    assert len(pages(made, 50, tag="new")) == 295


@pytest.mark.long
def test_old_links_are_found_behind_very_many_new_ones(aggregator, archive):
    """There are more links than one search reads in the order of creation; some match,
    fewer than one page searches once it has its first."""
    chance = random.Random(4)
    newer_ms = 1_810_000_000_000
    archive.insert([make_version(chance, n, f"c{n}", created_ms + n * 1000, 1,
                                 account="acme", owner="ann", tags=["rare"], state="live",
                                 url=f"https://needle.example/{n}")
                    for created_ms, numbers in ((START_MS, range(1, 31)),
                                                (newer_ms, range(31, 51)))
                    for n in numbers])
    archive.insert([make_version(chance, 7, "c7", START_MS + 7000, 2,
                                 account="acme", owner="bob", tags=[], url="https://b.example",
                                 description="")])
    archive.clickhouse.query(
        "INSERT INTO links (code, link_id, version, created_at, url) SELECT "
        "toString(number), number + 1000, 1, toDateTime64('2027-01-01', 3, "
        "'UTC') + number, 'https://hay.example' FROM numbers(500100)")
    made = aggregator()
    expected = [str(n) for n in range(50, 0, -1) if n != 7]
    old = {"created_to": START_MS // 1000 + 100}
    for filters in ({"account": "acme", "owner": "ann"}, {"tag": "rare"}, {"q": "NEEDLE"},
                    {"q": "needle", "account": "acme", "owner": "ann"},
                    {"account": "acme", "owner": "ann", "tag": "rare", "state": "live"},
                    {"account": "acme", "owner": "ann", **old},
                    {"state": "live", "tag": "rare", **old}):
        wanted = expected[20:] if "created_to" in filters else expected
        for limit in (1, 8, 100):
            assert ids(pages(made, limit, **filters)) == wanted, filters
    for n in (9, 40):
        assert ids(pages(made, 8, url=f"https://needle.example/{n}")) == [str(n)]
    assert ids(pages(made, 8, account="acme", owner="bob")) == ["7"]


def test_a_url_is_found_as_people_write_it(aggregator, archive):
    chance = random.Random(5)
    archive.insert([make_version(chance, n, f"u{n}", START_MS + n, 1, url=url,
                                 description="", state="live")
                    for n, url in enumerate([
                        "https://a.example/%E8%B7%AF%E5%BE%84?a=%7C",
                        "https://xn--mnchen-3ya.example/100%25",
                        "https://b.example/路径"], 1)])
    made = aggregator()
    for filters, found in [({"q": "路径"}, ["3", "1"]), ({"q": "a=|"}, ["1"]),
                           ({"q": "%e8%b7%AF"}, ["1"]), ({"q": "100%"}, ["2"]),
                           ({"url": "https://a.example/路径?a=|"}, ["1"]),
                           ({"url": "https://München.example/100%"}, ["2"]),
                           ({"url": "https://b.example/路径"}, ["3"])]:
        assert ids(pages(made, 9, **filters)) == found, filters


ODD = ["' OR 1=1 --", "\\' OR 1=1 --", "%", "%%", "_", "\\", "\\\\", "\\%",
       "%_\\", "{tag:String}", "\\N", "\\0", "') UNION ALL SELECT 1 --", "/*",
       "&tag=a", "q=1&limit=1", "toString(1)", "'; DROP TABLE links; --",
       "NULL", "١", "🙂"]


@pytest.mark.proof
@pytest.mark.parametrize("texts", [
    ODD[::4], pytest.param(ODD, marks=pytest.mark.long)], ids=["some", "all"])
def test_no_text_is_more_than_text(aggregator, archive, texts):
    chance = random.Random(5)
    fields = [row for text in texts for row in (
        dict(account="acme", owner=text), dict(campaign=text), dict(tags=["x", text]),
        dict(domain=text), dict(url="https://example.com/" + text),
        dict(description=f"a{text}b"), {})]
    archive.insert([make_version(chance, n + 1, f"c{n}", START_MS + n, 1, **row)
                    for n, row in enumerate(fields)])
    made = aggregator()
    for text in texts:
        for filters in ({"account": "acme", "owner": text}, {"campaign": text}, {"tag": text},
                        {"domain": text}, {"q": text}, {"q": f"a{text}b"},
                        {"url": "https://example.com/" + text}, {"url": text}):
            answer = ask(made, "/v1/links", **filters)
            assert ids(answer["links"]) == \
                archive.listed(**filters)[:100], filters
        refused(made, "state: expected live, paused, blocked", state=text)
        refused(made, "sort: expected", sort=text)
        refused(made, "limit: expected", limit=text)
        refused(made, "cursor: ", cursor=text)


def test_what_makes_no_sense_is_refused_by_name(aggregator, archive):
    made = aggregator()
    refused(made, "word: no such parameter", word="a")
    refused(made, "owner: given more than once", owner=["a", "b"])
    refused(made, "q: expected 1 to", q="")
    refused(made, "q: expected 1 to", q="a" * 3000)
    refused(made, "q: expected UTF-8", q="a\nb")
    refused(made, "tag: expected UTF-8", tag=b"\xff")
    refused(made, "created_from: ", created_from="yesterday")
    refused(made, "created_from: expected a time before",
            created_from="2026-11-02", created_to="2026-11-02")
    refused(made, "limit: expected a number from 1 to 1000", limit=1001)
    assert ask(made, "/v1/links") == ask(made, "/v1/links", limit=100,
                                         sort="created")


def test_clickhouses_words_are_not_answered(aggregator, archive):
    made = aggregator()
    archive.clickhouse.query("DROP TABLE links")
    answer = requests.get(made.url + "/v1/links", params={"q": "x"}, timeout=60)
    # A retry would be useless.
    assert answer.status_code == 500 and "Retry-After" not in answer.headers
    assert answer.json()["detail"] == ("ClickHouse is away or refused this; "
                                       "the log of the program says why")


# --- pages ---------------------------------------------------------------------

@pytest.mark.long
def test_pages_hold_still_while_links_are_made_and_edited(aggregator, archive):
    """Each existing link is on one page, whatever happens meanwhile."""
    chance = fill(archive, 6, 200)
    archive.insert([dict(row, version=9, owner="kept")
                    for row in archive.newest().values()
                    if row["link_id"] % 3])
    before, kept = archive.listed(), archive.listed(account="acme", owner="kept")
    new = iter(range(10_000, 20_000))

    def change():
        rows = [make_version(chance, n, f"new{n}", START_MS + 10 ** 8 + n, 1,
                             account="acme", owner="kept")
                for n in (next(new), next(new))]
        for row in chance.sample(list(archive.newest().values()), 5):
            rows.append(dict(row, version=row["version"] + 1,
                             url="https://edited.example/"))
        archive.insert(rows)

    made = aggregator()
    assert ids(pages(made, 17, change)) == before
    assert [i for i in ids(pages(made, 17, change, account="acme", owner="kept"))
            if int(i) < 10_000 or int(i) >= 1 << 42] == kept


@pytest.mark.long
def test_merges_between_pages_change_nothing(aggregator, archive):
    fill(archive, 7, 150)
    archive.clickhouse.query("ALTER TABLE links RESET SETTING "
                             "max_bytes_to_merge_at_max_space_in_pool")
    made = aggregator()
    expected = archive.listed(state="live")
    assert ids(pages(made, 10, lambda: archive.clickhouse.query(
        "OPTIMIZE TABLE links FINAL"), state="live")) == expected
    assert ids(pages(made, 10, state="live")) == expected


def test_the_last_page_says_so(aggregator, archive):
    chance = random.Random(8)
    archive.insert([make_version(chance, n, f"c{n}", START_MS + n, 1)
                    for n in range(1, 6)])
    made = aggregator()
    first = ask(made, "/v1/links", limit=3)
    assert ids(first["links"]) == ["5", "4", "3"]
    last = ask(made, "/v1/links", limit=3, cursor=first["next"])
    assert ids(last["links"]) == ["2", "1"] and last["next"] is None
    assert ask(made, "/v1/links", limit=5)["next"] is None
    assert first["revision"] != last["revision"]


def test_a_cursor_is_of_its_question_only(aggregator, archive):
    fill(archive, 9, 60)
    made = aggregator()
    asked = {"account": "acme", "owner": "ann", "created_to": "2030-01-01"}
    answer = ask(made, "/v1/links", limit=1, **asked)
    cursor = answer["next"]
    assert ask(made, "/v1/links", limit=2, cursor=cursor, **asked)["links"]
    for other in ({}, {"account": "acme", "owner": "ann"}, {**asked, "owner": "Ann"},
                  {**asked, "tag": "a"}, {**asked, "created_to": "2030-01-02"},
                  {**asked, "sort": "clicks"}, {**asked, "sort": "ends"},
                  {**asked, "order": "asc"}, {**asked, "clicks": "true"}):
        refused(made, "cursor: damaged, or of an answer to other",
                cursor=cursor, **other)


def test_a_damaged_cursor_is_refused(aggregator, archive):
    fill(archive, 10, 20)
    made = aggregator()
    cursor = ask(made, "/v1/links", limit=1)["next"]
    for at, digit in enumerate(cursor):
        other = "0" if digit != "0" else "1"
        refused(made, "cursor: ", cursor=cursor[:at] + other + cursor[at + 1:])
    for text in ("", cursor[:-1], cursor + "0", "x" * len(cursor)):
        refused(made, "cursor: expected one that an answer gave", cursor=text)
    refused(made, "cursor: damaged", cursor=cursor * 2)


# --- by clicks -----------------------------------------------------------------

@pytest.fixture
def clicked(archive, migrated):
    """clicked({link_id: clicks}, days_ago) inserts clicks by people, robots and others
    on that day; `counts` has those that count."""
    chance = random.Random(11)
    midnight = int(time.time()) // DAY * DAY

    def make(clicks, days_ago):
        rows = []
        for link_id, count in clicks.items():
            rows += [make_click(chance, 0, link_id, outcome="redirected",
                                verdict="human") for _ in range(count)]
            rows += [make_click(chance, 0, link_id, outcome="redirected",
                                verdict=verdict)
                     for verdict in ("bot", "prefetch", "monitor")]
            rows.append(make_click(chance, 0, link_id, outcome="not_found",
                                   verdict="human"))
        for row in rows:
            row["ts_ms"] = (midnight - days_ago * DAY) * 1000 + \
                chance.randrange(DAY * 1000)
        migrated.insert(sorted(rows, key=lambda row: row["ts_ms"]))
    return make


def days_settled(archive, rows):
    """Waits until the published days have this many events."""
    eventually(lambda: archive.clickhouse.value(
        "SELECT sum(pv) FROM link_days WHERE part IN ('sole', 'whole') AND "
        "(toDateTime(day, 'UTC'), attempt) IN (SELECT unit, max(attempt) FROM settled "
        "WHERE kind = 'link_day' GROUP BY unit)") == rows, what=f"{rows} events in settled days")


def by_clicks(archive, counts, **filters):
    newest = archive.newest()
    listed = [int(i) for i in archive.listed(**filters)]
    return [(str(i), counts.get(i, 0)) for i in sorted(
        listed, reverse=True,
        key=lambda i: (counts[i], 0, i) if counts.get(i)
        else (0, newest[i]["created_ms"], i))]


def clicks_of(links):
    return [(link["link_id"], link["clicks"]) for link in links]


@pytest.mark.proof
@pytest.mark.parametrize("limits, few", [
    ((7, 1000), 10), pytest.param((1, 7, 1000), 3, marks=pytest.mark.long)])
def test_by_clicks_are_those_of_people_on_the_days_counted(
        aggregator, archive, clicked, limits, few):
    fill(archive, 12, 40)
    chance = random.Random(13)
    counts = {}
    total = 0
    for days_ago in (2, 3, 29, 32):
        day = {n: chance.randrange(12) for n in chance.sample(range(1, 50), 25)}
        clicked(day, days_ago)
        total += sum(day.values()) + 4 * len(day)
        for link_id, count in day.items():
            if days_ago < 30:
                counts[link_id] = counts.get(link_id, 0) + count
    made = aggregator()
    days_settled(archive, total)

    expected = by_clicks(archive, counts)
    for limit in limits:
        assert clicks_of(pages(made, limit, sort="clicks")) == expected
    for filters in ({"account": "acme", "owner": "ann"}, {"state": "live"}, {"q": "shop"},
                    {"account": "acme", "owner": "nobody"}):
        assert clicks_of(pages(made, few, sort="clicks", **filters)) == \
            by_clicks(archive, counts, **filters)
    days = ask(made, "/v1/links", sort="clicks")["counted"]
    assert instant(days["to"]) % DAY == 0
    assert instant(days["to"]) <= time.time()
    assert instant(days["to"]) - instant(days["from"]) == 30 * DAY
    assert days["waiting"] == []


def counted_days(made, **params):
    """Returns the first of the days counted and their end, in days before today."""
    midnight = int(time.time()) // DAY * DAY
    days = ask(made, "/v1/links", sort="clicks", **params)["counted"]
    return tuple((midnight - instant(days[name])) // DAY
                 for name in ("from", "provisional_from"))


@pytest.mark.long
def test_a_day_that_is_not_settled_is_counted_by_its_hours(
        aggregator, archive, clicked, migrated):
    """All pages count the same days and hours as the first, even if the day is settled
    meanwhile."""
    fill(archive, 17, 10)
    old, fresh = {1: 7, 2: 5, 3: 3}, {3: 9, 4: 2}
    clicked(old, 3)
    clicked(fresh, 1)
    migrated.report([], 0, int(time.time() * 1000))
    both = {link: old.get(link, 0) + fresh.get(link, 0) for link in {*old, *fresh}}
    made = aggregator(day_grace="48h", watermark_every="100ms")
    days_settled(archive, sum(old.values()) + 4 * len(old))
    eventually(lambda: counted_days(made) == (31, 1), what="the other days to be counted")
    first = eventually(lambda: (page := ask(made, "/v1/links", sort="clicks", limit=2)) and
                       clicks_of(page["links"]) == [("3", 12), ("1", 7)] and page,
                       what="the hours to be counted")
    assert not first["counted"]["complete"]
    assert made.stop() == 0

    made = aggregator(watermark_every="100ms", day_grace="0s")
    days_settled(archive, sum({**old, 4: 0}.values()) + 4 * len(old) +
                 sum(fresh.values()) + 4 * len(fresh))
    second = ask(made, "/v1/links", sort="clicks", limit=1000, cursor=first["next"])
    assert second["counted"] == first["counted"]
    assert clicks_of(first["links"] + second["links"]) == by_clicks(archive, both)
    eventually(lambda: counted_days(made) == (30, 0), what="yesterday to be counted")
    assert clicks_of(pages(made, 3, sort="clicks")) == by_clicks(archive, both)


@pytest.mark.proof
def test_today_is_counted_by_its_settled_hours(aggregator, archive, migrated, workdir):
    """A key counts the clicks that its account had, of a link that changed hands."""
    chance = random.Random(20)
    now = int(time.time())
    hour = now // 3600 * 3600
    if hour % DAY == 0:
        pytest.skip("no hour of today is over")
    archive.insert([make_version(chance, n, f"c{n}", START_MS + n, 1, account="acme",
                                 owner="ann", state="live") for n in (1, 2)])
    rows = [make_click(chance, at * 1000, link, outcome="redirected", verdict=verdict,
                       account=account)
            for count, at, link, verdict, account in (
                (3, hour - 3600, 1, "human", "acme"), (2, hour - 1, 2, "human", "acme"),
                (4, hour - 60, 2, "human", "former"), (9, hour - 60, 1, "bot", "acme"),
                (5, now, 1, "human", "acme")) for _ in range(count)]
    migrated.insert(rows, append_ms=now * 1000)
    migrated.report([], 0, now * 1000)
    path = workdir / "api.keys"
    path.write_text(key_line("boss", "read accounts=*") +
                    key_line("acme", "read account=acme"))
    made = aggregator(watermark_every="100ms", keys_file=str(path))

    def listed(key):
        answer = requests.get(made.url + "/v1/links", timeout=60,
                              params={"sort": "clicks"},
                              headers={"Authorization": f"Bearer {key}"}).json()
        days = answer["counted"]
        return clicks_of(answer["links"]), instant(days["to"]), days["complete"]
    eventually(lambda: listed("boss") == ([("2", 6), ("1", 3)], hour, False),
               what="the hours to be counted")
    assert listed("acme") == ([("1", 3), ("2", 2)], hour, False)
    assert made.stop() == 0

    # More single clicks than that are not counted, since each page would read them.
    made = aggregator(watermark_every="100ms", keys_file=str(path), raw_rows_max=10)
    eventually(lambda: listed("boss") == ([("2", 6), ("1", 3)], hour, False),
               what="the hours to be counted")
    links, until, _ = listed("acme")
    assert (links, until % DAY) == ([("2", 0), ("1", 0)], 0)


# --- a range -------------------------------------------------------------------------

def in_order(found, ascending):
    """Returns the ids of these (link_id, place); those of one place by link_id."""
    return [str(i) for _, i in sorted(((place, i) for i, place in found.items()),
                                      reverse=not ascending)]


def counted_by_hand(rows, start, end, bots, account=None):
    counts = {}
    for row in rows:
        if not start * 1000 <= row["ts_ms"] < end * 1000 or row["outcome"] != "redirected":
            continue
        if account and row["account"] != account:
            continue
        kind = {"human": "humans", "prefetch": "prefetches"}.get(row["verdict"], "bots")
        of = counts.setdefault(row["link_id"], dict.fromkeys(COUNTS, 0))
        of[kind] += 1
        of["clicks"] += {"exclude": kind == "humans", "include": True,
                         "only": kind != "humans"}[bots]
    return counts


@pytest.fixture
def ranged(archive, migrated, workdir):
    """Clicks of three days and of today's hours that are over, of links of two accounts,
    one of which changed hands; returns the rows, and the file of keys."""
    chance = random.Random(31)
    now = int(time.time())
    midnight = now // DAY * DAY
    archive.insert([make_version(chance, n, f"c{n}", START_MS + n // 2 * 1000, 1,
                                 account=["acme", "shop"][n % 5 == 0], owner="ann", state="live")
                    for n in range(1, 21)])
    rows = [make_click(chance, chance.randrange((midnight - 3 * DAY) * 1000,
                                                now // 3600 * 3600 * 1000),
                       int(20 * chance.random() ** 2) + 1) for _ in range(900)]
    for row in rows:
        row["account"] = ["acme", "shop"][row["link_id"] % 5 == 0 or (
            row["link_id"] == 3 and row["ts_ms"] < (midnight - DAY) * 1000)]
        row["owner"] = "ann"
    migrated.insert(sorted(rows, key=lambda row: row["ts_ms"]), append_ms=now * 1000)
    migrated.report([], 0, now * 1000)
    path = workdir / "api.keys"
    path.write_text(key_line("boss", "read accounts=*") +
                    key_line("acme", "read account=acme") +
                    key_line("ann", "read account=acme owners=ann"))
    return rows, str(path), midnight


def listed_by(made, key, limit, **params):
    """Returns the links of all pages, and the first page."""
    links, cursor, first = [], {}, None
    while True:
        answer = requests.get(made.url + "/v1/links", timeout=60, params={
            "limit": limit, **params, **cursor}, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.text
        answer = answer.json()
        first = first or answer
        links += answer["links"]
        if not answer["next"]:
            return links, first
        cursor = {"cursor": answer["next"]}


@pytest.mark.parametrize("times", [
    pytest.param(1, marks=pytest.mark.proof), pytest.param(3, marks=pytest.mark.long)])
def test_a_range_is_counted_as_by_hand_in_each_order(aggregator, archive, ranged, times):
    rows, path, midnight = ranged
    made = aggregator(watermark_every="100ms", keys_file=path, raw_rows_max=100000)
    whole = sum(row["ts_ms"] < midnight * 1000 for row in rows)
    days_settled(archive, whole)
    end = int(time.time()) // 3600 * 3600
    eventually(lambda: instant(listed_by(made, "boss", 1000, sort="clicks")[1]["counted"]["to"])
               >= end, what="today's hours")
    created = {n: link["created_ms"] for n, link in archive.newest().items()}
    ranges = ((midnight - 2 * DAY, midnight, {}),
              (midnight - 2 * DAY + 900, midnight - DAY + 4500, {}),
              (midnight - DAY + 900, midnight - DAY + 3600 * 9, {}),
              # midnight there, which is written as a date
              (midnight - 3 * DAY - 5 * 3600 - 1800, midnight - DAY - 5 * 3600 - 1800,
               {"tz": "Asia/Kolkata", "from": rfc3339(midnight - 3 * DAY)[:10],
                "to": rfc3339(midnight - DAY)[:10]}),
              (midnight - 2 * DAY + 3600, end, {}))
    keys = {"boss": None, "acme": "acme", "ann": "acme"}
    for i, (start, until, extra) in enumerate(ranges):
        for k in range(i, i + times):
            key, bots = list(keys)[k % 3], ["exclude", "include", "only"][(i + k) % 3]
            account = keys[key]
            asked = {"from": rfc3339(start), "to": rfc3339(until), "bots": bots, **extra}
            seen = {n for n in created if not account or n % 5}
            nothing = dict.fromkeys(COUNTS, 0)
            counts = {n: counted_by_hand(rows, start, until, bots, account).get(n, nothing)
                      for n in seen}
            links, first = listed_by(made, key, 1000, clicks="true", **asked)
            assert ids(links) == in_order({n: created[n] for n in seen}, False)
            assert {int(link["link_id"]): {name: link[name] for name in COUNTS}
                    for link in links} == counts, (key, asked)
            said = first["counted"]
            assert (instant(said["from"]), instant(said["to"])) == (start, until)
            assert said["complete"] and said["waiting"] == []
            assert said["lower_bound"] == (not account and i > 0)
            # By clicks those without any follow by creation.
            places = {n: (of["clicks"], 0 if of["clicks"] else created[n])
                      for n, of in counts.items()}
            for order in ("desc", "asc"):
                links, _ = listed_by(made, key, 1000 if i else 7, sort="clicks", order=order,
                                     **asked)
                assert ids(links) == in_order(places, order == "asc"), (key, asked)
    assert ids(listed_by(made, "acme", 5, order="asc")[0]) == in_order(
        {n: created[n] for n in created if n % 5}, True)


def test_parts_of_a_day_are_few_rows_or_refused(aggregator, archive, ranged):
    _, path, midnight = ranged
    made = aggregator(watermark_every="100ms", keys_file=path, raw_rows_max=10)

    def refuses(start):
        answer = requests.get(made.url + "/v1/links", timeout=60, params={
            "clicks": "true", "from": rfc3339(start)}, headers={"Authorization": "Bearer acme"})
        return answer.json()["detail"] if answer.status_code == 400 else None
    eventually(lambda: refuses(midnight - 2 * DAY + 900), what="hours to be counted")
    assert refuses(midnight - 2 * DAY + 900).startswith("from, to: single clicks")
    for params, says in (({}, "from: expected with clicks=true"),
                         ({"clicks": "true", "to": rfc3339(midnight - 2 * DAY)}, "from: expected a")):
        answer = requests.get(made.url + "/v1/links", timeout=60, params={
            "from": rfc3339(midnight), **params}, headers={"Authorization": "Bearer acme"})
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith(says), answer.text


# --- by end --------------------------------------------------------------------------

@pytest.mark.proof
def test_the_end_of_a_link_is_that_of_its_last_visit(aggregator, archive):
    chance = random.Random(41)
    now = int(time.time()) * 1000
    ends, rows = {}, []
    for n in range(1, 61):
        for version in range(1, chance.choice([2, 2, 3])):
            ends[n] = chance.choice([0, now + chance.choice([-1, 1]) * 1000 * chance.randrange(900, 920)])
            rows.append(make_version(chance, n, f"e{n}", START_MS + n, version, state="live",
                                     expires_at=datetime64(ends[n]) if ends[n] else 0))
    renewed = []
    for row in rows:
        n = row["link_id"]
        if ends[n] and chance.random() < 0.5:
            at = now + chance.choice([-1, 1]) * 1000 * chance.randrange(900, 940)
            renewed.append({"link_id": n, "version": row["version"], "ends_at": datetime64(at)})
            if row["version"] == max(r["version"] for r in rows if r["link_id"] == n):
                ends[n] = max(ends[n], at)
    archive.insert(rows)
    archive.clickhouse.query("INSERT INTO link_ends FORMAT JSONEachRow",
                             "\n".join(map(json.dumps, renewed)).encode())
    made = aggregator()
    newest = archive.newest()
    for filters, limit in (({}, 15), ({"account": "acme"}, 1000), ({"tag": "a"}, 1000),
                           ({"account": "acme", "owner": "ann"}, 1)):
        listed = {n: (ends[n] or 1 << 62) for n in ends if passes(newest[n], **filters)}
        for order in ("desc", "asc"):
            links = pages(made, limit, sort="ends", order=order, **filters)
            assert ids(links) == in_order(listed, order == "asc"), (filters, order)
            assert [link["expires_at"] and instant(link["expires_at"]) for link in links] == [
                ends[int(link["link_id"])] // 1000 or None for link in links]
            states = {link["link_id"]: link["state"] for link in links}
            for state in ("live", "expired"):
                assert ids(pages(made, 1000, sort="ends", order=order, state=state,
                                 **filters)) == [i for i in ids(links) if states[i] == state]


@pytest.mark.proof
def test_days_that_were_dropped_are_not_said_to_be_counted(
        aggregator, archive, clicked):
    midnight = int(time.time()) // DAY * DAY
    fill(archive, 18, 10)
    clicked({1: 7}, 1)
    archive.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt) VALUES "
        f"('kept_from', {midnight - 10 * DAY}, 1)")
    # Yesterday is settled at once, also just after midnight.
    made = aggregator(watermark_every="100ms", day_grace="0s")
    days_settled(archive, 7 + 4)
    eventually(lambda: counted_days(made) == (10, 0), what="yesterday to be counted")


@pytest.mark.proof
def test_days_that_wait_among_those_counted_are_named(aggregator, archive, clicked):
    midnight = int(time.time()) // DAY * DAY
    fill(archive, 19, 10)
    clicked({1: 7}, 5)
    clicked({2: 4}, 3)
    made = aggregator()
    days_settled(archive, 7 + 4 + 2 * 4)
    assert made.stop() == 0
    archive.clickhouse.query(
        "ALTER TABLE settled DELETE WHERE kind = 'link_day' AND "
        f"unit = toDateTime({midnight - 5 * DAY}, 'UTC') SETTINGS mutations_sync = 2")
    made = aggregator(day_grace="7d")
    answer = ask(made, "/v1/links", sort="clicks", limit=1)
    assert answer["counted"]["waiting"] == [rfc3339(midnight - 5 * DAY)[:10]]
    assert clicks_of(answer["links"]) == [("2", 4)]


@pytest.mark.proof
def test_a_day_before_those_counted_does_not_make_them_incomplete(
        aggregator, archive, clicked):
    midnight = int(time.time()) // DAY * DAY
    fill(archive, 21, 10)
    clicked({1: 7}, 5)
    clicked({2: 4}, 40)
    archive.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt, complete_until) VALUES "
        f"('pass', toDateTime({midnight}, 'UTC'), 1, fromUnixTimestamp({midnight}))")
    made = aggregator()
    days_settled(archive, 7 + 4 + 2 * 4)
    clicked({2: 1}, 40)  # late clicks, whose day waits for its turn
    counted = ask(made, "/v1/links", sort="clicks")["counted"]
    assert instant(counted["to"]) == midnight
    assert (counted["complete"], counted["waiting"]) == (True, [])


def declare_projections_anew(archive):
    """Does what a migration does: existing parts do not have the projections yet."""
    def parts_with(name):
        return archive.clickhouse.value(
            "SELECT count() FROM system.projection_parts WHERE active AND "
            "database = currentDatabase() AND table = 'links' AND "
            f"name = '{name}'")

    made = re.findall(r"PROJECTION (\w+)\s+(\([^()]*\))",
                      archive.clickhouse.value("SHOW CREATE TABLE links"))
    assert len(made) == 3
    for name, text in made:
        assert parts_with(name) > 0
        archive.clickhouse.query(f"ALTER TABLE links DROP PROJECTION {name} "
                                 "SETTINGS mutations_sync = 2")
        archive.clickhouse.query(
            f"ALTER TABLE links ADD PROJECTION {name} {text}")
        assert parts_with(name) == 0


@pytest.mark.long
def test_parts_that_have_no_projection_yet_are_listed_alike(
        aggregator, archive, clicked):
    chance = fill(archive, 16, 100)
    declare_projections_anew(archive)
    archive.insert([make_version(chance, link_id, row["code"],
                                 row["created_ms"], 9,
                                 generation=row["generation"])
                    for link_id, row in archive.newest().items()
                    if chance.random() < 0.2])
    counts = {n: n for n in range(1, 21)}
    clicked(counts, 2)
    made = aggregator()
    days_settled(archive, sum(counts.values()) + 4 * len(counts))

    for filters in ({}, {"account": "acme", "owner": "ann"}, {"account": "acme", "owner": "ann", "state": "live"},
                    {"account": "acme", "owner": "ann", "tag": "a"}, {"tag": "a"}, {"q": "shop"}):
        assert ids(pages(made, 7, **filters)) == \
            archive.listed(**filters), filters
        assert clicks_of(pages(made, 7, sort="clicks", **filters)) == \
            by_clicks(archive, counts, **filters), filters


@pytest.mark.long
def test_a_page_by_clicks_goes_on_when_a_day_is_settled_again(
        aggregator, archive, clicked):
    """Links with constant counts are on one page each; one that gains clicks may be on
    two or on none."""
    fill(archive, 14, 40)
    counts = {n: n for n in range(1, 21)}
    clicked(counts, 2)
    made = aggregator(resettle_every="0s")
    days_settled(archive, sum(counts.values()) + 4 * len(counts))
    done = []

    def settle_again():
        if not done:
            done.append(True)
            clicked({5: 50, 38: 3}, 2)
            days_settled(archive, sum(counts.values()) + 4 * len(counts)
                         + 53 + 8)

    links = [i for i, _ in clicks_of(pages(made, 6, settle_again,
                                           sort="clicks"))]
    expected = [i for i, _ in by_clicks(archive, counts)]
    assert [i for i in links if i not in ("5", "38")] == \
        [i for i in expected if i not in ("5", "38")]


def test_clicks_of_links_that_the_archive_lacks_are_passed_over(
        aggregator, archive, clicked):
    """Their events may come later than their clicks."""
    chance = random.Random(15)
    archive.insert([make_version(chance, 1, "c1", START_MS, 1)])
    counts = {n: 5 for n in range(100, 120)}
    clicked({**counts, 1: 2}, 3)
    made = aggregator()
    days_settled(archive, 102 + 4 * 21)
    assert clicks_of(pages(made, 2, sort="clicks")) == [("1", 2)]


@pytest.mark.long
def test_a_list_that_takes_too_much_memory_says_so(aggregator, archive):
    day = int(time.time()) // DAY - 2
    archive.clickhouse.query(
        "INSERT INTO link_days (link_id, day, attempt, effective) SELECT "
        f"sipHash64(number), toDate({day}), 1, 1 FROM numbers(30000000)")
    archive.clickhouse.query(
        "INSERT INTO settled (kind, unit, attempt, rows) SELECT 'link_day', "
        f"toDateTime(toDate({day}), 'UTC'), 1, 30000000")
    made = aggregator(settle_every="1h")
    answer = requests.get(made.url + "/v1/links", params={"sort": "clicks"},
                          timeout=120)
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("ClickHouse has not enough memory")
    assert ask(made, "/v1/links")["links"] == []


# --- the number of links, codes, and forms of URLs -----------------------------------

def total_of(made, **params):
    return ask(made, "/v1/links", total="true", limit=1, **params)["total"]


@pytest.mark.proof
def test_the_total_is_that_of_all_pages(aggregator, archive):
    chance = fill(archive, 5)
    made = aggregator()
    for _ in range(12):
        filters = some_filters(chance)
        assert total_of(made, **parameters(filters)) == {
            "links": len(archive.listed(**filters)), "exact": True}, filters
    assert "total" not in ask(made, "/v1/links")
    assert "total" not in ask(made, "/v1/links", total="false")
    refused(made, "total: expected true or false", total="yes")


def test_a_total_is_exact_up_to_a_bound(aggregator, migrated):
    migrated.clickhouse.query(
        "INSERT INTO links (code, link_id, version, owner, created_at) SELECT "
        "concat('c', toString(number)), number + 1, 1, if(number < 10000, 'ann', 'bob'), "
        "toDateTime64(1790000000 + number, 3) FROM numbers(10001)")
    made = aggregator()
    assert total_of(made, account="", owner="ann") == {"links": 10000, "exact": True}
    assert total_of(made) == {"links": 10000, "exact": False}


def test_codes_are_found_by_what_they_begin_with(aggregator, archive):
    chance = random.Random(3)
    archive.insert([make_version(chance, n, code, START_MS + n, 1)
                    for n, code in enumerate(["aB3", "aB", "ab3", "xaB3", "a_B"], 1)])
    made = aggregator()
    for code, found in (("aB", ["2", "1"]), ("aB3", ["1"]), ("a", ["5", "3", "2", "1"]),
                        ("a_", ["5"]), ("B", [])):
        assert ids(pages(made, 2, code=code)) == found, code
    for wrong in ("a%", "a.b", ""):
        refused(made, "code: expected", code=wrong)


def test_a_url_is_found_in_every_form_that_the_allocator_takes(aggregator, migrated):
    migrated.link("one", 1, url="https://xn--bcher-kva.example/%E8%B7%AF?q=%7C")
    migrated.link("two", 2, url="https://elsewhere.example:8443/A")
    migrated.link("odd", 3, url="HTTP://As.It.Was/ x")
    made = aggregator()
    for url, found in (("HTTPS://B\u00fcCHER.example./\u8def?q=|", ["1"]),
                       ("https://xn--bcher-kva.example:/%E8%B7%AF?q=%7C", ["1"]),
                       ("https://ELSEWHERE.example:8443/A", ["2"]),
                       ("https://elsewhere.example:8443/a", []),
                       ("https://elsewhere.example/A", []),
                       ("HTTP://As.It.Was/ x", ["3"]), ("no url", [])):
        assert ids(pages(made, 9, url=url)) == found, url
