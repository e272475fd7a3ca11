#include "aggregator/api/links/links_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/links/archive.h"
#include "common/uri.h"

/* The expression of the index by_words, letter by letter: see the migration.
 * No filter has a control character, so none matches across two of the columns.
 */
#define WORDS	  "lowerUTF8(concat(url, '\\n', description, '\\n', code))"
#define HAS_WORDS WORDS " LIKE lowerUTF8({q:String})"
/* The text may also be part of a URL, which is stored as a URI. */
#define HAS_EITHER "(" HAS_WORDS " OR " WORDS " LIKE lowerUTF8({q_uri:String}))"

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
	[LINKS_TEXT] = "param_q",	 [LINKS_TAG] = "param_tag",
	[LINKS_OWNER] = "param_owner",	 [LINKS_CAMPAIGN] = "param_campaign",
	[LINKS_DOMAIN] = "param_domain", [LINKS_STATE] = "param_state",
	[LINKS_URL] = "param_url",
};

static int fill_bounds(struct links_params *p,
		       const struct access_bounds *bounds, size_t *n,
		       struct error *err)
{
	if (bounds && bounds->has_owners) {
		clickhouse_escape(&p->owners, bounds->owners.data,
				  bounds->owners.len);
		p->items[(*n)++] = (struct clickhouse_param){
			"param_bound_owners", p->owners.data};
	}
	if (bounds && bounds->account) {
		clickhouse_escape(&p->account, bounds->account,
				  strlen(bounds->account));
		p->items[(*n)++] = (struct clickhouse_param){
			"param_bound_account", p->account.data};
	}
	return p->owners.failed || p->account.failed ? error_set_nomem(err) : 0;
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
	if (url) {
		uri_put(&uri, url, strlen(url));
		clickhouse_escape(&p->url_uri, uri.data, uri.len);
		p->items[(*n)++] = (struct clickhouse_param){"param_url_uri",
							     p->url_uri.data};
	}
	p->url_uri.failed |= uri.failed || p->words_uri.failed;
	buf_free(&uri);
	return p->url_uri.failed ? error_set_nomem(err) : 0;
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
	if (fill_uris(p, q, n, err) < 0)
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
	buf_free(&p->owners);
	buf_free(&p->account);
}

/* --- conditions -------------------------------------------------------------
 */

/*
 * The conditions of a question on `links`, defined in this place only.  They
 * are evaluated on rows of any version, and then on the newest.
 */
static void put_where(struct buf *sql, const struct links_query *q)
{
	static const char *const conditions[LINKS_FILTER_COUNT] = {
		[LINKS_TEXT] = (HAS_WORDS),
		[LINKS_TAG] = "has(tags, {tag:String})",
		[LINKS_OWNER] = "owner = {owner:String}",
		[LINKS_CAMPAIGN] = "campaign = {campaign:String}",
		[LINKS_DOMAIN] = "domain = {domain:String}",
		[LINKS_STATE] = "state = {state:String}",
		/* A link from elsewhere may have a URL that is no URI. */
		[LINKS_URL] = "url IN ({url:String}, {url_uri:String})",
	};
	const char *words = q->filters[LINKS_TEXT];

	buf_puts(sql, "1");
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		if (!q->filters[i])
			continue;
		buf_puts(sql, " AND ");
		buf_puts(sql, i == LINKS_TEXT && differs_as_uri(words)
				      ? HAS_EITHER
				      : conditions[i]);
	}
	if (q->bounds && q->bounds->has_owners)
		buf_puts(sql, " AND owner IN (SELECT arrayJoin(splitByChar("
			      "'\\n', {bound_owners:String})))");
	/* The bounds are wider than what the caller sees: each link that is
	 * read is checked by its reader. */
	if (q->bounds && q->bounds->account)
		buf_puts(sql, " AND account = {bound_account:String}");
	if (q->created_from >= 0)
		buf_puts(sql, " AND created_at >= fromUnixTimestamp64Milli("
			      "{created_from:Int64}, 'UTC')");
	if (q->created_to >= 0)
		buf_puts(sql, " AND created_at < fromUnixTimestamp64Milli("
			      "{created_to:Int64}, 'UTC')");
}

#define AFTER "fromUnixTimestamp64Milli({number:Int64}, 'UTC')"

const char links_sql_window[] =
	"SELECT toUnixTimestamp64Milli(created_at) FROM links WHERE "
	"created_at <= " AFTER " ORDER BY created_at DESC "
	"LIMIT 1 OFFSET {candidates:UInt64} FORMAT TabSeparated";

