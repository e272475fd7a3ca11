/*
 * epoch_command.c - `collector epoch`: shows whether a topic's offsets fit its
 * stored rows, and takes an operator's decision where they do not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/commands.h"
#include "collector/exactly_once/cut.h"
#include "collector/exactly_once/facts.h"
#include "common/kafka/reader.h"
#include "common/output.h"

/* A partition, and the plan of a collector for it. */
struct epoch_partition {
	struct stored_key key;
	struct plan_facts facts;
	struct plan plan;
	bool named; /* by --partition */
};

enum decision {
	DECIDE_NOTHING,
	DECIDE_SAME,
	DECIDE_NEW,
	DECIDE_RESUME,
	DECIDE_END,
};

struct epoch_command {
	const struct collector_config *config;
	const char *topic;
	const char *table;
	struct clickhouse *ch;
	struct kafka_reader *reader;
	struct epoch_partition *partitions;
	uint32_t count;
	bool force, some_named;
};

/* --- the command line ----------------------------------------------------- */

static int read_topic(struct epoch_command *cmd, const struct app *app,
		      struct error *err)
{
	const struct kafka_config *kafka = &cmd->config->kafka;
	const char *name = app_option_value(app, "topic");

	cmd->topic = kafka->topic_clicks;
	cmd->table = "clicks";
	if (!name || !strcmp(name, "clicks") ||
	    !strcmp(name, kafka->topic_clicks))
		return 0;
	cmd->topic = kafka->topic_links;
	cmd->table = "links";
	if (!strcmp(name, "links") || !strcmp(name, kafka->topic_links))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--topic: '%.40s': expected clicks or links", name);
}

static int read_decision(const struct app *app, enum decision *ret,
			 struct error *err)
{
	static const char *const names[] = {
		[DECIDE_SAME] = "same",
		[DECIDE_NEW] = "new",
		[DECIDE_RESUME] = "resume",
		[DECIDE_END] = "end",
	};

	*ret = DECIDE_NOTHING;
	for (int i = DECIDE_SAME; i <= DECIDE_END; i++) {
		if (!app_option_value(app, names[i]))
			continue;
		if (*ret)
			return error_set(err, ERROR_USAGE,
					 "--%s and --%s exclude each other",
					 names[*ret], names[i]);
		*ret = (enum decision)i;
	}
	return 0;
}

/* Parses "0,3,17". */
static int read_partitions(struct epoch_command *cmd, const char *text,
			   struct error *err)
{
	unsigned long number;
	const char *at = text;
	char *end;

	while (at) {
		number = strtoul(at, &end, 10);
		if (end == at || *at < '0' || *at > '9' ||
		    (*end && *end != ','))
			return error_set(err, ERROR_USAGE,
					 "--partition: '%.40s': expected "
					 "numbers, separated by commas",
					 text);
		if (number >= cmd->count)
			return error_set(err, ERROR_NOTFOUND,
					 "--partition: %s has %" PRIu32
					 " partitions",
					 cmd->topic, cmd->count);
		cmd->partitions[number].named = true;
		at = *end ? end + 1 : NULL;
	}
	cmd->some_named = true;
	return 0;
}

/* --- state ---------------------------------------------------------------- */

static struct cut_log log_of(const struct epoch_command *cmd,
			     const struct epoch_partition *p)
{
	return (struct cut_log){cmd->reader, cmd->topic, p->key.partition,
				p->facts.log_start, p->facts.log_end};
}

static int ask_kafka(struct epoch_command *cmd, struct epoch_partition *p,
		     struct error *err)
{
	struct kafka_committed committed;
	int64_t start, end;

	if (kafka_reader_commit(cmd->reader, cmd->topic, p->key.partition,
				&committed, err) < 0 ||
	    kafka_reader_bounds(cmd->reader, cmd->topic, p->key.partition,
				&start, &end, err) < 0)
		return -1;
	facts_of_kafka(&p->facts, &committed, start, end);
	return 0;
}

static int find_out_whether_cut(struct epoch_command *cmd,
				struct epoch_partition *p,
				const struct stored_report *report,
				struct error *err)
{
	struct cut_log log = log_of(cmd, p);
	int64_t found = -1;
	bool whole = true;

	if (!report->batch)
		return 0;
	if (kafka_reader_at(cmd->reader, cmd->topic, p->key.partition,
			    report->batch_ms + 1, &found, err) < 0)
		return -1;
	if (facts_look_odd(&p->facts, report, found) &&
	    cut_is_whole(&log, cmd->ch, &p->key, report, (uint64_t)found,
			 &whole, err) < 0)
		return -1;
	p->facts.cut = !whole;
	return 0;
}

/* Makes the plan of a collector that owns the partition. */
static int plan_partition(struct epoch_command *cmd, struct epoch_partition *p,
			  struct error *err)
{
	struct stored_report report;
	struct ranges stored = {0};
	int status = -1;

