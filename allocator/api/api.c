#include "allocator/api/api.h"

#include <string.h>

#include "allocator/api/access.h"
#include "allocator/api/handlers.h"

#define LINKS_PATH "/v1/links"

void api_metrics_register(struct api_metrics *am, struct metrics *m)
{
	static const char creates[] = "shortloop_allocator_creates_total";
	static const char creates_help[] = "Requests to create a link";
	static const char reads[] = "shortloop_allocator_reads_total";
	static const char reads_help[] = "Requests to read a link";

	am->created = metrics_counter(m, creates, "outcome=\"created\"",
				      creates_help);
	am->invalid = metrics_counter(m, creates, "outcome=\"invalid\"",
				      creates_help);
	am->denied =
		metrics_counter(m, creates, "outcome=\"denied\"", creates_help);
	am->unavailable = metrics_counter(m, creates, "outcome=\"unavailable\"",
					  creates_help);
	am->full =
		metrics_counter(m, creates, "outcome=\"full\"", creates_help);
	am->create_seconds = metrics_histogram(
		m, "shortloop_allocator_create_seconds", NULL,
		"Time from a request to its 201", metrics_latency_bounds,
		metrics_latency_bound_count);
	am->conflicts = metrics_counter(
		m, "shortloop_allocator_create_conflicts_total", NULL,
		"Codes under which Redis had a live link already");
	am->retries =
		metrics_counter(m, "shortloop_allocator_create_retries_total",
				NULL, "Tries to store a link beyond its first");
	am->found = metrics_counter(m, reads, "outcome=\"found\"", reads_help);
	am->unknown =
		metrics_counter(m, reads, "outcome=\"unknown\"", reads_help);
	am->gone = metrics_counter(m, reads, "outcome=\"gone\"", reads_help);
	am->read_failed = metrics_counter(m, reads, "outcome=\"unavailable\"",
					  reads_help);
}

/* --- answers shared by the handlers ----------------------------------- */

void reply_unavailable(struct http_request *req, const char *detail)
{
	static const struct http_field fields[] = {{"Retry-After", "1"}, {0}};

	http_reply_problem(req, 503, fields, "%s", detail);
}

void reply_link(struct api_parts *api, struct http_request *req, int status,
		const char *location, const struct link_view *view)
{
	const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{location ? "Location" : NULL, location},
		{0}};

	buf_reset(&api->answer);
	link_answer_write(view, &api->answer);
	if (api->answer.failed)
		http_reply_problem(req, 500, NULL, "out of memory");
	else
		http_reply(req, status, fields, api->answer.data,
			   api->answer.len);
}

/* --- where it goes ------------------------------------------------------ */

static bool refuse_query(struct http_request *req)
{
	struct http_slice query = http_query(req);
	const char *end;

	if (query.len == 0)
		return false;
	end = memchr(query.data, '=', query.len);
	http_reply_problem(req, 400, NULL,
			   "'%.*s' is not a query parameter of this resource; "
			   "it has none",
			   (int)(end ? end - query.data : (long)query.len),
			   query.data);
	return true;
}

static void refuse_method(struct http_request *req, const char *allow)
{
	const struct http_field fields[] = {{"Allow", allow}, {0}};

	http_reply_problem(req, 405, fields,
			   "this resource understands %s only", allow);
}

static void handle_links(struct api_parts *api, struct http_request *req)
{
	struct api_key_info who;

	if (!http_method_is(req, "POST")) {
		refuse_method(req, "POST");
	} else if (!access_check(api, req, API_CREATE, 1, &who)) {
		metric_add(api->metrics->denied, 1);
	} else if (refuse_query(req)) {
		metric_add(api->metrics->invalid, 1);
	} else {
		create_link(api, req);
	}
}

static void handle_link(struct api_parts *api, struct http_request *req,
			struct http_slice code)
{
	struct api_key_info who;

	if (!http_method_is(req, "GET") && !http_method_is(req, "HEAD"))
		refuse_method(req, "GET, HEAD");
	else if (access_check(api, req, API_READ, 1, &who) &&
		 !refuse_query(req))
		read_link(api, req, code);
}

void api_handle(struct http_request *req, void *arg)
{
	struct http_slice path = http_path(req), code;
	size_t len = sizeof(LINKS_PATH) - 1;

	if (path.len == len && !memcmp(path.data, LINKS_PATH, len)) {
		handle_links(arg, req);
		return;
	}
	if (path.len > len + 1 && !memcmp(path.data, LINKS_PATH "/", len + 1)) {
		code.data = path.data + len + 1;
		code.len = path.len - len - 1;
		if (!memchr(code.data, '/', code.len)) {
			handle_link(arg, req, code);
			return;
		}
	}
	http_reply_problem(req, 404, NULL,
			   "there is nothing here; links are at " LINKS_PATH);
}
