/*
 * verdict.h - decides by the request whether a click is a person's.
 *
 * The numbers are those of the column `verdict`; they are stored, so they never
 * change.
 */
#ifndef COMMON_AGENT_VERDICT_H
#define COMMON_AGENT_VERDICT_H

#include <stdbool.h>

#include "common/agent/bots.h"

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

/* Returns "human", "bot" ... */
const char *verdict_name(enum verdict_kind kind);

/*
 * The verdict is decided in this order; the first that applies counts:
 *	the user agent: none, one of a robot (bots.h), one that uap-core calls
 *	Spider
 *	a header that says the page is fetched ahead
 *	HEAD
 * A burst of requests comes before HEAD (collector/enrich/click_verdict.h).
 */
struct verdict verdict_of_bot(const struct bot *bot);
extern const struct verdict verdict_no_user_agent;
extern const struct verdict verdict_spider;
extern const struct verdict verdict_human;

/* Returns the verdict of the request itself, or else `by_user_agent`.
 * `purpose`: value of Sec-Purpose or Purpose, or "". */
struct verdict verdict_of_request(const char *purpose, bool head,
				  struct verdict by_user_agent);

/* Returns true if later requests may change the verdict. */
bool verdict_leaves_open(struct verdict v);

/*
 * Returns true if the request itself says that it is no click: it is fetched
 * ahead, or a HEAD, or of a robot that names itself.  Its verdict is never
 * VERDICT_HUMAN then, so it uses up none of a link's limited visits.
 *
 * A fetch by a tool such as curl, or by a program without a user agent, is no
 * person's click either, but a user uses the link by it: false.  `bot` is the
 * result of bots_find; NULL: none.
 */
bool verdict_uses_no_visit(const struct bot *bot, const char *purpose,
			   bool head);

#endif
