#include "collector/tools/access_log/access_visit.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "collector/tools/access_log/access_client.h"
#include "collector/tools/access_log/access_time.h"

static bool is(struct access_text t, const char *word)
{
	return t.len == strlen(word) && !memcmp(t.data, word, t.len);
}

/* What servers write when a client left before there was an answer. */
static bool is_no_status(struct access_text t)
{
	return is(t, "-") || is(t, "0") || is(t, "000") || is(t, "-1");
}

static int read_status(struct access_text t, struct access_visit *v,
		       struct error *err)
{
	unsigned status = 0;

	if (!t.len)
		return 0;
	v->unanswered = is_no_status(t);
	if (v->unanswered)
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

/* Proxies are asked for "GET http://host/path", and some servers log it so.
 * *ret_host is what stood before the path, or nothing. */
static struct access_text without_origin(struct access_text uri,
					 struct access_text *ret_host)
{
	const char *at = uri.len ? memmem(uri.data, uri.len, "://", 3) : NULL;
	const char *end, *slash;

	*ret_host = (struct access_text){0};
	if (!at || uri.data[0] == '/')
		return uri;
	at += 3;
	end = uri.data + uri.len;
	slash = memchr(at, '/', (size_t)(end - at));
	*ret_host =
		(struct access_text){at, (size_t)((slash ? slash : end) - at)};
	if (!slash)
		return (struct access_text){"/", 1};
	return (struct access_text){slash, (size_t)(end - slash)};
}

/* Splits path and query; what does not begin with a slash is no path. */
static void read_uri(struct access_text uri, struct access_visit *v)
{
	struct access_text query, host;

	uri = without_origin(uri, &host);
	if (!uri.len || uri.data[0] != '/')
		return;
	v->path = until(uri, '?', &query);
	if (query.len)
		v->query = query;
	if (host.len)
		v->host = host;
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

/* A day and a time of day are one time; a day that is a whole time is it. */
static int read_time(const struct access_text *t, const char *pattern,
		     bool local, int64_t *ret_ms, struct error *err)
{
	struct access_text date = t[ACCESS_DATE], time = t[ACCESS_TIME];
	char both[2 * ACCESS_TIME_MAX];
	struct error ignored = {0};

	if (!time.len)
		time = date;
	if (!time.len)
		return error_set(err, ERROR_INPUT, "it has no time");
	if (!date.len || time.data == date.data ||
	    time.len + date.len + 1 > sizeof(both) ||
	    access_time_read(time.data, time.len, pattern, local, ret_ms,
			     &ignored) == 0)
		return access_time_read(time.data, time.len, pattern, local,
					ret_ms, err);
	memcpy(both, date.data, date.len);
	both[date.len] = ' ';
	memcpy(both + date.len + 1, time.data, time.len);
	return access_time_read(both, date.len + 1 + time.len, pattern, local,
				ret_ms, err);
}

static void read_query(struct access_text query, struct access_visit *v)
{
	if (query.len)
		v->query = query;
	if (v->query.len && v->query.data[0] == '?')
		v->query = (struct access_text){v->query.data + 1,
						v->query.len - 1};
}

int access_visit_read(const struct access_fields *fields, const char *pattern,
		      const struct access_rules *rules,
		      struct access_visit *ret_visit, struct error *err)
{
	const struct access_text *t = fields->texts;
	struct access_visit v = {0};

	if (read_time(t, pattern, rules->local_times, &v.time_ms, err) < 0 ||
	    read_status(t[ACCESS_STATUS], &v, err) < 0 ||
	    access_client_read(fields, rules, &v, err) < 0)
		return -1;
	read_request(t[ACCESS_REQUEST], &v);
	if (t[ACCESS_METHOD].len)
		v.method = t[ACCESS_METHOD];
	if (t[ACCESS_URI].len)
		read_uri(t[ACCESS_URI], &v);
	read_query(t[ACCESS_QUERY], &v);
	v.referrer = t[ACCESS_REFERRER];
	v.user_agent = t[ACCESS_USER_AGENT];
	v.language = t[ACCESS_LANGUAGE];
	if (t[ACCESS_HOST].len)
		v.host = t[ACCESS_HOST];
	v.purpose = t[ACCESS_PURPOSE];
	*ret_visit = v;
	return 0;
}
