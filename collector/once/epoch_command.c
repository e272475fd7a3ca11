#include "collector/once/epoch_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/once/stored.h"
#include "common/kafka/reader.h"
#include "common/output.h"

struct epoch_job {
	const struct collector_config *config;
	const char *topic;
	const char *table;
	struct clickhouse *ch;
	struct kafka_reader *reader;
	uint32_t epoch;
	uint32_t partitions;
	unsigned misfits;
};

static int read_topic(struct epoch_job *j, const struct app *app,
		      struct error *err)
{
	const struct kafka_config *kafka = &j->config->kafka;
	const char *name = app_option_value(app, "topic");

	j->topic = kafka->topic_clicks;
	j->table = "clicks";
	if (!name || !strcmp(name, "clicks") ||
	    !strcmp(name, kafka->topic_clicks))
		return 0;
	j->topic = kafka->topic_links;
	j->table = "links";
	if (!strcmp(name, "links") || !strcmp(name, kafka->topic_links))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--topic: '%.40s': expected clicks or links", name);
}

static int open_job(struct epoch_job *j, struct error *err)
{
	j->ch = clickhouse_new(&j->config->clickhouse, err);
	if (!j->ch)
		return -1;
	j->reader = kafka_reader_new(&j->config->kafka, "shortloop-epoch",
				     j->config->collector.group, err);
	if (!j->reader)
		return -1;
	if (kafka_reader_partitions(j->reader, j->topic, &j->partitions, err) <
	    0)
		return -1;
	if (stored_sync(j->ch, j->table, err) < 0)
		return -1;
	return stored_epoch(j->ch, j->topic,
			    (uint32_t)j->config->collector.epoch, &j->epoch,
			    err);
}

/* As once/plan.c has it, without the rows that were not yet reported. */
static const char *fit(int64_t committed, int64_t end, uint64_t next)
{
	if (next > (uint64_t)end || committed > end)
		return "beyond the end of the log";
	if (committed < 0 && next > 0)
		return "nothing is committed";
	return "fits";
}

static int show_partition(struct epoch_job *j, int32_t partition,
			  struct table *table, struct error *err)
{
	struct stored_key key = {j->table, j->topic, partition, j->epoch};
	struct stored_report report;
	int64_t start, end, committed;
	const char *how;
	char text[24] = "-";

	if (kafka_reader_bounds(j->reader, j->topic, partition, &start, &end,
				err) < 0 ||
	    kafka_reader_committed(j->reader, j->topic, partition, &committed,
				   err) < 0 ||
	    stored_report(j->ch, &key, &report, err) < 0)
		return -1;
	if (committed >= 0)
		snprintf(text, sizeof(text), "%" PRId64, committed);
	how = fit(committed, end, report.next);
	j->misfits += strcmp(how, "fits") != 0;
	table_number(table, (uint64_t)partition);
	table_number(table, (uint64_t)start);
	table_number(table, (uint64_t)end);
	table_text(table, text);
	table_number(table, report.next);
	table_text(table, how);
	return 0;
}

static int show(struct epoch_job *j, struct error *err)
{
	struct table *table = table_new(
		">partition|>log from|>to|committed|>reported to|rows");

	printf("topic %s, epoch %" PRIu32 "\n", j->topic, j->epoch);
	for (uint32_t p = 0; p < j->partitions; p++)
		if (show_partition(j, (int32_t)p, table, err) < 0) {
			table_free(table);
			return -1;
		}
	return output_table(table, err);
}

/* `sql` with the topic, the epoch and who is asking. */
static int note(struct epoch_job *j, const char *sql, uint32_t epoch,
		struct error *err)
{
	struct buf topic = {0};
	char number[16];
	struct clickhouse_param params[] = {
		{"param_topic", NULL}, {"param_epoch", number}, {NULL, NULL}};
	int status;

	clickhouse_escape(&topic, j->topic, strlen(j->topic));
	params[0].value = topic.data;
	snprintf(number, sizeof(number), "%" PRIu32, epoch);
	status = topic.failed ? error_set_nomem(err)
			      : clickhouse_query(j->ch, sql, params, NULL, err);
	buf_free(&topic);
	return status;
}

static int note_new(struct epoch_job *j, struct error *err)
{
	static const char sql[] =
		"INSERT INTO ingest_epochs SELECT {topic:String}, 0, "
		"{epoch:UInt32}, 'new', 0, now64(3, 'UTC'), currentUser()";

	if (note(j, sql, j->epoch + 1, err) < 0)
		return -1;
	printf("topic %s was made anew: epoch %" PRIu32 "\n", j->topic,
	       j->epoch + 1);
	return 0;
}

#define SAME_OF(table)                                                         \
	"INSERT INTO ingest_epochs SELECT {topic:String}, partition, "         \
	"{epoch:UInt32}, 'same', max(next), now64(3, 'UTC'), currentUser() "   \
	"FROM (SELECT partition, " STORED_NEXT                                 \
	" AS next FROM ingest_progress "                                       \
	"WHERE topic = {topic:String} AND epoch = {epoch:UInt32} "             \
	"GROUP BY partition UNION ALL SELECT DISTINCT partition, 0 "           \
	"FROM " table                                                          \
	" WHERE topic = {topic:String} AND epoch = {epoch:UInt32}) "           \
	"GROUP BY partition"

static int note_same(struct epoch_job *j, struct error *err)
{
	static const char clicks[] = SAME_OF("clicks");
	static const char links[] = SAME_OF("links");

	if (note(j, strcmp(j->table, "links") == 0 ? links : clicks, j->epoch,
		 err) < 0)
		return -1;
	printf("topic %s is what it was: epoch %" PRIu32 "\n", j->topic,
	       j->epoch);
	return 0;
}

static int decide(struct epoch_job *j, const struct app *app, struct error *err)
{
	bool new_life = app_option_value(app, "new");

	if (!j->misfits && !app_option_value(app, "force"))
		return error_set(
			err, ERROR_UNSAFE,
			"every partition fits: %s (--force does it anyway)",
			new_life ? "a new epoch would store again what the log "
				   "holds"
				 : "there is nothing to decide");
	return new_life ? note_new(j, err) : note_same(j, err);
}

int collector_epoch(struct app *app, const struct collector_config *config,
		    struct error *err)
{
	bool new_life = app_option_value(app, "new");
	bool same = app_option_value(app, "same");
	struct epoch_job job = {.config = config};
	int status = -1;

	if (new_life && same)
		return error_set(err, ERROR_USAGE,
				 "--new and --same exclude each other");
	if (read_topic(&job, app, err) < 0)
		return -1;
	if (open_job(&job, err) < 0 || show(&job, err) < 0)
		goto out;
	status = new_life || same ? decide(&job, app, err) : job.misfits > 0;
out:
	kafka_reader_free(job.reader);
	clickhouse_free(job.ch);
	return status;
}
