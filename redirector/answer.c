#include "redirector/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

#define PAGE(title, text)                                                      \
	"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"        \
	"<meta name=\"viewport\" content=\"width=device-width\">\n"            \
	"<title>" title "</title>\n"                                           \
	"<h1>" title "</h1>\n<p>" text "</p>\n"

static const char seen_every_time[] = "private, max-age=0";

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

static void redirect(struct http_request *req, int status, const char *url,
		     const char *caching)
{
	const struct http_field fields[] = {
		{"Location", url},
		{"Cache-Control", caching},
		{NULL, NULL},
	};

	http_reply(req, status, fields, NULL, 0);
}

void answer_redirect(struct http_request *req, const struct cached_link *link,
		     int64_t max_age, int64_t now)
{
	char caching[64];

	if (link->status != 301 && link->status != 308) {
		redirect(req, link->status, link->url, seen_every_time);
		return;
	}
	if (link->expires - now < max_age)
		max_age = link->expires - now;
	snprintf(caching, sizeof(caching), "private, max-age=%" PRId64,
		 max_age > 0 ? max_age / CLOCK_SECOND : 0);
	redirect(req, link->status, link->url, caching);
}

void answer_fallback(struct http_request *req, const char *url)
{
	redirect(req, 302, url, seen_every_time);
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
