#include "aggregator/forget/forget_days.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/forget/forget_sql.h"
#include "common/clickhouse/rows.h"
#include "schemas/ingest_progress.h"

enum {
	POLL_MS = 250,
};

/* A list makes long statements; who asks for a change waits until all replicas
 * have it. */
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

static int find(const struct settling *s, const struct forget_list *list,
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
		     struct forget_days *ret, struct error *err)
{
	struct finding finding = {.days = ret};

	*ret = (struct forget_days){0};
	if (find(s, list, &finding, err) == 0) {
		finding.dropped = true;
		if (find(s, list, &finding, err) == 0)
			return 0;
	}
	forget_days_release(ret);
	return error_wrap(err, "find");
}

/* --- the journal ------------------------------------------------------------
 */

struct run {
	const struct settling *s;
	struct buf host;
	char day[24], number[24], rows[24];
	struct clickhouse_param params[8];
};

static int run_open(struct run *r, const struct settling *s,
		    const struct forget_day *day, struct error *err)
{
	uint64_t number;

	randombytes_buf(&number, sizeof(number));
	*r = (struct run){.s = s};
	snprintf(r->day, sizeof(r->day), "%" PRId64, day->start);
	snprintf(r->number, sizeof(r->number), "%" PRIu64, number);
	snprintf(r->rows, sizeof(r->rows), "%" PRIu64, day->rows);
	clickhouse_escape(&r->host, s->settler, strlen(s->settler));
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

static int say(struct run *r, const char *sql, struct error *err)
{
	return clickhouse_query(r->s->ch, sql, r->params, NULL, err);
}

/* None of these has to be there once only: see collector/tools/rescore. */
static int begin(struct run *r, struct error *err)
{
	return say(
		r,
		"INSERT INTO rescored (day, run, state, rules, rows, hours, "
		"at, host) SELECT toDate(toDateTime({start:UInt32}, 'UTC')), "
		"{run:UInt64}, 'begun', 0, {rows:UInt64}, "
		"{hours:Array(UInt32)}, now64(3, 'UTC'), {host:String}",
		err);
}

#define SQL_REPORT(hours, host)                                                \
	"INSERT INTO ingest_progress (epoch, topic, partition, partitions, "   \
	"first, last, rows, dead_lettered, hours, append_time, collector) "    \
	"SELECT 0, '" PROGRESS_TOPIC_RESCORE                                   \
	"', 0, 0, 1, 0, 0, 0, mapFromArrays(" hours                            \
	", arrayMap(h -> toUInt64(0), " hours ")), now64(3, 'UTC'), " host

static int end(struct run *r, struct error *err)
{
	if (say(r, SQL_REPORT("{hours:Array(UInt32)}", "{host:String}"), err) <
	    0)
		return -1;
	return say(
		r,
		"INSERT INTO rescored (day, run, state, rules, rows, hours, "
		"at, host) SELECT toDate(toDateTime({start:UInt32}, 'UTC')), "
		"{run:UInt64}, 'done', 0, {rows:UInt64}, "
		"{hours:Array(UInt32)}, now64(3, 'UTC'), {host:String}",
		err);
}

/* --- a day ------------------------------------------------------------------
 */

static int change(const struct settling *s, struct buf *sql, struct error *err)
{
	if (s->is_stopping(s->arg)) {
		buf_reset(sql);
		return error_set_retriable(err, ERROR_STOPPED,
					   "stopped; run it again to finish");
	}
	return settling_run(s->ch, sql, changing, err);
}

static int change_counts(const struct settling *s,
			 const struct forget_list *list,
			 const struct forget_day *day, struct error *err)
{
	/* The sealed slots last: by them the day is found again. */
	static void (*const statements[])(struct buf * sql,
					  const struct forget_list *list,
					  const char *hours) = {
		forget_sql_states, forget_sql_rollups, forget_sql_owner_slots,
		forget_sql_sealed_slots};
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0;
	     status == 0 && i < sizeof(statements) / sizeof(*statements); i++) {
		statements[i](&sql, list, day->hours.data);
		status = change(s, &sql, err);
	}
	buf_free(&sql);
	return status;
}

static int change_rows(const struct settling *s, const struct forget_list *list,
		       const struct forget_day *day, struct error *err)
{
	struct buf sql = {0};
	int status;

	forget_sql_clicks(&sql, list, day->start);
	status = change(s, &sql, err);
	buf_free(&sql);
	return status;
}

int forget_day_run(const struct settling *s, const struct forget_list *list,
		   const struct forget_day *day, struct error *err)
{
	struct run run;
	int status = run_open(&run, s, day, err);

	if (status == 0)
		status = begin(&run, err);
	if (status == 0)
		status = day->dropped ? change_counts(s, list, day, err)
				      : change_rows(s, list, day, err);
	if (status == 0)
		status = end(&run, err);
	buf_free(&run.host);
	return status;
}

/* --- runs before ------------------------------------------------------------
 */

#define SQL_UNFINISHED                                                         \
	"FROM rescored WHERE state = 'begun' AND rules = 0 AND run NOT IN "    \
	"(SELECT run FROM rescored WHERE state = 'done') "

/* What such a run sent may still be under way. */
static int wait_for_changes(const struct settling *s, struct app *app,
			    struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM system.mutations WHERE database = "
		"currentDatabase() AND table = 'clicks' AND NOT is_done AND "
		"latest_fail_reason = '' AND "
		"position(command, 'unique_identity = ') > 0 "
		"FORMAT TabSeparated";
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

int forget_days_resume(const struct settling *s, struct app *app, uint64_t *ret,
		       struct error *err)
{
	struct forget_day none = {.start = 0};
	struct run run;
	int status;

	buf_puts(&none.hours, "[]");
	status = run_open(&run, s, &none, err);
	if (status == 0)
		status = clickhouse_numbers(
			s->ch,
			"SELECT uniqExact(run) " SQL_UNFINISHED
			"FORMAT TabSeparated",
			NULL, ret, 1, err);
	if (status == 0 && *ret)
		status = wait_for_changes(s, app, err);
	if (status == 0 && *ret)
		status = say(&run,
			     SQL_REPORT("assumeNotNull(arrayDistinct(hs))",
					"{host:String} FROM (SELECT "
					"groupUniqArrayArray(hours) AS "
					"hs " SQL_UNFINISHED ")"),
			     err);
	if (status == 0 && *ret)
		status = say(&run,
			     "INSERT INTO rescored (day, run, state, rules, "
			     "rows, hours, at, host) SELECT day, run, 'done', "
			     "0, rows, hours, now64(3, 'UTC'), "
			     "{host:String} " SQL_UNFINISHED,
			     err);
	buf_free(&run.host);
	buf_free(&none.hours);
	return status < 0 ? error_wrap(err, "runs before") : 0;
}
