#include "linkstore/block/link_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/marker.h"
#include "linkstore/record_head.h"
#include "linkstore/space/space_record.h"

#define SCAN_COUNT 1000 /* keys per page, approximately */

const char *link_trouble_text(enum link_trouble trouble)
{
	static const char *const texts[] = {
		[LINK_SOUND] = "sound",
		[LINK_KEY_DAMAGED] = "the key is of no link",
		[LINK_RECORD_DAMAGED] = "the record is damaged",
		[LINK_MISPLACED] = "it belongs to another block",
		[LINK_NEVER_ISSUED] = "its block was never issued",
		[LINK_UNMARKED] = "its block has no marker",
		[LINK_CLOSED] = "its block is closed",
		[LINK_OTHER_OWNER] = "its block has another generation",
		[LINK_OUTLIVES] = "it ends after its block",
		[LINK_UNCOUNTED] = "it is blocked, and its block may end",
	};

	return texts[trouble];
}

/* --- checks --------------------------------------------------------------- */

/* Parses "l:{s7:42}:code" into the block in its tag and the one of its code. */
static bool read_key(const struct link_space *space, const char *key,
		     size_t len, uint64_t *ret_block, uint64_t *ret_id)
{
	char prefix[64];
	size_t at =
		(size_t)snprintf(prefix, sizeof(prefix), "l:{%s:", space->name);
	uint64_t block = 0;
	size_t digits = 0;
	unsigned version;

	if (len < at || memcmp(key, prefix, at) != 0)
		return false;
	for (; at < len && key[at] >= '0' && key[at] <= '9'; at++, digits++)
		block = block * 10 + (uint64_t)(key[at] - '0');
	if (!digits || digits > 18 || len - at < 2 || key[at] != '}' ||
	    key[at + 1] != ':')
		return false;
	at += 2;
	*ret_block = block;
	return codespace_decode(space->codes, key + at, len - at, ret_id,
				&version);
}

static bool read_head(const struct link_facts *facts,
		      struct link_id_parts *ret_parts)
{
	const unsigned char *head = facts->head;
	uint64_t link_id = 0;

	if (facts->head_len < RECORD_HEAD || head[0] != (1 << 3 | 1))
		return false;
	for (int i = 0; i < 8; i++)
		link_id |= (uint64_t)head[1 + i] << 8 * i;
	*ret_parts = link_id_unpack(link_id);
	return true;
}

static enum link_trouble judge_marker(const struct link_facts *facts,
				      const struct link_id_parts *id)
{
	struct link_marker m;

	if (!marker_parse(facts->marker, facts->marker_len, &m))
		return LINK_UNMARKED;
	if (id->generation != m.generation)
		return LINK_OTHER_OWNER;
	if (!m.open)
		return LINK_CLOSED;
	if (facts->blocked)
		return m.blocked ? LINK_SOUND : LINK_UNCOUNTED;
	if (m.end == DURATION_NEVER)
		return LINK_SOUND;
	return facts->expires == DURATION_NEVER ||
			       facts->expires > m.end + LINK_CHECK_SLACK
		       ? LINK_OUTLIVES
		       : LINK_SOUND;
}

enum link_trouble link_judge(const struct link_space *space, uint64_t cursor,
			     const char *key, size_t key_len,
			     const struct link_facts *facts,
			     uint64_t *ret_block)
{
	struct link_id_parts parts;
	uint64_t id;

	*ret_block = 0;
	if (!facts->expires)
		return LINK_SOUND;
	if (!read_key(space, key, key_len, ret_block, &id))
		return LINK_KEY_DAMAGED;
	if (!read_head(facts, &parts))
		return LINK_RECORD_DAMAGED;
	if (id / space->block_size != *ret_block || parts.id != id ||
	    parts.space != space->number)
		return LINK_MISPLACED;
	if (*ret_block >= cursor)
		return LINK_NEVER_ISSUED;
	return judge_marker(facts, &parts);
}

