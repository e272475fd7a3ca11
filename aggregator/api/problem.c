#include "aggregator/api/problem.h"

void problem_reply(struct http_request *req, struct log *log,
		   const struct error *err)
{
	static const struct http_field later[] = {{"Retry-After", "5"},
						  {NULL, NULL}};

	if (err->code == ERROR_INPUT) {
		http_reply_problem(req, 400, NULL, "%s", err->text);
	} else if (err->code == ERROR_NOT_OWNER) {
		http_reply_problem(req, 403, NULL, "%s", err->text);
	} else if (err->code == ERROR_NOTFOUND) {
		http_reply_problem(req, 404, NULL, "%s", err->text);
	} else if (err->code == ERROR_EXHAUSTED) {
		http_reply_problem(req, 429, NULL, "%s", err->text);
	} else if (err->retriable) {
		log_warn(log, "no answer", log_err(err));
		http_reply_problem(req, 503, later, "%s", error_outside(err));
	} else {
		log_error(log, "no answer", log_err(err));
		http_reply_problem(req, 500, NULL, "%s",
				   err->outside ? err->outside
						: "the answer could not be "
						  "made; the log of the "
						  "aggregator says why");
	}
}

void problem_reply_soon(struct http_request *req, const char *why)
{
	static const struct http_field later[] = {{"Retry-After", "1"},
						  {NULL, NULL}};

	http_reply_problem(req, 503, later, "%s", why);
}

void problem_reply_full(struct http_request *req, enum slots_answer why,
			const char *what)
{
	static const struct http_field later[] = {{"Retry-After", "1"},
						  {NULL, NULL}};

	if (why == SLOTS_NO_MEMORY)
		problem_reply_soon(req, "out of memory");
	else if (why == SLOTS_KEY_FULL)
		http_reply_problem(req, 429, later,
				   "this API key has too many %s under way",
				   what);
	else
		http_reply_problem(req, 429, later, "too many %s are under way",
				   what);
}

void problem_reply_not_acceptable(struct http_request *req)
{
	static const struct http_field vary[] = {{"Vary", "Accept-Encoding"},
						 {NULL, NULL}};

	http_reply_problem(req, 406, vary,
			   "Accept-Encoding refuses all that there is: "
			   "identity, and of text gzip and zstd");
}
