#include "collector/tools/rescore/mutation.h"

#include <inttypes.h>
#include <string.h>

#include "collector/tools/rescore/rescore_sql.h"
#include "common/bar.h"

enum {
	POLL_MS = 250,
};

struct mutation_state {
	uint64_t running;
	uint64_t parts; /* unfinished ones */
	char reason[400];
};

static int take_state(void *arg, char **f, struct error *err)
{
	struct mutation_state *s = arg;

	(void)err;
	s->running = tsv_u64(f[0]);
	s->parts = tsv_u64(f[1]);
	strncat(s->reason, f[2], sizeof(s->reason) - 1);
	return 0;
}

/* Queries the mutation of the run of that name: no other mutation names its
 * tables. */
static int query_mutation(struct rescore *rs, const char *name,
			  struct mutation_state *ret, struct error *err)
{
	struct buf sql = {0};
	int status;

	*ret = (struct mutation_state){0};
	buf_printf(&sql,
		   "SELECT count(), sum(parts_to_do), "
		   "max(latest_fail_reason) FROM system.mutations WHERE "
		   "database = currentDatabase() AND table = 'clicks' AND "
		   "NOT is_done AND position(command, 'rescore_map_%s') > 0 "
		   "FORMAT TabSeparated",
		   name);
	status = rescore_row(rs, &sql, "nns", take_state, ret, err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "system.mutations") : 0;
}

/* Kills the mutation: one that fails is retried forever and blocks those after
 * it. */
static int kill_mutation(struct rescore *rs, const char *name,
			 struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "KILL MUTATION WHERE database = currentDatabase() AND "
		   "table = 'clicks' AND position(command, 'rescore_map_%s') "
		   "> 0 FORMAT Null",
		   name);
	status = rescore_run(rs, &sql, err);
	buf_free(&sql);
	return status;
}

/* Waits until the mutation is done or fails; *ret shows which. */
static int wait_for(struct rescore *rs, const char *name,
		    struct mutation_state *ret, struct error *err)
{
	struct bar bar;
	uint64_t all = 0;
	int status;

	bar_begin(&bar, rs->partition, "parts");
	while ((status = query_mutation(rs, name, ret, err)) == 0 &&
	       ret->running && !*ret->reason) {
		all = ret->parts > all ? ret->parts : all;
		bar_show(&bar, all - ret->parts, all);
		if (rescore_is_stopped(rs, POLL_MS, err)) {
			status = -1;
			break;
		}
	}
	bar_end(&bar);
	return status;
}

static int update_day_rows(struct rescore *rs, struct error *err)
{
	struct error ignored = {0};
	struct buf sql = {0};
	struct mutation_state s;
	int status;

	rescore_sql_update(rs, &sql);
	status = rescore_run(rs, &sql, err);
	buf_free(&sql);
	if (status < 0 || wait_for(rs, rs->name, &s, err) < 0)
		return -1;
	if (!s.running)
		return 0;
	(void)kill_mutation(rs, rs->name, &ignored);
	return error_set(err, ERROR_REMOTE, "ClickHouse cannot update: %s",
			 s.reason);
}

int mutation_run(struct rescore *rs, struct error *err)
{
	return update_day_rows(rs, err) < 0 ? error_wrap(err, "update") : 0;
}

/* --- mutations of earlier runs -------------------------------------------- */

int mutation_wait_for(struct rescore *rs, const char *name, struct error *err)
{
	struct mutation_state ignored;

	return wait_for(rs, name, &ignored, err);
}

static int take_number(void *arg, char **fields, struct error *err)
{
	uint64_t *ret = arg;

	(void)err;
	*ret = tsv_u64(fields[0]);
	return 0;
}

/* Waits for parts of the day that are being changed. */
static int wait_for_parts(struct rescore *rs, struct error *err)
{
	struct buf sql = {0};
	uint64_t parts = 0;
	int status;

	do {
		buf_printf(&sql,
			   "SELECT count() FROM system.merges WHERE "
			   "database = currentDatabase() AND table = 'clicks' "
			   "AND is_mutation AND partition_id = '%s' "
			   "FORMAT TabSeparated",
			   rs->partition);
		status = rescore_row(rs, &sql, "n", take_number, &parts, err);
		if (status == 0 && parts &&
		    rescore_is_stopped(rs, POLL_MS, err))
			status = -1;
	} while (status == 0 && parts);
	buf_free(&sql);
	return status;
}

/*
 * ClickHouse reads a mutation's tables when a part's turn comes, and lists the
 * part in system.merges before that.  So, once the tables are dropped,
 * - a mutation that has not arrived yet is refused, or never changes a part;
 * - an unfinished mutation is ended; a part on which it had begun while there
 *   were tables is in that list until it is stored or given up.
 */
int mutation_end(struct rescore *rs, const char *name, struct error *err)
{
	struct mutation_state s;

	if (query_mutation(rs, name, &s, err) < 0)
		return -1;
	if (!s.running)
		return 0;
	if (kill_mutation(rs, name, err) < 0)
		return -1;
	return wait_for_parts(rs, err);
}
