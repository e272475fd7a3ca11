#include "reclaimer/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

const struct app_option reclaimer_options[] = {
	{"space", "NAME", "this space only, rather than every configured one",
	 NULL},
	{"day", "YYYY-MM-DD", "only what was due on that day (UTC)", "run"},
	{"until-day", NULL, "with --day: what was due earlier, too", "run"},
	{"dry-run", NULL, "change nothing, say what would be freed", "run"},
	{"wait", "[DURATION]",
	 "wait for another run to end, for so long at most; otherwise leave "
	 "with status 75",
	 "run"},
	{"rate", "N/s",
	 "look at N blocks (verify --deep: keys) per second at most",
	 "run verify"},
	{"max-blocks", "N", "look at N blocks per space at most", "run"},
	{"blocks", "A-B", "which blocks, from A to B or A alone",
	 "hold release"},
	{"reason", "TEXT", "why, for the record", "hold release"},
	{"deep", NULL, "hold every link against its block's marker, too",
	 "verify"},
	{"repair", NULL, "put right what can be, and say each", "verify"},
	{"sample", "N", "live blocks to look into; 200 if not", "advise"},
	{"days", "N", "today (UTC) and the days before, N in all; 7 if not",
	 "history"},
	{"json", NULL, "write one JSON object to stdout, rather than text",
	 NULL},
	{0},
};

/* Reads a whole number from 1 on, optionally followed by `unit`; an absent
 * option gives 0. */
static int read_count(const struct app *app, const char *name, const char *what,
		      const char *unit, uint64_t *ret_count, struct error *err)
{
	const char *text = app_option_value(app, name);
	char *end = NULL;

	*ret_count = 0;
	if (!text)
		return 0;
	errno = 0;
	if (*text >= '0' && *text <= '9')
		*ret_count = strtoull(text, &end, 10);
	if (!*ret_count || !end || errno || (*end && strcmp(end, unit) != 0))
		return error_set(err, ERROR_USAGE,
				 "--%s: '%.40s' is not a number of %s from 1 "
				 "on",
				 name, text, what);
	return 0;
}

static int read_day(const struct app *app, struct options *o, struct error *err)
{
	const char *day = app_option_value(app, "day");
	bool earlier_too = app_option_value(app, "until-day");
	struct error why;

	if (!day && earlier_too)
		return error_set(err, ERROR_USAGE,
				 "--until-day needs --day YYYY-MM-DD");
	if (!day)
		return 0;
	if (strlen(day) != strlen("2026-11-21") ||
	    rfc3339_parse(day, &o->from, &why) < 0 || o->from <= 0)
		return error_set(err, ERROR_USAGE,
				 "--day: '%.40s' is no day: expected "
				 "YYYY-MM-DD",
				 day);
	o->day = day;
	o->until = o->from + CLOCK_DAY - 1;
	if (earlier_too)
		o->from = 0;
	return 0;
}

static int read_wait(const struct app *app, struct options *o,
		     struct error *err)
{
	const char *text = app_option_value(app, "wait");
	struct error why;

	if (!text)
		return 0;
	if (!*text)
		o->wait = DURATION_NEVER;
	else if (duration_parse(text, &o->wait, &why) < 0)
		return error_set(err, ERROR_USAGE, "--wait: %s", why.text);
	if (o->wait && app_option_value(app, "dry-run"))
		return error_set(err, ERROR_USAGE,
				 "--wait: a dry run does not wait");
	return 0;
}

int options_read(const struct app *app, struct options *ret_options,
		 struct error *err)
{
	struct options o = {
		.space = app_option_value(app, "space"),
		.dry_run = app_option_value(app, "dry-run"),
		.json = app_option_value(app, "json"),
		.deep = app_option_value(app, "deep"),
		.repair = app_option_value(app, "repair"),
		.blocks = app_option_value(app, "blocks"),
		.reason = app_option_value(app, "reason"),
	};

	if (read_count(app, "sample", "blocks", "", &o.sample, err) < 0)
		return -1;
	if (o.sample > 1000000)
		return error_set(err, ERROR_USAGE,
				 "--sample: a million blocks are enough");
	if (read_count(app, "days", "days", "", &o.days, err) < 0)
		return -1;
	if (o.days > 36500)
		return error_set(err, ERROR_USAGE,
				 "--days: a hundred years are enough");
	if (read_day(app, &o, err) < 0 || read_wait(app, &o, err) < 0 ||
	    read_count(app, "rate", "blocks", "/s", &o.rate, err) < 0 ||
	    read_count(app, "max-blocks", "blocks", "", &o.max_blocks, err) < 0)
		return -1;
	*ret_options = o;
	return 0;
}