	p->facts.start = facts_start(&cmd->config->collector);
	if (ask_kafka(cmd, p, err) == 0 &&
	    facts_of_clickhouse(&p->facts, cmd->ch, &p->key,
				(uint32_t)cmd->config->collector.epoch, &stored,
				&report, err) == 0 &&
	    find_out_whether_cut(cmd, p, &report, err) == 0) {
		p->plan = plan_make(&p->facts);
		status = 0;
	}
	ranges_release(&stored);
	return status;
}

static int open_topic(struct epoch_command *cmd, struct error *err)
{
	cmd->ch = clickhouse_new(&cmd->config->clickhouse, err);
	if (!cmd->ch)
		return -1;
	cmd->reader = kafka_reader_new(&cmd->config->kafka, "shortloop-epoch",
				       cmd->config->collector.group, err);
	if (!cmd->reader || kafka_reader_partitions(cmd->reader, cmd->topic,
						    &cmd->count, err) < 0)
		return -1;
	cmd->partitions = calloc(cmd->count + 1, sizeof(*cmd->partitions));
	if (!cmd->partitions)
		return error_set_nomem(err);
	for (uint32_t i = 0; i < cmd->count; i++)
		cmd->partitions[i].key =
			(struct stored_key){.table = cmd->table,
					    .topic = cmd->topic,
					    .partition = (int32_t)i};
	return 0;
}

static int plan_all(struct epoch_command *cmd, struct error *err)
{
	if (stored_sync(cmd->ch, cmd->table, err) < 0)
		return -1;
	for (uint32_t i = 0; i < cmd->count; i++)
		if (plan_partition(cmd, &cmd->partitions[i], err) < 0)
			return -1;
	return 0;
}

static bool partition_fits(const struct epoch_partition *p)
{
	return p->plan.step == PLAN_READ;
}

static int print_partitions(const struct epoch_command *cmd, struct error *err)
{
	struct table *table = table_new(">partition|>epoch|>log from|>to|"
					">committed|>reported to|rows");
	char text[24];

	printf("topic %s\n", cmd->topic);
	for (uint32_t i = 0; i < cmd->count; i++) {
		const struct epoch_partition *p = &cmd->partitions[i];

		snprintf(text, sizeof(text), "%" PRIu64, p->facts.commit);
		table_number(table, i);
		table_number(table, p->facts.epoch);
		table_number(table, p->facts.log_start);
		table_number(table, p->facts.log_end);
		table_text(table, p->facts.committed ? text : "-");
		table_number(table, p->facts.next);
		table_text(table, partition_fits(p) ? "fits" : p->plan.reason);
	}
	return output_table(table, err);
}

/* --- decision ------------------------------------------------------------- */

/* A row of ingest_epochs. */
struct epoch_row {
	const char *decision;
	uint32_t epoch;
	uint64_t next, gap;
};

static int insert_epoch_row(struct epoch_command *cmd,
			    const struct epoch_partition *p,
			    const struct epoch_row *w, struct error *err)
{
	static const char sql[] =
		"INSERT INTO ingest_epochs (topic, partition, epoch, decision, "
		"next, gap, decided_at, decided_by) SELECT {topic:String}, "
		"{partition:UInt32}, {epoch:UInt32}, {decision:String}, "
		"{next:UInt64}, {gap:UInt64}, now64(3, 'UTC'), currentUser()";
	struct buf topic = {0};
	char partition[16], epoch[16], next[24], gap[24];
	int status;

	snprintf(partition, sizeof(partition), "%" PRId32, p->key.partition);
	snprintf(epoch, sizeof(epoch), "%" PRIu32, w->epoch);
	snprintf(next, sizeof(next), "%" PRIu64, w->next);
	snprintf(gap, sizeof(gap), "%" PRIu64, w->gap);
	clickhouse_escape(&topic, cmd->topic, strlen(cmd->topic));
	const struct clickhouse_param params[] = {
		{"param_topic", topic.data},
		{"param_partition", partition},
		{"param_epoch", epoch},
		{"param_decision", w->decision},
		{"param_next", next},
		{"param_gap", gap},
		{NULL, NULL}};

	status = topic.failed
			 ? error_set_nomem(err)
			 : clickhouse_query(cmd->ch, sql, params, NULL, err);
	buf_free(&topic);
	return status;
}

static int decide_same(struct epoch_command *cmd,
		       const struct epoch_partition *p, struct error *err)
{
	const struct epoch_row w = {"same", p->facts.epoch, p->facts.next, 0};

	if (insert_epoch_row(cmd, p, &w, err) < 0)
		return -1;
	printf("partition %" PRId32 " is what it was: epoch %" PRIu32 "\n",
	       p->key.partition, w.epoch);
	return 0;
}

