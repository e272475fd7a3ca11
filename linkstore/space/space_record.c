#include "linkstore/space/space_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/async_call.h"
#include "linkstore/target.h"

/* --- identity of a space ------------------------------------------------- */

#define IDENTITY_FIELDS 6 /* at most */

struct identity_field {
	const char *name; /* NULL: end of the list */
	char text[24];
};

static void put_number(struct identity_field *field, const char *name,
		       uint64_t value)
{
	field->name = name;
	snprintf(field->text, sizeof(field->text), "%" PRIu64, value);
}

static const char *hash_codes_of(const struct link_space *space)
{
	const struct url_codes *codes = linkstore_hash_codes(space);
	int i = URL_CODE_METHODS;

	while (i-- > 0 && (!codes || codes != space->url_codes[i]))
		;
	return i < 0 ? "" : link_hash_code_names[i];
}

static void identity_fields(const struct link_space *space,
			    struct identity_field ret_fields[IDENTITY_FIELDS])
{
	memset(ret_fields, 0, IDENTITY_FIELDS * sizeof(*ret_fields));
	put_number(&ret_fields[0], "number", space->number);
	put_number(&ret_fields[1], "length", space->length);
	put_number(&ret_fields[2], "block_size", space->block_size);
	put_number(&ret_fields[3], "symbols", space->base);
	ret_fields[4].name = "strategy";
	snprintf(ret_fields[4].text, sizeof(ret_fields[4].text), "%s",
		 link_strategy_names[space->strategy]);
	if (space->strategy != LINK_HASH)
		return;
	ret_fields[5].name = "hash_codes";
	snprintf(ret_fields[5].text, sizeof(ret_fields[5].text), "%s",
		 hash_codes_of(space));
}

/*
 * Notes how the codes of a hash space are made, by its record (NULL: the record
 * does not say), unless the configuration excludes that, which a comparison of
 * the fields detects.  ERROR_CONFIG: the method is unknown here.
 */
static int identity_note_hash_codes(const struct link_space *space,
				    const char *has, struct error *err)
{
	for (int i = 0; has && i < URL_CODE_METHODS; i++) {
		if (strcmp(has, link_hash_code_names[i]) != 0)
			continue;
		linkstore_note_hash_codes(space, (enum url_code_method)i);
		return 0;
	}
	return error_set(err, ERROR_CONFIG,
			 "space %s was created with hash_codes = %.40s, which "
			 "this version does not know",
			 space->name, has ? has : "(none)");
}

/* The only key of a hash space is recorded as version 0: a code does not show
 * which key made it. */
static bool identity_fingerprint(const struct link_space *space,
				 unsigned version,
				 char ret_text[CODE_FINGERPRINT_MAX])
{
	switch (space->strategy) {
	case LINK_SEQUENCE:
		return codespace_fingerprint(space->codes, version, ret_text);
	case LINK_SNOWFLAKE:
		return snowflake_codes_fingerprint(space->snowflakes, version,
						   ret_text);
	case LINK_HASH:
		if (version != 0 || !linkstore_hash_codes(space))
			return false;
		memcpy(ret_text,
		       url_codes_fingerprint(linkstore_hash_codes(space)),
		       CODE_FINGERPRINT_MAX);
		return true;
	case LINK_ALIAS:
		break;
	}
	return false;
}

/* Sets ERROR_CONFIG.  Returns -1. */
static int identity_differs(const struct link_space *space, const char *field,
			    const char *has, const char *configured,
			    struct error *err)
{
	return error_set(err, ERROR_CONFIG,
			 "space %s was created with %s = %s, but the "
			 "configuration says %s: it would look for links "
			 "where there are none",
			 space->name, field, has && *has ? has : "(none)",
			 configured);
}

/* --- comparison ----------------------------------------------------------- */

/* Returns the value of a field in HGETALL's answer, or NULL. */
static const char *find_field_value(const redisReply *hash, const char *name)
{
	for (size_t i = 0; i + 1 < hash->elements; i += 2)
		if (!strcmp(reply_text(hash, i), name))
			return reply_text(hash, i + 1);
	return NULL;
}

/* Returns the value of a counter; 0 if it is not there. */
static uint64_t count_of(const redisReply *hash, const char *name)
{
	const char *text = find_field_value(hash, name);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* Returns whether codes of a version may have been made.  Grants note it;
 * without a note they may have been. */
static bool is_used(const redisReply *hash, const struct link_space *space,
		    unsigned version)
{
	char name[16];
	const char *used;

	if (!link_space_has_blocks(space))
		return true;
	snprintf(name, sizeof(name), "used:%u", version);
	used = find_field_value(hash, name);
	return !used || strcmp(used, "0") != 0;
}

/* Checks a configured version; `has` is its fingerprint in the record. */
static int check_known(const struct link_space *space, unsigned version,
		       const char *has, const char *print, enum space_use use,
		       struct error *err)
{
	if (has && strcmp(has, print) != 0)
		return error_set(err, ERROR_CONFIG,
				 "space %s: the key of version %u is not the "
				 "one its codes are made with (fingerprint %s, "
				 "not %s)",
				 space->name, version, print, has);
	if (has || use != SPACE_TO_ISSUE ||
	    (int)version != linkstore_key_version(space))
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "space %s: key version %u is to make new codes, but "
			 "is not in use: once every program has the key, add "
			 "it with `allocator create-space --space %s`",
			 space->name, version, space->name);
}

