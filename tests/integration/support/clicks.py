"""Rows of `clicks` and `ingest_progress`, inserted in the collector's way, and the same
clicks counted in Python."""
import bisect
import collections
import datetime
import hashlib
import importlib.machinery
import importlib.util
import json
import random
import re
import time
import uuid
import zoneinfo

import servers

UTC = datetime.timezone.utc
CLICK_COLUMNS = servers.ROOT / "schemas/click_columns.inc"
SLOT = 900
# The tool that writes the lists of dimensions reads the table for tests, too.
LISTS = importlib.util.module_from_spec(importlib.util.spec_from_loader(
    "list_dimensions", importlib.machinery.SourceFileLoader(
        "list_dimensions", str(servers.ROOT / "tools/list-dimensions"))))
LISTS.__spec__.loader.exec_module(LISTS)


def listed_dimensions(*kinds):
    """Returns the dimensions of these kinds in aggregator/dimension.c, but `total`."""
    return tuple(LISTS.names_of(LISTS.read_tables(servers.ROOT)["clicks"], *kinds))


# All settled dimensions; those with states of visitors come first.
VISITED = listed_dimensions("WHOLE", "VISITORS")
DIMENSIONS = (*VISITED, *listed_dimensions("FEW", "BUSIEST", "MANY"))
WITH_ADDRESSES = listed_dimensions("WHOLE")
# Dimensions of whole days, and of rows.
DAILY = listed_dimensions("DAILY")


def left_columns(whose):
    """Returns what forgetting leaves of the columns that are OF_VISITOR or OF_LINK, as
    ClickHouse says it: the texts of schemas/click_columns.inc, or the type's default."""
    found = {}
    for kind, name, column_type, left in re.findall(
            r"^([A-Z]+)\((\w+), (.*?), (KEPT|(?:OF_[A-Z]+\()?\"\w*\"\)?), ",
            CLICK_COLUMNS.read_text(), re.M):
        of = "OF_VISITOR" if kind in ("PLACE", "AGENT") else left.partition("(")[0]
        if of == whose:
            found[name] = _left(column_type, left.split('"')[1])
    return found


def _left(column_type, text):
    if column_type.startswith(('"UInt', '"Float')):
        return 0
    if column_type.startswith('"Array'):
        return []
    if column_type.startswith('"Map'):
        return {}
    return {'"IPv6"': "::", '"FixedString(20)"': "\0" * 20,
            '"FixedString(16)"': "\0" * 16}.get(column_type, text)


def instant(text):
    """Returns the seconds since 1970 of an RFC 3339 time."""
    return int(datetime.datetime.fromisoformat(
        text.replace("Z", "+00:00")).timestamp())


