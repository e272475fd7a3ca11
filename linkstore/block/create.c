#include "linkstore/block/create.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/block/create_command.h"

int link_prepare(const struct link_block *block, uint32_t offset,
		 Shortloop__Link *link, struct error *err)
{
	const struct link_space *space = block->space;
	struct link_id_parts parts = {
		.space = space->number,
		.generation = block->generation,
		.id = block->number * space->block_size + offset,
	};
	uint64_t link_id;

	if (offset >= space->block_size || block->number >= space->blocks)
		return error_set(err, ERROR_INPUT,
				 "space %s has no offset %" PRIu32
				 " in block %" PRIu64,
				 space->name, offset, block->number);
	if (link_id_pack(&parts, &link_id, err))
		return -1;
	link->link_id = link_id;
	link->generation = block->generation;
	link->version = 1;
	link->ttl_class = (char *)(uintptr_t)block->ttl->name;
	link->ttl_ms = block->ttl->ttl == DURATION_NEVER
			       ? 0
			       : (uint64_t)block->ttl->ttl;
	return 0;
}

void create_command_build(struct command *c, const struct link_block *block,
			  const struct create_entry *entries, size_t count,
			  const struct buf *records)
{
	bool some = false; /* has a deadline */

	command_script(c, block->space, SCRIPT_CREATE);
	command_marker_key(c, block->space, block->number);
	for (size_t i = 0; i < count; i++)
		command_link_key(c, block->space, block->number,
				 entries[i].code);
	command_number(c, block->generation);
	command_text(c, block->holder);
	command_time(c, block->ttl->ttl);
	for (size_t i = 0; i < count; i++)
		command_arg(c, records->data + entries[i].start,
			    entries[i].len);
	for (size_t i = 0; i < count; i++)
		some |= entries[i].deadline != 0;
	for (size_t i = 0; i < count && some; i++)
		command_time(c, entries[i].deadline);
}

int create_command_check(const redisReply *reply,
			 const struct link_block *block, size_t count,
			 int64_t *ret_expires, struct error *err)
{
	int64_t first;

	if (!reply_is_array(reply, 1))
		return reply_malformed("create", err);
	first = reply_number(reply, 0, -1);
	if (first < 0)
		return error_set(err, ERROR_BUSY,
				 "space %s: block %" PRIu64 " is not ours under"
				 " generation %" PRIu32 " any more: its marker "
				 "is %s",
				 block->space->name, block->number,
				 block->generation,
				 first == -1 ? "gone" : "another's or closed");
	if (!reply_is_array(reply, count + 1))
		return reply_malformed("create", err);
	*ret_expires = first == 0 ? DURATION_NEVER : first;
	return 0;
}

int create_command_result(const redisReply *reply, size_t i, const char *code,
			  struct error *err)
{
	int64_t what = reply_number(reply, i + 1, 0);

	if (what > 0)
		return 0;
	if (what < 0)
		return error_set(err, ERROR_LATE,
				 "link %s was not stored: its deadline has "
				 "passed",
				 code);
	return error_set(err, ERROR_UNSAFE,
			 "a live link is there under %s already", code);
}

int create_entry_pack(const char *code, const Shortloop__Link *link,
		      struct buf *records, struct create_entry *ret_entry,
		      struct error *err)
{
	size_t len = strlen(code);
	char *to;

	if (len == 0 || len >= sizeof(ret_entry->code))
		return error_set(err, ERROR_INPUT, "'%.20s' is no code", code);
	memcpy(ret_entry->code, code, len + 1);
	ret_entry->start = records->len;
	ret_entry->len = shortloop__link__get_packed_size(link);
	/* A link of which all is 0 takes no byte. */
	to = buf_reserve(records, ret_entry->len + 1);
	if (!to) {
		records->failed = false;
		return error_set_nomem(err);
	}
	records->len += shortloop__link__pack(link, (uint8_t *)to);
	return 0;
}

int link_create(struct redis *redis, const struct link_block *block,
		const char *code, const Shortloop__Link *link, int64_t deadline,
		int64_t *ret_expires, struct error *err)
{
	struct create_entry entry = {.deadline = deadline};
	struct buf record = {0};
	struct command c;
	redisReply *reply = NULL;
	int status;

	if (create_entry_pack(code, link, &record, &entry, err))
		return -1;
	create_command_build(&c, block, &entry, 1, &record);
	status = command_run(&c, redis, &reply, err);
	buf_free(&record);
	if (status)
		return -1;
	if (create_command_check(reply, block, 1, ret_expires, err) ||
	    create_command_result(reply, 0, code, err))
		status = -1;
	freeReplyObject(reply);
	return status;
}
