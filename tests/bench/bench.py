"""Measures our programs against peers, both sides in turn in the same run.

usage: bench.py [--rounds N] [--seconds S] [--server-cpu C] [--load-cpu C]
                [ROW...]

A row is a module of tests/bench/rows/ with

    METRICS   (label, unit, "more" or "less" is better) ...
    class Bench: __init__(machine), ours() and peer(), each one round and
                 returning {label: number}, and close()
    PEER      the name of the peer
    LONG      (optional) true: measured only when it is named, in one round

Prints a table: metric, ours, peer (medians over the rounds, with the spread of the
rounds as +-% of the median), and the ratio: above 1, ours is better than the peer by
that factor.
"""
import argparse
import importlib
import math
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "stack"),
                str(ROOT / "tests" / "integration")]

import requests  # noqa: E402
import servers  # noqa: E402
from machine import Machine, Failure  # noqa: E402
from support.clickhouse import ClickHouseError  # noqa: E402

# Reasons for which a row is not measured; support's waiting raises AssertionError.
REASONS = (Failure, AssertionError, ClickHouseError, servers.ServerError,
           requests.RequestException)


def rows_there_are():
    return sorted(p.stem for p in (HERE / "rows").glob("[a-z]*.py"))


def is_long(row):
    return getattr(importlib.import_module(f"rows.{row}"), "LONG", False)


def measure(row, machine, rounds, say):
    """Returns [(metric, ours, peer)] with one number a round on each side."""
    module = importlib.import_module(f"rows.{row}")
    rounds = 1 if is_long(row) else rounds
    say(f"{row}: setting up")
    bench = module.Bench(machine)
    ours, peer = [], []
    try:
        for i in range(rounds):
            # The side that goes first alternates, so that a machine that warms up or
            # gets busy favours neither.
            order = [(ours, bench.ours), (peer, bench.peer)]
            for side, run in order if i % 2 == 0 else order[::-1]:
                side.append(run())
            say(f"{row}: round {i + 1} of {rounds}")
    finally:
        bench.close()
    return [(metric, [r[metric[0]] for r in ours],
             [r[metric[0]] for r in peer]) for metric in module.METRICS]


def spread(values):
    """Returns half the distance between best and worst, in % of the median."""
    middle = statistics.median(values)
    return 100 * (max(values) - min(values)) / 2 / middle if middle else 0


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def line_of(metric, ours, peer):
    label, unit, better = metric
    a, b = statistics.median(ours), statistics.median(peer)
    good, bad = (a, b) if better == "more" else (b, a)
    ratio = good / bad if bad else math.inf
    return (f"{label} ({unit})",
            f"{number(a)} ±{spread(ours):.0f}%",
            f"{number(b)} ±{spread(peer):.0f}%", f"{ratio:.2f}")


def print_table(lines):
    head = ("what", "ours", "peer", "ratio")
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(4)]
    for i, line in enumerate([head, *lines]):
        print(" | ".join(c.ljust(w) if j == 0 else c.rjust(w)
                         for j, (c, w) in enumerate(zip(line, widths))))
        if i == 0:
            print("-|-".join("-" * w for w in widths))


def describe(machine, options):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f
                      if line.startswith("model name")), platform.machine())
    print(f"{model}, Linux {platform.release()}; server on core "
          f"{machine.server_cpu}, load on core {machine.load_cpu}; "
          f"{options.rounds} rounds of {options.seconds:g} s; "
          f"load average before: {os.getloadavg()[0]:.1f}")


def arguments():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    p.add_argument("rows", nargs="*", metavar="ROW")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--server-cpu", type=int, default=0)
    p.add_argument("--load-cpu", type=int, default=1)
    return p.parse_args()


def main():
    options = arguments()
    rows = options.rows or [r for r in rows_there_are() if not is_long(r)]
    unknown = set(rows) - set(rows_there_are())
    if unknown:
        sys.exit(f"bench: no row {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(rows_there_are())}")

    def say(text):
        print(f"bench: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr)

    lines, failed = [], False
    with tempfile.TemporaryDirectory(prefix="shortloop-bench-") as directory:
        machine = Machine(pathlib.Path(directory), options)
        for row in rows:
            try:
                lines += [line_of(*m) for m in
                          measure(row, machine, options.rounds, say)]
            except REASONS as e:
                say(f"{row}: {e}")
                failed = True
    describe(machine, options)
    print_table(lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
