#include "aggregator/settle/drop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/reconcile/reconcile_day.h"
#include "aggregator/reconcile/reconciled_hours.h"
#include "aggregator/settle/changed_hours.h"
#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* Reconciliation of a day may fail for this long after the day is old and
 * sealed; then the day is dropped without it. */
#define GRACE_MS CLOCK_DAY

/* Most sources that one deleting statement names. */
#define SOURCES_AT_ONCE 100

/* Parameters of what a day must be to be old: `age`, `old_by`. */
struct age_params {
	char age[24], old_by[24], after[24];
	struct clickhouse_param items[5];
};

static void age_params_fill(struct age_params *p, const struct settling *s,
			    const struct progress *last, int64_t after)
{
	snprintf(p->age, sizeof(p->age), "%" PRId64,
		 (s->settings->raw_days + 1) * CLOCK_DAY);
	snprintf(p->old_by, sizeof(p->old_by), "%" PRId64,
		 settling_old_by(s, last));
	snprintf(p->after, sizeof(p->after), "%" PRId64, after);
	p->items[0] = (struct clickhouse_param){"param_age", p->age};
	p->items[1] = (struct clickhouse_param){"param_old_by", p->old_by};
	p->items[2] = (struct clickhouse_param){"param_after", p->after};
	p->items[3] = (struct clickhouse_param){"join_use_nulls", "0"};
	p->items[4] = (struct clickhouse_param){NULL, NULL};
}

/* --- dropping a day ---------------------------------------------------------
 */

struct drop_work {
	const struct settling *s;
	int64_t start;
	struct picked picked;
	uint64_t dropped; /* number of the previous drop; 0: none */
	struct drop_attempts copied;
	uint64_t rows, published; /* rows and base; events of its hours */
	uint64_t rescored;	  /* rows of `rescored` for the day */
	uint64_t rescoring;	  /* runs that have not ended */
	struct settling_params params;
};

/* Texts for blanks of statements about days. */
struct day_pieces {
	struct buf attempts, is_copied; /* see day_attempts.h */
	struct buf can_drop; /* it is copied but for copies of old days */
};

static void day_pieces_fill(struct day_pieces *p)
{
	day_attempts_put(&p->attempts);
	day_attempts_put_is_copied(&p->is_copied, false);
	day_attempts_put_is_copied(&p->can_drop, true);
}

static void day_pieces_release(struct day_pieces *p)
{
	buf_free(&p->attempts);
	buf_free(&p->is_copied);
	buf_free(&p->can_drop);
}

/* Writes the attempt of the copy, or 0 if a copy of old days is not current. */
static void put_newest(struct buf *sql, const struct derived *copy)
{
	if (!copy->when_old) {
		buf_printf(sql, ", argMin(%s, d)", copy->newest);
		return;
	}
	buf_puts(sql, ", argMin(if(");
	day_attempts_put_is_current(sql, copy);
	buf_printf(sql, ", %s, 0), d)", copy->newest);
}

