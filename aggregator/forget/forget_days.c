#include "aggregator/forget/forget_days.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/forget/forget_sql.h"
#include "aggregator/forget/process_name.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "schemas/ingest_progress.h"

enum {
	POLL_MS = 250,
};

/* Settings: a list makes long statements; a statement that changes data waits
 * until all replicas have the change. */
static const struct clickhouse_param asking[] = {
	{"max_query_size", "16777216"},
	{"max_ast_elements", "1000000"},
	{"max_expanded_ast_elements", "1000000"},
	{NULL, NULL}};
static const struct clickhouse_param changing[] = {
	{"max_query_size", "16777216"},
	{"max_ast_elements", "1000000"},
	{"max_expanded_ast_elements", "1000000"},
	{"mutations_sync", "2"},
	{NULL, NULL}};

void forget_days_release(struct forget_days *days)
{
	for (size_t i = 0; i < days->count; i++)
		buf_free(&days->items[i].hours);
	free(days->items);
	*days = (struct forget_days){0};
}

/* --- finding ----------------------------------------------------------------
 */

struct finding {
	struct forget_days *days;
	bool dropped;
};

/* A row is: start of the day, rows, "[hours]". */
static int take_day(void *arg, char **f, struct error *err)
{
	const struct finding *finding = arg;
	struct forget_days *days = finding->days;
	struct forget_day *grown =
		reallocarray(days->items, days->count + 1, sizeof(*grown));

	if (!grown)
		return error_set_nomem(err);
	days->items = grown;
	grown += days->count++;
	*grown = (struct forget_day){.start = tsv_i64(f[0]),
				     .rows = tsv_u64(f[1]),
				     .dropped = finding->dropped};
	buf_puts(&grown->hours, f[2]);
	return buf_cstr(&grown->hours) ? 0 : error_set_nomem(err);
}

static int query_days_to_forget(const struct settling *s,
				const struct forget_list *list,
				struct finding *finding, struct error *err)
{
	struct buf sql = {0};
	int status;

