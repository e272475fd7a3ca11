#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/pipeline/steps_json.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/reconcile/reconciled_hours.h"
#include "aggregator/settle/waiting.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

/* The last hours for which uncounted clicks are listed: reports of that age are
 * kept, whatever is dropped. */
#define NOT_COUNTED_HOURS 24
/* The last hours for which the results of reconciliation are summed. */
#define LOSS_HOURS 24

/* The partition that the watermark waits for, with its own mark if it has one.
 */
static json_t *waits_for(const struct fresh *fresh)
{
	const struct watermark *w = &fresh->reported;

	if (!*w->topic)
		return json_null();
	return json_pack("{s:s, s:I, s:o, s:o}", "topic", w->topic, "partition",
			 (json_int_t)w->partition, "reported_until",
			 json_time(w->complete_until), "silent_since",
			 json_time(w->silent_since));
}

static json_t *mark_to_json(const struct partition_mark *m)
{
	return json_pack("{s:s, s:I, s:I, s:o, s:o, s:b}", "topic", m->topic,
			 "partition", (json_int_t)m->partition, "epoch",
			 (json_int_t)m->epoch, "reported_until",
			 json_time(m->reported_ms), "heard_at",
			 json_time(m->heard_ms), "retired", m->retired);
}

static json_t *marks_to_json(const struct fresh *fresh)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < fresh->mark_count; i++) {
		if (json_array_append_new(array,
					  mark_to_json(&fresh->marks[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

/* Adds what Kafka held of a partition, or should have held, and no count has.
 */
static int take_not_counted(void *arg, char **f, struct error *err)
{
	json_t *array = arg;

	if (json_array_append_new(
		    array, json_pack("{s:s, s:I, s:I, s:I}", "topic", f[0],
				     "partition", (json_int_t)tsv_u64(f[1]),
				     "dead_lettered", (json_int_t)tsv_u64(f[2]),
				     "lost", (json_int_t)tsv_u64(f[3]))) < 0)
		return error_set_nomem(err);
	return 0;
}

/* A block that was reported twice has the same offsets of the same partition,
 * and counts once. */
static int add_not_counted(struct call *call, json_t *answer, int64_t now_ms,
			   struct error *err)
{
	static const char sql[] =
		"SELECT topic, partition, sum(n_dead), sum(n_lost) FROM "
		"(SELECT topic, partition, max(dead_lettered) AS n_dead, "
		"max(lost) AS n_lost FROM ingest_progress WHERE inserted_at >= "
		"fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND "
		"dead_lettered + lost > 0 AND " PROGRESS_IS_STREAM
		" GROUP BY epoch, topic, partition, first, last) "
		"GROUP BY topic, partition ORDER BY topic, partition "
		"FORMAT TabSeparated";
	int64_t since = (now_ms / CLOCK_HOUR - NOT_COUNTED_HOURS) * CLOCK_HOUR;
	char text[24];
	const struct clickhouse_param params[] = {{"param_since", text},
						  {NULL, NULL}};
	json_t *partitions = json_array();
	int status;

	snprintf(text, sizeof(text), "%" PRId64, since);
	status = partitions ? clickhouse_rows(call->ch, sql, params, "snnn",
					      take_not_counted, partitions, err)
			    : error_set_nomem(err);
	if (status == 0 &&
	    json_object_set_new(answer, "not_counted",
				json_pack("{s:o, s:O}", "from",
					  json_time(since), "partitions",
					  partitions)) < 0)
		status = error_set_nomem(err);
	json_decref(partitions);
	return status;
}

/* --- collectors -----------------------------------------------------------
 */

/* Collectors report every 15 seconds.  A collector that was silent for a minute
 * is listed for an hour, but its last report is not taken as the present state.
 */
static const char collectors_sql[] =
	"SELECT toValidUTF8(collector), toUnixTimestamp64Milli(told_at), "
	"toUInt8(exactly_once), toValidUTF8(guarantee), "
	"told_at >= now64(3, 'UTC') - INTERVAL 1 MINUTE AS is_heard, "
	"length(topics) > 0, t, p, l, "
	"toUInt8(told_at = max(told_at) OVER (PARTITION BY t, p)) FROM "
	"(SELECT * FROM collectors WHERE "
	"told_at >= now64(3, 'UTC') - INTERVAL 1 HOUR AND "
	"told_at <= now64(3, 'UTC') ORDER BY told_at DESC "
	"LIMIT 1 BY collector) LEFT ARRAY JOIN topics AS t, partitions AS p, "
	"lags AS l ORDER BY collector, t, p FORMAT TabSeparated";

struct collectors {
	json_t *list;	       /* borrowed */
	json_t *partitions;    /* the last item's; borrowed */
	const char *last_name; /* the last item's; borrowed */
	bool any_heard, all_exactly_once;
	bool any_lag;
	json_int_t events, partition_count;
	int64_t as_of; /* ms, the oldest */
};

static int begin_collector(struct collectors *c, char **f, struct error *err)
{
	json_t *item =
		json_pack("{s:s, s:o, s:b, s:s, s:[]}", "collector", f[0],
			  "told_at", json_time(tsv_i64(f[1])), "exactly_once",
			  tsv_u64(f[2]) > 0, "guarantee", f[3], "partitions");

	if (json_array_append_new(c->list, item) < 0)
		return error_set_nomem(err);
	c->last_name = json_string_value(json_object_get(item, "collector"));
	c->partitions = json_object_get(item, "partitions");
	if (!tsv_u64(f[4]))
		return 0;
	c->all_exactly_once &= tsv_u64(f[2]) > 0;
	c->any_heard = true;
	return 0;
}

/* If two collectors reported a partition, the newest report counts. */
static int add_partition(struct collectors *c, char **f, struct error *err)
{
	int64_t told_at = tsv_i64(f[1]);
	json_int_t lag = (json_int_t)tsv_u64(f[8]);

	if (json_array_append_new(
		    c->partitions,
		    json_pack("{s:s, s:I, s:I}", "topic", f[6], "partition",
			      (json_int_t)tsv_u64(f[7]), "lag", lag)) < 0)
		return error_set_nomem(err);
	if (!tsv_u64(f[4]) || !tsv_u64(f[9]))
		return 0;
	c->events += lag;
	c->partition_count++;
	if (!c->any_lag || told_at < c->as_of)
		c->as_of = told_at;
	c->any_lag = true;
	return 0;
}

static int take_collector(void *arg, char **f, struct error *err)
{
	struct collectors *c = arg;

	if ((!c->last_name || strcmp(c->last_name, f[0]) != 0) &&
	    begin_collector(c, f, err) < 0)
		return -1;
	return tsv_u64(f[5]) ? add_partition(c, f, err) : 0;
}

static int add_collectors(struct call *call, json_t *answer, struct error *err)
{
	struct collectors c = {.list = json_array(), .all_exactly_once = true};
	json_t *lag, *promise;

	/* The answer owns the list from here on. */
	if (json_object_set_new(answer, "collectors", c.list) < 0)
		return error_set_nomem(err);
	if (clickhouse_rows(call->ch, collectors_sql, NULL, "snnsnnsnnn",
			    take_collector, &c, err) < 0)
		return error_wrap(err, "collectors");
	promise = c.any_heard ? json_boolean(c.all_exactly_once) : json_null();
	lag = c.any_lag ? json_pack("{s:I, s:I, s:o}", "events", c.events,
				    "partitions", c.partition_count, "as_of",
				    json_time(c.as_of))
			: json_null();
	if (json_object_set_new(answer, "exactly_once", promise) < 0 ||
	    json_object_set_new(answer, "lag", lag) < 0)
		return error_set_nomem(err);
	return 0;
}

/* --- loss -----------------------------------------------------------------
 */

static json_t *loss_to_json(const struct reconciliation *r)
{
	struct reconciled_sum sum;

	if (!r->count)
		return json_null();
	reconciliation_sum(r, &sum);
	return json_pack(
		"{s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o}", "from",
		json_time(r->hours[0].start * 1000), "to",
		json_time((r->hours[r->count - 1].start + 3600) * 1000),
		"hours", (json_int_t)sum.hours, "unknown_hours",
		(json_int_t)sum.unknown_hours, "late", (json_int_t)sum.late,
		"waiting", (json_int_t)sum.waiting, "lost",
		steps_json(sum.lost), "surplus", steps_json(sum.surplus));
}

static int add_loss(struct call *call, json_t *answer, struct error *err)
{
	struct reconciliation r;
	int status = reconciled_hours_last(call->ch, LOSS_HOURS, &r, err);

	if (status == 0 &&
	    json_object_set_new(answer, "loss", loss_to_json(&r)) < 0)
		status = error_set_nomem(err);
	reconciliation_release(&r);
	return status;
}

/* --- waiting --------------------------------------------------------------
 */

static json_t *rate_to_json(double per_hour)
{
	return per_hour > 0 ? json_real(per_hour) : json_null();
}

static json_t *waiting_to_json(const struct waiting *w)
{
	return json_pack("{s:I, s:o, s:o, s:o}", "count", (json_int_t)w->count,
			 "oldest", json_time(w->oldest * 1000),
			 "settled_per_hour", rate_to_json(w->per_hour),
			 "done_at", json_time(w->done_at));
}

static int add_waiting(struct call *call, json_t *answer,
		       const struct fresh *fresh, struct error *err)
{
	struct waiting all[WAITING_UNITS];
	json_t *waiting = json_object();
	int status =
		waiting_read(call->ch, &call->config->aggregator,
			     &fresh->published, fresh_now(fresh), all, err);

	for (size_t i = 0; status == 0 && i < WAITING_UNITS; i++)
		if (json_object_set_new(waiting, waiting_names[i],
					waiting_to_json(&all[i])) < 0)
			status = error_set_nomem(err);
	if (status == 0 && json_object_set(answer, "waiting", waiting) < 0)
		status = error_set_nomem(err);
	json_decref(waiting);
	return status;
}

/* -------------------------------------------------------------------------- */

static json_t *to_json(struct call *call, const struct fresh *fresh,
		       const struct held_back *held,
		       const struct copied_days *days)
{
	return json_pack("{s:o, s:o, s:o, s:{s:I, s:I}, s:o, s:o, s:o}",
			 "complete_until",
			 json_time(fresh_complete_until(
				 fresh, &call->config->aggregator)),
			 "clickhouse_time", json_time(fresh->clock.server_ms),
			 "waits_for", waits_for(fresh), "held_back", "hours",
			 (json_int_t)held->hours, "days",
			 (json_int_t)held->days, "rows_from",
			 json_time(days->rows_from * 1000), "counts_from",
			 json_time(days->kept_from * 1000), "partitions",
			 marks_to_json(fresh));
}

int route_pipeline(struct call *call, struct error *err)
{
	struct fresh fresh = {0};
	struct copied_days days = {0};
	struct held_back held;
	struct question q;
	json_t *answer = NULL;
	int status =
		question_parse(&q, call->query, 0, &call->config->aggregator,
			       call_now, call, err);

	question_release(&q);
	if (status == 0)
		status = access_check_all(call->access,
					  "this is about all of them", err);
	if (status == 0)
		status = freshness_get_marks(call->freshness, &fresh, err);
	if (status == 0)
		status = progress_held_back(call->ch, &held, err);
	if (status == 0)
		status = freshness_days(call->freshness, COPIED_LINKS, call->ch,
					0, 0, &days, err);
	if (status == 0) {
		answer = to_json(call, &fresh, &held, &days);
		status = answer ? add_not_counted(call, answer,
						  fresh_now(&fresh), err)
				: error_set_nomem(err);
	}
	if (status == 0)
		status = add_waiting(call, answer, &fresh, err);
	if (status == 0)
		status = add_collectors(call, answer, err);
	if (status == 0)
		status = add_loss(call, answer, err);
	copied_days_release(&days);
	fresh_release(&fresh);
	if (status < 0) {
		json_decref(answer);
		return -1;
	}
	return call_finish_json(call, answer, err);
}
