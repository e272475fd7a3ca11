#include "redirector/lookup/recent_changes.h"

#include <stdlib.h>

#include "common/hash.h"

struct recent_changes {
	struct hash_key hash_key; /* keyed: visitors choose codes */
	int64_t last[RECENT_CHANGES];
};

struct recent_changes *recent_changes_new(struct error *err)
{
	struct recent_changes *changes = malloc(sizeof(*changes));

	if (!changes) {
		error_set_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < RECENT_CHANGES; i++)
		changes->last[i] = INT64_MIN;
	if (hash_key_make(&changes->hash_key, err) == 0)
		return changes;
	free(changes);
	return NULL;
}

void recent_changes_free(struct recent_changes *changes)
{
	free(changes);
}

static size_t place_of(const struct recent_changes *changes,
		       struct http_slice code)
{
	return hash_bytes(&changes->hash_key, code.data, code.len) &
	       (RECENT_CHANGES - 1);
}

void recent_changes_note(struct recent_changes *changes, struct http_slice code,
			 int64_t now)
{
	int64_t *last = &changes->last[place_of(changes, code)];

	if (*last < now)
		*last = now;
}

int64_t recent_changes_last(const struct recent_changes *changes,
			    struct http_slice code)
{
	return changes->last[place_of(changes, code)];
}
