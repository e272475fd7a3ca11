#include "collector/tools/access_log/access_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_compile.h"
#include "common/hex.h"

void access_pattern_free(struct access_pattern *p)
{
	if (!p)
		return;
	buf_free(&p->literals);
	free(p->time_format);
	free(p);
}

const char *access_pattern_time(const struct access_pattern *p)
{
	return p->time_format;
}

struct reading {
	const struct access_pattern *p;
	const char *line;
	size_t len;
	size_t at;
	struct buf *scratch;
};

static struct access_text literal_of(const struct access_pattern *p,
				     size_t piece)
{
	const struct access_piece *l = &p->pieces[piece];

	return (struct access_text){p->literals.data + l->literal, l->len};
}

static int refuse(const struct reading *r, struct access_text expected,
		  struct error *err)
{
	if (!expected.len)
		return error_set(err, ERROR_INPUT,
				 "column %zu: more than the format has",
				 r->at + 1);
	return error_set(err, ERROR_INPUT, "column %zu: expected '%.*s'%s",
			 r->at + 1, (int)expected.len, expected.data,
			 r->at >= r->len ? ", but the line ends" : "");
}

/* Where the text `end` is, from r->at on; escaped bytes are not it. */
static bool find_end(const struct reading *r, struct access_text end,
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

/* What an escape stands for; *ret_len is how long it is, its backslash
 * included.  One that nobody writes stands for itself. */
static char unescape(const char *at, size_t len, size_t *ret_len)
{
	static const char codes[] = "n\nt\tr\rb\bv\vf\f\"\"\\\\";

	int high = len >= 4 && at[1] == 'x' ? hex_digit(at[2]) : -1;
	int low = high >= 0 ? hex_digit(at[3]) : -1;

	if (low >= 0) {
		*ret_len = 4;
		return (char)((unsigned)high << 4 | (unsigned)low);
	}
	*ret_len = 2;
	for (size_t i = 0; len >= 2 && codes[i]; i += 2)
		if (codes[i] == at[1])
			return codes[i + 1];
	*ret_len = 1;
	return '\\';
}

static struct access_text cleaned(struct reading *r, struct access_text t)
{
	size_t start = r->scratch->len, n;

	if (t.len == 1 && *t.data == '-')
		return (struct access_text){0};
	if (!t.len || !memchr(t.data, '\\', t.len))
		return t;
	/* There is room for the whole line: texts do not move. */
	for (size_t i = 0; i < t.len; i += n) {
		char c = t.data[i];

		n = 1;
		if (c == '\\')
			c = unescape(t.data + i, t.len - i, &n);
		buf_putc(r->scratch, c);
	}
	return (struct access_text){r->scratch->data + start,
				    r->scratch->len - start};
}

/* Blanks end what is not quoted, unless the format says how else it ends; in
 * names of users and in times they are part of it. */
static bool has_blank(const struct access_piece *piece, struct access_text end,
		      struct access_text t)
{
	if (piece->blanks || piece->quoted)
		return false;
	if (end.len && end.data[0] != ' ' && end.data[0] != ':')
		return false;
	return t.len && memchr(t.data, ' ', t.len);
}

static int read_field(struct reading *r, size_t i, struct access_fields *fields,
		      struct error *err)
{
	static const struct access_text blank = {" ", 1};
	const struct access_piece *piece = &r->p->pieces[i];
	bool last = i + 1 == r->p->count;
	struct access_text end =
		last ? (struct access_text){0} : literal_of(r->p, i + 1);
	size_t stop = r->len;
	struct access_text t;

	if (last && r->p->open_end && !find_end(r, blank, false, &stop))
		stop = r->len;
	if (!last && !find_end(r, end, piece->quoted, &stop)) {
		r->at = r->len;
		return refuse(r, end, err);
	}
	t = (struct access_text){r->line + r->at, stop - r->at};
	if (has_blank(piece, end, t)) {
		r->at += (size_t)((const char *)memchr(t.data, ' ', t.len) -
				  t.data);
		return refuse(r, end, err);
	}
	r->at = stop;
	t = cleaned(r, t);
	/* Of several of a kind the first that says something counts. */
	if (piece->field != ACCESS_PASSED && !fields->texts[piece->field].len)
		fields->texts[piece->field] = t;
	return 0;
}

static int read_literal(struct reading *r, size_t i, struct error *err)
{
	struct access_text t = literal_of(r->p, i);

	if (r->len - r->at < t.len ||
	    memcmp(r->line + r->at, t.data, t.len) != 0)
		return refuse(r, t, err);
	r->at += t.len;
	return 0;
}

int access_pattern_read(const struct access_pattern *p, const char *line,
			size_t len, struct buf *scratch,
			struct access_fields *ret_fields, struct error *err)
{
	struct reading r = {p, line, len, 0, scratch};

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
		return refuse(&r, (struct access_text){0}, err);
	return 0;
}
