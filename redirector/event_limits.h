/*
 * event_limits.h - how many events a second a process sends of answers that
 * lead nowhere.
 *
 * Whoever tries codes one by one has each answered, and each event would go to
 * Kafka and become a row.  So events of an outcome that is no redirect are
 * taken out of a token bucket of that outcome, which all threads share: as many
 * at once as its rate is of one second.  An answer whose event is withheld is
 * counted as such (HOUR_WITHHELD), so that reconciliation does not miss it.
 *
 * A bucket is one instant (common/token_bucket.h), changed by compare and swap.
 * One that is empty is only read, so that threads under an enumeration do not
 * pass its cache line back and forth but as often as an event is sent.
 */
#ifndef REDIRECTOR_EVENT_LIMITS_H
#define REDIRECTOR_EVENT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "redirector/redirector_config.h"
#include "schemas/click.pb-c.h"

struct event_limits;

struct event_limits *event_limits_new(const struct redirector_settings *s,
				      struct error *err);
void event_limits_free(struct event_limits *l); /* NULL accepted */

/* May an event of the outcome be sent, at `now_ms` (monotonic)?  Those of
 * redirects and of HEAD always may.  From any thread. */
bool event_limits_take(struct event_limits *l, Shortloop__Outcome outcome,
		       int64_t now_ms);

#endif
