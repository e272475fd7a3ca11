#include "aggregator/api/export/export_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"

struct export_owners {
	struct export_links *links;
	const struct access *access;
	const char *account, *owner; /* NULL: any */
	size_t max, cap;
};

static int add_link_id(struct export_owners *r, uint64_t id, struct error *err)
{
	struct export_links *links = r->links;
	uint64_t *more;

	if (links->count == r->max)
		return error_set(err, ERROR_INPUT,
				 "an export of more than %zu links "
				 "(aggregator.export_links_max): give link_id, "
				 "code or owner",
				 r->max);
	if (links->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 1024;
		more = realloc(links->ids, r->cap * sizeof(*more));
		if (!more)
			return error_set_nomem(err);
		links->ids = more;
	}
	links->ids[links->count++] = id;
	return 0;
}

/* A row is: owner, account, and all their links: "[1,2,3]". */
static int take_links(void *arg, char **f, struct error *err)
{
	struct export_owners *r = arg;
	const struct key_link whose = {.owner = f[0], .account = f[1]};
	char *at = f[2];

	if ((r->account && strcmp(r->account, whose.account) != 0) ||
	    (r->owner && strcmp(r->owner, whose.owner) != 0))
		return 0;
	if (!access_sees_link(r->access, &whose))
		return 0;
	while (*at && at[1] >= '0' && at[1] <= '9') {
		if (add_link_id(r, strtoull(at + 1, &at, 10), err) < 0)
			return -1;
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/*
 * Selects links of which any version is within the caller's bounds, with the
 * owner and account of the newest.  The bounds are wider than what the caller
 * sees: take_links checks each.
 */
static const char links_sql[] =
#include "aggregator/sql/export_links.sql.inc"
	;

/* NULL is the empty text.  Returns false if there is no memory. */
static bool escape_text(struct buf *out, const char *text)
{
	clickhouse_escape(out, text ? text : "", text ? strlen(text) : 0);
	return buf_cstr(out);
}

int export_links_read(struct export_links *ret, struct clickhouse *ch,
		      const struct access *access, const char *account,
		      const char *owner, size_t max, struct error *err)
{
	struct export_owners r = {ret, access, account, owner, max, 0};
	struct buf owners = {0}, texts[3] = {{0}};
	struct access_bounds bounds;
	char most[24];
	int status = -1;

	*ret = (struct export_links){0};
	if (access_bounds_fill(&bounds, access, err) < 0)
		goto out;
	snprintf(most, sizeof(most), "%zu", max + 1);
	clickhouse_escape(&owners, bounds.owners.data, bounds.owners.len);
	if (!escape_text(&texts[0], account) ||
	    !escape_text(&texts[1], owner) ||
	    !escape_text(&texts[2], bounds.account) || owners.failed) {
		error_set_nomem(err);
		goto out;
	}
	const struct clickhouse_param params[] = {
		{"param_max", most},
		{"param_any_account", account ? "0" : "1"},
		{"param_account", texts[0].data},
		{"param_any_owner", owner ? "0" : "1"},
		{"param_owner", texts[1].data},
		{"param_any_bound_account", bounds.account ? "0" : "1"},
		{"param_bound_account", texts[2].data},
		{"param_any_bound_owner", bounds.has_owners ? "0" : "1"},
		{"param_bound_owners", owners.data},
		{"max_threads", "1"},
		{NULL, NULL}};
	status = clickhouse_rows(ch, links_sql, params, "sss", take_links, &r,
				 err);
	if (status == 0 && ret->count)
		qsort(ret->ids, ret->count, sizeof(*ret->ids), by_id);
out:
	for (size_t i = 0; i < 3; i++)
		buf_free(&texts[i]);
	buf_free(&owners);
	access_bounds_release(&bounds);
	return status;
}

void export_links_release(struct export_links *links)
{
	free(links->ids);
	*links = (struct export_links){0};
}
