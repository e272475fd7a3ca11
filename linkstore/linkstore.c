#include "linkstore/linkstore.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/config_check.h"
#include "linkstore/store.h"

/* --- classes -------------------------------------------------------------- */

static int64_t renew_below(const struct links_config *config, int64_t ttl)
{
	int64_t every = config->renew_every;

	if (ttl == DURATION_NEVER)
		return 0;
	if (every > ttl / 8)
		every = ttl / 8;
	return ttl - every;
}

static int add_classes(struct linkstore *ls, struct error *err)
{
	const struct setting_strings *names = &ls->config->ttl_classes;
	struct link_class *class;

	ls->classes = calloc(names->count, sizeof(*ls->classes));
	if (!ls->classes)
		return error_set_nomem(err);
	for (size_t i = 0; i < names->count; i++) {
		class = &ls->classes[i];
		class->name = names->items[i];
		if (duration_parse(class->name, &class->ttl, err))
			return -1;
		class->renew_below = renew_below(ls->config, class->ttl);
		ls->class_count++;
	}
	return 0;
}

/* --- spaces --------------------------------------------------------------- */

/* The keys of a space in the form that codespace/ takes. */
struct keys {
	struct codespace_key items[CODE_VERSIONS];
	size_t count;
};

static struct keys keys_of(const struct links_space_config *config)
{
	const struct links_key_config *from = config->keys.items;
	struct keys keys = {.count = config->keys.count};

	if (keys.count > CODE_VERSIONS)
		keys.count = CODE_VERSIONS;
	for (size_t i = 0; i < keys.count; i++)
		keys.items[i] = (struct codespace_key){
			.version = (unsigned)from[i].version,
			.secret = from[i].key,
			.secret_len = strlen(from[i].key),
		};
	return keys;
}

static int make_url_codes(struct link_space *space, int method,
			  const struct keys *keys, struct error *err)
{
	for (int i = 0; i < URL_CODE_METHODS; i++) {
		if (method >= 0 && method != i)
			continue;
		space->url_codes[i] =
			url_codes_new((enum url_code_method)i, space->length,
				      space->base, &keys->items[0], err);
		if (!space->url_codes[i])
			return -1;
	}
	return 0;
}

static int make_codes(struct link_space *space,
		      const struct links_space_config *config,
		      const struct keys *keys, struct error *err)
{
	switch (space->strategy) {
	case LINK_SEQUENCE:
		space->codes = codespace_new(
			&(struct codespace_options){
				.length = space->length,
				.base = space->base,
				.keys = keys->items,
				.key_count = keys->count,
			},
			err);
		return space->codes ? 0 : -1;
	case LINK_HASH:
		return make_url_codes(space, links_space_hash_codes(config),
				      keys, err);
	case LINK_SNOWFLAKE:
		space->snowflakes = snowflake_codes_new(
			space->base, keys->items, keys->count, err);
		return space->snowflakes ? 0 : -1;
	case LINK_ALIAS:
		break;
	}
	return 0;
}

static int make_blocks(struct link_space *space,
		       const struct links_config *config,
		       const struct links_space_config *own, struct error *err)
{
	space->block_size = (uint32_t)own->block_size;
	space->blocks = codespace_capacity(space->codes) / space->block_size;
	space->safety_gap = (uint64_t)config->safety_gap;
	if (space->safety_gap > space->blocks / 64)
		space->safety_gap = space->blocks / 64;
	if (space->safety_gap == 0)
		space->safety_gap = 1;
	if (space->blocks == 0)
		return error_set(err, ERROR_CONFIG,
				 "block_size is larger than the space");
	return 0;
}

