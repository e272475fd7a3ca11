/*
 * pass_through.h - what of a visit goes on to the URL that a link leads to:
 * parameters of its query, and what of its path follows the code.
 *
 * Parameters are told apart by their names, which are read as those of forms
 * (WHATWG URL, 5.1: "+" is a blank, "%41" an A).  Their text goes on as it
 * came, but for what no URI may have, which is percent-encoded (common/uri.h).
 */
#ifndef REDIRECTOR_PASS_THROUGH_H
#define REDIRECTOR_PASS_THROUGH_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/http/http_server.h"
#include "schemas/link.pb-c.h"

/* A query with more parameters goes on as if it had none: each is looked for
 * among those of the URL. */
#define PASS_THROUGH_PARAMETERS_MAX 64

struct pass_through {
	Shortloop__QueryPass query;
	bool path;
};

/*
 * May it follow a path of the owner's?  No segment of it is "." or "..",
 * however it is encoded, and whatever parameters follow a semicolon in it: none
 * leads above the owner's path.
 */
bool pass_through_may_follow(struct http_slice rest);

/*
 * Appends `url` with what the visit adds to it.  `rest` begins with a slash or
 * is empty; it is left out where it could become the host, or be no path
 * (uri_takes_path).  What the URL has of utm_ parameters stays as it is.
 */
void pass_through_url(struct buf *out, struct http_slice url,
		      const struct pass_through *pass, struct http_slice rest,
		      struct http_slice query);

#endif
