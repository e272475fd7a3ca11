"""Filters and pairs of dimensions, for one link, for all links, and for an owner's."""
import collections
import csv
import io
import random

import pytest
import requests

from support.asking import aggregator, ask_range  # noqa: F401
from support.clicks import (DAILY, DIMENSIONS, counted, digest_bytes, instant, make_click,
                            rfc3339, url_digest, values_of, without_url)
from support.keys import key_line

FROM, TO = instant("2026-10-24T00:00:00Z"), instant("2026-10-26T00:00:00Z")
COMMAS = "Washington, D.C."
# The URLs of make_click.
A, B = "https://a.example/", "https://b.example/?x=1"
ODD = "-a\\b'c\td"


@pytest.fixture
def rows(migrated):
    """Clicks of three links, and some without a link."""
    rng = random.Random(31)

    def fields():
        return {"region": rng.choice(["DE-BE", "US-NY", ""]),
                "city": rng.choice([COMMAS, "Berlin", ODD, ""]),
                "continent": rng.choice(["EU", "NA"]),
                "asn": rng.choice([0, 64496, 4294967295]),
                "channel": rng.choice(["direct", "social", "search"]),
                "device_brand": rng.choice(["Apple", "Generic"]),
                "os_family": rng.choice(["iOS", "Android"]),
                "os_version": rng.choice(["17.4", ""]),
                "utm_source": rng.choice(["", "news", "größe"]),
                "utm_term": rng.choice(["", "shoes"]), **more()}

    # These have their own random numbers, so that the values of the others stay the
    # same.
    others = random.Random(32)

    def more():
        return {"device_model": others.choice(["iPhone", "Pixel 9", ""]),
                "ua_version": others.choice(["120", "121.0", ""]),
                "verdict_reason": others.choice(["", "bot list", ODD]),
                "utm_medium": others.choice(["", "mail", "cpc"]),
                "utm_campaign": others.choice(["", "autumn"]),
                "utm_content": others.choice(["", "a", COMMAS])}
    clicks = [make_click(rng, rng.randrange(FROM * 1000, TO * 1000),
                         rng.choice([0, 1, 2, 3]), **fields())
              for _ in range(2000)]
    for number, row in enumerate(clicks):
        row["owner"] = row["owner"] if row["link_id"] else ""
        if row["link_id"] and number % 3 == 0:
            row["account"] = "shop"
    clicks.sort(key=lambda row: row["ts_ms"])
    migrated.insert(clicks)
    for link in 1, 2, 3:
        migrated.link(f"code{link}", link, owner="ann")
    return clicks


def about(made, **params):
    return ask_range(made, FROM, TO, interval="day", **params)


FILTERS = [
    ({"country": "US,BR"}, lambda r: r["country"] in ("US", "BR")),
    ({"channel": "-direct"}, lambda r: r["channel"] != "direct"),
    ({"channel": "-direct,social"}, lambda r: r["channel"] == "search"),
    ({"country": "", "device_class": "phone"},
     lambda r: not r["country"] and r["device_class"] == "phone"),
    ({"city": COMMAS.replace(",", "\\,") + ",Berlin"},
     lambda r: r["city"] in (COMMAS, "Berlin")),
    ({"city": "\\" + ODD.replace("\\", "\\\\")}, lambda r: r["city"] == ODD),
    ({"city": "-" + ODD.replace("\\", "\\\\")}, lambda r: r["city"] != ODD),
    ({"tag": "b"}, lambda r: "b" in r["tags"]),
    ({"tag": "a,b"}, lambda r: r["tags"]),
    ({"tag": "-b"}, lambda r: "b" not in r["tags"]),
    ({"asn": "64496"}, lambda r: r["asn"] == 64496),
    ({"asn": ""}, lambda r: not r["asn"]),
    ({"os_version": "iOS 17.4,Android"},
     lambda r: (r["os_family"], r["os_version"]) in (
         ("iOS", "17.4"), ("Android", ""))),
    ({"utm_source": "größe", "utm_term": "shoes", "owner": "bob", "account": "acme"},
     lambda r: (r["utm_source"], r["utm_term"], r["owner"], r["account"]) == (
         "größe", "shoes", "bob", "acme")),
    ({"country": "XX"}, lambda r: False),
    ({"url": "HTTPS://A.example./"}, lambda r: r["url"] == A),
    ({"url": "-" + A}, lambda r: r["url"] != A),
    ({"url": f"{url_digest(A)},{B}"}, lambda r: r["url"]),
    ({"url": "", "channel": "direct"}, lambda r: not r["url"] and r["channel"] == "direct"),
    ({"referrer_site": "site.example"}, lambda r: r["referrer_site"] == "site.example"),
    ({"outcome": "not_found", "bots": "include"},
     lambda r: r["outcome"] == "not_found"),
    # These are all clicks, by people or not.
    ({"verdict": "bot,preview"}, lambda r: r["verdict"] in ("bot", "preview")),
]


