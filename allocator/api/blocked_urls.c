/*
 * /v1/accounts/{account}/blocked-urls: the URLs that an account may make no
 * links to (linkstore/url_blocks.h), for moderators.
 *
 * A URL that was blocked with a link is let go with it.  This resource blocks a
 * URL without a link, and lifts the block that a link left when it ended.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/link/link_fields.h"
#include "allocator/policy/url_policy.h"
#include "common/clock.h"
#include "common/http/url.h"
#include "common/json_text.h"
#include "common/keys/key_line.h"
#include "linkstore/url_blocks.h"

enum {
	ID_LEN = URL_BLOCK_ID - 1,
	CURSOR_MAX = 21
};

struct url_call {
	struct api_context *api;
	struct http_request *req;
	struct audit_source source;
	char key[API_KEY_NAME_MAX], account[API_KEY_NAME_MAX];
	char id[URL_BLOCK_ID]; /* "": all */
	char cursor[CURSOR_MAX];
	struct buf url; /* in normal form; empty: not given */
	struct buf answer;
	size_t entries;
};

static void call_free(struct url_call *c)
{
	buf_free(&c->url);
	buf_free(&c->answer);
	free(c);
}

/* Returns NULL if the request has been answered. */
static struct url_call *call_new(const struct api_call *call)
{
	struct url_call *c = calloc(1, sizeof(*c));

	if (!c) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return NULL;
	}
	c->api = call->api;
	c->req = call->req;
	memcpy(c->key, call->caller->name, sizeof(c->key));
	c->source = audit_source_of(call->req, c->key);
	strcpy(c->cursor, "0");
	if (call->name.len < sizeof(c->account))
		memcpy(c->account, call->name.data, call->name.len);
	if (key_line_name_is_valid(c->account))
		return c;
	http_reply_problem(call->req, 404, NULL,
			   "an account is called by up to 64 of "
			   "[0-9A-Za-z._-]");
	call_free(c);
	return NULL;
}

static void reply_json(struct url_call *c, int status)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{0}};

	if (c->answer.failed)
		http_reply_problem(c->req, 500, NULL, "out of memory");
	else
		http_reply(c->req, status, fields, c->answer.data,
			   c->answer.len);
}

/* --- parameters ----------------------------------------------------------- */

/* Links have their URLs in normal form.  The URL of an app may be blocked as
 * well. */
static int set_url(struct url_call *c, const char *url, size_t len,
		   struct error *err)
{
	struct url_policy *policy = c->api->defaults->rules.urls;
	struct error ignored;

	if (url_policy_check(policy, url, len, &c->url, err) &&
	    url_policy_check_app(policy, url, len, &c->url, &ignored))
		return error_wrap(err, "url");
	url_block_id(buf_cstr(&c->url), c->id);
	return 0;
}

static int set_id(struct url_call *c, const char *id, struct error *err)
{
	if (strlen(id) != ID_LEN || strspn(id, "0123456789abcdef") != ID_LEN)
		return error_set(err, ERROR_INPUT,
				 "id: expected 32 hexadecimal digits");
	strcpy(c->id, id);
	return 0;
}

static int set_cursor(struct url_call *c, const char *cursor, struct error *err)
{
	size_t len = strlen(cursor);

	if (!len || len >= CURSOR_MAX || strspn(cursor, "0123456789") != len)
		return error_set(err, ERROR_INPUT,
				 "cursor: expected what `next` said");
	strcpy(c->cursor, cursor);
	return 0;
}

static int read_params(struct url_call *c, const struct url_params *params,
		       bool has_cursor, struct error *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key;
		const char *value = params->items[i].value;
		int status;

		if (*c->id)
			status = error_set(err, ERROR_INPUT,
					   "%.64s: one of url and id says all",
					   key);
		else if (!strcmp(key, "url"))
			status = set_url(c, value, strlen(value), err);
		else if (!strcmp(key, "id"))
			status = set_id(c, value, err);
		else if (has_cursor && !strcmp(key, "cursor"))
			status = set_cursor(c, value, err);
		else
			status = error_set(err, ERROR_INPUT,
					   "%.64s: is not a parameter; known "
					   "are url%s",
					   key,
					   has_cursor ? ", id and cursor"
						      : " and id");
		if (status)
			return -1;
	}
	return 0;
}

static int read_query(struct url_call *c, bool has_cursor, struct error *err)
{
	struct url_params params;
	int status = url_params_parse(&params, http_query(c->req), err);

	if (status == 0)
		status = read_params(c, &params, has_cursor, err);
	url_params_free(&params);
	return status;
}

static void refuse_url_call(struct url_call *c, const struct error *err)
{
	http_reply_problem(c->req, 400, NULL, "%s", err->text);
	call_free(c);
}

static void fail_url_call(struct url_call *c, const struct error *err)
{
	api_reply_failure(c->api, c->req, err);
	call_free(c);
}

/* --- GET ------------------------------------------------------------------ */

static void put_text(struct buf *out, const char *name, const char *text)
{
	buf_puts(out, name);
	json_put_string(out, text, strlen(text));
}

