"""Three accounts with owners of the same names, drawn from a seed: links that change
hands in the midst of their clicks, codes that two accounts have one after the other, and
strings that only one holder has.  What a caller may see of it is told in Python."""
import collections
import hashlib
import json
import random
import re
import uuid

from support.clicks import (datetime64, digest_bytes, instant, is_click, is_human, make_click,
                            url_digest, values_of)

DAY, HOUR = 86400, 3600
FROM = instant("2026-10-24T00:00:00Z")
DAYS = 2
TO = FROM + DAYS * DAY
# Clicks are of few hours of each day: settling an hour takes its time.
HOURS = (3, 14)
OWNERS = ("ann", "bob", "")
UNKNOWN = "\x01unknown"
BLOCK = 100  # links
# These are no hexadecimal digits; the first 15 are in hosts, too.
LETTERS = "ghkmnpqrtuvwxyzGHKMNPQRTUVWXYZ"
FAR_MS = instant("2090-01-01T00:00:00Z") * 1000
# The columns of a click that may have a string of its holder alone.
TELLING = ("domain", "campaign", "referrer_host", "referrer_site", "city", "region",
           "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content",
           "device_model", "verdict_reason", "ua_version", "language")

Holder = collections.namedtuple("Holder", "account owner")
NOBODY = Holder("", "")


def held(row):
    return Holder(row["account"], row["owner"])


class Link:
    """A link of a code: `lives` has (from ms, holder), `versions` its rows."""

    def __init__(self, world, link_id, code, begin_ms, end_ms, lives):
        self.world = world
        self.link_id = link_id
        self.code = code
        self.begin_ms, self.end_ms = begin_ms, end_ms
        self.lives = lives
        self.versions = []
        self.renewed = {}  # {version: end in ms}
        self.reclaimed = False

    @property
    def newest(self):
        return self.versions[-1]

    @property
    def holder(self):
        return self.lives[-1][1]

    def life_at(self, at_ms):
        """Returns the index of the holder then, or None."""
        found = [i for i, (begin, _) in enumerate(self.lives) if begin <= at_ms]
        return found[-1] if found else None

    @property
    def ends_ms(self):
        """Returns the present end; 0: never."""
        end = self.newest["ends_ms"]
        return end and max(end, self.renewed.get(self.newest["version"], 0))