@pytest.mark.proof
@pytest.mark.parametrize("of", [{}, {"link_id": "1"}])
def test_what_is_filtered_is_what_is_counted_by_hand(aggregator, rows, of):
    made = aggregator()
    mine = [r for r in rows if not of or r["link_id"] == 1]
    for params, chosen in FILTERS:
        bots = "include" if "verdict" in params else params.get(
            "bots", "exclude")
        answer = about(made, **of, **params)
        assert answer["total"] == counted(
            [r for r in mine if chosen(r)], bots), params
        assert sum(day["events"] for day in answer["data"]) == \
            answer["total"]["events"]
    only = about(made, **of, country="US", bots="only")["total"]
    assert only == counted([r for r in mine if r["country"] == "US"], "only")


PAIRS = [("country", "device_class"), ("region", "asn"), ("account", "owner"), ("account", "continent"),
         ("url", "referrer_site"),
         ("device_brand", "os_version"), ("utm_source", "verdict")]


@pytest.mark.proof
@pytest.mark.parametrize("of", [{}, {"link_id": "1"}])
def test_each_dimension_of_rows_is_counted_by_hand(aggregator, rows, of):
    made = aggregator()
    named = requests.get(made.url + "/openapi.json", timeout=60).json()[
        "components"]["schemas"]["Dimension"]["enum"]
    assert set(DAILY) == set(named) - set(DIMENSIONS) - {"owner"}
    mine = [r for r in rows if not of or r["link_id"] == 1]
    for number, name in enumerate(DAILY):
        bots = ("exclude", "include", "only")[number % 3]
        expected = collections.defaultdict(list)
        for row in mine:
            expected[values_of(row, name)[0]].append(row)
        answer = about(made, **of, group_by=name, bots=bots)
        assert {g.pop("value"): without_url(g) for g in answer["groups"]} == {
            value: counted(group, bots) for value, group in expected.items()}, name


def test_groups_of_urls_have_their_text(aggregator, migrated, rows):
    """By any link: its own URL, or that of a target.  An edit leaves the text of the URL
    before to other links."""
    made = aggregator()
    asked = {"group_by": "url", "bots": "include"}

    def texts(**more):
        return {g["value"]: g["long_url"] for g in about(made, **asked, **more)["groups"]}
    assert texts() == {"": None, url_digest(A): None, url_digest(B): None}
    migrated.link("code8", 8, url=A, owner="zoe", account="shop")
    migrated.link("code9", 9, targets={"ios": B}, url_digests=[
        digest_bytes(url) for url in ("https://example.com/", B)])
    assert texts() == {"": None, url_digest(A): A, url_digest(B): B}
    assert texts(link_id="1", country="US")[url_digest(A)] == A
    pairs = about(made, group_by="country,url", url=A)["groups"]
    assert {(g["values"][1], g["long_url"]) for g in pairs} == {(url_digest(A), A)}
    head, *table = csv.reader(io.StringIO(requests.get(
        made.url + "/v1/clicks", params={**asked, "from": rfc3339(FROM), "to": rfc3339(TO),
                                         "format": "csv"}, timeout=60).text))
    assert head[:2] == ["url", "long_url"]
    assert {row[0]: row[1] for row in table} == {"": "", url_digest(A): A, url_digest(B): B}


def test_what_is_no_url_is_refused(aggregator):
    made = aggregator()
    for path in "/v1/clicks", "/v1/top", "/v1/export/clicks":
        answer = requests.get(made.url + path, params={"url": "a.example"}, timeout=60)
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("url: expected a URL")


