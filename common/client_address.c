#include "common/client_address.h"

#include <string.h>
#include <strings.h>

#include "common/ip.h"

/* The longest is "[" IPv6 with an embedded IPv4 "]:65535". */
#define ADDRESS_TEXT_MAX 64

static bool parse_bare(const char *text, struct address *ret)
{
	struct address a = {.len = 0};

	a.len = (uint8_t)ip_parse(text, a.bytes);
	if (a.len)
		*ret = a;
	return a.len != 0;
}

static bool is_port(const char *text)
{
	unsigned port = 0;
	size_t len = 0;

	for (; text[len] >= '0' && text[len] <= '9' && len < 5; len++)
		port = port * 10 + (unsigned)(text[len] - '0');
	return len && !text[len] && port <= UINT16_MAX;
}

bool address_parse(struct http_slice text, struct address *ret_address)
{
	char copy[ADDRESS_TEXT_MAX];
	char *colon, *bracket;

	if (text.len == 0 || text.len >= sizeof(copy) ||
	    memchr(text.data, '\0', text.len))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	if (copy[0] == '[') {
		bracket = strchr(copy, ']');
		if (!bracket)
			return false;
		if (bracket[1] && (bracket[1] != ':' || !is_port(bracket + 2)))
			return false;
		*bracket = '\0';
		/* Brackets are for IPv6 only. */
		return strchr(copy, ':') && parse_bare(copy + 1, ret_address);
	}
	colon = strchr(copy, ':');
	if (colon && !strchr(colon + 1, ':')) {
		if (!is_port(colon + 1))
			return false;
		*colon = '\0';
	}
	return parse_bare(copy, ret_address);
}

/* Returns true if an odd number of backslashes precedes it. */
static bool is_escaped(const char *start, const char *at)
{
	bool escaped = false;

	while (at > start && at[-1] == '\\') {
		escaped = !escaped;
		at--;
	}
	return escaped;
}

/*
 * Returns the last separator outside of quotes; NULL: there is none.  A quoted
 * text belongs to a proxy's element, may come from the visitor (`host` does),
 * and separates nothing.  The search starts at the end, where the nearest proxy
 * wrote: a quote that a visitor left open further to the left cannot hide what
 * follows it.
 */
static const char *last_unquoted(struct http_slice list, char separator)
{
	bool quoted = false;

	for (size_t i = list.len; i-- > 0;) {
		const char *at = list.data + i;

		if (*at == '"' && !(quoted && is_escaped(list.data, at)))
			quoted = !quoted;
		else if (*at == separator && !quoted)
			return at;
	}
	return NULL;
}

/* Returns the comma before the last element of a list; NULL: it is the only
 * one. */
static const char *last_comma(struct http_slice list,
			      enum forwarded_style style)
{
	return style == FORWARDED_RFC7239 ? last_unquoted(list, ',')
					  : memrchr(list.data, ',', list.len);
}

/* Removes from the list and returns what follows `separator`, or all of it. */
static struct http_slice take_behind(struct http_slice *list,
				     const char *separator)
{
	struct http_slice last = *list;

	if (!separator) {
		list->len = 0;
		list->data = NULL;
		return http_slice_trim(last);
	}
	last.data = separator + 1;
	last.len = (size_t)(list->data + list->len - last.data);
	list->len = (size_t)(separator - list->data);
	return http_slice_trim(last);
}

/* Returns the node of the `for` parameter of one Forwarded element; {NULL, 0}
 * if it has none or two. */
static struct http_slice forwarded_for(struct http_slice element)
{
	struct http_slice pair, found = {0};

	while (element.data) {
		pair = take_behind(&element, last_unquoted(element, ';'));
		if (pair.len < 4 || strncasecmp(pair.data, "for=", 4) != 0)
			continue;
		if (found.data)
			return (struct http_slice){0};
		found.data = pair.data + 4;
		found.len = pair.len - 4;
	}
	if (found.len >= 2 && found.data[0] == '"' &&
	    found.data[found.len - 1] == '"') {
		found.data++;
		found.len -= 2;
	}
	return found;
}

static struct address real_ip(const struct network_list *proxies,
			      const struct address *peer,
			      const struct http_slice *values, size_t count)
{
	struct address real = *peer;

	if (count == 1 && network_list_has(proxies, peer))
		address_parse(http_slice_trim(values[0]), &real);
	return real;
}

struct address client_address(const struct network_list *proxies,
			      enum forwarded_style style,
			      const struct address *peer,
			      const struct http_slice *values, size_t count)
{
	struct address at = *peer;
	struct address next;
	struct http_slice rest, node;

	if (style == FORWARDED_ADDRESS)
		return real_ip(proxies, peer, values, count);
	for (size_t i = count; i > 0; i--) {
		rest = values[i - 1];
		while (rest.data) {
			if (!network_list_has(proxies, &at))
				return at;
			node = take_behind(&rest, last_comma(rest, style));
			if (style == FORWARDED_RFC7239)
				node = forwarded_for(node);
			if (!address_parse(node, &next))
				return at;
			at = next;
		}
	}
	return at;
}
