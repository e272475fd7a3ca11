#include "aggregator/api/statistics/group_urls.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"

static const char urls_of_digests[] =
#include "aggregator/sql/urls_of_digests.sql.inc"
	;

/* The groups of one dimension, or of a pair, by the digest of each. */
struct digest_groups {
	struct grouping *grouping;
	bool second; /* the digest is the group's second value */
};

static const char *digest_of(const struct digest_groups *d,
			     const struct group *g)
{
	return d->second ? g->second : g->value;
}

/* A row is: digest, URL.  With two dimensions several groups have a URL. */
static int take_url(void *arg, char **f, struct error *err)
{
	struct digest_groups *d = arg;

	for (size_t i = 0; i < d->grouping->count; i++) {
		struct group *g = &d->grouping->groups[i];

		if (g->url || strcmp(digest_of(d, g), f[0]) != 0)
			continue;
		g->url = strdup(f[1]);
		if (!g->url)
			return error_set_nomem(err);
	}
	return 0;
}

static void put_digests(struct buf *out, const struct digest_groups *d)
{
	for (size_t i = 0; i < d->grouping->count; i++) {
		const char *digest = digest_of(d, &d->grouping->groups[i]);

		if (!*digest)
			continue;
		buf_puts(out, out->len ? "\n" : "");
		buf_puts(out, digest);
	}
}

/* `second`: the digest is the second value of each group. */
static int find_urls(struct clickhouse *ch, struct grouping *g, bool second,
		     struct error *err)
{
	struct digest_groups d = {.grouping = g, .second = second};
	struct buf digests = {0}, value = {0};
	int status = 0;

	g->has_urls = true;
	put_digests(&digests, &d);
	clickhouse_escape(&value, digests.data, digests.len);
	if (digests.failed || !buf_cstr(&value))
		status = error_set_nomem(err);
	const struct clickhouse_param params[] = {{"param_digests", value.data},
						  {NULL, NULL}};
	if (status == 0 && digests.len)
		status = clickhouse_rows(ch, urls_of_digests, params, "ss",
					 take_url, &d, err);
	buf_free(&digests);
	buf_free(&value);
	return status;
}

int group_urls_find(struct clickhouse *ch, const struct question *q,
		    struct clicks_answer *a, struct error *err)
{
	if (question_groups_urls(q))
		return find_urls(ch, &a->groupings[0],
				 !dimension_is_url(q->group_by[0]), err);
	for (size_t i = 0; i < q->breakdown_count; i++)
		if (dimension_is_url(q->breakdowns[i]) &&
		    find_urls(ch, &a->groupings[i], false, err) < 0)
			return -1;
	return 0;
}