static void put_find_next(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/drop_next.sql.inc"
		;
	struct day_pieces p = {0};
	struct buf newest = {0};

	for (size_t i = 0; i < COPIED_KINDS; i++)
		if (derived_copy((enum copied)i)->param)
			put_newest(&newest, derived_copy((enum copied)i));
	day_pieces_fill(&p);
	const struct statement_blank blanks[] = {
		{"newest", statement_piece(sql, &newest)},
		{"day_attempts", statement_piece(sql, &p.attempts)},
		{"is_copied", statement_piece(sql, &p.can_drop)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&newest);
	day_pieces_release(&p);
}

static int find_next(struct drop_work *w, const struct progress *last,
		     int64_t after, struct error *err)
{
	uint64_t found[3 + COPIED_KINDS] = {0};
	struct age_params params;
	struct buf sql = {0};
	int status;

	age_params_fill(&params, w->s, last, after);
	put_find_next(&sql);
	status = buf_cstr(&sql)
			 ? clickhouse_numbers(w->s->ch, sql.data, params.items,
					      found, 3 + drop_attempts_count(),
					      err)
			 : error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return error_wrap(err, "days to drop");
	w->start = found[0] ? (int64_t)found[1] : -1;
	w->dropped = found[2];
	drop_attempts_take(&w->copied, found + 3);
	return 0;
}

static int set_params(struct drop_work *w, const struct progress *last,
		      struct error *err)
{
	const char *names[DROP_PARAMS_MAX] = {
		"param_start",	"param_end",	    "param_attempt",
		"param_events", "param_read_until", "param_complete_until",
		"param_until",	"param_dropped",    "param_rescored"};
	uint64_t numbers[DROP_PARAMS_MAX] = {
		(uint64_t)w->start,
		(uint64_t)(w->start + CIVIL_DAY),
		w->picked.attempt,
		w->published,
		(uint64_t)last->read_until,
		(uint64_t)last->complete_until,
		(uint64_t)settling_picked_until(w->s, &w->picked),
		w->dropped,
		w->rescored,
	};
	size_t count = drop_attempts_params(&w->copied, names, numbers, 9);

	return settling_params_fill(&w->params, w->s, names, numbers, count,
				    err);
}

static void take_counts(void *arg, const uint64_t *n)
{
	struct drop_work *w = arg;

	w->rows = n[0];
	w->published = n[1];
	w->rescored = n[2];
	w->rescoring = n[3];
}

static void take_flag(void *arg, const uint64_t *n)
{
	*(bool *)arg = n[0] > 0;
}

/* Runs that change rows of the day are recorded in `rescored` before they
 * begin: `collector rescore`, `aggregator forget` and `collector import
 * --undo`. */
static int count_rows_and_events(struct drop_work *w, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/drop_counts.sql.inc"
		;

	return settling_query(w->s->ch, sql, w->params.items, 4, take_counts, w,
			      err);
}

/* Checks that the hours agree with the rows in number, and with the reports.
 * Rescored rows keep their number. */
static int is_settled(struct drop_work *w, struct drop_outcome *ret,
		      struct error *err)
{
	ret->why = DROP_GOES;
	if (count_rows_and_events(w, err) < 0 ||
	    progress_count_stale(w->s->ch, w->start, w->start + CIVIL_DAY,
				 &ret->hours, err) < 0)
		return -1;
	ret->rows = w->rows;
	ret->settled = w->published;
	if (w->rescoring)
		ret->why = DROP_BEHIND_RUN;
	else if (ret->hours)
		ret->why = DROP_STALE;
	else if (w->rows != w->published)
		ret->why = DROP_DIFFERS;
	return 0;
}

/* Marks repeats; then the hours have to be settled again without them. */
static int remove_repeats(struct drop_work *w, struct repeats_removed *all,
			  struct drop_outcome *ret, struct error *err)
{
	struct repeats_removed removed = {0};
	int status = repeats_remove(w->s, w->start, w->start + CIVIL_DAY,
				    &removed, err);

	all->rows += removed.rows;
	all->hours += removed.hours;
	if (removed.rows || removed.hours)
		ret->why = DROP_REPEATS;
	return status;
}

/* Whether the day is dropped without reconciliation. */
static int is_grace_over(struct drop_work *w, const struct progress *last,
			 bool *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/drop_grace.sql.inc"
		;
	int64_t age = (w->s->settings->raw_days + 1) * CLOCK_DAY;
	char start[24], sealed[24], grace[24];
	const struct clickhouse_param params[] = {{"param_start", start},
						  {"param_sealed", sealed},
						  {"param_grace", grace},
						  {NULL, NULL}};

	*ret = false;
	if (w->start * 1000 + age + GRACE_MS > settling_old_by(w->s, last))
		return 0;
	snprintf(start, sizeof(start), "%" PRId64, w->start);
	snprintf(sealed, sizeof(sealed), "%" PRIu64,
		 w->copied.of[COPIED_LINKS]);
	snprintf(grace, sizeof(grace), "%" PRId64, (int64_t)GRACE_MS);
	return settling_query(w->s->ch, sql, params, 1, take_flag, ret, err);
}

/*
 * Counters of redirectors can be compared with rows only while there are rows:
 * once more after the day was sealed, with all late clicks.  A day that was
 * dropped before is skipped, because rows are missing.
 */
static int reconcile_first(struct drop_work *w, const struct progress *last,
			   struct error *err)
{
	const struct aggregator_settings *settings = w->s->settings;
	struct reconciliation found = {0};
	struct error ignored = {0};
	bool done = !settings->reconcile_every || w->dropped;
	int status = 0;

	if (!done)
		status = reconciled_hours_has_day(w->s->ch, w->start,
						  w->copied.of[COPIED_LINKS],
						  &done, err);
	if (status < 0 || done)
		return status;
	status = reconcile_day(w->s->ch, &settings->clicks, w->start, &found,
			       err);
	reconciliation_release(&found);
	if (status == 0 || is_grace_over(w, last, &done, &ignored) < 0 || !done)
		return status;
	*err = (struct error){0};
	return 0;
}

/* Stores the last offset of each source in the base: the last one that was
 * reported, so that no batch in progress can add rows before it. */
static int stage_last_offsets(struct drop_work *w, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/drop_offsets.sql.inc"
		;
	struct buf text = {0};
	int status;

	buf_puts(&text, sql);
	status = settling_run(w->s->ch, &text, w->params.items, err);
	buf_free(&text);
	return status;
}

/* Selects the rows that make the copies the base. */
static void put_bases(struct buf *bases, struct day_pieces *p)
{
	static const char text[] =
#include "aggregator/sql/parts/base_of_copy.sql.inc"
		;

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);
		struct buf is_current = {0};

		if (!copy->param)
			continue;
		day_attempts_put_is_current(&is_current, copy);
		const struct statement_blank blanks[] = {
			{"base", copy->base},
			{"newest", copy->newest},
			{"day_attempts", statement_piece(bases, &p->attempts)},
			{"is_current", statement_piece(bases, &is_current)},
			{NULL, NULL}};

		statement_put(bases, text, blanks);
		buf_free(&is_current);
	}
}

