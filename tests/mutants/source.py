"""Finds in a source what a mutant changes, and changes it."""
import dataclasses
import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A function in our formatting ends with the first brace, or "end", of a line.
C_FUNCTION = re.compile(r'^(?:[A-Za-z_][^\n;={}#]*\n?)??\b(\w+)\([^;{}]*?\)\s*'
                        r'(?:__attribute__\(\([^;{]*\)\)\s*)?\{$.*?^\}', re.M | re.S)
LUA_FUNCTION = re.compile(r'^(?:local )?function (\w+)\(.*?^end$', re.M | re.S)


class Misplaced(Exception):
    """A mutant does not say which place it means."""


@dataclasses.dataclass
class Mutant:
    """One entry of a list; `room` is the list's name."""
    room: str
    file: str
    before: str
    after: str
    function: str = None
    occurrence: int = 0
    noticed_by: str = None
    equivalent: str = None

    def __str__(self):
        place = f"{self.file}: {self.function}" if self.function else self.file
        return f"{place}: {self.changed_text()}"

    def changed_text(self):
        """The part that differs, with some of the line around it."""
        before, after = (" ".join(t.split()) for t in (self.before, self.after))
        same = len(os.path.commonprefix([before, after]))
        end = len(os.path.commonprefix([before[same:][::-1], after[same:][::-1]]))
        begin, end = max(same - 30, 0), max(end - 30, 0)
        return f"{before[begin:len(before) - end]}  ->  {after[begin:len(after) - end]}"


@functools.cache
def read_source(path):
    return (ROOT / path).read_text()


@functools.cache
def functions_of(path):
    """{name: (begin, end)} of what a source defines."""
    pattern = LUA_FUNCTION if path.endswith(".lua") else C_FUNCTION
    return {m[1]: m.span() for m in pattern.finditer(read_source(path))}


@functools.cache
def all_sources():
    out = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.lua"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout.split()
    return [path for path in out if not path.startswith("tests/")]


def places_in(path, mutant):
    """Where the text before stands: line breaks and indents may differ."""
    begin, end = 0, len(read_source(path))
    if mutant.function:
        if mutant.function not in functions_of(path):
            return []
        begin, end = functions_of(path)[mutant.function]
    text = r"\s+".join(re.escape(word) for word in mutant.before.split())
    return list(re.compile(text).finditer(read_source(path), begin, end))


def find_place(mutant):
    """The path and the match of what the mutant changes.  A function that has moved
    into another file is found there."""
    paths = [mutant.file]
    if not (ROOT / mutant.file).exists() or not places_in(mutant.file, mutant):
        paths = [p for p in all_sources() if mutant.function and places_in(p, mutant)]
    if len(paths) != 1:
        raise Misplaced(f"{mutant}: its text is in {len(paths)} files")
    found = places_in(paths[0], mutant)
    if not found or len(found) > 1 and not 0 < mutant.occurrence <= len(found):
        raise Misplaced(f"{mutant}: its text is there {len(found)} times; which one "
                        "is meant is said by more text, or by occurrence:")
    return paths[0], found[max(mutant.occurrence, 1) - 1]


def mutate(mutant):
    """The path of the source, and its text with the mutant in it."""
    path, place = find_place(mutant)
    text = read_source(path)
    return path, text[:place.start()] + mutant.after + text[place.end():]
