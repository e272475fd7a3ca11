/*
 * visit_question.h - a line of `collector explain`: a visit as JSON,
 * {"ip", "ua", "referrer", "headers", "owner", "method"}, read as the click it
 * would be.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_VISIT_QUESTION_H
#define COLLECTOR_TOOLS_EXPLAIN_VISIT_QUESTION_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "schemas/click.pb-c.h"

struct visit_question {
	json_t *line;		/* what `click` points into */
	Shortloop__Click click; /* without link; time_ms is not set */
	uint8_t ip[16];
	char domain[254]; /* Host, lower case, without port */
	/* What is wrong with `ip`: the rest can be answered without.  Empty
	 * when nothing is. */
	struct error bad_ip;
};

/*
 * Every member may be missing or null.  `owner` is the link's; a `method` HEAD
 * makes it such a request.  `headers` maps names, in any case, to
 * texts or lists of texts; Referer and User-Agent count where `referrer` and
 * `ua` are missing.  ERROR_INPUT says what is not as it should be.
 */
int visit_question_read(struct visit_question *q, const char *text, size_t len,
			struct error *err);
void visit_question_release(struct visit_question *q);

#endif
