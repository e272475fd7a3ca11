#!/usr/bin/env python3
"""Prints the commented sample configuration of all programs as one file.

usage: tools/sample.py PROGRAM...

Each program prints the sections it reads; a section that several read is taken
from the first.
"""

import re
import subprocess
import sys

HEAD = """\
# shortloop.yaml - one file configures every program; each reads its sections.
#
# Written by `make sample` from the programs' own tables: every setting, what it
# does, and its default.  What is commented out is optional.
#
# Settings are read at start: a change takes a restart.  Where one says so,
# SIGHUP reads or opens the file again that it names.
#
# Durations: 250ms 30s 15m 12h 10d never.  Sizes: bytes, KiB, MiB, GiB.
# Secrets are references: file:/path, env:NAME, or credential:NAME for what
# systemd's LoadCredential= gives.
"""

# A section: its comment at the margin, its name, everything indented below.
SECTION = re.compile(r"(?:^#.*\n)*^(\w+):\n(?:^(?:[ \t].*)?\n)*", re.M)


def main(programs):
    seen = {}
    for program in programs:
        text = subprocess.run(
            [program, "--print-sample"], check=True, capture_output=True,
            text=True,
        ).stdout
        for match in SECTION.finditer(text):
            seen.setdefault(match[1], match[0].rstrip() + "\n")
    print(HEAD + "\n" + "\n".join(seen.values()), end="")


main(sys.argv[1:])
