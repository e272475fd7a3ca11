#include "aggregator/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/day_settlement.h"
#include "aggregator/settle/hour_settlement.h"
#include "aggregator/settle/settling.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"

/*
 * `aggregator settle`: settles a whole range again, whatever was published for
 * it.
 *
 * It needs no lease: it has attempts of its own, and an aggregator that settles
 * the same hour at the same time counts the same rows.
 */

#define HOUR 3600

/* Most times that an hour or day is listed again because it was dropped while
 * it was settled. */
#define RELISTS_MAX 10

struct resettle_result {
	size_t hours, days; /* published */
	size_t held;	    /* hours and days not published */
};

/* Settles all hours or days from *from, seconds since 1970, to `to`.  *from
 * becomes the start of the last one that was settled or tried. */
typedef int settle_fn(const struct settling *s, int64_t *from, int64_t to,
		      struct resettle_result *ret, struct error *err);

static void add_settle_count(const struct settle_count *n, size_t *published,
			     size_t *held)
{
	*published += n->published;
	*held += n->done - n->published;
}

static int settle_hours(const struct settling *s, int64_t *from, int64_t to,
			struct resettle_result *ret, struct error *err)
{
	struct stale_list list = {0};
	struct settle_count n = {0};
	struct progress last;
	int status = progress_hours_of(s->ch, *from, to, &list, err);

	for (size_t i = 0; status == 0 && i < list.count; i += n.done) {
		*from = list.items[i].start;
		status = progress_read_last(s->ch, &last, err);
		if (status == 0)
			status = hours_settle(s, &list.items[i], list.count - i,
					      INT64_MAX, NULL, &last, &n, err);
		if (status == 0)
			add_settle_count(&n, &ret->hours, &ret->held);
	}
	stale_list_release(&list);
	return status;
}

/* Settles days that have closed. */
static int settle_days(const struct settling *s, int64_t *from, int64_t to,
		       struct resettle_result *ret, struct error *err)
{
	int64_t closed = settling_now(s) - s->settings->day_grace;
	struct stale_list list = {0};
	struct settle_count n = {0};
	struct progress last;
	int status = progress_days_of(s->ch, *from, to, &list, err);

	for (size_t i = 0; status == 0 && i < list.count; i++) {
		if ((list.items[i].start + CIVIL_DAY) * 1000 > closed)
			break;
		*from = list.items[i].start;
		status = progress_read_last(s->ch, &last, err);
		if (status == 0)
			status = days_settle(s, &list.items[i], &last, &n, err);
		if (status == 0)
			add_settle_count(&n, &ret->days, &ret->held);
	}
	stale_list_release(&list);
	return status;
}

/* Lists a day again, with all that follow, if it was dropped after it was
 * listed. */
static int settle_all(const struct settling *s, settle_fn *settle, int64_t from,
		      int64_t to, struct resettle_result *ret,
		      struct error *err)
{
	int64_t before = from;

	for (int tries = 0; settle(s, &from, to, ret, err) < 0; tries++) {
		if (from > before)
			tries = 0;
		if (err->code != ERROR_CONFLICT || tries >= RELISTS_MAX)
			return -1;
		*err = (struct error){0};
		before = from;
	}
	return 0;
}

/* Settles [from, to), seconds since 1970: the hours that it touches, then the
 * closed days that it touches. */
static int resettle_range(const struct settling *s, int64_t from, int64_t to,
			  struct resettle_result *ret, struct error *err)
{
	*ret = (struct resettle_result){0};
	from = floor_div(from, HOUR) * HOUR;
	to = floor_div(to + HOUR - 1, HOUR) * HOUR;
	if (settle_all(s, settle_hours, from, to, ret, err) < 0)
		return -1;
	return settle_all(s, settle_days, from, to, ret, err);
}

/* --- the command -----------------------------------------------------------
 */

static void print_shortage(void *arg, const struct shortage *s)
{
	char start[CIVIL_NAME_MAX];

	(void)arg;
	printf("%s %s: %" PRIu64 " rows, %" PRIu64 " were published, "
	       "collectors reported %" PRIu64 "%s\n",
	       s->day ? "day" : "hour",
	       s->day ? civil_day_name(s->start, start)
		      : civil_hour_name(s->start, start),
	       s->rows, s->before, s->reported, s->held ? ": held back" : "");
}

static int read_range(struct app *app, int64_t *ret_from, int64_t *ret_to,
		      struct error *err)
{
	*ret_to = INT64_MAX;
	if (!app_option_value(app, "from"))
		return error_set(err, ERROR_USAGE,
				 "settle needs --from, such as 2026-11-01");
	if (app_option_time(app, "from", ret_from, err) < 0 ||
	    app_option_time(app, "to", ret_to, err) < 0)
		return -1;
	if (*ret_from >= *ret_to)
		return error_set(err, ERROR_USAGE,
				 "--from and --to: the range is empty");
	return 0;
}

/* Limits the end of the range to the present, by ClickHouse's clock. */
static int end_range(const struct settling *s, int64_t from, int64_t *to,
		     struct error *err)
{
	int64_t now = settling_now(s);

	if (*to > now)
		*to = now;
	if (from < *to)
		return 0;
	return error_set(err, ERROR_USAGE, "--from lies in the future");
}

static int print_result(const struct resettle_result *r, struct error *err)
{
	printf("settled %zu hours and %zu days\n", r->hours, r->days);
	fflush(stdout);
	if (!r->held)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "%zu hours and days are held back, because rows of "
			 "them are gone; --allow-fewer publishes them",
			 r->held);
}

int aggregator_settle(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct settling settling = {
		.settings = &config->aggregator,
		.allow_fewer = app_option_value(app, "allow-fewer") != NULL,
		.on_shortage = print_shortage,
	};
	struct resettle_result result = {0};
	int64_t from = 0, to = 0;
	struct settling_session session;
	int status;

	if (read_range(app, &from, &to, err) < 0)
		return -1;
	status = settling_open(&settling, &session, app, &config->clickhouse,
			       "settle", err);
	if (status == 0)
		status = end_range(&settling, from, &to, err);
	if (status == 0)
		status = resettle_range(&settling, from / 1000,
					clock_whole_seconds(to), &result, err);
	settling_close(&settling);
	return status < 0 ? error_wrap(err, "settle")
			  : print_result(&result, err);
}
