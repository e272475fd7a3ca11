/*
 * dlq_command.c - `collector dlq list` and `collector dlq replay`: lists the
 * events that could not be stored, and sends them again.
 *
 * A letter is sent again together with its mark, in one transaction: if the
 * command is killed, either both or none are stored.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/tools/dlq/dlq_filter.h"
#include "collector/tools/dlq/positions.h"
#include "common/clock.h"
#include "common/kafka/transaction.h"
#include "common/output.h"
#include "common/safe_text.h"

#define LIMIT	   50
#define LIMIT_MAX  100000
#define STOP_EVERY 1024 /* records between two checks for a signal */

struct dlq {
	struct app *app;
	const struct collector_config *config;
	struct dlq_filter filter;
	bool json, force, dry_run;
	uint64_t limit; /* limit of the letters listed */

	struct kafka_reader *reader;
	struct positions replayed; /* origins of letters that have a mark */
	struct positions seen;	   /* origins of letters read so far */
	uint64_t records;	   /* number of records read so far */
};

/* Counts a record read.  ERROR_STOPPED when the program must stop. */
static int count_record(struct dlq *d, struct error *err)
{
	if (++d->records % STOP_EVERY == 0 && app_should_stop(d->app, 0))
		return error_set_retriable(err, ERROR_STOPPED, "interrupted");
	return 0;
}

static int take_mark(void *arg, const struct dlq_record *record,
		     struct error *err)
{
	struct dlq *d = arg;

	if (count_record(d, err) < 0)
		return -1;
	if (record->kind == DLQ_MARK &&
	    positions_add(&d->replayed, record->topic, record->partition,
			  record->offset, err) < 0)
		return -1;
	return 0;
}

/* Reads all marks into `replayed`. */
static int read_marks(struct dlq *d, struct error *err)
{
	return dlq_records_walk(d->reader, d->config->kafka.topic_dlq, 0,
				take_mark, d, err);
}

/* --- list ----------------------------------------------------------------- */

#define REASON_SIZE 160
#define TOPIC_SIZE  64
#define BYTES_SIZE  56

/* A letter to show. */
struct dead_letter_line {
	int64_t time_ms;
	int32_t at_partition;
	int64_t at_offset;
	int32_t partition;
	uint64_t offset;
	uint64_t replays;
	uint64_t size;
	char topic[TOPIC_SIZE];
	char reason[REASON_SIZE];
	char bytes[BYTES_SIZE];
};

struct list {
	struct dlq *dlq;
	struct dead_letter_line *lines; /* room for twice the limit */
	size_t count;
	uint64_t letters, copies, replayed, foreign;
};

/* The newest letter comes first. */
static int compare_letter_lines(const void *a, const void *b)
{
	const struct dead_letter_line *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? 1 : -1;
	if (x->at_partition != y->at_partition)
		return x->at_partition < y->at_partition ? -1 : 1;
	return (x->at_offset < y->at_offset) - (x->at_offset > y->at_offset);
}

static void keep_newest(struct list *l)
{
	size_t limit = (size_t)l->dlq->limit;

	qsort(l->lines, l->count, sizeof(*l->lines), compare_letter_lines);
	if (l->count > limit)
		l->count = limit;
}

static void add_line(struct list *l, const struct dlq_record *letter)
{
	struct dead_letter_line *line;

	if (l->count == 2 * (size_t)l->dlq->limit)
		keep_newest(l);
	line = &l->lines[l->count++];
	*line = (struct dead_letter_line){
		.time_ms = letter->time_ms,
		.at_partition = letter->at_partition,
		.at_offset = letter->at_offset,
		.partition = letter->partition,
		.offset = letter->offset,
		.replays = letter->replays,
		.size = letter->len,
	};
	safe_text(line->topic, TOPIC_SIZE, letter->topic,
		  strlen(letter->topic));
	safe_text(line->reason, REASON_SIZE, letter->reason,
		  strlen(letter->reason));
	safe_text(line->bytes, BYTES_SIZE, letter->payload, letter->len);
}

