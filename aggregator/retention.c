#include <inttypes.h>
#include <stdio.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/drop_months.h"
#include "aggregator/settle/settling.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"

/*
 * `aggregator retention`: what aggregators that settle do by themselves, a day
 * with each pass, for all days at once.
 *
 * It needs no lease: a day that two drop at once has the same base twice.
 */

struct listing {
	uint64_t ready, waiting; /* days */
	uint64_t rows, bytes;	 /* of those that are ready or dropped */
};

static int list_day(void *arg, const struct old_day *day, struct error *err)
{
	struct listing *l = arg;
	char name[CIVIL_NAME_MAX], at[RFC3339_TEXT_MAX];

	(void)err;
	printf("%s  %14" PRIu64 " rows  %9.1f MiB  ",
	       civil_day_name(day->start, name), day->rows,
	       (double)day->bytes / (1 << 20));
	if (day->dropped)
		printf("dropped; its rows are deleted after %s\n",
		       rfc3339_format(day->deleted_at, at));
	else if (!day->sealed)
		printf("waits: it is not sealed, or not copied, see "
		       "'aggregator doctor'\n");
	else if (!day->settled)
		printf("waits: its rows are not what was settled, see "
		       "'aggregator doctor'\n");
	else if (!day->reconciled)
		printf("to be dropped, once it was reconciled\n");
	else
		printf("to be dropped\n");
	if (!day->dropped && !(day->sealed && day->settled)) {
		l->waiting++;
		return 0;
	}
	l->ready += !day->dropped;
	l->rows += day->rows;
	l->bytes += day->bytes;
	return 0;
}

/* Days that are old by the clock alone are not listed: this says why. */
static void tell_watermark(const struct settling *s,
			   const struct progress *last)
{
	char until[RFC3339_TEXT_MAX];

	if (!last->complete_until)
		printf("no day is old: up to when counts are complete is not "
		       "known, see 'aggregator doctor'\n");
	else if (settling_now(s) - last->complete_until > CLOCK_HOUR)
		printf("days are old by %s, up to when counts are complete: "
		       "see 'aggregator doctor'\n",
		       rfc3339_format(last->complete_until, until));
}

static int list(const struct settling *s, struct error *err)
{
	struct listing l = {0};
	struct progress last;

	if (progress_read_last(s->ch, &last, err) < 0 ||
	    drop_for_each_old(s, &last, list_day, &l, err) < 0)
		return -1;
	printf("%" PRIu64 " days to be dropped, %" PRIu64 " wait; %" PRIu64
	       " rows, %.1f MiB to be deleted\n",
	       l.ready, l.waiting, l.rows, (double)l.bytes / (1 << 20));
	tell_watermark(s, &last);
	return 0;
}

struct dropping {
	uint64_t days, waiting;
	struct repeats_removed removed;
	/* Of what failed, which stops nothing else. */
	struct error first;
};

static const char *outcome(int status, bool dropped, const struct error *err)
{
	if (status < 0)
		return err->text;
	return dropped ? "dropped"
		       : "waits: its rows are not what was settled, see "
			 "'aggregator doctor'";
}

static int drop_days(const struct settling *s, struct dropping *ret,
		     struct error *err)
{
	struct progress last;
	int64_t after = -1, day = -1;
	char name[CIVIL_NAME_MAX];
	bool dropped;
	int status;

	for (;; after = day) {
		if (s->is_stopping(s->arg))
			return error_set(err, ERROR_STOPPED, "stopped");
		if (progress_read_last(s->ch, &last, err) < 0)
			return -1;
		status = drop_next(s, after, &last, &day, &dropped,
				   &ret->removed, err);
		if (status < 0 && day == after)
			return -1;
		if (day < 0)
			return 0;
		printf("%s  %s\n", civil_day_name(day, name),
		       outcome(status, dropped, err));
		fflush(stdout);
		ret->days += dropped;
		ret->waiting += !dropped;
		if (status < 0 && !ret->first.code)
			ret->first = *err;
	}
}

static int drop_all(const struct settling *s, struct error *err)
{
	struct dropping d = {0};
	struct progress last;
	uint64_t rows = 0;
	int64_t from = 0;
	char name[CIVIL_NAME_MAX];

	if (drop_days(s, &d, err) < 0 ||
	    settling_note(s->ch, drop_delete_rows(s, &rows, err), &d.first,
			  err) < 0 ||
	    progress_read_last(s->ch, &last, err) < 0 ||
	    settling_note(s->ch, drop_months(s, &last, &from, err), &d.first,
			  err) < 0 ||
	    settling_note(s->ch, drop_months_delete(s, err), &d.first, err) <
		    0 ||
	    settling_note(s->ch, drop_months_thin(s, err), &d.first, err) < 0)
		return -1;
	if (from)
		printf("counts are kept from %s on\n",
		       civil_day_name(from, name));
	printf("dropped %" PRIu64 " days, %" PRIu64 " wait; deleted %" PRIu64
	       " rows\n",
	       d.days, d.waiting, rows);
	if (d.removed.rows)
		printf("%" PRIu64 " rows were events sent twice, and are "
		       "clicks no more: their days wait until their hours "
		       "are settled again\n",
		       d.removed.rows);
	if (d.days)
		printf("rows of days just dropped are deleted when "
		       "aggregator.keep_superseded is over, by the aggregator "
		       "that settles or by this command\n");
	return settling_noted(&d.first, err);
}

int aggregator_retention(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct settling settling = {.settings = &config->aggregator};
	struct settling_session session;
	int status;

	if (!config->aggregator.raw_days) {
		printf("aggregator.raw_days is 0: rows of clicks are kept for "
		       "ever\n");
		return 0;
	}
	status = settling_open(&settling, &session, app, &config->clickhouse,
			       "retention", err);
	if (status == 0)
		status = app_option_value(app, "dry-run")
				 ? list(&settling, err)
				 : drop_all(&settling, err);
	settling_close(&settling);
	fflush(stdout);
	return status < 0 ? error_wrap(err, "retention") : 0;
}
