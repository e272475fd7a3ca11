#include "aggregator/api/share.h"

#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "common/clock.h"

#define DAY INT64_C(86400)

bool share_id_is_valid(const char *id)
{
	return strlen(id) == SHARE_ID_MAX - 1 &&
	       strspn(id, "0123456789abcdef") == SHARE_ID_MAX - 1;
}

/* --- the stored text ------------------------------------------------------ */

static bool copy_text(const json_t *from, const char *name, char *to,
		      size_t size)
{
	const char *text = json_string_value(json_object_get(from, name));

	if (!text || strlen(text) >= size)
		return false;
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static bool take_number(const json_t *from, const char *name, int64_t least,
			int64_t *to)
{
	const json_t *number = json_object_get(from, name);

	if (!json_is_integer(number) || json_integer_value(number) < least)
		return false;
	*to = json_integer_value(number);
	return true;
}

static bool take_digest(const json_t *from, unsigned char to[API_KEY_DIGEST])
{
	const char *hex =
		json_string_value(json_object_get(from, "key_digest"));
	size_t len = 0;

	return hex && strlen(hex) == (size_t)2 * API_KEY_DIGEST &&
	       sodium_hex2bin(to, API_KEY_DIGEST, hex, strlen(hex), NULL, &len,
			      NULL) == 0 &&
	       len == API_KEY_DIGEST;
}

static bool take_link(const json_t *from, struct share *to)
{
	const char *id = json_string_value(json_object_get(from, "link_id"));
	char *end;

	if (!id || !*id || !copy_text(from, "code", to->code, sizeof(to->code)))
		return false;
	to->link_id = strtoull(id, &end, 10);
	return !*end;
}

static bool are_texts(json_t *of, bool is_list)
{
	const char *name;
	json_t *value;
	size_t i;

	if (is_list) {
		json_array_foreach(
			of, i, value) if (!json_is_string(value)) return false;
		return json_is_array(of);
	}
	json_object_foreach(of, name,
			    value) if (!json_is_string(value)) return false;
	return json_is_object(of);
}

static bool take_lists(const json_t *from, struct share *to)
{
	json_t *filters = json_object_get(from, "filters");
	json_t *owners = json_object_get(from, "owners");

	if (!are_texts(filters, false) ||
	    (!json_is_null(owners) && !are_texts(owners, true)))
		return false;
	to->filters = json_incref(filters);
	if (!json_is_null(owners))
		to->owners = json_incref(owners);
	return true;
}

static bool take_members(const json_t *from, struct share *to)
{
	return copy_text(from, "id", to->id, sizeof(to->id)) &&
	       share_id_is_valid(to->id) &&
	       copy_text(from, "digest", to->digest, sizeof(to->digest)) &&
	       copy_text(from, "password", to->password,
			 sizeof(to->password)) &&
	       copy_text(from, "key", to->key, sizeof(to->key)) &&
	       take_digest(from, to->key_digest) &&
	       copy_text(from, "account", to->account, sizeof(to->account)) &&
	       copy_text(from, "listed", to->listed, sizeof(to->listed)) &&
	       take_link(from, to) && take_lists(from, to) &&
	       take_number(from, "from", -1, &to->from) &&
	       take_number(from, "to", -1, &to->to) &&
	       take_number(from, "last_days", 0, &to->last_days) &&
	       take_number(from, "created_at", 0, &to->created_at) &&
	       take_number(from, "expires_at", 0, &to->expires_at);
}

struct share *share_parse(const char *text, size_t len, struct error *err)
{
	json_t *from = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct share *share = calloc(1, sizeof(*share));

	if (!share) {
		error_set_nomem(err);
	} else if (!take_members(from, share)) {
		error_set(err, ERROR_DAMAGED,
			  "a share in Redis cannot be read");
		share_free(share);
		share = NULL;
	}
	json_decref(from);
	return share;
}

json_t *share_to_json(const struct share *s)
{
	char digest[2 * API_KEY_DIGEST + 1];

	sodium_bin2hex(digest, sizeof(digest), s->key_digest, API_KEY_DIGEST);
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:O, s:o, s:I, "
		"s:I, s:I, s:I, s:I}",
		"id", s->id, "digest", s->digest, "password", s->password,
		"key", s->key, "key_digest", digest, "account", s->account,
		"listed", s->listed, "link_id", json_id(s->link_id), "code",
		s->code, "filters", s->filters, "owners",
		s->owners ? json_incref(s->owners) : json_null(), "from",
		(json_int_t)s->from, "to", (json_int_t)s->to, "last_days",
		(json_int_t)s->last_days, "created_at",
		(json_int_t)s->created_at, "expires_at",
		(json_int_t)s->expires_at);
}

/* --- views ---------------------------------------------------------------- */

static json_t *bound_to_json(int64_t seconds)
{
	return seconds < 0 ? json_null() : json_time(seconds * 1000);
}

json_t *share_to_view(const struct share *s)
{
	return json_pack(
		"{s:s, s:o, s:o, s:O, s:o, s:o, s:o, s:o}", "id", s->id, "code",
		s->link_id ? json_string(s->code) : json_null(), "link_id",
		s->link_id ? json_id(s->link_id) : json_null(), "filters",
		s->filters, "from", bound_to_json(s->from), "to",
		bound_to_json(s->to), "last_days",
		s->last_days ? json_integer(s->last_days) : json_null(),
		"expires_at", json_time(s->expires_at));
}

json_t *share_to_list(const struct share *s)
{
	json_t *view = share_to_view(s);
	json_t *more = json_pack(
		"{s:o, s:s, s:o, s:b}", "account",
		*s->account ? json_string(s->account) : json_null(),
		"created_by", s->key, "created_at", json_time(s->created_at),
		"has_password", *s->password != '\0');

	if (!view || !more || json_object_update(view, more) < 0) {
		json_decref(view);
		view = NULL;
	}
	json_decref(more);
	return view;
}

/* --- bounds --------------------------------------------------------------- */

bool share_filter_is_bound(const struct share *share, const char *name,
			   const char *values)
{
	if (!*share->account)
		return false;
	return !strcmp(name, "account") ||
	       (!strcmp(name, "owner") && *values != '-');
}

bool share_has_range(const struct share *share)
{
	return share->last_days || share->from >= 0 || share->to >= 0;
}

void share_range(const struct share *share, int64_t now, int64_t *ret_from,
		 int64_t *ret_to)
{
	int64_t today = now / CLOCK_DAY * DAY;

	*ret_from = share->from < 0 ? 0 : share->from;
	*ret_to = share->to < 0 ? INT64_MAX : share->to;
	if (share->last_days)
		*ret_from = today - (share->last_days - 1) * DAY;
}

void share_release(struct share *share)
{
	json_decref(share->filters);
	json_decref(share->owners);
	key_names_free(share->narrowed);
	*share = (struct share){0};
}

void share_free(struct share *share)
{
	if (share)
		share_release(share);
	free(share);
}
