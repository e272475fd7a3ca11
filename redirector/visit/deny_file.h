/*
 * deny_file.h - the present list of networks that are denied, which is read
 * again (common/app/reloadable.h) while servers use it, each through a view of
 * its own.
 */
#ifndef REDIRECTOR_VISIT_DENY_FILE_H
#define REDIRECTOR_VISIT_DENY_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/app/reloadable.h"
#include "common/ip.h"
#include "common/versions.h"

/* The source is the file's path; errors are those of deny_list_load. */
extern const struct reloadable_kind deny_file_kind;

/* Belongs to one thread.  Zeroed, it has no list: no client is denied. */
struct deny_view {
	struct versions_user user;
};

/* `file` may be NULL: no list. */
void deny_view_join(struct deny_view *view, struct reloadable *file);
bool deny_view_has_list(const struct deny_view *view);
bool deny_view_has(struct deny_view *view, const struct address *address);
void deny_view_release(struct deny_view *view);

#endif
