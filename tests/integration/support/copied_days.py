"""Days that `settled` lists as copied into tables of their own."""
from support.clicks import hours_events
from support.program import eventually

DAY = 86400
PATIENCE = 120


def ends_of(start, end):
    """Returns windows of two days each: settling days takes time, and the days in
    between would test nothing more."""
    return (start, start + 2 * DAY), (end - 2 * DAY, end)


def days_of(rows):
    """Returns the starts of the UTC days of rows of `clicks`."""
    return {row["ts_ms"] // 1000 // DAY * DAY for row in rows}


def copied_days(clickhouse, kind):
    """Returns {start of the day: attempt} of the days that answers may read."""
    return {int(row["d"]): int(row["n_copied"]) for row in clickhouse.rows(
        "SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d, "
        f"maxIf(attempt, kind = '{kind}') AS n_copied, "
        "maxIf(attempt, kind IN ('hour', 'link_day')) AS n_other FROM settled "
        "GROUP BY d HAVING n_copied > n_other")}


def wait_copied(clickhouse, kind, rows, but=()):
    """Waits for the days of the rows, except `but`. It waits for the hours first: until
    then the days are unchanged."""
    if not but:
        eventually(lambda: hours_events(clickhouse) == len(rows), PATIENCE,
                   what=f"{len(rows)} events settled")
    eventually(lambda: set(copied_days(clickhouse, kind)) == days_of(rows) - set(but),
               PATIENCE, what=f"each day to have its {kind}")
