#include "common/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/config/value.h"
#include "common/config/yaml_tree.h"

/* One table being filled: where its keys stand in the file, and its struct. */
struct scope {
	struct yaml_tree *tree;
	const struct setting *table;
	const char *prefix; /* "kafka", "links.spaces[1]" */
	void *base;
	bool borrowed; /* has keys that the table need not know */
};

static int load_scope(const struct scope *scope, yaml_node_t *mapping,
		      struct error *err);

static const char *full_key(const struct scope *scope, const char *key,
			    char out[128])
{
	snprintf(out, 128, "%s.%s", scope->prefix, key);
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
				full_key(scope, yaml_scalar(key), full),
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
		if (item->type != YAML_SCALAR_NODE)
			return yaml_tree_error(err, scope->tree, item,
					       full_key(scope, s->key, full),
					       "expected a text");
		if (value_append_string(s, yaml_scalar(item), scope->base,
					err) < 0)
			return -1;
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
		struct scope sub = {scope->tree, s->sub, prefix,
				    (char *)list->items + i * s->sub_size,
				    false};

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

	if (s->type == SETTING_LIST)
		return load_list(scope, s, node, err);
	if (s->type == SETTING_STRINGS)
		return load_strings(scope, s, node, err);
	if (node->type != YAML_SCALAR_NODE ||
	    strlen(yaml_scalar(node)) != node->data.scalar.length)
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

	if (!s->fallback && !s->optional)
		return yaml_tree_error(err, scope->tree, NULL,
				       full_key(scope, s->key, full),
				       "is required: %s", s->help);
	if (!s->fallback || s->type == SETTING_LIST)
		return 0;
	if (s->type == SETTING_STRINGS)
		return value_parse_strings(s, s->fallback, scope->base, err);
	if (value_parse(s, s->fallback, scope->base, err) < 0)
		return fail_at(scope, NULL, s->key, err);
	return 0;
}

/* "key:" with nothing behind it means: not given. */
static bool is_absent(const yaml_node_t *node)
{
	return !node ||
	       (node->type == YAML_SCALAR_NODE &&
		node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		(!*yaml_scalar(node) || !strcmp(yaml_scalar(node), "null") ||
		 !strcmp(yaml_scalar(node), "~")));
}

/* mapping NULL: all from fallbacks. */
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
	struct scope scope = {tree, section->settings, section->name,
			      (char *)config + group->offset, group->borrowed};

	if (is_absent(node))
		node = NULL;
	else if (node->type != YAML_MAPPING_NODE)
		return yaml_tree_error(err, tree, node, section->name,
				       "expected settings below it");
	return load_scope(&scope, node, err);
}

int config_load(const struct config_spec *spec, const char *path, void *config,
		struct error *err)
{
	struct yaml_tree tree = {0};
	yaml_node_t *root;
	int status = -1;

	if (yaml_tree_load(&tree, path, err) < 0)
		goto out;
	root = yaml_tree_root(&tree);
	if (root && check_sections(spec, &tree, root, err) < 0)
		goto out;
	for (size_t i = 0; i < spec->group_count; i++) {
		if (load_group(&spec->groups[i], &tree, root, config, err) < 0)
			goto out;
	}
	status = 0;
out:
	yaml_tree_release(&tree);
	return status;
}

static void release_table(const struct setting *table, void *base)
{
	struct setting_list *list;
	void *at;

	for (const struct setting *s = table; s->key; s++) {
		if (s->type != SETTING_LIST) {
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
