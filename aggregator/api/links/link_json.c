#include "aggregator/api/links/link_json.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/api/links/links_query.h"
#include "aggregator/api/links/links_sql.h"
#include "aggregator/api/links/redis_links.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "linkstore/link/names.h"

/* --- a row of the archive ---------------------------------------------------
 */

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *number_or_null(uint64_t number)
{
	return number ? json_count(number) : json_null();
}

static json_t *parse_json_text(const char *text)
{
	return json_loads(text, JSON_ALLOW_NUL, NULL);
}

static json_t *short_url_to_json(char *const *f, const struct domains *domains)
{
	return domains ? json_sprintf(
				 "%s/%s",
				 domains_base_url(domains, f[LINKS_ROW_DOMAIN]),
				 f[LINKS_ROW_CODE])
		       : json_null();
}

json_t *link_row_to_json(char *const *f, const struct domains *domains)
{
	return json_pack(
		"{s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o, s:o, "
		"s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, "
		"s:b, "
		"s:o, s:o}",
		"code", f[LINKS_ROW_CODE], "short_url",
		short_url_to_json(f, domains), "link_id",
		json_id(tsv_u64(f[LINKS_ROW_LINK_ID])), "url", f[LINKS_ROW_URL],
		"ttl", f[LINKS_ROW_TTL], "space", f[LINKS_ROW_SPACE], "state",
		f[LINKS_ROW_STATE], "generation",
		(int)tsv_u64(f[LINKS_ROW_GENERATION]), "version",
		(int)tsv_u64(f[LINKS_ROW_VERSION]), "current",
		(int)tsv_u64(f[LINKS_ROW_CURRENT]), "created_at",
		json_time(tsv_i64(f[LINKS_ROW_CREATED_AT])), "changed_at",
		json_time(tsv_i64(f[LINKS_ROW_CHANGED_AT])), "expires_at",
		json_time(tsv_i64(f[LINKS_ROW_EXPIRES_AT])), "reclaimed_at",
		json_time(tsv_i64(f[LINKS_ROW_RECLAIMED_AT])), "not_before",
		json_time(tsv_i64(f[LINKS_ROW_NOT_BEFORE])), "owner",
		text_or_null(f[LINKS_ROW_OWNER]), "account",
		text_or_null(f[LINKS_ROW_ACCOUNT]), "campaign",
		text_or_null(f[LINKS_ROW_CAMPAIGN]), "domain",
		text_or_null(f[LINKS_ROW_DOMAIN]), "description",
		text_or_null(f[LINKS_ROW_DESCRIPTION]), "creator",
		text_or_null(f[LINKS_ROW_CREATOR]), "editor",
		text_or_null(f[LINKS_ROW_EDITOR]), "max_visits",
		number_or_null(tsv_u64(f[LINKS_ROW_MAX_VISITS])),
		"redirect_status",
		(int)link_redirect_status(
			(uint32_t)tsv_u64(f[LINKS_ROW_REDIRECT_STATUS])),
		"pass_query", f[LINKS_ROW_PASS_QUERY], "pass_path",
		(int)tsv_u64(f[LINKS_ROW_PASS_PATH]), "tags",
		parse_json_text(f[LINKS_ROW_TAGS]), "targets",
		parse_json_text(f[LINKS_ROW_TARGETS]));
}

/* --- what Redis knows -------------------------------------------------------
 */

static const char *text_of(const json_t *link, const char *name)
{
	const char *text = json_string_value(json_object_get(link, name));

	return text ? text : "";
}

static bool is_expired(const json_t *link)
{
	return !strcmp(text_of(link, "state"), LINKS_STATE_EXPIRED);
}

/* The code of another link has what Redis knows of that one. */
static bool needs_redis(const json_t *link)
{
	return json_is_true(json_object_get(link, "current")) &&
	       (is_expired(link) ||
		json_is_integer(json_object_get(link, "max_visits")));
}

static bool is_life_of(const struct redis_link_life *life, const json_t *link)
{
	return life->known && life->link_id &&
	       life->link_id == strtoull(text_of(link, "link_id"), NULL, 10);
}

static int apply_life(json_t *link, const struct redis_link_life *life)
{
	if (!is_life_of(life, link))
		return 0;
	if (json_is_integer(json_object_get(link, "max_visits")) &&
	    json_object_set_new(link, "visits", json_count(life->visits)) < 0)
		return -1;
	if (!is_expired(link))
		return 0;
	if (json_object_set_new(link, "state",
				json_string(link_state_name(life->state))) < 0)
		return -1;
	return json_object_set_new(link, "expires_at",
				   json_time(redis_links_end(life->ttl_left)));
}

/* Reads what Redis knows of those that need it.  Without an answer the
 * archive's state stands, and the visits are unknown. */
static int read_lives(struct call *call, json_t *links,
		      struct redis_link_life *lives)
{
	struct error ignored = {0};
	size_t count = 0, i;
	json_t *link;

	json_array_foreach(links, i, link)
	{
		if (needs_redis(link))
			lives[count++].code = text_of(link, "code");
	}
	if (count && call->redis)
		redis_links_read_lives(call->redis, lives, count, &ignored);
	count = 0;
	json_array_foreach(links, i, link)
	{
		if (json_object_set_new(link, "visits", json_null()) < 0 ||
		    (needs_redis(link) && apply_life(link, &lives[count++])))
			return -1;
	}
	return 0;
}

static void remove_others(json_t *links, const char *state)
{
	for (size_t i = json_array_size(links); i-- > 0;)
		if (strcmp(text_of(json_array_get(links, i), "state"), state) !=
		    0)
			json_array_remove(links, i);
}

int links_json_add_life(struct call *call, json_t *links, const char *state,
			struct error *err)
{
	size_t count = json_array_size(links);
	struct redis_link_life *lives =
		calloc(count ? count : 1, sizeof(*lives));
	int status = lives ? read_lives(call, links, lives) : -1;

	free(lives);
	if (status < 0)
		return error_set_nomem(err);
	if (state)
		remove_others(links, state);
	return 0;
}
