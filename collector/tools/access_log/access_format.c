#include "collector/tools/access_log/access_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collector/tools/access_log/access_json.h"
#include "collector/tools/access_log/access_names.h"
#include "collector/tools/access_log/access_pattern.h"
#include "collector/tools/access_log/access_unknown.h"
#include "common/hex.h"
#include "common/host.h"

/* --- logs in columns -------------------------------------------------------
 */

/*
 * The W3C's extended format, as IIS and CloudFront write it: a line "#Fields:
 * date time c-ip ..." names the columns of the lines after it.  Columns end at
 * tabs, if the line has one, otherwise at blanks.
 */
enum {
	W3C_COLUMNS_MAX = 128
};

struct w3c {
	enum access_field columns[W3C_COLUMNS_MAX];
	unsigned ranks[W3C_COLUMNS_MAX];
	size_t count;	    /* 0: no such line was read yet */
	struct buf scratch; /* agents after unescaping */
};

#define FIELDS "#Fields:"

static void w3c_release(struct w3c *w)
{
	buf_free(&w->scratch);
	*w = (struct w3c){0};
}

static bool is_remark(const char *line, size_t len)
{
	return len && *line == '#';
}

/* Removes the text before the next separator from a line; if there is no
 * separator, the rest has no data. */
static struct access_text take_column(struct access_text *line,
				      const char *separators)
{
	struct access_text t = *line;
	size_t n = 0;

	while (n < line->len && !strchr(separators, line->data[n]))
		n++;
	t.len = n;
	if (n < line->len)
		*line = (struct access_text){line->data + n + 1,
					     line->len - n - 1};
	else
		*line = (struct access_text){0};
	return t;
}

/* If two columns have the same field, the one with the lower rank counts. */
static enum access_field
resolve_duplicate_field(struct w3c *w, enum access_field field, unsigned rank)
{
	for (size_t i = 0; field != ACCESS_PASSED && i < w->count; i++) {
		if (w->columns[i] != field)
			continue;
		if (w->ranks[i] <= rank)
			return ACCESS_PASSED;
		w->columns[i] = ACCESS_PASSED;
	}
	return field;
}

static void take_remark(struct w3c *w, const char *line, size_t len,
			struct access_unknown *unknown)
{
	struct access_text rest, name;
	size_t n = strlen(FIELDS);

	if (len < n || strncasecmp(line, FIELDS, n) != 0)
		return;
	w->count = 0;
	rest = (struct access_text){line + n, len - n};
	while (rest.data && w->count < W3C_COLUMNS_MAX) {
		enum access_field field;
		unsigned rank;

		name = take_column(&rest, " \t\r");
		if (!name.len)
			continue;
		field = access_field_of_column(name.data, name.len, &rank);
		if (field == ACCESS_PASSED)
			access_unknown_note(unknown, name.data, name.len);
		w->ranks[w->count] = rank;
		field = resolve_duplicate_field(w, field, rank);
		w->columns[w->count++] = field;
	}
}

/* CloudFront escapes non-ASCII characters, formerly twice; IIS writes plus
 * signs for blanks. */
static struct access_text unescape_agent(struct w3c *w, struct access_text t,
					 bool tabs)
{
	buf_reset(&w->scratch);
	for (size_t i = 0; i < t.len; i++) {
		bool escape = tabs && t.data[i] == '%';
		int byte;

		if (escape && t.len - i >= 5 && !memcmp(t.data + i, "%25", 3))
			i += 2;
		byte = escape ? hex_byte(t.data + i + 1, t.len - i - 1) : -1;
		if (byte >= 0) {
			buf_putc(&w->scratch, (char)byte);
			i += 2;
		} else {
			buf_putc(&w->scratch, escape ? '%'
					      : !tabs && t.data[i] == '+'
						      ? ' '
						      : t.data[i]);
		}
	}
	if (w->scratch.failed)
		return (struct access_text){0};
	return (struct access_text){w->scratch.data, w->scratch.len};
}

static int read_w3c(struct w3c *w, const char *line, size_t len,
		    struct access_fields *ret_fields, struct error *err)
{
	bool tabs = len && memchr(line, '\t', len);
	struct access_text rest = {line, len}, t;
	struct access_fields f = {0};
	size_t i = 0;

	if (!w->count)
		return error_set(err, ERROR_INPUT,
				 "no line '" FIELDS " ...' came before it");
	for (; i < w->count && rest.data; i++) {
		t = take_column(&rest, tabs ? "\t" : " ");
		if (t.len == 1 && *t.data == '-' &&
		    w->columns[i] != ACCESS_STATUS)
			t.len = 0;
		if (w->columns[i] == ACCESS_PASSED || !t.len ||
		    f.texts[w->columns[i]].len)
			continue;
		if (w->columns[i] == ACCESS_USER_AGENT)
			t = unescape_agent(w, t, tabs);
		f.texts[w->columns[i]] = t;
	}
	if (i < w->count || rest.data)
		return error_set(err, ERROR_INPUT,
				 "it has %s columns than the %zu that '" FIELDS
				 "' named",
				 i < w->count ? "fewer" : "more", w->count);
	*ret_fields = f;
	return 0;
}

