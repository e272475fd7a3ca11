/*
 * backoff.h - the delay after consecutive failures: it doubles each time, up to
 * a bound, less up to half of it at random, so that programs that failed
 * together do not retry together.
 */
#ifndef COMMON_BACKOFF_H
#define COMMON_BACKOFF_H

#include <stdint.h>

/*
 * Returns the ms to wait after `failures` in a row (1 is the first): more than
 * half of the lesser of max_ms and min_ms * 2^(failures - 1), and at most that.
 * `random`: 32 random bits.
 */
int64_t backoff_delay(int64_t min_ms, int64_t max_ms, unsigned failures,
		      uint32_t random);

#endif
