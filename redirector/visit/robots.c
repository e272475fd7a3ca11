#include "redirector/visit/robots.h"

#include <string.h>

#include "common/agent/bots.h"
#include "common/agent/verdict.h"

/* The collector's default of max_text, at which it cuts longer events, too. */
#define USER_AGENT_MAX 2048

/* Loads without JIT, since the program's sandbox permits no executable
 * memory. */
static void *load_list(const void *source, struct error *err)
{
	const struct robots_config *config = source;
	const struct bots_source bots = {
		.list = config->list,
		.except = &config->except,
	};

	return bots_load(&bots, true, err);
}

static void free_list(void *bots)
{
	bots_free(bots);
}

static bool has_list(const void *source)
{
	const struct robots_config *config = source;

	return config->list;
}

static void describe_list(const void *bots, struct log_field ret[RELOAD_FIELDS])
{
	ret[0] = log_int("robots", (int64_t)bots_count(bots));
}

const struct reloadable_kind robots_kind = {
	.what = "robots",
	.load = load_list,
	.free = free_list,
	.has_file = has_list,
	.describe = describe_list,
};

/* Returns the newest list, with a matcher for it; NULL without memory. */
static const struct bots *use_newest_list(struct robots_view *view)
{
	struct error err;
	const struct bots *bots;

	if (!view->user.of)
		reloadable_join(view->of, &view->user);
	/* The version in use stays in memory, so no other one can have its
	 * address. */
	bots = versions_use(&view->user);
	if (view->seen == bots)
		return bots;
	pattern_matcher_free(view->matcher);
	view->matcher = pattern_matcher_new(bots_patterns(bots), &err);
	view->seen = view->matcher ? bots : NULL;
	return view->seen;
}

static size_t limit_length(size_t len, size_t max)
{
	if (max > USER_AGENT_MAX)
		max = USER_AGENT_MAX;
	return len < max ? len : max;
}

/* Copies as much of the header as its event has. */
static void copy_purpose(struct http_slice from,
			 char purpose[CLICK_PREFETCH_MAX + 1])
{
	size_t len = limit_length(from.len, CLICK_PREFETCH_MAX);

	if (len)
		memcpy(purpose, from.data, len);
	purpose[len] = '\0';
}

bool robots_view_is_fetch(struct robots_view *view, const struct click *click,
			  bool head, size_t user_agent_max)
{
	const struct http_slice *agent = &click->user_agent;
	size_t len = limit_length(agent->len, user_agent_max);
	const struct bots *bots = len ? use_newest_list(view) : NULL;
	char purpose[CLICK_PREFETCH_MAX + 1];
	struct bot bot;
	/* Only the rules of uap-core show whether the agent is a device.  They
	 * are missing here, so vague patterns are not trusted. */
	bool found = bots && bots_find(bots, view->matcher, agent->data, len,
				       true, &bot);

	copy_purpose(click->prefetch, purpose);
	return verdict_uses_no_visit(found ? &bot : NULL, purpose, head);
}

void robots_view_release(struct robots_view *view)
{
	pattern_matcher_free(view->matcher);
	versions_leave(&view->user);
}
