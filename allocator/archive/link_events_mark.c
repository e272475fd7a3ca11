#include "allocator/archive/link_events_mark.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/kafka/log_ends.h"

#define ASK_MS 5000 /* the timeout of a query to the brokers */

struct link_events_mark {
	const char *topic;
	int64_t *ends, *stored; /* by partition */
	size_t count;
};

struct link_events_mark *link_events_mark_new(const struct kafka_config *kafka,
					      struct error *err)
{
	struct link_events_mark *mark = calloc(1, sizeof(*mark));

	if (!mark) {
		error_set_nomem(err);
		return NULL;
	}
	mark->topic = kafka->topic_links;
	if (kafka_log_ends(kafka, "takedown", mark->topic, ASK_MS, &mark->ends,
			   &mark->count, err) < 0)
		goto fail;
	mark->stored = calloc(mark->count + 1, sizeof(*mark->stored));
	if (mark->stored)
		return mark;
	error_set_nomem(err);
fail:
	link_events_mark_free(mark);
	return NULL;
}

void link_events_mark_free(struct link_events_mark *mark)
{
	if (!mark)
		return;
	free(mark->ends);
	free(mark->stored);
	free(mark);
}

/* Only the last epoch of a log that was made anew counts.  A report at the
 * start of a log has the `last` before 0, which is the greatest number. */
static const char stored_until[] =
	"SELECT partition, max(if(first = 0 AND last > 9223372036854775807, "
	"0, last + 1)) FROM ingest_progress "
	"WHERE topic = {topic:String} AND (partition, epoch) IN "
	"(SELECT partition, max(epoch) FROM ingest_progress "
	"WHERE topic = {topic:String} GROUP BY partition) "
	"GROUP BY partition FORMAT TabSeparated";

static int take_progress(void *arg, char **fields, struct error *err)
{
	struct link_events_mark *mark = arg;
	uint64_t partition = tsv_u64(fields[0]);

	(void)err;
	if (partition < mark->count)
		mark->stored[partition] = tsv_i64(fields[1]);
	return 0;
}

static int read_progress(struct link_events_mark *mark, struct clickhouse *ch,
			 struct error *err)
{
	struct buf topic = {0};
	struct clickhouse_param params[2] = {{"param_topic", NULL}, {0}};
	int status;

	clickhouse_escape(&topic, mark->topic, strlen(mark->topic));
	params[0].value = topic.data;
	status = topic.failed ? error_set_nomem(err)
			      : clickhouse_rows(ch, stored_until, params, "nn",
						take_progress, mark, err);
	buf_free(&topic);
	return status;
}

int link_events_mark_missing(struct link_events_mark *mark,
			     struct clickhouse *ch, int64_t *ret_missing,
			     struct error *err)
{
	int64_t missing = 0;

	if (read_progress(mark, ch, err) < 0)
		return -1;
	for (size_t i = 0; i < mark->count; i++)
		if (mark->ends[i] > mark->stored[i])
			missing += mark->ends[i] - mark->stored[i];
	*ret_missing = missing;
	return 0;
}
