/*
 * page_template.h - an HTML page into which values are put.
 *
 * The page is a file that an operator may write:
 *
 *	<a href="{{open}}">Open the app</a>
 *	<a href="{{fallback}}">Go on without</a>
 *
 * {{open}} is what is to be opened, {{fallback}} where those go who cannot, and
 * {{browser}} what shows the page (in_app_name).  A value stands in text, or in
 * an attribute's value between quotes, and has all characters escaped that mean
 * something there: so it never ends what it stands in.
 *
 * A page comes with a Content-Security-Policy that forbids everything but the
 * scripts and styles that stand in it, each by its SHA-256.  Values are not
 * allowed in these, which keeps the hashes the same for all visits: a script
 * reads values from data- attributes.  What the policy would silently keep from
 * working (attributes such as onclick and style, scripts elsewhere) is refused
 * when the page is read.
 *
 * Of HTML only as much is understood as tells where a value stands, and what is
 * written unusually is refused rather than guessed.
 *
 * Read-only once made: from any thread.
 */
#ifndef REDIRECTOR_PAGE_TEMPLATE_H
#define REDIRECTOR_PAGE_TEMPLATE_H

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

/* `name` is what errors begin with: ERROR_CONFIG, "name:line: what is wrong".
 * `text` is copied. */
struct page_template *
page_template_new(const char *name, struct http_slice text, struct error *err);
struct page_template *page_template_load(const char *path, struct error *err);
void page_template_free(struct page_template *page); /* NULL accepted */

/* Header lines of its answers, each ended by CRLF. */
struct http_slice page_template_head(const struct page_template *page);

/* Appends the page. */
void page_template_write(const struct page_template *page,
			 const struct http_slice values[PAGE_VALUES],
			 struct buf *out);

#endif
