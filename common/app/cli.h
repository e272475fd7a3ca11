/* cli.h - the command line that all programs share.  For app.c only. */
#ifndef COMMON_APP_CLI_H
#define COMMON_APP_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "common/app/app.h"

#define CLI_OPTIONS_MAX 48

enum cli_action {
	CLI_RUN,
	CLI_CHECK,
	CLI_PRINT_CONFIG,
	CLI_PRINT_SAMPLE,
	CLI_PRINT_MAN,
	CLI_HELP,
	CLI_VERSION,
};

struct cli {
	enum cli_action action;
	const char *config_path;
	const char *command; /* NULL: the program has none */
	char *const *operands;
	size_t operand_count;
	/* Indexed like spec->options: the argument, "" for a flag, or NULL. */
	const char *values[CLI_OPTIONS_MAX];
};

/* Strings point into argv and spec.  ERROR_USAGE if the command line is
 * invalid. */
int cli_parse(struct cli *cli, const struct app_spec *spec, int argc,
	      char **argv, struct error *err);

/* `only`: a command, to show only its options; NULL: all. */
void cli_print_help(const struct app_spec *spec,
		    const struct config_spec *config, const char *only,
		    FILE *out);

/* Prints the whole mdoc(7) page: options, commands, settings, exit status. */
void cli_print_man(const struct app_spec *spec,
		   const struct config_spec *config, FILE *out);

#endif
