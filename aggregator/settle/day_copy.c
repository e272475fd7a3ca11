#include "aggregator/settle/day_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* --- days to copy ----------------------------------------------------------
 */

struct pending_days {
	uint64_t days;
	int64_t first;	  /* -1: none */
	uint64_t dropped; /* number of its drop; 0: none */
};

/* Writes the start of a condition: dropped days are copied whatever their age,
 * and no others if rows are kept for ever. */
static const char *whatever_age(const struct settling *s,
				const struct derived *kind)
{
	if (!kind->when_old)
		return NULL;
	return s->settings->raw_days ? "n_dropped > 0 OR" : "n_dropped > 0 AND";
}

static void put_pending(struct buf *sql, const struct settling *s,
			const struct derived *kind)
{
	static const char text[] =
#include "aggregator/sql/copy_pending.sql.inc"
		;
	struct buf days = {0}, can_copy = {0};

	day_attempts_put(&days);
	day_attempts_put_can_copy(&can_copy, kind);

	const struct statement_blank blanks[] = {
		{"days", statement_piece(sql, &days)},
		{"newest", kind->newest},
		{"can_copy", statement_piece(sql, &can_copy)},
		{"whatever_age", whatever_age(s, kind)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&days);
	buf_free(&can_copy);
}

int64_t day_copy_age(const struct settling *s, const struct derived *kind)
{
	if (kind->when_late)
		return s->settings->clicks.late_window;
	return kind->when_old ? s->settings->raw_days * CLOCK_DAY : 0;
}

/* Finds the days after `after` that are to be copied. */
static int find_pending(const struct settling *s, const struct derived *kind,
			int64_t after, struct pending_days *ret,
			struct error *err)
{
	int64_t age = day_copy_age(s, kind);
	uint64_t found[3] = {0};
	char least[24], old[24], now[24];
	const struct clickhouse_param params[] = {{"param_after", least},
						  {"param_age", old},
						  {"param_now", now},
						  {NULL, NULL}};
	struct buf sql = {0};
	int status;

	put_pending(&sql, s, kind);
	snprintf(least, sizeof(least), "%" PRId64, after);
	snprintf(old, sizeof(old), "%" PRId64, CIVIL_DAY * 1000 + age);
	snprintf(now, sizeof(now), "%" PRId64, settling_now(s));
	status = buf_cstr(&sql) ? clickhouse_numbers(s->ch, sql.data, params,
						     found, 3, err)
				: error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return error_wrap(err, "days to %s", kind->verb);
	*ret = (struct pending_days){
		found[0], found[0] ? (int64_t)found[1] : -1, found[2]};
	return 0;
}

int day_copy_pending(const struct settling *s, const struct derived *kind,
		     uint64_t *ret_days, int64_t *ret_first, struct error *err)
{
	struct pending_days pending = {0};

	if (find_pending(s, kind, -1, &pending, err) < 0)
		return -1;
	*ret_days = pending.days;
	*ret_first = pending.first;
	return 0;
}

/* --- one day ----------------------------------------------------------------
 */

const char day_copy_settled_links[] =
#include "aggregator/sql/expressions/settled_of_links.sql.inc"
	;
const char day_copy_source_links[] =
#include "aggregator/sql/expressions/source_of_links.sql.inc"
	;
const char day_copy_source_links_dropped[] =
#include "aggregator/sql/expressions/source_of_links_dropped.sql.inc"
	;
const char day_copy_settled_hours[] =
#include "aggregator/sql/expressions/settled_of_hours.sql.inc"
	;

void day_copy_put_staged_slots(struct buf *sql, const struct day_copy *c)
{
	static const char text[] =
#include "aggregator/sql/expressions/staged_slots.sql.inc"
		;
	const struct statement_blank blanks[] = {
		{"table", c->kind->tables[0].name}, {NULL, NULL}};

	statement_put(sql, text, blanks);
}

struct copy_counts {
	uint64_t rows, settled, staged;
};

static int set_params(struct day_copy *c, const struct progress *last,
		      uint64_t staged, struct error *err)
{
	static const char *const names[] = {
		"param_start", "param_end",	   "param_attempt",
		"param_rows",  "param_read_until", "param_complete_until",
		"param_until", "param_dropped",	   "param_most"};
	const uint64_t numbers[] = {
		(uint64_t)c->start,
		(uint64_t)(c->start + CIVIL_DAY),
		c->picked.attempt,
		staged,
		(uint64_t)last->read_until,
		(uint64_t)last->complete_until,
		(uint64_t)settling_picked_until(c->s, &c->picked),
		c->dropped,
		(uint64_t)c->s->settings->values_max,
	};

	return settling_params_fill(&c->params, c->s, names, numbers,
				    sizeof(names) / sizeof(*names), err);
}

static void take_counts(void *arg, const uint64_t *n)
{
	*(struct copy_counts *)arg = (struct copy_counts){n[0], n[1], n[2]};
}

static int query_copy_numbers(const struct day_copy *c, struct buf *sql,
			      size_t columns,
			      void (*take)(void *arg, const uint64_t *numbers),
			      void *arg, struct error *err)
{
	int status = buf_cstr(sql) ? settling_query(c->s->ch, sql->data,
						    c->params.items, columns,
						    take, arg, err)
				   : error_set_nomem(err);

	buf_free(sql);
	return status;
}

static const char *source_of(const struct day_copy *c)
{
	const struct copy_statements *statements = c->kind->statements;

	return c->dropped ? statements->dropped_source : statements->source;
}

/* Writes a statement of the copy.  Its blanks are what the copy compares, and
 * `same_rows`, a condition. */
static void put_statement(struct buf *sql, const char *text,
			  const struct day_copy *c, const char *same_rows)
{
	struct buf staged = {0};

	c->kind->statements->put_staged(&staged, c);

	const struct statement_blank blanks[] = {
		{"kind", c->kind->kind},
		{"source", source_of(c)},
		{"settled", c->kind->statements->settled},
		{"staged", statement_piece(sql, &staged)},
		{"same_rows", same_rows},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&staged);
}

static int count_day_events(const struct day_copy *c, struct copy_counts *ret,
			    struct error *err)
{
	static const char text[] =
#include "aggregator/sql/copy_counts.sql.inc"
		;
	struct buf sql = {0};

	put_statement(&sql, text, c, NULL);
	return query_copy_numbers(c, &sql, 3, take_counts, ret, err);
}

static void take_flag(void *arg, const uint64_t *n)
{
	*(bool *)arg = n[0] > 0;
}

/*
 * The day is not published if something of it was published meanwhile, or if
 * rows are now in its base, or gone.  It is not published either if rows came
 * since they were counted: until now the day was read from rows, so these would
 * disappear for a reader that saw them.
 */
static void put_publish(struct buf *sql, const struct day_copy *c)
{
	static const char text[] =
#include "aggregator/sql/publish_copy.sql.inc"
		;
	static const char is_of_same_rows[] =
#include "aggregator/sql/parts/is_of_same_rows.sql.inc"
		;
	struct buf same_rows = {0};

	if (c->kind->of_rows)
		put_statement(&same_rows, is_of_same_rows, c, NULL);
	put_statement(sql, text, c, statement_piece(sql, &same_rows));
	buf_free(&same_rows);
}

struct since {
	bool settled; /* hours of the day */
	uint64_t rows;
};

static void take_since(void *arg, const uint64_t *n)
{
	*(struct since *)arg = (struct since){n[0] > 0, n[1]};
}

/*
 * The staged copy is not published: sets *err to the reason.  Sets none if
 * hours of the day were settled meanwhile, or clicks came: these are no
 * failures.
 */
static int explain_refused_copy(const struct day_copy *c, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/copy_since.sql.inc"
		;
	struct buf sql = {0};
	struct error failure = {0};
	struct since since = {0};

	put_statement(&sql, text, c, NULL);
	if (query_copy_numbers(c, &sql, 2, take_since, &since, &failure) < 0)
		*err = failure;
	else if (since.settled)
		error_set_retriable(err, ERROR_CONFLICT,
				    "hours of it were settled meanwhile; it is "
				    "done again after them");
	else if (since.rows > c->rows)
		error_set_retriable(err, ERROR_CONFLICT,
				    "%" PRIu64 " clicks of it came meanwhile; "
				    "it is done again with them",
				    since.rows - c->rows);
	return -1;
}

static int publish_in_turn(const struct day_copy *c, struct error *err)
{
	static const char written_text[] =
#include "aggregator/sql/copy_written.sql.inc"
		;
	struct buf sql = {0};
	bool written = false;
	int status;

	if (c->s->check_lease(c->s->arg, err) < 0 ||
	    settling_check_age(c->s, &c->picked, err) < 0)
		return -1;
	put_publish(&sql, c);
	status = settling_run(c->s->ch, &sql, c->params.items, err);
	put_statement(&sql, written_text, c, NULL);
	if (status == 0)
		status = query_copy_numbers(c, &sql, 1, take_flag, &written,
					    err);
	buf_free(&sql);
	if (status == 0 && !written) {
		error_set(err, ERROR_PROTOCOL,
			  "it is not what was counted; computing it again");
		return explain_refused_copy(c, err);
	}
	return status;
}

static int publish_copy(const struct day_copy *c, struct error *err)
{
	int status;

	settling_take_turn(c->s);
	status = publish_in_turn(c, err);
	settling_end_turn(c->s);
	return status;
}

int day_copy_run(const struct day_copy *c, struct buf *sql, struct error *err)
{
	static const struct clickhouse_param own[] = {
		{"min_insert_block_size_rows", "10000000"},
		{"min_insert_block_size_bytes", SETTLING_BLOCK_BYTES},
		{NULL, NULL}};
	struct clickhouse_param params[24];
	size_t n = 0;

	for (; c->params.items[n].name; n++)
		params[n] = c->params.items[n];
	memcpy(&params[n], own, sizeof(own));
	if (c->s->is_stopping(c->s->arg)) {
		buf_reset(sql);
		return error_set_retriable(err, ERROR_STOPPED, "stopping");
	}
	return settling_run(c->s->ch, sql, params, err);
}

static int copy_pending_day(struct day_copy *c, const struct progress *last,
			    bool *ret_done, struct error *err)
{
	const struct settled_row marker = {
		c->kind->marker_number, {.start = c->start}, c->picked.attempt};
	struct copy_counts n = {0};

	if (set_params(c, last, 0, err) < 0 || count_day_events(c, &n, err) < 0)
		return -1;
	if (n.rows != n.settled)
		return 0;
	c->rows = n.rows;
	if (settling_insert(c->s, &marker, 1, last, err) < 0 ||
	    c->kind->statements->stage(c, err) < 0 ||
	    count_day_events(c, &n, err) < 0)
		return -1;
	if (n.staged == SETTLE_SQL_UNEVEN) {
		error_set(err, ERROR_PROTOCOL,
			  "its dimensions hold different numbers of events; "
			  "computing it again");
		return explain_refused_copy(c, err);
	}
	if (n.staged != n.rows || n.staged != n.settled) {
		error_set(err, ERROR_PROTOCOL,
			  "%" PRIu64 " events were staged of %" PRIu64
			  " rows, %" PRIu64 " settled; computing it again",
			  n.staged, n.rows, n.settled);
		return explain_refused_copy(c, err);
	}
	if (set_params(c, last, n.staged, err) < 0 || publish_copy(c, err) < 0)
		return -1;
	*ret_done = true;
	return 0;
}

int day_copy_next(const struct settling *s, const struct derived *kind,
		  int64_t after, const struct progress *last,
		  int64_t *ret_start, bool *ret_done, struct error *err)
{
	struct day_copy c = {.s = s, .kind = kind};
	struct pending_days pending = {0};
	int status;

	*ret_done = false;
	if (find_pending(s, kind, after, &pending, err) < 0)
		return -1;
	*ret_start = pending.first;
	if (pending.first < 0)
		return 0;
	c.start = pending.first;
	c.dropped = pending.dropped;
	status = settling_pick_day(s, last, &c.picked, err);
	if (status == 0)
		status = copy_pending_day(&c, last, ret_done, err);
	settling_params_release(&c.params);
	return status < 0
		       ? error_wrap(err, "%s day %" PRId64, kind->verb, c.start)
		       : 0;
}

/* --- cleaning ---------------------------------------------------------------
 */

struct copy_cleaning {
	struct clickhouse *ch;
	const struct derived *kind;
};

/* Waits for the mutation, because the next statements rely on it. */
static int run_mutation(struct clickhouse *ch, struct buf *sql,
			struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"mutations_sync", "1"}, {NULL, NULL}};

	return settling_run(ch, sql, params, err);
}

