/* audit_line.h - one change as a line of JSON.  For allocator/audit/ only. */
#ifndef ALLOCATOR_AUDIT_AUDIT_LINE_H
#define ALLOCATOR_AUDIT_AUDIT_LINE_H

#include "allocator/audit/audit.h"
#include "common/buf.h"

/* Appends the line with its newline; `now` is ms since 1970. */
void audit_line_write(enum audit_action action, const struct audit_entry *entry,
		      int64_t now, struct buf *out);

#endif
