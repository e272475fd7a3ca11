#include "linkstore/visit/click_domain.h"

#include <stdbool.h>

static bool is_host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '.' || c == '_' || c == ':' || c == '[' || c == ']';
}

static size_t host_length(struct http_slice host)
{
	const char *end = NULL;

	if (host.len && host.data[0] == '[') {
		end = memchr(host.data, ']', host.len);
		return end ? (size_t)(end - host.data) + 1 : host.len;
	}
	if (host.len)
		end = memchr(host.data, ':', host.len);
	return end ? (size_t)(end - host.data) : host.len;
}

void click_domain(struct http_slice host, char out[CLICK_DOMAIN_MAX + 1])
{
	size_t len = host_length(host);

	out[0] = '\0';
	if (len > CLICK_DOMAIN_MAX)
		return;
	for (size_t i = 0; i < len; i++) {
		char c = host.data[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + ('a' - 'A'));
		if (!is_host_char(c)) {
			out[0] = '\0';
			return;
		}
		out[i] = c;
	}
	out[len] = '\0';
}