def test_top_of_a_url_is_its_links(aggregator, rows):
    made = aggregator()
    answer = requests.get(made.url + "/v1/top", params={
        "from": rfc3339(FROM), "to": rfc3339(TO), "url": A}, timeout=60).json()
    expected = collections.Counter(str(r["link_id"]) for r in rows if r["url"] == A
                                   and r["link_id"] and counted([r])["clicks"])
    assert {link["link_id"]: link["clicks"] for link in answer["links"]} == expected


@pytest.mark.proof
@pytest.mark.parametrize("of", [{}, {"code": "code2"}])
def test_pairs_are_those_counted_by_hand(aggregator, rows, of):
    made = aggregator()
    mine = [r for r in rows if not of or r["link_id"] == 2]
    for pair in PAIRS:
        answer = about(made, **of, group_by=",".join(pair), tag="a")
        expected = collections.defaultdict(list)
        for row in mine:
            if "a" in row["tags"]:
                expected[tuple(values_of(row, d)[0] for d in pair)].append(row)
        assert {tuple(g.pop("values")): without_url(g) for g in answer["groups"]} == {
            values: counted(group) for values, group in expected.items()}
        assert answer["group_by"] == ",".join(pair)
        assert "rest" not in answer
    few = about(made, **of, group_by="country,city", limit=3)
    assert sum(g["clicks"] for g in few["groups"]) + few["rest"]["clicks"] == \
        few["total"]["clicks"]
    # A click can have several tags, so their sums exceed the total: there is no rest.
    tags = about(made, **of, group_by="country,tag", limit=1)
    assert "rest" not in tags
    first = tags["groups"][0]
    assert first["clicks"] == counted([
        r for r in mine if r["country"] == first["values"][0] and
        first["values"][1] in r["tags"]])["clicks"]


def test_a_pair_in_csv_has_a_column_each(aggregator, rows):
    made = aggregator()
    params = {"from": rfc3339(FROM), "to": rfc3339(TO),
              "group_by": "country,city"}
    text = requests.get(made.url + "/v1/clicks", timeout=60,
                        params={**params, "format": "csv"}).text
    lines = [{"values": [line.pop("country"), line.pop("city")], **line}
             for line in csv.DictReader(io.StringIO(text, newline=""))]
    groups = requests.get(made.url + "/v1/clicks", params=params,
                          timeout=60).json()["groups"]
    formulas = {"'" + ODD: ODD}
    for line in lines:
        line["values"][1] = formulas.get(line["values"][1], line["values"][1])
    assert lines == [{**{k: v if k == "values" else str(v) for k, v in group.items()},
                      "unique_error": "0.0029"} for group in groups]


def test_an_owners_key_has_the_clicks_that_were_its_owners(
        aggregator, rows, workdir):
    path = workdir / "api.keys"
    path.write_text(key_line("ann", "read account=acme owners=ann") +
                    key_line("all", "read accounts=*") +
                    key_line("both", "read account=acme owners=,ann,bob") +
                    key_line("none", "read account=acme owners=carol") +
                    key_line("acme", "read-own account=acme") +
                    key_line("shop", "read account=shop"))
    made = aggregator(keys_file=str(path))

    def ask_as(key, **params):
        return requests.get(
            made.url + "/v1/clicks", timeout=60,
            headers={"Authorization": f"Bearer {key}"},
            params={"from": rfc3339(FROM), "to": rfc3339(TO),
                    "interval": "month", **params})

    acme = [r for r in rows if r["account"] == "acme"]
    mine = [r for r in acme if r["owner"] == "ann"]
    # All links are ann's now; some were bob's when they were clicked.
    answer = ask_as("ann").json()
    assert answer["total"] == counted(mine)
    assert ask_as("ann", country="DE").json()["total"] == counted(
        [r for r in mine if r["country"] == "DE"])
    groups = ask_as("ann", group_by="owner", bots="include").json()["groups"]
    assert [(g["value"], g["events"]) for g in groups] == [("ann", len(mine))]
    for sneaky in ({"owner": "bob"}, {"owner": "-ann"}):
        assert ask_as("ann", **sneaky).json()["total"]["events"] == 0
    assert ask_as("none").json()["total"]["events"] == 0
    for key, account in ("both", "acme"), ("acme", "acme"), ("shop", "shop"):
        theirs = [r for r in rows if r["account"] == account]
        assert ask_as(key).json()["total"] == counted(theirs)
        assert ask_as(key, country="DE").json()["total"] == counted(
            [r for r in theirs if r["country"] == "DE"])
        groups = ask_as(key, group_by="account,owner", bots="include").json()["groups"]
        assert {tuple(g["values"]): g["events"] for g in groups} == collections.Counter(
            (account, r["owner"]) for r in theirs)
    assert ask_as("all", account="acme", owner="ann").json()["total"] == counted(mine)
    assert ask_as("all", account="-shop", country="DE").json()["total"] == counted(
        [r for r in rows if r["account"] != "shop" and r["country"] == "DE"])
    assert ask_as("all", owner="ann").status_code == 400


