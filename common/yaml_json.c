#include "common/yaml_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 64

static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node,
		       int depth);

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
				int depth)
{
	json_t *array = json_array();

	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     array && i < node->data.sequence.items.top; i++) {
		json_t *item = to_json(doc, yaml_document_get_node(doc, *i),
				       depth + 1);

		if (json_array_append_new(array, item) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *mapping_to_json(yaml_document_t *doc, const yaml_node_t *node,
			       int depth)
{
	json_t *object = json_object();

	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     object && p < node->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(doc, p->key);
		json_t *value = to_json(
			doc, yaml_document_get_node(doc, p->value), depth + 1);

		if (key->type != YAML_SCALAR_NODE ||
		    json_object_set_new(object,
					(const char *)key->data.scalar.value,
					value) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node, int depth)
{
	if (!node || depth > DEPTH_MAX)
		return NULL;
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return scalar_to_json(node);
	case YAML_SEQUENCE_NODE:
		return sequence_to_json(doc, node, depth);
	case YAML_MAPPING_NODE:
		return mapping_to_json(doc, node, depth);
	case YAML_NO_NODE:
	default:
		return NULL;
	}
}

static json_t *parse(const char *yaml, struct error *err)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	json_t *root = NULL;

	error_set(err, ERROR_INPUT, "not a YAML document");
	if (!yaml_parser_initialize(&parser))
		return NULL;
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml,
				     strlen(yaml));
	if (yaml_parser_load(&parser, &doc)) {
		root = to_json(&doc, yaml_document_get_root_node(&doc), 0);
		yaml_document_delete(&doc);
	} else if (parser.problem) {
		error_set(err, ERROR_INPUT, "line %zu: %s",
			  parser.problem_mark.line + 1, parser.problem);
	}
	yaml_parser_delete(&parser);
	return root;
}

int yaml_to_json(const char *yaml, struct buf *out, struct error *err)
{
	struct error problem = {0};
	json_t *root = parse(yaml, &problem);
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;

	json_decref(root);
	if (!text)
		return error_set(err, ERROR_INPUT, "%s", problem.text);
	buf_puts(out, text);
	buf_putc(out, '\n');
	free(text);
	return out->failed ? error_set_nomem(err) : 0;
}
