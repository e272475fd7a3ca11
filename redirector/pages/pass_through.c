#include "redirector/pages/pass_through.h"

#include <string.h>

#include "common/http/url.h"
#include "common/uri.h"

/* --- the path ------------------------------------------------------------- */

/* The name of a segment: the part before its parameters, which begin with the
 * first semicolon (RFC 3986, 3.3).  Some servers, such as Tomcat, drop these
 * and then read "..;a" as "..". */
struct segment_name {
	size_t len, dots;
	bool ended;
};

static void put_in_name(struct segment_name *name, char c)
{
	name->ended |= c == ';';
	name->len += !name->ended;
	name->dots += !name->ended && c == '.';
}

static bool is_dots(const struct segment_name *name)
{
	return name->len == name->dots && (name->len == 1 || name->len == 2);
}

bool pass_through_may_follow(struct http_slice rest)
{
	struct segment_name name = {0};
	char c;

	while (rest.len > 0) {
		c = url_take_decoded(&rest);
		/* Browsers treat a backslash as a slash. */
		if (c != '/' && c != '\\') {
			put_in_name(&name, c);
			continue;
		}
		if (is_dots(&name))
			return false;
		name = (struct segment_name){0};
	}
	return !is_dots(&name);
}

/* --- the query ------------------------------------------------------------ */

/* Cuts the next parameter that is not empty off the front and returns it; its
 * length is 0 at the end. */
static struct http_slice next_parameter(struct http_slice *query)
{
	struct http_slice one = {query->data, 0};
	const char *end;

	while (one.len == 0 && query->len > 0) {
		end = memchr(query->data, '&', query->len);
		one = (struct http_slice){query->data,
					  end ? (size_t)(end - query->data)
					      : query->len};
		query->data += one.len + (end != NULL);
		query->len -= one.len + (end != NULL);
	}
	return one;
}

static struct http_slice name_of(struct http_slice parameter)
{
	const char *end = memchr(parameter.data, '=', parameter.len);

	if (end)
		parameter.len = (size_t)(end - parameter.data);
	return parameter;
}

static char next_of_name(struct http_slice *name)
{
	if (name->data[0] != '+')
		return url_take_decoded(name);
	name->data++;
	name->len--;
	return ' ';
}

static bool same_name(struct http_slice a, struct http_slice b)
{
	while (a.len > 0 && b.len > 0) {
		if (next_of_name(&a) != next_of_name(&b))
			return false;
	}
	return a.len == b.len;
}

static bool is_utm(struct http_slice name)
{
	static const char prefix[] = "utm_";

	for (size_t i = 0; i < sizeof(prefix) - 1; i++) {
		if (name.len == 0 || next_of_name(&name) != prefix[i])
			return false;
	}
	return true;
}

static bool has_name(struct http_slice query, struct http_slice name)
{
	struct http_slice one;

	while ((one = next_parameter(&query)).len > 0) {
		if (same_name(name_of(one), name))
			return true;
	}
	return false;
}

static bool has_too_many(struct http_slice query)
{
	size_t count = 0;

	while (next_parameter(&query).len > 0)
		count++;
	return count > PASS_THROUGH_PARAMETERS_MAX;
}

static void append_mark(struct buf *out, bool *any)
{
	buf_putc(out, *any ? '&' : '?');
	*any = true;
}

static void append_merged(struct buf *out, bool overrides,
			  struct http_slice own, struct http_slice visit)
{
	struct http_slice left = own, one, name;
	bool any = false;

	while ((one = next_parameter(&left)).len > 0) {
		name = name_of(one);
		if (!overrides || is_utm(name) || !has_name(visit, name)) {
			append_mark(out, &any);
			buf_append(out, one.data, one.len);
		}
	}
	left = visit;
	while ((one = next_parameter(&left)).len > 0) {
		name = name_of(one);
		if ((overrides && !is_utm(name)) || !has_name(own, name)) {
			append_mark(out, &any);
			uri_put_part(out, one.data, one.len);
		}
	}
}

/* --- the URL -------------------------------------------------------------- */

/* Cuts off the part that begins with `mark` and returns it; it may be empty. */
static struct http_slice cut_from(struct http_slice *text, char mark)
{
	const char *at = memchr(text->data, mark, text->len);
	struct http_slice tail = {text->data + text->len, 0};

	if (at) {
		tail = (struct http_slice){
			at, text->len - (size_t)(at - text->data)};
		text->len -= tail.len;
	}
	return tail;
}

void pass_through_url(struct buf *out, struct http_slice url,
		      const struct pass_through *pass, struct http_slice rest,
		      struct http_slice query)
{
	struct http_slice fragment = cut_from(&url, '#');
	struct http_slice own = cut_from(&url, '?');

	if (pass->path && rest.len > 0 && uri_takes_path(url.data, url.len)) {
		if (url.len > 0 && url.data[url.len - 1] == '/')
			url.len--;
		buf_append(out, url.data, url.len);
		uri_put_part(out, rest.data, rest.len);
	} else {
		buf_append(out, url.data, url.len);
	}
	if (pass->query == SHORTLOOP__QUERY_PASS__QUERY_DROPPED ||
	    query.len == 0 || has_too_many(query))
		buf_append(out, own.data, own.len);
	else
		append_merged(out,
			      pass->query ==
				      SHORTLOOP__QUERY_PASS__QUERY_OVERRIDES,
			      (struct http_slice){own.data + (own.len > 0),
						  own.len - (own.len > 0)},
			      query);
	buf_append(out, fragment.data, fragment.len);
}
