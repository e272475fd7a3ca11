/* problem.h - what is answered where there is no answer. */
#ifndef AGGREGATOR_API_PROBLEM_H
#define AGGREGATOR_API_PROBLEM_H

#include "aggregator/api/slots.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/log.h"

/* By the error's code: 400 (ERROR_INPUT), 403 (ERROR_NOT_OWNER), 404
 * (ERROR_NOTFOUND), 503 (retriable) and 500 (to ask again would be in vain),
 * the last two with a line in the log and nothing of ClickHouse's own text. */
void problem_reply(struct http_request *req, struct log *log,
		   const struct error *err);

/* 503: nothing is wrong with the question, and it may be asked again at once.
 */
void problem_reply_soon(struct http_request *req, const char *why);

/* The client accepts no form of what is answered with 200 otherwise; other
 * problems are never encoded. */
void problem_reply_not_acceptable(struct http_request *req);

/* Why there was no slot; `what` is done too much: "questions". */
void problem_reply_full(struct http_request *req, enum slots_answer why,
			const char *what);

#endif
