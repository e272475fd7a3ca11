#include "allocator/link/link_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/json_text.h"
#include "linkstore/link/names.h"

/* `name` has its quotes, its colon and, except for the first, a comma. */
static void put_text(struct buf *out, const char *name, const char *text)
{
	buf_puts(out, name);
	if (text && *text)
		json_put_string(out, text, strlen(text));
	else
		buf_puts(out, "null");
}

static void put_number(struct buf *out, const char *name, uint64_t number)
{
	buf_puts(out, name);
	buf_put_uint(out, number);
}

static void put_time(struct buf *out, const char *name, int64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	put_text(out, name,
		 ms == DURATION_NEVER ? NULL : rfc3339_format(ms, text));
}

static void put_tags(struct buf *out, const Shortloop__Link *link)
{
	buf_puts(out, ",\"tags\":[");
	for (size_t i = 0; i < link->n_tags; i++) {
		if (i)
			buf_putc(out, ',');
		json_put_string(out, link->tags[i], strlen(link->tags[i]));
	}
	buf_putc(out, ']');
}

/* Writes a target that is a page: `name` with the URL that it opens, and the
 * fallback. */
static void put_page(struct buf *out, const char *name, const char *opens,
		     const Shortloop__Target *target)
{
	put_text(out, name, opens);
	put_text(out, ",\"fallback\":", target->url);
	buf_putc(out, '}');
}

static void put_target(struct buf *out, const Shortloop__Target *target)
{
	buf_putc(out, '"');
	buf_puts(out, link_device_name(target->device));
	if (*target->app)
		put_page(out, "\":{\"app\":", target->app, target);
	else if (*target->mini_program)
		put_page(out, "\":{\"mini_program\":", target->mini_program,
			 target);
	else
		put_text(out, "\":", target->url);
}

static void put_targets(struct buf *out, const Shortloop__Link *link)
{
	buf_puts(out, ",\"targets\":{");
	for (size_t i = 0; i < link->n_targets; i++) {
		if (i)
			buf_putc(out, ',');
		put_target(out, link->targets[i]);
	}
	buf_putc(out, '}');
}

/* 0 stands for a time or a number that was not given. */
static void put_optional_time(struct buf *out, const char *name, uint64_t ms)
{
	put_time(out, name, ms ? (int64_t)ms : DURATION_NEVER);
}

static void put_behaviour(struct buf *out, const Shortloop__Link *link)
{
	put_targets(out, link);
	put_number(out, ",\"redirect_status\":",
		   link_redirect_status(link->redirect_status));
	put_optional_time(out, ",\"not_before\":", link->not_before_ms);
	if (link->max_visits)
		put_number(out, ",\"max_visits\":", link->max_visits);
	else
		buf_puts(out, ",\"max_visits\":null");
	put_text(out,
		 ",\"pass_query\":", link_query_pass_name(link->query_pass));
	buf_puts(out, link->path_pass ? ",\"pass_path\":true"
				      : ",\"pass_path\":false");
	put_text(out, ",\"domain\":", link->domain);
}

static void put_people(struct buf *out, const Shortloop__Link *link)
{
	put_text(out, ",\"description\":", link->description);
	put_text(out, ",\"account\":", link->account);
	put_text(out, ",\"creator\":", link->creator);
	put_text(out, ",\"editor\":", link->editor);
	put_optional_time(out, ",\"changed_at\":", link->changed_ms);
}

const char *link_view_base_url(const struct link_rules *rules,
			       const Shortloop__Link *link)
{
	return domains_base_url(rules->domains, link->domain);
}

int64_t link_view_expires(int64_t left)
{
	return left == DURATION_NEVER ? DURATION_NEVER : clock_real_ms() + left;
}

const char *link_view_etag(const Shortloop__Link *link, char tag[LINK_ETAG_MAX])
{
	snprintf(tag, LINK_ETAG_MAX, "\"%" PRIx64 "-%" PRIu32 "\"",
		 link->link_id, link->version);
	return tag;
}

void link_view_write(const struct link_view *view, struct buf *out)
{
	const Shortloop__Link *link = view->link;

	put_text(out, "{\"code\":", view->code);
	/* Nothing to escape: the base URL comes from the configuration, the
	 * code is letters and digits. */
	buf_puts(out, ",\"short_url\":\"");
	buf_puts(out, view->base_url);
	buf_putc(out, '/');
	buf_puts(out, view->code);
	put_number(out, "\",\"link_id\":\"", link->link_id);
	put_text(out, "\",\"url\":", link->url);
	put_text(out, ",\"ttl\":", link->ttl_class);
	put_text(out, ",\"space\":", view->space);
	put_number(out, ",\"generation\":", link->generation);
	put_number(out, ",\"version\":", link->version);
	put_text(out, ",\"state\":", link_state_name(link->state));
	put_time(out, ",\"created_at\":", (int64_t)link->created_ms);
	put_time(out, ",\"expires_at\":", view->expires);
	put_text(out, ",\"owner\":", link->owner);
	put_text(out, ",\"campaign\":", link->campaign);
	put_tags(out, link);
	put_behaviour(out, link);
	put_people(out, link);
	buf_putc(out, '}');
}
