#include "aggregator/forget/forget_sql.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "aggregator/forget/forget_columns.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- lists ------------------------------------------------------------------
 */

enum what {
	VISITORS,
	LINKS
};

static size_t count_entries(const struct forget_list *list, enum what what)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++)
		n += (list->items[i].link_id != 0) == (what == LINKS);
	return n;
}

/* Writes the visitors' identities, or the links' numbers, each between two
 * texts. */
static void put_each(struct buf *sql, const struct forget_list *list,
		     enum what what, const char *before, const char *after)
{
	const char *comma = "";

	for (size_t i = 0; i < list->count; i++) {
		const struct forget_entry *e = &list->items[i];

		if ((e->link_id != 0) != (what == LINKS))
			continue;
		buf_printf(sql, "%s%s", comma, before);
		if (e->link_id)
			buf_printf(sql, "%" PRIu64, e->link_id);
		else
			buf_puts(sql, e->visitor);
		buf_puts(sql, after);
		comma = ", ";
	}
}

static void put_identities(struct buf *sql, const struct forget_list *list)
{
	put_each(sql, list, VISITORS, "toFixedString(unhex('", "'), 20)");
}

/* Writes until when each visitor's visits are forgotten, in the order of
 * put_each: ms since 1970 divided by `unit`, plus `more`. */
static void put_untils(struct buf *sql, const struct forget_list *list,
		       int64_t unit, int64_t more)
{
	const char *comma = "";

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].link_id)
			continue;
		buf_printf(sql, "%stoInt64(%" PRId64 ")", comma,
			   list->items[i].until / unit + more);
		comma = ", ";
	}
}

static void put_links(struct buf *sql, const struct forget_list *list)
{
	put_each(sql, list, LINKS, "", "");
}

/* Writes "link_id IN (...)", or a condition that is never true. */
static void put_is_link(struct buf *sql, const struct forget_list *list)
{
	if (!count_entries(list, LINKS)) {
		buf_puts(sql, "false");
		return;
	}
	buf_puts(sql, "link_id IN (");
	put_links(sql, list);
	buf_putc(sql, ')');
}

/* --- pieces -----------------------------------------------------------------
 */

/* Texts for blanks of the statements.  A statement names those that it needs.
 */
struct pieces {
	struct buf partition, day; /* its start, seconds since 1970 */
	struct buf is_link;	   /* the row is of a link of the list */
	struct buf is_visitor;	/* the row, or x, is of a visitor of the list */
	struct buf has_visitor; /* the row's sets, or states, have one */
	struct buf columns;	/* with what is left of them */
};

static void pieces_release(struct pieces *p)
{
	struct buf *const all[] = {&p->partition,   &p->day,
				   &p->is_link,	    &p->is_visitor,
				   &p->has_visitor, &p->columns};

	for (size_t i = 0; i < COUNT(all); i++)
		buf_free(all[i]);
}

