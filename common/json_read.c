/*
 * A loop over what comes next in the innermost array or object that is open;
 * the chain of those that are open is in the values themselves (`parent`), so
 * that no depth of nesting uses stack.
 */
#include "common/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "common/json_parser.h"

enum {
	VALUES_FIRST = 12 /* room for most requests */
};

struct json_kept {
	struct json_kept *next;
	char text[];
};

static void skip_space(struct json_parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' ||
	       *p->at == '\r')
		p->at++;
}

/* --- numbers -------------------------------------------------------------- */

static bool read_digits(struct json_parser *p)
{
	char *from = p->at;

	while (*p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > from || json_parser_fail(p, "a digit expected");
}

static bool read_number(struct json_parser *p, struct json_value *v)
{
	const char *from = p->at;

	json_parser_take(p, '-');
	if (!json_parser_take(p, '0') && !read_digits(p))
		return false;
	if (json_parser_take(p, '.') && !read_digits(p))
		return false;
	if (json_parser_take(p, 'e') || json_parser_take(p, 'E')) {
		if (!json_parser_take(p, '+'))
			json_parser_take(p, '-');
		if (!read_digits(p))
			return false;
	}
	v->kind = JSON_KIND_NUMBER;
	v->number = strtod(from, NULL);
	return true;
}

/* --- values --------------------------------------------------------------- */

static bool grow(struct json_parser *p)
{
	struct json_doc *doc = p->doc;
	uint32_t cap = doc->cap ? 4 * doc->cap : VALUES_FIRST;
	struct json_value *values;

	if (doc->count == JSON_VALUES_MAX)
		return json_parser_fail(p, "too many values");
	values = realloc(doc->values, cap * sizeof(*values));
	if (!values)
		return json_parser_fail(p, NULL);
	doc->values = values;
	doc->cap = cap;
	return true;
}

/* A new value of the innermost array or object, or NULL. */
static struct json_value *add(struct json_parser *p, const char *name)
{
	struct json_doc *doc = p->doc;
	struct json_value *v, *parent;
	uint32_t index = doc->count;

	if ((index == doc->cap || index == JSON_VALUES_MAX) && !grow(p))
		return NULL;
	v = &doc->values[index];
	*v = (struct json_value){.name = name, .parent = p->open};
	doc->count++;
	if (index == 0)
		return v;
	parent = &doc->values[p->open];
	if (parent->count++ == 0)
		parent->first = index;
	else
		doc->values[parent->last].next = index;
	parent->last = index;
	return v;
}

static bool read_word(struct json_parser *p, struct json_value *v,
		      const char *word, enum json_kind kind)
{
	size_t len = strlen(word);

	if (strncmp(p->at, word, len) != 0)
		return json_parser_fail(p, "a value expected");
	p->at += len;
	v->kind = kind;
	return true;
}

static bool open_container(struct json_parser *p, struct json_value *v,
			   enum json_kind kind)
{
	p->at++;
	v->kind = kind;
	p->open = (uint32_t)(v - p->doc->values);
	return ++p->depth <= JSON_DEPTH_MAX ||
	       json_parser_fail(p, "nested too deeply");
}

static bool read_value(struct json_parser *p, const char *name)
{
	struct json_value *v = add(p, name);

	if (!v)
		return false;
	switch (*p->at) {
	case '{':
		return open_container(p, v, JSON_KIND_OBJECT);
	case '[':
		return open_container(p, v, JSON_KIND_ARRAY);
	case '"':
		v->kind = JSON_KIND_STRING;
		return json_parser_string(p, &v->string.text, &v->string.len);
	case 't':
		return read_word(p, v, "true", JSON_KIND_TRUE);
	case 'f':
		return read_word(p, v, "false", JSON_KIND_FALSE);
	case 'n':
		return read_word(p, v, "null", JSON_KIND_NULL);
	default:
		break;
	}
	if (*p->at != '-' && (*p->at < '0' || *p->at > '9'))
		return json_parser_fail(p, "a value expected");
	return read_number(p, v);
}

/* --- arrays and objects --------------------------------------------------- */

static bool read_name(struct json_parser *p, const struct json_value *object,
		      const char **ret_name)
{
	const struct json_value *v;
	size_t len;

	if (object->count == JSON_MEMBERS_MAX)
		return json_parser_fail(p, "too many members");
	if (!json_parser_string(p, ret_name, &len))
		return false;
	for (v = json_doc_first(p->doc, object); v;
	     v = json_doc_next(p->doc, v))
		if (!strcmp(v->name, *ret_name))
			return json_parser_fail(p,
						"a name for the second time");
	skip_space(p);
	if (!json_parser_take(p, ':'))
		return json_parser_fail(p, "':' expected");
	skip_space(p);
	return true;
}

/* What comes next in the innermost array or object. */
static bool step(struct json_parser *p)
{
	const struct json_value *c = &p->doc->values[p->open];
	bool object = c->kind == JSON_KIND_OBJECT;
	const char *name = NULL;

	skip_space(p);
	if (json_parser_take(p, object ? '}' : ']')) {
		p->open = c->parent;
		p->depth--;
		return true;
	}
	if (c->count > 0) {
		if (!json_parser_take(p, ','))
			return json_parser_fail(p,
						object ? "',' or '}' expected"
						       : "',' or ']' expected");
		skip_space(p);
	}
	if (object && !read_name(p, c, &name))
		return false;
	return read_value(p, name);
}

static bool read_all(struct json_parser *p)
{
	skip_space(p);
	if (*p->at != '{' && *p->at != '[')
		return json_parser_fail(p, "'{' expected");
	if (!read_value(p, NULL))
		return false;
	while (p->depth > 0)
		if (!step(p))
			return false;
	skip_space(p);
	return p->at == p->end || json_parser_fail(p, "nothing more expected");
}

/* --- interface ------------------------------------------------------------ */

/* In the text as it came: the copy has been decoded up to there. */
static int refuse(const struct json_parser *p, const char *text,
		  struct error *err)
{
	size_t at = (size_t)(p->at - p->doc->text), from = at;
	int line = 1;

	if (!p->problem)
		return error_set_nomem(err);
	while (from > 0 && text[from - 1] != '\n')
		from--;
	for (size_t i = 0; i < from; i++)
		line += text[i] == '\n';
	/* The text may be a line itself, and not the first. */
	if (line == 1)
		return error_set(err, ERROR_INPUT, "column %zu: %s",
				 at - from + 1, p->problem);
	return error_set(err, ERROR_INPUT, "line %d, column %zu: %s", line,
			 at - from + 1, p->problem);
}

int json_doc_read(struct json_doc *doc, const char *text, size_t len,
		  struct error *err)
{
	struct json_parser p = {.doc = doc};

	*doc = (struct json_doc){.text = malloc(len + 1)};
	if (!doc->text)
		return error_set_nomem(err);
	if (len > 0)
		memcpy(doc->text, text, len);
	doc->text[len] = '\0';
	p.at = doc->text;
	p.end = doc->text + len;
	return read_all(&p) ? 0 : refuse(&p, text, err);
}

void json_doc_free(struct json_doc *doc)
{
	struct json_kept *kept, *next;

	for (kept = doc->kept; kept; kept = next) {
		next = kept->next;
		free(kept);
	}
	free(doc->values);
	free(doc->text);
	*doc = (struct json_doc){0};
}

static const struct json_value *at(const struct json_doc *doc, uint32_t index)
{
	return index ? &doc->values[index] : NULL;
}

const struct json_value *json_doc_first(const struct json_doc *doc,
					const struct json_value *container)
{
	return container->kind >= JSON_KIND_ARRAY ? at(doc, container->first)
						  : NULL;
}

const struct json_value *json_doc_next(const struct json_doc *doc,
				       const struct json_value *value)
{
	return at(doc, value->next);
}

const char *json_doc_keep(struct json_doc *doc, const char *text, size_t len)
{
	struct json_kept *kept = malloc(sizeof(*kept) + len + 1);

	if (!kept)
		return NULL;
	if (len > 0)
		memcpy(kept->text, text, len);
	kept->text[len] = '\0';
	kept->next = doc->kept;
	doc->kept = kept;
	return kept->text;
}
