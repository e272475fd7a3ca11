#include "stack/clickhouse/lexer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool starts_with(const struct lexer *lx, const char *text)
{
	size_t len = strlen(text);

	return lx->len - lx->pos >= len &&
	       memcmp(lx->text + lx->pos, text, len) == 0;
}

/* Returns the offset just after the next `end` at or after `from`, or the
 * text's end. */
static size_t find_offset_after(const struct lexer *lx, size_t from,
				const char *end, size_t end_len)
{
	const char *found = NULL;

	if (from <= lx->len)
		found = memmem(lx->text + from, lx->len - from, end, end_len);
	return found ? (size_t)(found - lx->text) + end_len : lx->len;
}

static void skip_space(struct lexer *lx)
{
	while (lx->pos < lx->len) {
		if (isspace((unsigned char)lx->text[lx->pos]))
			lx->pos++;
		else if (starts_with(lx, "--") || starts_with(lx, "# ") ||
			 starts_with(lx, "#!"))
			lx->pos = find_offset_after(lx, lx->pos, "\n", 1);
		else if (starts_with(lx, "/*"))
			lx->pos = find_offset_after(lx, lx->pos + 2, "*/", 2);
		else
			return;
	}
}

/* Returns the end of a quoted piece.  A doubled quote reads as two adjacent
 * pieces: this is enough here, where only the ends of pieces matter. */
static size_t quoted_end(const struct lexer *lx, char quote)
{
	size_t i = lx->pos + 1;

	while (i < lx->len && lx->text[i] != quote)
		i += lx->text[i] == '\\' ? 2 : 1;
	return i < lx->len ? i + 1 : lx->len;
}

/* Returns the end of $tag$...$tag$, or 0 if this `$` does not start one. */
static size_t heredoc_end(const struct lexer *lx)
{
	size_t i = lx->pos + 1, tag;
	const char *close;

	while (i < lx->len &&
	       (isalnum((unsigned char)lx->text[i]) || lx->text[i] == '_'))
		i++;
	if (i >= lx->len || lx->text[i] != '$')
		return 0;
	tag = i + 1 - lx->pos;
	close = memmem(lx->text + i + 1, lx->len - i - 1, lx->text + lx->pos,
		       tag);
	return close ? (size_t)(close - lx->text) + tag : 0;
}

static size_t word_end(const struct lexer *lx)
{
	size_t i = lx->pos;

	while (i < lx->len && is_word(lx->text[i]))
		i++;
	return i;
}

static enum token_kind scan_token(const struct lexer *lx, size_t *ret_end)
{
	char c = lx->text[lx->pos];
	size_t heredoc = c == '$' ? heredoc_end(lx) : 0;

	*ret_end = lx->pos + 1;
	if (heredoc) {
		*ret_end = heredoc;
		return TOKEN_STRING;
	}
	if (c == '\'' || c == '`' || c == '"') {
		*ret_end = quoted_end(lx, c);
		return c == '\'' ? TOKEN_STRING : TOKEN_QUOTED;
	}
	if (is_word(c)) {
		*ret_end = word_end(lx);
		return TOKEN_WORD;
	}
	return TOKEN_PUNCT;
}

struct token lexer_next(struct lexer *lx)
{
	struct token t = {TOKEN_END, 0, 0, 0};

	skip_space(lx);
	t.start = t.end = lx->pos;
	if (lx->pos < lx->len) {
		t.kind = scan_token(lx, &t.end);
		if (t.kind == TOKEN_PUNCT && strchr("([{", lx->text[t.start]))
			lx->depth++;
	}
	t.depth = lx->depth;
	if (t.kind == TOKEN_PUNCT && strchr(")]}", lx->text[t.start]))
		lx->depth--;
	lx->pos = t.end;
	return t;
}

bool token_is(const struct lexer *lx, struct token t, const char *word)
{
	size_t len = strlen(word);

	return t.kind == TOKEN_WORD && t.end - t.start == len &&
	       strncasecmp(lx->text + t.start, word, len) == 0;
}

bool token_is_punct(const struct lexer *lx, struct token t, char c)
{
	return t.kind == TOKEN_PUNCT && lx->text[t.start] == c;
}