def rfc3339(seconds):
    """Returns an RFC 3339 time, with milliseconds if there are any."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    ms = int(seconds * 1000) % 1000
    return f"{whole}.{ms:03}Z" if ms else f"{whole}Z"


def datetime64(ms):
    """Returns the time in the format of a DateTime64(3)."""
    at = datetime.datetime.fromtimestamp(ms // 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{ms % 1000:03}"


def make_click(rng, at_ms, link_id, **fields):
    """Returns one row of `clicks`; fields that are not given are random."""
    visitor = rng.randrange(60)
    row = {
        "ts_ms": at_ms, "link_id": link_id, "code": f"code{link_id}",
        "outcome": rng.choices(["redirected", "not_found", "head"],
                               [90, 5, 5])[0],
        "verdict": rng.choices(["human", "bot", "prefetch", "preview"],
                               [70, 20, 5, 5])[0],
        "country": rng.choice(["DE", "US", "IN", "BR", ""]),
        "device_class": rng.choice(["phone", "desktop", "tablet"]),
        "ua_family": rng.choice(["Chrome", "Firefox", 'odd "name", \t\\']),
        "owner": rng.choice(["ann", "bob"]),
        "tags": rng.choice([[], ["a"], ["a", "b"]]),
        "unique_identity": hashlib.sha1(b"%d" % visitor).hexdigest()[:20],
    }
    # These have their own random numbers, so that a test's seed still gives the same
    # other values.
    row.update(_more(random.Random(f"{at_ms} {link_id} {visitor}")))
    row["account"] = "acme" if link_id else ""
    row.update(fields)
    return row


def _more(rng):
    """Makes all values different, so that mixing up two dimensions, or addresses and
    visitors, gives wrong counts."""
    address = rng.randrange(45)
    return {
        "ip": f"::ffff:10.0.{address // 8}.{address}",
        "city": rng.choice(["Berlin", "São Paulo", "O'Fallon \\ x", ""]),
        "os_family": rng.choice(["iOS", "Android", "Windows"]),
        "language": rng.choice(["de", "en", "pt-BR", ""]),
        "referrer_host": rng.choice(["news.example", "mail.example", ""]),
        "domain": rng.choice(["s.example", "go.example"]),
        "edge": rng.choice(["fra1", "gru1", "bom1"]),
        "campaign": rng.choice(["spring", 'a "b",c', ""]),
        "channel": rng.choice(["direct", "social", "search"]),
        "continent": rng.choice(["EU", "NA", ""]),
        "region": rng.choice(["DE-BE", "US-NY", ""]),
        "asn": rng.choice([0, 64496, 4294967295]),
        "device_brand": rng.choice(["Apple", "Generic"]),
        "device_model": rng.choice(["iPhone", "Pixel 9", ""]),
        "os_version": rng.choice(["17.4", ""]),
        "ua_version": rng.choice(["120", "121.0", ""]),
        "verdict_reason": rng.choice(["", "bot list", "-a\\b'c\td"]),
        "utm_source": rng.choice(["", "news", "größe"]),
        "utm_medium": rng.choice(["", "mail", "cpc"]),
        "utm_campaign": rng.choice(["", "autumn"]),
        "utm_term": rng.choice(["", "shoes"]),
        "utm_content": rng.choice(["", "a", "b, c"]),
        "referrer_site": rng.choice(["site.example", "other.example", ""]),
        # The URL to which the visitor was sent; rows have its digest.
        "url": rng.choice(["https://a.example/", "https://b.example/?x=1", ""]),
    }


def url_digest(url):
    """Returns the digest of a URL in its normal form, in hexadecimal; "" for none."""
    return hashlib.sha256(url.encode()).hexdigest()[:32] if url else ""


def digest_bytes(url):
    """Returns the digest as JSON of a row has it: any bytes."""
    return bytes.fromhex(url_digest(url)).decode("utf-8", "surrogateescape")


def values_of(row, dimension):
    """Returns the values of a row of `clicks` in a dimension."""
    if dimension == "tag":
        return row["tags"]
    if dimension == "link":
        return [str(row["link_id"])]
    if dimension == "url":
        return [url_digest(row.get("url", ""))]
    if dimension in ("os_version", "ua_version"):
        family = row[dimension.replace("version", "family")]
        return [f"{family} {row[dimension]}".rstrip()]
    return [str(row[dimension] or "")]


def some_clicks(seed, count, windows, links=(1, 2, 3)):
    """Returns clicks at random times within (from, to) windows, in order.  Some are at
    the first or the last millisecond of a window or an hour, where requested ranges
    begin and end."""
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        start, end = rng.choice(windows)
        at = rng.randrange(start * 1000, end * 1000)
        if number % 8 == 0:
            at = rng.choice((start * 1000, end * 1000 - 1))
        elif number % 8 == 1:
            at = at_an_end_of_its_hour(rng, at, start * 1000, end * 1000)
        rows.append(make_click(rng, at, rng.choice(links)))
    return sorted(rows, key=lambda row: row["ts_ms"])


def clicks_of_two_accounts(seed, count, windows, links=(0, 1, 2, 3)):
    """Clicks without a link (0) have no owner; a quarter is another account's."""
    rows = some_clicks(seed, count, windows, links=links)
    for number, row in enumerate(rows):
        row["owner"] = row["owner"] if row["link_id"] else ""
        if row["link_id"] and number % 4 == 0:
            row["account"] = "shop"
    return rows


def at_an_end_of_its_hour(rng, at, start, end):
    """Returns the first or the last millisecond of the hour of `at`, if it is within
    the window."""
    found = at // 3_600_000 * 3_600_000 + rng.choice((0, 3_599_999))
    return found if start <= found < end else at


