#include "aggregator/api/pipeline_told.h"

#include <stdbool.h>
#include <string.h>

#include "aggregator/reconcile/reconciled_hours.h"
#include "common/clickhouse/rows.h"

#define LOSS_HOURS 24

/* --- collectors -----------------------------------------------------------
 */

/* Collectors tell every quarter of a minute.  Who was silent for a minute is
 * shown for an hour, but what it said is not taken for what is so. */
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
	json_t *partitions;    /* of the last of it; borrowed */
	const char *last_name; /* of the last; borrowed */
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

/* Of a partition that two have told of, the newest counts. */
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

int pipeline_add_collectors(struct call *call, json_t *answer,
			    struct error *err)
{
	struct collectors c = {.list = json_array(), .all_exactly_once = true};
	json_t *lag, *promise;

	/* The answer owns it from here on. */
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

static json_t *steps_to_json(const int64_t steps[LOST_STEPS])
{
	json_t *object = json_object();

	for (enum reconciled_step i = 0; object && i < LOST_STEPS; i++)
		json_object_set_new(object, reconciled_step_names[i],
				    json_integer(steps[i]));
	return object;
}

static json_t *loss_to_json(const struct reconciliation *r)
{
	struct reconciled_sum sum;

	if (!r->count)
		return json_null();
	reconciliation_sum(r, &sum);
	return json_pack(
		"{s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "from",
		json_time(r->hours[0].start * 1000), "to",
		json_time((r->hours[r->count - 1].start + 3600) * 1000),
		"hours", (json_int_t)sum.hours, "unknown_hours",
		(json_int_t)sum.unknown_hours, "late", (json_int_t)sum.late,
		"lost", steps_to_json(sum.lost), "surplus",
		steps_to_json(sum.surplus));
}

int pipeline_add_loss(struct call *call, json_t *answer, struct error *err)
{
	struct reconciliation r;
	int status = reconciled_hours_last(call->ch, LOSS_HOURS, &r, err);

	if (status == 0 &&
	    json_object_set_new(answer, "loss", loss_to_json(&r)) < 0)
		status = error_set_nomem(err);
	reconciliation_release(&r);
	return status;
}
