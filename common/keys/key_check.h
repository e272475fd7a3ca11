/* key_check.h - the API key that a request carries. */
#ifndef COMMON_KEYS_KEY_CHECK_H
#define COMMON_KEYS_KEY_CHECK_H

#include <stdbool.h>

#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"

/*
 * Finds the key of "Authorization: Bearer <key>", checks that it has `role` and
 * takes `cost` from its bucket (0: it pays in another way).  When the request
 * may not go on it is answered (401, 403 or 429) and this is false.
 */
bool key_check(struct api_keyring *ring, struct http_request *req,
	       enum api_role role, unsigned cost, struct api_key_info *ret_who);

#endif
