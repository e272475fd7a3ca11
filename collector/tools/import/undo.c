#include "collector/tools/import/undo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/sink.h"
#include "collector/tools/import/inserter.h"
#include "collector/tools/import/journal.h"
#include "collector/tools/import/patience.h"
#include "collector/tools/import/undo_journal.h"
#include "collector/tools/import/undo_rows.h"
#include "common/clock.h"
#include "common/host_name.h"
#include "schemas/ingest_progress.h"

enum {
	POLL_MS = 250,
	HOST_TEXT = 256,
	/* A server that keeps no tokens sets no limit to how late a batch may
	 * arrive: no import waits longer than this for an answer. */
	LATE_MAX_MS = 10 * 60 * 1000,
};

struct undo {
	struct app *app;
	const struct collector_config *config;
	struct sink *sink;
	struct journal journal;
	struct undo_state state;
	struct undo_hours hours; /* hours of the present rows */
	int64_t late_ms;	 /* a batch may be sent this late */
	bool dry_run;
	bool finishing; /* the last row may have been written */
	char host[HOST_TEXT];
};

/* --- late batches --------------------------------------------------------- */

static int end_batch(struct undo *u, uint64_t first, uint64_t last,
		     struct error *err)
{
	const struct batch batch = {.name_first = first, .last = last};
	char name[BATCH_NAME_MAX];

	batch_name(&batch, u->journal.epoch, u->journal.topic, 0, name);
	if (insertion_end(u->sink, SINK_CLICKS, name, err) < 0)
		return -1;
	return insertion_end(u->sink, SINK_PROGRESS, name, err);
}

/* An import that announced a batch either saw the undo, or sends the batch
 * while its token is kept.  ClickHouse's clock may have been set back since, so
 * our own clock limits the wait, too. */
static int await_batch(struct undo *u, struct error *err)
{
	uint64_t first, last;
	int64_t age, since = clock_boottime_ms(), waited = 0;
	bool logged = false;

	for (;;) {
		if (journal_read_late(&u->journal, &first, &last, &age, err) <
		    0)
			return -1;
		if (age < 0)
			return 0;
		waited = clock_boottime_ms() - since;
		if (age > u->late_ms || waited > u->late_ms)
			return end_batch(u, first, last, err);
		if (!logged)
			log_info(app_log(u->app),
				 "waiting for a batch that an import may "
				 "still send",
				 log_int("seconds_left",
					 (u->late_ms - age) / CLOCK_SECOND));
		logged = true;
		if (app_should_stop(u->app, POLL_MS))
			return error_set(err, ERROR_STOPPED,
					 "stopped; run it again to finish");
	}
}

/* --- plan ----------------------------------------------------------------- */

/* Nothing was deleted: a log whose import cannot be undone can be imported
 * further, as before. */
static int refuse_undo(struct undo *u, struct error *err)
{
	struct error why = *err, failed = {0};

	if (why.code != ERROR_INPUT)
		return -1;
	if (undo_journal_keep(&u->journal, &failed) < 0)
		*err = failed;
	return -1;
}

static int check_days(struct undo *u, struct error *err)
{
	if (undo_rows_count(&u->journal, &u->hours, err) < 0)
		return -1;
	if (undo_rows_check_dropped(&u->journal, &u->hours, err) < 0)
		return refuse_undo(u, err);
	return 0;
}

/*
 * A day is first recorded as changing, then checked whether it was dropped: the
 * aggregator drops no changing day.  *ret: the plan covers all rows that exist
 * now or may still arrive.  Rows can have arrived meanwhile: another undo that
 * was refused lets imports begin.
 */
static int plan_once(struct undo *u, struct undo_hours *planned, bool *ret,
		     struct error *err)
{
	struct journal *j = &u->journal;

	*ret = false;
	if (await_batch(u, err) < 0 || undo_rows_count(j, planned, err) < 0 ||
	    undo_journal_protect(j, planned, u->host, err) < 0 ||
	    check_days(u, err) < 0)
		return -1;
	if (!undo_hours_cover(planned, &u->hours))
		return 0;
	if (undo_journal_plan(j, planned, err) < 0 || await_batch(u, err) < 0 ||
	    undo_rows_count(j, &u->hours, err) < 0)
		return -1;
	*ret = undo_hours_cover(planned, &u->hours);
	return 0;
}

static int plan_undo(struct undo *u, struct error *err)
{
	struct undo_hours planned = {0};
	bool all = false;
	int status = 0;

	while (status == 0 && !all)
		status = plan_once(u, &planned, &all, err);
	undo_hours_release(&planned);
	return status == 0 ? undo_journal_read(&u->journal, &u->state, err)
			   : -1;
}

/* --- undo ----------------------------------------------------------------- */

static void print_report(const struct undo *u)
{
	const struct undo_hours *h = u->dry_run ? &u->hours : &u->state.hours;
	char first[RFC3339_TEXT_MAX], last[RFC3339_TEXT_MAX];

	printf("%s: %" PRIu64 " clicks %s taken back", u->journal.topic,
	       undo_hours_rows(h), u->dry_run ? "would be" : "were");
	if (h->count)
		printf(", of %zu hours from %s to %s", h->count,
		       rfc3339_format((int64_t)h->items[0].start * CLOCK_SECOND,
				      first),
		       rfc3339_format((int64_t)h->items[h->count - 1].start *
					      CLOCK_SECOND,
				      last));
	puts(u->dry_run ? ""
			: "\n  their hours are settled again; the log can be "
			  "imported anew");
	fflush(stdout);
}

