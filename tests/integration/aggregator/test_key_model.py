"""Keys and questions, both drawn: three accounts whose owners have the same names, with
links that change hands and codes that are issued again.  Each answer has what a model in
Python counts for its caller, and no string of a holder that the caller does not read."""
import collections
import concurrent.futures
import csv
import io
import json
import os
import random
import time
import uuid

import pytest
import requests

from support.allocator import *  # noqa: F401,F403
from support.clicks import (DAILY, DIMENSIONS, groups_of, hours_events, instant, is_click,
                            rfc3339, url_digest, values_of, without_visitors)
from support.copied_days import wait_copied
from support.key_world import (BLOCK, DAY, DAYS, FROM, LETTERS, OWNERS, TO, Caller, Filter, World,
                               counts_of, held, passes)
from support.program import eventually
from support.spaces import USUAL, aliases, sequence
from support.sse import Stream

LINKS_SECTION = {**USUAL, "ttl_classes": ["10d"],
                 "spaces": [sequence(block_size=BLOCK), aliases()]}
SEEDS = int(os.environ.get("KEY_MODEL_SEEDS", 6))
QUESTIONS = int(os.environ.get("KEY_MODEL_QUESTIONS", 150))  # of each of these seeds
TOGETHER = 3  # callers that send a question at once
BOTS = ("exclude", "include", "only")
GROUPS = (*DIMENSIONS, *DAILY, "owner")
FILTERS = ("country", "channel", "campaign", "tag", "domain", "referrer_host", "utm_source",
           "city", "device_class", "url", "account", "owner")


# --- callers -------------------------------------------------------------------------

def key_lines(world):
    """Returns {key: (words of its line, the caller's rights)}."""
    keys = {"boss": ("admin", {"admin": True}), "eye": ("read accounts=*", {})}
    for account in world.accounts:
        of = {"account": account}
        keys |= {
            f"{account}-all": (f"read account={account}", of),
            f"{account}-own": (f"read-own,visitors account={account}", {**of, "visitors": True}),
            f"{account}-ann": (f"read account={account} owners=ann", {**of, "owners": ["ann"]}),
            f"{account}-two": (f"read account={account} owners=bob,ann",
                               {**of, "owners": ["bob", "ann"]}),
            f"{account}-none": (f"read-own account={account} owners=",
                                {**of, "owners": [""]})}
    return keys


class Asker:
    """Sends questions as callers, and looks at every byte of what comes."""

    def __init__(self, made, world, chance):
        self.made, self.world, self.chance = made, world, chance
        self.callers = [Caller(world, name, **rights)
                        for name, (_, rights) in key_lines(world).items()]
        self.shares = {}  # {id: share's caller}
        self.sessions = collections.defaultdict(requests.Session)

    def call(self, caller, path, params=None, method="GET", headers=None, **how):
        session = self.sessions[caller.name]
        session.trust_env = False
        answer = session.request(method, self.made.url + path, params=params, timeout=60,
                                 headers={**caller.headers, **(headers or {})}, **how)
        self.assert_nothing_foreign(caller, answer, str([path, params, how]))
        return answer

    def assert_nothing_foreign(self, caller, answer, asked):
        """Strings of the request itself tell nothing."""
        if caller.sees_all and not caller.filters:
            return
        told = self.world.tokens(answer.text) | self.world.tokens(
            json.dumps(dict(answer.headers)))
        foreign = told - caller.allowed() - self.world.tokens(asked)
        assert not foreign, (caller, asked, foreign, answer.text[:3000])

    def make_shares(self):
        """Each maker shares a link that it reads, and clicks that filters take."""
        world, chance = self.world, self.chance
        keys = [c for c in self.callers if not c.admin]
        for number in range(8):
            maker = chance.choice(keys)
            link = chance.choice(maker.links() or [None])
            if number % 2 and link:
                body = {"link_id": str(link.link_id)}
                rights = {"account": link.holder.account, "owners": maker.owners, "link": link}
            else:
                rights = {"account": maker.account, "owners": maker.owners}
                whose = {}
                if maker.sees_all and chance.random() < 0.7:
                    rights["account"] = chance.choice(world.accounts)
                    whose["account"] = Filter((rights["account"],), False)
                if rights["account"] and chance.random() < 0.5:
                    owner = chance.choice(maker.owners or OWNERS)
                    rights["owners"] = [owner]
                    whose["owner"] = Filter((owner,), False)
                # All keys that read what a share shows read its filters, too.
                clicks = Caller(world, "", **rights).clicks()
                rights["filters"] = {name: some_filter(chance, world, name, clicks)
                                     for name in chance.sample(
                                         ["campaign", "domain", "utm_term"],
                                         chance.choice([0, 1]) if clicks else 0)}
                filters = {**rights["filters"], **whose}
                body = {"filters": {name: str(f) for name, f in filters.items()}}
            answer = self.call(maker, "/v1/shares", method="POST", json=body)
            assert answer.status_code == 201, (maker, body, answer.text)
            made = answer.json()
            share = Caller(world, f"share {number} of {maker}", token=made["token"], **rights)
            share.listed = rights["account"] or maker.name
            self.shares[made["id"]] = share
            self.callers.append(share)


