#include "aggregator/api/links/links_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clickhouse/host_filter.h"
#include "common/clickhouse/statement.h"
#include "common/uri.h"
#include "common/url_digest.h"

/* --- parameters -------------------------------------------------------------
 */

/* Appends the pattern by which LIKE finds these very characters. */
static void put_like(struct buf *out, const char *text)
{
	buf_putc(out, '%');
	for (; *text; text++) {
		if (strchr("%_\\", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '%');
}

/* Returns whether the text changes as a part of a URI. */
static bool differs_as_uri(const char *text)
{
	struct buf uri = {0};
	bool differs;

	uri_put_part(&uri, text, strlen(text));
	differs = uri.len != strlen(text);
	buf_free(&uri);
	return differs;
}

static void escape_like(struct buf *out, const char *text)
{
	struct buf pattern = {0};

	put_like(&pattern, text);
	clickhouse_escape(out, pattern.data, pattern.len);
	out->failed |= pattern.failed;
	buf_free(&pattern);
}

static const char *const text_params[LINKS_FILTER_COUNT] = {
	[LINKS_TEXT] = "param_q",
	[LINKS_TAG] = "param_tag",
	[LINKS_ACCOUNT] = "param_account",
	[LINKS_OWNER] = "param_owner",
	[LINKS_CAMPAIGN] = "param_campaign",
	[LINKS_DOMAIN] = "param_domain",
	[LINKS_STATE] = "param_state",
	[LINKS_URL] = "param_url",
	[LINKS_HOST] = "param_url_host",
	[LINKS_CODE] = "param_code",
};

static int fill_bounds(struct links_params *p,
		       const struct access_bounds *bounds, size_t *n,
		       struct error *err)
{
	if (caller_params_fill(&p->caller, bounds, err) < 0)
		return -1;
	for (size_t i = 0; i < CALLER_PARAMS; i++)
		p->items[(*n)++] = p->caller.items[i];
	return 0;
}

static int fill_life(struct links_params *p, const struct links_query *q,
		     size_t *n, struct error *err)
{
	if (life_params_fill(&p->life, q->spaces, q->now, err) < 0)
		return -1;
	for (size_t i = 0; i < LIFE_PARAMS; i++)
		p->items[(*n)++] = p->life.items[i];
	return 0;
}

/* Fills in the texts that are searched in URLs, in the stored form. */
static int fill_uris(struct links_params *p, const struct links_query *q,
		     size_t *n, struct error *err)
{
	const char *words = q->filters[LINKS_TEXT],
		   *url = q->filters[LINKS_URL];
	struct buf uri = {0};

	if (words && differs_as_uri(words)) {
		uri_put_part(&uri, words, strlen(words));
		if (buf_cstr(&uri))
			escape_like(&p->words_uri, uri.data);
		p->items[(*n)++] = (struct clickhouse_param){"param_q_uri",
							     p->words_uri.data};
	}
	buf_reset(&uri);
	if (url && !url_digest_is(url, strlen(url))) {
		url_put_stored(&uri, url, strlen(url));
		clickhouse_escape(&p->url_uri, uri.data, uri.len);
		p->items[(*n)++] = (struct clickhouse_param){"param_url_uri",
							     p->url_uri.data};
	}
	p->url_uri.failed |= uri.failed || p->words_uri.failed;
	buf_free(&uri);
	return p->url_uri.failed ? error_set_nomem(err) : 0;
}

static int fill_host_names(struct links_params *p, const struct links_query *q,
			   size_t *n, struct error *err)
{
	const char *host = q->filters[LINKS_HOST];

	if (!host)
		return 0;
	host_filter_put_names(&p->host_names, host);
	if (!buf_cstr(&p->host_names))
		return error_set_nomem(err);
	p->items[(*n)++] = (struct clickhouse_param){"param_url_host_domains",
						     p->host_names.data};
	return 0;
}

static int fill_texts(struct links_params *p, const struct links_query *q,
		      size_t *n, struct error *err)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		const char *value = q->filters[i];
		struct buf *text = &p->texts[i];

		if (!value)
			continue;
		if (i == LINKS_TEXT)
			escape_like(text, value);
		else
			clickhouse_escape(text, value, strlen(value));
		if (text->failed)
			return error_set_nomem(err);
		p->items[(*n)++] =
			(struct clickhouse_param){text_params[i], text->data};
	}
	if (fill_uris(p, q, n, err) < 0 || fill_host_names(p, q, n, err) < 0 ||
	    fill_life(p, q, n, err) < 0)
		return -1;
	return fill_bounds(p, q->bounds, n, err);
}

int links_params_fill(struct links_params *p, const struct links_query *q,
		      const struct links_scan *scan, struct error *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"param_number", scan->after.number},
		{"param_after_id", scan->after.link_id},
		{"param_oldest", scan->oldest_ms},
		{"param_candidates", scan->candidates},
		{"param_until", scan->after.until_day},
		{"param_until_hour", scan->after.until_hour},
		{"param_since", q->since_day},
		{"param_created_from",
		 q->created_from > 0 ? (uint64_t)q->created_from : 0},
		{"param_created_to",
		 q->created_to > 0 ? (uint64_t)q->created_to : 0},
	};
	static const struct clickhouse_param settings[] = {
		/* One question is limited to this memory, because the server
		 * has other clients. */
		{"max_memory_usage", LINKS_SQL_MEMORY},
		/* ClickHouse evaluates each projection that could serve, at 5
		 * ms each. */
		{"preferred_optimize_projection_name", "by_creation"},
	};
	size_t n = 0;

	*p = (struct links_params){0};
	for (; n < sizeof(numbers) / sizeof(*numbers); n++) {
		snprintf(p->numbers[n], sizeof(p->numbers[n]), "%" PRIu64,
			 numbers[n].value);
		p->items[n] = (struct clickhouse_param){numbers[n].name,
							p->numbers[n]};
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		p->items[n++] = settings[i];
	return fill_texts(p, q, &n, err);
}

