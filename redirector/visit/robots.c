#include "redirector/visit/robots.h"

#include <stdlib.h>
#include <string.h>

#include "common/agent/bots.h"
#include "common/agent/verdict.h"

/* The collector's default of max_text, at which it cuts longer events, too. */
#define USER_AGENT_MAX 2048

struct robots {
	const struct robots_config *config;
	struct versions *lists;
};

static void list_free(void *value)
{
	bots_free(value);
}

/* Loads without JIT, since the program's sandbox permits no executable
 * memory. */
static struct bots *load_robots_list(const struct robots_config *config,
				     struct error *err)
{
	const struct bots_source source = {
		.list = config->list,
		.except = &config->except,
	};

	return bots_load(&source, true, err);
}

struct robots *robots_new(const struct robots_config *config, struct error *err)
{
	struct robots *r = calloc(1, sizeof(*r));
	struct bots *first;

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->config = config;
	first = load_robots_list(config, err);
	if (first)
		r->lists = versions_new(first, list_free, err);
	if (r->lists)
		return r;
	free(r);
	return NULL;
}

void robots_free(struct robots *r)
{
	if (!r)
		return;
	versions_free(r->lists);
	free(r);
}

int robots_reload(struct robots *r, struct error *err)
{
	struct bots *fresh = load_robots_list(r->config, err);

	return fresh ? versions_replace(r->lists, fresh, err) : -1;
}

bool robots_has_list(const struct robots *r)
{
	return r->config->list;
}

size_t robots_count(struct robots *r)
{
	struct versions_user user = {.of = r->lists};
	size_t count = bots_count(versions_use(&user));

	versions_leave(&user);
	return count;
}

/* Returns the newest list, with a matcher for it; NULL without memory. */
static const struct bots *use_newest_list(struct robots_view *view)
{
	struct error err;
	const struct bots *bots;

	view->user.of = view->of->lists;
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