static uint64_t count_days(const struct undo_hours *h)
{
	uint64_t days = 0;

	for (size_t i = 0; i < h->count; i++)
		days += !i || undo_hour_day(&h->items[i]) !=
				      undo_hour_day(&h->items[i - 1]);
	return days;
}

static int delete_all(struct undo *u, struct error *err)
{
	struct undo_rows rows = {.app = u->app,
				 .journal = &u->journal,
				 .hours = &u->state.hours,
				 .host = u->host,
				 .days = count_days(&u->state.hours)};
	int status;

	bar_begin(&rows.bar, u->journal.topic, "days");
	status = undo_rows_delete(&rows, err);
	if (status == 0)
		status = undo_rows_empty_reports(&rows, err);
	bar_end(&rows.bar);
	return status;
}

static int set_nothing(const struct undo *u, bool known, struct error *err)
{
	if (!known)
		return error_set(err, ERROR_NOTFOUND,
				 "no log of that name was ever imported");
	if (!u->journal.epoch)
		return error_set(err, ERROR_NOTFOUND,
				 "nothing of that log was ever imported");
	return error_set(err, ERROR_INPUT,
			 "it was taken back already, and nothing was imported "
			 "since");
}

/* Checks whether there is an import to undo, or an undo to go on with.
 * *ret_done: this command's undo is done, and only its last answer was lost. */
static int check_any(struct undo *u, bool *ret_done, struct error *err)
{
	struct journal *j = &u->journal;
	uint32_t before = j->epoch;
	uint64_t first, last;
	int64_t age = -1;
	bool known, none;

	if (journal_find_place(j, &known, err) < 0)
		return -1;
	*ret_done = u->finishing && j->epoch > before;
	if (*ret_done)
		return 0;
	u->finishing = false;
	if (undo_journal_read(j, &u->state, err) < 0 ||
	    undo_rows_are_none(j, &none, err) < 0 ||
	    journal_read_late(j, &first, &last, &age, err) < 0)
		return -1;
	if (u->state.begun || !none || age >= 0)
		return 0;
	return set_nothing(u, known, err);
}

/* A dry run reports these counts. */
static int count_for_dry_run(struct undo *u, struct error *err)
{
	if (undo_rows_count(&u->journal, &u->hours, err) < 0)
		return -1;
	return undo_rows_check_dropped(&u->journal, &u->hours, err);
}

/* Goes on from the point that earlier undos have reached. */
static int take_back(struct undo *u, struct error *err)
{
	struct journal *j = &u->journal;
	bool done;

	if (check_any(u, &done, err) < 0)
		return -1;
	if (done)
		return 0;
	if (u->dry_run)
		return count_for_dry_run(u, err);
	if (!u->state.planned &&
	    (check_days(u, err) < 0 || undo_journal_begin(j, err) < 0 ||
	     plan_undo(u, err) < 0))
		return -1;
	if (undo_journal_protect(j, &u->state.hours, u->host, err) < 0 ||
	    delete_all(u, err) < 0 || undo_journal_taken(j, err) < 0 ||
	    undo_rows_tell(j, &u->state.hours, u->host, err) < 0)
		return -1;
	u->finishing = true;
	return undo_journal_finish(j, err);
}

static int try_once(struct undo *u, struct error *err)
{
	if (!u->sink)
		u->sink = sink_new(&u->config->clickhouse, err);
	if (!u->sink)
		return -1;
	u->journal.ch = sink_server(u->sink);
	if (getrandom(&u->journal.run, sizeof(u->journal.run), 0) !=
	    sizeof(u->journal.run))
		return error_set_errno(err, "getrandom");
	if (inserter_token_life(u->sink, u->config, &u->late_ms, err) < 0)
		return -1;
	if (u->late_ms > LATE_MAX_MS)
		u->late_ms = LATE_MAX_MS;
	return take_back(u, err);
}

static int set_name(struct undo *u, const char *identity, struct error *err)
{
	const char *prefix = PROGRESS_TOPIC_IMPORT;

	if (!strncmp(identity, prefix, strlen(prefix)))
		identity += strlen(prefix);
	return journal_set_name(&u->journal, "--undo", identity, err);
}

int import_undo(struct app *app, const struct collector_config *config,
		const char *identity, int64_t wait_ms, bool dry_run,
		struct error *err)
{
	struct undo u = {.app = app, .config = config, .dry_run = dry_run};
	struct patience patience = {
		.app = app,
		.wait_ms = wait_ms,
		.pause_ms = config->collector.retry_backoff_max};
	int status;

	if (set_name(&u, identity, err) < 0)
		return -1;
	host_name(u.host, sizeof(u.host), "import");
	do
		status = try_once(&u, err);
	while (status < 0 && patience_may_retry(&patience, err));
	if (status == 0)
		print_report(&u);
	undo_hours_release(&u.state.hours);
	undo_hours_release(&u.hours);
	sink_free(u.sink);
	return status < 0 ? error_wrap(err, "--undo %s", identity) : 0;
}
