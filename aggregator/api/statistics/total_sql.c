#include "aggregator/api/statistics/total_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/statement.h"

static const char merged_visitors_and_ips[] =
#include "aggregator/sql/parts/merged_visitors_and_ips.sql.inc"
	;
static const char merged_visitors[] =
#include "aggregator/sql/parts/merged_visitors.sql.inc"
	;

/* States of visitors, and what is selected from them. */
struct span_states {
	const char *columns[BOTS_ONLY + 1]; /* by enum bots_mode */
	const char *merged;
};

static const struct span_states with_addresses = {
	.columns =
		{
			[BOTS_EXCLUDE] = ", people AS vi, people_ips AS ad",
			[BOTS_INCLUDE] = ", people + others AS vi, "
					 "people_ips + others_ips AS ad",
			[BOTS_ONLY] = ", others AS vi, others_ips AS ad",
		},
	.merged = merged_visitors_and_ips,
};
static const struct span_states without_addresses = {
	.columns =
		{
			[BOTS_EXCLUDE] = ", people AS vi",
			[BOTS_INCLUDE] = ", people + others AS vi",
			[BOTS_ONLY] = ", others AS vi",
		},
	.merged = merged_visitors,
};

/* NULL: there are none. */
static const char *columns_of(const struct span_states *states,
			      const struct question *q)
{
	return states ? states->columns[q->bots] : NULL;
}

static const char *merged_of(const struct span_states *states)
{
	return states ? states->merged : clicks_sql_no_visitors;
}

/* --- sources ----------------------------------------------------------------
 *
 * A source has a row for each slot or span, and value: t, v, e, c, b, p, x;
 * states vi and ad.  That of the total can have several of a slot.
 */

/* The newest published attempts of the requested hours, which are listed or
 * looked up. */
static const char listed_hours[] =
#include "aggregator/sql/parts/listed_hours.sql.inc"
	;
static const char looked_up_hours[] =
#include "aggregator/sql/parts/looked_up_hours.sql.inc"
	;
static const char spans_of_hours[] =
#include "aggregator/sql/parts/spans_of_hours.sql.inc"
	;
static const char spans_of_days[] =
#include "aggregator/sql/parts/spans_of_days.sql.inc"
	;
/* The total of rows, one row per slot. */
static const char spans_of_rows[] =
#include "aggregator/sql/parts/spans_of_rows.sql.inc"
	;
static const char states_of_rows[] =
#include "aggregator/sql/parts/states_of_rows.sql.inc"
	;

/* The parts of a row that are read, in any of the tables. */
struct span_reading {
	const char *dimension;
	uint32_t span;			  /* span in stats_spans, seconds */
	const struct span_states *states; /* NULL: visitors are not known */
	bool rest;			  /* reads the rest instead of values */
};

/* A condition on rows with `value` and `rest`.  Rows of the rest have an empty
 * value; the condition on it uses the tables' order. */
static const char *which_of(const struct span_reading *what)
{
	return what->rest ? "rest AND value = ''" : "NOT rest";
}

/* Appends " UNION ALL", except before the first SELECT. */
static void put_union(struct buf *sql, size_t *count)
{
	if ((*count)++)
		buf_puts(sql, " UNION ALL ");
}

static void put_settled(struct buf *sql, const char *text,
			const struct question *q,
			const struct span_reading *what, const char *hours,
			const char *days)
{
	char span[16];

	snprintf(span, sizeof(span), "%" PRIu32, what->span);
	statement_put(sql, text,
		      (const struct statement_blank[]){
			      {"states", columns_of(what->states, q)},
			      {"hours", hours},
			      {"days", days},
			      {"dimension", what->dimension},
			      {"span", span},
			      {"which", which_of(what)},
			      {NULL, NULL},
		      });
}

/* Hours have the visitors of the total as those of a dimension's values. */
static struct span_reading as_hours_have(const struct span_reading *what)
{
	struct span_reading ret = *what;

