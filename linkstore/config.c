#include "linkstore/config.h"

#include "codespace/codespace.h"
#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/space/grant.h"

#define KEY(field)   offsetof(struct links_key_config, field)
#define SPACE(field) offsetof(struct links_space_config, field)
#define LINKS(field) offsetof(struct links_config, field)

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
	 .fallback = "0",
	 .max = CODE_LENGTH_MAX,
	 .help = "Characters of a code: 4 to 11 for sequence (its check "
		 "character included), 1 to 8 for hash.  Not said for "
		 "snowflake, which has 11, and for alias."},
	{.key = "strategy",
	 .type = SETTING_ENUM,
	 .offset = SPACE(strategy),
	 .fallback = "sequence",
	 .choices = link_strategy_names,
	 .help = "How codes are made.  sequence: from granted blocks of ids, "
		 "reclaimed block by block.  hash: from the URL, so that the "
		 "same URL of the same owner gets the same code.  snowflake: "
		 "from time and node, without Redis.  alias: by the user."},
	{.key = "look_alikes",
	 .type = SETTING_ENUM,
	 .offset = SPACE(look_alikes),
	 .fallback = "keep",
	 .choices = look_alikes,
	 .help = "exclude makes codes without 0 O 1 l I, for codes that are "
		 "read aloud or typed.  Fixed when the space is created."},
	{.key = "hash_codes",
	 .type = SETTING_ENUM,
	 .offset = SPACE(hash_codes),
	 .fallback = "as-created",
	 .choices = hash_codes,
	 .help = "hash: how a code follows from its URL.  keyed: a keyed hash, "
		 "from 6 characters on with a check character.  md5-quarters: "
		 "the four quarters of an MD5, which strangers guess easily "
		 "whatever the length.  as-created: as the space was made; a "
		 "new one is keyed.  Fixed when the space is created."},
	{.key = "block_size",
	 .type = SETTING_INT,
	 .offset = SPACE(block_size),
	 .fallback = "1000",
	 .min = 1,
	 .max = 1000000,
	 .help = "sequence: ids of a block, the unit of reclaim.  Fixed when "
		 "the space is created."},
	{.key = "keys",
	 .type = SETTING_LIST,
	 .offset = SPACE(keys),
	 .optional = true,
	 .sub = key_settings,
	 .sub_size = sizeof(struct links_key_config),
	 .help = "The keys of the space.  The first makes new codes, all of "
		 "them read old ones.  hash has one, alias none."},
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
	 .help = "Blocks asked for in one grant, at least: an allocator that "
		 "uses them up within a second asks for more."},
	{.key = "safety_gap",
	 .type = SETTING_INT,
	 .offset = LINKS(safety_gap),
	 .fallback = "1000",
	 .min = 1,
	 .max = 1000000,
	 .help = "Blocks passed over after Redis has restarted: more than can "
		 "be granted in what it may forget.  At most 1/64 of a "
		 "space; or twice the blocks granted in the busiest minute "
		 "of late, where that is more."},
	{.key = "reserved_aliases",
	 .type = SETTING_STRINGS,
	 .offset = LINKS(reserved_aliases),
	 .optional = true,
	 .help = "Words that no link may be called, in any case, besides those "
		 "that a site needs for itself, such as api and robots."},
	{.key = "spaces",
	 .type = SETTING_LIST,
	 .offset = LINKS(spaces),
	 .sub = space_settings,
	 .sub_size = sizeof(struct links_space_config),
	 .help = "The spaces of codes, one a length, and at most one of "
		 "aliases.",
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
