#include "collector/tools/access_log/access_w3c.h"

#include <string.h>
#include <strings.h>

#include "collector/tools/access_log/access_names.h"
#include "common/hex.h"

#define FIELDS "#Fields:"

void access_w3c_release(struct access_w3c *w)
{
	buf_free(&w->scratch);
	*w = (struct access_w3c){0};
}

bool access_w3c_is_remark(const char *line, size_t len)
{
	return len && *line == '#';
}

/* Takes off a line what stands before the next separator; the rest is without
 * data where there is none. */
static struct access_text take(struct access_text *line, const char *separators)
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

/* Of two columns of one field the one with the lower rank counts. */
static enum access_field outrank(struct access_w3c *w, enum access_field field,
				 unsigned rank)
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

void access_w3c_remark(struct access_w3c *w, const char *line, size_t len,
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

		name = take(&rest, " \t\r");
		if (!name.len)
			continue;
		field = access_field_of_column(name.data, name.len, &rank);
		if (field == ACCESS_PASSED)
			access_unknown_note(unknown, name.data, name.len);
		w->ranks[w->count] = rank;
		field = outrank(w, field, rank);
		w->columns[w->count++] = field;
	}
}

/* CloudFront escapes what is not ASCII, and once escaped it twice; IIS writes
 * plus signs for blanks. */
static struct access_text agent(struct access_w3c *w, struct access_text t,
				bool tabs)
{
	buf_reset(&w->scratch);
	for (size_t i = 0; i < t.len; i++) {
		bool escape = tabs && t.data[i] == '%';
		int high, low;

		if (escape && t.len - i >= 5 && !memcmp(t.data + i, "%25", 3))
			i += 2;
		high = escape && i + 2 < t.len ? hex_digit(t.data[i + 1]) : -1;
		low = high >= 0 ? hex_digit(t.data[i + 2]) : -1;
		if (low >= 0) {
			buf_putc(&w->scratch,
				 (char)((unsigned)high << 4 | (unsigned)low));
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

int access_w3c_read(struct access_w3c *w, const char *line, size_t len,
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
		t = take(&rest, tabs ? "\t" : " ");
		if (t.len == 1 && *t.data == '-' &&
		    w->columns[i] != ACCESS_STATUS)
			t.len = 0;
		if (w->columns[i] == ACCESS_PASSED || !t.len ||
		    f.texts[w->columns[i]].len)
			continue;
		if (w->columns[i] == ACCESS_USER_AGENT)
			t = agent(w, t, tabs);
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
