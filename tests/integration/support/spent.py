"""The processor time of a test, by process: the test's own Python, each kind of server
that the run shares, and the programs that the test started.

An idle server takes some time too: it counts for the test that runs at that time.
"""
import os
import pathlib

import servers

TICKS = os.sysconf("SC_CLK_TCK")
SERVERS = {"clickhouse": "ClickHouse", "kafka": "Kafka", "redis": "Redis"}


def seconds_by_kind():
    """Returns {kind: seconds} of this process and its children since their starts."""
    own = os.times()
    spent = {"Python": own.user + own.system,
             "programs": own.children_user + own.children_system}
    for process in list(servers.Process.started):
        if process.popen.returncode is not None:
            continue  # its time is in that of the children
        try:
            stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
        except OSError:
            continue  # the process has ended
        kind = SERVERS.get(process.name, "programs")
        spent[kind] = spent.get(kind, 0) + sum(
            map(int, stat.rpartition(")")[2].split()[11:15])) / TICKS
    return spent


def spent_since(before):
    """Returns {kind: seconds} since `before`, a result of seconds_by_kind().  The time
    of a server that has ended counts for the programs: it is subtracted from theirs."""
    now = seconds_by_kind()
    spent = {kind: now.get(kind, 0) - before.get(kind, 0) for kind in {**before, **now}}
    for kind in SERVERS.values():
        if spent.get(kind, 0) < 0:
            spent["programs"] += spent.pop(kind)
    return {kind: round(seconds, 2) for kind, seconds in spent.items()}


def lines_of_sum(spent_by_test):
    """Yields the lines for {test: {kind: seconds}}: the sums by kind, and the 15 tests
    that took the most."""
    sums = {}
    for spent in spent_by_test.values():
        for kind, seconds in spent.items():
            sums[kind] = sums.get(kind, 0) + seconds
    total = sum(sums.values())
    if not total:
        return
    parts = sorted(sums.items(), key=lambda part: -part[1])
    yield (f"processor time: {total:.0f} s: "
           + ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in parts))
    most = sorted(spent_by_test.items(), key=lambda test: -sum(test[1].values()))
    for test, spent in most[:15]:
        yield f"{sum(spent.values()):7.1f} s  {test}"
