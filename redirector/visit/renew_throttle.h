/*
 * renew_throttle.h - lets one renewal of a link through per interval and
 * redirector.
 *
 * Several threads may find at once that a link is due.  A small table with a
 * bucket by link_id has the last renewals; when two links share a bucket, the
 * older renewal is dropped and may be sent once more, which does no harm.
 *
 * Thread-safe.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_VISIT_RENEW_THROTTLE_H
#define REDIRECTOR_VISIT_RENEW_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct renew_throttle;

struct renew_throttle *renew_throttle_new(struct error *err);
void renew_throttle_free(struct renew_throttle *throttle); /* NULL accepted */

/* Returns true if the caller is to renew the link now; for `interval` ms no
 * other caller gets true.  The interval is that of this call, not of the last
 * renewal: it changes when the life of a link is shortened. */
bool renew_throttle_admit(struct renew_throttle *throttle, uint64_t link_id,
			  int64_t now, int64_t interval);

/* Called when the renewal failed: the next visit may try again. */
void renew_throttle_reset(struct renew_throttle *throttle, uint64_t link_id);

#endif
