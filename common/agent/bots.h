/*
 * bots.h - finds robots by their user agent, in this order: our own list
 * (own_bots); the list crawler-user-agents.json
 * (github.com/monperrus/crawler-user-agents), an array of objects with a
 * `pattern` and perhaps `tags`; the form of the agent (structure.h); patterns
 * of words in robots' names, an array of texts, as npm's isbot keeps them.
 *
 * A list is read-only once loaded and may be shared by threads; a matcher
 * belongs to one thread.
 */
#ifndef COMMON_AGENT_BOTS_H
#define COMMON_AGENT_BOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/agent/pattern/pattern_set.h"
#include "common/config/setting.h"
#include "common/error.h"

/* The purpose of a robot, as far as counting needs it. */
enum bot_kind {
	BOT_CRAWLER,
	BOT_PREVIEW,  /* makes the preview of a link for a person */
	BOT_MONITOR,  /* checks whether a page is up */
	BOT_SCANNER,  /* searches for weaknesses */
	BOT_PREFETCH, /* fetches a link ahead of the browser that opens it */
	BOT_TOOL,     /* a program or library that any user may fetch with */
};

/* The list in which a robot was found. */
enum bot_origin {
	BOT_OWN,
	BOT_LIST,
	BOT_STRUCTURE,
	BOT_PATTERNS,
};

struct bots;

struct bots_source {
	const char *list;     /* NULL: none */
	const char *patterns; /* NULL: none */
	const struct setting_strings
		*except; /* patterns of both that are people */
	bool jit;	 /* see pattern_set.h */
};

/* Without `prefilter` each pattern is tried in turn.  A file that is missing or
 * has another form, and a pattern that PCRE2 refuses, are ERROR_CONFIG naming
 * the file and the entry. */
struct bots *bots_load(const struct bots_source *source, bool prefilter,
		       struct error *err);
void bots_free(struct bots *bots); /* NULL accepted */
size_t bots_count(const struct bots *bots);

/* For pattern_matcher_new. */
const struct pattern_set *bots_patterns(const struct bots *bots);

struct bot {
	enum bot_kind kind;
	enum bot_origin origin;
	const char *pattern; /* valid as long as the list */
	size_t entry;	     /* in its file, from 1; 0: not from a file */
	const char *reason;  /* for BOT_STRUCTURE: static */
	bool vague;	     /* ignored for browsers and devices */
};

/* `index` is below bots_count. */
struct bot bots_at(const struct bots *bots, size_t index);

/* Returns "own", "bot_list" ... */
const char *bot_origin_name(enum bot_origin origin);

/*
 * Returns the first match of our own list, or else the first of the list that
 * has a purpose, or else the first that is no tool, or else the first.
 * `device`: the agent names a phone or another device held by people.  Returns
 * false if none matches.
 */
bool bots_find(const struct bots *bots, struct pattern_matcher *matcher,
	       const char *user_agent, size_t len, bool device,
	       struct bot *ret_bot);

/* Returns true if the text last searched has the form of a browser's agent. */
bool bots_is_browser(const struct bots *bots, struct pattern_matcher *matcher);

#endif
