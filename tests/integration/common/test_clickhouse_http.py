"""The embedded ClickHouse behind its HTTP interface, over plain HTTP."""
import base64
import concurrent.futures
import gzip
import json
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import time
import zlib

import lz4.frame
import pytest
import requests
from backports import zstd

import servers
from support.clickhouse import ClickHouse, ClickHouseError, ClickHouseServer
from support.program import eventually


@pytest.fixture
def url(clickhouse_server):
    return clickhouse_server.url


@pytest.fixture
def table(clickhouse):
    clickhouse.query(
        "CREATE TABLE t (a UInt32, s String) ENGINE = MergeTree ORDER BY a "
        "SETTINGS non_replicated_deduplication_window = 100")
    return clickhouse


def row(a, s):
    return struct.pack("<IB", a, len(s)) + s


# --- answers -------------------------------------------------------------------

@pytest.mark.parametrize("path", ["/ping", "/replicas_status", "/"])
def test_health_checks_answer_ok(url, path):
    answer = requests.get(url + path)
    assert (answer.status_code, answer.text) == (200, "Ok.\n")


def test_a_query_in_the_url_is_answered_as_tab_separated(url):
    answer = requests.get(url, params={"query": "SELECT 1, 'a'"})
    assert answer.text == "1\ta\n"
    assert answer.headers["X-ClickHouse-Format"] == "TabSeparated"


def test_a_query_may_be_split_over_url_and_body(url):
    answer = requests.post(url, params={"query": "SELECT 1 +"}, data=b" 41")
    assert answer.text == "42\n"


@pytest.mark.parametrize("where", ["parameter", "header", "clause"])
def test_the_format_is_taken_from(url, where):
    params = {"default_format": "CSV"} if where == "parameter" else {}
    headers = {"X-ClickHouse-Format": "CSV"} if where == "header" else {}
    query = "SELECT 'a'" + (" FORMAT CSV" if where == "clause" else "")
    answer = requests.post(url, params=params, headers=headers, data=query)
    assert answer.text == '"a"\n'
    assert answer.headers["X-ClickHouse-Format"] == "CSV"
    assert answer.headers["Content-Type"].startswith("text/csv")


def test_an_answer_carries_what_clients_read_from_headers(url):
    answer = requests.post(url, params={"query_id": "mine"},
                           data="SELECT number FROM numbers(10)")
    summary = json.loads(answer.headers["X-ClickHouse-Summary"])
    assert summary["read_rows"] == "10" and summary["result_rows"] == "10"
    assert int(summary["elapsed_ns"]) > 0
    assert answer.headers["X-ClickHouse-Query-Id"] == "mine"
    assert answer.headers["X-ClickHouse-Timezone"]
    assert answer.headers["X-ClickHouse-Server-Display-Name"]


def test_a_query_without_an_id_gets_one(url):
    ids = {requests.post(url, data="SELECT 1").headers["X-ClickHouse-Query-Id"]
           for _ in range(3)}
    assert len(ids) == 3 and all(len(i) == 36 for i in ids)


def test_parameters_are_settings_of_this_query_only(url):
    ask = "SELECT getSetting('max_threads') + 0"
    assert requests.post(url, params={"max_threads": "7"},
                         data=ask).text == "7\n"
    assert requests.post(url, data=ask).text != "7\n"


def test_set_and_use_do_not_outlive_their_request(clickhouse, url):
    requests.post(url, data=f"USE {clickhouse.database}")
    assert requests.post(url, data="SELECT currentDatabase()"
                         ).text == "default\n"


@pytest.mark.parametrize("value", ["it's", "back\\\\slash", "två", "a b&c=d"])
def test_query_parameters_arrive_as_they_were_given(url, value):
    answer = requests.post(url, params={"param_x": value},
                           data="SELECT {x:String} FORMAT TSVRaw")
    assert answer.text == value.replace("\\\\", "\\") + "\n"


def test_query_parameters_are_typed(url):
    answer = requests.post(url, params={"param_n": "3", "param_a": "[1,2]"},
                           data="SELECT {n:UInt8} + 1, {a:Array(UInt8)}")
    assert answer.text == "4\t[1,2]\n"


