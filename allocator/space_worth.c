#include "allocator/space_worth.h"
#include "linkstore/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINKS UINT64_C(1000000)

struct worth_numbers {
	uint64_t capacity, guesses;
};

static bool count_codes_and_guesses(const struct link_space *space,
				    struct worth_numbers *ret)
{
	const struct url_codes *hash = NULL;

	if (space->strategy == LINK_SEQUENCE) {
		ret->capacity = codespace_capacity(space->codes);
		ret->guesses = codespace_guesses(space->codes);
		return true;
	}
	if (space->strategy == LINK_HASH)
		hash = linkstore_hash_codes(space);
	if (!hash)
		return false;
	ret->capacity = url_codes_capacity(hash);
	ret->guesses = url_codes_guesses(hash);
	return true;
}

uint64_t space_guess_hits(const struct link_space *space, uint64_t *ret_links)
{
	struct worth_numbers n;

	if (!count_codes_and_guesses(space, &n))
		return 0;
	*ret_links = n.capacity / 2 < LINKS ? n.capacity / 2 : LINKS;
	return n.guesses / *ret_links;
}

/* For codes that are permuted ids, adds that the proof of the permutation holds
 * only against an attacker who has seen few codes. */
static void add_bound(const struct link_space *space,
		      char text[SPACE_WORTH_MAX])
{
	size_t len = strlen(text);

	if (space->strategy == LINK_SEQUENCE)
		snprintf(text + len, SPACE_WORTH_MAX - len,
			 "; the next code is proven to be unpredictable only "
			 "for a reader of fewer codes than %" PRIu64,
			 codespace_proven(space->codes));
}

bool space_worth_warn(const struct link_space *space,
		      char ret_text[SPACE_WORTH_MAX])
{
	uint64_t links, one_in = space_guess_hits(space, &links);
	bool quarters = space->strategy == LINK_HASH &&
			linkstore_hash_codes(space) ==
				space->url_codes[URL_CODE_MD5_QUARTERS];

	if (one_in == 0 || one_in >= SPACE_WORTH_FINE)
		return false;
	snprintf(ret_text, SPACE_WORTH_MAX,
		 "codes of %u characters%s are easily guessed: with %" PRIu64
		 " links live, one guess in %" PRIu64 " hits one",
		 space->length, quarters ? " made of md5-quarters" : "", links,
		 one_in);
	add_bound(space, ret_text);
	return true;
}
