/*
 * pass_through.h - the parts of a visit that are passed on to the link's URL:
 * parameters of its query, and the rest of its path behind the code.
 *
 * Parameters are identified by their names, which are decoded like those of
 * forms (WHATWG URL, 5.1: "+" is a blank, "%41" an A).  Their text is passed on
 * unchanged, except that characters which no URI may have are percent-encoded
 * (common/uri.h).
 */
#ifndef REDIRECTOR_PAGES_PASS_THROUGH_H
#define REDIRECTOR_PAGES_PASS_THROUGH_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/http/http_server.h"
#include "schemas/link.pb-c.h"

/* A query with more parameters is ignored: each one is searched for among those
 * of the URL. */
#define PASS_THROUGH_PARAMETERS_MAX 64

struct pass_through {
	Shortloop__QueryPass query;
	bool path;
};

/*
 * True if the rest may follow a path of the link's owner: no segment of it is
 * "." or "..", in any encoding, and whatever parameters follow a semicolon in
 * it.  So it never leads above the owner's path.
 */
bool pass_through_may_follow(struct http_slice rest);

/*
 * Appends `url` with the visit's additions.  `rest` begins with a slash or is
 * empty; it is left out where it could become the host, or would be no path
 * (uri_takes_path).  The utm_ parameters of the URL stay as they are.
 */
void pass_through_url(struct buf *out, struct http_slice url,
		      const struct pass_through *pass, struct http_slice rest,
		      struct http_slice query);

#endif
