#include "redirector/visit/request_info.h"

#include <string.h>

#include "codespace/path_code.h"

/* Lines of the forwarding header that are read, from the right: a trusted proxy
 * appends to a line or adds one. */
#define FORWARDED_LINES_MAX 16

struct http_slice request_info_code(struct http_slice path)
{
	return path_code(path);
}

struct http_slice request_info_rest(struct http_slice path)
{
	return path_code_rest(path);
}

struct forwarded {
	struct http_slice lines[FORWARDED_LINES_MAX];
	size_t count;
};

static void keep_line(struct forwarded *f, struct http_slice line)
{
	if (f->count == FORWARDED_LINES_MAX) {
		memmove(f->lines, f->lines + 1,
			sizeof(f->lines) - sizeof(f->lines[0]));
		f->count--;
	}
	f->lines[f->count++] = line;
}

/* Names by style, as in the setting client_header. */
static const struct http_slice header_names[] = {
	[FORWARDED_LIST] = {"x-forwarded-for", 15},
	[FORWARDED_RFC7239] = {"forwarded", 9},
	[FORWARDED_ADDRESS] = {"x-real-ip", 9},
};

enum forwarded_style request_info_style(const char *header)
{
	if (http_slice_is(header_names[FORWARDED_RFC7239], header))
		return FORWARDED_RFC7239;
	if (http_slice_is(header_names[FORWARDED_ADDRESS], header))
		return FORWARDED_ADDRESS;
	return FORWARDED_LIST;
}

/* Returns the field of the click for the header of that name; NULL: none. */
static struct http_slice *click_field(struct click *click,
				      struct http_slice name)
{
	switch (name.len) {
	case sizeof("x-moz") - 1: /* Firefox before it had sec-purpose */
		return http_name_is(name, "x-moz") ? &click->prefetch : NULL;
	case sizeof("x-purpose") - 1: /* Safari */
		return http_name_is(name, "x-purpose") ? &click->prefetch
						       : NULL;
	case sizeof("host") - 1:
		return http_name_is(name, "host") ? &click->host : NULL;
	case sizeof("user-agent") - 1:
		return http_name_is(name, "user-agent") ? &click->user_agent
							: NULL;
	case sizeof("referer") - 1:
		if (http_name_is(name, "referer"))
			return &click->referrer;
		return http_name_is(name, "purpose") ? &click->prefetch : NULL;
	case sizeof("accept-language") - 1:
		return http_name_is(name, "accept-language")
			       ? &click->accept_language
			       : NULL;
	case sizeof("sec-purpose") - 1:
		return http_name_is(name, "sec-purpose") ? &click->prefetch
							 : NULL;
	default:
		return NULL;
	}
}

void request_info_read(const struct http_request *req,
		       const struct request_info_rules *rules,
		       struct click *ret_click)
{
	const struct http_slice *forwarding = &header_names[rules->style];
	struct forwarded forwarded = {.count = 0};
	struct address peer = address_of_peer(http_peer(req));
	struct http_slice *field;
	size_t count = http_header_count(req);

	*ret_click = (struct click){0};
	for (size_t i = 0; i < count; i++) {
		struct http_header h = http_header_at(req, i);

		field = click_field(ret_click, h.name);
		if (field && !field->data)
			*field = h.value;
		else if (h.name.len == forwarding->len &&
			 http_name_is(h.name, forwarding->data))
			keep_line(&forwarded, h.value);
	}
	if (!ret_click->host.data)
		ret_click->host = http_host(req);
	ret_click->query = http_query(req);
	ret_click->client = client_address(rules->proxies, rules->style, &peer,
					   forwarded.lines, forwarded.count);
}

struct address request_info_client(const struct http_request *req,
				   const struct request_info_rules *rules)
{
	struct address peer = address_of_peer(http_peer(req));
	struct click click;

	if (!network_list_has(rules->proxies, &peer))
		return peer;
	request_info_read(req, rules, &click);
	return click.client;
}
