#include "allocator/link/link_defaults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t class_index(const struct linkstore *store, const char *name,
			  size_t len)
{
	size_t i = 0;

	while (strlen(linkstore_class(store, i)->name) != len ||
	       memcmp(linkstore_class(store, i)->name, name, len) != 0)
		i++;
	return i;
}

int link_defaults_init(struct link_defaults *defaults,
		       const struct allocator_settings *settings,
		       const struct link_rules *rules, struct error *err)
{
	const struct linkstore *store = rules->store;
	const struct setting_strings *pairs = &settings->class_spaces;
	const char *equals;

	*defaults = (struct link_defaults){
		.rules = *rules,
		.space = linkstore_space_named(store, settings->default_space),
	};
	if (settings->default_ttl)
		defaults->ttl =
			linkstore_class_named(store, settings->default_ttl);
	defaults->class_spaces = calloc(linkstore_class_count(store),
					sizeof(defaults->class_spaces[0]));
	if (!defaults->class_spaces)
		return error_set_nomem(err);
	for (size_t i = 0; i < pairs->count; i++) {
		equals = strchr(pairs->items[i], '=');
		defaults->class_spaces[class_index(
			store, pairs->items[i],
			(size_t)(equals - pairs->items[i]))] =
			linkstore_space_named(store, equals + 1);
	}
	return 0;
}

void link_defaults_free(struct link_defaults *defaults)
{
	free(defaults->class_spaces);
}

static bool space_fits_link(const struct link_fields *fields,
			    const struct link_space *space,
			    const struct api_key_info *caller)
{
	if (caller && !account_rules_may_use_space(caller, space->name))
		return false;
	if (!*fields->code != (space->strategy != LINK_ALIAS))
		return false;
	return !fields->domain || domains_allow(fields->domain, space->name);
}

const struct link_space *link_defaults_space(const struct link_defaults *d,
					     const struct link_fields *fields,
					     const struct api_key_info *caller)
{
	const struct linkstore *store = d->rules.store;
	const struct link_space *space;
	size_t i = class_index(store, fields->ttl->name,
			       strlen(fields->ttl->name));

	space = d->class_spaces[i] ? d->class_spaces[i] : d->space;
	if (space_fits_link(fields, space, caller))
		return space;
	for (i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (space_fits_link(fields, space, caller))
			return space;
	}
	return NULL;
}
