#include "allocator/change/change_write.h"

#include <inttypes.h>
#include <stdio.h>

#include "allocator/audit/audit.h"
#include "allocator/create/charge.h"
#include "common/clock.h"
#include "common/http/problem_type.h"
#include "linkstore/link/link_editor.h"

enum {
	RESEND_EVERY_MS = 100,
	/* Clients wait about this long for an answer. */
	UNSURE_MAX_MS = 30000,
};

/* --- compare-and-set ------------------------------------------------------ */

static Shortloop__LinkChange kind_of(const struct change *c)
{
	if (change_deletes(c))
		return SHORTLOOP__LINK_CHANGE__LINK_REMOVED;
	if (c->order.restores)
		return SHORTLOOP__LINK_CHANGE__LINK_RESTORED;
	return change_is_blocked(c->before) || change_is_blocked(c->after)
		       ? SHORTLOOP__LINK_CHANGE__LINK_MODERATED
		       : SHORTLOOP__LINK_CHANGE__LINK_CHANGED;
}

static struct metric *metric_of(const struct change *c)
{
	const struct change_metrics *metrics = c->changer->o.metrics;

	if (change_deletes(c))
		return metrics->deleted;
	return c->order.restores ? metrics->restored : metrics->changed;
}

static enum audit_action action_of(const struct change *c)
{
	if (change_deletes(c))
		return AUDIT_DELETED;
	return c->order.restores ? AUDIT_RESTORED : AUDIT_CHANGED;
}

static void complete_change(struct change *c, int64_t expires)
{
	const struct link_changer_options *o = &c->changer->o;
	const struct audit_entry entry = {c->order.source,
					  c->target.space->name, c->target.code,
					  c->before, c->after};

	metric_add(metric_of(c), 1);
	link_events_send(o->creation->events, kind_of(c), c->target.space->name,
			 c->target.code, c->after, expires);
	audit_link(o->creation->audit, action_of(c), &entry);
	change_finish(c, c->after, true, expires);
}

/* Returns false if the change has waited long enough, or if the program
 * ends. */
static bool may_wait(const struct change *c)
{
	const struct link_changer *changer = c->changer;

	return changer->resend_timer && c->resent < CHANGE_TRIES_MAX &&
	       loop_now_ms(changer->o.loop) - c->unsure_since < UNSURE_MAX_MS;
}

static void wait_to_resend(struct change *c)
{
	c->next = c->changer->unsure;
	c->changer->unsure = c;
	loop_timer_set(c->changer->resend_timer, RESEND_EVERY_MS);
}

static void on_edited(void *arg, int64_t expires, const struct error *err)
{
	struct change *c = arg;
	/* A refusal after a lost answer does not show whether the earlier write
	 * was made. */
	bool lost = err && err->code == ERROR_REMOTE &&
		    (err->retriable || c->unsure_since);

	if (lost && !c->unsure_since)
		c->unsure_since = loop_now_ms(c->changer->o.loop);
	if (!err)
		complete_change(c, expires);
	else if (lost && may_wait(c))
		wait_to_resend(c);
	else if (err->code == ERROR_CONFLICT || err->code == ERROR_NOTFOUND)
		/* Another editor was faster, or the link has just ended.  The
		 * look-up shows which. */
		c->start_over(c, err);
	else
		change_fail(c, err);
}

static int send_change(struct change *c, struct error *err)
{
	struct link_editor *editor = c->changer->editor;

	if (!editor)
		return error_set_retriable(err, ERROR_REMOTE, "shutting down");
	return link_editor_edit(editor, &c->target, c->before, c->after,
				change_ttl(c), on_edited, c, err);
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
		change_fail(c, &err);
}

void change_resend_all(struct link_changer *changer)
{
	struct change *c = changer->unsure, *next;

	changer->unsure = NULL;
	for (; c; c = next) {
		next = c->next;
		resend_change(c);
	}
}

/* --- charging ------------------------------------------------------------- */

static void refuse_growth(struct change *c, const struct quota_answer *answer)
{
	char text[CHARGE_TEXT_MAX];
	const struct change_result result = {
		.status = 429,
		.type = PROBLEM_QUOTA,
		.detail = text,
		.retry_after = clock_whole_seconds(answer->wait_ms),
	};

	charge_refusal(answer, c->caller.rules, c->caller.account, text);
	change_end(c, &result);
}

static void on_charged(void *arg, const struct quota_answer *answer,
		       const struct error *err)
{
	struct change *c = arg;
	struct error why;

	if (!err && !answer->taken)
		refuse_growth(c, answer);
	else if (err || send_change(c, &why) < 0)
		change_fail(c, err ? err : &why);
}

/* The account pays once for the growth of a link, whether the edit succeeds or
 * not.  Otherwise an account could evade the quota by growing small links. */
static int charge_growth(struct change *c, struct error *err)
{
	const struct account_rules *rules = c->caller.rules;
	struct quota quota = {0};
	int64_t growth;

	if (change_deletes(c) || !rules || !rules->quota.bytes.max)
		return send_change(c, err);
	growth = (int64_t)shortloop__link__get_packed_size(c->after) -
		 (int64_t)shortloop__link__get_packed_size(c->before) -
		 c->charged;
	if (growth <= 0)
		return send_change(c, err);
	c->charged += growth;
	/* The number of links stays the same, so its rule is left out. */
	quota.bytes = rules->quota.bytes;
	return quota_take_async(c->changer->o.creation->redis,
				c->changer->o.rules->store, c->caller.account,
				&quota, 0, growth, on_charged, c, err);
}

/* --- the URLs of what is blocked, or let go ------------------------------- */

static int note_blocked(const struct change *c, const Shortloop__Link *link,
			const char *const *urls, size_t count, url_block_fn *fn,
			void *arg, struct error *err)
{
	const struct url_decision decision = {.link_id = link->link_id,
					      .code = c->target.code,
					      .key = c->caller.name};

	return url_block_async(c->changer->o.creation->redis,
			       c->target.space->store, link->account, &decision,
			       urls, count, fn, arg, err);
}

static int note_let_go(const struct change *c, const Shortloop__Link *link,
		       url_block_fn *fn, void *arg, struct error *err)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);

	return url_let_go_async(c->changer->o.creation->redis,
				c->target.space->store, link->account,
				link->link_id, urls, count, fn, arg, err);
}

static void ignore_note(void *arg, const struct error *err)
{
	(void)arg;
	(void)err;
}

void change_correct_note(const struct change *c, const Shortloop__Link *link)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);
	struct error ignored;

	if (change_is_blocked(link))
		note_blocked(c, link, urls, count, ignore_note, NULL, &ignored);
	else
		note_let_go(c, link, ignore_note, NULL, &ignored);
}

static void on_noted(void *arg, const struct error *err)
{
	struct change *c = arg;
	struct error why;

	c->urls_noted = !err;
	if (err || charge_growth(c, &why) < 0)
		change_fail(c, err ? err : &why);
}

/* Blocks the URLs of the link before the change and after it. */
static int block_urls(struct change *c, struct error *err)
{
	const char *urls[2 * LINK_URLS_MAX];
	size_t count = link_urls(c->before, urls);

	count += link_urls(c->after, urls + count);
	return note_blocked(c, c->after, urls, count, on_noted, c, err);
}

int change_write(struct change *c, struct error *err)
{
	if (!change_deletes(c) && change_is_blocked(c->after))
		return block_urls(c, err);
	if (!change_deletes(c) && change_is_blocked(c->before))
		return note_let_go(c, c->after, on_noted, c, err);
	return charge_growth(c, err);
}
