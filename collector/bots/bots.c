#include "collector/bots/bots.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bots {
	struct pattern_set *patterns;
	enum bot_kind *kinds; /* by pattern */
};

static enum bot_kind kind_of_tags(const json_t *tags)
{
	size_t i;
	json_t *tag;

	json_array_foreach(tags, i, tag)
	{
		const char *text = json_string_value(tag);

		if (!text)
			continue;
		if (!strcmp(text, "social-preview"))
			return BOT_PREVIEW;
		if (!strcmp(text, "monitoring"))
			return BOT_MONITOR;
		if (!strcmp(text, "scanner"))
			return BOT_SCANNER;
	}
	return BOT_CRAWLER;
}

static int add_entry(struct bots *bots, size_t index, const json_t *entry,
		     struct error *err)
{
	const char *regex =
		json_string_value(json_object_get(entry, "pattern"));

	if (!regex)
		return error_set(err, ERROR_CONFIG,
				 "entry %zu: expected an object with a pattern",
				 index);
	if (pattern_set_add(bots->patterns, regex, false, err) < 0)
		return error_wrap(err, "entry %zu", index);
	bots->kinds[index] = kind_of_tags(json_object_get(entry, "tags"));
	return 0;
}

static int fill(struct bots *bots, const json_t *list, bool prefilter,
		struct error *err)
{
	size_t i;
	json_t *entry;

	if (!json_is_array(list) || json_array_size(list) == 0)
		return error_set(err, ERROR_CONFIG,
				 "expected an array of patterns");
	bots->kinds = calloc(json_array_size(list), sizeof(*bots->kinds));
	bots->patterns = pattern_set_new(err);
	if (!bots->kinds || !bots->patterns)
		return error_set_nomem(err);
	json_array_foreach(list, i, entry)
	{
		if (add_entry(bots, i, entry, err) < 0)
			return -1;
	}
	return pattern_set_compile(bots->patterns, prefilter, err);
}

struct bots *bots_load(const char *path, bool prefilter, struct error *err)
{
	struct bots *bots = NULL;
	json_error_t at;
	json_t *list;

	if (access(path, R_OK) < 0) {
		error_set_errno(err, "robot list: %s", path);
		err->code = ERROR_CONFIG;
		return NULL;
	}
	list = json_load_file(path, 0, &at);
	if (!list) {
		error_set(err, ERROR_CONFIG, "robot list: %s:%d:%d: %s", path,
			  at.line, at.column, at.text);
		return NULL;
	}
	bots = calloc(1, sizeof(*bots));
	if (!bots) {
		error_set_nomem(err);
	} else if (fill(bots, list, prefilter, err) < 0) {
		error_wrap(err, "robot list: %s", path);
		err->code = ERROR_CONFIG;
		bots_free(bots);
		bots = NULL;
	}
	json_decref(list);
	return bots;
}

void bots_free(struct bots *bots)
{
	if (!bots)
		return;
	pattern_set_free(bots->patterns);
	free(bots->kinds);
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

bool bots_find(const struct bots *bots, struct pattern_matcher *matcher,
	       const char *user_agent, size_t len, enum bot_kind *ret_kind)
{
	int index;

	pattern_scan(matcher, user_agent, len);
	index = pattern_first(matcher, 0, bots_count(bots));
	if (index < 0)
		return false;
	*ret_kind = bots->kinds[index];
	return true;
}
