"""One link's month by hour with distinct visitors: through the API, most of the days
sealed, against the same question to a copy of the clicks ordered by time.  One link is
an ordinary one, one has 1 % of all clicks and one 5 %."""
import statistics
import time

import requests

import servers
from machine import Failure
from support.clickhouse import ClickHouse, ClickHouseServer
from support.program import Program
from support.server import RedisServer

LONG = True
CLICKS = 3_000_000
DAYS = 30
DAY = 86400
WAIT_S = 1200
LINKS = {"ordinary": 5000, "1 %": 2, "5 %": 1}
ASKED, PEER_ASKED = 200, 20
METRICS = [(f"link_month: {kind} link, {what}", "ms", "less")
           for kind in LINKS for what in ("p50", "p99")]
PEER = "the same SQL on clicks in the order of time"

# One of 100 clicks is a robot's, there are a third as many visitors, and links' shares
# but for the first two fall as 1/n.
FILL = """
INSERT INTO clicks (epoch, topic, partition, offset, append_time, event_id, ts, edge,
    domain, code, link_id, owner, campaign, outcome, status, ip, unique_identity,
    country, city, user_agent, ua_family, os_family, device_class, verdict,
    referrer_host, channel, language)
SELECT 1, 'clicks', 0, n, t, generateUUIDv4(), t, concat('edge', toString(n % 4)),
    'd.example', concat('c', toString(link)), link,
    concat('owner', toString(link % 10000)), concat('camp', toString(link % 500)),
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
HUMAN = "outcome = 'redirected' AND verdict = 'human'"
BY_TIME = f"""
SELECT toStartOfHour(ts) AS h, count(), countIf(outcome = 'redirected'),
    countIf({HUMAN}), uniqExactIf(unique_identity, {HUMAN}), uniqExactIf(ip, {HUMAN})
FROM clicks_by_time WHERE link_id = {{link:UInt64}}
    AND ts >= toDateTime64({{start:UInt32}}, 3, 'UTC')
    AND ts < toDateTime64({{end:UInt32}}, 3, 'UTC')
GROUP BY h WITH TOTALS ORDER BY h
"""


def percentiles(kind, seconds):
    """{label: ms}"""
    cut = statistics.quantiles([1000 * s for s in seconds], n=100)
    return {f"link_month: {kind} link, p50": cut[49],
            f"link_month: {kind} link, p99": cut[98]}


class Bench:
    def __init__(self, machine):
        self.directory = machine.directory / "link_month"
        self.directory.mkdir()
        self.parts = []
        try:
            self.engine = self.keep(ClickHouseServer(self.directory / "ch"))
            self.redis = self.keep(RedisServer(self.directory / "redis"))
            self.fill()
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
                           **own}}, self.directory, args)

    def fill(self):
        self.database = ClickHouse.with_new_database(self.engine.url)
        status, said = self.program("migrate").run()
        if status:
            raise Failure(f"aggregator migrate: {said[-300:]}")
        self.start = int(time.time()) // DAY * DAY - (DAYS + 5) * DAY
        self.end = self.start + DAYS * DAY
        for first in range(0, CLICKS, 1_000_000):
            self.database.query(
                FILL, param_visitors=CLICKS // 3, param_start=self.start,
                param_seconds=DAYS * DAY, param_first=first,
                param_count=min(1_000_000, CLICKS - first))
        for link in LINKS.values():
            self.database.query(
                "INSERT INTO links (code, link_id, version) VALUES "
                f"('c{link}', {link}, 1)")
        self.database.query(
            f"CREATE TABLE clicks_by_time AS {self.database.database}.clicks "
            "ENGINE = MergeTree PARTITION BY toYYYYMMDD(ts) ORDER BY ts")
        for day in range(self.start, self.end, DAY):
            self.database.query(
                "INSERT INTO clicks_by_time SELECT * FROM clicks WHERE "
                f"toDate(ts) = toDate(toDateTime({day}, 'UTC'))")
        self.database.query(REPORT)

    def settle(self):
        settler = self.program(settle_every="200ms")
        settler.start()
        self.parts.append(settler.process)
        deadline = time.monotonic() + WAIT_S
        while int(self.database.value("SELECT count() FROM settled WHERE "
                                      "kind = 'sealed_day'")) < DAYS:
            if time.monotonic() > deadline:
                raise Failure("not all days are sealed")
            time.sleep(0.5)
        settler.stop()
        # One that has nothing to do, and looks as often as it does by default.
        self.aggregator = self.program()
        self.aggregator.start()
        self.parts.append(self.aggregator.process)

    def ours(self):
        found = {}
        with requests.Session() as session:
            for kind, link in LINKS.items():
                found.update(percentiles(kind, [
                    self.ask(session, link) for _ in range(ASKED)]))
        return found

    def ask(self, session, link):
        start = time.monotonic()
        answer = session.get(self.aggregator.url + "/v1/clicks", params={
            "link_id": link, "interval": "hour",
            "from": self.text(self.start), "to": self.text(self.end)})
        seconds = time.monotonic() - start
        if answer.status_code != 200 or not answer.json()["total"]["clicks"]:
            raise Failure(f"/v1/clicks: {answer.text[:200]}")
        return seconds

    @staticmethod
    def text(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    def peer(self):
        found = {}
        for kind, link in LINKS.items():
            seconds = []
            for _ in range(PEER_ASKED):
                start = time.monotonic()
                self.database.query(BY_TIME, param_link=link,
                                    param_start=self.start, param_end=self.end)
                seconds.append(time.monotonic() - start)
            found.update(percentiles(kind, seconds))
        return found

    def close(self):
        for part in reversed(self.parts):
            if part.running():
                part.kill()
