#include "collector/exactly_once/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/drop_const.h"

void passes_release(struct passes *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(drop_const(p->items[i].topic));
	free(p->items);
	*p = (struct passes){0};
}

static int take_pass_row(void *arg, char **fields, struct error *err)
{
	struct passes *p = arg;
	struct pass *items;
	char *topic = strdup(fields[0]);

	items = realloc(p->items, (p->count + 1) * sizeof(*items));
	if (items)
		p->items = items;
	if (!items || !topic) {
		free(topic);
		return error_set_nomem(err);
	}
	items[p->count++] = (struct pass){
		.topic = topic,
		.partition = (int32_t)tsv_u64(fields[1]),
		.epoch = (uint32_t)tsv_u64(fields[2]),
		.first = tsv_u64(fields[3]),
		.last = tsv_u64(fields[4]) - 1,
	};
	return 0;
}

int passes_load(struct clickhouse *ch, struct passes *ret, struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT topic, partition, epoch, gap, next "
		"FROM ingest_epochs WHERE decision = 'pass' AND gap < next "
		"ORDER BY topic, partition, epoch, gap, next";

	*ret = (struct passes){0};
	if (clickhouse_rows(ch, sql, NULL, "snnnn", take_pass_row, ret, err) <
	    0)
		return error_wrap(err, "ingest_epochs");
	ret->are_known = true;
	return 0;
}

const struct pass *passes_next(const struct passes *p, const char *topic,
			       int32_t partition, uint32_t epoch, uint64_t from)
{
	const struct pass *next = NULL;

	for (size_t i = 0; i < p->count; i++) {
		const struct pass *one = &p->items[i];

		if (one->partition != partition || one->epoch != epoch ||
		    one->last < from || strcmp(one->topic, topic) != 0)
			continue;
		if (!next || one->first < next->first)
			next = one;
	}
	return next;
}

/* Writes the elements of an array of tuples in ClickHouse's syntax. */
static void write_passes(struct buf *sql, const struct pass *passes,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(sql,
			   "%s(%" PRId32 ", %" PRIu32 ", %" PRIu64 ", %" PRIu64
			   ")",
			   i ? ", " : "", passes[i].partition, passes[i].epoch,
			   passes[i].last + 1, passes[i].first);
}

int passes_note(struct clickhouse *ch, const struct pass *passes, size_t count,
		const char *reason, struct error *err)
{
	struct buf sql = {0}, topic = {0}, why = {0};
	int status;

	if (!count)
		return 0;
	buf_puts(&sql,
		 "INSERT INTO ingest_epochs (topic, partition, epoch, "
		 "decision, next, gap, reason, decided_at, decided_by) "
		 "SELECT {topic:String}, noted.1, noted.2, 'pass', noted.3, "
		 "noted.4, {reason:String}, now64(3, 'UTC'), currentUser() "
		 "FROM (SELECT arrayJoin([");
	write_passes(&sql, passes, count);
	buf_puts(&sql, "]) AS noted)");
	clickhouse_escape(&topic, passes->topic, strlen(passes->topic));
	clickhouse_escape(&why, reason, strlen(reason));
	const struct clickhouse_param params[] = {{"param_topic", topic.data},
						  {"param_reason", why.data},
						  {NULL, NULL}};

	status = !buf_cstr(&sql) || topic.failed || why.failed
			 ? error_set_nomem(err)
			 : clickhouse_query(ch, sql.data, params, NULL, err);
	buf_free(&sql);
	buf_free(&topic);
	buf_free(&why);
	return status;
}
