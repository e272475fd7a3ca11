#include "collector/tools/access_log/access_visit.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "collector/tools/access_log/access_time.h"
#include "common/ip.h"

/* A name (HostnameLookups On) is no address: the visit has none. */
static void read_address(struct access_text t, struct access_visit *v)
{
	char text[INET6_ADDRSTRLEN];

	if (t.len > 2 && t.data[0] == '[' && t.data[t.len - 1] == ']')
		t = (struct access_text){t.data + 1, t.len - 2};
	if (!t.len || t.len >= sizeof(text))
		return;
	memcpy(text, t.data, t.len);
	text[t.len] = '\0';
	v->ip_len = ip_parse(text, v->ip);
}

static int read_status(struct access_text t, struct access_visit *v,
		       struct error *err)
{
	unsigned status = 0;

	if (!t.len)
		return 0;
	for (size_t i = 0; i < t.len; i++)
		status = isdigit((unsigned char)t.data[i]) && t.len <= 3
				 ? status * 10 + (unsigned)(t.data[i] - '0')
				 : 1000;
	if (status > 999)
		return error_set(err, ERROR_INPUT, "not a status: '%.*s'",
				 (int)(t.len < 40 ? t.len : 40), t.data);
	v->status = status;
	return 0;
}

static struct access_text until(struct access_text t, char c,
				struct access_text *rest)
{
	const char *at = t.len ? memchr(t.data, c, t.len) : NULL;

	*rest = (struct access_text){0};
	if (!at)
		return t;
	*rest = (struct access_text){at + 1,
				     (size_t)(t.data + t.len - (at + 1))};
	t.len = (size_t)(at - t.data);
	return t;
}

/* Proxies are asked for "GET http://host/path", and servers are by scanners. */
static struct access_text without_origin(struct access_text uri)
{
	const char *at = uri.len ? memmem(uri.data, uri.len, "://", 3) : NULL;
	const char *end, *slash;

	if (!at || uri.data[0] == '/')
		return uri;
	end = uri.data + uri.len;
	slash = memchr(at + 3, '/', (size_t)(end - at - 3));
	if (!slash)
		return (struct access_text){"/", 1};
	return (struct access_text){slash, (size_t)(end - slash)};
}

/* Splits path and query; what does not begin with a slash is no path. */
static void read_uri(struct access_text uri, struct access_visit *v)
{
	struct access_text query;

	uri = without_origin(uri);
	if (!uri.len || uri.data[0] != '/')
		return;
	v->path = until(uri, '?', &query);
	if (query.len)
		v->query = query;
}

static bool is_method(struct access_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isupper((unsigned char)t.data[i]) && t.data[i] != '-' &&
		    t.data[i] != '_')
			return false;
	return t.len > 0;
}

/* What is not "METHOD URI" or "METHOD URI PROTOCOL" was no request. */
static void read_request(struct access_text request, struct access_visit *v)
{
	struct access_text uri, protocol;
	struct access_text method = until(request, ' ', &uri);

	if (!is_method(method))
		return;
	v->method = method;
	/* A server that is lenient logs blanks in a URI as they came. */
	for (size_t n = uri.len; n > 0; n--) {
		protocol = (struct access_text){uri.data + n, uri.len - n};
		if (uri.data[n - 1] != ' ')
			continue;
		if (protocol.len > 5 && !memcmp(protocol.data, "HTTP/", 5))
			uri.len = n - 1;
		break;
	}
	read_uri(uri, v);
}

int access_visit_read(const struct access_fields *fields, const char *pattern,
		      struct access_visit *ret_visit, struct error *err)
{
	const struct access_text *t = fields->texts;
	struct access_visit v = {0};

	if (!t[ACCESS_TIME].len)
		return error_set(err, ERROR_INPUT, "it has no time");
	if (access_time_read(t[ACCESS_TIME].data, t[ACCESS_TIME].len, pattern,
			     &v.time_ms, err) < 0 ||
	    read_status(t[ACCESS_STATUS], &v, err) < 0)
		return -1;
	read_address(t[ACCESS_ADDRESS], &v);
	read_request(t[ACCESS_REQUEST], &v);
	if (t[ACCESS_METHOD].len)
		v.method = t[ACCESS_METHOD];
	if (t[ACCESS_URI].len)
		read_uri(t[ACCESS_URI], &v);
	if (t[ACCESS_QUERY].len)
		v.query = t[ACCESS_QUERY];
	if (v.query.len && v.query.data[0] == '?')
		v.query =
			(struct access_text){v.query.data + 1, v.query.len - 1};
	v.referrer = t[ACCESS_REFERRER];
	v.user_agent = t[ACCESS_USER_AGENT];
	v.language = t[ACCESS_LANGUAGE];
	v.host = t[ACCESS_HOST];
	v.purpose = t[ACCESS_PURPOSE];
	*ret_visit = v;
	return 0;
}
