#include "collector/tools/rescore/classify.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/rescore/rescore_sql.h"
#include "common/clickhouse/rowbinary.h"

enum {
	KEY_LEN = 16,
	PAGE_MAX = 20000,
};

/* Returns the number of a classification, from 1; 0: there are too many. */
static size_t number_of(struct rescore *rs, const struct classification *c)
{
	struct classification *end =
		rs->classifications + rs->classification_count;

	for (struct classification *i = rs->classifications; i < end; i++)
		if (i->verdict.kind == c->verdict.kind &&
		    !strcmp(i->verdict.reason, c->verdict.reason) &&
		    !strcmp(i->device_class, c->device_class))
			return (size_t)(i - rs->classifications) + 1;
	if (rs->classification_count == CLASSIFICATIONS_MAX)
		return 0;
	rs->classifications[rs->classification_count] = *c;
	return ++rs->classification_count;
}

/* Decodes in place and adds a NUL.  Returns the length, or -1. */
static ssize_t decode_hex_in_place(char *text)
{
	size_t len = strlen(text), n;

	if (sodium_hex2bin((unsigned char *)text, len / 2, text, len, NULL, &n,
			   NULL) < 0 ||
	    n != len / 2)
		return -1;
	text[n] = '\0';
	return (ssize_t)n;
}

/* `fields` are in the order of rescore_sql_agents_after. */
static int classify_agent(struct rescore *rs, char *const fields[4],
			  struct buf *map, struct error *err)
{
	unsigned char key[KEY_LEN];
	ssize_t len = decode_hex_in_place(fields[1]);
	struct agent agent;
	struct classification c, ahead;
	size_t number, number_ahead;

	if (len < 0 || decode_hex_in_place(fields[2]) < 0 ||
	    sodium_hex2bin(key, KEY_LEN, fields[0], 2 * KEY_LEN, NULL, NULL,
			   NULL) < 0)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse: a user agent that is not in hex");
	if (agent_find(rs->lookups->agents, fields[1], (size_t)len, &agent,
		       err) < 0)
		return -1;
	c.verdict = verdict_of_request(fields[2], tsv_u64(fields[3]),
				       agent.verdict);
	c.device_class = agent.device_class;
	ahead.verdict = verdict_of_request(fields[2], tsv_u64(fields[3]),
					   verdict_human);
	ahead.device_class = agent.device_class;
	number = number_of(rs, &c);
	number_ahead = number_of(rs, &ahead);
	if (!number || !number_ahead)
		return error_set(err, ERROR_INPUT,
				 "more than %d kinds of verdicts",
				 CLASSIFICATIONS_MAX);
	rowbinary_fixed(map, key, KEY_LEN);
	rowbinary_u16(map, (uint16_t)number);
	rowbinary_u16(map, (uint16_t)number_ahead);
	rowbinary_u64(map,
		      verdict_rules_of_agent(rs->lookups->ref.verdict_rules,
					     fields[1], (size_t)len));
	return 0;
}

static int write_map(struct rescore *rs, const struct buf *map,
		     struct error *err)
{
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};
	struct buf sql = {0};
	int status;

	if (map->failed)
		return error_set_nomem(err);
	rescore_sql_insert_map(rs, &sql);
	status = buf_cstr(&sql) ? clickhouse_insert(rs->ch, sql.data, params,
						    map->data, map->len, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

struct class_page {
	struct rescore *rs;
	struct buf map;		    /* rows for the table `map` */
	char last[2 * KEY_LEN + 1]; /* key of the last row */
	uint64_t count;
};

static int take_agent(void *arg, char **fields, struct error *err)
{
	struct class_page *page = arg;

	memccpy(page->last, fields[0], 0, 2 * KEY_LEN);
	page->count++;
	return classify_agent(page->rs, fields, &page->map, err);
}

/* Classifies the rows after page->last. */
static int classify_page(struct class_page *page, int64_t limit,
			 struct error *err)
{
	struct buf sql = {0};
	int status;

	page->count = 0;
	buf_reset(&page->map);
	rescore_sql_agents_after(page->rs, page->last, limit, &sql);
	status = rescore_rows(page->rs, &sql, "sssn", take_agent, page, err);
	buf_free(&sql);
	if (status == 0 && page->count)
		status = write_map(page->rs, &page->map, err);
	return status;
}

/* Returns the rows per page, so that the longest user agents fit into an
 * answer. */
static int64_t page_rows(const struct rescore *rs)
{
	int64_t rows = rs->config->clickhouse.response_max /
		       (2 * rs->settings->max_text + 256);

	return rows < 1 ? 1 : rows > PAGE_MAX ? PAGE_MAX : rows;
}

static int classify_agents(struct rescore *rs, uint64_t *ret_count,
			   struct error *err)
{
	struct class_page page = {.rs = rs};
	int64_t limit = page_rows(rs);
	int status;

	do {
		status = classify_page(&page, limit, err);
		*ret_count += page.count;
		if (status == 0 && rescore_is_stopped(rs, 0, err))
			status = -1;
	} while (status == 0 && page.count == (uint64_t)limit);
	buf_free(&page.map);
	return status;
}

int classify_day(struct rescore *rs, uint64_t *ret_count, struct error *err)
{
	void (*const make[])(const struct rescore *, struct buf *) = {
		rescore_sql_make_agents, rescore_sql_make_map,
		rescore_sql_make_bursts, rescore_sql_fill_agents};
	struct buf sql = {0};
	int status = 0;

	*ret_count = 0;
	rs->classification_count = 0;
	for (size_t i = 0; status == 0 && i < sizeof(make) / sizeof(*make);
	     i++) {
		make[i](rs, &sql);
		status = rescore_run(rs, &sql, err);
	}
	if (status == 0)
		status = classify_agents(rs, ret_count, err);
	if (status == 0 && *ret_count &&
	    (rs->settings->scan_codes || rs->settings->scan_not_found)) {
		rescore_sql_fill_bursts(rs, &sql);
		status = rescore_run(rs, &sql, err);
	}
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "classify") : 0;
}
