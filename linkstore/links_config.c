#include "linkstore/links_config.h"

#include "codespace/codespace.h"
#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/space/grant.h"

const char *const link_strategy_names[] = {[LINK_SEQUENCE] = "sequence",
					   [LINK_HASH] = "hash",
					   [LINK_SNOWFLAKE] = "snowflake",
					   [LINK_ALIAS] = "alias",
					   NULL};
static const char *const look_alikes[] = {"keep", "exclude", NULL};

const char *const link_hash_code_names[] = {[URL_CODE_KEYED] = "keyed",
					    [URL_CODE_MD5_QUARTERS] =
						    "md5-quarters",
					    NULL};
static const char *const hash_codes[] = {"as-created", "keyed", "md5-quarters",
					 NULL};

#define SETTING_STRUCT struct links_key_config
static const struct setting key_settings[] = {
	SETTING_INT(version, REQUIRED, 0, CODE_VERSIONS - 1, AT_START,
		    "The number that codes made with this key carry."),
	SETTING_SECRET(key, REQUIRED, AT_START,
		       "At least 16 bytes, of which everything the space uses "
		       "is derived."),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct links_space_config
static const struct setting space_settings[] = {
	SETTING_STRING(name, REQUIRED, AT_START,
		       "The tag in the space's Redis keys, such as s7."),
	SETTING_INT(number, REQUIRED, LINK_SPACE_MIN, LINK_SPACE_MAX, AT_START,
		    "The number in the link ids of the space; never used for "
		    "another."),
	SETTING_INT(length, "0", 0, CODE_LENGTH_MAX, AT_START,
		    "Characters of a code: 4 to 11 for sequence (its check "
		    "character included), 1 to 8 for hash.  Not said for "
		    "snowflake, which has 11, and for alias."),
	SETTING_ENUM(
		strategy, "sequence", link_strategy_names, AT_START,
		"How codes are made.  sequence: from granted blocks of ids, "
		"reclaimed block by block.  hash: from the URL, so that the "
		"same URL of the same owner gets the same code.  snowflake: "
		"from time and node, without Redis.  alias: by the user."),
	SETTING_ENUM(
		look_alikes, "keep", look_alikes, AT_START,
		"exclude makes codes without 0 O 1 l I, for codes that are "
		"read aloud or typed.  Fixed when the space is created."),
	SETTING_ENUM(
		hash_codes, "as-created", hash_codes, AT_START,
		"hash: how a code follows from its URL.  keyed: a keyed hash, "
		"from 6 characters on with a check character.  md5-quarters: "
		"the four quarters of an MD5, which strangers guess easily "
		"whatever the length.  as-created: as the space was made; a "
		"new one is keyed.  Fixed when the space is created."),
	SETTING_INT(block_size, "1000", 1, 1000000, AT_START,
		    "sequence: ids of a block, the unit of reclaim.  Fixed "
		    "when the space is created."),
	SETTING_LIST(keys, OPTIONAL, struct links_key_config, key_settings,
		     AT_START,
		     "The keys of the space.  The first makes new codes, all "
		     "of them read old ones.  hash has one, alias none."),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct links_config
static const struct setting settings[] = {
	SETTING_STRINGS(ttl_classes, "10d, 30d, 100d, 365d, never", AT_START,
			"The lives that links may have: durations of 1s to "
			"36500d, or never.  A block is of one class."),
	SETTING_DURATION(hold_max, "6h", CLOCK_SECOND, 30 * CLOCK_DAY, AT_START,
			 "How long a granted block may be used to make codes."),
	SETTING_DURATION(
		quarantine, "7d", 0, 3650 * CLOCK_DAY, AT_START,
		"How long a reclaimed block waits before it is issued again."),
	SETTING_DURATION(renew_every, "6h", 1, 365 * CLOCK_DAY, AT_START,
			 "How often, at most, visits renew a link.  For short "
			 "classes an eighth of their life, if that is less."),
	SETTING_INT(grant_blocks, "1", 1, GRANT_BLOCKS_MAX, AT_START,
		    "Blocks requested in one grant, at least: an allocator "
		    "that uses them up within a second requests more."),
	SETTING_INT(safety_gap, "1000", 1, 1000000, AT_START,
		    "Blocks passed over after Redis has restarted: more than "
		    "can be granted in what it may forget.  At most 1/64 of a "
		    "space; or twice the blocks granted in the busiest minute "
		    "of late, where that is more."),
	SETTING_STRINGS(
		reserved_aliases, OPTIONAL, AT_START,
		"Words that no link may be called, in any case, besides those "
		"that a site needs for itself, such as api and robots."),
	SETTING_LIST(spaces,
		     REQUIRED_LIKE("    - name: s7\n"
				   "      number: 1\n"
				   "      length: 7\n"
				   "      keys:\n"
				   "        - {version: 0, key: "
				   "\"file:/etc/shortloop/s7.key\"}"),
		     struct links_space_config, space_settings, AT_START,
		     "The spaces of codes, one a length, and at most one of "
		     "aliases."),
	{0},
};

const struct setting_section links_section = {
	.name = "links",
	.help = "Spaces of codes and how long links live.  The same for all "
		"programs.",
	.settings = settings,
};
