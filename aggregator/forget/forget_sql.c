#include "aggregator/forget/forget_sql.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "aggregator/api/links/archive.h"
#include "aggregator/settle/owner_days.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"

#define NOBODY "toFixedString('', 20)"

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

/* --- rows -------------------------------------------------------------------
 */

/* The earlier time of an event that came late, or was sent again, counts. */
static void put_is_visitor(struct buf *sql, const struct forget_list *list)
{
	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	buf_puts(sql, "unique_identity IN (");
	put_identities(sql, list);
	buf_puts(sql, ") AND toUnixTimestamp64Milli(least(original_ts, "
		      "append_time)) <= transform(hex(unique_identity), [");
	put_each(sql, list, VISITORS, "'", "'");
	buf_puts(sql, "], [");
	put_untils(sql, list, 1, 0);
	buf_puts(sql, "], toInt64(-1))");
}

/* Partitions are days in some tables, months in others. */
static void put_in_day(struct buf *sql, int64_t start)
{
	struct civil day = civil_from_days(start / CIVIL_DAY);

	buf_printf(sql, " IN PARTITION ID '%04" PRId64 "%02d%02d' WHERE ",
		   day.year, day.month, day.day);
}

static void put_in_month(struct buf *sql, int64_t start)
{
	struct civil day = civil_from_days(start / CIVIL_DAY);

	buf_printf(sql, " IN PARTITION ID '%04" PRId64 "%02d' WHERE ", day.year,
		   day.month);
}

static void put_is_left(struct buf *sql, const struct forget_list *list)
{
	put_is_visitor(sql, list);
	buf_puts(sql, " OR (");
	put_is_link(sql, list);
	buf_puts(sql, " AND (unique_identity != " NOBODY
		      " OR campaign != '' OR notEmpty(tags)))");
}

/* A column of clicks, and the text that is left of it, "" for its type's
 * default; NULL: it is kept. */
struct forgotten_column {
	const char *name, *type, *left;
};

static const struct forgotten_column columns_of_visitors[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#define RUN(name, type, left, write)	{#name, type, left},
#define PLACE(name, type, left, write)	{#name, type, left},
#define AGENT(name, type, left, write)	{#name, type, left},
#include "schemas/click_columns.inc"
};

