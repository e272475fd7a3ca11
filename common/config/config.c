#include "common/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/buf.h"
#include "common/config/secret.h"
#include "common/config/value.h"
#include "common/read_file.h"
#include "common/yaml_load.h"

#define BYTES_MAX ((size_t)16 << 20)
/* The limit bounds what a short file can expand to: each alias may stand for a
 * whole list. */
#define ANCHORS_MAX 100

/* --- the file as a tree ----------------------------------------------------
 */

struct yaml_tree {
	const char *file; /* as messages name it; must outlive the tree */
	yaml_document_t document;
	bool loaded;
};

static const char *yaml_scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* Returns true if the node is one scalar without a NUL byte, which would hide
 * the rest. */
static bool is_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE &&
	       strlen(yaml_scalar(node)) == node->data.scalar.length;
}

/* Makes an error such as "shortloop.yaml:14:7: kafka.brokers: expected a
 * string".  node NULL: without a position.  Returns -1. */
__attribute__((format(printf, 5, 6))) static int
yaml_tree_error(struct error *err, const struct yaml_tree *tree,
		const yaml_node_t *node, const char *key, const char *fmt, ...)
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

/* Returns the key (a NUL-terminated scalar) and value of a mapping's pair i;
 * false past the last one. */
static bool yaml_tree_pair(struct yaml_tree *tree, yaml_node_t *mapping,
			   size_t i, yaml_node_t **ret_key,
			   yaml_node_t **ret_value)
{
	yaml_node_pair_t *pair = mapping->data.mapping.pairs.start + i;

	if (pair >= mapping->data.mapping.pairs.top)
		return false;
	*ret_key = yaml_document_get_node(&tree->document, pair->key);
	*ret_value = yaml_document_get_node(&tree->document, pair->value);
	return true;
}

/* Equal keys are ordered by their place in the file. */
static int compare_keys(const void *a, const void *b)
{
	const yaml_node_t *one = *(yaml_node_t *const *)a;
	const yaml_node_t *other = *(yaml_node_t *const *)b;
	int order = strcmp(yaml_scalar(one), yaml_scalar(other));

	if (order)
		return order;
	return one->start_mark.index < other->start_mark.index ? -1 : 1;
}

static int check_doubled(const struct yaml_tree *tree, yaml_node_t **keys,
			 size_t count, struct error *err)
{
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(yaml_scalar(keys[i - 1]), yaml_scalar(keys[i])))
			return yaml_tree_error(
				err, tree, keys[i], yaml_scalar(keys[i]),
				"given twice, first in line %zu",
				keys[i - 1]->start_mark.line + 1);
	return 0;
}

static int check_mapping(struct yaml_tree *tree, yaml_node_t *mapping,
			 struct error *err)
{
	size_t count = (size_t)(mapping->data.mapping.pairs.top -
				mapping->data.mapping.pairs.start);
	yaml_node_t *key, *value, **keys;
	int status;

	for (size_t i = 0; yaml_tree_pair(tree, mapping, i, &key, &value);
	     i++) {
		if (!is_text(key))
			return yaml_tree_error(err, tree, key, "(key)",
					       "a key must be plain text");
	}
	keys = malloc((count + 1) * sizeof(yaml_node_t *));
	if (!keys)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		yaml_tree_pair(tree, mapping, i, &keys[i], &value);
	status = check_doubled(tree, keys, count, err);
	free(keys);
	return status;
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

static int yaml_tree_load(struct yaml_tree *tree, const char *text, size_t len,
			  struct error *err)
{
	struct yaml_place place;
	struct error why;

