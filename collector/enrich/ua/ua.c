#include "collector/enrich/ua/ua.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct ua_parser {
	const struct ua_rules *rules;
	struct pattern_matcher *matcher;
};

struct ua_parser *ua_parser_new(const struct ua_rules *rules, struct error *err)
{
	struct ua_parser *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->rules = rules;
	p->matcher = pattern_matcher_new(rules->patterns, err);
	if (p->matcher)
		return p;
	free(p);
	return NULL;
}

void ua_parser_free(struct ua_parser *p)
{
	if (!p)
		return;
	pattern_matcher_free(p->matcher);
	free(p);
}

/* Appends the template; the groups replace its $1 to $9. */
static void expand_template(const char *template,
			    const struct pattern_matcher *m, struct buf *out)
{
	for (const char *c = template; *c; c++) {
		struct pattern_group g;

		if (*c != '$' || c[1] < '1' || c[1] > '9') {
			buf_putc(out, *c);
			continue;
		}
		g = pattern_group(m, (size_t)(*++c - '0'));
		buf_append(out, g.text, g.len);
	}
}

/* Sets a part of the text as the value of a field, without surrounding
 * blanks. */
static void set_field(struct ua_result *r, size_t field, size_t at)
{
	size_t end = r->text.len;

	while (at < end && isspace((unsigned char)r->text.data[at]))
		at++;
	while (end > at && isspace((unsigned char)r->text.data[end - 1]))
		end--;
	r->fields[field].at = at;
	r->fields[field].len = end - at;
}

static void put_field(struct ua_result *r, size_t field, const char *text)
{
	size_t at = r->text.len;

	buf_puts(&r->text, text);
	set_field(r, field, at);
}

/* Returns the pattern that matched, or -1. */
static int parse_section(struct pattern_matcher *m, const struct ua_section *s,
			 const struct ua_section_form *form,
			 struct ua_result *r)
{
	int rule = pattern_first(m, s->first, s->first + s->count);

	for (size_t i = 0; i < form->count; i++) {
		const char *template = "";
		size_t at = r->text.len;

		if (rule >= 0)
			template =
				s->rules[(size_t)rule - s->first].templates[i];
		if (!template)
			template = form->fallback[i];
		expand_template(template, m, &r->text);
		set_field(r, form->first + i, at);
	}
	if (!r->fields[form->first].len)
		put_field(r, form->first, "Other");
	return rule;
}

int ua_parse(struct ua_parser *p, const char *text, size_t len,
	     struct ua_result *result, struct error *err)
{
	buf_reset(&result->text);
	pattern_scan(p->matcher, text, len);
	for (size_t i = 0; i < UA_SECTION_COUNT; i++)
		result->rules[i] =
			parse_section(p->matcher, &p->rules->sections[i],
				      &ua_section_forms[i], result);
	return result->text.failed ? error_set_nomem(err) : 0;
}

struct ua_text ua_get(const struct ua_result *result, enum ua_field field)
{
	return (struct ua_text){result->text.data + result->fields[field].at,
				result->fields[field].len};
}

bool ua_is(const struct ua_result *result, enum ua_field field,
	   const char *value)
{
	struct ua_text t = ua_get(result, field);

	return t.len == strlen(value) && !memcmp(t.data, value, t.len);
}

int ua_set(struct ua_result *result, enum ua_field field, const char *text,
	   size_t len, struct error *err)
{
	size_t at = result->text.len;

	buf_append(&result->text, text, len);
	set_field(result, field, at);
	return result->text.failed ? error_set_nomem(err) : 0;
}

bool ua_rule_of(const struct ua_rules *rules, const struct ua_result *result,
		enum ua_part part, struct ua_rule_source *ret_source)
{
	const struct ua_section *s = &rules->sections[part];
	size_t index;

	if (result->rules[part] < 0)
		return false;
	index = (size_t)result->rules[part] - s->first;
	*ret_source = (struct ua_rule_source){
		pattern_set_regex(rules->patterns, s->first + index), index + 1,
		s->rules[index].line};
	return true;
}

void ua_result_free(struct ua_result *result)
{
	buf_free(&result->text);
}
