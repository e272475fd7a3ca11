#include "allocator/api/link_answer.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/json_text.h"

static const char *state_name(Shortloop__LinkState state)
{
	switch (state) {
	case SHORTLOOP__LINK_STATE__LINK_LIVE:
		return "live";
	case SHORTLOOP__LINK_STATE__LINK_DELETED:
		return "deleted";
	case SHORTLOOP__LINK_STATE__LINK_BLOCKED:
		return "blocked";
	default:
		return "unknown";
	}
}

/* `name` with its quotes, its colon and, but for the first, a comma. */
static void put_text(struct buf *out, const char *name, const char *text)
{
	buf_puts(out, name);
	if (text && *text)
		json_put_string(out, text, strlen(text));
	else
		buf_puts(out, "null");
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

void link_answer_write(const struct link_view *view, struct buf *out)
{
	const Shortloop__Link *link = view->link;

	put_text(out, "{\"code\":", view->code);
	/* The base URL comes from the configuration and the code is made of
	 * letters and digits: neither needs escaping. */
	buf_printf(out, ",\"short_url\":\"%s/%s\",\"link_id\":\"%" PRIu64 "\"",
		   view->base_url, view->code, link->link_id);
	put_text(out, ",\"url\":", link->url);
	put_text(out, ",\"ttl\":", link->ttl_class);
	put_text(out, ",\"space\":", view->space);
	buf_printf(out,
		   ",\"generation\":%" PRIu32 ",\"version\":%" PRIu32
		   ",\"state\":\"%s\"",
		   link->generation, link->version, state_name(link->state));
	put_time(out, ",\"created_at\":", (int64_t)link->created_ms);
	put_time(out, ",\"expires_at\":", view->expires);
	put_text(out, ",\"owner\":", link->owner);
	put_text(out, ",\"campaign\":", link->campaign);
	put_tags(out, link);
	buf_putc(out, '}');
}
