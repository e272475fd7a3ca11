"""Events are stored exactly once when ClickHouse fails inside: a full disk, a process
that dies between token and rows, a power failure that loses tokens or rows."""
import itertools
import pathlib
import shutil
import subprocess
import threading
import time

import pytest
import servers
import yaml
from support.clickhouse import ClickHouseServer
from support.events import Click, link_event
from support.program import BIN, eventually
from support.rule_files import UA_RULES
from test_exactly_once import (  # noqa: F401 (fixtures)
    PATIENCE, _own_kafka, kafka_proxy, kafka_server, loop)

pytestmark = pytest.mark.timeout(300)
DAY_MS = 24 * 3600 * 1000


class BrokenServer(ClickHouseServer):
    """fail() makes it fail once, at the rename that makes rows visible."""

    def __init__(self, directory):
        super().__init__(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self.order = directory / "rename-fault"
        self.library = directory / "rename.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library,
                        servers.ROOT / "tests/integration/support/rename.c",
                        "-ldl"], check=True)

    def command(self):
        return ["env", f"LD_PRELOAD={self.library}",
                f"RENAME_FAULT={self.order}", *super().command()]

    def fail(self, what, table_path, number=1):
        part = self.order.with_suffix(".part")
        part.write_text(f"{what} {number} {table_path}\n")
        part.replace(self.order)

    def failed(self):
        return not self.order.exists()


@pytest.fixture(scope="module")
def broken_server(rundir):
    server = BrokenServer(rundir / "clickhouse-broken")
    yield server.start()
    server.kill()


@pytest.fixture
def clickhouse_server(broken_server):
    if not broken_server.running():
        broken_server.start()
    yield broken_server
    broken_server.order.unlink(missing_ok=True)


def path_of(tables, table):
    """Returns the directory of the table's parts."""
    return tables.value(
        "SELECT data_paths[1] FROM system.tables WHERE name = "
        f"'{table}' AND database = currentDatabase()").rstrip("/")


def uuid_of(loop, table):
    return path_of(loop.tables, table).rpartition("/")[2]


def once(loop, count=None):
    """Checks that everything is stored and reported once."""
    loop.wait_stored(count)
    loop.wait_committed(loop.sent)
    assert loop.stored(what="uniqExact(offset)") == loop.stored()
    assert loop.stored("ingest_progress", "sum(rows)") == loop.stored()


# --- between the token and the rows ------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("table", ["clicks", "ingest_progress"])
def test_a_token_that_outlives_its_rows_loses_none(loop, clickhouse_server,
                                                   table):
    """The disk is full for a moment."""
    loop.collector()
    loop.send(5)
    loop.wait_stored()
    clickhouse_server.fail("full", uuid_of(loop, table))
    loop.send(20)
    eventually(clickhouse_server.failed, PATIENCE, what="the failure")
    once(loop)


@pytest.mark.proof
def test_a_token_that_outlives_its_links_loses_none(loop, clickhouse_server):
    loop.collector()
    loop.kafka.produce(loop.links, [link_event(n) for n in range(5)])
    loop.wait_stored(5, "links")
    clickhouse_server.fail("full", uuid_of(loop, "links"))
    loop.kafka.produce(loop.links, [link_event(n) for n in range(5, 25)])
    eventually(clickhouse_server.failed, PATIENCE, what="the failure")
    loop.wait_stored(25, "links")


@pytest.mark.proof
def test_a_late_request_under_a_token_that_outlived_its_rows_is_refused(
        loop, proxy, clickhouse_server):
    """The rows have been sent under another token by then."""
    loop.sections["clickhouse"]["query_timeout"] = "1s"
    loop.collector()
    loop.send(5)
    loop.wait_stored()
    before = proxy.count("clicks")
    held = proxy.hold("clicks")
    clickhouse_server.fail("full", uuid_of(loop, "clicks"))
    loop.send(20)
    assert held.here.wait(PATIENCE)
    eventually(clickhouse_server.failed, PATIENCE, what="the failure")
    once(loop)
    # Each token was sent as often as needed: a busy server does not answer within a
    # second.
    tokens = [p.token for p in proxy.passed if p.kind == "clicks"][before:]
    late = tokens[0]
    tokens = [t for t in tokens if t.partition("#")[0] == late]
    assert tokens.count(late) >= 2
    assert [token for token, _ in itertools.groupby(tokens)] == [
        late, f"{late}#1"]
    held.release()
    assert held.met.wait(PATIENCE)
    once(loop)


