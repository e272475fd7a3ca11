"""Days of which `settled` says that they were copied into tables of their own."""
from support.clicks import hours_events
from support.program import eventually

DAY = 86400
PATIENCE = 120


def ends_of(start, end):
    """Windows of two days each: days that are settled cost their time, and those in
    between show nothing that these do not."""
    return (start, start + 2 * DAY), (end - 2 * DAY, end)


def days_of(rows):
    """The starts of the UTC days of rows of `clicks`."""
    return {row["ts_ms"] // 1000 // DAY * DAY for row in rows}


def copied_days(clickhouse, kind):
    """{start of the day: attempt}, as answers may read them."""
    return {int(row["d"]): int(row["n_copied"]) for row in clickhouse.rows(
        "SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d, "
        f"maxIf(attempt, kind = '{kind}') AS n_copied, "
        "maxIf(attempt, kind IN ('hour', 'link_day')) AS n_other FROM settled "
        "GROUP BY d HAVING n_copied > n_other")}


def wait_copied(clickhouse, kind, rows, but=()):
    """Those of the rows, `but` some. Hours first: until then the days are as they were."""
    if not but:
        eventually(lambda: hours_events(clickhouse) == len(rows), PATIENCE,
                   what=f"{len(rows)} events settled")
    eventually(lambda: set(copied_days(clickhouse, kind)) == days_of(rows) - set(but),
               PATIENCE, what=f"each day to have its {kind}")