	if (what->states && !strcmp(what->dimension, dimensions[0].name))
		ret.dimension = dimension_of_whole()->name;
	return ret;
}

/* Writes a condition on the hours that no rollup has.  Returns false if there
 * are none. */
static bool put_hours_beside(struct buf *sql, const struct question *q,
			     const struct total_sources *from)
{
	struct buf open = {0};
	bool any = clicks_sql_put_open_hours(&open, q, from->rolled);

	if (any)
		statement_put(
			sql, from->listed ? listed_hours : looked_up_hours,
			(const struct statement_blank[]){
				{"open_hours", statement_piece(sql, &open)},
				{NULL, NULL},
			});
	sql->failed |= open.failed;
	buf_free(&open);
	return any;
}

/* Selects hours that no rollup has; with `valued`, only those of its days. */
static void put_hours(struct buf *sql, const struct question *q,
		      const struct total_sources *from,
		      const struct span_reading *what, size_t *count)
{
	static const char of_days[] = "AND has({value_days:Array(UInt32)}, "
				      "toUInt32(toStartOfDay(slot)))";
	const struct span_reading of_hours = as_hours_have(what);
	struct buf hours = {0};

	if ((!from->valued || from->valued->count > from->rolled->count) &&
	    put_hours_beside(&hours, q, from)) {
		put_union(sql, count);
		put_settled(sql, spans_of_hours, q, &of_hours,
			    statement_piece(sql, &hours),
			    from->valued ? of_days : NULL);
	}
	sql->failed |= hours.failed;
	buf_free(&hours);
}

static void put_states_of_rows(struct buf *sql, const struct question *q)
{
	statement_put(sql, states_of_rows,
		      (const struct statement_blank[]){
			      {"condition", clicks_sql_condition(q->bots)},
			      {NULL, NULL},
		      });
}

static void put_rows(struct buf *sql, const struct question *q,
		     const struct copied_days *valued,
		     const struct span_reading *what, size_t *count)
{
	struct buf open = {0}, once = {0}, of_rows = {0};

	if (clicks_sql_put_open(&open, q, valued)) {
		put_union(sql, count);
		clicks_sql_put_once(&once, q, false);
		if (what->states)
			put_states_of_rows(&of_rows, q);
		statement_put(sql, spans_of_rows,
			      (const struct statement_blank[]){
				      {"states_of_rows",
				       statement_piece(sql, &of_rows)},
				      {"open", statement_piece(sql, &open)},
				      {"once", statement_piece(sql, &once)},
				      {NULL, NULL},
			      });
	}
	sql->failed |= open.failed;
	buf_free(&open);
	buf_free(&once);
	buf_free(&of_rows);
}

static void put_source(struct buf *sql, const struct question *q,
		       const struct total_sources *from,
		       const struct span_reading *what)
{
	size_t count = 0;

	put_hours(sql, q, from, what, &count);
	if (from->rolled->count) {
		put_union(sql, &count);
		put_settled(sql, spans_of_days, q, what, NULL, NULL);
	}
	if (from->valued)
		put_rows(sql, q, from->valued, what, &count);
}

/* --- values of days ---------------------------------------------------------
 */

/* The values of several dimensions. */
static const char values_of_hours[] =
#include "aggregator/sql/parts/values_of_hours.sql.inc"
	;
static const char values_of_spans[] =
#include "aggregator/sql/parts/values_of_spans.sql.inc"
	;

static const char values_of_days[] =
#include "aggregator/sql/parts/values_of_days.sql.inc"
	;
static const char open_values[] =
#include "aggregator/sql/parts/open_values_of_all.sql.inc"
	;

/* --- groups -----------------------------------------------------------------
 */

static const char answered_values[] =
#include "aggregator/sql/parts/answered_values.sql.inc"
	;