/* Writes conditions: the day's copies are still those that were counted. */
static void put_are_counted(struct buf *sql)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		if (copy->param)
			buf_printf(sql, "AND %s = %s ", copy->newest,
				   copy->bound);
	}
}

/*
 * Inserts all rows at once, and only if the server finds that: the rows and the
 * base match what is published, no row lies beyond the staged offsets, nothing
 * was settled since the day was sealed, its copies are those whose events were
 * counted, and no row was rescored since the check.
 */
static void put_publish_drop(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/publish_drop.sql.inc"
		;
	struct day_pieces p = {0};
	struct buf bases = {0}, are_counted = {0};

	day_pieces_fill(&p);
	put_bases(&bases, &p);
	put_are_counted(&are_counted);
	const struct statement_blank blanks[] = {
		{"bases", statement_piece(sql, &bases)},
		{"day_attempts", statement_piece(sql, &p.attempts)},
		{"is_copied", statement_piece(sql, &p.is_copied)},
		{"are_counted", statement_piece(sql, &are_counted)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&bases);
	buf_free(&are_counted);
	day_pieces_release(&p);
}

static int publish_in_turn(struct drop_work *w, bool *ret_written,
			   struct error *err)
{
	static const char is_written[] =
#include "aggregator/sql/drop_written.sql.inc"
		;
	struct buf text = {0};
	int status = -1;

	if (w->s->check_lease(w->s->arg, err) < 0 ||
	    settling_check_age(w->s, &w->picked, err) < 0)
		return -1;
	put_publish_drop(&text);
	if (settling_run(w->s->ch, &text, w->params.items, err) == 0)
		status = settling_query(w->s->ch, is_written, w->params.items,
					1, take_flag, ret_written, err);
	buf_free(&text);
	return status;
}

static int publish_drop(struct drop_work *w, bool *ret_written,
			struct error *err)
{
	int status;

	settling_take_turn(w->s);
	status = publish_in_turn(w, ret_written, err);
	settling_end_turn(w->s);
	return status;
}

/* The rows still exist: everything that the tables lack is settled and copied
 * again. */
static int mark_day_stale(struct drop_work *w, struct drop_outcome *ret,
			  struct error *err)
{
	ret->why = DROP_LACKS;
	return changed_hours_report_day(w->s, w->start, w->dropped > 0,
					&ret->again, err);
}

static int check_settled_counts(struct drop_work *w, struct drop_outcome *ret,
				struct error *err)
{
	return drop_check_settled(w->s, w->start, w->dropped, &w->copied,
				  &ret->lack, err);
}

static int finish_drop(struct drop_work *w, const struct progress *last,
		       struct drop_outcome *ret, struct error *err)
{
	if (reconcile_first(w, last, err) < 0 ||
	    check_settled_counts(w, ret, err) < 0)
		return -1;
	if (ret->lack.table)
		return mark_day_stale(w, ret, err);
	if (set_params(w, last, err) < 0 || stage_last_offsets(w, err) < 0 ||
	    publish_drop(w, &ret->dropped, err) < 0)
		return -1;
	if (!ret->dropped)
		ret->why = DROP_CHANGED;
	return 0;
}

static int drop_old_day(struct drop_work *w, const struct progress *last,
			struct drop_outcome *ret,
			struct repeats_removed *removed, struct error *err)
{
	if (set_params(w, last, err) < 0 || is_settled(w, ret, err) < 0)
		return -1;
	if (ret->why == DROP_GOES && remove_repeats(w, removed, ret, err) < 0)
		return -1;
	return ret->why == DROP_GOES ? finish_drop(w, last, ret, err) : 0;
}

/* Makes the copies that the day lacks because they are made once it is old. */
static int copy_old_day(struct drop_work *w, const struct progress *last,
			struct error *err)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);
		int64_t start;
		bool done;

		if (copy->when_old && !w->copied.of[i] &&
		    day_copy_next(w->s, copy, w->start - 1, last, &start, &done,
				  err) < 0)
			return -1;
	}
	return 0;
}

