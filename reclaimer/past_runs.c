#include "reclaimer/past_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/host_name.h"

static const char insert_query[] =
	"INSERT INTO reclaim_runs (space, started_at, finished_at, scanned, "
	"freed, live, lost, gap, skipped, sampled, seconds, interrupted, "
	"error, host) FORMAT RowBinary";

static const char newest_query[] =
	"SELECT formatDateTime(started_at, '%Y-%m-%dT%H:%i:%SZ'), scanned, "
	"freed, live, lost, seconds, interrupted ? 1 : 0, error "
	"FROM reclaim_runs WHERE space = {space:String} "
	"ORDER BY started_at DESC LIMIT {max:UInt32} FORMAT TabSeparated";

static void put_text(struct buf *rows, const char *text)
{
	rowbinary_string(rows, text, strlen(text));
}

/* `ahead`: ms by which the table's clock is ahead of this host's. */
static void put_row(struct buf *rows, const struct run_result *r, int64_t ahead,
		    const char *host)
{
	put_text(rows, r->space);
	/* DateTime64(3): ms since 1970 */
	rowbinary_i64(rows, r->started + ahead);
	rowbinary_i64(rows, r->finished + ahead);
	rowbinary_u64(rows, r->tally.scanned);
	rowbinary_u64(rows, r->tally.freed);
	rowbinary_u64(rows, r->tally.live);
	rowbinary_u64(rows, r->tally.lost);
	rowbinary_u64(rows, r->tally.gap);
	rowbinary_u64(rows, r->tally.skipped);
	rowbinary_u64(rows, r->tally.sampled);
	rowbinary_f64(rows, r->seconds);
	rowbinary_u8(rows, r->interrupted);
	put_text(rows, r->failed ? r->error.text : "");
	put_text(rows, host);
}

/* The token makes an insert that is resent on a new connection count once. */
static int make_token(char token[40], struct error *err)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	snprintf(token, 40, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	return 0;
}

int past_runs_write(const struct clickhouse_config *config,
		    const struct run_result *results, size_t count,
		    struct error *err)
{
	struct clickhouse *ch = clickhouse_new(config, err);
	struct buf rows = {0};
	char host[HOST_NAME_SIZE], token[40];
	const struct clickhouse_param params[] = {
		{"insert_deduplication_token", token},
		{"async_insert", "0"},
		{0},
	};
	int64_t ahead;
	int status = -1;

	if (!ch || make_token(token, err) < 0 ||
	    clickhouse_now(ch, &ahead, err) < 0)
		goto out;
	ahead -= clock_real_ms();
	host_name(host, sizeof(host), "");
	for (size_t i = 0; i < count; i++)
		put_row(&rows, &results[i], ahead, host);
	if (rows.failed) {
		error_set_nomem(err);
		goto out;
	}
	status = clickhouse_insert(ch, insert_query, params, rows.data,
				   rows.len, err);
out:
	buf_free(&rows);
	clickhouse_free(ch);
	return status;
}

/* --- the newest -------------------------------------------------------------
 */

struct newest {
	struct past_run *runs;
	size_t count, room;
};

static int read_newest(void *arg, char **fields, struct error *err)
{
	struct newest *n = arg;
	struct past_run *run;

	(void)err;
	if (n->count == n->room)
		return 0;
	run = &n->runs[n->count++];
	*run = (struct past_run){
		.scanned = tsv_u64(fields[1]),
		.freed = tsv_u64(fields[2]),
		.live = tsv_u64(fields[3]),
		.lost = tsv_u64(fields[4]),
		.seconds = strtod(fields[5], NULL),
		.interrupted = fields[6][0] == '1',
	};
	snprintf(run->started, sizeof(run->started), "%s", fields[0]);
	snprintf(run->error, sizeof(run->error), "%s", fields[7]);
	return 0;
}

int past_runs_newest(struct clickhouse *ch, const char *space, size_t max,
		     struct past_run *ret_runs, size_t *ret_count,
		     struct error *err)
{
	struct newest newest = {.runs = ret_runs, .room = max};
	struct buf escaped = {0};
	char limit[24];
	struct clickhouse_param params[] = {
		{"param_space", NULL}, {"param_max", limit}, {0}};
	int status = -1;

	snprintf(limit, sizeof(limit), "%zu", max);
	clickhouse_escape(&escaped, space, strlen(space));
	if (escaped.failed) {
		error_set_nomem(err);
		goto out;
	}
	params[0].value = escaped.data;
	status = clickhouse_rows(ch, newest_query, params, "snnnndns",
				 read_newest, &newest, err);
	if (status == 0)
		*ret_count = newest.count;
out:
	buf_free(&escaped);
	return status;
}

