#include "linkstore/config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "codespace/codespace.h"
#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/marker.h"
#include "linkstore/space/grant.h"

#define SPACE_NAME_MAX 16

#define KEY(field)   offsetof(struct links_key_config, field)
#define SPACE(field) offsetof(struct links_space_config, field)
#define LINKS(field) offsetof(struct links_config, field)

static const char *const strategies[] = {"sequence", NULL};

static const struct setting key_settings[] = {
	{.key = "version",
	 .type = SETTING_INT,
	 .offset = KEY(version),
	 .min = 0,
	 .max = CODE_VERSIONS - 1,
	 .help = "The number that codes made with this key carry."},
	{.key = "key",
	 .type = SETTING_SECRET,
	 .offset = KEY(key),
	 .help = "At least 16 bytes, of which everything the space uses is "
		 "derived."},
	{0},
};

static const struct setting space_settings[] = {
	{.key = "name",
	 .type = SETTING_STRING,
	 .offset = SPACE(name),
	 .help = "The tag in the space's Redis keys, such as s7."},
	{.key = "number",
	 .type = SETTING_INT,
	 .offset = SPACE(number),
	 .min = LINK_SPACE_MIN,
	 .max = LINK_SPACE_MAX,
	 .help = "The number in the link ids of the space; never used for "
		 "another."},
	{.key = "length",
	 .type = SETTING_INT,
	 .offset = SPACE(length),
	 .min = CODE_LENGTH_MIN,
	 .max = CODE_LENGTH_MAX,
	 .help = "Characters of a code, its check character included."},
	{.key = "strategy",
	 .type = SETTING_ENUM,
	 .offset = SPACE(strategy),
	 .fallback = "sequence",
	 .choices = strategies,
	 .help = "How codes are made: from granted blocks of ids."},
	{.key = "block_size",
	 .type = SETTING_INT,
	 .offset = SPACE(block_size),
	 .fallback = "1000",
	 .min = 1,
	 .max = 1000000,
	 .help = "Ids of a block, the unit of reclaim.  Fixed when the space "
		 "is created."},
	{.key = "keys",
	 .type = SETTING_LIST,
	 .offset = SPACE(keys),
	 .sub = key_settings,
	 .sub_size = sizeof(struct links_key_config),
	 .help = "The keys of the space.  The first makes new codes, all of "
		 "them read old ones."},
	{0},
};

static const struct setting settings[] = {
	{.key = "ttl_classes",
	 .type = SETTING_STRINGS,
	 .offset = LINKS(ttl_classes),
	 .fallback = "10d, 30d, 100d, 365d, never",
	 .help = "The lives that links may have, as durations.  A block is of "
		 "one class."},
	{.key = "hold_max",
	 .type = SETTING_DURATION,
	 .offset = LINKS(hold_max),
	 .fallback = "6h",
	 .min = 1000,
	 .max = 30 * CLOCK_DAY,
	 .help = "How long a granted block may be used to make codes."},
	{.key = "quarantine",
	 .type = SETTING_DURATION,
	 .offset = LINKS(quarantine),
	 .fallback = "7d",
	 .max = 3650 * CLOCK_DAY,
	 .help = "How long a reclaimed block waits before it is issued "
		 "again."},
	{.key = "renew_every",
	 .type = SETTING_DURATION,
	 .offset = LINKS(renew_every),
	 .fallback = "6h",
	 .min = 1,
	 .max = 365 * CLOCK_DAY,
	 .help = "How often, at most, visits renew a link.  For short classes "
		 "an eighth of their life, if that is less."},
	{.key = "grant_blocks",
	 .type = SETTING_INT,
	 .offset = LINKS(grant_blocks),
	 .fallback = "1",
	 .min = 1,
	 .max = GRANT_BLOCKS_MAX,
	 .help = "Blocks asked for in one grant."},
	{.key = "safety_gap",
	 .type = SETTING_INT,
	 .offset = LINKS(safety_gap),
	 .fallback = "1000",
	 .min = 1,
	 .max = 1000000,
	 .help = "Blocks passed over after Redis has restarted: more than can "
		 "be granted in what it may forget.  At most 1/64 of a "
		 "space."},
	{.key = "spaces",
	 .type = SETTING_LIST,
	 .offset = LINKS(spaces),
	 .sub = space_settings,
	 .sub_size = sizeof(struct links_space_config),
	 .help = "The spaces of codes, one a length.",
	 .example =
		 "    - name: s7\n"
		 "      number: 1\n"
		 "      length: 7\n"
		 "      keys:\n"
		 "        - {version: 0, key: \"file:/etc/shortloop/s7.key\"}"},
	{0},
};

