/*
 * json_read.h - reading JSON that is small and comes tens of thousands of times
 * a second.
 *
 * RFC 8259, strictly: well-formed UTF-8, no name twice in an object, no NUL and
 * no lone surrogate in a string.  The text is copied once and strings are
 * decoded in that copy, so that a document costs two allocations.  What no
 * request of ours has a use for is refused: see the bounds below.  Other JSON
 * is jansson's.
 */
#ifndef COMMON_JSON_READ_H
#define COMMON_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define JSON_DEPTH_MAX	 32   /* of arrays and objects */
#define JSON_MEMBERS_MAX 64   /* of an object; each is compared with each */
#define JSON_VALUES_MAX	 4096 /* of a document */

enum json_kind {
	JSON_KIND_NULL,
	JSON_KIND_FALSE,
	JSON_KIND_TRUE,
	JSON_KIND_WHOLE,  /* a number without fraction and exponent, of 64 bits
			   */
	JSON_KIND_NUMBER, /* any other */
	JSON_KIND_STRING,
	JSON_KIND_ARRAY,
	JSON_KIND_OBJECT,
};

/* Read only.  Belongs to its document. */
struct json_value {
	enum json_kind kind;
	uint32_t count;	  /* of an array or object */
	const char *name; /* of a member of an object; NULL else */
	union {
		double number; /* may be infinite */
		struct {
			const char *text; /* UTF-8, with a NUL behind it */
			size_t len;
		} string;
	};
	uint32_t parent, first, last, next; /* in the document; 0: none */
};

struct json_doc {
	struct json_value *values; /* [0] is the whole, an array or object */
	uint32_t count, cap;
	char *text;
	struct json_kept *kept;
};

/* ERROR_INPUT: "column 7: ..." or "line 2, column 7: ..." (in bytes).  End with
 * json_doc_free, also after a failure. */
int json_doc_read(struct json_doc *doc, const char *text, size_t len,
		  struct error *err);
void json_doc_free(struct json_doc *doc);

/* The first value of an array or object, and the one after `value`; NULL at the
 * end. */
const struct json_value *json_doc_first(const struct json_doc *doc,
					const struct json_value *container);
const struct json_value *json_doc_next(const struct json_doc *doc,
				       const struct json_value *value);

/* A copy that lives as long as the document, or NULL. */
const char *json_doc_keep(struct json_doc *doc, const char *text, size_t len);

#endif
