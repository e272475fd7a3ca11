/* GET /v1/links/{code}/qr: the short URL as a QR code. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/find_link.h"
#include "allocator/api/handlers.h"
#include "allocator/qr/qr.h"

enum {
	TAG_BYTES = 16
};

struct qr_call {
	struct api_context *api;
	struct http_request *req;
	struct api_key_info caller;
	struct link_target target;
	struct qr_options options;
	/* Owned by the painter while it draws. */
	struct buf url, picture;
	struct error err;
};

static void qr_free(struct qr_call *call)
{
	buf_free(&call->url);
	buf_free(&call->picture);
	free(call);
}

/* "\"<hex>\"", a hash of the picture, so the tag changes only with the
 * picture. */
static void make_tag(const struct buf *picture, char tag[2 * TAG_BYTES + 3])
{
	unsigned char hash[TAG_BYTES];

	crypto_generichash(hash, sizeof(hash),
			   (const unsigned char *)picture->data, picture->len,
			   NULL, 0);
	tag[0] = '"';
	sodium_bin2hex(tag + 1, 2 * TAG_BYTES + 1, hash, sizeof(hash));
	strcpy(tag + 1 + 2 * TAG_BYTES, "\"");
}

/* Returns whether the client has this picture. */
static bool has_tag(const struct http_request *req, const char *tag)
{
	struct http_slice have = http_header_get(req, "If-None-Match");

	return have.data &&
	       (http_slice_is(have, "*") ||
		memmem(have.data, have.len, tag, strlen(tag)) != NULL);
}

static void reply_picture(struct qr_call *call, const struct buf *picture)
{
	char tag[2 * TAG_BYTES + 3];
	const struct http_field fields[] = {
		{"Content-Type", qr_content_type(call->options.format)},
		{"ETag", tag},
		/* Only the client's own cache may keep it, since the request
		 * needs a key.  The short URL of a code does not change. */
		{"Cache-Control", "private, max-age=3600"},
		{"X-Content-Type-Options", "nosniff"},
		{0}};

	make_tag(picture, tag);
	if (has_tag(call->req, tag))
		http_reply(call->req, 304, fields + 1, NULL, 0);
	else
		http_reply(call->req, 200, fields, picture->data, picture->len);
}

/* Runs on a painter's thread: a picture of 4,096 x 4,096 pixels takes as long
 * as hundreds of other answers. */
static void draw_picture(void *arg, unsigned painter)
{
	struct qr_call *call = arg;

	(void)painter;
	qr_draw(call->url.data, &call->options, &call->picture, &call->err);
}

static void on_drawn(void *arg)
{
	struct qr_call *call = arg;

	if (call->err.code == ERROR_NONE)
		reply_picture(call, &call->picture);
	else
		http_reply_problem(call->req,
				   call->err.code == ERROR_INPUT ? 400 : 500,
				   NULL, "%s", call->err.text);
	qr_free(call);
}

static int have_drawn(struct qr_call *call, const Shortloop__Link *link,
		      struct error *err)
{
	buf_printf(&call->url, "%s/%s",
		   link_view_base_url(&call->api->defaults->rules, link),
		   call->target.code);
	if (!buf_cstr(&call->url))
		return error_set_nomem(err);
	return workers_submit(call->api->painters, call->api->loop,
			      draw_picture, on_drawn, call, err);
}

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct qr_call *call = arg;
	struct error why;

	if (!find_link_refuse(call->api, call->req, &call->caller, answer,
			      err)) {
		metric_add(call->api->metrics->reads.found, 1);
		if (have_drawn(call, answer->link, &why) == 0)
			return;
		api_reply_failure(call->api, call->req, &why);
	}
	qr_free(call);
}

void handle_qr(const struct api_call *call)
{
	struct qr_call *qr = calloc(1, sizeof(*qr));
	struct error err = {0};

	if (!qr) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	qr->api = call->api;
	qr->req = call->req;
	qr->caller = *call->caller;
	if (qr_options_parse(http_query(call->req), &qr->options, &err) < 0)
		http_reply_problem(call->req, 400, NULL, "%s", err.text);
	else if (find_link(call, &qr->target, on_answer, qr) == 0)
		return;
	qr_free(qr);
}
