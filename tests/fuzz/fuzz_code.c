/*
 * Any bytes as a code, an alias, a marker or a range: a value that is read
 * would be written as the same bytes.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alias.h"
#include "codespace/codespace.h"
#include "codespace/snowflake.h"
#include "codespace/snowflake_code.h"
#include "common/clock.h"
#include "linkstore/marker.h"
#include "linkstore/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct codespace *space_of_length(unsigned length)
{
	static struct codespace *spaces[CODE_LENGTH_MAX + 1];
	static const struct codespace_key keys[] = {
		{0, "the secret of version 0", 23},
		{3, "the secret of version 3", 23},
	};
	struct codespace_options options = {
		.length = length,
		.base = length % 2 ? 62 : 57,
		.keys = keys,
		.key_count = 2,
	};
	struct error err;

	if (!spaces[length])
		spaces[length] = codespace_new(&options, &err);
	if (!spaces[length])
		abort();
	return spaces[length];
}

static void try_code(const char *text, size_t size)
{
	char code[CODE_TEXT_MAX];
	unsigned version;
	uint64_t id;

	for (unsigned length = CODE_LENGTH_MIN; length <= CODE_LENGTH_MAX;
	     length++) {
		const struct codespace *cs = space_of_length(length);

		if (!codespace_decode(cs, text, size, &id, &version))
			continue;
		assert(size == length && id < codespace_capacity(cs));
		codespace_encode_version(cs, version, id, code);
		assert(memcmp(code, text, size) == 0);
	}
}

static void try_snowflake(const char *text, size_t size)
{
	static const struct codespace_key key = {1, "the secret of version 1",
						 23};
	static struct snowflake_codes *codes[2];
	char code[SNOWFLAKE_CODE_TEXT_MAX];
	struct error err;
	uint64_t id;
	int64_t ms;

	for (unsigned i = 0; i < 2; i++) {
		if (!codes[i])
			codes[i] =
				snowflake_codes_new(i ? 62 : 57, &key, 1, &err);
		if (!codes[i])
			abort();
		if (!snowflake_codes_decode(codes[i], text, size, &id, &ms,
					    NULL))
			continue;
		assert(id <= INT64_MAX && ms >= SNOWFLAKE_EPOCH);
		snowflake_codes_encode(codes[i], id, code);
		assert(memcmp(code, text, size) == 0);
	}
}

static void try_alias(const char *text, size_t size)
{
	struct error err;

	if (alias_check(text, size, &err))
		return;
	assert(size > 0 && size <= ALIAS_LENGTH_MAX);
	assert(!memchr(text, '/', size) && !memchr(text, '\0', size));
	alias_is_reserved(text, size, NULL, 0);
}

static void try_range(const char *text, size_t size)
{
	struct block_range range, again;
	char written[RANGE_TEXT_MAX];

	if (!range_parse(text, size, &range))
		return;
	range_format(&range, written);
	assert(range_parse(written, strlen(written), &again));
	assert(again.first == range.first && again.last == range.last &&
	       again.generation == range.generation);
}

static void try_marker(const char *text, size_t size)
{
	struct link_marker m;

	if (!marker_parse(text, size, &m))
		return;
	assert(m.end >= 0 && m.opened >= 0);
	assert(strlen(m.class_name) > 0 && strlen(m.holder) > 0);
	assert(m.open || marker_ended(&m, 0));
	/* A block ends at the latest when the last of its links does. */
	assert(marker_ended(&m, INT64_MAX) ==
	       (!m.open || marker_last_end(&m) != DURATION_NEVER));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The copy has exactly this size, so that a read beyond it is noticed.
	 */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	try_code(text, size);
	try_snowflake(text, size);
	try_alias(text, size);
	try_range(text, size);
	try_marker(text, size);
	free(text);
	return 0;
}
