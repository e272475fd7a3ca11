/*
 * app_file.h - the files of a domain by which a phone learns that an app opens
 * its links: Apple's apple-app-site-association and Android's assetlinks.json.
 *
 *	developer.apple.com/documentation/xcode/supporting-associated-domains
 *	developers.google.com/digital-asset-links/v1/statements
 *
 * Either is asked for at a path of its own, takes no redirect, and has to be
 * application/json.  So a file is read once, held against what its kind has to
 * be (an object of JSON, or a list), and kept as the answer that it is.  The
 * same is done with a robots.txt (RFC 9309), which is text.
 */
#ifndef REDIRECTOR_APP_FILE_H
#define REDIRECTOR_APP_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/http_server.h"

/* Apple's bound, which does for both. */
#define APP_FILE_BYTES_MAX ((size_t)128 << 10)

enum app_file_kind {
	APP_FILE_APPLE,
	APP_FILE_ANDROID,
	APP_FILE_ROBOTS,
	APP_FILE_KINDS
};

/* The kind that a path asks for; APP_FILE_KINDS: none, or one whose path cannot
 * be a code's, which is asked for by itself. */
enum app_file_kind app_file_kind_of(struct http_slice path);

/* Not changed once it is made; read and released by any thread. */
struct app_file;

/* The caller has a reference.  ERROR_CONFIG names the file, and the line and
 * column where it is no JSON. */
struct app_file *app_file_load(const char *path, enum app_file_kind kind,
			       struct error *err);
/* Another reference to the same; NULL accepted. */
struct app_file *app_file_share(struct app_file *f);
void app_file_release(struct app_file *f); /* NULL accepted */

/* Does If-None-Match name what the file has? */
bool app_file_matches(const struct app_file *f,
		      struct http_slice if_none_match);

struct http_slice app_file_body(const struct app_file *f);
/* Header lines of a 200 with the body, or of a 304. */
struct http_slice app_file_lines(const struct app_file *f, bool with_body);

#endif
