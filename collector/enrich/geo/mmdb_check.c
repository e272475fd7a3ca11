#include "collector/enrich/geo/mmdb_check.h"

#include <stdlib.h>

#include "collector/enrich/geo/mmdb_value.h"

enum {
	NESTING_MAX = 32,   /* records of MaxMind's nest three deep */
	VALUES_MAX = 65536, /* in a record; a few hundred of MaxMind's */
	SEPARATOR = 16,	    /* zeros between tree and data */
};

struct check {
	const MMDB_s *mmdb;
	const char *part;
	uint32_t size; /* of the data */
	/* For each node the bits below it, 0 as long as it was not seen. */
	uint8_t *heights;
	/* A bit for each byte of the data: was it gone into what begins there?
	 * NULL for metadata, whose pointers lead to nothing to go into. */
	uint8_t *seen;
	uint32_t record_left; /* values that a record may still have */
	/* Values that may still be looked at.  Each takes a byte or more, and
	 * is met again only as part of what holds it; a file that folds its
	 * values into one another has more. */
	uint64_t left;
	struct error *err;
};

/* --- data -------------------------------------------------------------- */

static int broken_data(struct check *c, uint32_t offset, const char *what)
{
	return error_set(c->err, ERROR_INPUT, "broken at byte %u of its %s: %s",
			 offset, c->part, what);
}

/* False when it was seen before. */
static bool mark(struct check *c, uint32_t offset)
{
	uint8_t bit = (uint8_t)(1u << (offset & 7));

	if (c->seen[offset >> 3] & bit)
		return false;
	c->seen[offset >> 3] |= bit;
	return true;
}

static bool is_known(uint32_t type)
{
	return type <= MMDB_DATA_TYPE_FLOAT &&
	       type != MMDB_DATA_TYPE_CONTAINER &&
	       type != MMDB_DATA_TYPE_END_MARKER;
}

/* The value at *offset and all in it, except what was seen before; moves behind
 * it. */
static int check_value(struct check *c, uint32_t *offset, unsigned depth,
		       bool is_key)
{
	uint32_t at = *offset, count, inner;
	MMDB_entry_data_s v;

	if (!mmdb_value_step(c->mmdb, offset, &v) || !is_known(v.type) ||
	    *offset > c->size || v.offset >= c->size)
		return broken_data(c, at, "no value, or a pointer to none");
	if (is_key && v.type != MMDB_DATA_TYPE_UTF8_STRING)
		return broken_data(c, at, "a key that is no text");
	if (!c->record_left-- || !c->left--)
		return broken_data(c, at, "too many values");
	count = mmdb_value_count(&v);
	if (count && v.offset != at) {
		if (!c->seen)
			return broken_data(c, at, "a pointer");
		if (!mark(c, v.offset))
			return 0;
	}
	if (count && (depth == NESTING_MAX || count > VALUES_MAX))
		return broken_data(c, at, "nested too deep or large");
	inner = v.offset_to_next;
	for (uint32_t i = 0; i < count; i++)
		if (check_value(c, &inner, depth + 1,
				v.type == MMDB_DATA_TYPE_MAP && i % 2 == 0) < 0)
			return -1;
	if (v.offset == at && count)
		*offset = inner;
	return 0;
}

static int check_languages(struct check *c)
{
	static const char *const path[] = {"languages", NULL};
	MMDB_entry_s start = {c->mmdb, 0};
	MMDB_entry_data_s list, v;
	uint32_t at;

	/* Not there, or no list: the library says so. */
	if (MMDB_aget_value(&start, &list, path) != MMDB_SUCCESS)
		return 0;
	at = list.offset_to_next;
	for (uint32_t i = 0; i < mmdb_value_count(&list); i++) {
		uint32_t language = at;

		if (!mmdb_value_take(c->mmdb, &at, &v) ||
		    v.type != MMDB_DATA_TYPE_UTF8_STRING)
			return broken_data(c, language,
					   "a language that is no text");
	}
	return 0;
}

/* --- tree -------------------------------------------------------------- */

static int broken_node(struct check *c, uint32_t node, const char *what)
{
	return error_set(c->err, ERROR_INPUT,
			 "broken at node %u of its tree: %s", node, what);
}

/* A record that is no node. */
static int check_leaf(struct check *c, uint32_t node, uint64_t record)
{
	uint64_t offset = record - c->mmdb->metadata.node_count;
	uint32_t at;

	if (!offset)
		return 0;
	if (offset < SEPARATOR || offset - SEPARATOR >= c->size)
		return broken_node(c, node, "it leads nowhere");
	at = (uint32_t)offset - SEPARATOR;
	if (!mark(c, at))
		return 0;
	c->record_left = VALUES_MAX;
	return check_value(c, &at, 0, false);
}

static int check_node(struct check *c, uint32_t node, unsigned depth);

/* Returns the bits that are below a node's record, -1 on failure. */
static int check_branch(struct check *c, uint32_t node, uint64_t record,
			unsigned depth)
{
	unsigned height;

	if (record >= c->mmdb->metadata.node_count)
		return check_leaf(c, node, record);
	height = c->heights[record];
	if (!height)
		return check_node(c, (uint32_t)record, depth + 1);
	return depth + 1 + height <= c->mmdb->depth
		       ? (int)height
		       : broken_node(c, node, "deeper than an address is long");
}

/* Parts of a tree may be shared (6to4 is IPv4 once more), circles may not be:
 * they are longer than any address. */
static int check_node(struct check *c, uint32_t node, unsigned depth)
{
	MMDB_search_node_s n;
	int left, right;

	if (depth == c->mmdb->depth)
		return broken_node(c, node, "deeper than an address is long");
	if (MMDB_read_node(c->mmdb, node, &n) != MMDB_SUCCESS)
		return broken_node(c, node, "it cannot be read");
	left = check_branch(c, node, n.left_record, depth);
	if (left < 0)
		return -1;
	right = check_branch(c, node, n.right_record, depth);
	if (right < 0)
		return -1;
	c->heights[node] = (uint8_t)(1 + (left > right ? left : right));
	return c->heights[node];
}

/* --- entry points ------------------------------------------------------ */

int mmdb_check_metadata(const MMDB_s *metadata, struct error *err)
{
	struct check c = {.mmdb = metadata,
			  .part = "metadata",
			  .size = metadata->data_section_size,
			  .record_left = VALUES_MAX,
			  .left = VALUES_MAX,
			  .err = err};
	uint32_t at = 0;

	/* The library counts down from the size by up to as many. */
	if (metadata->data_section_size < 3)
		return broken_data(&c, 0, "cut short");
	return check_value(&c, &at, 0, false) < 0 ? -1 : check_languages(&c);
}

int mmdb_check(const MMDB_s *mmdb, uint32_t data_size, struct error *err)
{
	struct check c = {.mmdb = mmdb,
			  .part = "data",
			  .size = data_size,
			  .left = VALUES_MAX + 8 * (uint64_t)data_size,
			  .err = err};
	int status = -1;

	c.heights = calloc(mmdb->metadata.node_count, 1);
	c.seen = calloc(data_size / 8 + 1, 1);
	if (!c.heights || !c.seen)
		error_set_nomem(err);
	else if (check_node(&c, 0, 0) >= 0)
		status = 0;
	free(c.heights);
	free(c.seen);
	return status;
}
