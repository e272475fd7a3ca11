#include "allocator/explain/explanation.h"

#include <inttypes.h>
#include <string.h>

#include "allocator/link/link_view.h"
#include "common/clock.h"
#include "common/json_text.h"
#include "common/uri.h"
#include "linkstore/link/names.h"
#include "linkstore/visit/link_hosts.h"
#include "linkstore/visit/visit_rule.h"

/* The visit's answer as it is derived. */
struct explained {
	const struct explained_visit *visit;
	const struct code_facts *facts;	  /* NULL: no code of ours */
	const Shortloop__Link *link;	  /* NULL: none, or not yet */
	const struct link_domain *domain; /* where the host leads; NULL: none */
	const char *host;
	bool shown;
	bool denied; /* it leads to a denied host */
	struct device device;
	Shortloop__Device target;
	enum landing landing;
	int status;
	const char *location; /* NULL: no redirect */
	struct buf why;
};

/* --- JSON ----------------------------------------------------------------- */

static void put_text(struct buf *out, const char *member, const char *text)
{
	buf_puts(out, member);
	if (text && *text)
		json_put_lossy(out, text, strlen(text));
	else
		buf_puts(out, "null");
}

static void put_time(struct buf *out, const char *member, int64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	put_text(out, member,
		 ms == DURATION_NEVER ? NULL : rfc3339_format(ms, text));
}

static void put_bool(struct buf *out, const char *member, bool value)
{
	buf_printf(out, "%s%s", member, value ? "true" : "false");
}

static void put_code(struct buf *out, const struct explained *e)
{
	const struct link_target *target = e->facts ? &e->facts->target : NULL;
	bool in_block = target && link_space_has_blocks(target->space);

	put_text(out, "{\"code\":", e->visit->code);
	put_text(out, ",\"space\":", target ? target->space->name : NULL);
	put_text(out, ",\"strategy\":",
		 target ? link_strategy_names[target->space->strategy] : NULL);
	if (in_block)
		buf_printf(out,
			   ",\"block\":%" PRIu64 ",\"id_in_block\":%" PRIu64
			   ",\"key_version\":%u",
			   target->block,
			   target->id -
				   target->block * target->space->block_size,
			   target->version);
	else
		buf_puts(out, ",\"block\":null,\"id_in_block\":null,"
			      "\"key_version\":null");
}

static void put_marker(struct buf *out, const struct code_facts *facts)
{
	const struct link_marker *m = &facts->marker;

	if (!facts->has_marker) {
		buf_puts(out, ",\"marker\":null");
		return;
	}
	buf_printf(out, ",\"marker\":{\"generation\":%" PRIu32, m->generation);
	put_bool(out, ",\"open\":", m->open);
	put_text(out, ",\"ttl\":", m->class_name);
	put_time(out, ",\"opened_at\":", m->opened);
	put_time(out, ",\"ends_at\":", m->end);
	buf_printf(out, ",\"blocked_links\":%" PRIu32 "}", m->blocked);
}

static void put_link(struct buf *out, const struct code_facts *facts)
{
	const Shortloop__Link *link = facts->answer.link;

	if (!link) {
		buf_puts(out, ",\"link\":null");
		return;
	}
	buf_printf(out,
		   ",\"link\":{\"link_id\":\"%" PRIu64
		   "\",\"generation\":%" PRIu32 ",\"version\":%" PRIu32,
		   link->link_id, link->generation, link->version);
	put_text(out, ",\"state\":", link_state_name(link->state));
	put_text(out, ",\"domain\":", link->domain);
	put_time(out,
		 ",\"expires_at\":", link_view_expires(facts->answer.ttl_left));
	put_time(out, ",\"not_before\":",
		 link->not_before_ms ? (int64_t)link->not_before_ms
				     : DURATION_NEVER);
	if (link->max_visits)
		buf_printf(out,
			   ",\"max_visits\":%" PRIu64 ",\"visits\":%" PRIu64
			   "}",
			   link->max_visits, facts->visits);
	else
		buf_puts(out, ",\"max_visits\":null,\"visits\":null}");
}

static void put_place(struct buf *out, const struct explained *e)
{
	put_text(out, ",\"host\":{\"name\":", e->host);
	put_text(out, ",\"domain\":", e->domain ? e->domain->name : NULL);
	put_bool(out, ",\"shows\":", e->shown);
	put_text(out, "},\"device\":{\"system\":",
		 link_device_name(e->device.system));
	put_text(out, ",\"in_app\":", in_app_name(e->device.in_app));
	put_text(out, ",\"target\":", link_device_name(e->target));
	buf_putc(out, '}');
}

