/*
 * config.h - reads, checks and prints a program's YAML configuration.
 *
 * Not thread-safe: load once, before threads are started; a loaded config is
 * only read from then on.
 */
#ifndef COMMON_CONFIG_CONFIG_H
#define COMMON_CONFIG_CONFIG_H

#include "common/config/setting.h"
#include "common/error.h"

struct config_spec {
	const struct setting_group *groups;
	size_t group_count;
	/* Top-level sections of other programs in the same file, which are
	 * skipped; NULL-terminated, or NULL. */
	const char *const *foreign;
};

/*
 * Fills `config`, a zeroed struct that the groups' offsets point into, from the
 * file.  Unknown keys, doubled keys, wrong types and values out of range are
 * ERROR_CONFIG, worded "file:line:column: key: what was expected".  On failure
 * the values filled so far must still be released.
 */
int config_load(const struct config_spec *spec, const char *path, void *config,
		struct error *err);

/* The same for `text`, which is not empty; messages name it `name`. */
int config_load_text(const struct config_spec *spec, const char *name,
		     const char *text, void *config, struct error *err);

/* Frees every value and zeroes it.  Accepts a half-filled config. */
void config_release(const struct config_spec *spec, void *config);

#endif
