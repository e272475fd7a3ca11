#!/usr/bin/env python3
"""Checks the SQL in our sources: no alias has the name of a column.

    tools/check-sql.py FILE...

ClickHouse lets an alias stand for a column of the same name anywhere in its
query, or the column for the alias, depending on where it is asked for:
`min(h) AS first ... WHERE x >= first` compared with ingest_progress.first, and
hours were never settled.  Columns are those of all tables in
schemas/clickhouse; SQL is what stands in string literals of C and Python (.py), or a whole file (.sql).
Names of a query's own (WITH name AS (...)) are left alone, and so are columns
that are to be replaced: * REPLACE (... AS column).  Prints each alias; exits 1
when there is one.
"""
import ast
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
REPLACE = re.compile(r"\*\s*REPLACE\s*\(")


def columns():
    found = set()
    for path in SCHEMAS.glob("*.sql"):
        found.update(COLUMN.findall(re.sub("--.*", "", path.read_text())))
    return found


def texts(source):
    """Returns (line, text) of each run of neighbouring literals of C.  A macro
    between two is a gap."""
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


class PythonTexts(ast.NodeVisitor):
    """Does the same for Python, whose parser joins them.  A value filled in is
    a gap."""

    def __init__(self):
        self.found = []

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.found.append((node.lineno, node.value))

    def visit_JoinedStr(self, node):
        parts = [part.value if isinstance(part, ast.Constant) else " "
                 for part in node.values]
        self.found.append((node.lineno, "".join(parts)))
        for part in node.values:
            if not isinstance(part, ast.Constant):
                self.visit(part)


def python_texts(source):
    visitor = PythonTexts()
    visitor.visit(ast.parse(source))
    return visitor.found


def sql_texts(source):
    return enumerate(re.sub("--.*", "", source).splitlines(), 1)


READERS = {".py": python_texts, ".sql": sql_texts}


def without_replaced(text):
    """Returns the text without the parentheses of each * REPLACE (...)."""
    while match := REPLACE.search(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        text = text[:match.start()] + "*" + text[at:]
    return text


def problems(path, names):
    read = READERS.get(pathlib.Path(path).suffix, texts)
    for line, text in read(pathlib.Path(path).read_text()):
        for alias in ALIAS.findall(without_replaced(text)):
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