int drop_next(const struct settling *s, int64_t after,
	      const struct progress *last, struct drop_outcome *ret,
	      struct repeats_removed *removed, struct error *err)
{
	struct drop_work w = {.s = s};
	int status;

	*ret = (struct drop_outcome){.start = after};
	if (!s->settings->raw_days) {
		ret->start = -1;
		return 0;
	}
	if (find_next(&w, last, after, err) < 0)
		return -1;
	ret->start = w.start;
	if (w.start < 0)
		return 0;
	status = copy_old_day(&w, last, err);
	if (status == 0)
		status = find_next(&w, last, after, err);
	if (status == 0)
		ret->start = w.start;
	if (status == 0 && w.start < 0)
		return 0;
	if (status == 0)
		status = settling_pick_day(s, last, &w.picked, err);
	if (status == 0)
		status = drop_old_day(&w, last, ret, removed, err);
	settling_params_release(&w.params);
	return status < 0 ? error_wrap(err, "drop day %" PRId64, w.start) : 0;
}

int drop_look(const struct settling *s, int64_t start,
	      const struct progress *last, struct drop_outcome *ret,
	      struct error *err)
{
	struct drop_work w = {.s = s};
	int status;

	*ret = (struct drop_outcome){.start = start, .why = DROP_CHANGED};
	if (find_next(&w, last, start - 1, err) < 0)
		return -1;
	if (w.start != start)
		return 0;
	status = set_params(&w, last, err);
	if (status == 0)
		status = is_settled(&w, ret, err);
	if (status == 0 && ret->why == DROP_GOES) {
		status = check_settled_counts(&w, ret, err);
		ret->again = ret->lack.table != NULL;
		if (ret->again)
			ret->why = DROP_LACKS;
	}
	settling_params_release(&w.params);
	return status < 0 ? error_wrap(err, "day %" PRId64, start) : 0;
}

/* The text ends with the measure that was taken. */
static void lack_text(const struct drop_outcome *o, char *text, size_t size)
{
	const struct drop_lack *lack = &o->lack;
	bool all = !lack->dimension || !strcmp(lack->dimension, "total");

	snprintf(text, size,
		 "%s has %" PRIu64 " of its %" PRIu64 " events%s%s; %s",
		 lack->table, lack->have, lack->want, all ? "" : " by ",
		 all ? "" : lack->dimension,
		 o->again ? "it is settled again from its rows"
			  : "it was marked to be settled again within a day "
			    "and may wait for that, see 'aggregator settle'");
}

