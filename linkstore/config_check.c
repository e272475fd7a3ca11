/* Checks of the `links` section that need more than one setting. */
#include "linkstore/config_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "codespace/alias.h"
#include "codespace/alphabet.h"
#include "codespace/codespace.h"
#include "codespace/snowflake_code.h"
#include "codespace/url_code.h"
#include "common/clock.h"
#include "linkstore/marker.h"

/* Each class is compared with all before it. */
#define CLASSES_MAX 1000

/* The requirements of a strategy on its space. */
struct strategy_bounds {
	unsigned length_min,
		length_max; /* 0: the length is fixed, or there is none */
	unsigned length;    /* the fixed length */
	unsigned keys_min, keys_max;
	bool once; /* at most one space has this strategy */
};

static const struct strategy_bounds strategies[] = {
	[LINK_SEQUENCE] = {.length_min = CODE_LENGTH_MIN,
			   .length_max = CODE_LENGTH_MAX,
			   .keys_min = 1,
			   .keys_max = CODE_VERSIONS},
	[LINK_HASH] = {.length_min = URL_CODE_LENGTH_MIN,
		       .length_max = URL_CODE_LENGTH_MAX,
		       .keys_min = 1,
		       .keys_max = 1},
	[LINK_SNOWFLAKE] = {.length = SNOWFLAKE_CODE_LENGTH,
			    .keys_min = 1,
			    .keys_max = CODE_VERSIONS,
			    .once = true},
	[LINK_ALIAS] = {.once = true},
};

enum link_strategy links_space_strategy(const struct links_space_config *space)
{
	unsigned i = LINK_ALIAS;

	while (i > LINK_SEQUENCE &&
	       strcmp(link_strategy_names[i], space->strategy) != 0)
		i--;
	return (enum link_strategy)i;
}

unsigned links_space_length(const struct links_space_config *space)
{
	const struct strategy_bounds *s =
		&strategies[links_space_strategy(space)];

	return s->length_max ? (unsigned)space->length : s->length;
}

unsigned links_space_base(const struct links_space_config *space)
{
	return space->look_alikes && !strcmp(space->look_alikes, "exclude")
		       ? ALPHABET_CLEAR
		       : ALPHABET_SIZE;
}

int links_space_hash_codes(const struct links_space_config *space)
{
	for (int i = 0; i < URL_CODE_METHODS; i++)
		if (space->hash_codes &&
		    !strcmp(link_hash_code_names[i], space->hash_codes))
			return i;
	return -1;
}

bool links_config_has_space(const struct links_config *config, const char *name)
{
	const struct links_space_config *spaces = config->spaces.items;

	for (size_t i = 0; i < config->spaces.count; i++)
		if (!strcmp(spaces[i].name, name))
			return true;
	return false;
}

/* A century, so that markers, Lua and the scores of Redis' sets can all hold
 * the end of a link exactly. */
#define CLASS_TTL_MAX (36500 * CLOCK_DAY)

/* --- classes -------------------------------------------------------------- */

static int check_class(const struct links_config *config, size_t i,
		       struct error *err)
{
	const char *name = config->ttl_classes.items[i];
	int64_t ttl;

	if (strlen(name) >= LINK_CLASS_MAX || duration_parse(name, &ttl, err) ||
	    ttl < CLOCK_SECOND ||
	    (ttl > CLASS_TTL_MAX && ttl != DURATION_NEVER))
		return error_set(err, ERROR_CONFIG,
				 "links.ttl_classes: '%.40s': expected a "
				 "duration of 1s to 36500d, or never",
				 name);
	for (size_t j = 0; j < i; j++)
		if (!strcmp(config->ttl_classes.items[j], name))
			return error_set(err, ERROR_CONFIG,
					 "links.ttl_classes: %s is there twice",
					 name);
	return 0;
}

/* --- one space ------------------------------------------------------------ */

static bool is_space_name(const char *name)
{
	size_t len = strlen(name);

	for (const char *p = name; *p; p++)
		if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p))
			return false;
	return len >= 1 && len <= LINK_SPACE_NAME_MAX;
}

static const struct links_space_config *space_at(const struct links_config *c,
						 size_t i)
{
	return (const struct links_space_config *)c->spaces.items + i;
}

