/*
 * bots.h - robots that say who they are: some that we know ourselves (own.h),
 * then those of the list crawler-user-agents.json
 * (github.com/monperrus/crawler-user-agents): an array of objects with a
 * `pattern` and perhaps `tags`.
 *
 * A list is read-only once loaded and may be shared by threads; a matcher
 * belongs to one thread.
 */
#ifndef COLLECTOR_BOTS_BOTS_H
#define COLLECTOR_BOTS_BOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/pattern/pattern_set.h"
#include "common/config/setting.h"
#include "common/error.h"

/* What a robot is for, as far as it matters to counting. */
enum bot_kind {
	BOT_CRAWLER,
	BOT_PREVIEW, /* makes the preview of a link for a person */
	BOT_MONITOR, /* looks whether a page is up */
	BOT_SCANNER, /* looks for weaknesses */
};

struct bots;

struct bots_source {
	const char *path;		      /* NULL: only our own */
	const struct setting_strings *except; /* patterns that are no robots */
};

/* Without `prefilter` each pattern is tried in turn.  A file that is missing or
 * of another form is ERROR_CONFIG naming it. */
struct bots *bots_load(const struct bots_source *source, bool prefilter,
		       struct error *err);
void bots_free(struct bots *bots); /* NULL accepted */
size_t bots_count(const struct bots *bots);

/* For pattern_matcher_new. */
const struct pattern_set *bots_patterns(const struct bots *bots);

struct bot {
	enum bot_kind kind;
	const char *pattern; /* valid as long as the list */
	size_t entry;	     /* of the file, from 1; 0: one of our own */
};

struct bot bots_at(const struct bots *bots, size_t index);

/* Finds the first of our own that fits, or else the first of the list that says
 * what the robot is for, or else the first.  False: none does. */
bool bots_find(const struct bots *bots, struct pattern_matcher *matcher,
	       const char *user_agent, size_t len, struct bot *ret_bot);

#endif
