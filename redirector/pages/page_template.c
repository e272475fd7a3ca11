#include "redirector/pages/page_template.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/read_file.h"
#include "common/utf8.h"

/* A text of the page, and the value that follows it. */
struct page_piece {
	struct http_slice text;
	enum page_value value; /* PAGE_VALUES: none, it is the last piece */
};

struct page_template {
	struct buf text;
	struct buf head;
	struct page_piece pieces[PAGE_VALUES_MAX + 1];
	size_t count;
};

static const char *const value_names[PAGE_VALUES] = {
	[PAGE_OPEN] = "open",
	[PAGE_FALLBACK] = "fallback",
	[PAGE_BROWSER] = "browser",
};

/* --- reading ---------------------------------------------------------------
 *
 * The page is read from the first byte to the last; each function take_...
 * consumes the part in its name, or reports its mistake. */

struct template_reading {
	struct page_template *page;
	const char *name;
	const char *start, *at, *end;
	const char *piece;	    /* start of the next piece */
	struct buf scripts, styles; /* sources for the page's policy */
	size_t inlines;
};

static int report_mistake(const struct template_reading *r, const char *at,
			  const char *what, struct error *err)
{
	size_t line = 1;

	for (const char *p = r->start; p < at; p++)
		line += *p == '\n';
	return error_set(err, ERROR_CONFIG, "%s:%zu: %s", r->name, line, what);
}

static bool is_at(const struct template_reading *r, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(r->end - r->at) >= len &&
	       !strncasecmp(r->at, text, len);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f';
}

static void skip_blanks(struct template_reading *r)
{
	while (r->at < r->end && is_blank(*r->at))
		r->at++;
}

static bool skip_past(struct template_reading *r, const char *text)
{
	const char *found =
		memmem(r->at, (size_t)(r->end - r->at), text, strlen(text));

	if (found)
		r->at = found + strlen(text);
	return found;
}

/* --- values --------------------------------------------------------------- */

/* Returns the value whose name stands at `at` in its braces; PAGE_VALUES:
 * none. */
static enum page_value value_at(const struct template_reading *r,
				size_t *ret_len)
{
	const char *name = r->at + 2;
	size_t left = (size_t)(r->end - name);

	for (int i = 0; i < PAGE_VALUES; i++) {
		size_t len = strlen(value_names[i]);

		if (left < len + 2 || memcmp(name, value_names[i], len) != 0 ||
		    memcmp(name + len, "}}", 2) != 0)
			continue;
		*ret_len = len + 4;
		return (enum page_value)i;
	}
	return PAGE_VALUES;
}

static void end_piece(struct template_reading *r, enum page_value value)
{
	struct page_template *page = r->page;

	page->pieces[page->count++] = (struct page_piece){
		{r->piece, (size_t)(r->at - r->piece)}, value};
}

static int take_value(struct template_reading *r, struct error *err)
{
	size_t len = 0;
	enum page_value value = value_at(r, &len);

	if (value == PAGE_VALUES)
		return report_mistake(r, r->at,
				      "{{ begins no value: there are {{open}}, "
				      "{{fallback}} and {{browser}}",
				      err);
	if (r->page->count == PAGE_VALUES_MAX)
		return report_mistake(r, r->at, "has more than 32 values", err);
	end_piece(r, value);
	r->at += len;
	r->piece = r->at;
	return 0;
}

/* Reads up to `to`, and the values before it. */
static int take_until(struct template_reading *r, char to, struct error *err)
{
	while (r->at < r->end && *r->at != to) {
		if (!is_at(r, "{{"))
			r->at++;
		else if (take_value(r, err) < 0)
			return -1;
	}
	return 0;
}

/* --- scripts and styles --------------------------------------------------- */

