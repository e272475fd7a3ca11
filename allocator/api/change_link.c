/*
 * PATCH and DELETE /v1/links/{code}.
 *
 * The link is read, changed and written back by compare-and-set, so that two
 * editors never overwrite each other's change unseen.  Without If-Match the
 * second editor starts over from the new version; with If-Match it receives a
 * 412.
 *
 * If the answer to a write is lost, the request waits and the same write is
 * sent again, which counts once: every change in Redis must be reported.
 *
 * If a link is blocked or let go, the URLs that it leads to are blocked or let
 * go before the link itself (linkstore/url_blocks.h).
 */
#include "allocator/api/change_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/find_link.h"
#include "allocator/api/handlers.h"
#include "allocator/create/charge.h"
#include "allocator/link/blocked_text.h"
#include "allocator/link/link_move.h"
#include "allocator/link/link_patch.h"
#include "allocator/link/link_place.h"
#include "allocator/link/link_whose.h"
#include "allocator/link_events.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/http/encoding.h"
#include "linkstore/link/edit.h"
#include "linkstore/target.h"

enum {
	TRIES_MAX = 5,
	RESEND_EVERY_MS = 100,
	/* Clients wait about this long for an answer. */
	UNSURE_MAX_MS = 30000,
};

struct change {
	struct api_context *api;
	struct http_request *req;
	struct api_key_info caller;
	struct link_target target;
	bool deletes;
	struct link_patch patch;
	struct audit_source source;
	Shortloop__Link *before, *after; /* version read; version written */
	int64_t expires;
	int64_t charged; /* bytes of growth that the account has paid for */
	bool urls_noted; /* blocked or let go already, before the link */
	unsigned tries;
	/* A write whose answer was lost: */
	int64_t unsure_since; /* loop_now_ms; 0: no answer was lost */
	unsigned resent;
	struct change *next; /* in the list of changes to be sent again */
};

static void on_found(void *arg, const struct link_answer *answer,
		     const struct error *err);

static void free_link_versions(struct change *c)
{
	if (c->before)
		shortloop__link__free_unpacked(c->before, NULL);
	if (c->after)
		shortloop__link__free_unpacked(c->after, NULL);
	c->before = c->after = NULL;
}

static void change_free(struct change *c)
{
	if (!c->deletes)
		link_patch_release(&c->patch);
	free_link_versions(c);
	free(c);
}

/* --- permission ----------------------------------------------------------- */

/* The owner of a blocked link must not be able to undo the block, neither by
 * deleting the link nor by giving it an early end.  A blocked link also stays
 * unchanged until a moderator has looked at it again. */
static bool is_frozen(const struct change *c, const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED &&
	       !key_may(&c->caller, KEY_MODERATES_LINK, NULL);
}

static bool may_change(struct change *c, const Shortloop__Link *link)
{
	const struct key_link whose = link_whose(link);

	if (!key_may(&c->caller, KEY_CHANGES_LINK, &whose))
		http_reply_problem(c->req, 403, NULL,
				   "this link belongs to another account, or "
				   "to an owner that this API key may not "
				   "write for: it takes a key that may, or one "
				   "with the role 'admin'");
	else if (is_frozen(c, link))
		http_reply_problem(c->req, 403, NULL,
				   "this link is blocked: it takes an API key "
				   "with the role 'admin' to change or to "
				   "delete it");
	else if (!c->deletes &&
		 !link_place_is_open(c->api->defaults->rules.domains,
				     &c->caller, link->domain))
		http_reply_problem(c->req, 403, NULL,
				   "domain: '%s' is not for the account '%s' "
				   "any more, whose links under it can only be "
				   "deleted",
				   link->domain, c->caller.account);
	else
		return true;
	return false;
}

/* Returns whether If-Match, which may have several lines, allows the change. */
static bool if_match_allows(const struct http_request *req, const char *tag)
{
	struct http_slice line;
	size_t at = 0;
	bool given = false;

	while (http_header_next(req, "If-Match", &at, &line)) {
		if (encoding_etag_is_one_of(line, tag))
			return true;
		given = true;
	}
	return !given;
}

