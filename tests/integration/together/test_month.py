"""A month of links that are made, edited, paused, blocked, deleted, restored, renewed by visits,
expired, reclaimed and issued again: every number that is told of it is the one that plain loops
over the record of what was done have.

All is real: Redis, Kafka and ClickHouse, and the five programs. They share a clock, which the
test moves from one moment of the month to the next; all that happens at a moment is done through
the programs. Only the late clicks are events that the test sends to Kafka itself."""
import collections
import json

import pytest

from support.allocator import Api
from support.clicks import (DAILY, DIMENSIONS, counted, groups_of, hours_events, instant,
                            is_click, rfc3339, without_url, without_visitors)
from support.copied_days import copied_days, days_of
from support.keeping import CLICKHOUSE, dropped_days, rows_left
from support.keys import key_line
from support.month import BLOCK_SIZE, DAY, HOUR, SLOT, STRATEGY, Month, month_of
from support.one_clock import *  # noqa: F403, fixtures
from support.program import eventually, quick
from support.rule_files import BOT_LIST, UA_RULES
from support.spaces import USUAL, aliases, hashes, sequence
from test_creations import settled as settled_creations
from test_top import told, top_of

LINKS_SECTION = {**USUAL, "ttl_classes": ["1d", "10d", "never"], "quarantine": "6h",
                 "spaces": [sequence(block_size=BLOCK_SIZE), hashes(), aliases()]}
DOMAINS = {"list": [
    {"name": "main", "hosts": ["sho.rt"], "accounts": ["*"]},
    {"name": "promo", "hosts": ["promo.example"], "accounts": ["*"]}]}
# The clock is ahead of any machine's that runs this. The month is cut by the end of another.
BEGIN = instant("2040-03-12T00:00:00Z")
END = BEGIN + 30 * DAY
KEYS = {"boss": "admin", "acme": "create,read-own account=acme",
        "ann": "create,read account=acme owners=ann", "shop": "create,read account=shop"}
QUOTA = {"acme": 1000, "shop": 900}
BOTS = ("exclude", "include", "only")
PATIENCE = 300


# --- the programs --------------------------------------------------------------------

@pytest.fixture
def settings(workdir, links_config, kafka):
    path = workdir / "api.keys"
    path.write_text("".join(key_line(*key) for key in KEYS.items()) + "".join(
        f"@{account} links={most}/month\n" for account, most in QUOTA.items()))
    topics = {**kafka.collector_topics(), "topic_renewals": kafka.create_topic("renewals")}
    return {"links": links_config, "domains": DOMAINS, "kafka": topics,
            "clicks": {"late_window": "3d"}, "robots": {"list": BOT_LIST},
            "collector": {"batch_age": "50ms", "report_every": "200ms", "ua_rules": UA_RULES,
                          "scan_codes": 0, "scan_not_found": 0, "max_lag": "1h"},
            "allocator": {"keys_file": str(path), "node": 1},
            "redirector": {"threads": 1, "edge": "edge-1", "cache_ttl": "0s", "cache_stale": "1s",
                           "cache_negative_ttl": "0s", "permanent_max_age": "1s",
                           "trusted_proxies": ["127.0.0.1"]},
            # Groups come from settled counts, and not from rows, however few these are.
            "aggregator": {"keys_file": str(path), "settle_every": "1s", "resettle_every": "0s",
                           "owner_rows_max": 0}}


@pytest.fixture
def month(settings, timed, clock, redis, clickhouse, tables, kafka):
    for name in STRATEGY:
        made = timed("allocator", settings, start=False,
                     args=["create-space", "--no-archive", "--space", name])
        assert made.run()[0] == 0, made.log()
    made = Month(clock, redis, clickhouse, kafka, settings["kafka"], seed=1)
    made.collector = timed("collector", settings)
    made.api = Api(timed("allocator", settings))
    made.redirector = timed("redirector", settings)
    made.aggregator = timed("aggregator", settings)
    # Days are dropped once they are sealed, and their rows are deleted as soon as may be.
    made.dropping = lambda: timed("aggregator", {**settings, "aggregator": {
        **settings["aggregator"], "raw_days": 3, "clean_every": "1s", "keep_superseded": "10s",
        "reconcile_every": "1s"}, "clickhouse": {"query_timeout": "5s", **CLICKHOUSE}})
    made.reclaimer = timed("reclaimer", {**settings, "reclaimer": {}}, start=False)
    return made


