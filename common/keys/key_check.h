/* key_check.h - checks the API key of a request. */
#ifndef COMMON_KEYS_KEY_CHECK_H
#define COMMON_KEYS_KEY_CHECK_H

#include <stdbool.h>

#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"

/*
 * Finds the key of "Authorization: Bearer <key>", checks that it has `role` and
 * takes `cost` tokens from its bucket (0: the tokens are taken elsewhere).
 * Returns false if the request must not continue; it has been answered (401,
 * 403 or 429).
 */
bool key_check(struct api_keyring *ring, struct http_request *req,
	       enum api_role role, unsigned cost, struct api_key_info *ret_who);

/* Returns the credentials of the request that have this scheme of
 * Authorization, such as "Bearer"; {NULL, 0}: it has none. */
struct http_slice key_check_credentials(const struct http_request *req,
					const char *scheme);

/* Takes `cost` tokens from the bucket of a key that was found before.  Returns
 * false if there are too few; the request has been answered (429). */
bool key_check_take(struct http_request *req, const struct api_key_info *who,
		    unsigned cost);

#endif
