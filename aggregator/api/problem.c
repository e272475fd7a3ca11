#include "aggregator/api/problem.h"

static void reply_fields(struct http_request *req, int status,
			 const char *detail,
			 const struct field_mistakes *mistakes)
{
	struct buf members = {0};

	http_reply_problem_members(
		req, status, detail,
		field_mistakes_format(mistakes, "", &members));
	buf_free(&members);
}

/* Names the field that is wrong, if it is one. */
static void reply_wrong_field(struct http_request *req, int status,
			      const struct error *err)
{
	struct field_mistakes mistakes = {0};

	if (*err->field)
		field_mistakes_add(&mistakes, err->field, err);
	reply_fields(req, status, err->text, &mistakes);
	field_mistakes_release(&mistakes);
}

void problem_reply_input(struct http_request *req, const struct error *err)
{
	reply_wrong_field(req, 400, err);
}

void problem_reply_mistakes(struct http_request *req,
			    const struct field_mistakes *mistakes)
{
	reply_fields(req, 400, mistakes->first.text, mistakes);
}

void problem_reply(struct http_request *req, struct log *log,
		   const struct error *err)
{
	static const struct http_field later[] = {{"Retry-After", "5"},
						  {NULL, NULL}};

	if (err->code == ERROR_INPUT) {
		problem_reply_input(req, err);
	} else if (err->code == ERROR_NOT_OWNER) {
		reply_wrong_field(req, 403, err);
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

void problem_reply_full(struct http_request *req, enum slots_answer why,
			const char *what)
{
	static const struct http_field later[] = {{"Retry-After", "1"},
						  {NULL, NULL}};

	if (why == SLOTS_NO_MEMORY)
		http_reply_problem(req, 503, NULL, "out of memory");
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
