#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/call.h"
#include "aggregator/api/pipeline/steps_json.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/reconcile/reconcile.h"
#include "common/clock.h"

#define HOUR  INT64_C(3600) /* seconds */
#define HOURS 24	    /* default range */

/* --- JSON ----------------------------------------------------------------- */

/* 0 is an instant here, like any other. */
static json_t *instant_to_json(int64_t real_ms)
{
	char text[RFC3339_TEXT_MAX];

	return json_string(rfc3339_format(real_ms, text));
}

static json_t *answered_to_json(const struct reconciled_hour *h)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < RECONCILED_ANSWERS; i++)
		json_object_set_new(object, reconciled_answer_names[i],
				    json_count(h->answered[i]));
	return object;
}

static json_t *lost_to_json(const struct reconciled_hour *h)
{
	int64_t lost[LOST_STEPS];

	for (enum reconciled_step i = 0; i < LOST_STEPS; i++)
		lost[i] = reconciled_lost(h, i);
	return steps_json(lost);
}

static int64_t unknown_minutes(const struct reconciled_hour *h)
{
	return (h->unknown_ms + CLOCK_MINUTE - 1) / CLOCK_MINUTE;
}

static json_t *hour_to_json(const struct reconciled_hour *h)
{
	return json_pack(
		"{s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:{s:o, s:I, s:o, s:b}, s:o}",
		"hour", instant_to_json(h->start * 1000), "complete",
		reconciled_is_complete(h), "reported",
		reconciled_is_reported(h), "answered", answered_to_json(h),
		"produced", json_count(h->produced), "acknowledged",
		json_count(h->acknowledged), "dropped", json_count(h->dropped),
		"spooled", json_count(h->spooled), "replayed",
		json_count(h->replayed), "withheld", json_count(h->withheld),
		"stored", json_count(h->stored), "imported",
		json_count(h->imported), "late", json_count(h->late), "repeats",
		json_count(h->repeats), "repeats_removed",
		json_count(h->removed), "settled", json_count(h->settled),
		"waiting", json_count(reconciled_waiting(h)), "lost",
		lost_to_json(h), "unknown", "redirectors",
		json_count(h->unknown), "minutes",
		(json_int_t)unknown_minutes(h), "rows",
		json_count(h->unreported), "inexact", h->inexact, "kept_at",
		json_time(h->kept_at));
}

static json_t *gap_to_json(const struct reconciled_gap *g)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "instance", g->instance,
			 "boot", json_id(g->boot), "from",
			 instant_to_json(g->from), "to",
			 instant_to_json(g->to));
}

static json_t *hours_to_json(const struct reconciliation *r)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < r->count; i++)
		if (json_array_append_new(array, hour_to_json(&r->hours[i])) <
		    0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *gaps_to_json(const struct reconciliation *r)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < r->gap_count; i++)
		if (json_array_append_new(array, gap_to_json(&r->gaps[i])) <
		    0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *to_json(const struct question *q, const struct reconciliation *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "from",
			 instant_to_json(q->from * 1000), "to",
			 instant_to_json(q->to * 1000), "complete_until",
			 json_complete_until(r->complete_until, q->to), "hours",
			 hours_to_json(r), "gaps", gaps_to_json(r));
}

/* --- CSV ------------------------------------------------------------------ */

static void hour_to_csv(const struct reconciled_hour *h, struct buf *out)
{
	char text[RFC3339_TEXT_MAX];
	const uint64_t numbers[] = {h->produced,
				    h->acknowledged,
				    h->dropped,
				    h->spooled,
				    h->replayed,
				    h->withheld,
				    h->stored,
				    h->imported,
				    h->late,
				    h->repeats,
				    h->removed,
				    h->settled,
				    reconciled_waiting(h)};

	buf_printf(out, "%s,%d,%d", rfc3339_format(h->start * 1000, text),
		   reconciled_is_complete(h), reconciled_is_reported(h));
	for (size_t i = 0; i < RECONCILED_ANSWERS; i++)
		buf_printf(out, ",%" PRIu64, h->answered[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		buf_printf(out, ",%" PRIu64, numbers[i]);
	for (enum reconciled_step i = 0; i < LOST_STEPS; i++)
		buf_printf(out, ",%" PRId64, reconciled_lost(h, i));
	buf_printf(out, ",%zu,%" PRId64 ",%" PRIu64 ",%s\r\n", h->unknown,
		   unknown_minutes(h), h->unreported,
		   h->kept_at ? rfc3339_format(h->kept_at, text) : "");
}

static void to_csv(const struct reconciliation *r, struct buf *out)
{
	buf_puts(out, "hour,complete,reported");
	for (size_t i = 0; i < RECONCILED_ANSWERS; i++)
		buf_printf(out, ",%s", reconciled_answer_names[i]);
	buf_puts(out, ",produced,acknowledged,dropped,spooled,replayed,"
		      "withheld,stored,"
		      "imported,late,repeats,repeats_removed,settled,"
		      "waiting");
	for (size_t i = 0; i < LOST_STEPS; i++)
		buf_printf(out, ",lost_%s", reconciled_step_names[i]);
	buf_puts(out, ",unknown_redirectors,unknown_minutes,unknown_rows,"
		      "kept_at\r\n");
	for (size_t i = 0; i < r->count; i++)
		hour_to_csv(&r->hours[i], out);
}

/* -------------------------------------------------------------------------- */

static int check_range(struct question *q, struct error *err)
{
	if (question_take_whole(q, HOUR, HOURS, err) < 0)
		return -1;
	if (q->to - q->from > RECONCILE_HOURS_MAX * HOUR)
		return error_set_field(err, "from",
				       "expected at most %d hours before `to`",
				       RECONCILE_HOURS_MAX);
	return 0;
}

/* An hour whose results were not kept is refused like other dropped days. */
static int check_kept(struct call *call, const struct reconciliation *r,
		      struct error *err)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->hours[i].gone && !r->hours[i].kept_at)
			return call_check_rows(call, r->hours[i].start, err);
	return 0;
}

int route_reconciliation(struct call *call, struct error *err)
{
	struct question q;
	struct reconciliation r = {0};
	int status =
		question_parse(&q, call->query, ASK_RANGE | ASK_FORMAT,
			       &call->config->aggregator, call_now, call, err);

	if (status == 0)
		status = access_check_all(call->access,
					  "this is about all of them", err);
	if (status == 0)
		status = check_range(&q, err);
	if (status == 0)
		status = call_check_counts(call, q.from, err);
	if (status == 0)
		status = reconcile(call->ch, &call->config->aggregator.clicks,
				   q.from, q.to, &r, err);
	if (status == 0)
		status = check_kept(call, &r, err);
	if (status == 0 && q.csv) {
		to_csv(&r, &call->body);
		status = call_finish_csv(call, err);
	} else if (status == 0) {
		status = call_finish_json(call, to_json(&q, &r), err);
	}
	reconciliation_release(&r);
	question_release(&q);
	return status;
}
