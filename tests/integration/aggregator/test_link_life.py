"""Lists, histories and summaries say what became of links since their last change: ends that visits put off, blocks that were taken back, codes that others have."""
import time

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL
from support.clicks import datetime64
from support.program import eventually, quick
from support.spaces import USUAL, aliases, sequence

BLOCK = 100  # links
LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "10d", "never"],
                 "spaces": [sequence(block_size=BLOCK), aliases()]}
KEYS = {"boss": "admin", "acme": "create,read account=acme", "shop": "read account=shop"}
DAY = 86_400_000  # ms
STATES = ["live", "paused", "blocked", "deleted", "expired", "reclaimed"]


@pytest.fixture
def first_keys():
    return KEYS


def link_id(block, n=0, generation=1):
    return (1 << 57) | (generation << 42) | (block * BLOCK + n)


@pytest.fixture
def aggregator(migrated, redis, program, sections, keys_file):
    return program("aggregator", {
        "links": sections["links"],
        "aggregator": {"settle_every": "500ms", "keys_file": str(keys_file.path)}})


def get(made, path, key="boss", status=200):
    answer = quick.get(made.url + path, timeout=60, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == status, answer.text
    return answer.json()


def now_ms():
    return int(time.time() * 1000)


class Archive:
    def __init__(self, migrated):
        self.migrated = migrated
        self.now = now_ms()

    def link(self, code, id_of, ends=None, version=1, **fields):
        """`ends`: days from now; None: never."""
        self.migrated.link(code, id_of, version=version, expires_at=(
            0 if ends is None else datetime64(self.now + int(ends * DAY))), **fields)

    def renewed(self, id_of, version, ends):
        self.migrated._insert("link_ends", [{
            "link_id": id_of, "version": version,
            "ends_at": datetime64(self.now + int(ends * DAY))}])

    def reclaimed(self, id_of):
        self.migrated._insert("reclaimed_blocks", [{
            "first_id": id_of, "reclaimed_at": datetime64(self.now)}])


@pytest.fixture
def archive(migrated):
    return Archive(migrated)


def listed(made, **params):
    query = "&".join(f"{name}={value}" for name, value in params.items())
    answer = get(made, f"/v1/links?total=true&limit=100&{query}")
    assert answer["total"] == {"links": len(answer["links"]), "exact": True}
    return {link["code"]: link for link in answer["links"]
            if link["generation"] == 1}


LIVES = {  # code: (block, ends, fields, the end that a visit gave, what it is)
    "never": (0, None, {}, None, "live"),
    "young": (0, 1, {}, None, "live"),
    "old": (0, -1, {}, None, "expired"),
    "visited": (0, -1, {}, 9, "live"),
    "visited-once": (0, -2, {}, -1, "expired"),
    "paused": (0, 1, {"state": "paused"}, None, "paused"),
    "paused-old": (0, -1, {"state": "paused"}, None, "expired"),
    "blocked": (0, None, {"state": "blocked"}, None, "blocked"),
    "deleted": (0, -1, {"state": "deleted"}, None, "deleted"),
    "taken": (1, -1, {}, -1, "reclaimed"),
    "deleted-taken": (1, -1, {"state": "deleted"}, None, "reclaimed"),
    "reissued": (2, -1, {}, None, "reclaimed"),
}


def test_a_link_is_what_became_of_it(aggregator, archive):
    for n, (code, (block, ends, fields, visited, _)) in enumerate(LIVES.items()):
        archive.link(code, link_id(block, n), ends, **fields)
        if visited:
            archive.renewed(link_id(block, n), 1, visited)
    archive.reclaimed(link_id(1))
    archive.link("reissued", link_id(2, 5, generation=2), 1, generation=2)

    found = listed(aggregator)
    assert {code: link["state"] for code, link in found.items()} == {
        code: life[4] for code, life in LIVES.items()}
    assert found["never"]["expires_at"] is None
    for code, days in (("visited", 9), ("visited-once", -1), ("old", -1)):
        assert found[code]["expires_at"] == iso(archive.now + days * DAY), code
    assert found["taken"]["reclaimed_at"] == iso(archive.now)
    assert found["reissued"]["reclaimed_at"] is None and not found["reissued"]["current"]
    for state in STATES:
        assert set(listed(aggregator, state=state)) == {
            code for code, life in LIVES.items() if life[4] == state}, state
        for account in ("acme", "shop"):
            assert set(listed(aggregator, state=state, account=account)) == {
                code for code, life in LIVES.items()
                if life[4] == state and account == "acme"}, state
    for n, (code, life) in enumerate(LIVES.items()):
        told = get(aggregator, f"/v1/summary?link_id={link_id(life[0], n)}")
        for name in ("state", "expires_at", "reclaimed_at", "current", "visits"):
            assert told[name] == found[code][name], (code, name)


def iso(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03d}Z"


def test_an_edit_counts_from_its_own_end(aggregator, archive):
    """A visit renews a version; the next version has the end that its event carries."""
    archive.link("shorter", link_id(0), ends=-1)
    archive.renewed(link_id(0), 1, 9)
    assert listed(aggregator)["shorter"]["state"] == "live"
    archive.link("shorter", link_id(0), ends=-0.5, version=2)
    assert listed(aggregator)["shorter"]["state"] == "expired"
    assert listed(aggregator, state="live") == {}
    archive.renewed(link_id(0), 2, 3)
    found = listed(aggregator, state="live")["shorter"]
    assert found["expires_at"] == iso(archive.now + 3 * DAY)


def test_a_page_goes_on_past_links_of_another_state(aggregator, archive):
    """Most candidates of a filter may be of another state by now."""
    count = 400
    archive.link("code0", link_id(0), ends=-1)
    archive.migrated.clickhouse.query(
        f"INSERT INTO links SELECT * REPLACE (concat('code', toString(n)) AS code, "
        f"link_id + n AS link_id) FROM links ARRAY JOIN range(1, {count}) AS n")
    archive.migrated.clickhouse.query(
        f"INSERT INTO link_ends SELECT {link_id(0)} + number, 1, now64(3, 'UTC') + INTERVAL 1 DAY "
        f"FROM numbers({count}) WHERE number % 97 != 0")
    found, path = [], "/v1/links?state=expired&limit=2"
    while path:
        answer = get(aggregator, path)
        assert len(answer["links"]) <= 2
        found += [link["code"] for link in answer["links"]]
        path = answer["next"] and f"/v1/links?state=expired&limit=2&cursor={answer['next']}"
    assert sorted(found) == sorted(f"code{n}" for n in range(0, count, 97))


def test_the_history_of_a_code_is_each_owners_own(created_spaces, aggregator, archive):
    for generation, account in ((1, "acme"), (2, "shop"), (3, "acme")):
        archive.link("shared", link_id(4, 7, generation), None if generation == 3 else -1,
                     generation=generation, account=account,
                     url=f"https://{account}{generation}.example/")
    archive.link("gone", link_id(5), state="forgotten")

    def history(key, **params):
        query = "&".join(f"{name}={value}" for name, value in params.items())
        answer = get(aggregator, f"/v1/links/shared/history?{query}", key)
        return [(link["generation"], link["state"]) for link in answer["links"]], answer["more"]

    whole = [(3, "live"), (2, "reclaimed"), (1, "reclaimed")]
    assert history("boss") == (whole, False)
    assert history("boss", limit=2) == (whole[:2], True)
    assert history("acme") == ([whole[0], whole[2]], False)
    assert history("shop") == ([whole[1]], False)
    refused = [get(aggregator, f"/v1/links/{code}/history", "shop", 404)["detail"].replace(code, "")
               for code in ("gone", "no-such-link", "notIssued")]
    assert len(set(refused)) == 1
    get(aggregator, "/v1/links/a.b/history", status=404)
    get(aggregator, "/v1/links/shared/history?from=2026-01-01", status=400)


# --- what Redis knows ----------------------------------------------------------------

@pytest.fixture
def api(redis, create_space, start):
    for name in ("s7", "names"):
        status, output = create_space(name=name)
        assert status == 0, output
    made = start(ready=False)
    eventually(lambda: made.program.ready()[0] != 0 and made.post(
        url=URL, ttl="1h").status_code == 201)
    return made


def test_redis_says_what_is_on_its_way(own_redis, api, aggregator, archive):
    """The archive has the link as it was made; its renewal was lost with its redirector."""
    made = api.post(url=URL, ttl="1h", code="kept-alive", max_visits=5).json()
    plain = api.post(url=URL, ttl="1h", code="plain").json()
    archive.link("kept-alive", int(made["link_id"]), ends=-1, max_visits=5, generation=1)
    archive.link("plain", int(plain["link_id"]), ends=1, generation=1)
    own_redis.client().hset(f"v:{{kept-alive}}:{made['link_id']}", "visits", 2)
    eventually(lambda: listed_lives(aggregator) == {
        "kept-alive": ("live", 2), "plain": ("live", None)})
    assert get(aggregator, "/v1/links?state=expired")["links"] == []
    told = get(aggregator, "/v1/links/kept-alive/summary")
    assert (told["state"], told["visits"], told["max_visits"]) == ("live", 2, 5)
    assert told["expires_at"] > iso(now_ms())
    # Without Redis the archive's word stands, and the visits are unknown.
    own_redis.kill()
    eventually(lambda: listed_lives(aggregator) == {
        "kept-alive": ("expired", None), "plain": ("live", None)})


def listed_lives(made):
    return {link["code"]: (link["state"], link["visits"])
            for link in get(made, "/v1/links")["links"]}


# --- the notes of the reclaimer --------------------------------------------------------

def copied(migrated):
    return {int(row["first_id"]): int(row["ms"]) for row in migrated.clickhouse.rows(
        "SELECT first_id, toUnixTimestamp64Milli(reclaimed_at) AS ms "
        "FROM reclaimed_blocks FINAL")}


def test_notes_of_blocks_are_copied_and_removed(aggregator, migrated, redis):
    redis.zadd("reclaimed:{s7}", {"0-2:1": 1000, "7-7:3": 2000, "0-2:2": 3000})
    eventually(lambda: redis.zcard("reclaimed:{s7}") == 0)
    assert copied(migrated) == {
        **{link_id(block): 1000 for block in range(3)}, link_id(7, 0, 3): 2000,
        **{link_id(block, 0, 2): 3000 for block in range(3)}}


def test_notes_wait_for_clickhouse(aggregator, migrated, redis):
    migrated.clickhouse.query("RENAME TABLE reclaimed_blocks TO elsewhere")
    redis.zadd("reclaimed:{s7}", {"0-0:1": 1000})
    eventually(lambda: "reclaimed blocks" in aggregator.ready()[1])
    assert redis.zcard("reclaimed:{s7}") == 1
    migrated.clickhouse.query("RENAME TABLE elsewhere TO reclaimed_blocks")
    eventually(lambda: redis.zcard("reclaimed:{s7}") == 0)
    assert copied(migrated) == {link_id(0): 1000}
    # More notes than are read at once, with a range of more rows than an insert has.
    redis.zadd("reclaimed:{s7}", {f"{n}-{n}:1": 2000 for n in range(1, 700)})
    redis.zadd("reclaimed:{s7}", {"1000-80000:2": 3000})
    eventually(lambda: redis.zcard("reclaimed:{s7}") == 0)
    assert len(copied(migrated)) == 700 + 79001