/* Clicks by people on the days that are counted. */
#define DAYS                                                                   \
	"link_days WHERE day >= toDate({since:UInt16}) AND "                   \
	"day < toDate({until:UInt16}) AND "                                    \
	"(toDateTime(day, 'UTC'), attempt) IN (SELECT unit, max(attempt) "     \
	"FROM settled WHERE kind = 'link_day' AND "                            \
	"unit >= toDateTime(toDate({since:UInt16}), 'UTC') AND "               \
	"unit < toDateTime(toDate({until:UInt16}), 'UTC') GROUP BY unit)"

/* --- candidates -------------------------------------------------------------
 */

/* Candidates are selected as a place: (number, link_id, code). */
static void put_created(struct buf *sql, const struct links_query *q)
{
	buf_puts(sql, "SELECT toUInt64(greatest(0, "
		      "toUnixTimestamp64Milli(created_at))) AS n_place, "
		      "link_id, code AS a_code FROM links WHERE ");
	put_where(sql, q);
	buf_puts(sql, " AND created_at <= " AFTER " AND (created_at < " AFTER
		      " OR link_id < {after_id:UInt64}) AND created_at >= "
		      "fromUnixTimestamp64Milli({oldest:Int64}, 'UTC') "
		      "ORDER BY created_at DESC, link_id DESC "
		      "LIMIT {candidates:UInt64}");
}

static void put_clicked(struct buf *sql, const struct links_query *q)
{
	buf_puts(sql, "SELECT sum(effective) AS n_place, link_id, '' AS "
		      "a_code FROM " DAYS);
	if (links_query_filters(q)) {
		buf_puts(sql, " AND link_id IN (SELECT link_id FROM links "
			      "WHERE ");
		put_where(sql, q);
		buf_puts(sql, ")");
	}
	buf_puts(sql, " GROUP BY link_id HAVING n_place > 0 AND "
		      "(n_place < {number:UInt64} OR "
		      "(n_place = {number:UInt64} AND "
		      "link_id < {after_id:UInt64})) "
		      "ORDER BY n_place DESC, link_id DESC "
		      "LIMIT {candidates:UInt64}");
}

/* --- pages ------------------------------------------------------------------
 */

/* Selects the codes of the candidates. */
static const char *codes_of(enum links_part part)
{
	return part == LINKS_CLICKED ? "SELECT arrayJoin(codes)"
				     : "SELECT arrayJoin(picked).3";
}

/* The links of a page lie in as many places, and a thousand rows are read at
 * each: too few for a second thread without these settings.  Where more is
 * read, such small pieces cost more than they gain. */
#define BY_ALL_THREADS                                                         \
	" SETTINGS merge_tree_min_rows_for_concurrent_read = 1024, "           \
	"merge_tree_min_bytes_for_concurrent_read = 65536"

/* Selects the newest version of each candidate.  The code finds a link in the
 * table; the time of creation finds it in the projection, where the links of a
 * page lie together. */
static void put_newest(struct buf *sql, enum links_part part)
{
	buf_printf(sql,
		   "SELECT code, link_id, version, space, generation, state, "
		   "ttl_class, created_at, changed_at, expires_at, url, "
		   "redirect_status, owner, campaign, tags, domain, "
		   "description, account, creator, editor, targets, "
		   "not_before, max_visits FROM links WHERE code IN (%s) AND "
		   "link_id IN (SELECT arrayJoin(picked).2)",
		   codes_of(part));
	if (part != LINKS_CLICKED)
		buf_puts(sql, " AND created_at IN (SELECT "
			      "fromUnixTimestamp64Milli(toInt64("
			      "arrayJoin(picked).1), 'UTC'))");
	buf_puts(sql, " ORDER BY version DESC LIMIT 1 BY code, "
		      "link_id" BY_ALL_THREADS);
}

/* Selects the newest link of each code, which is the present one: generations
 * are the upper bits of a link_id. */
static void put_present(struct buf *sql, enum links_part part)
{
	buf_printf(sql,
		   "SELECT code AS present_code, max(link_id) AS present_id "
		   "FROM links WHERE code IN (%s) GROUP BY code" BY_ALL_THREADS,
		   codes_of(part));
}

/* The row has as many columns as the others; constants of the same name would
 * have to be of the same type. */
static const char picked_row[] =
	"SELECT 'picked', picked[-1].1, picked[-1].2, length(picked), "
	"0 AS h1, 0 AS h2, 0 AS h3, '' AS h4, '' AS h5, '' AS h6, '' AS h7, "
	"'' AS h8, '' AS h9, '' AS h10, '' AS h11, '' AS h12, '' AS h13, "
	"'' AS h14, '' AS h15, '' AS h16, '' AS h17, 0 AS h18, 0 AS h19, "
	"0 AS h20, 0 AS h21, 0 AS h22, 0 AS h23, 0 AS h24, 0 AS h25";

