/*
 * trace.h - shows which rule decided each value of an answer.  It is for
 * people, so it searches everything once more instead of being fast.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_TRACE_H
#define COLLECTOR_TOOLS_EXPLAIN_TRACE_H

#include <stdint.h>

#include "collector/enrich/reference.h"
#include "collector/enrich/verdict_rules.h"
#include "common/agent/verdict.h"
#include "common/buf.h"
#include "common/error.h"
#include "schemas/click.pb-c.h"

struct trace;

/* `ref` must outlive it. */
struct trace *trace_new(const struct reference *ref, struct error *err);
void trace_free(struct trace *t); /* NULL accepted */

struct trace_case {
	const Shortloop__Click *click;
	const uint8_t *ip; /* 16 bytes; NULL: no address */
	const struct ua_result *ua;
	size_t ua_len; /* length of the parsed part of the user agent */
	struct verdict verdict;
	const struct verdict_rule *rule; /* the deciding rule; NULL: none */
};

/* Appends the member "why", as for --why. */
void trace_append(struct trace *t, const struct trace_case *c, struct buf *out);

#endif
