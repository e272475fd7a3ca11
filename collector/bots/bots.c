#include "collector/bots/bots.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/bots/own.h"

struct known {
	enum bot_kind kind;
	size_t entry; /* as in struct bot */
};

struct bots {
	struct pattern_set *patterns;
	struct known *known; /* by pattern */
};

/* Some that make previews also feed models: those are not for a person who is
 * about to look. */
static enum bot_kind kind_of_tags(const json_t *tags)
{
	enum bot_kind kind = BOT_CRAWLER;
	size_t i;
	json_t *tag;

	json_array_foreach(tags, i, tag)
	{
		const char *text = json_string_value(tag);

		if (!text)
			continue;
		if (!strcmp(text, "ai-crawler"))
			return BOT_CRAWLER;
		if (kind != BOT_CRAWLER)
			continue;
		if (!strcmp(text, "social-preview"))
			kind = BOT_PREVIEW;
		else if (!strcmp(text, "monitoring"))
			kind = BOT_MONITOR;
		else if (!strcmp(text, "scanner"))
			kind = BOT_SCANNER;
	}
	return kind;
}

static bool is_excepted(const struct setting_strings *except, const char *regex)
{
	for (size_t i = 0; except && i < except->count; i++)
		if (!strcmp(except->items[i], regex))
			return true;
	return false;
}

static int add(struct bots *bots, const char *regex, struct known known,
	       struct error *err)
{
	size_t index = pattern_set_count(bots->patterns);

	if (pattern_set_add(bots->patterns, regex, false, err) < 0)
		return -1;
	bots->known[index] = known;
	return 0;
}

static int add_own(struct bots *bots, struct error *err)
{
	for (size_t i = 0; i < own_bot_count; i++)
		if (add(bots, own_bots[i].regex,
			(struct known){own_bots[i].kind, 0}, err) < 0)
			return -1;
	return 0;
}

static int add_entry(struct bots *bots, size_t index, const json_t *entry,
		     const struct setting_strings *except, struct error *err)
{
	struct known known = {kind_of_tags(json_object_get(entry, "tags")),
			      index + 1};
	const char *regex =
		json_string_value(json_object_get(entry, "pattern"));

	if (!regex)
		return error_set(err, ERROR_CONFIG,
				 "entry %zu: expected an object with a pattern",
				 index);
	if (is_excepted(except, regex))
		return 0;
	if (add(bots, regex, known, err) < 0)
		return error_wrap(err, "entry %zu", index);
	return 0;
}

static int add_list(struct bots *bots, const json_t *list,
		    const struct setting_strings *except, struct error *err)
{
	size_t i;
	json_t *entry;

	json_array_foreach(list, i, entry)
	{
		if (add_entry(bots, i, entry, except, err) < 0)
			return -1;
	}
	return 0;
}

/* `list` may be NULL. */
static struct bots *bots_new(const json_t *list,
			     const struct setting_strings *except,
			     bool prefilter, struct error *err)
{
	struct bots *bots = calloc(1, sizeof(*bots));

	if (!bots) {
		error_set_nomem(err);
		return NULL;
	}
	bots->patterns = pattern_set_new(err);
	bots->known = calloc(own_bot_count + json_array_size(list),
			     sizeof(*bots->known));
	if (!bots->known)
		error_set_nomem(err);
	if (bots->patterns && bots->known && add_own(bots, err) == 0 &&
	    add_list(bots, list, except, err) == 0 &&
	    pattern_set_compile(bots->patterns, prefilter, err) == 0)
		return bots;
	bots_free(bots);
	return NULL;
}

static json_t *read_list(const char *path, struct error *err)
{
	json_error_t at;
	json_t *list;

	if (access(path, R_OK) < 0) {
		error_set_errno(err, "%s", path);
		return NULL;
	}
	list = json_load_file(path, 0, &at);
	if (!list) {
		error_set(err, ERROR_CONFIG, "%s:%d:%d: %s", path, at.line,
			  at.column, at.text);
	} else if (!json_is_array(list) || json_array_size(list) == 0) {
		error_set(err, ERROR_CONFIG,
			  "%s: expected an array of patterns", path);
		json_decref(list);
		list = NULL;
	}
	return list;
}

struct bots *bots_load(const struct bots_source *source, bool prefilter,
		       struct error *err)
{
	struct bots *bots = NULL;
	json_t *list = NULL;

	if (source->path) {
		list = read_list(source->path, err);
		if (!list)
			goto fail;
	}
	bots = bots_new(list, source->except, prefilter, err);
	json_decref(list);
	if (bots)
		return bots;
	if (source->path)
		error_wrap(err, "%s", source->path);
fail:
	error_wrap(err, "robot list");
	err->code = ERROR_CONFIG;
	return NULL;
}

void bots_free(struct bots *bots)
{
	if (!bots)
		return;
	pattern_set_free(bots->patterns);
	free(bots->known);
	free(bots);
}

size_t bots_count(const struct bots *bots)
{
	return pattern_set_count(bots->patterns);
}

const struct pattern_set *bots_patterns(const struct bots *bots)
{
	return bots->patterns;
}

struct bot bots_at(const struct bots *bots, size_t index)
{
	return (struct bot){
		bots->known[index].kind,
		pattern_set_regex(bots->patterns, index),
		bots->known[index].entry,
	};
}

/* A library for HTTP that also says what it is used for is that. */
static int find_purpose(const struct bots *bots,
			struct pattern_matcher *matcher, int from)
{
	int index = from;

	while (index >= 0 && bots->known[index].kind == BOT_CRAWLER &&
	       bots->known[index].entry)
		index = pattern_first(matcher, (size_t)index + 1,
				      bots_count(bots));
	return index < 0 ? from : index;
}

bool bots_find(const struct bots *bots, struct pattern_matcher *matcher,
	       const char *user_agent, size_t len, struct bot *ret_bot)
{
	int index;

	pattern_scan(matcher, user_agent, len);
	index = pattern_first(matcher, 0, bots_count(bots));
	if (index < 0)
		return false;
	index = find_purpose(bots, matcher, index);
	*ret_bot = bots_at(bots, (size_t)index);
	return true;
}
