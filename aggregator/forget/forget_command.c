/*
 * forget_command.c - `aggregator forget`: removes visitors and links from the
 * stored data.
 *
 * Each event keeps its row, so that past counts can still be proven: the row
 * loses everything that identifies the visitor.  First the visitor is added to
 * table `forgotten`; from then on a collector that takes a partition over, and
 * within a quarter of a minute every collector, writes such rows itself.  Then
 * stored rows are changed; and once more when everything is stored that
 * collectors may have read before they knew the list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/forget/forget_days.h"
#include "aggregator/forget/forget_left.h"
#include "aggregator/forget/forget_sql.h"
#include "aggregator/forget/named_link.h"
#include "aggregator/settle/settling.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Collectors read the list every 15 s (collector/ingest/housekeeping.c). */
#define HEARD_AFTER CLOCK_MINUTE
#define POLL_MS	    500
/* Most searches for a dropped day: copies made during the first ones may still
 * be from unchanged counts. */
#define LOOKS_MAX 5

struct forgetting {
	struct app *app;
	struct settling settling;
	struct link_sources links;
	bool dry_run;
	struct forget_list list; /* entries of this run */
	int64_t listed_at;	 /* all of them were in the table by then */
	/* Changed: rows of clicks; slots of links on dropped days. */
	uint64_t rows, slots;
	uint64_t link_rows; /* changed rows of the archive */
};

/* --- choosing entries ------------------------------------------------------
 */

/* A live link may still be clicked, under a code that would no longer be
 * known. */
static int refuse_live(const struct named_link *link, struct error *err)
{
	return error_set(err, ERROR_UNSAFE,
			 "link %" PRIu64 " (code %s) is live: delete it first, "
			 "by the allocator",
			 link->link_id, link->code);
}

/* A restored link would have content that the archive no longer takes. */
static int refuse_restorable(const struct named_link *link, struct error *err)
{
	return error_set(err, ERROR_UNSAFE,
			 "link %" PRIu64 " (code %s) is deleted, but can still "
			 "be restored: delete it once more, by the allocator, "
			 "with ?purge=true",
			 link->link_id, link->code);
}

static int add_link(struct forgetting *f, const char *code, const char *number,
		    int64_t now, struct error *err)
{
	struct named_link link;
	uint64_t id = 0;

	if (number && !forget_link_id(number, &id))
		return error_set(err, ERROR_USAGE,
				 "--link-id: '%s' is no number of a link",
				 number);
	if (named_link_find(&f->links, code, id, now, &link, err) < 0)
		return -1;
	if (link.is_live)
		return refuse_live(&link, err);
	if (link.may_return)
		return refuse_restorable(&link, err);
	if (link.is_lost)
		printf("link %" PRIu64 " (code %s) is live by the archive, "
		       "but Redis has it no more: it is taken for one that "
		       "Redis lost\n",
		       link.link_id, link.code);
	if (!link.redis_asked)
		printf("no links.spaces are configured, so Redis cannot be "
		       "queried: that link %" PRIu64
		       " is no longer live is known from the archive only\n",
		       link.link_id);
	return forget_list_add_link(&f->list, link.link_id, now, err);
}

static int add_file(struct forgetting *f, const char *path, struct error *err)
{
	FILE *in = fopen(path, "re");
	int status;

	if (!in) {
		error_set_errno(err, "--file: %s", path);
		err->code = ERROR_NOTFOUND;
		return -1;
	}
	status = forget_list_read_lines(in, settling_now(&f->settling),
					&f->list, err);
	fclose(in);
	return status < 0 ? error_wrap(err, "--file: %s", path) : 0;
}

/* *ret_new: the entries may not be in the table yet. */
static int choose_entries(struct forgetting *f, bool *ret_new,
			  struct error *err)
{
	const char *visitor = app_option_value(f->app, "visitor");
	const char *code = app_option_value(f->app, "link");
	const char *number = app_option_value(f->app, "link-id");
	const char *file = app_option_value(f->app, "file");
	int64_t now = settling_now(&f->settling);
	int status = 0;

