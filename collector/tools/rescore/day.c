#include "collector/tools/rescore/day.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/tools/rescore/judge.h"
#include "collector/tools/rescore/ledger.h"
#include "collector/tools/rescore/mutation.h"
#include "collector/tools/rescore/rescore_sql.h"
#include "common/clickhouse/tsv.h"
#include "common/clock.h"

static const char *const tables[] = {"agents", "map", "bursts"};
#define TABLE_COUNT (sizeof(tables) / sizeof(*tables))

static void name_run(struct job *job, int64_t day)
{
	time_t at = (time_t)(day * (CLOCK_DAY / CLOCK_SECOND));
	struct tm tm;

	job->day = day;
	buf_reset(&job->runs);
	gmtime_r(&at, &tm);
	strftime(job->partition, sizeof(job->partition), "%Y%m%d", &tm);
	randombytes_buf(&job->run, sizeof(job->run));
	snprintf(job->name, sizeof(job->name), "%016" PRIx64, job->run);
}

static int drop_tables(struct job *job, const char *name, struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < TABLE_COUNT; i++) {
		buf_printf(&sql, "DROP TABLE IF EXISTS rescore_%s_%s",
			   tables[i], name);
		status = job_query(job, &sql, NULL, err);
	}
	buf_free(&sql);
	return status;
}

/*
 * Runs over the day that were begun and not finished may have sent a mutation
 * whose answer they did not get, and that may still arrive: then it would put
 * back what their rules said.  Without its tables it cannot.
 */
static int end_others(struct job *job, struct error *err)
{
	const char *runs = buf_cstr(&job->runs);
	char name[RUN_TEXT], *after;

	if (!runs)
		return error_set_nomem(err);
	for (; *runs; runs = *after ? after + 1 : after) {
		snprintf(name, sizeof(name), "%016" PRIx64,
			 (uint64_t)strtoull(runs, &after, 10));
		if (mutation_wait_for(job, name, err) < 0 ||
		    drop_tables(job, name, err) < 0 ||
		    mutation_end(job, name, err) < 0)
			return error_wrap(err, "a run before");
	}
	return 0;
}

static void take_change(struct day_result *r, uint64_t was, uint64_t now,
			uint64_t rows)
{
	if (was >= VERDICT_KIND_COUNT || now >= VERDICT_KIND_COUNT)
		return;
	r->from_to[was][now] += rows;
	if (was == now)
		r->labels += rows;
	else
		r->changes += rows;
}

static int preview(struct job *job, struct day_result *r, struct hours *hours,
		   struct error *err)
{
	struct buf sql = {0}, answer = {0};
	struct tsv rows;
	char *f[4];
	int status;

	rescore_sql_preview(job, &sql);
	status = job_query(job, &sql, &answer, err);
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, f, 4)) {
		take_change(r, tsv_u64(f[0]), tsv_u64(f[1]), tsv_u64(f[2]));
		hours_read(hours, f[3]);
	}
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&sql);
	buf_free(&answer);
	return status < 0 ? error_wrap(err, "compare") : 0;
}

/* What is to be changed is written down first: should this end on the way, the
 * next run knows whose hours to tell. */
static int apply(struct job *job, const struct day_result *r,
		 const struct hours *hours, bool *ret_left_running,
		 struct error *err)
{
	uint64_t rows = r->changes + r->labels;

	if (rows) {
		if (ledger_begin(job, rows, hours, err) < 0)
			return -1;
		*ret_left_running = true;
		if (mutation_run(job, err) < 0)
			return -1;
		*ret_left_running = false;
	}
	if (rows || r->resumed)
		return ledger_finish(job, hours, err);
	return 0;
}

static int work(struct job *job, struct day_result *r, bool *ret_left_running,
		struct error *err)
{
	struct hours hours = {.count = 0};

	if (ledger_unfinished(job, &hours, err) < 0)
		return -1;
	r->resumed = job->runs.len > 0;
	if (r->resumed && !job->dry_run && end_others(job, err) < 0)
		return -1;
	if (judge_day(job, &r->agents, err) < 0)
		return -1;
	if (r->agents && preview(job, r, &hours, err) < 0)
		return -1;
	r->hours = hours.count;
	if (job->dry_run)
		return 0;
	return apply(job, r, &hours, ret_left_running, err);
}

/* A mutation that goes on needs the tables; they are dropped by a later run. */
int day_rescore(struct job *job, int64_t day, struct day_result *ret,
		struct error *err)
{
	struct error ignored = {0};
	bool left_running = false;
	int status;

	*ret = (struct day_result){0};
	name_run(job, day);
	status = work(job, ret, &left_running, err);
	if (status < 0 && !left_running)
		drop_tables(job, job->name, &ignored);
	if (status == 0)
		status = drop_tables(job, job->name, err);
	return status;
}

static bool is_ours(const char *name)
{
	size_t len = strlen(name);

	return len > 16 && !strncmp(name, "rescore_", 8) &&
	       strspn(name + len - 16, "0123456789abcdef") == 16;
}

int day_drop_left_over(struct job *job, struct error *err)
{
	struct buf sql = {0}, answer = {0};
	struct tsv rows;
	char *name;
	int status;

	buf_puts(&sql,
		 "SELECT name FROM system.tables AS t WHERE database = "
		 "currentDatabase() AND startsWith(name, 'rescore_') AND "
		 "metadata_modification_time < now() - INTERVAL 1 DAY AND "
		 "(SELECT countIf(position(command, 'rescore_map_') > 0) FROM "
		 "system.mutations WHERE NOT is_done AND database = "
		 "currentDatabase()) = 0 FORMAT TabSeparated");
	status = job_query(job, &sql, &answer, err);
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &name, 1)) {
		if (!is_ours(name))
			continue;
		buf_printf(&sql, "DROP TABLE IF EXISTS %s", name);
		status = job_query(job, &sql, NULL, err);
	}
	buf_free(&sql);
	buf_free(&answer);
	return status;
}
