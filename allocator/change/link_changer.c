#include "allocator/change/link_changer.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/change/change.h"
#include "allocator/change/change_permission.h"
#include "allocator/change/change_write.h"
#include "allocator/link/blocked_text.h"
#include "allocator/link/link_move.h"
#include "allocator/link/link_view.h"
#include "allocator/link/link_whose.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/block/link_reader.h"
#include "linkstore/link/edit.h"
#include "linkstore/link/link_copy.h"
#include "linkstore/link/link_editor.h"
#include "linkstore/url_blocks.h"

static void on_found(void *arg, const struct link_answer *answer,
		     const struct error *err);

void change_metrics_register(struct change_metrics *cm, struct metrics *m)
{
	static const char changes[] = "shortloop_allocator_changes_total";
	static const char help[] = "Requests to change a link";

	cm->changed = metrics_counter(m, changes, "outcome=\"changed\"", help);
	cm->deleted = metrics_counter(m, changes, "outcome=\"deleted\"", help);
	cm->restored =
		metrics_counter(m, changes, "outcome=\"restored\"", help);
	cm->unchanged =
		metrics_counter(m, changes, "outcome=\"unchanged\"", help);
	cm->conflicts =
		metrics_counter(m, changes, "outcome=\"conflict\"", help);
	cm->unsure = metrics_counter(m, changes, "outcome=\"unsure\"", help);
}

/* --- look-up -------------------------------------------------------------- */

static void refuse_look_up(struct change *c, struct link_refusal refusal)
{
	link_finding_count(c->changer->o.reads, refusal.status);
	change_refuse(c, refusal.status, "%s", refusal.detail);
}

static void fail_look_up(struct change *c, const struct error *err)
{
	metric_add(c->changer->o.reads->failed, 1);
	change_fail(c, err);
}

static int read_link(struct change *c, struct error *err)
{
	struct link_reader *reader = c->changer->reader;

	if (!reader)
		return error_set_retriable(err, ERROR_REMOTE, "shutting down");
	return link_reader_look_up(reader, &c->target, on_found, c, err);
}

static void start_over(struct change *c, const struct error *why)
{
	struct error err = *why;

	if (c->unsure_since)
		change_note_doubt(c, why);
	c->unsure_since = 0;
	c->resent = 0;
	metric_add(c->changer->o.metrics->conflicts, 1);
	if (++c->tries < CHANGE_TRIES_MAX && read_link(c, &err) == 0)
		return;
	change_fail(c, &err);
}

static bool is_deleted(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
}

/* --- the next version ----------------------------------------------------- */

/* The versions are valid only during the look-up's callback. */
static int keep_versions(struct change *c, const Shortloop__Link *before,
			 const Shortloop__Link *after, struct error *err)
{
	change_free_versions(c);
	c->before = link_copy(before);
	c->after = link_copy(after);
	return c->before && c->after ? 0 : error_set_nomem(err);
}

static int apply_patch(const struct change *c, const Shortloop__Link *before,
		       Shortloop__Link *after, struct error *err)
{
	const struct link_patch *patch = c->order.patch;
	const struct link_move move = {&patch->fields, c->changer->o.rules,
				       &c->caller, c->target.space};

	return link_patch_apply(patch, before, after, err) < 0 ||
			       link_move_apply(&move, before, after, err) < 0
		       ? -1
		       : 0;
}

static bool are_equal(const Shortloop__Link *a, const Shortloop__Link *b)
{
	size_t len = shortloop__link__get_packed_size(a);
	uint8_t *packed;
	bool equal;

	if (shortloop__link__get_packed_size(b) != len)
		return false;
	packed = malloc(2 * len + 1);
	if (!packed)
		return false;
	shortloop__link__pack(a, packed);
	shortloop__link__pack(b, packed + len);
	equal = !memcmp(packed, packed + len, len);
	free(packed);
	return equal;
}

/* `after` is `before` with the patch, and without a version of its own. */
static bool is_unchanged(const struct change *c, const Shortloop__Link *before,
			 const Shortloop__Link *after)
{
	return link_edit_keeps_ttl(before, c->order.patch->fields.ttl) &&
	       are_equal(before, after);
}

/* Fills who made the version, and when. */
static void sign_version(const struct change *c, Shortloop__Link *after)
{
	after->editor = drop_const(c->caller.name);
	after->changed_ms = (uint64_t)clock_real_ms();
}

static void complete_version(const struct change *c,
			     const struct link_answer *answer,
			     Shortloop__Link *after)
{
	const struct link_class *ttl = change_ttl(c);

	link_edit_prepare(answer->link, ttl, after);
	link_edit_keep_life(answer->link, ttl, answer->ttl_left, after);
	sign_version(c, after);
}

/* --- steps ---------------------------------------------------------------- */

