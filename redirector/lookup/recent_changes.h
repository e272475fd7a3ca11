/*
 * recent_changes.h - when a code was last named as changed.  A thread checks
 * this before it looks a link up in a server that receives changes late.
 *
 * The size is limited: a keyed hash gives a code one of RECENT_CHANGES places,
 * which it shares with other codes.  So the answer may be the time of another
 * code's change, which is later than that of its own, never earlier.
 *
 * Belongs to one thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_LOOKUP_RECENT_CHANGES_H
#define REDIRECTOR_LOOKUP_RECENT_CHANGES_H

#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"

#define RECENT_CHANGES 4096 /* a power of two */

struct recent_changes;

struct recent_changes *recent_changes_new(struct error *err);
void recent_changes_free(struct recent_changes *changes); /* NULL accepted */

void recent_changes_note(struct recent_changes *changes, struct http_slice code,
			 int64_t now);

/* INT64_MIN: it was never named. */
int64_t recent_changes_last(const struct recent_changes *changes,
			    struct http_slice code);

#endif
