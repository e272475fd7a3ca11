/*
 * renew_gate.h - lets one renewal of a link through per interval and edge.
 *
 * Several threads may learn at once that a link is due.  A small table, found
 * by link_id, remembers the last ones; when two links meet in a place the older
 * is forgotten, and its renewal may be sent once more, which does no harm.
 *
 * Thread-safe.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_RENEW_GATE_H
#define REDIRECTOR_RENEW_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct renew_gate;

struct renew_gate *renew_gate_new(struct error *err);
void renew_gate_free(struct renew_gate *gate); /* NULL accepted */

/* True: the caller renews the link now, and nobody else for `interval` ms. */
bool renew_gate_pass(struct renew_gate *gate, uint64_t link_id, int64_t now,
		     int64_t interval);

/* The renewal failed: the next visit may try again. */
void renew_gate_forget(struct renew_gate *gate, uint64_t link_id);

#endif