class World:
    def __init__(self, seed, links=14, clicks=420, late=40):
        self.chance = random.Random(seed)
        self.seed = seed
        self.accounts = [f"{name}{self.chance.randrange(1 << 16):04x}x"
                         for name in ("acme", "bank", "shop")]
        self.holders = [Holder(a, o) for a in self.accounts for o in OWNERS]
        self.links = []
        for number in range(1, links + 1):
            self._make_code(number)
        self.by_id = {link.link_id: link for link in self.links}
        self.present = {}
        for link in self.links:
            self.present[link.code] = max(self.present.get(link.code, 0), link.link_id)
        self.rows = self._make_clicks(clicks)
        # Clicks that come when the days are settled: one day is open again.
        self.late = self._make_clicks(late, days=(1,))
        self.creations = [self._creation(link) for link in self.links]
        self._number_tokens()

    # --- making ----------------------------------------------------------------

    def mark(self, holder):
        """Returns the string of this holder alone."""
        digest = hashlib.sha256(repr((self.seed, holder)).encode()).hexdigest()
        return "mk" + "".join(LETTERS[int(digest[i:i + 2], 16) % 15] for i in range(0, 20, 2))

    def _text(self, holder, kind):
        """Returns a string that others have, too, or not."""
        return self.chance.choice([f"common-{kind}", f"{kind}-{self.mark(holder)}"])

    def _moment(self):
        """Returns a time among the clicks, in ms."""
        day, hour = self.chance.randrange(DAYS), self.chance.choice(HOURS)
        return (FROM + day * DAY + hour * HOUR) * 1000 + self.chance.randrange(HOUR * 1000)

    def _make_code(self, number):
        """Makes the links of a code: one, or two of different accounts."""
        code = "".join(self.chance.choice(LETTERS) for _ in range(7))
        begin = (FROM - 5 * DAY) * 1000 + number * 1000
        first = self.chance.choice(self.holders)
        again = self.chance.random() < 0.4
        end = self._moment() if again else None
        link = self._make_link(number, 1, code, begin, end, first)
        if again:
            link.reclaimed = self.chance.random() < 0.7
            other = self.chance.choice([h for h in self.holders
                                        if h.account != link.holder.account])
            self._make_link(number, 2, code, end + 1000, None, other)

    def _make_link(self, number, generation, code, begin, end, holder):
        link_id = 1 << 57 | generation << 42 | (number * BLOCK + number)
        changes = sorted(at for at in (self._moment() for _ in range(
            self.chance.choice([0, 1, 2, 2]))) if at > begin and at < (end or FAR_MS))
        lives = [(begin, holder)]
        for at in changes:
            before = lives[-1][1]
            mine = self.chance.random() < 0.4  # within the account
            lives.append((at, self.chance.choice([
                h for h in self.holders
                if h != before and (h.account == before.account) == mine])))
        link = Link(self, link_id, code, begin, end, lives)
        for at, whose in lives:
            for _ in range(self.chance.choice([1, 1, 2])):
                link.versions.append(self._version(link, len(link.versions) + 1, at, whose))
        if link.ends_ms and self.chance.random() < 0.5:
            link.renewed[self.chance.choice(link.versions)["version"]] = \
                FAR_MS + self.chance.randrange(1000) * 1000
        self.links.append(link)
        return link

    def _version(self, link, version, at, holder):
        ends = self.chance.choice([0, (FROM - DAY) * 1000, FAR_MS])
        ends += self.chance.randrange(10 ** 6) if ends else 0
        # The block of a link that was reclaimed has ended.
        ends = link.end_ms or ends
        mark = self.mark(holder)
        return {
            "version": version, "holder": holder, "at_ms": at, "ends_ms": ends,
            "state": "live" if link.end_ms else self.chance.choices(
                ["live", "paused", "blocked", "deleted"], [70, 10, 10, 10])[0],
            "url": f"https://{mark}.example/{self.chance.choice('ab')}"
                   if self.chance.random() < 0.8 else "https://common.example/",
            "targets": {"ios": f"https://ios.{mark}.example/{version}"}
                       if self.chance.random() < 0.3 else {},
            "campaign": self._text(holder, "campaign"), "domain": self._text(holder, "domain"),
            "tags": sorted({self._text(holder, "tag") for _ in range(self.chance.randrange(3))}),
            "description": f"text of {mark}", "creator": f"maker-{mark}",
            "editor": f"editor-{mark}"}

    def _make_clicks(self, count, days=range(DAYS)):
        rows = []
        while len(rows) < count:
            day, hour = self.chance.choice(days), self.chance.choice(HOURS)
            at = (FROM + day * DAY + hour * HOUR) * 1000 + \
                self.chance.randrange(HOUR * 1000)
            row = self._click(at, self.chance.choice([*self.links, None]))
            rows += [row] if row else []
        return sorted(rows, key=lambda row: row["ts_ms"])

    def _click(self, at, link):
        if not link:
            # A request for a code that nobody has.
            return self._told(NOBODY, make_click(
                self.chance, at, 0, code="absent", outcome="not_found", account="", owner="",
                tags=[], campaign="", url=""))
        life = link.life_at(at)
        if life is None:
            return None
        holder = link.lives[life][1]
        if link.end_ms and at >= link.end_ms:
            # The code has a new link; or its end was seen, and no holder any more.
            if self.present[link.code] != link.link_id or self.chance.random() < 0.7:
                return None
        elif self.chance.random() > 0.03:
            version = [v for v in link.versions if v["holder"] == holder][-1]
            return self._told(holder, make_click(
                self.chance, at, link.link_id, code=link.code, account=holder.account,
                owner=holder.owner, tags=version["tags"], url=self.chance.choice(
                    [version["url"], *version["targets"].values()])))
        return self._told(NOBODY, make_click(
            self.chance, at, link.link_id, code=link.code, outcome="expired", account=UNKNOWN,
            owner=UNKNOWN, tags=[], url=""))

    def _told(self, holder, row):
        """Puts strings of the holder into a click."""
        row["event_id"] = str(uuid.UUID(int=self.chance.getrandbits(128)))
        for name in self.chance.sample(TELLING, 8):
            row[name] = self._text(holder, name)
        return row

    def _creation(self, link):
        first = link.versions[0]
        return {"link_id": link.link_id, "slot": FROM + self.chance.randrange(
                    DAYS * DAY // 900) * 900,
                "account": first["holder"].account, "owner": first["holder"].owner,
                "domain": first["domain"], "source": self.chance.choice(["single", "batch"])}

    # --- the archive -------------------------------------------------------------

    def insert_links(self, migrated):
        """All versions are rows, which no merge joins."""
        migrated.clickhouse.query("ALTER TABLE links MODIFY SETTING "
                                  "max_bytes_to_merge_at_max_space_in_pool = 1")
        rows = [self._row(link, v) for link in self.links for v in link.versions]
        self.chance.shuffle(rows)
        for n in range(3):
            migrated._insert("links", rows[n::3])
        renewed = [{"link_id": link.link_id, "version": version, "ends_at": datetime64(at)}
                   for link in self.links for version, at in link.renewed.items()]
        if renewed:
            migrated._insert("link_ends", renewed)
        taken = [{"first_id": link.link_id - link.link_id % (1 << 42) % BLOCK,
                  "reclaimed_at": datetime64(link.end_ms + 500)}
                 for link in self.links if link.reclaimed]
        if taken:
            migrated._insert("reclaimed_blocks", taken)

    def _row(self, link, v):
        return {
            "code": link.code, "link_id": link.link_id, "version": v["version"], "space": "s7",
            "generation": link.link_id >> 42 & 0x7fff, "change": "changed", "state": v["state"],
            "ttl_class": "10d", "created_at": datetime64(link.begin_ms),
            "changed_at": datetime64(v["at_ms"]),
            "expires_at": datetime64(v["ends_ms"]) if v["ends_ms"] else 0,
            "redirect_status": 302, "account": v["holder"].account, "owner": v["holder"].owner,
            "url_digests": [digest_bytes(u) for u in (v["url"], *v["targets"].values())],
            **{name: v[name] for name in ("url", "targets", "campaign", "domain", "tags",
                                          "description", "creator", "editor")}}

    # --- strings that are somebody's ------------------------------------------------

    def _number_tokens(self):
        """A token is what only some may read: a holder's string, an account, a code, a
        link's number, an event, the digest of a URL."""
        tokens = {*self.accounts, *(self.mark(h) for h in (*self.holders, NOBODY)),
                  *(row["event_id"] for row in self.rows + self.late)}
        for link in self.links:
            tokens |= {link.code, str(link.link_id)}
            for v in link.versions:
                tokens |= {url_digest(u) for u in (v["url"], *v["targets"].values())}
        self.pattern = re.compile("|".join(map(re.escape, sorted(tokens))))

    def tokens(self, text):
        """Returns the tokens in an answer; in a cursor a link's number is hexadecimal."""
        hexadecimal = {str(link_id) for link_id in self.by_id if f"{link_id:016x}" in text}
        return set(self.pattern.findall(text)) | hexadecimal

    def tokens_of_rows(self, rows):
        return self.tokens("\n".join(
            json.dumps(row) + url_digest(row["url"]) for row in rows))

    def tokens_of_link(self, link):
        v = link.newest
        return self.tokens(json.dumps([link.code, str(link.link_id), v, *map(
            url_digest, (v["url"], *v["targets"].values()))]))

    # --- what became of links ----------------------------------------------------

    def state(self, link, now_ms):
        if link.reclaimed or self.present[link.code] != link.link_id:
            return "reclaimed"
        state = link.newest["state"]
        if state in ("live", "paused") and link.ends_ms and link.ends_ms <= now_ms:
            return "expired"
        return state

    @property
    def all_rows(self):
        return self.rows + self.late


class Filter(collections.namedtuple("Filter", "values excepted")):
    def __str__(self):
        """Returns the filter as a query has it."""
        texts = [re.sub(r"^-", r"\\-", re.sub(r"([\\,])", r"\\\1", v)) for v in self.values]
        return "-" * self.excepted + ",".join(texts)


def passes(row, filters):
    """Returns whether a click passes {dimension: Filter}."""
    return all(any(value in f.values for value in values_of(row, name)) != f.excepted
               for name, f in filters.items())


class Caller:
    """A key or a share: `account` None: of all; `owners` None: any.  A share may be of one
    link, or have filters."""

    def __init__(self, world, name, account=None, owners=None, link=None, filters=None,
                 token=None, admin=False, visitors=False):
        self.world = world
        self.name = name
        self.account, self.owners = account, owners
        self.link, self.filters = link, filters or {}
        self.token = token
        self.admin, self.visitors = admin, visitors
        self._allowed = None

    def __repr__(self):
        return self.name

    @property
    def is_share(self):
        return self.token is not None

    @property
    def sees_all(self):
        return self.account is None

    @property
    def headers(self):
        return {"Authorization": f"Share {self.token}" if self.is_share
                else f"Bearer {self.name}"}

    def holds(self, holder):
        return (self.account in (None, holder.account) and
                (self.owners is None or holder.owner in self.owners))

    def sees_link(self, link):
        return self.holds(link.holder) and self.link in (None, link)

    def links(self):
        return [link for link in self.world.links if self.sees_link(link)]

    def clicks(self, rows=None):
        """Returns the clicks of questions about many links."""
        return [r for r in (self.world.all_rows if rows is None else rows)
                if passes(r, self.filters) and (
                    self.sees_all or r["link_id"] and self.holds(held(r)))]

    def clicks_of_link(self, link, rows=None):
        """Those of a visit after its end have no holder."""
        return [r for r in (self.world.all_rows if rows is None else rows)
                if r["link_id"] == link.link_id and passes(r, self.filters) and (
                    r["account"] == UNKNOWN or self.holds(held(r)))]

    def allowed(self):
        """Returns the tokens that an answer to this caller may have."""
        if self._allowed is None:
            world = self.world
            links = self.links()
            rows = self.clicks() if not self.link else []
            for link in links:
                rows = rows + self.clicks_of_link(link)
            told = world.tokens_of_rows(rows)
            if self.filters:
                # Links of no click that passes are not told.
                clicked = {r["link_id"] for r in rows}
                links = [link for link in links if link.link_id in clicked]
            for link in links:
                told |= world.tokens_of_link(link)
            for made in world.creations if not self.is_share else ():
                if self.holds(held(made)):
                    told |= world.tokens(json.dumps(made["domain"]))
            self._allowed = told | world.tokens(repr((self.account, self.filters)))
        return self._allowed


def counts_of(rows, bots="exclude"):
    """Returns the counts of rows without visitors."""
    clicks, humans = sum(map(is_click, rows)), sum(map(is_human, rows))
    prefetches = sum(is_click(r) and r["verdict"] == "prefetch" for r in rows)
    return {"events": len(rows), "humans": humans, "prefetches": prefetches,
            "bots": clicks - humans - prefetches,
            "clicks": {"exclude": humans, "include": clicks, "only": clicks - humans}[bots]}
