#include "common/clickhouse/dictionary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLOTS_MIN = 64
};

#define HASH_HALF UINT64_C(0xffffffff00000000)

/* Returns the free slot for a hash. */
static uint64_t *free_slot(const struct dictionary *d, uint64_t hash)
{
	uint32_t mask = d->slot_count - 1, at = (uint32_t)hash & mask;

	while (d->slots[at])
		at = (at + 1) & mask;
	return &d->slots[at];
}

static bool make_words(struct dictionary *d, uint32_t count)
{
	struct dictionary_word *words =
		realloc(d->words, count * sizeof(*words));

	if (words)
		d->words = words;
	return words;
}

/* At most half of the slots are used. */
static bool grow_slots(struct dictionary *d, const struct hash_key *key)
{
	uint32_t count = d->slot_count ? d->slot_count * 2 : SLOTS_MIN;
	uint64_t *slots;

	if (count > UINT32_MAX / 2 || !make_words(d, count / 2))
		return false;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(d->slots);
	d->slots = slots;
	d->slot_count = count;
	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t hash =
			hash_bytes(key, d->words[i].data, d->words[i].len);

		*free_slot(d, hash) = (hash & HASH_HALF) | (i + 1);
	}
	return true;
}

static bool is_word(const struct dictionary *d, uint32_t number,
		    const char *word, size_t len)
{
	return d->words[number].len == len &&
	       memcmp(d->words[number].data, word, len) == 0;
}

static uint32_t find_or_add_word(struct dictionary *d,
				 const struct hash_key *key, const char *word,
				 size_t len)
{
	uint64_t hash = hash_bytes(key, word, len);
	uint32_t mask = d->slot_count - 1, at = (uint32_t)hash & mask;

	for (; d->slot_count && d->slots[at]; at = (at + 1) & mask) {
		uint32_t number = (uint32_t)d->slots[at] - 1;

		if (!((d->slots[at] ^ hash) & HASH_HALF) &&
		    is_word(d, number, word, len))
			return number;
	}
	if (d->count >= d->slot_count / 2 && !grow_slots(d, key))
		return DICTIONARY_FULL;
	d->words[d->count] = (struct dictionary_word){word, len};
	*free_slot(d, hash) = (hash & HASH_HALF) | (d->count + 1);
	return d->count++;
}

uint32_t dictionary_number(struct dictionary *d, const struct hash_key *key,
			   const char *word, size_t len)
{
	uint32_t number;

	/* Many values of a row equal those of the row before. */
	if (d->count && is_word(d, d->last, word, len))
		return d->last;
	number = find_or_add_word(d, key, word, len);
	if (number != DICTIONARY_FULL)
		d->last = number;
	return number;
}

void dictionary_reset(struct dictionary *d)
{
	if (d->count)
		memset(d->slots, 0, d->slot_count * sizeof(*d->slots));
	d->count = 0;
	d->last = 0;
}

void dictionary_release(struct dictionary *d)
{
	free(d->words);
	free(d->slots);
	*d = (struct dictionary){0};
}
