#include "aggregator/api/links/links_sql.h"

#include <string.h>

#include "common/clickhouse/host_filter.h"
#include "common/clickhouse/statement.h"
#include "common/url_digest.h"

/* --- conditions -------------------------------------------------------------
 */

/* The expression of the index by_words, letter by letter: see the migration.
 * No filter has a control character, so none matches across two of the columns.
 */
static const char has_words[] =
#include "aggregator/sql/parts/has_words.sql.inc"
	;
/* The text may also be part of a URL, which is stored as a URI. */
static const char has_words_or_uri[] =
#include "aggregator/sql/parts/has_words_or_uri.sql.inc"
	;

/* The conditions by enum links_filter.  That of LINKS_STATE is not about rows
 * of `links` alone. */
static const char *const conditions[LINKS_FILTER_COUNT] = {
	[LINKS_TEXT] = has_words,
	[LINKS_TAG] = "has(tags, {tag:String})",
	[LINKS_ACCOUNT] = "account = {account:String}",
	[LINKS_OWNER] = "owner = {owner:String}",
	[LINKS_CAMPAIGN] = "campaign = {campaign:String}",
	[LINKS_DOMAIN] = "domain = {domain:String}",
	/* A link from elsewhere may have a URL that is no URI. */
	[LINKS_URL] = "url IN ({url:String}, {url_uri:String})",
	[LINKS_CODE] = "startsWith(code, {code:String})",
};

/* An end that visits have put off is not in `links`, nor is the return of a
 * block: among these rows are all links of the state. */
static const char *rows_of_state(const char *state)
{
	if (!strcmp(state, LINKS_STATE_EXPIRED))
		return "state IN ('live', 'paused') AND toUnixTimestamp64Milli("
		       "expires_at) BETWEEN 1 AND {now:Int64}";
	if (!strcmp(state, LINKS_STATE_RECLAIMED))
		return "(state = 'deleted' OR toUnixTimestamp64Milli("
		       "expires_at) BETWEEN 1 AND {now:Int64})";
	return "state = {state:String}";
}

static const char *condition_of(const struct links_query *q,
				enum links_filter filter)
{
	const char *value = q->filters[filter];

	if (filter == LINKS_STATE)
		return rows_of_state(value);

	if (filter == LINKS_TEXT && links_differs_as_uri(value))
		return has_words_or_uri;
	if (filter == LINKS_HOST)
		return host_filter_condition(value);
	if (filter == LINKS_URL && url_digest_is(value, strlen(value)))
		return "has(url_digests, toFixedString(unhex({url:String}), "
		       "16))";
	return conditions[filter];
}

static void put_filters(struct buf *sql, const struct links_query *q)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		if (!q->filters[i])
			continue;
		buf_puts(sql, " AND ");
		buf_puts(sql, condition_of(q, (enum links_filter)i));
	}
}

/*
 * The conditions of a question on `links`, defined in this place only.  They
 * are evaluated on rows of any version, and then on the newest; the state is
 * evaluated on the newest, with what became of the link since.
 */
static void put_where(struct buf *sql, const struct links_query *q)
{
	buf_puts(sql, "1");
	put_filters(sql, q);
	if (q->bounds && q->bounds->has_owners)
		buf_puts(sql, " AND owner IN (SELECT arrayJoin(splitByChar("
			      "'\\n', {caller_owners:String})))");
	/* The bounds are wider than what the caller sees: each link that is
	 * read is checked by its reader. */
	if (q->bounds && q->bounds->account)
		buf_puts(sql, " AND account = {caller_account:String}");
	if (q->created_from >= 0)
		buf_puts(sql, " AND created_at >= fromUnixTimestamp64Milli("
			      "{created_from:Int64}, 'UTC')");
	if (q->created_to >= 0)
		buf_puts(sql, " AND created_at < fromUnixTimestamp64Milli("
			      "{created_to:Int64}, 'UTC')");
}

/* A condition that follows from the others, and that an index serves.  Only the
 * table itself has its column. */
static void put_narrowing(struct buf *sql, const struct links_query *q)
{
	const char *host = q->filters[LINKS_HOST];

	if (!host)
		return;
	buf_puts(sql, " AND ");
	buf_puts(sql, host_filter_narrowing(host));
}

/* --- the order --------------------------------------------------------------
 */

static const char created_before_place[] =
#include "aggregator/sql/parts/created_before_place.sql.inc"
	;
static const char created_after_place[] =
#include "aggregator/sql/parts/created_after_place.sql.inc"
	;
static const char end_before_place[] =
#include "aggregator/sql/parts/end_before_place.sql.inc"
	;
static const char end_after_place[] =
#include "aggregator/sql/parts/end_after_place.sql.inc"
	;
