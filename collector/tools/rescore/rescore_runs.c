#include "collector/tools/rescore/rescore_runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "schemas/ingest_progress.h"

static void add_hour(struct rescore_hours *h, uint32_t start)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->start[i] == start)
			return;
	if (h->count < sizeof(h->start) / sizeof(*h->start))
		h->start[h->count++] = start;
}

void rescore_hours_read(struct rescore_hours *h, const char *list)
{
	char *end;
	unsigned long start;

	while (*list) {
		start = strtoul(list, &end, 10);
		if (end == list) {
			list++;
			continue;
		}
		add_hour(h, (uint32_t)start);
		list = end;
	}
}

/* Runs a statement, and frees it.  Its parameters: host, account, owner,
 * hours. */
static int run_and_free_statement(struct rescore *rs, struct buf *sql,
				  const struct rescore_hours *h,
				  struct error *err)
{
	struct clickhouse_param params[] = {{"param_host", NULL},
					    {"param_account", NULL},
					    {"param_owner", NULL},
					    {"param_hours", NULL},
					    {NULL, NULL}};
	struct buf host = {0}, account = {0}, owner = {0}, hours = {0};
	int status = -1;

	clickhouse_escape(&host, rs->host, strlen(rs->host));
	if (rs->account)
		clickhouse_escape(&account, rs->account, strlen(rs->account));
	if (rs->owner)
		clickhouse_escape(&owner, rs->owner, strlen(rs->owner));
	buf_puts(&hours, "[");
	for (size_t i = 0; i < h->count; i++)
		buf_printf(&hours, "%s%" PRIu32, i ? "," : "", h->start[i]);
	buf_puts(&hours, "]");
	params[0].value = buf_cstr(&host);
	params[1].value = buf_cstr(&account);
	params[2].value = buf_cstr(&owner);
	params[3].value = buf_cstr(&hours);
	if (!params[0].value || !params[1].value || !params[2].value ||
	    !params[3].value || !buf_cstr(sql))
		error_set_nomem(err);
	else
		status = clickhouse_query(rs->ch, sql->data, params, NULL, err);
	buf_free(&host);
	buf_free(&account);
	buf_free(&owner);
	buf_free(&hours);
	buf_free(sql);
	return status;
}

#define UNFINISHED                                                             \
	"day = toDate(%" PRId64                                                \
	") AND state = 'begun' AND rules != 0 AND import = '' AND "            \
	"run NOT IN "                                                          \
	"(SELECT run FROM rescored WHERE day = toDate(%" PRId64                \
	") AND state = 'done')"

/* Adds a run to the list of runs whose hours are reported.  A run that begins
 * later ends itself. */
static void note_run(struct buf *runs, uint64_t run)
{
	buf_printf(runs, "%s%" PRIu64, runs->len ? "," : "", run);
}

struct unfinished {
	struct rescore *rs;
	struct rescore_hours *hours;
};

/* Returns whether runs over these names share no row. */
static bool names_differ(const char *name, const char *recorded)
{
	return name && *recorded && strcmp(name, recorded) != 0;
}

static int take_unfinished(void *arg, char **fields, struct error *err)
{
	const struct unfinished *u = arg;
	const char *account = u->rs->account, *owner = u->rs->owner;

	(void)err;
	if (names_differ(account, fields[2]) || names_differ(owner, fields[3]))
		return 0;
	note_run((account && !*fields[2]) || (owner && !*fields[3])
			 ? &u->rs->wider
			 : &u->rs->runs,
		 tsv_u64(fields[0]));
	rescore_hours_read(u->hours, fields[1]);
	return 0;
}

int rescore_runs_unfinished(struct rescore *rs, struct rescore_hours *hours,
			    struct error *err)
{
	struct unfinished unfinished = {rs, hours};
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "SELECT run, hours, account, owner FROM rescored "
		   "WHERE " UNFINISHED " FORMAT TabSeparated",
		   rs->day, rs->day);
	status = rescore_rows(rs, &sql, "nsss", take_unfinished, &unfinished,
			      err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "rescored") : 0;
}

/*
 * These inserts have no token, and after a lost answer their result is not
 * checked: the day ends there, and the next run repeats all of it.  This may
 * add rows, even late ones, which do no harm:
 * - "begun" may be recorded more often than there was a change: unchanged
 *   hours are reported, and settle to the same values.
 * - "done" may be recorded again, or twice for one run: only its existence
 *   counts.  It names its runs, so that it ends none that was begun since.
 */
int rescore_runs_begin(struct rescore *rs, uint64_t rows,
		       const struct rescore_hours *hours, struct error *err)
{
	struct buf sql = {0};

	note_run(&rs->runs, rs->run);
	buf_printf(&sql,
		   "INSERT INTO rescored (day, run, state, rules, rows, hours, "
		   "at, host, account, owner) SELECT toDate(%" PRId64
		   "), toUInt64(%" PRIu64 "), 'begun', %" PRIu32
		   ", toUInt64(%" PRIu64 "), {hours:Array(UInt32)}, "
		   "fromUnixTimestamp64Milli(toInt64(%" PRId64
		   "), 'UTC'), {host:String}, {account:String}, {owner:String}",
		   rs->day, rs->run, rs->lookups->ref.rules, rows,
		   clock_real_ms());
	return run_and_free_statement(rs, &sql, hours, err) < 0
		       ? error_wrap(err, "rescored")
		       : 0;
}

static int report_hours(struct rescore *rs, const struct rescore_hours *hours,
			struct error *err)
{
	struct buf sql = {0};

	buf_puts(&sql, PROGRESS_REPORT_RESCORED(PROGRESS_PLACES));
	return run_and_free_statement(rs, &sql, hours, err) < 0
		       ? error_wrap(err, "ingest_progress")
		       : 0;
}

int rescore_runs_finish(struct rescore *rs, const struct rescore_hours *hours,
			struct error *err)
{
	struct buf sql = {0};

	if (!buf_cstr(&rs->runs))
		return error_set_nomem(err);
	if (hours->count && report_hours(rs, hours, err) < 0)
		return -1;
	if (!rs->runs.len)
		return 0;
	buf_printf(&sql,
		   "INSERT INTO rescored (day, run, state, rules, rows, hours, "
		   "at, host, account, owner) SELECT day, run, 'done', rules, "
		   "rows, "
		   "hours, fromUnixTimestamp64Milli(toInt64(%" PRId64
		   "), 'UTC'), {host:String}, account, owner FROM rescored "
		   "WHERE " UNFINISHED " AND run IN (%s)",
		   clock_real_ms(), rs->day, rs->day, rs->runs.data);
	return run_and_free_statement(rs, &sql, hours, err) < 0
		       ? error_wrap(err, "rescored")
		       : 0;
}
