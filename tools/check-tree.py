#!/usr/bin/env python3
"""Checks what a compiler does not: that includes follow the layers, that no
file outgrows its purpose.

usage: tools/check-tree.py FILE...
"""
import pathlib
import re
import sys

# What a folder may include, beside itself.  Arrows go one way.
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
MAX_LINES = 700
MAX_MAIN_LINES = 120
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def problems(path):
    lines = path.read_text().splitlines()
    limit = MAX_MAIN_LINES if path.name == "main.c" else MAX_LINES
    if len(lines) > limit:
        yield f"{path}:{limit}: has {len(lines)} lines; {limit} are the most"
    folder = path.parts[0]
    if folder not in MAY_INCLUDE:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match[1].split("/")[0]
        if "/" not in match[1]:
            yield (f'{path}:{number}: "{match[1]}": write the path from the '
                   "root")
        elif target != folder and target not in MAY_INCLUDE[folder]:
            yield f"{path}:{number}: {folder}/ may not include {target}/"


def main():
    found = [p for name in sys.argv[1:] for p in problems(pathlib.Path(name))]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
