/*
 * request_info.h - the parts of a request that an answer or an event needs.
 *
 * Headers are read once.  Slices point into the request.
 */
#ifndef REDIRECTOR_VISIT_REQUEST_INFO_H
#define REDIRECTOR_VISIT_REQUEST_INFO_H

#include <stdbool.h>

#include "common/client_address.h"
#include "common/http/http_server.h"
#include "redirector/events/click_event.h"

/* The rules by which the client's address is found. */
struct request_info_rules {
	const struct network_list *proxies;
	enum forwarded_style style;
};

/* Returns the style for redirector.client_header; `header` is in lower case. */
enum forwarded_style request_info_style(const char *header);

/* Return the code in a path, and the rest behind it (codespace/path_code.h). */
struct http_slice request_info_code(struct http_slice path);
struct http_slice request_info_rest(struct http_slice path);

/* Fills the fields that an event takes from the request; the others are
 * zeroed. */
void request_info_read(const struct http_request *req,
		       const struct request_info_rules *rules,
		       struct click *ret_click);

/* Returns the client's address only. */
struct address request_info_client(const struct http_request *req,
				   const struct request_info_rules *rules);

#endif
