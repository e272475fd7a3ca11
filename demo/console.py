"""The demo's output in a terminal: headings, tables, bars, progress."""

import os
import sys
import time

_COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def replace_what_cannot_be_printed():
    """Replaces bars and lines that the terminal's encoding lacks."""
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors="replace")


def _paint(code, text):
    return f"\033[{code}m{text}\033[0m" if _COLOUR else text


def bold(text):
    return _paint("1", text)


def dim(text):
    return _paint("2", text)


def good(text):
    return _paint("32", text)


def bad(text):
    return _paint("31;1", text)


def heading(number, text):
    line = f" {number}. {text} "
    print("\n" + bold("──" + line + "─" * max(0, 74 - len(line))))


def say(text=""):
    print("   " + text)


def number(n):
    return f"{n:,}"


def bar(value, most, width=24):
    """A bar of eighths, so that small values still show."""
    eighths = round(width * 8 * value / most) if most else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


def table(headers, rows, align):
    """`align`: one of < and > per column."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [
        max([len(h)] + [len(row[i]) for row in cells])
        for i, h in enumerate(headers)
    ]

    def line(row):
        parts = (f"{c:{a}{w}}" for c, a, w in zip(row, align, widths))
        return "   " + "  ".join(parts).rstrip()

    print(dim(line(headers)))
    for row in cells:
        print(line(row))


class Progress:
    """A line that counts up; plain lines if there is no terminal."""

    def __init__(self, what, total):
        self.what, self.total = what, total
        self.started = time.monotonic()
        self.shown = 0.0

    def update(self, done):
        now = time.monotonic()
        if not sys.stdout.isatty() or now - self.shown < 0.1:
            return
        self.shown = now
        width = 30
        filled = width * done // self.total
        print(
            f"\r   {self.what} [{'█' * filled}{'·' * (width - filled)}] "
            f"{done:,}/{self.total:,} ",
            end="",
            flush=True,
        )

    def finish(self, text):
        if sys.stdout.isatty():
            print("\r\033[K", end="")
        say(text)

    def seconds(self):
        return time.monotonic() - self.started
