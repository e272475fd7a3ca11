/*
 * why.h - which rule decided what an answer says.  For people who wonder, so
 * it looks everything up once more rather than being fast.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_WHY_H
#define COLLECTOR_TOOLS_EXPLAIN_WHY_H

#include <stdint.h>

#include "collector/enrich/reference.h"
#include "collector/enrich/verdict.h"
#include "common/buf.h"
#include "common/error.h"
#include "schemas/click.pb-c.h"

struct why;

/* `ref` must outlive it. */
struct why *why_new(const struct reference *ref, struct error *err);
void why_free(struct why *w); /* NULL accepted */

struct why_case {
	const Shortloop__Click *click;
	const uint8_t *ip; /* 16 bytes; NULL: there is none */
	const struct ua_result *ua;
	size_t ua_len; /* of the user agent, as far as it was parsed */
	struct verdict verdict;
};

/* Appends the member "why". */
void why_append(struct why *w, const struct why_case *c, struct buf *out);

#endif
