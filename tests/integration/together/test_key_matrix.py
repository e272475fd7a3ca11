"""Keys, deeds and programs: what each key reads and writes, for everything in the
descriptions of allocator and aggregator, with one file of keys: in answers, lists,
exports and the live stream.  tests/unit/common/test_key_access.c tests the rule
itself."""
import csv
import json
import socket
import urllib.parse

import pytest
import requests

import servers
from support.allocator import Api
from support.asking import FROM, TO, aggregator  # noqa: F401
from support.clicks import hours_events, rfc3339, some_clicks
from support.keys import key_line
from support.live import live_click
from support.openapi import in_the_tree
from support.program import eventually
from support.spaces import aliases, hashes, sequence, with_key
from support.sse import Stream

DAY = 86400
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(TO)}"
COUNT = 400
# {link: owner, account, and the key that made it}, of codes code1 ...  Link 5 has no
# owner.
LINKS = {1: ("ann", "acme", "maker"), 2: ("bob", "shop", "seller"),
         3: ("ann", "shop", "seller"), 4: ("bob", "acme", "maker"),
         5: ("", "acme", "maker"), 6: ("ann", "bank", "clerk")}
OWNERS = {owner for owner, _, _ in LINKS.values()}

# {key: its line, the links that it reads, and those that it changes, or the status by
# which all are refused}
ALL = set(LINKS)
KEYS = {
    "boss": ("admin", ALL, ALL),
    "eye": ("read accounts=*", ALL, 403),
    "acme-eye": ("read account=acme", {1, 4, 5}, 403),
    "ann": ("read account=acme owners=ann", {1}, 403),
    "shop-ann": ("read account=shop owners=ann", {3}, 403),
    "nobodys": ("read account=acme owners=", {5}, 403),
    "stranger": ("read", set(), 403),
    "acme": ("read-own account=acme", {1, 4, 5}, 403),
    "watcher": ("read,visitors account=acme", {1, 4, 5}, 403),
    "acme-bob": ("read-own account=acme owners=bob", {4}, 403),
    "acme-nobodys": ("read-own account=acme owners=", {5}, 403),
    "maker": ("create account=acme", 403, {1, 4, 5}),
    "maker-ann": ("create account=acme owners=ann", 403, {1}),
    "seller": ("create account=shop", 403, {2, 3}),
    "all-round": ("create,read-own account=acme owners=ann", {1}, {1}),
    "desk": ("create,read account=shop", {2, 3}, {2, 3}),
    "desk-all": ("create,read account=shop accounts=*", ALL, {2, 3}),
    "desk-bob": ("create,read account=shop owners=bob", {2}, {2}),
    "clerk": ("create,read account=bank", {6}, {6}),
    "clerk-ann": ("read-own account=bank owners=ann", {6}, 403),
    "wrong": (None, 401, 401),
    None: (None, 401, 401),
}
VISITOR = "visitor of each link"[:20]  # has a click of each link

# For everything, for an owner of an account, to make and to read, and none.
SOME_KEYS = ["boss", "acme-bob", "all-round", "desk-all", None]
# Keys that read all accounts.
OF_ALL = {"boss", "eye", "desk-all"}


