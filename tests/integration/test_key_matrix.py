"""What each key sees, of everything that the aggregator's description names: in answers,
lists, exports and the live stream."""
import csv
import json

import pytest
import requests

import servers
from support.asking import FROM, TO, aggregator  # noqa: F401
from support.clicks import hours_events, rfc3339, some_clicks
from support.keys import key_line
from support.live import live_click
from support.openapi import in_the_tree
from support.program import eventually
from support.sse import Stream

DAY = 86400
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(TO)}"
COUNT = 400
# {link: owner, account, creator}, of codes code1 ...  Link 5 is of no owner; 4 is of a
# key from before there were accounts, now of acme.
LINKS = {1: ("ann", "acme", "acme"), 2: ("bob", "shop", "shop"),
         3: ("ann", "shop", "shop"), 4: ("bob", "", "old"), 5: ("", "acme", "acme")}

# {key: its line, and the links that it sees, or how it is refused}
ALL = set(LINKS)
KEYS = {
    "boss": ("admin", ALL),
    "eye": ("read", ALL),
    "ann": ("read owners=ann", {1, 3}),
    "nobodys": ("read owners=", {5}),
    "acme": ("read-own account=acme", {1, 4, 5}),
    "acme-bob": ("read-own account=acme owners=bob", {4}),
    "acme-nobodys": ("read-own account=acme owners=", {5}),
    "maker": ("create account=acme", 403),
    "old": ("create account=acme", 403),
    "wrong": (None, 401),
    None: (None, 401),
}
# To whom an answer over all links is given; those that see but some have a 403.
OF_ACCOUNTS = {"acme", "acme-bob", "acme-nobodys"}
OF_OWNERS = {"ann", "nobodys"}