	if (yaml_load(text, len, ANCHORS_MAX, &tree->document, &place, &why) <
	    0)
		return error_set(err, ERROR_CONFIG, "%s:%zu:%zu: %s",
				 tree->file, place.line, place.column,
				 why.text);
	tree->loaded = true;
	return check_keys(tree, err);
}

static void yaml_tree_release(struct yaml_tree *tree)
{
	if (tree->loaded)
		yaml_document_delete(&tree->document);
	tree->loaded = false;
}

static yaml_node_t *yaml_tree_root(struct yaml_tree *tree)
{
	return yaml_document_get_root_node(&tree->document);
}

static yaml_node_t *yaml_tree_get(struct yaml_tree *tree, yaml_node_t *mapping,
				  const char *key)
{
	yaml_node_t *k, *value;

	for (size_t i = 0; yaml_tree_pair(tree, mapping, i, &k, &value); i++) {
		if (!strcmp(yaml_scalar(k), key))
			return value;
	}
	return NULL;
}

static yaml_node_t *yaml_tree_item(struct yaml_tree *tree,
				   yaml_node_t *sequence, size_t i)
{
	yaml_node_item_t *item = sequence->data.sequence.items.start + i;

	if (item >= sequence->data.sequence.items.top)
		return NULL;
	return yaml_document_get_node(&tree->document, *item);
}

/* --- from the tree to settings --- */

/* One table being filled: the place of its keys in the file, and its struct. */
struct scope {
	struct yaml_tree *tree;
	const struct setting *table;
	const char *prefix; /* "kafka", "links.spaces[1]" */
	void *base;
	bool borrowed; /* has keys that the table does not list */
	bool absent;   /* optional and missing: nothing in it is required */
};

static int load_scope(const struct scope *scope, yaml_node_t *mapping,
		      struct error *err);

static const char *full_key(const struct scope *scope, const char *key,
			    char out[128])
{
	snprintf(out, 128, "%s.%s", scope->prefix, key);
	return out;
}

/* The same for an unknown key: if the blank after the colon was forgotten, the
 * key contains its value, "password:hunter2", so it is cut. */
static const char *full_unknown_key(const struct scope *scope, const char *key,
				    char out[128])
{
	snprintf(out, 128, "%s.%.*s", scope->prefix, secret_name_length(key),
		 key);
	return out;
}

static int fail_at(const struct scope *scope, const yaml_node_t *node,
		   const char *key, struct error *err)
{
	char full[128], why[sizeof(err->text)];

	memcpy(why, err->text, sizeof(why));
	return yaml_tree_error(err, scope->tree, node,
			       full_key(scope, key, full), "%.300s", why);
}

static const struct setting *find_setting(const struct setting *table,
					  const char *key)
{
	for (; table->key; table++) {
		if (!strcmp(table->key, key))
			return table;
	}
	return NULL;
}

static int check_known(const struct scope *scope, yaml_node_t *mapping,
		       struct error *err)
{
	yaml_node_t *key, *value;
	struct buf known = {0};
	char full[128];

	for (size_t i = 0;
	     yaml_tree_pair(scope->tree, mapping, i, &key, &value); i++) {
		if (find_setting(scope->table, yaml_scalar(key)))
			continue;
		for (const struct setting *s = scope->table; s->key; s++)
			buf_printf(&known, "%s%s", known.len ? ", " : "",
				   s->key);
		yaml_tree_error(err, scope->tree, key,
				full_unknown_key(scope, yaml_scalar(key), full),
				"unknown key; known here: %s",
				buf_cstr(&known));
		buf_free(&known);
		return -1;
	}
	return 0;
}

static int load_strings(const struct scope *scope, const struct setting *s,
			yaml_node_t *node, struct error *err)
{
	yaml_node_t *item;
	char full[128];

	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_tree_error(err, scope->tree, node,
				       full_key(scope, s->key, full),
				       "expected a list: [a, b]");
	for (size_t i = 0; (item = yaml_tree_item(scope->tree, node, i)); i++) {
		if (!is_text(item))
			return yaml_tree_error(err, scope->tree, item,
					       full_key(scope, s->key, full),
					       "expected a text");
		if (value_append_string(s, yaml_scalar(item), scope->base,
					err) < 0)
			return fail_at(scope, item, s->key, err);
	}
	return 0;
}

static int load_list(const struct scope *scope, const struct setting *s,
		     yaml_node_t *node, struct error *err)
{
	void *at = (char *)scope->base + s->offset;
	struct setting_list *list = at;
	yaml_node_t *item;
	char full[128], prefix[160];
	size_t count = 0;

	full_key(scope, s->key, full);
	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_tree_error(err, scope->tree, node, full,
				       "expected a list of mappings");
	while (yaml_tree_item(scope->tree, node, count))
		count++;
	list->items = calloc(count ? count : 1, s->sub_size);
	if (!list->items)
		return error_set_nomem(err);
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		struct scope sub = {
			scope->tree, s->sub,
			prefix,	     (char *)list->items + i * s->sub_size,
			false,	     false};

		snprintf(prefix, sizeof(prefix), "%s[%zu]", full, i);
		item = yaml_tree_item(scope->tree, node, i);
		if (item->type != YAML_MAPPING_NODE)
			return yaml_tree_error(err, scope->tree, item, prefix,
					       "expected a mapping");
		if (load_scope(&sub, item, err) < 0)
			return -1;
	}
	return 0;
}