/* Selects the values in the answer, found by counts alone. */
static void put_answered(struct buf *sql, const struct question *q,
			 const struct total_sources *from,
			 const struct dimension *d)
{
	const struct span_reading counts = {.dimension = d->name,
					    .span = CIVIL_DAY};
	struct buf spans = {0};

	put_source(&spans, q, from, &counts);
	statement_put(sql, answered_values,
		      (const struct statement_blank[]){
			      {"spans", statement_piece(sql, &spans)},
			      {"left", clicks_sql_left(q->bots)},
			      {NULL, NULL},
		      });
	buf_free(&spans);
}

/* Uniting the states of hundreds of values would be most of the cost: only
 * those in the answer are read. */
static void put_few_of_hundreds(struct buf *sql, const struct question *q,
				const struct total_sources *from,
				unsigned kinds)
{
	size_t count;
	const struct dimension *const *singles = question_singles(q, &count);

	for (size_t i = 0; i < count; i++) {
		if (!singles[i] || !(kinds >> singles[i]->kind & 1) ||
		    !dimension_has_hundreds(singles[i]))
			continue;
		buf_printf(sql, " AND (dimension != '%s' OR value IN (",
			   singles[i]->name);
		put_answered(sql, q, from, singles[i]);
		buf_puts(sql, "))");
	}
}

static void put_settled_values(struct buf *sql, const char *text,
			       const struct question *q,
			       struct clicks_sql_singles *singles,
			       const struct span_states *states,
			       const char *hours, struct buf *few)
{
	statement_put(
		sql, text,
		(const struct statement_blank[]){
			{"dimensions", statement_piece(sql, &singles->names)},
			{"index", statement_piece(sql, &singles->index)},
			{"states", columns_of(states, q)},
			{"hours", hours},
			{"few", statement_piece(sql, few)},
			{NULL, NULL},
		});
}

/* Appends the groups by single dimensions of these kinds, all from one reading
 * of each table. */
static void put_groups(struct buf *sql, const struct question *q,
		       const struct total_sources *from, unsigned kinds,
		       const struct span_states *states)
{
	struct buf few = {0}, hours = {0}, values = {0};
	struct clicks_sql_singles singles;
	size_t count = 0;

	clicks_sql_singles_fill(&singles, q, kinds);
	if (singles.count) {
		if (states)
			put_few_of_hundreds(&few, q, from, kinds);
		if (put_hours_beside(&hours, q, from)) {
			put_union(&values, &count);
			put_settled_values(&values, values_of_hours, q,
					   &singles, states, buf_cstr(&hours),
					   &few);
		}
		if (from->rolled->count) {
			put_union(&values, &count);
			put_settled_values(&values, values_of_spans, q,
					   &singles, states, NULL, &few);
		}
		clicks_sql_put_values(sql, q, &values, merged_of(states));
	}
	clicks_sql_singles_release(&singles);
	buf_free(&few);
	buf_free(&hours);
	buf_free(&values);
}

/* Appends the groups by each single dimension, with what was left out. */
static void put_all_groups(struct buf *sql, const struct question *q,
			   const struct total_sources *from)
{
	if (from->valued) {
		clicks_sql_put_copied_values(sql, q, values_of_days,
					     open_values, from->valued, false);
		return;
	}
	put_groups(sql, q, from, 1U << DIMENSION_WHOLE, &with_addresses);
	put_groups(sql, q, from, 1U << DIMENSION_VISITORS, &without_addresses);
	put_groups(sql, q, from,
		   ~(1U << DIMENSION_WHOLE | 1U << DIMENSION_VISITORS), NULL);
}

/* --- answers ----------------------------------------------------------------
 */

/* Selects buckets and total from the same rows, which are read once. */
static const char clicks_of_all[] =
#include "aggregator/sql/clicks_of_all.sql.inc"
	;
/* Selects the total from longer spans, so that fewer states are united. */
static const char clicks_of_all_apart[] =
#include "aggregator/sql/clicks_of_all_apart.sql.inc"
	;

/* Returns the longest span that lies in one bucket wherever it begins; 0: slots
 * are needed. */
