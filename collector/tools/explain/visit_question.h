/*
 * visit_question.h - reads a line of `collector explain`, a visit as JSON,
 * {"ip", "ua", "referrer", "headers", "account", "owner", "method"}, as the
 * click it would be.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_VISIT_QUESTION_H
#define COLLECTOR_TOOLS_EXPLAIN_VISIT_QUESTION_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "schemas/click.pb-c.h"

struct visit_question {
	json_t *line;		/* holds the data of `click` */
	Shortloop__Click click; /* without link; time_ms is not set */
	uint8_t ip[16];
	char domain[254]; /* Host, lower case, without port */
	/* The error of `ip`, if any: the other values can be found without an
	 * address. */
	struct error bad_ip;
};

/*
 * Every member may be missing or null.  `owner` is the link's; `method` may be
 * HEAD.  `headers` maps names, in any case, to texts or lists of texts; Referer
 * and User-Agent count if `referrer` and `ua` are missing.  ERROR_INPUT
 * describes the error.
 */
int visit_question_read(struct visit_question *q, const char *text, size_t len,
			struct error *err);
void visit_question_release(struct visit_question *q);

#endif
