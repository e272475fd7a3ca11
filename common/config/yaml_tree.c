#include "common/config/yaml_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *yaml_scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

int yaml_tree_error(struct error *err, const struct yaml_tree *tree,
		    const yaml_node_t *node, const char *key, const char *fmt,
		    ...)
{
	char what[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!node)
		return error_set(err, ERROR_CONFIG, "%s: %s: %s", tree->file,
				 key, what);
	return error_set(err, ERROR_CONFIG, "%s:%zu:%zu: %s: %s", tree->file,
			 node->start_mark.line + 1, node->start_mark.column + 1,
			 key, what);
}

static int check_mapping(struct yaml_tree *tree, yaml_node_t *mapping,
			 struct error *err)
{
	yaml_node_t *key, *value, *other;

	for (size_t i = 0; yaml_tree_pair(tree, mapping, i, &key, &value);
	     i++) {
		if (key->type != YAML_SCALAR_NODE ||
		    strlen(yaml_scalar(key)) != key->data.scalar.length)
			return yaml_tree_error(err, tree, key, "(key)",
					       "a key must be plain text");
		for (size_t j = 0; j < i; j++) {
			yaml_tree_pair(tree, mapping, j, &other, &value);
			if (!strcmp(yaml_scalar(other), yaml_scalar(key)))
				return yaml_tree_error(
					err, tree, key, yaml_scalar(key),
					"given twice, first in line %zu",
					other->start_mark.line + 1);
		}
	}
	return 0;
}

static int check_keys(struct yaml_tree *tree, struct error *err)
{
	yaml_node_t *node;

	for (int i = 1; (node = yaml_document_get_node(&tree->document, i));
	     i++) {
		if (node->type == YAML_MAPPING_NODE &&
		    check_mapping(tree, node, err) < 0)
			return -1;
	}
	return 0;
}

static int parse(struct yaml_tree *tree, FILE *in, struct error *err)
{
	yaml_parser_t parser;
	int status = 0;

	if (!yaml_parser_initialize(&parser))
		return error_set_nomem(err);
	yaml_parser_set_input_file(&parser, in);
	if (yaml_parser_load(&parser, &tree->document))
		tree->loaded = true;
	else
		status = error_set(err, ERROR_CONFIG, "%s:%zu:%zu: %s%s%s",
				   tree->file, parser.problem_mark.line + 1,
				   parser.problem_mark.column + 1,
				   parser.context ? parser.context : "",
				   parser.context ? ": " : "",
				   parser.problem ? parser.problem
						  : "not valid YAML");
	yaml_parser_delete(&parser);
	return status;
}

int yaml_tree_load(struct yaml_tree *tree, const char *path, struct error *err)
{
	FILE *in = fopen(path, "rbe");
	int status;

	*tree = (struct yaml_tree){.file = path};
	if (!in) {
		error_set_errno(err, "%s: cannot read the configuration", path);
		err->code = ERROR_CONFIG;
		return -1;
	}
	status = parse(tree, in, err);
	fclose(in);
	return status < 0 ? -1 : check_keys(tree, err);
}

void yaml_tree_release(struct yaml_tree *tree)
{
	if (tree->loaded)
		yaml_document_delete(&tree->document);
	tree->loaded = false;
}

yaml_node_t *yaml_tree_root(struct yaml_tree *tree)
{
	return yaml_document_get_root_node(&tree->document);
}

bool yaml_tree_pair(struct yaml_tree *tree, yaml_node_t *mapping, size_t i,
		    yaml_node_t **ret_key, yaml_node_t **ret_value)
{
	yaml_node_pair_t *pair = mapping->data.mapping.pairs.start + i;

	if (pair >= mapping->data.mapping.pairs.top)
		return false;
	*ret_key = yaml_document_get_node(&tree->document, pair->key);
	*ret_value = yaml_document_get_node(&tree->document, pair->value);
	return true;
}

yaml_node_t *yaml_tree_get(struct yaml_tree *tree, yaml_node_t *mapping,
			   const char *key)
{
	yaml_node_t *k, *value;

	for (size_t i = 0; yaml_tree_pair(tree, mapping, i, &k, &value); i++) {
		if (!strcmp(yaml_scalar(k), key))
			return value;
	}
	return NULL;
}

yaml_node_t *yaml_tree_item(struct yaml_tree *tree, yaml_node_t *sequence,
			    size_t i)
{
	yaml_node_item_t *item = sequence->data.sequence.items.start + i;

	if (item >= sequence->data.sequence.items.top)
		return NULL;
	return yaml_document_get_node(&tree->document, *item);
}