static const char renewed_before_place[] =
#include "aggregator/sql/parts/renewed_before_place.sql.inc"
	;
static const char renewed_after_place[] =
#include "aggregator/sql/parts/renewed_after_place.sql.inc"
	;

/* The conditions for rows behind a place, in descending and in ascending
 * order. */
static const struct order {
	const char *direction, *side, *side_or_at;
	const char *created, *end, *renewed;
} orders[] = {
	{"DESC", "<", "<=", created_before_place, end_before_place,
	 renewed_before_place},
	{"ASC", ">", ">=", created_after_place, end_after_place,
	 renewed_after_place},
};

static const struct order *order_of_list(const struct links_query *q)
{
	return &orders[q->ascending ? 1 : 0];
}

void links_sql_window(struct buf *sql, const struct links_query *q)
{
	static const char text[] =
#include "aggregator/sql/links_window.sql.inc"
		;
	const struct order *order = order_of_list(q);

	statement_put(sql, text,
		      (const struct statement_blank[]){
			      {"side", order->side_or_at},
			      {"direction", order->direction},
			      {NULL, NULL},
		      });
}

/* --- candidates -------------------------------------------------------------
 *
 * Candidates are selected as a place: (number, link_id, code).
 */

static const char links_created[] =
#include "aggregator/sql/parts/links_created.sql.inc"
	;
/* Candidates sorted by the clicks of the range. */
static const char links_clicked[] =
#include "aggregator/sql/parts/links_clicked.sql.inc"
	;
static const char links_ending[] =
#include "aggregator/sql/parts/links_ending.sql.inc"
	;
static const char links_endless[] =
#include "aggregator/sql/parts/links_endless.sql.inc"
	;

/* The clicks that bots= selects, of one source, and of all; none of them. */
static const struct {
	const char *one, *all, *none;
} selected[] = {
	[BOTS_EXCLUDE] = {"n_human", "n_humans", "AND n_humans = 0"},
	[BOTS_INCLUDE] = {"n_human + n_bot + n_prefetch",
			  "n_humans + n_bots + n_prefetches",
			  "AND n_humans + n_bots + n_prefetches = 0"},
	[BOTS_ONLY] = {"n_bot + n_prefetch", "n_bots + n_prefetches",
		       "AND n_bots + n_prefetches = 0"},
};

static const char counted_clicks[] =
#include "aggregator/sql/parts/counted_clicks.sql.inc"
	;
static const char clicks_of_hours[] =
#include "aggregator/sql/parts/clicks_of_hours.sql.inc"
	;
/* Hours do not have the holders of links. */
static const char clicks_of_hours_of_caller[] =
#include "aggregator/sql/parts/clicks_of_hours_of_caller.sql.inc"
	;

/* Selects the clicks of the links that `links` selects; NULL: of all. */
static void put_counted(struct buf *sql, const struct links_query *q,
			const char *links)
{
	bool bounded = links_query_is_bounded(q);
	struct buf of_links = {0}, in_hours = {0}, hours = {0};

	if (links) {
		buf_printf(&of_links, "AND link_id IN (%s)", links);
		buf_printf(&in_hours, "AND %s IN (%s)",
			   bounded ? "link_id" : "toUInt64OrZero(value)",
			   links);
	}
	statement_put(&hours,
		      bounded ? clicks_of_hours_of_caller : clicks_of_hours,
		      (const struct statement_blank[]){
			      {"of_hours", statement_piece(sql, &in_hours)},
			      {NULL, NULL},
		      });
	statement_put(sql, counted_clicks,
		      (const struct statement_blank[]){
			      {"of_links", statement_piece(sql, &of_links)},
			      {"hours", statement_piece(sql, &hours)},
			      {NULL, NULL},
		      });
	buf_free(&of_links);
	buf_free(&in_hours);
	buf_free(&hours);
}

/* Ends that have passed, or that have not, are no ends of links of this
 * state: a list by end need not walk through them. */
static void put_ends_of_state(struct buf *sql, const struct links_query *q,
			      const char *column)
{
	const char *state = q->filters[LINKS_STATE];
	const char *side = NULL;

	if (state && (!strcmp(state, "live") || !strcmp(state, "paused")))
		side = ">";
	if (state && !strcmp(state, LINKS_STATE_EXPIRED))
		side = "<=";
	if (side)
		buf_printf(sql,
			   " AND %s %s fromUnixTimestamp64Milli({now:Int64}, "
			   "'UTC')",
			   column, side);
}

/* A renewal says nothing of its link: the links that pass are selected, unless
 * only their state matters, which most of these ends show. */
