#include "redirector/visit/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "redirector/lookup/link_lines.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/pages/pass_through.h"
#include "redirector/visit/access_log.h"

#define PAGE(title, text)                                                      \
	"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"        \
	"<meta name=\"viewport\" content=\"width=device-width\">\n"            \
	"<title>" title "</title>\n"                                           \
	"<h1>" title "</h1>\n<p>" text "</p>\n"

/* Capacity that the buffer for pages keeps; few pages are longer. */
#define PAGE_KEPT (32 << 10)

static const char page_not_found[] =
	PAGE("Not found", "There is no link at this address.");
static const char page_gone[] =
	PAGE("Gone", "The link at this address has expired or was removed.");
static const char page_paused[] =
	PAGE("Paused", "The link at this address is paused at the moment.");
static const char page_blocked[] =
	PAGE("Not available", "The link at this address is blocked.");
static const char page_no_method[] =
	PAGE("Method not allowed", "A short link can only be visited.");
static const char page_denied[] =
	PAGE("Forbidden", "Links here are not for your network.");
static const char page_limited[] =
	PAGE("Too many requests", "Your network has asked too often.");
static const char page_over_fetches[] =
	PAGE("Too many requests",
	     "Programs have fetched this link too often.  It opens in a "
	     "browser.");
static const char page_unavailable[] = PAGE(
	"Please try again", "This link cannot be looked up at the moment.");

struct answers {
	struct loop *loop;
	const struct redirector_settings *settings;
	const struct request_info_rules *rules;
	struct access_writer access;
	struct versions_user pages;
	struct buf lines; /* the redirect that is being put together */
	struct buf page;  /* the landing page that is being put together */
	char retry_after[32];
};

/* Every answer passes through here when it is sent. */
static void log_answer(struct answers *a, const struct http_request *req,
		       int status, size_t body_bytes)
{
	access_writer_note(&a->access, req, a->rules,
			   &(struct access_answer){loop_real_ms(a->loop),
						   status, body_bytes});
}

static void send_page(struct answers *a, struct http_request *req, int status,
		      const char *page, const char *name, const char *value)
{
	const struct http_field fields[] = {
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "no-store"},
		{name, value},
		{NULL, NULL},
	};

	log_answer(a, req, status, strlen(page));
	http_reply(req, status, fields, page, strlen(page));
}

/* Appends the header lines with the URL that this visit is sent to. */
static void pass_on(struct buf *out, const struct cached_link *link,
		    struct http_slice lines, struct http_slice rest,
		    struct http_slice query)
{
	struct http_slice url = link_lines_url(lines);
	const char *end = url.data + url.len;

	buf_puts(out, LOCATION);
	pass_through_url(out, url, &link->pass, rest, query);
	buf_append(out, end, lines.len - (size_t)(end - lines.data));
}

static bool passes_any(const struct cached_link *link, struct http_slice rest,
		       struct http_slice query)
{
	return rest.len > 0 || (link->pass.query && query.len > 0);
}

/*
 * A browser may keep a permanent redirect for at most permanent_max_age, and
 * never beyond the link's end.  It requests the other redirects every time,
 * since a visit that does not arrive is not counted.  `now` is monotonic ms.
 */
static void put_age(struct answers *a, const struct cached_link *link,
		    int64_t now)
{
	int64_t max_age = a->settings->permanent_max_age;

	if (link->expires - now < max_age)
		max_age = link->expires - now;
	buf_printf(&a->lines, "Cache-Control: private, max-age=%" PRId64 "\r\n",
		   max_age > 0 ? max_age / CLOCK_SECOND : 0);
}

void answer_redirect(struct answers *a, struct http_request *req,
		     const struct virtual_host *vhost,
		     const struct cached_link *link, Shortloop__Device target,
		     int64_t now)
{
	struct http_slice lines = link_lines_of(link, target);
	struct http_slice rest = request_info_rest(http_path(req)),
			  query = http_query(req);
	bool passes = passes_any(link, rest, query);
	bool kept = redirect_is_permanent(link->status) && !link->max_visits;

	buf_reset(&a->lines);
	if (passes)
		pass_on(&a->lines, link, lines, rest, query);
	else if (kept || vhost->robots_line)
		buf_append(&a->lines, lines.data, lines.len);
	if (kept)
		put_age(a, link, now);
	if (vhost->robots_line)
		buf_puts(&a->lines, vhost->robots_line);
	/* When memory is short, the redirect is sent without the lines that did
	 * not fit. */
	if (a->lines.len > 0 && !a->lines.failed)
		lines = (struct http_slice){a->lines.data, a->lines.len};
	log_answer(a, req, link->status, 0);
	http_reply_lines(req, link->status, lines, NULL, 0);
}

/* Returns the lines, followed by the robots line of the host if it has one. */
static struct http_slice with_robots_line(struct answers *a,
					  const struct virtual_host *vhost,
					  struct http_slice lines)
{
	if (!vhost->robots_line)
		return lines;
	buf_reset(&a->lines);
	buf_append(&a->lines, lines.data, lines.len);
	buf_puts(&a->lines, vhost->robots_line);
	return a->lines.failed
		       ? lines
		       : (struct http_slice){a->lines.data, a->lines.len};
}

/* Appends the URL with the visit's additions; returns its length. */
static size_t put_url(struct buf *out, const struct cached_link *link,
		      const struct http_request *req, const char *url)
{
	size_t from = out->len;

	pass_through_url(out, (struct http_slice){url, strlen(url)},
			 &link->pass, request_info_rest(http_path(req)),
			 http_query(req));
	return out->len - from;
}

/* Writes the page into a->page.  `open` is as link_lines_put_landing wrote
 * it. */
