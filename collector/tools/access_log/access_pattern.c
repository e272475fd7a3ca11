#include "collector/tools/access_log/access_pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_names.h"
#include "collector/tools/access_log/access_time.h"
#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"
#include "common/hex.h"

/* --- pieces of a format --------------------------------------------------- */

enum {
	PIECES_MAX = 128
};

/* A literal text or a field; the two alternate. */
struct pattern_piece {
	size_t literal; /* the text's place in access_pattern.literals */
	size_t len;	/* 0: a field */
	enum access_field field;
	bool quoted; /* escapes are undone, and do not end it */
	bool blanks; /* blanks are allowed in it */
};

struct access_pattern {
	struct pattern_piece pieces[PIECES_MAX];
	size_t count;
	struct buf literals;
	char *time_format; /* for strptime; NULL: automatic */
	struct buf passed; /* names that are not used */
	bool open_end;
};

static int refuse_format(const char *what, const char *at, struct error *err)
{
	return error_set(err, ERROR_USAGE, "--format: %s at '%.40s'", what, at);
}

static int add_literal(struct access_pattern *p, char c, struct error *err)
{
	struct pattern_piece *last = p->count ? &p->pieces[p->count - 1] : NULL;

	if (!last || !last->len) {
		if (p->count == PIECES_MAX)
			return refuse_format("too many pieces", "", err);
		last = &p->pieces[p->count++];
		*last = (struct pattern_piece){.literal = p->literals.len};
	}
	buf_putc(&p->literals, c);
	last->len++;
	return p->literals.failed ? error_set_nomem(err) : 0;
}

static int add_field(struct access_pattern *p, enum access_field field,
		     bool blanks, const char *at, struct error *err)
{
	const struct pattern_piece *last =
		p->count ? &p->pieces[p->count - 1] : NULL;
	bool quoted = last && last->len && p->literals.len &&
		      p->literals.data[p->literals.len - 1] == '"';

	if (last && !last->len)
		return refuse_format("nothing tells where a field ends", at,
				     err);
	if (p->count == PIECES_MAX)
		return refuse_format("too many pieces", at, err);
	p->pieces[p->count++] = (struct pattern_piece){
		.field = field, .quoted = quoted, .blanks = blanks};
	return 0;
}

static void note_passed(struct access_pattern *p, enum access_field field,
			const char *name, const char *end)
{
	if (field != ACCESS_PASSED)
		return;
	buf_printf(&p->passed, "%s%.*s", p->passed.len ? " " : "",
		   (int)(end - name), name);
}

/* --- Apache -------------------------------------------------------------- */

/* Reads the format of a time from the braces before a `t`. */
static int take_time_format(struct access_pattern *p, const char *text,
			    size_t len, enum access_field *field,
			    struct error *err)
{
	static const char *const parts[] = {"sec", "msec", "usec", NULL};
	const char *colon = memchr(text, ':', len);

	if (colon && (!strncmp(text, "begin:", 6) || !strncmp(text, "end:", 4)))
		return take_time_format(p, colon + 1,
					len - (size_t)(colon + 1 - text), field,
					err);
	for (size_t i = 0; parts[i]; i++)
		if (strlen(parts[i]) == len && !strncmp(parts[i], text, len))
			return 0;
	if (len > 5 && !strncmp(text + len - 5, "_frac", 5)) {
		*field = ACCESS_PASSED;
		return 0;
	}
	if (p->time_format)
		return refuse_format("a second format of the time", text, err);
	p->time_format = strndup(text, len);
	return p->time_format ? 0 : error_set_nomem(err);
}

static int add_directive(struct access_pattern *p, const char **at,
			 struct error *err)
{
	const char *start = *at, *c = start + 1, *argument = NULL;
	enum access_field field;
	size_t len = 0;