static bool is_replayed(const struct list *l, const char *topic,
			int32_t partition, uint64_t offset)
{
	return positions_have(&l->dlq->replayed, topic, partition, offset);
}

static int list_record(void *arg, const struct dlq_record *record,
		       struct error *err)
{
	struct list *l = arg;
	int added;

	if (count_record(l->dlq, err) < 0)
		return -1;
	l->foreign += record->kind == DLQ_FOREIGN;
	if (!dlq_filter_takes(&l->dlq->filter, record))
		return 0;
	added = positions_add(&l->dlq->seen, record->topic, record->partition,
			      record->offset, err);
	if (added < 0)
		return -1;
	if (!added) {
		l->copies++;
		return 0;
	}
	l->letters++;
	l->replayed += is_replayed(l, record->topic, record->partition,
				   record->offset);
	add_line(l, record);
	return 0;
}

static const char *time_text(int64_t ms, char text[RFC3339_TEXT_MAX])
{
	return ms < 0 ? "-" : rfc3339_format(ms, text);
}

static int print_list_text(const struct list *l, struct error *err)
{
	struct table *t = table_new("letter|time|from|replays|sent again|"
				    ">bytes|reason|content");
	char text[TOPIC_SIZE + 40];

	for (size_t i = 0; i < l->count; i++) {
		const struct dead_letter_line *it = &l->lines[i];

		snprintf(text, sizeof(text), "%" PRId32 ":%" PRId64,
			 it->at_partition, it->at_offset);
		table_text(t, text);
		table_text(t, time_text(it->time_ms, text));
		snprintf(text, sizeof(text), "%s %" PRId32 ":%" PRIu64,
			 it->topic, it->partition, it->offset);
		table_text(t, text);
		snprintf(text, sizeof(text), "%" PRIu64, it->replays);
		table_text(t, text);
		table_text(t,
			   is_replayed(l, it->topic, it->partition, it->offset)
				   ? "yes"
				   : "no");
		table_number(t, it->size);
		table_text(t, it->reason);
		table_text(t, it->bytes);
	}
	if (output_table(t, err) < 0)
		return -1;
	printf("\n%" PRIu64 " letters, %zu shown; %" PRIu64
	       " were sent again.\n",
	       l->letters, l->count, l->replayed);
	if (l->copies)
		printf("%" PRIu64 " copies of the same events are left out.\n",
		       l->copies);
	if (l->foreign)
		printf("%" PRIu64 " records are no letters.\n", l->foreign);
	return 0;
}

static json_t *line_json(const struct list *l,
			 const struct dead_letter_line *it)
{
	char text[RFC3339_TEXT_MAX];

	return json_pack(
		"{s:i, s:I, s:s?, s:s, s:i, s:I, s:I, s:b, s:I, s:s, s:s}",
		"partition", (int)it->at_partition, "offset",
		(json_int_t)it->at_offset, "time",
		it->time_ms < 0 ? NULL : rfc3339_format(it->time_ms, text),
		"source_topic", it->topic, "source_partition",
		(int)it->partition, "source_offset", (json_int_t)it->offset,
		"replays", (json_int_t)it->replays, "sent_again",
		(int)is_replayed(l, it->topic, it->partition, it->offset),
		"size", (json_int_t)it->size, "reason", it->reason, "content",
		it->bytes);
}

static int print_list_json(const struct list *l, struct error *err)
{
	json_t *letters = json_array();

	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(letters, line_json(l, &l->lines[i]));
	return output_json(json_pack("{s:o, s:I, s:I, s:I, s:I}", "letters",
				     letters, "total", (json_int_t)l->letters,
				     "copies", (json_int_t)l->copies,
				     "sent_again", (json_int_t)l->replayed,
				     "foreign", (json_int_t)l->foreign),
			   err);
}

/* Lists the newest letters, each once. */
static int list_letters(struct dlq *d, struct error *err)
{
	struct list l = {.dlq = d};
	int status;

	l.lines = calloc(2 * (size_t)d->limit, sizeof(*l.lines));
	if (!l.lines)
		return error_set_nomem(err);
	status = read_marks(d, err);
	if (status == 0)
		status = dlq_records_walk(d->reader, d->config->kafka.topic_dlq,
					  0, list_record, &l, err);
	if (status == 0) {
		keep_newest(&l);
		status = (d->json ? print_list_json : print_list_text)(&l, err);
	}
	free(l.lines);
	return status;
}

