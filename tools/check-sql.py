#!/usr/bin/env python3
"""Checks the SQL in our sources: no alias has the name of a column.

    tools/check-sql.py FILE...

ClickHouse lets an alias stand for a column of the same name anywhere in its
query, or the column for the alias, depending on where it is asked for:
`min(h) AS first ... WHERE x >= first` compared with ingest_progress.first, and
hours were never settled.  Columns are those of all tables in
schemas/clickhouse; SQL is what stands in string literals.  Names of a query's
own (WITH name AS (...)) are left alone.  Prints each alias; exits 1 when there
is one.
"""
import pathlib
import re
import sys

SCHEMAS = pathlib.Path(__file__).resolve().parent.parent / "schemas/clickhouse"
TYPES = (r"(?:U?Int\d+|Float\d+|String|FixedString|DateTime(?:64)?|Date|Bool|"
         r"UUID|IPv6|Enum8|LowCardinality|Array|Map|Nullable|"
         r"(?:Simple)?AggregateFunction)\b")
COLUMN = re.compile(r"^\s*(?:ADD COLUMN (?:IF NOT EXISTS )?)?`?(\w+)`?\s+"
                    + TYPES, re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ALIAS = re.compile(r"\bAS\s+`?([a-z_]\w*)`?")


def columns():
    found = set()
    for path in SCHEMAS.glob("*.sql"):
        found.update(COLUMN.findall(re.sub("--.*", "", path.read_text())))
    return found


def texts(source):
    """(line, text) of each run of neighbouring literals.  What stands between
    two as a macro is a gap."""
    source = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), source,
                    flags=re.DOTALL)
    source = re.sub(r"\\\n", " \n", source)
    text, line, end = "", 0, None
    for match in LITERAL.finditer(source):
        gap = source[end:match.start()] if end is not None else None
        if gap is not None and re.fullmatch(r"[\s\w]*", gap):
            text += (" " if gap.strip() else "") + match[1]
        else:
            if text:
                yield line, text
            text, line = match[1], source.count("\n", 0, match.start()) + 1
        end = match.end()
    if text:
        yield line, text


def problems(path, names):
    for line, text in texts(pathlib.Path(path).read_text()):
        for alias in ALIAS.findall(text):
            if alias in names:
                yield f"{path}:{line}: AS {alias}: a column has that name"


def main():
    names = columns()
    found = [problem for path in sys.argv[1:]
             for problem in problems(path, names)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