	c += strspn(c, "!,0123456789<>");
	if (*c == '{') {
		argument = ++c;
		len = strcspn(c, "}");
		if (!c[len])
			return refuse_format("a brace that is not closed",
					     start, err);
		c += len + 1;
	}
	if (!isalpha((unsigned char)*c) && *c != '^')
		return refuse_format("no directive", start, err);
	/* The directives ^ti and ^to are for trailers. */
	*at = c + (*c == '^' ? strnlen(c, 3) : 1);
	field = access_field_of_directive(*c, argument, len);
	note_passed(p, field, start, *at);
	if (*c != 't')
		return add_field(p, field, *c == 'u', start, err);
	if (len)
		return take_time_format(p, argument, len, &field, err) < 0
			       ? -1
			       : add_field(p, field, true, start, err);
	if (add_literal(p, '[', err) < 0 ||
	    add_field(p, field, true, start, err) < 0)
		return -1;
	return add_literal(p, ']', err);
}

/* Undoes escapes of httpd.conf, where the format itself is in quotes. */
static char unescape_format_char(char c)
{
	return (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
}

static int compile_apache(struct access_pattern *p, const char *c,
			  struct error *err)
{
	while (*c) {
		int status;

		if (*c == '%' && c[1] != '%') {
			status = add_directive(p, &c, err);
		} else if ((*c == '\\' && c[1]) || *c == '%') {
			status =
				add_literal(p, unescape_format_char(c[1]), err);
			c += 2;
		} else {
			status = add_literal(p, *c++, err);
		}
		if (status < 0)
			return -1;
	}
	return 0;
}

/* --- nginx --------------------------------------------------------------- */

static bool is_name(const char *name, size_t len, const char *which)
{
	return len == strlen(which) && !memcmp(name, which, len);
}

static int add_variable(struct access_pattern *p, const char **at,
			struct error *err)
{
	const char *start = *at, *name = start + 1;
	bool brace = *name == '{';
	enum access_field field;
	size_t len = 0;

	name += brace ? 1 : 0;
	while (isalnum((unsigned char)name[len]) || name[len] == '_')
		len++;
	if (!len || (brace && name[len] != '}'))
		return refuse_format("no variable", start, err);
	*at = name + len + (brace ? 1 : 0);
	field = access_field_of_variable(name, len);
	note_passed(p, field, start, *at);
	return add_field(p, field,
			 field == ACCESS_TIME || is_name(name, len, "any") ||
				 is_name(name, len, "remote_user"),
			 start, err);
}

static int compile_nginx(struct access_pattern *p, const char *c,
			 struct error *err)
{
	while (*c) {
		int status;

		if (*c == '$') {
			status = add_variable(p, &c, err);
		} else if (*c == '\\' && c[1]) {
			status =
				add_literal(p, unescape_format_char(c[1]), err);
			c += 2;
		} else {
			status = add_literal(p, *c++, err);
		}
		if (status < 0)
			return -1;
	}
	return 0;
}

/* --- both ----------------------------------------------------------------- */

static bool has_field(const struct access_pattern *p, enum access_field field)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->pieces[i].len && p->pieces[i].field == field)
			return true;
	return false;
}

static int check_needed_fields(const struct access_pattern *p,
			       const char *format, struct error *err)
{
	if (!has_field(p, ACCESS_TIME))
		return refuse_format("it has no time", format, err);
	if (!has_field(p, ACCESS_REQUEST) && !has_field(p, ACCESS_URI))
		return refuse_format("it has no request", format, err);
	return 0;
}

struct access_pattern *access_pattern_new(const char *format, bool open_end,
					  struct error *err)
{
	struct access_pattern *p = calloc(1, sizeof(*p));
	int status;

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->open_end = open_end;
	status = strchr(format, '%') ? compile_apache(p, format, err)
				     : compile_nginx(p, format, err);
	if (status == 0)
		status = check_needed_fields(p, format, err);
	if (status == 0)
		return p;
	access_pattern_free(p);
	return NULL;
}

void access_pattern_free(struct access_pattern *p)
{
	if (!p)
		return;
	buf_free(&p->literals);
	buf_free(&p->passed);
	free(p->time_format);
	free(p);
}

const char *access_pattern_time(const struct access_pattern *p)
{
	return p->time_format;
}

const char *access_pattern_passed(struct access_pattern *p)
{
	const char *names = buf_cstr(&p->passed);

	return names ? names : "";
}

/* --- lines ---------------------------------------------------------------- */

