#include "allocator/archive/host_links.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/host_filter.h"
#include "common/clickhouse/rows.h"
#include "linkstore/target.h"

#define PAGE 1000 /* links */

struct found_link {
	char code[ALIAS_TEXT_MAX];
	uint64_t link_id;
	char *account;
	bool leads_there; /* and is neither deleted nor blocked */
};

struct link_page {
	const char *domain;
	char after_code[ALIAS_TEXT_MAX];
	uint64_t after_id;
	struct found_link links[PAGE];
	size_t count;
};

/* Candidates are rows of any version.  The newest of each is read, and decides
 * whether the link leads there now. */
static void put_query(struct buf *sql, const char *domain)
{
	const char *condition = host_filter_condition(domain);

	buf_printf(sql,
		   "SELECT code, link_id, account, %s "
		   "AND state NOT IN ('deleted', 'blocked', 'forgotten') "
		   "FROM (SELECT code, link_id, account, state, url, targets "
		   "FROM links WHERE (code, link_id) IN ("
		   "SELECT code, link_id FROM links WHERE %s AND %s "
		   "AND (code, link_id) > ({code:String}, {link_id:UInt64}) "
		   "ORDER BY code, link_id LIMIT 1 BY code, link_id "
		   "LIMIT {page:UInt64}) "
		   "ORDER BY code, link_id, version DESC "
		   "LIMIT 1 BY code, link_id) "
		   "ORDER BY code, link_id "
		   "SETTINGS optimize_use_projections = 0 "
		   "FORMAT TabSeparated",
		   condition, host_filter_narrowing(domain), condition);
}

/* A code that is longer than any is none of ours. */
static int take_link(void *arg, char **f, struct error *err)
{
	struct link_page *page = arg;
	struct found_link *link = &page->links[page->count];

	if (page->count == PAGE || strlen(f[0]) >= sizeof(link->code))
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse sent another page of links than "
				 "was requested");
	strcpy(link->code, f[0]);
	link->link_id = tsv_u64(f[1]);
	link->account = strdup(f[2]);
	if (!link->account)
		return error_set_nomem(err);
	link->leads_there = tsv_u64(f[3]);
	page->count++;
	return 0;
}

static void empty_page(struct link_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->links[i].account);
	page->count = 0;
}

static int read_page(struct clickhouse *ch, struct link_page *page,
		     struct error *err)
{
	char id[24], size[24];
	struct buf sql = {0}, names = {0};
	int status = -1;

	snprintf(id, sizeof(id), "%" PRIu64, page->after_id);
	snprintf(size, sizeof(size), "%d", PAGE);
	put_query(&sql, page->domain);
	host_filter_put_names(&names, page->domain);
	if (!buf_cstr(&sql) || !buf_cstr(&names))
		error_set_nomem(err);
	else
		status = clickhouse_rows(
			ch, sql.data,
			(const struct clickhouse_param[]){
				{"param_url_host", page->domain},
				{"param_url_host_domains", names.data},
				{"param_code", page->after_code},
				{"param_link_id", id},
				{"param_page", size},
				{0}},
			"snsn", take_link, page, err);
	buf_free(&sql);
	buf_free(&names);
	return status;
}

static int pass_page(struct link_page *page, host_link_fn *fn, void *arg,
		     struct error *err)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct found_link *l = &page->links[i];
		const struct host_link link = {l->code, l->link_id, l->account};

		strcpy(page->after_code, l->code);
		page->after_id = l->link_id;
		if (l->leads_there && fn(arg, &link, err) < 0)
			return -1;
	}
	return 0;
}

int host_links_each(struct clickhouse *ch, const char *domain, host_link_fn *fn,
		    void *arg, struct error *err)
{
	struct link_page *page = calloc(1, sizeof(*page));
	bool is_last = false;
	int status = 0;

	if (!page)
		return error_set_nomem(err);
	page->domain = domain;
	while (status == 0 && !is_last) {
		status = read_page(ch, page, err);
		is_last = page->count < PAGE;
		if (status == 0)
			status = pass_page(page, fn, arg, err);
		empty_page(page);
	}
	free(page);
	return status;
}