# --- what a key sees -------------------------------------------------------------------

def sees(key, holder):
    """Returns whether the key sees what has this account and owner."""
    words = dict(word.split("=") for word in KEYS[key].split()[1:])
    return (words.get("account") in (None, holder["account"]) and
            words.get("owners") in (None, holder["owner"]))


class Question:
    """A key's questions, and what the record has for it: .rows that it may count, and .links
    that are its own now."""

    def __init__(self, month, key, start, end):
        self.month, self.key, self.start, self.end = month, key, start, end
        inside = [row for row in month.rows if start * 1000 <= row["ts_ms"] < end * 1000]
        self.rows = [row for row in inside if sees(key, row)]
        self.all = inside
        self.links = [link for link in month.links if sees(key, link.now)]

    def get(self, path, status=200, **params):
        answer = quick.get(self.month.aggregator.url + path, timeout=60, params=params,
                           headers={"Authorization": f"Bearer {self.key}"})
        assert answer.status_code == status, (answer.url, answer.text)
        return answer

    def ask(self, path, **params):
        return self.get(path, **params).json()

    def ask_range(self, path="/v1/clicks", **params):
        return self.ask(path, **{"from": rfc3339(self.start), "to": rfc3339(self.end), **params})

    def of_link(self, link):
        """Returns the rows of a link that the key may count: those of its holders, and the
        visits after the end, of which nobody was the holder."""
        return [row for row in self.all if row["link_id"] == link.id and (
            sees(self.key, row) or row["account"].startswith("\x01"))]


# --- clicks -------------------------------------------------------------------------------

