/* keys.h - keys and random numbers for the tests of codes. */
#ifndef TESTS_UNIT_CODESPACE_KEYS_H
#define TESTS_UNIT_CODESPACE_KEYS_H

#include "tests/unit/unit.h"

#include "codespace/codespace.h"

static const struct codespace_key keys[] = {
	{2, "the secret of version two", 25},
	{0, "an older secret, of version 0", 29},
	{3, "and one of the version three", 28},
	{1, "the last, which is version 1", 28},
};

static inline struct codespace *open_base(unsigned base, unsigned length,
					  size_t key_count)
{
	struct codespace_options options = {
		.length = length,
		.base = base,
		.keys = keys,
		.key_count = key_count,
	};
	struct error err;
	struct codespace *cs = codespace_new(&options, &err);

	if (!cs)
		fail_msg("%s", err.text);
	return cs;
}

static inline struct codespace *open_space(unsigned length, size_t key_count)
{
	return open_base(62, length, key_count);
}

/* xorshift64 (Marsaglia, 2003) gives the same ids in every run. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
