"""Redis, Kafka and ClickHouse of the test's own, and programs, that all go by one clock,
which the test moves; a test file gets the fixtures by `from support.one_clock import *`, and
says with BEGIN when the clock begins."""
import time

import pytest

from support.clickhouse import ClickHouseServer
from support.kafka import Kafka
from support.server import KafkaServer, RedisServer


class Clock:
    """The wall clock of all that have .env in their environment.

    It has to be ahead of this machine's: ClickHouse's threads compute the end of a wait by it,
    and the kernel, which ends the wait, has the machine's. A wait for a time that is ahead lasts
    until there is work; one for a time that is past ends at once, again and again."""

    def __init__(self, wall_clock, at):
        assert at > time.time() + 86400, "the clock has to be ahead of this machine's"
        self.set, self.env, self.at = wall_clock.set, wall_clock.env, at
        self.move(at)

    def move(self, at):
        """Moves the clock on to `at`, in s since 1970; it runs on from there."""
        assert at >= self.at, "the clock never goes back"
        self.begun, self.at = time.monotonic(), at
        self.set(at - int(time.time()))

    def now(self):
        """Returns the time in s, to the second."""
        return self.at + int(time.monotonic() - self.begun) + 1


@pytest.fixture
def clock(request, wall_clock):
    return Clock(wall_clock, request.module.BEGIN)


def start_by_clock(server, env):
    server.env = env
    return server.start()


@pytest.fixture
def own_redis(workdir, clock):
    server = RedisServer(workdir / "redis")
    yield start_by_clock(server, clock.env)
    server.kill()


@pytest.fixture
def redis(own_redis):
    client = own_redis.client()
    yield client
    client.close()


@pytest.fixture
def kafka_server(workdir, clock):
    server = KafkaServer(workdir / "kafka", extra="log.retention.ms=-1\n")
    yield start_by_clock(server, clock.env)
    server.kill()


@pytest.fixture
def kafka(kafka_server):
    return Kafka(kafka_server.port)


@pytest.fixture
def clickhouse_server(workdir, clock):
    server = ClickHouseServer(workdir / "clickhouse")
    yield start_by_clock(server, {**clock.env, "SKEW_VDSO": "1"})
    server.kill()


@pytest.fixture
def timed(program, clock):
    """Makes programs that go by the clock; as `program`."""
    def make(*args, **options):
        return program(*args, env=clock.env, **options)
    return make
