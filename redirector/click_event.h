/*
 * click_event.h - the event of one answered request, as protobuf bytes.
 *
 * What a click says of its link does not change between visits, so it is
 * encoded once, when the link is cached (click_link_part), and copied behind
 * the rest.  That is sound: two protobuf encodings put end to end are the
 * encoding of the merged message.
 *
 * Text from clients is bounded by the limits and cut between characters; text
 * in `string` fields is always valid UTF-8, so that no reader refuses it.
 */
#ifndef REDIRECTOR_CLICK_EVENT_H
#define REDIRECTOR_CLICK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/client_address.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "schemas/click.pb-c.h"

#define CLICK_DOMAIN_MAX   253
#define CLICK_CODE_MAX	   64
#define CLICK_PREFETCH_MAX 64
/* Cookies of one click, and characters of a cookie's name. */
#define CLICK_COOKIES_MAX     8
#define CLICK_COOKIE_NAME_MAX 64

struct click_limits { /* in bytes */
	size_t user_agent;
	size_t referrer;
	size_t accept_language;
	size_t query;
	size_t cookie; /* of each value */
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
	/* As the request has them; an absent one is {NULL, 0}. */
	struct http_slice host;
	struct http_slice user_agent;
	struct http_slice referrer;
	struct http_slice accept_language;
	struct http_slice query;
	struct http_slice prefetch; /* Sec-Purpose or an older name */
	/* What was asked for by name (recorded.h). */
	const struct click_cookie *cookies;
	size_t cookie_count;
	struct http_slice trace_id; /* 16 bytes, or none */
	bool trimmed;		    /* text behind the code was passed over */
	/* Written by click_link_part. */
	struct http_slice link_part;
};

/* In place of an owner: there was one, or none, of a link that Redis does not
 * have any more.  No link can have it, nor can a key name it, as names have no
 * control characters. */
#define CLICK_OWNER_UNKNOWN "\x01unknown"

/* Appends the fields that a click takes from its link: the code, its link_id (0
 * where there is none), owner, campaign and tags.  Strings may be NULL. */
void click_link_part(struct buf *out, struct http_slice code, uint64_t link_id,
		     const char *owner, const char *campaign, char *const *tags,
		     size_t tag_count);

/*
 * Host as events name it: lower case, without the port; "" when it is absent,
 * too long or holds what no host name does.
 */
void click_domain(struct http_slice host, char out[CLICK_DOMAIN_MAX + 1]);

/* Put behind an event, it says that an earlier try may have been delivered:
 * maybe_sent of schemas/click.proto. */
#define CLICK_MAYBE_SENT      "\xa0\x01\x01"
#define CLICK_MAYBE_SENT_SIZE (sizeof(CLICK_MAYBE_SENT) - 1)

/* Encodes clicks and numbers them.  One per thread. */
struct click_encoder;

/* `edge` is copied; `limits` too.  Fails when the system gives no random
 * bytes, or no memory. */
struct click_encoder *click_encoder_new(const char *edge,
					const struct click_limits *limits,
					struct error *err);
void click_encoder_free(struct click_encoder *e); /* NULL accepted */

/* The encoded event, valid until the next call; {NULL, 0} when out of
 * memory. */
struct http_slice click_encode(struct click_encoder *e,
			       const struct click *click);

#endif
