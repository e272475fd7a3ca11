/*
 * sites.h - sites that visitors come from, as we know them ourselves: what the
 * list of sources (sources.h) does not have, or sorts otherwise.
 */
#ifndef COLLECTOR_ENRICH_SITES_H
#define COLLECTOR_ENRICH_SITES_H

#include <stddef.h>

struct site {
	const char *name;    /* a host, or a brand: "google" */
	const char *channel; /* search | social | email | ai */
};

/* The site of this very host, in lower case; NULL: none. */
const struct site *site_of_host(const char *host);

/* A brand whose owner holds its name in many countries. */
const struct site *site_of_brand(const char *label, size_t len);

#endif
