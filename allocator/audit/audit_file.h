/*
 * audit_file.h - the thread that appends audit lines to their file.  For
 * allocator/audit/ only; what happens when it cannot is told in audit.h.
 */
#ifndef ALLOCATOR_AUDIT_AUDIT_FILE_H
#define ALLOCATOR_AUDIT_AUDIT_FILE_H

#include "allocator/audit/audit.h"

struct audit_file;

struct audit_file *audit_file_new(const struct audit_options *options,
				  struct error *err);
void audit_file_free(struct audit_file *f, int64_t timeout_ms);

/* Whole lines, each with its newline. */
void audit_file_append(struct audit_file *f, const char *lines, size_t len);
void audit_file_reopen(struct audit_file *f);
/* Counts a line that could not even be made. */
void audit_file_lose(struct audit_file *f);

#endif
