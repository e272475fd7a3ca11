#include "reclaimer/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct app_command reclaimer_commands[] = {
	{"run", "return ended blocks to the pool, once over all that is due"},
	{"status", "say what each space has issued, may reuse and waits for"},
	{0},
};

const struct app_option reclaimer_options[] = {
	{"space", "NAME", "this space only, rather than every configured one"},
	{"dry-run", NULL, "run: change nothing, say what would be freed"},
	{"rate", "N", "run: look at N blocks per second at most"},
	{"max-blocks", "N", "run: look at N blocks per space at most"},
	{"json", NULL, "write one JSON object to stdout, rather than text"},
	{0},
};

/* Whole numbers from 1; an absent option leaves 0. */
static int read_count(const struct app *app, const char *name,
		      uint64_t *ret_count, struct error *err)
{
	const char *text = app_option_value(app, name);
	char *end = NULL;

	*ret_count = 0;
	if (!text)
		return 0;
	errno = 0;
	if (*text >= '0' && *text <= '9')
		*ret_count = strtoull(text, &end, 10);
	if (!*ret_count || !end || *end || errno)
		return error_set(err, ERROR_USAGE,
				 "--%s: '%.40s' is not a number of blocks from "
				 "1 on",
				 name, text);
	return 0;
}

static int check_fit(const struct app *app, struct error *err)
{
	static const char *const of_run[] = {"dry-run", "rate", "max-blocks"};

	for (size_t i = 0; i < sizeof(of_run) / sizeof(of_run[0]); i++) {
		if (app_option_value(app, of_run[i]))
			return error_set(err, ERROR_USAGE,
					 "--%s goes with 'run' only",
					 of_run[i]);
	}
	return 0;
}

int options_read(const struct app *app, struct options *ret_options,
		 struct error *err)
{
	struct options o = {
		.status = !strcmp(app_command_name(app), "status"),
		.space = app_option_value(app, "space"),
		.dry_run = app_option_value(app, "dry-run"),
		.json = app_option_value(app, "json"),
	};

	if (o.status && check_fit(app, err) < 0)
		return -1;
	if (read_count(app, "rate", &o.rate, err) < 0 ||
	    read_count(app, "max-blocks", &o.max_blocks, err) < 0)
		return -1;
	*ret_options = o;
	return 0;
}
