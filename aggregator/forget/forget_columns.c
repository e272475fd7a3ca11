#include "aggregator/forget/forget_columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A column, and the text that is left of it, "" for its type's default; NULL:
 * it is kept. */
struct forgotten_column {
	const char *name, *type, *left;
};

static const struct forgotten_column columns_of_visitors[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#define RUN(name, type, left, write)	{#name, type, left},
#define PLACE(name, type, left, write)	{#name, type, left},
#define AGENT(name, type, left, write)	{#name, type, left},
#include "schemas/click_columns.inc"
};

static const struct forgotten_column columns_of_links[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#define RUN(name, type, left, write)	{#name, type, left},
#define OF_VISITOR(text)		NULL
#define OF_LINK(text)			text
#include "schemas/click_columns.inc"
};

static const struct forgotten_column columns_of_archive[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#include "schemas/link_columns.inc"
};

static bool begins_with(const char *type, const char *word)
{
	return !strncmp(type, word, strlen(word));
}

/* Types that are not named have no value that a literal gives. */
static void put_left(struct buf *sql, const struct forgotten_column *c)
{
	if (begins_with(c->type, "LowCardinality(String)") ||
	    begins_with(c->type, "String"))
		buf_printf(sql, "'%s'", c->left);
	else if (begins_with(c->type, "UInt") || begins_with(c->type, "Float"))
		buf_puts(sql, "0");
	else if (begins_with(c->type, "FixedString("))
		buf_printf(sql, "toFixedString('', %s",
			   c->type + strlen("FixedString("));
	else if (begins_with(c->type, "IPv6"))
		buf_puts(sql, "toIPv6('::')");
	else if (begins_with(c->type, "Map("))
		buf_printf(sql, "CAST(map(), '%s')", c->type);
	else if (begins_with(c->type, "Array("))
		buf_printf(sql, "CAST([], '%s')", c->type);
	else
		buf_printf(sql, "defaultValueOfTypeName('%s')", c->type);
}

/* Returns whether a list of words, separated by commas and blanks, has this
 * one. */
static bool list_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t next = strcspn(list, ", \n");

		if (next == len && !strncmp(list, word, len))
			return true;
		list += next;
		list += strspn(list, ", \n");
	}
	return false;
}

/* `among`: a list of columns' names; NULL: all.  `comma` separates, and is
 * changed. */
static void put_assignments(struct buf *sql,
			    const struct forgotten_column *columns,
			    size_t count, const char *among, const char **comma)
{
	for (size_t i = 0; i < count; i++) {
		if (!columns[i].left ||
		    (among && !list_has_word(among, columns[i].name)))
			continue;
		buf_printf(sql, "%s%s = ", *comma, columns[i].name);
		put_left(sql, &columns[i]);
		*comma = ", ";
	}
}

static void put_assignments_if(struct buf *sql, const char *condition)
{
	for (size_t i = 0; i < COUNT(columns_of_links); i++) {
		const struct forgotten_column *c = &columns_of_links[i];

		if (!c->left)
			continue;
		buf_printf(sql, ", %s = if(%s, ", c->name, condition);
		put_left(sql, c);
		buf_printf(sql, ", %s)", c->name);
	}
}

void forget_columns_put_clicks(struct buf *sql, const char *is_link)
{
	const char *comma = "";

	put_assignments(sql, columns_of_visitors, COUNT(columns_of_visitors),
			NULL, &comma);
	put_assignments_if(sql, is_link);
}

void forget_columns_put_sample(struct buf *sql)
{
	static const char sampled[] =
#include "aggregator/sql/parts/sampled_columns.sql.inc"
		;
	const char *comma = "";

	put_assignments(sql, columns_of_visitors, COUNT(columns_of_visitors),
			sampled, &comma);
	put_assignments(sql, columns_of_links, COUNT(columns_of_links), sampled,
			&comma);
}

void forget_columns_put_links(struct buf *sql)
{
	const char *comma = "";

	put_assignments(sql, columns_of_archive, COUNT(columns_of_archive),
			NULL, &comma);
}
