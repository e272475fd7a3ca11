/*
 * pass_command.c - `collector pass`: names offsets that must not be read.
 * Collectors pass over them when they reach them, and report them as lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/exactly_once/passes.h"
#include "collector/exactly_once/stored.h"
#include "collector/side/side_topics.h"
#include "collector/tools/dlq/dlq_filter.h"
#include "common/buf.h"
#include "common/kafka/reader.h"
#include "common/output.h"

struct pass_command {
	const struct collector_config *config;
	const char *topic;
	const char *table; /* NULL: a side topic */
	uint32_t partitions;
	struct clickhouse *ch;
	struct kafka_reader *reader;
};

struct known_topic {
	const char *name, *topic, *table;
};

enum {
	KNOWN_TOPICS = 2 + SIDE_TOPICS
};

static void list_topics(const struct kafka_config *kafka,
			struct known_topic ret[KNOWN_TOPICS])
{
	struct side_topic side[SIDE_TOPICS];

	ret[0] = (struct known_topic){"clicks", kafka->topic_clicks, "clicks"};
	ret[1] = (struct known_topic){"links", kafka->topic_links, "links"};
	side_topics(kafka, side);
	for (size_t i = 0; i < SIDE_TOPICS; i++)
		ret[2 + i] = (struct known_topic){side[i].kind->name,
						  side[i].topic, NULL};
}

static int refuse_topic(const struct known_topic *known, const char *name,
			struct error *err)
{
	struct buf names = {0};

	for (size_t i = 0; i < KNOWN_TOPICS; i++) {
		buf_puts(&names, !i			 ? ""
				 : i + 1 == KNOWN_TOPICS ? " or "
							 : ", ");
		buf_puts(&names, known[i].name);
	}
	error_set(err, ERROR_USAGE, "--topic: '%.40s': expected %s", name,
		  buf_cstr(&names) ? buf_cstr(&names) : "another");
	buf_free(&names);
	return -1;
}

static int read_topic(struct pass_command *cmd, const char *name,
		      struct error *err)
{
	struct known_topic known[KNOWN_TOPICS];

	list_topics(&cmd->config->kafka, known);
	for (size_t i = 0; i < KNOWN_TOPICS; i++) {
		if (name && strcmp(name, known[i].name) != 0 &&
		    strcmp(name, known[i].topic) != 0)
			continue;
		cmd->topic = known[i].topic;
		cmd->table = known[i].table;
		return 0;
	}
	return refuse_topic(known, name, err);
}

static int open_parts(struct pass_command *cmd, struct error *err)
{
	cmd->ch = clickhouse_new(&cmd->config->clickhouse, err);
	if (!cmd->ch)
		return -1;
	cmd->reader = kafka_reader_new(&cmd->config->kafka, "shortloop-pass",
				       cmd->config->collector.group, err);
	return cmd->reader ? kafka_reader_partitions(cmd->reader, cmd->topic,
						     &cmd->partitions, err)
			   : -1;
}

/* --- list ----------------------------------------------------------------- */

static int list_passes(struct pass_command *cmd, struct error *err)
{
	struct table *table = table_new(">partition|>epoch|>first|>last");
	struct passes passes;
	int status = passes_load(cmd->ch, &passes, err);

	for (size_t i = 0; status == 0 && i < passes.count; i++) {
		const struct pass *p = &passes.items[i];

		if (strcmp(p->topic, cmd->topic) != 0)
			continue;
		table_number(table, (uint64_t)p->partition);
		table_number(table, p->epoch);
		table_number(table, p->first);
		table_number(table, p->last);
	}
	passes_release(&passes);
	if (status == 0)
		printf("to be passed over of topic %s\n", cmd->topic);
	return output_table(table, err) < 0 ? -1 : status;
}

/* --- new passes ----------------------------------------------------------- */

static int check_partition(const struct pass_command *cmd,
			   struct dlq_filter_range *range, struct error *err)
{
	if (range->partition < 0 && cmd->partitions == 1)
		range->partition = 0;
	if (range->partition < 0)
		return error_set(err, ERROR_USAGE,
				 "--offset: %s has %" PRIu32
				 " partitions: expected "
				 "PARTITION:FIRST-LAST",
				 cmd->topic, cmd->partitions);
	if ((uint32_t)range->partition < cmd->partitions)
		return 0;
	return error_set(err, ERROR_NOTFOUND,
			 "--offset: %s has %" PRIu32 " partitions", cmd->topic,
			 cmd->partitions);
}