static int check_length(const struct links_space_config *space,
			const struct strategy_bounds *s, struct error *err)
{
	if (s->length_max) {
		if (space->length >= s->length_min &&
		    space->length <= s->length_max)
			return 0;
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s: length: codes of strategy "
				 "%s have %u to %u characters, not %d",
				 space->name, space->strategy, s->length_min,
				 s->length_max, (int)space->length);
	}
	if (space->length == 0 || space->length == s->length)
		return 0;
	if (s->length)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s: length: codes of strategy "
				 "%s always have %u characters",
				 space->name, space->strategy, s->length);
	return error_set(err, ERROR_CONFIG,
			 "links.spaces: %s: length: a space of strategy %s has "
			 "none: users choose",
			 space->name, space->strategy);
}

static int check_key(const struct links_space_config *space, size_t i,
		     struct error *err)
{
	const struct links_key_config *keys = space->keys.items;

	if (strlen(keys[i].key) < CODE_SECRET_MIN)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s: the key of version %d is "
				 "shorter than %d bytes",
				 space->name, (int)keys[i].version,
				 CODE_SECRET_MIN);
	for (size_t j = 0; j < i; j++)
		if (keys[j].version == keys[i].version)
			return error_set(err, ERROR_CONFIG,
					 "links.spaces: %s has two keys of "
					 "version %d",
					 space->name, (int)keys[i].version);
	return 0;
}

static int check_keys(const struct links_space_config *space,
		      const struct strategy_bounds *s, struct error *err)
{
	if (space->keys.count < s->keys_min)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s has no keys", space->name);
	if (space->keys.count > s->keys_max)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s has %zu keys, but a space "
				 "of strategy %s has at most %u",
				 space->name, space->keys.count,
				 space->strategy, s->keys_max);
	for (size_t i = 0; i < space->keys.count; i++)
		if (check_key(space, i, err))
			return -1;
	if (s->keys_max == 0 && links_space_base(space) != ALPHABET_SIZE)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s: look_alikes: users choose "
				 "the characters of a space of strategy %s",
				 space->name, space->strategy);
	return 0;
}

/* --- pairs of spaces ------------------------------------------------------ */

static int check_pair(const struct links_space_config *a,
		      const struct links_space_config *b, struct error *err)
{
	const struct strategy_bounds *s = &strategies[links_space_strategy(b)];

	if (!strcmp(a->name, b->name))
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s is there twice", b->name);
	if (a->number == b->number)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s and %s have one number",
				 a->name, b->name);
	if (s->once && links_space_strategy(a) == links_space_strategy(b))
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s and %s are both of strategy "
				 "%s, of which there can be one",
				 a->name, b->name, a->strategy);
	if (links_space_length(a) == links_space_length(b))
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s and %s have one length: a "
				 "code would be either's",
				 a->name, b->name);
	return 0;
}

static int check_hash_codes(const struct links_space_config *space,
			    struct error *err)
{
	if (links_space_hash_codes(space) < 0 ||
	    links_space_strategy(space) == LINK_HASH)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "links.spaces: %s: hash_codes: a space of strategy %s "
			 "derives no codes from URLs",
			 space->name, space->strategy);
}

static int check_space(const struct links_config *config, size_t i,
		       struct error *err)
{
	const struct links_space_config *space = space_at(config, i);
	const struct strategy_bounds *s =
		&strategies[links_space_strategy(space)];

	if (!is_space_name(space->name))
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: '%.40s': expected a name of 1 "
				 "to %d lower-case letters and digits",
				 space->name, LINK_SPACE_NAME_MAX);
	if (check_length(space, s, err) || check_hash_codes(space, err))
		return -1;
	for (size_t j = 0; j < i; j++)
		if (check_pair(space_at(config, j), space, err))
			return -1;
	return check_keys(space, s, err);
}

static int check_reserved(const struct links_config *config, struct error *err)
{
	const struct setting_strings *words = &config->reserved_aliases;
	struct error why;

	for (size_t i = 0; i < words->count; i++)
		if (alias_check(words->items[i], strlen(words->items[i]), &why))
			return error_set(err, ERROR_CONFIG,
					 "links.reserved_aliases: '%.70s': "
					 "%.200s",
					 words->items[i], why.text);
	return 0;
}

int links_config_validate(const struct links_config *config, struct error *err)
{
	if (config->ttl_classes.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.ttl_classes: expected at least one");
	if (config->spaces.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: expected at least one");
	if (config->ttl_classes.count > CLASSES_MAX)
		return error_set(err, ERROR_CONFIG,
				 "links.ttl_classes: there are %zu, at most %d "
				 "are taken",
				 config->ttl_classes.count, CLASSES_MAX);
	for (size_t i = 0; i < config->ttl_classes.count; i++)
		if (check_class(config, i, err))
			return -1;
	for (size_t i = 0; i < config->spaces.count; i++)
		if (check_space(config, i, err))
			return -1;
	return check_reserved(config, err);
}