struct pattern_reading {
	const struct access_pattern *p;
	const char *line;
	size_t len;
	size_t at;
	struct buf *scratch;
};

static struct access_text literal_of(const struct access_pattern *p,
				     size_t piece)
{
	const struct pattern_piece *l = &p->pieces[piece];

	return (struct access_text){p->literals.data + l->literal, l->len};
}

static int refuse_line(const struct pattern_reading *r,
		       struct access_text expected, struct error *err)
{
	if (!expected.len)
		return error_set(err, ERROR_INPUT,
				 "column %zu: more than the format has",
				 r->at + 1);
	return error_set(err, ERROR_INPUT, "column %zu: expected '%.*s'%s",
			 r->at + 1, (int)expected.len, expected.data,
			 r->at >= r->len ? ", but the line ends" : "");
}

/* Finds the text `end` at r->at or later; escaped bytes do not count. */
static bool find_end(const struct pattern_reading *r, struct access_text end,
		     bool quoted, size_t *ret_at)
{
	const char *found;

	if (!quoted) {
		found = memmem(r->line + r->at, r->len - r->at, end.data,
			       end.len);
		*ret_at = found ? (size_t)(found - r->line) : 0;
		return found != NULL;
	}
	for (size_t i = r->at; i + end.len <= r->len; i++) {
		if (r->line[i] == '\\')
			i++;
		else if (!memcmp(r->line + i, end.data, end.len)) {
			*ret_at = i;
			return true;
		}
	}
	return false;
}

/* Returns the character of an escape; *ret_len is the length of the escape,
 * with the backslash.  An unknown escape stands for itself. */
static char unescape_line_char(const char *at, size_t len, size_t *ret_len)
{
	static const char codes[] = "n\nt\tr\rb\bv\vf\f\"\"\\\\";
	int byte = len >= 4 && at[1] == 'x' ? hex_byte(at + 2, len - 2) : -1;

	if (byte >= 0) {
		*ret_len = 4;
		return (char)byte;
	}
	*ret_len = 2;
	for (size_t i = 0; len >= 2 && codes[i]; i += 2)
		if (codes[i] == at[1])
			return codes[i + 1];
	*ret_len = 1;
	return '\\';
}

static struct access_text clean_field_text(struct pattern_reading *r,
					   enum access_field field,
					   struct access_text t)
{
	size_t start = r->scratch->len, n;

	/* A dash for a status means that there was no answer. */
	if (t.len == 1 && *t.data == '-' && field != ACCESS_STATUS)
		return (struct access_text){0};
	if (!t.len || !memchr(t.data, '\\', t.len))
		return t;
	/* `scratch` has room for the whole line, so that texts do not move. */
	for (size_t i = 0; i < t.len; i += n) {
		char c = t.data[i];

		n = 1;
		if (c == '\\')
			c = unescape_line_char(t.data + i, t.len - i, &n);
		buf_putc(r->scratch, c);
	}
	return (struct access_text){r->scratch->data + start,
				    r->scratch->len - start};
}

/* A blank ends a field that is not quoted, unless the format has another end;
 * in names of users and in times it is part of the field. */
static bool has_blank(const struct pattern_piece *piece, struct access_text end,
		      struct access_text t)
{
	if (piece->blanks || piece->quoted)
		return false;
	if (end.len && end.data[0] != ' ' && end.data[0] != ':')
		return false;
	return t.len && memchr(t.data, ' ', t.len);
}

static bool is_address(enum access_field field)
{
	return field == ACCESS_ADDRESS || field == ACCESS_FORWARDED ||
	       field == ACCESS_CLIENT;
}

/* An address before a port ("%h:%p") ends at the last colon before a blank,
 * since IPv6 addresses contain colons. */
static size_t last_colon(const struct pattern_reading *r, size_t first)
{
	for (size_t i = first; i < r->len && r->line[i] != ' '; i++)
		if (r->line[i] == ':')
			first = i;
	return first;
}

static bool is_list(const struct pattern_piece *piece, struct access_text t)
{
	return is_address(piece->field) && t.len && memchr(t.data, ',', t.len);
}

