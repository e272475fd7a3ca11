#include "aggregator/settle/day_settlement.h"

#include <inttypes.h>

#include "aggregator/settle/day_counts.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/settle/taken_back.h"
#include "aggregator/zone/civil.h"

/*
 * A day that is being settled, and the parameters that its statements may name.
 */
struct days_work {
	const struct settling *s;
	const struct stale *what;
	struct picked picked;
	struct day_counts n;
	struct settling_params params;
};

static int set_params(struct days_work *w, const struct progress *last,
		      struct error *err)
{
	static const char *const names[] = {
		"param_start",	"param_end",	    "param_attempt",
		"param_blocks", "param_rows",	    "param_slots",
		"param_visits", "param_read_until", "param_complete_until",
		"param_until",	"param_dropped"};
	const uint64_t numbers[] = {
		(uint64_t)w->what->start,
		(uint64_t)(w->what->start + CIVIL_DAY),
		w->picked.attempt,
		w->what->blocks,
		w->what->rows,
		w->n.staged.slots,
		w->n.staged.visits,
		(uint64_t)last->read_until,
		(uint64_t)last->complete_until,
		(uint64_t)settling_picked_until(w->s, &w->picked),
		w->what->dropped,
	};

	return settling_params_fill(&w->params, w->s, names, numbers,
				    sizeof(names) / sizeof(*names), err);
}

/* --- counting --------------------------------------------------------------
 */

static void take_rows(void *arg, const uint64_t *n)
{
	struct days_work *w = arg;

	w->n.all = n[0];
	w->n.of_links = n[1];
	w->n.hours = n[2];
	w->n.repeated = n[3];
}

static void take_staged(void *arg, const uint64_t *n)
{
	struct days_work *w = arg;

	w->n.staged = (struct link_events){n[0], n[1]};
	w->n.before = (struct link_events){n[2], n[3]};
}

static void take_flag(void *arg, const uint64_t *n)
{
	*(bool *)arg = n[0] > 0;
}

static int query_day_numbers(struct days_work *w, const char *sql, size_t count,
			     void (*take)(void *arg, const uint64_t *numbers),
			     void *arg, struct error *err)
{
	return settling_query(w->s->ch, sql, w->params.items, count, take, arg,
			      err);
}

static int count_rows(struct days_work *w, struct error *err)
{
	return query_day_numbers(w,
				 w->what->dropped ? settle_sql_dropped_day_rows
						  : settle_sql_day_rows,
				 4, take_rows, w, err);
}

/* Checks whether the day was dropped after it was listed: then rows may be
 * gone, or in the base as well. */
static int check_dropped(struct days_work *w, struct error *err)
{
	bool dropped = false;

	if (query_day_numbers(w, settle_sql_day_dropped, 1, take_flag, &dropped,
			      err) < 0)
		return -1;
	return dropped ? settling_set_dropped(err) : 0;
}

/* --- computing -------------------------------------------------------------
 */

static int compute_link_tables(struct days_work *w,
			       const char *const statements[2],
			       struct error *err)
{
	/* GROUP BY follows the order of `clicks` for one of the two tables
	 * only; for the other, optimize_aggregation_in_order made it 30 times
	 * slower. */
	static const char *const in_order[] = {"0", "1"};
	struct clickhouse_param params[24];
	struct buf sql = {0};
	size_t n = 0;
	int status = 0;

	for (; w->params.items[n].name; n++)
		params[n] = w->params.items[n];
	params[n + 1] = (struct clickhouse_param){NULL, NULL};
	for (size_t i = 0; status == 0 && i < 2; i++) {
		params[n] = (struct clickhouse_param){
			"optimize_aggregation_in_order", in_order[i]};
		buf_puts(&sql, statements[i]);
		status = w->s->is_stopping(w->s->arg)
				 ? error_set_retriable(err, ERROR_STOPPED,
						       "stopping")
				 : settling_run(w->s->ch, &sql, params, err);
	}
	buf_free(&sql);
	return status;
}

/* ERROR_CONFLICT if rows became, or are about to become, repeats while the day
 * was computed: its hours have to be settled first. */
static int check_repeats(struct days_work *w, uint64_t before,
			 struct error *err)
{
	const struct repeats_scope scope = {.from = w->what->start,
					    .to = w->what->start + CIVIL_DAY};
	uint64_t rows = 0;

	if (!w->what->dropped && repeats_mark(w->s, &scope, &rows, err) < 0)
		return -1;
	if (!rows && w->n.repeated == before)
		return 0;
	return error_set_retriable(err, ERROR_CONFLICT,
				   "events of it turned out to be sent twice; "
				   "computing it again");
}

/* Stages the day from the rows of `clicks`. */
static int stage_rows(struct days_work *w, struct error *err)
{
	static const char *const of_rows[2] = {settle_sql_link_slots,
					       settle_sql_link_days};
	static const char *const of_dropped[2] = {settle_sql_dropped_slots,
						  settle_sql_dropped_days};
	uint64_t least = w->n.of_links, repeated = w->n.repeated;

	if (compute_link_tables(w, w->what->dropped ? of_dropped : of_rows,
				err) < 0 ||
	    query_day_numbers(w, settle_sql_day_staged, 4, take_staged, w,
			      err) < 0 ||
	    count_rows(w, err) < 0 || check_dropped(w, err) < 0 ||
	    check_repeats(w, repeated, err) < 0)
		return -1;
	return day_counts_check_staged(&w->n, least, w->n.of_links, err);
}