/* Ends a dry run as the change would have ended. */
static void finish_dry_run(struct change *c)
{
	const struct link_class *ttl = change_ttl(c);
	bool gets_life =
		ttl || change_is_blocked(c->before) || c->order.restores;
	int64_t left = c->ttl_left;

	if (!change_deletes(c) && change_is_blocked(c->after))
		left = DURATION_NEVER;
	else if (!change_deletes(c) && gets_life)
		left = link_edit_life_again(c->before, ttl);
	change_finish(c, c->after, true, link_view_expires(left));
}

static int begin_write(struct change *c, struct error *err)
{
	if (!c->order.dry_run)
		return change_write(c, err);
	finish_dry_run(c);
	return 0;
}

static void on_urls_checked(void *arg, const char *blocked,
			    const struct error *err)
{
	struct change *c = arg;
	char text[BLOCKED_TEXT_MAX];
	struct error why;

	if (blocked)
		change_refuse(c, 451, "%s",
			      blocked_text(c->after, blocked, c->after->account,
					   text));
	else if (err || begin_write(c, &why) < 0)
		change_fail(c, err ? err : &why);
}

/* The account's other links must not change to a URL that was blocked. */
static int check_urls(struct change *c, struct error *err)
{
	const unsigned leads = FIELD_URL | FIELD_TARGETS | FIELD_ACCOUNT;
	const char *urls[LINK_URLS_MAX];
	size_t count;

	if (change_deletes(c) || change_is_blocked(c->after) ||
	    !(c->order.restores || (change_gives(c) & leads)))
		return begin_write(c, err);
	count = link_urls(c->after, urls);
	return url_checker_check(c->changer->o.creation->urls,
				 c->after->account, urls, count,
				 on_urls_checked, c, err);
}

static int make_tombstone(struct change *c, const struct link_answer *answer,
			  struct error *err)
{
	Shortloop__Link after;

	if (c->order.purges)
		link_edit_purge(answer->link, &after);
	else
		link_edit_delete(answer->link, answer->ttl_left, &after);
	sign_version(c, &after);
	if (keep_versions(c, answer->link, &after, err) < 0)
		return -1;
	return begin_write(c, err);
}

/* Checks the URL and the targets of a stored link by the rules for new links:
 * it may not lead any more where it led.  ERROR_NOT_OWNER says which one is
 * refused, and why. */
static int check_link_urls(const Shortloop__Link *link,
			   struct url_policy *policy, struct error *err)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);
	struct buf normalised = {0};
	struct error why;
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		status = url_policy_check(policy, urls[i], strlen(urls[i]),
					  &normalised, &why);
		if (status < 0)
			error_set(err, ERROR_NOT_OWNER, "%.200s: %s", urls[i],
				  why.text);
	}
	buf_free(&normalised);
	return status;
}

static int restore_link(struct change *c, const struct link_answer *answer,
			struct error *err)
{
	Shortloop__Link after;

	if (!is_deleted(answer->link)) {
		change_finish(c, answer->link, false,
			      link_view_expires(answer->ttl_left));
		return 0;
	}
	link_edit_restore(answer->link, &after);
	if (check_link_urls(&after, c->changer->o.rules->urls, err) < 0)
		return -1;
	sign_version(c, &after);
	if (keep_versions(c, answer->link, &after, err) < 0)
		return -1;
	return check_urls(c, err);
}

/* A patch may be applied long after it was parsed, and a host may have been
 * denied since. */
static int check_given_urls(const struct change *c,
			    const Shortloop__Link *after, struct error *err)
{
	Shortloop__Link given = *after;

	if (!(change_gives(c) & FIELD_URL))
		given.url = drop_const("");
	if (!(change_gives(c) & FIELD_TARGETS))
		given.n_targets = 0;
	if (check_link_urls(&given, c->changer->o.rules->urls, err) == 0)
		return 0;
	err->code = ERROR_INPUT;
	return -1;
}

static int patch_link(struct change *c, const struct link_answer *answer,
		      struct error *err)
{
	Shortloop__Link after;

	if (apply_patch(c, answer->link, &after, err) < 0 ||
	    check_given_urls(c, &after, err) < 0)
		return -1;
	if (c->order.skip_unchanged && is_unchanged(c, answer->link, &after)) {
		change_finish(c, answer->link, false,
			      link_view_expires(answer->ttl_left));
		return 0;
	}
	complete_version(c, answer, &after);
	if (keep_versions(c, answer->link, &after, err) < 0)
		return -1;
	return check_urls(c, err);
}

static int take_step(struct change *c, const struct link_answer *answer,
		     struct error *err)
{
	if (change_deletes(c))
		return make_tombstone(c, answer, err);
	return c->order.restores ? restore_link(c, answer, err)
				 : patch_link(c, answer, err);
}