class World:
    def __init__(self, made, kafka, topic):
        self.made = made
        self.kafka = kafka
        self.topic = topic

    def get(self, path, key, method="GET"):
        """(status, lines): of a stream without an end the status alone."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with requests.request(method, self.made.url + path, headers=headers,
                              timeout=60, stream=True) as answer:
            if answer.status_code == 200 and path.startswith("/v1/live"):
                return 200, []
            return answer.status_code, answer.text.splitlines()

    def show(self, *clicks):
        self.kafka.produce(self.topic, [json.dumps(c).encode() for c in clicks], 0)


# --- how a route is asked ------------------------------------------------------------

# Each is called with the world and a key, and returns what KEYS says: the links that it
# finds, or the status by which it is refused all of them.

def one_by_one(*paths):
    def ask(world, key):
        found, refused = set(), set()
        for link in LINKS:
            statuses = {world.get(path.format(link=link), key, method)[0]
                        for path in paths for method in ("GET", "HEAD")}
            assert len(statuses) == 1, (link, statuses)
            if statuses == {200}:
                found.add(link)
            else:
                refused |= statuses
        # What is not seen is not there.
        assert not found or refused <= {404}
        return found if found or refused == {404} else refused.pop()
    return ask


def together(path, links_of):
    """The answer has all that is seen; links_of(lines) is what it has."""
    def ask(world, key):
        status, lines = world.get(path, key)
        return links_of(lines) if status == 200 else status
    return ask


def of_each_owner(path, links_of):
    """All that is told of one owner or another, and of each only what is his."""
    def ask(world, key):
        found, refused = set(), set()
        for owner in {owner for owner, _, _ in LINKS.values()}:
            status, lines = world.get(f"{path}&owner={owner}", key)
            if status != 200:
                refused.add(status)
                continue
            told = links_of(lines)
            assert told <= {link for link in LINKS if LINKS[link][0] == owner}
            found |= told
        return found if found or not refused else refused.pop()
    return ask


def listed(name, member="link_id"):
    return lambda lines: {int(item[member]) for item in json.loads(lines[0])[name]}


def exported(lines):
    return {int(json.loads(line)["link_id"]) for line in lines[:-1]}


def exported_csv(lines):
    return {int(row["link_id"]) for row in csv.DictReader(lines)}


def answered(path):
    """An answer that names no link counts as one of all."""
    return together(path, lambda lines: ALL)


def streamed(world, key):
    status, _ = world.get("/v1/live", key)
    if status != 200:
        return status
    stream = Stream(world.made.url, key=key)
    try:
        stream.ready()
        world.show(*[live_click(link, owner=LINKS[link][0]) for link in LINKS])
        # One that is seen comes after all of them.
        last = min(KEYS[key][1])
        world.show(live_click(last, owner=LINKS[last][0], code="last"))
        eventually(lambda: "last" in stream.codes(), what=f"{key}'s clicks")
        return {int(click["link_id"]) for click in stream.clicks()}
    finally:
        stream.close()


def seen(key):
    return KEYS[key][1]


def seen_by_owner(key):
    """Clicks do not say of which account their link was."""
    return 403 if key in OF_ACCOUNTS else seen(key)


def answered_by_owner(key):
    return ALL if key in OF_OWNERS else seen_by_owner(key)


def seen_by_all(key):
    return 403 if key in OF_ACCOUNTS | OF_OWNERS else seen(key)


def seen_by_admins(key):
    return 403 if key == "eye" else seen_by_all(key)


def seen_by_anybody(key):
    return ALL


CLICKS = f"/v1/clicks?{RANGE}&interval=month"
EXPORT = f"/v1/export/clicks?{RANGE}"
# {route: [(how it is asked, what of it a key sees)]}
MATRIX = {
    "/v1/clicks": [
        (one_by_one(CLICKS + "&code=code{link}", CLICKS + "&link_id={link}",
                    CLICKS + "&code=code{link}&format=csv",
                    CLICKS + "&code=code{link}&group_by=owner"), seen),
        (together(CLICKS + "&group_by=link", listed("groups", "value")),
         seen_by_owner),
        (of_each_owner(CLICKS + "&group_by=link", listed("groups", "value")),
         seen_by_owner),
        (answered(CLICKS), answered_by_owner),
        (answered(CLICKS + "&format=csv"), answered_by_owner)],
    "/v1/top": [
        (together(f"/v1/top?{RANGE}", listed("links")), seen_by_owner),
        (of_each_owner(f"/v1/top?{RANGE}", listed("links")), seen_by_owner)],
    "/v1/links": [
        (together("/v1/links", listed("links")), seen),
        (of_each_owner("/v1/links?limit=9", listed("links")), seen),
        (together("/v1/links?sort=clicks", listed("links")), seen)],
    "/v1/links/{code}/summary": [(one_by_one("/v1/links/code{link}/summary"), seen)],
    "/v1/summary": [(one_by_one("/v1/summary?code=code{link}",
                                "/v1/summary?link_id={link}"), seen)],
    "/v1/visit-statistics": [
        (one_by_one("/v1/visit-statistics?code=code{link}",
                    "/v1/visit-statistics?link_id={link}&format=csv"), seen)],
    "/v1/export/clicks": [
        (one_by_one(EXPORT + "&code=code{link}", EXPORT + "&link_id={link}"), seen),
        (together(EXPORT, exported), seen),
        (of_each_owner(EXPORT, exported), seen),
        (together(EXPORT + "&format=csv", exported_csv), seen)],
    "/v1/live": [
        (one_by_one("/v1/live?code=code{link}", "/v1/live?link_id={link}"), seen),
        (streamed, seen)],
    "/v1/pipeline": [(answered("/v1/pipeline"), seen_by_all)],
    "/v1/reconciliation": [(answered("/v1/reconciliation"), seen_by_all)],
    "/v1/reclaim-runs": [(answered("/v1/reclaim-runs"), seen_by_admins)],
    "/v1/spaces": [(answered("/v1/spaces"), seen_by_admins)],
    "/openapi.json": [(answered("/openapi.json"), seen_by_anybody)],
}
FILES = {"/": 200, "/app.js": 200, "/nothing": 404}


@pytest.fixture
def world(migrated, clickhouse, redis, kafka, program, workdir):
    path = workdir / "keys"
    path.write_text("".join(key_line(key, line) for key, (line, _) in KEYS.items()
                            if line))
    for link, (owner, account, creator) in LINKS.items():
        migrated.link(f"code{link}", link, owner=owner, account=account,
                      creator=creator)
    rows = some_clicks(5, COUNT, [(TO - 2 * DAY, TO)], links=list(LINKS))
    migrated.insert([{**row, "owner": LINKS[row["link_id"]][0]} for row in rows])
    migrated.report([], 0, (TO + DAY) * 1000)
    topic = kafka.create_topic("live", 1)
    made = program("aggregator", {"kafka": {"topic_live": topic}, "aggregator": {
        "settle_every": "500ms", "watermark_every": "500ms", "keys_file": str(path),
        "web_root": str(servers.ROOT / "web"), "live_per_key": 100,
        "key_exports_max": 100}})
    eventually(lambda: hours_events(clickhouse) == COUNT, what="settled")
    made = World(made, kafka, topic)
    eventually(lambda: made.get(EXPORT + "&limit=1", "boss")[0] == 200,
               what="the watermark to be read")
    return made


def test_each_route_is_in_the_matrix():
    assert set(MATRIX) == set(in_the_tree("aggregator")["paths"])


def is_all(found, expected, what):
    """False while what was settled last is not read yet; there is never too much."""
    if found != expected:
        assert isinstance(found, set) and isinstance(expected, set) and (
            found < expected), (what, found, expected)
    return found == expected


@pytest.mark.first
def test_a_key_sees_what_its_line_says(world, subtests):
    for key in KEYS:
        with subtests.test(key=key):
            for route, rows in MATRIX.items():
                for number, (ask, sees) in enumerate(rows):
                    what = f"{route}, row {number}"
                    eventually(lambda k=key, a=ask, s=sees, w=what:
                               is_all(a(world, k), s(k), w), what=what)
            for path, status in FILES.items():
                assert world.get(path, key)[0] == status
