"""The embedded ClickHouse with the official Python client."""
import datetime
import re

import clickhouse_connect
import pytest
from clickhouse_connect.driver.exceptions import DatabaseError


@pytest.fixture
def client(clickhouse_server, clickhouse):
    made = clickhouse_connect.get_client(
        host="127.0.0.1", port=clickhouse_server.port,
        database=clickhouse.database)
    yield made
    made.close()


@pytest.fixture
def table(client):
    client.command(
        "CREATE TABLE t (id UInt64, at DateTime64(3, 'UTC'), name String, "
        "tags Array(LowCardinality(String)), weight Nullable(Float64)) "
        "ENGINE = MergeTree ORDER BY id")
    return client


AT = datetime.datetime(2026, 11, 21, 1, 2, 3, 456000, datetime.timezone.utc)
ROWS = [[1, AT, "a\n'\0", ["x", "y"], 0.5], [2, AT, "", [], None]]
COLUMNS = ["id", "at", "name", "tags", "weight"]


def test_it_connects_and_asks_for_the_version(client):
    assert client.server_version.count(".") >= 2
    assert client.command("SELECT 1") == 1


def test_rows_inserted_come_back(table):
    table.insert("t", ROWS, column_names=COLUMNS)
    found = table.query("SELECT * FROM t ORDER BY id").result_rows
    # The client returns UTC times without a zone.
    assert [list(row) for row in found] == [
        [value.replace(tzinfo=None) if value == AT else value for value in row]
        for row in ROWS]


@pytest.mark.parametrize("compress", ["lz4", "zstd", "gzip", False])
def test_rows_come_back_under_any_compression(clickhouse_server, clickhouse,
                                              compress):
    client = clickhouse_connect.get_client(
        host="127.0.0.1", port=clickhouse_server.port, compress=compress,
        database=clickhouse.database)
    client.command("CREATE TABLE t (a UInt32) ENGINE = MergeTree ORDER BY a")
    client.insert("t", [[i] for i in range(100_000)], column_names=["a"])
    found = client.query("SELECT a FROM t ORDER BY a").result_rows
    assert [row[0] for row in found] == list(range(100_000))
    client.close()


def test_parameters_are_bound_on_the_server(client):
    found = client.query("SELECT {n:UInt32} + 1, {s:String}, {d:Date}",
                         parameters={"n": 41, "s": "it's",
                                     "d": datetime.date(2026, 11, 21)})
    assert found.result_rows == [(42, "it's", datetime.date(2026, 11, 21))]


def test_settings_reach_the_query(client):
    assert client.command("SELECT getSetting('max_threads') + 0",
                          settings={"max_threads": 3}) == 3


def test_the_summary_counts_written_rows(table):
    summary = table.insert("t", ROWS, column_names=COLUMNS)
    assert summary.written_rows == 2


def test_a_temporary_table_lives_in_the_clients_session(client):
    client.command("CREATE TEMPORARY TABLE x (a Int8)")
    client.insert("x", [[5]], column_names=["a"])
    assert client.command("SELECT a FROM x") == 5


def test_failures_are_raised_with_their_code(client):
    with pytest.raises(DatabaseError, match="(?i)code: 60|UNKNOWN_TABLE"):
        client.query("SELECT * FROM nope")


def test_a_stream_of_blocks_is_read(client):
    with client.query_row_block_stream(
            "SELECT number FROM numbers(200000)") as stream:
        assert sum(len(block) for block in stream) == 200000


def test_the_projects_tables_can_be_made(client):
    import servers
    for path in sorted((servers.ROOT / "schemas/clickhouse").glob("*.sql")):
        text = re.sub("--.*", "", path.read_text())
        for statement in filter(str.strip, text.split(";")):
            client.command(statement)
    made = {row[0] for row in client.query("SHOW TABLES").result_rows}
    assert {"clicks", "ingest_progress", "links"} <= made
