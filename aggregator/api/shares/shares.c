#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/cursor.h"
#include "aggregator/api/shares/share_access.h"
#include "aggregator/api/shares/share_request.h"
#include "aggregator/api/shares/share_store.h"
#include "common/clock.h"
#include "common/http/url.h"

/* Refuses what cannot be where nobody has a key, or Redis is not used. */
static int check_shares_are_here(const struct call *call, struct error *err)
{
	if (call->access->keys && call->redis)
		return 0;
	return error_set(err, ERROR_NOTFOUND,
			 "there are no shares here: they need %s",
			 call->access->keys ? "links.spaces, for Redis"
					    : "aggregator.keys_file");
}

/* Answers with an object that no cache may keep.  Takes the reference. */
static int answer_once(struct call *call, int status, json_t *object,
		       struct error *err)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		return error_set_nomem(err);
	buf_puts(&call->body, text);
	buf_putc(&call->body, '\n');
	sodium_memzero(text, strlen(text));
	free(text);
	call->status = status;
	return call->body.failed ? error_set_nomem(err) : 0;
}

/* --- POST ----------------------------------------------------------------- */

/* Finds the link that the key is to share, and takes over whose it is. */
static int begin_link(struct call *call, struct share *share, struct error *err)
{
	const struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	int status =
		link_find(&finder, share->code, share->link_id, &link, err);
	const struct key_link whose = {link.account, link.owner};

	if (status == 0) {
		share->link_id = link.link_id;
		snprintf(share->code, sizeof(share->code), "%.*s", CODE_MAX,
			 link.code);
		status = share_access_begin(share, call->access, &whose, err);
	}
	archived_link_release(&link);
	return status;
}

static int begin_share(struct call *call, struct share *share,
		       struct error *err)
{
	if (*share->code || share->link_id)
		return begin_link(call, share, err);
	return share_access_begin(share, call->access, NULL, err);
}

/* The token is in the fragment of the reference: browsers send no fragments. */
static json_t *made_to_json(const struct share *share, const char *token)
{
	json_t *made = share_to_list(share);
	json_t *secrets = json_pack("{s:s, s:s+}", "token", token, "url",
				    "/#share=", token);

	if (!made || !secrets || json_object_update(made, secrets) < 0) {
		json_decref(made);
		made = NULL;
	}
	json_decref(secrets);
	return made;
}

static int make_share(struct call *call, struct share_request *request,
		      struct error *err)
{
	struct share *share = &request->share;
	char token[SHARE_TOKEN_MAX];
	struct share_name name;
	int status;

	if (begin_share(call, share, err) < 0 ||
	    (*request->password &&
	     share_password_hash(request->password, share->password, err) < 0))
		return -1;
	share_token_make(token, &name);
	memcpy(share->id, name.id, sizeof(share->id));
	memcpy(share->digest, name.digest, sizeof(share->digest));
	share->created_at = clock_real_ms();
	status = share_store_add(call->redis, share,
				 call->config->aggregator.shares_max, err);
	if (status == 0) {
		log_info(call->log, "share made", log_str("share", share->id),
			 log_str("key", share->key),
			 log_str("account", share->listed));
		status =
			answer_once(call, 201, made_to_json(share, token), err);
	}
	sodium_memzero(token, sizeof(token));
	return status;
}

static int refuse_parameters(const struct call *call, const char *const *known,
			     struct url_params *params, struct error *err)
{
	if (url_params_parse(params, call->query, err) < 0)
		return -1;
	return parameter_check_names(params, known, err);
}

static int check_no_parameters(const struct call *call, struct error *err)
{
	static const char *const known[] = {NULL};
	struct url_params params = {0};
	int status = refuse_parameters(call, known, &params, err);

	url_params_free(&params);
	return status;
}

int route_share(struct call *call, struct error *err)
{
	struct share_request request = {.password = ""};
	int64_t now;
	int status = check_shares_are_here(call, err);

	if (status == 0)
		status = check_no_parameters(call, err);
	if (status == 0)
		status = call_now(call, &now, err);
	if (status == 0)
		status = share_request_parse(&request, call->sent, now, err);
	call->mistakes = request.mistakes;
	request.mistakes = (struct field_mistakes){0};
	if (status == 0)
		status = make_share(call, &request, err);
	share_request_release(&request);
	return status;
}

/* --- GET ------------------------------------------------------------------ */

/* A page of the shares that the caller sees. */
struct share_page {
	const struct access *caller;
	const char *account;
	size_t limit;
	json_t *items;
	struct share_place after; /* where it begins, then its last share */
	bool more;
};