	*ret_new = true;
	if (file)
		status = add_file(f, file, err);
	if (status == 0 && visitor) {
		status = forget_list_add_visitor(&f->list, visitor, now, err);
		if (status < 0)
			error_wrap(err, "--visitor");
	}
	if (status == 0 && (code || number))
		status = add_link(f, code, number, now, err);
	if (status < 0 || f->list.count || file)
		return status;
	*ret_new = false;
	return forget_list_read(f->settling.ch, &f->list, err);
}

/* Returns as many entries as a statement takes, from `first` on. */
static struct forget_list some_from(const struct forget_list *list,
				    size_t first)
{
	size_t left = list->count - first;

	return (struct forget_list){list->items + first,
				    left < FORGET_AT_ONCE ? left
							  : FORGET_AT_ONCE};
}

/* --- one round over all tables ---------------------------------------------
 */

static void print_day(const struct forgetting *f, const struct forget_day *day)
{
	char name[CIVIL_NAME_MAX];

	printf("%s  %" PRIu64 " %s%s\n", civil_day_name(day->start, name),
	       day->rows,
	       day->dropped ? "slots of links, whose rows are dropped"
			    : "rows of clicks",
	       f->dry_run ? " would be changed" : "");
	fflush(stdout);
}

/* *ret: number of days found. */
static int forget_found(struct forgetting *f, const struct forget_list *list,
			bool dropped, size_t *ret, struct error *err)
{
	struct forget_days days;
	int status = forget_days_find(&f->settling, list, dropped, &days, err);

	for (size_t i = 0; status == 0 && i < days.count; i++) {
		const struct forget_day *day = &days.items[i];

		if (!f->dry_run)
			status = forget_day_run(&f->settling, list, day, err);
		if (status < 0)
			break;
		print_day(f, day);
		f->rows += day->dropped ? 0 : day->rows;
		f->slots += day->dropped ? day->rows : 0;
	}
	*ret = days.count;
	forget_days_release(&days);
	return status;
}

/*
 * Rows come first.  A day that is dropped before its rows are changed has the
 * old counts in its base, and is found among the dropped days afterwards; a day
 * that is dropped later was settled from the changed rows.  Copies of a base
 * may be made while it is changed, so the search is repeated.
 */
static int forget_of_days(struct forgetting *f, const struct forget_list *list,
			  struct error *err)
{
	size_t found;

	if (forget_found(f, list, false, &found, err) < 0)
		return -1;
	for (unsigned i = 0; i < LOOKS_MAX; i++) {
		if (forget_found(f, list, true, &found, err) < 0)
			return -1;
		if (!found || f->dry_run)
			break;
	}
	return 0;
}

static int forget_of_archive(struct forgetting *f,
			     const struct forget_list *list, struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"mutations_sync", "2"}, {NULL, NULL}};
	struct buf sql = {0};
	uint64_t rows = 0;
	int status;

	forget_sql_count_links(&sql, list);
	status = buf_cstr(&sql) ? clickhouse_numbers(f->settling.ch, sql.data,
						     NULL, &rows, 1, err)
				: error_set_nomem(err);
	buf_reset(&sql);
	if (status == 0 && rows && !f->dry_run) {
		forget_sql_links(&sql, list);
		status = settling_run(f->settling.ch, &sql, params, err);
	}
	f->link_rows += rows;
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "archive") : 0;
}

static int sweep_tables(struct forgetting *f, struct error *err)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < f->list.count;
	     i += FORGET_AT_ONCE) {
		const struct forget_list some = some_from(&f->list, i);

		status = forget_of_archive(f, &some, err);
		if (status == 0)
			status = forget_of_days(f, &some, err);
	}
	return status;
}

/* --- data stored meanwhile -------------------------------------------------
 *
 * Rows that a collector or an import made before it read the list.
 */

