/*
 * app_file.h - the files of a domain by which a phone learns that an app opens
 * its links: Apple's apple-app-site-association and Android's assetlinks.json.
 *
 *	developer.apple.com/documentation/xcode/supporting-associated-domains
 *	developers.google.com/digital-asset-links/v1/statements
 *
 * Each file is requested at a path of its own, must not be redirected, and must
 * be application/json.  So a file is read once, checked to be what its kind
 * requires (a JSON object, or a JSON list), and kept as a ready answer.  The
 * same is done with a robots.txt (RFC 9309), which is text.
 */
#ifndef REDIRECTOR_PAGES_APP_FILE_H
#define REDIRECTOR_PAGES_APP_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/http_server.h"

/* Apple's limit, which is used for both. */
#define APP_FILE_BYTES_MAX ((size_t)128 << 10)

enum app_file_kind {
	APP_FILE_APPLE,
	APP_FILE_ANDROID,
	APP_FILE_ROBOTS,
	APP_FILE_KINDS
};

/* Returns the kind that a path requests.  APP_FILE_KINDS: the path is none of
 * these, or it is too short to differ from a code by its length (/robots.txt)
 * and has to be checked separately. */
enum app_file_kind app_file_kind_of(struct http_slice path);

/* Immutable once it is made; any thread may read and release it. */
struct app_file;

/* The caller gets a reference.  ERROR_CONFIG names the file, and the line and
 * column where it is not valid JSON. */
struct app_file *app_file_load(const char *path, enum app_file_kind kind,
			       struct error *err);
/* Returns another reference to the same file; NULL accepted. */
struct app_file *app_file_share(struct app_file *f);
void app_file_release(struct app_file *f); /* NULL accepted */

/* True if If-None-Match names the version that the file has. */
bool app_file_matches(const struct app_file *f,
		      struct http_slice if_none_match);

struct http_slice app_file_body(const struct app_file *f);
/* Returns the header lines of a 200 with the body, or of a 304. */
struct http_slice app_file_lines(const struct app_file *f, bool with_body);

#endif
