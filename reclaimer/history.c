#include "reclaimer/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/tsv.h"

static const char insert_query[] =
	"INSERT INTO reclaim_runs (space, started_at, finished_at, scanned, "
	"freed, live, lost, gap, skipped, sampled, seconds, interrupted, "
	"error, host) FORMAT RowBinary";

static const char select_query[] =
	"SELECT formatDateTime(started_at, '%Y-%m-%dT%H:%i:%SZ'), scanned, "
	"freed, live, lost, seconds, interrupted ? 1 : 0, error "
	"FROM reclaim_runs WHERE space = {space:String} "
	"ORDER BY started_at DESC LIMIT {max:UInt32} FORMAT TabSeparated";

static void put_text(struct buf *rows, const char *text)
{
	rowbinary_string(rows, text, strlen(text));
}

static void put_row(struct buf *rows, const struct outcome *o, const char *host)
{
	put_text(rows, o->space);
	rowbinary_i64(rows, o->started); /* DateTime64(3): ms since 1970 */
	rowbinary_i64(rows, o->finished);
	rowbinary_u64(rows, o->tally.scanned);
	rowbinary_u64(rows, o->tally.freed);
	rowbinary_u64(rows, o->tally.live);
	rowbinary_u64(rows, o->tally.lost);
	rowbinary_u64(rows, o->tally.gap);
	rowbinary_u64(rows, o->tally.skipped);
	rowbinary_u64(rows, o->tally.sampled);
	rowbinary_f64(rows, o->seconds);
	rowbinary_u8(rows, o->interrupted);
	put_text(rows, o->failed ? o->error.text : "");
	put_text(rows, host);
}

/* An insert that is sent again on a new connection must not count twice. */
static int make_token(char token[40], struct error *err)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	snprintf(token, 40, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	return 0;
}

int history_write(const struct clickhouse_config *config,
		  const struct outcome *outcomes, size_t count,
		  struct error *err)
{
	struct clickhouse *ch = clickhouse_new(config, err);
	struct buf rows = {0};
	char host[256] = "", token[40];
	const struct clickhouse_param params[] = {
		{"insert_deduplication_token", token},
		{"async_insert", "0"},
		{0},
	};
	int status = -1;

	if (!ch || make_token(token, err) < 0)
		goto out;
	gethostname(host, sizeof(host) - 1);
	for (size_t i = 0; i < count; i++)
		put_row(&rows, &outcomes[i], host);
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

static void read_row(char **fields, struct past_run *ret)
{
	*ret = (struct past_run){
		.scanned = tsv_u64(fields[1]),
		.freed = tsv_u64(fields[2]),
		.live = tsv_u64(fields[3]),
		.lost = tsv_u64(fields[4]),
		.seconds = strtod(fields[5], NULL),
		.interrupted = fields[6][0] == '1',
	};
	snprintf(ret->started, sizeof(ret->started), "%s", fields[0]);
	snprintf(ret->error, sizeof(ret->error), "%s", fields[7]);
}

static int parse_rows(struct buf *answer, size_t max, struct past_run *ret_runs,
		      size_t *ret_count, struct error *err)
{
	struct tsv t = tsv_rows(answer);
	char *fields[8];
	size_t count = 0;

	while (count < max && tsv_next(&t, fields, 8))
		read_row(fields, &ret_runs[count++]);
	if (t.bad)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse answered rows of another shape");
	*ret_count = count;
	return 0;
}

int history_read(struct clickhouse *ch, const char *space, size_t max,
		 struct past_run *ret_runs, size_t *ret_count,
		 struct error *err)
{
	struct buf escaped = {0}, answer = {0};
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
	if (clickhouse_query(ch, select_query, params, &answer, err) < 0)
		goto out;
	status = parse_rows(&answer, max, ret_runs, ret_count, err);
out:
	buf_free(&escaped);
	buf_free(&answer);
	return status;
}