class World:
    def __init__(self, made, allocator, kafka, topic):
        self.made = made
        self.api = allocator
        self.kafka = kafka
        self.topic = topic
        self.asks_head_of = {1, 2}  # links

    def methods(self, link):
        """The methods of a link's routes: HEAD costs as much as GET."""
        return ("GET", "HEAD") if link in self.asks_head_of else ("GET",)

    def get(self, path, key, method="GET"):
        """Returns (status, lines); for a stream without an end, only the status."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with requests.request(method, self.made.url + path, headers=headers,
                              timeout=60, stream=True) as answer:
            if answer.status_code == 200 and path.startswith("/v1/live"):
                return 200, []
            return answer.status_code, answer.text.splitlines()

    def show(self, *clicks):
        self.kafka.produce(self.topic, [json.dumps(c).encode() for c in clicks], 0)


# --- requests to a route -------------------------------------------------------------

# Each is called with the world and a key, and returns what KEYS has: the links that it
# finds, or the status by which all are refused.

def links_found(world, paths, status_of):
    """Requests each link alone; status_of(path, method) sends the request."""
    found, refused = set(), set()
    for link in LINKS:
        statuses = {status_of(path.format(link=link), method)
                    for path in paths for method in world.methods(link)}
        assert len(statuses) == 1, (link, statuses)
        if statuses == {200}:
            found.add(link)
        else:
            refused |= statuses
    # A link that is not seen is a 404.
    assert not found or refused <= {404}
    return found if found or refused == {404} else refused.pop()


def one_by_one(*paths):
    def ask(world, key):
        return links_found(world, paths,
                           lambda path, method: world.get(path, key, method)[0])
    return ask


def together(path, links_of):
    """The answer must have all links that are seen; links_of(lines) returns what it
    has."""
    def ask(world, key):
        status, lines = world.get(path, key)
        return links_of(lines) if status == 200 else status
    return ask


def of_each(path, links_of, *names):
    """Returns everything about each account, or owner in it, which must be only
    theirs."""
    def ask(world, key):
        found, refused = set(), set()
        for whose in {(account, owner)[:len(names)]
                      for owner, account, _ in LINKS.values()}:
            about = "".join(f"&{name}={value}" for name, value in zip(names, whose))
            status, lines = world.get(path + about, key)
            if status != 200:
                refused.add(status)
                continue
            told = links_of(lines)
            assert told <= {link for link, (owner, account, _) in LINKS.items()
                            if (account, owner)[:len(names)] == whose}
            found |= told
        assert not (found and refused)
        return refused.pop() if refused else found
    return ask


def owners_of_no_account(*paths):
    """Owners are not counted over several accounts."""
    def ask(world, key):
        statuses = {world.get(path, key)[0] for path in paths}
        assert len(statuses) == 1, statuses
        return statuses.pop()
    return ask


def suggested(what):
    """Each link has values of its own, except for owners, which are of an account."""
    def ask(world, key):
        found, refused = set(), set()
        for account in {account for _, account, _ in LINKS.values()}:
            status, lines = world.get(f"/v1/values?of={what}&account={account}", key)
            if status != 200:
                refused.add(status)
                continue
            told = {item["value"] for item in json.loads(lines[0])["values"]}
            found |= {link for link, (owner, whose, _) in LINKS.items()
                      if whose == account and value_of(what, link) in told}
            assert told == {value_of(what, link) for link in found
                            if LINKS[link][1] == account} - {""}
        assert not (found and refused)
        return refused.pop() if refused else found | unowned(what, key)
    return ask


def value_of(what, link):
    return LINKS[link][0] if what == "owner" else f"{what}-{link}"


def unowned(what, key):
    """Links without an owner have no value of it."""
    return seen(key) & {5} if what == "owner" and isinstance(seen(key), set) else set()


def by_urls(path, links_of):
    """Each link leads to a URL of its own."""
    def ask(world, key):
        found = set()
        for link in LINKS:
            status, lines = world.get(f"{path}&url={url_of(link)}", key)
            if status != 200:
                return status
            assert links_of(lines) <= {link}
            found |= links_of(lines)
        return found
    return ask


def url_of(link):
    return f"https://example.org/{link}"


def leading(lines):
    return {int(group["long_url"].rsplit("/", 1)[1])
            for group in json.loads(lines[0])["groups"]}


def listed(name, member="link_id"):
    return lambda lines: {int(item[member]) for item in json.loads(lines[0])[name]}


def broken_down_by_link(lines):
    return {int(group["value"]) for each in json.loads(lines[0])["breakdowns"]
            if each["group_by"] == "link" for group in each["groups"]}


def created(lines):
    """Each link was created for a domain of its own."""
    return {int(group["value"].removeprefix("domain-"))
            for group in json.loads(lines[0])["groups"]}


def exported(lines):
    return {int(json.loads(line)["link_id"]) for line in lines[:-1]}


def exported_csv(lines):
    return {int(row["link_id"]) for row in csv.DictReader(lines)}


def answered(path):
    """An answer that names no link counts as one about all links."""
    return together(path, lambda lines: ALL)


def click_of(link, **fields):
    owner, account, _ = LINKS[link]
    return live_click(link, owner=owner, account=account, **fields)


def streamed(world, key):
    status, _ = world.get("/v1/live", key)
    if status != 200:
        return status
    stream = Stream(world.made.url, key=key)
    try:
        stream.ready()
        world.show(*[click_of(link) for link in LINKS])
        # A visible click comes after all of them.
        if not KEYS[key][1]:
            return set()
        world.show(click_of(min(KEYS[key][1]), code="last"))
        eventually(lambda: "last" in stream.codes(), what=f"{key}'s clicks")
        return {int(click["link_id"]) for click in stream.clicks()}
    finally:
        stream.close()


def share(world, key, **body):
    """Returns (status, what its token gets by GET)."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    made = requests.post(world.made.url + "/v1/shares", json=body, headers=headers,
                         timeout=60)

    def get(path):
        headers = {"Authorization": "Share " + made.json()["token"]}
        return requests.get(world.made.url + path, headers=headers, timeout=60)
    return made.status_code, get