static void put_hash(struct buf *sources, const char *text, size_t len)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char encoded[sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES,
					       sodium_base64_VARIANT_ORIGINAL)];

	crypto_hash_sha256(digest, (const unsigned char *)text, len);
	sodium_bin2base64(encoded, sizeof(encoded), digest, sizeof(digest),
			  sodium_base64_VARIANT_ORIGINAL);
	buf_printf(sources, " 'sha256-%s'", encoded);
}

/* Refuses a value, and text by which a script would go on behind its end (HTML,
 * "script data escaped state"). */
static int check_inline(struct template_reading *r, const char *to,
			struct error *err)
{
	const char *from = r->at;
	size_t len;

	for (; r->at < to; r->at++) {
		if (is_at(r, "{{") && value_at(r, &len) != PAGE_VALUES)
			return report_mistake(
				r, r->at,
				"a value in a script or style, where "
				"the page's policy wants the same text "
				"for all: put it into a data- attribute",
				err);
		if (is_at(r, "<!--"))
			return report_mistake(r, r->at,
					      "<!-- in a script or style", err);
	}
	r->at = from;
	return 0;
}

static const char *find_close(const struct template_reading *r,
			      const char *close)
{
	struct template_reading ahead = *r;

	for (; ahead.at < ahead.end; ahead.at++) {
		if (is_at(&ahead, close))
			return ahead.at;
	}
	return NULL;
}

/* Reads the text between the tags; `tag` is the start of the first one. */
static int take_inline(struct template_reading *r, const char *tag, bool script,
		       struct error *err)
{
	const char *close = find_close(r, script ? "</script" : "</style");

	if (!close)
		return report_mistake(
			r, tag,
			script ? "the script that begins here has no end"
			       : "the style that begins here has no end",
			err);
	if (check_inline(r, close, err) < 0)
		return -1;
	if (++r->inlines > PAGE_INLINE_MAX)
		return report_mistake(
			r, tag, "has more than 16 scripts and styles", err);
	put_hash(script ? &r->scripts : &r->styles, r->at,
		 (size_t)(close - r->at));
	r->at = close;
	return 0;
}

/* --- tags ----------------------------------------------------------------- */

static bool is_named(struct http_slice name, const char *as)
{
	return name.len == strlen(as) && !strncasecmp(name.data, as, name.len);
}

static struct http_slice take_name(struct template_reading *r)
{
	const char *from = r->at;

	while (r->at < r->end && !is_blank(*r->at) && !strchr("/>=", *r->at))
		r->at++;
	return (struct http_slice){from, (size_t)(r->at - from)};
}

static int check_attribute(const struct template_reading *r,
			   struct http_slice name, bool script,
			   struct error *err)
{
	for (size_t i = 0; i < name.len; i++) {
		if (strchr("\"'<{`", name.data[i]))
			return report_mistake(
				r, name.data,
				"an attribute's name has a quote, a < or "
				"a {",
				err);
	}
	if (name.len == 0)
		return report_mistake(r, r->at, "= without an attribute's name",
				      err);
	if ((name.len > 2 && !strncasecmp(name.data, "on", 2)) ||
	    is_named(name, "style") || is_named(name, "srcdoc"))
		return report_mistake(
			r, name.data,
			"the page's policy keeps attributes like on..., "
			"style and srcdoc from working: write a <script> "
			"or <style>",
			err);
	if (script && is_named(name, "src"))
		return report_mistake(
			r, name.data,
			"the page's policy keeps scripts from elsewhere "
			"from running: write it into the page",
			err);
	return 0;
}

static int take_bare_value(struct template_reading *r, struct error *err)
{
	const char *from = r->at;

	for (; r->at < r->end && !is_blank(*r->at) && *r->at != '>'; r->at++) {
		if (strchr("\"'<=`{", *r->at))
			return report_mistake(
				r, r->at,
				"an attribute's value needs quotes "
				"around it",
				err);
	}
	return r->at > from
		       ? 0
		       : report_mistake(r, r->at,
					"an attribute lacks its value", err);
}

