"""Links that real programs make, change, redirect, renew, expire, reclaim and issue again by a
clock that the test moves; and a record of all that happened, from which a test counts."""
import collections
import hashlib
import json
import random
import subprocess

import requests

from support.batch import batch
from support.clicks import UTC, datetime, url_digest
from support.events import CHROME, GOOGLEBOT, IPHONE, click
from support.program import BIN, eventually

DAY, HOUR, SLOT = 86400, 3600, 900
BLOCK_SIZE = 4  # links: some blocks end within the month
STRATEGY = {"s7": "sequence", "h6": "hash", "names": "alias"}
TTL = {"1d": DAY, "10d": 10 * DAY, "never": None}
HOSTS = {"main": "sho.rt", "promo": "promo.example"}
UNKNOWN = "\x01unknown"
BOT, HUMAN = "bot", "human"
CLIENTS = {  # user agent: the columns that follow from it
    CHROME: {"verdict": HUMAN, "verdict_reason": "", "device_class": "desktop",
             "os_family": "Windows", "os_version": "10", "ua_family": "Chrome",
             "ua_version": "140.0.0.0", "device_brand": "", "device_model": ""},
    IPHONE: {"verdict": HUMAN, "verdict_reason": "", "device_class": "mobile",
             "os_family": "iOS", "os_version": "18.1", "ua_family": "Mobile Safari",
             "ua_version": "18.1", "device_brand": "Apple", "device_model": "iPhone"},
    GOOGLEBOT: {"verdict": BOT, "verdict_reason": "listed crawler", "device_class": "robot",
                "os_family": "Other", "os_version": "", "ua_family": "Googlebot",
                "ua_version": "2.1", "device_brand": "Spider", "device_model": "Desktop"}}
# (Referer, query): channel, host and site of the referrer, UTM fields
SOURCES = [
    (None, "", "direct", "", "", {}),
    ("https://www.google.com/", "", "search", "www.google.com", "google.com", {}),
    ("https://m.facebook.com/x", "", "social", "m.facebook.com", "facebook.com", {}),
    (None, "utm_medium=email&utm_source=may+news&utm_campaign=spring", "email", "", "",
     {"utm_medium": "email", "utm_source": "may news", "utm_campaign": "spring"})]
LANGUAGES = [("de-DE,de;q=0.9", "de"), ("pt-BR", "pt"), (None, "")]


class Link:
    """The record of a link: `first`, as it was made; `now`, its fields; and its life."""

    def __init__(self, made, source, at):
        self.id, self.code, self.space = int(made["link_id"]), made["code"], made["space"]
        self.generation, self.made_at, self.created = made["generation"], at, made["created_at"]
        self.now = {name: made[name] or "" for name in (
            "url", "account", "owner", "campaign", "domain", "ttl")} | {"tags": made["tags"]}
        self.first = {
            "slot": at // SLOT * SLOT, "space": self.space, "ttl": made["ttl"],
            "code_length": str(len(self.code)), "account": self.now["account"],
            "owner": self.now["owner"], "domain": self.now["domain"], "source": source,
            "strategy": STRATEGY[self.space]}
        self.version, self.state, self.was = 1, "live", None
        self.begin_life(at, TTL[made["ttl"]])
        self.left, self.reclaimed_at, self.reissued = None, None, False
        self.changed_hands = False

    def begin_life(self, at, seconds):
        """The end is right but for the seconds that a moment lasts."""
        self.ends = None if seconds is None else at + seconds

    def is_over(self, at):
        return self.state in ("live", "paused") and self.ends is not None and self.ends <= at

    def state_at(self, at):
        """Returns the state that lists have to name."""
        if self.reissued or self.reclaimed_at is not None:
            return "reclaimed"
        return "expired" if self.is_over(at) else self.state

    def block(self):
        return (self.id & ((1 << 42) - 1)) // BLOCK_SIZE

    def holder(self):
        return {name: self.now[name] for name in ("account", "owner", "campaign", "tags")}