static void put_page(struct answers *a, const struct http_request *req,
		     const struct cached_link *link,
		     const struct page_template *page, const char *open,
		     enum in_app in_app)
{
	/* An https URL opens in any window. */
	bool anywhere = !strncmp(open, "https:", 6);
	const char *browser = in_app_name(anywhere ? IN_APP_NONE : in_app);
	size_t len, all;

	buf_reset(&a->lines);
	buf_reset(&a->page);
	len = put_url(&a->lines, link, req, open);
	all = len + put_url(&a->lines, link, req, open + strlen(open) + 1);
	if (a->lines.failed) {
		a->page.failed = true;
		return;
	}
	page_template_write(
		page,
		(const struct http_slice[PAGE_VALUES]){
			[PAGE_OPEN] = {a->lines.data, len},
			[PAGE_FALLBACK] = {a->lines.data + len, all - len},
			[PAGE_BROWSER] = {browser, strlen(browser)}},
		&a->page);
}

void answer_landing(struct answers *a, struct http_request *req,
		    const struct virtual_host *vhost,
		    const struct cached_link *link, Shortloop__Device target,
		    enum in_app in_app)
{
	const struct page_template *page = landing_pages_use(
		&a->pages, (enum landing)link->landings[target]);
	struct http_slice head = page_template_head(page);

	put_page(a, req, link, page, link_lines_of(link, target).data, in_app);
	if (a->page.failed) {
		answer_unavailable(a, req);
		return;
	}
	log_answer(a, req, 200, a->page.len);
	http_reply_lines(req, 200, with_robots_line(a, vhost, head),
			 a->page.data, a->page.len);
	buf_empty(&a->page, PAGE_KEPT);
}

void answer_fallback(struct answers *a, struct http_request *req,
		     const struct virtual_host *vhost)
{
	buf_reset(&a->lines);
	buf_puts(&a->lines, LOCATION);
	buf_puts(&a->lines, vhost->fallback_url);
	buf_puts(&a->lines, "\r\nCache-Control: " SEEN_EVERY_TIME "\r\n");
	if (vhost->robots_line)
		buf_puts(&a->lines, vhost->robots_line);
	if (a->lines.failed) {
		answer_unavailable(a, req);
		return;
	}
	log_answer(a, req, 302, 0);
	http_reply_lines(req, 302,
			 (struct http_slice){a->lines.data, a->lines.len}, NULL,
			 0);
}

void answer_robots_txt(struct answers *a, struct http_request *req)
{
	static const char text[] = "User-agent: *\nDisallow:\n";
	const struct http_field fields[] = {
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Cache-Control", "public, max-age=300"},
		{NULL, NULL},
	};

	log_answer(a, req, 200, sizeof(text) - 1);
	http_reply(req, 200, fields, text, sizeof(text) - 1);
}

void answer_no_icon(struct answers *a, struct http_request *req)
{
	const struct http_field fields[] = {
		{"Cache-Control", "public, max-age=86400"},
		{NULL, NULL},
	};

	log_answer(a, req, 204, 0);
	http_reply(req, 204, fields, NULL, 0);
}

void answer_app_file(struct answers *a, struct http_request *req,
		     const struct app_file *file, bool same)
{
	struct http_slice body =
		same ? (struct http_slice){NULL, 0} : app_file_body(file);
	int status = same ? 304 : 200;

	log_answer(a, req, status, body.len);
	http_reply_lines(req, status, app_file_lines(file, !same), body.data,
			 body.len);
}

static const char *page_of(int status)
{
	switch (status) {
	case 403:
		return page_denied;
	case 410:
		return page_gone;
	case 451:
		return page_blocked;
	default:
		return page_not_found;
	}
}

void answer_page(struct answers *a, struct http_request *req, int status)
{
	send_page(a, req, status, page_of(status), NULL, NULL);
}

void answer_paused(struct answers *a, struct http_request *req)
{
	send_page(a, req, 410, page_paused, NULL, NULL);
}

void answer_no_method(struct answers *a, struct http_request *req)
{
	send_page(a, req, 405, page_no_method, "Allow", "GET, HEAD");
}

void answer_limited(struct answers *a, struct http_request *req,
		    int64_t wait_ms)
{
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%" PRId64,
		 (wait_ms + CLOCK_SECOND - 1) / CLOCK_SECOND);
	send_page(a, req, 429, page_limited, "Retry-After", seconds);
}

void answer_over_fetches(struct answers *a, struct http_request *req)
{
	send_page(a, req, 429, page_over_fetches, NULL, NULL);
}

void answer_unavailable(struct answers *a, struct http_request *req)
{
	send_page(a, req, 503, page_unavailable, "Retry-After", a->retry_after);
}

void answers_end_turn(struct answers *a)
{
	access_writer_flush(&a->access);
}

/* --- making --------------------------------------------------------------- */

struct answers *answers_new(const struct redirector *r, struct loop *loop,
			    const struct request_info_rules *rules,
			    struct error *err)
{
	const struct redirector_settings *s = &r->config->redirector;
	struct answers *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->loop = loop;
	a->settings = s;
	a->rules = rules;
	reloadable_join(r->files[FILE_PAGES], &a->pages);
	snprintf(a->retry_after, sizeof(a->retry_after), "%" PRId64,
		 s->retry_after / CLOCK_SECOND);
	if (access_writer_init(&a->access, r->access_log, err) < 0) {
		answers_free(a);
		return NULL;
	}
	return a;
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	access_writer_release(&a->access);
	buf_free(&a->lines);
	buf_free(&a->page);
	versions_leave(&a->pages);
	free(a);
}
