#include "collector/enrich/forgotten.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/hex.h"

struct forgotten_visitor {
	unsigned char identity[IDENTITY_LEN];
	int64_t until; /* ms */
};

struct forgotten {
	struct forgotten_state state;
	uint64_t *links;
	size_t link_count, link_room;
	struct forgotten_visitor *visitors;
	size_t visitor_count, visitor_room;
};

/* Both are ascending, for bsearch. */
static int compare_links(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_visitors(const void *a, const void *b)
{
	const struct forgotten_visitor *x = a, *y = b;

	return memcmp(x->identity, y->identity, IDENTITY_LEN);
}

/* --- load ----------------------------------------------------------------- */

/* Makes room for one more item; returns NULL when memory runs out. */
static void *make_room_for_item(void *items, size_t count, size_t *room,
				size_t size)
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
	uint64_t *links = make_room_for_item(f->links, f->link_count,
					     &f->link_room, sizeof(*links));

	if (!links)
		return error_set_nomem(err);
	f->links = links;
	links[f->link_count++] = link_id;
	return 0;
}

static int add_visitor(struct forgotten *f, const struct forgotten_visitor *v,
		       struct error *err)
{
	struct forgotten_visitor *visitors =
		make_room_for_item(f->visitors, f->visitor_count,
				   &f->visitor_room, sizeof(*visitors));

	if (!visitors)
		return error_set_nomem(err);
	f->visitors = visitors;
	visitors[f->visitor_count++] = *v;
	return 0;
}

static void sort_links_and_visitors(struct forgotten *f)
{
	if (f->link_count)
		qsort(f->links, f->link_count, sizeof(*f->links),
		      compare_links);
	if (f->visitor_count)
		qsort(f->visitors, f->visitor_count, sizeof(*f->visitors),
		      compare_visitors);
}

/* A row is: link_id, visitor in hexadecimal digits, until. */
static int take_forgotten_row(void *arg, char **f, struct error *err)
{
	struct forgotten *list = arg;
	struct forgotten_visitor v = {.until = tsv_i64(f[2])};
	uint64_t link_id = tsv_u64(f[0]);

	if (link_id)
		return add_link(list, link_id, err);
	if (strlen(f[1]) != 2 * (size_t)IDENTITY_LEN)
		return error_set(err, ERROR_PROTOCOL,
				 "table forgotten: a visitor of %zu digits",
				 strlen(f[1]));
	for (size_t i = 0; i < IDENTITY_LEN; i++)
		v.identity[i] = (unsigned char)hex_byte(f[1] + 2 * i, 2);
	return add_visitor(list, &v, err);
}

static int load_links_and_visitors(struct forgotten *f, struct clickhouse *ch,
				   struct error *err)
{
	static const char sql[] =
		"SELECT link_id, hex(visitor_id), "
		"toUnixTimestamp64Milli(max(visits_until)) FROM "
		"forgotten GROUP BY link_id, visitor_id FORMAT TabSeparated";

	if (clickhouse_rows(ch, sql, NULL, "nsn", take_forgotten_row, f, err) <
	    0)
		return -1;
	sort_links_and_visitors(f);
	return 0;
}

/* A sum neither depends on the order of rows, nor do two equal rows cancel each
 * other. */
static int read_state(struct clickhouse *ch, struct forgotten_state *ret,
		      struct error *err)
{
	static const char sql[] =
		"SELECT count(), sum(cityHash64(link_id, visitor_id, "
		"visits_until)) FROM forgotten FORMAT TabSeparated";
	uint64_t n[2];

	if (clickhouse_numbers(ch, sql, NULL, n, 2, err) < 0)
		return -1;
	*ret = (struct forgotten_state){n[0], n[1]};
	return 0;
}

/* The state is read first: entries that are added meanwhile are read again. */
int forgotten_load(struct clickhouse *ch, const struct forgotten_state *known,
		   struct forgotten **ret, struct error *err)
{
	struct forgotten_state now;
	int status = read_state(ch, &now, err);

	*ret = NULL;
	if (status == 0 && (now.rows != known->rows || now.sum != known->sum)) {
		*ret = calloc(1, sizeof(**ret));
		status = *ret ? load_links_and_visitors(*ret, ch, err)
			      : error_set_nomem(err);
	}
	if (status == 0) {
		if (*ret)
			(*ret)->state = now;
		return 0;
	}
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

/* --- queries -------------------------------------------------------------- */

struct forgotten_state forgotten_state_of(const struct forgotten *f)
{
	return f ? f->state : (struct forgotten_state){0};
}

bool forgotten_is_empty(const struct forgotten *f)
{
	return !f || !(f->link_count + f->visitor_count);
}

/* Searches the first `count` links. */
static uint64_t *find_link(const struct forgotten *f, size_t count,
			   uint64_t link_id)
{
	return count ? bsearch(&link_id, f->links, count, sizeof(*f->links),
			       compare_links)
		     : NULL;
}

static struct forgotten_visitor *find_visitor(const struct forgotten *f,
					      size_t count,
					      const struct forgotten_visitor *v)
{
	return count ? bsearch(v, f->visitors, count, sizeof(*f->visitors),
			       compare_visitors)
		     : NULL;
}

bool forgotten_has_link(const struct forgotten *f, uint64_t link_id)
{
	return f && find_link(f, f->link_count, link_id);
}

bool forgotten_has_visitor(const struct forgotten *f,
			   const unsigned char identity[IDENTITY_LEN],
			   int64_t at_ms)
{
	const struct forgotten_visitor *found;
	struct forgotten_visitor key = {.until = at_ms};

	if (!f)
		return false;
	memcpy(key.identity, identity, IDENTITY_LEN);
	found = find_visitor(f, f->visitor_count, &key);
	return found && at_ms <= found->until;
}

/* --- union ---------------------------------------------------------------- */

/* The search covers only the sorted items; the unsorted ones come from `other`,
 * which has no item twice. */
int forgotten_unite(struct forgotten *f, const struct forgotten *other,
		    struct error *err)
{
	size_t links = f->link_count, visitors = f->visitor_count;
	int status = 0;

	for (size_t i = 0; status == 0 && other && i < other->link_count; i++)
		if (!find_link(f, links, other->links[i]))
			status = add_link(f, other->links[i], err);
	for (size_t i = 0; status == 0 && other && i < other->visitor_count;
	     i++) {
		const struct forgotten_visitor *v = &other->visitors[i];
		struct forgotten_visitor *found = find_visitor(f, visitors, v);

		if (!found)
			status = add_visitor(f, v, err);
		else if (found->until < v->until)
			found->until = v->until;
	}
	sort_links_and_visitors(f);
	return status;
}