static int load_given(const struct scope *scope, const struct setting *s,
		      yaml_node_t *node, struct error *err)
{
	char full[128];

	if (s->type == SETTING_TYPE_LIST)
		return load_list(scope, s, node, err);
	if (s->type == SETTING_TYPE_STRINGS || s->type == SETTING_TYPE_OPTIONS)
		return load_strings(scope, s, node, err);
	if (!is_text(node))
		return yaml_tree_error(err, scope->tree, node,
				       full_key(scope, s->key, full),
				       "expected a single value");
	if (value_parse(s, yaml_scalar(node), scope->base, err) < 0)
		return fail_at(scope, node, s->key, err);
	return 0;
}

static int load_fallback(const struct scope *scope, const struct setting *s,
			 struct error *err)
{
	char full[128];

	if (!s->fallback && !s->optional && !scope->absent)
		return yaml_tree_error(err, scope->tree, NULL,
				       full_key(scope, s->key, full),
				       "is required: %s", s->help);
	if (!s->fallback || s->type == SETTING_TYPE_LIST)
		return 0;
	if (s->type == SETTING_TYPE_STRINGS || s->type == SETTING_TYPE_OPTIONS)
		return value_parse_strings(s, s->fallback, scope->base, err);
	if (value_parse(s, s->fallback, scope->base, err) < 0)
		return fail_at(scope, NULL, s->key, err);
	return 0;
}

/* A key without a value ("key:") counts as not given. */
static bool is_absent(const yaml_node_t *node)
{
	return !node ||
	       (node->type == YAML_SCALAR_NODE &&
		node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		(!*yaml_scalar(node) || !strcmp(yaml_scalar(node), "null") ||
		 !strcmp(yaml_scalar(node), "~")));
}

/* mapping NULL: all values are fallbacks. */
static int load_scope(const struct scope *scope, yaml_node_t *mapping,
		      struct error *err)
{
	yaml_node_t *node;
	int status;

	if (mapping && !scope->borrowed && check_known(scope, mapping, err) < 0)
		return -1;
	for (const struct setting *s = scope->table; s->key; s++) {
		node = mapping ? yaml_tree_get(scope->tree, mapping, s->key)
			       : NULL;
		status = is_absent(node) ? load_fallback(scope, s, err)
					 : load_given(scope, s, node, err);
		if (status < 0)
			return -1;
	}
	return 0;
}

static bool is_section(const struct config_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->group_count; i++) {
		if (!strcmp(spec->groups[i].section->name, name))
			return true;
	}
	for (size_t i = 0; spec->foreign && spec->foreign[i]; i++) {
		if (!strcmp(spec->foreign[i], name))
			return true;
	}
	return false;
}

static int check_sections(const struct config_spec *spec,
			  struct yaml_tree *tree, yaml_node_t *root,
			  struct error *err)
{
	yaml_node_t *key, *value;

