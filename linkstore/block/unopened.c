/* Finds and closes blocks that were granted and never opened. */
#include "linkstore/block/unopened.h"

#include <inttypes.h>
#include <stdlib.h>

#include "linkstore/block/markers.h"
#include "linkstore/command.h"
#include "linkstore/target.h"

/* --- queries -------------------------------------------------------------- */

/* Blocks per command. */
#define ASK_MAX 500

/* Starts the command; the marks are appended. */
typedef void begin_fn(struct command *c, const struct link_space *space);

static void begin_unopened(struct command *c, const struct link_space *space)
{
	const struct high_water high_water = linkstore_noted_high_water(space);

	command_script(c, space, SCRIPT_UNOPENED);
	command_space_key(c, "space:", space);
	command_space_key(c, "unopened:", space);
	command_number(c, high_water.moves);
	command_number(c, high_water.generation);
}

static void begin_endless(struct command *c, const struct link_space *space)
{
	command_plain(c, "ZMSCORE");
	command_space_key(c, "endless:", space);
}

static int query_grant_marks(struct redis *redis,
			     const struct link_space *space, begin_fn *begin,
			     const uint64_t *blocks,
			     const uint32_t *generations, size_t count,
			     bool *ret_marked, struct error *err)
{
	struct command c;
	redisReply *reply;

	begin(&c, space);
	for (size_t i = 0; i < count; i++)
		command_format(&c, "%" PRIu64 ":%" PRIu32, blocks[i],
			       generations[i]);
	if (command_run(&c, redis, &reply, err))
		return -1;
	if (!reply_is_array(reply, 0)) {
		freeReplyObject(reply);
		return reply_malformed("marks of grants", err);
	}
	/* An empty answer counts as no mark at all. */
	for (size_t i = 0; i < count; i++)
		ret_marked[i] = i < reply->elements &&
				reply->element[i]->type != REDIS_REPLY_NIL;
	freeReplyObject(reply);
	return 0;
}

int reclaim_unopened(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unopened, struct error *err)
{
	size_t some;

	for (size_t i = 0; i < count; i += some) {
		some = count - i < ASK_MAX ? count - i : ASK_MAX;
		if (query_grant_marks(redis, space, begin_unopened, blocks + i,
				      generations + i, some, ret_unopened + i,
				      err))
			return -1;
	}
	return 0;
}

int reclaim_unproven(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unproven, struct error *err)
{
	bool unopened[ASK_MAX] = {false};
	size_t some;

	for (size_t i = 0; i < count; i += some) {
		some = count - i < ASK_MAX ? count - i : ASK_MAX;
		if (query_grant_marks(redis, space, begin_endless, blocks + i,
				      generations + i, some, ret_unproven + i,
				      err) ||
		    query_grant_marks(redis, space, begin_unopened, blocks + i,
				      generations + i, some, unopened, err))
			return -1;
		for (size_t j = 0; j < some; j++)
			ret_unproven[i + j] &= !unopened[j];
	}
	return 0;
}

/* --- closing -------------------------------------------------------------- */

/* Scripts sent before the answers to earlier ones. */
#define CLOSE_AHEAD 64

static int send_close(struct redis *redis, const struct link_space *space,
		      uint64_t block, uint32_t generation, struct error *err)
{
	struct command c;

	command_script(&c, space, SCRIPT_CLOSE_LOST);
	command_marker_key(&c, space, block);
	command_number(&c, generation);
	return command_append(&c, redis, err);
}

/* An error, such as a script that Redis does not know, leaves the block
 * open. */
static int take_closed(struct redis *redis, bool *ret_closed, struct error *err)
{
	redisReply *reply;

	if (redis_take_reply(redis, &reply, err))
		return -1;
	*ret_closed = reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}

static int close_some(struct redis *redis, const struct link_space *space,
		      const uint64_t *blocks, const uint32_t *generations,
		      size_t count, bool *ret_closed, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (send_close(redis, space, blocks[i], generations[i], err))
			return -1;
	for (size_t i = 0; i < count; i++)
		if (take_closed(redis, &ret_closed[i], err))
			return -1;
	return 0;
}

/* Handles a block that was not closed in the pipeline: closes it by itself, or
 * reads its marker if it has one. */
static int close_one(struct redis *redis, const struct link_space *space,
		     uint64_t block, uint32_t generation, int64_t now,
		     struct block_scan *look, struct error *err)
{
	bool closed;

	if (marker_close_lost(redis, space, block, generation, &closed, err))
		return -1;
	if (!closed)
		return block_scan_read(redis, space, &block, 1, now, look, err);
	*look = (struct block_scan){.state = BLOCK_ENDED,
				    .generation = generation};
	return 0;
}

int reclaim_close_unopened(struct redis *redis, const struct link_space *space,
			   const uint64_t *blocks, const uint32_t *generations,
			   size_t count, int64_t now,
			   struct block_scan *ret_scans, struct error *err)
{
	bool closed[CLOSE_AHEAD];
	size_t some;

	for (size_t i = 0; i < count; i += some) {
		some = count - i < CLOSE_AHEAD ? count - i : CLOSE_AHEAD;
		if (close_some(redis, space, blocks + i, generations + i, some,
			       closed, err))
			return -1;
		for (size_t j = i; j < i + some; j++) {
			ret_scans[j] = (struct block_scan){
				.state = BLOCK_ENDED,
				.generation = generations[j],
			};
			if (!closed[j - i] &&
			    close_one(redis, space, blocks[j], generations[j],
				      now, &ret_scans[j], err))
				return -1;
		}
	}
	return 0;
}
