/* referrer.h - where a visitor came from, by the Referer header. */
#ifndef COLLECTOR_ENRICH_REFERRER_H
#define COLLECTOR_ENRICH_REFERRER_H

#include <stddef.h>

enum {
	REFERRER_HOST_MAX = 253
};

struct referrer {
	char host[REFERRER_HOST_MAX + 1]; /* lower case, no port; or "" */
	/* direct | internal | search | social | email | ai | app | referral |
	 * unknown (a referrer that is no address) */
	const char *channel;
	/* The site that decided it ("google", "t.co"); NULL: no list did. */
	const char *site;
};

/* `own_domain` is the host the visitor asked, NUL-terminated. */
void referrer_parse(const char *text, size_t len, const char *own_domain,
		    struct referrer *ret_referrer);

#endif
