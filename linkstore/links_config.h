/*
 * links_config.h - the `links` section: spaces, their keys, and TTLs.
 *
 * Every program that uses links reads this one section of the shared file, so
 * that they cannot disagree.
 */
#ifndef LINKSTORE_LINKS_CONFIG_H
#define LINKSTORE_LINKS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "codespace/url_code.h"
#include "common/config/setting.h"
#include "common/error.h"

/* Characters of a space's name. */
#define LINK_SPACE_NAME_MAX 16

struct links_key_config {
	int64_t version;
	char *key; /* secret, at least CODE_SECRET_MIN bytes */
};

struct links_space_config {
	char *name; /* the key tag: "s7" */
	int64_t number;
	int64_t length;	   /* 0: not given */
	char *strategy;	   /* "sequence", "hash", "snowflake", "alias" */
	char *look_alikes; /* "keep", "exclude" */
	char *hash_codes;  /* "as-created", "keyed", "md5-quarters" */
	int64_t block_size;
	struct setting_list keys; /* links_key_config; the first makes codes */
};

struct links_config {
	struct setting_strings ttl_classes; /* "10d", "never" */
	int64_t hold_max;		    /* ms */
	int64_t quarantine;		    /* ms */
	int64_t renew_every;		    /* ms */
	int64_t grant_blocks;		    /* number of blocks in a grant */
	int64_t safety_gap;		    /* blocks */
	struct setting_strings reserved_aliases;
	struct setting_list spaces; /* links_space_config */
};

/* The ways in which a space makes codes. */
enum link_strategy {
	LINK_SEQUENCE,	/* from granted blocks of ids */
	LINK_HASH,	/* from owner and URL */
	LINK_SNOWFLAKE, /* from time, node and sequence */
	LINK_ALIAS,	/* by the user */
};

extern const struct setting_section links_section; /* "links" */

/* Names in the configuration, in the order of the enum; then NULL. */
extern const char *const link_strategy_names[];

/* Names of enum url_code_method in configuration and record; then NULL. */
extern const char *const link_hash_code_names[];

#endif
