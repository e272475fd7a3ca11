#include "aggregator/settle/hour_settlement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/settle/hour_counts.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/settle/taken_back.h"
#include "common/clock.h"

#define HOUR 3600

/*
 * Most clicks of the hours that one statement computes.  Each statement reads
 * the columns of the whole day, because clicks is in the order of links; with
 * many more clicks, the groups do not fit into a cache.
 */
#define ROWS_AT_ONCE 1500000

/* Most times that an hour is computed again because more events turn up that
 * were sent twice. */
#define TRIES_MAX 8

/* Most hours that are compared and published together. */
#define HOURS_MAX 24

struct hour {
	struct stale what;
	uint64_t attempt;
	struct hour_counts n;
	/* Rows that are 'repeated', counted after computing. */
	uint64_t repeated;
	uint64_t no_clicks; /* 'repeated' events under the attempt */
	uint64_t rest; /* values staged as one row, by dimension and slot */
	/* 1: values may lack clicks from before they became busy. */
	uint64_t provisional;
	bool held;
};

/* Hours that are being settled, and the parameters that their statements may
 * name. */
struct hours_work {
	const struct settling *s;
	const struct progress *last;
	struct hour items[HOURS_MAX];
	size_t count;
	/* Since when their attempts are in use, see struct picked. */
	int64_t since;
	uint64_t dropped; /* number of the drop of their day; 0: none */
	struct settle_rows rows;
	/* of the one hour that is settled by what arrived */
	struct open_plan plan;
	struct buf lists[6];
	char numbers[9][24];
	struct clickhouse_param params[26];
};

static void work_free(struct hours_work *w)
{
	for (size_t i = 0; i < sizeof(w->lists) / sizeof(*w->lists); i++)
		buf_free(&w->lists[i]);
}

/* Writes one member of `count` hours as an array: "[1,2]". */
static void put_list(struct buf *list, const struct hour *hours, size_t count,
		     uint64_t (*member)(const struct hour *h))
{
	buf_reset(list);
	buf_putc(list, '[');
	for (size_t i = 0; i < count; i++)
		buf_printf(list, "%s%" PRIu64, i ? "," : "", member(&hours[i]));
	buf_putc(list, ']');
}

static uint64_t start_of(const struct hour *h)
{
	return (uint64_t)h->what.start;
}

static uint64_t attempt_of(const struct hour *h)
{
	return h->attempt;
}

static uint64_t blocks_of(const struct hour *h)
{
	return h->what.blocks;
}

static uint64_t rows_of(const struct hour *h)
{
	return h->what.rows;
}

static uint64_t staged_of(const struct hour *h)
{
	return h->n.staged;
}

static uint64_t provisional_of(const struct hour *h)
{
	return h->provisional;
}

static void add_param(struct hours_work *w, size_t *at, const char *name,
		      const char *value)
{
	w->params[(*at)++] = (struct clickhouse_param){name, value};
	w->params[*at] = (struct clickhouse_param){NULL, NULL};
}

/* Fills w->params for statements about `count` hours from `first` on. */
static int set_params(struct hours_work *w, const struct hour *first,
		      size_t count, struct error *err)
{
	static uint64_t (*const members[])(const struct hour *h) = {
		start_of, attempt_of, blocks_of,
		rows_of,  staged_of,  provisional_of};
	static const char *const names[] = {
		"param_hours", "param_attempts", "param_blocks",
		"param_rows",  "param_counts",	 "param_provisional"};
	static const char *const number_names[] = {
		"param_start", "param_end",	   "param_attempt",
		"param_most",  "param_read_until", "param_complete_until",
		"param_until", "param_dropped",	   "param_base"};
	const struct picked picked = {first->attempt, w->since};
	const int64_t numbers[] = {
		first->what.start,
		first[count - 1].what.start + HOUR,
		(int64_t)first->attempt,
		w->s->settings->values_max,
		w->last->read_until,
		w->last->complete_until,
		settling_picked_until(w->s, &picked),
		(int64_t)w->dropped,
		(int64_t)w->plan.base,
	};
	size_t n = 0;

	add_param(w, &n, "join_use_nulls", "0");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		put_list(&w->lists[i], first, count, members[i]);
		add_param(w, &n, names[i], buf_cstr(&w->lists[i]));
		if (!w->params[n - 1].value)
			return error_set_nomem(err);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		snprintf(w->numbers[i], sizeof(w->numbers[i]), "%" PRId64,
			 numbers[i]);
		add_param(w, &n, number_names[i], w->numbers[i]);
	}
	return 0;
}

