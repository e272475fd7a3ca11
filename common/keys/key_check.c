#include "common/keys/key_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/http/problem_type.h"

static const char *role_name(enum api_role role)
{
	switch (role) {
	case API_READ_ALL:
		return "read' with accounts=*, or 'admin";
	case API_READ:
		return "read' or 'read-own";
	case API_VISITORS:
		return "visitors";
	case API_CREATE:
		return "create";
	case API_ADMIN:
		return "admin";
	case API_ANY_ROLE:
		break;
	}
	return "";
}

static void reply_unauthorized(struct http_request *req, const char *detail)
{
	static const struct http_field fields[] = {
		{"WWW-Authenticate", "Bearer realm=\"shortloop\""}, {0}};

	http_reply_problem(req, 401, fields, "%s", detail);
}

static void reply_forbidden(struct http_request *req, enum api_role role)
{
	static const struct http_field fields[] = {
		{"WWW-Authenticate",
		 "Bearer realm=\"shortloop\", error=\"insufficient_scope\""},
		{0}};

	http_reply_problem(req, 403, fields,
			   "this API key does not have the role '%s'",
			   role_name(role));
}

/* Answers with the fields of draft-ietf-httpapi-ratelimit-headers: a policy of
 * `burst` requests in the time that an empty bucket takes to fill. */
static void reply_limited(struct http_request *req,
			  const struct api_key_info *who, int64_t now,
			  int64_t wait_ms)
{
	struct rate_state state;
	char retry[24], policy[96], left[96], detail[API_KEY_NAME_MAX + 96];
	const struct http_field fields[] = {{"Retry-After", retry},
					    {"RateLimit-Policy", policy},
					    {"RateLimit", left},
					    {0}};

	rate_limiter_look(who->limiter, now, &state);
	snprintf(retry, sizeof(retry), "%" PRId64,
		 clock_whole_seconds(wait_ms));
	snprintf(policy, sizeof(policy), "\"key\";q=%" PRIu64 ";w=%" PRId64,
		 state.burst, clock_whole_seconds(state.window_ms));
	snprintf(left, sizeof(left), "\"key\";r=%" PRIu64 ";t=%" PRId64,
		 state.left, clock_whole_seconds(state.full_ms));
	metric_add(who->limited, 1);
	snprintf(detail, sizeof(detail),
		 "the API key '%s' sends too many requests: try again in "
		 "%" PRId64 " ms",
		 who->name, wait_ms);
	http_reply_typed_problem(req, 429, PROBLEM_RATE, fields, detail);
}

struct http_slice key_check_credentials(const struct http_request *req,
					const char *scheme)
{
	size_t skip = strlen(scheme);
	struct http_slice value = http_header_get(req, "Authorization");

	if (value.len <= skip || strncasecmp(value.data, scheme, skip) != 0 ||
	    value.data[skip] != ' ')
		return (struct http_slice){0};
	while (skip < value.len && value.data[skip] == ' ')
		skip++;
	return (struct http_slice){value.data + skip, value.len - skip};
}

bool key_check_take(struct http_request *req, const struct api_key_info *who,
		    unsigned cost)
{
	int64_t now = clock_monotonic_ns(), wait_ms;

	if (!cost || rate_limiter_take(who->limiter, cost, now, &wait_ms))
		return true;
	reply_limited(req, who, now, wait_ms);
	return false;
}

bool key_check(struct api_keyring *ring, struct http_request *req,
	       enum api_role role, unsigned cost, struct api_key_info *ret_who)
{
	struct http_slice key = key_check_credentials(req, "Bearer");

	if (!key.data || key.len == 0) {
		reply_unauthorized(req, "send an API key: Authorization: "
					"Bearer <key>");
		return false;
	}
	if (!api_keyring_find(ring, key.data, key.len, ret_who)) {
		reply_unauthorized(req, "this API key is not known here");
		return false;
	}
	if (!(ret_who->roles & role)) {
		reply_forbidden(req, role);
		return false;
	}
	return key_check_take(req, ret_who, cost);
}