void links_params_release(struct links_params *p)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++)
		buf_free(&p->texts[i]);
	buf_free(&p->words_uri);
	buf_free(&p->url_uri);
	buf_free(&p->host_names);
	caller_params_release(&p->caller);
	life_params_release(&p->life);
}

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

	if (filter == LINKS_TEXT && differs_as_uri(value))
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

const char links_sql_window[] =
#include "aggregator/sql/links_window.sql.inc"
	;

/* --- candidates -------------------------------------------------------------
 *
 * Candidates are selected as a place: (number, link_id, code).
 */

static const char links_created[] =
#include "aggregator/sql/parts/links_created.sql.inc"
	;
/* Candidates sorted by the clicks of people on the days that are counted. */
static const char links_clicked[] =
#include "aggregator/sql/parts/links_clicked.sql.inc"
	;

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
	bool bounded =
		q->bounds && (q->bounds->has_owners || q->bounds->account);
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

static void put_candidates(struct buf *sql, const struct links_query *q,
			   const struct links_scan *scan)
{
	bool is_clicked = scan->after.part == LINKS_CLICKED;
	struct buf links = {0}, counted = {0}, where = {0};

	put_where(&where, q);
	if (is_clicked || scan->indexed)
		put_narrowing(&where, q);
	if (links_query_filters(q))
		buf_printf(&links, "SELECT link_id FROM links WHERE %s",
			   buf_cstr(&where));
	put_counted(&counted, q,
		    links.len ? statement_piece(sql, &links) : NULL);
	statement_put(sql, is_clicked ? links_clicked : links_created,
		      (const struct statement_blank[]){
			      {"where", statement_piece(sql, &where)},
			      {"counted", statement_piece(sql, &counted)},
			      {NULL, NULL},
		      });
	buf_free(&links);
	buf_free(&counted);
	buf_free(&where);
}

/*
 * A scalar subquery has its own settings.  The indexes belong to the table's
 * own order, which ClickHouse does not choose by itself.
 */
static const char *order_of(const struct links_query *q,
			    const struct links_scan *scan)
{
	if (links_query_is_by_owner(q) && !scan->oldest_ms)
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
static const char codes_of_clicked[] =
#include "aggregator/sql/parts/codes_of_clicked.sql.inc"
	;
static const char clicks_of_picked[] =
#include "aggregator/sql/parts/clicks_of_picked.sql.inc"
	;

/* The parts of a list differ in these.  The clicks of days have no codes,
 * and no time of creation. */
static const struct page_blanks {
	const char *codes, *code, *times, *unclicked, *clicks, *join_clicks;
} page_blanks[] = {
	[LINKS_BY_CREATION] = {.code = "arrayJoin(picked).3",
			       .times = picked_created_at,
			       .clicks = "toUInt64(0)"},
	[LINKS_CLICKED] = {.code = "arrayJoin(codes)",
			   .codes = codes_of_clicked,
			   .clicks = "n_place"},
	[LINKS_UNCLICKED] = {.code = "arrayJoin(picked).3",
			     .times = picked_created_at,
			     .unclicked = "AND n_effective = 0",
			     .clicks = "n_effective",
			     .join_clicks = clicks_of_picked},
};

static void put_join(struct buf *sql, const struct links_query *q,
		     const char *text)
{
	struct buf counted = {0};

	put_counted(&counted, q, "SELECT arrayJoin(picked).2");
	statement_put(sql, text,
		      (const struct statement_blank[]){
			      {"counted", statement_piece(sql, &counted)},
			      {NULL, NULL},
		      });
	buf_free(&counted);
}

void links_sql_page(struct buf *sql, const struct links_query *q,
		    const struct links_scan *scan)
{
	const struct page_blanks *p = &page_blanks[scan->after.part];
	struct buf where = {0}, candidates = {0}, clicks = {0}, code = {0};

	put_where(&where, q);
	if (q->filters[LINKS_STATE])
		buf_puts(&where, " AND a_state = {state:String}");
	buf_printf(&code, "SELECT %s", p->code);
	if (p->join_clicks)
		put_join(&clicks, q, p->join_clicks);
	put_candidates(&candidates, q, scan);
	statement_put(sql, links_page,
		      (const struct statement_blank[]){
			      {"candidates", statement_piece(sql, &candidates)},
			      {"order", order_of(q, scan)},
			      {"where", statement_piece(sql, &where)},
			      {"codes", p->codes},
			      {"codes_of", statement_piece(sql, &code)},
			      {"links", "SELECT arrayJoin(picked).2 AS one_id"},
			      {"times", p->times},
			      {"unclicked", p->unclicked},
			      {"clicks", p->clicks},
			      {"join_clicks", statement_piece(sql, &clicks)},
			      {NULL, NULL},
		      });
	buf_free(&clicks);
	buf_free(&where);
	buf_free(&candidates);
	buf_free(&code);
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
