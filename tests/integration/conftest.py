"""Fixtures: real Redis, Kafka and ClickHouse on free ports, and our programs.

Each run of pytest has a directory of its own, build/test/<run>/ (in memory if there is
room), which is removed if all tests passed.  A server is started at most once a run, at
its first use by a test, and ends with the run, also if pytest is killed.

    redis           a client of the run's Redis, emptied before each test
    redis_server    that server; .port, .kill(), .start()
    own_redis       a Redis for this test alone, which may be killed or misconfigured
    kafka           support.kafka.Kafka: topics, messages, offsets
    clickhouse      support.clickhouse.ClickHouse in a database of its own
    tables          the same, with the tables of `aggregator migrate`
    migrated        support.clicks.Collector with these tables
    proxy           support.fault_proxy.ClickHouseProxy before that ClickHouse
    base_config     the sections redis, kafka (with topics of the test's own),
                    clickhouse, log
    program         program("redirector", config) starts it and waits for ready
    skew            skew(seconds): the environment of a program with a wrong clock
    wall_clock      .env of programs whose clock is wrong by .set(seconds)
    confinement     support.unit.Confinement: programs under their systemd units
    workdir         a directory of this test
    free_port       a function that returns an unused port
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
# A test may import what another one has, whichever folder each is in.
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "stack"),
                *sorted({str(p.parent) for p in HERE.glob("*/test_*.py")})]

import servers  # noqa: E402
from support import spent  # noqa: E402
from support.clickhouse import ClickHouse, ClickHouseServer  # noqa: E402
from support.clicks import Collector  # noqa: E402
from support.collectors import BROKER  # noqa: E402
from support.fault_proxy import ClickHouseProxy, KafkaProxy  # noqa: E402
from support.kafka import Kafka  # noqa: E402
from support.keys import KeysFile  # noqa: E402
from support.program import Program, migrate  # noqa: E402
from support.server import (  # noqa: E402
    KafkaServer, ProxiedKafkaServer, RedisServer)
from support.spaces import with_keys  # noqa: E402
from support.unit import Confinement  # noqa: E402

RUNS = servers.ROOT / "build" / "test"
MEMORY = pathlib.Path("/dev/shm")
STARTED = pytest.StashKey()
SPENT_BEFORE = pytest.StashKey()
# Every program runs under the restrictions of its systemd unit: tests/run-long.
CONFINED = os.environ.get("SHORTLOOP_CONFINED") == "1"


# --- the run's directory and its reports ---------------------------------------

def make_run(path):
    """The directory is in memory if there is room: a run's servers make and remove
    files by the hundred thousand, which on a disk took an eighth of ClickHouse's
    time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if MEMORY.is_dir() and min(shutil.disk_usage(MEMORY).free,
                               memory_available()) >= 8 << 30:
        path.symlink_to(tempfile.mkdtemp(
            prefix=f"shortloop-{path.name}-", dir=MEMORY))
    else:
        path.mkdir()


def memory_available():
    found = re.search(r"^MemAvailable: *(\d+) kB",
                      pathlib.Path("/proc/meminfo").read_text(), re.M)
    return int(found[1]) << 10 if found else 0


def keep_run(path):
    """The directory is kept for inspection, also after a reboot.  Kafka's indexes are
    20 MiB of zeros for each partition, which must not use 20 MiB of disk."""
    if path.is_symlink():
        there = path.resolve()
        path.unlink()
        subprocess.run(["cp", "-a", "--sparse=always", there, path], check=True)
        shutil.rmtree(there)


