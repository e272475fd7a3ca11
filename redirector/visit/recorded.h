/*
 * recorded.h - the parts of a request that an event has only if a setting names
 * them: cookies, and the trace that the request is part of.  Both are personal
 * data, and off unless an operator turns them on.
 */
#ifndef REDIRECTOR_VISIT_RECORDED_H
#define REDIRECTOR_VISIT_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/events/click_event.h"
#include "redirector/redirector_config.h"
#include "redirector/visit/trace_context.h"

/* Checks redirector.record_cookies: at most CLICK_COOKIES_MAX names, each a
 * token (RFC 6265), not too long, and only once.  ERROR_CONFIG names the first
 * mistake. */
int recorded_check(const struct redirector_settings *s, struct error *err);

/* Storage for values that a click points to. */
struct recorded {
	struct click_cookie cookies[CLICK_COOKIES_MAX];
	uint8_t trace_id[TRACE_ID_SIZE];
};

/*
 * Sets these fields of `click` from the request; `room` and the request must
 * outlive the click.  If several cookies have one name, the first counts, as in
 * servers; if there are several traceparent headers, none does.
 */
void recorded_read(const struct redirector_settings *s,
		   const struct http_request *req, struct recorded *room,
		   struct click *click);

#endif
