/* list.c - the newest letters, each once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/dlq/dlq.h"
#include "common/clock.h"
#include "common/output.h"
#include "common/safe_text.h"

#define REASON_SIZE 160
#define TOPIC_SIZE  64
#define BYTES_SIZE  56

/* A letter as it is shown. */
struct line {
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
	struct line *lines; /* room for twice the limit */
	size_t count;
	uint64_t letters, copies, replayed, foreign;
};

/* The newest first. */
static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? 1 : -1;
	if (x->at_partition != y->at_partition)
		return x->at_partition < y->at_partition ? -1 : 1;
	return (x->at_offset < y->at_offset) - (x->at_offset > y->at_offset);
}

static void keep_newest(struct list *l)
{
	size_t limit = (size_t)l->dlq->limit;

	qsort(l->lines, l->count, sizeof(*l->lines), compare);
	if (l->count > limit)
		l->count = limit;
}

static void add_line(struct list *l, const struct letter *letter)
{
	struct line *line;

	if (l->count == 2 * (size_t)l->dlq->limit)
		keep_newest(l);
	line = &l->lines[l->count++];
	*line = (struct line){
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

static int take(void *arg, const struct letter *letter, struct error *err)
{
	struct list *l = arg;
	int added;

	if (dlq_step(l->dlq, err) < 0)
		return -1;
	l->foreign += letter->kind == LETTER_FOREIGN;
	if (!choice_takes(&l->dlq->choice, letter))
		return 0;
	added = positions_add(&l->dlq->seen, letter->topic, letter->partition,
			      letter->offset, err);
	if (added < 0)
		return -1;
	if (!added) {
		l->copies++;
		return 0;
	}
	l->letters++;
	l->replayed += is_replayed(l, letter->topic, letter->partition,
				   letter->offset);
	add_line(l, letter);
	return 0;
}

/* --- showing -------------------------------------------------------------- */

static const char *time_text(int64_t ms, char text[RFC3339_TEXT_MAX])
{
	return ms < 0 ? "-" : rfc3339_format(ms, text);
}

static int print_text(const struct list *l, struct error *err)
{
	struct table *t = table_new("letter|time|from|replays|sent again|"
				    ">bytes|reason|content");
	char text[TOPIC_SIZE + 40];

	for (size_t i = 0; i < l->count; i++) {
		const struct line *it = &l->lines[i];

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

static json_t *line_json(const struct list *l, const struct line *it)
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

static int print_json(const struct list *l, struct error *err)
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

int dlq_list(struct dlq *d, struct error *err)
{
	struct list l = {.dlq = d};
	int status;

	l.lines = calloc(2 * (size_t)d->limit, sizeof(*l.lines));
	if (!l.lines)
		return error_set_nomem(err);
	status = dlq_read_marks(d, err);
	if (status == 0)
		status = letters_walk(d->reader, d->config->kafka.topic_dlq, 0,
				      take, &l, err);
	if (status == 0) {
		keep_newest(&l);
		status = (d->json ? print_json : print_text)(&l, err);
	}
	free(l.lines);
	return status;
}
