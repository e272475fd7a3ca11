#include "common/clickhouse/statement.h"

#include <string.h>

static const struct statement_blank *
find_blank(const struct statement_blank *blanks, const char *name, size_t len)
{
	for (; blanks->name; blanks++)
		if (strlen(blanks->name) == len &&
		    !memcmp(blanks->name, name, len))
			return blanks;
	return NULL;
}

void statement_put(struct buf *sql, const char *text,
		   const struct statement_blank *blanks)
{
	const char *at;

	while ((at = strchr(text, '@')) != NULL) {
		size_t len = strcspn(at + 1, "@");
		const struct statement_blank *blank =
			find_blank(blanks, at + 1, len);

		if (!blank || at[1 + len] != '@') {
			sql->failed = true;
			return;
		}
		buf_append(sql, text, (size_t)(at - text));
		buf_puts(sql, blank->sql ? blank->sql : "");
		text = at + len + 2;
	}
	buf_puts(sql, text);
}

const char *statement_piece(struct buf *sql, struct buf *piece)
{
	const char *text = buf_cstr(piece);

	if (!text)
		sql->failed = true;
	return text;
}
