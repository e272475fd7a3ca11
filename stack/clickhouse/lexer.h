/* lexer.h - cuts ClickHouse's SQL into tokens, as far as finding clauses asks.
 * Pure; never fails: what it cannot read is left for the engine to refuse. */
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
	int depth;	   /* of brackets around it; a bracket is inside */
};

struct lexer {
	const char *text;
	size_t len;
	size_t pos;
	int depth;
};

/* The next token; comments and space are skipped. */
struct token lexer_next(struct lexer *lx);

/* Is it this word, in any case? */
bool token_is(const struct lexer *lx, struct token t, const char *word);

/* Is it this one byte of punctuation? */
bool token_is_punct(const struct lexer *lx, struct token t, char c);

#endif