/* --- all formats -----------------------------------------------------------
 */

enum {
	READERS_MAX = 24,
	/* The prefix of syslog may reach this far into a line. */
	SYSLOG_MAX = 160,
};

enum reader_kind {
	READER_TEXT,
	READER_JSON,
	READER_W3C,
};

struct access_reader {
	const char *name;
	enum reader_kind kind;
	struct access_pattern *pattern; /* for READER_TEXT */
};

struct access_format {
	struct access_rules rules;
	struct access_reader readers[READERS_MAX];
	size_t count;
	const struct access_reader *chosen; /* NULL: not chosen yet */
	struct access_json *json;
	struct w3c w3c;
	struct access_unknown unknown;
	struct buf scratch;
};

static const struct {
	const char *name;
	const char *format; /* NULL: JSON; "": the W3C's format */
	bool open_end;
} known[] = {
#define ACCESS_FORMAT(name, format, open_end) {name, format, open_end},
#define ACCESS_FORMAT_ALSO(name, other)
#include "collector/tools/access_log/access_formats.inc"
#undef ACCESS_FORMAT
#undef ACCESS_FORMAT_ALSO
};

static const struct {
	const char *name;
	const char *other;
} also[] = {
#define ACCESS_FORMAT(name, format, open_end)
#define ACCESS_FORMAT_ALSO(name, other) {name, other},
#include "collector/tools/access_log/access_formats.inc"
#undef ACCESS_FORMAT
#undef ACCESS_FORMAT_ALSO
};

enum {
	KNOWN_COUNT = sizeof(known) / sizeof(known[0]),
	ALSO_COUNT = sizeof(also) / sizeof(also[0]),
};

_Static_assert((int)KNOWN_COUNT <= (int)READERS_MAX, "READERS_MAX");

static int add_reader(struct access_format *f, const char *name,
		      const char *format, bool open_end, struct error *err)
{
	struct access_reader *r = &f->readers[f->count];

	r->name = name;
	r->kind = !format ? READER_JSON : *format ? READER_TEXT : READER_W3C;
	if (r->kind == READER_TEXT) {
		r->pattern = access_pattern_new(format, open_end, err);
		if (!r->pattern)
			return -1;
	}
	f->count++;
	return 0;
}

/* In a format that the user gave, a field that is skipped may be a mistake. */
static int add_given(struct access_format *f, const char *text,
		     struct error *err)
{
	const char *names, *end;

	if (add_reader(f, "as given", text, false, err) < 0)
		return -1;
	names = access_pattern_passed(f->readers[0].pattern);
	for (; *names; names = *end ? end + 1 : end) {
		end = names + strcspn(names, " ");
		access_unknown_note(&f->unknown, names, (size_t)(end - names));
	}
	return 0;
}

static int fill_readers(struct access_format *f, const char *text,
			struct error *err)
{
	bool any = !strcmp(text, "auto");
	const char *name = text;

	for (size_t i = 0; i < ALSO_COUNT; i++)
		if (!strcmp(text, also[i].name))
			name = also[i].other;
	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		if (!any && strcmp(name, known[i].name) != 0)
			continue;
		if (add_reader(f, any ? known[i].name : text, known[i].format,
			       known[i].open_end, err) < 0)
			return -1;
	}
	if (f->count)
		return 0;
	if (!strpbrk(text, "%$"))
		return error_set(err, ERROR_USAGE,
				 "--format: '%s' is none of those that --help "
				 "names, and has no %% or $ in it",
				 text);
	return add_given(f, text, err);
}

struct access_format *access_format_new(const char *text, const char *json_keys,
					const struct access_rules *rules,
					struct error *err)
{
	struct access_format *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->rules = *rules;
	f->json = access_json_new(json_keys, err);
	if (f->json && fill_readers(f, text, err) == 0) {
		f->chosen = f->count == 1 ? &f->readers[0] : NULL;
		return f;
	}
	access_format_free(f);
	return NULL;
}

void access_format_free(struct access_format *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < READERS_MAX; i++)
		access_pattern_free(f->readers[i].pattern);
	access_json_free(f->json);
	w3c_release(&f->w3c);
	access_unknown_release(&f->unknown);
	buf_free(&f->scratch);
	free(f);
}

void access_format_restart(struct access_format *f)
{
	f->chosen = f->count == 1 ? &f->readers[0] : NULL;
	f->w3c.count = 0;
	/* The unknown names of a format that the user gave stay for the next
	 * file. */
	if (f->count > 1 || f->readers[0].kind != READER_TEXT)
		access_unknown_release(&f->unknown);
}

const char *access_format_name(const struct access_format *f)
{
	return f->chosen ? f->chosen->name : "nothing new";
}

