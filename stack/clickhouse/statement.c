#include "stack/clickhouse/statement.h"

#include <string.h>

#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/lexer.h"

static void keep_format(struct statement *st, const struct lexer *lx,
			struct token name)
{
	size_t len = name.end - name.start;

	if (len >= sizeof(st->format))
		len = sizeof(st->format) - 1;
	memcpy(st->format, lx->text + name.start, len);
	st->format[len] = '\0';
}

/* Returns the start of the data: after the first newline if only blanks precede
 * it, and otherwise after the blanks. */
static size_t data_start(const struct lexer *lx, size_t from)
{
	size_t i = from;

	while (i < lx->len && (lx->text[i] == ' ' || lx->text[i] == '\t' ||
			       lx->text[i] == '\f'))
		i++;
	if (i < lx->len && lx->text[i] == '\r')
		i++;
	if (i < lx->len && lx->text[i] == '\n')
		i++;
	return i;
}

static int refuse_file(struct error *err)
{
	return failure_set(err, FAILURE_UNKNOWN_TYPE_OF_QUERY,
			   "Query has infile or outfile and was sent directly "
			   "to the server");
}

/* Reads past the table's name, so that a table called `format` is no clause.
 * Returns the first token after it. */
static struct token skip_table(struct lexer *lx)
{
	struct token t = lexer_next(lx);

	if (token_is(lx, t, "INTO"))
		t = lexer_next(lx);
	if (token_is(lx, t, "TABLE"))
		t = lexer_next(lx);
	if (token_is(lx, t, "FUNCTION"))
		lexer_next(lx);
	t = lexer_next(lx);
	while (token_is_punct(lx, t, '.')) {
		lexer_next(lx);
		t = lexer_next(lx);
	}
	return t;
}

/* Reads from a FORMAT or VALUES token on: the format and the start of its
 * data. */
static void take_data(struct statement *st, struct lexer *lx, struct token t,
		      size_t splice)
{
	st->has_data = true;
	st->splice = splice;
	if (token_is(lx, t, "VALUES")) {
		strcpy(st->format, "Values");
		st->clauses_end = t.start;
		st->data = data_start(lx, t.end);
		return;
	}
	st->clauses_end = t.start;
	t = lexer_next(lx);
	keep_format(st, lx, t);
	st->data = data_start(lx, t.end);
}

/* Parses INSERT ...  SELECT: it has no data, unless input() reads it, which
 * cannot be passed to the engine. */
static int parse_insert_select(struct lexer *lx, struct error *err)
{
	struct token t, last = {0};

	while ((t = lexer_next(lx)).kind != TOKEN_END) {
		if (token_is(lx, last, "INTO") && token_is(lx, t, "OUTFILE"))
			return refuse_file(err);
		if (token_is(lx, last, "input") && token_is_punct(lx, t, '('))
			return failure_set(err, FAILURE_NOT_IMPLEMENTED,
					   "Data for the table function "
					   "input() is not supported here");
		last = t;
	}
	return 0;
}

static int parse_insert(struct statement *st, struct lexer *lx,
			struct error *err)
{
	struct token t = skip_table(lx);
	size_t splice = 0;

	for (; t.kind != TOKEN_END; t = lexer_next(lx)) {
		if (t.depth > 0)
			continue;
		if (token_is(lx, t, "FROM"))
			return refuse_file(err);
		if (token_is(lx, t, "SELECT") || token_is(lx, t, "WITH") ||
		    token_is(lx, t, "WATCH"))
			return parse_insert_select(lx, err);
		if (token_is(lx, t, "SETTINGS") && !splice)
			splice = t.start;
		if (token_is(lx, t, "FORMAT") || token_is(lx, t, "VALUES")) {
			take_data(st, lx, t, splice ? splice : t.start);
			return 0;
		}
	}
	return 0;
}

/* Notes "SYNC" or "NO DELAY" at the end of a DROP. */
static void note_sync(struct statement *st, const struct lexer *lx,
		      struct token last, struct token t)
{
	bool no_delay = token_is(lx, last, "NO") && token_is(lx, t, "DELAY");

	if (t.depth > 0 || (!no_delay && !token_is(lx, t, "SYNC")))
		return;
	st->sync_start = no_delay ? last.start : t.start;
	st->sync_end = t.end;
}

/* Parses any statement but an INSERT, from its second token on. */
static int parse_other(struct statement *st, struct lexer *lx,
		       struct token first, struct error *err)
{
	struct token t, last = {0}, format = {0};
	bool ended = false;
	bool drops = token_is(lx, first, "DROP");

	while ((t = lexer_next(lx)).kind != TOKEN_END) {
		if (ended)
			return failure_set(err, FAILURE_SYNTAX_ERROR,
					   "Syntax error (Multi-statements are "
					   "not allowed)");
		if (token_is(lx, last, "INTO") && token_is(lx, t, "OUTFILE"))
			return refuse_file(err);
		ended = token_is_punct(lx, t, ';') && t.depth == 0;
		if (drops)
			note_sync(st, lx, last, t);
		/* A column may be called format: a clause comes last. */
		if (token_is(lx, last, "FORMAT") && last.depth == 0 &&
		    t.kind == TOKEN_WORD)
			format = t;
		else if (!ended && !token_is(lx, t, "SETTINGS") &&
			 last.start == format.start)
			format = (struct token){0};
		last = t;
	}
	if (format.kind == TOKEN_WORD)
		keep_format(st, lx, format);
	return 0;
}

static bool is_reader(const struct lexer *lx, struct token t)
{
	static const char *const readers[] = {
		"SELECT", "WITH",    "SHOW", "DESCRIBE", "DESC",
		"EXISTS", "EXPLAIN", "USE",  "SET",	 "CHECK",
	};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (token_is(lx, t, readers[i]))
			return true;
	return token_is_punct(lx, t, '(');
}

int statement_parse(struct statement *st, const char *text, size_t len,
		    struct error *err)
{
	struct lexer lx = {text, len, 0, 0};
	struct token t = lexer_next(&lx);

	memset(st, 0, sizeof(*st));
	if (t.kind == TOKEN_END)
		return failure_set(err, FAILURE_SYNTAX_ERROR,
				   "Syntax error: failed at position 1 (end of "
				   "query): Empty query");
	if (token_is(&lx, t, "INSERT"))
		return parse_insert(st, &lx, err);
	st->reads = is_reader(&lx, t);
	return parse_other(st, &lx, t, err);
}

void statement_insert_from(const struct statement *st, const char *text,
			   const char *path, struct buf *out)
{
	buf_append(out, text, st->splice);
	buf_printf(out, " FROM INFILE '%s' COMPRESSION 'none' ", path);
	buf_append(out, text + st->splice, st->clauses_end - st->splice);
	buf_printf(out, " FORMAT %s", st->format);
}