/* --- counting --------------------------------------------------------------
 */

static struct hour *find_hour(struct hours_work *w, uint64_t start)
{
	for (size_t i = 0; i < w->count; i++)
		if (start_of(&w->items[i]) == start)
			return &w->items[i];
	return NULL;
}

static void take_least(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h)
		h->n.least = n[1];
}

static void take_most(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h) {
		h->n.most = n[1];
		h->repeated = n[2];
	}
}

static void take_no_clicks(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h)
		h->no_clicks = n[1];
}

static void take_staged(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h && h->attempt == n[1])
		h->n.staged = n[2];
}

static void take_before(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h)
		h->n.before = n[1];
}

static void take_base(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h)
		h->n.base = n[1];
}

static void take_rest(void *arg, const uint64_t *n)
{
	struct hour *h = find_hour(arg, n[0]);

	if (h)
		h->rest = n[1];
}

static int count_rows(struct hours_work *w,
		      void (*take)(void *, const uint64_t *), struct error *err)
{
	struct buf sql = {0};
	int status;

	settle_sql_hour_rows(&sql, &w->rows);
	status = buf_cstr(&sql) ? settling_query(w->s->ch, sql.data, w->params,
						 3, take, w, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int count_base(struct hours_work *w, struct error *err)
{
	return !w->dropped ? 0
			   : settling_query(w->s->ch, settle_sql_hour_base,
					    w->params, 2, take_base, w, err);
}

static int count_staged(struct hours_work *w, struct error *err)
{
	struct buf sql = {0};
	int status;

	settle_sql_hour_staged(&sql);
	status = buf_cstr(&sql) ? settling_query(w->s->ch, sql.data, w->params,
						 3, take_staged, w, err)
				: error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return -1;
	return settling_query(w->s->ch, settle_sql_hour_published, w->params, 2,
			      take_before, w, err);
}

/* --- computing -------------------------------------------------------------
 */

/* Returns how many of the hours, from the first on, fit into one statement. */
static size_t chunk_of(const struct hour *hours, size_t count)
{
	uint64_t rows = hours[0].what.rows;
	size_t n = 1;

	while (n < count && rows + hours[n].what.rows <= ROWS_AT_ONCE)
		rows += hours[n++].what.rows;
	return n;
}

/* The insert makes one part for each day. */
static int stage_hours(struct hours_work *w, const struct hour *first,
		       size_t count, struct error *err)
{
	struct buf sql = {0};
	size_t n = 0;
	int status;

	if (set_params(w, first, count, err) < 0)
		return -1;
	while (w->params[n].name)
		n++;
	add_param(w, &n, "min_insert_block_size_rows", "10000000");
	add_param(w, &n, "min_insert_block_size_bytes", SETTLING_BLOCK_BYTES);
	for (size_t i = 0; i < SETTLING_HOW_COUNT; i++)
		add_param(w, &n, settling_how[i].name, settling_how[i].value);
	settle_sql_hours(&sql, &w->rows);
	status = settling_run(w->s->ch, &sql, w->params, err);
	buf_free(&sql);
	return status;
}

static int compute_chunk(struct hours_work *w, struct hour *first, size_t count,
			 uint64_t *attempt, struct error *err)
{
	if (w->s->is_stopping(w->s->arg))
		return error_set_retriable(err, ERROR_STOPPED, "stopping");
	*attempt = settling_attempt_next(settling_now(w->s), *attempt);
	for (size_t i = 0; i < count; i++)
		first[i].attempt = *attempt;
	if (stage_hours(w, first, count, err) < 0)
		return error_wrap(err, "hour %" PRId64 " and %zu more",
				  first->what.start, count - 1);
	return 0;
}

/*
 * Each statement's attempt is greater than the one before.  The last hours are
 * left out when time is up, when the first would become too old, or when a
 * statement fails; but not the hours of the first statement.
 */
static int compute_hours(struct hours_work *w, int64_t until, struct error *err)
{
	int64_t old =
		clock_monotonic_ms() + w->s->settings->keep_superseded / 4;
	struct picked picked;
	size_t done = 0, n;

	if (settling_pick(w->s, w->last, &picked, err) < 0)
		return -1;
	w->since = picked.since;
	if (until > old)
		until = old;
	do {
		n = chunk_of(&w->items[done], w->count - done);
		if (compute_chunk(w, &w->items[done], n, &picked.attempt,
				  err) == 0) {
			done += n;
			continue;
		}
		if (!done || err->code == ERROR_STOPPED) {
			w->count = done + n;
			return -1;
		}
		break;
	} while (done < w->count && clock_monotonic_ms() < until);
	w->count = done;
	return 0;
}

/* --- comparing -------------------------------------------------------------
 */

static void decide_hour(const struct settling *s, struct hour *h)
{
	enum hour_decision decision =
		hour_counts_decide(&h->n, &h->what, s->allow_fewer);
	struct shortage shortage = {
		.held = decision == HOUR_HELD_BACK,
		.start = h->what.start,
		.before = h->n.before,
		.reported = h->what.rows,
		.rows = h->n.staged,
	};

	h->held = decision == HOUR_HELD_BACK;
	if (decision != HOUR_PUBLISHED)
		s->on_shortage(s->arg, &shortage);
}

/* Counts rows that were taken back, only for an hour that lacks rows. */
static int look_for_taken(struct hours_work *w, struct hour *h,
			  struct error *err)
{
	if (!hour_counts_miss_some(&h->n, &h->what))
		return 0;
	return taken_back_count(w->s->ch, h->what.start, h->what.start + HOUR,
				h->what.was_attempt, &h->n.taken, err);
}

/* The reports of an hour were read before it was computed.  If rows were taken
 * back, their reports may have been emptied since. */
static int check_reported(struct hours_work *w, const struct hour *h,
			  struct error *err)
{
	struct stale_list now;
	bool same = true;

	if (!h->n.taken.rows || !hour_counts_lack_rows(&h->n, &h->what))
		return 0;
	if (progress_hours_of(w->s->ch, h->what.start, h->what.start + HOUR,
			      &now, err) < 0)
		return -1;
	for (size_t i = 0; i < now.count; i++)
		same &= now.items[i].rows == h->what.rows &&
			now.items[i].blocks == h->what.blocks;
	stale_list_release(&now);
	return same ? 0
		    : error_set_retriable(err, ERROR_CONFLICT,
					  "rows of hour %" PRId64
					  " were taken back meanwhile; "
					  "computing it again",
					  h->what.start);
}

/* If the base attempt has not kept all values, an attempt that adds to it may
 * lack some clicks of a value. */
static int look_for_rest(struct hours_work *w, struct error *err)
{
	if (!w->plan.upto)
		return 0;
	if (settling_query(w->s->ch, settle_sql_hour_rest, w->params, 2,
			   take_rest, w, err) < 0)
		return -1;
	w->items[0].provisional = w->plan.base && w->plan.has_rest;
	return 0;
}

static void take_count(void *arg, const uint64_t *n)
{
	*(uint64_t *)arg = n[0];
}

/* Checks whether the day was dropped after the hours were listed: then rows may
 * be gone, or in the base as well. */
static int check_dropped(struct hours_work *w, struct error *err)
{
	uint64_t days = 0;

	if (settling_query(w->s->ch, settle_sql_hours_dropped, w->params, 1,
			   take_count, &days, err) < 0)
		return -1;
	return days ? settling_set_dropped(err) : 0;
}

static int compare_staged_hours(struct hours_work *w, struct error *err)
{
	if (set_params(w, w->items, w->count, err) < 0 ||
	    count_staged(w, err) < 0 || count_base(w, err) < 0 ||
	    count_rows(w, take_most, err) < 0 || look_for_rest(w, err) < 0 ||
	    check_dropped(w, err) < 0)
		return -1;
	for (size_t i = 0; i < w->count; i++) {
		if (hour_counts_check_staged(&w->items[i].n,
					     w->items[i].what.start, err) < 0 ||
		    look_for_taken(w, &w->items[i], err) < 0 ||
		    check_reported(w, &w->items[i], err) < 0)
			return -1;
		decide_hour(w->s, &w->items[i]);
	}
	return 0;
}

/* --- publishing ------------------------------------------------------------
 */

/* Moves hours that are held back to the end. */
static size_t sort_held(struct hours_work *w)
{
	struct hour held[HOURS_MAX] = {0};
	size_t kept = 0, aside = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (w->items[i].held)
			held[aside++] = w->items[i];
		else
			w->items[kept++] = w->items[i];
	}
	memcpy(&w->items[kept], held, aside * sizeof(*held));
	return kept;
}

static int publish_hours(struct hours_work *w, size_t count, struct error *err)
{
	struct buf sql = {0}, name = {0};
	uint64_t published = 0;
	size_t n = 0;
	int status;

	if (!count)
		return 0;
	if (set_params(w, w->items, count, err) < 0)
		return -1;
	clickhouse_escape(&name, w->s->settler, strlen(w->s->settler));
	while (w->params[n].name)
		n++;
	add_param(w, &n, "param_settler", buf_cstr(&name));
	settle_sql_publish_hours(&sql);
	status = w->params[n - 1].value
			 ? settling_run(w->s->ch, &sql, w->params, err)
			 : error_set_nomem(err);
	if (status == 0)
		status = settling_query(w->s->ch, settle_sql_hours_written,
					w->params, 1, take_count, &published,
					err);
	if (status == 0 && published != count)
		status = check_dropped(w, err);
	if (status == 0 && published != count)
		status = error_set(err, ERROR_PROTOCOL,
				   "%" PRIu64 " of %zu hours are what was "
				   "counted; computing them again",
				   published, count);
	buf_free(&name);
	buf_free(&sql);
	return status;
}

static int record_held(struct hours_work *w, size_t first, struct error *err)
{
	struct settled_row rows[HOURS_MAX];
	size_t count = 0;

	for (size_t i = first; i < w->count; i++)
		rows[count++] = (struct settled_row){SETTLED_HELD_HOUR,
						     w->items[i].what,
						     w->items[i].attempt};
	return count ? settling_insert(w->s, rows, count, w->last, err) : 0;
}

/* The first hour has the oldest attempt. */
static int check_age(const struct hours_work *w, struct error *err)
{
	const struct picked first = {w->items[0].attempt, w->since};

	return settling_check_age(w->s, &first, err);
}

/* Whether the hour stays stale until it is published.  Other hours are in the
 * list only because the command names them. */
static bool is_due(const struct stale *hour)
{
	return !hour->was || hour->rows > hour->was_rows;
}

/* Searches the rows of the hours for events that were sent twice; not for a day
 * that was dropped. */
static int find_repeats(struct hours_work *w, uint64_t *ret, struct error *err)
{
	int64_t due[HOURS_MAX];
	struct repeats_scope scope = {
		.from = w->items[0].what.start,
		.to = w->items[w->count - 1].what.start + HOUR,
		.due = due,
	};

	*ret = 0;
	if (w->dropped)
		return 0;
	for (size_t i = 0; i < w->count; i++)
		if (is_due(&w->items[i].what))
			due[scope.due_count++] = w->items[i].what.start;
	return repeats_mark(w->s, &scope, ret, err);
}

/* Another process may have found some meanwhile: then fewer events are staged
 * as 'repeated' than rows are now. */
static int count_repeats(struct hours_work *w, bool *ret_differ,
			 struct error *err)
{
	bool any = false;

	for (size_t i = 0; i < w->count; i++) {
		w->items[i].no_clicks = 0;
		any |= w->items[i].repeated > 0;
	}
	if (any && settling_query(w->s->ch, settle_sql_hour_repeated, w->params,
				  2, take_no_clicks, w, err) < 0)
		return -1;
	for (size_t i = 0; i < w->count; i++)
		*ret_differ |= w->items[i].no_clicks != w->items[i].repeated;
	return 0;
}

/* Searches for repeats again after staging, for rows that came meanwhile.
 * *ret_again: the staged events include rows that are no longer clicks. */
static int stage_and_compare(struct hours_work *w, int64_t until,
			     bool *ret_again, struct error *err)
{
	uint64_t marked;

	/* Each try begins with counts of zero. */
	for (size_t i = 0; i < w->count; i++) {
		w->items[i].n = (struct hour_counts){0};
		w->items[i].repeated = 0;
	}
	if (set_params(w, w->items, w->count, err) < 0 ||
	    count_rows(w, take_least, err) < 0 ||
	    compute_hours(w, until, err) < 0 ||
	    find_repeats(w, &marked, err) < 0 ||
	    compare_staged_hours(w, err) < 0)
		return -1;
	*ret_again = marked > 0;
	return w->dropped ? 0 : count_repeats(w, ret_again, err);
}

static int set_unsettled(struct error *err)
{
	return error_set_retriable(err, ERROR_CONFLICT,
				   "events that were sent twice turn up again "
				   "and again");
}

static int publish_kept(struct hours_work *w, struct settle_count *ret,
			struct error *err)
{
	size_t kept;

	if (w->s->check_lease(w->s->arg, err) < 0 || check_age(w, err) < 0)
		return -1;
	kept = sort_held(w);
	if (publish_hours(w, kept, err) < 0 || record_held(w, kept, err) < 0)
		return -1;
	*ret = (struct settle_count){.done = w->count, .published = kept};
	return 0;
}

/*
 * If events that were sent twice turn up while hours are computed, the hours
 * are computed again without the repeats: counts have to reflect them from the
 * moment they are found, and more may come.
 */
static int settle_whole_hours(struct hours_work *w, int64_t until,
			      struct settle_count *ret, struct error *err)
{
	bool again = true;
	uint64_t marked;

	if (find_repeats(w, &marked, err) < 0)
		return -1;
	for (int i = 0; again && i < TRIES_MAX; i++)
		if (stage_and_compare(w, until, &again, err) < 0)
			return -1;
	return again ? set_unsettled(err) : publish_kept(w, ret, err);
}

/* Plans the source of one hour: rows that arrived (1), or all of its rows if
 * that is not possible (0); -1: failed. */
static int plan_hour_source(struct hours_work *w, struct open_hours *open,
			    struct error *err)
{
	struct hour *h = &w->items[0];
	int planned = open_hours_plan(open, w->s, &h->what, &w->plan, err);

	w->rows = (struct settle_rows){0};
	if (planned > 0) {
		h->what = w->plan.what;
		w->rows.upto = w->plan.upto;
		w->rows.added = w->plan.added;
		w->rows.based = w->plan.base > 0;
	} else {
		w->plan = (struct open_plan){0};
	}
	return planned;
}

/* If events were sent twice, the base attempt counts some of their rows as
 * clicks, too: then the hour is settled without a base. */
static int settle_open(struct hours_work *w, struct open_hours *open,
		       struct settle_count *ret, struct error *err)
{
	int64_t start = w->items[0].what.start;
	uint64_t marked = 0;
	int planned = 0, status = find_repeats(w, &marked, err);
	bool again = true;

	for (int i = 0; status == 0 && again && i < TRIES_MAX; i++) {
		if (i || marked)
			open_hours_forget(open, start);
		planned = plan_hour_source(w, open, err);
		status =
			planned < 0 ? -1 : stage_and_compare(w, 0, &again, err);
	}
	if (status == 0)
		status = again ? set_unsettled(err) : publish_kept(w, ret, err);
	if (status < 0) {
		open_hours_forget(open, start);
		return -1;
	}
	ret->added = planned > 0 && w->rows.based && ret->published;
	if (planned > 0 && ret->published)
		open_hours_published(open, w->items[0].attempt,
				     w->items[0].rest > 0);
	else
		open_hours_forget(open, start);
	return 0;
}

/* Whether the next hour is settled together with the hours before it. */
static bool goes_with(const struct hours_work *w, const struct stale *hour,
		      const struct open_hours *open)
{
	/* A drop concerns one day. */
	return w->count < HOURS_MAX && hour->dropped == w->dropped &&
	       !(open && open_hours_takes(w->s, hour));
}

int hours_settle(const struct settling *s, const struct stale *hours,
		 size_t count, int64_t until, struct open_hours *open,
		 const struct progress *last, struct settle_count *ret,
		 struct error *err)
{
	struct hours_work w = {.s = s, .last = last};
	int status;

	*ret = (struct settle_count){0};
	if (!count)
		return 0;
	w.dropped = hours[0].dropped;
	w.rows.dropped = w.dropped > 0;
	w.items[w.count++].what = hours[0];
	if (open && open_hours_takes(s, &hours[0])) {
		status = settle_open(&w, open, ret, err);
	} else {
		for (; w.count < count && goes_with(&w, &hours[w.count], open);
		     w.count++)
			w.items[w.count].what = hours[w.count];
		status = settle_whole_hours(&w, until, ret, err);
	}
	ret->done = w.count;
	work_free(&w);
	return status < 0 ? error_wrap(err, "settle hours") : 0;
}