/* A row is: month, start of the day, attempt.  The tables come before the
 * marker, so that a half-done deletion is found again. */
static int delete_attempt(void *arg, char **f, struct error *err)
{
	const struct copy_cleaning *c = arg;
	uint64_t start = tsv_u64(f[1]), attempt = tsv_u64(f[2]);
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < DERIVED_TABLES_MAX; i++) {
		if (!c->kind->tables[i].name)
			continue;
		buf_printf(&sql,
			   "ALTER TABLE %s DELETE IN PARTITION ID '%" PRIu64
			   "' WHERE attempt = %" PRIu64,
			   c->kind->tables[i].name, tsv_u64(f[0]), attempt);
		status = run_mutation(c->ch, &sql, err);
	}
	buf_printf(&sql,
		   "ALTER TABLE settled DELETE WHERE kind = '%s' AND "
		   "toUInt32(unit) = %" PRIu64 " AND attempt = %" PRIu64,
		   c->kind->marker, start, attempt);
	if (status == 0)
		status = run_mutation(c->ch, &sql, err);
	buf_free(&sql);
	return status;
}

/* Selects attempts below `before`. */
static void put_leftovers(struct buf *sql, const struct derived *kind,
			  uint64_t before)
{
	static const char text[] =
#include "aggregator/sql/copy_leftovers.sql.inc"
		;
	struct buf days = {0}, is_read = {0}, number = {0};

	day_attempts_put(&days);
	day_attempts_put_is_read(&is_read, kind);
	buf_put_uint(&number, before);

	const struct statement_blank blanks[] = {
		{"days", statement_piece(sql, &days)},
		{"marker", kind->marker},
		{"base", kind->base},
		{"newest", kind->newest},
		{"is_read", statement_piece(sql, &is_read)},
		{"before", statement_piece(sql, &number)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&days);
	buf_free(&is_read);
	buf_free(&number);
}

int day_copy_clean(struct clickhouse *ch, const struct derived *kind,
		   uint64_t before, struct error *err)
{
	struct copy_cleaning c = {ch, kind};
	struct buf sql = {0};
	int status;

	put_leftovers(&sql, kind, before);
	status = buf_cstr(&sql) ? settling_for_each(ch, sql.data, NULL, "nnn",
						    delete_attempt, &c, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}
