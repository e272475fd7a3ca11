"""Clicks of thirty days, settled and copied, and an aggregator that answers questions
about them."""
import math
import time

import servers
from machine import Failure, parameter
from support.clickhouse import ClickHouse, ClickHouseServer
from support.keys import key_line
from support.program import Program, eventually
from support.server import RedisServer

DAYS = parameter("DAYS", 30)
DAY = 86400
SETTLE_S, CLICKS_A_SECOND = 3600, 10_000  # the maximum time of settling, or this rate
MERGED_S = STATEMENT_S = 3600
AT_ONCE = 1_000_000
OWNERS = parameter("OWNERS", 10_000)
# The kinds that a settler publishes for a finished day, in this order.
KINDS = ("link_day", "sealed_day", "owner_day", "value_day", "sampled_day",
         "spanned_day")

# One of 100 clicks is a robot's, there are a third as many visitors, and the links'
# shares except for the first two fall as 1/n, as do the owners' shares of links.
NUMBER = ("toUInt64(pow({owners:UInt64}, "
          "(cityHash64(link_id, 3) % 1000000) / 1000000))")
OWNER = f"concat('owner', toString({NUMBER}))"
# An account has a hundredth of the owners.
ACCOUNT = f"concat('account', toString({NUMBER} % 100))"
FILL = f"""
INSERT INTO clicks (epoch, topic, partition, offset, append_time, event_id, ts, edge,
    domain, code, link_id, account, owner, campaign, outcome, status, ip, unique_identity,
    country, city, user_agent, ua_family, os_family, device_class, verdict,
    referrer_host, referrer_site, channel, language, continent, region, asn, device_brand,
    device_model, os_version, ua_version, verdict_reason, utm_source, utm_medium,
    utm_campaign)
SELECT 1, 'clicks', 0, n, t, generateUUIDv4(), t, concat('edge', toString(n % 4)),
    'd.example', concat('c', toString(link)), link,
    {ACCOUNT.replace('link_id', 'link')}, {OWNER.replace('link_id', 'link')},
    concat('camp', toString(link % 500)),
    if(chance % 20 = 0, 'not_found', 'redirected'), 302,
    toIPv6(concat('::ffff:', IPv4NumToString(
        toUInt32(visitor * 2654435761 % 4294967296)))),
    concat(sipHash128(visitor), 'abcd'),
    concat('C', toString(visitor % 90)), concat('City', toString(visitor % 3000)),
    'Mozilla/5.0', concat('ua', toString(visitor % 40)),
    concat('os', toString(visitor % 12)),
    arrayElement(['mobile', 'desktop', 'tablet'], visitor % 3 + 1),
    if(chance % 100 = 1, 'bot', 'human'), concat('ref', toString(chance % 700)),
    concat('site', toString(chance % 500)),
    arrayElement(['direct', 'search', 'social'], chance % 3 + 1), 'en',
    concat('T', toString(visitor % 6)), concat('R', toString(visitor % 900)),
    visitor % 20000, concat('brand', toString(visitor % 50)),
    concat('model', toString(visitor % 800)), toString(visitor % 15),
    toString(visitor % 60), if(chance % 100 = 1, 'list', ''),
    arrayElement(['', 'mail', 'ads', 'post'], chance % 4 + 1),
    arrayElement(['', 'cpc'], chance % 2 + 1), concat('utm', toString(link % 300))
FROM (SELECT number AS n, cityHash64(number) AS chance,
    cityHash64(number, 7) % {{visitors:UInt64}} AS visitor,
    multiIf(chance % 100 < 5, 1, chance % 100 = 5, 2,
        toUInt64(10 * pow(10000, (cityHash64(number, 9) % 1000000) / 1000000))) AS link,
    toDateTime64({{start:UInt32}} + cityHash64(number, 11) % {{seconds:UInt64}}, 3,
        'UTC') AS t
    FROM numbers({{first:UInt64}}, {{count:UInt64}}))
"""
REPORT = """
INSERT INTO ingest_progress (epoch, topic, partition, partitions, first, last, rows,
    hours, append_time)
SELECT 1, 'clicks', 0, 1, 0, sum(n) - 1, sum(n),
    CAST((groupArray(h), groupArray(n)), 'Map(UInt32, UInt64)'), now64(3, 'UTC')
FROM (SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h, count() AS n
    FROM clicks GROUP BY h)
"""
# The links of the clicks, as the archive has them.
LINKS = f"""
INSERT INTO links (code, link_id, version, url, account, owner, created_at)
SELECT DISTINCT code, link_id, 1, 'https://example.com/', {ACCOUNT}, {OWNER},
    toDateTime64({{start:UInt32}}, 3, 'UTC') FROM clicks WHERE link_id != 0
"""


def percentiles(label, seconds):
    """{label: ms}"""
    found = sorted(1000 * s for s in seconds)
    return {f"{label}, p{p}": found[math.ceil(len(found) * p / 100) - 1]
            for p in (50, 99)}


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def key(name):
    """Returns the header with the key from a file of key_line(name, ...)."""
    return {"Authorization": f"Bearer {name}"}