static int take_share(void *arg, struct share *share,
		      const struct share_place *place, struct error *err)
{
	struct share_page *page = arg;
	int status = 0;

	if (!share_is_seen(page->caller, share)) {
		share_free(share);
		return 0;
	}
	page->more = json_array_size(page->items) == page->limit;
	if (page->more)
		status = 1;
	else if (json_array_append_new(page->items, share_to_list(share)) < 0)
		status = error_set_nomem(err);
	else
		page->after = *place;
	share_free(share);
	return status;
}

/* A cursor works with the same account only. */
static void put_question(struct buf *to, const struct share_page *page)
{
	buf_printf(to, "shares %s", page->account);
}

static int read_cursor(struct share_page *page, const char *text,
		       struct error *err)
{
	unsigned char place[CURSOR_PLACE_MAX];
	const unsigned char *at = place;
	struct buf question = {0};
	size_t len = 0;
	int status;

	page->after.created_at = -1;
	if (!text)
		return 0;
	put_question(&question, page);
	status = cursor_parse(text, &question, place, &len, err);
	buf_free(&question);
	if (status < 0)
		return -1;
	if (len != 8 + SHARE_ID_MAX - 1)
		return error_set_field(err, "cursor",
				       "expected one that an answer gave");
	page->after.created_at =
		(int64_t)(cursor_take_number(&at, 8) & INT64_MAX);
	memcpy(page->after.id, at, SHARE_ID_MAX - 1);
	return 0;
}

static json_t *cursor_to_json(const struct share_page *page)
{
	unsigned char place[8 + SHARE_ID_MAX];
	struct buf question = {0}, text = {0};
	json_t *cursor = NULL;
	unsigned char *at;

	if (!page->more)
		return json_null();
	put_question(&question, page);
	at = cursor_put_number(place, (uint64_t)page->after.created_at, 8);
	memcpy(at, page->after.id, SHARE_ID_MAX);
	cursor_put(&text, &question, place, 8 + SHARE_ID_MAX - 1);
	if (buf_cstr(&text))
		cursor = json_string(text.data);
	buf_free(&question);
	buf_free(&text);
	return cursor;
}

/* Reads whose shares are listed. */
static int read_account(const struct url_params *params,
			struct share_page *page, struct error *err)
{
	const char *name = url_param_get(params, "account");
	const struct access *caller = page->caller;

	page->account = caller->who.account;
	if (!name || !strcmp(name, page->account))
		return 0;
	if (access_check_all(caller, "it lists the shares of this", err) < 0)
		return -1;
	if (!key_line_name_is_valid(name))
		return error_set_field(err, "account",
				       "expected the name of an account");
	page->account = name;
	return 0;
}

static int list_shares(struct call *call, const struct url_params *params,
		       struct share_page *page, struct error *err)
{
	const struct aggregator_settings *settings = &call->config->aggregator;

	if (read_account(params, page, err) < 0 ||
	    parameter_read_limit(params, settings->groups_max, &page->limit,
				 err) < 0 ||
	    read_cursor(page, url_param_get(params, "cursor"), err) < 0)
		return -1;
	page->items = json_array();
	if (!page->items)
		return error_set_nomem(err);
	return share_store_list(call->redis, page->account, &page->after,
				take_share, page, err);
}

int route_shares(struct call *call, struct error *err)
{
	static const char *const known[] = {"account", "limit", "cursor", NULL};
	struct share_page page = {.caller = call->access};
	struct url_params params = {0};
	int status = refuse_parameters(call, known, &params, err);

	if (status == 0)
		status = check_shares_are_here(call, err);
	if (status == 0)
		status = list_shares(call, &params, &page, err);
	if (status == 0)
		status = call_finish_json(call,
					  json_pack("{s:o, s:O}", "next",
						    cursor_to_json(&page),
						    "shares", page.items),
					  err);
	json_decref(page.items);
	url_params_free(&params);
	return status;
}

/* --- DELETE --------------------------------------------------------------- */

static int refuse_unknown(struct error *err)
{
	return error_set(err, ERROR_NOTFOUND, "there is no such share");
}

static int end_share(struct call *call, const struct share *share,
		     struct error *err)
{
	bool ended = false;

	if (share_store_end(call->redis, share, &ended, err) < 0)
		return -1;
	if (!ended)
		return refuse_unknown(err);
	log_info(call->log, "share revoked", log_str("share", share->id),
		 log_str("key", call->access->who.name),
		 log_str("account", share->listed));
	call->status = 204;
	return 0;
}

int route_end_share(struct call *call, struct error *err)
{
	struct share *share = NULL;
	int status = check_no_parameters(call, err);

	if (status == 0)
		status = check_shares_are_here(call, err);
	if (status == 0 && !share_id_is_valid(call->code))
		status = refuse_unknown(err);
	if (status == 0)
		status = share_store_find(call->redis, call->code, &share, err);
	if (status == 0 && (!share || !share_is_seen(call->access, share)))
		status = refuse_unknown(err);
	if (status == 0)
		status = end_share(call, share, err);
	share_free(share);
	return status;
}
