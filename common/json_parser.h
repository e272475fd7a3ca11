/* json_parser.h - where a reader of JSON is in its text.  For json_read.c and
 * json_string.c only. */
#ifndef COMMON_JSON_PARSER_H
#define COMMON_JSON_PARSER_H

#include <stdbool.h>

#include "common/json_read.h"

struct json_parser {
	struct json_doc *doc;
	char *at, *end; /* in doc->text; a NUL is at the end */
	uint32_t open;	/* the innermost array or object */
	unsigned depth;
	const char *problem; /* NULL after a failure: out of memory */
};

static inline bool json_parser_fail(struct json_parser *p, const char *problem)
{
	p->problem = problem;
	return false;
}

static inline bool json_parser_take(struct json_parser *p, char c)
{
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* Reads a string, quotes included, and decodes it in place. */
bool json_parser_string(struct json_parser *p, const char **ret,
			size_t *ret_len);

#endif