/* --- queries -------------------------------------------------------------- */

/* PEXPIRETIME returns -2: no such key, -1: no expiry. */
static int64_t expires_of(long long pexpiretime)
{
	return pexpiretime == -1 ? DURATION_NEVER
	       : pexpiretime < 0 ? 0
				 : pexpiretime;
}

static const char *text_of(const redisReply *reply, size_t *ret_len)
{
	bool is_text = reply->type == REDIS_REPLY_STRING;

	*ret_len = is_text ? reply->len : 0;
	return is_text ? reply->str : "";
}

/* Returns the part of the key up to its tag's end, which names the slot's
 * marker. */
static size_t marker_key(const char *key, size_t len, char ret[64])
{
	const char *end = memchr(key, '}', len);
	size_t size = end ? (size_t)(end - key) + 1 : 0;

	if (size < 2 || size >= 64)
		return 0;
	memcpy(ret, key, size);
	ret[0] = 'm';
	return size;
}

static int append_facts(struct redis *redis, const redisReply *key,
			struct error *err)
{
	char marker[64];
	size_t marker_len = marker_key(key->str, key->len, marker);
	const char *expiry[] = {"PEXPIRETIME", key->str};
	const char *head[] = {"GETRANGE", key->str, "0", "8"};
	const char *get[] = {"GET", marker_len ? marker : key->str};
	size_t expiry_lens[] = {11, key->len};
	size_t head_lens[] = {8, key->len, 1, 1};
	size_t get_lens[] = {3, marker_len ? marker_len : key->len};

	if (redis_append(redis, 2, expiry, expiry_lens, err) < 0 ||
	    redis_append(redis, 4, head, head_lens, err) < 0)
		return -1;
	return redis_append(redis, 2, get, get_lens, err);
}

/* Reads link and marker at the same moment. */
static int ask_again(const struct link_check *check, uint64_t cursor,
		     const redisReply *key, enum link_trouble *ret_trouble,
		     uint64_t *ret_block, struct error *err)
{
	char marker[64];
	size_t marker_len = marker_key(key->str, key->len, marker);
	struct link_facts facts = {0};
	struct command c;
	redisReply *reply;
	int status = 0;

	if (!marker_len)
		return 0;
	command_script(&c, check->space, SCRIPT_JUDGE_LINK);
	command_arg(&c, marker, marker_len);
	command_arg(&c, key->str, key->len);
	c.keys = 2;
	if (command_run(&c, check->redis, &reply, err) < 0)
		return -1;
	if (!reply_is_array(reply, 5)) {
		status = reply_malformed("judge_link", err);
	} else {
		facts.expires = expires_of(reply_number(reply, 0, -2));
		facts.head = text_of(reply->element[1], &facts.head_len);
		facts.marker = text_of(reply->element[2], &facts.marker_len);
		facts.blocked = reply_number(reply, 4, 0) == 1;
		*ret_trouble = link_judge(check->space, cursor, key->str,
					  key->len, &facts, ret_block);
	}
	freeReplyObject(reply);
	return status;
}

static int report_confirmed_trouble(struct link_check *check,
				    const redisReply *key,
				    enum link_trouble trouble, uint64_t block,
				    struct error *err)
{
	struct link_finding finding;
	uint64_t cursor;

	/* If the value is damaged, the script fails; the first reading
	 * holds. */
	if (trouble != LINK_RECORD_DAMAGED && trouble != LINK_KEY_DAMAGED) {
		if (space_read_cursor(check->redis, check->space, &cursor,
				      err) < 0 ||
		    ask_again(check, cursor, key, &trouble, &block, err) < 0)
			return -1;
	}
	if (trouble == LINK_SOUND)
		return 0;
	finding = (struct link_finding){trouble, block, key->str, key->len};
	check->found(check->arg, &finding);
	return 0;
}

/* --- walk ----------------------------------------------------------------- */

