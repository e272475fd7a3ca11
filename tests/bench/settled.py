"""Clicks of thirty days, settled and copied, and an aggregator that answers of them."""
import statistics
import time

import servers
from machine import Failure
from support.clickhouse import ClickHouse, ClickHouseServer
from support.program import Program
from support.server import RedisServer

DAYS = 30
DAY = 86400
WAIT_S = 3600
AT_ONCE = 1_000_000

# One of 100 clicks is a robot's, there are a third as many visitors, and links' shares
# but for the first two fall as 1/n, as do those of 10,000 owners in the links.
FILL = """
INSERT INTO clicks (epoch, topic, partition, offset, append_time, event_id, ts, edge,
    domain, code, link_id, owner, campaign, outcome, status, ip, unique_identity,
    country, city, user_agent, ua_family, os_family, device_class, verdict,
    referrer_host, channel, language)
SELECT 1, 'clicks', 0, n, t, generateUUIDv4(), t, concat('edge', toString(n % 4)),
    'd.example', concat('c', toString(link)), link,
    concat('owner', toString(toUInt64(
        pow(10000, (cityHash64(link, 3) % 1000000) / 1000000)))),
    concat('camp', toString(link % 500)),
    if(chance % 20 = 0, 'not_found', 'redirected'), 302,
    toIPv6(concat('::ffff:', IPv4NumToString(toUInt32(visitor * 2654435761 % 4294967296)))),
    concat(sipHash128(visitor), 'abcd'),
    concat('C', toString(visitor % 90)), concat('City', toString(visitor % 3000)),
    'Mozilla/5.0', concat('ua', toString(visitor % 40)),
    concat('os', toString(visitor % 12)),
    arrayElement(['mobile', 'desktop', 'tablet'], visitor % 3 + 1),
    if(chance % 100 = 1, 'bot', 'human'), concat('ref', toString(chance % 700)),
    arrayElement(['direct', 'search', 'social'], chance % 3 + 1), 'en'
FROM (SELECT number AS n, cityHash64(number) AS chance,
    cityHash64(number, 7) % {visitors:UInt64} AS visitor,
    multiIf(chance % 100 < 5, 1, chance % 100 = 5, 2,
        toUInt64(10 * pow(10000, (cityHash64(number, 9) % 1000000) / 1000000))) AS link,
    toDateTime64({start:UInt32} + cityHash64(number, 11) % {seconds:UInt64}, 3, 'UTC') AS t
    FROM numbers({first:UInt64}, {count:UInt64}))
"""
REPORT = """
INSERT INTO ingest_progress (epoch, topic, partition, partitions, first, last, rows,
    hours, append_time)
SELECT 1, 'clicks', 0, 1, 0, sum(n) - 1, sum(n),
    CAST((groupArray(h), groupArray(n)), 'Map(UInt32, UInt64)'), now64(3, 'UTC')
FROM (SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h, count() AS n
    FROM clicks GROUP BY h)
"""


def percentiles(label, seconds):
    """{label: ms}"""
    cut = statistics.quantiles([1000 * s for s in seconds], n=100)
    return {f"{label}, p50": cut[49], f"{label}, p99": cut[98]}


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Settled:
    """Has `database`, `aggregator`, `start` and `end`, and `settle_seconds`."""

    def __init__(self, machine, name, clicks):
        self.directory = machine.directory / name
        self.directory.mkdir()
        self.parts = []
        try:
            self.engine = self.keep(ClickHouseServer(self.directory / "ch"))
            self.redis = self.keep(RedisServer(self.directory / "redis"))
            self.fill(clicks)
            self.settle()
        except Exception:
            self.close()
            raise

    def keep(self, part):
        self.parts.append(part)
        part.start()
        return part

    def program(self, *args, **own):
        return Program("aggregator", {
            "redis": {"address": f"127.0.0.1:{self.redis.port}"},
            "clickhouse": {"url": self.engine.url,
                           "database": self.database.database},
            "aggregator": {"listen": f"127.0.0.1:{servers.free_port()}",
                           "admin": f"127.0.0.1:{servers.free_port()}",
                           "answer_timeout": "60s",
                           **own}}, self.directory, args)

    def fill(self, clicks):
        self.database = ClickHouse.with_new_database(self.engine.url)
        status, said = self.program("migrate").run()
        if status:
            raise Failure(f"aggregator migrate: {said[-300:]}")
        self.start = int(time.time()) // DAY * DAY - (DAYS + 5) * DAY
        self.end = self.start + DAYS * DAY
        for first in range(0, clicks, AT_ONCE):
            self.database.query(
                FILL, param_visitors=clicks // 3, param_start=self.start,
                param_seconds=DAYS * DAY, param_first=first,
                param_count=min(AT_ONCE, clicks - first))
        self.database.query(REPORT)

    def settle(self):
        """Until all days are sealed, copied for owners and rolled up."""
        settler = self.program(settle_every="200ms")
        settler.start()
        self.parts.append(settler.process)
        started = time.monotonic()
        while int(self.database.value(
                "SELECT count() FROM settled WHERE "
                "kind IN ('sealed_day', 'owner_day', 'rolled_day')")) < 3 * DAYS:
            if time.monotonic() > started + WAIT_S:
                raise Failure("not all days are sealed, copied and rolled up")
            time.sleep(0.5)
        self.settle_seconds = time.monotonic() - started
        settler.stop()
        # One that has nothing to do, and looks as often as it does by default.
        self.aggregator = self.program()
        self.aggregator.start()
        self.parts.append(self.aggregator.process)

    def ask(self, session, path="/v1/clicks", **params):
        """Seconds it took."""
        start = time.monotonic()
        answer = session.get(self.aggregator.url + path, params={
            "from": instant(self.start), "to": instant(self.end), **params})
        seconds = time.monotonic() - start
        if answer.status_code != 200:
            raise Failure(f"{path}: {answer.text[:200]}")
        return seconds

    def close(self):
        for part in reversed(self.parts):
            if part.running():
                part.kill()