static void change_found(struct change *c, const struct link_answer *answer)
{
	struct error why;

	c->ttl_left = answer->ttl_left;
	if (take_step(c, answer, &why) == 0)
		return;
	if (why.code == ERROR_INPUT)
		change_refuse(c, 400, "%s", why.text);
	else if (why.code == ERROR_NOT_OWNER)
		change_refuse(c, 403, "%s", why.text);
	else
		change_fail(c, &why);
}

/* The link ended between two look-ups, after its URLs were blocked. */
static bool has_ended_blocked(const struct change *c,
			      const struct link_answer *answer)
{
	return !answer->link && c->urls_noted && change_is_blocked(c->after);
}

/* Returns whether the order is for a deleted link, and this one still has what
 * it was. */
static bool works_on_deleted(const struct change *c,
			     const struct link_answer *answer)
{
	return (c->order.restores || c->order.purges) && answer->link &&
	       link_edit_may_restore(answer->link);
}

/* Returns whether an earlier order has deleted the link. */
static bool is_deleted_already(const struct change *c,
			       const struct link_answer *answer)
{
	struct key_link whose;

	if (!c->order.skip_unchanged || !change_deletes(c) || !answer->link ||
	    !is_deleted(answer->link) || works_on_deleted(c, answer))
		return false;
	whose = link_whose(answer->link);
	return key_may(&c->caller, KEY_CHANGES_LINK, &whose);
}

static void on_found(void *arg, const struct link_answer *answer,
		     const struct error *err)
{
	struct change *c = arg;
	struct link_refusal refusal = {0};

	if (!err)
		refusal = link_finding_refuse(&c->caller, answer);
	if (err)
		fail_look_up(c, err);
	else if (has_ended_blocked(c, answer))
		change_refuse(c, 410,
			      "the link has just ended; what it led to is "
			      "blocked for its account all the same");
	else if (is_deleted_already(c, answer))
		change_finish(c, answer->link, false,
			      link_view_expires(answer->ttl_left));
	else if (refusal.status &&
		 !(refusal.status == 410 && works_on_deleted(c, answer)))
		refuse_look_up(c, refusal);
	else if (change_may_be_made(c, answer->link) &&
		 change_is_expected(c, answer->link))
		change_found(c, answer);
}

/* --- start ---------------------------------------------------------------- */

static void look_up(struct change *c, struct http_slice code)
{
	struct link_refusal refusal = link_finding_locate(
		c->changer->o.rules->store, code, &c->target);
	struct error err;

	if (refusal.status)
		refuse_look_up(c, refusal);
	else if (read_link(c, &err) < 0)
		fail_look_up(c, &err);
}

void link_changer_change(struct link_changer *changer,
			 const struct change_order *order, change_done_fn *done,
			 void *arg)
{
	static const struct change_result no_memory = {
		.status = 500, .detail = "out of memory"};
	struct change *c = calloc(1, sizeof(*c));

	if (!c) {
		done(arg, &no_memory);
		return;
	}
	c->changer = changer;
	c->order = *order;
	c->caller = *order->caller;
	c->start_over = start_over;
	c->done = done;
	c->arg = arg;
	if (change_may_set_state(c) && change_may_use_ttl(c))
		look_up(c, order->code);
}

static void on_resend_timer(void *arg)
{
	change_resend_all(arg);
}

static int open_parts(struct link_changer *changer, struct error *err)
{
	struct loop *loop = changer->o.loop;
	struct redis_async *redis = changer->o.creation->redis;

	changer->resend_timer =
		loop_timer_new(loop, on_resend_timer, changer, err);
	if (!changer->resend_timer)
		return -1;
	changer->reader = link_reader_new(loop, redis, err);
	if (!changer->reader)
		return -1;
	changer->editor = link_editor_new(loop, redis, err);
	return changer->editor ? 0 : -1;
}

struct link_changer *link_changer_new(const struct link_changer_options *o,
				      struct error *err)
{
	struct link_changer *changer = calloc(1, sizeof(*changer));

	if (!changer) {
		error_set_nomem(err);
		return NULL;
	}
	changer->o = *o;
	if (open_parts(changer, err) == 0)
		return changer;
	link_changer_free(changer);
	return NULL;
}

void link_changer_stop(struct link_changer *changer)
{
	struct link_reader *reader;
	struct link_editor *editor;

	if (!changer)
		return;
	reader = changer->reader;
	editor = changer->editor;
	loop_timer_free(changer->resend_timer);
	changer->resend_timer = NULL;
	change_resend_all(changer);
	changer->reader = NULL;
	changer->editor = NULL;
	link_reader_free(reader);
	link_editor_free(editor);
}

void link_changer_free(struct link_changer *changer)
{
	if (!changer)
		return;
	loop_timer_free(changer->resend_timer);
	link_reader_free(changer->reader);
	link_editor_free(changer->editor);
	free(changer);
}
