#include "collector/tools/access_log/access_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct access_name {
	const char *name;
	enum access_field field;
};

/* Headers of requests, for all formats. */
static const struct access_name headers[] = {
	{"Referer", ACCESS_REFERRER},
	{"User-Agent", ACCESS_USER_AGENT},
	{"Accept-Language", ACCESS_LANGUAGE},
	{"Host", ACCESS_HOST},
	{"Sec-Purpose", ACCESS_PURPOSE},
	{"Purpose", ACCESS_PURPOSE},
	{"X-Purpose", ACCESS_PURPOSE},
	{"X-Moz", ACCESS_PURPOSE},
	{"X-Forwarded-For", ACCESS_FORWARDED},
	{"X-Original-Forwarded-For", ACCESS_FORWARDED},
	{"Forwarded", ACCESS_FORWARDED},
	{"X-Real-IP", ACCESS_FORWARDED},
	{"X-Client-IP", ACCESS_FORWARDED},
	{"X-Cluster-Client-IP", ACCESS_FORWARDED},
	{"CF-Connecting-IP", ACCESS_CLIENT},
	{"CF-Connecting-IPv6", ACCESS_CLIENT},
	{"True-Client-IP", ACCESS_CLIENT},
	{"Fastly-Client-IP", ACCESS_CLIENT},
	{"Fly-Client-IP", ACCESS_CLIENT},
	{"X-Azure-ClientIP", ACCESS_CLIENT},
	{"X-Appengine-User-IP", ACCESS_CLIENT},
	{"X-Envoy-External-Address", ACCESS_CLIENT},
	{"CloudFront-Viewer-Address", ACCESS_CLIENT},
	{NULL, ACCESS_PASSED},
};

/* nginx's variables; $http_NAME is any header. */
static const struct access_name variables[] = {
	{"remote_addr", ACCESS_ADDRESS},
	{"proxy_protocol_addr", ACCESS_CLIENT},
	{"proxy_add_x_forwarded_for", ACCESS_FORWARDED},
	{"time_local", ACCESS_TIME},
	{"time_iso8601", ACCESS_TIME},
	{"msec", ACCESS_TIME},
	{"request", ACCESS_REQUEST},
	{"request_method", ACCESS_METHOD},
	{"request_uri", ACCESS_URI},
	{"uri", ACCESS_URI},
	{"document_uri", ACCESS_URI},
	{"args", ACCESS_QUERY},
	{"query_string", ACCESS_QUERY},
	{"status", ACCESS_STATUS},
	{"host", ACCESS_HOST},
	{"server_name", ACCESS_HOST},
	{NULL, ACCESS_PASSED},
};