/* --- publishing ------------------------------------------------------------
 */

static int publish_in_turn(struct days_work *w, const struct progress *last,
			   struct error *err)
{
	struct buf sql = {0};
	bool written = false;
	int status = -1;

	if (set_params(w, last, err) < 0 ||
	    w->s->check_lease(w->s->arg, err) < 0 ||
	    settling_check_age(w->s, &w->picked, err) < 0)
		return -1;
	buf_puts(&sql, settle_sql_publish_day);
	if (settling_run(w->s->ch, &sql, w->params.items, err) == 0)
		status = query_day_numbers(w, settle_sql_day_written, 1,
					   take_flag, &written, err);
	if (status == 0 && !written)
		status = check_dropped(w, err);
	if (status == 0 && !written)
		status = error_set(err, ERROR_PROTOCOL,
				   "it is not what was counted; computing it "
				   "again");
	buf_free(&sql);
	return status;
}

static int publish_day(struct days_work *w, const struct progress *last,
		       struct error *err)
{
	int status;

	settling_take_turn(w->s);
	status = publish_in_turn(w, last, err);
	settling_end_turn(w->s);
	return status;
}

static int hold_back(struct days_work *w, const struct progress *last,
		     struct error *err)
{
	const struct settled_row row = {SETTLED_HELD_DAY, *w->what,
					w->picked.attempt};

	if (w->s->check_lease(w->s->arg, err) < 0)
		return -1;
	return settling_insert(w->s, &row, 1, last, err);
}

/* Reports no shortage of a day whose rows are gone because it was dropped. */
static int report_shortage(struct days_work *w, uint64_t before, uint64_t rows,
			   struct error *err)
{
	const struct shortage shortage = {true,		  !w->s->allow_fewer,
					  w->what->start, before,
					  w->what->rows,  rows};

	if (check_dropped(w, err) < 0)
		return -1;
	w->s->on_shortage(w->s->arg, &shortage);
	return 0;
}

static int look_for_taken(struct days_work *w, struct error *err)
{
	return taken_back_count(w->s->ch, w->what->start,
				w->what->start + CIVIL_DAY,
				w->what->was_attempt, &w->n.taken, err);
}

/*
 * Called when the hours have more events than there are rows.  *ret is true if
 * only rows that were taken back are missing, and the hours are about to be
 * settled without them: the day comes after these.  If no hour is about to be,
 * the hours were settled since the rows were counted.
 */
static int is_early(struct days_work *w, bool *ret, struct error *err)
{
	uint64_t stale = 0;

	*ret = false;
	if (look_for_taken(w, err) < 0)
		return -1;
	if (day_counts_lack_more(&w->n))
		return 0;
	if (!w->n.taken.going &&
	    progress_count_stale(w->s->ch, w->what->start,
				 w->what->start + CIVIL_DAY, &stale, err) < 0)
		return -1;
	*ret = w->n.taken.going || stale;
	return *ret ? 0 : count_rows(w, err);
}

/* *ret_stays: nothing is published now. */
static int compare_hours(struct days_work *w, const struct progress *last,
			 bool *ret_stays, struct error *err)
{
	bool early;

	*ret_stays = false;
	if (!day_counts_lack_rows(&w->n))
		return 0;
	if (is_early(w, &early, err) < 0)
		return -1;
	if (!early && !day_counts_lack_rows(&w->n))
		return 0;
	if (!early && report_shortage(w, w->n.hours, w->n.all, err) < 0)
		return -1;
	*ret_stays = !w->s->allow_fewer;
	return *ret_stays && !early ? hold_back(w, last, err) : 0;
}

static int settle_day(struct days_work *w, const struct progress *last,
		      struct settle_count *ret, struct error *err)
{
	bool stays;

	ret->done = 1;
	if (count_rows(w, err) < 0 || compare_hours(w, last, &stays, err) < 0)
		return -1;
	if (stays)
		return 0;
	if (stage_rows(w, err) < 0)
		return -1;
	if (day_counts_have_fewer(&w->n) && look_for_taken(w, err) < 0)
		return -1;
	if (day_counts_have_fewer(&w->n)) {
		if (report_shortage(w, w->n.before.slots, w->n.staged.slots,
				    err) < 0)
			return -1;
		if (!w->s->allow_fewer)
			return hold_back(w, last, err);
	}
	if (publish_day(w, last, err) < 0)
		return -1;
	ret->published = 1;
	return 0;
}

int days_settle(const struct settling *s, const struct stale *day,
		const struct progress *last, struct settle_count *ret,
		struct error *err)
{
	struct days_work w = {
		.s = s,
		.what = day,
	};
	int status;

	*ret = (struct settle_count){0};
	status = settling_pick_day(s, last, &w.picked, err);
	if (status == 0)
		status = set_params(&w, last, err);
	if (status == 0)
		status = settle_day(&w, last, ret, err);
	settling_params_release(&w.params);
	return status < 0 ? error_wrap(err, "settle day %" PRId64, day->start)
			  : 0;
}
