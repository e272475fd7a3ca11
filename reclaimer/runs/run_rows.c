#include "reclaimer/runs/run_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/tsv.h"

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

enum {
	RUN_FIELDS = 12,
	DAY_FIELDS = 11
};

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

static size_t count_lines(const struct buf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

static int bad_shape(struct error *err)
{
	return error_set(err, ERROR_PROTOCOL,
			 "ClickHouse answered rows of another shape");
}

static int parse_runs(struct run_rows *rows, struct error *err)
{
	char *fields[RUN_FIELDS];
	size_t room = count_lines(&rows->text[0]);
	struct tsv t = tsv_rows(&rows->text[0]);

	rows->runs = calloc(room + 1, sizeof(*rows->runs));
	if (!rows->runs)
		return error_set_nomem(err);
	while (rows->run_count < room && tsv_next(&t, fields, RUN_FIELDS)) {
		struct run_row *r = &rows->runs[rows->run_count++];

		r->space = fields[0];
		r->started = fields[1];
		read_sums(fields + 2, &r->sums);
		r->interrupted = fields[9][0] == '1';
		r->error = fields[10];
		r->host = fields[11];
	}
	return t.bad ? bad_shape(err) : 0;
}

static int parse_days(struct run_rows *rows, struct error *err)
{
	char *fields[DAY_FIELDS];
	size_t room = count_lines(&rows->text[1]);
	struct tsv t = tsv_rows(&rows->text[1]);

	rows->days = calloc(room + 1, sizeof(*rows->days));
	if (!rows->days)
		return error_set_nomem(err);
	while (rows->day_count < room && tsv_next(&t, fields, DAY_FIELDS)) {
		struct day_row *d = &rows->days[rows->day_count++];

		d->space = fields[0];
		d->day = fields[1];
		d->runs = tsv_u64(fields[2]);
		d->failed = tsv_u64(fields[3]);
		read_sums(fields + 4, &d->sums);
		rows->run_total += d->runs;
	}
	return t.bad ? bad_shape(err) : 0;
}

int run_rows_read(struct clickhouse *ch, const struct run_question *question,
		  struct run_rows *ret, struct error *err)
{
	const char *space = question->space ? question->space : "";
	struct buf escaped = {0};
	char days[24], max[24];
	struct clickhouse_param params[] = {{"param_space", NULL},
					    {"param_days", days},
					    {"param_max", max},
					    {0}};
	int status = -1;

	*ret = (struct run_rows){0};
	snprintf(days, sizeof(days), "%" PRIu64, question->days);
	snprintf(max, sizeof(max), "%zu", question->runs_max);
	clickhouse_escape(&escaped, space, strlen(space));
	if (escaped.failed) {
		error_set_nomem(err);
		goto out;
	}
	params[0].value = escaped.data;
	if (clickhouse_query(ch, runs_query, params, &ret->text[0], err) == 0 &&
	    clickhouse_query(ch, days_query, params, &ret->text[1], err) == 0 &&
	    parse_runs(ret, err) == 0)
		status = parse_days(ret, err);
out:
	buf_free(&escaped);
	return status;
}

void run_rows_free(struct run_rows *rows)
{
	buf_free(&rows->text[0]);
	buf_free(&rows->text[1]);
	free(rows->runs);
	free(rows->days);
	*rows = (struct run_rows){0};
}