static void put_renewed(struct buf *sql, const struct links_query *q,
			const char *where)
{
	struct links_query others = *q;

	others.filters[LINKS_STATE] = NULL;
	if (links_query_filters(&others))
		buf_printf(sql,
			   " AND link_id IN (SELECT link_id FROM links WHERE "
			   "%s)",
			   where);
	put_ends_of_state(sql, q, "ends_at");
}

static const char *candidates_of(enum links_part part)
{
	switch (part) {
	case LINKS_CLICKED:
		return links_clicked;
	case LINKS_ENDING:
		return links_ending;
	case LINKS_ENDLESS:
		return links_endless;
	default:
		return links_created;
	}
}

static bool is_by_creation(enum links_part part)
{
	return part == LINKS_BY_CREATION || part == LINKS_UNCLICKED;
}

static void put_candidates(struct buf *sql, const struct links_query *q,
			   const struct links_scan *scan)
{
	const struct order *order = order_of_list(q);
	enum links_part part = scan->after.part;
	struct buf links = {0}, counted = {0}, where = {0}, renewed = {0},
		   ends = {0};

	put_where(&where, q);
	if (!is_by_creation(part) || scan->indexed)
		put_narrowing(&where, q);
	if (links_query_filters(q))
		buf_printf(&links, "SELECT link_id FROM links WHERE %s",
			   statement_piece(sql, &where));
	if (part == LINKS_CLICKED)
		put_counted(&counted, q,
			    links.len ? statement_piece(sql, &links) : NULL);
	if (part == LINKS_ENDING) {
		put_ends_of_state(&ends, q, "expires_at");
		put_renewed(&renewed, q, statement_piece(sql, &where));
	}
	statement_put(sql, candidates_of(part),
		      (const struct statement_blank[]){
			      {"where", statement_piece(sql, &where)},
			      {"counted", statement_piece(sql, &counted)},
			      {"selected", selected[q->bots].one},
			      {"of_state", statement_piece(sql, &ends)},
			      {"of_links", statement_piece(sql, &renewed)},
			      {"beyond", order->created},
			      {"end_beyond", order->end},
			      {"renewed_beyond", order->renewed},
			      {"side", order->side},
			      {"direction", order->direction},
			      {NULL, NULL},
		      });
	buf_free(&links);
	buf_free(&counted);
	buf_free(&where);
	buf_free(&renewed);
	buf_free(&ends);
}

/* Returns whether a projection in the order of ends has all columns of the
 * conditions. */
static bool is_by_end(const struct links_query *q)
{
	struct links_query others = *q;

	others.filters[LINKS_STATE] = NULL;
	return !links_query_filters(&others);
}

/*
 * A scalar subquery has its own settings.  The indexes belong to the table's
 * own order, which ClickHouse does not choose by itself.
 */
static const char *order_of(const struct links_query *q,
			    const struct links_scan *scan)
{
	enum links_part part = scan->after.part;
	bool is_ends = part == LINKS_ENDING || part == LINKS_ENDLESS;

	if (is_ends && is_by_end(q))
		return "SETTINGS preferred_optimize_projection_name = 'by_end'";
	if (links_query_is_by_owner(q) && !scan->window_ms)
		return "SETTINGS preferred_optimize_projection_name = "
		       "'by_owner_and_creation'";
	return scan->indexed ? "SETTINGS optimize_use_projections = 0" : NULL;
}

/* --- pages ------------------------------------------------------------------
 */

/*
 * A page is one statement.
 *
 * A window with too few candidates for a page returns none: the next round
 * picks them again, with those of all times.
 *
 * The row 'picked' has as many columns as the others; constants of the same
 * name would have to be of the same type.  The columns of a link are in the
 * order of enum links_column.
 *
 * The newest version of each candidate is selected: the code finds a link in
 * the table; the time of creation finds it in the projection, where the links
 * of a page lie together.  So is the newest link of each code, which is the
 * present one: generations are the upper bits of a link_id.
 *
 * The links of a page lie in as many places, and a thousand rows are read at
 * each: too few for a second thread without the settings about concurrent
 * reading.  Where more is read, such small pieces cost more than they gain.
 */
static const char links_page[] =
#include "aggregator/sql/links_page.sql.inc"
	;
static const char picked_created_at[] =
#include "aggregator/sql/parts/picked_created_at.sql.inc"
	;
static const char codes_of_picked[] =
#include "aggregator/sql/parts/codes_of_picked.sql.inc"
	;
static const char clicks_of_picked[] =
#include "aggregator/sql/parts/clicks_of_picked.sql.inc"
	;

/* The parts of a list differ in these.  Clicks of days and ends have no codes,
 * and no time of creation.  Candidates by their end had it once; this is the
 * present one. */
