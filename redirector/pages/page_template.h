/*
 * page_template.h - an HTML page with places for values.
 *
 * The page is a file that an operator may write:
 *
 *	<a href="{{open}}">Open the app</a>
 *	<a href="{{fallback}}">Go on without</a>
 *
 * {{open}} is the URL to open, {{fallback}} the URL for visitors who cannot
 * open it, and {{browser}} the kind of browser that shows the page
 * (in_app_name).  A value stands in text, or in an attribute's value between
 * quotes.  All characters that have a meaning there are escaped, so a value
 * never ends the text or attribute it stands in.
 *
 * A page comes with a Content-Security-Policy that forbids everything but the
 * scripts and styles inside the page, each by its SHA-256.  Values are not
 * allowed in these, so the hashes are the same for all visits: a script reads
 * values from data- attributes.  Parts that the policy would silently disable
 * (attributes such as onclick and style, scripts elsewhere) are refused when
 * the page is read.
 *
 * The reader knows only as much HTML as it needs to find out where a value
 * stands, and it refuses unusual syntax rather than guess.
 *
 * Read-only once made: any thread may use it.
 */
#ifndef REDIRECTOR_PAGES_PAGE_TEMPLATE_H
#define REDIRECTOR_PAGES_PAGE_TEMPLATE_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"

enum {
	PAGE_BYTES_MAX = 64 << 10,
	PAGE_VALUES_MAX = 32, /* places for values */
	PAGE_INLINE_MAX = 16  /* scripts and styles */
};

enum page_value {
	PAGE_OPEN,
	PAGE_FALLBACK,
	PAGE_BROWSER,
	PAGE_VALUES,
};

struct page_template;

/* `name` is the start of errors: ERROR_CONFIG, "name:line: what is wrong".
 * `text` is copied. */
struct page_template *
page_template_new(const char *name, struct http_slice text, struct error *err);
struct page_template *page_template_load(const char *path, struct error *err);
void page_template_free(struct page_template *page); /* NULL accepted */

/* Returns the header lines of its answers, each with its CRLF. */
struct http_slice page_template_head(const struct page_template *page);

/* Appends the page to `out`. */
void page_template_write(const struct page_template *page,
			 const struct http_slice values[PAGE_VALUES],
			 struct buf *out);

#endif
