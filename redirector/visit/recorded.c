#include "redirector/visit/recorded.h"

#include <string.h>

#include "common/http/check.h"

static int check_name(const struct setting_strings *names, size_t index,
		      struct error *err)
{
	const char *name = names->items[index];
	size_t len = strlen(name);

	/* RFC 6265 requires a token of RFC 9110 as the name of a cookie. */
	if (len > CLICK_COOKIE_NAME_MAX || !check_is_token(name, len))
		return error_set(err, ERROR_CONFIG,
				 "redirector.record_cookies: '%.80s' is not a "
				 "cookie's name of 1 to %d characters",
				 name, CLICK_COOKIE_NAME_MAX);
	for (size_t i = 0; i < index; i++)
		if (!strcmp(names->items[i], name))
			return error_set(err, ERROR_CONFIG,
					 "redirector.record_cookies: '%s' is "
					 "there twice",
					 name);
	return 0;
}

int recorded_check(const struct redirector_settings *s, struct error *err)
{
	const struct setting_strings *names = &s->record_cookies;

	if (names->count > CLICK_COOKIES_MAX)
		return error_set(err, ERROR_CONFIG,
				 "redirector.record_cookies: %zu names, at "
				 "most %d are recorded",
				 names->count, CLICK_COOKIES_MAX);
	for (size_t i = 0; i < names->count; i++)
		if (check_name(names, i, err) < 0)
			return -1;
	return 0;
}

static void read_cookies(const struct setting_strings *names,
			 const struct http_request *req, struct recorded *room,
			 struct click *click)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		struct http_slice value = http_cookie_get(req, name);

		if (value.data)
			room->cookies[click->cookie_count++] =
				(struct click_cookie){name, value};
	}
	click->cookies = room->cookies;
}

/* {NULL, 0}: there is no such header, or more than one. */
static struct http_slice only_header(const struct http_request *req,
				     const char *name)
{
	struct http_slice found = {NULL, 0}, another;
	size_t at = 0;

	if (http_header_next(req, name, &at, &found) &&
	    http_header_next(req, name, &at, &another))
		return (struct http_slice){NULL, 0};
	return found;
}

void recorded_read(const struct redirector_settings *s,
		   const struct http_request *req, struct recorded *room,
		   struct click *click)
{
	if (s->record_cookies.count)
		read_cookies(&s->record_cookies, req, room, click);
	if (s->record_traceparent &&
	    traceparent_read(only_header(req, "traceparent"), room->trace_id))
		click->trace_id = (struct http_slice){
			(const char *)room->trace_id, TRACE_ID_SIZE};
}
