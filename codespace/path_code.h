/*
 * path_code.h - which code a path names.
 *
 * The redirector asks it of each visit, and `collector import` of each line of
 * a log, so that a past visit is a click exactly if it would be one today.
 */
#ifndef CODESPACE_PATH_CODE_H
#define CODESPACE_PATH_CODE_H

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

#endif
