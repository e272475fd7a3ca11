/* yaml_tree.h - a YAML file as a tree whose nodes know where they stand. */
#ifndef COMMON_CONFIG_YAML_TREE_H
#define COMMON_CONFIG_YAML_TREE_H

#include <stdbool.h>
#include <yaml.h>

#include "common/error.h"

struct yaml_tree {
	const char *file; /* the path given to yaml_tree_load, kept */
	yaml_document_t document;
	bool loaded;
};

/*
 * Reads the first document of the file.  Syntax errors, a doubled key anywhere
 * and keys that are not plain text are ERROR_CONFIG with their position.
 * Release with yaml_tree_release, also on failure.
 */
int yaml_tree_load(struct yaml_tree *tree, const char *path, struct error *err);
void yaml_tree_release(struct yaml_tree *tree);

/* NULL when the document is empty. */
yaml_node_t *yaml_tree_root(struct yaml_tree *tree);

/* The value of a mapping's key, or NULL. */
yaml_node_t *yaml_tree_get(struct yaml_tree *tree, yaml_node_t *mapping,
			   const char *key);

/* The key (a NUL-terminated scalar) and value of a mapping's pair i; false past
 * the last one. */
bool yaml_tree_pair(struct yaml_tree *tree, yaml_node_t *mapping, size_t i,
		    yaml_node_t **ret_key, yaml_node_t **ret_value);

/* Item i of a sequence, or NULL past the last one. */
yaml_node_t *yaml_tree_item(struct yaml_tree *tree, yaml_node_t *sequence,
			    size_t i);

const char *yaml_scalar(const yaml_node_t *node);

/*
 * "shortloop.yaml:14:7: kafka.brokers: expected a string".  node NULL: without
 * a position.  Returns -1.
 */
int yaml_tree_error(struct error *err, const struct yaml_tree *tree,
		    const yaml_node_t *node, const char *key, const char *fmt,
		    ...) __attribute__((format(printf, 5, 6)));

#endif
