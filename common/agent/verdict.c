#include "common/agent/verdict.h"

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
	case BOT_PREFETCH:
		return (struct verdict){VERDICT_PREFETCH, "listed prefetch"};
	case BOT_CRAWLER:
	case BOT_TOOL:
		break;
	}
	return (struct verdict){VERDICT_BOT, "listed crawler"};
}

/* Values such as "prefetch", "prefetch;prerender", "preview": a browser fetches
 * before any user has decided to go there. */
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

bool verdict_leaves_open(struct verdict v)
{
	return v.kind == VERDICT_HUMAN || v.reason == verdict_head.reason;
}

bool verdict_uses_no_visit(const struct bot *bot, const char *purpose,
			   bool head)
{
	return head || is_ahead(purpose) || (bot && bot->kind != BOT_TOOL);
}