/* Finds the next place after `at` where the field may end. */
static bool find_next(const struct pattern_reading *r, struct access_text end,
		      size_t at, size_t *ret_at)
{
	struct pattern_reading rest = *r;

	rest.at = at + 1;
	return find_end(&rest, end, false, ret_at);
}

/* "1.2.3.4, 5.6.7.8" is one field although blanks end other fields. */
static size_t list_end(const struct pattern_reading *r, struct access_text end,
		       size_t at)
{
	size_t next;

	while (at > r->at && r->line[at - 1] == ',' &&
	       find_next(r, end, at, &next))
		at = next;
	return at;
}

/* Returns the end of the longest text from here on that is a time and ends at
 * an allowed place. */
static size_t time_end(const struct pattern_reading *r, struct access_text end,
		       size_t at)
{
	size_t longest = at, next = at;
	struct error ignored = {0};
	int64_t ms;

	while (next - r->at <= ACCESS_TIME_MAX) {
		if (access_time_read(r->line + r->at, next - r->at,
				     r->p->time_format, false, &ms,
				     &ignored) == 0)
			longest = next;
		if (next == r->len || !find_next(r, end, next, &next))
			break;
	}
	return longest;
}

/* A field that ends at a blank may contain blanks itself. */
static size_t extend_field_end(const struct pattern_reading *r,
			       const struct pattern_piece *piece,
			       struct access_text end, size_t stop)
{
	if (piece->quoted || !end.len)
		return stop;
	if (is_address(piece->field) && *end.data == ':')
		return last_colon(r, stop);
	if (*end.data != ' ')
		return stop;
	if (is_address(piece->field))
		return list_end(r, end, stop);
	return piece->field == ACCESS_TIME ? time_end(r, end, stop) : stop;
}

static int read_field(struct pattern_reading *r, size_t i,
		      struct access_fields *fields, struct error *err)
{
	static const struct access_text blank = {" ", 1};
	const struct pattern_piece *piece = &r->p->pieces[i];
	bool last = i + 1 == r->p->count;
	struct access_text end =
		last ? (struct access_text){0} : literal_of(r->p, i + 1);
	size_t stop = r->len;
	struct access_text t;

	if (last && r->p->open_end && !find_end(r, blank, false, &stop))
		stop = r->len;
	if (!last && !find_end(r, end, piece->quoted, &stop)) {
		r->at = r->len;
		return refuse_line(r, end, err);
	}
	stop = extend_field_end(r, piece, last && r->p->open_end ? blank : end,
				stop);
	t = (struct access_text){r->line + r->at, stop - r->at};
	if (!is_list(piece, t) && has_blank(piece, end, t)) {
		r->at += (size_t)((const char *)memchr(t.data, ' ', t.len) -
				  t.data);
		return refuse_line(r, end, err);
	}
	r->at = stop;
	t = clean_field_text(r, piece->field, t);
	/* If several fields are of the same kind, the first that is not empty
	 * counts. */
	if (piece->field != ACCESS_PASSED && !fields->texts[piece->field].len)
		fields->texts[piece->field] = t;
	return 0;
}

static int read_literal(struct pattern_reading *r, size_t i, struct error *err)
{
	struct access_text t = literal_of(r->p, i);

	if (r->len - r->at < t.len ||
	    memcmp(r->line + r->at, t.data, t.len) != 0)
		return refuse_line(r, t, err);
	r->at += t.len;
	return 0;
}

int access_pattern_read(const struct access_pattern *p, const char *line,
			size_t len, struct buf *scratch,
			struct access_fields *ret_fields, struct error *err)
{
	struct pattern_reading r = {p, line, len, 0, scratch};

	*ret_fields = (struct access_fields){0};
	buf_reset(scratch);
	if (!buf_reserve(scratch, len + 1))
		return error_set_nomem(err);
	for (size_t i = 0; i < p->count; i++) {
		bool literal = p->pieces[i].len > 0;

		if (literal ? read_literal(&r, i, err) < 0
			    : read_field(&r, i, ret_fields, err) < 0)
			return -1;
	}
	if (r.at < len && !(p->open_end && line[r.at] == ' '))
		return refuse_line(&r, (struct access_text){0}, err);
	return 0;
}
