#include "common/yaml_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 64

static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node, int depth,
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
				int depth, struct error *err)
{
	json_t *array = json_array();

	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     array && i < node->data.sequence.items.top; i++) {
		json_t *item = to_json(doc, yaml_document_get_node(doc, *i),
				       depth + 1, err);

		if (json_array_append_new(array, item) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

/* Of two values by one name a reader of the JSON would see the last. */
static int add_pair(json_t *object, yaml_document_t *doc,
		    const yaml_node_pair_t *pair, int depth, struct error *err)
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
		to_json(doc, yaml_document_get_node(doc, pair->value),
			depth + 1, err));
}

static json_t *mapping_to_json(yaml_document_t *doc, const yaml_node_t *node,
			       int depth, struct error *err)
{
	json_t *object = json_object();

	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     object && p < node->data.mapping.pairs.top; p++)
		if (add_pair(object, doc, p, depth, err) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

static json_t *to_json(yaml_document_t *doc, const yaml_node_t *node, int depth,
		       struct error *err)
{
	if (!node || depth > DEPTH_MAX)
		return NULL;
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return scalar_to_json(node);
	case YAML_SEQUENCE_NODE:
		return sequence_to_json(doc, node, depth, err);
	case YAML_MAPPING_NODE:
		return mapping_to_json(doc, node, depth, err);
	case YAML_NO_NODE:
	default:
		return NULL;
	}
}

/* NULL: there is none, or it cannot be read. */
static json_t *load(yaml_parser_t *parser, struct error *err)
{
	yaml_document_t doc;
	yaml_node_t *root;
	json_t *json = NULL;

	if (!yaml_parser_load(parser, &doc)) {
		if (parser->problem)
			error_set(err, ERROR_INPUT, "line %zu: %s",
				  parser->problem_mark.line + 1,
				  parser->problem);
		return NULL;
	}
	root = yaml_document_get_root_node(&doc);
	json = root ? to_json(&doc, root, 0, err) : json_null();
	yaml_document_delete(&doc);
	return json;
}

/* Who separates two lists by "---" has one of them read. */
static int check_end(yaml_parser_t *parser, struct error *err)
{
	yaml_document_t doc;
	yaml_node_t *root;
	int status = 0;

	if (!yaml_parser_load(parser, &doc))
		return error_set(err, ERROR_INPUT, "line %zu: %s",
				 parser->problem_mark.line + 1,
				 parser->problem ? parser->problem
						 : "not a YAML document");
	root = yaml_document_get_root_node(&doc);
	if (root)
		status = error_set(err, ERROR_INPUT,
				   "line %zu: a second document",
				   root->start_mark.line + 1);
	yaml_document_delete(&doc);
	return status;
}

static json_t *parse(const char *yaml, struct error *err)
{
	yaml_parser_t parser;
	json_t *root;

	error_set(err, ERROR_INPUT, "not a YAML document");
	if (!yaml_parser_initialize(&parser))
		return NULL;
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml,
				     strlen(yaml));
	root = load(&parser, err);
	if (root && check_end(&parser, err) < 0) {
		json_decref(root);
		root = NULL;
	}
	yaml_parser_delete(&parser);
	return root;
}

int yaml_to_json(const char *yaml, struct buf *out, struct error *err)
{
	struct error problem = {0};
	json_t *root = parse(yaml, &problem);
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