/* If several keys have the same field, the first in this list counts. */
static const struct access_name keys[] = {
	/* Caddy; its request.headers.NAME are headers. */
	{"request.client_ip", ACCESS_CLIENT},
	{"request.remote_ip", ACCESS_ADDRESS},
	{"request.remote_addr", ACCESS_ADDRESS},
	{"request.method", ACCESS_METHOD},
	{"request.uri", ACCESS_URI},
	{"request.host", ACCESS_HOST},
	/* Traefik; its request_NAME are headers. */
	{"ClientHost", ACCESS_ADDRESS},
	{"ClientAddr", ACCESS_ADDRESS},
	{"StartUTC", ACCESS_TIME},
	{"StartLocal", ACCESS_TIME},
	{"RequestMethod", ACCESS_METHOD},
	{"RequestPath", ACCESS_URI},
	{"RequestHost", ACCESS_HOST},
	{"RequestAddr", ACCESS_HOST},
	{"DownstreamStatus", ACCESS_STATUS},
	{"OriginStatus", ACCESS_STATUS},
	/* Cloudflare's Logpush */
	{"ClientIP", ACCESS_ADDRESS},
	{"EdgeStartTimestamp", ACCESS_TIME},
	{"ClientRequestMethod", ACCESS_METHOD},
	{"ClientRequestURI", ACCESS_URI},
	{"ClientRequestPath", ACCESS_URI},
	{"ClientRequestHost", ACCESS_HOST},
	{"ClientRequestReferer", ACCESS_REFERRER},
	{"ClientRequestUserAgent", ACCESS_USER_AGENT},
	{"EdgeResponseStatus", ACCESS_STATUS},
	/* Google Cloud's load balancers */
	{"httpRequest.remoteIp", ACCESS_ADDRESS},
	{"httpRequest.requestMethod", ACCESS_METHOD},
	{"httpRequest.requestUrl", ACCESS_URI},
	{"httpRequest.status", ACCESS_STATUS},
	{"httpRequest.referer", ACCESS_REFERRER},
	{"httpRequest.userAgent", ACCESS_USER_AGENT},
	/* Azure Front Door */
	{"properties.clientIp", ACCESS_ADDRESS},
	{"properties.httpMethod", ACCESS_METHOD},
	{"properties.requestUri", ACCESS_URI},
	{"properties.httpStatusCode", ACCESS_STATUS},
	{"properties.referer", ACCESS_REFERRER},
	{"properties.userAgent", ACCESS_USER_AGENT},
	{"properties.hostName", ACCESS_HOST},
	/* Akamai's DataStream */
	{"cliIP", ACCESS_ADDRESS},
	{"XForwardedFor", ACCESS_FORWARDED},
	{"reqTimeSec", ACCESS_TIME},
	{"reqMethod", ACCESS_METHOD},
	{"reqPath", ACCESS_URI},
	{"queryStr", ACCESS_QUERY},
	{"reqHost", ACCESS_HOST},
	{"UA", ACCESS_USER_AGENT},
	{"statusCode", ACCESS_STATUS},
	/* The Elastic Common Schema */
	{"client.ip", ACCESS_ADDRESS},
	{"client.address", ACCESS_ADDRESS},
	{"source.ip", ACCESS_ADDRESS},
	{"source.address", ACCESS_ADDRESS},
	{"http.request.method", ACCESS_METHOD},
	{"http.request.referrer", ACCESS_REFERRER},
	{"http.response.status_code", ACCESS_STATUS},
	{"url.original", ACCESS_URI},
	{"url.path", ACCESS_URI},
	{"url.query", ACCESS_QUERY},
	{"url.domain", ACCESS_HOST},
	{"user_agent.original", ACCESS_USER_AGENT},
	/* pino-http and its like; their req.headers.NAME are headers. */
	{"req.remoteAddress", ACCESS_ADDRESS},
	{"req.method", ACCESS_METHOD},
	{"req.url", ACCESS_URI},
	{"res.statusCode", ACCESS_STATUS},
	/* CloudFront's logs in JSON, and Envoy's and Istio's */
	{"timestamp(ms)", ACCESS_TIME},
	{"start_time", ACCESS_TIME},
	{"downstream_remote_address", ACCESS_ADDRESS},
	{"authority", ACCESS_HOST},
	{"response_code", ACCESS_STATUS},
	/* generic names */
	{"client_ip", ACCESS_ADDRESS},
	{"clientip", ACCESS_ADDRESS},
	{"client", ACCESS_ADDRESS},
	{"ip", ACCESS_ADDRESS},
	{"remote_ip", ACCESS_ADDRESS},
	{"remoteIp", ACCESS_ADDRESS},
	{"x_forwarded_for", ACCESS_FORWARDED},
	{"real_ip", ACCESS_FORWARDED},
	{"time", ACCESS_TIME},
	{"@timestamp", ACCESS_TIME},
	{"timestamp", ACCESS_TIME},
	{"datetime", ACCESS_TIME},
	{"ts", ACCESS_TIME},
	{"date", ACCESS_DATE},
	{"method", ACCESS_METHOD},
	{"verb", ACCESS_METHOD},
	{"url", ACCESS_URI},
	{"path", ACCESS_URI},
	{"query", ACCESS_QUERY},
	{"status_code", ACCESS_STATUS},
	{"referer", ACCESS_REFERRER},
	{"referrer", ACCESS_REFERRER},
	{"http_referrer", ACCESS_REFERRER},
	{"user_agent", ACCESS_USER_AGENT},
	{"userAgent", ACCESS_USER_AGENT},
	{"useragent", ACCESS_USER_AGENT},
	{"agent", ACCESS_USER_AGENT},
	{"accept_language", ACCESS_LANGUAGE},
	{"domain", ACCESS_HOST},
	{"vhost", ACCESS_HOST},
	{"purpose", ACCESS_PURPOSE},
	{NULL, ACCESS_PASSED},
};

/* The W3C's extended format; cs(NAME) is any header. */
static const struct access_name columns[] = {
	{"c-ip", ACCESS_ADDRESS},
	{"x-forwarded-for", ACCESS_FORWARDED},
	{"date", ACCESS_DATE},
	{"time", ACCESS_TIME},
	{"cs-method", ACCESS_METHOD},
	{"cs-uri", ACCESS_URI},
	{"cs-uri-stem", ACCESS_URI},
	{"cs-uri-query", ACCESS_QUERY},
	{"sc-status", ACCESS_STATUS},
	/* CloudFront: the host that the visitor requested; cs(Host) is
	 * CloudFront's own name. */
	{"x-host-header", ACCESS_HOST},
	{"cs-host", ACCESS_HOST},
	{NULL, ACCESS_PASSED},
};