/* The columns in the order of enum links_column. */
static const char link_columns[] =
	"toValidUTF8(code), toValidUTF8(url), toValidUTF8(state), "
	"toValidUTF8(space), toValidUTF8(ttl_class), "
	"toValidUTF8(description), toValidUTF8(owner), toValidUTF8(account), "
	"toValidUTF8(campaign), toValidUTF8(domain), toValidUTF8(creator), "
	"toValidUTF8(editor), toValidUTF8(toJSONString(tags)), "
	"toValidUTF8(toJSONString(targets)), generation, version, "
	"redirect_status, toUnixTimestamp64Milli(created_at), "
	"toUnixTimestamp64Milli(changed_at), "
	"toUnixTimestamp64Milli(expires_at), "
	"toUnixTimestamp64Milli(not_before), max_visits";

static void put_links(struct buf *sql, const struct links_query *q,
		      enum links_part part)
{
	static const char *const clicks[] = {
		[LINKS_BY_CREATION] = "toUInt64(0)",
		[LINKS_CLICKED] = "n_place",
		[LINKS_UNCLICKED] = "n_effective",
	};

	buf_puts(sql, "SELECT 'link', n_place, link_id, 0, (");
	put_where(sql, q);
	buf_printf(sql,
		   ") AND state != '" ARCHIVE_FORGOTTEN
		   "'%s, link_id = present_id, %s, ",
		   part == LINKS_UNCLICKED ? " AND n_effective = 0" : "",
		   clicks[part]);
	buf_puts(sql, link_columns);
	buf_puts(sql, " FROM (");
	put_newest(sql, part);
	buf_puts(sql, ") AS newest INNER JOIN (SELECT DISTINCT one.1 AS "
		      "n_place, one.2 AS chosen_id FROM (SELECT "
		      "arrayJoin(picked) AS one)) AS chosen ON "
		      "newest.link_id = chosen.chosen_id INNER JOIN (");
	put_present(sql, part);
	buf_puts(sql, ") AS present ON newest.code = present.present_code");
	if (part == LINKS_UNCLICKED)
		buf_puts(sql, " LEFT JOIN (SELECT link_id AS clicked_id, "
			      "sum(effective) AS n_effective FROM " DAYS
			      " AND link_id IN (SELECT arrayJoin(picked).2) "
			      "GROUP BY clicked_id) AS clicked ON "
			      "newest.link_id = clicked.clicked_id");
	buf_puts(sql, " ORDER BY n_place DESC, link_id DESC");
}

/*
 * A scalar subquery has its own settings.  The indexes belong to the table's
 * own order, which ClickHouse does not choose by itself.
 */
static void put_order(struct buf *sql, const struct links_query *q,
		      const struct links_scan *scan)
{
	if (links_query_is_by_owner(q) && !scan->oldest_ms)
		buf_puts(sql, " SETTINGS preferred_optimize_projection_name = "
			      "'by_owner_and_creation'");
	else if (scan->indexed)
		buf_puts(sql, " SETTINGS optimize_use_projections = 0");
}

/* A window with too few candidates for a page returns none: the next round
 * picks them again, with those of all times. */
static void put_picked(struct buf *sql, const struct links_query *q,
		       const struct links_scan *scan)
{
	buf_puts(sql, "(SELECT arrayResize(groupArray((n_place, link_id, "
		      "a_code)) AS every, if({oldest:Int64} > 0 AND "
		      "length(every) < {candidates:UInt64}, 0, length(every))) "
		      "FROM (");
	if (scan->after.part == LINKS_CLICKED)
		put_clicked(sql, q);
	else
		put_created(sql, q);
	buf_putc(sql, ')');
	put_order(sql, q, scan);
	buf_puts(sql, ") AS picked");
	/* The clicks of days have no codes. */
	if (scan->after.part == LINKS_CLICKED)
		buf_puts(sql,
			 ", (SELECT groupArray(code) FROM links WHERE "
			 "link_id IN (SELECT "
			 "arrayJoin(picked).2)" ARCHIVE_BY_LINK ") AS codes");
}

void links_sql_page(struct buf *sql, const struct links_query *q,
		    const struct links_scan *scan)
{
	buf_puts(sql, "WITH ");
	put_picked(sql, q, scan);
	buf_putc(sql, ' ');
	buf_puts(sql, picked_row);
	buf_puts(sql, " UNION ALL SELECT * FROM (");
	put_links(sql, q, scan->after.part);
	buf_puts(sql, ") FORMAT TabSeparated");
}
