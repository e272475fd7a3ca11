"""Bytes and rows of the settled tables, by table and by dimension."""
import collections

Table = collections.namedtuple("Table", "kinds unit")
# The kinds of rows of `settled` that publish each settled table, and their unit.
TABLES = {
    "stats_hourly": Table("hour", "hour"),
    "stats_spans": Table("spanned_day", "toStartOfDay(span_start, 'UTC')"),
    "link_slots": Table("link_day", "toStartOfDay(slot, 'UTC')"),
    "link_days": Table("link_day", "toDateTime(day, 'UTC')"),
    "sealed_slots": Table("sealed_day", "toStartOfDay(slot, 'UTC')"),
    "owner_slots": Table("owner_day", "toStartOfDay(slot, 'UTC')"),
    "owner_values": Table("owner_day,value_day", "toDateTime(day, 'UTC')"),
    "sampled_clicks": Table("sampled_day", "toStartOfDay(slot, 'UTC')"),
    "link_values": Table("link_value_day", "toDateTime(day, 'UTC')"),
    "day_values": Table("value_day", "toDateTime(day, 'UTC')"),
}
BY_DIMENSION = ("stats_hourly", "stats_spans", "owner_values", "day_values", "link_values")

SIZES = """
SELECT table, sum(bytes_on_disk) AS size, sum(rows) AS there FROM system.parts
WHERE active AND database = currentDatabase() GROUP BY table
"""
# The rows that are read, or will be.
NEEDED = """
WITH published AS (SELECT unit AS u, max(attempt) AS a FROM settled
    WHERE has(splitByChar(',', '{kinds}'), toString(kind)) GROUP BY u, kind)
SELECT sum(n) AS needed FROM
    (SELECT {unit} AS u, attempt AS a, count() AS n FROM {table} GROUP BY u, a) AS t
    LEFT JOIN (SELECT u, max(a) AS newest FROM published GROUP BY u) AS s ON t.u = s.u
WHERE a > newest OR (u, a) IN (SELECT u, a FROM published)
"""


def sizes(database):
    """Returns {table: (bytes, rows)}, including deleted rows that still exist."""
    return {row["table"]: (int(row["size"]), int(row["there"]))
            for row in database.rows(SIZES)}


def superseded(database):
    """Returns the share of the settled tables' rows, in %."""
    there = sizes(database)
    needed = sum(int(database.value(NEEDED.format(
        table=name, unit=table.unit, kinds=table.kinds)))
        for name, table in TABLES.items())
    # The needed rows were counted before, so that rows that came since do not count.
    rows = sum(there.get(name, (0, 0))[1] for name in TABLES)
    return max(0.0, 100 * (rows - needed) / rows) if rows else 0.0


def dimensions(database, table):
    """Returns {dimension: bytes}, each in a table of its own with the same format."""
    database.query(f"CREATE TABLE one_dimension AS {database.database}.{table}")
    found = {}
    try:
        for name in database.query(f"SELECT DISTINCT dimension FROM {table} "
                                   "FORMAT TSVRaw").split():
            database.query("TRUNCATE TABLE one_dimension")
            database.query(f"INSERT INTO one_dimension SELECT * FROM {table} "
                           f"WHERE dimension = '{name}'")
            found[name] = sizes(database)["one_dimension"][0]
    finally:
        database.query("DROP TABLE one_dimension")
    return found


def report(database):
    """Prints the sizes that the table of results has no row for."""
    there = sizes(database)
    raw, rows = there["clicks"]
    print(f"{raw / rows:.1f} bytes a row of clicks, of which " + ", ".join(
        f"{name} {100 * there[name][0] / raw:.2f} %" for name in TABLES
        if name in there), flush=True)
    for table in BY_DIMENSION:
        found = dimensions(database, table)
        print(f"{table} in % of clicks: " + ", ".join(
            f"{name} {100 * size / raw:.3f}" for name, size in sorted(
                found.items(), key=lambda item: -item[1])), flush=True)


def of_raw(database):
    """Returns (what answers links' questions, all settled tables), in % of clicks."""
    there = sizes(database)
    raw = there["clicks"][0]
    return (100 * there["sealed_slots"][0] / raw,
            100 * sum(there[name][0] for name in TABLES if name in there) / raw)
