#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/call.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/pipeline_told.h"
#include "aggregator/api/question.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

/* Of so many hours it is told what was not counted: reports of that age are
 * kept, whatever is dropped. */
#define NOT_COUNTED_HOURS 24

/* Whom the watermark waits for, by its own mark where it has one. */
static json_t *waits_for(const struct fresh *fresh)
{
	const struct watermark *w = &fresh->reported;
	json_t *known = NULL;

	if (!*w->topic)
		return json_null();
	if (w->complete_until)
		known = json_time(w->complete_until);
	return json_pack("{s:s, s:I, s:o}", "topic", w->topic, "partition",
			 (json_int_t)w->partition, "reported_until",
			 known ? known : json_null());
}

static json_t *mark_to_json(const struct partition_mark *m)
{
	return json_pack("{s:s, s:I, s:I, s:o, s:o}", "topic", m->topic,
			 "partition", (json_int_t)m->partition, "epoch",
			 (json_int_t)m->epoch, "reported_until",
			 json_time(m->reported_ms), "heard_at",
			 json_time(m->heard_ms));
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

/* What Kafka held of a partition, or should have, and no count has. */
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

/* A block that was reported twice is the same offsets of the same partition. */
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
		status = pipeline_add_collectors(call, answer, err);
	if (status == 0)
		status = pipeline_add_loss(call, answer, err);
	copied_days_release(&days);
	fresh_release(&fresh);
	if (status < 0) {
		json_decref(answer);
		return -1;
	}
	return call_finish_json(call, answer, err);
}
