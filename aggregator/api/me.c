#include "aggregator/api/me.h"

#include <stdlib.h>

#include "aggregator/api/parameters.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/share.h"
#include "common/clock.h"
#include "common/compress.h"
#include "common/http/encoding.h"
#include "common/keys/key_check.h"
#include "common/keys/key_view.h"

static void reply_encoded(struct http_request *req, enum encoding encoding,
			  const struct buf *body)
{
	const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{"Vary", "Accept-Encoding"},
		{"X-Content-Type-Options", "nosniff"},
		{encoding == ENCODING_IDENTITY ? NULL : "Content-Encoding",
		 encoding_name(encoding)},
		{NULL, NULL}};

	http_reply(req, 200, fields, body->data, body->len);
}

static int encode_text(enum encoding encoding, const struct buf *text,
		       struct buf *out, struct error *err)
{
	if (text->failed)
		return error_set_nomem(err);
	if (encoding != ENCODING_IDENTITY)
		return compress_append(encoding_name(encoding), COMPRESS_FAR,
				       text->data, text->len, out, err);
	buf_append(out, text->data, text->len);
	return out->failed ? error_set_nomem(err) : 0;
}

static void reply_view(struct http_request *req, const struct buf *text)
{
	const struct encoding_list accepted = encoding_list_of(req);
	enum encoding encoding;
	struct buf out = {0};
	struct error err;

	if (!encoding_choose(&accepted, text->len, &encoding))
		problem_reply_not_acceptable(req);
	else if (encode_text(encoding, text, &out, &err) < 0)
		http_reply_problem(req, 503, NULL, "out of memory");
	else
		reply_encoded(req, encoding, &out);
	buf_free(&out);
}

/* Returns true, and has answered the request, if it has a parameter. */
static bool refuse_parameters(struct http_request *req)
{
	static const char *const known[] = {NULL};
	struct url_params params = {0};
	struct error err = {0};
	bool fine = url_params_parse(&params, http_query(req), &err) == 0 &&
		    parameter_check_names(&params, known, &err) == 0;

	url_params_free(&params);
	if (!fine)
		problem_reply_input(req, &err);
	return !fine;
}

void me_handle(struct api_keyring *keys, struct http_request *req)
{
	struct api_key_info who;
	struct buf text = {0};

	if (keys && !key_check(keys, req, API_ANY_ROLE, 1, &who))
		return;
	if (refuse_parameters(req))
		return;
	key_view_begin(keys ? &who : NULL, clock_monotonic_ns(), &text);
	buf_putc(&text, '}');
	reply_view(req, &text);
	buf_free(&text);
}

void me_reply_share(struct http_request *req, const struct access *access)
{
	struct buf text = {0};
	json_t *view;
	char *share;

	if (refuse_parameters(req))
		return;
	view = share_to_view(access->share);
	share = view ? json_dumps(view, JSON_COMPACT) : NULL;
	json_decref(view);
	if (!share) {
		http_reply_problem(req, 503, NULL, "out of memory");
		return;
	}
	/* A share does not tell its key's name, account and owners. */
	buf_puts(&text, "{\"name\":null,\"account\":null,\"accounts\":null,"
			"\"roles\":[],\"owners\":null");
	key_view_put_rate(&access->who, clock_monotonic_ns(), &text);
	buf_printf(&text, ",\"share\":%s}", share);
	free(share);
	reply_view(req, &text);
	buf_free(&text);
}
