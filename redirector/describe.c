#include "redirector/describe.h"

#include <string.h>

#include "common/clock.h"
#include "redirector/answer.h"
#include "redirector/click_event.h"

void describer_release(struct describer *d)
{
	buf_free(&d->event);
	buf_free(&d->lines);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* `from` + `ms`, where `ms` may be for ever. */
static int64_t later(int64_t from, int64_t ms)
{
	return ms == DURATION_NEVER ? INT64_MAX : from + ms;
}

/* --- times -----------------------------------------------------------------
 */

int64_t renew_interval(const struct linkstore *store,
		       const Shortloop__Link *link)
{
	int64_t below = linkstore_renew_below(store, link->ttl_ms);

	return below ? (int64_t)link->ttl_ms - below : INT64_MAX;
}

/* When a visit should ask again so that the link is renewed: as soon as it is
 * due, or, being renewed now, as soon as it can be due again. */
static int64_t next_renewal(const struct describer *d, int64_t asked,
			    const struct link_answer *answer)
{
	int64_t below = linkstore_renew_below(d->store, answer->link->ttl_ms);

	if (!below || answer->ttl_left == DURATION_NEVER ||
	    answer->outcome != LINK_OUTCOME_REDIRECT)
		return INT64_MAX;
	if (answer->renew)
		return asked + renew_interval(d->store, answer->link);
	return asked + answer->ttl_left - below + 1;
}

static void end_at(struct cached_link *out, int64_t until)
{
	out->fresh_until = out->stale_until = out->expires = until;
}

/* How long the answer holds.  Life is counted from before the question, so that
 * no entry outlives its link. */
static void set_times(const struct describer *d,
		      const struct link_answer *answer, int64_t asked,
		      struct cached_link *out)
{
	if (answer->outcome == LINK_OUTCOME_UNKNOWN ||
	    answer->outcome == LINK_OUTCOME_GONE || !answer->link) {
		end_at(out, asked + d->times.negative_ttl);
		return;
	}
	out->expires = later(asked, answer->ttl_left);
	out->stale_until = least(asked + d->times.stale, out->expires);
	out->fresh_until = least(asked + d->times.ttl, out->expires);
	out->fresh_until =
		least(out->fresh_until, next_renewal(d, asked, answer));
}

/* Ms until it may be visited; 0: it may. */
static int64_t ms_to_wait(const struct link_answer *answer)
{
	int64_t now = clock_real_ms();
	uint64_t start = answer->link ? answer->link->not_before_ms : 0;

	if (answer->outcome != LINK_OUTCOME_REDIRECT || start <= (uint64_t)now)
		return 0;
	return start < INT64_MAX / 2 ? (int64_t)start - now : INT64_MAX / 2;
}

/* --- texts -----------------------------------------------------------------
 */

static int status_of(const Shortloop__Link *link)
{
	switch (link->redirect_status) {
	case 301:
	case 307:
	case 308:
		return (int)link->redirect_status;
	default:
		return 302;
	}
}

/* NULL: the device has no target of its own. */
static const char *url_for(const Shortloop__Link *link, int device)
{
	if (device == SHORTLOOP__DEVICE__DEVICE_ANY)
		return link->url;
	for (size_t i = 0; i < link->n_targets; i++) {
		if ((int)link->targets[i]->device == device)
			return link->targets[i]->url;
	}
	return NULL;
}

static int write_lines(struct describer *d, const Shortloop__Link *link,
		       struct cached_link *out, struct error *err)
{
	const struct answer_form form = {.status = out->status,
					 .varies = link->n_targets > 0,
					 .counted = link->max_visits > 0};

	buf_reset(&d->lines);
	for (int device = 0; device < DEVICES; device++) {
		const char *url = url_for(link, device);

		if (url && answer_lines(&d->lines, &form, url, err) < 0)
			return -1;
		out->line_ends[device] = (uint32_t)d->lines.len;
	}
	out->lines = (struct http_slice){d->lines.data, d->lines.len};
	return 0;
}

static int write_event(struct describer *d, struct http_slice code,
		       const Shortloop__Link *link, struct error *err)
{
	buf_reset(&d->event);
	if (link)
		click_link_part(&d->event, code, link->link_id, link->owner,
				link->campaign, link->tags, link->n_tags);
	else
		click_link_part(&d->event, code, 0, NULL, NULL, NULL, 0);
	return d->event.failed ? error_set_nomem(err) : 0;
}

/* -------------------------------------------------------------------------- */

static int describe_redirect(struct describer *d,
			     const struct link_target *target,
			     const struct link_answer *answer,
			     struct cached_link *out, struct error *err)
{
	const Shortloop__Link *link = answer->link;

	out->status = status_of(link);
	out->max_visits = link->max_visits;
	out->link_id = link->link_id;
	out->renew = link->max_visits && answer->renew;
	if (write_lines(d, link, out, err) < 0)
		return error_wrap(err, "link %s", target->code);
	return 0;
}

int describe_link(struct describer *d, const struct link_target *target,
		  const struct link_answer *answer, int64_t asked, int64_t now,
		  struct cached_link *ret_link, struct error *err)
{
	struct http_slice code = {target->code, strlen(target->code)};
	int64_t wait = ms_to_wait(answer);
	const Shortloop__Link *link = wait ? NULL : answer->link;
	struct cached_link out = {
		.outcome = wait ? LINK_OUTCOME_UNKNOWN : answer->outcome,
		.domain = link && link->domain ? link->domain : "",
		.space = (uint8_t)target->space->index,
	};

	if (write_event(d, code, link, err) < 0)
		return -1;
	out.event = (struct http_slice){d->event.data, d->event.len};
	set_times(d, answer, asked, &out);
	if (wait)
		end_at(&out, least(asked + d->times.negative_ttl, now + wait));
	if (out.outcome == LINK_OUTCOME_REDIRECT &&
	    describe_redirect(d, target, answer, &out, err) < 0)
		return -1;
	*ret_link = out;
	return 0;
}