static void put_answer(struct buf *out, struct explained *e)
{
	static const char *const pages[LANDINGS] = {
		[LANDING_APP] = "app", [LANDING_MINI_PROGRAM] = "mini_program"};

	buf_printf(out, ",\"answer\":{\"status\":%d", e->status);
	put_text(out, ",\"location\":", e->location);
	put_text(out, ",\"page\":", pages[e->landing]);
	buf_putc(out, '}');
	put_text(out, ",\"why\":", buf_cstr(&e->why));
	buf_putc(out, '}');
}

/* --- the answer ----------------------------------------------------------- */

static void refuse_visit(struct explained *e, int status)
{
	e->status = status;
	e->location = NULL;
	e->landing = LANDING_NONE;
}

static void explain_absence(struct explained *e)
{
	const struct code_facts *facts = e->facts;

	refuse_visit(e, 404);
	if (!link_space_has_blocks(facts->target.space))
		buf_printf(&e->why, "No link has this code in the space %s.",
			   facts->target.space->name);
	else if (!facts->has_marker)
		buf_printf(&e->why,
			   "No link has this code: its block %" PRIu64
			   " was not opened, or its marker is lost.",
			   facts->target.block);
	else
		buf_printf(&e->why,
			   "No link has this code: its block %" PRIu64
			   " is open in generation %" PRIu32
			   ", in which the code was not issued yet.",
			   facts->target.block, facts->marker.generation);
}

static void explain_place(struct explained *e)
{
	const char *domain = e->link && *e->link->domain ? e->link->domain
							 : "the default one";

	refuse_visit(e, 404);
	if (e->domain &&
	    !domains_allow(e->domain, e->facts->target.space->name))
		buf_printf(&e->why,
			   "The code is unknown under the domain %s, where "
			   "links of the space %s are not shown.",
			   e->domain->name, e->facts->target.space->name);
	else
		buf_printf(&e->why,
			   "The code is unknown under the host %s: the link "
			   "belongs to another domain, %s.",
			   *e->host ? e->host : "without a name", domain);
}

static void explain_redirect(struct explained *e)
{
	const Shortloop__Link *link = e->link;
	const Shortloop__Target *target =
		visit_rule_own_target(link, e->target);

	e->landing =
		e->target && target ? visit_rule_landing(target) : LANDING_NONE;
	e->status = e->landing ? 200 : visit_rule_status(link);
	if (!e->landing)
		e->location = e->target && target ? target->url : link->url;
	if (e->landing)
		buf_printf(&e->why,
			   "The visitor gets the page of the link's target "
			   "for %s, which opens an app.",
			   link_device_name(e->target));
	else if (e->target)
		buf_printf(&e->why,
			   "The visitor is redirected to the link's target "
			   "for %s.",
			   link_device_name(e->target));
	else
		buf_puts(&e->why,
			 "The visitor is redirected to the link's URL.");
}

static void explain_gone(struct explained *e)
{
	refuse_visit(e, 410);
	buf_puts(&e->why, e->facts->answer.link
				  ? "The link was deleted."
				  : "The link with this code has expired.");
}

static void explain_block(struct explained *e)
{
	refuse_visit(e, 451);
	buf_puts(&e->why, e->denied ? "The link leads to a host that was taken "
				      "down."
				    : "A moderator blocked the link.");
}

static void explain_pause(struct explained *e)
{
	refuse_visit(e, 410);
	if (e->facts->answer.outcome == LINK_OUTCOME_PAUSED)
		buf_puts(&e->why, "The link is paused.");
	else
		buf_printf(&e->why,
			   "The domain %s is paused, and with it its links.",
			   e->domain->name);
}

static bool has_no_visit_left(const struct explained *e)
{
	return e->link->max_visits && e->facts->visits >= e->link->max_visits;
}

