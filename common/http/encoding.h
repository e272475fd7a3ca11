/*
 * encoding.h - chooses the content coding of an answer (RFC 9110, 12.5.3), and
 * makes the entity tags of its forms (8.8.3).
 *
 * An answer that has been coded is another representation, with an entity tag
 * of its own: "abc" becomes "abc-gzip".
 */
#ifndef COMMON_HTTP_ENCODING_H
#define COMMON_HTTP_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/http/request.h"

enum encoding {
	ENCODING_IDENTITY,
	ENCODING_GZIP,
	ENCODING_ZSTD,
};
#define ENCODING_COUNT 3

/* Returns the name in Content-Encoding, such as "gzip". */
const char *encoding_name(enum encoding encoding);

/* The codings that a client accepts: weights in thousandths, 0 refused, or
 * ENCODING_UNSAID. */
#define ENCODING_UNSAID (-1)
struct encoding_list {
	int16_t weights[ENCODING_COUNT];
	int16_t others; /* the weight of "*" */
};

/* The list of a request without Accept-Encoding. */
extern const struct encoding_list encoding_list_empty;

/* Adds the elements of one Accept-Encoding line; a malformed element, or one of
 * an unknown coding, is ignored.  The last one of a coding wins. */
void encoding_list_add(struct encoding_list *list, struct http_slice line);

/* Returns the list of all Accept-Encoding lines of a request. */
struct encoding_list encoding_list_of(const struct http_request *req);

/* Returns true if the client accepts that form. */
bool encoding_accepted(const struct encoding_list *list, enum encoding e);

/*
 * Chooses the form in which a body of `len` bytes is sent: the one with the
 * greatest weight, at equal weight zstd before gzip before identity.  A body
 * that fits into a packet is sent as identity unless the client refuses that.
 * Returns false if the client accepts none of them, which is a 406.
 */
bool encoding_choose(const struct encoding_list *list, size_t len,
		     enum encoding *ret);

/* Returns the entity tag of a form; `etag` is that of the identity, quotes
 * included, of at most 40 bytes. */
#define ENCODING_ETAG_MAX 48
const char *encoding_etag(enum encoding e, const char *etag,
			  char text[ENCODING_ETAG_MAX]);

/*
 * Returns true if an If-None-Match names any form of the content with that
 * entity tag.  All forms have the same content, so a client that has one form
 * and now accepts another need not be sent it again.
 */
bool encoding_etag_matches(struct http_slice if_none_match, const char *etag);

/* Returns true if an If-Match, which compares strongly, lists that entity tag,
 * or "*": a weak tag, or that of another form, does not match. */
bool encoding_etag_is_one_of(struct http_slice if_match, const char *etag);

#endif
