#include "aggregator/life/reclaimed_blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "codespace/link_id.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rowbinary.h"
#include "common/clock.h"
#include "common/periodic.h"
#include "common/redis/redis.h"
#include "linkstore/command.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"

/* How often Redis is queried for notes. */
#define COPY_EVERY (5 * CLOCK_SECOND)
/* Notes that are read, stored and removed together, and rows of one insert. */
#define NOTES_MAX 256
#define ROWS_MAX  65536

struct reclaimed_blocks {
	const struct aggregator_config *config;
	struct log *log;
	struct linkstore *store;
	struct redis *redis;
	struct clickhouse *ch;
	struct periodic *thread;
	struct health_check *health;
	struct metric *copied, *failures;
	bool failing; /* the last attempt failed */
};

/* A range that went back to the pool, as the script that settled it noted. */
struct reclaim_note {
	struct block_range range; /* generation: that of its links */
	int64_t at;		  /* ms by Redis' clock */
};

/* --- Redis ------------------------------------------------------------------
 */

static int parse_note(const redisReply *page, size_t i,
		      struct reclaim_note *ret, struct error *err)
{
	const redisReply *member = page->element[i];

	if (member->type != REDIS_REPLY_STRING ||
	    !range_parse(member->str, member->len, &ret->range))
		return error_set(err, ERROR_DAMAGED,
				 "the reclaimed ranges have a member that is "
				 "no range: '%.60s'",
				 reply_text(page, i));
	ret->at = (int64_t)strtod(reply_text(page, i + 1), NULL);
	return 0;
}

static int parse_notes(const redisReply *page, size_t max,
		       struct reclaim_note *ret, size_t *ret_count,
		       struct error *err)
{
	if (page->type != REDIS_REPLY_ARRAY || page->elements > 2 * max)
		return reply_malformed("ZRANGE", err);
	for (size_t i = 0; i + 1 < page->elements; i += 2)
		if (parse_note(page, i, &ret[i / 2], err) < 0)
			return -1;
	*ret_count = page->elements / 2;
	return 0;
}

/* Reads the oldest notes, up to `max`. */
static int read_notes(struct redis *redis, const struct link_space *space,
		      size_t max, struct reclaim_note *ret, size_t *ret_count,
		      struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	*ret_count = 0;
	if (!max)
		return 0;
	command_plain(&c, "ZRANGE");
	command_space_key(&c, "reclaimed:", space);
	command_number(&c, 0);
	command_number(&c, max - 1);
	command_text(&c, "WITHSCORES");
	if (command_run(&c, redis, &reply, err) < 0)
		return -1;
	status = parse_notes(reply, max, ret, ret_count, err);
	freeReplyObject(reply);
	return status;
}

/* Removes notes; those that are gone already are passed over. */
static int remove_notes(struct redis *redis, const struct link_space *space,
			const struct reclaim_note *ranges, size_t count,
			struct error *err)
{
	char text[RANGE_TEXT_MAX];
	struct command c;
	redisReply *reply;

	if (!count)
		return 0;
	command_plain(&c, "ZREM");
	command_space_key(&c, "reclaimed:", space);
	for (size_t i = 0; i < count; i++)
		command_text(&c, range_format(&ranges[i].range, text));
	if (command_run(&c, redis, &reply, err) < 0)
		return -1;
	freeReplyObject(reply);
	return 0;
}

/* --- ClickHouse -------------------------------------------------------------
 */

/* Rows that are collected for an insert. */
struct block_rows {
	struct clickhouse *ch;
	struct buf data;
	uint64_t count;
};

static int insert_rows(struct block_rows *rows, struct error *err)
{
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};
	int status;

	if (rows->data.failed)
		return error_set_nomem(err);
	if (!rows->count)
		return 0;
	status =
		clickhouse_insert(rows->ch,
				  "INSERT INTO reclaimed_blocks (first_id, "
				  "reclaimed_at) FORMAT RowBinary",
				  params, rows->data.data, rows->data.len, err);
	buf_reset(&rows->data);
	rows->count = 0;
	return status;
}

static int add_block(struct block_rows *rows, const struct link_space *space,
		     const struct reclaim_note *note, uint64_t block,
		     struct error *err)
{
	const struct link_id_parts parts = {
		.space = space->number,
		.generation = note->range.generation,
		.id = block * space->block_size,
	};
	uint64_t first_id;

	if (block > LINK_ID_MAX / space->block_size)
		return error_set(err, ERROR_DAMAGED,
				 "space %s has no block of that number",
				 space->name);
	if (link_id_pack(&parts, &first_id, err) < 0)
		return -1;
	rowbinary_u64(&rows->data, first_id);
	rowbinary_i64(&rows->data, note->at);
	rows->count++;
	return rows->count < ROWS_MAX ? 0 : insert_rows(rows, err);
}

