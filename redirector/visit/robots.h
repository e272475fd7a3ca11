/*
 * robots.h - which requests are no visits, according to the collector's lists
 * of robots (common/agent/): the section `robots`, which is read again
 * (common/app/reloadable.h) while servers use it, each through a view of its
 * own.
 *
 * Patterns of words (robots.patterns) are guesses, and are not used here.
 */
#ifndef REDIRECTOR_VISIT_ROBOTS_H
#define REDIRECTOR_VISIT_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/agent/robots_config.h"
#include "common/app/reloadable.h"
#include "common/versions.h"
#include "redirector/events/click_event.h"

/* The source is a struct robots_config; errors are those of bots_load. */
extern const struct reloadable_kind robots_kind;

/* Belongs to one thread.  Zeroed but for `of` at first. */
struct robots_view {
	struct reloadable *of;
	struct versions_user user;
	const void *seen; /* the list that `matcher` is for */
	struct pattern_matcher *matcher;
};

/*
 * True if the request is no visit (verdict_uses_no_visit).  `user_agent_max` is
 * the number of bytes of the agent that are read, as many as its event has.
 * Takes a few microseconds, and a millisecond at worst, whatever the text.
 */
bool robots_view_is_fetch(struct robots_view *view, const struct click *click,
			  bool head, size_t user_agent_max);
void robots_view_release(struct robots_view *view);

#endif
