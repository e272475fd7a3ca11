"""A column that is added in the places that CONTRIBUTING.md names, and in no other, is
written, and forgotten as its line of schemas/click_columns.inc, or of link_columns.inc,
says."""
import os
import shutil
import subprocess

import pytest

import servers
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import rows, wait_for
from support.events import CHROME
from test_forget_events import LINK, OTHER, VISITOR, deleted_link, rich_click

TABLE, COLUMNS = "schemas/clickhouse/clicks.sql", "schemas/click_columns.inc"
IN_TABLE = "    trace_id        String CODEC(ZSTD),\n"
IN_COLUMNS = ('COLUMN(trace_id, "String", OF_VISITOR(""), put_trace_id(row, click))\n')
LINKS_TABLE, LINKS_COLUMNS = "schemas/clickhouse/links.sql", "schemas/link_columns.inc"
IN_LINKS_TABLE = "    pass_path       Bool,\n"
IN_LINKS_COLUMNS = (
    'COLUMN(pass_path, "Bool", KEPT, rowbinary_u8(row, link->path_pass ? 1 : 0))\n')
# The folders of build/ that the two programs need nothing of.
LARGE = shutil.ignore_patterns("test", "tests", "mutants", "fuzz", "bin", "pycache",
                               "address*", "thread*", "dev")


def copy_sources(to):
    """Copies what a build needs, and what is built already, with its times."""
    for name in ("Makefile", "VERSION"):
        shutil.copy2(servers.ROOT / name, to)
    for folder in ("aggregator", "allocator", "codespace", "collector", "common", "linkstore",
                   "reclaimer", "redirector", "schemas", "stack", "tools"):
        shutil.copytree(servers.ROOT / folder, to / folder)
    if (servers.ROOT / "build").is_dir():
        shutil.copytree(servers.ROOT / "build", to / "build", ignore=LARGE)


def add_behind(path, line, added):
    text = path.read_text()
    assert text.count(line) == 1, path
    path.write_text(text.replace(line, line + added))


@pytest.fixture
def binaries(workdir):
    """Returns the folder of the two programs, built with more columns."""
    copy = workdir / "copy"
    copy.mkdir()
    copy_sources(copy)
    add_behind(copy / TABLE, IN_TABLE, "    visited_with    String,\n"
               "    visits_at       UInt16,\n    plan            LowCardinality(String),\n")
    add_behind(copy / COLUMNS, IN_COLUMNS, (
        'COLUMN(visited_with, "String", OF_VISITOR("something"), '
        "put_cut(row, click->user_agent, facts->max_text))\n"
        'COLUMN(visits_at, "UInt16", OF_VISITOR(""), '
        "rowbinary_u16(row, (uint16_t)click->user_agent.len))\n"
        'COLUMN(plan, WORD, OF_LINK("none"), put_text(row, click->campaign))\n'))
    add_behind(copy / LINKS_TABLE, IN_LINKS_TABLE, "    note            String,\n"
               "    number          UInt64,\n")
    add_behind(copy / LINKS_COLUMNS, IN_LINKS_COLUMNS, (
        'COLUMN(note, "String", OF_LINK("nothing"), put_text(row, event->code))\n'
        'COLUMN(number, "UInt64", OF_LINK(""), rowbinary_u64(row, link->link_id))\n'))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(
        ["make", f"-j{os.cpu_count()}", "CFLAGS=-O1", "build/bin/collector",
         "build/bin/aggregator"],
        cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return copy / "build/bin"


@pytest.mark.proof
def test_a_column_of_the_visitor_is_forgotten_in_old_rows_and_in_new_ones(
        kafka, topics, clickhouse, collector, program, binaries):
    def run(*args):
        made = program("aggregator", args=args, start=False)
        made.binaries = binaries
        status, output = made.run()
        assert status == 0, output

    def collect(group):
        made = collector(start=False, group=group)
        made.binaries = binaries
        made.start()
        wait_for(clickhouse, 3)
        wait_for(clickhouse, 1, "links")
        assert made.stop() == 0
        return [(r["visited_with"], r["visits_at"], r["plan"])
                for r in rows(clickhouse, order="link_id")]

    def archived():
        row, = rows(clickhouse, "note, number, state", "links FINAL")
        return row["note"], row["number"], row["state"]

    run("migrate")
    kafka.produce(topics["topic_clicks"], [
        rich_click(link_id=1), rich_click(OTHER, link_id=2), rich_click(OTHER, link_id=LINK)])
    kafka.produce(topics["topic_links"], [deleted_link(LINK, 2)])
    whole = (CHROME, len(CHROME), "secret campaign")
    assert collect(topics["topic_clicks"]) == [whole] * 3
    assert archived() == (f"code{LINK}", LINK, "deleted")

    run("forget", "--no-wait", "--visitor", VISITOR)
    run("forget", "--no-wait", "--link-id", str(LINK))
    expected = [("something", 0, "secret campaign"), whole, ("something", 0, "none")]
    stored = rows(clickhouse, order="link_id")
    assert [(r["visited_with"], r["visits_at"], r["plan"]) for r in stored] == expected
    assert archived() == ("nothing", 0, "forgotten")

    for table in "clicks", "links", "ingest_progress":
        clickhouse.query(f"TRUNCATE TABLE {table}")
    assert collect(topics["topic_clicks"] + "-again") == expected
    assert rows(clickhouse, order="link_id") == stored
    assert archived() == ("nothing", 0, "forgotten")
