"""A space that Redis has lost is not created again over issued codes: the archive in
ClickHouse has them, as the collector wrote it."""
import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import Api
from support.fault_proxy import ClickHouseProxy
from support.program import eventually
from support.rule_files import UA_RULES
from support.spaces import aliases, hashes, sequence, snowflakes, with_key

BLOCK, GAP = 100, 7
LINKS_SECTION = {"ttl_classes": ["1h"], "safety_gap": GAP, "grant_blocks": 1, "spaces": [
    sequence(), hashes("h5", length=5), snowflakes("flake"), aliases()]}


@pytest.fixture
def create(program, sections):
    """create("s7", "--first-block", "9") returns (exit status, output)."""
    def run(name, *args, **changes):
        links = {**sections["links"], "spaces": [
            {**s, **(changes if s["name"] == name else {})}
            for s in sections["links"]["spaces"]]}
        command = program("allocator", {**sections, "links": links},
                          start=False,
                          args=["create-space", "--space", name, *args])
        return command.run()
    return run


@pytest.fixture
def used(redis, kafka, tables, base_config, program, sections, create):
    """Spaces have links in the archive; then Redis loses all data.  Returns the codes
    of s7."""
    for name in "s7", "h5", "flake", "names":
        status, said = create(name)
        assert status == 0, said
    allocator = Api(program("allocator", sections))
    codes = [allocator.create(space="s7")["code"] for _ in range(2 * BLOCK + 1)]
    allocator.create(space="h5")
    allocator.create(space="flake")
    allocator.create(code="Sale-2026")
    allocator.program.stop()
    collector = program("collector", {"collector": {
        "batch_age": "100ms", "ua_rules": UA_RULES}})
    eventually(lambda: tables.value("SELECT count() FROM links") ==
               len(codes) + 3)
    collector.stop()
    redis.flushall()
    return codes


@pytest.mark.proof
def test_a_lost_space_begins_above_what_the_archive_knows(
        used, redis, create, program, sections):
    status, said = create("s7")
    assert status == 70
    assert f"--first-block {2 + 1 + GAP} or more" in said
    assert create("s7", "--first-block", str(2 + GAP))[0] == 70
    assert not redis.exists("space:{s7}", "cursor:{s7}")

    assert create("s7", "--first-block", str(3 + GAP))[0] == 0
    for name in "h5", "flake", "names":
        assert create(name, "--no-archive")[0] == 0
    allocator = Api(program("allocator", sections))
    again = [allocator.create(space="s7") for _ in range(2 * BLOCK)]
    assert not set(used) & {link["code"] for link in again}


@pytest.mark.proof
def test_a_space_that_is_there_is_compared_without_asking(used, create):
    assert create("s7", "--no-archive")[0] == 0
    status, said = create("s7")
    assert status == 0 and "nothing to do" in said


@pytest.mark.proof
def test_codes_of_other_strategies_would_be_given_out_again(used, create):
    for name, code in (("h5", ""), ("names", "Sale-2026")):
        status, said = create(name)
        assert status == 70 and code in said and "--no-archive" in said
        assert create(name, "--no-archive")[0] == 0
    assert create("flake")[0] == 0  # a later snowflake differs


def test_a_number_is_never_used_for_another_space(used, create, sections):
    sections["links"]["spaces"][0].update(name="s8", length=8)
    status, said = create("s8")
    assert status == 70 and "made in space s7" in said


def test_a_length_belongs_to_one_space(used, create, sections):
    sections["links"]["spaces"][0].update(name="s8", number=5)
    status, said = create("s8")
    assert status == 70 and "a length belongs to one space" in said


def test_another_key_is_found_out_by_an_archived_code(used, create, workdir):
    other = with_key(workdir, sequence(), "f" * 32)["keys"]
    status, said = create("s7", keys=other)
    assert status == 70 and "not made with the keys" in said


def test_an_archive_without_tables_is_no_archive(redis, clickhouse, create):
    status, said = create("s7")
    assert status == 69 and "aggregator migrate" in said
    assert not redis.exists("space:{s7}")


@pytest.mark.proof
def test_an_answer_of_the_archive_that_is_lost_creates_nothing(
        used, redis, create, sections, clickhouse_server):
    """This holds for any lost answer: it does not mean that nothing was issued."""
    with ClickHouseProxy(clickhouse_server.port) as proxy:
        sections["clickhouse"] = {"url": proxy.url}
        for name in "s7", "h5", "names":
            for fault in "error_before", "cut_answer":
                number = 0
                while not number or proxy.count(fault=fault):
                    number += 1
                    proxy.passed.clear()
                    proxy.calm()
                    proxy.at(number, fault, "question")
                    assert create(name)[0] in (70, 75)
                    assert not redis.exists(f"space:{{{name}}}")
                assert number > 1


def test_an_archive_that_is_away_is_told(redis, create):
    status, said = create("s7")
    assert status == 75 and "--no-archive" in said
    assert not redis.exists("space:{s7}")
    assert create("s7", "--no-archive")[0] == 0
