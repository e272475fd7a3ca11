"""tools/check-sql.py finds an alias that has a column's name, in C and in Python, and
nothing else."""
import subprocess

import pytest
import servers

CHECK = servers.ROOT / "tools/check-sql.py"


@pytest.fixture
def said(workdir):
    """Returns its result for such a file: its exit status, [line and alias]."""
    def check(name, text):
        path = workdir / name
        path.write_text(text)
        done = subprocess.run([CHECK, path], capture_output=True, text=True,
                              check=False)
        return done.returncode, [
            line.removeprefix(f"{path}:").partition(": a column")[0]
            for line in done.stdout.splitlines()]
    return check


@pytest.mark.parametrize("text, found", [
    ('ask("SELECT min(h) AS first "\n    "FROM x");', "1: AS first"),
    ('\nask("SELECT min(h)"\n    " AS " "first FROM x");', "2: AS first"),
    ('ask("SELECT " PRIu64 " AS first");', "1: AS first")])
def test_one_in_c(said, text, found):
    assert said("some.c", text) == (1, [found])


@pytest.mark.parametrize("text, found", [
    ('ask("SELECT min(h) AS first "\n    "FROM x")', "1: AS first"),
    ("\nask('SELECT min(h)'\n    f' AS ' 'first FROM {x}')", "2: AS first"),
    ('ask(f"""SELECT\n{x} AS `first`""")', "1: AS first"),
    ('ask(f"{y(\'SELECT 1 AS first\')} z")', "1: AS first"),
    ('ask("SELECT * REPLACE (1 AS last), 2 AS first")', "1: AS first")])
def test_one_in_python(said, text, found):
    assert said("some.py", text) == (1, [found])


def test_one_in_sql(said):
    text = "-- AS last\nSELECT min(h) AS first\nFROM x"
    assert said("some.sql", text) == (1, ["2: AS first"])


@pytest.mark.parametrize("text", [
    "SELECT * REPLACE (f(g(offset), 1) AS offset, now() AS ts) FROM clicks",
    "SELECT count() AS n FROM clicks", "WITH first AS (SELECT 1) SELECT 2",
    "SELECT CAST(offset AS String)"])
@pytest.mark.parametrize("name", ["some.c", "some.py"])
def test_what_is_none(said, name, text):
    assert said(name, f'ask("{text}")') == (0, [])
