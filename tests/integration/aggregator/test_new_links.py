"""Questions to the aggregator about links that the archive does not know yet: no
collector runs here, so links get there only if the test inserts them."""
import random

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, problem
from support.asking import FROM, TO
from support.clicks import counted, datetime64, make_click, rfc3339, some_clicks
from support.program import eventually, quick
from support.redis_proxy import RedisProxy
from support.spaces import (
    USUAL, aliases, hashes, sequence, snowflakes, with_key)
from support.sse import Stream

KEYS = {"boss": "admin", "eye": "read accounts=*", "ann": "read account=acme owners=ann",
        "bob": "read account=shop owners=bob", "acme": "create,read-own account=acme",
        "shop": "create,read-own account=shop"}
RANGE = f"from={rfc3339(FROM)}&to={rfc3339(TO)}"
SPACES = ["s7", "h6", "flakes", "names"]
PATIENCE = 120


@pytest.fixture
def first_keys():
    return KEYS


LINKS_SECTION = {**USUAL, "ttl_classes": ["2s", "1h", "never"],
                 "spaces": [sequence(), hashes(), snowflakes(), aliases()]}


@pytest.fixture
def api(redis, create_space, start):
    """It runs without Kafka, for which it does not wait: its events are not read."""
    for name in SPACES:
        status, output = create_space(name=name)
        assert status == 0, output
    made = start(ready=False, node=1)

    def makes_links():
        if made.program.ready()[0] == 0:
            return False
        return all(made.post(url=URL, ttl="1h", **of).status_code in (200, 201)
                   for of in ({}, {"space": "flakes"}))
    eventually(makes_links)
    return made


@pytest.fixture
def known(migrated):
    """Clicks of code1, which the archive has, up to TO."""
    migrated.insert(some_clicks(1, 100, [(TO - 2 * 86400, TO)], links=[1]))
    migrated.link("code1", 1, owner="ann", account="acme", creator="acme")
    return migrated


@pytest.fixture
def aggregator(known, program, sections, keys_file):
    def make(spaces=True, **more):
        return program("aggregator", {
            **({"links": sections["links"]} if spaces else {}),
            "aggregator": {"settle_every": "500ms",
                           "keys_file": str(keys_file.path)}, **more})
    return make


@pytest.fixture
def made(api, aggregator):
    return aggregator()


def get(made, path, key="boss"):
    return quick.get(made.url + path, timeout=60,
                     headers={"Authorization": f"Bearer {key}"})


def by_code(code):
    clicks = f"/v1/clicks?{RANGE}&interval=month&code={code}"
    return [clicks, f"{clicks}&format=csv", f"{clicks}&group_by=country",
            f"/v1/links/{code}/summary", f"/v1/summary?code={code}",
            f"/v1/export/clicks?{RANGE}&code={code}"]


def counts(made, code, key="boss"):
    answer = get(made, by_code(code)[0], key)
    assert answer.status_code == 200, answer.text
    return answer.json()


def none_of(made, link):
    """Checks that the answer is about that link, with zeros."""
    answer = counts(made, link["code"])
    assert answer["link_id"] == link["link_id"]
    assert answer["total"]["events"] == answer["total"]["visitors"] == 0
    return answer


# --- answers -------------------------------------------------------------------

def test_a_new_link_is_one_without_clicks(api, made):
    link = api.create(owner="ann")

    none_of(made, link)
    for path in by_code(link["code"]):
        assert get(made, path).status_code == 200, path
    summary = get(made, f"/v1/links/{link['code']}/summary").json()
    for field in "code", "link_id", "url", "ttl", "owner", "state", \
            "created_at", "generation":
        assert summary[field] == link[field]
    assert summary["events"] == 0 and summary["expires_at"]
    export = get(made, by_code(link["code"])[-1]).json()
    assert export["end"]["rows"] == 0 and export["end"]["complete"]


def test_its_clicks_may_be_there_before_it(api, made, known):
    link = api.create()
    rng = random.Random(2)
    rows = [make_click(rng, (FROM + i) * 1000, int(link["link_id"]),
                       code=link["code"]) for i in range(40)]
    known.insert(rows)

    assert counts(made, link["code"])["total"] == counted(rows)


