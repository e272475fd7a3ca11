/*
 * robots.h - which requests are no visits, by the lists that the collector
 * takes robots by (common/agent/): the section `robots`, read again while
 * servers look into it, each with a view of its own (common/versions.h).
 *
 * Patterns of words (robots.patterns) guess, and are not read here.
 */
#ifndef REDIRECTOR_ROBOTS_H
#define REDIRECTOR_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/agent/robots_config.h"
#include "common/error.h"
#include "common/versions.h"
#include "redirector/click_event.h"

struct robots;

/* Reads the list: errors as of bots_load.  `config` must outlive it. */
struct robots *robots_new(const struct robots_config *config,
			  struct error *err);
/* After the views.  NULL accepted. */
void robots_free(struct robots *r);

/* Reads the list again, if there is one.  On failure the one before stays.
 * From any thread. */
int robots_reload(struct robots *r, struct error *err);
bool robots_has_list(const struct robots *r);
size_t robots_count(struct robots *r);

/* Of one thread.  Zeroed but for the robots, it has seen nothing yet. */
struct robots_view {
	struct robots *of;
	struct versions_user user;
	const void *seen; /* what `matcher` is for */
	struct pattern_matcher *matcher;
};

/*
 * Is the request no visit (verdict_uses_no_visit)?  `user_agent_max`: bytes of
 * the agent that are looked at, as many as its event has.  Takes a few
 * microseconds, and a millisecond at worst, whatever the text.
 */
bool robots_view_is_fetch(struct robots_view *view, const struct click *click,
			  bool head, size_t user_agent_max);
void robots_view_release(struct robots_view *view);

#endif