static int take_facts(struct link_check *check, uint64_t cursor,
		      const redisReply *key, enum link_trouble *ret,
		      uint64_t *ret_block, struct error *err)
{
	redisReply *replies[3] = {NULL};
	struct link_facts facts = {0};
	struct error ignored;
	int status = 0;

	for (int i = 0; i < 3; i++)
		if (redis_take_answer(check->redis, &replies[i],
				      status ? &ignored : err) < 0)
			status = -1;
	if (status == 0) {
		facts.expires = expires_of(replies[0]->integer);
		facts.head = text_of(replies[1], &facts.head_len);
		facts.marker = text_of(replies[2], &facts.marker_len);
		*ret = link_judge(check->space, cursor, key->str, key->len,
				  &facts, ret_block);
		check->links += facts.expires != 0;
	}
	for (int i = 0; i < 3; i++)
		if (replies[i])
			freeReplyObject(replies[i]);
	return status;
}

static int check_keys(struct link_check *check, const redisReply *keys,
		      enum link_trouble *troubles, uint64_t *blocks,
		      uint64_t cursor, struct error *err)
{
	struct error ignored;
	int status = 0;

	for (size_t i = 0; i < keys->elements; i++)
		if (append_facts(check->redis, keys->element[i], err) < 0)
			return -1;
	for (size_t i = 0; i < keys->elements; i++)
		if (take_facts(check, cursor, keys->element[i], &troubles[i],
			       &blocks[i], status ? &ignored : err) < 0)
			status = -1;
	if (status < 0)
		return -1;
	for (size_t i = 0; i < keys->elements; i++)
		if (troubles[i] != LINK_SOUND &&
		    report_confirmed_trouble(check, keys->element[i],
					     troubles[i], blocks[i], err) < 0)
			return -1;
	return 0;
}

static int check_page(struct link_check *check, const redisReply *keys,
		      uint64_t cursor, struct error *err)
{
	enum link_trouble *troubles =
		calloc(keys->elements + 1, sizeof(*troubles));
	uint64_t *blocks = calloc(keys->elements + 1, sizeof(*blocks));
	int status = -1;

	if (troubles && blocks)
		status = check_keys(check, keys, troubles, blocks, cursor, err);
	else
		error_set_nomem(err);
	free(troubles);
	free(blocks);
	return status;
}

static int next_page(struct link_check *check, char at[24], struct error *err)
{
	struct command c;
	redisReply *reply;
	uint64_t cursor;
	int status = -1;

	if (space_read_cursor(check->redis, check->space, &cursor, err) < 0)
		return -1;
	command_plain(&c, "SCAN");
	command_text(&c, at);
	command_text(&c, "MATCH");
	command_format(&c, "l:{%s:*", check->space->name);
	command_text(&c, "COUNT");
	command_number(&c, SCAN_COUNT);
	if (command_run(&c, check->redis, &reply, err) < 0)
		return -1;
	if (!reply_is_array(reply, 2) ||
	    reply->element[1]->type != REDIS_REPLY_ARRAY) {
		reply_malformed("SCAN", err);
	} else {
		snprintf(at, 24, "%s", reply_text(reply, 0));
		status = check_page(check, reply->element[1], cursor, err);
	}
	freeReplyObject(reply);
	return status;
}

static int count_keys(struct link_check *check, uint64_t *ret,
		      struct error *err)
{
	struct command c;
	redisReply *reply;

	command_plain(&c, "DBSIZE");
	if (command_run(&c, check->redis, &reply, err) < 0)
		return -1;
	*ret = (uint64_t)reply->integer;
	freeReplyObject(reply);
	return 0;
}

int link_check_run(struct link_check *check, struct error *err)
{
	char at[24] = "0";
	uint64_t total, keys = 0;

	if (count_keys(check, &total, err) < 0)
		return -1;
	do {
		if (next_page(check, at, err) < 0)
			return -1;
		keys += SCAN_COUNT;
		if (check->pause(check->arg, check->links, keys, total))
			break;
	} while (strcmp(at, "0") != 0);
	return 0;
}