@pytest.mark.proof
@pytest.mark.parametrize("table", ["clicks", "ingest_progress"])
def test_a_server_that_dies_between_token_and_rows_loses_none(
        loop, clickhouse_server, table):
    loop.collector()
    loop.send(5)
    loop.wait_stored()
    clickhouse_server.fail("kill", uuid_of(loop, table))
    loop.send(20)
    eventually(lambda: not clickhouse_server.running(), PATIENCE,
               what="its death")
    clickhouse_server.start()
    once(loop)


@pytest.mark.proof
def test_a_new_owner_loses_none_either(loop, clickhouse_server):
    """The collector that sent the rows dies with the server."""
    running = loop.collector()
    loop.send(5)
    loop.wait_stored()
    clickhouse_server.fail("kill", uuid_of(loop, "clicks"))
    loop.send(20)
    eventually(lambda: not clickhouse_server.running(), PATIENCE,
               what="its death")
    running.kill()
    clickhouse_server.start()
    loop.collector()
    once(loop)


@pytest.mark.proof
def test_a_block_of_which_a_day_is_stored(loop, clickhouse_server):
    """Each day is a part, and the second part fails."""
    loop.collector(late_window="10d", batch_age="1s")
    now = int(time.time() * 1000)
    clickhouse_server.fail("full", uuid_of(loop, "clicks"), number=2)
    loop.kafka.produce(loop.clicks, [
        Click(event_id=n + 1, time_ms=now - n % 3 * DAY_MS, link_id=42,
              code="abc", outcome=1, status=302).SerializeToString()
        for n in range(60)], partition=0)
    loop.sent += 60
    eventually(clickhouse_server.failed, PATIENCE, what="the failure")
    once(loop)
    assert loop.stored(what="uniqExact(toDate(ts))") == 3


# --- losses by a power failure -----------------------------------------------

def cut_tokens(paths, _part):
    """The logs of tokens are not synced: their ends are lost."""
    for path in paths:
        for log in (path / "deduplication_logs").glob("*.txt"):
            lines = log.read_bytes().splitlines(keepends=True)
            log.write_bytes(b"".join(lines[:-1]))


def lose_rows(paths, part):
    """The rows of a part of clicks are not synced either."""
    shutil.rmtree(paths[0] / part)


def part_of(loop, insert):
    """Returns the part with the inserted clicks: nothing is merged, and a token ends in
    the first and the last offset."""
    first = insert.token.rpartition(":")[2].partition("-")[0]
    return loop.tables.value(f"SELECT _part FROM clicks WHERE offset = {first}")


def lose_power(loop, proxy, server, answered, *losses):
    """Fails while 20 clicks are inserted, in one block or two: the first was executed,
    and may have been answered."""
    paths = [pathlib.Path(path_of(loop.tables, table))
             for table in ("clicks", "ingest_progress")]
    carried_out, back = threading.Event(), threading.Event()
    parts = []

    def happen():
        parts.append(part_of(loop, [p for p in proxy.passed
                                    if p.fault == "call"][-1]))
        carried_out.set()
        back.wait(PATIENCE)
        if not answered:
            raise OSError("the answer is lost, too")
    loop.tables.query("SYSTEM STOP MERGES clicks")
    proxy.call_at(1, happen, "clicks", True)
    loop.send(20)
    assert carried_out.wait(PATIENCE)
    server.kill()
    for loss in losses:
        loss(paths, parts[0])
    server.start()  # a server ends with the thread that started it
    back.set()
    once(loop)