static int check_log(struct pass_command *cmd,
		     const struct dlq_filter_range *range, struct error *err)
{
	int64_t low, high;

	if (kafka_reader_bounds(cmd->reader, cmd->topic, range->partition, &low,
				&high, err) < 0)
		return -1;
	if (range->last < (uint64_t)high)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "--offset: partition %" PRId32
			 " of %s ends before %" PRId64
			 ": what is not there yet cannot be passed over",
			 range->partition, cmd->topic, high);
}

/* Offsets that are stored already stay stored.  Sets the epoch. */
static int check_stored(struct pass_command *cmd, struct pass *pass,
			struct error *err)
{
	struct stored_key key = {.table = cmd->table,
				 .topic = cmd->topic,
				 .partition = pass->partition};
	struct stored_epoch epoch;
	struct stored_report report;

	pass->epoch = (uint32_t)cmd->config->collector.epoch;
	if (!cmd->table)
		return 0;
	if (stored_sync(cmd->ch, cmd->table, err) < 0 ||
	    stored_epoch(cmd->ch, &key, pass->epoch, &epoch, err) < 0)
		return -1;
	key.epoch = pass->epoch = epoch.number;
	if (stored_report(cmd->ch, &key, &report, err) < 0)
		return -1;
	if (!report.any || report.next <= pass->first)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "--offset: collectors are done with all before "
			 "%" PRIu64 " of partition %" PRId32 " of %s",
			 report.next, pass->partition, cmd->topic);
}

static int check_pass(struct pass_command *cmd, struct dlq_filter_range *range,
		      struct pass *ret, struct error *err)
{
	if (check_partition(cmd, range, err) < 0)
		return -1;
	*ret = (struct pass){.topic = cmd->topic,
			     .partition = range->partition,
			     .first = range->first,
			     .last = range->last};
	if (check_log(cmd, range, err) < 0)
		return -1;
	return check_stored(cmd, ret, err);
}

/* Stores all offsets, or none. */
static int add_new_passes(struct pass_command *cmd, const char *offsets,
			  const char *reason, bool dry_run, struct error *err)
{
	struct pass passes[DLQ_FILTER_RANGES_MAX];
	struct dlq_filter chosen = {0};

	if (dlq_filter_read_offsets(&chosen, offsets, err) < 0)
		return -1;
	for (size_t i = 0; i < chosen.range_count; i++)
		if (check_pass(cmd, &chosen.ranges[i], &passes[i], err) < 0)
			return -1;
	if (!dry_run &&
	    passes_note(cmd->ch, passes, chosen.range_count, reason, err) < 0)
		return -1;
	for (size_t i = 0; i < chosen.range_count; i++) {
		const struct pass *p = &passes[i];

		printf("%" PRIu64 " offsets of %s %" PRId32 ", %" PRIu64
		       "-%" PRIu64 ", %s passed over and reported as lost\n",
		       p->last - p->first + 1, cmd->topic, p->partition,
		       p->first, p->last, dry_run ? "would be" : "are");
	}
	return 0;
}

int collector_pass(struct app *app, const void *arg, struct error *err)
{
	struct pass_command cmd = {.config = arg};
	const char *offsets = app_option_value(app, "offset");
	const char *reason = app_option_value(app, "reason");
	int status = -1;

	if (read_topic(&cmd, app_option_value(app, "topic"), err) < 0)
		return -1;
	if (offsets && !reason)
		return error_set(err, ERROR_USAGE,
				 "--offset: say why, with --reason TEXT");
	if (open_parts(&cmd, err) == 0)
		status =
			offsets ? add_new_passes(
					  &cmd, offsets, reason,
					  app_option_value(app, "dry-run"), err)
				: list_passes(&cmd, err);
	kafka_reader_free(cmd.reader);
	clickhouse_free(cmd.ch);
	return status;
}
