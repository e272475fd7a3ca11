#include "allocator/api/link_answer.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "common/clock.h"

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

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *time_or_null(int64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	if (ms == DURATION_NEVER)
		return json_null();
	return json_string(rfc3339_format(ms, text));
}

static json_t *tags_of(const Shortloop__Link *link)
{
	json_t *tags = json_array();

	for (size_t i = 0; i < link->n_tags; i++)
		json_array_append_new(tags, json_string(link->tags[i]));
	return tags;
}

char *link_answer_text(const struct link_view *view)
{
	const Shortloop__Link *link = view->link;
	char id[24], *text = NULL;
	json_t *root;

	snprintf(id, sizeof(id), "%" PRIu64, link->link_id);
	root = json_pack(
		"{s:s, s:s++, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:o, s:o, "
		"s:o, s:o, s:o}",
		"code", view->code, "short_url", view->base_url, "/",
		view->code, "link_id", id, "url", link->url, "ttl",
		link->ttl_class, "space", view->space, "generation",
		(int)link->generation, "version", (int)link->version, "state",
		state_name(link->state), "created_at",
		time_or_null((int64_t)link->created_ms), "expires_at",
		time_or_null(view->expires), "owner", text_or_null(link->owner),
		"campaign", text_or_null(link->campaign), "tags",
		tags_of(link));
	if (root)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
