#include "linkstore/block/create_command.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"

void create_command_build(struct command *c, const struct link_block *block,
			  const struct create_entry *entries, size_t count,
			  const struct buf *records)
{
	bool some = false; /* one of them has a deadline */

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
		return error_set(err, ERROR_NOT_OWNER,
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
	/* A link whose fields are all 0 has no bytes. */
	to = buf_reserve(records, ret_entry->len + 1);
	if (!to) {
		records->failed = false;
		return error_set_nomem(err);
	}
	records->len += shortloop__link__pack(link, (uint8_t *)to);
	return 0;
}