# --- questions -------------------------------------------------------------------------

# A question is drawn for no caller: `status(caller)` is what each gets, and
# `check(caller, answer)` compares a 200 with the model.
Question = collections.namedtuple("Question", "path params status check")


def some_value(chance, rows, name):
    """Returns a value of a dimension that one of these clicks has."""
    values = [value for row in rows for value in values_of(row, name)[:1]
              if value or name in ("country", "utm_term")]
    return chance.choice(values or [f"common-{name}"])


def some_filter(chance, world, name, rows=None):
    """Returns a filter by values of any clicks, or of these."""
    if name == "account":
        return Filter((chance.choice(world.accounts),), False)
    if name == "owner":
        return Filter((chance.choice(OWNERS),), False)
    values = {some_value(chance, rows or world.all_rows, name)
              for _ in range(chance.choice([1, 1, 2]))}
    return Filter(tuple(sorted(values)), chance.random() < 0.2)


def some_filters(chance, world, names=FILTERS):
    return {name: some_filter(chance, world, name)
            for name in chance.sample(names, chance.choice([0, 0, 1, 1, 2]))}


def some_range(chance):
    return chance.choice([
        (FROM, TO), (FROM, TO), (FROM, TO - DAY), (FROM + DAY, TO),
        (FROM + 3 * 3600 + 900, TO - 9 * 3600 - 2700), (FROM - DAY, TO - DAY + 4 * 3600 - 900),
        (FROM + DAY + 4500, FROM + DAY + 15 * 3600 - 900)])


def span_of(start, end):
    return {"from": rfc3339(start), "to": rfc3339(end)}


def within(rows, start, end):
    return [r for r in rows if start * 1000 <= r["ts_ms"] < end * 1000]


def names_owner_of_no_account(caller, filters, *groups):
    """Returns whether a caller of all accounts names owners beside no account."""
    return caller.sees_all and "account" not in filters and (
        "owner" in filters or "owner" in groups)


def some_link(chance, world, by_code):
    """Returns (the parameter, the link that it means); half of them changed hands."""
    link = chance.choice([*world.links, *(link for link in world.links if link.lives[1:])])
    if not by_code:
        return {"link_id": str(link.link_id)}, lambda caller: link

    def meant(caller):
        # The code of a share stands for its link.
        if caller.link and caller.link.code == link.code:
            return caller.link
        return world.by_id[world.present[link.code]]
    return {"code": link.code}, meant


def draw_clicks(chance, world):
    start, end = some_range(chance)
    bots = chance.choice(BOTS)
    filters = some_filters(chance, world)
    shape = chance.choice(["plain", "group", "group", "group", "pair", "breakdowns", "compare"])
    named, meant = some_link(chance, world, chance.random() < 0.5) \
        if chance.random() < 0.25 else ({}, lambda caller: caller.link)
    groups = {"group": 1, "pair": 2, "breakdowns": 4}.get(shape, 0)
    groups = chance.sample([*GROUPS, "link", "account", "owner", "campaign", "tag", "url"], groups)
    if shape == "pair" and len(set(groups) - {"tag"}) < 2:
        groups = ["campaign", "link"]
    groups = list(dict.fromkeys(groups))
    params = {**span_of(start, end), "bots": bots, "interval": chance.choice(
        ["day", "month", "hour"]), **named,
        **{name: str(f) for name, f in filters.items()}}
    if shape == "breakdowns":
        params["breakdowns"] = ",".join(groups)
    elif groups:
        params["group_by"] = ",".join(groups)
    if shape == "compare":
        start, end = FROM + DAY + 3600, FROM + 2 * DAY + 3600
        params |= {**span_of(start, end), "compare": "previous"}
    limit = chance.choice([100, 100, 3]) if groups else 100
    params["limit"] = limit

    def status(caller):
        link = meant(caller)
        if link and not caller.sees_link(link):
            return 404
        # The other dimension of a pair may name the account.
        named = () if shape == "pair" and "account" in groups else groups
        return 400 if names_owner_of_no_account(caller, filters, *named) else 200

    def rows_of(caller):
        link = meant(caller)
        rows = caller.clicks_of_link(link) if link else caller.clicks()
        return [r for r in rows if passes(r, filters)]

    def check(caller, answer):
        rows, answer = rows_of(caller), answer.json()
        inside = within(rows, start, end)
        assert without_visitors(answer["total"]) == counts_of(inside, bots)
        assert sum(item["events"] for item in answer["data"]) == len(inside)
        parts = answer["breakdowns"] if shape == "breakdowns" else [answer] if groups else []
        names = [[name] for name in groups] if shape == "breakdowns" else [groups]
        for part, of in zip(parts, names):
            assert_groups(part, inside, of, bots, limit)
        if shape == "compare":
            before = within(rows, start - DAY, end - DAY)
            assert without_visitors(answer["compare"]["total"]) == counts_of(before, bots)
    return Question("/v1/clicks", params, status, check)


