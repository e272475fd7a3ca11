"""A Redis that forgets (promise 10): it is restored from an older backup."""
import pytest

from support.allocator import *  # noqa: F403, fixtures too
from support.program import eventually

pytestmark = pytest.mark.confined

BACKUP = "backup:"


def back_up(redis):
    """Copies the keys of the space's own node."""
    for key in list(redis.scan_iter("*{s7}*")):
        assert redis.copy(key, BACKUP + key)


def restore(redis):
    keys = list(redis.scan_iter("*{s7}*"))
    redis.delete(*[key for key in keys if not key.startswith(BACKUP)])
    for key in keys:
        if key.startswith(BACKUP):
            # A running program may have written it again meanwhile.
            assert redis.copy(key, key[len(BACKUP):], replace=True)


def cursor(redis):
    return int(redis.get("cursor:{s7}"))


def seen_by(file, number=1):
    """Returns the file's entry for the space with that number: entries have 64 bytes,
    and the block is in the low 42 bits at offset 40."""
    at = 64 * number + 40
    word = file.read_bytes()[at:at + 8]
    return int.from_bytes(word, "little") & ((1 << 42) - 1)


def test_allocators_that_all_restarted_remember_by_their_file(
        redis, topic, create_space, start, workdir):
    assert create_space()[0] == 0
    back_up(redis)
    file = workdir / "high-water"
    api = start(topic, high_water_file=str(file))
    before = create_many(api, 500)
    seen = cursor(redis)
    api.program.kill()
    restore(redis)
    assert cursor(redis) == 0
    api = start(topic, high_water_file=str(file))
    # This comes before anything is created, and serves an allocator without such a
    # file.
    eventually(lambda: cursor(redis) >= seen, what="the cursor lifted")
    other = start(topic)
    after = create_many(other, 200) + create_many(api, 200)
    assert len(set(before + after)) == 900
    assert other.program.metric(
        "shortloop_allocator_opens_refused_total") == 0


def test_an_allocator_remembers_what_others_were_granted(
        redis, topic, create_space, start, workdir):
    assert create_space()[0] == 0
    back_up(redis)
    api = start(topic, high_water_file=str(workdir / "high-water"),
                space_check_every="100ms")
    other = start(topic)
    before = create_many(other, 500)
    seen = cursor(redis)
    other.program.kill()
    eventually(lambda: seen_by(workdir / "high-water") >= seen)
    api.program.kill()
    restore(redis)
    api = start(topic, high_water_file=str(workdir / "high-water"))
    eventually(lambda: cursor(redis) >= seen, what="the cursor lifted")
    assert len(set(before + create_many(api, 200))) == 700


def test_a_space_lost_begins_above_what_the_host_has_seen(
        redis, topic, create_space, sections, start, workdir):
    sections["allocator"]["high_water_file"] = str(workdir / "high-water")
    assert create_space()[0] == 0
    before = create_many(api := start(topic), 500)
    api.program.stop()
    seen = seen_by(workdir / "high-water")
    redis.flushall()
    status, said = create_space()
    assert status == 70 and f"--first-block {seen} or more" in said
    assert create_space("--first-block", str(seen))[0] == 0
    assert len(set(before + create_many(start(topic), 200))) == 700


def test_one_that_meets_redis_again_speaks_for_the_others(
        own_redis, topic, create_space, start):
    assert create_space()[0] == 0
    redis = own_redis.client()
    back_up(redis)
    api = start(topic)
    create_many(api, 500)
    seen = cursor(redis)
    restore(redis)
    redis.client_kill_filter(_type="normal", skipme=True)
    eventually(lambda: cursor(redis) >= seen, what="the cursor lifted")


def test_a_file_of_another_space_is_refused(program, sections, links_config,
                                            redis, topic, create_space, start,
                                            workdir):
    file = workdir / "high-water"
    assert create_space()[0] == 0
    api = start(topic, high_water_file=str(file))
    assert api.create(url=URL)
    api.program.stop()
    links_config["spaces"][0]["block_size"] = 7
    before = file.read_bytes()
    for args in ([], ["--check"]):
        status, output = program(
            "allocator",
            {**sections, "allocator": {**sections["allocator"],
                                       "high_water_file": str(file)}},
            start=False, args=args).run()
        assert status == 78, output
        assert "blocks of" in output and str(file) in output
    assert file.read_bytes() == before
