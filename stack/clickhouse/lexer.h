/* lexer.h - cuts ClickHouse's SQL into tokens, as far as needed to find
 * clauses.  Pure; never fails: the engine refuses what it cannot read. */
#ifndef STACK_CLICKHOUSE_LEXER_H
#define STACK_CLICKHOUSE_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* a bare word or a number */
	TOKEN_QUOTED, /* `name` or "name" */
	TOKEN_STRING, /* 'text' or $tag$text$tag$ */
	TOKEN_PUNCT,  /* one other byte */
};

struct token {
	enum token_kind kind;
	size_t start, end; /* offsets into the text */
	int depth;	   /* brackets around it; a bracket counts as inside */
};

struct lexer {
	const char *text;
	size_t len;
	size_t pos;
	int depth;
};

/* Returns the next token; comments and space are skipped. */
struct token lexer_next(struct lexer *lx);

/* Returns true if it is this word, ignoring case. */
bool token_is(const struct lexer *lx, struct token t, const char *word);

/* Returns true if it is this one byte of punctuation. */
bool token_is_punct(const struct lexer *lx, struct token t, char c);

#endif
