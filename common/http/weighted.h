/*
 * weighted.h - the elements of a list with weights, in which a client states
 * its preferences: Accept, Accept-Encoding (RFC 9110, 12.4.2).
 */
#ifndef COMMON_HTTP_WEIGHTED_H
#define COMMON_HTTP_WEIGHTED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/http/request.h"

struct weighted {
	struct http_slice value; /* all before the weight */
	int16_t weight;		 /* thousandths; 0 refuses it */
};

/* Takes the next element off `line`; an element with a malformed weight is
 * skipped.  Returns false if there is none left. */
bool weighted_next(struct http_slice *line, struct weighted *ret);

#endif
