/* audit_line.h - one change of a link as a line of JSON; audit.h describes the
 * line. */
#ifndef ALLOCATOR_AUDIT_AUDIT_LINE_H
#define ALLOCATOR_AUDIT_AUDIT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"
#include "schemas/link.pb-c.h"

enum audit_action {
	AUDIT_CREATED,
	AUDIT_CHANGED,
	AUDIT_DELETED,
	AUDIT_RESTORED,
};

/* The client that made the change.  Strings are read during the call only. */
struct audit_source {
	const char *key; /* the API key's name */
	const struct sockaddr_storage *peer;
	struct http_slice forwarded_for; /* {NULL, 0}: none was sent */
	struct http_slice request_id;	 /* {NULL, 0}: none was sent */
};

struct audit_entry {
	const struct audit_source *source;
	const char *space, *code;
	const Shortloop__Link *before; /* NULL: created */
	const Shortloop__Link *after;  /* NULL: deleted without a trace */
};

/* A moderator's decision on a URL, whichever links lead there. */
struct audit_url_entry {
	const struct audit_source *source;
	bool blocked; /* false: lifted */
	const char *account;
	const char *url; /* "": only its id was given */
	const char *id;
};

void audit_url_line_write(const struct audit_url_entry *entry, int64_t now,
			  struct buf *out);

/* Appends the line with its newline; `now` is ms since 1970. */
void audit_line_write(enum audit_action action, const struct audit_entry *entry,
		      int64_t now, struct buf *out);

#endif
