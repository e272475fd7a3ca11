/*
 * deny_file.h - the present list of networks that are denied.  It can be read
 * again while servers use it, each through a view of its own
 * (common/versions.h).
 */
#ifndef REDIRECTOR_VISIT_DENY_FILE_H
#define REDIRECTOR_VISIT_DENY_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/ip.h"
#include "common/versions.h"

struct deny_file;

/* Reads the file; errors are those of deny_list_load.  `path` is kept, not
 * copied. */
struct deny_file *deny_file_new(const char *path, struct error *err);
/* Called after the views are released.  NULL accepted. */
void deny_file_free(struct deny_file *file);

/* Reads the file again; later requests are checked against the new list.  On
 * failure the former list stays.  Callable from any thread. */
int deny_file_reload(struct deny_file *file, struct error *err);

size_t deny_file_count(struct deny_file *file);

/* Belongs to one thread.  Zeroed but for `file` at first. */
struct deny_view {
	struct deny_file *file; /* NULL: no client is denied */
	struct versions_user user;
};

bool deny_view_has(struct deny_view *view, const struct address *address);
void deny_view_release(struct deny_view *view);

#endif
