/* referrer.h - a visitor's origin according to the Referer header. */
#ifndef COLLECTOR_ENRICH_REFERRER_H
#define COLLECTOR_ENRICH_REFERRER_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/sources.h"

enum {
	REFERRER_HOST_MAX = 253
};

struct referrer {
	/* Lower case, without port and without a dot at the end; an IPv6
	 * address in its brackets; or "". */
	char host[REFERRER_HOST_MAX + 1];
	/* direct | internal | search | social | email | ai | paid | app |
	 * referral | unknown (a referrer that is no address) */
	const char *channel;
	/* The source that decided; all NULL: the host is unknown. */
	struct source source;
	bool is_app; /* `host` is the name of an app, and no domain */
};

/* `own_domain` is the host that the visitor requested, NUL-terminated. */
void referrer_parse(const char *text, size_t len, const char *own_domain,
		    const struct sources *sources,
		    struct referrer *ret_referrer);

#endif
