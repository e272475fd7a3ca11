/* key_view.h - what a caller learns of its own key: GET /v1/me of both
 * programs. */
#ifndef COMMON_KEYS_KEY_VIEW_H
#define COMMON_KEYS_KEY_VIEW_H

#include <stdint.h>

#include "common/buf.h"
#include "common/keys/api_keyring.h"

/*
 * Appends the first members of the answer, from its '{' on; the caller appends
 * others, and the '}'.  `key` NULL: the program has no file of keys.  `now` of
 * clock_monotonic_ns is the time of the rate.
 */
void key_view_begin(const struct api_key_info *key, int64_t now,
		    struct buf *out);

/* Appends the member `rate` with the comma before it. */
void key_view_put_rate(const struct api_key_info *key, int64_t now,
		       struct buf *out);

#endif