@pytest.mark.parametrize("name", ["h6", "flakes", "names"])
def test_so_is_one_without_a_block(api, made, name):
    fields = {"code": "autumn-sale"} if name == "names" else {"space": name}
    link = api.create(ttl="never", **fields)

    none_of(made, link)
    summary = get(made, f"/v1/links/{link['code']}/summary").json()
    assert summary["expires_at"] is None
    # The id does not contain the code.
    path = f"/v1/clicks?{RANGE}&link_id={link['link_id']}"
    assert get(made, path).status_code == 404


def test_a_deleted_link_still_has_its_counts(api, made):
    link = api.create()
    assert api.delete(link["code"]).status_code == 204

    none_of(made, link)
    summary = get(made, f"/v1/links/{link['code']}/summary").json()
    assert summary["state"] == "deleted"


def test_what_has_expired_is_not_known_to_redis_either(api, made, redis):
    link = api.create()
    none_of(made, link)

    # The same happens when the link's time is over.
    redis.delete(*redis.keys(f"l:*:{link['code']}"))
    assert get(made, by_code(link["code"])[0]).status_code == 404


def test_a_link_in_a_block_is_found_by_its_id(api, made):
    link = api.create(owner="ann")
    path = f"/v1/clicks?{RANGE}&link_id="

    answer = get(made, path + link["link_id"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["code"] == link["code"]
    assert answer.json()["total"]["events"] == 0
    assert get(made, path + link["link_id"], "bob").status_code == 404
    # The next generation of that code was never issued.
    other = int(link["link_id"]) + (1 << 42)
    assert get(made, path + str(other)).status_code == 404


def test_a_stream_of_a_new_link_begins(api, kafka, aggregator, sections):
    made = aggregator(kafka={"topic_live": kafka.create_topic("live", 1)})
    link = api.create(key="acme", owner="ann")

    stream = Stream(made.url, key="ann", code=link["code"])
    stream.ready()
    stream.close()
    assert get(made, f"/v1/live?code={link['code']}", "bob").status_code == 404


def test_the_archive_speaks_for_what_it_knows(api, made, known):
    link = api.create(owner="ann")
    known.link(link["code"], int(link["link_id"]), owner="ann",
               url="https://archive.example/")

    summary = get(made, f"/v1/links/{link['code']}/summary").json()
    assert summary["url"] == "https://archive.example/"


# --- keys ------------------------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("key, seen", [
    ("boss", True), ("eye", True), ("ann", True), ("acme", True),
    ("bob", False), ("shop", False)])
def test_a_new_link_is_seen_by_the_keys_that_see_it_later(api, made, key, seen):
    link = api.create(key="acme", owner="ann")
    nothing = f"{link['code'][:-1]}_"  # not an alias of any link

    for path, other in zip(by_code(link["code"]), by_code(nothing)):
        answer, missing = get(made, path, key), get(made, other, key)
        assert missing.status_code == 404
        assert answer.status_code == (200 if seen else 404), path
        if not seen:
            assert answer.content.replace(
                link["code"].encode(), nothing.encode()) == missing.content
            assert {**answer.headers, "Date": ""} == {
                **missing.headers, "Date": ""}


# --- a code with a new link --------------------------------------------------------

@pytest.mark.proof
def test_a_code_is_its_new_links_whatever_the_archive_has(api, made, known):
    """test_whole_way.py tests the same with a code of a block."""
    old = api.create(space="h6", ttl="2s", key="acme", owner="ann")
    known.link(old["code"], int(old["link_id"]), owner="ann", account="acme",
               creator="acme")
    rows = [make_click(random.Random(3), FROM * 1000, int(old["link_id"]))]
    known.insert(rows)
    assert counts(made, old["code"])["total"]["events"] == 1

    # The same URL has the same code; the owner decides what is seen.
    new = eventually(lambda: (link := api.post(
        key="acme", url=old["url"], space="h6", ttl="1h", owner="ann").json()
        ) and link["link_id"] != old["link_id"] and link, every=0.2)
    assert new["code"] == old["code"]

    none_of(made, new)
    former = get(made, f"/v1/clicks?{RANGE}&link_id={old['link_id']}").json()
    assert former["total"]["events"] == 1


def test_the_former_owner_asks_by_link_id(api, made, known):
    new = api.create(owner="bob", key="shop")
    former = 1 << 57 | 5  # an earlier generation's, if there were one
    known.link(new["code"], former, owner="ann", account="acme",
               creator="acme")

    assert get(made, by_code(new["code"])[0], "ann").status_code == 404
    assert get(made, by_code(new["code"])[0], "acme").status_code == 404
    by_id = f"/v1/clicks?{RANGE}&link_id={former}"
    assert get(made, by_id, "ann").status_code == 200
    for key in "bob", "shop", "boss":
        assert counts(made, new["code"], key)["link_id"] == new["link_id"]
        assert get(made, by_id, key).status_code == (
            200 if key == "boss" else 404)