ROUNDS = [5, pytest.param(100, marks=pytest.mark.long)]


@pytest.mark.proof
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.timeout(1800)
def test_tokens_that_a_loss_of_power_took(loop, proxy, clickhouse_server,
                                          rounds):
    loop.collector()
    loop.send(5)
    loop.wait_stored()
    for number in range(rounds):
        lose_power(loop, proxy, clickhouse_server, number % 2, cut_tokens)


@pytest.mark.proof
@pytest.mark.parametrize("losses", [
    pytest.param([lose_rows], id="rows"),
    pytest.param([lose_rows, cut_tokens], id="rows and tokens")])
def test_rows_that_were_answered_and_that_a_loss_of_power_took(
        loop, proxy, clickhouse_server, losses):
    """The server is back before the block is reported."""
    made = loop.collector()
    loop.send(5)
    loop.wait_stored()
    # By then the collector knows since when the server runs; two starts within two
    # seconds cannot be distinguished.
    eventually(lambda: "exactly once (measured" in made.log())
    eventually(lambda: loop.tables.value("SELECT uptime() > 2") == 1)
    lose_power(loop, proxy, clickhouse_server, True, *losses)


def test_rows_of_an_import_that_a_loss_of_power_took(
        tables, proxy, clickhouse_server, base_config, workdir):
    """The rows were answered, and lost before they are reported."""
    path = pathlib.Path(path_of(tables, "clicks"))
    config, log = workdir / "collector.yaml", workdir / "access.log"
    config.write_text(yaml.safe_dump({
        "clickhouse": {**base_config["clickhouse"], "url": proxy.url},
        "collector": {"ua_rules": UA_RULES}}))
    log.write_text("".join(
        f'8.8.8.8 - - [17/May/2015:10:05:{second:02} +0000] '
        '"GET /abc HTTP/1.1" 302 5\n' for second in range(20)))
    # The next start must differ from this one.
    eventually(lambda: int(tables.value("SELECT uptime()")) > 3)
    carried_out, back = threading.Event(), threading.Event()

    def happen():
        carried_out.set()
        back.wait(PATIENCE)
    proxy.call_at(1, happen, "clicks", True)
    run = subprocess.Popen([BIN / "collector", "-c", config, "import", "--force", log])
    try:
        assert carried_out.wait(PATIENCE)
        part = tables.value("SELECT DISTINCT _part FROM clicks")
        clickhouse_server.kill()
        lose_rows([path], part)
        clickhouse_server.start()
        back.set()
        assert run.wait(PATIENCE) == 0
    finally:
        run.kill()
        run.wait()
    assert tables.rows("SELECT count() AS n, uniqExact(offset) AS u "
                       "FROM clicks") == [{"n": 20, "u": 20}]
    assert tables.value("SELECT sum(rows) FROM ingest_progress") == 20


@pytest.mark.proof
@pytest.mark.parametrize("table", [
    "clicks", pytest.param("ingest_progress", marks=pytest.mark.long)])
def test_tokens_forgotten_between_a_try_and_its_repeat(loop, proxy, table):
    loop.tables.query(f"ALTER TABLE {table} MODIFY SETTING "
                      "non_replicated_deduplication_window = 4")
    loop.collector(parts_per_second=1)
    loop.send(5)
    loop.wait_stored()
    offset = "offset" if table == "clicks" else "first"

    def forget():
        for number in range(12):
            loop.tables.query(
                f"INSERT INTO {table} (epoch, topic, {offset}) VALUES "
                f"(9, 'other', {number})",
                insert_deduplication_token=f"other:{number}")
        raise OSError("no answer")
    proxy.call_at(1, forget, table, True)
    loop.send(20)
    loop.wait_committed(25)
    loop.tables.query(f"ALTER TABLE {table} DELETE WHERE epoch = 9",
                      mutations_sync=1)
    once(loop)
