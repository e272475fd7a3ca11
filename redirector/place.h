/*
 * place.h - where a visitor is: the domain that the Host header leads to, and
 * which links are shown there.
 *
 * With no domain configured there is one place for every Host; a link that
 * names a domain is then shown where Host is that very name.
 *
 * Made once, then read by every thread.
 */
#ifndef REDIRECTOR_PLACE_H
#define REDIRECTOR_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/domains.h"
#include "linkstore/linkstore.h"
#include "redirector/link_cache.h"
#include "redirector/redirector_settings.h"

struct place {
	const char *name;	  /* of the domain; NULL: none is configured */
	const char *fallback_url; /* NULL: there is none */
	uint64_t spaces;	  /* one bit a space, by its index */
};

struct places;

/* All of it must outlive the result. */
struct places *places_new(const struct domains *domains,
			  const struct linkstore *store,
			  const struct redirector_settings *settings,
			  struct error *err);
void places_free(struct places *p); /* NULL accepted */

/* Are there hosts that get no answer but 404? */
bool places_refuse_some(const struct places *p);
/* Is this one of them? */
bool places_refuse(const struct places *p, struct http_slice host);

/* The place of a Host header's value; one that is unknown, or absent, is the
 * default domain's.  Never NULL. */
const struct place *places_find(const struct places *p, struct http_slice host);

/* May that link be seen there?  `host` is what the place was found by. */
bool place_shows(const struct place *place, struct http_slice host,
		 const struct cached_link *link);

#endif
