/*
 * verdict.h - is a click a person's?
 *
 * The numbers are those of the column `verdict`; they are stored, so they never
 * change.  VERDICT_VERSION is counted up when the rules do.
 */
#ifndef COLLECTOR_ENRICH_VERDICT_H
#define COLLECTOR_ENRICH_VERDICT_H

#include "collector/bots/bots.h"
#include "schemas/click.pb-c.h"

enum {
	VERDICT_VERSION = 1
};

enum verdict_kind {
	VERDICT_HUMAN = 0,
	VERDICT_BOT = 1,
	VERDICT_PREFETCH = 2,
	VERDICT_PREVIEW = 3,
	VERDICT_MONITOR = 4,
	VERDICT_SCANNER = 5,
};

struct verdict {
	enum verdict_kind kind;
	const char *reason; /* static; "" for a person */
};

struct verdict verdict_of_bot(enum bot_kind kind);

/* What the request itself gives away; `by_user_agent` where it does not. */
struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent);

#endif
