#include "redirector/lookup/link_lines.h"

#include <string.h>

#include "common/uri.h"
#include "common/url_digest.h"
#include "common/url_scheme.h"
#include "linkstore/visit/visit_rule.h"

bool redirect_is_permanent(int status)
{
	return status == 301 || status == 308;
}

static int check_url(const char *url, struct error *err)
{
	if (!*url)
		return error_set(err, ERROR_PROTOCOL, "the URL is empty");
	for (const char *p = url; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return error_set(err, ERROR_PROTOCOL,
					 "the URL has a control character");
	}
	return 0;
}

int link_lines_put(struct buf *out, const struct redirect_form *form,
		   const char *url, struct error *err)
{
	if (check_url(url, err) < 0)
		return -1;
	buf_puts(out, LOCATION);
	uri_put(out, url, strlen(url));
	buf_puts(out, "\r\n");
	if (form->varies)
		buf_puts(out, "Vary: User-Agent\r\n");
	if (form->counted)
		buf_puts(out, "Cache-Control: no-store\r\n");
	else if (!redirect_is_permanent(form->status))
		buf_puts(out, "Cache-Control: " SEEN_EVERY_TIME "\r\n");
	return out->failed ? error_set_nomem(err) : 0;
}

/* Checks the URL, since visitors trust it when this server's page opens it. */
static int check_open(const char *url, struct error *err)
{
	char scheme[URL_SCHEME_MAX];

	if (check_url(url, err) < 0)
		return -1;
	if (!url_scheme(url, strlen(url), scheme) ||
	    url_scheme_is_dangerous(scheme) || !strcmp(scheme, "intent"))
		return error_set(err, ERROR_PROTOCOL,
				 "no page may open '%.80s'", url);
	return 0;
}

int link_lines_put_landing(struct buf *out, const char *open,
			   const char *fallback, struct error *err)
{
	if (check_open(open, err) < 0 || check_url(fallback, err) < 0)
		return -1;
	if (strncmp(fallback, "https://", 8) != 0)
		return error_set(err, ERROR_PROTOCOL,
				 "the fallback of a page is '%.80s', not an "
				 "https URL",
				 fallback);
	uri_put(out, open, strlen(open));
	buf_putc(out, '\0');
	uri_put(out, fallback, strlen(fallback));
	buf_putc(out, '\0');
	return out->failed ? error_set_nomem(err) : 0;
}

static bool has_target(const struct cached_link *link, Shortloop__Device device)
{
	return device && link->line_ends[device] > link->line_ends[device - 1];
}

Shortloop__Device link_lines_target(const struct cached_link *link,
				    struct device device)
{
	return visit_rule_target(
		device, (struct visit_targets){
				.wechat = has_target(
					link, SHORTLOOP__DEVICE__DEVICE_WECHAT),
				.system = has_target(link, device.system),
				.system_is_page = link->landings[device.system],
			});
}

struct http_slice link_lines_of(const struct cached_link *link,
				Shortloop__Device target)
{
	uint32_t from = target ? link->line_ends[target - 1] : 0;

	return (struct http_slice){link->lines.data + from,
				   link->line_ends[target] - from};
}

struct http_slice link_lines_url_digest(const struct cached_link *link,
					Shortloop__Device target)
{
	size_t at = (size_t)target * URL_DIGEST_SIZE;

	if (at + URL_DIGEST_SIZE > link->url_digests.len)
		return (struct http_slice){0};
	return (struct http_slice){link->url_digests.data + at,
				   URL_DIGEST_SIZE};
}

struct http_slice link_lines_url(struct http_slice lines)
{
	const char *url = lines.data + sizeof(LOCATION) - 1;
	const char *end = memchr(url, '\r', lines.len - (sizeof(LOCATION) - 1));

	return (struct http_slice){url, (size_t)(end - url)};
}