static const struct access_name fields[] = {
	{"address", ACCESS_ADDRESS},   {"forwarded", ACCESS_FORWARDED},
	{"client", ACCESS_CLIENT},     {"time", ACCESS_TIME},
	{"date", ACCESS_DATE},	       {"request", ACCESS_REQUEST},
	{"method", ACCESS_METHOD},     {"uri", ACCESS_URI},
	{"query", ACCESS_QUERY},       {"status", ACCESS_STATUS},
	{"referrer", ACCESS_REFERRER}, {"user_agent", ACCESS_USER_AGENT},
	{"language", ACCESS_LANGUAGE}, {"host", ACCESS_HOST},
	{"purpose", ACCESS_PURPOSE},   {NULL, ACCESS_PASSED},
};

static const struct access_name *find_row(const struct access_name *names,
					  const char *name, size_t len)
{
	while (names->name && (strlen(names->name) != len ||
			       strncasecmp(names->name, name, len) != 0))
		names++;
	return names;
}

static enum access_field find_field(const struct access_name *names,
				    const char *name, size_t len)
{
	return find_row(names, name, len)->field;
}

/* Finds a header whose dashes may be written as underscores. */
static const struct access_name *find_header(const char *name, size_t len)
{
	char dashed[64];

	if (len >= sizeof(dashed))
		len = 0;
	for (size_t i = 0; i < len; i++)
		dashed[i] = name[i] == '_' ? '-' : name[i];
	return find_row(headers, dashed, len);
}

/* Letters whose meaning does not depend on the braces before them. */
static const struct {
	char letter;
	enum access_field field;
} letters[] = {
	{'h', ACCESS_ADDRESS}, {'a', ACCESS_ADDRESS}, {'t', ACCESS_TIME},
	{'r', ACCESS_REQUEST}, {'m', ACCESS_METHOD},  {'U', ACCESS_URI},
	{'q', ACCESS_QUERY},   {'s', ACCESS_STATUS},  {'v', ACCESS_HOST},
	{'V', ACCESS_HOST},
};

enum access_field access_field_of_directive(char letter, const char *argument,
					    size_t len)
{
	if (letter == 'i')
		return find_field(headers, argument, len);
	/* %{c}a is the connected peer, which may be a proxy. */
	if (letter == 'a' && len)
		return ACCESS_PASSED;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter)
			return letters[i].field;
	return ACCESS_PASSED;
}

static bool name_has_prefix(const char *name, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len > n && !strncasecmp(name, with, n);
}

enum access_field access_field_of_variable(const char *name, size_t len)
{
	if (name_has_prefix(name, len, "http_"))
		return find_header(name + 5, len - 5)->field;
	return find_field(variables, name, len);
}

enum access_field access_field_of_column(const char *name, size_t len,
					 unsigned *ret_rank)
{
	const struct access_name *row = find_row(columns, name, len);

	*ret_rank = (unsigned)(row - columns);
	if (!row->name && name_has_prefix(name, len, "cs(") &&
	    name[len - 1] == ')')
		return find_field(headers, name + 3, len - 4);
	return row->field;
}

/* Finds the header of the request in a key: "request.headers.User-Agent",
 * "request_User-Agent", "http_user_agent", "cs(User-Agent)". */
static const struct access_name *find_header_key(const char *name, size_t len)
{
	static const char *const before[] = {"request.headers.",
					     "req.headers.",
					     "request_headers.",
					     "headers.",
					     "request_",
					     "http_",
					     NULL};

	for (size_t i = 0; before[i]; i++) {
		size_t n = strlen(before[i]);
		const struct access_name *row;

		if (!name_has_prefix(name, len, before[i]))
			continue;
		row = find_header(name + n, len - n);
		if (row->name)
			return row;
	}
	return find_row(headers, "", 0);
}

enum access_field access_field_of_key(const char *name, size_t len,
				      unsigned *ret_rank)
{
	const struct access_name *row = find_row(variables, name, len);
	unsigned rank;

	*ret_rank = (unsigned)(row - variables);
	if (row->name)
		return row->field;
	row = find_row(keys, name, len);
	*ret_rank += (unsigned)(row - keys);
	if (row->name)
		return row->field;
	row = find_header_key(name, len);
	if (row->name)
		return row->field;
	return access_field_of_column(name, len, &rank);
}

enum access_field access_field_by_name(const char *name, size_t len)
{
	return find_field(fields, name, len);
}

void access_field_put_names(struct buf *to)
{
	for (const struct access_name *row = fields; row->name; row++)
		buf_printf(to, "%s%s", row == fields ? "" : ", ", row->name);
}
