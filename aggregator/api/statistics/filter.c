#include "aggregator/api/statistics/filter.h"

#include <stdio.h>
#include <string.h>

#include "common/url_digest.h"

/* --- parsing -------------------------------------------------------------- */

/* The values of the column `verdict`. */
static const char *const verdicts[] = {
	"human", "bot", "prefetch", "preview", "monitor", "scanner",
};

static int check_verdict(const char *value, struct error *err)
{
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (!strcmp(value, verdicts[i]))
			return 0;
	return error_set_field(err, "verdict",
			       "expected human, bot, prefetch, preview, "
			       "monitor or scanner");
}

/* Replaces a URL, from `from` on, by its digest. */
static int name_url(struct buf *values, size_t from, struct error *err)
{
	size_t len = values->len - from;
	struct buf digest = {0};

	if (!len || url_digest_is(values->data + from, len))
		return 0;
	if (!memchr(values->data + from, ':', len))
		return error_set_field(err, "url",
				       "expected a URL, or the digest of one: "
				       "32 hexadecimal digits");
	url_digest_put(&digest, values->data + from, len);
	values->len = from;
	buf_append(values, digest.data, digest.len);
	values->failed |= digest.failed;
	buf_free(&digest);
	return buf_cstr(values) ? 0 : error_set_nomem(err);
}

/* `from` is where the value's line begins. */
static int end_value(struct filter *f, size_t from, size_t count,
		     struct error *err)
{
	const char *name = f->dimension->name;
	const char *text = buf_cstr(&f->values);
	bool is_url = dimension_is_url(f->dimension);
	size_t most = is_url ? FILTER_URL_MAX : FILTER_VALUE_MAX;

	if (!text)
		return error_set_nomem(err);
	if (f->values.len - from > most)
		return error_set_field(
			err, name, "expected values of up to %zu bytes", most);
	if (count > FILTER_VALUES_MAX)
		return error_set_field(err, name, "expected up to %d values",
				       FILTER_VALUES_MAX);
	if (is_url)
		return name_url(&f->values, from, err);
	return strcmp(name, "verdict") ? 0 : check_verdict(text + from, err);
}

static int read_values(struct filter *f, const char *text, struct error *err)
{
	size_t from = 0, count = 1;

	for (; *text; text++) {
		if (*text == ',') {
			if (end_value(f, from, count++, err) < 0)
				return -1;
			buf_putc(&f->values, '\n');
			from = f->values.len;
			continue;
		}
		if (*text == '\\' && !*++text)
			return error_set_field(err, f->dimension->name,
					       "expected something after the "
					       "backslash");
		if (*text == '\n')
			return error_set_field(err, f->dimension->name,
					       "expected values of one line");
		buf_putc(&f->values, *text);
	}
	return end_value(f, from, count, err);
}

int filters_add(struct filters *f, const struct dimension *dimension,
		const char *text, struct error *err)
{
	struct filter *one;

	if (f->count == FILTERS_MAX)
		return error_set_field(err, dimension->name,
				       "expected up to %d filters",
				       FILTERS_MAX);
	one = &f->items[f->count++];
	*one = (struct filter){.dimension = dimension, .except = *text == '-'};
	return read_values(one, text + one->except, err);
}

void filters_release(struct filters *f)
{
	for (size_t i = 0; i < f->count; i++)
		buf_free(&f->items[i].values);
	f->count = 0;
}

/* --- matching ------------------------------------------------------------- */

const struct filter *filters_find(const struct filters *f,
				  const char *dimension)
{
	for (size_t i = 0; i < f->count; i++) {
		if (!strcmp(f->items[i].dimension->name, dimension))
			return &f->items[i];
	}
	return NULL;
}

bool filter_takes(const struct filter *f, const char *value)
{
	size_t len = strlen(value);
	const char *line = f->values.data, *end = line + f->values.len;

	for (;;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((next ? next : end) - line);

		if (size == len && !memcmp(line, value, len))
			return !f->except;
		if (!next)
			return f->except;
		line = next + 1;
	}
}

/* --- SQL -------------------------------------------------------------------
 */

void filters_put_sql(const struct filters *f, struct buf *sql)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct filter *one = &f->items[i];

		buf_printf(sql, " AND %s", one->except ? "NOT " : "");
		/* The index of the table knows the column itself. */
		if (dimension_is_url(one->dimension)) {
			buf_printf(sql,
				   "(url_digest IN (SELECT toFixedString(unhex("
				   "arrayJoin(splitByChar('\\n', "
				   "{f%zu:String}))), 16)))",
				   i);
			continue;
		}
		/* A row with several values is not split: it would be counted
		 * several times. */
		if (one->dimension->kind == DIMENSION_MANY)
			buf_printf(sql,
				   "arrayExists(x -> has(splitByChar('\\n', "
				   "{f%zu:String}), "
				   "toString(x)), " DIMENSION_MANY_VALUES ")",
				   i);
		else
			buf_printf(sql,
				   "has(splitByChar('\\n', {f%zu:String}), %s)",
				   i, one->dimension->expression);
	}
}

int filter_params_fill(struct filter_params *p, const struct filters *filters,
		       struct clickhouse_param *to, struct error *err)
{
	bool failed = false;

	*p = (struct filter_params){0};
	for (size_t i = 0; i < filters->count; i++) {
		const struct buf *values = &filters->items[i].values;

		snprintf(p->names[i], sizeof(p->names[i]), "param_f%zu", i);
		clickhouse_escape(&p->values[i], values->data, values->len);
		failed |= p->values[i].failed;
		to[i] = (struct clickhouse_param){p->names[i],
						  p->values[i].data};
	}
	return failed ? error_set_nomem(err) : 0;
}

void filter_params_release(struct filter_params *p)
{
	for (size_t i = 0; i < FILTERS_MAX; i++)
		buf_free(&p->values[i]);
}