def remove_old_runs():
    """Failed runs are kept for inspection; only the newest of them."""
    if RUNS.is_dir():
        ended = sorted((p for p in RUNS.iterdir() if not os.path.exists(
            f"/proc/{p.name.rpartition('-')[2]}")),
            key=lambda p: p.lstat().st_mtime)
        for path in ended[:-1]:
            shutil.rmtree(path.resolve(), ignore_errors=True)
            if path.is_symlink():
                path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def rundir(request):
    remove_old_runs()
    path = RUNS / f"{time.strftime('%H%M%S')}-{os.getpid()}"
    make_run(path)
    yield path
    if request.session.testsfailed:
        keep_run(path)
    else:
        # There are thousands of files, mostly Kafka's: the run does not wait for this.
        subprocess.Popen(["rm", "-rf", path.resolve(), path],
                         start_new_session=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def workdir(rundir, request):
    safe = "".join(c if c.isalnum() or c in "-_" else "_"
                   for c in request.node.name)[:80]
    path = rundir / safe
    path.mkdir(exist_ok=True)
    return path


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.stash[SPENT_BEFORE] = spent.seconds_by_kind()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the end of every log of the test's parts to a failure, and the CPU time of
    the test to its last report."""
    if call.when == "teardown":
        item.user_properties.append(
            ("spent", spent.spent_since(item.stash[SPENT_BEFORE])))
    report = (yield).get_result()
    if report.failed:
        for thing in item.stash.get(STARTED, []):
            if thing.log_path.exists():
                report.sections.append((f"end of {thing.log_path}",
                                        servers.tail(thing.log_path, 40)))


def pytest_terminal_summary(terminalreporter):
    """Prints the counts of tests, from record_property("summary", text), and the CPU
    time of the run."""
    spent_by_test = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "summary" and report.when == "call":
                    terminalreporter.write_line(value)
                elif name == "spent":
                    spent_by_test[report.nodeid] = value
    write_spent(terminalreporter, spent_by_test)


def write_spent(terminalreporter, spent_by_test):
    """Writes everything to the file that SPENT_JSON names, if any."""
    for line in spent.lines_of_sum(spent_by_test):
        terminalreporter.write_line(line)
    if path := os.environ.get("SPENT_JSON"):
        pathlib.Path(path).write_text(json.dumps(spent_by_test, indent=1))


def watch(request, thing):
    """Shows the log of `thing` if this test fails."""
    request.node.stash.setdefault(STARTED, []).append(thing)
    return thing


@pytest.fixture
def links_config(workdir, request):
    """Section `links`: LINKS_SECTION of the test's module, with keys."""
    return with_keys(workdir, request.module.LINKS_SECTION)


@pytest.fixture
def first_keys():
    """{name: roles and other words of its line}; a test module may have its own."""
    return {}


@pytest.fixture
def keys_file(workdir, first_keys):
    """A support.keys.KeysFile."""
    made = KeysFile(workdir / "api.keys")
    made.write(first_keys)
    return made


@pytest.fixture
def allocator_settings():
    """The settings that section `allocator` of support.redirects has beside its keys; a
    test module may have its own."""
    return {}


@pytest.fixture(scope="session")
def free_port():
    return servers.free_port


# --- Redis ---------------------------------------------------------------------

@pytest.fixture(scope="session")
def _redis_server(rundir):
    server = RedisServer(rundir / "redis")
    yield server.start()
    server.kill()


@pytest.fixture
def redis_server(request, _redis_server):
    if not _redis_server.running():
        _redis_server.start()
    return watch(request, _redis_server)


@pytest.fixture
def redis(redis_server):
    client = redis_server.client()
    client.flushall()
    client.script_flush()
    client.config_resetstat()
    yield client
    client.close()


@pytest.fixture
def own_redis(request, workdir):
    # With "everysec", Redis would delay a write, but answer, while the sync before
    # waits for a processor; a kill at that time loses what was answered.
    server = watch(request, RedisServer(workdir / "redis", durable=True,
                                        extra=["--appendfsync", "always"]))
    yield server.start()
    server.kill()


# --- Kafka -----------------------------------------------------------------------

@pytest.fixture(scope="session")
def _kafka_server(rundir):
    server = KafkaServer(rundir / "kafka")
    yield server.start()
    server.kill()


@pytest.fixture
def kafka_server(request, _kafka_server):
    if not _kafka_server.running():
        _kafka_server.start()
    return watch(request, _kafka_server)


@pytest.fixture(scope="session")
def proxied_kafka_server(rundir):
    """For support.fault_world; it is here because a fixture that two modules import is
    made for each of them."""
    with KafkaProxy() as proxy:
        server = ProxiedKafkaServer(rundir / "kafka-proxied", proxy,
                                    extra=BROKER)
        yield server.start()
        server.kill()


@pytest.fixture
def kafka(kafka_server):
    return Kafka(kafka_server.port)


# --- ClickHouse --------------------------------------------------------------------

@pytest.fixture(scope="session")
def _clickhouse_server(rundir):
    server = ClickHouseServer(rundir / "clickhouse")
    yield server.start()
    server.kill()


@pytest.fixture
def clickhouse_server(request, _clickhouse_server):
    if not _clickhouse_server.running():
        _clickhouse_server.start()
    return watch(request, _clickhouse_server)


@pytest.fixture
def clickhouse(clickhouse_server):
    database = ClickHouse.with_new_database(clickhouse_server.url)
    yield database
    database.drop()


@pytest.fixture
def proxy(clickhouse_server):
    with ClickHouseProxy(clickhouse_server.port, seed=1) as made:
        yield made


@pytest.fixture(scope="session")
def skew_library(tmp_path_factory):
    library = tmp_path_factory.mktemp("skew") / "skew.so"
    source = servers.ROOT / "tests/integration/support/skew.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source],
                   check=True)
    return library


@pytest.fixture(scope="session")
def skew(skew_library):
    """skew(seconds): the environment of a program whose wall clock is wrong."""
    return lambda seconds: {"LD_PRELOAD": str(skew_library),
                            "SKEW_SECONDS": str(seconds)}