def shared_one_by_one(world, key):
    """A share of a link shows that link alone."""
    found, refused = set(), set()
    for link in LINKS:
        status, get = share(world, key, code=f"code{link}")
        if status != 201:
            refused.add(status)
            continue
        found.add(link)
        assert get(CLICKS).json()["link_id"] == str(link)
        other = min(ALL - {link})
        assert get(CLICKS + f"&code=code{other}").status_code == 404
    assert not found or refused <= {404}
    return found if found or refused == {404} else refused.pop()


def shared_together(world, key):
    status, get = share(world, key, filters={})
    if status != 201:
        return status
    found = listed("groups", "value")([get(CLICKS + "&group_by=link").text])
    assert found == listed("links")([get(f"/v1/top?{RANGE}").text])
    return found


def shared_of_each_account(world, key):
    found, refused = set(), set()
    for account in {account for _, account, _ in LINKS.values()}:
        status, get = share(world, key, filters={"account": account})
        if status == 201:
            told = listed("groups", "value")([get(CLICKS + "&group_by=link").text])
            assert told <= {link for link in LINKS if LINKS[link][1] == account}
            found |= told
        else:
            refused.add(status)
    assert not found or refused <= {403}
    return found if found or not refused or refused == {403} and isinstance(
        seen(key), set) else refused.pop()


