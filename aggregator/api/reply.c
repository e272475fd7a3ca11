#include "aggregator/api/reply.h"

#include <string.h>

/* Nothing from other origins, nothing inline.  The chart library sets style
 * attributes through the DOM, which needs no permission. */
#define CSP                                                                    \
	"default-src 'none'; script-src 'self'; style-src 'self'; "            \
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; "          \
	"form-action 'none'; frame-ancestors 'none'"

#define FIELDS_MAX 16

/* A list of header fields, ended by a NULL. */
struct field_list {
	struct http_field items[FIELDS_MAX + 1];
	size_t count;
};

static void add_field(struct field_list *list, const char *name,
		      const char *value)
{
	if (value && *value && list->count < FIELDS_MAX)
		list->items[list->count++] = (struct http_field){name, value};
}

/* Adds what stays beside counts that have not changed. */
static void add_fields_of_answer(struct field_list *list,
				 const struct call *call)
{
	const struct csv_quality *quality = &call->quality;
	const struct completeness *completeness = &call->completeness;
	bool exact = !strcmp(quality->unique_error, "0");

	add_field(list, "Complete-Until", completeness->until);
	add_field(list, "Complete", completeness->complete);
	add_field(list, "Waiting", completeness->waiting);
	if (!*quality->unique_error)
		return;
	add_field(list, "Unique-Error", quality->unique_error);
	add_field(list, "Approximate", exact ? "false" : "true");
	add_field(list, "Lower-Bound", quality->lower_bound ? "true" : "false");
}

void reply_encoded_body(struct http_request *req, const char *type,
			const char *etag, const struct call *call,
			enum encoding encoding, const struct buf *body)
{
	char text[ENCODING_ETAG_MAX];
	struct field_list list = {.count = 0};

	add_field(&list, "ETag", encoding_etag(encoding, etag, text));
	add_field(&list, "Vary", "Accept-Encoding");
	add_field(&list, "Cache-Control", "no-cache");
	add_field(&list, "X-Content-Type-Options", "nosniff");
	add_field(&list, "Referrer-Policy", "no-referrer");
	add_field(&list, "Content-Security-Policy", CSP);
	if (call)
		add_fields_of_answer(&list, call);
	if (encoding_etag_matches(http_header_get(req, "If-None-Match"),
				  etag)) {
		http_reply(req, 304, list.items, NULL, 0);
		return;
	}
	add_field(&list, "Content-Type", type);
	if (encoding != ENCODING_IDENTITY)
		add_field(&list, "Content-Encoding", encoding_name(encoding));
	http_reply(req, 200, list.items, body->data, body->len);
}

void reply_once(struct http_request *req, const struct call *call)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{NULL, NULL}};

	http_reply(req, call->status, call->body.len ? fields : fields + 1,
		   call->body.data, call->body.len);
}
