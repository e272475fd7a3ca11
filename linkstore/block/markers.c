#include "linkstore/block/markers.h"

#include <inttypes.h>
#include <stdio.h>

#include "linkstore/command.h"

/* Commands sent before the answers to earlier ones. */
#define PIPELINE 512

static int append_marker_query(struct redis *redis,
			       const struct link_space *space, uint64_t block,
			       struct error *err)
{
	char key[64];
	const char *argv[] = {"GET", key};
	size_t lens[] = {3, 0};

	lens[1] = (size_t)snprintf(key, sizeof(key), "m:{%s:%" PRIu64 "}",
				   space->name, block);
	return redis_append(redis, 2, argv, lens, err);
}

/* A key of another type answers with an error, which counts as damage. */
static int take_marker_answer(struct redis *redis, struct marker_look *ret,
			      struct error *err)
{
	redisReply *reply;

	if (redis_take_answer(redis, &reply, err) < 0)
		return -1;
	ret->state = MARKER_DAMAGED;
	if (reply->type == REDIS_REPLY_NIL)
		ret->state = MARKER_ABSENT;
	else if (reply->type == REDIS_REPLY_STRING &&
		 marker_parse(reply->str, reply->len, &ret->marker))
		ret->state = MARKER_SOUND;
	freeReplyObject(reply);
	return 0;
}

int markers_read(struct redis *redis, const struct link_space *space,
		 const uint64_t *blocks, size_t count,
		 struct marker_look *ret_scans, struct error *err)
{
	size_t sent = 0, taken = 0;
	struct error ignored;
	int status = 0;

	while (taken < count && status == 0) {
		for (; sent < count && sent - taken < PIPELINE; sent++)
			if (append_marker_query(redis, space, blocks[sent],
						err) < 0)
				return -1;
		for (; taken < sent; taken++)
			if (take_marker_answer(redis, &ret_scans[taken],
					       status ? &ignored : err) < 0)
				status = -1;
	}
	return status;
}

int marker_close_lost(struct redis *redis, const struct link_space *space,
		      uint64_t block, uint32_t generation, bool *ret_closed,
		      struct error *err)
{
	struct command c;
	redisReply *reply;

	command_script(&c, space, SCRIPT_CLOSE_LOST);
	command_marker_key(&c, space, block);
	command_number(&c, generation);
	if (command_run(&c, redis, &reply, err) < 0)
		return -1;
	*ret_closed = reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}