static void correct_note(const struct change *c, const Shortloop__Link *link);

static bool is_as_expected(struct change *c, const Shortloop__Link *link)
{
	char tag[LINK_ETAG_MAX];

	if (if_match_allows(c->req, link_view_etag(link, tag)))
		return true;
	if (c->urls_noted)
		correct_note(c, link);
	metric_add(c->api->metrics->change_conflicts, 1);
	http_reply_problem(c->req, 412, NULL,
			   "the link is at %s by now: read it again and "
			   "decide anew",
			   tag);
	return false;
}

/* --- writing -------------------------------------------------------------- */

static void reply_changed(struct change *c)
{
	const struct link_view view = {
		.base_url =
			link_view_base_url(&c->api->defaults->rules, c->after),
		.space = c->target.space->name,
		.code = c->target.code,
		.link = c->after,
		.expires = c->expires,
	};

	if (c->deletes)
		http_reply(c->req, 204, NULL, NULL, 0);
	else
		api_reply_link(c->api, c->req, 200, NULL, false, &view);
}

static Shortloop__LinkChange kind_of(const struct change *c)
{
	if (c->deletes)
		return SHORTLOOP__LINK_CHANGE__LINK_REMOVED;
	return c->patch.fields.given & FIELD_STATE
		       ? SHORTLOOP__LINK_CHANGE__LINK_MODERATED
		       : SHORTLOOP__LINK_CHANGE__LINK_CHANGED;
}

/* The result of the write stays unknown. */
static void note_doubt(const struct change *c, const struct error *err)
{
	const struct api_context *api = c->api;

	metric_add(api->metrics->change_unsure, 1);
	log_warn(api->creation.log, "a change may have been made unreported",
		 log_str("code", c->target.code),
		 log_str("action", c->deletes ? "deleted" : "changed"),
		 log_str("key", c->caller.name), log_err(err));
}

static void start_over(struct change *c, const struct error *why)
{
	struct error err = *why;

	if (c->unsure_since)
		note_doubt(c, why);
	c->unsure_since = 0;
	c->resent = 0;
	metric_add(c->api->metrics->change_conflicts, 1);
	if (++c->tries < TRIES_MAX &&
	    link_lookup_async(c->api->creation.redis, &c->target, on_found, c,
			      &err) == 0)
		return;
	api_reply_failure(c->api, c->req, &err);
	change_free(c);
}

static void fail_change(struct change *c, const struct error *err)
{
	if (c->unsure_since)
		note_doubt(c, err);
	api_reply_failure(c->api, c->req, err);
	change_free(c);
}

static void complete_change(struct change *c, int64_t expires)
{
	const struct api_context *api = c->api;
	const struct audit_entry entry = {&c->source, c->target.space->name,
					  c->target.code, c->before, c->after};

	c->expires = expires;
	metric_add(c->deletes ? api->metrics->deleted : api->metrics->changed,
		   1);
	link_events_send(api->creation.events, kind_of(c),
			 c->target.space->name, c->target.code, c->after,
			 expires);
	audit_link(c->api->audit, c->deletes ? AUDIT_DELETED : AUDIT_CHANGED,
		   &entry);
	reply_changed(c);
	change_free(c);
}

/* Returns false if the change has waited long enough, or if the program
 * ends. */
static bool may_wait(const struct change *c)
{
	const struct api_context *api = c->api;

	return api->resend_timer && c->resent < TRIES_MAX &&
	       loop_now_ms(api->loop) - c->unsure_since < UNSURE_MAX_MS;
}

static void wait_to_resend(struct change *c)
{
	c->next = c->api->unsure;
	c->api->unsure = c;
	loop_timer_set(c->api->resend_timer, RESEND_EVERY_MS);
}

