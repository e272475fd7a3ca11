"""Lists and searches of the archive of ten million links."""
import time

import requests

from machine import Failure, parameter
from settled import DAY, Served, instant, percentiles

LONG = True
LINKS = parameter("LINKS", 10_000_000)
ASKED = parameter("ASKED", 200)
OWNERS, TAGS = 10_000, 5_000
AT_ONCE = 250_000
CURSORS = 10  # pages that are read one after the other
WANTED_MS = 200
PEER = "200 ms, which are wanted"

# One of a thousand links has one of a thousand rare words; all have one of 20 frequent
# words.
FILL = f"""
INSERT INTO links (code, link_id, version, space, generation, change, state, ttl_class,
    created_at, changed_at, expires_at, url, redirect_status, account, owner, campaign, tags, domain,
    description)
SELECT concat('c', hex(cityHash64(number, 1))), number + 1, 1, 's7', 1, 'created',
    if(number % 50 = 0, 'deleted', 'live'), '30d', t, t,
    t + INTERVAL 30 DAY,
    concat('https://shop', toString(number % 5000), '.example/item/',
        toString(number), if(chance % 1000 = 0,
        concat('?ref=rare', toString(intDiv(chance, 1000) % 1000), 'x'), '')), 302, 'acme',
    concat('owner', toString(toUInt64(pow({OWNERS}, (chance % 1000000) / 1000000)))),
    concat('camp', toString(chance % 700)),
    [concat('tag', toString(chance % {TAGS}), 'x')], 'd.example',
    concat('about ', arrayElement(['shoes', 'bags', 'hats', 'coats', 'books', 'lamps',
        'chairs', 'tables', 'bikes', 'boats', 'trains', 'planes', 'plants', 'seeds',
        'tools', 'toys', 'games', 'films', 'songs', 'maps'], chance % 20 + 1))
FROM (SELECT number, cityHash64(number) AS chance,
    toDateTime64({{start:UInt32}} + number * {{days:UInt32}} * {DAY} / {{all:UInt64}}, 3,
        'UTC') AS t
    FROM numbers({{first:UInt64}}, {{count:UInt64}}))
"""
# Visits keep half of the links alive.
RENEWED = """
INSERT INTO link_ends (link_id, version, ends_at)
SELECT number * 2 + 1, 1, toDateTime64((toInt64({today:UInt32}) + 20) * 86400, 3, 'UTC')
FROM numbers({count:UInt64})
"""
# A tenth of the links was clicked, each on one of thirty days.
CLICKED = """
INSERT INTO link_days (link_id, day, attempt, pv, uv, human_uv, ip, human_ip, effective, bots)
SELECT number * 10 + 1, toDate({today:UInt32}) - 1 - number % 30, 1, n, n, n, n, n, n, n
FROM (SELECT number, toUInt64(1000000 / (cityHash64(number) % 1000000 + 1)) AS n
    FROM numbers({count:UInt64}))
"""
PUBLISHED = """
INSERT INTO settled (kind, unit, attempt, rows)
SELECT arrayJoin(['hour', 'link_day']),
    toDateTime(toDate({today:UInt32}) - 1 - number, 'UTC'), 1, 1
FROM numbers(30)
"""
def ranged(i, days=14):
    """Returns a range of whole days that no other question has."""
    today = int(time.time()) // DAY
    return {"clicks": "true", "from": instant((today - days - i % 15) * DAY),
            "to": instant((today - i % 15) * DAY), "limit": 100 - i % 50}


