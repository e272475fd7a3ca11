/*
 * trace_context.h - the header traceparent of W3C Trace Context
 * (www.w3.org/TR/trace-context-1).
 */
#ifndef REDIRECTOR_VISIT_TRACE_CONTEXT_H
#define REDIRECTOR_VISIT_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/http/http_server.h"

#define TRACE_ID_SIZE 16

/*
 * Reads the trace-id of a value of version 00: "00-", 32 digits, "-", 16
 * digits, "-", 2 digits, in lower case, with neither trace-id nor parent-id all
 * zeros.  Returns false for any other value, and leaves ret_id untouched.
 */
bool traceparent_read(struct http_slice value, uint8_t ret_id[TRACE_ID_SIZE]);

#endif
