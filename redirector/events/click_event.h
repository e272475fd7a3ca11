/*
 * click_event.h - the event of one answered request, as protobuf bytes.
 *
 * The fields that a click takes from its link do not change between visits.
 * They are encoded once, when the link is cached (click_link_part), and
 * appended to the rest.  This is valid: two protobuf encodings put end to end
 * are the encoding of the merged message.
 *
 * Text from clients is cut to the limits, between characters; text in `string`
 * fields is always valid UTF-8, so that no reader refuses it.
 */
#ifndef REDIRECTOR_EVENTS_CLICK_EVENT_H
#define REDIRECTOR_EVENTS_CLICK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/client_address.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "linkstore/visit/click_domain.h"
#include "schemas/click.pb-c.h"

#define CLICK_CODE_MAX	   64
#define CLICK_PREFETCH_MAX 64
/* Maximum of cookies of one click, and of characters in a cookie's name. */
#define CLICK_COOKIES_MAX     8
#define CLICK_COOKIE_NAME_MAX 64

struct click_limits { /* in bytes */
	size_t user_agent;
	size_t referrer;
	size_t accept_language;
	size_t query;
	size_t cookie; /* each value */
};

struct click_cookie {
	const char *name;
	struct http_slice value;
};

struct click {
	int64_t time_ms;
	Shortloop__Outcome outcome;
	int status;
	struct address client;
	/* Values as in the request; an absent one is {NULL, 0}. */
	struct http_slice host;
	struct http_slice user_agent;
	struct http_slice referrer;
	struct http_slice accept_language;
	struct http_slice query;
	struct http_slice prefetch; /* Sec-Purpose, or an older name */
	/* Cookies that the configuration names (recorded.h). */
	const struct click_cookie *cookies;
	size_t cookie_count;
	struct http_slice trace_id; /* 16 bytes, or none */
	/* The digest of the URL that is sent: 16 bytes, or none. */
	struct http_slice url_digest;
	bool trimmed; /* text behind the code was ignored */
	/* Written by click_link_part. */
	struct http_slice link_part;
};

/* Stands in place of account and owner when Redis no longer has the link, so it
 * is unknown whose it was.  No link can have this account or owner and no key
 * can name them, as names have no control characters. */
#define CLICK_UNKNOWN "\x01unknown"

/* The fields that a click takes from its link; texts may be NULL. */
struct click_link {
	struct http_slice code;
	uint64_t link_id; /* 0: the code has no link */
	const char *account, *owner, *campaign;
	char *const *tags;
	size_t tag_count;
};
void click_link_part(struct buf *out, const struct click_link *link);

/* Appended to an event, it marks that an earlier try may have been delivered:
 * maybe_sent of schemas/click.proto. */
#define CLICK_MAYBE_SENT      "\xa0\x01\x01"
#define CLICK_MAYBE_SENT_SIZE (sizeof(CLICK_MAYBE_SENT) - 1)

/* Encodes clicks and numbers them.  Each thread has its own. */
struct click_encoder;

/* `edge` and `limits` are copied.  Fails when the system gives no random bytes,
 * or no memory. */
struct click_encoder *click_encoder_new(const char *edge,
					const struct click_limits *limits,
					struct error *err);
void click_encoder_free(struct click_encoder *e); /* NULL accepted */

/* Returns the encoded event, valid until the next call; {NULL, 0} when out of
 * memory. */
struct http_slice click_encode(struct click_encoder *e,
			       const struct click *click);

#endif