static int decide_new(struct epoch_command *cmd,
		      const struct epoch_partition *p, struct error *err)
{
	const struct epoch_row w = {"renew", p->facts.epoch + 1, 0, 0};

	if (insert_epoch_row(cmd, p, &w, err) < 0)
		return -1;
	printf("partition %" PRId32 " was made anew: epoch %" PRIu32 "\n",
	       p->key.partition, w.epoch);
	return 0;
}

static int decide_resume(struct epoch_command *cmd,
			 const struct epoch_partition *p, bool at_end,
			 struct error *err)
{
	struct epoch_row w = {.decision = "resume",
			      .epoch = p->facts.epoch + 1};
	struct cut_log log = log_of(cmd, p);

	if (cut_find(&log, cmd->ch, &p->key, &w.gap, err) < 0)
		return -1;
	w.next = at_end ? log.end : w.gap;
	if (insert_epoch_row(cmd, p, &w, err) < 0)
		return -1;
	printf("partition %" PRId32 " goes on at offset %" PRIu64
	       ": epoch %" PRIu32,
	       p->key.partition, w.next, w.epoch);
	if (w.gap < w.next)
		printf("; %" PRIu64 " offsets from %" PRIu64 " on are lost",
		       w.next - w.gap, w.gap);
	printf("\n");
	return 0;
}

static bool is_chosen(const struct epoch_command *cmd,
		      const struct epoch_partition *p)
{
	if (cmd->some_named)
		return p->named;
	return cmd->force || !partition_fits(p);
}

static int check_same(const struct epoch_partition *p, struct error *err)
{
	if (p->facts.cut)
		return error_set(err, ERROR_UNSAFE,
				 "partition %" PRId32
				 " is not what it was: new events have offsets "
				 "that are stored; --resume reads them",
				 p->key.partition);
	if (!p->facts.reported && !p->facts.stored_end)
		return error_set(err, ERROR_UNSAFE,
				 "nothing is stored of partition %" PRId32
				 ": --new reads all of it, --end none",
				 p->key.partition);
	return 0;
}

/* Checks all partitions before the first decision is stored: all or none. */
static int check_chosen(const struct epoch_command *cmd, enum decision what,
			struct error *err)
{
	uint32_t chosen = 0;

	for (uint32_t i = 0; i < cmd->count; i++) {
		const struct epoch_partition *p = &cmd->partitions[i];

		if (!is_chosen(cmd, p))
			continue;
		chosen++;
		if (partition_fits(p) && !cmd->force)
			return error_set(err, ERROR_UNSAFE,
					 "partition %" PRIu32
					 " fits: there is nothing to decide "
					 "(--force does it anyway)",
					 i);
		if (p->facts.epoch == UINT32_MAX)
			return error_set(err, ERROR_UNSAFE,
					 "partition %" PRIu32
					 " is in the last epoch there is",
					 i);
		if (what == DECIDE_SAME && check_same(p, err) < 0)
			return -1;
	}
	if (chosen)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "every partition fits: there is nothing to decide "
			 "(--force does it anyway; a new epoch would store "
			 "again what the log holds)");
}

static int apply_decision(struct epoch_command *cmd, enum decision what,
			  struct error *err)
{
	int status = check_chosen(cmd, what, err);

	for (uint32_t i = 0; status == 0 && i < cmd->count; i++) {
		const struct epoch_partition *p = &cmd->partitions[i];

		if (!is_chosen(cmd, p))
			continue;
		if (what == DECIDE_SAME)
			status = decide_same(cmd, p, err);
		else if (what == DECIDE_NEW)
			status = decide_new(cmd, p, err);
		else
			status = decide_resume(cmd, p, what == DECIDE_END, err);
	}
	return status;
}

static bool all_fit(const struct epoch_command *cmd)
{
	for (uint32_t i = 0; i < cmd->count; i++)
		if (!partition_fits(&cmd->partitions[i]))
			return false;
	return true;
}

int collector_epoch(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct epoch_command cmd = {.config = config,
				    .force = app_option_value(app, "force")};
	const char *named = app_option_value(app, "partition");
	enum decision what;
	int status = -1;

	if (read_decision(app, &what, err) < 0 ||
	    read_topic(&cmd, app, err) < 0)
		return -1;
	if (open_topic(&cmd, err) < 0 ||
	    (named && read_partitions(&cmd, named, err) < 0) ||
	    plan_all(&cmd, err) < 0 || print_partitions(&cmd, err) < 0)
		goto out;
	status = what ? apply_decision(&cmd, what, err) : !all_fit(&cmd);
out:
	free(cmd.partitions);
	kafka_reader_free(cmd.reader);
	clickhouse_free(cmd.ch);
	return status;
}
