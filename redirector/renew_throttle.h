/*
 * renew_throttle.h - lets one renewal of a link through per interval and
 * redirector.
 *
 * Several threads may learn at once that a link is due.  A small table with a
 * bucket by link_id remembers the last renewals; when two links share a bucket
 * the older is forgotten, and its renewal may be sent once more, which does no
 * harm.
 *
 * Thread-safe.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_RENEW_THROTTLE_H
#define REDIRECTOR_RENEW_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct renew_throttle;

struct renew_throttle *renew_throttle_new(struct error *err);
void renew_throttle_free(struct renew_throttle *throttle); /* NULL accepted */

/* True: the caller renews the link now, and nobody else for `interval` ms.  The
 * interval is the caller's, not that of the last renewal: a link whose life was
 * shortened has another. */
bool renew_throttle_admit(struct renew_throttle *throttle, uint64_t link_id,
			  int64_t now, int64_t interval);

/* The renewal failed: the next visit may try again. */
void renew_throttle_reset(struct renew_throttle *throttle, uint64_t link_id);

#endif