class Served:
    """An engine with the tables, and a Redis; has `database`.  The servers that a
    class adds in set_up() end with it."""

    def __init__(self, machine, name):
        self.directory = machine.directory / name
        self.directory.mkdir()
        self.parts = []
        self.aggregator = None
        try:
            self.engine = self.keep(ClickHouseServer(self.directory / "ch"))
            self.redis = self.keep(RedisServer(self.directory / "redis"))
            self.database = ClickHouse.with_new_database(self.engine.url)
            self.database.timeout = STATEMENT_S
            status, said = self.program("migrate").run(timeout=600)
            if status:
                raise Failure(f"aggregator migrate: {said[-300:]}")
            self.set_up()
        except BaseException:
            self.close()
            raise

    def set_up(self):
        """Runs before the row is measured."""

    def keep(self, part):
        self.parts.append(part)
        part.start()
        return part

    def program(self, *args, clickhouse=None, **own):
        """Returns an aggregator that is not started.  `clickhouse` has settings of that
        section."""
        return Program("aggregator", {
            "redis": {"address": f"127.0.0.1:{self.redis.port}"},
            "clickhouse": {"url": self.engine.url,
                           "database": self.database.database,
                           **(clickhouse or {})},
            # Days that ended five days ago have to be sealed.
            "clicks": {"late_window": "3d"},
            "aggregator": {"listen": f"127.0.0.1:{servers.free_port()}",
                           "admin": f"127.0.0.1:{servers.free_port()}",
                           "answer_timeout": "60s",
                           # The answers are measured, not the cache.
                           "answer_cache": "0",
                           **own}},
            self.directory / f"aggregator-{len(self.parts)}", args)

    def serve(self, **settings):
        """Starts one more aggregator, which runs until the end of the row."""
        made = self.program(**settings)
        made.start()
        self.parts.append(made.process)
        return made

    def keys(self, **words):
        """Returns a file of keys; their names are their secrets."""
        path = self.directory / "api.keys"
        path.write_text("".join(key_line(*item) for item in words.items()))
        return str(path)

    def merged(self):
        """Waits until the engine has nothing to merge, so that only the measured work
        uses it."""
        eventually(lambda: not self.database.value(
            "SELECT count() FROM system.merges "
            "WHERE database = currentDatabase()"), MERGED_S, 0.5, "all merged")

    def ask(self, session, path="/v1/clicks", made=None, **params):
        """Returns the seconds it took."""
        return self.asked(session, path, made, **params)[0]

    def asked(self, session, path, made=None, **params):
        """Returns (the seconds it took, the answer)."""
        start = time.monotonic()
        answer = session.get((made or self.aggregator).url + path, params=params,
                             timeout=600)
        seconds = time.monotonic() - start
        if answer.status_code != 200:
            raise Failure(f"{path}: {answer.text[:200]}")
        return seconds, answer.json()

    def close(self):
        for part in reversed(self.parts):
            if part.running():
                part.kill()


class Settled(Served):
    """Has `aggregator`, `start` and `end`, `clicks`, and `settle_seconds`."""

    def __init__(self, machine, name, clicks, days=DAYS):
        self.clicks = clicks
        self.days = days
        self.start = int(time.time()) // DAY * DAY - (days + 5) * DAY
        self.end = self.start + days * DAY
        super().__init__(machine, name)

    def set_up(self):
        self.fill()
        self.settle()
        # This aggregator has nothing to do, and polls as often as it does by default.
        self.aggregator = self.serve(**self.settings())

    def settings(self):
        """Returns settings of the measured aggregator."""
        return {}

    def fill(self):
        for first in range(0, self.clicks, AT_ONCE):
            self.database.query(
                FILL, param_visitors=max(self.clicks // 3, 1),
                param_start=self.start, param_seconds=self.days * DAY,
                param_owners=OWNERS, param_first=first,
                param_count=min(AT_ONCE, self.clicks - first))
        self.database.query(REPORT)

    def fill_links(self):
        """Fills in each link that was clicked."""
        self.database.query(LINKS, param_owners=OWNERS, param_start=self.start)

    def owners(self, by="account, owner"):
        """Returns [({account, owner}, share of all clicks)], the busiest first."""
        names = by.split(", ")
        return [({name: row[name] for name in names}, int(row["n"]) / self.clicks)
                for row in self.database.rows(
                    f"SELECT {by}, sum(events) AS n FROM owner_slots "
                    f"GROUP BY {by} ORDER BY n DESC, {by}")]

    def accounts(self):
        """Returns [({account}, share of all clicks)], the busiest first."""
        return self.owners("account")

    def settle(self):
        """Waits until all days are sealed, copied for owners and rolled up."""
        settler = self.serve(settle_every="200ms")
        started = time.monotonic()
        within = max(SETTLE_S, self.clicks / CLICKS_A_SECOND)
        while self.published() < self.days * len(KINDS):
            if not settler.process.running():
                raise Failure(f"the settler ended: {settler.log()[-300:]}")
            if time.monotonic() > started + within:
                raise Failure("not all days are sealed, copied and rolled up")
            self.while_settling(settler)
            time.sleep(0.5)
        self.while_settling(settler)
        self.settle_seconds = time.monotonic() - started
        settler.stop()

    def published(self):
        """Returns the number of days for each of KINDS."""
        return int(self.database.value(
            f"SELECT uniqExact(kind, unit) FROM settled WHERE kind IN {KINDS}"))

    def while_settling(self, settler):
        """Called twice a second, and at the end."""

    def ask(self, session, path="/v1/clicks", made=None, **params):
        """Asks about all days unless others are given."""
        return super().ask(session, path, made, **self.range(), **params)

    def range(self):
        return {"from": instant(self.start), "to": instant(self.end)}