/* --- replay --------------------------------------------------------------- */

enum {
	REPLAYS_MAX = 3, /* per event, to avoid endless loops */
	AT_ONCE = 500,	 /* per transaction */
};

struct replay {
	struct dlq *dlq;
	struct kafka_transaction *transaction; /* NULL: a dry run */
	uint32_t clicks, links; /* partitions of these topics; 0: none */
	uint64_t open;		/* sent, but not committed yet */
	uint64_t chosen, sent, before, too_often, copies, elsewhere;
};

/* Returns the number of partitions of the letter's topic, or 0 for a topic that
 * is not ours: an author of letters must not write anywhere with our rights. */
static uint32_t partitions_of(const struct replay *r,
			      const struct dlq_record *letter)
{
	const struct kafka_config *kafka = &r->dlq->config->kafka;

	if (!strcmp(letter->topic, kafka->topic_clicks))
		return r->clicks;
	if (!strcmp(letter->topic, kafka->topic_links))
		return r->links;
	return 0;
}

static int put_event(struct replay *r, const struct dlq_record *letter,
		     const char *replays, struct error *err)
{
	const struct kafka_header headers[] = {{LETTER_REPLAYS, replays}};
	uint32_t partitions = partitions_of(r, letter);
	struct kafka_message event = {
		.topic = letter->topic,
		/* Events of one link stay in one partition. */
		.partition = (uint32_t)letter->partition < partitions
				     ? letter->partition
				     : -1,
		.key = letter->key,
		.key_len = letter->key ? strlen(letter->key) : 0,
		.payload = letter->payload,
		.len = letter->len,
		.headers = headers,
		.header_count = 1,
	};

	return kafka_transaction_put(r->transaction, &event, err);
}

static int put_mark(struct replay *r, const struct dlq_record *letter,
		    const char *replays, struct error *err)
{
	char partition[16], offset[24], replayed[24];
	const struct kafka_header headers[] = {
		{"topic", letter->topic}, {"partition", partition},
		{"offset", offset},	  {LETTER_REPLAYS, replays},
		{DLQ_REPLAYED, replayed},
	};
	struct kafka_message mark = {
		.topic = r->dlq->config->kafka.topic_dlq,
		/* The mark is in the letter's partition, after it, so that it
		 * lives longer. */
		.partition = letter->at_partition,
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(*headers),
	};

	snprintf(partition, sizeof(partition), "%" PRId32, letter->partition);
	snprintf(offset, sizeof(offset), "%" PRIu64, letter->offset);
	snprintf(replayed, sizeof(replayed), "%" PRId64, letter->at_offset);
	return kafka_transaction_put(r->transaction, &mark, err);
}

static int commit_letters(struct replay *r, struct error *err)
{
	if (!r->open)
		return 0;
	if (kafka_transaction_commit(r->transaction, err) < 0)
		return error_wrap(err,
				  "%" PRIu64 " letters were sent, of the next "
				  "%" PRIu64 " %s",
				  r->sent, r->open,
				  err->retriable ? "it is not known" : "none");
	r->sent += r->open;
	r->open = 0;
	return 0;
}

static int send_letter(struct replay *r, const struct dlq_record *letter,
		       struct error *err)
{
	char replays[24];

	if (!r->transaction) {
		r->sent++;
		return 0;
	}
	snprintf(replays, sizeof(replays), "%" PRIu64, letter->replays + 1);
	if (!r->open && kafka_transaction_begin(r->transaction, err) < 0)
		return -1;
	r->open++;
	if (put_event(r, letter, replays, err) < 0 ||
	    put_mark(r, letter, replays, err) < 0)
		return error_wrap(err,
				  "letter %" PRId32 ":%" PRId64 " (%" PRIu64
				  " were sent before it)",
				  letter->at_partition, letter->at_offset,
				  r->sent);
	return r->open >= AT_ONCE ? commit_letters(r, err) : 0;
}