	forget_sql_find(&sql, list, finding->dropped);
	status = buf_cstr(&sql) ? clickhouse_rows(s->ch, sql.data, asking,
						  "nns", take_day, finding, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int forget_days_find(const struct settling *s, const struct forget_list *list,
		     bool dropped, struct forget_days *ret, struct error *err)
{
	struct finding finding = {.days = ret, .dropped = dropped};

	*ret = (struct forget_days){0};
	if (query_days_to_forget(s, list, &finding, err) == 0)
		return 0;
	forget_days_release(ret);
	return error_wrap(err, "find");
}

/* --- the journal ------------------------------------------------------------
 */

struct forget_run {
	const struct settling *s;
	struct buf host;
	char day[24], number[24], rows[24];
	struct clickhouse_param params[8];
};

static int run_open(struct forget_run *r, const struct settling *s,
		    const struct forget_day *day, uint64_t number,
		    struct error *err)
{
	char name[PROCESS_NAME_MAX];

	*r = (struct forget_run){.s = s};
	snprintf(r->day, sizeof(r->day), "%" PRId64, day->start);
	snprintf(r->number, sizeof(r->number), "%" PRIu64, number);
	snprintf(r->rows, sizeof(r->rows), "%" PRIu64, day->rows);
	process_name("forget", name);
	clickhouse_escape(&r->host, name, strlen(name));
	if (!buf_cstr(&r->host))
		return error_set_nomem(err);
	r->params[0] = (struct clickhouse_param){"param_start", r->day};
	r->params[1] = (struct clickhouse_param){"param_run", r->number};
	r->params[2] = (struct clickhouse_param){"param_rows", r->rows};
	r->params[3] =
		(struct clickhouse_param){"param_hours", day->hours.data};
	r->params[4] = (struct clickhouse_param){"param_host", r->host.data};
	r->params[5] = (struct clickhouse_param){"max_insert_threads", "1"};
	r->params[6] = (struct clickhouse_param){NULL, NULL};
	return 0;
}

static int insert_run_rows(struct forget_run *r, const char *sql,
			   struct error *err)
{
	return clickhouse_query(r->s->ch, sql, r->params, NULL, err);
}

/* Inserts a row about the run.  It may be inserted twice: see
 * collector/tools/rescore. */
static int insert_run(struct forget_run *r, const char *state,
		      struct error *err)
{
	static const char text[] =
#include "aggregator/sql/forget_run.sql.inc"
		;
	const struct statement_blank blanks[] = {{"state", state},
						 {NULL, NULL}};
	struct buf sql = {0};
	int status;

	statement_put(&sql, text, blanks);
	status = buf_cstr(&sql) ? insert_run_rows(r, sql.data, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int begin_run(struct forget_run *r, struct error *err)
{
	return insert_run(r, "begun", err);
}

static int report_rescored_hours(struct forget_run *r, struct error *err)
{
	return insert_run_rows(
		r, PROGRESS_REPORT_RESCORED(PROGRESS_PLACES_BEYOND_DROPPED),
		err);
}

static int end_run(struct forget_run *r, struct error *err)
{
	if (report_rescored_hours(r, err) < 0)
		return -1;
	return insert_run(r, "done", err);
}

/* --- a day ------------------------------------------------------------------
 */

static int run_change_statement(const struct settling *s, struct buf *sql,
				struct error *err)
{
	if (s->is_stopping(s->arg)) {
		buf_reset(sql);
		return error_set_retriable(err, ERROR_STOPPED,
					   "stopped; run it again to finish");
	}
	return settling_run(s->ch, sql, changing, err);
}

static int change_table(const struct settling *s,
			const struct forget_list *list,
			const struct forget_day *day,
			const struct derived_table *table, struct error *err)
{
	struct buf sql = {0};
	int status;

	forget_sql_table(&sql, table, list, day->start, day->hours.data);
	status = run_change_statement(s, &sql, err);
	buf_free(&sql);
	return status;
}

/* The sealed slots come last, because the day is found again by them. */
static int change_counts(const struct settling *s,
			 const struct forget_list *list,
			 const struct forget_day *day, struct error *err)
{
	const struct derived_table *t, *last = NULL;
	struct derived_walk walk = {0};
	int status = 0;

	while (status == 0 && (t = derived_walk_next(&walk))) {
		if (t->visitors == VISITORS_IN_LINK_SETS)
			last = t;
		else if (t->visitors != VISITORS_NONE)
			status = change_table(s, list, day, t, err);
	}
	if (status == 0 && last)
		status = change_table(s, list, day, last, err);
	return status;
}

static int change_rows(const struct settling *s, const struct forget_list *list,
		       const struct forget_day *day, struct error *err)
{
	struct buf sql = {0};
	int status;

	forget_sql_clicks(&sql, list, day->start);
	status = run_change_statement(s, &sql, err);
	buf_free(&sql);
	return status;
}

int forget_day_run(const struct settling *s, const struct forget_list *list,
		   const struct forget_day *day, struct error *err)
{
	struct forget_run run;
	uint64_t number;
	int status;

	randombytes_buf(&number, sizeof(number));
	status = run_open(&run, s, day, number, err);
	if (status == 0)
		status = begin_run(&run, err);
	if (status == 0)
		status = day->dropped ? change_counts(s, list, day, err)
				      : change_rows(s, list, day, err);
	if (status == 0)
		status = end_run(&run, err);
	buf_free(&run.host);
	return status;
}

/* --- earlier runs ----------------------------------------------------------
 *
 * Normally the process that began a run ends it. Another process does so only
 * if the run has stopped: its process is gone, or it began longer ago than its
 * statements can take together.
 */

struct begun {
	uint64_t number;
	struct forget_day day;
};

struct begun_list {
	const struct settling *s;
	struct begun *items; /* runs that have stopped */
	size_t count;
	uint64_t going; /* number of the others */
};

static void begun_release(struct begun_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		buf_free(&list->items[i].day.hours);
	free(list->items);
	*list = (struct begun_list){0};
}

/* A row is: run, start of its day, rows, "[hours]", process, whether it is
 * old. */
static int take_begun(void *arg, char **f, struct error *err)
{
	struct begun_list *list = arg;
	struct begun *grown;

	if (!tsv_u64(f[5]) && !process_is_gone(f[4])) {
		list->going++;
		return 0;
	}
	grown = reallocarray(list->items, list->count + 1, sizeof(*grown));
	if (!grown)
		return error_set_nomem(err);
	list->items = grown;
	grown += list->count++;
	*grown = (struct begun){
		.number = tsv_u64(f[0]),
		.day = {.start = tsv_i64(f[1]), .rows = tsv_u64(f[2])}};
	buf_puts(&grown->day.hours, f[3]);
	return buf_cstr(&grown->day.hours) ? 0 : error_set_nomem(err);
}

static int read_begun(struct begun_list *list, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forget_runs_begun.sql.inc"
		;
	char longest[24];
	const struct clickhouse_param params[] = {{"param_longest", longest},
						  {NULL, NULL}};

	snprintf(longest, sizeof(longest), "%" PRId64,
		 FORGET_DAYS_STATEMENTS_MAX *
			 list->s->settings->settle_timeout);
	return clickhouse_rows(list->s->ch, sql, params, "nnnssn", take_begun,
			       list, err);
}

/* Changes that such a run sent may still be running. */
static int wait_for_changes(const struct settling *s, struct app *app,
			    struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forget_mutations.sql.inc"
		;
	uint64_t running;

	for (;;) {
		if (clickhouse_numbers(s->ch, sql, NULL, &running, 1, err) < 0)
			return -1;
		if (!running)
			return 0;
		if (app_should_stop(app, POLL_MS))
			return error_set_retriable(err, ERROR_STOPPED,
						   "stopped");
	}
}

static int end_begun(const struct settling *s, const struct begun *begun,
		     struct error *err)
{
	struct forget_run run;
	int status = run_open(&run, s, &begun->day, begun->number, err);

	if (status == 0)
		status = end_run(&run, err);
	buf_free(&run.host);
	return status;
}

int forget_days_resume(const struct settling *s, struct app *app,
		       struct forget_resumed *ret, struct error *err)
{
	struct begun_list list = {.s = s};
	int status = read_begun(&list, err);

	if (status == 0 && list.count)
		status = wait_for_changes(s, app, err);
	for (size_t i = 0; status == 0 && i < list.count; i++)
		status = end_begun(s, &list.items[i], err);
	*ret = (struct forget_resumed){list.count, list.going};
	begun_release(&list);
	return status < 0 ? error_wrap(err, "runs before") : 0;
}
