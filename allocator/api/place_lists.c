#include "allocator/api/place_lists.h"

#include <string.h>

#include "allocator/keys/account_rules.h"
#include "common/json_text.h"
#include "common/keys/key_access.h"

void place_lists_put_name(struct buf *out, const char *name)
{
	if (name)
		json_put_string(out, name, strlen(name));
	else
		buf_puts(out, "null");
}

/* Writes the names of the spaces that the key may use under the domain; NULL:
 * there are no domains. */
static void put_space_names(struct buf *out, const struct linkstore *store,
			    const struct api_key_info *caller,
			    const struct link_domain *domain)
{
	const char *name, *comma = "";

	buf_putc(out, '[');
	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		name = linkstore_space(store, i)->name;
		if (!account_rules_may_use_space(caller, name) ||
		    (domain && !domains_allow(domain, name)))
			continue;
		buf_puts(out, comma);
		place_lists_put_name(out, name);
		comma = ",";
	}
	buf_putc(out, ']');
}

static void put_domain(struct buf *out, const struct link_rules *rules,
		       const struct api_key_info *caller,
		       const struct link_domain *domain)
{
	buf_puts(out, "{\"name\":");
	place_lists_put_name(out, domain ? domain->name : NULL);
	buf_puts(out, ",\"host\":");
	place_lists_put_name(out, domain ? domain->host : NULL);
	buf_puts(out, ",\"base_url\":");
	place_lists_put_name(out, domains_base_url(rules->domains,
						   domain ? domain->name : ""));
	buf_puts(out, ",\"default\":");
	buf_puts(out, !domain || domain->is_default ? "true" : "false");
	buf_puts(out, domain && domain->paused ? ",\"paused\":true"
					       : ",\"paused\":false");
	buf_puts(out, ",\"spaces\":");
	put_space_names(out, rules->store, caller, domain);
	buf_putc(out, '}');
}

void place_lists_put_domains(struct buf *out, const struct link_rules *rules,
			     const struct api_key_info *caller)
{
	const struct link_domain *domain;
	const char *comma = "";

	buf_putc(out, '[');
	if (!domains_default(rules->domains))
		put_domain(out, rules, caller, NULL);
	for (size_t i = 0; (domain = domains_at(rules->domains, i)); i++) {
		if (!key_may_use_domain(caller, domain->accounts,
					domain->is_default))
			continue;
		buf_puts(out, comma);
		put_domain(out, rules, caller, domain);
		comma = ",";
	}
	buf_putc(out, ']');
}

void place_lists_put_spaces(struct buf *out, const struct linkstore *store,
			    const struct api_key_info *caller)
{
	const struct link_space *space;
	const char *comma = "";

	buf_putc(out, '[');
	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (!account_rules_may_use_space(caller, space->name))
			continue;
		buf_puts(out, comma);
		buf_puts(out, "{\"name\":");
		place_lists_put_name(out, space->name);
		buf_printf(out, ",\"strategy\":\"%s\",\"code_length\":",
			   link_strategy_names[space->strategy]);
		if (space->length)
			buf_printf(out, "%u}", space->length);
		else
			buf_puts(out, "null}");
		comma = ",";
	}
	buf_putc(out, ']');
}
