/*
 * derived_tables.h - the tables that settling derives from `clicks`: a row for
 * each kind of row of `settled` that publishes counts, with its tables.
 *
 * Settling, cleaning, dropping, `aggregator doctor` and `aggregator forget`
 * walk these rows.  So a new copy of days is its tables in schemas/clickhouse/,
 * its statements, and a row here.
 */
#ifndef AGGREGATOR_SETTLE_DERIVED_TABLES_H
#define AGGREGATOR_SETTLE_DERIVED_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/dimension.h"
#include "common/buf.h"
#include "common/error.h"

struct day_copy;

/* The copies of days, by what is read from them. */
enum copied {
	COPIED_LINKS,
	COPIED_OWNERS,
	COPIED_VALUES,
	COPIED_SAMPLE, /* clicks of some visitors */
	COPIED_LINK_VALUES,
	COPIED_TOTALS,
	COPIED_KINDS,
};

/* The rows; the copies come last, in the order of enum copied. */
enum derived_row {
	DERIVED_HOURS,
	DERIVED_DAYS, /* of links */
	DERIVED_COPIES,
	DERIVED_ROWS = DERIVED_COPIES + COPIED_KINDS,
};

enum {
	DERIVED_TABLES_MAX = 2, /* tables of a row */
	/* Number of digits of a partition's name that are its day or month. */
	DERIVED_BY_DAY = 8,
	DERIVED_BY_MONTH = 6,
};

/* How a table tells visitors apart; see forget_sql.h. */
enum derived_visitors {
	VISITORS_NONE,
	VISITORS_IN_HOURS, /* in states, of a slot each */
	VISITORS_IN_SPANS, /* in states, of an hour or day each */
	VISITORS_IN_OWNER_SETS,
	VISITORS_IN_SAMPLE, /* a digest in each row */
	/* No visitors, but values of links. */
	VALUES_OF_LINKS,
	/* In sets, by which days to forget are found: it is changed last. */
	VISITORS_IN_LINK_SETS,
};

struct derived_table {
	const char *name; /* NULL: there is none */
	unsigned by;	  /* DERIVED_BY_: the partitions */
	enum derived_visitors visitors;
	bool of_links; /* it has events of links, not all events */
	/* SQL: time of a row, its events; condition: the row is of the day from
	 * start to end (parameters). */
	const char *at, *events, *in_day;
	/* The dimensions that have each event once; NULL: rows have none. */
	bool (*has)(const struct dimension *d);
	bool has_many;	       /* the DIMENSION_MANY, too */
	const char *dimension; /* SQL: a row's dimension; NULL: its column */
	const char *also;      /* SQL, after others: another dimension */
	/* `aggregator doctor` compares it with the settled hours or days: name
	 * of the comparison (NULL: none), and of the table's events. */
	const char *compared, *counted;
	bool is_large; /* only some partitions are compared */
};

/* The statements of a copy. */
struct copy_statements {
	/*
	 * SQL: the events that are settled for the day; the events in the
	 * source, and the same if the day was dropped.
	 */
	const char *settled, *source, *dropped_source;
	/* Writes another expression: the events that are staged under the
	 * attempt, or SETTLE_SQL_UNEVEN if the tables do not agree. */
	void (*put_staged)(struct buf *sql, const struct day_copy *c);
	/* Runs the statements that stage the copy. */
	int (*stage)(struct day_copy *c, struct error *err);
};

struct derived {
	/* Kind of the row in `settled` that publishes the tables. */
	const char *kind;
	/* SQL: the unit of that row, of a row of the first table. */
	const char *unit;
	struct derived_table tables[DERIVED_TABLES_MAX];

	/* The others are of copies. */

	/* The kind, and its number in schemas/clickhouse/settled.sql, of the
	 * row that says that rows of a copy may exist. */
	const char *marker;
	uint8_t marker_number;
	/* The kind of the row that has the attempt in the base of a dropped
	 * day. */
	const char *base;
	/* Columns of day_attempts_put: the newest attempt, and the attempt in
	 * the base (NULL: there is none). */
	const char *newest, *based;
	/* A day is dropped only with this copy; name of the parameter that has
	 * the copy's attempt then, and how it is written.  NULL: without it. */
	const char *param, *bound;
	/* Copied `late_window` after the day's end, or once it is dropped or
	 * old enough to be, not at once. */
	bool when_late, when_old;
	/* The source is rows of `clicks`, some of which a drop deletes. */
	bool of_rows;
	const struct copy_statements *statements;
	/* For messages: "seal" a day; the line of `aggregator doctor`, and
	 * "sealed"; the copies that were made, in the log and as a metric. */
	const char *verb, *line, *done;
	const char *logged, *metric, *help;
};

extern const struct derived derived_tables[DERIVED_ROWS];

/* seal.c, owner_days.c, value_days.c, sampled_days.c, link_values.c and
 * rollups.c define these. */
extern const struct copy_statements seal_statements;
extern const struct copy_statements owner_statements;
extern const struct copy_statements value_statements;
extern const struct copy_statements sample_statements;
extern const struct copy_statements link_value_statements;
extern const struct copy_statements rollup_statements;

static inline const struct derived *derived_copy(enum copied which)
{
	return &derived_tables[DERIVED_COPIES + which];
}

/* A walk over all tables, each once. */
struct derived_walk {
	size_t row, table; /* the next; zeroed: the first */
};
const struct derived_table *derived_walk_next(struct derived_walk *walk);

bool derived_has_table(const struct derived *row, const char *name);

/* Writes a list: the kinds of the markers of all copies. */
void derived_put_markers(struct buf *sql);

#endif
