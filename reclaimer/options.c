#include "reclaimer/options.h"

#include <errno.h>
#include <stdlib.h>

const struct app_command reclaimer_commands[] = {
	{"run", "return ended blocks to the pool, once over all that is due"},
	{"status", "say what each space has issued, may reuse and waits for"},
	{"history", "list the runs of the last days and what each day brought"},
	{"hold", "take blocks out of circulation; their links go on"},
	{"release", "put blocks back that were taken out"},
	{0},
};

const struct app_option reclaimer_options[] = {
	{"space", "NAME", "this space only, rather than every configured one",
	 NULL},
	{"dry-run", NULL, "change nothing, say what would be freed", "run"},
	{"rate", "N", "look at N blocks per second at most", "run"},
	{"max-blocks", "N", "look at N blocks per space at most", "run"},
	{"blocks", "A-B", "which blocks, from A to B or A alone",
	 "hold release"},
	{"reason", "TEXT", "why, for the record", "hold release"},
	{"days", "N", "today (UTC) and the days before, N in all; 7 if not",
	 "history"},
	{"json", NULL, "write one JSON object to stdout, rather than text",
	 NULL},
	{0},
};

/* Whole numbers from 1; an absent option leaves 0. */
static int read_count(const struct app *app, const char *name, const char *what,
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
				 "--%s: '%.40s' is not a number of %s from 1 "
				 "on",
				 name, text, what);
	return 0;
}

int options_read(const struct app *app, struct options *ret_options,
		 struct error *err)
{
	struct options o = {
		.space = app_option_value(app, "space"),
		.dry_run = app_option_value(app, "dry-run"),
		.json = app_option_value(app, "json"),
		.blocks = app_option_value(app, "blocks"),
		.reason = app_option_value(app, "reason"),
	};

	if (read_count(app, "days", "days", &o.days, err) < 0)
		return -1;
	if (o.days > 36500)
		return error_set(err, ERROR_USAGE,
				 "--days: a hundred years are enough");
	if (read_count(app, "rate", "blocks", &o.rate, err) < 0 ||
	    read_count(app, "max-blocks", "blocks", &o.max_blocks, err) < 0)
		return -1;
	*ret_options = o;
	return 0;
}
