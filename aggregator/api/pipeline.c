#include "aggregator/api/call.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/question.h"

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
	if (status == 0)
		status = call_finish_json(
			call, to_json(call, &fresh, &held, &days), err);
	copied_days_release(&days);
	fresh_release(&fresh);
	return status;
}