/* Waits; prints the reason before the first wait. */
static int keep_waiting(struct forgetting *f, bool *told, const char *why,
			int64_t ms, struct error *err)
{
	char text[RFC3339_TEXT_MAX];

	if (!*told)
		printf("waits until %s at %s\n", why, rfc3339_format(ms, text));
	*told = true;
	fflush(stdout);
	if (app_should_stop(f->app, POLL_MS))
		return error_set_retriable(
			err, ERROR_STOPPED,
			"stopped; run 'aggregator forget' again, to look "
			"through what came since");
	return 0;
}

/*
 * The watermark shows when clicks are stored.  Nothing shows it for links, but
 * all writers use the list after a minute, and this function takes at least
 * that long.
 */
static int wait_for_collectors(struct forgetting *f, struct error *err)
{
	int64_t until = f->listed_at + HEARD_AFTER;
	struct progress last;
	bool told = false;

	for (;;) {
		if (progress_read_last(f->settling.ch, &last, err) < 0)
			return -1;
		if (last.complete_until >= until)
			return 0;
		if (keep_waiting(f, &told,
				 "collectors have stored what Kafka had", until,
				 err) < 0)
			return -1;
	}
}

/*
 * An import announces a batch, then checks whether the list has grown, and then
 * stores the batch (collector/tools/import/inserter.c).  So batches that were
 * announced before the list grew are waited for, unless that is longer ago than
 * a statement may take: then their imports have ended.
 */
static int count_batches(struct forgetting *f, uint64_t *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/unreported_batches.sql.inc"
		;
	char listed[24], longest[24];
	const struct clickhouse_param params[] = {{"param_listed", listed},
						  {"param_longest", longest},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};

	snprintf(listed, sizeof(listed), "%" PRId64,
		 f->listed_at + CLOCK_SECOND);
	snprintf(longest, sizeof(longest), "%" PRId64,
		 f->settling.settings->settle_timeout);
	if (clickhouse_numbers(f->settling.ch, sql, params, ret, 1, err) < 0)
		return error_wrap(err, "import_journal");
	return 0;
}

static int wait_for_imports(struct forgetting *f, struct error *err)
{
	bool told = false;
	uint64_t batches;

	for (;;) {
		if (count_batches(f, &batches, err) < 0)
			return -1;
		if (!batches)
			return 0;
		if (keep_waiting(f, &told,
				 "imports have stored what they had announced",
				 f->listed_at, err) < 0)
			return -1;
	}
}

/* --- earlier settled data --------------------------------------------------
 *
 * Attempts from before have what their rows had, until they are deleted.
 */

static bool is_any_left(const struct forget_left *left)
{
	return left->waiting || left->hours || left->copies;
}

static int wait_for_settling(struct forgetting *f, struct error *err)
{
	int64_t until = settling_now(&f->settling) +
			f->settling.settings->keep_superseded;
	struct forget_left left;
	bool told = false;

	for (;;) {
		if (forget_left_count(f->settling.ch, &left, err) < 0)
			return -1;
		if (!is_any_left(&left))
			return 0;
		if (keep_waiting(
			    f, &told,
			    "what was settled before is deleted, the earliest",
			    until, err) < 0)
			return -1;
	}
}

/* --- the command ------------------------------------------------------------
 */

static int print_entries(struct forgetting *f, struct error *err)
{
	if (forget_list_read(f->settling.ch, &f->list, err) < 0)
		return -1;
	return forget_list_print(&f->list, stdout, err);
}

static int store_entries(struct forgetting *f, struct error *err)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < f->list.count;
	     i += FORGET_AT_ONCE) {
		const struct forget_list some = some_from(&f->list, i);

		status = forget_list_store(f->settling.ch, &some,
					   f->settling.settler, err);
	}
	return status;
}