# --- Redis -------------------------------------------------------------------------

def refused(made, code, key="boss"):
    """Returns the answer if it is unknown whether there is a link."""
    answer = get(made, by_code(code)[0], key)
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["Retry-After"]) > 0
    assert "is not known at present" in problem(answer, 503)
    return answer.content


def in_time(made, link):
    """Waits until Redis has answered within the timeout: the machine may be slow."""
    eventually(lambda: get(made, by_code(link["code"])[0]).status_code == 200)


@pytest.mark.proof
def test_without_redis_only_the_archives_links_are_told(own_redis, api, made,
                                                        known):
    link, hidden = api.create(key="acme", owner="ann"), api.create(key="shop", owner="bob")
    known.link(hidden["code"], int(hidden["link_id"]), owner="bob",
               account="shop", creator="shop")
    none_of(made, link)

    own_redis.kill()

    # This begins when the outage is noticed.
    eventually(lambda: get(made, by_code(link["code"])[0]).status_code == 503)
    for path in by_code(link["code"]):
        assert get(made, path).status_code == 503, path
    for path in by_code("code1") + by_code(hidden["code"]):
        assert get(made, path).status_code == 200, path
    # The answer does not show whether the archive hides or lacks the link.
    assert refused(made, hidden["code"], "ann") == refused(
        made, link["code"], "ann")
    # Texts that can be no code, as nearly all of these, cause no query to Redis.
    others = [link["code"][:-1] + c for c in "ABCDEFGH"]
    assert 404 in [get(made, by_code(code)[0]).status_code for code in others]

    own_redis.start()
    eventually(lambda: get(made, by_code(link["code"])[0]).status_code == 200)


def test_a_redis_that_hangs_holds_nobody_up_for_long(own_redis, api, aggregator):
    with RedisProxy(own_redis.port) as proxy:
        link, other = api.create(), api.create()
        made = aggregator(redis={"address": proxy.address,
                                 "command_timeout": "1s"})
        in_time(made, link)
        held = proxy.hold(f":{other['code']}".encode())

        def hangs():
            refused(made, other["code"])
            return held.here.is_set()
        eventually(hangs)
        # Another connection is used; the hanging one is left alone.
        eventually(lambda: get(made, by_code(other["code"])[0]
                               ).status_code == 200)
        assert counts(made, "code1")["total"]["events"] > 0
        held.release()


def test_a_redis_that_hangs_for_all_is_asked_once(own_redis, api, aggregator):
    """A worker waits only once, and not for each question."""
    with RedisProxy(own_redis.port) as proxy:
        link = api.create()
        made = aggregator(redis={"address": proxy.address,
                                 "connect_timeout": "10m",
                                 "command_timeout": "2s"})
        in_time(made, link)
        questions = [proxy.hold(f":{link['code']}".encode())
                     for _ in range(10)]
        others = [proxy.hold(b"") for _ in range(100)]

        for _ in range(10):
            refused(made, link["code"])
            assert counts(made, "code1")["total"]["events"] > 0
        assert sum(held.here.is_set() for held in questions) <= 1
        for held in questions + others:
            held.release()


def test_a_space_of_another_key_tells_nothing(api, aggregator, sections,
                                              workdir):
    link = api.create()
    sections["links"]["spaces"][0] = with_key(
        workdir, sequence(), "another" * 4)
    made = aggregator()

    refused(made, link["code"])
    assert counts(made, "code1")["total"]["events"] > 0
    assert "links: space s7" in made.ready()[1]


def test_without_spaces_the_archive_alone_is_asked(api, aggregator):
    link = api.create()
    made = aggregator(spaces=False)

    assert get(made, by_code(link["code"])[0]).status_code == 404
    assert get(made, by_code("code1")[0]).status_code == 200


@pytest.mark.parametrize("links, said", [
    ({"ttl_classes": ["1h"]}, "links.spaces: is required"),
    ({"spaces": [{"name": "S", "number": 1, "length": 7}]},
     "links.spaces: 'S'")])
def test_a_mistake_in_the_spaces_is_a_config_error(program, links, said):
    status, output = program("aggregator", {"links": links},
                             start=False).run()

    assert status == 78
    assert said in output


