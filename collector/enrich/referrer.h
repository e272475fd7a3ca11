/* referrer.h - where a visitor came from, by the Referer header. */
#ifndef COLLECTOR_ENRICH_REFERRER_H
#define COLLECTOR_ENRICH_REFERRER_H

#include <stddef.h>

#include "collector/enrich/sources.h"

enum {
	REFERRER_HOST_MAX = 253
};

struct referrer {
	/* Lower case, without port and the dot at a full name's end; an
	 * address of IPv6 in its brackets; or "". */
	char host[REFERRER_HOST_MAX + 1];
	/* direct | internal | search | social | email | ai | paid | app |
	 * referral | unknown (a referrer that is no address) */
	const char *channel;
	/* What decided it; all NULL: nothing knows the host. */
	struct source source;
};

/* `own_domain` is the host the visitor asked, NUL-terminated. */
void referrer_parse(const char *text, size_t len, const char *own_domain,
		    const struct sources *sources,
		    struct referrer *ret_referrer);

#endif
