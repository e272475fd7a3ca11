#include "collector/enrich/referrer_site.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/cache.h"

/* Some two thousand hosts. */
#define CACHE_BYTES (256 * 1024)

/* The cache has a byte for each host: where its site begins. */
struct site_lookup {
	const struct sources *sources;
	struct cache *offsets;
};
_Static_assert((int)REFERRER_HOST_MAX <= (int)UINT8_MAX, "a byte is enough");

struct site_lookup *site_lookup_new(const struct sources *sources,
				    struct error *err)
{
	struct site_lookup *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->sources = sources;
	l->offsets = cache_new(CACHE_BYTES, err);
	if (l->offsets)
		return l;
	site_lookup_free(l);
	return NULL;
}

void site_lookup_free(struct site_lookup *l)
{
	if (!l)
		return;
	cache_free(l->offsets);
	free(l);
}

const char *site_lookup_find(struct site_lookup *l, const struct referrer *r)
{
	size_t len = strlen(r->host), value_len;
	const uint8_t *known;
	uint8_t offset;

	if (!len || r->is_app)
		return r->host;
	known = cache_get(l->offsets, r->host, len, &value_len);
	if (known)
		return r->host + *known;
	offset = (uint8_t)(sources_site(l->sources, r->host) - r->host);
	cache_put(l->offsets, r->host, len, &offset, sizeof(offset));
	return r->host + offset;
}
