#include "redirector/visit/cache_entry.h"

#include <string.h>

#include "common/clock.h"
#include "redirector/events/click_event.h"
#include "redirector/lookup/link_lines.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/visit/denied_links.h"

void cache_entry_builder_release(struct cache_entry_builder *b)
{
	buf_free(&b->event);
	buf_free(&b->lines);
	buf_free(&b->hosts);
}

/* Returns `from` + `ms`, where `ms` may be infinite. */
static int64_t add_duration(int64_t from, int64_t ms)
{
	return ms == DURATION_NEVER ? INT64_MAX : from + ms;
}

/* --- times ---------------------------------------------------------------- */

int64_t cache_entry_renew_interval(const struct linkstore *store,
				   const Shortloop__Link *link)
{
	int64_t below = linkstore_renew_below(store, link->ttl_ms);

	return below ? (int64_t)link->ttl_ms - below : INT64_MAX;
}

/* Returns when a visit should query Redis again so that the link is renewed: as
 * soon as it is due, or, if this look-up renews it, as soon as it can be due
 * again. */
static int64_t next_renewal(const struct cache_entry_builder *b, int64_t asked,
			    const struct link_answer *answer)
{
	int64_t below = linkstore_renew_below(b->store, answer->link->ttl_ms);

	if (!below || answer->ttl_left == DURATION_NEVER ||
	    answer->outcome != LINK_OUTCOME_REDIRECT)
		return INT64_MAX;
	if (answer->renew)
		return asked +
		       cache_entry_renew_interval(b->store, answer->link);
	return asked + answer->ttl_left - below + 1;
}

static void end_at(struct cached_link *entry, int64_t until)
{
	entry->fresh_until = entry->stale_until = entry->expires = until;
}

/* Sets how long the answer is valid.  Times count from before the query, so
 * that no entry outlives its link. */
static void set_times(const struct cache_entry_builder *b,
		      const struct link_answer *answer, int64_t asked,
		      struct cached_link *entry)
{
	if (answer->outcome == LINK_OUTCOME_UNKNOWN ||
	    answer->outcome == LINK_OUTCOME_GONE || !answer->link) {
		end_at(entry, asked + b->times.negative_ttl);
		return;
	}
	entry->expires = add_duration(asked, answer->ttl_left);
	entry->stale_until =
		clock_earlier(asked + b->times.stale, entry->expires);
	entry->fresh_until =
		clock_earlier(asked + b->times.ttl, entry->expires);
	entry->fresh_until = clock_earlier(entry->fresh_until,
					   next_renewal(b, asked, answer));
}

/* --- bytes ---------------------------------------------------------------- */

static int write_target(struct buf *out, const Shortloop__Target *target,
			const struct redirect_form *form, uint8_t *ret_landing,
			struct error *err)
{
	*ret_landing = (uint8_t)visit_rule_landing(target);
	if (*ret_landing == LANDING_APP)
		return link_lines_put_landing(out, target->app, target->url,
					      err);
	if (*ret_landing == LANDING_MINI_PROGRAM)
		return link_lines_put_landing(out, target->mini_program,
					      target->url, err);
	return link_lines_put(out, form, target->url, err);
}

static int write_lines(struct cache_entry_builder *b,
		       const Shortloop__Link *link, struct cached_link *entry,
		       struct error *err)
{
	const struct redirect_form form = {.status = entry->status,
					   .varies = link->n_targets > 0,
					   .counted = link->max_visits > 0};

	buf_reset(&b->lines);
	if (link_lines_put(&b->lines, &form, link->url, err) < 0)
		return -1;
	entry->line_ends[SHORTLOOP__DEVICE__DEVICE_ANY] =
		(uint32_t)b->lines.len;
	for (int i = SHORTLOOP__DEVICE__DEVICE_ANY + 1; i < DEVICES; i++) {
		const Shortloop__Target *target =
			visit_rule_own_target(link, (Shortloop__Device)i);

		if (target && write_target(&b->lines, target, &form,
					   &entry->landings[i], err) < 0)
			return -1;
		entry->line_ends[i] = (uint32_t)b->lines.len;
	}
	entry->lines = (struct http_slice){b->lines.data, b->lines.len};
	return 0;
}

/* The URL that counts is that of the target; for a page its fallback. */
static void write_digests(struct cache_entry_builder *b,
			  const Shortloop__Link *link,
			  struct cached_link *entry)
{
	int count = link->n_targets ? DEVICES : 1;

	for (int i = 0; i < count; i++) {
		const Shortloop__Target *target =
			i ? visit_rule_own_target(link, (Shortloop__Device)i)
			  : NULL;
		const char *url = target ? target->url : link->url;

		url_digest(url, strlen(url), b->digests[i]);
	}
	entry->url_digests = (struct http_slice){
		(const char *)b->digests, (size_t)count * URL_DIGEST_SIZE};
}

static int write_hosts(struct cache_entry_builder *b,
		       const Shortloop__Link *link, struct cached_link *entry,
		       struct error *err)
{
	buf_reset(&b->hosts);
	denied_links_put_hosts(&b->hosts, link);
	entry->hosts = (struct http_slice){b->hosts.data, b->hosts.len};
	return b->hosts.failed ? error_set_nomem(err) : 0;
}

/* If a link is gone, only its link id may be known. */
static int write_event(struct cache_entry_builder *b, struct http_slice code,
		       const Shortloop__Link *link, uint64_t former_id,
		       struct error *err)
{
	struct click_link part = {.code = code, .link_id = former_id};

	if (link)
		part = (struct click_link){code,	   link->link_id,
					   link->account,  link->owner,
					   link->campaign, link->tags,
					   link->n_tags};
	else if (former_id)
		part.account = part.owner = CLICK_UNKNOWN;
	buf_reset(&b->event);
	click_link_part(&b->event, &part);
	return b->event.failed ? error_set_nomem(err) : 0;
}

/* --- the entry ------------------------------------------------------------ */

static int build_redirect(struct cache_entry_builder *b,
			  const struct link_target *target,
			  const struct link_answer *answer,
			  struct cached_link *entry, struct error *err)
{
	const Shortloop__Link *link = answer->link;

	entry->status = visit_rule_status(link);
	entry->max_visits = link->max_visits;
	entry->pass = (struct pass_through){link->query_pass, link->path_pass};
	entry->link_id = link->link_id;
	entry->renew = link->max_visits && answer->renew;
	if (write_lines(b, link, entry, err) < 0)
		return error_wrap(err, "link %s", target->code);
	write_digests(b, link, entry);
	return write_hosts(b, link, entry, err);
}

int cache_entry_build(struct cache_entry_builder *b,
		      const struct link_target *target,
		      const struct link_answer *answer, int64_t asked,
		      int64_t now, struct cached_link *ret_entry,
		      struct error *err)
{
	struct http_slice code = link_target_code(target);
	int64_t wait = answer->begins_in;
	const Shortloop__Link *link = wait ? NULL : answer->link;
	struct cached_link entry = {
		.outcome = visit_rule_outcome(answer),
		.domain = link && link->domain ? link->domain : "",
		.space = (uint8_t)target->space->index,
	};

	if (write_event(b, code, link, answer->former_id, err) < 0)
		return -1;
	entry.event = (struct http_slice){b->event.data, b->event.len};
	set_times(b, answer, asked, &entry);
	if (wait)
		end_at(&entry, clock_earlier(asked + b->times.negative_ttl,
					     now + wait));
	if (link && entry.outcome == LINK_OUTCOME_REDIRECT &&
	    build_redirect(b, target, answer, &entry, err) < 0)
		return -1;
	*ret_entry = entry;
	return 0;
}
