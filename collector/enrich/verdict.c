#include "collector/enrich/verdict.h"

#include <string.h>

const struct verdict verdict_human = {VERDICT_HUMAN, ""};
const struct verdict verdict_no_user_agent = {VERDICT_BOT, "no user agent"};
const struct verdict verdict_spider = {VERDICT_BOT, "uap spider"};
static const struct verdict verdict_head = {VERDICT_PREFETCH, "HEAD request"};

const char *verdict_name(enum verdict_kind kind)
{
	static const char *const names[VERDICT_KIND_COUNT] = {
		[VERDICT_HUMAN] = "human",	 [VERDICT_BOT] = "bot",
		[VERDICT_PREFETCH] = "prefetch", [VERDICT_PREVIEW] = "preview",
		[VERDICT_MONITOR] = "monitor",	 [VERDICT_SCANNER] = "scanner",
	};

	return names[kind];
}

struct verdict verdict_of_bot(const struct bot *bot)
{
	if (bot->origin == BOT_STRUCTURE)
		return (struct verdict){VERDICT_BOT, bot->reason};
	if (bot->origin == BOT_PATTERNS)
		return (struct verdict){VERDICT_BOT, "listed pattern"};
	switch (bot->kind) {
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

/* "prefetch", "prefetch;prerender", "preview": all made by a browser before
 * anybody has decided to go there. */
static bool is_ahead(const char *purpose)
{
	return *purpose && (strcasestr(purpose, "prefetch") ||
			    strcasestr(purpose, "prerender") ||
			    strcasestr(purpose, "preview"));
}

struct verdict verdict_of_request(const char *purpose, bool head,
				  struct verdict by_user_agent)
{
	if (by_user_agent.kind != VERDICT_HUMAN)
		return by_user_agent;
	if (is_ahead(purpose))
		return (struct verdict){VERDICT_PREFETCH, "purpose header"};
	return head ? verdict_head : by_user_agent;
}

struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent)
{
	return verdict_of_request(click->prefetch,
				  click->outcome ==
					  SHORTLOOP__OUTCOME__OUTCOME_HEAD,
				  by_user_agent);
}

bool verdict_leaves_open(struct verdict v)
{
	return v.kind == VERDICT_HUMAN || v.reason == verdict_head.reason;
}

struct verdict verdict_of_burst(enum burst burst, struct verdict otherwise)
{
	switch (burst) {
	case BURST_CODES:
		return (struct verdict){VERDICT_SCANNER, "burst of codes"};
	case BURST_NOT_FOUND:
		return (struct verdict){VERDICT_SCANNER, "burst of not found"};
	case BURST_NONE:
		break;
	}
	return otherwise;
}
