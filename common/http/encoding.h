/*
 * encoding.h - which content coding an answer has (RFC 9110, 12.5.3), and the
 * entity tags of its forms (8.8.3).
 *
 * An answer that has been coded is another representation, with an entity tag
 * of its own: "abc" is "abc-gzip" then.
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

/* "gzip", as Content-Encoding has it. */
const char *encoding_name(enum encoding encoding);

/* What a client accepts: weights in thousandths, 0 refused, ENCODING_UNSAID. */
#define ENCODING_UNSAID (-1)
struct encoding_list {
	int16_t weights[ENCODING_COUNT];
	int16_t others; /* of "*" */
};

/* Of a request without Accept-Encoding. */
extern const struct encoding_list encoding_list_empty;

/* Takes the elements of one Accept-Encoding line; one that is malformed or of a
 * coding that is not known here counts as not there.  The last one wins. */
void encoding_list_add(struct encoding_list *list, struct http_slice line);

/* Of all Accept-Encoding lines of a request. */
struct encoding_list encoding_list_of(const struct http_request *req);

/* Whether the client accepts that form. */
bool encoding_accepted(const struct encoding_list *list, enum encoding e);

/*
 * The form that a body of `len` bytes is sent in: what the client likes best,
 * at equal weight zstd before gzip before identity.  One that fits into a
 * packet is left alone unless the client refuses that.  False: it accepts none
 * of them, which is a 406.
 */
bool encoding_choose(const struct encoding_list *list, size_t len,
		     enum encoding *ret);

/* The entity tag of a form; `etag` is that of the identity, quotes included, of
 * at most 40 bytes. */
#define ENCODING_ETAG_MAX 48
const char *encoding_etag(enum encoding e, const char *etag,
			  char text[ENCODING_ETAG_MAX]);

/*
 * Whether an If-None-Match names a form, any, of what has that entity tag.
 * Their content is one, and who asks with one form and accepts another by now
 * need not be sent it again.
 */
bool encoding_etag_matches(struct http_slice if_none_match, const char *etag);

/* Whether an If-Match, which compares strongly, lists that entity tag, or any:
 * a weak one, or that of another form, does not count. */
bool encoding_etag_is_one_of(struct http_slice if_match, const char *etag);

#endif