/* Explains the outcome of a look-up where the link is shown. */
static void explain_outcome(struct explained *e, enum link_outcome outcome)
{
	char text[RFC3339_TEXT_MAX];

	if (outcome == LINK_OUTCOME_GONE) {
		explain_gone(e);
	} else if (outcome == LINK_OUTCOME_BLOCKED) {
		explain_block(e);
	} else if (outcome == LINK_OUTCOME_PAUSED) {
		explain_pause(e);
	} else if (outcome == LINK_OUTCOME_UNKNOWN && e->facts->answer.link) {
		refuse_visit(e, 404);
		buf_printf(
			&e->why,
			"The code is unknown until the link begins, at %s.",
			rfc3339_format(
				(int64_t)e->facts->answer.link->not_before_ms,
				text));
	} else if (outcome == LINK_OUTCOME_UNKNOWN) {
		explain_absence(e);
	} else if (has_no_visit_left(e)) {
		refuse_visit(e, 410);
		buf_printf(&e->why,
			   "The link may be visited %" PRIu64
			   " times and has had %" PRIu64 " visits.",
			   e->link->max_visits, e->facts->visits);
	} else {
		explain_redirect(e);
	}
}

/* Finds the domain of the host, as the redirector does; without a host, that of
 * the link's short URL. */
static void find_place(struct explained *e, const struct domains *domains)
{
	const char *bound = e->link ? e->link->domain : "";

	e->host = e->visit->host;
	if (e->host)
		e->domain = domains_by_host(domains, e->host, strlen(e->host));
	else if (*bound)
		e->domain = domains_named(domains, bound);
	if (!e->domain)
		e->domain = domains_default(domains);
	if (!e->host)
		e->host = e->domain ? e->domain->host : bound;
}

static bool is_shown(const struct explained *e)
{
	const struct http_slice host = {e->host, strlen(e->host)};

	return visit_rule_shows_link(e->domain, e->facts->target.space->name,
				     e->link ? e->link->domain : "", host);
}

static Shortloop__Device find_target(const struct explained *e)
{
	const Shortloop__Link *link = e->link;
	const Shortloop__Target *system;

	if (!link)
		return SHORTLOOP__DEVICE__DEVICE_ANY;
	system = visit_rule_own_target(link, e->device.system);
	return visit_rule_target(
		e->device,
		(struct visit_targets){
			.wechat = visit_rule_own_target(
				link, SHORTLOOP__DEVICE__DEVICE_WECHAT),
			.system = e->device.system && system,
			.system_is_page = system && visit_rule_landing(system),
		});
}

/* In the order of the redirector: the host first, then the look-up's outcome,
 * then the visits. */
static void explain_code(struct explained *e,
			 const struct explanation_rules *rules)
{
	enum link_outcome outcome = visit_rule_outcome(&e->facts->answer);

	if (!e->facts->answer.begins_in)
		e->link = e->facts->answer.link;
	find_place(e, rules->domains);
	e->shown = is_shown(e);
	e->denied = outcome == LINK_OUTCOME_REDIRECT &&
		    link_leads_to(e->link, rules->denied);
	e->target = find_target(e);
	if (!e->shown)
		explain_place(e);
	else
		explain_outcome(
			e, visit_rule_shown(outcome, e->denied,
					    e->domain && e->domain->paused));
}

static void explain_no_code(struct explained *e, const struct linkstore *store)
{
	const struct link_space *space = linkstore_space_for(
		store, e->visit->code, strlen(e->visit->code));

	refuse_visit(e, 404);
	e->host = e->visit->host ? e->visit->host : "";
	if (space)
		buf_printf(&e->why,
			   "No link has this code: the space %s, whose codes "
			   "have this length, never issued it.",
			   space->name);
	else
		buf_puts(&e->why, "No link has this code: no space has codes "
				  "of this length and these characters.");
}

void explanation_write(struct buf *out, const struct explained_visit *visit,
		       const struct code_facts *facts,
		       const struct explanation_rules *rules)
{
	const char *agent = visit->user_agent ? visit->user_agent : "";
	struct explained e = {
		.visit = visit,
		.facts = facts,
		.device = device_of((struct http_slice){agent, strlen(agent)}),
	};
	struct buf location = {0};

	if (facts)
		explain_code(&e, rules);
	else
		explain_no_code(&e, rules->store);
	if (e.location) {
		uri_put(&location, e.location, strlen(e.location));
		e.location = buf_cstr(&location);
	}
	put_code(out, &e);
	if (facts) {
		put_marker(out, facts);
		put_link(out, facts);
	} else {
		buf_puts(out, ",\"marker\":null,\"link\":null");
	}
	put_place(out, &e);
	put_answer(out, &e);
	out->failed |= e.why.failed || location.failed;
	buf_free(&location);
	buf_free(&e.why);
}
