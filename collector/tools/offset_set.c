#include "collector/tools/offset_set.h"

#include <stdlib.h>
#include <string.h>

#include "common/bits.h"

#define CHUNK_SHIFT   16
#define CHUNK_OFFSETS (UINT64_C(1) << CHUNK_SHIFT)

struct offset_chunk {
	uint64_t key; /* offset >> CHUNK_SHIFT */
	uint64_t *words;
};

void offset_set_free(struct offset_set *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->chunks[i].words);
	free(s->chunks);
	*s = (struct offset_set){0};
}

/* Returns the index of the chunk, or where to insert it. */
static size_t index_of(const struct offset_set *s, uint64_t key)
{
	size_t low = 0, high = s->count;

	/* Offsets mostly arrive in order. */
	if (s->count && s->chunks[s->count - 1].key < key)
		return s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->chunks[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const uint64_t *words_of(const struct offset_set *s, uint64_t key)
{
	size_t at = index_of(s, key);

	return at < s->count && s->chunks[at].key == key ? s->chunks[at].words
							 : NULL;
}

static uint64_t *insert_chunk(struct offset_set *s, size_t at, uint64_t key,
			      struct error *err)
{
	size_t room = s->room ? s->room * 2 : 16;
	struct offset_chunk *chunks = s->chunks;
	uint64_t *words;

	if (s->count == s->room) {
		chunks = realloc(s->chunks, room * sizeof(*chunks));
		if (!chunks) {
			error_set_nomem(err);
			return NULL;
		}
		s->chunks = chunks;
		s->room = room;
	}
	words = bits_new(CHUNK_OFFSETS);
	if (!words) {
		error_set_nomem(err);
		return NULL;
	}
	memmove(&chunks[at + 1], &chunks[at],
		(s->count - at) * sizeof(*chunks));
	chunks[at] = (struct offset_chunk){key, words};
	s->count++;
	return words;
}

int offset_set_add(struct offset_set *s, uint64_t offset, struct error *err)
{
	uint64_t key = offset >> CHUNK_SHIFT;
	size_t at = index_of(s, key);
	uint64_t *words;

	if (at < s->count && s->chunks[at].key == key)
		words = s->chunks[at].words;
	else
		words = insert_chunk(s, at, key, err);
	if (!words)
		return -1;
	if (!bits_add(words, offset % CHUNK_OFFSETS))
		return 0;
	s->total++;
	return 1;
}

bool offset_set_has(const struct offset_set *s, uint64_t offset)
{
	const uint64_t *words = words_of(s, offset >> CHUNK_SHIFT);

	return words && bits_have(words, offset % CHUNK_OFFSETS);
}

uint64_t offset_set_word(const struct offset_set *s, uint64_t first)
{
	const uint64_t *words = words_of(s, first >> CHUNK_SHIFT);

	return words ? words[first % CHUNK_OFFSETS / 64] : 0;
}

/* Counts a chunk of which at least a part lies from first to last. */
static uint64_t count_chunk(const struct offset_chunk *chunk, uint64_t first,
			    uint64_t last)
{
	uint64_t base = chunk->key << CHUNK_SHIFT;
	uint64_t end = base + (CHUNK_OFFSETS - 1);

	return bits_count(chunk->words, first > base ? first - base : 0,
			  (last < end ? last : end) - base);
}

uint64_t offset_set_count(const struct offset_set *s, uint64_t first,
			  uint64_t last)
{
	uint64_t count = 0;

	if (first > last)
		return 0;
	for (size_t i = index_of(s, first >> CHUNK_SHIFT);
	     i < s->count && s->chunks[i].key <= last >> CHUNK_SHIFT; i++)
		count += count_chunk(&s->chunks[i], first, last);
	return count;
}
