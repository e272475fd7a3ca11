/* problem.h - the API's error answers. */
#ifndef AGGREGATOR_API_PROBLEM_H
#define AGGREGATOR_API_PROBLEM_H

#include "aggregator/api/slots.h"
#include "common/error.h"
#include "common/field_mistakes.h"
#include "common/http/http_server.h"
#include "common/log.h"

/* Replies by the error's code: 400 (ERROR_INPUT), 403 (ERROR_NOT_OWNER), 404
 * (ERROR_NOTFOUND), 429 (ERROR_EXHAUSTED), 503 (retriable) and 500 (a retry
 * would fail too).  The first two name the error's field.  The last two are
 * logged, and send nothing of ClickHouse's own text. */
void problem_reply(struct http_request *req, struct log *log,
		   const struct error *err);

/* Replies 400, and names the error's field. */
void problem_reply_input(struct http_request *req, const struct error *err);

/* Replies 400 with all mistakes of a body; there is one at least. */
void problem_reply_mistakes(struct http_request *req,
			    const struct field_mistakes *mistakes);

/* Replies 406: the client accepts no form of an answer that is a 200 otherwise.
 * Problems themselves are never encoded. */
void problem_reply_not_acceptable(struct http_request *req);

/* Replies that there was no slot, by the reason; `what` is the work that is
 * limited: "questions". */
void problem_reply_full(struct http_request *req, enum slots_answer why,
			const char *what);

#endif
