#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/caller_params.h"
#include "aggregator/api/links/link_json.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/counts.h"
#include "aggregator/api/statistics/shared_question.h"
#include "aggregator/settle/repeats.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

#define COLUMNS COUNTS_COLUMNS "nnnn"
#define SLOT	(15 * CLOCK_MINUTE)

/* Returns the time of the row, to the millisecond, if the row is still there,
 * otherwise the start of the slot. */
static int64_t pick_event_time(const char *slot, const char *row)
{
	int64_t start = tsv_i64(slot), at = tsv_i64(row);

	return at >= start && at < start + SLOT ? at : start;
}

static int take_counts(void *arg, char **fields, struct error *err)
{
	json_t *answer = arg;
	struct counts counts = counts_read(fields);

	counts_cap(&counts, BOTS_EXCLUDE);
	if (counts_to_json(&counts, BOTS_EXCLUDE, answer) < 0 ||
	    json_object_set_new(
		    answer, "first_event_at",
		    json_time(pick_event_time(fields[6], fields[8]))) < 0 ||
	    json_object_set_new(
		    answer, "last_event_at",
		    json_time(pick_event_time(fields[7], fields[9]))) < 0)
		return error_set_nomem(err);
	return 0;
}

static int query_lifetime_counts(struct call *call, uint64_t link_id,
				 const struct copied_days *sealed,
				 json_t *answer, struct error *err)
{
	const struct question ever = {
		.from = sealed->kept_from,
		.to = UINT32_MAX,
		.marked = call->marked,
		.earliest = repeats_earliest(&call->config->aggregator.clicks,
					     sealed->kept_from),
		.bots = BOTS_EXCLUDE};
	struct buf starts = {0}, attempts = {0}, sql = {0};
	struct caller_params caller;
	char id[24], from[24], to[24];
	int status = caller_params_of(&caller, call->access, err);

	if (status == 0)
		status = copied_days_put(sealed, &starts, &attempts, err);

	snprintf(id, sizeof(id), "%" PRIu64, link_id);
	snprintf(from, sizeof(from), "%" PRId64, ever.from);
	snprintf(to, sizeof(to), "%" PRId64, ever.to);
	const struct clickhouse_param params[] = {
		{"param_link_id", id},
		{"param_from", from},
		{"param_to", to},
		{"param_days", starts.data},
		{"param_attempts", attempts.data},
		caller.items[0],
		caller.items[1],
		caller.items[2],
		caller.items[3],
		{NULL, NULL}};

	clicks_sql_life(&sql, &ever, sealed);
	if (status == 0)
		status = buf_cstr(&sql)
				 ? clickhouse_row(call->ch, sql.data, params,
						  COLUMNS, take_counts, answer,
						  err)
				 : error_set_nomem(err);
	buf_free(&sql);
	buf_free(&starts);
	buf_free(&attempts);
	caller_params_release(&caller);
	return status;
}

static int add_counts(struct call *call, uint64_t link_id, json_t *answer,
		      struct error *err)
{
	struct copied_days sealed;
	int status = freshness_days(call->freshness, COPIED_LINKS, call->ch, 0,
				    UINT32_MAX, &sealed, err);

	if (status == 0)
		status = query_lifetime_counts(call, link_id, &sealed, answer,
					       err);
	if (status == 0 &&
	    json_object_set_new(answer, "counted_from",
				json_time(sealed.kept_from * 1000)) < 0)
		status = error_set_nomem(err);
	copied_days_release(&sealed);
	return status;
}

static json_t *link_to_json(struct archived_link *link)
{
	return json_pack(
		"{s:s, s:o, s:i, s:s, s:b, s:s, s:s, s:s, s:s, s:o, s:o, s:o, "
		"s:o}",
		"code", link->code, "link_id", json_id(link->link_id),
		"generation", (int)link->generation, "state", link->state,
		"current", !link->superseded, "account", link->account, "owner",
		link->owner, "ttl", link->ttl_class, "url",
		buf_cstr(&link->url), "created_at", json_time(link->created_at),
		"expires_at", json_time(link->expires_at), "reclaimed_at",
		json_time(link->reclaimed_at), "max_visits",
		link->max_visits ? json_count(link->max_visits) : json_null());
}

/* Adds what became of the link, and what Redis alone knows of it.  NULL: see
 * the error. */
static json_t *describe_link(struct call *call, struct archived_link *link,
			     struct error *err)
{
	json_t *links = json_array(), *answer = NULL;
	int64_t now = 0;
	int status = call_now(call, &now, err);

	if (status == 0)
		status = archive_add_life(call->ch, &call->config->links, now,
					  link, err);
	if (status == 0)
		answer = link_to_json(link);
	if (status == 0 && json_array_append(links, answer) < 0)
		status = error_set_nomem(err);
	if (status == 0)
		status = links_json_add_life(call, links, NULL, err);
	json_decref(links);
	if (status == 0)
		return answer;
	json_decref(answer);
	return NULL;
}

/* Reads the code from the path, or the link that the query names. */
static int read_question(struct call *call, struct question *ret,
			 struct error *err)
{
	unsigned known = *call->code ? 0 : ASK_LINK;

	if (shared_question_parse(ret, call, known, err) < 0)
		return -1;
	if (!*ret->code && !ret->link_id)
		return parameters_refuse_both("code", "link_id", err);
	return shared_question_check_whole(call, err);
}

int route_summary(struct call *call, struct error *err)
{
	struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	struct question q = {0};
	int64_t complete_until = 0;
	json_t *answer = NULL;
	int status = read_question(call, &q, err);

	if (status == 0)
		status = link_find(&finder, q.code, q.link_id, &link, err);
	question_release(&q);
	/* The watermark is read before the rows: rows that arrive later are
	 * counted, but not promised. */
	if (status == 0)
		status = call_complete_until(call, &complete_until, err);
	if (status == 0) {
		answer = describe_link(call, &link, err);
		status = answer ? 0 : -1;
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