static int add_space(struct linkstore *ls,
		     const struct links_space_config *config, struct error *err)
{
	struct link_space *space = &ls->spaces[ls->space_count];
	struct keys keys = keys_of(config);

	*space = (struct link_space){
		.name = config->name,
		.number = (unsigned)config->number,
		.strategy = links_space_strategy(config),
		.length = links_space_length(config),
		.base = links_space_base(config),
		.store = ls,
		.index = ls->space_count++,
	};
	if (make_codes(space, config, &keys, err) ||
	    (link_space_has_blocks(space) &&
	     make_blocks(space, ls->config, config, err)))
		return error_wrap(err, "links.spaces: %s", config->name);
	if (space->strategy == LINK_ALIAS)
		ls->aliases = space;
	else
		ls->by_length[space->length] = space;
	return 0;
}

static int add_spaces(struct linkstore *ls, struct error *err)
{
	const struct links_space_config *configs = ls->config->spaces.items;
	size_t count = ls->config->spaces.count;

	ls->spaces = calloc(count, sizeof(*ls->spaces));
	ls->cursors = calloc(count, sizeof(*ls->cursors));
	if (!ls->spaces || !ls->cursors)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (add_space(ls, &configs[i], err))
			return -1;
	return 0;
}

struct linkstore *linkstore_new(const struct links_config *config,
				struct error *err)
{
	struct linkstore *ls = calloc(1, sizeof(*ls));

	if (!ls) {
		error_set_nomem(err);
		return NULL;
	}
	ls->config = config;
	link_scripts_init(ls->scripts);
	ls->loaded = (struct redis_scripts){ls->scripts, SCRIPT_COUNT_OF};
	if (add_classes(ls, err) || add_spaces(ls, err)) {
		linkstore_free(ls);
		return NULL;
	}
	return ls;
}

void linkstore_free(struct linkstore *ls)
{
	if (!ls)
		return;
	for (size_t i = 0; i < ls->space_count; i++) {
		codespace_free(drop_const(ls->spaces[i].codes));
		for (int m = 0; m < URL_CODE_METHODS; m++)
			url_codes_free(drop_const(ls->spaces[i].url_codes[m]));
		snowflake_codes_free(drop_const(ls->spaces[i].snowflakes));
	}
	free(ls->spaces);
	free(ls->cursors);
	free(ls->classes);
	free(ls);
}

const struct links_config *linkstore_config(const struct linkstore *ls)
{
	return ls->config;
}

const struct redis_scripts *linkstore_scripts(const struct linkstore *ls)
{
	return &ls->loaded;
}

size_t linkstore_space_count(const struct linkstore *ls)
{
	return ls->space_count;
}

const struct link_space *linkstore_space(const struct linkstore *ls, size_t i)
{
	return &ls->spaces[i];
}

const struct link_space *linkstore_space_named(const struct linkstore *ls,
					       const char *name)
{
	if (!name)
		return ls->spaces;
	for (size_t i = 0; i < ls->space_count; i++)
		if (!strcmp(ls->spaces[i].name, name))
			return &ls->spaces[i];
	return NULL;
}

size_t linkstore_class_count(const struct linkstore *ls)
{
	return ls->class_count;
}

const struct link_class *linkstore_class(const struct linkstore *ls, size_t i)
{
	return &ls->classes[i];
}

const struct link_class *linkstore_class_named(const struct linkstore *ls,
					       const char *name)
{
	for (size_t i = 0; i < ls->class_count; i++)
		if (!strcmp(ls->classes[i].name, name))
			return &ls->classes[i];
	return NULL;
}

int64_t linkstore_longest_ttl(const struct linkstore *ls)
{
	int64_t longest = 0;

	for (size_t i = 0; i < ls->class_count; i++)
		if (ls->classes[i].ttl != DURATION_NEVER &&
		    ls->classes[i].ttl > longest)
			longest = ls->classes[i].ttl;
	return longest;
}

int64_t linkstore_renew_below(const struct linkstore *ls, uint64_t ttl_ms)
{
	/* The record is damaged; sums with the value must not overflow. */
	if (ttl_ms == 0 || ttl_ms > INT64_MAX / 2)
		return 0;
	return renew_below(ls->config, (int64_t)ttl_ms);
}
