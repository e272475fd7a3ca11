/*
 * setting.h - one table of settings serves the parser, --check, --print-config,
 * the sample file, the manual and the description of SIGHUP in --help.
 *
 * A module that has settings declares a struct, a table of entries, one for
 * each member, and a `struct setting_section` naming the table.  A program
 * lists its sections in a `struct setting_group` array, each with the offset of
 * the module's struct inside the program's own.  See CONTRIBUTING.md, "Add a
 * setting".
 *
 *	#define SETTING_STRUCT struct redirector_settings
 *
 *	static const struct setting settings[] = {
 *		SETTING_DURATION(linger, "50ms", 0, 10 * CLOCK_SECOND, AT_START,
 *				 "How long events are gathered"),
 *		{0},
 *	};
 *
 * The member's name is the key.  The next argument is the fallback for a file
 * that does not give the key, as it would be written there; or REQUIRED; or
 * OPTIONAL, if the member may stay empty.
 *
 * Entry and the C type of its member:
 *	SETTING_STRING, _PATH, _SECRET, _URL, _ENUM   char * (NULL: not set)
 *	SETTING_INT, _SIZE (bytes)              int64_t
 *	SETTING_DURATION (ms)                   int64_t
 *	SETTING_BOOL                            bool
 *	SETTING_STRINGS, _OPTIONS               struct setting_strings
 *	SETTING_LIST (of mappings)              struct setting_list
 * The strings belong to the config.
 */
#ifndef COMMON_CONFIG_SETTING_H
#define COMMON_CONFIG_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum setting_type {
	SETTING_TYPE_STRING,
	SETTING_TYPE_PATH,
	/* "file:/path" or "env:NAME"; the value is read from there.  Masked
	 * when printed.  A literal is refused, so that no secret is in a file
	 * that gets copied around. */
	SETTING_TYPE_SECRET,
	/* A URL that may contain user and password: such a URL is given by
	 * reference, like a secret, and both are masked when it is printed. */
	SETTING_TYPE_URL,
	SETTING_TYPE_ENUM,
	SETTING_TYPE_INT,
	SETTING_TYPE_SIZE, /* "64KiB", "16MiB", "1GiB" or bytes */
	SETTING_TYPE_DURATION,
	SETTING_TYPE_BOOL,
	SETTING_TYPE_STRINGS,
	/* "name=value"; some names are of secrets: their values are given like
	 * secrets, and masked when printed. */
	SETTING_TYPE_OPTIONS,
	SETTING_TYPE_LIST,
};

/* The effect of SIGHUP.  The value itself, which may be the path of a file, is
 * read at start only. */
enum setting_reload {
	AT_START, /* none: a change takes a restart */
	RELOADS,  /* the file that the setting names is read again */
	REOPENS,  /* the file that the setting names is opened again */
};

struct setting_strings {
	char **items;
	size_t count;
};

struct setting_list {
	void *items; /* count structs of the sub-table's size, in order */
	size_t count;
};

struct setting {
	const char *key;
	enum setting_type type;
	enum setting_reload reload;
	size_t offset; /* into the section's struct */
	/* The value as it would be written in the file.  NULL: it must be
	 * given, unless `optional`. */
	const char *fallback;
	bool optional;
	/* Shown in the sample for a setting without a fallback; a LIST's is
	 * YAML, indented by two spaces as below its key. */
	const char *example;
	const char *help;
	int64_t min, max;	    /* INT, SIZE, DURATION; both 0: any >= 0 */
	const char *const *choices; /* ENUM, NULL-terminated */
	bool (*is_secret)(const char *name); /* OPTIONS: true for a secret */
	/* LIST only: */
	const struct setting *sub; /* the items' table, ended by a NULL key */
	size_t sub_size;	   /* sizeof one item */
};

/* Used in place of a fallback; _LIKE with the text that the sample shows. */
#define REQUIRED	    NULL
#define REQUIRED_LIKE(text) NULL, .example = (text)
#define OPTIONAL	    NULL, .optional = true
#define OPTIONAL_LIKE(text) NULL, .optional = true, .example = (text)

/* Any entry; used directly for a key that is no C identifier. */
#define SETTING_OF(kind, name, member, when, text, ...)                        \
	{                                                                      \
		.key = (name), .type = SETTING_TYPE_##kind, .reload = (when),  \
		.offset = offsetof(SETTING_STRUCT, member), .help = (text),    \
		.fallback = __VA_ARGS__                                        \
	}

#define SETTING_STRING(name, fall, when, text)                                 \
	SETTING_OF(STRING, #name, name, when, text, fall)
#define SETTING_PATH(name, fall, when, text)                                   \
	SETTING_OF(PATH, #name, name, when, text, fall)
#define SETTING_SECRET(name, fall, when, text)                                 \
	SETTING_OF(SECRET, #name, name, when, text, fall)
#define SETTING_URL(name, fall, when, text)                                    \
	SETTING_OF(URL, #name, name, when, text, fall)
#define SETTING_BOOL(name, fall, when, text)                                   \
	SETTING_OF(BOOL, #name, name, when, text, fall)
#define SETTING_STRINGS(name, fall, when, text)                                \
	SETTING_OF(STRINGS, #name, name, when, text, fall)
/* `of_secret` is the function that returns which names are of secrets. */
#define SETTING_OPTIONS(name, fall, of_secret, when, text)                     \
	SETTING_OF(OPTIONS, #name, name, when, text, fall,                     \
		   .is_secret = (of_secret))

#define SETTING_ENUM(name, fall, words, when, text)                            \
	SETTING_OF(ENUM, #name, name, when, text, fall, .choices = (words))

/* The range is `low` to `high`; both 0: any value >= 0. */
#define SETTING_INT(name, fall, low, high, when, text)                         \
	SETTING_OF(INT, #name, name, when, text, fall, .min = (low),           \
		   .max = (high))
#define SETTING_SIZE(name, fall, low, high, when, text)                        \
	SETTING_OF(SIZE, #name, name, when, text, fall, .min = (low),          \
		   .max = (high))
#define SETTING_DURATION(name, fall, low, high, when, text)                    \
	SETTING_OF(DURATION, #name, name, when, text, fall, .min = (low),      \
		   .max = (high))

/* The items are of type `item`; `table` describes them. */
#define SETTING_LIST(name, fall, item, table, when, text)                      \
	SETTING_OF(LIST, #name, name, when, text, fall, .sub = (table),        \
		   .sub_size = sizeof(item))

/* The settings of one module. */
struct setting_section {
	const char *name; /* the top-level key */
	const char *help;
	const struct setting *settings; /* ended by a NULL key */
	/* Checks rules beyond those of single settings, in every program that
	 * has the section as its own; NULL: there are none.  ERROR_CONFIG. */
	int (*check)(const void *settings, struct error *err);
};

/* A section, and the place of its struct in the program's config struct. */
struct setting_group {
	const struct setting_section *section;
	size_t offset;
	/* The group is some settings of another program's section, for
	 * comparison: that program checks the others there, and prints the
	 * sample. */
	bool borrowed;
	/* The section may be missing from the file: its REQUIRED settings stay
	 * empty then. */
	bool optional;
};

#endif