static int store_notes(struct reclaimed_blocks *b,
		       const struct link_space *space,
		       const struct reclaim_note *notes, size_t count,
		       struct error *err)
{
	struct block_rows rows = {.ch = b->ch};
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++)
		for (uint64_t block = notes[i].range.first;
		     status == 0 && block <= notes[i].range.last; block++)
			status = add_block(&rows, space, &notes[i], block, err);
	if (status == 0)
		status = insert_rows(&rows, err);
	buf_free(&rows.data);
	return status;
}

/* --- copying ----------------------------------------------------------------
 */

static uint64_t count_blocks(const struct reclaim_note *notes, size_t count)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < count; i++)
		blocks += range_blocks(&notes[i].range);
	return blocks;
}

/* Copies all notes of a space. */
static int copy_space(struct reclaimed_blocks *b,
		      const struct link_space *space, struct error *err)
{
	struct reclaim_note notes[NOTES_MAX] = {0};
	size_t count;

	do {
		if (periodic_should_stop(b->thread, 0))
			return 0;
		if (read_notes(b->redis, space, NOTES_MAX, notes, &count, err) <
			    0 ||
		    store_notes(b, space, notes, count, err) < 0 ||
		    remove_notes(b->redis, space, notes, count, err) < 0)
			return error_wrap(err, "space %s", space->name);
		metric_add(b->copied, count_blocks(notes, count));
	} while (count == NOTES_MAX);
	return 0;
}

static int copy_all(struct reclaimed_blocks *b, struct error *err)
{
	for (size_t i = 0; i < linkstore_space_count(b->store); i++) {
		const struct link_space *space = linkstore_space(b->store, i);

		if (link_space_has_blocks(space) &&
		    copy_space(b, space, err) < 0)
			return -1;
	}
	return 0;
}

/* Answers wait for nothing here, so a failure is a remark only. */
static int64_t copy_notes(struct periodic *self, void *arg)
{
	struct reclaimed_blocks *b = arg;
	struct error err = {0};

	(void)self;
	if (copy_all(b, &err) == 0) {
		b->failing = false;
		health_up(b->health);
		return COPY_EVERY;
	}
	metric_add(b->failures, 1);
	health_say(b->health, err.text);
	if (!b->failing)
		log_warn(b->log, "reclaimed blocks are not copied yet",
			 log_err(&err));
	b->failing = true;
	return COPY_EVERY;
}

static int open_parts(struct reclaimed_blocks *b, struct error *err)
{
	b->store = linkstore_new(&b->config->links, err);
	if (!b->store)
		return -1;
	b->redis =
		redis_new(&b->config->redis, linkstore_scripts(b->store), err);
	if (!b->redis)
		return -1;
	b->ch = clickhouse_new(&b->config->clickhouse, err);
	if (!b->ch)
		return -1;
	b->thread = periodic_new(copy_notes, b, err);
	return b->thread ? 0 : -1;
}

struct reclaimed_blocks *
reclaimed_blocks_new(const struct aggregator_config *config, struct log *log,
		     struct metrics *metrics, struct health *health,
		     struct error *err)
{
	struct reclaimed_blocks *b = calloc(1, sizeof(*b));

	if (!b) {
		error_set_nomem(err);
		return NULL;
	}
	b->config = config;
	b->log = log;
	b->health = health_register(health, "reclaimed blocks");
	/* Nothing is down before the first copy. */
	health_up(b->health);
	b->copied = metrics_counter(
		metrics, "shortloop_aggregator_reclaimed_blocks_total", NULL,
		"Reclaimed blocks copied from Redis, repetitions included.");
	b->failures = metrics_counter(
		metrics, "shortloop_aggregator_reclaimed_failures_total", NULL,
		"Attempts to copy reclaimed blocks that failed.");
	if (open_parts(b, err) < 0) {
		reclaimed_blocks_free(b);
		return NULL;
	}
	return b;
}

int reclaimed_blocks_start(struct reclaimed_blocks *b, struct error *err)
{
	return periodic_start(b->thread, err);
}

void reclaimed_blocks_free(struct reclaimed_blocks *b)
{
	if (!b)
		return;
	if (b->thread)
		periodic_end(b->thread);
	if (b->ch)
		clickhouse_abort(b->ch);
	periodic_free(b->thread);
	clickhouse_free(b->ch);
	redis_free(b->redis);
	linkstore_free(b->store);
	free(b);
}
