/*
 * Any bytes as a link's key, record and marker in Redis, as `reclaimer verify`
 * reads them: a link is classified as sound only if one of our programs would
 * have stored it.  Any text as blocks on the command line, or shown to users.
 */
#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "common/safe_text.h"
#include "linkstore/block/link_check.h"
#include "linkstore/marker.h"
#include "linkstore/target.h"
#include "reclaimer/hold/block_arg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CURSOR 1000

static const struct link_space *some_space(void)
{
	static struct linkstore *store;
	static char name[] = "s7", strategy[] = "sequence", class[] = "10d",
		    secret[] = "a secret of sixteen bytes or more";
	static char *classes[] = {class};
	static struct links_key_config key = {0, secret};
	static struct links_space_config one = {
		.name = name,
		.number = 7,
		.length = 7,
		.strategy = strategy,
		.block_size = 1000,
		.keys = {&key, 1},
	};
	static struct links_config config = {
		.ttl_classes = {classes, 1},
		.hold_max = CLOCK_MINUTE,
		.grant_blocks = 1,
		.spaces = {&one, 1},
	};
	struct error err;

	if (!store)
		store = linkstore_new(&config, &err);
	if (!store)
		abort();
	return linkstore_space(store, 0);
}

/* A sound link has an open marker of the record's generation that lasts as
 * long. */
static void check_sound(const struct link_facts *facts, uint64_t block)
{
	struct link_marker m;
	uint64_t link_id = 0;

	if (!facts->expires)
		return;
	assert(block < CURSOR && facts->head_len >= 9);
	for (int i = 0; i < 8; i++)
		link_id |= (uint64_t)((const unsigned char *)facts->head)[1 + i]
			   << 8 * i;
	assert(marker_parse(facts->marker, facts->marker_len, &m) && m.open);
	assert(link_id_unpack(link_id).generation == m.generation);
	assert(link_id_unpack(link_id).id / 1000 == block);
	assert(m.end == DURATION_NEVER ||
	       (facts->expires != DURATION_NEVER &&
		facts->expires <= m.end + LINK_CHECK_SLACK));
}

/* Returns a part of the input, up to a zero byte; the rest stays. */
static const char *take_part(const char **at, size_t *left, size_t *ret_len)
{
	const char *start = *at, *zero = memchr(start, 0, *left);
	size_t len = zero ? (size_t)(zero - start) : *left;

	*ret_len = len;
	*at += len + (zero != NULL);
	*left -= len + (zero != NULL);
	return start;
}

/* Makes a valid key with the code of a block and offset from the input, so that
 * sound links occur, too. */
static size_t make_key(const char *bytes, size_t len, char key[64])
{
	struct link_target target;
	uint32_t number = 0;

	memcpy(&number, bytes, len < 4 ? len : 4);
	linkstore_code(some_space(), number % (CURSOR + 2), number >> 16 & 511,
		       &target);
	return (size_t)snprintf(key, 64, "l:{s7:%u}:%s",
				(unsigned)(number % (CURSOR + 2)), target.code);
}

static void try_link(const char *text, size_t size)
{
	struct link_facts facts = {0};
	const char *key;
	char made[64];
	size_t key_len, expires_len;
	int64_t expires;
	uint64_t block;

	key = take_part(&text, &size, &key_len);
	if (key_len <= 4) {
		key_len = make_key(key, key_len, made);
		key = made;
	}
	take_part(&text, &size, &expires_len);
	expires = (int64_t)expires_len * 1000;
	facts.expires = expires > 60000 ? DURATION_NEVER : expires;
	facts.marker = take_part(&text, &size, &facts.marker_len);
	facts.head = text; /* it may contain zero bytes */
	facts.head_len = size < 9 ? size : 9;
	if (link_judge(some_space(), CURSOR, key, key_len, &facts, &block) ==
	    LINK_SOUND)
		check_sound(&facts, block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256], quoted[100];
	uint64_t first, last;
	struct error err;

	if (!size)
		return 0;
	try_link((const char *)data, size);
	safe_text(quoted, sizeof(quoted), data, size);
	for (const char *p = quoted; *p; p++)
		assert(isprint((unsigned char)*p));
	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (block_arg_read(text, &first, &last, &err) == 0)
		assert(first <= last && isdigit((unsigned char)*text));
	return 0;
}