void drop_why(const struct drop_outcome *o, char *text, size_t size)
{
	switch (o->why) {
	case DROP_GOES:
		snprintf(text, size, "nothing keeps it");
		break;
	case DROP_BEHIND_RUN:
		snprintf(text, size,
			 "'aggregator forget', 'collector rescore' or "
			 "'collector import --undo' has begun to change its "
			 "rows and has not ended; if it is not running, run it "
			 "again");
		break;
	case DROP_STALE:
		snprintf(text, size,
			 "%" PRIu64 " of its hours are to be settled again",
			 o->hours);
		break;
	case DROP_DIFFERS:
		snprintf(text, size,
			 "it has %" PRIu64 " rows, and %" PRIu64 " events are "
			 "settled, see 'aggregator doctor'",
			 o->rows, o->settled);
		break;
	case DROP_REPEATS:
		snprintf(text, size,
			 "events of it were sent twice, and its hours are to "
			 "be settled without them");
		break;
	case DROP_LACKS:
		lack_text(o, text, size);
		break;
	case DROP_CHANGED:
		snprintf(text, size,
			 "it changed while it was looked at; it is tried "
			 "again");
		break;
	}
}

/* --- deleting rows ----------------------------------------------------------
 */

struct day_deletion {
	const struct settling *s;
	struct buf sql; /* statement that is being built */
	size_t sources; /* number of sources in it */
	int64_t start;
	struct drop_deleted *ret;
};

static void begin_delete_statement(struct day_deletion *d)
{
	struct civil day = civil_from_days(d->start / CIVIL_DAY);

	buf_reset(&d->sql);
	buf_printf(&d->sql,
		   "ALTER TABLE clicks DELETE IN PARTITION ID "
		   "'%04" PRId64 "%02d%02d' WHERE ",
		   day.year, day.month, day.day);
	d->sources = 0;
}

/*
 * Waits for the mutation: the rows are gone before the next statement counts.
 */
static int run_delete_statement(struct day_deletion *d, struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"mutations_sync", "1"}, {NULL, NULL}};

	return d->sources ? settling_run(d->s->ch, &d->sql, params, err) : 0;
}

/* A row is: topic, in hexadecimal digits, epoch, partition, last offset. */
static int add_source(void *arg, char **f, struct error *err)
{
	struct day_deletion *d = arg;

	if (d->sources == SOURCES_AT_ONCE) {
		if (run_delete_statement(d, err) < 0)
			return -1;
		begin_delete_statement(d);
	}
	buf_printf(&d->sql,
		   "%s(topic = unhex('%s') AND epoch = %" PRIu64
		   " AND partition = %" PRIu64 " AND offset <= %" PRIu64 ")",
		   d->sources++ ? " OR " : "", f[0], tsv_u64(f[1]),
		   tsv_u64(f[2]), tsv_u64(f[3]));
	return 0;
}

static void record_kept_day(struct day_deletion *d,
			    const struct drop_lack *lack)
{
	if (d->ret->kept_days++)
		return;
	d->ret->kept_day = d->start;
	d->ret->lack = *lack;
}

/*
 * A row is: start of the day, number of its drop.  Parts of the tables may have
 * been lost since the drop, so the base is checked again: counts without rows
 * cannot be restored.
 */
static int delete_day(void *arg, char **f, struct error *err)
{
	static const char sources[] =
#include "aggregator/sql/drop_sources.sql.inc"
		;
	struct day_deletion *d = arg;
	const struct clickhouse_param params[] = {{"param_start", f[0]},
						  {"param_dropped", f[1]},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};
	struct drop_lack lack;
	uint64_t count = 0;

	d->start = tsv_i64(f[0]);
	if (drop_check_base(d->s, d->start, tsv_u64(f[1]), &lack, &count, err) <
	    0)
		return error_wrap(err, "day %s", f[0]);
	if (lack.table)
		record_kept_day(d, &lack);
	if (!count || lack.table)
		return 0;
	begin_delete_statement(d);
	if (clickhouse_rows(d->s->ch, sources, params, "snnn", add_source, d,
			    err) < 0 ||
	    run_delete_statement(d, err) < 0)
		return error_wrap(err, "day %s", f[0]);
	d->ret->rows += count;
	return 0;
}