static void put_entry(struct url_call *c, const struct url_block_entry *entry)
{
	bool by_link = entry->first.link_id != 0;
	char when[RFC3339_TEXT_MAX];
	struct buf *out = &c->answer;

	buf_puts(out, c->entries++ ? "," : "{\"blocked_urls\":[");
	put_text(out, "{\"id\":", entry->id);
	put_text(out, ",\"url\":", entry->url);
	put_text(out, ",\"blocked_at\":",
		 rfc3339_format(entry->first.decided_ms, when));
	put_text(out, ",\"by\":", entry->first.key);
	if (by_link)
		put_text(out, ",\"code\":", entry->first.code);
	else
		buf_puts(out, ",\"code\":null");
	buf_puts(out, ",\"decisions\":");
	buf_put_uint(out, entry->decisions);
	buf_putc(out, '}');
}

static void on_entry(void *arg, const struct url_block_entry *entry,
		     const char *next, const struct error *err)
{
	struct url_call *c = arg;

	if (entry) {
		put_entry(c, entry);
		return;
	}
	if (err) {
		fail_url_call(c, err);
		return;
	}
	if (!c->entries)
		buf_puts(&c->answer, "{\"blocked_urls\":[");
	buf_puts(&c->answer, "],\"next\":");
	if (strcmp(next, "0") != 0)
		put_text(&c->answer, "", next);
	else
		buf_puts(&c->answer, "null");
	buf_putc(&c->answer, '}');
	reply_json(c, 200);
	call_free(c);
}

void handle_blocked_urls(const struct api_call *call)
{
	struct url_call *c = call_new(call);
	struct error err;

	if (!c)
		return;
	if (read_query(c, true, &err))
		refuse_url_call(c, &err);
	else if (url_blocks_read_async(c->api->creation.redis, c->account,
				       c->cursor, *c->id ? c->id : NULL,
				       on_entry, c, &err))
		fail_url_call(c, &err);
}

/* --- POST ----------------------------------------------------------------- */

static void audit_url_decision(struct url_call *c, bool blocked)
{
	const struct audit_url_entry entry = {
		.source = &c->source,
		.blocked = blocked,
		.account = c->account,
		.url = c->url.len ? buf_cstr(&c->url) : "",
		.id = c->id,
	};

	audit_url(c->api->audit, &entry);
}

static void on_blocked(void *arg, const struct error *err)
{
	struct url_call *c = arg;

	if (err) {
		fail_url_call(c, err);
		return;
	}
	audit_url_decision(c, true);
	put_text(&c->answer, "{\"id\":", c->id);
	put_text(&c->answer, ",\"url\":", buf_cstr(&c->url));
	buf_putc(&c->answer, '}');
	reply_json(c, 201);
	call_free(c);
}

static int read_body(struct url_call *c, struct error *err)
{
	json_t *root = NULL, *url;
	int status;

	if (link_fields_parse(http_body(c->req), &root, err))
		return -1;
	url = json_object_get(root, "url");
	if (json_object_size(root) != 1 || !json_is_string(url))
		status = error_set(err, ERROR_INPUT,
				   "expected {\"url\": \"https://...\"}");
	else
		status = set_url(c, json_string_value(url),
				 json_string_length(url), err);
	json_decref(root);
	return status;
}

void handle_block_url(const struct api_call *call)
{
	static const struct url_decision no_link = {.code = "-"};
	struct url_call *c = call_new(call);
	struct url_decision decision = no_link;
	const char *url;
	struct error err;

	if (!c)
		return;
	if (!http_type_is(c->req, "application/json")) {
		http_reply_problem(c->req, 415, NULL,
				   "send the URL as Content-Type: "
				   "application/json");
		call_free(c);
		return;
	}
	if (read_body(c, &err)) {
		refuse_url_call(c, &err);
		return;
	}
	decision.key = c->key;
	url = buf_cstr(&c->url);
	if (url_block_async(c->api->creation.redis,
			    c->api->defaults->rules.store, c->account,
			    &decision, &url, 1, on_blocked, c, &err))
		fail_url_call(c, &err);
}

/* --- DELETE --------------------------------------------------------------- */

static void on_lifted(void *arg, int64_t number, const struct error *err)
{
	struct url_call *c = arg;

	if (err) {
		fail_url_call(c, err);
		return;
	}
	if (number) {
		audit_url_decision(c, false);
		http_reply(c->req, 204, NULL, NULL, 0);
	} else {
		http_reply_problem(c->req, 404, NULL,
				   "nothing like that is blocked for the "
				   "account '%s'",
				   c->account);
	}
	call_free(c);
}

void handle_lift_url(const struct api_call *call)
{
	struct url_call *c = call_new(call);
	struct error err;
	int status;

	if (!c)
		return;
	status = read_query(c, false, &err);
	if (status == 0 && !*c->id)
		status = error_set(&err, ERROR_INPUT, "url or id: is required");
	if (status)
		refuse_url_call(c, &err);
	else if (url_lift_async(c->api->creation.redis, c->account, c->id,
				on_lifted, c, &err))
		fail_url_call(c, &err);
}
