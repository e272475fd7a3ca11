#include "redirector/answer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/clock.h"

#define PAGE(title, text)                                                      \
	"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"        \
	"<meta name=\"viewport\" content=\"width=device-width\">\n"            \
	"<title>" title "</title>\n"                                           \
	"<h1>" title "</h1>\n<p>" text "</p>\n"

static const char seen_every_time[] = "Cache-Control: private, max-age=0\r\n";
static const char never_kept[] = "Cache-Control: no-store\r\n";

static const char page_not_found[] =
	PAGE("Not found", "There is no link at this address.");
static const char page_gone[] =
	PAGE("Gone", "The link at this address has expired or was removed.");
static const char page_blocked[] =
	PAGE("Not available", "The link at this address is blocked.");
static const char page_no_method[] =
	PAGE("Method not allowed", "A short link can only be visited.");
static const char page_unavailable[] = PAGE(
	"Please try again", "This link cannot be looked up at the moment.");

static void answer_page(struct http_request *req, int status, const char *page,
			const char *name, const char *value)
{
	const struct http_field fields[] = {
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "no-store"},
		{name, value},
		{NULL, NULL},
	};

	http_reply(req, status, fields, page, strlen(page));
}

static bool is_permanent(int status)
{
	return status == 301 || status == 308;
}

int answer_lines(struct buf *out, const struct answer_form *form,
		 const char *url, struct error *err)
{
	if (!*url)
		return error_set(err, ERROR_PROTOCOL, "the URL is empty");
	for (const char *p = url; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return error_set(err, ERROR_PROTOCOL,
					 "the URL has a control character");
	}
	buf_printf(out, "Location: %s\r\n", url);
	if (form->varies)
		buf_puts(out, "Vary: User-Agent\r\n");
	if (form->counted)
		buf_puts(out, never_kept);
	else if (!is_permanent(form->status))
		buf_puts(out, seen_every_time);
	return out->failed ? error_set_nomem(err) : 0;
}

static struct http_slice lines_for(const struct cached_link *link,
				   Shortloop__Device device)
{
	const uint32_t *ends = link->line_ends;
	uint32_t from = device ? ends[device - 1] : 0;

	if (device && ends[device] == from)
		return (struct http_slice){link->lines.data, ends[0]};
	return (struct http_slice){link->lines.data + from,
				   ends[device] - from};
}

void answer_redirect(struct http_request *req, const struct cached_link *link,
		     Shortloop__Device device, int64_t max_age, int64_t now,
		     struct buf *scratch)
{
	struct http_slice lines = lines_for(link, device);

	if (!is_permanent(link->status) || link->max_visits) {
		http_reply_lines(req, link->status, lines, NULL, 0);
		return;
	}
	if (link->expires - now < max_age)
		max_age = link->expires - now;
	buf_reset(scratch);
	buf_append(scratch, lines.data, lines.len);
	buf_printf(scratch, "Cache-Control: private, max-age=%" PRId64 "\r\n",
		   max_age > 0 ? max_age / CLOCK_SECOND : 0);
	/* Out of memory, the redirect goes without what did not fit. */
	if (!scratch->failed)
		lines = (struct http_slice){scratch->data, scratch->len};
	http_reply_lines(req, link->status, lines, NULL, 0);
}

void answer_fallback(struct http_request *req, const char *url)
{
	const struct http_field fields[] = {
		{"Location", url},
		{"Cache-Control", "private, max-age=0"},
		{NULL, NULL},
	};

	http_reply(req, 302, fields, NULL, 0);
}

void answer_not_found(struct http_request *req)
{
	answer_page(req, 404, page_not_found, NULL, NULL);
}

void answer_gone(struct http_request *req)
{
	answer_page(req, 410, page_gone, NULL, NULL);
}

void answer_blocked(struct http_request *req)
{
	answer_page(req, 451, page_blocked, NULL, NULL);
}

void answer_no_method(struct http_request *req)
{
	answer_page(req, 405, page_no_method, "Allow", "GET, HEAD");
}

void answer_unavailable(struct http_request *req, const char *retry_after)
{
	answer_page(req, 503, page_unavailable, "Retry-After", retry_after);
}
