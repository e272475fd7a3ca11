#!/usr/bin/env python3
"""Checks what a compiler does not: includes and calls follow the layers and
never form a cycle; folders beside each other include one another one way; a header declares what the source of its name defines, and
has more than one user; no name is used that docs/glossary.md has retired; a static
function's name has an object; and a comment names its subject first.

usage: tools/check-tree.py [--only CHECK,...]

CHECK: layers, circles, rooms, headers, users, names, objects, comments.  The files are
those in git.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

# The folders that a folder may include, beside itself.  Dependencies go one
# way.
MAY_INCLUDE = {
    "common": set(),
    "codespace": {"common"},
    "linkstore": {"codespace", "common", "schemas"},
    "redirector": {"linkstore", "codespace", "common", "schemas"},
    "allocator": {"linkstore", "codespace", "common", "schemas"},
    "collector": {"linkstore", "codespace", "common", "schemas"},
    "aggregator": {"linkstore", "codespace", "common", "schemas"},
    "reclaimer": {"linkstore", "codespace", "common", "schemas"},
    "stack": {"common"},
}
# A header with one user is merged into that user, unless the two together would
# be longer than this.
MERGED_MAX = 500
GLOSSARY = pathlib.Path("docs/glossary.md")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A function in our formatting: its name follows the type or begins a line.
FUNCTION = re.compile(
    r'^(?P<type>(?!typedef|return|else|#)(?:[A-Za-z_]\w*[ \t*\n]+)+\**)'
    r'(?P<name>[A-Za-z_]\w*)\((?P<args>[^;{}]*?)\)\s*'
    r'(?:__attribute__\(\([^;{]*\)\)\s*)?(?P<end>[;{])', re.M)
WORD = re.compile(r'[A-Za-z_]\w*')
# A comment that begins so speaks of something before it names it.
FRAGMENT = re.compile(r'(?:Of|As|Whoever|Whose|Who|So many|That of|What)\b')
# How a line of comments begins, in files that have no blocks of them.
LINE_COMMENT = {".lua": "--", ".sql": "--", ".proto": "//", ".py": "#"}
# A static function whose name is one word: `run`, not `run_statement`.
ONE_WORD = re.compile(
    r'^(?:__attribute__\(\([^;{]*?\)\)\s*)?static\b[^;={}()#]*[ *\n]([a-z][a-z0-9]*)\('
    r'[^;{}]*\)\s*(?:__attribute__\(\([^;{]*\)\)\s*)?[;{]', re.M)
# A static name that a source uses is its own.
STATIC = re.compile(r'\bstatic\b[^;{}=()]*?\b(\w+)\s*[\[=;(]')


def room(path):
    """A source and its header are one room."""
    return path.rsplit(".", 1)[0]


def blank_lines(comment):
    """So that what follows keeps its line."""
    return " " + "\n" * comment[0].count("\n")


class Tree:
    def __init__(self, files):
        self.text = {f: pathlib.Path(f).read_text() for f in files}
        self.code = {f: STRING.sub('""', COMMENT.sub(blank_lines, t))
                     for f, t in self.text.items()}
        self.includes = {f: INCLUDE.findall(t) for f, t in self.text.items()}
        self.ours = [f for f in files if f.split("/")[0] in MAY_INCLUDE]
        self.defined, self.declared = {}, collections.defaultdict(set)
        twice = set()
        for f in self.ours:
            for m in FUNCTION.finditer(self.code[f]):
                if re.search(r'\bstatic\b', m["type"]):
                    continue
                if m["end"] == ";":
                    self.declared[f].add(m["name"])
                elif m["name"] in self.defined or m["name"] == "main":
                    twice.add(m["name"])
                else:
                    self.defined[m["name"]] = f
        for name in twice:
            self.defined.pop(name, None)


def line_of(text, word):
    at = re.search(rf'\b{re.escape(word)}\b', text)
    return text.count("\n", 0, at.start()) + 1 if at else 1


def layers(tree):
    for f in tree.ours:
        folder = f.split("/")[0]
        for target in tree.includes[f]:
            line = line_of(tree.text[f], target)
            if "/" not in target:
                yield f'{f}:{line}: "{target}": write the path from the root'
                continue
            other = target.split("/")[0]
            if other != folder and other not in MAY_INCLUDE[folder]:
                yield f"{f}:{line}: {folder}/ may not include {other}/"


def arrows(tree):
    """Returns which files a file includes, and the files whose functions a
    source calls."""
    to = collections.defaultdict(set)
    for f in tree.ours:
        to[f] |= {t for t in tree.includes[f] if t in tree.text}
        if f.endswith(".c"):
            words = (set(WORD.findall(tree.code[f])) -
                     set(STATIC.findall(tree.code[f])))
            to[f] |= {tree.defined[word] for word in words
                      if word in tree.defined} - {f}
    return to


def circles_of(to):
    """Returns strongly connected components of more than one file (Tarjan,
    1972).
    """
    index, low, stack, found = {}, {}, [], []

    def visit(at):
        index[at] = low[at] = len(index)
        stack.append(at)
        for other in sorted(to[at]):
            if other not in index:
                visit(other)
                low[at] = min(low[at], low[other])
            elif other in stack:
                low[at] = min(low[at], index[other])
        if low[at] == index[at]:
            part = []
            while not part or part[-1] != at:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for at in sorted(to):
        if at not in index:
            visit(at)
    return found


def circles(tree):
    for part in circles_of(arrows(tree)):
        yield f"{part[0]}: a circle of files: {', '.join(part)}"


def rooms(tree):
    """Folders beside each other include one another one way.  Sources that stand
    in the folder above them belong to none."""
    to, example = collections.defaultdict(set), {}
    for f in tree.ours:
        for target in tree.includes[f]:
            if target not in tree.text:
                continue
            mine, other = (pathlib.PurePath(p).parent.parts for p in (f, target))
            same = len(os.path.commonprefix([mine, other]))
            if len(mine) > same < len(other):
                pair = "/".join(mine[:same + 1]), "/".join(other[:same + 1])
                to[pair[0]].add(pair[1])
                example.setdefault(pair, f'{f}:{line_of(tree.text[f], target)}: "{target}"')
    for part in circles_of(to):
        pairs = [example[a, b] for a in part for b in part if (a, b) in example]
        yield f"{pairs[0]}: a circle of folders: {', '.join(part)} (also {pairs[-1]})"


def headers(tree):
    """A function is declared in the header of the source that defines it.
    Functions that run a command are declared in commands.h, like git's
    builtin.h."""
    for f in tree.ours:
        if not f.endswith(".h") or f.endswith("/commands.h"):
            continue
        for name in sorted(tree.declared[f]):
            source = tree.defined.get(name)
            if source and source.endswith(".c") and room(source) != room(f):
                line = line_of(tree.text[f], name)
                yield f"{f}:{line}: {name} is defined in {source}"


def lines(tree, name):
    return sum(tree.text[f].count("\n") for f in (name + ".c",)
               if f in tree.text)


def users(tree):
    """Finds headers with one user; tests are users, and main.c counts as its
    program's."""
    count = collections.defaultdict(set)
    for f, targets in tree.includes.items():
        for target in targets:
            if room(f) != room(target):
                count[target].add(room(f))
    for f in tree.ours:
        if not f.endswith(".h"):
            continue
        only = sorted(count[f])
        parents = pathlib.Path(f).parents
        mains = [[str(p / "main")] for p in parents]
        if len(only) > 1 or only in mains:
            continue
        if only and lines(tree, room(f)) + lines(tree, only[0]) > MERGED_MAX:
            continue
        yield f"{f}:1: is used by {only[0] if only else 'nobody'} alone"


