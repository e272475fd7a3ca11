#include "collector/tools/access_log/access_names.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct name {
	const char *name;
	enum access_field field;
};

static const struct name headers[] = {
	{"Referer", ACCESS_REFERRER},
	{"User-Agent", ACCESS_USER_AGENT},
	{"Accept-Language", ACCESS_LANGUAGE},
	{"Host", ACCESS_HOST},
	{"Sec-Purpose", ACCESS_PURPOSE},
	{"Purpose", ACCESS_PURPOSE},
	{"X-Purpose", ACCESS_PURPOSE},
	{"X-Moz", ACCESS_PURPOSE},
	{NULL, ACCESS_PASSED},
};

static const struct name variables[] = {
	{"remote_addr", ACCESS_ADDRESS},
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
	{"http_referer", ACCESS_REFERRER},
	{"http_user_agent", ACCESS_USER_AGENT},
	{"http_accept_language", ACCESS_LANGUAGE},
	{"host", ACCESS_HOST},
	{"http_host", ACCESS_HOST},
	{"server_name", ACCESS_HOST},
	{"http_sec_purpose", ACCESS_PURPOSE},
	{"http_purpose", ACCESS_PURPOSE},
	{"http_x_purpose", ACCESS_PURPOSE},
	{"http_x_moz", ACCESS_PURPOSE},
	{NULL, ACCESS_PASSED},
};

static const struct name keys[] = {
	{"client_ip", ACCESS_ADDRESS},
	{"clientip", ACCESS_ADDRESS},
	{"client", ACCESS_ADDRESS},
	{"ip", ACCESS_ADDRESS},
	{"remote_ip", ACCESS_ADDRESS},
	{"time", ACCESS_TIME},
	{"@timestamp", ACCESS_TIME},
	{"timestamp", ACCESS_TIME},
	{"ts", ACCESS_TIME},
	{"method", ACCESS_METHOD},
	{"url", ACCESS_URI},
	{"path", ACCESS_URI},
	{"query", ACCESS_QUERY},
	{"status_code", ACCESS_STATUS},
	{"referer", ACCESS_REFERRER},
	{"referrer", ACCESS_REFERRER},
	{"http_referrer", ACCESS_REFERRER},
	{"user_agent", ACCESS_USER_AGENT},
	{"agent", ACCESS_USER_AGENT},
	{"ua", ACCESS_USER_AGENT},
	{"accept_language", ACCESS_LANGUAGE},
	{"domain", ACCESS_HOST},
	{"vhost", ACCESS_HOST},
	{"purpose", ACCESS_PURPOSE},
	{NULL, ACCESS_PASSED},
};

static const struct name fields[] = {
	{"address", ACCESS_ADDRESS},
	{"time", ACCESS_TIME},
	{"request", ACCESS_REQUEST},
	{"method", ACCESS_METHOD},
	{"uri", ACCESS_URI},
	{"query", ACCESS_QUERY},
	{"status", ACCESS_STATUS},
	{"referrer", ACCESS_REFERRER},
	{"user_agent", ACCESS_USER_AGENT},
	{"language", ACCESS_LANGUAGE},
	{"host", ACCESS_HOST},
	{"purpose", ACCESS_PURPOSE},
	{NULL, ACCESS_PASSED},
};

static enum access_field find(const struct name *names, const char *name,
			      size_t len)
{
	while (names->name && (strlen(names->name) != len ||
			       strncasecmp(names->name, name, len) != 0))
		names++;
	return names->field;
}

/* Letters that mean the same whatever is in braces before them. */
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
	/* %{c}a is who is connected: a proxy, perhaps. */
	if (letter == 'i')
		return find(headers, argument, len);
	if (letter == 'a' && len)
		return ACCESS_PASSED;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter)
			return letters[i].field;
	return ACCESS_PASSED;
}

enum access_field access_field_of_variable(const char *name, size_t len)
{
	return find(variables, name, len);
}

enum access_field access_field_of_key(const char *name, size_t len)
{
	enum access_field field = find(variables, name, len);

	return field == ACCESS_PASSED ? find(keys, name, len) : field;
}

enum access_field access_field_by_name(const char *name, size_t len)
{
	return find(fields, name, len);
}