static void on_edited(void *arg, int64_t expires, const struct error *err)
{
	struct change *c = arg;
	/* A refusal after a lost answer does not show whether the earlier write
	 * was made. */
	bool lost = err && err->code == ERROR_REMOTE &&
		    (err->retriable || c->unsure_since);

	if (lost && !c->unsure_since)
		c->unsure_since = loop_now_ms(c->api->loop);
	if (!err)
		complete_change(c, expires);
	else if (lost && may_wait(c))
		wait_to_resend(c);
	else if (err->code == ERROR_CONFLICT || err->code == ERROR_NOTFOUND)
		/* Another editor was faster, or the link has just ended.  The
		 * look-up shows which. */
		start_over(c, err);
	else
		fail_change(c, err);
}

static int send_change(struct change *c, struct error *err)
{
	return link_edit_async(
		c->api->creation.redis, &c->target, c->before, c->after,
		c->deletes ? NULL : c->patch.fields.ttl, on_edited, c, err);
}

/* Usually the connection has to be made again first. */
static void resend_change(struct change *c)
{
	struct error err;

	if (send_change(c, &err) == 0)
		c->resent++;
	else if (may_wait(c))
		wait_to_resend(c);
	else
		fail_change(c, &err);
}

static void resend_all(struct api_context *api)
{
	struct change *c = api->unsure, *next;

	api->unsure = NULL;
	for (; c; c = next) {
		next = c->next;
		resend_change(c);
	}
}

static void on_resend_timer(void *arg)
{
	resend_all(arg);
}

int change_link_start(struct api_context *api, struct error *err)
{
	api->resend_timer =
		loop_timer_new(api->loop, on_resend_timer, api, err);
	return api->resend_timer ? 0 : -1;
}

void change_link_end(struct api_context *api)
{
	loop_timer_free(api->resend_timer);
	api->resend_timer = NULL;
	resend_all(api);
}

/* Copies the link, which is valid only during the look-up's callback. */
static Shortloop__Link *copy_link(const Shortloop__Link *link)
{
	size_t len = shortloop__link__get_packed_size(link);
	uint8_t *packed = malloc(len ? len : 1);
	Shortloop__Link *copy;

	if (!packed)
		return NULL;
	shortloop__link__pack(link, packed);
	copy = shortloop__link__unpack(NULL, len, packed);
	free(packed);
	return copy;
}

/* --- charging --------------------------------------------------------------
 */

static void refuse_growth(struct change *c, const struct quota_answer *answer)
{
	char text[CHARGE_TEXT_MAX], retry[24];
	const struct http_field fields[] = {{"Retry-After", retry}, {0}};

	charge_refusal(answer, c->caller.rules, c->caller.account, text);
	snprintf(retry, sizeof(retry), "%" PRId64,
		 clock_whole_seconds(answer->wait_ms));
	http_reply_problem(c->req, 429, fields, "%s", text);
	change_free(c);
}

static void on_charged(void *arg, const struct quota_answer *answer,
		       const struct error *err)
{
	struct change *c = arg;
	struct error why;

	if (!err && !answer->taken) {
		refuse_growth(c, answer);
		return;
	}
	if (!err && send_change(c, &why) == 0)
		return;
	api_reply_failure(c->api, c->req, err ? err : &why);
	change_free(c);
}

/* The account pays once for the growth of a link, whether the edit succeeds or
 * not.  Otherwise an account could evade the quota by growing small links. */
static int charge_growth(struct change *c, struct error *err)
{
	const struct account_rules *rules = c->caller.rules;
	struct quota quota = {0};
	int64_t growth = (int64_t)shortloop__link__get_packed_size(c->after) -
			 (int64_t)shortloop__link__get_packed_size(c->before) -
			 c->charged;

	if (c->deletes || !rules || !rules->quota.bytes.max || growth <= 0)
		return send_change(c, err);
	c->charged += growth;
	/* The number of links stays the same, so its rule is left out. */
	quota.bytes = rules->quota.bytes;
	return quota_take_async(
		c->api->creation.redis, c->api->defaults->rules.store,
		c->caller.account, &quota, 0, growth, on_charged, c, err);
}