static int replay_record(void *arg, const struct dlq_record *record,
			 struct error *err)
{
	struct replay *r = arg;
	struct dlq *d = r->dlq;
	int added;

	if (count_record(d, err) < 0)
		return -1;
	if (!dlq_filter_takes(&d->filter, record))
		return 0;
	r->chosen++;
	added = positions_add(&d->seen, record->topic, record->partition,
			      record->offset, err);
	if (added < 0)
		return -1;
	if (!added)
		r->copies++;
	else if (!partitions_of(r, record))
		r->elsewhere++;
	else if (!d->force && positions_have(&d->replayed, record->topic,
					     record->partition, record->offset))
		r->before++;
	else if (!d->force && record->replays >= REPLAYS_MAX)
		r->too_often++;
	else
		return send_letter(r, record, err);
	return 0;
}

static int print_replay(const struct replay *r, struct error *err)
{
	if (r->dlq->json)
		return output_json(
			json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
				  "dry_run", (int)r->dlq->dry_run, "chosen",
				  (json_int_t)r->chosen, "sent",
				  (json_int_t)r->sent, "sent_before",
				  (json_int_t)r->before, "too_often",
				  (json_int_t)r->too_often, "copies",
				  (json_int_t)r->copies, "elsewhere",
				  (json_int_t)r->elsewhere),
			err);
	printf("%" PRIu64 " letters %s.\n", r->sent,
	       r->dlq->dry_run ? "would be sent again" : "were sent again");
	if (r->before)
		printf("%" PRIu64 " were not: they had been sent again before "
		       "(--force).\n",
		       r->before);
	if (r->too_often)
		printf("%" PRIu64 " were not: they had come back %d times "
		       "(--force).\n",
		       r->too_often, REPLAYS_MAX);
	if (r->elsewhere)
		printf("%" PRIu64 " were not: they are of other topics.\n",
		       r->elsewhere);
	if (r->copies)
		printf("%" PRIu64 " were copies of others.\n", r->copies);
	return 0;
}

/* A topic that does not exist accepts no letters. */
static int ask_partitions(struct kafka_reader *reader, const char *topic,
			  uint32_t *ret_count, struct error *err)
{
	struct error why;

	*ret_count = 0;
	if (kafka_reader_partitions(reader, topic, ret_count, &why) == 0 ||
	    why.code == ERROR_NOTFOUND)
		return 0;
	*err = why;
	return -1;
}

static int open_transaction(struct replay *r, struct error *err)
{
	const struct kafka_config *kafka = &r->dlq->config->kafka;
	char id[300];

	if (r->dlq->dry_run)
		return 0;
	snprintf(id, sizeof(id), "shortloop-replay-%.249s", kafka->topic_dlq);
	r->transaction = kafka_transaction_new(kafka, id, err);
	return r->transaction ? 0 : -1;
}

static int replay_all(struct replay *r, struct error *err)
{
	struct dlq *d = r->dlq;
	const struct kafka_config *kafka = &d->config->kafka;

	if (ask_partitions(d->reader, kafka->topic_clicks, &r->clicks, err) <
		    0 ||
	    ask_partitions(d->reader, kafka->topic_links, &r->links, err) < 0)
		return -1;
	/* The new transaction fences another replay before the marks are read:
	 * by then each letter that the other sent has a mark. */
	if (open_transaction(r, err) < 0 || read_marks(d, err) < 0 ||
	    dlq_records_walk(d->reader, kafka->topic_dlq, 0, replay_record, r,
			     err) < 0)
		return -1;
	return commit_letters(r, err);
}

/* Sends letters to their original topics.  Returns 1 if some chosen letters
 * were not sent. */