class Collector:
    """Inserts blocks into ClickHouse: clicks first, then their progress."""

    def __init__(self, clickhouse, partitions=1):
        self.clickhouse = clickhouse
        self.partitions = partitions
        self.offsets = collections.Counter()
        self.clock_ms = None  # inserted_at; None: the real time

    def _insert(self, table, rows):
        self.clickhouse.query(
            f"INSERT INTO {table} FORMAT JSONEachRow",
            # Digests are any bytes.
            "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            .encode("utf-8", "surrogateescape"))

    def insert(self, clicks, partition=0, append_ms=None, progress=True, topic="clicks"):
        if append_ms is None:
            append_ms = max(row["ts_ms"] for row in clicks)
        first = self.offsets[partition]
        rows = []
        for i, click in enumerate(clicks):
            row = {k: v for k, v in click.items()
                   if k not in ("ts_ms", "original_ms", "url")}
            if click.get("url"):
                row["url_digest"] = digest_bytes(click["url"])
            row.setdefault("event_id", str(uuid.uuid4()))
            row.update(epoch=1, topic=topic, partition=partition,
                       offset=first + i, append_time=datetime64(append_ms),
                       ts=datetime64(click["ts_ms"]),
                       original_ts=datetime64(
                           click.get("original_ms", click["ts_ms"])))
            rows.append(row)
        self._insert("clicks", rows)
        self.offsets[partition] += len(rows)
        if progress:
            self.report(clicks, partition, append_ms, first, topic)

    def report(self, clicks, partition, append_ms, first=None, topic="clicks"):
        """Inserts the progress of a block; without clicks: the end of the log."""
        first = self.offsets[partition] if first is None else first
        hours = collections.Counter(
            row["ts_ms"] // 3600000 * 3600 for row in clicks)
        now = int(self.clock_ms or
                  datetime.datetime.now().timestamp() * 1000)
        self._insert("ingest_progress", [{
            "epoch": 1, "topic": topic, "partition": partition,
            "partitions": self.partitions if topic == "clicks" else 0, "first": first,
            "last": first + len(clicks) - 1 if first + len(clicks) else 0,
            "rows": len(clicks), "dead_lettered": 0,
            "hours": {str(h): n for h, n in hours.items()},
            "append_time": datetime64(append_ms),
            "inserted_at": datetime64(now),
            "collector": "test"}])

    def tell(self, topic, hours, rows=0, append_ms=0):
        """Inserts progress of sources other than Kafka's topics: {hour: rows}."""
        self._insert("ingest_progress", [{
            "epoch": 1, "topic": topic, "partition": 0, "partitions": 0,
            "first": 0, "last": 0, "rows": rows, "dead_lettered": 0,
            "hours": {str(h): n for h, n in hours.items()},
            "append_time": datetime64(append_ms),
            "inserted_at": datetime64(
                int(datetime.datetime.now().timestamp() * 1000)),
            "collector": "test"}])

    def link(self, code, link_id, url="https://example.com/", **fields):
        self._insert("links", [{
            "code": code, "link_id": link_id, "version": 1, "space": "s7",
            "generation": 1, "change": "created", "state": "live",
            "ttl_class": "10d", "created_at": 1790000000,
            "changed_at": 1790000000, "expires_at": 0, "url": url,
            "redirect_status": 302, "account": "acme",
            "url_digests": [digest_bytes(url)], **fields}])

    def creations(self, links, at_ms=None, append_ms=None):
        """Inserts the rows of links created: dicts of created_links, with `slot` in
        seconds; and their report, of a topic with one partition."""
        self._insert("created_links", [{
            "space": "s7", "code_length": 7, "ttl_class": "10d", "account": "acme",
            "owner": "", "domain": "", "source": "single", **link} for link in links])
        self.report_creations(links, at_ms, append_ms)

    def report_creations(self, links, at_ms=None, append_ms=None):
        """Without links: the end of the log."""
        now = int(datetime.datetime.now().timestamp() * 1000)
        first = self.offsets["links"]
        hours = collections.Counter(link["slot"] // 3600 * 3600 for link in links)
        self._insert("ingest_progress", [{
            "epoch": 1, "topic": "links", "partition": 0, "partitions": 0,
            "link_partitions": 1, "first": first, "last": first + len(links) - 1,
            "rows": len(links), "creations": {str(h): n for h, n in hours.items()},
            "append_time": datetime64(append_ms or at_ms or now),
            "inserted_at": datetime64(at_ms or now), "collector": "test"}])
        self.offsets["links"] += len(links)


# --- the same, counted in Python -----------------------------------------------

def is_click(row):
    return row["outcome"] == "redirected"


def is_human(row):
    return is_click(row) and row["verdict"] == "human"


def counted(rows, bots="exclude"):
    """Returns the expected counts of these rows."""
    clicks = [row for row in rows if is_click(row)]
    humans = [row for row in clicks if is_human(row)]
    prefetches = [row for row in clicks if row["verdict"] == "prefetch"]
    left = {"exclude": humans, "include": clicks,
            "only": [row for row in clicks if not is_human(row)]}[bots]
    return {
        "clicks": len(left),
        "visitors": len({row["unique_identity"] for row in left}),
        "ips": len({row["ip"] for row in left}),
        "humans": len(humans),
        "bots": len(clicks) - len(humans) - len(prefetches),
        "prefetches": len(prefetches),
        "events": len(rows),
    }


def counted_group(rows, dimension, bots="exclude"):
    """The same for the settled clicks of a value, whose addresses most dimensions lack."""
    counts = counted(rows, bots)
    if dimension not in WITH_ADDRESSES:
        counts["ips"] = None
    return counts


def groups_of(rows, dimension, bots="exclude"):
    """Returns {value: counts} without visitors."""
    found = collections.defaultdict(list)
    for row in rows:
        for value in values_of(row, dimension):
            found[value].append(row)
    return {value: without_visitors(counted(group, bots))
            for value, group in found.items()}


def without_visitors(counts):
    return {k: v for k, v in counts.items()
            if k not in ("visitors", "ips", "long_url", "unique_error")}


def without_url(group):
    """Returns a group without the text of its URL, which groups by url have."""
    return {k: v for k, v in group.items() if k != "long_url"}


def bucket_key(at, interval, tz):
    """Returns the key of a bucket: its local start, and for hours the offset too, as an
    hour can occur twice."""
    if interval == "15m":
        return at // SLOT
    local = datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo(tz))
    if interval == "hour":
        return local.date(), local.hour, local.utcoffset()
    day = local.date()
    if interval == "week":
        day -= datetime.timedelta(days=day.weekday())
    if interval == "month":
        day = day.replace(day=1)
    return day


def starts(start, end, interval, tz):
    """Returns the first slot of every bucket of [start, end)."""
    found = []
    last = None
    for at in range(start, end, SLOT):
        key = bucket_key(at, interval, tz)
        if key != last:
            found.append(at)
        last = key
    return found


def expected_data(rows, start, end, interval, tz, bots="exclude"):
    """Returns the `data` of an answer, with starts in seconds."""
    found = starts(start, end, interval, tz)
    inside = [[] for _ in found]
    for row in rows:
        if start * 1000 <= row["ts_ms"] < end * 1000:
            inside[bisect.bisect_right(found, row["ts_ms"] // 1000) - 1].append(row)
    return [{"start": low, **counted(some, bots)}
            for low, some in zip(found, inside)]


# --- settled data -------------------------------------------------------------

def hours_events(clickhouse):
    """Returns the events of the published hours."""
    return clickhouse.value(
        "SELECT sum(events) FROM stats_hourly WHERE dimension = 'total' AND "
        "(hour, attempt) IN (SELECT unit, max(attempt) FROM settled WHERE "
        "kind = 'hour' GROUP BY unit)")


SLOTS = ("(SELECT * FROM link_slots WHERE (toStartOfDay(slot, 'UTC'), attempt)"
         " IN (SELECT unit, max(attempt) FROM settled WHERE kind = 'link_day' "
         "GROUP BY unit))")
DAYS = ("(SELECT * FROM link_days WHERE part IN ('sole', 'whole') AND "
        "(toDateTime(day, 'UTC'), attempt)"
        " IN (SELECT unit, max(attempt) FROM settled WHERE kind = 'link_day' "
        "GROUP BY unit))")


def link_counts(clickhouse):
    """Returns [(link_id, day, pv, uv, human_uv, ip, effective)] of the published days,
    and the same effective counts from the slots."""
    days = [tuple(row.values()) for row in clickhouse.rows(
        "SELECT link_id, toString(day) AS d, pv, uv, human_uv, ip, effective "
        f"FROM {DAYS} ORDER BY link_id, d")]
    slots = [tuple(row.values()) for row in clickhouse.rows(
        "SELECT link_id, toString(toDate(slot)) AS d, "
        "sum(effective + ineffective) AS n, sum(effective) AS e "
        f"FROM {SLOTS} GROUP BY link_id, d ORDER BY link_id, d")]
    return days, slots


def expected_link_counts(rows):
    days, slots = [], []
    keys = sorted({(row["link_id"], rfc3339(row["ts_ms"] // 1000)[:10])
                   for row in rows if row["link_id"]})
    for link, day in keys:
        low = instant(day + "T00:00:00Z") * 1000
        mine = [row for row in rows if row["link_id"] == link
                and low <= row["ts_ms"] < low + 86400000]
        everybody, people = counted(mine, "include"), counted(mine)
        days.append((link, day, len(mine), everybody["visitors"],
                     people["visitors"], everybody["ips"], people["humans"]))
        slots.append((link, day, len(mine), people["humans"]))
    return days, slots
