/*
 * ledger_watch.h - reads the ledger of every space periodically, for the API
 * and for /metrics.
 *
 * One thread with its own connection reads it, so that a space of a million
 * ranges, which takes seconds to read, delays no request.  After a reading, the
 * thread rests for twenty times as long as it took, or for `every_ms` if that
 * is longer.
 */
#ifndef ALLOCATOR_LEDGER_LEDGER_WATCH_H
#define ALLOCATOR_LEDGER_LEDGER_WATCH_H

#include "allocator/ledger/ledger_entry.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct ledger_watch;

/* `store` and `redis` (the settings) must outlive it.  Does not read yet. */
struct ledger_watch *ledger_watch_new(const struct linkstore *store,
				      const struct redis_config *redis,
				      int64_t every_ms, struct metrics *metrics,
				      struct log *log, struct error *err);
int ledger_watch_start(struct ledger_watch *w, struct error *err);
/* Ends the thread, which may take as long as the connection's timeout.  NULL
 * accepted. */
void ledger_watch_free(struct ledger_watch *w);

/* Copies the latest readings of linkstore_space_count spaces in their order.
 * Returns -1 if one was never read; *err says why (ERROR_REMOTE).
 * Thread-safe. */
int ledger_watch_copy(struct ledger_watch *w, struct ledger_entry *ret_entries,
		      struct error *err);

#endif
