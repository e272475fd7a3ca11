#include "collector/enrich/forgotten.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/hex.h"

struct visitor {
	unsigned char identity[IDENTITY_LEN];
	int64_t until; /* ms */
};

struct forgotten {
	size_t rows; /* of the table */
	uint64_t *links;
	size_t link_count, link_room;
	struct visitor *visitors;
	size_t visitor_count, visitor_room;
};

/* Both ascending: bsearch finds them. */
static int compare_links(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_visitors(const void *a, const void *b)
{
	const struct visitor *x = a, *y = b;

	return memcmp(x->identity, y->identity, IDENTITY_LEN);
}

/* --- reading ----------------------------------------------------------------
 */

/* Makes room for one more; NULL when memory ran out. */
static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	size_t want = *room ? *room * 2 : 64;
	void *grown = items;

	if (count < *room)
		return items;
	grown = realloc(items, want * size);
	if (grown)
		*room = want;
	return grown;
}

static int add_link(struct forgotten *f, uint64_t link_id, struct error *err)
{
	uint64_t *links =
		grow(f->links, f->link_count, &f->link_room, sizeof(*links));

	if (!links)
		return error_set_nomem(err);
	f->links = links;
	links[f->link_count++] = link_id;
	return 0;
}

static int add_visitor(struct forgotten *f, const char *hex, int64_t until,
		       struct error *err)
{
	struct visitor *visitors = grow(f->visitors, f->visitor_count,
					&f->visitor_room, sizeof(*visitors));
	struct visitor *v;

	if (!visitors)
		return error_set_nomem(err);
	f->visitors = visitors;
	v = &visitors[f->visitor_count++];
	v->until = until;
	for (size_t i = 0; i < IDENTITY_LEN; i++)
		v->identity[i] =
			(unsigned char)((unsigned)hex_digit(hex[2 * i]) << 4 |
					(unsigned)hex_digit(hex[2 * i + 1]));
	return 0;
}

/* A row is: link_id, visitor in hexadecimal digits, until, rows of both. */
static int take(void *arg, char **f, struct error *err)
{
	struct forgotten *list = arg;
	uint64_t link_id = tsv_u64(f[0]);

	list->rows += (size_t)tsv_u64(f[3]);
	if (link_id)
		return add_link(list, link_id, err);
	if (strlen(f[1]) != 2 * (size_t)IDENTITY_LEN)
		return error_set(err, ERROR_PROTOCOL,
				 "table forgotten: a visitor of %zu digits",
				 strlen(f[1]));
	return add_visitor(list, f[1], tsv_i64(f[2]), err);
}

static int load(struct forgotten *f, struct clickhouse *ch, struct error *err)
{
	static const char sql[] =
		"SELECT link_id, hex(visitor_id), "
		"toUnixTimestamp64Milli(max(visits_until)), count() FROM "
		"forgotten GROUP BY link_id, visitor_id FORMAT TabSeparated";

	if (clickhouse_rows(ch, sql, NULL, "nsnn", take, f, err) < 0)
		return -1;
	if (f->link_count)
		qsort(f->links, f->link_count, sizeof(*f->links),
		      compare_links);
	if (f->visitor_count)
		qsort(f->visitors, f->visitor_count, sizeof(*f->visitors),
		      compare_visitors);
	return 0;
}

int forgotten_load(struct clickhouse *ch, size_t known, struct forgotten **ret,
		   struct error *err)
{
	uint64_t rows;
	int status = clickhouse_numbers(
		ch, "SELECT count() FROM forgotten FORMAT TabSeparated", NULL,
		&rows, 1, err);

	*ret = NULL;
	if (status == 0 && rows > known) {
		*ret = calloc(1, sizeof(**ret));
		status = *ret ? load(*ret, ch, err) : error_set_nomem(err);
	}
	if (status == 0)
		return 0;
	forgotten_free(*ret);
	*ret = NULL;
	return error_wrap(err, "what is forgotten");
}

void forgotten_free(struct forgotten *f)
{
	if (!f)
		return;
	free(f->links);
	free(f->visitors);
	free(f);
}

/* --- asking -----------------------------------------------------------------
 */

size_t forgotten_count(const struct forgotten *f)
{
	return f ? f->rows : 0;
}

bool forgotten_has_link(const struct forgotten *f, uint64_t link_id)
{
	return f && f->link_count &&
	       bsearch(&link_id, f->links, f->link_count, sizeof(*f->links),
		       compare_links);
}

bool forgotten_has_visitor(const struct forgotten *f,
			   const unsigned char identity[IDENTITY_LEN],
			   int64_t at_ms)
{
	const struct visitor *found;
	struct visitor key = {.until = at_ms};

	if (!f || !f->visitor_count)
		return false;
	memcpy(key.identity, identity, IDENTITY_LEN);
	found = bsearch(&key, f->visitors, f->visitor_count,
			sizeof(*f->visitors), compare_visitors);
	return found && at_ms <= found->until;
}
