#include "allocator/archive/link_events_wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/kafka/log_ends.h"

enum {
	ASK_MS = 5000,	/* the timeout of a query to the brokers */
	LOOK_MS = 500,	/* between two checks */
	TELL_MS = 5000, /* between two lines about the same */
};

/* The ends of the topic's log, and how far the archive has come. */
struct log_marks {
	int64_t *ends, *stored;
	size_t count;
};

/* Of a log that was made anew, only the last epoch counts.  A report at the
 * start of a log has the `last` before 0. */
static const char stored_until[] =
	"SELECT partition, max(last + 1) FROM ingest_progress "
	"WHERE topic = {topic:String} AND (partition, epoch) IN "
	"(SELECT partition, max(epoch) FROM ingest_progress "
	"WHERE topic = {topic:String} GROUP BY partition) "
	"GROUP BY partition FORMAT TabSeparated";

static int take_mark(void *arg, char **fields, struct error *err)
{
	struct log_marks *marks = arg;
	uint64_t partition = tsv_u64(fields[0]);

	(void)err;
	if (partition < marks->count)
		marks->stored[partition] = tsv_i64(fields[1]);
	return 0;
}

static int read_missing(struct clickhouse *ch, const char *topic,
			struct log_marks *marks, int64_t *ret_missing,
			struct error *err)
{
	struct buf name = {0};
	int64_t missing = 0;
	int status;

	clickhouse_escape(&name, topic, strlen(topic));
	if (name.failed) {
		buf_free(&name);
		return error_set_nomem(err);
	}
	status = clickhouse_rows(ch, stored_until,
				 (const struct clickhouse_param[]){
					 {"param_topic", name.data}, {0}},
				 "nn", take_mark, marks, err);
	buf_free(&name);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < marks->count; i++)
		if (marks->ends[i] > marks->stored[i])
			missing += marks->ends[i] - marks->stored[i];
	*ret_missing = missing;
	return 0;
}

/* Says it once it is less than before, or a while later. */
static void tell_missing(int64_t missing, int64_t *told, int64_t *next)
{
	int64_t now = clock_monotonic_ms();

	if (missing == *told && now < *next)
		return;
	*told = missing;
	*next = now + TELL_MS;
	printf("waiting for the archive: %" PRId64 " link events are not "
	       "stored yet\n",
	       missing);
	fflush(stdout);
}

static int await_marks(struct app *app, struct clickhouse *ch,
		       const char *topic, int64_t wait_ms,
		       struct log_marks *marks, struct error *err)
{
	int64_t until = clock_monotonic_ms() + wait_ms;
	int64_t missing = 0, told = 0, next = 0;

	for (;;) {
		if (read_missing(ch, topic, marks, &missing, err) < 0)
			return -1;
		if (missing == 0)
			return 0;
		if (clock_monotonic_ms() >= until)
			break;
		tell_missing(missing, &told, &next);
		if (app_should_stop(app, LOOK_MS))
			return error_set(err, ERROR_STOPPED,
					 "ended while the archive was behind");
	}
	return error_set_retriable(
		err, ERROR_BUSY,
		"the archive does not have %" PRId64 " link events of %s yet: "
		"does the collector run?  A longer --wait waits for it",
		missing, topic);
}

int link_events_wait(struct app *app, const struct kafka_config *kafka,
		     struct clickhouse *ch, int64_t wait_ms, struct error *err)
{
	struct log_marks marks = {0};
	int status = kafka_log_ends(kafka, "takedown", kafka->topic_links,
				    ASK_MS, &marks.ends, &marks.count, err);

	if (status < 0)
		return -1;
	marks.stored = calloc(marks.count + 1, sizeof(*marks.stored));
	status = marks.stored ? await_marks(app, ch, kafka->topic_links,
					    wait_ms, &marks, err)
			      : error_set_nomem(err);
	free(marks.stored);
	free(marks.ends);
	return status;
}
