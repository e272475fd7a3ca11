/*
 * own.h - robots that we know ourselves: what the list does not have or does
 * not sort as counting needs it.  Looked at before the list.
 */
#ifndef COLLECTOR_ENRICH_BOTS_OWN_H
#define COLLECTOR_ENRICH_BOTS_OWN_H

#include <stddef.h>

#include "collector/enrich/bots/bots.h"

struct own_bot {
	const char *regex; /* of PCRE2, matched as it is written */
	enum bot_kind kind;
};

extern const struct own_bot own_bots[];
extern const size_t own_bot_count;

#endif
