/* What the reclaimer does in blocks' slots: look, close, count links. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/marker.h"
#include "linkstore/space/reclaim.h"

/* Commands sent ahead of their answers. */
#define PIPELINE 512

/* Link keys asked for in one EXISTS. */
#define KEYS_PER_EXISTS 256

/* --- looking -------------------------------------------------------------- */

static int judge(const redisReply *reply, uint64_t block, int64_t now,
		 struct block_look *ret, struct error *err)
{
	struct link_marker m;

	*ret = (struct block_look){.state = BLOCK_LOST};
	if (reply->type == REDIS_REPLY_NIL)
		return 0;
	if (reply->type == REDIS_REPLY_ERROR)
		return error_set(err, ERROR_REMOTE, "redis: %s", reply->str);
	if (reply->type != REDIS_REPLY_STRING ||
	    !marker_parse(reply->str, reply->len, &m))
		return error_set(err, ERROR_UNSAFE,
				 "the marker of block %" PRIu64 " is damaged",
				 block);
	ret->generation = m.generation;
	ret->state = marker_ended(&m, now) ? BLOCK_ENDED : BLOCK_LIVE;
	ret->end = m.end;
	ret->opened = m.opened;
	return 0;
}

/* Formats the key itself: this runs once a block, by the million. */
static int ask_marker(struct redis *redis, const struct link_space *space,
		      uint64_t block, struct error *err)
{
	char key[64];
	const char *argv[] = {"GET", key};
	size_t lens[] = {3, 0};

	lens[1] = (size_t)snprintf(key, sizeof(key), "m:{%s:%" PRIu64 "}",
				   space->name, block);
	return redis_append(redis, 2, argv, lens, err);
}

static int take_marker(struct redis *redis, uint64_t block, int64_t now,
		       struct block_look *ret, struct error *err)
{
	redisReply *reply;
	int status;

	if (redis_take_reply(redis, &reply, err))
		return -1;
	status = judge(reply, block, now, ret, err);
	freeReplyObject(reply);
	return status;
}

/* After an error in the middle, the answers still owed are read past. */
static void drain(struct redis *redis, size_t owed)
{
	struct error ignored;
	redisReply *reply;

	while (owed-- && redis_take_reply(redis, &reply, &ignored) == 0)
		freeReplyObject(reply);
}

int reclaim_look(struct redis *redis, const struct link_space *space,
		 const uint64_t *blocks, size_t count, int64_t now,
		 struct block_look *ret_looks, struct error *err)
{
	size_t sent = 0, taken = 0;

	while (taken < count) {
		for (; sent < count && sent - taken < PIPELINE; sent++)
			if (ask_marker(redis, space, blocks[sent], err))
				return -1;
		for (; taken < sent; taken++) {
			if (take_marker(redis, blocks[taken], now,
					&ret_looks[taken], err) == 0)
				continue;
			drain(redis, sent - taken - 1);
			return -1;
		}
	}
	return 0;
}

/* --- closing -------------------------------------------------------------- */

static void build_close(struct command *c, const struct link_space *space,
			uint64_t block, uint32_t generation)
{
	command_script(c, space, SCRIPT_CLOSE);
	command_marker_key(c, space, block);
	command_number(c, generation);
}

static int parse_close(const redisReply *reply, struct block_look *ret,
		       struct error *err)
{
	static const enum block_state states[] = {BLOCK_LOST, BLOCK_ENDED,
						  BLOCK_LIVE};
	int64_t state;

	if (reply->type == REDIS_REPLY_ERROR)
		return error_set(err, ERROR_REMOTE, "redis: %s", reply->str);
	if (!reply_is_array(reply, 3))
		return reply_malformed("close", err);
	state = reply_number(reply, 0, -1);
	if (state < 0 || state > 2)
		return reply_malformed("close", err);
	ret->state = states[state];
	ret->end = reply_time(reply, 1);
	ret->generation = (uint32_t)reply_number(reply, 2, 0);
	return 0;
}