/* --- the URLs of what is blocked, or let go -------------------------------
 */

static bool is_blocked(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED;
}

static int note_blocked(const struct change *c, const Shortloop__Link *link,
			const char *const *urls, size_t count, url_block_fn *fn,
			void *arg, struct error *err)
{
	const struct url_decision decision = {.link_id = link->link_id,
					      .code = c->target.code,
					      .key = c->caller.name};

	return url_block_async(c->api->creation.redis, c->target.space->store,
			       link->account, &decision, urls, count, fn, arg,
			       err);
}

static int note_let_go(const struct change *c, const Shortloop__Link *link,
		       url_block_fn *fn, void *arg, struct error *err)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);

	return url_let_go_async(c->api->creation.redis, c->target.space->store,
				link->account, link->link_id, urls, count, fn,
				arg, err);
}

static void ignore_note(void *arg, const struct error *err)
{
	(void)arg;
	(void)err;
}

/* This change came too late: another editor has changed the link, so the notes
 * on its URLs are set to the link's present state. */
static void correct_note(const struct change *c, const Shortloop__Link *link)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);
	struct error ignored;

	if (is_blocked(link))
		note_blocked(c, link, urls, count, ignore_note, NULL, &ignored);
	else
		note_let_go(c, link, ignore_note, NULL, &ignored);
}

static void on_noted(void *arg, const struct error *err)
{
	struct change *c = arg;
	struct error why;

	c->urls_noted = !err;
	if (!err && charge_growth(c, &why) == 0)
		return;
	api_reply_failure(c->api, c->req, err ? err : &why);
	change_free(c);
}

/* Blocks the URLs of the link before the change and after it. */
static int block_urls(struct change *c, struct error *err)
{
	const char *urls[2 * LINK_URLS_MAX];
	size_t count = link_urls(c->before, urls);

	count += link_urls(c->after, urls + count);
	return note_blocked(c, c->after, urls, count, on_noted, c, err);
}

static int go_on(struct change *c, struct error *err)
{
	if (!c->deletes && is_blocked(c->after))
		return block_urls(c, err);
	if (!c->deletes && is_blocked(c->before))
		return note_let_go(c, c->after, on_noted, c, err);
	return charge_growth(c, err);
}

static void on_urls_checked(void *arg, const char *blocked,
			    const struct error *err)
{
	struct change *c = arg;
	char text[BLOCKED_TEXT_MAX];
	struct error why;

	if (blocked)
		http_reply_problem(c->req, 451, NULL, "%s",
				   blocked_text(c->after, blocked,
						c->after->account, text));
	else if (!err && go_on(c, &why) == 0)
		return;
	else
		api_reply_failure(c->api, c->req, err ? err : &why);
	change_free(c);
}

/* The account's other links must not change to a URL that was blocked. */
static int check_urls(struct change *c, struct error *err)
{
	const unsigned leads = FIELD_URL | FIELD_TARGETS | FIELD_ACCOUNT;
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(c->after, urls);

	if (c->deletes || is_blocked(c->after) ||
	    !(c->patch.fields.given & leads))
		return go_on(c, err);
	return url_checker_check(c->api->creation.urls, c->after->account, urls,
				 count, on_urls_checked, c, err);
}

/* start of a write */

static int write_change(struct change *c, const struct link_answer *answer,
			struct error *err)
{
	const Shortloop__Link *before = answer->link;
	Shortloop__Link after;
	uint64_t now = (uint64_t)clock_real_ms();

