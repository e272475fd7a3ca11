#include "aggregator/settle/repeats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/settle/changed_hours.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

struct repeats_range {
	const struct repeats_scope *scope;
	char from[24], to[24], earliest[24];
	struct clickhouse_param params[4];
};

static void range_fill(struct repeats_range *range, const struct settling *s,
		       const struct repeats_scope *scope)
{
	int64_t earliest = repeats_earliest(&s->settings->clicks, scope->from);

	range->scope = scope;
	snprintf(range->from, sizeof(range->from), "%" PRId64, scope->from);
	snprintf(range->to, sizeof(range->to), "%" PRId64, scope->to);
	snprintf(range->earliest, sizeof(range->earliest), "%" PRId64,
		 earliest);
	range->params[0] = (struct clickhouse_param){"param_from", range->from};
	range->params[1] = (struct clickhouse_param){"param_to", range->to};
	range->params[2] =
		(struct clickhouse_param){"param_earliest", range->earliest};
	range->params[3] = (struct clickhouse_param){NULL, NULL};
}

int64_t repeats_earliest(const struct clicks_config *clicks, int64_t from)
{
	int64_t reach = clicks->late_window / CLOCK_SECOND + CIVIL_DAY;

	return from > reach ? from - reach : 0;
}

/* --- marking rows -----------------------------------------------------------
 */

/* Rows of one day that have to be marked 'repeated'. */
struct repeats_batch {
	const struct repeats_scope *scope;
	char partition[24]; /* a partition of clicks: "20261126" */
	struct buf links;   /* "1,2" */
	struct buf places;  /* "(1,'clicks',0,17),..." */
	struct buf hours;   /* that are not due: "[1792800000,1792800000]" */
	uint64_t count;
};

static void batch_release(struct repeats_batch *b)
{
	buf_free(&b->links);
	buf_free(&b->places);
	buf_free(&b->hours);
}

/* Whether the name is allowed by Kafka.  It becomes part of a statement. */
static bool is_topic(const char *name)
{
	return *name &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
		       '\0';
}

static bool is_due(const struct repeats_scope *scope, int64_t hour)
{
	for (size_t i = 0; i < scope->due_count; i++)
		if (scope->due[i] == hour)
			return true;
	return false;
}

/* A row is: partition of clicks, hour, link_id, epoch, topic, partition,
 * offset. */
static int take_row(void *arg, char **f, struct error *err)
{
	struct repeats_batch *b = arg;
	const char *comma = b->count ? "," : "";

	if (!is_topic(f[4]))
		return error_set(err, ERROR_PROTOCOL,
				 "clicks: a row that may have been sent twice "
				 "is of topic %s, which is none of Kafka",
				 f[4]);
	if (b->count && tsv_u64(f[0]) != strtoull(b->partition, NULL, 10))
		return 0;
	snprintf(b->partition, sizeof(b->partition), "%" PRIu64, tsv_u64(f[0]));
	if (!is_due(b->scope, (int64_t)tsv_u64(f[1])))
		buf_printf(&b->hours, "%s%" PRIu64, b->hours.len ? "," : "[",
			   tsv_u64(f[1]));
	buf_printf(&b->links, "%s%" PRIu64, comma, tsv_u64(f[2]));
	buf_printf(&b->places, "%s(%" PRIu64 ",'%s',%" PRIu64 ",%" PRIu64 ")",
		   comma, tsv_u64(f[3]), f[4], tsv_u64(f[5]), tsv_u64(f[6]));
	b->count++;
	return 0;
}

void repeats_put_search(struct buf *sql, const char *text, const char *scope,
			const char *earliest)
{
	const struct statement_blank blanks[] = {
		{"scope", scope}, {"earliest", earliest}, {NULL, NULL}};

	statement_put(sql, text, blanks);
}

static int find_unmarked_repeats(const struct settling *s,
				 const struct repeats_range *range,
				 struct repeats_batch *ret, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/repeats_unmarked.sql.inc"
		;
	/* Marked rows of the range, and marked rows behind it whose time was
	 * changed: another row of their event may be in the range. */
	static const char scope[] =
#include "aggregator/sql/parts/is_in_scope_of_repeats.sql.inc"
		;
	struct buf sql = {0};
	int status;

	repeats_put_search(&sql, text, scope, "{earliest:UInt32}");
	status = buf_cstr(&sql)
			 ? clickhouse_rows(s->ch, sql.data, range->params,
					   "nnnnsnn", take_row, ret, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int count_marked(const struct settling *s,
			const struct repeats_range *range, uint64_t *ret,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/repeats_marked.sql.inc"
		;

	return clickhouse_numbers(s->ch, sql, range->params, ret, 1, err);
}

static int mark_batch(const struct settling *s, struct repeats_batch *b,
		      struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"mutations_sync", "2"}, {NULL, NULL}};
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "ALTER TABLE clicks UPDATE outcome = 'repeated' "
		   "IN PARTITION ID '%s' WHERE outcome != 'repeated' AND "
		   "link_id IN (%s) AND (epoch, toString(topic), partition, "
		   "offset) IN (%s)",
		   b->partition, buf_cstr(&b->links), buf_cstr(&b->places));
	status = settling_run(s->ch, &sql, params, err);
	buf_free(&sql);
	return status;
}