static int replay_letters(struct dlq *d, struct error *err)
{
	struct replay r = {.dlq = d};
	int status = replay_all(&r, err);

	kafka_transaction_free(r.transaction);
	if (status == 0 && !r.chosen && d->filter.range_count)
		return error_set(err, ERROR_NOTFOUND,
				 "there is no such letter in %s",
				 d->config->kafka.topic_dlq);
	if (status == 0)
		status = print_replay(&r, err);
	if (status < 0)
		return -1;
	/* A letter that was chosen by its offset and not sent again counts as a
	 * failure. */
	return r.too_often || r.elsewhere ||
	       (r.before && d->filter.range_count);
}

/* --- the command line ----------------------------------------------------- */

static int read_limit(struct dlq *d, struct error *err)
{
	const char *text = app_option_value(d->app, "limit");

	d->limit = LIMIT;
	if (!text || (dlq_record_number(text, &d->limit) && d->limit > 0 &&
		      d->limit <= LIMIT_MAX))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--limit: '%.40s' is no number from 1 to %d", text,
			 LIMIT_MAX);
}

static int read_choice(struct dlq *d, struct error *err)
{
	const char *offsets = app_option_value(d->app, "offset");
	struct dlq_filter *c = &d->filter;

	c->from = INT64_MIN;
	c->to = INT64_MAX;
	c->reason = app_option_value(d->app, "reason");
	if (app_option_time(d->app, "from", &c->from, err) < 0 ||
	    app_option_time(d->app, "to", &c->to, err) < 0)
		return -1;
	if (c->from >= c->to)
		return error_set(err, ERROR_USAGE, "--from lies behind --to");
	if (offsets && app_option_value(d->app, "all"))
		return error_set(err, ERROR_USAGE,
				 "--offset and --all contradict each other");
	return offsets ? dlq_filter_read_offsets(c, offsets, err) : 0;
}

static bool is_given(const struct dlq *d, const char *name)
{
	return app_option_value(d->app, name) != NULL;
}

static int check_replay(const struct dlq *d, struct error *err)
{
	if (is_given(d, "limit"))
		return error_set(err, ERROR_USAGE,
				 "--limit does not go with 'replay'");
	if (!is_given(d, "all") && !is_given(d, "offset") &&
	    !is_given(d, "reason"))
		return error_set(err, ERROR_USAGE,
				 "which letters? --offset, --reason or --all");
	return 0;
}

static int check_list(const struct dlq *d, struct error *err)
{
	if (is_given(d, "force") || is_given(d, "dry-run"))
		return error_set(err, ERROR_USAGE,
				 "--force and --dry-run do not go with 'list'");
	return 0;
}

static void warn_unreadable(void *arg, const char *topic, int32_t partition,
			    const struct kafka_unreadable *what)
{
	(void)arg;
	fprintf(stderr,
		"warning: %s %" PRId32 ": %" PRId64 "-%" PRId64
		" cannot be read, and are left out: %s\n",
		topic, partition, what->first, what->last, what->reason);
}

static int run_with_reader(struct dlq *d,
			   int (*fn)(struct dlq *d, struct error *err),
			   struct error *err)
{
	int status = -1;

	d->reader = kafka_reader_new(&d->config->kafka, "shortloop-dlq",
				     d->config->collector.group, err);
	if (d->reader) {
		kafka_reader_on_unreadable(d->reader, warn_unreadable, NULL);
		status = fn(d, err);
	}
	kafka_reader_free(d->reader);
	positions_free(&d->replayed);
	positions_free(&d->seen);
	return status;
}

int collector_dlq(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct dlq d = {.app = app, .config = config};
	size_t count;
	char *const *words = app_operands(app, &count);
	bool replaying = count == 1 && !strcmp(words[0], "replay");

	if (!replaying && (count != 1 || strcmp(words[0], "list") != 0))
		return error_set(err, ERROR_USAGE,
				 "dlq: expected 'dlq list' or 'dlq replay'");
	d.json = is_given(&d, "json");
	d.force = is_given(&d, "force");
	d.dry_run = is_given(&d, "dry-run");
	if ((replaying ? check_replay : check_list)(&d, err) < 0 ||
	    read_limit(&d, err) < 0 || read_choice(&d, err) < 0)
		return -1;
	return run_with_reader(&d, replaying ? replay_letters : list_letters,
			       err);
}