def assert_groups(part, rows, names, bots, limit):
    if len(names) == 1:
        expected = groups_of(rows, names[0], bots)
        told = {g["value"]: without_visitors({k: v for k, v in g.items() if k != "value"})
                for g in part["groups"]}
    else:
        found = collections.defaultdict(list)
        for row in rows:
            for one in values_of(row, names[0]):
                for other in values_of(row, names[1]):
                    found[one, other].append(row)
        expected = {values: counts_of(some, bots) for values, some in found.items()}
        told = {tuple(g["values"]): without_visitors(
            {k: v for k, v in g.items() if k != "values"}) for g in part["groups"]}
    if len(expected) > limit:
        assert len(told) == limit
        assert sorted(g["clicks"] for g in told.values()) == sorted(
            (g["clicks"] for g in expected.values()), reverse=True)[:limit][::-1]
        expected = {value: expected[value] for value in told}
    assert told == expected, names


def draw_top(chance, world):
    grows = chance.random() < 0.3
    start, end = (FROM + DAY, FROM + 2 * DAY) if grows else some_range(chance)
    bots, filters = chance.choice(BOTS), some_filters(chance, world)
    params = {**span_of(start, end), "bots": bots,
              **{name: str(f) for name, f in filters.items()},
              **({"sort": "growth"} if grows else {})}

    def status(caller):
        if caller.link:
            return 403
        return 400 if names_owner_of_no_account(caller, filters) else 200

    def check(caller, answer):
        rows = [r for r in caller.clicks() if r["link_id"] and passes(r, filters)]
        now, before = ({link: counts_of(some, bots)["clicks"] for link, some in by_link(
            within(rows, *span)).items()} for span in (
                (start, end), (2 * start - end, start)))
        rank = {link: now.get(link, 0) - (before.get(link, 0) if grows else 0)
                for link in {*now, *before}}
        best = sorted((-n, link) for link, n in rank.items() if n > 0)
        told = answer.json()["links"]
        assert [(int(link["link_id"]), link["clicks"]) for link in told] == [
            (link, now[link]) for _, link in best]
        for item in told:
            link = world.by_id[int(item["link_id"])]
            assert item["code"] == link.code
            assert item["url"] == (link.newest["url"] if caller.holds(link.holder) else "")
    return Question("/v1/top", params, status, check)


def by_link(rows):
    found = collections.defaultdict(list)
    for row in rows:
        found[row["link_id"]].append(row)
    return found


def refused_to_shares(caller):
    return 403 if caller.is_share else 200


LINK_FILTERS = {
    "q": lambda chance, link: chance.choice([
        "common", "example", link.code[1:5].upper(), link.newest["url"][8:20],
        link.versions[0]["description"], f"tag-{link.versions[0]['url'][8:16]}"]),
    "tag": lambda chance, link: (chance.choice(link.versions)["tags"] or ["common-tag"])[0],
    "campaign": lambda chance, link: chance.choice(link.versions)["campaign"],
    "domain": lambda chance, link: chance.choice(link.versions)["domain"],
    "url": lambda chance, link: chance.choice(link.versions)["url"],
    "code": lambda chance, link: link.code[:chance.choice([1, 7])],
    "state": lambda chance, link: chance.choice(
        ["live", "paused", "blocked", "deleted", "expired", "reclaimed"]),
    "account": lambda chance, link: chance.choice(link.versions)["holder"].account,
    "owner": lambda chance, link: chance.choice(link.versions)["holder"].owner,
}


def link_passes(world, link, filters):
    v = link.newest
    texts = [v["url"], v["description"], link.code, v["holder"].owner, v["campaign"], *v["tags"]]
    tests = {
        "q": lambda text: any(text.lower() in t.lower() for t in texts),
        "tag": lambda tag: tag in v["tags"], "code": link.code.startswith,
        "state": lambda state: world.state(link, time.time() * 1000) == state,
        "account": lambda name: v["holder"].account == name,
        "owner": lambda name: v["holder"].owner == name}
    return all(tests.get(name, lambda text, n=name: v[n] == text)(text)
               for name, text in filters.items())