	if (root->type != YAML_MAPPING_NODE)
		return yaml_tree_error(err, tree, root, "(document)",
				       "expected sections such as 'redis:'");
	for (size_t i = 0; yaml_tree_pair(tree, root, i, &key, &value); i++) {
		if (!is_section(spec, yaml_scalar(key)))
			return yaml_tree_error(err, tree, key, yaml_scalar(key),
					       "unknown section");
	}
	return 0;
}

static int load_group(const struct setting_group *group, struct yaml_tree *tree,
		      yaml_node_t *root, void *config, struct error *err)
{
	const struct setting_section *section = group->section;
	yaml_node_t *node =
		root ? yaml_tree_get(tree, root, section->name) : NULL;
	struct scope scope = {tree,
			      section->settings,
			      section->name,
			      (char *)config + group->offset,
			      group->borrowed,
			      group->optional && is_absent(node)};

	if (is_absent(node))
		node = NULL;
	else if (node->type != YAML_MAPPING_NODE)
		return yaml_tree_error(err, tree, node, section->name,
				       "expected settings below it");
	return load_scope(&scope, node, err);
}

/* Checks the rules within each section; an optional section that is missing is
 * not checked. */
static int check_groups(const struct config_spec *spec, struct yaml_tree *tree,
			yaml_node_t *root, const void *config,
			struct error *err)
{
	for (size_t i = 0; i < spec->group_count; i++) {
		const struct setting_group *g = &spec->groups[i];

		if (!g->section->check || g->borrowed ||
		    (g->optional &&
		     is_absent(
			     root ? yaml_tree_get(tree, root, g->section->name)
				  : NULL)))
			continue;
		if (g->section->check((const char *)config + g->offset, err) <
		    0)
			return error_wrap(err, "%s", tree->file);
	}
	return 0;
}

static int fill_config_from_text(const struct config_spec *spec,
				 const char *name, const char *text, size_t len,
				 void *config, struct error *err)
{
	struct yaml_tree tree = {.file = name};
	yaml_node_t *root;
	int status = -1;

	if (yaml_tree_load(&tree, text, len, err) < 0)
		goto out;
	root = yaml_tree_root(&tree);
	if (root && check_sections(spec, &tree, root, err) < 0)
		goto out;
	for (size_t i = 0; i < spec->group_count; i++) {
		if (load_group(&spec->groups[i], &tree, root, config, err) < 0)
			goto out;
	}
	status = check_groups(spec, &tree, root, config, err);
out:
	yaml_tree_release(&tree);
	return status;
}

int config_load(const struct config_spec *spec, const char *path, void *config,
		struct error *err)
{
	struct buf text = {0};
	struct error why;
	int status;

	if (read_file(path, BYTES_MAX, &text, &why) < 0)
		status = error_set(err, ERROR_CONFIG,
				   "%s: cannot read the configuration: %s",
				   path, why.text);
	else if (text.failed)
		status = error_set_nomem(err);
	else if (text.len > BYTES_MAX)
		status = error_set(err, ERROR_CONFIG,
				   "%s: is longer than %zu bytes", path,
				   BYTES_MAX);
	else
		status = fill_config_from_text(spec, path, text.data, text.len,
					       config, err);
	buf_free(&text);
	return status;
}

int config_load_text(const struct config_spec *spec, const char *name,
		     const char *text, void *config, struct error *err)
{
	return fill_config_from_text(spec, name, text, strlen(text), config,
				     err);
}

static void release_table(const struct setting *table, void *base)
{
	struct setting_list *list;
	void *at;

	for (const struct setting *s = table; s->key; s++) {
		if (s->type != SETTING_TYPE_LIST) {
			value_release(s, base);
			continue;
		}
		at = (char *)base + s->offset;
		list = at;
		for (size_t i = 0; list->items && i < list->count; i++)
			release_table(s->sub,
				      (char *)list->items + i * s->sub_size);
		free(list->items);
		*list = (struct setting_list){0};
	}
}

void config_release(const struct config_spec *spec, void *config)
{
	for (size_t i = 0; i < spec->group_count; i++)
		release_table(spec->groups[i].section->settings,
			      (char *)config + spec->groups[i].offset);
}
