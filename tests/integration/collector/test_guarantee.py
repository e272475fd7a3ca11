"""ClickHouse's guarantee is measured on the present server, never assumed."""
import os
import re
import struct
import subprocess
import urllib.parse

import pytest
import servers
from support.fault_proxy import ClickHouseProxy, response
from support.program import eventually
from support.rule_files import UA_RULES
from support.server import Server

PATIENCE = 60
WINDOW = 10000  # our tables' window, by their settings
OLD = servers.DEPS / "clickhouse-18.16"
OLDER = servers.DEPS / "chdb-1.4"


def entries(tables):
    """Returns the entries per block: two on 26.2 to 26.5, whose default is
    compatible_double_hashes."""
    year, month = map(int, tables.value("SELECT version()").split(".")[:2])
    return 2 if (26, 2) <= (year, month) <= (26, 5) else 1


@pytest.fixture
def collector(kafka, tables, program, base_config):
    """collector("guarantee", url=...) returns a collector that is not started."""
    topics = kafka.collector_topics(1)

    def make(*args, url=None, database=None):
        server = {**base_config["clickhouse"], "database":
                  database or tables.database}
        if url:
            server["url"] = url
        return program("collector", {
            "kafka": {**base_config["kafka"], **topics}, "clickhouse": server,
            "collector": {"group": topics["topic_clicks"],
                          "ua_rules": UA_RULES}},
            args=args, start=False)
    return make


def said(program):
    status, output = program.run()
    return status, output.strip().splitlines()[-1]


class Profile(ClickHouseProxy):
    """Adds settings to requests that do not have them, as a user's profile does;
    refuses statements that match `denied`, as for a user without the right."""
    settings = {}
    denied = None

    def _ask(self, request):
        path = urllib.parse.urlsplit(request.path)
        given = dict(urllib.parse.parse_qsl(path.query, True))
        request.path = path._replace(query=urllib.parse.urlencode(
            {**self.settings, **given})).geturl()
        if self.denied and re.match(self.denied, request.query):
            return response(403, "Forbidden", [
                ("X-ClickHouse-Exception-Code", "497")],
                b"Code: 497. DB::Exception: Not enough privileges.\n")
        return super()._ask(request)


@pytest.fixture
def profile(clickhouse_server):
    with Profile(clickhouse_server.port) as proxy:
        yield proxy


def test_the_window_is_measured(collector, clickhouse):
    window = WINDOW // entries(clickhouse)
    assert said(collector("guarantee")) == (
        0, f"exactly once (measured: window {window} blocks)")
    clickhouse.query("ALTER TABLE links MODIFY SETTING "
                     "non_replicated_deduplication_window = 400")
    window = 400 // entries(clickhouse)
    assert said(collector("guarantee")) == (
        0, f"exactly once (measured: window {window} blocks)")
    # Nothing is left of the table for the measurement.
    assert not [t for t in clickhouse.tables() if "guarantee" in t]


def test_what_a_profile_turns_off_is_turned_on(collector, profile, clickhouse):
    """Each insert sets it for itself."""
    profile.settings = {"deduplicate_insert": "disable",
                        "insert_deduplicate": "0", "async_insert": "1",
                        "max_insert_threads": "4"}
    window = WINDOW // entries(clickhouse)
    assert said(collector("guarantee", url=profile.url)) == (
        0, f"exactly once (measured: window {window} blocks)")
    # Otherwise the collector would have noticed.
    own = profile._ask
    profile._ask = lambda request: own(without(
        request, "deduplicate_insert", "insert_deduplicate"))
    assert said(collector("guarantee", url=profile.url)) == (
        1, "at least once: a block that is sent again is stored again")


def without(request, *names):
    path = urllib.parse.urlsplit(request.path)
    request.path = path._replace(query=urllib.parse.urlencode(
        [(k, v) for k, v in urllib.parse.parse_qsl(path.query, True)
         if k not in names])).geturl()
    return request


def test_who_may_make_no_table_is_promised_nothing(collector, profile):
    profile.denied = "CREATE TABLE"
    text = ("not measured: this user may not CREATE TABLE "
            f"(window {WINDOW} blocks by the settings)")
    assert said(collector("guarantee", url=profile.url)) == (1, text)
    running = collector(url=profile.url).start()
    eventually(lambda: f"guarantee: {text}" in running.ready()[1], PATIENCE)
    running.wait_metric(0, "shortloop_collector_exactly_once")


def test_one_that_was_killed_while_it_measured_leaves_nothing(collector,
                                                              clickhouse):
    clickhouse.query("CREATE TABLE shortloop_guarantee_old (a Int8) "
                     "ENGINE = MergeTree ORDER BY a")
    collector("guarantee").run()
    assert "shortloop_guarantee_old" in clickhouse.tables()  # a running one's
    path = clickhouse.value("SELECT metadata_path FROM system.tables WHERE "
                            "name = 'shortloop_guarantee_old'")
    data = clickhouse.value("SELECT path FROM system.disks LIMIT 1")
    os.utime(os.path.join(data, path), (0, 0))
    collector("guarantee").run()
    assert "shortloop_guarantee_old" not in clickhouse.tables()


