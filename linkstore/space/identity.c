#include "linkstore/space/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"
#include "linkstore/target.h"

static void put(struct identity_field *field, const char *name, const char *old,
		uint64_t value)
{
	field->name = name;
	field->old = old;
	snprintf(field->text, sizeof(field->text), "%" PRIu64, value);
}

/* What the record of a hash space says that has no such field. */
#define HASH_CODES_OLD URL_CODE_MD5_QUARTERS

static const char *hash_codes_of(const struct link_space *space)
{
	const struct url_codes *codes = linkstore_hash_codes(space);
	int i = URL_CODE_METHODS;

	while (i-- > 0 && (!codes || codes != space->url_codes[i]))
		;
	return i < 0 ? "" : link_hash_code_names[i];
}

void identity_fields(const struct link_space *space,
		     struct identity_field ret_fields[IDENTITY_FIELDS])
{
	memset(ret_fields, 0, IDENTITY_FIELDS * sizeof(*ret_fields));
	put(&ret_fields[0], "number", "", space->number);
	put(&ret_fields[1], "length", "", space->length);
	put(&ret_fields[2], "block_size", "", space->block_size);
	put(&ret_fields[3], "symbols", "62", space->base);
	ret_fields[4].name = "strategy";
	ret_fields[4].old = "";
	snprintf(ret_fields[4].text, sizeof(ret_fields[4].text), "%s",
		 link_strategy_names[space->strategy]);
	if (space->strategy != LINK_HASH)
		return;
	ret_fields[5].name = "hash_codes";
	ret_fields[5].old = link_hash_code_names[HASH_CODES_OLD];
	snprintf(ret_fields[5].text, sizeof(ret_fields[5].text), "%s",
		 hash_codes_of(space));
}

int identity_note_hash_codes(const struct link_space *space, const char *has,
			     struct error *err)
{
	if (!has)
		has = link_hash_code_names[HASH_CODES_OLD];
	for (int i = 0; i < URL_CODE_METHODS; i++) {
		if (strcmp(has, link_hash_code_names[i]) != 0)
			continue;
		linkstore_note_hash_codes(space, (enum url_code_method)i);
		return 0;
	}
	return error_set(err, ERROR_CONFIG,
			 "space %s was created with hash_codes = %.40s, which "
			 "this version does not know",
			 space->name, has);
}

/* The one key of a hash space is written down as that of version 0: no code
 * tells which key it was made with. */
bool identity_fingerprint(const struct link_space *space, unsigned version,
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

int identity_differs(const struct link_space *space, const char *field,
		     const char *has, const char *configured, struct error *err)
{
	return error_set(err, ERROR_CONFIG,
			 "space %s was created with %s = %s, but the "
			 "configuration says %s: it would look for links "
			 "where there are none",
			 space->name, field, *has ? has : "(none)", configured);
}

/* --- checking ------------------------------------------------------------- */

/* The value of a field in HGETALL's answer, or NULL. */
static const char *find(const redisReply *hash, const char *name)
{
	for (size_t i = 0; i + 1 < hash->elements; i += 2)
		if (!strcmp(reply_text(hash, i), name))
			return reply_text(hash, i + 1);
	return NULL;
}

/* A field that counts; 0 when it is not there. */
static uint64_t count_of(const redisReply *hash, const char *name)
{
	const char *text = find(hash, name);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* May codes of a version have been made?  Grants note it; without them, or in a
 * record from before they did, nothing tells, so they may. */
static bool is_used(const redisReply *hash, const struct link_space *space,
		    unsigned version)
{
	char name[16];
	const char *used;

	if (!link_space_has_blocks(space))
		return true;
	snprintf(name, sizeof(name), "used:%u", version);
	used = find(hash, name);
	return !used || strcmp(used, "0") != 0;
}

/* A version that is configured; `has` is what the record says of it. */
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
		has = find(hash, name);
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
		has = find(hash, fields[i].name);
		if (!has)
			has = fields[i].old;
		if (strcmp(has, fields[i].text) != 0)
			return identity_differs(space, fields[i].name, has,
						fields[i].text, err);
	}
	return 0;
}

int identity_check(const redisReply *reply, const struct link_space *space,
		   enum space_use use, struct error *err)
{
	const redisReply *hash;
	const char *has;
	int64_t cursor;

	if (!reply_is_array(reply, 2) || !reply_is_array(reply->element[1], 0))
		return reply_malformed("space_read", err);
	hash = reply->element[1];
	if (hash->elements == 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s was not created in this Redis",
				 space->name);
	if (space->strategy == LINK_HASH &&
	    identity_note_hash_codes(space, find(hash, "hash_codes"), err))
		return -1;
	if (check_fields(hash, space, err) || check_keys(hash, space, use, err))
		return -1;
	if (!link_space_has_blocks(space))
		return 0;
	has = find(hash, "gap");
	if (has)
		linkstore_note_gap(space, strtoull(has, NULL, 10));
	cursor = reply_number(reply, 0, -1);
	if (cursor < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has lost its cursor", space->name);
	linkstore_note_cursor(space, (uint64_t)cursor);
	linkstore_note_seen(space, &(struct space_seen){
					   .moves = count_of(hash, "moves"),
					   .generation = (uint32_t)count_of(
						   hash, "highest"),
				   });
	return 0;
}
