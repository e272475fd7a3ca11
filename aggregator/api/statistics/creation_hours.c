#include "aggregator/api/statistics/creation_hours.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clickhouse/rows.h"

#define HOUR INT64_C(3600)

struct hours_reader {
	struct creation_hours *hours;
	const struct question *q;
	const struct buckets *buckets;
	int64_t counted_to; /* the range is settled, or in a span, up to here */
};

static void put_span(struct creation_hours *h, int64_t from, int64_t to)
{
	if (from < to)
		buf_printf(&h->spans,
			   "%s(slot >= toDateTime(%" PRId64
			   ", 'UTC') AND slot < toDateTime(%" PRId64
			   ", 'UTC'))",
			   h->spans.len ? " OR " : "", from, to);
}

/* Zones of half an hour cut hours in two. */
static bool is_in_one_bucket(const struct hours_reader *r, int64_t start)
{
	return start >= r->q->from && start + HOUR <= r->q->to &&
	       buckets_find(r->buckets, start) ==
		       buckets_find(r->buckets, start + HOUR - BUCKET_SLOT);
}

/* A row is: the hour's start, its attempt; ascending. */
static int take_hour(void *arg, char **f, struct error *err)
{
	struct hours_reader *r = arg;
	struct creation_hours *h = r->hours;
	int64_t start = tsv_i64(f[0]);

	(void)err;
	if (!is_in_one_bucket(r, start))
		return 0;
	put_span(h, r->counted_to, start);
	r->counted_to = start + HOUR;
	buf_printf(&h->starts, "%s%" PRId64, h->count ? "," : "", start);
	buf_printf(&h->attempts, "%s%" PRIu64, h->count ? "," : "",
		   tsv_u64(f[1]));
	h->count++;
	return 0;
}

int creation_hours_read(struct creation_hours *ret, struct call *call,
			const struct question *q, const struct buckets *buckets,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/creations_hours.sql.inc"
		;
	char from[24], to[24], overlap[24];
	const struct clickhouse_param params[] = {
		{"param_from", from},	    {"param_to", to},
		{"param_overlap", overlap}, {"param_margin", overlap},
		{"join_use_nulls", "0"},    {NULL, NULL}};
	struct hours_reader reader = {ret, q, buckets, q->from};

	*ret = (struct creation_hours){0};
	snprintf(from, sizeof(from), "%" PRId64, q->from);
	snprintf(to, sizeof(to), "%" PRId64, q->to);
	snprintf(overlap, sizeof(overlap), "%" PRId64,
		 call->config->aggregator.progress_overlap);
	buf_putc(&ret->starts, '[');
	buf_putc(&ret->attempts, '[');
	if (clickhouse_rows(call->ch, sql, params, "nn", take_hour, &reader,
			    err) < 0)
		return error_wrap(err, "settled_creations");
	buf_putc(&ret->starts, ']');
	buf_putc(&ret->attempts, ']');
	put_span(ret, reader.counted_to, q->to);
	return buf_cstr(&ret->starts) && buf_cstr(&ret->attempts) &&
			       buf_cstr(&ret->spans)
		       ? 0
		       : error_set_nomem(err);
}

void creation_hours_release(struct creation_hours *hours)
{
	buf_free(&hours->starts);
	buf_free(&hours->attempts);
	buf_free(&hours->spans);
}
