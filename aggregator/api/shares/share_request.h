/* share_request.h - reads the body of POST /v1/shares. */
#ifndef AGGREGATOR_API_SHARES_SHARE_REQUEST_H
#define AGGREGATOR_API_SHARES_SHARE_REQUEST_H

#include <stdint.h>

#include "aggregator/api/share.h"
#include "aggregator/api/shares/share_token.h"
#include "common/error.h"
#include "common/field_mistakes.h"
#include "common/http/http_server.h"

enum {
	SHARE_FILTERS_MAX = 8,
	SHARE_BODY_MAX = 8192, /* bytes: an account has many shares */
};

struct share_request {
	/* The link (`code` or `link_id`) or the filters, the range and the end;
	 * nothing else is set. */
	struct share share;
	char password[SHARE_PASSWORD_MAX + 1]; /* "": none */
	struct field_mistakes mistakes;	       /* all of a refused body */
};

/* `now`: ms since 1970; the end has to be later.  ERROR_INPUT is the
 * first mistake, and names its member; `mistakes` has all, unless the body is
 * no object.  Release also after a failure. */
int share_request_parse(struct share_request *ret, struct http_slice body,
			int64_t now, struct error *err);
void share_request_release(struct share_request *r);

#endif