/* --- the last days ----------------------------------------------------------
 */

#define WHERE                                                                  \
	"FROM reclaim_runs WHERE ({space:String} = '' OR "                     \
	"space = {space:String}) AND "                                         \
	"toDate(started_at, 'UTC') > toDate32(now('UTC')) - {days:UInt32} "

static const char runs_query[] =
	"SELECT space, formatDateTime(started_at, '%Y-%m-%dT%H:%i:%SZ', "
	"'UTC'), "
	"scanned, freed, live, lost, gap, skipped, seconds, "
	"interrupted ? 1 : 0, error, host " WHERE
	"ORDER BY started_at DESC, space LIMIT {max:UInt32} FORMAT "
	"TabSeparated";

static const char days_query[] =
	"SELECT space, toString(toDate(started_at, 'UTC')) AS started, "
	"count(), "
	"countIf(error != ''), sum(scanned), sum(freed), sum(live), sum(lost), "
	"sum(gap), sum(skipped), sum(seconds) " WHERE
	"GROUP BY space, started ORDER BY started DESC, space FORMAT "
	"TabSeparated";

static const char run_columns[] = "ssnnnnnndnss";
static const char day_columns[] = "ssnnnnnnnnd";

static void read_sums(char **fields, struct run_sums *ret)
{
	*ret = (struct run_sums){
		.scanned = tsv_u64(fields[0]),
		.freed = tsv_u64(fields[1]),
		.live = tsv_u64(fields[2]),
		.lost = tsv_u64(fields[3]),
		.gap = tsv_u64(fields[4]),
		.skipped = tsv_u64(fields[5]),
		.seconds = strtod(fields[6], NULL),
	};
}

static int take_run(void *arg, char **fields, struct error *err)
{
	struct run_rows *rows = arg;
	struct run_row *more =
		realloc(rows->runs, (rows->run_count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	rows->runs = more;
	more += rows->run_count++;
	*more = (struct run_row){
		.space = fields[0],
		.started = fields[1],
		.interrupted = fields[9][0] == '1',
		.error = fields[10],
		.host = fields[11],
	};
	read_sums(fields + 2, &more->sums);
	return 0;
}

static int take_day(void *arg, char **fields, struct error *err)
{
	struct run_rows *rows = arg;
	struct day_row *more =
		realloc(rows->days, (rows->day_count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	rows->days = more;
	more += rows->day_count++;
	*more = (struct day_row){
		.space = fields[0],
		.day = fields[1],
		.runs = tsv_u64(fields[2]),
		.failed = tsv_u64(fields[3]),
	};
	read_sums(fields + 4, &more->sums);
	rows->run_total += more->runs;
	return 0;
}

/* The strings of the rows are in `text`. */
static int query_run_rows(struct clickhouse *ch, const char *sql,
			  const struct clickhouse_param *params,
			  struct buf *text, const char *columns,
			  clickhouse_row_fn *take, struct run_rows *rows,
			  struct error *err)
{
	if (clickhouse_query(ch, sql, params, text, err) < 0)
		return -1;
	return clickhouse_rows_of(text, columns, take, rows, err);
}

int past_runs_by_day(struct clickhouse *ch, const struct run_query *query,
		     struct run_rows *ret, struct error *err)
{
	const char *space = query->space ? query->space : "";
	struct buf escaped = {0};
	char days[24], max[24];
	struct clickhouse_param params[] = {{"param_space", NULL},
					    {"param_days", days},
					    {"param_max", max},
					    {0}};
	int status = -1;

	*ret = (struct run_rows){0};
	snprintf(days, sizeof(days), "%" PRIu64, query->days);
	snprintf(max, sizeof(max), "%zu", query->runs_max);
	clickhouse_escape(&escaped, space, strlen(space));
	if (escaped.failed) {
		error_set_nomem(err);
		goto out;
	}
	params[0].value = escaped.data;
	if (query_run_rows(ch, runs_query, params, &ret->text[0], run_columns,
			   take_run, ret, err) == 0)
		status = query_run_rows(ch, days_query, params, &ret->text[1],
					day_columns, take_day, ret, err);
out:
	buf_free(&escaped);
	return status;
}

void past_runs_free(struct run_rows *rows)
{
	buf_free(&rows->text[0]);
	buf_free(&rows->text[1]);
	free(rows->runs);
	free(rows->days);
	*rows = (struct run_rows){0};
}
