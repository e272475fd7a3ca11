/*
 * sites.h - sites that visitors come from, by channel: search engines, social
 * networks, mail, assistants.
 */
#ifndef COLLECTOR_ENRICH_SITES_H
#define COLLECTOR_ENRICH_SITES_H

#include <stddef.h>

enum {
	SITE_NAME_MAX = 64
};

struct site {
	const char *name;    /* "t.co", or a label of hosts: "google" */
	const char *channel; /* search | social | email | ai */
};

/* Of a host in lower case: the site it is or is under, the most exact one; NULL
 * for none. */
const struct site *site_of_host(const char *host);

/* The same for what people write as utm_source: a host, or "facebook". */
const struct site *site_of_name(const char *name);

#endif
