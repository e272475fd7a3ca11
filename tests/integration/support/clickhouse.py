"""ClickHouse for a test: a database of its own over plain HTTP."""
import os
import re
import uuid

import requests

import servers
from support.program import eventually
from support.server import Server

DATABASE_NOT_EMPTY = 219
# Tests run a query few times, on few rows: compiling it costs more than it saves.
QUICK = ["--compile", "no"]


class ClickHouseServer(Server):
    name = "clickhouse"
    start_seconds = 300

    def __init__(self, directory, extra=()):
        super().__init__(directory)
        self.extra = list(extra)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def command(self):
        directory = os.environ.get("SHORTLOOP_BIN",
                                   servers.ROOT / "build/bin")
        return servers.clickhouse_command(
            self.directory / "data", self.port,
            binary=f"{directory}/clickhouse-embedded",
            extra=[*QUICK, *self.extra])

    def probe(self):
        return servers.clickhouse_ready(self.port)


class ClickHouseError(Exception):
    def __init__(self, answer):
        super().__init__(f"{answer.status_code}: {answer.text.strip()}")
        self.status = answer.status_code
        self.code = int(answer.headers.get("X-ClickHouse-Exception-Code", 0))


class ClickHouse:
    def __init__(self, url, database="default"):
        self.url = url
        self.timeout = 60  # maximum wait for the next byte of an answer
        self.database = database
        self.session = requests.Session()
        self.session.trust_env = False

    @classmethod
    def with_new_database(cls, url):
        database = f"t_{uuid.uuid4().hex[:12]}"
        cls(url).query(f"CREATE DATABASE {database}")
        return cls(url, database)

    def drop(self):
        # A query of a program that has ended would go on, for minutes where a view
        # makes a statement slow, and use the processor of later tests.
        self.query("KILL QUERY WHERE current_database = currentDatabase() ASYNC")
        # A statement of a killed program may still make a table.
        def dropped():
            try:
                self.query(f"DROP DATABASE IF EXISTS {self.database}")
                return True
            except ClickHouseError as e:
                if e.code != DATABASE_NOT_EMPTY:
                    raise
                return False
        eventually(dropped, what=f"{self.database} empty")
        self.session.close()

    def query(self, query, data=b"", **settings):
        """Returns the answer's text; settings are URL parameters."""
        answer = self.session.post(
            self.url, params={"database": self.database, "query": query,
                              **settings}, data=data, timeout=self.timeout)
        if answer.status_code != 200:
            raise ClickHouseError(answer)
        return answer.text

    def rows(self, query, **settings):
        """Returns rows as dictionaries; 64-bit integers are numbers."""
        answer = self.session.post(
            self.url, params={
                "database": self.database, "default_format": "JSON",
                "output_format_json_quote_64bit_integers": 0, **settings},
            data=query.encode(), timeout=self.timeout)
        if answer.status_code != 200:
            raise ClickHouseError(answer)
        return answer.json()["data"]

    def migrate(self):
        """Applies all of schemas/clickhouse, as `aggregator migrate` does."""
        for path in sorted((servers.ROOT / "schemas/clickhouse").glob("*.sql")):
            text = re.sub(r"--[^\n]*", "", path.read_text())
            for statement in filter(str.strip, text.split(";")):
                self.query(statement.strip())

    def copy_tables(self):
        """Returns a function that makes the present tables, and the rows of
        schema_migrations, in another database.  The tables are empty.  This takes a
        third of the migrations' time."""
        made = [row["made"].replace(f" {self.database}.", " ", 1)
                for row in self.rows(
                    "SELECT create_table_query AS made FROM system.tables "
                    "WHERE database = currentDatabase() ORDER BY name")]
        applied = self.query("SELECT * FROM schema_migrations FORMAT "
                             "TabSeparated").encode()

        def copy(database):
            for statement in made:
                database.query(statement)
            database.query("INSERT INTO schema_migrations FORMAT TabSeparated",
                           applied)
        return copy

    def value(self, query, **settings):
        """Returns the only value of the only row."""
        rows = self.rows(query, **settings)
        assert len(rows) == 1 and len(rows[0]) == 1, rows
        return next(iter(rows[0].values()))

    def tables(self):
        return {row["name"] for row in self.rows("SHOW TABLES")}