def buckets(rows, start, end, interval, bots):
    """Returns the `data` of an answer in UTC; intervals of whole hours."""
    length = {"hour": HOUR, "day": DAY}[interval]
    inside = collections.defaultdict(list)
    for row in rows:
        inside[(row["ts_ms"] // 1000 - start) // length].append(row)
    return [{"start": rfc3339(start + n * length), **counted(inside[n], bots)}
            for n in range((end - start) // length)]


def check_totals(q):
    for bots, interval in zip(BOTS, ("hour", "day", "day")):
        answer = q.ask_range(bots=bots, interval=interval)
        assert answer["total"] == counted(q.rows, bots), (q.key, bots)
        assert answer["data"] == buckets(q.rows, q.start, q.end, interval, bots), (q.key, bots)


def check_breakdowns(q, subtests, names, bots):
    for at in range(0, len(names), 12):
        some = names[at:at + 12]
        answer = q.ask_range(breakdowns=",".join(some), bots=bots, interval="day", limit=1000)
        for told in answer["breakdowns"]:
            with subtests.test(key=q.key, group_by=told["group_by"]):
                check_groups(q, told, bots)


def check_groups(q, told, bots):
    name = told["group_by"]
    found = {group["value"]: {k: v for k, v in without_visitors(without_url(group)).items()
                              if k != "value"} for group in told["groups"]}
    assert found == groups_of(q.rows, name, bots), (q.key, name, bots)


def check_filters(q):
    for name, value, row_has in (
            ("campaign", "spring", lambda r: r["campaign"] == "spring"),
            ("channel", "-direct", lambda r: r["channel"] != "direct"),
            ("tag", "b,c", lambda r: {"b", "c"} & set(r["tags"])),
            ("domain", "sho.rt", lambda r: r["domain"] == "sho.rt"),
            ("referrer_site", "google.com", lambda r: r["referrer_site"] == "google.com")):
        total = q.ask_range(bots="include", **{name: value})["total"]
        some = [row for row in q.rows if row_has(row)]
        assert total == counted(some, "include"), (q.key, name)


def check_top(q):
    middle = (q.start + q.end) // 2 // DAY * DAY
    for bots in BOTS:
        answer = q.ask_range("/v1/top", bots=bots)
        assert told(answer) == top_of(q.rows, bots, q.start), (q.key, bots)
    answer = q.ask("/v1/top", **{"from": rfc3339(middle), "to": rfc3339(2 * middle - q.start),
                                 "sort": "growth", "bots": "include"})
    some = [row for row in q.rows if row["ts_ms"] < (2 * middle - q.start) * 1000]
    assert told(answer) == top_of(some, "include", middle, q.start), q.key


# --- one link -----------------------------------------------------------------------------

def check_link(q, link, with_rows):
    mine = q.of_link(link)
    answer = q.ask_range(link_id=link.id, interval="day", bots="include",
                         **({"group_by": "outcome"} if with_rows else {}))
    assert answer["total"] == counted(mine, "include"), (q.key, vars(link))
    assert answer["data"] == buckets(mine, q.start, q.end, "day", "include")
    if with_rows:
        assert {g["value"]: g["events"] for g in answer["groups"]} == collections.Counter(
            row["outcome"] for row in mine)
    summary = q.ask("/v1/summary", link_id=link.id)
    people = counted(mine)
    assert {name: summary[name] for name in people} == people, (q.key, vars(link))
    check_life(q, link, summary)
    days = q.ask_range("/v1/visit-statistics", link_id=link.id)["days"]
    assert len(days) == (q.end - q.start) // DAY
    for day in days:
        check_day(day, mine)


def check_day(day, rows):
    start = instant(day["day"] + "T00:00:00Z") * 1000
    some = [row for row in rows if start <= row["ts_ms"] < start + DAY * 1000]
    everybody, people = counted(some, "include"), counted(some)
    if not day["settled"]:
        assert not some, day
        return
    assert {name: day[name] for name in (
        "pv", "uv", "ip", "human_uv", "human_ip", "effective", "ineffective")} == {
        "pv": len(some), "uv": everybody["visitors"], "ip": everybody["ips"],
        "human_uv": people["visitors"], "human_ip": people["ips"],
        "effective": people["humans"], "ineffective": len(some) - people["humans"]}, day


def check_life(q, link, told):
    """Checks what a list, a history or a summary says of the link's life."""
    at = q.month.clock.now()
    assert told["state"] == link.state_at(at), (told, vars(link), at)
    assert told["current"] == (not link.reissued)
    assert (told["account"], told["owner"] or "", told["url"], told["ttl"]) == tuple(
        link.now[name] for name in ("account", "owner", "url", "ttl"))
    if link.state != "deleted":
        check_time(told["expires_at"], link.ends)
    if link.reclaimed_at:
        check_time(told["reclaimed_at"], link.reclaimed_at)
    check_time(told["created_at"], link.made_at)


def check_time(text, expected):
    """A moment lasts less than a slot, and the record has only its beginning."""
    assert (text is None) == (expected is None), (text, expected)
    assert text is None or abs(instant(text) - expected) < SLOT, (text, rfc3339(expected))


def check_history(q, code):
    lives = sorted((link for link in q.links if link.code == code), key=lambda k: -k.generation)
    answer = q.ask(f"/v1/links/{code}/history")
    assert [int(told["link_id"]) for told in answer["links"]] == [link.id for link in lives]
    for told_of, link in zip(answer["links"], lives):
        check_life(q, link, told_of)


# --- lists -------------------------------------------------------------------------------------

def listed(q, **params):
    answer = q.ask("/v1/links", limit=1000, total="true", **params)
    assert answer["total"] == {"links": len(answer["links"]), "exact": True}
    return answer["links"]


def ids(links):
    return [int(link["link_id"]) for link in links]


def check_lists(q):
    at = q.month.clock.now()
    by_id = {link.id: link for link in q.links}
    for told_of in listed(q):
        check_life(q, by_id.pop(int(told_of["link_id"])), told_of)
    assert not by_id, (q.key, list(by_id))
    for state in ("live", "paused", "blocked", "deleted", "expired", "reclaimed"):
        assert sorted(ids(listed(q, state=state))) == sorted(
            link.id for link in q.links if link.state_at(at) == state), (q.key, state)
    for name, value in (("domain", "promo"), ("campaign", "sale"), ("owner", "bob")):
        if name == "owner" and q.key == "boss":
            continue
        assert sorted(ids(listed(q, **{name: value}))) == sorted(
            link.id for link in q.links if link.now[name] == value), (q.key, name)
    assert sorted(ids(listed(q, tag="a"))) == sorted(
        link.id for link in q.links if "a" in link.now["tags"]), q.key


def check_clicks_of_lists(q):
    span = {"from": rfc3339(q.start), "to": rfc3339(q.end)}
    for bots in BOTS:
        found = listed(q, sort="clicks", bots=bots, **span)
        expected = {link.id: counted([r for r in q.of_link(link) if is_click(r)], bots)
                    for link in q.links}
        for link in found:
            assert {n: link[n] for n in ("clicks", "humans", "bots", "prefetches")} == {
                n: expected[int(link["link_id"])][n]
                for n in ("clicks", "humans", "bots", "prefetches")}, (q.key, link)
        # The newest of those without clicks comes first.
        in_order = sorted(q.links, key=lambda link: (
            expected[link.id]["clicks"],
            link.id if expected[link.id]["clicks"] else (link.created, link.id)), reverse=True)
        assert ids(found) == [link.id for link in in_order], (q.key, bots)


# --- creations, quotas, exports ------------------------------------------------------------------

def check_creations(q):
    some = [link.first for link in q.month.links if sees(q.key, link.first)
            and q.start <= link.first["slot"] < q.end]
    for interval, length in ("hour", HOUR), ("day", DAY), ("total", q.end - q.start):
        answer = q.ask_range("/v1/creations", interval=interval)
        starts = collections.Counter((link["slot"] - q.start) // length for link in some)
        assert answer["total"] == {"links": len(some)}, q.key
        assert answer["data"] == [{"start": rfc3339(q.start + n * length), "links": starts[n]}
                                  for n in range((q.end - q.start) // length)], (q.key, interval)
    for name in ("space", "code_length", "ttl", "account", "domain", "strategy", "source",
                 *(("owner",) if q.key != "boss" else ())):
        answer = q.ask_range("/v1/creations", interval="total", group_by=name)
        assert {g["value"]: g["links"] for g in answer["groups"]} == collections.Counter(
            link[name] for link in some), (q.key, name)
    for name, value in ("source", "batch"), ("ttl", "10d"), ("strategy", "alias"):
        answer = q.ask_range("/v1/creations", interval="total", **{name: value})
        assert answer["total"]["links"] == sum(link[name] == value for link in some), (q.key, name)


def check_quotas(month):
    for account, most in QUOTA.items():
        told_of = month.api.call("GET", "/v1/me", account).json()["quota"]["links"]
        assert (told_of["used"], told_of["max"]) == (
            month.quota[account, month_of(month.clock.now())], most), account


def check_export(q):
    text = q.get("/v1/export/clicks", **{"from": rfc3339(q.start), "to": rfc3339(q.end)}).text
    *lines, end = map(json.loads, text.splitlines())
    expected = q.all if q.key == "boss" else [r for link in q.links for r in q.of_link(link)]
    assert end["end"]["complete"] and end["end"]["rows"] == len(expected) == len(lines), q.key
    names = ("code", "domain", "account", "owner", "campaign", "outcome", "verdict", "channel",
             "referrer_host", "ua_family", "language", "utm_source")
    assert collections.Counter(tuple(line[n] for n in names) for line in lines) == \
        collections.Counter(tuple(row[n] for n in names) for row in expected), q.key


# --- when answers are compared -----------------------------------------------------------------

def wait_settled(month):
    """Waits until hours, closed days and hours of creations have all that was stored."""
    eventually(lambda: int(hours_events(month.clickhouse)) == len(month.rows), PATIENCE,
               what=f"{len(month.rows)} events settled")
    eventually(lambda: settled_creations(month.clickhouse) == len(month.links), PATIENCE,
               what=f"{len(month.links)} creations settled")
    today = month.clock.now() // DAY * DAY
    days = days_of(month.rows) - {today}
    for kind in "owner_day", "value_day":
        eventually(lambda k=kind: set(copied_days(month.clickhouse, k)) == days, PATIENCE,
                   what=f"{kind} of each day")


def check_live(month, subtests, keys=KEYS):
    """Compares what needs no settling."""
    for key in keys:
        q = Question(month, key, BEGIN, END)
        for check in check_lists, check_creations:
            with subtests.test(key=key, check=check.__name__):
                check(q)
    check_quotas(month)


def some_links(q, count):
    """Returns links of a random sample, those first that changed hands, of which more can be
    wrong."""
    found = q.month.rng.sample(q.links, len(q.links))
    return sorted(found, key=lambda link: not link.changed_hands)[:count]


def check_settled(month, subtests, keys, sample, with_rows=True):
    """Compares what is settled; `with_rows`: and what needs rows of clicks, which dropped days
    do not have any more."""
    for number, key in enumerate(keys):
        q = Question(month, key, BEGIN, END)
        needs_rows = (check_filters, check_export) if with_rows else ()
        for check in (check_totals, check_top, check_clicks_of_lists, *needs_rows):
            with subtests.test(key=key, check=check.__name__, with_rows=with_rows):
                check(q)
        names = [n for n in (*DIMENSIONS, *DAILY) if (n, key) != ("owner", "boss")]
        check_breakdowns(q, subtests, names, BOTS[number % 3])
        for link in some_links(q, sample):
            with subtests.test(key=key, link=link.id, with_rows=with_rows):
                check_link(q, link, with_rows)
                check_history(q, link.code)


# --- the month -----------------------------------------------------------------------------

def moments(rng, count):
    """Returns times of the month in order. No two of them are at the same slot of a day: no
    link's end is near another moment."""
    slots = rng.sample(range(DAY // SLOT), count)
    return sorted(BEGIN + min(29, n * 30 // count) * DAY + slot * SLOT + 20
                  for n, slot in enumerate(slots))


def live_through(month, count, links, visits):
    for at in moments(month.rng, count):
        month.clock.move(at)
        month.reclaim()
        for _ in range(links):
            month.create()
        month.create_batch(links // 2)
        month.change_some(links)
        month.visit_some(visits)
        month.move_some(links // 3)
        month.wait_stored()
        assert month.clock.now() < at + SLOT - 60, "the machine is too slow for this"
        yield


def live_and_compare(month, subtests, keys, moments, links, visits, sample):
    for n, _ in enumerate(live_through(month, moments, links, visits)):
        if n % 2 == 1:
            month.send_late(5)
        if n % 2 == 1:
            check_live(month, subtests, [keys[n // 2 % len(keys)]])
    month.clock.move(END)
    wait_settled(month)
    check_settled(month, subtests, keys, sample)
    check_live(month, subtests, keys)


@pytest.mark.proof
@pytest.mark.first
@pytest.mark.timeout(900)
def test_each_number_of_a_month_is_that_of_the_record(month, subtests):
    live_and_compare(month, subtests, ["boss", "acme", "ann"], moments=4, links=12, visits=80,
                     sample=4)
    assert {"moved", "late", "renewed", "reclaimed", "blocked", "deleted", "paused"} <= month.done.keys()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_each_number_of_a_busy_month_is_that_of_the_record_also_once_days_are_dropped(
        month, subtests):
    live_and_compare(month, subtests, list(KEYS), moments=24, links=9, visits=60, sample=12)
    assert month.done["issued again"] and month.done["restored"] and month.done["let go"]
    assert month.aggregator.stop() == 0
    # Days are dropped when the last one has been sealed for long enough.
    month.clock.move(END + 5 * DAY)
    month.aggregator = month.dropping()
    eventually(lambda: set(dropped_days(month.clickhouse)) == days_of(month.rows), PATIENCE,
               what="all days to be dropped")
    eventually(lambda: rows_left(month.clickhouse) == 0, PATIENCE, what="all rows to be deleted")
    check_settled(month, subtests, list(KEYS), 12, with_rows=False)
    check_live(month, subtests)
