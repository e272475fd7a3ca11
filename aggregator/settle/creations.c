#include "aggregator/settle/creations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clickhouse/statement.h"

enum {
	HOURS_MAX = 200, /* settled in one pass */
	/* The time before the last pass (ms), beside twice the overlap, whose
	 * reports are read again: an hour that was not over then is now. */
	REPORTS_AGAIN = 2 * 3600 * 1000,
};

/* An hour that is due. */
struct due_hour {
	uint64_t start;	      /* seconds since 1970 */
	uint64_t was_attempt; /* 0: it was never settled */
	uint64_t was_links;
};

struct due_list {
	struct due_hour items[HOURS_MAX];
	size_t count;
};

static void take_hour(void *arg, const uint64_t *n)
{
	struct due_list *list = arg;

	if (list->count < HOURS_MAX)
		list->items[list->count++] =
			(struct due_hour){n[0], n[1], n[2]};
}

static int list_due(const struct settling *s, int64_t now, struct due_list *ret,
		    struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/creations_stale.sql.inc"
		;
	char now_text[24], overlap[24], margin[24], limit[24];
	const struct clickhouse_param params[] = {
		{"param_now", now_text},  {"param_overlap", overlap},
		{"param_margin", margin}, {"param_limit", limit},
		{"join_use_nulls", "0"},  {NULL, NULL}};

	snprintf(now_text, sizeof(now_text), "%" PRId64, now);
	snprintf(overlap, sizeof(overlap), "%" PRId64,
		 s->settings->progress_overlap);
	snprintf(margin, sizeof(margin), "%" PRId64,
		 2 * s->settings->progress_overlap + REPORTS_AGAIN);
	snprintf(limit, sizeof(limit), "%d", (int)HOURS_MAX);
	ret->count = 0;
	return settling_query(s->ch, sql, params, 3, take_hour, ret, err);
}

/* --- an hour -------------------------------------------------------------- */

/* The parameters of the statements about an hour, or about a pass (start 0). */
static int fill_params(struct settling_params *p, const struct settling *s,
		       const struct due_hour *hour, uint64_t attempt,
		       int64_t now, uint64_t links, struct error *err)
{
	static const char *const names[] = {"param_start", "param_attempt",
					    "param_now", "param_links",
					    "param_was"};
	const uint64_t numbers[] = {hour->start, attempt, (uint64_t)now, links,
				    hour->was_links};

	return settling_params_fill(p, s, names, numbers, 5, err);
}

static int run_statement(const struct settling *s, const char *text,
			 const struct settling_params *p, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, text);
	status = settling_run(s->ch, &sql, p->items, err);
	buf_free(&sql);
	return status;
}

/* The statement publishes nothing if other links are staged than were counted,
 * or fewer than before. */
static int publish_counted(const struct settling *s, struct settling_params *p,
			   uint64_t *ret_published, struct error *err)
{
	static const char publish[] =
#include "aggregator/sql/creations_publish.sql.inc"
		;
	static const char published[] =
#include "aggregator/sql/creations_published.sql.inc"
		;

	if (s->check_lease(s->arg, err) < 0 ||
	    run_statement(s, publish, p, err) < 0)
		return -1;
	return clickhouse_numbers(s->ch, published, p->items, ret_published, 1,
				  err);
}

enum settled_as {
	HOUR_PUBLISHED,
	HOUR_CHANGED, /* rows came while it was counted */
	HOUR_FEWER,   /* rows are gone: the counts published before stay */
};

/* Counts the hour's links, stages its rows, and publishes what is staged if
 * both agree. */
static int settle_hour(const struct settling *s, const struct due_hour *hour,
		       uint64_t attempt, int64_t now, enum settled_as *ret,
		       struct error *err)
{
	static const char stage[] =
#include "aggregator/sql/creations_stage.sql.inc"
		;
	static const char count[] =
#include "aggregator/sql/creations_count.sql.inc"
		;
	struct settling_params p = {0};
	uint64_t links = 0, published = 0;
	int status = fill_params(&p, s, hour, attempt, now, 0, err);

