#include "collector/tools/access_log/access_compile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_names.h"
#include "collector/tools/access_log/access_pattern.h"

static int refuse(const char *what, const char *at, struct error *err)
{
	return error_set(err, ERROR_USAGE, "--format: %s at '%.40s'", what, at);
}

static int add_literal(struct access_pattern *p, char c, struct error *err)
{
	struct access_piece *last = p->count ? &p->pieces[p->count - 1] : NULL;

	if (!last || !last->len) {
		if (p->count == ACCESS_PIECES_MAX)
			return refuse("too many pieces", "", err);
		last = &p->pieces[p->count++];
		*last = (struct access_piece){.literal = p->literals.len};
	}
	buf_putc(&p->literals, c);
	last->len++;
	return p->literals.failed ? error_set_nomem(err) : 0;
}

static int add_field(struct access_pattern *p, enum access_field field,
		     bool blanks, const char *at, struct error *err)
{
	const struct access_piece *last =
		p->count ? &p->pieces[p->count - 1] : NULL;
	bool quoted = last && last->len && p->literals.len &&
		      p->literals.data[p->literals.len - 1] == '"';

	if (last && !last->len)
		return refuse("nothing tells where a field ends", at, err);
	if (p->count == ACCESS_PIECES_MAX)
		return refuse("too many pieces", at, err);
	p->pieces[p->count++] = (struct access_piece){
		.field = field, .quoted = quoted, .blanks = blanks};
	return 0;
}

/* --- Apache -------------------------------------------------------------- */

/* What the braces before a `t` say of how the time is written. */
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
		return refuse("a second format of the time", text, err);
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
			return refuse("a brace that is not closed", start, err);
		c += len + 1;
	}
	if (!isalpha((unsigned char)*c) && *c != '^')
		return refuse("no directive", start, err);
	/* ^ti and ^to are of trailers. */
	*at = c + (*c == '^' ? strnlen(c, 3) : 1);
	field = access_field_of_directive(*c, argument, len);
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

/* As they are written in httpd.conf, where the format itself is in quotes. */
static char escaped(char c)
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
			status = add_literal(p, escaped(c[1]), err);
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
		return refuse("no variable", start, err);
	*at = name + len + (brace ? 1 : 0);
	field = access_field_of_variable(name, len);
	return add_field(
		p, field,
		field == ACCESS_TIME ||
			(len == 11 && !memcmp(name, "remote_user", 11)),
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
			status = add_literal(p, escaped(c[1]), err);
			c += 2;
		} else {
			status = add_literal(p, *c++, err);
		}
		if (status < 0)
			return -1;
	}
	return 0;
}

/* ------------------------------------------------------------------------- */

static bool has_field(const struct access_pattern *p, enum access_field field)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->pieces[i].len && p->pieces[i].field == field)
			return true;
	return false;
}

static int check(const struct access_pattern *p, const char *format,
		 struct error *err)
{
	if (!has_field(p, ACCESS_TIME))
		return refuse("it has no time", format, err);
	if (!has_field(p, ACCESS_REQUEST) && !has_field(p, ACCESS_URI))
		return refuse("it has no request", format, err);
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
		status = check(p, format, err);
	if (status == 0)
		return p;
	access_pattern_free(p);
	return NULL;
}