static int take_quoted(struct template_reading *r, struct error *err)
{
	const char *from = r->at;
	char quote = *r->at++;

	if (take_until(r, quote, err) < 0)
		return -1;
	if (r->at == r->end)
		return report_mistake(
			r, from, "the quote that begins here has no end", err);
	r->at++;
	return 0;
}

static int take_attribute(struct template_reading *r, bool script,
			  struct error *err)
{
	struct http_slice name = take_name(r);

	if (check_attribute(r, name, script, err) < 0)
		return -1;
	skip_blanks(r);
	if (r->at == r->end || *r->at != '=')
		return 0;
	r->at++;
	skip_blanks(r);
	if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
		return take_quoted(r, err);
	return take_bare_value(r, err);
}

static int take_tag(struct template_reading *r, struct error *err)
{
	const char *tag = r->at++;
	bool closes = r->at < r->end && *r->at == '/', script;
	struct http_slice name;

	r->at += closes;
	name = take_name(r);
	script = is_named(name, "script");

	if (memchr(name.data, '{', name.len))
		return report_mistake(r, tag, "a tag's name has a {", err);
	for (;;) {
		skip_blanks(r);
		if (r->at == r->end)
			return report_mistake(
				r, tag, "the tag that begins here has no end",
				err);
		if (*r->at == '>')
			break;
		if (*r->at == '/')
			r->at++;
		else if (take_attribute(r, script, err) < 0)
			return -1;
	}
	r->at++;
	if (closes || (!script && !is_named(name, "style")))
		return 0;
	return take_inline(r, tag, script, err);
}

static int take_comment(struct template_reading *r, struct error *err)
{
	const char *from = r->at;

	r->at += strlen("<!--");
	return skip_past(r, "-->")
		       ? 0
		       : report_mistake(
				 r, from,
				 "the comment that begins here has no end",
				 err);
}

/* A { counts, too, since a value behind a < would turn it into a tag. */
static bool is_tag(const struct template_reading *r)
{
	return r->end - r->at > 1 &&
	       (isalpha((unsigned char)r->at[1]) || strchr("/!?{", r->at[1]));
}

/* --- the page ------------------------------------------------------------- */

static int take_page(struct template_reading *r, struct error *err)
{
	int status = 0;

	while (status == 0 && r->at < r->end) {
		if (is_at(r, "<!--"))
			status = take_comment(r, err);
		else if (*r->at == '<' && is_tag(r))
			status = take_tag(r, err);
		else if (is_at(r, "{{"))
			status = take_value(r, err);
		else
			r->at++;
	}
	if (status == 0)
		end_piece(r, PAGE_VALUES);
	return status;
}

static bool has_value(const struct page_template *page, enum page_value value)
{
	for (size_t i = 0; i < page->count; i++) {
		if (page->pieces[i].value == value)
			return true;
	}
	return false;
}

static int check_values(struct template_reading *r, struct error *err)
{
	if (!has_value(r->page, PAGE_OPEN))
		return report_mistake(
			r, r->end,
			"ends without {{open}}: a visitor could not open "
			"anything",
			err);
	if (!has_value(r->page, PAGE_FALLBACK))
		return report_mistake(
			r, r->end,
			"ends without {{fallback}}: a visitor without "
			"the app could not go on",
			err);
	return 0;
}

/* Puts the sources of one kind.  If there are none, default-src forbids that
 * kind. */
static void put_sources(struct buf *head, const char *directive,
			const struct buf *sources)
{
	if (sources->len) {
		buf_puts(head, directive);
		buf_append(head, sources->data, sources->len);
	}
	head->failed |= sources->failed;
}

static void put_head(const struct template_reading *r)
{
	struct buf *head = &r->page->head;

	/* strict-origin: a referrer has the host only, since the code is
	 * private. */
	buf_puts(head, "Content-Type: text/html; charset=utf-8\r\n"
		       "Cache-Control: private, no-store\r\n"
		       "Vary: User-Agent\r\n"
		       "Referrer-Policy: strict-origin\r\n"
		       "X-Content-Type-Options: nosniff\r\n"
		       "Content-Security-Policy: default-src 'none'");
	put_sources(head, "; script-src", &r->scripts);
	put_sources(head, "; style-src", &r->styles);
	buf_puts(head, "; img-src data:; base-uri 'none'; form-action 'none'; "
		       "frame-ancestors 'none'\r\n");
}