	if (status == 0)
		status = clickhouse_numbers(s->ch, count, p.items, &links, 1,
					    err);
	*ret = HOUR_FEWER;
	if (status == 0 && links >= hour->was_links) {
		status = fill_params(&p, s, hour, attempt, now, links, err);
		if (status == 0)
			status = run_statement(s, stage, &p, err);
		if (status == 0)
			status = publish_counted(s, &p, &published, err);
		*ret = published ? HOUR_PUBLISHED : HOUR_CHANGED;
	}
	settling_params_release(&p);
	return status;
}

/* --- a pass --------------------------------------------------------------- */

static int note_pass(const struct settling *s, uint64_t attempt, int64_t now,
		     struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/creations_pass.sql.inc"
		;
	static const struct due_hour none;
	struct settling_params p = {0};
	int status = fill_params(&p, s, &none, attempt, now, 0, err);

	if (status == 0)
		status = run_statement(s, sql, &p, err);
	settling_params_release(&p);
	return status;
}

static int settle_due(const struct settling *s, const struct due_list *due,
		      uint64_t *attempt, int64_t now,
		      struct creations_result *ret, struct error *err)
{
	enum settled_as as = HOUR_CHANGED;

	for (size_t i = 0; i < due->count; i++) {
		if (s->is_stopping(s->arg))
			return error_set_retriable(err, ERROR_STOPPED,
						   "stopping");
		*attempt = settling_attempt_next(now, *attempt);
		if (settle_hour(s, &due->items[i], *attempt, now, &as, err) < 0)
			return -1;
		ret->hours += as == HOUR_PUBLISHED;
		ret->changed += as == HOUR_CHANGED;
		ret->held += as == HOUR_FEWER;
	}
	return 0;
}

/* Reports that a pass has read need not be listed again, unless an hour of
 * theirs changed while it was counted. */
static int run_pass(const struct settling *s, struct due_list *due,
		    struct creations_result *ret, struct error *err)
{
	static const char last[] =
#include "aggregator/sql/creations_last.sql.inc"
		;
	uint64_t n[2] = {0};
	int64_t now = 0;

	/* The clock is read before the rows. */
	if (clickhouse_now(s->ch, &now, err) < 0 ||
	    clickhouse_numbers(s->ch, last, NULL, n, 2, err) < 0 ||
	    list_due(s, now, due, err) < 0 ||
	    settle_due(s, due, &n[0], now, ret, err) < 0)
		return -1;
	ret->more = due->count == HOURS_MAX && ret->hours;
	if (ret->more || ret->changed ||
	    (!ret->hours &&
	     now - (int64_t)n[1] <= s->settings->progress_overlap))
		return 0;
	return note_pass(s, settling_attempt_next(now, n[0]), now, err);
}

int creations_settle(const struct settling *s, struct creations_result *ret,
		     struct error *err)
{
	struct due_list *due = malloc(sizeof(*due));
	int status;

	*ret = (struct creations_result){0};
	if (!due)
		return error_set_nomem(err);
	status = run_pass(s, due, ret, err);
	free(due);
	return status < 0 ? error_wrap(err, "creations") : 0;
}

int creations_clean(const struct settling *s, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/conditions/creations.sql.inc"
		;
	struct settling_old old;
	struct statement_blank blanks[] = {{"before", NULL}, {NULL, NULL}};
	struct buf condition = {0};
	int status;

	settling_set_old(s, &old);
	blanks[0].sql = old.before;
	statement_put(&condition, text, blanks);
	status = buf_cstr(&condition) ? settling_delete(s->ch, "creations",
							condition.data, err)
				      : error_set_nomem(err);
	buf_free(&condition);
	return status < 0 ? error_wrap(err, "creations") : 0;
}
