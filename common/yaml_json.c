#include "common/yaml_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/yaml_load.h"

/* The recursion is bounded: yaml_load allows a depth of YAML_DEPTH_MAX. */
static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node,
		       struct error *err);

/* An unquoted word may be a number, true, false or null. */
static json_t *scalar_to_json(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;
	char *end;
	long long number;

	if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return json_string(text);
	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return json_boolean(*text == 't');
	if (!strcmp(text, "null") || !*text)
		return json_null();
	number = strtoll(text, &end, 10);
	return *end ? json_string(text) : json_integer(number);
}

static json_t *sequence_to_json(yaml_document_t *doc, const yaml_node_t *node,
				struct error *err)
{
	json_t *array = json_array();

	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     array && i < node->data.sequence.items.top; i++) {
		json_t *item =
			to_json(doc, yaml_document_get_node(doc, *i), err);

		if (json_array_append_new(array, item) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

/* Refuses two values of one name: a reader of the JSON would see only the
 * last. */
static int add_pair(json_t *object, yaml_document_t *doc,
		    const yaml_node_pair_t *pair, struct error *err)
{
	yaml_node_t *key = yaml_document_get_node(doc, pair->key);
	const char *name;

	if (key->type != YAML_SCALAR_NODE)
		return -1;
	name = (const char *)key->data.scalar.value;
	if (json_object_get(object, name))
		return error_set(err, ERROR_INPUT,
				 "line %zu: %.40s: given twice",
				 key->start_mark.line + 1, name);
	return json_object_set_new(
		object, name,
		to_json(doc, yaml_document_get_node(doc, pair->value), err));
}

static json_t *mapping_to_json(yaml_document_t *doc, const yaml_node_t *node,
			       struct error *err)
{
	json_t *object = json_object();

	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     object && p < node->data.mapping.pairs.top; p++)
		if (add_pair(object, doc, p, err) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node,
		       struct error *err)
{
	if (!node)
		return NULL;
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return scalar_to_json(node);
	case YAML_SEQUENCE_NODE:
		return sequence_to_json(doc, node, err);
	case YAML_MAPPING_NODE:
		return mapping_to_json(doc, node, err);
	case YAML_NO_NODE:
	default:
		return NULL;
	}
}

static json_t *parse_yaml_as_json(const char *yaml, struct error *err)
{
	struct yaml_place place;
	yaml_document_t doc;
	yaml_node_t *root;
	struct error why;
	json_t *json;

	if (yaml_load(yaml, strlen(yaml), 0, &doc, &place, &why) < 0) {
		error_set(err, ERROR_INPUT, "line %zu: %s", place.line,
			  why.text);
		return NULL;
	}
	error_set(err, ERROR_INPUT, "not a YAML document");
	root = yaml_document_get_root_node(&doc);
	json = root ? to_json(&doc, root, err) : json_null();
	yaml_document_delete(&doc);
	return json;
}

int yaml_to_json(const char *yaml, struct buf *out, struct error *err)
{
	struct error problem = {0};
	json_t *root = parse_yaml_as_json(yaml, &problem);
	char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_ENCODE_ANY)
			  : NULL;

	json_decref(root);
	if (!text)
		return error_set(err, ERROR_INPUT, "%s", problem.text);
	buf_puts(out, text);
	buf_putc(out, '\n');
	free(text);
	return out->failed ? error_set_nomem(err) : 0;
}