def retired():
    """Returns the rows `| old name | folders | now |` of the glossary's last
    table."""
    if not GLOSSARY.exists():
        return
    text = GLOSSARY.read_text().split("\n## Retired names\n")[-1]
    for row in re.findall(r'^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$', text, re.M):
        yield row[0], row[1].split(), row[2].strip()


def names(tree):
    for old, folders, now in retired():
        word = re.compile(rf'(?<![A-Za-z]){old}(?:s)?(?![A-Za-z])')
        for f in tree.ours:
            if not any(f.startswith(folder) for folder in folders):
                continue
            m = word.search(tree.text[f])
            if m:
                line = tree.text[f].count("\n", 0, m.start()) + 1
                yield f"{f}:{line}: `{old}` is {now} now (docs/glossary.md)"


def objects(tree):
    """A name of one word says in a backtrace what is done, but not to what."""
    for f, code in tree.code.items():
        for m in ONE_WORD.finditer(code):
            line = code.count("\n", 0, m.start(1)) + 1
            yield f"{f}:{line}: the name of `{m[1]}` has no object"


def block_comments(text):
    """(offset, first words) of comments between two marks, and of docstrings."""
    for m in re.finditer(r'/\*[\s*]*|^ *"""\s*', text, re.M):
        yield m.start(), text[m.end():m.end() + 20]


def line_comments(text, mark):
    """The same of lines that begin with a mark; one that goes on has no first word."""
    goes_on, offset = False, 0
    for line in text.splitlines(keepends=True):
        begins = line.lstrip().startswith(mark)
        if begins and not goes_on:
            yield offset, line.lstrip().lstrip(mark[0]).strip()
        elif not begins:
            for m in re.finditer(rf'\s{mark}\s+', line):
                yield offset, line[m.end():]
        goes_on, offset = begins, offset + len(line)


def comments(_):
    kinds = [f"*{ending}" for ending in (".c", ".h", *LINE_COMMENT)]
    files = subprocess.check_output(["git", "ls-files", *kinds], text=True).split()
    for f in filter(lambda f: pathlib.Path(f).exists(), files):
        text, mark = pathlib.Path(f).read_text(), LINE_COMMENT.get(pathlib.Path(f).suffix)
        found = list(line_comments(text, mark)) if mark else []
        if mark in (None, "#"):
            found += block_comments(text)
        for offset, words in sorted(found):
            m = FRAGMENT.match(words)
            if m:
                line = text.count("\n", 0, offset) + 1
                yield f"{f}:{line}: a comment begins with '{m[0]}' in place of its subject"


CHECKS = {"layers": layers, "circles": circles, "rooms": rooms, "headers": headers,
          "users": users, "names": names, "objects": objects,
          "comments": comments}


def main():
    chosen = list(CHECKS)
    if sys.argv[1:2] == ["--only"]:
        chosen = sys.argv[2].split(",")
    files = subprocess.check_output(["git", "ls-files", "*.c", "*.h"],
                                    text=True).split()
    tree = Tree([f for f in files if pathlib.Path(f).exists()])
    found = [p for c in chosen for p in CHECKS[c](tree)]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
