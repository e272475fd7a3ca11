/*
 * sites.h - sites that visitors come from, known to this program: those that
 * the list of sources (sources.h) lacks or classifies differently.
 */
#ifndef COLLECTOR_ENRICH_SITES_H
#define COLLECTOR_ENRICH_SITES_H

#include <stddef.h>

struct site {
	const char *name;    /* a host, or a brand: "google" */
	const char *channel; /* search | social | email | ai */
};

/* Returns the site of exactly this host, in lower case; NULL: none. */
const struct site *site_of_host(const char *host);

/* Returns a brand whose owner holds its name in many countries. */
const struct site *site_of_brand(const char *label, size_t len);

#endif
