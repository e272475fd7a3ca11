/* link_defaults.h - the defaults of a request to create a link. */
#ifndef ALLOCATOR_LINK_LINK_DEFAULTS_H
#define ALLOCATOR_LINK_LINK_DEFAULTS_H

#include "allocator/allocator_config.h"
#include "allocator/keys/account_rules.h"
#include "allocator/link/link_fields.h"

struct link_defaults {
	struct link_rules rules;
	const struct link_class *ttl; /* NULL: required in requests */
	const struct link_space *space;
	/* The space of each TTL class, by its index in the store; NULL:
	 * `space`. */
	const struct link_space **class_spaces; /* owned */
};

/* The settings must be valid; `rules` is copied. */
int link_defaults_init(struct link_defaults *defaults,
		       const struct allocator_settings *settings,
		       const struct link_rules *rules, struct error *err);
void link_defaults_free(struct link_defaults *defaults);

/*
 * Returns the space of a link that names none: that of its class, else the
 * default one, else the first that its domain allows; for a chosen code, the
 * alias space.  Only spaces that the caller (NULL: any) may use count.  NULL:
 * there is none.
 */
const struct link_space *link_defaults_space(const struct link_defaults *d,
					     const struct link_fields *fields,
					     const struct api_key_info *caller);

#endif
