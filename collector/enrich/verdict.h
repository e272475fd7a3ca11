/*
 * verdict.h - is a click a person's?
 *
 * The numbers are those of the column `verdict`; they are stored, so they never
 * change.
 */
#ifndef COLLECTOR_ENRICH_VERDICT_H
#define COLLECTOR_ENRICH_VERDICT_H

#include "collector/enrich/bots/bots.h"
#include "collector/enrich/bursts.h"
#include "common/error.h"
#include "schemas/click.pb-c.h"

enum {
	/* Counted up when rules change that are code.  Rules in a table or a
	 * file are hashed instead (reference.c). */
	VERDICT_VERSION = 3
};

enum verdict_kind {
	VERDICT_HUMAN = 0,
	VERDICT_BOT = 1,
	VERDICT_PREFETCH = 2,
	VERDICT_PREVIEW = 3,
	VERDICT_MONITOR = 4,
	VERDICT_SCANNER = 5,
	VERDICT_KIND_COUNT
};

struct verdict {
	enum verdict_kind kind;
	const char *reason; /* static; "" for a person */
};

/* "human", "bot" ... */
const char *verdict_name(enum verdict_kind kind);

/*
 * In this order, the first that knows decides:
 *	the user agent: none, one of a robot (bots.h), one that uap-core calls
 *	Spider
 *	a header that says the page is fetched ahead
 *	a burst of requests
 *	HEAD
 */
struct verdict verdict_of_bot(const struct bot *bot);
extern const struct verdict verdict_no_user_agent;
extern const struct verdict verdict_spider;
extern const struct verdict verdict_human;

/* What the request itself gives away; `by_user_agent` where it does not.
 * `purpose`: value of Sec-Purpose or Purpose, or "". */
struct verdict verdict_of_request(const char *purpose, bool head,
				  struct verdict by_user_agent);
struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent);

/* May bursts change the verdict?  Only such clicks make up bursts, too. */
bool verdict_leaves_open(struct verdict v);
struct verdict verdict_of_burst(enum burst burst, struct verdict otherwise);

#endif