def clicks_of_list(caller, link, start, end, bots):
    """Whole days count as they were settled last."""
    first, last = -(-start // DAY) * DAY, end // DAY * DAY
    if first > last:
        return counts_of(within(caller.clicks_of_link(link), start, end), bots)
    rows = within(caller.clicks_of_link(link, caller.world.rows), first, last)
    for part in (start, first), (last, end):
        rows = rows + within(caller.clicks_of_link(link), *part)
    return counts_of(rows, bots)


def draw_list(chance, world):
    """Pages are read to the end by `check`, which the first is given to."""
    filters = {name: LINK_FILTERS[name](chance, chance.choice(world.links))
               for name in chance.sample(sorted(LINK_FILTERS), chance.choice([0, 0, 1, 1, 2]))}
    sort, ascending = chance.choice(["created", "clicks", "ends"]), chance.random() < 0.5
    counts = sort == "clicks" or chance.random() < 0.3
    start, end = some_range(chance)
    bots = chance.choice(BOTS)
    params = {**filters, "sort": sort, "order": "asc" if ascending else "desc",
              "limit": chance.choice([4, 9, 100]), "total": "true",
              **({"clicks": "true", "bots": bots, **span_of(start, end)} if counts else {})}

    def status(caller):
        if caller.is_share:
            return 403
        return 400 if names_owner_of_no_account(caller, filters) else 200

    def expected(caller):
        found = [link for link in caller.links() if link_passes(world, link, filters)]

        def place(link):
            clicks = clicks_of_list(caller, link, start, end, bots)["clicks"]
            return {"created": (link.begin_ms,), "ends": (link.ends_ms or 1 << 62,),
                    "clicks": (clicks, 0 if clicks else link.begin_ms)}[sort]
        return sorted(found, key=lambda link: (*place(link), link.link_id),
                      reverse=not ascending)

    def check(caller, answer, ask):
        first = answer.json()
        told = first["links"]
        for _ in range(60):
            cursor = answer.json()["next"]
            if not cursor:
                break
            answer = ask(caller, "/v1/links", {**params, "cursor": cursor})
            assert answer.status_code == 200, answer.text
            told += answer.json()["links"]
        wanted = expected(caller)
        assert [int(item["link_id"]) for item in told] == [link.link_id for link in wanted]
        assert first["total"] == {"links": len(wanted), "exact": True}
        for item, link in zip(told, wanted):
            assert_link(item, link)
            if counts:
                by_hand = clicks_of_list(caller, link, start, end, bots)
                assert {name: item[name] for name in by_hand if name in item} == {
                    name: by_hand[name] for name in by_hand if name != "events"}
    return Question("/v1/links", params, status, check)


def assert_link(item, link):
    v = link.newest
    assert {name: item[name] for name in ("code", "url", "account", "owner", "version", "tags",
                                          "campaign", "domain", "description", "creator",
                                          "editor", "state", "current")} == {
        "code": link.code, "account": v["holder"].account, "owner": v["holder"].owner or None,
        "state": link.world.state(link, time.time() * 1000),
        "current": link.world.present[link.code] == link.link_id,
        **{name: v[name] for name in ("url", "version", "tags", "campaign", "domain",
                                      "description", "creator", "editor")}}
    assert (item["expires_at"] and instant(item["expires_at"]) or 0) == link.ends_ms // 1000


def of_a_link(chance, world, path, in_path, check, status=None, **params):
    """A question about one link, by its code or its number."""
    by_code = in_path or chance.random() < 0.5
    named, meant = some_link(chance, world, by_code)

    def status_of(caller):
        if caller.filters or caller.is_share and not caller.link:
            return 403
        return 200 if caller.sees_link(meant(caller)) else 404
    if in_path:
        path, named = path.format(named["code"]), {}
    return Question(path, {**named, **params}, status or status_of,
                    lambda caller, answer: check(caller, answer, meant(caller)))


def draw_summary(chance, world):
    def check(caller, answer, link):
        answer, counts = answer.json(), counts_of(caller.clicks_of_link(link))
        assert answer["link_id"] == str(link.link_id)
        assert {name: answer[name] for name in counts if name in answer} == {
            name: counts[name] for name in counts if name in answer}
        assert answer["events"] == counts["events"]
        assert (answer["url"], answer["owner"] or "") == (
            link.newest["url"], link.holder.owner)
    in_path = chance.random() < 0.5
    return of_a_link(chance, world, "/v1/links/{}/summary" if in_path else "/v1/summary",
                     in_path, check)


def draw_history(chance, world):
    code = chance.choice(world.links).code

    def seen(caller):
        return sorted((link for link in caller.links() if link.code == code),
                      key=lambda link: -link.link_id)

    def status(caller):
        return 403 if caller.is_share else 200 if seen(caller) else 404

    def check(caller, answer):
        told = answer.json()["links"]
        assert [int(item["link_id"]) for item in told] == [
            link.link_id for link in seen(caller)]
        for item, link in zip(told, seen(caller)):
            assert_link(item, link)
    return Question(f"/v1/links/{code}/history", {}, status, check)


def draw_visits(chance, world):
    """Days count as they were settled last."""
    def check(caller, answer, link):
        if answer.headers["Content-Type"].startswith("text/csv"):
            days = list(csv.DictReader(io.StringIO(answer.text)))
        else:
            days = answer.json()["days"]
        rows = caller.clicks_of_link(link, world.rows)
        assert len(days) == DAYS
        for number, day in enumerate(days):
            mine = within(rows, FROM + number * DAY, FROM + (number + 1) * DAY)
            counts = counts_of(mine)
            assert [int(day[name]) for name in ("pv", "effective", "ineffective")] == [
                counts["events"], counts["humans"], counts["events"] - counts["humans"]]
    return of_a_link(chance, world, "/v1/visit-statistics", False, check,
                     **span_of(FROM, TO), format=chance.choice(["json", "csv"]))


def draw_values(chance, world):
    of = chance.choice(["tag", "campaign", "domain", "owner"])
    text = chance.choice([None, None, "common", "MK",
                          chance.choice(world.links).newest["url"][8:14]])
    account = chance.choice([None, *world.accounts])
    params = {"of": of, **({"q": text} if text else {}),
              **({"account": account} if account else {})}

    def status(caller):
        if caller.is_share:
            return 403
        return 400 if caller.sees_all and of == "owner" and not account else 200

    def check(caller, answer):
        found = collections.Counter()
        for link in caller.links():
            if account in (None, link.holder.account):
                of_link = {"tag": link.newest["tags"], "owner": [link.holder.owner]}.get(
                    of) if of in ("tag", "owner") else [link.newest[of]]
                found.update(v for v in of_link if v and (text or "").lower() in v.lower())
        answer = answer.json()
        assert {item["value"]: item["links"] for item in answer["values"]} == found
        assert answer["more"] is False
    return Question("/v1/values", params, status, check)


def draw_creations(chance, world):
    group = chance.choice(["domain", "account", "owner", "source", None])
    filters = {name: {"account": chance.choice(world.accounts), "owner": chance.choice(OWNERS),
                      "domain": chance.choice(world.creations)["domain"]}[name]
               for name in chance.sample(["account", "owner", "domain"], chance.choice([0, 1, 2]))}
    params = {**span_of(FROM, TO), "interval": chance.choice(["total", "day"]), **filters,
              **({"group_by": group} if group else {})}

    def status(caller):
        if caller.is_share:
            return 403
        return 400 if names_owner_of_no_account(caller, filters, group) else 200

    def check(caller, answer):
        found = [c for c in world.creations if caller.holds(held(c)) and all(
            c[name] == value for name, value in filters.items())]
        answer = answer.json()
        assert answer["total"] == {"links": len(found)}
        if group:
            assert {g["value"]: g["links"] for g in answer["groups"]} == collections.Counter(
                c[group] for c in found)
    return Question("/v1/creations", params, status, check)


def draw_export(chance, world):
    """An export goes on from its cursors to its end."""
    kind = chance.choice(["all", "all", "link", "account", "owner"])
    named, meant = some_link(chance, world, chance.random() < 0.5) if kind == "link" else ({}, None)
    account, owner = chance.choice(world.accounts), chance.choice(OWNERS)
    if kind in ("account", "owner"):
        named = {"account": account, **({"owner": owner} if kind == "owner" else {})}
    start, end = some_range(chance)
    url = some_value(chance, world.all_rows, "url") if chance.random() < 0.2 else None
    visitor = chance.choice(world.rows)["unique_identity"] if chance.random() < 0.2 else None
    params = {**named, **span_of(start, end), "format": chance.choice(["ndjson", "csv"]),
              **({"url": url} if url else {}), "limit": chance.choice([1000, 1000, 40]),
              **({"visitor": visitor.encode().hex()} if visitor else {})}

    def status(caller):
        if caller.is_share or visitor and not (caller.admin or caller.visitors):
            return 403
        return 404 if kind == "link" and not caller.sees_link(meant(caller)) else 200

    def expected(caller):
        if kind == "link":
            rows = caller.clicks_of_link(meant(caller))
        elif caller.sees_all and kind == "all":
            rows = world.all_rows
        else:
            rows = [row for link in caller.links() for row in caller.clicks_of_link(link)
                    if kind == "all" or link.holder.account == account and (
                        kind == "account" or link.holder.owner == owner)]
        return {row["event_id"] for row in within(rows, start, end)
                if url in (None, url_digest(row["url"])) and
                visitor in (None, row["unique_identity"])}

    def events(answer):
        """Returns (events, the last cursor, whether it is the end)."""
        if params["format"] == "csv":
            rows = list(csv.DictReader(io.StringIO(answer.text)))
            ended = len(rows) < params["limit"]
        else:
            *rows, end_of = map(json.loads, answer.text.splitlines())
            ended = end_of["end"]["complete"]
        return [row["event_id"] for row in rows], rows and rows[-1].get("cursor"), ended

    def check(caller, answer, ask):
        told, cursor, ended = events(answer)
        for _ in range(30):
            if ended:
                break
            answer = ask(caller, "/v1/export/clicks", {**params, "cursor": cursor})
            assert answer.status_code == 200, answer.text
            more, cursor, ended = events(answer)
            told += more
        assert len(told) == len(set(told)) and set(told) == expected(caller)
    return Question("/v1/export/clicks", params, status, check)


def draw_me(chance, world):
    path = chance.choice(["/v1/me", "/v1/pipeline", "/v1/reclaim-runs", "/v1/archived-spaces"])

    def status(caller):
        if path == "/v1/me":
            return 200
        if caller.is_share or not caller.sees_all:
            return 403
        return 200 if caller.admin or path == "/v1/pipeline" else 403
    return Question(path, {}, status, lambda caller, answer: None)


DRAWS = [(draw_clicks, 10), (draw_top, 4), (draw_list, 6), (draw_summary, 3), (draw_history, 3),
         (draw_visits, 4), (draw_values, 3), (draw_creations, 3), (draw_export, 5), (draw_me, 1)]
PAGED = ("/v1/links", "/v1/export/clicks")


# --- the world in an archive -----------------------------------------------------------

@pytest.fixture
def asker(migrated, clickhouse, redis, program, created_spaces, links_config, keys_file):
    """asker(seed) settles a world and returns its Asker."""
    def make(seed):
        world = World(seed)
        keys_file.write({key: words for key, (words, _) in key_lines(world).items()})
        world.insert_links(migrated)
        migrated.insert(world.rows)
        migrated.creations(world.creations)
        migrated.report([], 0, (TO + DAY) * 1000)
        made = program("aggregator", {
            "links": links_config, "clicks": {"late_window": "1m"},
            "aggregator": {"settle_every": "500ms", "watermark_every": "500ms",
                           "resettle_every": "1h", "keys_file": str(keys_file.path),
                           "key_rate": "none",
                           "key_questions_max": 100, "key_exports_max": 100,
                           "exports_max": 100}})
        for kind in ("sealed_day", "owner_day", "value_day", "spanned_day"):
            wait_copied(clickhouse, kind, world.rows)
        migrated.insert(world.late)
        eventually(lambda: hours_events(clickhouse) == len(world.all_rows),
                   what="the late clicks to be settled")
        found = Asker(made, world, random.Random(seed))
        wait_read(found)
        found.make_shares()
        return found
    return make


def wait_read(asker):
    """Waits until each key is told of all clicks."""
    def is_whole(caller):
        events = asker.call(caller, "/v1/clicks", {
            **span_of(FROM, TO), "interval": "month"}).json()["total"]["events"]
        # There must never be too many.
        assert events <= len(caller.clicks()), caller
        return events == len(caller.clicks())
    for caller in asker.callers:
        eventually(lambda c=caller: is_whole(c), what=f"{caller}'s clicks")
    boss = asker.callers[0]
    eventually(lambda: asker.call(boss, "/v1/export/clicks", {**span_of(FROM, TO), "limit": 1})
               .status_code == 200, what="the watermark to be read")
    eventually(lambda: asker.call(boss, "/v1/creations", {
        **span_of(FROM, TO), "interval": "total"}).json()["total"]["links"] == len(
            asker.world.creations), what="the creations")


# --- the comparison ----------------------------------------------------------------------

def ask_together(asker, question, callers):
    """Several callers ask at once: what one is answered, no other is."""
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(lambda caller: asker.call(
            caller, question.path, question.params), callers))


