/*
 * deny_file.h - the present list of networks that are not answered, which is
 * read again while servers look into it, each with a view of its own
 * (common/versions.h).
 */
#ifndef REDIRECTOR_DENY_FILE_H
#define REDIRECTOR_DENY_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/ip.h"
#include "common/versions.h"

struct deny_file;

/* Reads it: errors as of deny_list_load.  `path` is kept, not copied. */
struct deny_file *deny_file_new(const char *path, struct error *err);
/* After the views.  NULL accepted. */
void deny_file_free(struct deny_file *file);

/* Reads it again; requests from now on are held against what it has now.  On
 * failure the list before stays.  From any thread. */
int deny_file_reload(struct deny_file *file, struct error *err);

size_t deny_file_count(struct deny_file *file);

/* Of one thread.  Zeroed but for the file, it has seen nothing yet. */
struct deny_view {
	struct deny_file *file; /* NULL: nobody is denied */
	struct versions_user user;
};

bool deny_view_has(struct deny_view *view, const struct address *address);
void deny_view_release(struct deny_view *view);

#endif
