/*
 * path_code.h - which code a path names.
 *
 * The redirector asks it of each visit, and `collector import` of each line of
 * a log, so that a past visit is a click exactly if it would be one today.
 */
#ifndef CODESPACE_PATH_CODE_H
#define CODESPACE_PATH_CODE_H

#include <stdbool.h>

#include "codespace/alias.h"
#include "common/http/request.h"

/*
 * "/aB3xY7k" is "aB3xY7k", and so is "/aB3xY7k/more".  What cannot be a code of
 * any space (empty, longer than 64, or with other characters than
 * [0-9A-Za-z_-]) gives {NULL, 0}.
 */
struct http_slice path_code(struct http_slice path);

/* What follows the code in the path: "/more", with its slash, or nothing.  Part
 * of the path, which has a byte. */
struct http_slice path_code_rest(struct http_slice path);

/* A code that a path has in another form. */
struct path_text_code {
	struct http_slice code; /* in `decoded` */
	bool trimmed;		/* something behind it was passed over */
	char decoded[ALIAS_TEXT_MAX];
};

/*
 * The same of a path in which path_code found none: an escape of an unreserved
 * character is that character (RFC 3986, 6.2.2.2), so that "/%61B3" is "aB3".
 * With `trims`, what follows the code is passed over if no code could have any
 * of it: visitors come from texts, with the full stop or the bracket that
 * stands behind a link there ("/aB3).", "/aB3%E2%80%8B").  False: it names
 * none. *ret_code must not be copied.
 */
bool path_code_in_text(struct http_slice path, bool trims,
		       struct path_text_code *ret_code);

/* Of what follows a code: is there nothing that a code could have?  A slash,
 * for one. */
bool path_code_trims(struct http_slice rest);

#endif