class Month:
    """The programs, deeds that are done through them, and the record of these: .links, .rows (of
    `clicks`), .quota (links made) and .done (the number of deeds of each kind)."""

    def __init__(self, clock, redis, clickhouse, kafka, topics, seed):
        self.clock, self.redis, self.clickhouse = clock, redis, clickhouse
        self.kafka, self.topics = kafka, topics
        self.rng = random.Random(seed)
        self.links, self.rows = [], []
        self.quota = collections.Counter()  # (account, month)
        self.renewals = {}  # (link id, version): the last end that a visit gave
        self.done = collections.Counter()
        self.number = 0

    # --- links are made and changed ------------------------------------------------

    def fields(self):
        self.number += 1
        space = self.rng.choice(["s7", "s7", "s7", "h6", "names"])
        return {"url": f"https://example.org/{self.number % 7}/{self.number}",
                "ttl": self.rng.choice(["1d", "1d", "10d", "never"]),
                "domain": self.rng.choice(list(HOSTS)),
                **self.rng.choice([{}, {"campaign": "spring"}, {"campaign": "sale"}]),
                "tags": self.rng.choice([[], ["a"], ["a", "b"]]),
                **({"code": f"alias-{self.number}"} if space == "names" else {"space": space})}

    def owner_for(self, key):
        owner = "ann" if key == "ann" else self.rng.choice([None, "ann", "bob"])
        return {"owner": owner} if owner else {}

    def remember(self, made, source):
        at = self.clock.now()
        link = Link(made, source, at)
        for other in self.links:
            if other.code == link.code:
                assert other.state_at(at) in ("expired", "reclaimed", "deleted"), vars(other)
                other.reissued = True
                self.done["issued again"] += 1
        self.links.append(link)
        self.quota[link.first["account"], month_of(at)] += 1
        return link

    def create(self, key=None):
        key = key or self.rng.choice(["acme", "acme", "ann", "shop"])
        fields = {**self.fields(), **self.owner_for(key)}
        link = self.remember(self.post(key, fields), "single")
        if link.space == "h6":
            again = self.api.post(key, **fields)
            assert (again.status_code, again.json()["link_id"]) == (200, str(link.id))
        return link

    def post(self, key, fields):
        """The clock's move ended the allocator's lease of its node: it answers 503 until it has
        another."""
        def made():
            answer = self.api.post(key, **fields)
            assert answer.status_code in (201, 503), (answer.text, fields)
            return answer.status_code == 201 and answer.json()
        return eventually(made, what="a link made")

    def create_batch(self, count):
        key = self.rng.choice(["acme", "shop"])
        lines = [json.dumps({**self.fields(), **self.owner_for(key)}).encode() + b"\n"
                 for _ in range(count)]
        for made in batch(self.api, lines, key=key):
            self.remember(made, "batch")

    def change(self, link, key="boss", **fields):
        answer = self.api.patch(link.code, key, **fields)
        assert answer.status_code == 200, (answer.text, vars(link))
        link.version += 1
        assert answer.json()["version"] == link.version
        link.now |= {name: value or ("" if name != "tags" else []) for name, value
                     in fields.items() if name != "state"}
        link.changed_hands |= bool({"owner", "account"} & fields.keys())
        if "ttl" in fields:
            link.begin_life(self.clock.now(), TTL[fields["ttl"]])

    def move_some(self, count):
        """Gives links to the other account; each account has a click of them."""
        at = self.clock.now()
        live = [link for link in self.links if link.state_at(at) == "live" and link.space != "h6"]
        for link in self.rng.sample(live, min(count, len(live))):
            self.visit(link)
            self.change(link, account="shop" if link.now["account"] == "acme" else "acme")
            self.visit(link)
            self.done["moved"] += 1

    def stop_life(self, link, state):
        at = self.clock.now()
        link.left = None if link.ends is None else link.ends - at
        link.was, link.state = link.state, state

    def resume_life(self, link, state):
        link.state = state
        link.begin_life(self.clock.now(), link.left)

    def edit(self, link):
        if link.state != "live":
            return
        what = self.rng.choice(["url", "owner", "tags", "ttl"])
        self.number += 1
        self.change(link, **{what: {
            "url": f"https://example.org/edited/{self.number}",
            "owner": self.rng.choice(["ann", "bob", None]),
            "tags": self.rng.choice([["c"], []]), "ttl": self.rng.choice(["1d", "10d"])}[what]})
        self.done[f"edited {what}"] += 1

    def pause(self, link):
        state = {"live": "paused", "paused": "live"}.get(link.state)
        if state:
            self.change(link, link.now["account"], state=state)
            link.state = state
            self.done[state] += 1

    def block(self, link):
        if link.state == "blocked":
            self.change(link, state="live")
            self.resume_life(link, "live")
            self.done["let go"] += 1
        elif link.state == "live":
            self.change(link, state="blocked")
            self.stop_life(link, "blocked")
            link.ends = None
            self.done["blocked"] += 1

    def delete(self, link):
        if link.state == "deleted":
            self.restore(link)
        elif link.state in ("live", "paused"):
            assert self.api.delete(link.code).status_code == 204
            link.version += 1
            self.stop_life(link, "deleted")
            self.done["deleted"] += 1

    def restore(self, link):
        answer = self.api.call("POST", f"/v1/links/{link.code}/restore")
        if answer.status_code == 404:  # the code was free again
            return
        assert answer.status_code == 200, answer.text
        link.version += 1
        self.resume_life(link, link.was)
        self.done["restored"] += 1

    def change_some(self, count):
        for _ in range(count):
            at = self.clock.now()
            there = [link for link in self.links if link.state_at(at) not in (
                "expired", "reclaimed") and not self.is_gone(link)]
            deed = self.rng.choice([self.edit, self.edit, self.pause, self.block, self.delete])
            if there:
                deed(self.rng.choice(there))

    def is_gone(self, link):
        """Returns whether a deleted link's tombstone has ended: its code is free."""
        return link.state == "deleted" and not self.record_keys(link)

    def record_keys(self, link):
        return [*self.redis.scan_iter(f"l:*:{link.code}"),
                *self.redis.scan_iter(f"l:{{{link.code}}}")]

    # --- blocks are reclaimed ------------------------------------------------------

    def reclaim(self):
        """Runs the reclaimer. The links of a block that it has put into the pool are reclaimed,
        and have to have ended before."""
        at, program = self.clock.now(), self.reclaimer
        done = subprocess.run(
            [BIN / "reclaimer", "run", "--json", "-c", program.config_path],
            env=program.env, text=True, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done
        pooled = self.pooled_blocks()
        for link in self.links:
            if (link.space == "s7" and link.reclaimed_at is None and
                    pooled.get(link.block(), 0) > link.generation):
                assert link.state == "deleted" or link.is_over(at), vars(link)
                link.reclaimed_at = at
                self.done["reclaimed"] += 1
        eventually(lambda: not self.redis.zcard("reclaimed:{s7}"), what="notes of blocks copied")

    def pooled_blocks(self):
        """Returns {block: its next generation}."""
        found = {}
        for member in self.redis.zrange("pool:{s7}", 0, -1):
            blocks, generation = member.split(":")
            first, last = map(int, blocks.split("-"))
            found |= dict.fromkeys(range(first, last + 1), int(generation))
        return found

    # --- visits ----------------------------------------------------------------------

    def visit(self, link):
        """Visits the link's code; asserts the answer that its life demands, and records the
        row of `clicks` that it has to become."""
        kind = self.rng.choice(["GET"] * 8 + ["HEAD", "prefetch"])
        agent = self.rng.choice([CHROME, CHROME, IPHONE, GOOGLEBOT])
        address = f"198.51.100.{self.rng.randrange(1, 20)}"
        referrer, query, channel, host, site, utm = self.rng.choice(SOURCES)
        languages, language = self.rng.choice(LANGUAGES)
        headers = {"User-Agent": agent, "X-Forwarded-For": address, "Referer": referrer,
                   "Accept-Language": languages, "Host": HOSTS[link.now["domain"]],
                   "Sec-Purpose": "prefetch" if kind == "prefetch" else None}
        at = self.clock.now()
        answer = requests.request(
            "HEAD" if kind == "HEAD" else "GET", f"{self.redirector.url}/{link.code}?{query}",
            headers=headers, allow_redirects=False, timeout=60)
        row = self.what_a_visit_is(link, at, kind)
        expected = {"redirected": 302, "head": 302, "not_found": 404, "blocked": 451,
                    "expired": 410}[row["outcome"]]
        assert answer.status_code == expected, (answer.status_code, row, vars(link), at)
        if expected == 302:
            assert answer.headers["Location"] == link.now["url"]
        verdict = dict(CLIENTS[agent])
        if verdict["verdict"] == HUMAN and kind == "prefetch":
            verdict |= {"verdict": "prefetch", "verdict_reason": "purpose header"}
        elif verdict["verdict"] == HUMAN and row["outcome"] == "head":
            verdict |= {"verdict": "prefetch", "verdict_reason": "HEAD request"}
        self.rows.append(self.row(address, agent, {
            "edge": "edge-1", "domain": HOSTS[link.now["domain"]], "code": link.code,
            "channel": channel, "referrer_host": host, "referrer_site": site,
            "language": language, "ts_ms": at * 1000, **utm, **verdict, **row}))

    @staticmethod
    def row(address, agent, fields):
        return {
            "country": "documentation",  # what the addresses are for
            **dict.fromkeys(("city", "continent", "region", "utm_source", "utm_medium",
                             "utm_campaign", "utm_term", "utm_content"), ""),
            "asn": 0, "ip": address,
            "unique_identity": hashlib.sha1(f"{address} {agent}".encode()).hexdigest(), **fields}

    def what_a_visit_is(self, link, at, kind):
        """Returns the part of the row that follows from the link's life; renews the link."""
        nobody = {"link_id": 0, "account": "", "owner": "", "campaign": "", "tags": [], "url": ""}
        known = {**nobody, "link_id": link.id, **link.holder()}
        if self.is_gone(link) or link.is_over(at):
            # A code without a record is one of the default domain.
            if link.space != "s7" or link.now["domain"] != "main":
                return {**nobody, "outcome": "not_found"}
            return {**nobody, "link_id": link.id, "account": UNKNOWN, "owner": UNKNOWN,
                    "outcome": "expired"}
        if link.state == "blocked":
            return {**known, "outcome": "blocked"}
        if link.state != "live":
            return {**known, "outcome": "expired"}
        if link.ends is not None:
            self.renew(link, at)
        return {**known, "outcome": "head" if kind == "HEAD" else "redirected",
                "url": link.now["url"]}

    def renew(self, link, at):
        before = link.ends
        link.begin_life(at, TTL[link.now["ttl"]])
        # Another visit of the same moment may be too early for another renewal.
        if link.ends - before >= SLOT:
            self.renewals[link.id, link.version] = link.ends
            self.done["renewed"] += 1

    def may_be_visited(self, link):
        """A code is not visited while its answer depends on how long ago its block was granted
        again, or on the TTL class of its block, whose links had another TTL later."""
        if link.reissued:
            return False
        if link.space == "s7" and not self.record_keys(link):
            marker = self.redis.get(f"m:{{s7:{link.block()}}}")
            return bool(marker) and marker.split(" ")[0] == str(link.generation) and (
                link.first["ttl"] == link.now["ttl"])
        return True

    def visit_some(self, count):
        for _ in range(count):
            link = self.rng.choice(self.links[-40:])
            if self.may_be_visited(link):
                self.visit(link)

    def send_late(self, count):
        """Sends events that Kafka gets a day late, as of a redirector that had no network."""
        at = self.clock.now() - DAY - HOUR
        there = [link for link in self.links if link.made_at < at]
        events = []
        for _ in range(count if there else 0):
            link = self.rng.choice(there)
            agent, number = self.rng.choice([CHROME, IPHONE]), self.rng.randrange(1, 20)
            fields = {"edge": "edge-2", "domain": HOSTS["main"], "code": link.code}
            events.append(click(
                **fields, **link.holder(), link_id=link.id, outcome=1, status=302,
                time_ms=at * 1000, client_ip=bytes([198, 51, 100, number]),
                user_agent=agent.encode(), url_digest=bytes.fromhex(url_digest(link.now["url"]))))
            self.rows.append(self.row(f"198.51.100.{number}", agent, {
                **fields, **CLIENTS[agent], **link.holder(), "link_id": link.id,
                "outcome": "redirected", "ts_ms": at * 1000, "url": link.now["url"],
                "channel": "direct", "referrer_host": "", "referrer_site": "", "language": ""}))
        self.kafka.produce(self.topics["topic_clicks"], events)
        self.done["late"] += len(events)
        self.wait_stored()

    # --- what the archive has ------------------------------------------------------

    def wait_stored(self):
        eventually(lambda: int(self.clickhouse.value("SELECT count() FROM clicks")) ==
                   len(self.rows), what=f"{len(self.rows)} clicks stored")
        versions = {link.id: link.version for link in self.links}
        eventually(lambda: {int(r["id"]): int(r["v"]) for r in self.clickhouse.rows(
            "SELECT link_id AS id, max(version) AS v FROM links GROUP BY id")} == versions,
            what="all versions of links stored")
        eventually(lambda: int(self.clickhouse.value(
            "SELECT uniqExact(link_id) FROM created_links")) == len(self.links),
            what=f"{len(self.links)} creations stored")
        eventually(self.has_renewals, what="all renewals stored")

    def has_renewals(self):
        stored = {(int(r["id"]), r["version"]): int(r["t"]) for r in self.clickhouse.rows(
            "SELECT link_id AS id, version, max(toUnixTimestamp64Milli(ends_at)) / 1000 AS t "
            "FROM link_ends GROUP BY id, version")}
        return all(abs(stored.get(which, 0) - ends) < SLOT
                   for which, ends in self.renewals.items())


def month_of(at):
    return f"{datetime.datetime.fromtimestamp(at, UTC):%Y-%m}"