def insert_link(clickhouse, letter, number, token, newer):
    """Inserts with the settings that the collector sends."""
    clickhouse.query("INSERT INTO links (code, link_id) FORMAT RowBinary",
                     struct.pack("<BBQ", 1, letter, number),
                     insert_deduplication_token=token, async_insert=0,
                     insert_deduplicate=1, max_insert_threads=1, **newer)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_whole_window_is_as_long_as_measured(collector, clickhouse):
    """One token, and as many others as were measured, on the real table."""
    _, text = said(collector("guarantee"))
    window = int(re.search(r"window (\d+) blocks", text)[1])
    clickhouse.query("SYSTEM STOP MERGES links")
    clickhouse.query("ALTER TABLE links MODIFY SETTING "
                     "parts_to_throw_insert = 100000, "
                     "parts_to_delay_insert = 100000")

    newer = {row["name"]: "enable" for row in clickhouse.rows(
        "SELECT name FROM system.settings WHERE name = 'deduplicate_insert'")}

    def ours():
        insert_link(clickhouse, 66, 1, "ours", newer)
        return int(clickhouse.value(
            "SELECT count() FROM links WHERE code = 'B'"))
    assert ours() == 1
    for n in range(window - 1):
        insert_link(clickhouse, 65, n, f"other {n}", newer)
    assert ours() == 1
    insert_link(clickhouse, 67, 1, "last", newer)
    assert ours() == 2


# --- servers that are too old -------------------------------------------------

class OldServer(Server):
    """Debian's clickhouse-server, of 2018."""
    name = "clickhouse-18.16"

    def command(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "users.xml").write_text(
            "<yandex><profiles><default/></profiles><quotas><default/></quotas>"
            "<users><default><password/><networks><ip>127.0.0.1</ip></networks>"
            "<profile>default</profile><quota>default</quota></default></users>"
            "</yandex>")
        config = self.directory / "config.xml"
        config.write_text(
            "<yandex><logger><level>warning</level><console>1</console>"
            f"</logger><http_port>{self.port}</http_port>"
            f"<tcp_port>{servers.free_port()}</tcp_port>"
            "<listen_host>127.0.0.1</listen_host>"
            f"<path>{self.directory}/data/</path>"
            f"<tmp_path>{self.directory}/tmp/</tmp_path>"
            f"<users_config>{self.directory}/users.xml</users_config>"
            "<default_profile>default</default_profile>"
            "<default_database>default</default_database>"
            "<mark_cache_size>5368709</mark_cache_size></yandex>")
        libraries = OLD / "usr/lib/x86_64-linux-gnu"
        return ["env", f"LD_LIBRARY_PATH={libraries}",
                OLD / "usr/sbin/clickhouse-server", f"--config-file={config}"]

    def probe(self):
        return servers.http_status(f"http://127.0.0.1:{self.port}/ping") == 200


@pytest.mark.long
def test_a_server_of_2018_is_refused(collector, workdir):
    if not OLD.is_dir():
        pytest.skip("tools/deps.sh engines")
    server = OldServer(workdir / "old").start()
    try:
        url = f"http://127.0.0.1:{server.port}"
        refusal = "ClickHouse 18.16.1 is too old: 24.8 or later is needed"
        one = collector("guarantee", url=url, database="default")
        status, output = one.run()
        assert (status, refusal in output) == (70, True), output
        running = collector(url=url, database="default").start(ready=False)
        eventually(lambda: f"clickhouse: {refusal}" in running.ready()[1],
                   PATIENCE)
        assert running.ready()[0] == 503
        running.wait_log("nothing is inserted into this ClickHouse")
        assert running.stop() == 0
    finally:
        server.kill()


class Older(ClickHouseProxy):
    """Reports another version."""
    version = ""

    def _ask(self, request):
        if request.query.startswith("SELECT version()"):
            return response(200, "OK", [], f"{self.version}\n".encode())
        return super()._ask(request)


@pytest.mark.parametrize("version, status", [
    ("24.7.3.1", 70), ("23.12.1.1", 70), ("24.8.1.1", 0), ("25.1", 0)])
def test_the_oldest_version_that_is_taken(collector, clickhouse_server,
                                          version, status):
    with Older(clickhouse_server.port) as proxy:
        proxy.version = version
        assert collector("guarantee", url=proxy.url).run()[0] == status


NUMBERED = """
from chdb import session
import sys
s = session.Session(sys.argv[1])
def q(text): return str(s.query(text)).strip()
q("CREATE DATABASE d ENGINE = Atomic")
q("CREATE TABLE d.t (day UInt32, n UInt64) ENGINE = MergeTree "
  "PARTITION BY day ORDER BY n "
  "SETTINGS non_replicated_deduplication_window = 8")
for rows in ("(1, 1), (2, 2)", "(1, 1), (2, 2)", "(2, 2)"):
    q("INSERT INTO d.t SETTINGS insert_deduplicate = 1, "
      f"insert_deduplication_token = 'a' VALUES {rows}")
    print(q("SELECT count() FROM d.t"))
"""


@pytest.mark.long
def test_why_older_versions_are_not_taken(workdir):
    """In 23.10 a block's token does not cover the rows of its second day alone."""
    done = subprocess.run(
        [servers.DEPS / "venv/bin/python", "-c", NUMBERED, workdir / "data"],
        env={**os.environ, "PYTHONPATH": str(OLDER)}, capture_output=True,
        text=True, check=False)
    if "No module named" in done.stderr:
        pytest.skip("tools/deps.sh engines")
    assert done.stdout.split() == ["2", "2", "3"], done.stderr
