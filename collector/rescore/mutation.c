#include "collector/rescore/mutation.h"

#include <inttypes.h>
#include <string.h>

#include "collector/rescore/rescore_sql.h"
#include "common/bar.h"
#include "common/clickhouse/tsv.h"

enum {
	POLL_MS = 250,
	FIELDS = 3,
};

struct state {
	uint64_t running;
	uint64_t parts; /* still to do */
	char reason[400];
};

/* `what`: a text in the commands of those that are meant. */
static int look(struct job *job, const char *what, struct state *ret,
		struct error *err)
{
	struct buf sql = {0}, answer = {0};
	struct tsv rows;
	char *f[FIELDS];
	int status;

	*ret = (struct state){0};
	buf_printf(&sql,
		   "SELECT count(), sum(parts_to_do), "
		   "max(latest_fail_reason) FROM system.mutations WHERE "
		   "database = currentDatabase() AND table = 'clicks' AND "
		   "NOT is_done AND position(command, '%s') > 0 "
		   "FORMAT TabSeparated",
		   what);
	status = job_query(job, &sql, &answer, err);
	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, f, FIELDS)) {
		ret->running = tsv_u64(f[0]);
		ret->parts = tsv_u64(f[1]);
		strncat(ret->reason, f[2], sizeof(ret->reason) - 1);
	}
	buf_free(&sql);
	buf_free(&answer);
	return status;
}

/* One that fails is tried for ever and holds up those after it. */
static int give_up(struct job *job, const char *what, const char *reason,
		   struct error *err)
{
	struct error ignored = {0};
	struct buf sql = {0};

	buf_printf(&sql,
		   "KILL MUTATION WHERE database = currentDatabase() AND "
		   "table = 'clicks' AND position(command, '%s') > 0 "
		   "FORMAT Null",
		   what);
	(void)job_query(job, &sql, NULL, &ignored);
	buf_free(&sql);
	return error_set(err, ERROR_REMOTE, "ClickHouse cannot update: %s",
			 reason);
}

static int wait_for(struct job *job, const char *what, struct error *err)
{
	struct state s;
	struct bar bar;
	uint64_t all = 0;
	int status;

	bar_begin(&bar, job->partition, "parts");
	while ((status = look(job, what, &s, err)) == 0 && s.running) {
		if (*s.reason) {
			status = give_up(job, what, s.reason, err);
			break;
		}
		all = s.parts > all ? s.parts : all;
		bar_show(&bar, all - s.parts, all);
		if (job_is_stopped(job, POLL_MS, err)) {
			status = -1;
			break;
		}
	}
	bar_end(&bar);
	return status;
}

int mutation_run(struct job *job, struct error *err)
{
	struct buf sql = {0};
	int status;

	rescore_sql_update(job, &sql);
	status = job_query(job, &sql, NULL, err);
	buf_free(&sql);
	if (status == 0)
		status = wait_for(job, job->name, err);
	return status < 0 ? error_wrap(err, "update") : 0;
}

int mutation_wait_for_others(struct job *job, struct error *err)
{
	char what[64] = "IN PARTITION ID \\'";

	strncat(what, job->partition, sizeof(what) - strlen(what) - 1);
	return wait_for(job, what, err);
}
