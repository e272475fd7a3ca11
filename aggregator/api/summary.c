#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/archive.h"
#include "aggregator/api/call.h"
#include "aggregator/api/counts.h"
#include "aggregator/settle/settle_sql.h"
#include "common/clickhouse/rows.h"

#define COLUMNS COUNTS_COLUMNS "nn"

static const char sql[] =
	"SELECT count(), countIf(" SQL_CLICK "), countIf(" SQL_BOT "), "
	"countIf(" SQL_PREFETCH "), "
	"uniqCombined64If(17)(unique_identity, " SQL_HUMAN "), "
	"uniqCombined64If(17)(ip, " SQL_HUMAN "), "
	"toUnixTimestamp64Milli(min(ts)), toUnixTimestamp64Milli(max(ts)) "
	"FROM clicks WHERE link_id = {link_id:UInt64} FORMAT TabSeparated";

static int take_counts(void *arg, char **fields, struct error *err)
{
	json_t *answer = arg;
	struct counts counts = counts_read(fields);

	counts_cap(&counts, BOTS_EXCLUDE);
	if (counts_to_json(&counts, BOTS_EXCLUDE, answer) < 0 ||
	    json_object_set_new(answer, "first_event_at",
				json_time(tsv_i64(fields[6]))) < 0 ||
	    json_object_set_new(answer, "last_event_at",
				json_time(tsv_i64(fields[7]))) < 0)
		return error_set_nomem(err);
	return 0;
}

static int add_counts(struct call *call, uint64_t link_id, json_t *answer,
		      struct error *err)
{
	char id[24];
	const struct clickhouse_param params[] = {{"param_link_id", id},
						  {NULL, NULL}};

	snprintf(id, sizeof(id), "%" PRIu64, link_id);
	return clickhouse_row(call->ch, sql, params, COLUMNS, take_counts,
			      answer, err);
}

static json_t *link_to_json(struct archived_link *link)
{
	return json_pack("{s:s, s:o, s:i, s:s, s:s, s:s, s:s, s:o, s:o}",
			 "code", link->code, "link_id", json_id(link->link_id),
			 "generation", (int)link->generation, "state",
			 link->state, "owner", link->owner, "ttl",
			 link->ttl_class, "url", buf_cstr(&link->url),
			 "created_at", json_time(link->created_at),
			 "expires_at", json_time(link->expires_at));
}

int route_summary(struct call *call, struct error *err)
{
	struct archived_link link = {0};
	struct question q;
	int64_t complete_until = 0;
	json_t *answer = NULL;
	int status =
		question_parse(&q, call->query, 0, &call->config->aggregator,
			       call_now, call, err);

	question_release(&q);
	if (status == 0 && !code_is_valid(call->code))
		status = error_set(err, ERROR_NOTFOUND,
				   "a code is 1 to %d letters, digits, '_' or "
				   "'-'",
				   CODE_MAX);
	if (status == 0)
		status = archive_find_code(call->ch, call->access, call->code,
					   &link, err);
	/* Read before the rows are: rows that arrive later are counted, but not
	 * promised. */
	if (status == 0)
		status = call_complete_until(call, &complete_until, err);
	if (status == 0) {
		answer = link_to_json(&link);
		if (!answer)
			status = error_set_nomem(err);
	}
	if (status == 0)
		status = add_counts(call, link.link_id, answer, err);
	if (status == 0 &&
	    (json_object_set_new(answer, "approximate", json_true()) < 0 ||
	     json_object_set_new(answer, "unique_error",
				 json_real(UNIQUE_ERROR_LIVE)) < 0 ||
	     json_object_set_new(answer, "complete_until",
				 json_time(complete_until)) < 0))
		status = error_set_nomem(err);
	archived_link_release(&link);
	if (status < 0) {
		json_decref(answer);
		return -1;
	}
	return call_finish_json(call, answer, err);
}
