#include "aggregator/api/export/export_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/caller_params.h"
#include "aggregator/api/export/export_rows.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* Links in one query: they are in its text, which the server limits to 256 KiB.
 */
#define LINKS_PER_QUESTION 10000
/* Days in one query at most.  Rows of several days have to be sorted. */
#define SPAN_MAX 32
/* Rows in a query of several days at most. */
#define SORTED_ROWS_MAX 8192
#define MEMORY		"268435456"
/* Niceness of the query's threads: questions and settling go first, if the
 * server may set it. */
#define NICE "15"

static int64_t day_of(int64_t ms)
{
	return ms / CLOCK_DAY * CLOCK_DAY;
}

/* Returns the index of the first link that is not below `id`. */
static size_t find_link(const struct export_links *links, uint64_t id)
{
	size_t low = 0, high = links->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (links->ids[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns whether a query covers only some of the links.  Several days have no
 * order then. */
static bool is_in_portions(const struct export_scan *s)
{
	return !s->all_links && s->links.count > LINKS_PER_QUESTION;
}

/* Goes on behind `last`, or on the next day if no links are left on that of
 * `last`. */
static void go_on(struct export_scan *s)
{
	s->begun = s->after = true;
	s->span = 1;
	s->day = day_of(s->last.ts_ms);
	if (s->all_links)
		return;
	s->next_link = find_link(&s->links, s->last.link_id);
	if (s->next_link < s->links.count)
		return;
	s->next_link = 0;
	s->after = false;
	s->found = 0;
	s->day += CLOCK_DAY;
	s->seek = is_in_portions(s);
}

void export_scan_start(struct export_scan *s, const struct export_place *after)
{
	s->day = day_of(s->range.from_ms);
	s->span = 1;
	s->next_link = 0;
	s->after = s->begun = false;
	s->found = 0;
	s->seek = !after;
	if (!after)
		return;
	s->last = *after;
	s->found = SORTED_ROWS_MAX; /* at least so many in the export before */
	go_on(s);
}

void export_scan_release(struct export_scan *s)
{
	export_links_release(&s->links);
}

bool export_scan_is_done(const struct export_scan *s)
{
	return clock_later(s->day, s->range.from_ms) >= s->range.to_ms ||
	       (!s->all_links && !s->links.count);
}

struct export_place export_scan_place(const struct export_scan *s)
{
	struct export_place place = {
		.ts_ms = clock_later(s->day, s->range.from_ms)};

	if (s->begun)
		return s->last;
	/* No row is at offset 0 of a topic without a name, nor before it. */
	if (!s->all_links && s->links.count)
		place.link_id = s->links.ids[s->next_link];
	return place;
}

/* Returns the end of the query's links, which begin at next_link. */
static size_t links_end(const struct export_scan *s)
{
	size_t left = s->links.count - s->next_link;

	return s->next_link +
	       (left < LINKS_PER_QUESTION ? left : LINKS_PER_QUESTION);
}

/* The links are one text: as single numbers, ClickHouse would take as long to
 * read them as to find two thousand rows. */
static void put_links(struct buf *sql, const struct export_scan *s)
{
	if (s->all_links)
		return;
	buf_puts(sql, "AND link_id IN (SELECT arrayJoin(CAST('[");
	for (size_t i = s->next_link; i < links_end(s); i++) {
		if (i > s->next_link)
			buf_putc(sql, ',');
		buf_put_uint(sql, s->links.ids[i]);
	}
	buf_puts(sql, "]', 'Array(UInt64)')))");
}

static void put_sql(struct buf *sql, const struct export_scan *s)
{
	static const char text[] =
#include "aggregator/sql/export_page.sql.inc"
		;
	/* Rows behind `last`.  The index knows only the first two conditions.
	 */
	static const char after[] =
#include "aggregator/sql/parts/export_after.sql.inc"
		;
	static const char of_url[] =
		"AND url_digest = toFixedString(unhex({url:String}), 16)";
	static const char of_visitor[] =
		"AND unique_identity = "
		"toFixedString(unhex({visitor:String}), 20)";
	struct buf links = {0}, columns = {0};

	put_links(&links, s);
	export_columns_put_more(&columns, s->also);
	/* Within one day the order is the table's own: rows are read, not
	 * sorted. */
	const struct statement_blank blanks[] = {
		{"more_columns", statement_piece(sql, &columns)},
		{"of_links", statement_piece(sql, &links)},
		{"of_url", *s->url ? of_url : NULL},
		{"of_visitor", *s->visitor ? of_visitor : NULL},
		{"after", s->after ? after : NULL},
		{"by_day", s->span > 1 ? "toDate(ts)," : NULL},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&columns);
	buf_free(&links);
}

struct last_place {
	struct export_columns columns;
	struct export_place *place;
};

static int take_place(void *arg, char **fields, struct error *err)
{
	struct last_place *last = arg;

	(void)err;
	export_rows_place(&last->columns, fields, last->place);
	return 0;
}

/* Reads the place behind which the next query begins.  It reads a copy, because
 * reading rewrites the text. */
static int read_last(struct export_scan *s, const char *rows, size_t len,
		     struct error *err)
{
	const char *before = memrchr(rows, '\n', len - 1);
	const char *last = before ? before + 1 : rows;
	struct last_place last_place = {.place = &s->last};
	struct buf copy = {0};
	int status;

	buf_append(&copy, last, (size_t)(rows + len - last));
	export_columns_fill(&last_place.columns, s->also);
	status = clickhouse_rows_of(&copy, last_place.columns.letters,
				    take_place, &last_place, err);
	buf_free(&copy);
	return status;
}

/* Counts the line ends: a newline in a field is escaped. */
static int count_rows(const char *rows, size_t len, size_t *ret,
		      struct error *err)
{
	const char *end = rows + len;

	*ret = 0;
	for (; rows < end; (*ret)++) {
		rows = memchr(rows, '\n', (size_t)(end - rows));
		if (!rows++)
			return error_set(err, ERROR_PROTOCOL,
					 "ClickHouse: row %zu of the answer "
					 "has no end",
					 *ret + 1);
	}
	return 0;
}

/* Prepares the query that follows one for `max` rows that returned `rows`. */
static void prepare_next_query(struct export_scan *s, size_t rows, size_t max)
{
	s->begun |= rows > 0;
	s->found += rows;
	if (rows == max) {
		go_on(s);
		return;
	}
	s->after = false;
	if (!s->all_links && links_end(s) < s->links.count) {
		s->next_link = links_end(s);
		return;
	}
	s->next_link = 0;
	s->day += s->span * CLOCK_DAY;
	s->seek = !s->found || is_in_portions(s);
	if (is_in_portions(s))
		s->span = 1;
	else if (s->found > SORTED_ROWS_MAX / 4)
		s->span = s->span > 1 ? s->span / 2 : 1;
	else if (s->span < SPAN_MAX)
		s->span *= 2;
	s->found = 0;
}

/* The parameters that a query may name. */
struct page_params {
	char from[24], to[24], append[24], next_day[24], ts[24], link[24],
		partition[24], offset[24], epoch[24], max[24];
};

static void put_ms(char text[24], int64_t ms)
{
	snprintf(text, 24, "%" PRId64, ms);
}

static void put_number(char text[24], uint64_t number)
{
	snprintf(text, 24, "%" PRIu64, number);
}

static void page_params_fill(struct page_params *n, const struct export_scan *s,
			     size_t max)
{
	const struct export_range *r = &s->range;

	put_ms(n->from, clock_later(s->day, r->from_ms));
	put_ms(n->to, clock_earlier(s->day + s->span * CLOCK_DAY, r->to_ms));
	put_ms(n->append, r->append_before_ms);
	put_ms(n->next_day, day_of(s->last.ts_ms) + CLOCK_DAY);
	put_ms(n->ts, s->last.ts_ms);
	put_number(n->link, s->last.link_id);
	put_number(n->partition, s->last.partition);
	put_number(n->offset, s->last.offset);
	put_number(n->epoch, s->last.epoch);
	put_number(n->max, max);
}

static int query_page(struct export_scan *s, struct clickhouse *ch, size_t max,
		      struct buf *answer, struct error *err)
{
	struct buf topic = {0}, sql = {0};
	struct caller_params caller;
	struct page_params n;
	int status = caller_params_of(&caller, s->access, err);

	page_params_fill(&n, s, max);
	put_sql(&sql, s);
	clickhouse_escape(&topic, s->last.topic, strlen(s->last.topic));
	const struct clickhouse_param params[] = {
		{"param_from", n.from},
		{"param_to", n.to},
		{"param_append", n.append},
		{"param_next_day", n.next_day},
		{"param_ts", n.ts},
		{"param_link", n.link},
		{"param_partition", n.partition},
		{"param_offset", n.offset},
		{"param_epoch", n.epoch},
		{"param_topic", topic.data},
		{"param_max", n.max},
		{"param_url", s->url},
		{"param_visitor", s->visitor},
		caller.items[0],
		caller.items[1],
		caller.items[2],
		caller.items[3],
		/* Few threads, limited memory, and no large block, which would
		 * be held beside the rows. */
		{"max_threads", "2"},
		{"max_memory_usage", MEMORY},
		{"max_block_size", "8192"},
		{"os_thread_priority", NICE},
		{NULL, NULL}};

	if (status == 0 && (!buf_cstr(&sql) || topic.failed))
		status = error_set_nomem(err);
	if (status == 0)
		status = clickhouse_query(ch, sql.data, params, answer, err);
	buf_free(&topic);
	buf_free(&sql);
	caller_params_release(&caller);
	return status;
}

static int read_page_rows(struct export_scan *s, struct clickhouse *ch,
			  size_t max, struct buf *answer, size_t *ret_rows,
			  struct error *err)
{
	size_t start = answer->len, len;
	const char *rows;

	if (query_page(s, ch, max, answer, err) < 0)
		return -1;
	len = answer->len - start;
	*ret_rows = 0;
	if (!len)
		return 0;
	rows = answer->data + start;
	return count_rows(rows, len, ret_rows, err) < 0
		       ? -1
		       : read_last(s, rows, len, err);
}

/*
 * Moves on to the first day of which the table has rows, of any link, or to the
 * end: a day without rows would cost a query for each portion of the links.  By
 * the key of partitions, and without an end, ClickHouse answers from what it
 * knows of its parts; by `ts` it would read all remaining rows.
 */
static int seek_day(struct export_scan *s, struct clickhouse *ch,
		    struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/export_seek.sql.inc"
		;
	char from[24];
	const struct clickhouse_param params[] = {{"param_from", from},
						  {"max_threads", "1"},
						  {"max_memory_usage", MEMORY},
						  {NULL, NULL}};
	uint64_t found[2]; /* the rows, and the time of the first */

	put_ms(from, s->day);
	if (clickhouse_numbers(ch, sql, params, found, 2, err) < 0)
		return -1;
	s->seek = false;
	s->day = found[0] ? clock_later(s->day, day_of((int64_t)found[1]))
			  : s->range.to_ms;
	return 0;
}

int export_scan_next(struct export_scan *s, struct clickhouse *ch, size_t max,
		     struct buf *answer, size_t *ret_rows, struct error *err)
{
	if (s->span > 1 && max > SORTED_ROWS_MAX)
		max = SORTED_ROWS_MAX;
	if (s->seek) {
		*ret_rows = 0;
		return seek_day(s, ch, err);
	}
	if (read_page_rows(s, ch, max, answer, ret_rows, err) < 0)
		return -1;
	prepare_next_query(s, *ret_rows, max);
	return 0;
}