static int report_hours(const struct settling *s, struct repeats_batch *b,
			struct error *err)
{
	if (!b->hours.len && !b->hours.failed)
		return 0;
	buf_putc(&b->hours, ']');
	return changed_hours_report(s, &b->hours, false, err);
}

/* The hours are reported first.  If marking fails, or the server does it after
 * the client has given up, the hours are only settled once more. */
static int mark_in_time(const struct settling *s, struct repeats_batch *b,
			struct error *err)
{
	if (b->links.failed || b->places.failed)
		return error_set_nomem(err);
	if (s->is_stopping(s->arg))
		return error_set_retriable(err, ERROR_STOPPED, "stopping");
	if (s->check_lease(s->arg, err) < 0 || report_hours(s, b, err) < 0)
		return -1;
	return mark_batch(s, b, err);
}

/* *ret: number of rows of one day that were marked; 0: none is left. */
static int mark_next(const struct settling *s,
		     const struct repeats_range *range, uint64_t *ret,
		     struct error *err)
{
	struct repeats_batch b = {.scope = range->scope};
	int status = find_unmarked_repeats(s, range, &b, err);

	if (status == 0 && b.count)
		status = mark_in_time(s, &b, err);
	*ret = b.count;
	batch_release(&b);
	return status;
}

/* Marks all rows, a thousand at a time. */
static int mark_all(const struct settling *s, const struct repeats_range *range,
		    uint64_t *ret, struct error *err)
{
	uint64_t rows = 0;

	*ret = 0;
	if (count_marked(s, range, &rows, err) < 0)
		return -1;
	while (rows) {
		if (mark_next(s, range, &rows, err) < 0)
			return -1;
		*ret += rows;
	}
	return 0;
}

/* --- hours with other repeats ----------------------------------------------
 */

struct hours {
	struct buf list; /* "[1792800000,1792803600]" */
	uint64_t count;
};

static int take_hour(void *arg, char **f, struct error *err)
{
	struct hours *h = arg;

	(void)err;
	buf_printf(&h->list, "%s%" PRIu64, h->count++ ? "," : "[",
		   tsv_u64(f[0]));
	return 0;
}

static int find_hours(const struct settling *s,
		      const struct repeats_range *range, struct hours *ret,
		      struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/repeats_hours.sql.inc"
		;

	return clickhouse_rows(s->ch, sql, range->params, "n", take_hour, ret,
			       err);
}

static int settle_again(const struct settling *s,
			const struct repeats_range *range, uint64_t *ret,
			struct error *err)
{
	struct hours h = {0};
	int status = find_hours(s, range, &h, err);

	buf_putc(&h.list, ']');
	if (status == 0 && h.count)
		status = changed_hours_report(s, &h.list, false, err);
	*ret = h.count;
	buf_free(&h.list);
	return status;
}

/* --- interface ----------------------------------------------------------- */

int repeats_mark(const struct settling *s, const struct repeats_scope *scope,
		 uint64_t *ret, struct error *err)
{
	struct repeats_range range;

	range_fill(&range, s, scope);
	if (mark_all(s, &range, ret, err) < 0)
		return error_wrap(err, "events that were sent twice");
	if (*ret && s->on_repeats) {
		const struct repeats_removed removed = {.rows = *ret};

		s->on_repeats(s->arg, &removed);
	}
	return 0;
}

int repeats_remove(const struct settling *s, int64_t from, int64_t to,
		   struct repeats_removed *ret, struct error *err)
{
	const struct repeats_scope scope = {.from = from, .to = to};
	struct repeats_range range;

	*ret = (struct repeats_removed){0};
	range_fill(&range, s, &scope);
	return mark_all(s, &range, &ret->rows, err) < 0 ||
			       settle_again(s, &range, &ret->hours, err) < 0
		       ? error_wrap(err, "events that were sent twice")
		       : 0;
}