def check_answer(asker, question, caller, answer):
    expected = question.status(caller)
    assert answer.status_code == expected, answer.text
    if expected == 200:
        more = (asker.call,) if question.path in PAGED else ()
        question.check(caller, answer, *more)


def check_etag(asker, question, caller, answer, other):
    """The ETag of one confirms nothing to another that it is not answered itself."""
    etag = answer.headers.get("ETag")
    if not etag or question.path == "/v1/pipeline":  # it changes by itself
        return
    own = asker.call(caller, question.path, question.params, headers={"If-None-Match": etag})
    assert own.status_code == 304
    asked = asker.call(other, question.path, question.params, headers={"If-None-Match": etag})
    again = asker.call(other, question.path, question.params)
    assert asked.status_code == (304 if again.content == answer.content
                                 else question.status(other))


def check_cursor(asker, question, answer, other):
    """The cursor of one shows another its own links or clicks, or none."""
    cursor = cursor_of(question, answer)
    if not cursor:
        return
    asked = asker.call(other, question.path, {**question.params, "cursor": cursor})
    assert asked.status_code in {question.status(other), 400}, asked.text
    if asked.status_code == 200 and question.path == "/v1/links":
        own = {str(link.link_id) for link in other.links()}
        assert {item["link_id"] for item in asked.json()["links"]} <= own


