#include "linkstore/block/code_expiries.h"

#include <stdbool.h>

#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/* Codes queried before the answers to earlier ones. */
#define PIPELINE 256

struct expiry_batch {
	struct redis *redis;
	const struct link_space *space;
	uint64_t block;
	unsigned version;
	uint64_t first; /* offset */
	size_t count;
	int64_t ends[PIPELINE]; /* 0: no link */
};

static int append_code_command(const struct expiry_batch *b, const char *name,
			       size_t i, struct error *err)
{
	char code[CODE_TEXT_MAX];
	struct command c;

	codespace_encode_version(b->space->codes, b->version,
				 b->block * b->space->block_size + b->first + i,
				 code);
	command_plain(&c, name);
	command_link_key(&c, b->space, b->block, code);
	return command_append(&c, b->redis, err);
}

static int read_ends(struct expiry_batch *b, struct error *err)
{
	struct error ignored;
	redisReply *reply;
	int status = 0;

	for (size_t i = 0; i < b->count; i++)
		if (append_code_command(b, "PEXPIRETIME", i, err) < 0)
			return -1;
	for (size_t i = 0; i < b->count; i++) {
		if (redis_take_answer(b->redis, &reply,
				      status ? &ignored : err) < 0) {
			status = -1;
			continue;
		}
		b->ends[i] = reply->integer == -1 ? DURATION_NEVER
			     : reply->integer > 0 ? reply->integer
						  : 0;
		freeReplyObject(reply);
	}
	return status;
}

static bool is_tombstone(const redisReply *reply)
{
	Shortloop__Link *link;
	bool deleted;

	if (reply->type != REDIS_REPLY_STRING)
		return true; /* gone in the meantime */
	link = shortloop__link__unpack(NULL, reply->len,
				       (const uint8_t *)reply->str);
	deleted = link && link->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
	if (link)
		shortloop__link__free_unpacked(link, NULL);
	return deleted;
}

static int drop_tombstones(struct expiry_batch *b, struct error *err)
{
	struct error ignored;
	redisReply *reply;
	int status = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->ends[i] && append_code_command(b, "GET", i, err) < 0)
			return -1;
	for (size_t i = 0; i < b->count; i++) {
		if (!b->ends[i])
			continue;
		if (redis_take_answer(b->redis, &reply,
				      status ? &ignored : err) < 0) {
			status = -1;
			continue;
		}
		if (is_tombstone(reply))
			b->ends[i] = 0;
		freeReplyObject(reply);
	}
	return status;
}

static int read_version(struct expiry_batch *b, int64_t *ends,
			struct error *err)
{
	uint64_t size = b->space->block_size;

	for (b->first = 0; b->first < size; b->first += b->count) {
		b->count = size - b->first < PIPELINE
				   ? (size_t)(size - b->first)
				   : PIPELINE;
		if (read_ends(b, err) < 0 || drop_tombstones(b, err) < 0)
			return -1;
		for (size_t i = 0; i < b->count; i++)
			if (b->ends[i] > ends[b->first + i])
				ends[b->first + i] = b->ends[i];
	}
	return 0;
}

int code_expiries_read(struct redis *redis, const struct link_space *space,
		       uint64_t block, int64_t *ret_ends, struct error *err)
{
	struct expiry_batch b = {
		.redis = redis, .space = space, .block = block};

	for (uint32_t i = 0; i < space->block_size; i++)
		ret_ends[i] = 0;
	for (b.version = 0; b.version < CODE_VERSIONS; b.version++)
		if (codespace_has_version(space->codes, b.version) &&
		    read_version(&b, ret_ends, err) < 0)
			return -1;
	return 0;
}

static int read_memory_usage(struct command *c, struct redis *redis,
			     uint64_t *ret, struct error *err)
{
	redisReply *reply;

	if (command_run(c, redis, &reply, err) < 0)
		return -1;
	*ret = reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer
						  : 0;
	freeReplyObject(reply);
	return 0;
}

int block_weigh(struct redis *redis, const struct link_space *space,
		uint64_t block, uint32_t offset, uint64_t *ret_marker,
		uint64_t *ret_link, struct error *err)
{
	struct link_target target;
	struct command c;

	command_plain(&c, "MEMORY");
	command_text(&c, "USAGE");
	command_marker_key(&c, space, block);
	if (read_memory_usage(&c, redis, ret_marker, err) < 0)
		return -1;
	linkstore_code(space, block, offset, &target);
	command_plain(&c, "MEMORY");
	command_text(&c, "USAGE");
	command_target_key(&c, &target);
	return read_memory_usage(&c, redis, ret_link, err);
}
