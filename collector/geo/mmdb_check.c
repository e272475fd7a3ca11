#include <stdlib.h>

#include "collector/geo/mmdb_tree.h"

enum {
	NESTING_MAX = 32, /* records of MaxMind's nest three deep */
	ADDRESS_BITS = 128,
};

/* A map or array whose elements are being gone through. */
struct frame {
	uint32_t left; /* values to come */
	bool map;
};

struct check {
	const struct mmdb_tree *tree;
	const struct mmdb_data *data;
	/* For each node the bits below it, 0 as long as it was not seen. */
	uint8_t *heights;
	/* A bit for each byte of the data: has the value there been seen? */
	uint8_t *seen;
	/* Offsets of values that were pointed to and are yet to be seen. */
	uint32_t *todo;
	size_t todo_count, todo_room;
	/* Values that may still be looked at.  Each takes a byte or more, and
	 * is met again only as part of what holds it; a file that folds its
	 * values into one another has more. */
	uint64_t budget;
	bool metadata;
	struct error *err;
};

static int broken_data(struct check *c, uint32_t offset, const char *what)
{
	return error_set(c->err, ERROR_INPUT, "broken at byte %u of its %s: %s",
			 offset, c->metadata ? "metadata" : "data", what);
}

/* --- data -------------------------------------------------------------- */

static bool mark(struct check *c, uint32_t offset)
{
	uint8_t bit = (uint8_t)(1u << (offset & 7));

	if (c->seen[offset >> 3] & bit)
		return false;
	c->seen[offset >> 3] |= bit;
	return true;
}

static int remember(struct check *c, uint32_t offset)
{
	if (!mark(c, offset))
		return 0;
	if (c->todo_count == c->todo_room) {
		size_t room = c->todo_room ? 2 * c->todo_room : 256;
		uint32_t *grown = realloc(c->todo, room * sizeof(*grown));

		if (!grown)
			return error_set_nomem(c->err);
		c->todo = grown;
		c->todo_room = room;
	}
	c->todo[c->todo_count++] = offset;
	return 0;
}

static int check_pointer(struct check *c, uint32_t offset, struct mmdb_value *v)
{
	uint32_t target = v->size;

	if (!mmdb_value_get(c->data, offset, v))
		return broken_data(c, offset, "a pointer to nowhere");
	if (!c->metadata)
		return remember(c, target);
	return v->type == MMDB_MAP || v->type == MMDB_ARRAY
		       ? broken_data(c, offset, "a pointer")
		       : 0;
}

static bool is_key(const struct frame *f)
{
	return f->map && f->left % 2 == 0;
}

/* The value at *offset, without what is in it. */
static int check_one(struct check *c, uint32_t *offset, bool key,
		     struct mmdb_value *ret_value)
{
	struct mmdb_value v;
	uint32_t at = *offset;

	if (!mmdb_value_raw(c->data, at, &v))
		return broken_data(c, at, "no value");
	*offset = v.next;
	*ret_value = v;
	if (v.type == MMDB_POINTER && check_pointer(c, at, &v) < 0)
		return -1;
	if (key && v.type != MMDB_TEXT)
		return broken_data(c, at, "a key that is no text");
	return 0;
}

/* The value at `offset` and all in it; what is pointed to is remembered. */
static int check_value(struct check *c, uint32_t offset)
{
	struct frame frames[NESTING_MAX + 1] = {{1, false}};
	unsigned depth = 0, values = 0;

	for (;;) {
		struct frame *f = &frames[depth];
		struct mmdb_value v = {0};
		uint32_t at = offset;

		if (!f->left) {
			if (!depth--)
				return 0;
			continue;
		}
		if (check_one(c, &offset, is_key(f), &v) < 0)
			return -1;
		f->left--;
		if (++values > MMDB_VALUES_MAX || !c->budget--)
			return broken_data(c, at, "too many values");
		if (v.type != MMDB_MAP && v.type != MMDB_ARRAY)
			continue;
		if (depth == NESTING_MAX || v.size > MMDB_VALUES_MAX)
			return broken_data(c, at, "nested too deep or large");
		frames[++depth] =
			(struct frame){v.type == MMDB_MAP ? 2 * v.size : v.size,
				       v.type == MMDB_MAP};
	}
}

static int check_record(struct check *c, uint32_t offset)
{
	if (remember(c, offset) < 0)
		return -1;
	while (c->todo_count)
		if (check_value(c, c->todo[--c->todo_count]) < 0)
			return -1;
	return 0;
}

/* --- tree -------------------------------------------------------------- */

static int broken_node(struct check *c, uint32_t node, const char *what)
{
	return error_set(c->err, ERROR_INPUT,
			 "broken at node %u of its tree: %s", node, what);
}

/* A record that is no node. */
static int check_leaf(struct check *c, uint32_t node, uint32_t record)
{
	uint32_t offset = record - c->tree->node_count;

	if (!offset)
		return 0;
	if (offset < MMDB_SEPARATOR || offset - MMDB_SEPARATOR >= c->data->size)
		return broken_node(c, node, "it leads nowhere");
	return check_record(c, offset - MMDB_SEPARATOR);
}

struct step {
	uint32_t node;
	uint8_t next; /* 0: left, 1: right, 2: both done */
	uint8_t height;
};

/* Takes the next record of a node; true when it is a node not seen yet. */
static int check_branch(struct check *c, struct step *s, uint32_t *ret_node)
{
	uint32_t record = mmdb_tree_record(c->tree->bytes, s->node, s->next++,
					   c->tree->record_bits);

	if (record >= c->tree->node_count)
		return check_leaf(c, s->node, record);
	if (!c->heights[record]) {
		*ret_node = record;
		return 1;
	}
	if (c->heights[record] >= s->height)
		s->height = (uint8_t)(c->heights[record] + 1);
	return 0;
}

/* Parts of a tree may be shared (6to4 is IPv4 once more), circles may not be:
 * they are longer than any address. */
static int check_tree(struct check *c)
{
	struct step steps[ADDRESS_BITS + 1] = {{.height = 1}};
	unsigned depth = 0;

	for (;;) {
		struct step *s = &steps[depth];
		uint32_t node = 0;
		int status;

		if (s->next == 2) {
			c->heights[s->node] = s->height;
			if (!depth--)
				return 0;
			if (s->height >= s[-1].height)
				s[-1].height = (uint8_t)(s->height + 1);
			continue;
		}
		status = check_branch(c, s, &node);
		if (status < 0)
			return -1;
		if (depth + 1 + s->height > ADDRESS_BITS + 1 ||
		    (status && depth + 1 == ADDRESS_BITS))
			return broken_node(c, s->node,
					   "deeper than an address is long");
		if (status)
			steps[++depth] = (struct step){node, 0, 1};
	}
}

/* --- entry points ------------------------------------------------------ */

int mmdb_check(const struct mmdb_tree *tree, const struct mmdb_data *data,
	       struct error *err)
{
	struct check c = {.tree = tree,
			  .data = data,
			  .budget = MMDB_VALUES_MAX + 8 * (uint64_t)data->size,
			  .err = err};
	int status = -1;

	c.heights = calloc(tree->node_count, 1);
	c.seen = calloc(data->size / 8 + 1, 1);
	if (c.heights && c.seen)
		status = check_tree(&c);
	else
		error_set_nomem(err);
	free(c.heights);
	free(c.seen);
	free(c.todo);
	return status;
}

int mmdb_check_metadata(const struct mmdb_data *data, struct error *err)
{
	struct check c = {.data = data,
			  .metadata = true,
			  .budget = MMDB_VALUES_MAX,
			  .err = err};

	return check_value(&c, 0);
}