def cursor_of(question, answer):
    if answer.status_code != 200 or question.path not in PAGED:
        return None
    if question.path == "/v1/links":
        return answer.json()["next"]
    if question.params["format"] == "csv":
        rows = list(csv.DictReader(io.StringIO(answer.text)))
    else:
        rows = [json.loads(line) for line in answer.text.splitlines()[:-1]]
    return next((row["cursor"] for row in rows if row.get("cursor")), None)


def some_callers(asker, question):
    """Returns different callers; the first is answered, if any is."""
    answered = [c for c in asker.callers if question.status(c) == 200]
    first = asker.chance.choice(answered or asker.callers)
    return [first, *asker.chance.sample(
        [c for c in asker.callers if c is not first], TOGETHER - 1)]


def compare(asker, count):
    """Asks `count` questions, each of several callers.  Returns what is wrong."""
    draws, weights = zip(*DRAWS)
    wrong = []
    for number in range(count):
        draw = draws[number] if number < len(draws) else asker.chance.choices(draws, weights)[0]
        question = draw(asker.chance, asker.world)
        callers = some_callers(asker, question)
        try:
            answers = ask_together(asker, question, callers)
            for caller, answer in zip(callers, answers):
                check_answer(asker, question, caller, answer)
            if answers[0].status_code == 200:
                check_cursor(asker, question, answers[0], callers[2])
                if number % 2:
                    check_etag(asker, question, callers[0], answers[0], callers[1])
        except AssertionError as e:
            wrong.append(f"question {number}: {question.path} {question.params} of "
                         f"{callers}: {e}")
    return wrong


