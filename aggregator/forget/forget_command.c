/*
 * forget_command.c - `aggregator forget`: visitors and links are taken out of
 * what is stored.
 *
 * Each event keeps its row, so that what was counted once can still be proven:
 * the row loses what tells who came.  First the visitor is listed in table
 * `forgotten`; from then on who takes a partition over, and within a quarter of
 * a minute every collector, makes such rows by itself.  Then rows that are
 * stored are changed; and once more when all is stored that collectors may have
 * read without knowing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/archive.h"
#include "aggregator/commands.h"
#include "aggregator/forget/forget_days.h"
#include "aggregator/forget/forget_sql.h"
#include "aggregator/settle/settling.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Collectors read the list every 15 s (collector/ingest/housekeeping.c). */
#define HEARD_AFTER CLOCK_MINUTE
#define POLL_MS	    500

struct forgetting {
	struct app *app;
	struct settling settling;
	bool dry_run;
	struct forget_list list; /* what is forgotten now */
	int64_t until;		 /* of its latest entry */
	uint64_t rows, slots;	 /* of clicks; of links on dropped days */
	uint64_t link_rows;	 /* of the archive */
};

/* --- what is to be forgotten ------------------------------------------------
 */

static bool is_live(const struct archived_link *link, int64_t now)
{
	return !strcmp(link->state, "live") &&
	       (!link->expires_at || link->expires_at > now);
}

/* A live link goes on being clicked, under a code that nobody may know any
 * more. */
static int add_link(struct forgetting *f, const char *code, const char *number,
		    int64_t now, struct error *err)
{
	struct archived_link link = {0};
	uint64_t id = 0;
	int status;

	if (number && !forget_link_id(number, &id))
		return error_set(err, ERROR_USAGE,
				 "--link-id: '%s' is no number of a link",
				 number);
	status = number ? archive_find_link(f->settling.ch, id, &link, err)
			: archive_find_code(f->settling.ch, code, &link, err);
	if (status == 0 && is_live(&link, now))
		status = error_set(err, ERROR_UNSAFE,
				   "link %" PRIu64 " (code %s) is live: delete "
				   "it first, by the allocator",
				   link.link_id, link.code);
	if (status == 0)
		status = forget_list_add_link(&f->list, link.link_id, now, err);
	archived_link_release(&link);
	return status;
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
	status = forget_list_read_lines(in, &f->list, err);
	fclose(in);
	return status < 0 ? error_wrap(err, "--file: %s", path) : 0;
}

/* *ret_new: it is not in the table. */
static int choose(struct forgetting *f, bool *ret_new, struct error *err)
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

/* As many of the list as a statement takes, from `first` on. */
static struct forget_list some_from(const struct forget_list *list,
				    size_t first)
{
	size_t left = list->count - first;

	return (struct forget_list){list->items + first,
				    left < FORGET_AT_ONCE ? left
							  : FORGET_AT_ONCE};
}

/* --- once through everything ------------------------------------------------
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

static int forget_of_days(struct forgetting *f, const struct forget_list *list,
			  struct error *err)
{
	struct forget_days days;
	int status = forget_days_find(&f->settling, list, &days, err);

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
	forget_days_release(&days);
	return status;
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

static int sweep(struct forgetting *f, struct error *err)
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

/* --- collectors that are behind ---------------------------------------------
 */

static int wait_for_collectors(struct forgetting *f, struct error *err)
{
	int64_t until = f->until + HEARD_AFTER;
	char text[RFC3339_TEXT_MAX];
	struct progress last;
	bool told = false;

	for (;;) {
		if (progress_read_last(f->settling.ch, &last, err) < 0)
			return -1;
		if (last.complete_until >= until)
			return 0;
		if (!told)
			printf("waits until collectors have stored what Kafka "
			       "had at %s\n",
			       rfc3339_format(until, text));
		told = true;
		fflush(stdout);
		if (app_should_stop(f->app, POLL_MS))
			return error_set_retriable(
				err, ERROR_STOPPED,
				"stopped; run 'aggregator forget' again, to "
				"look through what came since");
	}
}

/* --- the command ------------------------------------------------------------
 */

static int list(struct forgetting *f, struct error *err)
{
	if (forget_list_read(f->settling.ch, &f->list, err) < 0)
		return -1;
	return forget_list_print(&f->list, stdout, err);
}

static int store(struct forgetting *f, struct error *err)
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
	if (f->rows && !f->dry_run)
		printf("their hours are settled again by the aggregator that "
		       "settles\n");
}

static int run(struct forgetting *f, struct error *err)
{
	bool is_new, waits;
	uint64_t before;

	if (app_option_value(f->app, "list"))
		return list(f, err);
	if (choose(f, &is_new, err) < 0)
		return -1;
	for (size_t i = 0; i < f->list.count; i++)
		if (f->list.items[i].until > f->until)
			f->until = f->list.items[i].until;
	waits = !f->dry_run && f->list.count &&
		!app_option_value(f->app, "no-wait");
	if (!f->dry_run) {
		if ((is_new && f->list.count && store(f, err) < 0) ||
		    forget_days_resume(&f->settling, f->app, &before, err) < 0)
			return -1;
		if (before)
			printf("%" PRIu64 " days of a run that was stopped are "
			       "settled again\n",
			       before);
	}
	if (sweep(f, err) < 0)
		return -1;
	if (waits && (wait_for_collectors(f, err) < 0 || sweep(f, err) < 0))
		return -1;
	print_sum(f);
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

	if (app_option_value(app, "link") && app_option_value(app, "link-id"))
		return error_set(err, ERROR_USAGE,
				 "--link or --link-id, not both");
	status = settling_open(&f.settling, &session, app, &config->clickhouse,
			       "forget", err);
	if (status == 0)
		status = run(&f, err);
	settling_close(&f.settling);
	forget_list_release(&f.list);
	fflush(stdout);
	return status < 0 ? error_wrap(err, "forget") : 0;
}
