"""`aggregator migrate`: killed at any point, several at once, and statements that come
late."""
import re
import threading
import urllib.parse

import pytest
import servers
from support.asking import ask_range
from support.clickhouse import ClickHouse
from support.clicks import Collector, instant, some_clicks
from support.fault_proxy import ClickHouseProxy
from support.program import eventually

DAY = instant("2026-10-25T00:00:00Z")


def statements():
    """Returns the statements of all migrations, in order: (file, statement)."""
    for path in sorted((servers.ROOT / "schemas/clickhouse").glob("*.sql")):
        text = re.sub(r"--[^\n]*", "", path.read_text())
        for statement in filter(str.strip, text.split(";")):
            yield path.name, statement.strip()


def schema(database):
    """Returns the present tables, and the recorded migrations."""
    return database.rows(
        "SELECT name, replace(create_table_query, currentDatabase() || '.', '') "
        "AS made FROM system.tables WHERE database = currentDatabase() "
        "ORDER BY name"
    ), database.rows("SELECT DISTINCT name AS m, checksum FROM schema_migrations "
                     "ORDER BY m")


@pytest.fixture
def whole(clickhouse, program):
    """Returns the schema of a database that was migrated without interruption."""
    database = ClickHouse.with_new_database(clickhouse.url)
    status, said = program(
        "aggregator", {"clickhouse": {"url": clickhouse.url,
                                      "database": database.database}},
        start=False, args=["migrate"]).run()
    assert status == 0, said
    yield schema(database)
    database.drop()


@pytest.fixture
def migration(program, base_config):
    """migration(*args, through=proxy) returns a command that is not started."""
    def make(*args, through=None):
        own = {**base_config["clickhouse"]}
        if through:
            own["url"] = through.url
        return program("aggregator", {"clickhouse": own}, start=False,
                       args=["migrate", *args])
    return make


@pytest.fixture
def counting(clickhouse, program, redis):
    """counting() returns an aggregator, and insert(), which inserts the hundred clicks
    that has_all() checks for."""
    def make():
        made = program("aggregator", {"aggregator": {"settle_every": "500ms"}},
                       ready=False)
        made.insert = lambda: Collector(clickhouse).insert(
            some_clicks(1, 100, [(DAY, DAY + 7200)]))
        made.has_all = lambda: ask_range(
            made, DAY, DAY + 86400, interval="day")["total"]["events"] == 100
        return made
    return make


# --- killed ------------------------------------------------------------------------

class Deadly(ClickHouseProxy):
    """Executes each statement, and kills the sender of one that is new."""
    victim = None

    def __init__(self, port):
        self.known = set()
        super().__init__(port)

    def _meet(self, request, client, fault):
        params = dict(urllib.parse.parse_qsl(
            urllib.parse.urlsplit(request.path).query))
        statement = request.query, params.get("param_name")
        if statement in self.known or request.query.startswith("SELECT"):
            return super()._meet(request, client, fault)
        self.known.add(statement)
        self._ask(request)
        self.victim.kill()
        return self._end(client)

    def run(self, made, look):
        """Runs it until it ends by itself; calls look() each time it was killed."""
        self.victim = made
        while made.run()[0] != 0:
            assert "msg=failed" not in made.log()
            look()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_migrating_goes_on_where_it_was_killed(
        clickhouse, clickhouse_server, migration, counting, whole):
    """It is killed after each statement and each record of a migration.  An aggregator
    that was started before counts when everything is there."""
    made = counting()

    def waits():
        assert made.ready()[0] == 503 or schema(clickhouse) == whole
    with Deadly(clickhouse_server.port) as proxy:
        proxy.run(migration("--to", "links", through=proxy), waits)
        made.insert()
        Collector(clickhouse).link("code1", 1)
        proxy.run(migration(through=proxy), waits)
        assert len(proxy.known) == 1 + len(list(statements())) + len(whole[1])
    assert schema(clickhouse) == whole
    made.wait_ready()
    eventually(made.has_all, what="the clicks counted")


# --- several at once -----------------------------------------------------------------

@pytest.mark.proof
@pytest.mark.parametrize("number", [1, 12, pytest.param(22, marks=pytest.mark.long)])
def test_another_migrates_all_the_way_in_between(clickhouse, migration, proxy, whole,
                                                 number):
    """This happens while a statement of the first is under way, and arrives then."""
    others = []
    proxy.call_at(number, lambda: others.append(migration().run()), "create")
    status, said = migration(through=proxy).run()
    assert others[0][0] == 0, others[0][1]
    assert status == 0, said
    assert schema(clickhouse) == whole


@pytest.mark.long
def test_several_migrate_at_once(clickhouse, migration, whole):
    made = [migration() for _ in range(4)]
    ended = []
    threads = [threading.Thread(target=lambda m=m: ended.append(m.run()))
               for m in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in ended] == [0] * 4, ended
    assert schema(clickhouse) == whole


@pytest.mark.long
def test_a_statement_that_comes_late_changes_nothing(
        clickhouse, migration, counting, whole):
    """An aggregator continues to answer."""
    assert migration().run()[0] == 0
    made = counting()
    made.insert()
    made.wait_ready()
    eventually(made.has_all, what="the clicks counted")
    for name, statement in statements():
        clickhouse.query(statement)
        assert schema(clickhouse) == whole, name
        assert made.has_all(), name
