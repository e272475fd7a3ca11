/*
 * recorded.h - what an event has of a request only because a setting names it:
 * cookies, and the trace that the request is part of.  Both are personal data,
 * and off unless an operator wants them.
 */
#ifndef REDIRECTOR_RECORDED_H
#define REDIRECTOR_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/click_event.h"
#include "redirector/redirector_config.h"
#include "redirector/trace_context.h"

/* Of redirector.record_cookies: few enough names, each a token (RFC 6265) that
 * is there once and not too long.  ERROR_CONFIG says which is not. */
int recorded_check(const struct redirector_settings *s, struct error *err);

/* Where what a click says is kept. */
struct recorded {
	struct click_cookie cookies[CLICK_COOKIES_MAX];
	uint8_t trace_id[TRACE_ID_SIZE];
};

/*
 * Puts into `click` what the request has of it; `room` and the request must
 * outlive the click.  Of cookies of one name the first counts, as servers have
 * it; of several traceparent headers none.
 */
void recorded_read(const struct redirector_settings *s,
		   const struct http_request *req, struct recorded *room,
		   struct click *click);

#endif
