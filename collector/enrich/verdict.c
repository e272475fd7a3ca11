#include "collector/enrich/verdict.h"

#include <string.h>

struct verdict verdict_of_bot(enum bot_kind kind)
{
	switch (kind) {
	case BOT_PREVIEW:
		return (struct verdict){VERDICT_PREVIEW, "listed preview"};
	case BOT_MONITOR:
		return (struct verdict){VERDICT_MONITOR, "listed monitor"};
	case BOT_SCANNER:
		return (struct verdict){VERDICT_SCANNER, "listed scanner"};
	case BOT_CRAWLER:
		break;
	}
	return (struct verdict){VERDICT_BOT, "listed crawler"};
}

struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent)
{
	if (by_user_agent.kind != VERDICT_HUMAN)
		return by_user_agent;
	/* "prefetch", "prefetch;prerender", "preview": all made by a browser
	 * before anybody has decided to go there. */
	if (strcasestr(click->prefetch, "prefetch") ||
	    strcasestr(click->prefetch, "prerender") ||
	    strcasestr(click->prefetch, "preview"))
		return (struct verdict){VERDICT_PREFETCH, "purpose header"};
	if (click->outcome == SHORTLOOP__OUTCOME__OUTCOME_HEAD)
		return (struct verdict){VERDICT_PREFETCH, "HEAD request"};
	return by_user_agent;
}