@pytest.mark.parametrize("how", ["parameter", "header"])
def test_the_database_is_taken_from(clickhouse, url, how):
    params = {"database": clickhouse.database} if how == "parameter" else {}
    headers = ({"X-ClickHouse-Database": clickhouse.database}
               if how == "header" else {})
    answer = requests.post(url, params=params, headers=headers,
                           data="SELECT currentDatabase()")
    assert answer.text == clickhouse.database + "\n"


# --- failures ------------------------------------------------------------------

@pytest.mark.parametrize("query, status, code, name", [
    ("SELECT", 400, 62, "SYNTAX_ERROR"),
    ("", 400, 62, "SYNTAX_ERROR"),
    ("SELECT 1; SELECT 2", 400, 62, "SYNTAX_ERROR"),
    ("SELECT nope", 404, 47, "UNKNOWN_IDENTIFIER"),
    ("SELECT * FROM nope", 404, 60, "UNKNOWN_TABLE"),
    ("SELECT nope(1)", 404, 46, "UNKNOWN_FUNCTION"),
    ("SELECT 1 FORMAT Nope", 404, 73, "UNKNOWN_FORMAT"),
    ("SELECT throwIf(1)", 500, 395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
    ("SELECT 1 INTO OUTFILE '/tmp/x'", 404, 78, "UNKNOWN_TYPE_OF_QUERY"),
    ("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV", 404, 78,
     "UNKNOWN_TYPE_OF_QUERY"),
    ("INSERT INTO nope FORMAT CSV\n1", 404, 60, "UNKNOWN_TABLE"),
])
def test_failures_have_the_codes_of_clickhouse(url, query, status, code, name):
    answer = requests.post(url, data=query)
    assert answer.status_code == status, answer.text
    assert answer.headers["X-ClickHouse-Exception-Code"] == str(code)
    assert answer.text.startswith(f"Code: {code}. DB::Exception: ")
    assert f"({name})" in answer.text and "(version " in answer.text


@pytest.mark.parametrize("params, status, code", [
    ({"nosuch": "1"}, 404, 115),
    ({"max_threads = 1, readonly": "1"}, 404, 115),
    ({"max_threads": "many"}, 400, 27),
    ({"database": "nope"}, 404, 81),
    ({"database": "a`; DROP"}, 404, 81),
    ({"compress": "1"}, 501, 48),
    ({"session_id": "x", "session_timeout": "-1"}, 400, 36),
    ({"query_id": "a\nb"}, 400, 36),
])
def test_bad_parameters_are_refused(url, params, status, code):
    answer = requests.post(url, params=params, data="SELECT 1")
    assert answer.headers.get("X-ClickHouse-Exception-Code") == str(code), (
        answer.text)
    assert answer.status_code == status


def test_a_long_failure_is_told_whole(url):
    name = "n" * 3000
    answer = requests.post(url, data=f"SELECT {name}")
    assert name in answer.text and "(UNKNOWN_IDENTIFIER)" in answer.text


def test_a_failed_query_leaves_nothing_in_the_next_answer(url):
    requests.post(url, data="SELECT intDiv(1, 10 - number) FROM numbers(20) "
                  "FORMAT JSON")
    assert requests.post(url, data="SELECT 1").text == "1\n"


def test_get_does_not_write(table):
    answer = requests.get(table.url, params={
        "database": table.database, "query": "INSERT INTO t VALUES (1, 'x')"})
    assert answer.headers["X-ClickHouse-Exception-Code"] == "164"
    assert table.value("SELECT count() FROM t") == 0


def test_get_does_not_write_when_it_says_readonly_0(table):
    answer = requests.get(table.url, params={
        "database": table.database, "readonly": "0",
        "query": "TRUNCATE TABLE t"})
    assert answer.headers["X-ClickHouse-Exception-Code"] == "164"


def test_other_methods_and_paths_are_refused(url):
    assert requests.delete(url).status_code == 405
    assert requests.get(url + "/nope").status_code == 404


def test_a_bad_escape_in_the_url_is_refused(clickhouse_server):
    head = eventually(lambda: servers.exchange(
        clickhouse_server.port,
        b"GET /?query=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 12), what="an answer")
    assert head == b"HTTP/1.1 400"


# --- inserts -------------------------------------------------------------------

def test_rows_in_the_body_after_the_query(table):
    data = b"INSERT INTO t FORMAT TSV\n1\ta\n2\tb\n"
    answer = requests.post(table.url, params={"database": table.database},
                           data=data)
    summary = json.loads(answer.headers["X-ClickHouse-Summary"])
    assert summary["written_rows"] == "2"
    assert table.query("SELECT * FROM t ORDER BY a") == "1\ta\n2\tb\n"


def test_rows_on_the_line_of_the_query(table):
    table.query("INSERT INTO t FORMAT CSV 1,a")
    assert table.query("SELECT * FROM t") == "1\ta\n"


def test_values_over_several_lines(table):
    table.query("", b"INSERT INTO t VALUES (1, 'a\nb'),\n\n(2, upper('c'));")
    assert table.query("SELECT * FROM t ORDER BY a") == "1\ta\\nb\n2\tC\n"


def test_values_in_the_body_of_a_query_in_the_url(table):
    table.query("INSERT INTO t (a) VALUES", b"(1), (2)")
    assert table.value("SELECT sum(a) FROM t") == 3


def test_every_byte_survives_rowbinary(table):
    every = bytes(range(256))[:127]
    strings = [every, bytes(range(128, 255)), b"\n", b"\n\n;\n", b"'`\"\\", b""]
    table.query("INSERT INTO t FORMAT RowBinary",
                b"".join(row(10, s) for s in strings))
    found = table.query("SELECT hex(s) FROM t ORDER BY s")
    assert sorted(found.split()) == sorted(s.hex().upper()
                                           for s in strings if s)
    assert found.count("\n") == len(strings)


def test_data_that_begins_with_newlines_is_data(table):
    # 0x0a0a0a0a: the row begins with the bytes of newlines.
    table.query("INSERT INTO t FORMAT RowBinary", row(0x0a0a0a0a, b"x"))
    assert table.value("SELECT a FROM t") == 0x0a0a0a0a


def test_an_insert_without_rows_inserts_none(table):
    table.query("INSERT INTO t FORMAT RowBinary", b"")
    assert table.value("SELECT count() FROM t") == 0


def test_settings_may_stand_in_the_insert(table):
    query = ("INSERT INTO t (s, a) SETTINGS insert_deduplication_token = 'x', "
             "async_insert = 0 FORMAT CSV")
    table.query(query, b"z,1\n")
    table.query(query, b"z,1\n")
    assert table.query("SELECT * FROM t") == "1\tz\n"


def test_a_row_cut_short_is_refused(table):
    with pytest.raises(ClickHouseError) as refused:
        table.query("INSERT INTO t FORMAT RowBinary", row(1, b"abc")[:-1])
    assert refused.value.code == 33 and refused.value.status == 400
    assert table.value("SELECT count() FROM t") == 0


@pytest.mark.long
def test_a_large_block_arrives_whole(table):
    rows = 5_000_000
    data = b"".join(struct.pack("<IB5s", i, 5, b"a\n\n'\0")
                    for i in range(rows))
    assert len(data) > 45 << 20
    table.query("INSERT INTO t FORMAT RowBinary", data)
    assert table.rows("SELECT count() n, sum(a) a, uniqExact(s) s FROM t") == [
        {"n": rows, "a": rows * (rows - 1) // 2, "s": 1}]


def test_native_blocks_are_accepted(table):
    table.query("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    block = requests.post(table.url, params={
        "database": table.database},
        data="SELECT toUInt32(a + 10) AS a, s FROM t FORMAT Native").content
    table.query("INSERT INTO t FORMAT Native", block)
    assert table.query("SELECT * FROM t ORDER BY a") == (
        "1\ta\n2\tb\n11\ta\n12\tb\n")


def test_a_token_sent_twice_is_one_block(table):
    for _ in range(2):
        table.query("INSERT INTO t FORMAT RowBinary", row(1, b"x"),
                    insert_deduplication_token="0:clicks:3:10-20",
                    async_insert="0")
    assert table.value("SELECT count() FROM t") == 1


def test_the_same_rows_under_two_tokens_are_two_blocks(table):
    for token in ("one", "two"):
        table.query("INSERT INTO t FORMAT RowBinary", row(1, b"x"),
                    insert_deduplication_token=token, async_insert="0")
    assert table.value("SELECT count() FROM t") == 2


def test_racing_inserts_under_one_token_leave_one_block(table):
    def insert(_):
        ClickHouse(table.url, table.database).query(
            "INSERT INTO t FORMAT RowBinary", row(1, b"x") * 1000,
            insert_deduplication_token="t", async_insert="0")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(insert, range(8)))
    assert table.value("SELECT count() FROM t") == 1000


def test_an_insert_from_a_select(table):
    table.query("INSERT INTO t SELECT number, 'x' FROM numbers(5)")
    assert table.value("SELECT count() FROM t") == 5


# --- encodings -----------------------------------------------------------------

ENCODERS = {"gzip": gzip.compress, "deflate": zlib.compress,
            "zstd": zstd.compress, "lz4": lz4.frame.compress}
DECODERS = {"zstd": zstd.decompress, "lz4": lz4.frame.decompress}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_may_be_encoded(table, name):
    packed = ENCODERS[name](b"INSERT INTO t FORMAT RowBinary\n"
                            + row(1, b"\n\n") * 10000)
    answer = requests.post(table.url, params={"database": table.database},
                           data=packed, headers={"Content-Encoding": name})
    assert answer.status_code == 200, answer.text
    assert table.value("SELECT count() FROM t") == 10000


def test_a_body_may_be_chunked(table):
    def chunks():
        yield b"INSERT INTO t FORMAT RowBin"
        yield b"ary\n"
        for i in range(100):
            yield row(i, b"x" * 100)
    answer = requests.post(table.url, params={"database": table.database},
                           data=chunks())
    assert answer.status_code == 200, answer.text
    assert table.value("SELECT count() FROM t") == 100


@pytest.mark.parametrize("name", ENCODERS)
def test_a_damaged_body_is_refused(table, name):
    packed = ENCODERS[name](b"INSERT INTO t VALUES (1, 'a')" * 100)
    answer = requests.post(table.url, data=packed[:len(packed) // 2],
                           headers={"Content-Encoding": name})
    assert answer.headers["X-ClickHouse-Exception-Code"] == "271"
    assert answer.status_code == 400


def test_an_encoding_nobody_knows_is_refused(url):
    answer = requests.post(url, data=b"x", headers={"Content-Encoding": "br"})
    assert answer.status_code == 501


@pytest.mark.parametrize("name", ENCODERS)
def test_an_answer_is_encoded_when_asked(url, name):
    answer = requests.post(
        url, params={"enable_http_compression": "1"},
        data="SELECT number FROM numbers(10000)",
        headers={"Accept-Encoding": name}, stream=True)
    assert answer.headers["Content-Encoding"] == name
    raw = answer.raw.read(decode_content=name not in DECODERS)
    plain = DECODERS.get(name, bytes)(raw)
    assert plain == b"".join(b"%d\n" % i for i in range(10000))


def test_an_answer_is_plain_unless_compression_is_enabled(url):
    answer = requests.post(url, data="SELECT 1",
                           headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers


# --- users ---------------------------------------------------------------------

@pytest.fixture(scope="module")
def guarded(rundir):
    # The directory is new each time: a worker may get a test of this module after it
    # has ended this server.
    directory = pathlib.Path(tempfile.mkdtemp(prefix="guarded-", dir=rundir))
    (directory / "password").write_text("s3cret\n")
    server = ClickHouseServer(directory, extra=[
        "--user", "ana", "--password-file", directory / "password"])
    yield server.start()
    server.kill()


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(
        f"{user}:{password}".encode()).decode()}


@pytest.mark.parametrize("headers, params", [
    ({"X-ClickHouse-User": "ana", "X-ClickHouse-Key": "s3cret"}, {}),
    (basic("ana", "s3cret"), {}),
    ({}, {"user": "ana", "password": "s3cret"}),
])
def test_the_user_may_come_in(guarded, headers, params):
    answer = requests.post(guarded.url, headers=headers, params=params,
                           data="SELECT 1")
    assert answer.text == "1\n"


@pytest.mark.parametrize("headers, params", [
    ({}, {}),
    ({"X-ClickHouse-User": "ana"}, {}),
    ({"X-ClickHouse-User": "ana", "X-ClickHouse-Key": "s3cre"}, {}),
    ({"X-ClickHouse-User": "eve", "X-ClickHouse-Key": "s3cret"}, {}),
    (basic("ana", "wrong"), {}),
    ({"Authorization": "Basic !!!"}, {}),
    ({"Authorization": "Basic " + "A" * 4000}, {}),
    ({}, {"user": "ana", "password": "S3CRET"}),
])
def test_others_may_not(guarded, headers, params):
    answer = requests.post(guarded.url, headers=headers, params=params,
                           data="SELECT 1")
    assert answer.status_code == 403
    assert answer.headers["X-ClickHouse-Exception-Code"] == "516"


def test_the_password_is_not_in_the_log(guarded):
    requests.post(guarded.url, params={"user": "ana", "password": "s3cret"},
                  data="SELECT nope")
    assert "s3cret" not in guarded.process.log()


def test_health_checks_need_no_user(guarded):
    assert requests.get(guarded.url + "/ping").status_code == 200


# --- sessions ------------------------------------------------------------------

def test_a_session_keeps_its_temporary_tables(url):
    session = {"session_id": "temporary"}
    requests.post(url, params=session, data="CREATE TEMPORARY TABLE x (a Int8)")
    requests.post(url, params=session, data="INSERT INTO x VALUES (3)")
    answer = requests.post(url, params=session, data="SELECT * FROM x")
    assert answer.text == "3\n"
    assert requests.post(url, data="SELECT * FROM x").status_code == 404


def test_settings_of_a_request_do_not_stay_in_its_session(url):
    session = {"session_id": "settings"}
    ask = "SELECT getSetting('max_threads') + 0"
    assert requests.post(url, params={**session, "max_threads": "7"},
                         data=ask).text == "7\n"
    assert requests.post(url, params=session, data=ask).text != "7\n"


def test_a_failure_leaves_nothing_in_its_session(url):
    session = {"session_id": "failure"}
    requests.post(url, params=session, data="SELECT intDiv(1, 10 - number) "
                  "FROM numbers(20) FORMAT JSON")
    assert requests.post(url, params=session, data="SELECT 1").text == "1\n"


def test_get_does_not_write_in_a_session(table):
    params = {"session_id": "get", "database": table.database}
    answer = requests.get(table.url, params={
        **params, "query": "INSERT INTO t VALUES (1, 'x')"})
    assert answer.headers["X-ClickHouse-Exception-Code"] == "164"
    assert requests.get(table.url, params={
        **params, "query": "SELECT 1"}).text == "1\n"


def test_a_session_serves_one_request_at_a_time(url):
    session = {"session_id": "busy"}

    def refused():
        """Returns the request that came second, while the first runs."""
        slow = pool.submit(requests.post, url, params=session,
                           data="SELECT sleep(2)")
        time.sleep(0.5)
        answer = requests.post(url, params=session, data="SELECT 1")
        return slow.result().status_code == 200 and \
            answer.headers.get("X-ClickHouse-Exception-Code") == "373"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        eventually(refused, what="two at a time")


def test_a_session_that_must_exist_has_to(url):
    answer = requests.post(url, params={"session_id": "x1",
                                        "session_check": "1"}, data="SELECT 1")
    assert answer.status_code == 404
    assert answer.headers["X-ClickHouse-Exception-Code"] == "372"


def test_a_session_ends_with_its_timeout(url):
    session = {"session_id": "short", "session_timeout": "1"}
    requests.post(url, params=session, data="SELECT 1")
    # A check that comes too early prolongs the session by another second.
    eventually(lambda: requests.post(
        url, params={**session, "session_check": "1"},
        data="SELECT 1").status_code == 404, every=2.5)


# --- limits and life -----------------------------------------------------------

@pytest.fixture
def own_server(workdir):
    made = []

    def start(*extra):
        server = ClickHouseServer(workdir / "clickhouse", extra=extra)
        made.append(server)
        return server.start()
    yield start
    for server in made:
        server.kill()


def test_more_queries_than_fit_are_refused(own_server):
    server = own_server("--threads", 1, "--queue", 2)

    def ask(_):
        return requests.post(server.url, data="SELECT sleep(1)")

    def at_once():
        """Some of the former queries have ended by now."""
        answers = list(pool.map(ask, range(8)))
        refused = [a for a in answers if a.status_code == 503]
        assert all(a.headers["X-ClickHouse-Exception-Code"] == "202"
                   for a in refused)
        assert all(a.text == "0\n" for a in answers if a not in refused)
        assert len(refused) <= 6
        return len(refused) >= 4
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        eventually(at_once, what="eight within a second")


def test_a_body_beyond_the_bound_is_refused(own_server):
    server = own_server("--max-body", "64K")
    answer = requests.post(server.url, data=b"SELECT 1" + b" " * 100000)
    assert answer.status_code == 413
    packed = gzip.compress(b"SELECT 1" + b" " * 10_000_000)
    assert len(packed) < 64 << 10
    answer = requests.post(server.url, data=packed,
                           headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 413


def test_an_answer_beyond_the_bound_is_refused(own_server):
    server = own_server("--max-result", "64K")
    answer = requests.post(server.url, data="SELECT * FROM numbers(1000000)")
    assert answer.headers["X-ClickHouse-Exception-Code"] == "396"


def test_queries_run_side_by_side(own_server):
    server = own_server("--threads", 4)

    def begun(_):
        return int(requests.post(
            server.url, data="SELECT toUnixTimestamp64Milli(now64(3)), sleep(2)"
        ).text.split("\t")[0])

    def side_by_side():
        """The last begins before the first can have ended."""
        times = list(pool.map(begun, range(4)))
        return max(times) - min(times) < 2000
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        eventually(side_by_side)


def test_sigterm_answers_what_has_begun_and_exits_0(own_server):
    server = own_server()
    running = ("SELECT count() FROM system.processes "
               "WHERE query LIKE 'SELECT sleep%'")

    def begun():
        asked = pool.submit(requests.post, server.url, data="SELECT sleep(3)")
        eventually(lambda: asked.done() or
                   ClickHouse(server.url).value(running))
        return not asked.done() and asked
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        slow = eventually(begun, what="one that is seen to run")
        assert server.stop() == 0
        assert slow.result().text == "0\n"


def test_data_survives_a_restart(own_server):
    server = own_server()
    fill(server)
    assert server.stop() == 0
    server.start()
    assert filled(server) == 1000


def test_data_survives_a_kill(own_server):
    server = own_server()
    fill(server)
    server.kill()
    server.start()
    assert filled(server) == 1000
    # The token is kept, too.
    insert_block(server)
    assert filled(server) == 1000


def fill(server):
    client = ClickHouse(server.url)
    client.query("CREATE DATABASE d")
    client.query("CREATE TABLE d.t (a UInt32, s String) ENGINE = MergeTree "
                 "ORDER BY a SETTINGS non_replicated_deduplication_window = 9")
    insert_block(server)


def insert_block(server):
    ClickHouse(server.url).query(
        "INSERT INTO d.t FORMAT RowBinary", row(1, b"x") * 1000,
        insert_deduplication_token="t", async_insert="0")


def filled(server):
    return ClickHouse(server.url).value("SELECT count() FROM d.t")


def test_a_port_in_use_is_one_clear_line(workdir):
    server = ClickHouseServer(workdir)
    with socket.socket() as holder:
        # A former connection may still be closing.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", server.port))
        holder.listen()
        with pytest.raises(servers.ServerError):
            server.start()
    log = server.process.log()
    assert log.count("\n") == 1 and str(server.port) in log, log
    assert server.process.popen.returncode == 71


def test_a_start_without_cgroup_files_is_quiet(workdir):
    """The root is bare, as debootstrap makes it."""
    hide = ["unshare", "--mount", "sh", "-c",
            'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh"]
    if os.geteuid() or subprocess.run([*hide, "true"], check=False,
                                      capture_output=True).returncode:
        pytest.skip("only root can hide /sys/fs/cgroup")
    server = ClickHouseServer(workdir)
    server.command = lambda made=server.command: [*hide, *made()]
    server.start()
    server.stop()
    log = server.process.log()
    assert [line.split(" ")[0].partition("=")[0]
            for line in log.splitlines()] == ["time", "time"], log


def test_a_query_is_ended_by_its_id(clickhouse):
    slow = ("SELECT sum(sleepEachRow(0.05)) FROM numbers(2000) "
            "SETTINGS max_block_size = 1")
    running = ("SELECT count() FROM system.processes "
               "WHERE query LIKE '%numbers(2000)%' AND query NOT LIKE '%LIKE%'")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Each query has a connection of its own.
        other = ClickHouse(clickhouse.url, clickhouse.database)
        first = pool.submit(other.query, slow, query_id="it's mine:1")
        eventually(lambda: clickhouse.value(running) == 1)
        with pytest.raises(ClickHouseError) as refused:
            clickhouse.query("SELECT 1", query_id="it's mine:1")
        clickhouse.query("KILL QUERY WHERE query_id = 'it\\'s' SYNC")
        assert clickhouse.value(running) == 1
        clickhouse.query("KILL QUERY WHERE query_id = 'it\\'s mine:1' SYNC")
        assert clickhouse.value(running) == 0
        with pytest.raises(ClickHouseError) as ended:
            first.result(60)
    assert refused.value.code == 216 and ended.value.code == 394
    assert clickhouse.query("SELECT 1", query_id="it's mine:1") == "1\n"


def test_a_query_is_ended_by_how_its_id_begins(clickhouse):
    slow = "SELECT sum(sleepEachRow(0.05)) FROM numbers(2000) SETTINGS max_block_size = 1"
    ids = ("SELECT arraySort(groupArray(Settings['log_comment'])) FROM system.processes "
           "WHERE query LIKE '%numbers(2000)%' AND query NOT LIKE '%LIKE%'")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for query_id in "a-1", "a-1#7", "a-12", "a-12#7":
            other = ClickHouse(clickhouse.url, clickhouse.database)
            pool.submit(other.query, slow, query_id=query_id)
        eventually(lambda: clickhouse.value(f"SELECT length(({ids}))") == 4)
        # KILL waits only for the queries that it ends.
        clickhouse.query("KILL QUERY WHERE query_id = 'a-1' OR "
                         "startsWith(query_id, 'a-1#') SYNC")
        assert clickhouse.value(ids) == ["a-12", "a-12#7"]
        clickhouse.query("KILL QUERY WHERE startsWith(query_id, 'a-12') SYNC")
        assert clickhouse.value(ids) == []


def test_data_in_use_is_one_clear_line(own_server, workdir):
    server = own_server()
    second = ClickHouseServer(workdir / "second")
    second.directory = server.directory
    with pytest.raises(servers.ServerError):
        second.start()
    assert "in use by another process" in second.process.log()
    assert second.process.popen.returncode == 75


def test_a_drop_that_asks_to_wait_does(clickhouse):
    clickhouse.query("CREATE TABLE x (a Int8) ENGINE = MergeTree ORDER BY a")
    clickhouse.query("DROP TABLE x SYNC")
    assert clickhouse.tables() == set()


def test_files_of_dropped_tables_are_gone_after_a_restart(own_server):
    server = own_server()
    fill(server)
    size = stored_bytes(server)
    ClickHouse(server.url).query("DROP TABLE d.t")
    server.stop()
    server.start()
    assert size > 0 and stored_bytes(server) == 0
    assert not list((server.directory / "data/metadata_dropped").iterdir())


def stored_bytes(server):
    return sum(f.stat().st_size
               for f in (server.directory / "data/store").rglob("*.bin"))


@pytest.mark.parametrize("extra, status", [
    (["--nope"], 64), (["--threads", "0"], 64), (["--threads"], 64),
    (["--max-body", "1X"], 64), (["--library", "/nope.so"], 71),
    (["--password-file", "/nope"], 71), (["--log-format", "xml"], 64),
    (["--compile", "maybe"], 64),
])
def test_a_wrong_command_line_is_one_clear_line(workdir, extra, status):
    server = ClickHouseServer(workdir, extra=extra)
    with pytest.raises(servers.ServerError):
        server.start()
    assert server.process.popen.returncode == status
    assert server.process.log().count("\n") == 1
