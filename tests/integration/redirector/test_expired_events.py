"""The 410 of an expired link is an event of that link: in `clicks` it has the link's id, and
the event of the code's next link has the id of that one."""
import pytest

from support.collecting import settings
from support.program import eventually
from support.reconciling import (  # noqa: F401 (fixtures)
    NOTHING_LOST, make_world, world)
from support.redirects import (  # noqa: F401 (fixtures)
    DAY, LINKS_SECTION, domains_config, links, make_links, start, visit)

UNKNOWN = "\x01unknown"
GENERATION = 1 << 42


@pytest.fixture
def topics(kafka):
    return kafka.collector_topics(clicks=1)


@pytest.fixture
def collector(program, base_config, topics, tables):
    return program("collector", settings(base_config, topics))


@pytest.fixture
def edge(start, topics):
    return start(kafka_settings=topics, cache_ttl="0s", cache_negative_ttl="0s", threads=1)


def stored(tables, count):
    """Returns (link_id, outcome, account, owner) of the first `count` events."""
    def there():
        rows = tables.rows("SELECT link_id, outcome, account, owner FROM clicks "
                           "ORDER BY offset")
        return len(rows) >= count and rows
    return [(int(r["link_id"]), r["outcome"], r["account"], r["owner"])
            for r in eventually(there, what=f"{count} events")]


def test_an_expired_link_has_its_410_and_the_codes_next_link_its_own(
        links, edge, collector, tables):
    code = links.create(owner="ann")
    link, key, marker = links.record(code), links.key(code), links.marker_key(code)
    first, second = link.link_id, link.link_id + GENERATION
    _, _, ttl, opened, *rest = links.redis.get(marker).split(" ")
    long_ago = str(int(opened) - 31 * DAY)

    def marked(generation, state, ttl=ttl, at=long_ago):
        links.redis.set(marker, " ".join([generation, state, ttl, at, *rest]))

    def status():
        return visit(f"{edge.url}/{code}").status_code

    assert status() == 302
    links.redis.delete(key)
    marked("1", "o")
    assert status() == 410  # expired
    marked("1", "c")
    assert status() == 410  # reclaimed
    marked("2", "c", ttl="-")
    assert status() == 410  # granted again, and closed without having been opened
    marked("2", "o", at=opened)
    assert status() == 410  # open again: it may be issued at any moment
    link.link_id, link.generation, link.owner = second, 2, "bob"
    with links.bytes_client() as client:
        client.set(key, link.SerializeToString(), px=DAY)
    assert status() == 302
    links.redis.delete(key)
    marked("2", "o")
    assert status() == 410

    account = link.account
    assert stored(tables, 7) == [
        (first, "redirected", account, "ann"),
        (first, "expired", UNKNOWN, UNKNOWN), (first, "expired", UNKNOWN, UNKNOWN),
        (0, "expired", "", ""), (0, "expired", "", ""),
        (second, "redirected", account, "bob"), (second, "expired", UNKNOWN, UNKNOWN)]


@pytest.mark.proof
def test_410s_are_counted_by_outcome_and_are_no_clicks(world):
    redirector = world.redirector(cache_ttl="0s", cache_negative_ttl="0s")
    world.visit(redirector, 3)
    links, code = world.links, world.code
    link_id, marker = links.record(code).link_id, links.marker_key(code)
    links.redis.delete(links.key(code))
    generation, _, *rest = links.redis.get(marker).split(" ")
    links.redis.set(marker, " ".join([generation, "c", *rest]))
    for _ in range(4):
        assert visit(f"{redirector.url}/{code}").status_code == 410
    assert redirector.stop() == 0
    hour = world.wait(settled=7, reported=True, complete=True)
    assert (hour["answered"]["redirected"], hour["answered"]["expired"]) == (3, 4)
    assert hour["lost"] == NOTHING_LOST
    assert world.clicks() == 3
    rows = world.tables.rows("SELECT outcome, count() AS n FROM clicks "
                             f"WHERE link_id = {link_id} GROUP BY outcome")
    assert {r["outcome"]: int(r["n"]) for r in rows} == {"redirected": 3, "expired": 4}
