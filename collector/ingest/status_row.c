#include "collector/ingest/status_row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

/* Values of the statement's parameters. */
struct status_row {
	bool exactly_once;
	struct buf collector, guarantee;
	struct buf topics, partitions, lags; /* arrays */
};

/* Topic names have no characters that need escaping. */
static void add_partition(struct status_row *row, const struct partition *p)
{
	const char *comma = row->topics.len > 1 ? "," : "";

	buf_printf(&row->topics, "%s'%s'", comma, p->topic);
	buf_printf(&row->partitions, "%s%" PRId32, comma, p->number);
	buf_printf(&row->lags, "%s%" PRId64, comma, p->behind);
}

static int fill_status_row(struct status_row *row, const char *collector,
			   const struct guarantee *guarantee,
			   const struct partitions *all)
{
	struct buf *const arrays[] = {&row->topics, &row->partitions,
				      &row->lags};
	bool failed = false;

	row->exactly_once = guarantee->exactly_once;
	clickhouse_escape(&row->collector, collector, strlen(collector));
	clickhouse_escape(&row->guarantee, guarantee->text,
			  strlen(guarantee->text));
	for (size_t i = 0; i < 3; i++)
		buf_putc(arrays[i], '[');
	for (size_t i = 0; i < all->count; i++)
		if (partition_is_assigned(all->items[i]) &&
		    all->items[i]->behind >= 0)
			add_partition(row, all->items[i]);
	for (size_t i = 0; i < 3; i++) {
		buf_putc(arrays[i], ']');
		failed |= !buf_cstr(arrays[i]);
	}
	return failed || row->collector.failed || row->guarantee.failed ? -1
									: 0;
}

struct status_row *status_row_new(const char *collector,
				  const struct guarantee *guarantee,
				  const struct partitions *all)
{
	struct status_row *row = calloc(1, sizeof(*row));

	if (row && fill_status_row(row, collector, guarantee, all) == 0)
		return row;
	status_row_free(row);
	return NULL;
}

void status_row_free(struct status_row *row)
{
	if (!row)
		return;
	buf_free(&row->collector);
	buf_free(&row->guarantee);
	buf_free(&row->topics);
	buf_free(&row->partitions);
	buf_free(&row->lags);
	free(row);
}

int status_row_insert(const struct status_row *row, struct sink *sink,
		      struct error *err)
{
	const struct clickhouse_param params[] = {
		{"param_collector", row->collector.data},
		{"param_exactly_once", row->exactly_once ? "1" : "0"},
		{"param_guarantee", row->guarantee.data},
		{"param_topics", row->topics.data},
		{"param_partitions", row->partitions.data},
		{"param_lags", row->lags.data},
		{NULL, NULL}};

	return clickhouse_query(
		sink_server(sink),
		"INSERT INTO collectors (collector, told_at, exactly_once, "
		"guarantee, topics, partitions, lags) SELECT "
		"{collector:String}, now64(3, 'UTC'), {exactly_once:UInt8}, "
		"{guarantee:String}, {topics:Array(String)}, "
		"{partitions:Array(UInt32)}, {lags:Array(UInt64)}",
		params, NULL, err);
}
