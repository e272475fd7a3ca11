/*
 * share_desk.h - admits requests that present a share:
 *
 *	Authorization: Share TOKEN
 *	Share-Password: PASSWORD	percent-encoded UTF-8
 *
 * Redis is queried for each request, so that a share that was ended, at any
 * aggregator, is unknown to the next one.  Then the request is one of the key
 * that made the share, within its bounds (share_access.h).
 *
 * Each share has a bucket of requests of its own, with the rate of keys
 * (settings key_rate, key_burst), and one of wrong passwords.  The number of
 * buckets is fixed: two shares may have the same one.  Passwords that were
 * right are kept as digests with a random key, so that a page pays for a slow
 * hash once.
 */
#ifndef AGGREGATOR_API_SHARES_SHARE_DESK_H
#define AGGREGATOR_API_SHARES_SHARE_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/shares/share_token.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/metrics/metrics.h"

/* The name of all requests until their share is known, where they take turns
 * and slots; no key can have it. */
#define SHARE_UNKNOWN "share:"

struct share_desk;

struct share_desk_uses {
	const struct aggregator_config *config;
	struct api_keyring *keys;
	struct redis_links *redis;
	struct metrics *metrics;
};

/* The uses must outlive it. */
struct share_desk *share_desk_new(const struct share_desk_uses *uses,
				  struct error *err);
void share_desk_free(struct share_desk *d); /* NULL accepted */

/* Returns whether the request presents a share, valid or not, in place of a
 * key. */
bool share_is_presented(const struct http_request *req);

/* A request's share and password while it is admitted. */
struct share_entry {
	struct share_name name;
	char password[SHARE_PASSWORD_MAX + 1]; /* "": none was sent */

	/* The result: if it is admitted, the caller, and the share, which has
	 * to be freed after it. */
	enum share_refusal {
		SHARE_ADMITTED,
		SHARE_NOT_KNOWN,
		SHARE_NEEDS_PASSWORD, /* none, or a wrong one */
		SHARE_GUESSED_TOO_OFTEN,
		SHARE_FAILED, /* see the error */
	} refusal;
	int64_t wait_ms; /* SHARE_GUESSED_TOO_OFTEN: until the next try */
	struct access access;
	struct share *share;
	struct error err;
};

/* Reads the headers.  Returns false if the request has been answered. */
bool share_desk_read(const struct share_desk *d, struct http_request *req,
		     struct share_entry *ret);

/* Finds the share and fills in the result; on a thread that may wait. */
void share_desk_admit(struct share_desk *d, struct share_entry *entry);

/* Takes one request from the share's bucket.  Returns false if the request has
 * been answered, by that or by a refusal but SHARE_FAILED. */
bool share_desk_take(struct http_request *req, const struct share_entry *entry);

/* Ends an entry, with its share. */
void share_entry_release(struct share_entry *entry);

#endif
