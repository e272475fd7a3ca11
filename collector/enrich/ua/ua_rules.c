#include "collector/enrich/ua/ua_rules.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/read_file.h"
#include "common/yaml_load.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)

const struct ua_section_form ua_section_forms[UA_SECTION_COUNT] = {
	{"user_agent_parsers",
	 UA_FAMILY,
	 5,
	 {"family_replacement", "v1_replacement", "v2_replacement",
	  "v3_replacement", "v4_replacement"},
	 {"$1", "$2", "$3", "$4", "$5"}},
	{"os_parsers",
	 UA_OS_FAMILY,
	 5,
	 {"os_replacement", "os_v1_replacement", "os_v2_replacement",
	  "os_v3_replacement", "os_v4_replacement"},
	 {"$1", "$2", "$3", "$4", "$5"}},
	{"device_parsers",
	 UA_DEVICE_FAMILY,
	 3,
	 {"device_replacement", "brand_replacement", "model_replacement"},
	 {"$1", "", "$1"}},
};

struct load {
	const char *path;
	yaml_document_t *doc;
	bool prefilter;
};

static int refuse_yaml_node(const struct load *l, const yaml_node_t *node,
			    const char *what, struct error *err)
{
	return error_set(err, ERROR_CONFIG, "%s:%zu: %s", l->path,
			 node ? node->start_mark.line + 1 : 1, what);
}

/* Returns the value of a key in a mapping, or NULL. */
static yaml_node_t *get_mapping_value(const struct load *l,
				      const yaml_node_t *map, const char *key)
{
	yaml_node_pair_t *pair = map->data.mapping.pairs.start;

	for (; pair < map->data.mapping.pairs.top; pair++) {
		yaml_node_t *k = yaml_document_get_node(l->doc, pair->key);

		if (k->type == YAML_SCALAR_NODE &&
		    !strcmp((char *)k->data.scalar.value, key))
			return yaml_document_get_node(l->doc, pair->value);
	}
	return NULL;
}

/* Gets a scalar's text; NULL if the key is missing. */
static int get_text(const struct load *l, const yaml_node_t *map,
		    const char *key, const char **ret_text, struct error *err)
{
	yaml_node_t *value = get_mapping_value(l, map, key);

	*ret_text = NULL;
	if (!value)
		return 0;
	if (value->type != YAML_SCALAR_NODE)
		return refuse_yaml_node(l, value, "expected a text", err);
	*ret_text = (const char *)value->data.scalar.value;
	return 0;
}

static int load_templates(const struct load *l, const yaml_node_t *node,
			  const struct ua_section_form *form,
			  struct ua_rule *rule, struct error *err)
{
	for (size_t i = 0; i < form->count; i++) {
		const char *text;

		if (get_text(l, node, form->keys[i], &text, err) < 0)
			return -1;
		/* An empty replacement means the same as none. */
		if (!text || !*text)
			continue;
		rule->templates[i] = strdup(text);
		if (!rule->templates[i])
			return error_set_nomem(err);
	}
	return 0;
}

static int load_rule(const struct load *l, const yaml_node_t *node,
		     const struct ua_section_form *form,
		     struct pattern_set *patterns, struct ua_section *s,
		     struct error *err)
{
	const char *regex, *flag;

	if (node->type != YAML_MAPPING_NODE)
		return refuse_yaml_node(l, node,
					"expected a mapping with a regex", err);
	if (get_text(l, node, "regex", &regex, err) < 0 ||
	    get_text(l, node, "regex_flag", &flag, err) < 0)
		return -1;
	if (!regex)
		return refuse_yaml_node(l, node, "a rule without regex", err);
	if (flag && *flag && strcmp(flag, "i") != 0)
		return refuse_yaml_node(l, node, "regex_flag: expected i", err);
	if (pattern_set_add(patterns, regex, flag && *flag, err) < 0) {
		error_wrap(err, "%s:%zu", l->path, node->start_mark.line + 1);
		err->code = ERROR_CONFIG;
		return -1;
	}
	s->rules[s->count].line = node->start_mark.line + 1;
	return load_templates(l, node, form, &s->rules[s->count++], err);
}

