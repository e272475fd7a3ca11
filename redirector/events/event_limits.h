/*
 * event_limits.h - limits how many events a second a process sends of answers
 * that lead nowhere.
 *
 * A client that tries codes one by one gets an answer to each, and each event
 * would go to Kafka and become a row.  So an event whose outcome is no redirect
 * takes a token from the bucket of that outcome, which all threads share; a
 * bucket holds the tokens of one second.  An answer whose event is withheld is
 * counted as withheld (HOUR_WITHHELD), so that reconciliation does not miss it.
 *
 * A bucket is one instant (common/token_bucket.h), changed by compare and swap.
 * An empty bucket is only read.  So while codes are enumerated, threads do not
 * pass its cache line back and forth except when an event is sent.
 */
#ifndef REDIRECTOR_EVENTS_EVENT_LIMITS_H
#define REDIRECTOR_EVENTS_EVENT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "redirector/redirector_config.h"
#include "schemas/click.pb-c.h"

struct event_limits;

struct event_limits *event_limits_new(const struct redirector_settings *s,
				      struct error *err);
void event_limits_free(struct event_limits *l); /* NULL accepted */

/* Returns whether an event of the outcome may be sent, at `now_ms` (monotonic).
 * Events of redirects and of HEAD always may.  Callable from any thread. */
bool event_limits_take(struct event_limits *l, Shortloop__Outcome outcome,
		       int64_t now_ms);

#endif
