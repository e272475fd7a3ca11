#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/links/link_json.h"
#include "aggregator/api/links/links_counted.h"
#include "aggregator/api/links/links_query.h"
#include "aggregator/api/links/links_sql.h"
#include "common/clickhouse/rows.h"

/*
 * The number of newest rows that are searched in the order of creation before
 * the indexes are used for the rest: most matches of a common filter are among
 * them.
 */
#define WINDOW_ROWS 500000
/* Each round for a page has twice the candidates of the one before, up to
 * this. */
#define CANDIDATES_MAX 8192
/* Queries for one page at most.  The next page continues the search. */
#define ROUNDS_MAX 8

/* The number of links that is counted exactly. */
#define TOTAL_MAX 10000

#define NO_MEMORY_FOR_LIST                                                     \
	"ClickHouse has not enough memory for this list: give more filters, "  \
	"or sort=created"
#define NO_MEMORY_FOR_TOTAL                                                    \
	"ClickHouse has not enough memory to count these links: give more "    \
	"filters, or no total"

/* A page while rounds of queries fill it; only the last round can complete it.
 */
struct links_page {
	const struct links_query *q;
	const struct access *access;
	const struct domains *domains;
	json_t *links;
	size_t count;
	struct links_place last; /* the last in `links` */
	bool more;		 /* there is a link behind `last` */

	/* The query under way. */
	struct links_scan scan;
	uint64_t picked;
	struct links_place last_picked;
};

/* --- a page -----------------------------------------------------------------
 */

