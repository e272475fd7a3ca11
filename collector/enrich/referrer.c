#include "collector/enrich/referrer.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "common/host.h"

static bool ends_host(char c)
{
	return c == '/' || c == '?' || c == '#' || c == '\\' || c == '\0';
}

/* Copies "[2001:db8::1]" with its brackets; only a port may follow. */
static bool copy_ipv6(const char *at, const char *stop, char *host)
{
	size_t n = 0;

	host[n++] = *at++;
	for (; at < stop && *at != ']'; at++) {
		if (n == INET6_ADDRSTRLEN ||
		    (!isxdigit((unsigned char)*at) && *at != ':' && *at != '.'))
			return false;
		host[n++] = (char)tolower((unsigned char)*at);
	}
	if (n < sizeof("[::") - 1 || at == stop ||
	    (at + 1 < stop && at[1] != ':'))
		return false;
	host[n++] = ']';
	host[n] = '\0';
	return true;
}

/* Copies the host of the text after "://".  Returns false if there is none. */
static bool copy_host(const char *at, const char *end, char *host)
{
	const char *stop = at;
	size_t n = 0;

	while (stop < end && !ends_host(*stop))
		stop++;
	for (const char *c = at; c < stop; c++)
		if (*c == '@')
			at = c + 1;
	if (at < stop && *at == '[')
		return copy_ipv6(at, stop, host);
	for (; at < stop && *at != ':'; at++) {
		char c = host_name_char(*at);

		if (n == REFERRER_HOST_MAX || !c)
			return false;
		host[n++] = c;
	}
	/* A name that ends in the root's dot is the same name. */
	if (n > 1 && host[n - 1] == '.')
		n--;
	host[n] = '\0';
	return n > 0;
}

/* Finds "://"; mostly there is only one, near the start. */
static const char *find_mark(const char *text, size_t len)
{
	const char *end = len ? text + len : text;

	for (const char *at = text; len > 2 && at && end - at > 2; at++) {
		at = memchr(at, ':', (size_t)(end - at) - 2);
		if (!at)
			return NULL;
		if (at[1] == '/' && at[2] == '/')
			return at;
	}
	return NULL;
}

/* `mark`: the position of "://". */
static bool is_scheme(const char *text, const char *mark, const char *scheme)
{
	size_t len = strlen(scheme);

	return (size_t)(mark - text) == len && !strncasecmp(text, scheme, len);
}

static bool is_app_scheme(const char *text, const char *mark)
{
	return is_scheme(text, mark, "ios-app") ||
	       is_scheme(text, mark, "android-app");
}

/* Only Android's apps are in lists. */
static const char *channel_of_app(const char *text, const char *mark,
				  const struct sources *sources,
				  struct referrer *r)
{
	r->is_app = true;
	if (is_scheme(text, mark, "android-app") &&
	    sources_find_app(sources, r->host, &r->source))
		return r->source.channel;
	return "app";
}

void referrer_parse(const char *text, size_t len, const char *own_domain,
		    const struct sources *sources,
		    struct referrer *ret_referrer)
{
	const char *mark = find_mark(text, len);
	struct referrer *r = ret_referrer;

	/* Clearing all of `host` would cost a quarter of a kilobyte per
	 * click. */
	r->host[0] = '\0';
	r->channel = "unknown";
	r->source = (struct source){0};
	r->is_app = false;
	if (!len)
		r->channel = "direct";
	else if (!mark || !copy_host(mark + 3, text + len, r->host))
		r->host[0] = '\0';
	else if (is_app_scheme(text, mark))
		r->channel = channel_of_app(text, mark, sources, r);
	else if (*own_domain && !strcmp(r->host, own_domain))
		r->channel = "internal";
	else if (sources_find(sources, r->host, &r->source))
		r->channel = r->source.channel;
	else
		r->channel = "referral";
}
