#include "stack/clickhouse/kill.h"

#include <string.h>

#include "stack/clickhouse/lexer.h"

static struct lexer lexer_of(const struct kill *k)
{
	return (struct lexer){k->text, k->len, 0, 0};
}

static bool has_word(const struct kill *k, const char *word)
{
	struct lexer lx = lexer_of(k);
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END)
		if (token_is(&lx, t, word))
			return true;
	return false;
}

bool kill_is_sync(const struct kill *k)
{
	struct lexer lx = lexer_of(k);

	return token_is(&lx, lexer_next(&lx), "KILL") &&
	       token_is(&lx, lexer_next(&lx), "QUERY") && has_word(k, "SYNC");
}

void kill_rewrite(const struct kill *k, struct buf *out)
{
	struct lexer lx = lexer_of(k);
	size_t done = 0;
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END) {
		if (!token_is(&lx, t, "query_id"))
			continue;
		buf_append(out, k->text + done, t.start - done);
		buf_puts(out, "Settings['log_comment']");
		done = t.end;
	}
	buf_append(out, k->text + done, k->len - done);
}

/* Is a string in quotes the id, or, if not `whole`, its beginning? */
static bool matches(const char *quoted, size_t len, const char *id, bool whole)
{
	for (size_t i = 1; i + 1 < len; i++) {
		if (quoted[i] == '\\' && i + 2 < len)
			i++;
		if (!*id || *id++ != quoted[i])
			return false;
	}
	return !whole || !*id;
}

bool kill_names(const char *id, const void *kill)
{
	const struct kill *k = kill;
	bool whole = !has_word(k, "startsWith");
	struct lexer lx = lexer_of(k);
	struct token t;

	while ((t = lexer_next(&lx)).kind != TOKEN_END)
		if (t.kind == TOKEN_STRING &&
		    matches(k->text + t.start, t.end - t.start, id, whole))
			return true;
	return false;
}
