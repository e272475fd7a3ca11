"""A Redis that forgets (promise 10): restored from a backup that knows less."""
from support.allocator import *  # noqa: F403, fixtures too
from support.program import eventually

BACKUP = "backup:"


def back_up(redis):
    """Keeps what the space's own node knows of the space."""
    for key in list(redis.scan_iter("*{s7}*")):
        assert redis.copy(key, BACKUP + key)


def restore(redis):
    keys = list(redis.scan_iter("*{s7}*"))
    redis.delete(*[key for key in keys if not key.startswith(BACKUP)])
    for key in keys:
        if key.startswith(BACKUP):
            assert redis.copy(key, key[len(BACKUP):])


def cursor(redis):
    return int(redis.get("cursor:{s7}"))


def test_allocators_that_all_restarted_remember_by_their_file(
        redis, topic, create_space, start, workdir):
    assert create_space()[0] == 0
    back_up(redis)
    file = workdir / "seen"
    api = start(topic, seen_file=str(file))
    before = create_many(api, 500)
    seen = cursor(redis)
    api.program.kill()
    restore(redis)
    assert cursor(redis) == 0
    api = start(topic, seen_file=str(file))
    # Before anything is created, for an allocator without such a file.
    eventually(lambda: cursor(redis) >= seen, what="the cursor lifted")
    other = start(topic)
    after = create_many(other, 200) + create_many(api, 200)
    assert len(set(before + after)) == 900
    assert other.program.metric(
        "shortloop_allocator_opens_refused_total") == 0


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
    file = workdir / "seen"
    assert create_space()[0] == 0
    api = start(topic, seen_file=str(file))
    assert api.create(url=URL)
    api.program.stop()
    links_config["spaces"][0]["block_size"] = 7
    status, output = program(
        "allocator",
        {**sections, "allocator": {**sections["allocator"],
                                   "seen_file": str(file)}},
        start=False).run()
    assert status == 78
    assert "blocks of" in output and str(file) in output