const char drop_sql_days_with_rows[] =
#include "aggregator/sql/dropped_days_with_rows.sql.inc"
	;

int drop_delete_rows(const struct settling *s, struct drop_deleted *ret,
		     struct error *err)
{
	struct day_deletion d = {.s = s, .ret = ret};
	struct settling_old old;
	const struct clickhouse_param params[] = {{"param_before", old.before},
						  {"param_kept", old.kept},
						  {NULL, NULL}};
	int status;

	*ret = (struct drop_deleted){0};
	settling_set_old(s, &old);
	status = settling_for_each(s->ch, drop_sql_days_with_rows, params, "nn",
				   delete_day, &d, err);
	buf_free(&d.sql);
	return status < 0 ? error_wrap(err, "delete rows of dropped days") : 0;
}

int drop_clean(struct clickhouse *ch, uint64_t before, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/conditions/dropped_sources.sql.inc"
		;
	char number[24];
	const struct statement_blank blanks[] = {{"before", number},
						 {NULL, NULL}};
	struct buf condition = {0};
	int status;

	snprintf(number, sizeof(number), "%" PRIu64, before);
	statement_put(&condition, text, blanks);
	status = buf_cstr(&condition) ? settling_delete(ch, "dropped_sources",
							condition.data, err)
				      : error_set_nomem(err);
	buf_free(&condition);
	return status;
}

/* --- old days --------------------------------------------------------------
 */

struct old_reader {
	const struct settling *s;
	int (*fn)(void *arg, const struct old_day *day, struct error *err);
	void *arg;
};

/* Returns when the rows of a day may be deleted that was dropped with that
 * number at that time: see settling_set_old. */
static int64_t deleted_at(const struct settling *s, uint64_t dropped,
			  int64_t dropped_at)
{
	int64_t by_number = settling_attempt_until(s, dropped);
	int64_t by_time = dropped_at + s->settings->keep_superseded;

	return by_time < by_number ? by_time : by_number;
}

/*
 * A row is: start, rows, bytes, whether it is sealed, number of its drop,
 * whether it was sealed since, events of its hours, whether it was reconciled
 * since it was sealed, time of its drop, runs about it that have not ended.
 */
static int read_old(void *arg, char **f, struct error *err)
{
	const struct old_reader *r = arg;
	uint64_t dropped = tsv_u64(f[4]);
	const struct old_day day = {
		.start = tsv_i64(f[0]),
		.rows = tsv_u64(f[1]),
		.bytes = tsv_u64(f[2]),
		.sealed = tsv_u64(f[3]) > 0,
		/* A day that is dropped again may lack rows of the base. */
		.settled = !tsv_u64(f[9]) &&
			   (dropped > 0 || tsv_u64(f[1]) == tsv_u64(f[6])),
		.dropped = dropped > 0 && !tsv_u64(f[5]),
		.reconciled = dropped > 0 || tsv_u64(f[7]) > 0 ||
			      !r->s->settings->reconcile_every,
		.deleted_at = deleted_at(r->s, dropped, tsv_i64(f[8])),
	};

	return r->fn(r->arg, &day, err);
}

static void put_old_days(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/old_days.sql.inc"
		;
	struct day_pieces p = {0};

	day_pieces_fill(&p);
	const struct statement_blank blanks[] = {
		{"is_copied", statement_piece(sql, &p.can_drop)},
		{"day_attempts", statement_piece(sql, &p.attempts)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	day_pieces_release(&p);
}

int drop_for_each_old(const struct settling *s, const struct progress *last,
		      int (*fn)(void *arg, const struct old_day *day,
				struct error *err),
		      void *arg, struct error *err)
{
	struct old_reader reader = {s, fn, arg};
	struct age_params params;
	struct buf sql = {0};
	int status;

	age_params_fill(&params, s, last, -1);
	put_old_days(&sql);
	status = buf_cstr(&sql)
			 ? clickhouse_rows(s->ch, sql.data, params.items,
					   "nnnnnnnnnn", read_old, &reader, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "old days") : 0;
}