static const struct forgotten_column columns_of_links[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#define RUN(name, type, left, write)	{#name, type, left},
#define OF_VISITOR(text)		NULL
#define OF_LINK(text)			text
#include "schemas/click_columns.inc"
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool begins_with(const char *type, const char *word)
{
	return !strncmp(type, word, strlen(word));
}

/* Types that are not named have no value that a literal gives. */
static void put_left(struct buf *sql, const struct forgotten_column *c)
{
	if (begins_with(c->type, "LowCardinality(String)") ||
	    begins_with(c->type, "String"))
		buf_printf(sql, "'%s'", c->left);
	else if (begins_with(c->type, "UInt") || begins_with(c->type, "Float"))
		buf_puts(sql, "0");
	else if (begins_with(c->type, "FixedString("))
		buf_printf(sql, "toFixedString('', %s",
			   c->type + strlen("FixedString("));
	else if (begins_with(c->type, "IPv6"))
		buf_puts(sql, "toIPv6('::')");
	else if (begins_with(c->type, "Map("))
		buf_printf(sql, "CAST(map(), '%s')", c->type);
	else if (begins_with(c->type, "Array("))
		buf_printf(sql, "CAST([], '%s')", c->type);
	else
		buf_printf(sql, "defaultValueOfTypeName('%s')", c->type);
}

static void put_columns_of_visitors(struct buf *sql)
{
	const char *comma = "";

	for (size_t i = 0; i < COUNT(columns_of_visitors); i++) {
		const struct forgotten_column *c = &columns_of_visitors[i];

		if (!c->left)
			continue;
		buf_printf(sql, "%s%s = ", comma, c->name);
		put_left(sql, c);
		comma = ", ";
	}
}

static void put_columns_of_links(struct buf *sql,
				 const struct forget_list *list)
{
	for (size_t i = 0; i < COUNT(columns_of_links); i++) {
		const struct forgotten_column *c = &columns_of_links[i];

		if (!c->left)
			continue;
		buf_printf(sql, ", %s = if(", c->name);
		put_is_link(sql, list);
		buf_puts(sql, ", ");
		put_left(sql, c);
		buf_printf(sql, ", %s)", c->name);
	}
}

void forget_sql_clicks(struct buf *sql, const struct forget_list *list,
		       int64_t start)
{
	buf_puts(sql, "ALTER TABLE clicks UPDATE ");
	put_columns_of_visitors(sql);
	put_columns_of_links(sql, list);
	put_in_day(sql, start);
	put_is_left(sql, list);
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

/* Digest of a visitor in a table's sets. */
struct digest {
	const char *of; /* SQL, from unique_identity */
	const char *type;
	bool of_owner;
};
static const struct digest of_link = {SQL_VISITOR, "UInt64", false};
static const struct digest of_owner = {SQL_OWNER_VISITOR, "UInt32", true};

/*
 * Whether x is the digest of a visitor whose visits end after `slot`.  The list
 * is constant, so that the lookup is fast: with a list that is built for each
 * row, a table of millions of digests would be hashed against hundreds of
 * visitors.
 */
static void put_is_digest(struct buf *sql, const struct forget_list *list,
			  const struct digest *digest)
{
	const char *comma = "";

	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	buf_puts(sql, "transform(x, CAST([");
	for (size_t i = 0; i < list->count; i++) {
		const struct forget_entry *e = &list->items[i];

		if (e->link_id)
			continue;
		buf_printf(sql, "%s%" PRIu64, comma,
			   digest->of_owner ? e->owner_digest : e->digest);
		comma = ", ";
	}
	buf_printf(sql, "], 'Array(%s)'), [", digest->type);
	put_untils(sql, list, CLOCK_SECOND, CLOCKS_AHEAD);
	buf_puts(sql, "], toInt64(-1)) >= toInt64(toUnixTimestamp(slot))");
}

static void put_nobody(struct buf *sql, const struct digest *digest)
{
	buf_printf(sql, "arrayMap(unique_identity -> %s, [" NOBODY "])[1]",
		   digest->of);
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

static void put_nowhere(struct buf *sql)
{
	buf_puts(sql, "arrayMap(ip -> " SQL_ADDRESS ", [toIPv6('::')])[1]");
}

/*
 * After forgetting, a link's sets have at most one digest of visitors and one
 * of addresses; addresses are left when its visitors were forgotten one by one.
 */
static void put_is_slot_left(struct buf *sql, const struct forget_list *list)
{
	put_has(sql, list, &of_link);
	buf_puts(sql, " OR (");
	put_is_link(sql, list);
	buf_puts(sql, " AND (arrayExists(x -> x != ");
	put_nobody(sql, &of_link);
	buf_puts(sql, ", arrayConcat(people, others)) OR "
		      "arrayExists(x -> x != ");
	put_nowhere(sql);
	buf_puts(sql, ", arrayConcat(people_ips, others_ips))))");
}

#define SQL_IS_DROPPED                                                         \
	"d IN (SELECT toUInt32(unit) FROM settled WHERE kind = "               \
	"'dropped_day') "

void forget_sql_find(struct buf *sql, const struct forget_list *list,
		     bool dropped_days)
{
	const char *at = dropped_days ? "slot" : "ts";

	buf_printf(sql,
		   "SELECT toUInt32(toStartOfDay(%s)) AS d, count(), "
		   "groupUniqArray(toUInt32(toStartOfHour(%s))) FROM %s "
		   "WHERE ",
		   at, at, dropped_days ? "sealed_slots" : "clicks");
	if (dropped_days)
		put_is_slot_left(sql, list);
	else
		put_is_left(sql, list);
	buf_printf(sql, " GROUP BY d%s ORDER BY d FORMAT TabSeparated",
		   dropped_days ? " HAVING " SQL_IS_DROPPED : "");
}

/* Writes two sets without forgotten digests; `forgotten` is the condition on a
 * digest x. */
static void put_sets(struct buf *sql, const char *one, const char *other,
		     struct buf *forgotten, struct buf *nobody)
{
	const char *const columns[] = {one, other};

	for (size_t i = 0; i < 2; i++)
		buf_printf(sql,
			   "%s%s = arraySort(arrayDistinct(arrayMap(x -> "
			   "if(%s, %s, x), %s)))",
			   i ? ", " : "", columns[i], buf_cstr(forgotten),
			   buf_cstr(nobody), columns[i]);
}

/* Conditions and values that occur more than once in a statement. */
struct pieces {
	struct buf visitor; /* x is the digest of a visitor */
	struct buf link;    /* the row belongs to a link of the list */
	struct buf either;
	/* Digests of no visitor and of no address. */
	struct buf nobody, nowhere;
};

static void pieces_fill(struct pieces *p, const struct forget_list *list,
			const struct digest *digest)
{
	put_is_digest(&p->visitor, list, digest);
	put_is_link(&p->link, list);
	buf_printf(&p->either, "%s OR %s", buf_cstr(&p->visitor),
		   buf_cstr(&p->link));
	put_nobody(&p->nobody, digest);
	put_nowhere(&p->nowhere);
}

static void pieces_release(struct pieces *p, struct buf *sql)
{
	sql->failed |= p->visitor.failed | p->link.failed | p->either.failed |
		       p->nobody.failed | p->nowhere.failed;
	buf_free(&p->visitor);
	buf_free(&p->link);
	buf_free(&p->either);
	buf_free(&p->nobody);
	buf_free(&p->nowhere);
}

/* Begins a statement for the partition that has the day; a condition
 * follows. */
static void put_partition(struct buf *sql, const struct derived_table *table,
			  int64_t start)
{
	if (table->by == DERIVED_BY_DAY)
		put_in_day(sql, start);
	else
		put_in_month(sql, start);
}

static void put_owner_sets(struct buf *sql, const struct derived_table *table,
			   const struct forget_list *list, int64_t start,
			   const char *hours)
{
	struct pieces p = {0};

	pieces_fill(&p, list, &of_owner);
	buf_printf(sql, "ALTER TABLE %s UPDATE ", table->name);
	put_sets(sql, "people", "others", &p.visitor, &p.nobody);
	put_partition(sql, table, start);
	buf_printf(sql, "toUInt32(toStartOfHour(slot)) IN %s AND ", hours);
	put_has(sql, list, &of_owner);
	pieces_release(&p, sql);
}

static void put_link_sets(struct buf *sql, const struct derived_table *table,
			  const struct forget_list *list, int64_t start,
			  const char *hours)
{
	struct pieces p = {0};

	pieces_fill(&p, list, &of_link);
	buf_printf(sql, "ALTER TABLE %s UPDATE ", table->name);
	put_sets(sql, "people", "others", &p.either, &p.nobody);
	buf_puts(sql, ", ");
	put_sets(sql, "people_ips", "others_ips", &p.link, &p.nowhere);
	put_partition(sql, table, start);
	buf_printf(sql, "toUInt32(toStartOfHour(slot)) IN %s AND (", hours);
	put_is_slot_left(sql, list);
	buf_putc(sql, ')');
	pieces_release(&p, sql);
}

#define STATE_OF_NONE(type)                                                    \
	"arrayReduce('uniqCombined64State(14)', CAST([], 'Array(" type ")'))"

/*
 * A state has a visitor if it does not change when the visitor is added.  Up to
 * some hundred visitors that is exact; beyond, it is also true for visitors
 * that the state cannot distinguish from its own, and that need not be
 * forgotten.
 */
static void put_state_has(struct buf *sql, const struct forget_list *list,
			  const char *time)
{
	if (!count_entries(list, VISITORS)) {
		buf_puts(sql, "false");
		return;
	}
	buf_printf(sql,
		   "arrayExists((x, u) -> toUnixTimestamp(%s) <= u AND "
		   "finalizeAggregation(arrayReduce("
		   "'uniqCombined64MergeState(14)', [visitors, "
		   "initializeAggregation('uniqCombined64State(14)', x)])) = "
		   "finalizeAggregation(visitors), [",
		   time);
	put_identities(sql, list);
	buf_puts(sql, "], [");
	put_untils(sql, list, CLOCK_SECOND, CLOCKS_AHEAD);
	buf_puts(sql, "])");
}

#define NO_VISITORS  STATE_OF_NONE("FixedString(20)")
#define NO_ADDRESSES STATE_OF_NONE("IPv6")
#define NO_STATES                                                              \
	"emptied = true, visitors = " NO_VISITORS                              \
	", human_visitors = " NO_VISITORS ", ips = " NO_ADDRESSES              \
	", human_ips = " NO_ADDRESSES

#define HAS_STATES "NOT emptied AND finalizeAggregation(visitors) > 0 AND "

/* The slot shows when a state's visits were. */
static void put_states(struct buf *sql, const struct derived_table *table,
		       const struct forget_list *list, int64_t start,
		       const char *hours)
{
	buf_printf(sql, "ALTER TABLE %s UPDATE " NO_STATES, table->name);
	put_partition(sql, table, start);
	buf_printf(sql, "toUInt32(hour) IN %s AND " HAS_STATES, hours);
	put_state_has(sql, list, "slot");
}

static void put_spans(struct buf *sql, const struct derived_table *table,
		      const struct forget_list *list, int64_t start,
		      const char *hours)
{
	buf_printf(sql, "ALTER TABLE %s UPDATE " NO_STATES, table->name);
	put_partition(sql, table, start);
	buf_printf(sql,
		   "has(if(span = 3600, CAST(%s, 'Array(UInt32)'), "
		   "[toUInt32(%" PRId64
		   ")]), toUInt32(span_start)) AND " HAS_STATES,
		   hours, start);
	put_state_has(sql, list, "span_start");
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
	case VISITORS_IN_LINK_SETS:
		put_link_sets(sql, table, list, start, hours);
		break;
	}
}

/* --- the archive ------------------------------------------------------------
 */

static void put_named_links(struct buf *sql, const struct forget_list *list)
{
	put_is_link(sql, list);
	buf_puts(sql, " AND state != '" ARCHIVE_FORGOTTEN "'");
}

void forget_sql_count_links(struct buf *sql, const struct forget_list *list)
{
	buf_puts(sql, "SELECT count() FROM links WHERE ");
	put_named_links(sql, list);
	buf_puts(sql, " FORMAT TabSeparated");
}

void forget_sql_links(struct buf *sql, const struct forget_list *list)
{
	buf_puts(sql,
		 "ALTER TABLE links UPDATE state = '" ARCHIVE_FORGOTTEN
		 "', url = '', owner = '', campaign = '', "
		 "tags = CAST([], 'Array(LowCardinality(String))'), "
		 "domain = '', description = '', account = '', creator = '', "
		 "editor = '', targets = CAST(map(), "
		 "'Map(LowCardinality(String), String)') WHERE ");
	put_named_links(sql, list);
}
