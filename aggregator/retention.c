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
 * `aggregator retention`: drops all old days at once.  Aggregators that settle
 * do the same, one day in each pass.
 *
 * It needs no lease: a day that two processes drop at the same time has the
 * same base twice.
 */

struct listing {
	const struct settling *s;
	const struct progress *last;
	uint64_t ready, waiting; /* days */
	uint64_t rows, bytes; /* totals of the days that are ready or dropped */
};

static void add_day_to_sums(struct listing *l, const struct old_day *day,
			    bool waits)
{
	l->waiting += waits;
	l->ready += !waits && !day->dropped;
	l->rows += waits ? 0 : day->rows;
	l->bytes += waits ? 0 : day->bytes;
}

/* Lists a day that is sealed and not dropped. */
static int list_sealed(struct listing *l, const struct old_day *day,
		       struct error *err)
{
	char why[DROP_WHY_MAX];
	struct drop_outcome o;

	if (drop_look(l->s, day->start, l->last, &o, err) < 0)
		return -1;
	drop_why(&o, why, sizeof(why));
	if (o.why != DROP_GOES)
		printf("waits: %s\n", why);
	else
		printf("to be dropped%s\n",
		       day->reconciled ? "" : ", once it was reconciled");
	add_day_to_sums(l, day, o.why != DROP_GOES);
	return 0;
}

static int list_day(void *arg, const struct old_day *day, struct error *err)
{
	struct listing *l = arg;
	char name[CIVIL_NAME_MAX], at[RFC3339_TEXT_MAX];

	printf("%s  %14" PRIu64 " rows  %9.1f MiB  ",
	       civil_day_name(day->start, name), day->rows,
	       (double)day->bytes / (1 << 20));
	if (!day->dropped && day->sealed)
		return list_sealed(l, day, err);
	if (day->dropped)
		printf("dropped; its rows are deleted after %s\n",
		       rfc3339_format(day->deleted_at, at));
	else
		printf("waits: it is not sealed, or not copied, see "
		       "'aggregator doctor'\n");
	add_day_to_sums(l, day, !day->dropped);
	return 0;
}

/* Prints why days that are old by the clock alone are not listed. */
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

static int list_old_days(const struct settling *s, struct error *err)
{
	struct progress last;
	struct listing l = {.s = s, .last = &last};

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
	/* The first failure; it stops no other day. */
	struct error first;
};

static void print_outcome(int status, const struct drop_outcome *o,
			  const struct error *err)
{
	char name[CIVIL_NAME_MAX], why[DROP_WHY_MAX];

	drop_why(o, why, sizeof(why));
	printf("%s  %s%s\n", civil_day_name(o->start, name),
	       status == 0 && !o->dropped ? "waits: " : "",
	       status < 0   ? err->text
	       : o->dropped ? "dropped"
			    : why);
	fflush(stdout);
}

static int drop_days(const struct settling *s, struct dropping *ret,
		     struct error *err)
{
	struct drop_outcome o = {.start = -1};
	struct progress last;

	for (int64_t after = -1;; after = o.start) {
		int status;

		if (s->is_stopping(s->arg))
			return error_set(err, ERROR_STOPPED, "stopped");
		if (progress_read_last(s->ch, &last, err) < 0)
			return -1;
		status = drop_next(s, after, &last, &o, &ret->removed, err);
		if (status < 0 && o.start == after)
			return -1;
		if (o.start < 0)
			return 0;
		print_outcome(status, &o, err);
		ret->days += o.dropped;
		ret->waiting += !o.dropped;
		if (status < 0 && !ret->first.code)
			ret->first = *err;
	}
}

static void print_kept(const struct drop_deleted *deleted)
{
	char name[CIVIL_NAME_MAX];

	if (deleted->kept_days)
		printf("%" PRIu64 " days that were dropped keep their rows, as "
		       "their counts are not whole any more: of %s %s has "
		       "%" PRIu64 " of %" PRIu64 " events\n",
		       deleted->kept_days,
		       civil_day_name(deleted->kept_day, name),
		       deleted->lack.table, deleted->lack.have,
		       deleted->lack.want);
}

static int drop_all(const struct settling *s, struct error *err)
{
	struct dropping d = {0};
	struct progress last;
	struct drop_deleted deleted = {0};
	int64_t from = 0;
	char name[CIVIL_NAME_MAX];

	if (drop_days(s, &d, err) < 0 ||
	    settling_note(s->ch, drop_delete_rows(s, &deleted, err), &d.first,
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
	       d.days, d.waiting, deleted.rows);
	print_kept(&deleted);
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
				 ? list_old_days(&settling, err)
				 : drop_all(&settling, err);
	settling_close(&settling);
	fflush(stdout);
	return status < 0 ? error_wrap(err, "retention") : 0;
}
