#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/links/archive.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

/*
 * Checks whether visitors and links of table `forgotten` are in `clicks`, or in
 * the texts of the archive, nevertheless, for example from a backup.
 *
 * The rows of a link lie together.  The rows of a visitor can lie anywhere, so
 * only a limited number of rows is searched for them: those of the days that
 * were written last, as the days of a backup are.
 */

struct forgotten_rows {
	uint64_t visitors, links; /* in table `forgotten` */
	uint64_t clicks, archive; /* rows that still have them */
	/* Days in clicks; those that are searched for visitors. */
	uint64_t days, days_looked;
};

static int count_listed(struct clickhouse *ch, struct forgotten_rows *ret,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forgotten_listed.sql.inc"
		;
	uint64_t n[2] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 2, err) < 0)
		return -1;
	ret->visitors = n[0];
	ret->links = n[1];
	return 0;
}

static int count_links(struct clickhouse *ch, struct forgotten_rows *ret,
		       struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forgotten_links.sql.inc"
		;
	uint64_t n[2] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 2, err) < 0)
		return -1;
	ret->clicks += n[0];
	ret->archive = n[1];
	return 0;
}

/* --- visitors --------------------------------------------------------------
 */

struct chosen_days {
	struct buf list; /* "['20261124','20261123']" */
	struct forgotten_rows *rows;
};

/* A row is: number of days, number of chosen ones, their list. */
static int take_days(void *arg, char **f, struct error *err)
{
	struct chosen_days *d = arg;

	d->rows->days = tsv_u64(f[0]);
	d->rows->days_looked = tsv_u64(f[1]);
	buf_puts(&d->list, f[2]);
	return buf_cstr(&d->list) ? 0 : error_set_nomem(err);
}

static int choose_days(struct clickhouse *ch, int64_t rows_max,
		       struct chosen_days *d, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forgotten_days.sql.inc"
		;
	char max[24];
	const struct clickhouse_param params[] = {{"param_rows_max", max},
						  {NULL, NULL}};

	snprintf(max, sizeof(max), "%" PRId64, rows_max);
	return clickhouse_rows(ch, sql, params, "nns", take_days, d, err);
}

/* A visit is forgotten by the earlier of its two times, as in `aggregator
 * forget`. */
static int count_of_days(struct clickhouse *ch, struct chosen_days *d,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forgotten_visitors.sql.inc"
		;
	const struct clickhouse_param params[] = {
		{"param_days", buf_cstr(&d->list)}, {NULL, NULL}};
	uint64_t n = 0;

	if (clickhouse_numbers(ch, sql, params, &n, 1, err) < 0)
		return -1;
	d->rows->clicks += n;
	return 0;
}

static int count_visitors(struct clickhouse *ch, int64_t rows_max,
			  struct forgotten_rows *ret, struct error *err)
{
	struct chosen_days days = {.rows = ret};
	int status = choose_days(ch, rows_max, &days, err);

	if (status == 0 && ret->days_looked)
		status = count_of_days(ch, &days, err);
	buf_free(&days.list);
	return status;
}

/* --- the check ----------------------------------------------------------- */

/* Searches at most `rows_max` rows for visitors. */
static int find_rows(struct clickhouse *ch, int64_t rows_max,
		     struct forgotten_rows *ret, struct error *err)
{
	*ret = (struct forgotten_rows){0};
	if (count_listed(ch, ret, err) < 0 ||
	    (ret->links && count_links(ch, ret, err) < 0) ||
	    (ret->visitors && count_visitors(ch, rows_max, ret, err) < 0))
		return error_wrap(err, "forgotten");
	return 0;
}

int look_at_forgotten_rows(struct doctor *d, struct error *err)
{
	struct forgotten_rows f;
	char days[128] = "";

	if (find_rows(d->ch, d->settings->raw_rows_max, &f, err) < 0)
		return -1;
	if (f.days_looked < f.days)
		snprintf(days, sizeof(days),
			 "; of visitors, in the %" PRIu64 " of %" PRIu64
			 " days written last (raw_rows_max)",
			 f.days_looked, f.days);
	if (f.clicks || f.archive)
		doctor_say(d, DOCTOR_WRONG, "forgotten",
			   "%" PRIu64 " row%s of clicks and %" PRIu64
			   " of links have what is forgotten again: run "
			   "'aggregator forget'%s",
			   f.clicks, doctor_plural(f.clicks), f.archive, days);
	else if (f.visitors || f.links)
		doctor_say(d, DOCTOR_FINE, "forgotten",
			   "%" PRIu64 " visitor%s and %" PRIu64
			   " link%s, in no row of clicks or links%s",
			   f.visitors, doctor_plural(f.visitors), f.links,
			   doctor_plural(f.links), days);
	else
		doctor_say(d, DOCTOR_FINE, "forgotten", "nobody is");
	return 0;
}
