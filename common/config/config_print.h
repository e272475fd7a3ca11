/* config_print.h - prints settings: the effective ones, a sample, a man
 * page. */
#ifndef COMMON_CONFIG_CONFIG_PRINT_H
#define COMMON_CONFIG_CONFIG_PRINT_H

#include <stdio.h>

#include "common/config/config.h"

/* The effective settings as YAML; secrets masked. */
void config_print(const struct config_spec *spec, const void *config,
		  FILE *out);

/* A commented sample: every setting with its help and its default. */
void config_print_sample(const struct config_spec *spec, FILE *out);

/* Prints the effect of SIGHUP, for --help: "reads again: aggregator.keys_file"
 * or "is ignored". */
void config_print_reloads(const struct config_spec *spec, FILE *out);

/* Prints the settings as sections of a man page (mdoc), below a line on
 * SIGHUP. */
void config_print_man(const struct config_spec *spec, FILE *out);

#endif
