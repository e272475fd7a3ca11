#include "linkstore/space/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/call.h"
#include "linkstore/space/identity.h"
#include "linkstore/target.h"

/* --- creating ------------------------------------------------------------- */

static int parse_created(const redisReply *reply,
			 const struct link_space *space,
			 enum space_created *ret_created, struct error *err)
{
	const char *what;

	if (!reply_is_array(reply, 2))
		return reply_malformed("space_create", err);
	what = reply_text(reply, 1);
	if (reply_number(reply, 0, 0) == 1) {
		*ret_created = !strcmp(what, "created")	   ? SPACE_CREATED
			       : !strcmp(what, "extended") ? SPACE_EXTENDED
							   : SPACE_UNCHANGED;
		return 0;
	}
	if (!strcmp(what, "remains"))
		return error_set(err, ERROR_UNSAFE,
				 "space %s has a cursor, a pool or issued "
				 "ranges in Redis, but its record is gone: "
				 "restore it, nothing may be built upon these",
				 space->name);
	if (reply->elements >= 4)
		return identity_differs(space, reply_text(reply, 2),
					reply_text(reply, 3), "otherwise", err);
	return reply_refused(reply, space, err);
}

static void build_create(struct command *c, const struct link_space *space,
			 uint64_t first_block)
{
	struct identity_field fields[IDENTITY_FIELDS];
	char print[CODE_FINGERPRINT_MAX];
	int count = 0;

	identity_fields(space, fields);
	while (count < IDENTITY_FIELDS && fields[count].name)
		count++;
	command_script(c, space, SCRIPT_SPACE_CREATE);
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_space_key(c, "out:", space);
	if (link_space_has_blocks(space))
		command_number(c, first_block);
	else
		command_text(c, "none");
	command_number(c, (uint64_t)count);
	for (int i = 0; i < count; i++) {
		command_text(c, fields[i].name);
		command_text(c, fields[i].text);
		command_text(c, fields[i].old);
	}
	for (unsigned v = 0; v < CODE_VERSIONS; v++) {
		if (!identity_fingerprint(space, v, print))
			continue;
		command_format(c, "key:%u", v);
		command_text(c, print);
	}
}

static int note_hash_codes(const redisReply *reply,
			   const struct link_space *space, struct error *err)
{
	const char *has = NULL;

	if (!reply_is_array(reply, 2))
		return reply_malformed("HMGET", err);
	if (reply->element[0]->type == REDIS_REPLY_NIL) {
		linkstore_note_hash_codes(space, URL_CODE_KEYED);
		return 0;
	}
	if (reply->element[1]->type == REDIS_REPLY_STRING)
		has = reply->element[1]->str;
	return identity_note_hash_codes(space, has, err);
}

/* A hash space that is there goes on as it was made; a new one is keyed.  Where
 * somebody else creates it meanwhile, the script finds the difference. */
static int choose_hash_codes(struct redis *redis,
			     const struct link_space *space, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	if (space->strategy != LINK_HASH)
		return 0;
	command_plain(&c, "HMGET");
	command_space_key(&c, "space:", space);
	command_text(&c, "number");
	command_text(&c, "hash_codes");
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = note_hash_codes(reply, space, err);
	freeReplyObject(reply);
	return status;
}

int space_create(struct redis *redis, const struct link_space *space,
		 uint64_t first_block, enum space_created *ret_created,
		 struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	if (first_block > space->blocks)
		return error_set(err, ERROR_INPUT,
				 "space %s has only %" PRIu64 " blocks",
				 space->name, space->blocks);
	if (choose_hash_codes(redis, space, err))
		return -1;
	build_create(&c, space, first_block);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_created(reply, space, ret_created, err);
	freeReplyObject(reply);
	return status;
}

int space_exists(struct redis *redis, const struct link_space *space,
		 bool *ret_exists, struct error *err)
{
	struct command c;
	redisReply *reply;

	command_plain(&c, "EXISTS");
	command_space_key(&c, "space:", space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	*ret_exists = reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}

/* --- checking ------------------------------------------------------------- */

static void build_read(struct command *c, const struct link_space *space)
{
	command_script(c, space, SCRIPT_SPACE_READ);
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
}

int space_check(struct redis *redis, const struct link_space *space,
		enum space_use use, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_read(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = identity_check(reply, space, use, err);
	freeReplyObject(reply);
	return status;
}

/* --- the cursor ----------------------------------------------------------- */

static int parse_cursor(const redisReply *reply, const struct link_space *space,
			uint64_t *ret_cursor, struct error *err)
{
	char *end;

	if (reply->type != REDIS_REPLY_STRING)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has no cursor in this Redis",
				 space->name);
	*ret_cursor = strtoull(reply->str, &end, 10);
	if (end == reply->str || *end)
		return error_set(err, ERROR_PROTOCOL,
				 "space %s: the cursor '%.40s' is no number",
				 space->name, reply->str);
	linkstore_note_cursor(space, *ret_cursor);
	return 0;
}

static void build_cursor(struct command *c, const struct link_space *space)
{
	command_plain(c, "GET");
	command_space_key(c, "cursor:", space);
}

int space_read_cursor(struct redis *redis, const struct link_space *space,
		      uint64_t *ret_cursor, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_cursor(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_cursor(reply, space, ret_cursor, err);
	freeReplyObject(reply);
	return status;
}

/* --- on a loop ------------------------------------------------------------ */

struct check {
	const struct link_space *space;
	enum space_use use;
};

static int parse_check(const redisReply *reply, const void *about,
		       void *no_value, struct error *err)
{
	const struct check *check = about;

	(void)no_value;
	return identity_check(reply, check->space, check->use, err);
}

static const struct call_type check_call = {
	.about_size = sizeof(struct check),
	.parse = parse_check,
	.deliver = call_deliver_done,
};

int space_check_async(struct redis_async *redis, const struct link_space *space,
		      enum space_use use, space_done_fn *fn, void *arg,
		      struct error *err)
{
	const struct check check = {space, use};
	struct command c;

	build_read(&c, space);
	return call_send(&c, redis, &check_call, &check, (call_fn *)fn, arg,
			 err);
}
