#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/clicks_sql.h"
#include "aggregator/api/counts.h"
#include "aggregator/settle/progress.h"
#include "common/clickhouse/rows.h"

#define COLUMNS "nsss" COUNTS_COLUMNS

/*
 * The busiest links of the settled hours.  The archive says where they lead,
 * and their codes; those of links that it has not heard of yet come from the
 * clicks themselves.
 */
static void put_sql(struct buf *sql, const struct question *q)
{
	buf_printf(
		sql,
		"WITH busiest AS (SELECT toUInt64(s.value) AS link, "
		"sum(s.events) AS n_events, sum(s.clicks) AS n_clicks, "
		"sum(s.bots) AS n_bots, sum(s.prefetches) AS n_prefetches "
		"FROM stats_hourly AS s WHERE " SQL_PUBLISHED " "
		"AND dimension = 'link' AND NOT rest AND s.value != '0' "
		"GROUP BY link HAVING %s > 0 "
		"ORDER BY %s DESC, link LIMIT {limit:UInt64}), "
		"archive AS (SELECT link_id, argMax(code, version) AS a_code, "
		"argMax(url, version) AS target, argMax(owner, version) AS "
		"whose FROM links WHERE link_id IN "
		"(SELECT link FROM busiest) GROUP BY link_id), "
		"codes AS (SELECT link_id, any(code) AS known FROM clicks "
		"WHERE link_id IN (SELECT link FROM busiest) "
		"AND link_id NOT IN (SELECT link_id FROM archive) "
		"AND ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		"AND ts < toDateTime64({to:UInt32}, 3, 'UTC') "
		"GROUP BY link_id) "
		"SELECT b.link, toValidUTF8(concat(a.a_code, c.known)), "
		"toValidUTF8(a.target), "
		"toValidUTF8(a.whose), b.n_events, b.n_clicks, b.n_bots, "
		"b.n_prefetches, NULL, NULL FROM busiest AS b "
		"LEFT JOIN codes AS c ON b.link = c.link_id "
		"LEFT JOIN archive AS a ON b.link = a.link_id "
		"ORDER BY %s DESC, b.link FORMAT TabSeparated",
		clicks_sql_left(q->bots), clicks_sql_left(q->bots),
		clicks_sql_left(q->bots));
}

static json_t *link_to_json(char *const *f, const struct question *q)
{
	struct counts counts = counts_read(f + 4);
	json_t *item =
		json_pack("{s:s, s:o, s:s, s:s}", "code", f[1], "link_id",
			  json_id(tsv_u64(f[0])), "url", f[2], "owner", f[3]);

	if (item && counts_to_json(&counts, q->bots, item) < 0) {
		json_decref(item);
		return NULL;
	}
	/* Distinct visitors are not kept per link. */
	json_object_del(item, "visitors");
	json_object_del(item, "ips");
	return item;
}

struct link_reader {
	const struct question *q;
	json_t *links;
};

static int read_link(void *arg, char **f, struct error *err)
{
	const struct link_reader *r = arg;

	if (json_array_append_new(r->links, link_to_json(f, r->q)) < 0)
		return error_set_nomem(err);
	return 0;
}

static int fetch(struct call *call, const struct question *q, uint64_t attempt,
		 json_t *links, struct error *err)
{
	char from[24], to[24], newest[24], limit[24];
	const struct clickhouse_param params[] = {{"param_from", from},
						  {"param_to", to},
						  {"param_attempt", newest},
						  {"param_limit", limit},
						  {NULL, NULL}};
	struct link_reader reader = {q, links};
	struct buf sql = {0};
	int status = -1;

	snprintf(from, sizeof(from), "%" PRId64, q->from);
	snprintf(to, sizeof(to), "%" PRId64, q->to);
	snprintf(newest, sizeof(newest), "%" PRIu64, attempt);
	snprintf(limit, sizeof(limit), "%zu", q->limit);
	put_sql(&sql, q);
	if (!buf_cstr(&sql))
		error_set_nomem(err);
	else
		status = clickhouse_rows(call->ch, sql.data, params, COLUMNS,
					 read_link, &reader, err);
	buf_free(&sql);
	return status;
}

static json_t *to_json(const struct question *q, const struct progress *last,
		       json_t *links)
{
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:O}", "tz",
			 zone_name(q->zone), "from",
			 zone_format(q->zone, q->from, from), "to",
			 zone_format(q->zone, q->to, to), "bots",
			 bots_mode_name(q->bots), "complete_until",
			 json_complete_until(last->complete_until, q->to),
			 "links", links);
}

int route_top(struct call *call, struct error *err)
{
	struct question q;
	struct progress last;
	json_t *links = json_array();
	int status = question_parse(
		&q, call->query, ASK_RANGE | ASK_BOTS | ASK_LIMIT,
		&call->config->aggregator, call_now, call, err);

	if (status == 0)
		status = access_check_all(call->access, ACCESS_ASK_OF_ONE, err);
	if (status == 0)
		status = call_check_counts(call, q.from, err);
	if (status == 0)
		status = progress_read_last(call->ch, &last, err);
	if (status == 0)
		status = fetch(call, &q, last.attempt, links, err);
	if (status == 0)
		status = call_finish_json(call, to_json(&q, &last, links), err);
	json_decref(links);
	question_release(&q);
	return status;
}
