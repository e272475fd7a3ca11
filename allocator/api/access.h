/*
 * access.h - who is asking, and may they: the API key of a request, its role
 * and its rate.  For allocator/api/ only.
 */
#ifndef ALLOCATOR_API_ACCESS_H
#define ALLOCATOR_API_ACCESS_H

#include "allocator/api/api.h"

/*
 * Finds the key of "Authorization: Bearer <key>", checks that it has `role` and
 * takes `cost` from its bucket (0 for a batch, whose lines pay one by one).
 * When the request may not go on it has been answered (401, 403 or 429) and
 * this is false.
 */
bool access_check(const struct api_parts *api, struct http_request *req,
		  enum api_role role, unsigned cost,
		  struct api_key_info *ret_who);

#endif
