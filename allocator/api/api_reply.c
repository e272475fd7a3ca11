#include "allocator/api/api_reply.h"

void api_reply_failure(const struct api_context *api, struct http_request *req,
		       const struct error *err)
{
	creation_log_failure(&api->creation, err);
	http_reply_problem(req, 503, NULL, "%s", error_outside(err));
}

static int status_of_refusal(const struct error *err)
{
	return err->code == ERROR_NOT_OWNER ? 403 : 400;
}

void api_reply_mistakes(struct http_request *req, const struct error *err,
			const struct field_mistakes *mistakes,
			const char *within)
{
	struct buf members = {0};

	http_reply_problem_members(
		req, status_of_refusal(err), err->text,
		field_mistakes_format(mistakes, within, &members));
	buf_free(&members);
}

void api_refuse_line(struct running_batch *b, const struct error *err,
		     const struct field_mistakes *mistakes, const char *within)
{
	struct buf members = {0};

	batch_refuse_fields(b, status_of_refusal(err), err->text,
			    field_mistakes_format(mistakes, within, &members));
	buf_free(&members);
}

void api_reply_link(struct api_context *api, struct http_request *req,
		    int status, const char *location, bool replayed,
		    const struct link_view *view)
{
	char tag[LINK_ETAG_MAX];
	struct http_field fields[6] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{"ETag", link_view_etag(view->link, tag)},
	};
	size_t count = 3;

	if (location)
		fields[count++] = (struct http_field){"Location", location};
	if (replayed)
		fields[count++] =
			(struct http_field){"Idempotency-Replayed", "true"};
	buf_reset(&api->answer);
	link_view_write(view, &api->answer);
	if (api->answer.failed)
		http_reply_problem(req, 500, NULL, "out of memory");
	else
		http_reply(req, status, fields, api->answer.data,
			   api->answer.len);
}
