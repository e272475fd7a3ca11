/*
 * static_files.h - the dashboard's files, read into memory at start.
 *
 * Requests are looked up in a closed list: no path of a client's ever reaches
 * the file system.  Only read once loaded: any thread may use it.
 */
#ifndef AGGREGATOR_API_STATIC_FILES_H
#define AGGREGATOR_API_STATIC_FILES_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/encoding.h"
#include "common/http/http_server.h"

struct static_files;

/* Reads the files of known types under `root`, not those whose name starts with
 * a dot.  At most 256 files and 16 MiB; with the other forms of those that are
 * text it may be three times that. */
struct static_files *static_files_load(const char *root, struct error *err);
void static_files_free(struct static_files *files); /* NULL accepted */

struct static_file {
	char *path; /* as in the URL: "/app.js" */
	const char *type;
	struct buf forms[ENCODING_COUNT]; /* all, or identity alone */
	char etag[24];			  /* of the identity */
};

/* Makes the other forms of what is in the first: once, for all requests. */
int static_file_encode(struct static_file *file, struct error *err);
void static_file_release(struct static_file *file);

/* The form that a request accepts.  False: none. */
bool static_file_choose(const struct static_file *file,
			const struct encoding_list *accepted,
			enum encoding *ret);

/* "/" is "/index.html".  NULL when there is none. */
const struct static_file *static_files_find(const struct static_files *files,
					    struct http_slice path);

#endif
