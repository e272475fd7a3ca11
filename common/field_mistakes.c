#include "common/field_mistakes.h"

#include <string.h>

#include "common/json_text.h"

#define NAME_MAX_BYTES 64

void field_mistakes_add(struct field_mistakes *m, const char *field,
			const struct error *err)
{
	if (!m->count)
		m->first = *err;
	if (m->count == FIELD_MISTAKES_MAX)
		return;
	m->count++;
	buf_append(&m->texts, field, strnlen(field, NAME_MAX_BYTES));
	buf_putc(&m->texts, '\0');
	buf_append(&m->texts, err->text, strlen(err->text) + 1);
}

int field_mistakes_result(const struct field_mistakes *m, struct error *err)
{
	if (!m->count)
		return 0;
	*err = m->first;
	return -1;
}

/* Appends "field":"patch.url". */
static void put_name(struct buf *out, const char *within, const char *field)
{
	struct buf name = {0};

	buf_puts(&name, within);
	buf_puts(&name, field);
	buf_puts(out, "\"field\":");
	json_put_lossy(out, name.data ? name.data : "", name.len);
	out->failed |= name.failed;
	buf_free(&name);
}

const char *field_mistakes_format(const struct field_mistakes *m,
				  const char *within, struct buf *out)
{
	const char *at = m->texts.data, *members;

	if (!m->count || m->texts.failed)
		return "";
	buf_putc(out, ',');
	put_name(out, within, at);
	buf_puts(out, ",\"errors\":[");
	for (size_t i = 0; i < m->count; i++) {
		buf_puts(out, i ? ",{" : "{");
		put_name(out, within, at);
		at += strlen(at) + 1;
		buf_puts(out, ",\"detail\":");
		json_put_lossy(out, at, strlen(at));
		at += strlen(at) + 1;
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
	members = buf_cstr(out);
	return members ? members : "";
}

void field_mistakes_release(struct field_mistakes *m)
{
	buf_free(&m->texts);
	*m = (struct field_mistakes){0};
}
