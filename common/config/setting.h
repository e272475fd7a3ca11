/*
 * setting.h - one table of settings feeds the parser, --check, --print-config,
 * the sample file and the manual.
 *
 * A module that has settings declares a struct, a table whose offsets point
 * into that struct, and a `struct setting_section` naming both.  A program
 * lists its sections in a `struct setting_group` array, each with the offset of
 * the module's struct inside the program's own.  See CONTRIBUTING.md, "Adding a
 * setting".
 *
 * C type of a value, by setting type:
 *	STRING, SECRET, ENUM, PATH   char * (the config's own; NULL: not set)
 *	INT, SIZE (bytes)            int64_t
 *	DURATION (ms)                int64_t
 *	BOOL                         bool
 *	STRINGS                      struct setting_strings
 *	LIST (of mappings)           struct setting_list
 */
#ifndef COMMON_CONFIG_SETTING_H
#define COMMON_CONFIG_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_type {
	SETTING_STRING,
	SETTING_PATH,
	/* "file:/path" or "env:NAME"; the value read from there.  Masked when
	 * printed.  A literal is refused, so that no secret sits in a file
	 * that gets copied around. */
	SETTING_SECRET,
	SETTING_ENUM,
	SETTING_INT,
	SETTING_SIZE, /* "64KiB", "16MiB", "1GiB" or bytes */
	SETTING_DURATION,
	SETTING_BOOL,
	SETTING_STRINGS,
	SETTING_LIST,
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
	size_t offset; /* into the section's struct */
	/* As it would be written in the file.  NULL: must be given, unless
	 * `optional`. */
	const char *fallback;
	const char *help;
	int64_t min, max;	    /* INT, SIZE, DURATION; both 0: any >= 0 */
	const char *const *choices; /* ENUM, NULL-terminated */
	bool optional;
	/* LIST only: */
	const struct setting *sub; /* its table, ended by a NULL key */
	size_t sub_size;	   /* sizeof one item */
	/* What the sample shows for a setting without a fallback; a LIST's is
	 * YAML, indented as under its key by two spaces. */
	const char *example;
};

/* What one module contributes. */
struct setting_section {
	const char *name; /* the top-level key */
	const char *help;
	const struct setting *settings; /* ended by a NULL key */
};

/* A section, and where its struct lies in the program's config struct. */
struct setting_group {
	const struct setting_section *section;
	size_t offset;
	/* Some settings of another program's section, to compare with: the
	 * others there are that program's to check, and so is the sample. */
	bool borrowed;
};

#endif