def test_how_much_is_looked_at_is_bounded(aggregator, rows):
    made = aggregator(raw_rows_max=1000)
    params = {"from": rfc3339(FROM), "to": rfc3339(TO)}
    for asked in ({"country": "US"}, {"group_by": "region"},
                  {"group_by": "country,city"}):
        answer = requests.get(made.url + "/v1/clicks", timeout=60,
                              params={**params, **asked})
        assert answer.status_code == 400, answer.text
        assert "more than 1000 (setting raw_rows_max)" in \
            answer.json()["detail"]
    assert about(made, link_id="1", country="US")["total"]["events"] > 0
    assert about(made, group_by="country")["groups"] is not None


def test_how_much_is_looked_at_of_one_link_is_bounded(aggregator, rows):
    here = sum(row["link_id"] == 1 for row in rows)
    made = aggregator(raw_rows_max=here - 1)
    params = {"from": rfc3339(FROM), "to": rfc3339(TO), "link_id": "1"}
    for asked in ({"country": "US"}, {"group_by": "country"},
                  {"group_by": "country,city"}):
        answer = requests.get(made.url + "/v1/clicks", timeout=60,
                              params={**params, **asked})
        assert answer.status_code == 400, answer.text
        assert answer.json()["detail"].endswith(
            f"more than {here - 1} (setting raw_rows_max): ask for a shorter "
            "range, or without filters and groups")
        assert ask_range(made, FROM, TO - 86400, link_id="1", **asked)
    # The same for days that are not sealed, which are rows as well.
    assert about(made, link_id="1")["total"]["events"] == here


def test_that_a_link_has_too_much_is_found_out_without_reading_it(aggregator, rows,
                                                                  clickhouse):
    """Reading it would take minutes."""
    clickhouse.query("RENAME TABLE clicks TO few_clicks")
    clickhouse.query("CREATE VIEW clicks AS SELECT * EXCEPT (number) FROM few_clicks "
                     "CROSS JOIN numbers(6000000) AS n")
    made = aggregator(raw_rows_max=100)
    answer = requests.get(made.url + "/v1/clicks", timeout=120, params={
        "from": rfc3339(FROM), "to": rfc3339(TO), "link_id": "1", "country": "US"})
    assert answer.status_code == 400, answer.text
    assert "more than 100 (setting raw_rows_max)" in answer.json()["detail"]


SENSELESS = [
    ("colour=red", "colour: no such parameter; known here: code, link_id, from, "
     "to, tz, interval, group_by, limit, bots, format, "),
    ("link=1", "link: no such parameter"),
    ("total=", "total: no such parameter"),
    ("country=US&country=DE", "country: given more than once"),
    ("city=a%5C", "city: expected something after the backslash"),
    ("city=a%0Ab", "city: expected values of one line"),
    ("city=" + "x" * 256, "city: expected values of up to 255 bytes"),
    ("city=" + ",".join("x" * 101), "city: expected up to 100 values"),
    ("verdict=robot", "verdict: expected human, bot, prefetch"),
    ("verdict=bot&bots=only", "bots, verdict: give one of them"),
    ("group_by=country,country", "group_by: expected two different dimensions"),
    ("group_by=country,city,region", "group_by: expected at most 2 dimensions"),
    ("group_by=country,", "group_by: expected one or two of country, "),
    ("group_by=total", "group_by: expected one or two of country, ")]


def test_what_makes_no_sense_is_refused(told, subtests):
    for query, says in SENSELESS:
        with subtests.test(query=query):
            answer = requests.get(f"{told.url}/v1/clicks?{query}", timeout=60)
            assert answer.status_code == 400
            assert answer.json()["detail"].startswith(says)


@pytest.fixture
def told(tables, redis, program):
    return program("aggregator")