def revoked(world, key):
    """No key finds a share that is not there."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    status = requests.delete(world.made.url + "/v1/shares/" + "0" * 24, headers=headers,
                             timeout=60).status_code
    return ALL if status == 404 else status


def seen(key):
    return KEYS[key][1]


def answered_who_reads(key):
    return ALL if isinstance(seen(key), set) else seen(key)


def refused_who_sees_all(key):
    return 400 if key in OF_ALL else 200 if isinstance(seen(key), set) else seen(key)


def seen_by_all(key):
    return ALL if key in OF_ALL else 401 if seen(key) == 401 else 403


def seen_by_admins(key):
    return seen_by_all(key) if key == "boss" or seen(key) == 401 else 403


def seen_with_visitors(key):
    line = KEYS[key][0] or ""
    may = not isinstance(seen(key), set) or "visitors" in line or key == "boss"
    return seen(key) if may else 403


def seen_by_each_key(key):
    return 401 if seen(key) == 401 else ALL


def seen_by_anybody(key):
    return ALL


CREATIONS = f"/v1/creations?{RANGE}&interval=total&group_by=domain"
CLICKS = f"/v1/clicks?{RANGE}&interval=month"
EXPORT = f"/v1/export/clicks?{RANGE}"
# {route: [(the kind of request, what a key sees of it)]}
MATRIX = {
    "/v1/clicks": [
        (one_by_one(CLICKS + "&code=code{link}", CLICKS + "&link_id={link}",
                    CLICKS + "&code=code{link}&format=csv",
                    CLICKS + "&code=code{link}&group_by=account,owner"), seen),
        (together(CLICKS + "&group_by=link", listed("groups", "value")), seen),
        (of_each(CLICKS + "&group_by=link", listed("groups", "value"), "account"), seen),
        (of_each(CLICKS + "&group_by=link", listed("groups", "value"), "account",
                 "owner"), seen),
        (together(CLICKS + "&breakdowns=country,link,asn", broken_down_by_link), seen),
        (of_each(CLICKS + "&breakdowns=link", broken_down_by_link, "account"), seen),
        (together(CLICKS + "&group_by=url", leading), seen),
        (together(CLICKS + "&group_by=url,country", leading), seen),
        (by_urls(CLICKS + "&group_by=link", listed("groups", "value")), seen),
        (owners_of_no_account(CLICKS + "&group_by=owner", CLICKS + "&owner=ann",
                              CLICKS + "&breakdowns=country,owner",
                              CLICKS + "&group_by=country,owner",
                              CLICKS + "&owner=ann&account=acme,shop"),
         refused_who_sees_all),
        (answered(CLICKS), answered_who_reads),
        (answered(CLICKS + "&group_by=account"), answered_who_reads),
        (answered(CLICKS + "&format=csv"), answered_who_reads)],
    "/v1/creations": [
        (together(CREATIONS, created), seen),
        (of_each(CREATIONS, created, "account"), seen),
        (of_each(CREATIONS, created, "account", "owner"), seen),
        (owners_of_no_account(f"/v1/creations?{RANGE}&owner=ann",
                              f"/v1/creations?{RANGE}&group_by=owner",
                              f"/v1/creations?{RANGE}&owner=ann&account=acme,shop"),
         refused_who_sees_all),
        (answered(CREATIONS + "&format=csv"), answered_who_reads)],
    "/v1/top": [
        (together(f"/v1/top?{RANGE}", listed("links")), seen),
        (of_each(f"/v1/top?{RANGE}", listed("links"), "account"), seen),
        (of_each(f"/v1/top?{RANGE}", listed("links"), "account", "owner"), seen),
        (by_urls(f"/v1/top?{RANGE}", listed("links")), seen),
        (owners_of_no_account(f"/v1/top?{RANGE}&owner=ann"), refused_who_sees_all)],
    "/v1/links": [
        (together("/v1/links", listed("links")), seen),
        (together("/v1/links?code=code&q=campaign-&total=true", listed("links")), seen),
        (of_each("/v1/links?limit=9", listed("links"), "account"), seen),
        (of_each("/v1/links?limit=9", listed("links"), "account", "owner"), seen),
        (owners_of_no_account("/v1/links?owner=ann"), refused_who_sees_all),
        (together("/v1/links?sort=clicks", listed("links")), seen),
        (together(f"/v1/links?sort=clicks&order=asc&bots=include&{RANGE}", listed("links")), seen),
        (together(f"/v1/links?clicks=true&order=asc&{RANGE}", listed("links")), seen),
        (together("/v1/links?sort=ends", listed("links")), seen),
        (together("/v1/links?sort=ends&order=asc", listed("links")), seen)],
    "/v1/values": [
        (suggested("tag"), seen), (suggested("campaign"), seen),
        (suggested("domain"), seen), (suggested("owner"), seen),
        (owners_of_no_account("/v1/values?of=owner"), refused_who_sees_all)],
    "/v1/links/{code}/summary": [(one_by_one("/v1/links/code{link}/summary"), seen)],
    "/v1/links/{code}/history": [(one_by_one("/v1/links/code{link}/history"), seen)],
    "/v1/summary": [(one_by_one("/v1/summary?code=code{link}",
                                "/v1/summary?link_id={link}"), seen)],
    "/v1/visit-statistics": [
        (one_by_one("/v1/visit-statistics?code=code{link}",
                    "/v1/visit-statistics?link_id={link}&format=csv"), seen)],
    "/v1/export/clicks": [
        (one_by_one(EXPORT + "&code=code{link}", EXPORT + "&link_id={link}"), seen),
        (together(EXPORT, exported), seen),
        (of_each(EXPORT, exported, "account"), seen),
        (of_each(EXPORT, exported, "account", "owner"), seen),
        (by_urls(EXPORT, exported), seen),
        (together(EXPORT + "&visitor=" + VISITOR.encode().hex(), exported),
         seen_with_visitors),
        (together(EXPORT + "&also=cookies,trace_id", exported), seen_with_visitors),
        (owners_of_no_account(EXPORT + "&owner=ann"), refused_who_sees_all),
        (together(EXPORT + "&format=csv", exported_csv), seen)],
    "/v1/live": [
        (one_by_one("/v1/live?code=code{link}", "/v1/live?link_id={link}"), seen),
        (owners_of_no_account("/v1/live?owner=ann"), refused_who_sees_all),
        (streamed, seen)],
    "/v1/pipeline": [(answered("/v1/pipeline"), seen_by_all)],
    "/v1/reconciliation": [(answered("/v1/reconciliation"), seen_by_all)],
    "/v1/reclaim-runs": [(answered("/v1/reclaim-runs"), seen_by_admins)],
    "/v1/archived-spaces": [(answered("/v1/archived-spaces"), seen_by_admins)],
    "/v1/me": [(answered("/v1/me"), seen_by_each_key)],
    "/v1/shares": [
        (shared_one_by_one, seen), (shared_together, seen), (shared_of_each_account, seen),
        (answered("/v1/shares"), answered_who_reads)],
    "/v1/shares/{id}": [(revoked, answered_who_reads)],
    "/openapi.json": [(answered("/openapi.json"), seen_by_anybody)],
}


# --- the allocator's routes ------------------------------------------------------------

# A write with a version that no link has does everything of a write except the last
# step.
NO_VERSION = {"If-Match": '"0-0"'}


def changed(method, status, fields=None, headers=None, tail=""):
    """For a link that the key reads and does not change, the refusal is explicit; all
    other links do not exist for it."""
    def ask(world, key):
        found, refused = set(), {}
        for link in LINKS:
            answer = world.api.call(
                method, f"/v1/links/code{link}{tail}", key, json=fields, headers={
                    "Content-Type": "application/merge-patch+json", **(headers or {})})
            if answer.status_code == status:
                found.add(link)
            else:
                refused[link] = answer.status_code
        reads, changes = KEYS[key][1:]
        if changes in (401, 403):
            assert set(refused.values()) == {changes}
            return changes
        reads = set() if reads == 403 else reads
        assert refused == {link: 403 if link in reads else 404
                           for link in ALL - found}
        return found
    return ask


def edited_together(world, key):
    """All links in one request: each line is answered what its edit alone is."""
    answer = world.api.call(
        "POST", "/v1/links/edit", key, headers={"Content-Type": "application/x-ndjson"},
        data="".join(json.dumps(line) + "\n" for line in [
            {"patch": {"description": "together"}},
            *({"code": f"code{link}"} for link in LINKS)]))
    if answer.status_code != 200:
        return answer.status_code
    _, *lines = [json.loads(line) for line in answer.text.splitlines()]
    found = {link for link, line in zip(LINKS, lines) if "changed" in line}
    reads = KEYS[key][1] if isinstance(KEYS[key][1], set) else set()
    assert {link: line["status"] for link, line in zip(LINKS, lines)
            if link not in found} == {
        link: 403 if link in reads else 404 for link in ALL - found}
    return found


def counted_by_filter(world, key):
    """The links that an edit of all links would find."""
    answer = world.api.call(
        "POST", "/v1/links/edit?created=1970-01-01..2100-01-01&dry_run=true", key,
        headers={"Content-Type": "application/merge-patch+json"},
        data='{"patch":{"description":"by filter"}}')
    if answer.status_code != 200:
        return answer.status_code
    found = {int(code.removeprefix("code")) for code in answer.json()["examples"]}
    assert answer.json()["links"] == len(found)
    return found


def read(*paths):
    """Reads like the allocator: 404 for a link that does not exist for the key."""
    def ask(world, key):
        return links_found(
            world, paths, lambda path, method: world.api.call(method, path, key).status_code)
    return ask


def told(*paths):
    def ask(world, key):
        status, = {world.api.call(method, path, key).status_code
                   for path in paths for method in ("GET", "HEAD")}
        return ALL if status == 200 else status
    return ask


def body_for(owner):
    return {"url": "https://example.org/", "ttl": "1h", "space": "h8",
            **({"owner": owner} if owner else {})}


def created_one_by_one(world, key):
    """Returns the owners for which the key creates links."""
    answers = {owner: world.api.post(key, **body_for(owner)) for owner in OWNERS}
    made = {owner for owner, answer in answers.items()
            if answer.status_code in (200, 201)}
    refused = {answers[owner].status_code for owner in OWNERS - made}
    if not made:
        return refused.pop()
    assert refused <= {403}
    account = words(key).get("account", key)
    assert {answers[owner].json()["account"] for owner in made} == {account}
    return made


def created_in_a_batch(world, key):
    owners = sorted(OWNERS)
    answer = world.api.call(
        "POST", "/v1/links/batch", key, headers={"Content-Type": "application/x-ndjson"},
        data="".join(json.dumps(body_for(owner)) + "\n" for owner in owners))
    if answer.status_code != 200:
        return answer.status_code
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert {line["status"] for line in lines if "link_id" not in line} <= {403}
    return {owner for owner, line in zip(owners, lines) if "link_id" in line}


def words(key):
    line = KEYS[key][0]
    return dict(word.split("=") for word in line.split()[1:])


def creates(key):
    if isinstance(KEYS[key][2], int):
        return KEYS[key][2]
    owners = words(key).get("owners")
    return OWNERS if owners is None else set(owners.split(","))


def changes(key):
    return KEYS[key][2]


BLOCKED = "/v1/accounts/acme/blocked-urls"


def blocked(world, key):
    """An admin blocks a URL for an account, and lets it go."""
    url = "https://blocked.example/"
    for method, status, how in (("POST", (200, 201), {"json": {"url": url}}),
                                ("DELETE", (204,), {"params": {"url": url}})):
        answer = world.api.call(method, BLOCKED, key, **how)
        if answer.status_code not in status:
            return answer.status_code
    return ALL


ALLOCATORS = {
    "/v1/links": [(created_one_by_one, creates)],
    "/v1/links/batch": [(created_in_a_batch, creates)],
    "/v1/links/edit": [(edited_together, changes), (counted_by_filter, changes)],
    "/v1/links/{code}": [
        (read("/v1/links/code{link}"), seen),
        (changed("PATCH", 200, {"description": "x"}), changes),
        (changed("PATCH", 412, {"tags": ["x"]}, NO_VERSION), changes),
        (changed("DELETE", 412, None, NO_VERSION), changes)],
    "/v1/links/{code}/restore": [
        (changed("POST", 200, tail="/restore"), changes),
        (changed("POST", 412, None, NO_VERSION, tail="/restore"), changes)],
    "/v1/links/{code}/qr": [
        (read("/v1/links/code{link}/qr", "/v1/links/code{link}/qr?format=png"), seen)],
    "/v1/links/{code}/why": [(read("/v1/links/code{link}/why?host=sho.rt"), seen)],
    "/v1/accounts/{account}/blocked-urls": [
        (told(BLOCKED), seen_by_admins), (blocked, seen_by_admins)],
    "/v1/spaces": [(told("/v1/spaces"), seen_by_all)],
    "/v1/spaces/{name}": [(told("/v1/spaces/names", "/v1/spaces/h8"), seen_by_all)],
    "/v1/me": [(told("/v1/me"), seen_by_each_key)],
    "/v1/options": [(told("/v1/options"), seen_by_each_key)],
    "/openapi.json": [(told("/openapi.json"), seen_by_anybody)],
}
FILES = {"/": 200, "/app.js": 200, "/nothing": 404}


@pytest.fixture
def keys_path(workdir):
    path = workdir / "keys"
    path.write_text("".join(key_line(key, line) for key, (line, _, _) in KEYS.items()
                            if line))
    return str(path)


@pytest.fixture
def allocator(redis, kafka, program, workdir, keys_path):
    """An allocator with the links, made by their keys; the codes code7 and code8 had a
    deleted link, and an expired one."""
    sections = {
        "links": {"ttl_classes": ["1s", "1h"], "quarantine": "1h",
                  "spaces": [with_key(workdir, hashes("h8", 1, 8)), aliases(number=2),
                             with_key(workdir, sequence(number=3))]},
        "kafka": {"topic_links": kafka.create_topic("links", 1)},
        "domains": {"base_url": "https://sho.rt"}, "allocator": {"keys_file": keys_path}}
    for name in ("h8", "names", "s7"):
        status, output = program("allocator", sections, start=False, args=[
            "create-space", "--no-archive", "--space", name]).run()
        assert status == 0, output
    api = Api(program("allocator", sections))
    for link, (owner, account, maker) in [*LINKS.items(),
                                          (7, ("ann", "acme", "maker")),
                                          (8, ("ann", "acme", "maker"))]:
        answer = api.post(maker, url=f"https://example.org/{link}",
                          ttl="1s" if link == 8 else "1h", code=f"code{link}",
                          **({"owner": owner} if owner else {}))
        assert answer.status_code == 201, answer.text
        assert answer.json()["account"] == account
    assert api.delete("code7", "maker").status_code == 204
    eventually(lambda: api.get("code8").status_code == 404, what="code8 to expire")
    return api


@pytest.fixture
def world(migrated, clickhouse, redis, kafka, program, keys_path, workdir, allocator):
    for link, (owner, account, maker) in LINKS.items():
        migrated.link(f"code{link}", link, owner=owner, account=account,
                      creator=maker, url=url_of(link), tags=[value_of("tag", link)],
                      **{what: value_of(what, link) for what in ("campaign", "domain")})
    migrated.creations([
        {"link_id": link, "slot": TO - DAY, "owner": owner, "account": account,
         "domain": value_of("domain", link)} for link, (owner, account, _) in LINKS.items()])
    rows = some_clicks(5, COUNT, [(TO - 2 * DAY, TO)], links=list(LINKS))
    first = {row["link_id"]: row for row in reversed(rows)}
    for row in first.values():
        row["unique_identity"] = VISITOR
    migrated.insert([{**row, "owner": LINKS[row["link_id"]][0],
                      "account": LINKS[row["link_id"]][1],
                      "url": url_of(row["link_id"])} for row in rows])
    migrated.report([], 0, (TO + DAY) * 1000)
    topic = kafka.create_topic("live", 1)
    # Redis has no links of this space: it is there for shares.
    spaces = {"ttl_classes": ["1h"], "quarantine": "1h",
              "spaces": [with_key(workdir, sequence(number=3))]}
    made = program("aggregator", {"kafka": {"topic_live": topic}, "links": spaces,
                                  "aggregator": {
        "settle_every": "500ms", "watermark_every": "500ms", "keys_file": keys_path,
        "web_root": str(servers.ROOT / "web"), "live_per_key": 100,
        "key_exports_max": 100}})
    eventually(lambda: hours_events(clickhouse) == COUNT, what="settled")
    made = World(made, allocator, kafka, topic)
    eventually(lambda: made.get(EXPORT + "&limit=1", "boss")[0] == 200,
               what="the watermark to be read")
    return made


@pytest.mark.parametrize("program_name, matrix", [("aggregator", MATRIX),
                                                  ("allocator", ALLOCATORS)])
def test_each_route_is_in_the_matrix(program_name, matrix):
    assert set(matrix) == set(in_the_tree(program_name)["paths"])


def is_all(found, expected, what):
    """Returns False while the last settled data are not read yet; there must never be
    too much."""
    if found != expected:
        assert isinstance(found, set) and isinstance(expected, set) and (
            found < expected), (what, found, expected)
    return found == expected


@pytest.mark.proof
@pytest.mark.first
@pytest.mark.timeout(900)
@pytest.mark.parametrize("keys, asks_head_of", [
    pytest.param(SOME_KEYS, {1}, id="some"),
    pytest.param(KEYS, ALL, id="all", marks=pytest.mark.long)])
def test_a_key_sees_what_its_line_says(world, subtests, keys, asks_head_of):
    world.asks_head_of = asks_head_of
    for key in keys:
        with subtests.test(key=key):
            for route, rows in [*ALLOCATORS.items(), *MATRIX.items()]:
                for number, (ask, sees) in enumerate(rows):
                    what = f"{route}, row {number}"
                    eventually(lambda k=key, a=ask, s=sees, w=what:
                               is_all(a(world, k), s(k), w), what=what)
            for path, status in FILES.items():
                assert world.get(path, key)[0] == status


# --- unseen links do not exist, byte for byte ------------------------------------------

def answer_bytes(url, method, path, key, body=None):
    """Returns the whole answer except for its date, with the requested code replaced
    with CODE."""
    at = urllib.parse.urlsplit(url)
    sent = body.encode() if body else b""
    head = (f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            f"Authorization: Bearer {key}\r\n")
    if body:
        head += (f"Content-Type: application/merge-patch+json\r\n"
                 f"Content-Length: {len(sent)}\r\n")
    with socket.create_connection((at.hostname, at.port), 60) as conn:
        conn.sendall(head.encode() + b"\r\n" + sent)
        answer = b""
        while more := conn.recv(65536):
            answer += more
    code = path.rpartition("code")[2][:1].encode()
    lines = [line for line in answer.split(b"\r\n")
             if not line.lower().startswith(b"date:")]
    return b"\r\n".join(lines).replace(b"code" + code, b"CODE")


HIDDEN = [("GET", "/v1/links/code{}", None), ("HEAD", "/v1/links/code{}", None),
          ("GET", "/v1/links/code{}/qr", None), ("HEAD", "/v1/links/code{}/qr", None),
          ("GET", "/v1/links/code{}/qr?format=png&size=64", None),
          ("GET", "/v1/links/code{}/why", None), ("HEAD", "/v1/links/code{}/why", None),
          ("PATCH", "/v1/links/code{}", '{"url":"https://evil.example/"}'),
          ("PATCH", "/v1/links/code{}", '{"state":"live"}'),
          ("DELETE", "/v1/links/code{}", None),
          ("DELETE", "/v1/links/code{}?purge=true", None),
          ("POST", "/v1/links/code{}/restore", None)]


def test_what_a_key_does_not_see_is_not_there(allocator, subtests):
    for key, (line, reads, changes) in KEYS.items():
        if not line:
            continue
        seen = {link for links in (reads, changes) if links != 403 for link in links}
        # The deleted link was of link 1's account and owner.
        hidden = ALL - seen | {8} | (set() if 1 in seen else {7})
        with subtests.test(key=key):
            for method, path, body in HIDDEN:
                none = answer_bytes(allocator.program.url, method, path.format(9), key,
                                    body)
                for link in hidden:
                    assert answer_bytes(allocator.program.url, method,
                                        path.format(link), key, body) == none


def test_of_an_expired_link_they_are_told_who_read_all(allocator):
    code = allocator.post("maker", url="https://example.org/", ttl="1s", space="s7",
                          owner="ann").json()["code"]
    url = allocator.program.url
    eventually(lambda: allocator.get(code).status_code == 410, what="its end")
    for key in KEYS:
        if KEYS[key][0]:
            for method, path, body in HIDDEN:
                found = answer_bytes(url, method, path.replace("code{}", code), key,
                                     body)
                none = answer_bytes(url, method, path.format(9), key, body)
                if path.endswith("/why") and key in OF_ALL:
                    assert b" 200 " in found[:20]
                elif b" 404 " in none[:20] and key in OF_ALL:
                    assert b" 410 " in found[:20]
                else:
                    assert found == none


@pytest.mark.proof
def test_statistics_that_a_key_does_not_see_are_not_there(world, subtests):
    for key, (line, reads, _) in KEYS.items():
        if not line or reads == 403:
            continue
        with subtests.test(key=key):
            for path in (CLICKS + "&code=code{}", "/v1/links/code{}/summary",
                         "/v1/summary?code=code{}", "/v1/visit-statistics?code=code{}",
                         EXPORT + "&code=code{}", "/v1/live?code=code{}"):
                none = answer_bytes(world.made.url, "GET", path.format(9), key)
                assert b" 404 " in none[:20]
                for link in ALL - reads:
                    assert answer_bytes(world.made.url, "GET", path.format(link),
                                        key) == none