# --- what is not there -------------------------------------------------------------------

def bytes_of(answer, *names):
    """Returns the whole answer but for its date, with the names that were asked for
    replaced."""
    body = answer.content
    for name in names:
        body = body.replace(name.encode(), b"NAME")
    return answer.status_code, [(k, v) for k, v in answer.headers.items() if k != "Date"], body


HIDDEN = [
    ("GET", "/v1/clicks?code={code}"), ("GET", "/v1/clicks?link_id={link_id}&group_by=tag"),
    ("GET", "/v1/links/{code}/summary"), ("GET", "/v1/summary?link_id={link_id}"),
    ("GET", "/v1/links/{code}/history"), ("GET", "/v1/visit-statistics?code={code}"),
    ("GET", "/v1/visit-statistics?link_id={link_id}&format=csv"),
    ("GET", "/v1/export/clicks?code={code}"), ("GET", "/v1/export/clicks?link_id={link_id}"),
    ("POST", "/v1/shares code"), ("POST", "/v1/shares link_id")]


def ask_hidden(asker, caller, method, path, code, link_id):
    path, _, member = path.partition(" ")
    how = {"json": {member: {"code": code, "link_id": link_id}[member]}} if member else {}
    answer = asker.call(caller, path.format(code=code, link_id=link_id), method=method,
                        headers={"Connection": "close"}, **how)
    return bytes_of(answer, code, link_id)


