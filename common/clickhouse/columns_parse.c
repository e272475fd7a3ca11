/* columns_parse.c - the description of a table's columns. */
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/columns_internal.h"

static const struct {
	const char *type; /* one that ends in '(' is told by its beginning */
	enum column_kind kind;
	size_t width;
} types[] = {
	{"Bool", COLUMN_FIXED, 1},
	{"Int8", COLUMN_FIXED, 1},
	{"UInt8", COLUMN_FIXED, 1},
	{"UInt16", COLUMN_FIXED, 2},
	{"UInt32", COLUMN_FIXED, 4},
	{"Float32", COLUMN_FIXED, 4},
	{"Int64", COLUMN_FIXED, 8},
	{"UInt64", COLUMN_FIXED, 8},
	{"Float64", COLUMN_FIXED, 8},
	{"DateTime64(", COLUMN_FIXED, 8},
	{"UUID", COLUMN_FIXED, 16},
	{"IPv6", COLUMN_FIXED, 16},
	{"FixedString(", COLUMN_FIXED, 0},
	{"String", COLUMN_STRING, 0},
	{"LowCardinality(String)", COLUMN_WORD, 0},
	{"Array(LowCardinality(String))", COLUMN_WORDS, 0},
	{"Map(LowCardinality(String), String)", COLUMN_MAP, 0},
};

static bool is_type(const char *type, const char *known)
{
	size_t len = strlen(known);

	return known[len - 1] == '(' ? !strncmp(type, known, len)
				     : !strcmp(type, known);
}

static int set_type(struct column *column, struct error *err)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!is_type(column->type, types[i].type))
			continue;
		column->kind = types[i].kind;
		column->width = types[i].width;
		if (!strncmp(column->type, "FixedString(", 12))
			column->width = strtoul(column->type + 12, NULL, 10);
		if (column->kind != COLUMN_FIXED || column->width)
			return 0;
	}
	return error_set(err, ERROR_CONFIG, "column %s: no such type: %s",
			 column->name, column->type);
}

/* The length up to the separator that is in no parentheses. */
static size_t item_length(const char *text)
{
	int depth = 0;
	size_t len = 0;

	for (; text[len] && (depth > 0 || !strchr(",;", text[len])); len++)
		depth += (text[len] == '(') - (text[len] == ')');
	return len;
}

static int add(struct columns *c, const char *text, size_t len,
	       struct error *err)
{
	const char *space = memchr(text, ' ', len);
	size_t name_len = space ? (size_t)(space - text) : len;
	struct column *column, *items;

	if (!space)
		return error_set(err, ERROR_CONFIG, "column %.*s has no type",
				 (int)len, text);
	items = realloc(c->items, (c->count + 1) * sizeof(*items));
	if (!items)
		return error_set_nomem(err);
	c->items = items;
	column = &items[c->count++];
	*column = (struct column){
		.name = strndup(text, name_len),
		.type = strndup(space + 1, len - name_len - 1),
	};
	if (!column->name || !column->type)
		return error_set_nomem(err);
	if (c->count > 1)
		buf_puts(&c->names, ", ");
	buf_puts(&c->names, column->name);
	return set_type(column, err);
}

static void find_runs(struct columns *c)
{
	for (size_t i = c->count; i-- > 0;) {
		struct column *column = &c->items[i];

		if (column->kind != COLUMN_WORD)
			continue;
		column->run = 1;
		if (i + 1 < c->count && !column->ends_run)
			column->run += column[1].run;
	}
}

int columns_parse(struct columns *c, const char *description, struct error *err)
{
	for (const char *at = description; *at;) {
		size_t len = item_length(at);

		if (add(c, at, len, err) < 0)
			return -1;
		at += len;
		c->items[c->count - 1].ends_run = *at == ';';
		at += strspn(at, ",; ");
	}
	find_runs(c);
	return buf_cstr(&c->names) ? 0 : error_set_nomem(err);
}