# --- forgetting links ----------------------------------------------------------

@pytest.fixture
def forget(program, sections):
    def run(*args, **more):
        return program("aggregator", {"links": sections["links"], **more}, start=False,
                       args=("forget", "--no-wait", *args)).run(PATIENCE)
    return run


def listed(known):
    return [row["n"] for row in known.clickhouse.rows(
        "SELECT link_id AS n FROM forgotten ORDER BY n")]


def archive(known, link, **fields):
    known.link(link["code"], int(link["link_id"]), created_at=datetime64(0),
               expires_at=datetime64(1000), **fields)


def delete_for_good(api, forget, link):
    """A link that could be restored is not forgotten either."""
    assert api.delete(link["code"]).status_code == 204
    status, output = forget("--link", link["code"])
    assert status == 70 and "can still be restored" in output, output
    purged = api.call("DELETE", f"/v1/links/{link['code']}?purge=true")
    assert purged.status_code == 204


@pytest.mark.parametrize("space", ["s7", "flakes"])
def test_a_link_that_was_renewed_is_forgotten_once_it_is_deleted(api, known, forget,
                                                                 space):
    """The archive has the link's first end."""
    link = api.create(space=space)
    archive(known, link)

    for named in ("--link", link["code"]), ("--link-id", link["link_id"]):
        status, output = forget(*named)
        assert status == 70 and "is live: delete it first" in output, output
    assert listed(known) == []
    delete_for_good(api, forget, link)
    status, output = forget("--link", link["code"])
    assert status == 0, output
    assert [str(n) for n in listed(known)] == [link["link_id"]]


def test_of_a_link_that_has_ended_nothing_is_in_the_way(api, known, forget):
    known.link("code9", 9, expires_at=datetime64(1000))
    status, output = forget("--link", "code9")
    assert status == 0 and "the archive says" not in output, output
    assert listed(known) == [9]


def test_a_new_link_is_deleted_before_it_is_forgotten(api, known, forget):
    link = api.create()

    for named in ("--link", link["code"]), ("--link-id", link["link_id"]):
        status, output = forget(*named)
        assert status == 70 and "is live: delete it first" in output, output
    delete_for_good(api, forget, link)
    status, output = forget("--link-id", link["link_id"])
    assert status == 0, output
    assert [str(n) for n in listed(known)] == [link["link_id"]]


def test_a_code_that_was_given_out_again_is_its_new_link(api, known, forget):
    link = api.create()
    known.link(link["code"], int(link["link_id"]) - 1, state="deleted")

    status, output = forget("--link", link["code"])
    assert status == 70 and f"link {link['link_id']} " in output, output


@pytest.mark.parametrize("space", ["s7", "flakes"])
def test_a_link_that_redis_lost_is_forgotten_though_the_archive_has_it_live(
        api, known, forget, redis, space):
    """This is like a failover: the allocator has no such link to delete."""
    link = api.create(space=space)
    known.link(link["code"], int(link["link_id"]), space=space, ttl_class="never")
    assert redis.delete(*redis.keys(f"*{link['code']}*")) == 1
    assert api.delete(link["code"]).status_code == 404

    status, output = forget("--link", link["code"])
    assert status == 0 and "is taken for one that Redis lost" in output, output
    assert [str(n) for n in listed(known)] == [link["link_id"]]


def test_so_is_one_whose_code_is_another_links_in_redis(api, known, forget):
    link = api.create()
    number = int(link["link_id"]) - 1
    known.link(link["code"], number, space="s7", ttl_class="never")

    status, output = forget("--link-id", str(number))
    assert status == 0 and "is taken for one that Redis lost" in output, output
    assert listed(known) == [number]


def test_of_a_space_that_is_not_configured_the_archives_word_counts(api, known, forget):
    """Redis was not queried for it, except for an alias with that name."""
    known.link("elsewhere", 9, space="other", ttl_class="never")

    for named in ("--link", "elsewhere"), ("--link-id", "9"):
        status, output = forget(*named)
        assert status == 70 and "is live: delete it first" in output, output
    assert listed(known) == []


@pytest.mark.long
def test_while_redis_is_away_nobody_tells_that_a_link_is_not_live(api, known, forget,
                                                                  free_port):
    link = api.create()
    archive(known, link)

    status, output = forget("--link", link["code"],
                            redis={"address": f"127.0.0.1:{free_port()}"})
    assert status != 0 and "whether the link is live: " in output, output
    assert listed(known) == []
