/*
 * static_files.h - the dashboard's files, read into memory at start.
 *
 * Requests are looked up in a closed list: no path from a client reaches the
 * file system.  The files are only read once loaded: any thread may use them.
 */
#ifndef AGGREGATOR_API_STATIC_FILES_H
#define AGGREGATOR_API_STATIC_FILES_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/encoding.h"
#include "common/http/http_server.h"

struct static_files;

/* Reads the files of known types under `root`, except those whose name starts
 * with a dot.  At most 256 files and 16 MiB; the compressed forms of text files
 * may make it three times that. */
struct static_files *static_files_load(const char *root, struct error *err);
void static_files_free(struct static_files *files); /* NULL accepted */

struct static_file {
	char *path; /* the URL's: "/app.js" */
	const char *type;
	struct buf forms[ENCODING_COUNT]; /* all forms, or identity alone */
	char etag[24];			  /* ETag of the identity */
};

/* Makes the other forms from the identity, once for all requests. */
int static_file_encode(struct static_file *file, struct error *err);
void static_file_release(struct static_file *file);

/* Chooses the form that a request accepts.  Returns false if there is none. */
bool static_file_choose(const struct static_file *file,
			const struct encoding_list *accepted,
			enum encoding *ret);

/* Returns the file of a path, "/" being "/index.html", or NULL. */
const struct static_file *static_files_find(const struct static_files *files,
					    struct http_slice path);

#endif