	if (c->deletes) {
		link_edit_tombstone(before, c->caller.name, now, &after);
	} else {
		const struct link_move move = {&c->patch.fields,
					       &c->api->defaults->rules,
					       &c->caller, c->target.space};

		if (link_patch_apply(&c->patch, before, &after, err) < 0 ||
		    link_move_apply(&move, before, &after, err) < 0)
			return -1;
		link_edit_prepare(before, c->patch.fields.ttl, &after);
		link_edit_keep_life(before, c->patch.fields.ttl,
				    answer->ttl_left, &after);
		after.editor = c->caller.name;
		after.changed_ms = now;
	}
	free_link_versions(c);
	c->before = copy_link(before);
	c->after = copy_link(&after);
	if (!c->before || !c->after)
		return error_set_nomem(err);
	return check_urls(c, err);
}

/* The link ended between two look-ups, after its URLs were blocked. */
static bool refuse_ended(struct change *c, const struct link_answer *answer,
			 const struct error *err)
{
	if (err || answer->link || !c->urls_noted || !is_blocked(c->after))
		return false;
	http_reply_problem(c->req, 410, NULL,
			   "the link has just ended; what it led to is blocked "
			   "for its account all the same");
	return true;
}

static void on_found(void *arg, const struct link_answer *answer,
		     const struct error *err)
{
	struct change *c = arg;
	struct error why;

	if (!refuse_ended(c, answer, err) &&
	    !find_link_refuse(c->api, c->req, &c->caller, answer, err) &&
	    may_change(c, answer->link) && is_as_expected(c, answer->link)) {
		if (write_change(c, answer, &why) == 0)
			return;
		if (why.code == ERROR_INPUT || why.code == ERROR_NOT_OWNER)
			http_reply_problem(c->req,
					   why.code == ERROR_INPUT ? 400 : 403,
					   NULL, "%s", why.text);
		else
			api_reply_failure(c->api, c->req, &why);
	}
	change_free(c);
}

/* --- start ---------------------------------------------------------------- */

/* Only an admin may change the state: the owner of a blocked link must not be
 * able to undo the block. */
static bool may_moderate(const struct change *c)
{
	if (!(c->patch.fields.given & FIELD_STATE) ||
	    key_may(&c->caller, KEY_MODERATES_LINK, NULL))
		return true;
	http_reply_problem(c->req, 403, NULL,
			   "state: it takes an API key with the role 'admin' "
			   "to block a link, or to let it go");
	return false;
}

static bool may_use_ttl(const struct change *c)
{
	const struct link_class *ttl = c->patch.fields.ttl;
	const struct account_rules *rules = c->caller.rules;

	if (!ttl || account_rules_allow_ttl(rules, ttl->name))
		return true;
	metric_add(rules->ttl_refused, 1);
	http_reply_problem(c->req, 403, NULL,
			   "ttl: the account '%s' may use %s",
			   c->caller.account, rules->ttl);
	return false;
}

static bool is_merge_patch(const struct http_request *req)
{
	return http_type_is(req, "application/merge-patch+json") ||
	       http_type_is(req, "application/json");
}

static struct change *change_new(const struct api_call *call, bool deletes)
{
	struct change *c = calloc(1, sizeof(*c));

	if (!c) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return NULL;
	}
	c->api = call->api;
	c->req = call->req;
	c->caller = *call->caller;
	c->source = audit_source_of(call->req, c->caller.name);
	c->deletes = deletes;
	return c;
}

void handle_delete(const struct api_call *call)
{
	struct change *c = change_new(call, true);

	if (c && find_link(call, &c->target, on_found, c) < 0)
		change_free(c);
}

void handle_patch(const struct api_call *call)
{
	struct change *c;
	struct error err;

	if (!is_merge_patch(call->req)) {
		http_reply_problem(call->req, 415, NULL,
				   "send the change as Content-Type: "
				   "application/merge-patch+json");
		return;
	}
	c = change_new(call, false);
	if (!c)
		return;
	if (link_patch_parse(&c->patch, &call->api->defaults->rules,
			     http_body(call->req), &err) < 0) {
		http_reply_problem(call->req, 400, NULL, "%s", err.text);
		change_free(c);
	} else if (!may_moderate(c) || !may_use_ttl(c) ||
		   find_link(call, &c->target, on_found, c) < 0) {
		change_free(c);
	}
}