static int check_missing(const struct link_space *space, unsigned missing,
			 unsigned used, enum space_use use, struct error *err)
{
	unsigned version = 0;

	linkstore_note_missing_keys(space, missing, used);
	if (!used || use != SPACE_TO_RECLAIM)
		return 0;
	while (!(used >> version & 1))
		version++;
	return error_set(err, ERROR_CONFIG,
			 "space %s has codes of key version %u, which is not "
			 "configured: their links cannot be looked for",
			 space->name, version);
}

static int check_keys(const redisReply *hash, const struct link_space *space,
		      enum space_use use, struct error *err)
{
	char print[CODE_FINGERPRINT_MAX], name[16];
	unsigned missing = 0, used = 0;
	const char *has;

	for (unsigned v = 0; v < CODE_VERSIONS; v++) {
		snprintf(name, sizeof(name), "key:%u", v);
		has = find_field_value(hash, name);
		if (identity_fingerprint(space, v, print)) {
			if (check_known(space, v, has, print, use, err))
				return -1;
		} else if (has) {
			missing |= 1U << v;
			if (is_used(hash, space, v))
				used |= 1U << v;
		}
	}
	return check_missing(space, missing, used, use, err);
}

static int check_fields(const redisReply *hash, const struct link_space *space,
			struct error *err)
{
	struct identity_field fields[IDENTITY_FIELDS];
	const char *has;

	identity_fields(space, fields);
	for (int i = 0; i < IDENTITY_FIELDS && fields[i].name; i++) {
		has = find_field_value(hash, fields[i].name);
		if (!has || strcmp(has, fields[i].text) != 0)
			return identity_differs(space, fields[i].name, has,
						fields[i].text, err);
	}
	return 0;
}

struct space_check_call {
	const struct link_space *space;
	enum space_use use;
	int64_t asked; /* clock_boottime_ms */
};

/* Evaluates the answer of the script space_read, for space_check. */
static int identity_check(const redisReply *reply,
			  const struct space_check_call *check,
			  struct error *err)
{
	const struct link_space *space = check->space;
	const redisReply *hash;
	const char *has;
	int64_t cursor;

	if (!reply_is_array(reply, 3) || !reply_is_array(reply->element[1], 0))
		return reply_malformed("space_read", err);
	linkstore_note_clock(space, reply_number(reply, 2, 0));
	hash = reply->element[1];
	if (hash->elements == 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s was not created in this Redis",
				 space->name);
	if (space->strategy == LINK_HASH &&
	    identity_note_hash_codes(space,
				     find_field_value(hash, "hash_codes"), err))
		return -1;
	if (check_fields(hash, space, err) ||
	    check_keys(hash, space, check->use, err))
		return -1;
	if (!link_space_has_blocks(space))
		return 0;
	has = find_field_value(hash, "gap");
	if (has)
		linkstore_note_gap(space, strtoull(has, NULL, 10));
	cursor = reply_number(reply, 0, -1);
	if (cursor < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has lost its cursor", space->name);
	linkstore_note_cursor(space, (uint64_t)cursor, check->asked);
	linkstore_note_high_water(
		space,
		&(struct high_water){
			.moves = count_of(hash, "moves"),
			.generation = (uint32_t)count_of(hash, "highest"),
		});
	return 0;
}

/* --- creation ------------------------------------------------------------- */

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

/* An existing hash space keeps its method; a new one is keyed.  If another
 * process creates it meanwhile, the script detects a difference. */
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

/* --- check ---------------------------------------------------------------- */

static void build_read(struct command *c, const struct link_space *space)
{
	command_script(c, space, SCRIPT_SPACE_READ);
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
}

int space_check(struct redis *redis, const struct link_space *space,
		enum space_use use, struct error *err)
{
	const struct space_check_call check = {space, use, clock_boottime_ms()};
	struct command c;
	redisReply *reply;
	int status;

	build_read(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = identity_check(reply, &check, err);
	freeReplyObject(reply);
	return status;
}

/* --- cursor --------------------------------------------------------------- */

static int parse_cursor(const redisReply *reply, const struct link_space *space,
			int64_t asked, uint64_t *ret_cursor, struct error *err)
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
	linkstore_note_cursor(space, *ret_cursor, asked);
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
	int64_t asked = clock_boottime_ms();
	struct command c;
	redisReply *reply;
	int status;

	build_cursor(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_cursor(reply, space, asked, ret_cursor, err);
	freeReplyObject(reply);
	return status;
}

/* --- event loop ----------------------------------------------------------- */

static int parse_check(const redisReply *reply, const void *about,
		       void *no_value, struct error *err)
{
	(void)no_value;
	return identity_check(reply, about, err);
}

static const struct async_call_type check_call = {
	.about_size = sizeof(struct space_check_call),
	.parse = parse_check,
	.deliver = async_call_deliver_done,
};

int space_check_async(struct redis_async *redis, const struct link_space *space,
		      enum space_use use, space_done_fn *fn, void *arg,
		      struct error *err)
{
	const struct space_check_call check = {space, use, clock_boottime_ms()};
	struct command c;

	build_read(&c, space);
	return async_call_send(&c, redis, &check_call, &check,
			       (async_call_fn *)fn, arg, err);
}