def compare_hidden(asker, count):
    """A link that the caller does not read is answered as one that does not exist."""
    chance, world = asker.chance, asker.world
    absent = ("".join(chance.choices(LETTERS, k=7)), str(1 << 57 | 1 << 42 | 9999 * BLOCK))
    for caller in chance.sample([c for c in asker.callers if not c.sees_all], count):
        hidden = [link for link in world.links if not any(
            caller.sees_link(other) for other in world.links if other.code == link.code)]
        for method, path in HIDDEN:
            link = chance.choice(hidden)
            none = ask_hidden(asker, caller, method, path, *absent)
            assert none[0] == (403 if caller.is_share and none[0] != 404 else 404), none
            assert ask_hidden(asker, caller, method, path, link.code,
                              str(link.link_id)) == none, (caller, path, link.code)


def compare_shares(asker):
    """Each key lists, and ends, the shares that show no more than it reads."""
    def shows_less(share, caller):
        if share.sees_all or caller.sees_all:
            return caller.sees_all
        owners = [share.link.holder.owner] if share.link else share.owners
        return share.account == caller.account and (
            caller.owners is None or owners is not None and set(owners) <= set(caller.owners))

    keys = [caller for caller in asker.callers if not caller.is_share]
    for caller in keys:
        told = asker.call(caller, "/v1/shares").json()["shares"]
        assert {item["id"] for item in told} == {
            i for i, share in asker.shares.items()
            if shows_less(share, caller) and share.listed == (caller.account or caller.name)}
    for number, share in asker.shares.items():
        for caller in [c for c in keys if not shows_less(share, c)][:1]:
            found, none = (bytes_of(asker.call(
                caller, f"/v1/shares/{name}", method="DELETE", headers={
                    "Connection": "close"}), name) for name in (number, "0" * 24))
            assert found == none and none[0] == 404


@pytest.mark.proof
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed, count", [
    pytest.param(1, 36, id="some"), *(pytest.param(seed, QUESTIONS, marks=pytest.mark.long)
               for seed in range(2, 2 + SEEDS))])
def test_each_caller_has_what_the_model_counts(asker, seed, count):
    made = asker(seed)
    compare_hidden(made, 3)
    compare_shares(made)
    wrong = compare(made, count)
    assert not wrong, f"seed {seed}:\n" + "\n".join(wrong[:20])


# --- streams ---------------------------------------------------------------------------

def live_event(row, **fields):
    """Returns a click as a collector's live event."""
    return {"id": row["event_id"], "ts": rfc3339(row["ts_ms"] / 1000), "human": True,
            "reason": "", "link_id": str(row["link_id"]), **{name: row[name] for name in (
                "code", "domain", "account", "owner", "campaign", "country", "device_class",
                "os_family", "ua_family", "channel", "referrer_host", "referrer_site",
                "verdict")}, **fields}


@pytest.mark.proof
@pytest.mark.parametrize("seed", [
    1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 2 + SEEDS))])
def test_each_stream_has_what_its_key_sees(migrated, redis, kafka, program, keys_file, seed):
    """An event has the holder of its moment, and its link has one now: a key sees what is
    its own by both."""
    world = World(seed, clicks=150, late=0)
    keys_file.write({key: words for key, (words, _) in key_lines(world).items()})
    world.insert_links(migrated)
    topic = kafka.create_topic("live", 1)
    made = program("aggregator", {"kafka": {"topic_live": topic}, "aggregator": {
        "keys_file": str(keys_file.path), "live_per_key": 10}})
    callers = [Caller(world, name, **rights) for name, (_, rights) in key_lines(world).items()]
    streams = {caller: Stream(made.url, key=caller.name, bots="include")
               for caller in callers if caller.links()}
    try:
        for stream in streams.values():
            stream.ready()
        clicks = [row for row in world.rows if row["link_id"] and is_click(row)]
        kafka.produce(topic, [json.dumps(live_event(row)).encode() for row in clicks], 0)
        # A click that each sees comes after them.
        last = {caller: live_event(clicks[0], id=str(uuid.UUID(int=number)), link_id=str(
            link.link_id), code=link.code, account=link.holder.account,
            owner=link.holder.owner, domain="", campaign="", referrer_host="",
            referrer_site="") for number, (caller, link) in enumerate(
                (caller, caller.links()[0]) for caller in streams)}
        kafka.produce(topic, [json.dumps(event).encode() for event in last.values()], 0)
        for caller, stream in streams.items():
            expected = {row["event_id"] for row in clicks if caller.holds(held(row)) and
                        caller.sees_link(world.by_id[row["link_id"]])}
            ends = {event["id"] for event in last.values()}

            def told(stream=stream):
                return {click["id"] for click in stream.clicks()}
            eventually(lambda c=caller: last[c]["id"] in told(), what=f"{caller}'s last click")
            assert told() - ends == expected, caller
            foreign = world.tokens(stream.body()) - caller.allowed()
            assert caller.sees_all or not foreign, (caller, foreign)
    finally:
        for stream in streams.values():
            stream.close()
