/* Whatever is read as JSON: jansson reads the same, and refuses the same but
 * for what is beyond our bounds, or a number beyond its own. */
#include <assert.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare_one(const struct json_value *v, const json_t *j)
{
	switch (json_typeof(j)) {
	case JSON_NULL:
		assert(v->kind == JSON_KIND_NULL);
		break;
	case JSON_TRUE:
		assert(v->kind == JSON_KIND_TRUE);
		break;
	case JSON_FALSE:
		assert(v->kind == JSON_KIND_FALSE);
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		assert(v->kind == JSON_KIND_NUMBER &&
		       v->number == json_number_value(j));
		break;
	case JSON_STRING:
		assert(v->kind == JSON_KIND_STRING &&
		       v->string.len == json_string_length(j) &&
		       !memcmp(v->string.text, json_string_value(j),
			       v->string.len + 1));
		break;
	case JSON_ARRAY:
		assert(v->kind == JSON_KIND_ARRAY &&
		       v->count == json_array_size(j));
		break;
	case JSON_OBJECT:
		assert(v->kind == JSON_KIND_OBJECT &&
		       v->count == json_object_size(j));
		break;
	}
}

/* Values are in the order of the text, so each comes after its parent. */
static void compare(const struct json_doc *doc, json_t *root)
{
	json_t *is[JSON_VALUES_MAX] = {root};
	const struct json_value *v;
	size_t place = 0;

	for (uint32_t i = 0; i < doc->count; i++) {
		compare_one(&doc->values[i], is[i]);
		place = 0;
		for (v = json_doc_first(doc, &doc->values[i]); v;
		     v = json_doc_next(doc, v))
			is[v - doc->values] =
				v->name ? json_object_get(is[i], v->name)
					: json_array_get(is[i], place++);
	}
}

/* jansson passes over a NUL behind a number. */
static int may_differ(const char *text, const uint8_t *data, size_t size)
{
	return strstr(text, "too deeply") || strstr(text, "too many") ||
	       memchr(data, 0, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_doc doc;
	struct error err = {0};
	json_error_t why;
	int status = json_doc_read(&doc, (const char *)data, size, &err);
	json_t *root = json_loadb(size ? (const char *)data : "", size,
				  JSON_REJECT_DUPLICATES, &why);

	if (status)
		assert(err.code == ERROR_INPUT &&
		       (!root || may_differ(err.text, data, size)));
	else
		assert(root || strstr(why.text, "overflow") ||
		       strstr(why.text, "too big"));
	if (!status && root)
		compare(&doc, root);
	json_decref(root);
	json_doc_free(&doc);
	return 0;
}
