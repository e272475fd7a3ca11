/*
 * link_events.h - reports changes of links to Kafka.
 *
 * Each change is one LinkEvent (schemas/link.proto), keyed by code, so that the
 * events of one code stay in order.  The queue is bounded.  An event is lost if
 * the queue is full or if Kafka never takes it; this is counted, logged, and
 * reported by /readyz as long as it goes on.
 *
 * Thread-safe.
 */
#ifndef ALLOCATOR_LINK_EVENTS_H
#define ALLOCATOR_LINK_EVENTS_H

#include <stdint.h>

#include "allocator/allocator_config.h"
#include "common/app/health.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "schemas/link.pb-c.h"

struct link_events;

/* All arguments must outlive it. */
struct link_events *link_events_new(const struct allocator_config *config,
				    struct log *log, struct health *health,
				    struct metrics *metrics, struct error *err);

/* `expires`: ms since 1970 or DURATION_NEVER. */
void link_events_send(struct link_events *events, Shortloop__LinkChange change,
		      const char *space, const char *code,
		      const Shortloop__Link *link, int64_t expires);

/* Waits for the queued events, at most timeout_ms.  Returns -1 (retriable) if
 * Kafka does not have all events that were ever sent. */
int link_events_flush(struct link_events *events, int64_t timeout_ms,
		      struct error *err);

/* Waits for the queued events, at most timeout_ms.  Events that are left then
 * are lost, which is logged.  NULL accepted. */
void link_events_free(struct link_events *events, int64_t timeout_ms);

#endif