static bool is_noscript(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       !strncmp(reply->str, "NOSCRIPT", 8);
}

static int close_one(struct redis *redis, const struct link_space *space,
		     uint64_t block, uint32_t generation,
		     struct block_look *ret, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_close(&c, space, block, generation);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_close(reply, ret, err);
	freeReplyObject(reply);
	return status;
}

/* Sends and reads up to PIPELINE of them.  Where Redis does not know the script
 * yet, `ret_retry` tells. */
static int close_some(struct redis *redis, const struct link_space *space,
		      const uint64_t *blocks, size_t count, uint32_t generation,
		      struct block_look *ret_looks, bool *ret_retry,
		      struct error *err)
{
	struct command c;
	redisReply *reply;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		build_close(&c, space, blocks[i], generation);
		if (command_append(&c, redis, err))
			return -1;
	}
	for (size_t i = 0; i < count && status == 0; i++) {
		if (redis_take_reply(redis, &reply, err))
			return -1;
		ret_retry[i] = is_noscript(reply);
		if (!ret_retry[i])
			status = parse_close(reply, &ret_looks[i], err);
		freeReplyObject(reply);
		if (status)
			drain(redis, count - i - 1);
	}
	return status;
}

int reclaim_close(struct redis *redis, const struct link_space *space,
		  const uint64_t *blocks, size_t count, uint32_t generation,
		  struct block_look *ret_looks, struct error *err)
{
	bool retry[PIPELINE];
	size_t n;

	for (size_t at = 0; at < count; at += n) {
		n = count - at < PIPELINE ? count - at : PIPELINE;
		if (close_some(redis, space, blocks + at, n, generation,
			       ret_looks + at, retry, err))
			return -1;
		for (size_t i = 0; i < n; i++)
			if (retry[i] &&
			    close_one(redis, space, blocks[at + i], generation,
				      &ret_looks[at + i], err))
				return -1;
	}
	return 0;
}

/* --- counting links ------------------------------------------------------- */

/* Of `n` codes from number `at` of the block on, under a version. */
static int count_some(struct redis *redis, const struct link_space *space,
		      uint64_t block, unsigned version, uint64_t at, uint64_t n,
		      uint64_t *links, struct error *err)
{
	uint64_t id = block * space->block_size + at;
	char code[CODE_TEXT_MAX];
	struct command c;
	redisReply *reply;

	command_plain(&c, "EXISTS");
	for (uint64_t i = 0; i < n; i++) {
		codespace_encode_version(space->codes, version, id + i, code);
		command_link_key(&c, space, block, code);
	}
	if (command_run(&c, redis, &reply, err))
		return -1;
	*links += (uint64_t)reply->integer;
	freeReplyObject(reply);
	return 0;
}

/* Ends early once there are `enough`. */
static int count_version(struct redis *redis, const struct link_space *space,
			 uint64_t block, unsigned version, uint64_t enough,
			 uint64_t *links, struct error *err)
{
	uint64_t n;

	for (uint64_t at = 0; at < space->block_size && *links < enough;
	     at += n) {
		n = space->block_size - at;
		if (n > KEYS_PER_EXISTS)
			n = KEYS_PER_EXISTS;
		if (count_some(redis, space, block, version, at, n, links, err))
			return -1;
	}
	return 0;
}

int reclaim_count_links(struct redis *redis, const struct link_space *space,
			uint64_t block, uint64_t *ret_links, struct error *err)
{
	uint64_t links = 0;

	for (unsigned v = 0; v < CODE_VERSIONS; v++)
		if (codespace_has_version(space->codes, v) &&
		    count_version(redis, space, block, v, UINT64_MAX, &links,
				  err))
			return -1;
	*ret_links = links;
	return 0;
}

int reclaim_has_links(struct redis *redis, const struct link_space *space,
		      uint64_t block, unsigned version, bool *ret_has,
		      struct error *err)
{
	uint64_t links = 0;

	if (count_version(redis, space, block, version, 1, &links, err))
		return -1;
	*ret_has = links > 0;
	return 0;
}