static int set_clicks(json_t *link, char *const *f)
{
	static const struct {
		const char *name;
		enum links_column column;
	} counts[] = {{"clicks", LINKS_ROW_CLICKS},
		      {"humans", LINKS_ROW_HUMANS},
		      {"bots", LINKS_ROW_BOTS},
		      {"prefetches", LINKS_ROW_PREFETCHES}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (json_object_set_new(
			    link, counts[i].name,
			    json_count(tsv_u64(f[counts[i].column]))) < 0)
			return -1;
	return 0;
}

static int add_link(struct links_page *page, char *const *f, struct error *err)
{
	json_t *link = link_row_to_json(f, page->domains);
	int status = link ? 0 : -1;

	if (status == 0 && page->q->has_clicks)
		status = set_clicks(link, f);
	if (status == 0)
		status = json_array_append(page->links, link);
	json_decref(link);
	return status < 0 ? error_set_nomem(err) : 0;
}

static int take_row(void *arg, char **f, struct error *err)
{
	struct links_page *page = arg;
	struct links_place place = page->scan.after;
	const struct key_link whose = {.account = f[LINKS_ROW_ACCOUNT],
				       .owner = f[LINKS_ROW_OWNER]};

	place.number = tsv_u64(f[LINKS_ROW_NUMBER]);
	place.link_id = tsv_u64(f[LINKS_ROW_LINK_ID]);
	if (!strcmp(f[LINKS_ROW_KIND], "picked")) {
		page->picked = tsv_u64(f[LINKS_ROW_PICKED]);
		page->last_picked = place;
		return 0;
	}
	if (!tsv_u64(f[LINKS_ROW_MATCHES]) || page->more ||
	    !access_sees_link(page->access, &whose))
		return 0;
	if (page->count == page->q->limit) {
		page->more = true;
		return 0;
	}
	page->count++;
	page->last = place;
	return add_link(page, f, err);
}

static int query_links(struct call *call, struct links_page *page,
		       const char *sql, const char *columns,
		       clickhouse_row_fn *fn, void *arg, struct error *err)
{
	struct links_params params;
	int status = links_params_fill(&params, page->q, &page->scan, err);

	if (status == 0)
		status = clickhouse_rows(call->ch, sql, params.items, columns,
					 fn, arg, err);
	if (status < 0)
		call_explain_memory(call, NO_MEMORY_FOR_LIST, err);
	links_params_release(&params);
	return status;
}

static int ask_page(struct call *call, struct links_page *page,
		    struct error *err)
{
	struct buf sql = {0};
	int status = -1;

	links_sql_page(&sql, page->q, &page->scan);
	page->picked = 0;
	if (!buf_cstr(&sql))
		error_set_nomem(err);
	else
		status = query_links(call, page, sql.data, LINKS_SQL_COLUMNS,
				     take_row, page, err);
	buf_free(&sql);
	return status;
}

static int take_window(void *arg, char **f, struct error *err)
{
	(void)err;
	*(uint64_t *)arg = tsv_u64(f[0]);
	return 0;
}

static bool is_by_creation(const struct links_place *place)
{
	return place->part == LINKS_BY_CREATION ||
	       place->part == LINKS_UNCLICKED;
}

/* Moves the place past links that were created after the requested range, or
 * before it in ascending order. */
static void skip_others(const struct links_query *q, struct links_place *place)
{
	uint64_t last = q->created_to > 0 ? (uint64_t)q->created_to - 1 : 0;

	if (!is_by_creation(place))
		return;
	if (q->ascending && q->created_from >= 0 &&
	    place->number < (uint64_t)q->created_from) {
		place->number = (uint64_t)q->created_from;
		place->link_id = 0;
	} else if (!q->ascending && q->created_to >= 0 &&
		   place->number > last) {
		place->number = last;
		place->link_id = UINT64_MAX;
	}
}

/* Returns whether a window up to that time has the whole range. */
static bool covers_range(const struct links_query *q, uint64_t window_ms)
{
	return q->ascending ? q->created_to >= 0 &&
				      (uint64_t)q->created_to <= window_ms
			    : q->created_from >= 0 &&
				      (uint64_t)q->created_from >= window_ms;
}

/* A single owner's links are stored in the order of creation; those of several
 * owners are not. */
static bool needs_window(const struct links_query *q)
{
	return links_query_filters(q) &&
	       !(links_query_is_by_owner(q) && q->filters[LINKS_OWNER]);
}

static int ask_window(struct call *call, struct links_page *page, uint64_t *ret,
		      struct error *err)
{
	struct buf sql = {0};
	int status = -1;

	links_sql_window(&sql, page->q);
	if (!buf_cstr(&sql))
		error_set_nomem(err);
	else
		status = query_links(call, page, sql.data, "n", take_window,
				     ret, err);
	buf_free(&sql);
	return status;
}

/* Returns whether candidates are selected by ends, many of which visits may
 * have put off. */
static bool may_have_old_ends(const struct links_query *q, enum links_part part)
{
	const char *state = q->filters[LINKS_STATE];

	return part == LINKS_ENDING ||
	       (state && !strcmp(state, LINKS_STATE_EXPIRED));
}

/* Starts a scan behind `after`.  If a filter may have to skip many rows, the
 * scan covers the newest rows first, in the order of creation. */
static int start_scan(struct call *call, struct links_page *page,
		      struct links_place after, struct error *err)
{
	const struct links_query *q = page->q;
	struct links_scan *scan = &page->scan;

	skip_others(q, &after);
	*scan = (struct links_scan){.after = after, .candidates = WINDOW_ROWS};
	if (is_by_creation(&after) && needs_window(q) &&
	    ask_window(call, page, &scan->window_ms, err) < 0)
		return -1;
	if (covers_range(q, scan->window_ms))
		scan->window_ms = 0;
	/* Some candidates fail, or are duplicates. */
	scan->candidates = q->limit + q->limit / 8 + 8;
	if (may_have_old_ends(q, after.part))
		scan->candidates *= 2;
	return 0;
}

/* Moves the scan to the place up to which everything was searched, where the
 * next round starts.  Sets *ret_end at the end of the list. */
static int advance_scan(struct call *call, struct links_page *page,
			bool *ret_end, struct error *err)
{
	struct links_scan *scan = &page->scan;
	struct links_place next;
	enum links_part part;

	if (page->picked == scan->candidates) {
		scan->after = page->last_picked;
		if (scan->candidates < CANDIDATES_MAX / 2)
			scan->candidates *= 2;
	} else if (scan->window_ms) {
		scan->window_ms = 0;
		scan->indexed = true;
	} else if (links_query_next_part(page->q, scan->after.part, &part)) {
		next = links_place_first(part, page->q->ascending);
		next.until_day = scan->after.until_day;
		next.until_slot = scan->after.until_slot;
		return start_scan(call, page, next, err);
	} else {
		*ret_end = true;
	}
	return 0;
}

/* Runs rounds until the page is full and another link is known to follow, or
 * the list ends.  `ret_next` is where the next page begins; *ret_more is false
 * if there is none. */
static int fill_page(struct call *call, struct links_page *page,
		     struct links_place *ret_next, bool *ret_more,
		     struct error *err)
{
	bool end = false;

	if (start_scan(call, page, page->q->at, err) < 0)
		return -1;
	for (int round = 0; round < ROUNDS_MAX && !end; round++) {
		if (ask_page(call, page, err) < 0)
			return -1;
		if (page->more)
			break;
		if (advance_scan(call, page, &end, err) < 0)
			return -1;
		/* The page is full: to find out whether another link follows
		 * costs more than it is worth. */
		if (page->count == page->q->limit && !end)
			break;
	}
	*ret_more = !end;
	*ret_next =
		page->count == page->q->limit ? page->last : page->scan.after;
	return 0;
}

/* Counts all links of the list; one more than TOTAL_MAX stands for any number
 * above it. */
static int count_links(struct call *call, struct links_page *page,
		       uint64_t *ret, struct error *err)
{
	struct buf sql = {0};
	int status = -1;

	page->scan.candidates = TOTAL_MAX + 1;
	links_sql_total(&sql, page->q);
	if (!buf_cstr(&sql))
		error_set_nomem(err);
	else
		status = query_links(call, page, sql.data, "n", take_window,
				     ret, err);
	if (status < 0)
		call_explain_memory(call, NO_MEMORY_FOR_TOTAL, err);
	buf_free(&sql);
	return status;
}

/* --- the answer -------------------------------------------------------------
 */

/* NULL: out of memory. */
static json_t *next_to_json(const struct links_query *q,
			    const struct links_place *next)
{
	struct buf cursor = {0};
	json_t *text;

	if (!next)
		return json_null();
	links_cursor_put(&cursor, q, next);
	text = json_string(buf_cstr(&cursor));
	buf_free(&cursor);
	return text;
}

/* NULL: out of memory. */
static json_t *total_to_json(uint64_t total)
{
	bool exact = total <= TOTAL_MAX;

	return json_pack("{s:o, s:b}", "links",
			 json_count(exact ? total : TOTAL_MAX), "exact", exact);
}

static json_t *to_json(const struct links_page *page, uint64_t total,
		       const struct links_place *next,
		       const struct links_counted *counted)
{
	static const char *const sorts[] = {
		[LINKS_SORT_CREATED] = "created",
		[LINKS_SORT_CLICKS] = "clicks",
		[LINKS_SORT_ENDS] = "ends",
	};
	const struct links_query *q = page->q;
	json_t *answer =
		json_pack("{s:s, s:s, s:O, s:o}", "sort", sorts[q->sort],
			  "order", q->ascending ? "asc" : "desc", "links",
			  page->links, "next", next_to_json(q, next));

	if (answer && q->has_total &&
	    json_object_set_new(answer, "total", total_to_json(total)) < 0) {
		json_decref(answer);
		return NULL;
	}
	if (answer && q->has_clicks &&
	    json_object_set_new(answer, "counted",
				links_counted_to_json(counted)) < 0) {
		json_decref(answer);
		return NULL;
	}
	return answer;
}

int route_links(struct call *call, struct error *err)
{
	struct links_query q;
	struct links_place next;
	struct access_bounds bounds = {.account = NULL};
	struct links_page page = {.q = &q,
				  .access = call->access,
				  .domains = call->domains,
				  .links = json_array()};
	struct links_counted counted = {.waiting = NULL};
	bool more = false;
	uint64_t total = 0;
	int status = links_query_parse(&q, call->query,
				       &call->config->aggregator, err);

	q.bounds = &bounds;
	q.spaces = &call->config->links;
	if (status == 0)
		status = call_now(call, &q.now, err);
	if (status == 0 && q.filters[LINKS_OWNER])
		status = access_check_owner(call->access,
					    q.filters[LINKS_ACCOUNT] != NULL,
					    "owner", err);
	if (status == 0)
		status = access_bounds_fill(&bounds, call->access, err);
	if (status == 0)
		status = links_counted_read(call, &q, &counted, err);
	if (status == 0)
		status = fill_page(call, &page, &next, &more, err);
	if (status == 0)
		status = links_json_add_life(call, page.links,
					     q.filters[LINKS_STATE], err);
	if (status == 0 && q.has_total)
		status = count_links(call, &page, &total, err);
	if (status == 0)
		status = call_finish_json(
			call,
			to_json(&page, total, more ? &next : NULL, &counted),
			err);
	json_decref(page.links);
	links_counted_release(&counted);
	access_bounds_release(&bounds);
	links_query_release(&q);
	return status;
}
