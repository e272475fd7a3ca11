#include "common/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

#define COLUMNS_MAX 16

struct table {
	size_t columns;
	bool right[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX];
	size_t cells;
	struct buf text; /* texts of all cells, each ended by a NUL */
};

static void append_cell(struct table *t, const char *text, size_t len)
{
	size_t column;

	if (!t)
		return;
	column = t->cells++ % t->columns;
	if (len > t->widths[column])
		t->widths[column] = len;
	buf_append(&t->text, text, len);
	buf_putc(&t->text, '\0');
}

struct table *table_new(const char *columns)
{
	struct table *t = calloc(1, sizeof(*t));
	size_t len;

	if (!t)
		return NULL;
	t->columns = COLUMNS_MAX;
	for (size_t i = 0; *columns && i < COLUMNS_MAX; i++) {
		t->right[i] = *columns == '>';
		columns += t->right[i];
		len = strcspn(columns, "|");
		append_cell(t, columns, len);
		columns += len + (columns[len] == '|');
	}
	t->columns = t->cells;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	buf_free(&t->text);
	free(t);
}

void table_text(struct table *t, const char *text)
{
	append_cell(t, text, strlen(text));
}

void table_number(struct table *t, uint64_t number)
{
	char digits[24], text[32];
	size_t len =
		(size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	append_cell(t, text, at);
}

void table_decimal(struct table *t, double number)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f", number);
	table_text(t, text);
}

int table_print(const struct table *t, FILE *out)
{
	const char *cell;

	if (!t || t->text.failed)
		return -1;
	cell = t->text.data;
	for (size_t i = 0; i < t->cells; i++) {
		size_t column = i % t->columns;
		bool last = column + 1 == t->columns;
		int width = (int)t->widths[column];

		if (t->right[column])
			fprintf(out, "%*s", width, cell);
		else
			fprintf(out, "%-*s", last ? 0 : width, cell);
		fputs(last ? "\n" : "  ", out);
		cell += strlen(cell) + 1;
	}
	return 0;
}