static int load_section(const struct load *l, const yaml_node_t *root,
			const struct ua_section_form *form,
			struct pattern_set *patterns, struct ua_section *s,
			struct error *err)
{
	yaml_node_t *list = get_mapping_value(l, root, form->name);
	yaml_node_item_t *item;
	size_t count;

	if (!list || list->type != YAML_SEQUENCE_NODE)
		return error_set(err, ERROR_CONFIG,
				 "%s: expected a list named %s", l->path,
				 form->name);
	item = list->data.sequence.items.start;
	count = (size_t)(list->data.sequence.items.top - item);
	s->first = pattern_set_count(patterns);
	s->rules = calloc(count + 1, sizeof(*s->rules));
	if (!s->rules)
		return error_set_nomem(err);
	for (; item < list->data.sequence.items.top; item++)
		if (load_rule(l, yaml_document_get_node(l->doc, *item), form,
			      patterns, s, err) < 0)
			return -1;
	return 0;
}

static int load_document(const struct load *l, struct ua_rules *rules,
			 struct error *err)
{
	yaml_node_t *root = yaml_document_get_root_node(l->doc);

	if (!root || root->type != YAML_MAPPING_NODE)
		return refuse_yaml_node(l, root, "expected lists of rules",
					err);
	rules->patterns = pattern_set_new(true, err);
	if (!rules->patterns)
		return -1;
	for (size_t i = 0; i < UA_SECTION_COUNT; i++)
		if (load_section(l, root, &ua_section_forms[i], rules->patterns,
				 &rules->sections[i], err) < 0)
			return -1;
	return pattern_set_compile(rules->patterns, l->prefilter, err);
}

static int load_text(const struct buf *text, const char *path, bool prefilter,
		     struct ua_rules *rules, struct error *err)
{
	struct yaml_place place;
	yaml_document_t doc;
	struct load l = {path, &doc, prefilter};
	struct error why;
	int status;

	if (yaml_load(text->data, text->len, 0, &doc, &place, &why) < 0)
		return error_set(err, ERROR_CONFIG, "%s:%zu: not YAML: %s",
				 path, place.line, why.text);
	status = load_document(&l, rules, err);
	yaml_document_delete(&doc);
	return status;
}

static int load_file(const char *path, bool prefilter, struct ua_rules *rules,
		     struct error *err)
{
	struct buf text = {0};
	struct error why;
	int status;

	if (read_file(path, FILE_BYTES_MAX, &text, &why) < 0)
		status = error_set(err, ERROR_CONFIG,
				   "user-agent rules: %s: %s", path, why.text);
	else if (text.failed)
		status = error_set_nomem(err);
	else if (text.len > FILE_BYTES_MAX)
		status = error_set(err, ERROR_CONFIG,
				   "user-agent rules: %s: is longer than %zu "
				   "bytes",
				   path, FILE_BYTES_MAX);
	else
		status = load_text(&text, path, prefilter, rules, err);
	buf_free(&text);
	return status;
}

struct ua_rules *ua_rules_load(const char *path, bool prefilter,
			       struct error *err)
{
	struct ua_rules *rules = calloc(1, sizeof(*rules));

	if (!rules) {
		error_set_nomem(err);
		return NULL;
	}
	if (load_file(path, prefilter, rules, err) == 0)
		return rules;
	ua_rules_free(rules);
	return NULL;
}

void ua_rules_free(struct ua_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < UA_SECTION_COUNT; i++) {
		struct ua_section *s = &rules->sections[i];

		for (size_t r = 0; r < s->count; r++)
			for (size_t t = 0; t < UA_TEMPLATES_MAX; t++)
				free(s->rules[r].templates[t]);
		free(s->rules);
	}
	pattern_set_free(rules->patterns);
	free(rules);
}