const struct setting_section links_section = {
	.name = "links",
	.help = "Spaces of codes and how long links live.  The same for all "
		"programs.",
	.settings = settings,
};

/* --- validation ----------------------------------------------------------- */

static int check_class(const struct links_config *config, size_t i,
		       struct error *err)
{
	const char *name = config->ttl_classes.items[i];
	int64_t ttl;

	if (strlen(name) >= LINK_CLASS_MAX || duration_parse(name, &ttl, err) ||
	    ttl < CLOCK_SECOND)
		return error_set(err, ERROR_CONFIG,
				 "links.ttl_classes: '%.40s': expected a "
				 "duration of at least 1s, or never",
				 name);
	for (size_t j = 0; j < i; j++)
		if (!strcmp(config->ttl_classes.items[j], name))
			return error_set(err, ERROR_CONFIG,
					 "links.ttl_classes: %s is there twice",
					 name);
	return 0;
}

static bool is_space_name(const char *name)
{
	size_t len = strlen(name);

	for (const char *p = name; *p; p++)
		if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p))
			return false;
	return len >= 1 && len <= SPACE_NAME_MAX;
}

static const struct links_space_config *space_at(const struct links_config *c,
						 size_t i)
{
	return (const struct links_space_config *)c->spaces.items + i;
}

static int check_keys(const struct links_space_config *space, struct error *err)
{
	const struct links_key_config *keys = space->keys.items;

	if (space->keys.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s has no keys", space->name);
	for (size_t i = 0; i < space->keys.count; i++) {
		if (strlen(keys[i].key) < CODE_SECRET_MIN)
			return error_set(err, ERROR_CONFIG,
					 "links.spaces: %s: the key of version "
					 "%d is shorter than %d bytes",
					 space->name, (int)keys[i].version,
					 CODE_SECRET_MIN);
		for (size_t j = 0; j < i; j++)
			if (keys[j].version == keys[i].version)
				return error_set(err, ERROR_CONFIG,
						 "links.spaces: %s has two "
						 "keys of version %d",
						 space->name,
						 (int)keys[i].version);
	}
	return 0;
}

static int check_space(const struct links_config *config, size_t i,
		       struct error *err)
{
	const struct links_space_config *space = space_at(config, i), *other;

	if (!is_space_name(space->name))
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: '%.40s': expected a name of 1 "
				 "to %d lower-case letters and digits",
				 space->name, SPACE_NAME_MAX);
	for (size_t j = 0; j < i; j++) {
		other = space_at(config, j);
		if (!strcmp(other->name, space->name))
			return error_set(err, ERROR_CONFIG,
					 "links.spaces: %s is there twice",
					 space->name);
		if (other->number == space->number)
			return error_set(err, ERROR_CONFIG,
					 "links.spaces: %s and %s have one "
					 "number",
					 other->name, space->name);
		if (other->length == space->length)
			return error_set(err, ERROR_CONFIG,
					 "links.spaces: %s and %s have one "
					 "length: a code would be either's",
					 other->name, space->name);
	}
	return check_keys(space, err);
}

int links_config_validate(const struct links_config *config, struct error *err)
{
	if (config->ttl_classes.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.ttl_classes: expected at least one");
	if (config->spaces.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: expected at least one");
	for (size_t i = 0; i < config->ttl_classes.count; i++)
		if (check_class(config, i, err))
			return -1;
	for (size_t i = 0; i < config->spaces.count; i++)
		if (check_space(config, i, err))
			return -1;
	return 0;
}