static int read_page(struct page_template *page, const char *name,
		     struct error *err)
{
	struct template_reading r = {.page = page, .name = name};
	int status;

	r.start = r.at = r.piece = page->text.data;
	r.end = r.start + page->text.len;
	status = take_page(&r, err);
	if (status == 0)
		status = check_values(&r, err);
	if (status == 0) {
		put_head(&r);
		status = page->head.failed ? error_set_nomem(err) : 0;
	}
	buf_free(&r.scripts);
	buf_free(&r.styles);
	return status;
}

/* --- making --------------------------------------------------------------- */

/* Line ends become LF, as in a browser before it hashes a script. */
static int copy_text(struct page_template *page, const char *name,
		     struct http_slice text, struct error *err)
{
	const char *at = text.data, *end = at + text.len;

	for (size_t n; at < end; at += n) {
		n = utf8_sequence(at, (size_t)(end - at));
		if (n == 0 || *at == '\0') {
			const struct template_reading r = {
				.name = name,
				.start = text.data,
			};
			return report_mistake(
				&r, at, n ? "a zero byte" : "is not UTF-8",
				err);
		}
		if (*at != '\r')
			buf_append(&page->text, at, n);
		else if (at + 1 == end || at[1] != '\n')
			buf_putc(&page->text, '\n');
	}
	return page->text.failed ? error_set_nomem(err) : 0;
}

struct page_template *
page_template_new(const char *name, struct http_slice text, struct error *err)
{
	struct page_template *page = calloc(1, sizeof(*page));

	if (!page) {
		error_set_nomem(err);
		return NULL;
	}
	if (text.len == 0)
		error_set(err, ERROR_CONFIG, "%s: is empty", name);
	else if (text.len > PAGE_BYTES_MAX)
		error_set(err, ERROR_CONFIG, "%s: is longer than %d bytes",
			  name, PAGE_BYTES_MAX);
	else if (copy_text(page, name, text, err) == 0 &&
		 read_page(page, name, err) == 0)
		return page;
	page_template_free(page);
	return NULL;
}

struct page_template *page_template_load(const char *path, struct error *err)
{
	struct page_template *page = NULL;
	struct buf text = {0};
	struct error why;

	if (read_file(path, PAGE_BYTES_MAX, &text, &why) < 0)
		error_set(err, ERROR_CONFIG, "%s: %s", path, why.text);
	else if (text.failed)
		error_set_nomem(err);
	else
		page = page_template_new(
			path, (struct http_slice){text.data, text.len}, err);
	buf_free(&text);
	return page;
}

void page_template_free(struct page_template *page)
{
	if (!page)
		return;
	buf_free(&page->text);
	buf_free(&page->head);
	free(page);
}

/* --- writing -------------------------------------------------------------- */

struct http_slice page_template_head(const struct page_template *page)
{
	return (struct http_slice){page->head.data, page->head.len};
}

static const char *html_escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_escaped(struct buf *out, struct http_slice value)
{
	size_t from = 0;

	for (size_t i = 0; i < value.len; i++) {
		const char *as = html_escape_of(value.data[i]);

		if (!as)
			continue;
		buf_append(out, value.data + from, i - from);
		buf_puts(out, as);
		from = i + 1;
	}
	buf_append(out, value.data + from, value.len - from);
}

void page_template_write(const struct page_template *page,
			 const struct http_slice values[PAGE_VALUES],
			 struct buf *out)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct page_piece *p = &page->pieces[i];

		buf_append(out, p->text.data, p->text.len);
		if (p->value != PAGE_VALUES)
			put_escaped(out, values[p->value]);
	}
}