# The parameters of the i-th question.
QUESTIONS = {
    "rare text": lambda i: {"q": f"rare{i}x"},
    "frequent text": lambda i: {"q": ("shoes", "BAGS", "hats", "lamps")[i % 4],
                                "limit": 100 - i % 50},
    "text that nobody has": lambda i: {"q": f"nowhere{i}"},
    "tag": lambda i: {"tag": f"tag{i * 7}x"},
    "ordinary owner": lambda i: {"account": "acme", "owner": f"owner{5000 + i}"},
    "largest owners": lambda i: {"account": "acme", "owner": f"owner{1 + i % 5}",
                                  "limit": 100 - i % 50},
    "URL": lambda i: {"url": f"https://shop{i * 10 % 5000}.example/item/{i * 10}"},
    "live ones": lambda i: {"state": "live", "limit": 100 - i % 50},
    "expired ones": lambda i: {"state": "expired", "limit": 100 - i % 50},
    "newest": lambda i: {"limit": 100 - i % 50},
    "most clicks": lambda i: {"sort": "clicks", "limit": 100 - i % 50},
    "an owner's most clicks": lambda i: {"sort": "clicks", "account": "acme",
                                         "owner": f"owner{50 + i}"},
    "newest, with clicks of a range": ranged,
    "most clicks of a range": lambda i: {**ranged(i), "sort": "clicks"},
    "an owner's, with clicks of a range": lambda i: {
        **ranged(i), "account": "acme", "owner": f"owner{50 + i}"},
    "next to end, with clicks of a range": lambda i: {
        **ranged(i), "sort": "ends", "order": "asc", "state": "live"},
    "last to end": lambda i: {"sort": "ends", "limit": 100 - i % 50},
    "an owner's next to end": lambda i: {"sort": "ends", "order": "asc", "account": "acme",
                                         "owner": f"owner{50 + i}"},
}
PAGE = "pages by cursor"
METRICS = [(f"links_search: {name}, {what}", "ms", "less")
           for name in (*QUESTIONS, PAGE) for what in ("p50", "p99")]


class Bench(Served):
    def __init__(self, machine):
        super().__init__(machine, "links_search")

    def set_up(self):
        today = int(time.time()) // DAY
        for first in range(0, LINKS, AT_ONCE):
            self.database.query(
                FILL, param_start=(today - 300) * DAY, param_days=299, param_all=LINKS,
                param_first=first, param_count=min(AT_ONCE, LINKS - first))
        self.database.query(RENEWED, param_today=today, param_count=LINKS // 2)
        self.database.query(CLICKED, param_today=today, param_count=LINKS // 10)
        self.database.query(PUBLISHED, param_today=today)
        started = time.monotonic()
        self.merged()
        print(f"links_search: merged for {time.monotonic() - started:.0f} s more, "
              f"{self.parts_of_links()} parts", flush=True)
        self.aggregator = self.serve(settle_every="1h")

    def parts_of_links(self):
        return self.database.value("SELECT count() FROM system.parts WHERE active AND "
                                   "table = 'links' AND database = currentDatabase()")

    def list(self, session, **params):
        return self.asked(session, "/v1/links", **params)

    def check(self, session):
        """The answer must have exactly the matching links."""
        last = instant(int(time.time()))
        for params, count in (({"q": "nowhere0"}, 0), ({"created_from": last}, 0),
                              ({"url": "https://shop0.example/item/0"}, 1),
                              ({}, min(100, LINKS))):
            found = len(self.list(session, **params)[1]["links"])
            if found != count:
                raise Failure(f"{params}: {found} links, not {count}")
        first = self.list(session, sort="clicks", limit=1)[1]["links"][0]
        if not first["clicks"]:
            raise Failure("no link has clicks")

    def pages(self, session):
        """Returns the seconds of each page; the first of a row is not read by
        cursor."""
        found = []
        while len(found) < ASKED:
            cursor = {}
            for _ in range(CURSORS):
                seconds, answer = self.list(session, account="acme",
                                            owner="owner1", **cursor)
                if cursor:
                    found.append(seconds)
                if not answer["next"]:
                    break
                cursor = {"cursor": answer["next"]}
            if not found:
                raise Failure("the largest owner has one page of links only")
        return found

    def ours(self):
        found = {}
        with requests.Session() as session:
            session.trust_env = False
            self.check(session)
            for name, question in QUESTIONS.items():
                found.update(percentiles(f"links_search: {name}", [
                    self.list(session, **question(i))[0] for i in range(ASKED)]))
            found.update(percentiles(f"links_search: {PAGE}", self.pages(session)))
        return found

    def peer(self):
        return {label: WANTED_MS for label, _, _ in METRICS}