void access_format_put_unknown(const struct access_format *f, struct buf *to)
{
	access_unknown_put(&f->unknown, to);
}

static bool may_be(const struct access_format *f, enum reader_kind kind)
{
	if (f->chosen)
		return f->chosen->kind == kind;
	for (size_t i = 0; i < f->count; i++)
		if (f->readers[i].kind == kind)
			return true;
	return false;
}

bool access_format_remark(struct access_format *f, const char *line, size_t len)
{
	if (!is_remark(line, len) || !may_be(f, READER_W3C))
		return false;
	take_remark(&f->w3c, line, len, &f->unknown);
	return true;
}

/* --- prefix of a line ----------------------------------------------------- */

/* Returns the length of a prefix like "Nov 28 00:00:00 host haproxy[123]: "; 0:
 * none. */
static size_t syslog_length(const char *line, size_t len)
{
	size_t max = len < SYSLOG_MAX ? len : SYSLOG_MAX;
	const char *end = max ? memmem(line, max, ": ", 2) : NULL;

	if (!end || !memchr(line, ' ', (size_t)(end - line)))
		return 0;
	if (!isalpha((unsigned char)*line) && !isdigit((unsigned char)*line) &&
	    *line != '<')
		return 0;
	return (size_t)(end - line) + 2;
}

static int read_text(struct access_format *f, const struct access_reader *r,
		     const char *line, size_t len,
		     struct access_fields *ret_fields, struct error *err)
{
	struct error ignored = {0};
	size_t before;

	if (access_pattern_read(r->pattern, line, len, &f->scratch, ret_fields,
				err) == 0)
		return 0;
	before = syslog_length(line, len);
	if (err->code != ERROR_INPUT || !before ||
	    access_pattern_read(r->pattern, line + before, len - before,
				&f->scratch, ret_fields, &ignored) < 0)
		return -1;
	*err = (struct error){0};
	return 0;
}

static int read_json(struct access_format *f, const char *line, size_t len,
		     struct access_fields *ret_fields, struct error *err)
{
	size_t before = len && *line != '{' ? syslog_length(line, len) : 0;

	return access_json_read(f->json, line + before, len - before,
				&f->unknown, ret_fields, err);
}

static int read_as(struct access_format *f, const struct access_reader *r,
		   const char *line, size_t len, struct access_visit *ret_visit,
		   struct error *err)
{
	struct access_rules rules = f->rules;
	struct access_fields fields;
	const char *time_format = NULL;
	int status = -1;

	switch (r->kind) {
	case READER_JSON:
		status = read_json(f, line, len, &fields, err);
		break;
	case READER_W3C:
		/* The format defines its times as UTC. */
		rules.local_times = false;
		status = read_w3c(&f->w3c, line, len, &fields, err);
		break;
	case READER_TEXT:
		time_format = access_pattern_time(r->pattern);
		status = read_text(f, r, line, len, &fields, err);
		break;
	}
	if (status < 0)
		return -1;
	return access_visit_read(&fields, time_format, &rules, ret_visit, err);
}

/* --- choice of the format ------------------------------------------------- */

/* Accepts a name with a dot or a port, an address, or "localhost": the column
 * of a host may also hold a user's name. */
static bool is_host(struct access_text t)
{
	struct host host;
	struct error ignored = {0};

	if (!t.len ||
	    host_parse(t.data, host_length(t.data, t.len), &host, &ignored) < 0)
		return false;
	return (host.kind != HOST_NAME || memchr(t.data, '.', t.len) ||
		memchr(t.data, ':', t.len) || !strcmp(host.text, "localhost"));
}

/* Returns how much of a visit a format finds in a line. */
static unsigned score_visit(const struct access_visit *v)
{
	return (v->ip_len ? 8U : 0U) + (v->path.len ? 4U : 0U) +
	       (v->user_agent.len ? 2U : 0U) + (is_host(v->host) ? 1U : 0U);
}

/* Chooses the format that finds most in the line, the first of equal ones.  A
 * forwarded client that is no address shows that the line has another
 * format. */
static const struct access_reader *choose_reader(struct access_format *f,
						 const char *line, size_t len)
{
	const struct access_reader *best = NULL;
	unsigned most = 0;
	struct access_visit v;

	for (size_t i = 0; i < f->count; i++) {
		const struct access_reader *r = &f->readers[i];
		struct error err = {0};

		if (read_as(f, r, line, len, &v, &err) < 0 || v.odd_client.len)
			continue;
		if (best && score_visit(&v) <= most)
			continue;
		best = r;
		most = score_visit(&v);
	}
	return best;
}

int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err)
{
	if (len && line[len - 1] == '\r')
		len--;
	if (!f->chosen)
		f->chosen = choose_reader(f, line, len);
	if (!f->chosen)
		return error_set(err, ERROR_INPUT,
				 "in none of the usual formats; see --format");
	return read_as(f, f->chosen, line, len, ret_visit, err);
}