static void print_sum(const struct forgetting *f)
{
	printf("%zu visitors and links: %" PRIu64 " rows of clicks, %" PRIu64
	       " slots of dropped days, %" PRIu64 " rows of links %s\n",
	       f->list.count, f->rows, f->slots, f->link_rows,
	       f->dry_run ? "would be changed" : "changed");
}

/* Reports what is left, so that the run is not taken for complete. */
static int print_left(const struct forgetting *f, struct error *err)
{
	struct forget_left left;

	if (f->dry_run || !f->list.count)
		return 0;
	if (forget_left_count(f->settling.ch, &left, err) < 0)
		return -1;
	if (is_any_left(&left))
		printf("not done: %" PRIu64 " hours are settled again by the "
		       "aggregator that settles, and of before it deletes "
		       "after keep_superseded %" PRIu64 " attempts of hours "
		       "and %" PRIu64 " copies of days\n",
		       left.waiting, left.hours, left.copies);
	else
		printf("done: nothing of them is stored that was settled "
		       "before\n");
	return 0;
}

static int resume_stopped_runs(struct forgetting *f, struct error *err)
{
	struct forget_resumed before;

	if (forget_days_resume(&f->settling, f->app, &before, err) < 0)
		return -1;
	if (before.ended)
		printf("%" PRIu64 " days of a run that was stopped are settled "
		       "again\n",
		       before.ended);
	if (before.going)
		printf("%" PRIu64 " days are being changed by another run, "
		       "which is left to end that\n",
		       before.going);
	return 0;
}

static int run_forget_command(struct forgetting *f, struct error *err)
{
	bool is_new, waits;

	if (app_option_value(f->app, "list"))
		return print_entries(f, err);
	if (choose_entries(f, &is_new, err) < 0)
		return -1;
	forget_list_unite(&f->list);
	if (forget_list_digest(f->settling.ch, &f->list, err) < 0)
		return -1;
	waits = !f->dry_run && f->list.count &&
		!app_option_value(f->app, "no-wait");
	if (!f->dry_run && is_new && f->list.count && store_entries(f, err) < 0)
		return -1;
	f->listed_at = settling_now(&f->settling);
	if (!f->dry_run && resume_stopped_runs(f, err) < 0)
		return -1;
	if (sweep_tables(f, err) < 0)
		return -1;
	if (waits &&
	    (wait_for_collectors(f, err) < 0 || wait_for_imports(f, err) < 0 ||
	     sweep_tables(f, err) < 0 || wait_for_settling(f, err) < 0))
		return -1;
	print_sum(f);
	return print_left(f, err);
}

/* --list excludes the other options: combined with one of them, its output
 * could be taken for the entries that are forgotten now. */
static int check_options(struct app *app, struct error *err)
{
	static const char *const others[] = {"visitor", "link", "link-id",
					     "file"};

	if (app_option_value(app, "link") && app_option_value(app, "link-id"))
		return error_set(err, ERROR_USAGE,
				 "--link or --link-id, not both");
	for (size_t i = 0; app_option_value(app, "list") &&
			   i < sizeof(others) / sizeof(*others);
	     i++)
		if (app_option_value(app, others[i]))
			return error_set(err, ERROR_USAGE,
					 "--list and --%s, not both: --list "
					 "forgets nothing",
					 others[i]);
	return 0;
}

int aggregator_forget(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct forgetting f = {
		.app = app,
		.settling = {.settings = &config->aggregator},
		.dry_run = app_option_value(app, "dry-run") != NULL,
	};
	struct settling_session session;
	int status;

	if (check_options(app, err) < 0)
		return -1;
	status = settling_open(&f.settling, &session, app, &config->clickhouse,
			       "forget", err);
	f.links = (struct link_sources){app, config, f.settling.ch};
	if (status == 0)
		status = run_forget_command(&f, err);
	settling_close(&f.settling);
	forget_list_release(&f.list);
	fflush(stdout);
	return status < 0 ? error_wrap(err, "forget") : 0;
}