@pytest.fixture
def wall_clock(skew_library, workdir):
    """.env of programs whose wall clock is wrong by the seconds of the last
    .set(seconds)."""
    path = workdir / "skew"
    path.write_bytes(struct.pack("l", 0))

    def set(seconds):
        with path.open("r+b") as file:
            file.write(struct.pack("l", seconds))
    return type("WallClock", (), {"set": staticmethod(set), "env": {
        "LD_PRELOAD": str(skew_library), "SKEW_FILE": str(path)}})


@pytest.fixture(scope="session")
def disk_full(tmp_path_factory):
    """disk_full(flag, under=PART): the environment of a process whose disk is full for
    files whose path contains PART, while the file `flag` exists."""
    library = tmp_path_factory.mktemp("disk") / "disk_full.so"
    source = servers.ROOT / "tests/integration/support/disk_full.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source],
                   check=True)
    return lambda flag, under="/spool/": {
        "LD_PRELOAD": str(library), "DISK_FULL": str(flag),
        "DISK_FULL_UNDER": under}


# --- our programs --------------------------------------------------------------------

@pytest.fixture(scope="session")
def confinement(rundir):
    made = Confinement(rundir / "units")
    status, said = made.call("redirector", "getpid")
    if status == 126 and "not permitted" in said:
        pytest.skip("no sandbox can be had: " + said.strip())
    return made


@pytest.fixture
def base_config(request):
    """Sections for the servers that the test uses; the others point to a port where no
    server listens."""
    asked = request.fixturenames
    closed = servers.free_port()
    config = {"log": {"format": "logfmt", "level": "debug"}}

    def port(fixture):
        if fixture not in asked:
            return closed
        return request.getfixturevalue(fixture).port

    redis_port = port("own_redis" if "own_redis" in asked else "redis_server")
    # A Redis that gets no processor for a while must not count as down.
    config["redis"] = {"address": f"127.0.0.1:{redis_port}",
                       "command_timeout": "20s"}
    # Counters and renewals are only used where a test is about them,
    # test_reconciliation.py and test_link_ends.py.
    config["kafka"] = {"brokers": [f"127.0.0.1:{port('kafka_server')}"],
                       "topic_counters": "", "topic_renewals": ""}
    if "kafka" in asked:
        broker = request.getfixturevalue("kafka")
        config["kafka"].update(
            topic_clicks=broker.clicks_topic(),
            topic_links=broker.create_topic("links"),
            topic_dlq=broker.create_topic("dlq"))
    config["clickhouse"] = {
        "url": f"http://127.0.0.1:{port('clickhouse_server')}"}
    if "clickhouse" in asked:
        config["clickhouse"]["database"] = request.getfixturevalue(
            "clickhouse").database
    return config


@pytest.fixture
def program(request, workdir, base_config):
    """program(name, {"redirector": {...}, ...}, start=True, args=(), env=None): merges
    the given sections into base_config, gives the program's own section free ports for
    `listen` and `admin` unless they are given, writes the file, starts the program and
    waits for /readyz; marked tests run it under the restrictions of its systemd
    unit."""
    programs = []
    confined = CONFINED or request.node.get_closest_marker("confined")
    numbers = itertools.count()  # thread-safe, for tests with threads

    def make(name, sections=None, start=True, args=(), env=None, ready=True):
        config = {k: dict(v) for k, v in base_config.items()}
        for section, settings in (sections or {}).items():
            config[section] = {**config.get(section, {}), **settings}
        own = config.setdefault(name, {})
        own.setdefault("admin", f"127.0.0.1:{servers.free_port()}")
        if name in ("redirector", "allocator", "aggregator"):
            own.setdefault("listen", f"127.0.0.1:{servers.free_port()}")
        if name == "redirector":
            own.setdefault("lookup_timeout", "60s")
        if name == "aggregator":  # on a machine that is busy
            own.setdefault("answer_timeout", "60s")
        under = (request.getfixturevalue("confinement").command(name)
                 if confined else ())
        made = Program(name, config, workdir / f"{name}-{next(numbers)}",
                       args, env, under=under)
        programs.append(watch(request, made))
        return made.start(ready=ready) if start else made

    yield make
    for made in programs:
        if made.process:
            made.process.kill()
    # In a build with SANITIZE, this covers programs whose exit status no test checks.
    assert not [made.log_path for made in programs if "Sanitizer: " in made.log()]


@pytest.fixture(scope="session")
def _copy_tables():
    """The tables are empty until the first test with tables has migrated its own."""
    return []


@pytest.fixture
def tables(clickhouse, program, _copy_tables):
    if _copy_tables:
        _copy_tables[0](clickhouse)
    else:
        migrate(program)
        _copy_tables.append(clickhouse.copy_tables())
    return clickhouse


@pytest.fixture
def migrated(tables):
    return Collector(tables)
