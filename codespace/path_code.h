/*
 * path_code.h - finds the code in a path.
 *
 * The redirector uses it for each visit, and `collector import` for each line
 * of a log, so that a past visit is a click exactly if it would be one today.
 */
#ifndef CODESPACE_PATH_CODE_H
#define CODESPACE_PATH_CODE_H

#include <stdbool.h>

#include "codespace/alias.h"
#include "common/http/request.h"

/*
 * Returns "aB3xY7k" for "/aB3xY7k" and for "/aB3xY7k/more".  A text that cannot
 * be a code of any space (empty, longer than 64, or with other characters than
 * [0-9A-Za-z_-]) gives {NULL, 0}.
 */
struct http_slice path_code(struct http_slice path);

/* Returns the rest of the path after the code: "/more", with its slash, or
 * nothing.  It points into the path, which has a byte at least. */
struct http_slice path_code_rest(struct http_slice path);

/* A code that a path contains in another form. */
struct path_text_code {
	struct http_slice code; /* in `decoded` */
	bool trimmed;		/* a rest was skipped */
	char decoded[ALIAS_TEXT_MAX];
};

/*
 * Does the same for a path in which path_code found none: an escape of an
 * unreserved character is that character (RFC 3986, 6.2.2.2), so that "/%61B3"
 * is "aB3".  With `trims`, a rest that contains no character of codes is
 * skipped: visitors copy links from texts, with the full stop or the bracket
 * that follows a link there ("/aB3).", "/aB3%E2%80%8B").  Returns false if
 * there is no code.  *ret_code must not be copied.
 */
bool path_code_in_text(struct http_slice path, bool trims,
		       struct path_text_code *ret_code);

/* Returns true if the rest after a code contains no character of codes; a slash
 * is one such rest. */
bool path_code_trims(struct http_slice rest);

#endif