static uint32_t span_of(const struct buckets *buckets)
{
	bool hours = true, days = true;

	for (size_t i = 0; i < buckets->count; i++) {
		hours = hours && buckets->starts[i] % CLICKS_SQL_HOUR == 0;
		days = days && buckets->starts[i] % CIVIL_DAY == 0;
	}
	return days ? CIVIL_DAY : hours ? CLICKS_SQL_HOUR : 0;
}

/* Returns whether the total is selected from other spans than the buckets. */
static bool needs_apart(const struct buckets *buckets,
			const struct total_sources *from)
{
	return from->rolled->count && buckets->count > 1 &&
	       span_of(buckets) != CIVIL_DAY;
}

static void put_source_of_buckets(struct buf *sql, const struct question *q,
				  const struct buckets *buckets,
				  const struct total_sources *from,
				  const struct span_reading *total)
{
	static const struct copied_days none;
	const struct total_sources slots = {&none, from->valued, false};
	struct span_reading parts = *total;

	parts.span = span_of(buckets);
	put_source(sql, q, parts.span ? from : &slots, &parts);
}

/* These fill the blanks of both statements. */
struct total_texts {
	struct clicks_sql_interval by;
	struct buf total, of_buckets, groups;
};

static void total_texts_fill(struct total_texts *ret, const struct question *q,
			     const struct buckets *buckets,
			     const struct total_sources *from,
			     const struct span_reading *total)
{
	clicks_sql_interval_fill(&ret->by, "toUnixTimestamp(t)", buckets);
	put_source(&ret->total, q, from, total);
	if (needs_apart(buckets, from))
		put_source_of_buckets(&ret->of_buckets, q, buckets, from,
				      total);
	if (question_has_groups(q))
		put_all_groups(&ret->groups, q, from);
}

static void total_texts_release(struct total_texts *t)
{
	clicks_sql_interval_release(&t->by);
	buf_free(&t->total);
	buf_free(&t->of_buckets);
	buf_free(&t->groups);
}

void total_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct total_sources *from)
{
	const struct span_reading total = {
		.dimension = "total",
		.span = CIVIL_DAY,
		.states = q->apart ? NULL : &with_addresses,
	};
	struct total_texts texts = {0};

	total_texts_fill(&texts, q, buckets, from, &total);
	statement_put(
		sql,
		needs_apart(buckets, from) ? clicks_of_all_apart
					   : clicks_of_all,
		(const struct statement_blank[]){
			{"answer_part", texts.by.answer_part},
			{"bucket", statement_piece(sql, &texts.by.bucket)},
			{"sets", texts.by.sets},
			{"visitors", merged_of(total.states)},
			{"total", statement_piece(sql, &texts.total)},
			{"of_buckets", statement_piece(sql, &texts.of_buckets)},
			{"groups", statement_piece(sql, &texts.groups)},
			{NULL, NULL},
		});
	total_texts_release(&texts);
}

/* --- links ------------------------------------------------------------------
 */

static const char links_of_all[] =
#include "aggregator/sql/parts/links_of_all.sql.inc"
	;
static const char links_left_out[] =
#include "aggregator/sql/links_of_all_left_out.sql.inc"
	;

static void put_links(struct buf *sql, const char *text,
		      const struct question *q,
		      const struct total_sources *from, bool rest)
{
	const struct span_reading links = {
		.dimension = "link", .span = CIVIL_DAY, .rest = rest};
	struct buf spans = {0};

	put_source(&spans, q, from, &links);
	statement_put(sql, text,
		      (const struct statement_blank[]){
			      {"spans", statement_piece(sql, &spans)},
			      {NULL, NULL},
		      });
	buf_free(&spans);
}

void total_sql_links(struct buf *sql, const struct question *q,
		     const struct total_sources *from)
{
	put_links(sql, links_of_all, q, from, false);
}

void total_sql_links_left_out(struct buf *sql, const struct question *q,
			      const struct total_sources *from)
{
	put_links(sql, links_left_out, q, from, true);
}