static const struct page_blanks {
	const char *codes, *code, *times, *matches, *carried, *carried_clicks;
} page_blanks[] = {
	[LINKS_BY_CREATION] = {.code = "SELECT arrayJoin(picked).3",
			       .times = picked_created_at},
	/* Their clicks are counted once, with the place. */
	[LINKS_CLICKED] = {.code = "SELECT arrayJoin(codes)",
			   .codes = codes_of_picked,
			   .carried = ", n_humans, n_bots, n_prefetches",
			   .carried_clicks = ", one.4 AS n_humans, "
					     "one.5 AS n_bots, "
					     "one.6 AS n_prefetches"},
	[LINKS_UNCLICKED] = {.code = "SELECT arrayJoin(picked).3",
			     .times = picked_created_at},
	[LINKS_ENDING] = {.code = "SELECT arrayJoin(codes)",
			  .codes = codes_of_picked,
			  .matches = "AND n_ends = n_place"},
	[LINKS_ENDLESS] = {.code = "SELECT arrayJoin(codes)",
			   .codes = codes_of_picked,
			   .matches = "AND n_ends = 0"},
};

static void put_clicks(struct buf *join, struct buf *columns,
		       const struct links_query *q, enum links_part part)
{
	struct buf counted = {0};

	if (!q->has_clicks) {
		buf_puts(columns, "toUInt64(0), toUInt64(0), toUInt64(0), "
				  "toUInt64(0)");
		return;
	}
	buf_printf(columns, "%s, n_humans, n_bots, n_prefetches",
		   selected[q->bots].all);
	if (page_blanks[part].carried_clicks)
		return;
	put_counted(&counted, q, "SELECT arrayJoin(picked).2");
	statement_put(join, clicks_of_picked,
		      (const struct statement_blank[]){
			      {"counted", statement_piece(join, &counted)},
			      {NULL, NULL},
		      });
	buf_free(&counted);
}

void links_sql_page(struct buf *sql, const struct links_query *q,
		    const struct links_scan *scan)
{
	enum links_part part = scan->after.part;
	const struct page_blanks *p = &page_blanks[part];
	struct buf where = {0}, candidates = {0}, join = {0}, clicks = {0};

	put_where(&where, q);
	if (q->filters[LINKS_STATE])
		buf_puts(&where, " AND a_state = {state:String}");
	put_clicks(&join, &clicks, q, part);
	put_candidates(&candidates, q, scan);
	statement_put(sql, links_page,
		      (const struct statement_blank[]){
			      {"candidates", statement_piece(sql, &candidates)},
			      {"carried", p->carried},
			      {"carried_clicks", p->carried_clicks},
			      {"order", order_of(q, scan)},
			      {"where", statement_piece(sql, &where)},
			      {"codes", p->codes},
			      {"codes_of", p->code},
			      {"links", "SELECT arrayJoin(picked).2 AS one_id"},
			      {"times", p->times},
			      {"matches", part == LINKS_UNCLICKED
						  ? selected[q->bots].none
						  : p->matches},
			      {"clicks", statement_piece(sql, &clicks)},
			      {"direction", order_of_list(q)->direction},
			      {"join_clicks", statement_piece(sql, &join)},
			      {NULL, NULL},
		      });
	buf_free(&where);
	buf_free(&candidates);
	buf_free(&join);
	buf_free(&clicks);
}

/* --- the number of links ----------------------------------------------------
 */

static const char links_total[] =
#include "aggregator/sql/links_total.sql.inc"
	;
static const char links_total_of_state[] =
#include "aggregator/sql/links_total_of_state.sql.inc"
	;

void links_sql_total(struct buf *sql, const struct links_query *q)
{
	struct buf where = {0}, of_links = {0}, links = {0}, codes = {0};

	put_where(&where, q);
	put_narrowing(&where, q);
	buf_printf(&links, "SELECT link_id AS one_id FROM links WHERE %s",
		   statement_piece(sql, &where));
	buf_printf(&codes, "SELECT code FROM links WHERE %s",
		   statement_piece(sql, &where));
	if (links_query_filters(q))
		buf_printf(&of_links,
			   "AND link_id IN (SELECT link_id FROM links "
			   "WHERE %s)",
			   statement_piece(sql, &where));
	statement_put(sql,
		      q->filters[LINKS_STATE] ? links_total_of_state
					      : links_total,
		      (const struct statement_blank[]){
			      {"where", statement_piece(sql, &where)},
			      {"of_links", statement_piece(sql, &of_links)},
			      {"links", statement_piece(sql, &links)},
			      {"codes_of", statement_piece(sql, &codes)},
			      {NULL, NULL},
		      });
	buf_free(&links);
	buf_free(&codes);
	buf_free(&of_links);
	buf_free(&where);
}