/* Fills the blanks of a statement about a table, or about `clicks`. */
static void put_statement(struct buf *sql, const char *text, struct pieces *p,
			  const char *table, const char *hours)
{
	const struct statement_blank blanks[] = {
		{"table", table},
		{"hours", hours},
		{"partition", statement_piece(sql, &p->partition)},
		{"day", statement_piece(sql, &p->day)},
		{"is_link", statement_piece(sql, &p->is_link)},
		{"is_visitor", statement_piece(sql, &p->is_visitor)},
		{"has_visitor", statement_piece(sql, &p->has_visitor)},
		{"columns", statement_piece(sql, &p->columns)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
}

/* Partitions are days in some tables, months in others. */
static void put_partition(struct buf *sql, unsigned by, int64_t start)
{
	struct civil day = civil_from_days(start / CIVIL_DAY);

	buf_printf(sql, "%04" PRId64 "%02d", day.year, day.month);
	if (by == DERIVED_BY_DAY)
		buf_printf(sql, "%02d", day.day);
}

/* --- rows -------------------------------------------------------------------
 */

/* Writes a condition on a row.  The earlier time of an event that came late, or
 * was sent again, counts. */
static void put_is_visitor(struct buf *sql, const struct forget_list *list)
{
	static const char text[] =
#include "aggregator/sql/parts/row_is_of_visitor.sql.inc"
		;
	struct buf identities = {0}, visitors = {0}, untils = {0};

	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	put_identities(&identities, list);
	put_each(&visitors, list, VISITORS, "'", "'");
	put_untils(&untils, list, 1, 0);
	const struct statement_blank blanks[] = {
		{"identities", statement_piece(sql, &identities)},
		{"visitors", statement_piece(sql, &visitors)},
		{"untils", statement_piece(sql, &untils)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&identities);
	buf_free(&visitors);
	buf_free(&untils);
}

void forget_sql_clicks(struct buf *sql, const struct forget_list *list,
		       int64_t start)
{
	static const char text[] =
#include "aggregator/sql/forget_rows.sql.inc"
		;
	struct pieces p = {0};

	put_partition(&p.partition, DERIVED_BY_DAY, start);
	put_is_visitor(&p.is_visitor, list);
	put_is_link(&p.is_link, list);
	forget_columns_put_clicks(&p.columns, buf_cstr(&p.is_link));
	put_statement(sql, text, &p, NULL, NULL);
	pieces_release(&p);
}

/* --- counts of days whose rows are dropped ---------------------------------
 *
 * Visitors are stored as digests in sets, and in the states of stats_hourly. A
 * set keeps one digest for all forgotten visitors.
 *
 * The time of a visit is known only by its slot, hour or day. So a visitor is
 * searched in those that had begun when the visits to forget end; later visits
 * in the last of them are forgotten, too. Edges' clocks may be ahead by five
 * minutes.
 */
#define CLOCKS_AHEAD 300

/* A digest of a visitor in a table's sets. */
struct digest {
	const char *type;
	bool of_owner;
};
static const struct digest of_link = {"UInt64", false};
static const struct digest of_owner = {"UInt32", true};

static void put_digests(struct buf *sql, const struct forget_list *list,
			const struct digest *digest)
{
	const char *comma = "";

	for (size_t i = 0; i < list->count; i++) {
		const struct forget_entry *e = &list->items[i];

		if (e->link_id)
			continue;
		buf_printf(sql, "%s%" PRIu64, comma,
			   digest->of_owner ? e->owner_digest : e->digest);
		comma = ", ";
	}
}

/*
 * Whether x is the digest of a visitor whose visits end after `slot`.  The list
 * is constant, so that the lookup is fast: with a list that is built for each
 * row, a table of millions of digests would be hashed against hundreds of
 * visitors.
 */
static void put_is_digest(struct buf *sql, const struct forget_list *list,
			  const struct digest *digest)
{
	static const char text[] =
#include "aggregator/sql/parts/is_digest.sql.inc"
		;
	struct buf digests = {0}, untils = {0};

	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	put_digests(&digests, list, digest);
	put_untils(&untils, list, CLOCK_SECOND, CLOCKS_AHEAD);
	const struct statement_blank blanks[] = {
		{"digests", statement_piece(sql, &digests)},
		{"type", digest->type},
		{"untils", statement_piece(sql, &untils)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&digests);
	buf_free(&untils);
}

/* Whether a set has a digest of the list. */
static void put_has(struct buf *sql, const struct forget_list *list,
		    const struct digest *digest)
{
	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	buf_puts(sql, "arrayExists(x -> ");
	put_is_digest(sql, list, digest);
	buf_puts(sql, ", arrayConcat(people, others))");
}

/*
 * After forgetting, a link's sets have at most one digest of visitors and one
 * of addresses (aggregator/sql/parts/slot_is_forgotten.sql); addresses are left
 * when its visitors were forgotten one by one.
 */
void forget_sql_find(struct buf *sql, const struct forget_list *list,
		     bool dropped_days)
{
	static const char in_rows[] =
#include "aggregator/sql/forget_find_rows.sql.inc"
		;
	static const char in_slots[] =
#include "aggregator/sql/forget_find_slots.sql.inc"
		;
	struct pieces p = {0};

	put_is_link(&p.is_link, list);
	if (dropped_days)
		put_has(&p.has_visitor, list, &of_link);
	else
		put_is_visitor(&p.is_visitor, list);
	put_statement(sql, dropped_days ? in_slots : in_rows, &p, NULL, NULL);
	pieces_release(&p);
}

/* Fills the pieces of a statement about sets. */
static void pieces_fill_sets(struct pieces *p,
			     const struct derived_table *table,
			     const struct forget_list *list,
			     const struct digest *digest, int64_t start)
{
	put_partition(&p->partition, table->by, start);
	put_is_link(&p->is_link, list);
	put_is_digest(&p->is_visitor, list, digest);
	put_has(&p->has_visitor, list, digest);
}

static void put_owner_sets(struct buf *sql, const struct derived_table *table,
			   const struct forget_list *list, int64_t start,
			   const char *hours)
{
	static const char text[] =
#include "aggregator/sql/forget_owner_sets.sql.inc"
		;
	struct pieces p = {0};

	pieces_fill_sets(&p, table, list, &of_owner, start);
	put_statement(sql, text, &p, table->name, hours);
	pieces_release(&p);
}

/* Sampled clicks of a forgotten visitor or link keep their place in the day's
 * number of events, and nothing else. */
static void put_sample(struct buf *sql, const struct derived_table *table,
		       const struct forget_list *list, int64_t start,
		       const char *hours)
{
	static const char text[] =
#include "aggregator/sql/forget_sample.sql.inc"
		;
	struct pieces p = {0};

	put_partition(&p.partition, table->by, start);
	put_is_link(&p.is_link, list);
	put_is_digest(&p.is_visitor, list, &of_owner);
	forget_columns_put_sample(&p.columns);
	put_statement(sql, text, &p, table->name, hours);
	pieces_release(&p);
}

/* The counts of a forgotten link's values stay, and so do those of the values
 * that few events of a forgotten visitor's link had on the day: together these
 * would say who it was. */
static void put_link_values(struct buf *sql, const struct derived_table *table,
			    const struct forget_list *list, int64_t start)
{
	static const char text[] =
#include "aggregator/sql/forget_link_values.sql.inc"
		;
	struct pieces p = {0};

	put_partition(&p.partition, table->by, start);
	buf_printf(&p.day, "%" PRId64, start);
	put_is_link(&p.is_link, list);
	put_has(&p.has_visitor, list, &of_link);
	put_statement(sql, text, &p, table->name, NULL);
	pieces_release(&p);
}

static void put_link_sets(struct buf *sql, const struct derived_table *table,
			  const struct forget_list *list, int64_t start,
			  const char *hours)
{
	static const char text[] =
#include "aggregator/sql/forget_link_sets.sql.inc"
		;
	struct pieces p = {0};

	pieces_fill_sets(&p, table, list, &of_link, start);
	put_statement(sql, text, &p, table->name, hours);
	pieces_release(&p);
}

/*
 * A state has a visitor if it does not change when the visitor is added.  Up to
 * some hundred visitors that is exact; beyond, it is also true for visitors
 * that the state cannot distinguish from its own, and that need not be
 * forgotten.
 */
static void put_state_has(struct buf *sql, const struct forget_list *list,
			  const char *time)
{
	static const char text[] =
#include "aggregator/sql/parts/state_has_visitor.sql.inc"
		;
	static const char *const states[] = {"people", "others"};
	struct buf identities = {0}, untils = {0};

	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	put_identities(&identities, list);
	put_untils(&untils, list, CLOCK_SECOND, CLOCKS_AHEAD);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const struct statement_blank blanks[] = {
			{"time", time},
			{"identities", statement_piece(sql, &identities)},
			{"untils", statement_piece(sql, &untils)},
			{"state", states[i]},
			{NULL, NULL}};

		buf_puts(sql, i ? " OR " : "(");
		statement_put(sql, text, blanks);
	}
	buf_putc(sql, ')');
	buf_free(&identities);
	buf_free(&untils);
}

/* The slot shows when a state's visits were. */
static void put_states(struct buf *sql, const struct derived_table *table,
		       const struct forget_list *list, int64_t start,
		       const char *hours)
{
	static const char text[] =
#include "aggregator/sql/forget_states.sql.inc"
		;
	struct pieces p = {0};

	put_partition(&p.partition, table->by, start);
	put_state_has(&p.has_visitor, list, "slot");
	put_statement(sql, text, &p, table->name, hours);
	pieces_release(&p);
}

/* A span is an hour, or the whole day. */
static void put_spans(struct buf *sql, const struct derived_table *table,
		      const struct forget_list *list, int64_t start,
		      const char *hours)
{
	static const char text[] =
#include "aggregator/sql/forget_spans.sql.inc"
		;
	struct pieces p = {0};

	put_partition(&p.partition, table->by, start);
	buf_printf(&p.day, "%" PRId64, start);
	put_state_has(&p.has_visitor, list, "span_start");
	put_statement(sql, text, &p, table->name, hours);
	pieces_release(&p);
}

void forget_sql_table(struct buf *sql, const struct derived_table *table,
		      const struct forget_list *list, int64_t start,
		      const char *hours)
{
	switch (table->visitors) {
	case VISITORS_NONE:
		break;
	case VISITORS_IN_HOURS:
		put_states(sql, table, list, start, hours);
		break;
	case VISITORS_IN_SPANS:
		put_spans(sql, table, list, start, hours);
		break;
	case VISITORS_IN_OWNER_SETS:
		put_owner_sets(sql, table, list, start, hours);
		break;
	case VISITORS_IN_SAMPLE:
		put_sample(sql, table, list, start, hours);
		break;
	case VALUES_OF_LINKS:
		put_link_values(sql, table, list, start);
		break;
	case VISITORS_IN_LINK_SETS:
		put_link_sets(sql, table, list, start, hours);
		break;
	}
}

/* --- the archive ------------------------------------------------------------
 */

static void put_archived(struct buf *sql, const struct forget_list *list,
			 const char *text, struct pieces *p)
{
	put_is_link(&p->is_link, list);
	put_statement(sql, text, p, NULL, NULL);
	pieces_release(p);
}

void forget_sql_count_links(struct buf *sql, const struct forget_list *list)
{
	static const char text[] =
#include "aggregator/sql/forget_archived_count.sql.inc"
		;
	struct pieces p = {0};

	put_archived(sql, list, text, &p);
}

void forget_sql_links(struct buf *sql, const struct forget_list *list)
{
	static const char text[] =
#include "aggregator/sql/forget_archived.sql.inc"
		;
	struct pieces p = {0};

	forget_columns_put_links(&p.columns);
	put_archived(sql, list, text, &p);
}
