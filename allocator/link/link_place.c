#include "allocator/link/link_place.h"

#include "common/buf.h"
#include "common/keys/key_access.h"

/* --- domains -------------------------------------------------------------- */

static bool may_use_domain(const struct api_key_info *caller,
			   const struct link_domain *domain)
{
	return key_may_use_domain(caller, domain->accounts, domain->is_default);
}

/* Checks with a domain that names no account and is not the default one. */
static bool may_use_all_domains(const struct api_key_info *caller)
{
	static const struct setting_strings nobody = {NULL, 0};

	return key_may_use_domain(caller, &nobody, false);
}

/* Writes the domains that the caller may use: "main, promo".  NULL: none. */
static const char *list_domains(struct buf *list, const struct domains *all,
				const struct api_key_info *caller)
{
	const struct link_domain *domain;

	for (size_t i = 0; (domain = domains_at(all, i)); i++) {
		if (may_use_domain(caller, domain))
			buf_printf(list, "%s%s", list->len ? ", " : "",
				   domain->name);
	}
	return list->len ? buf_cstr(list) : NULL;
}

static int refuse_domain(const struct link_fields *f, const struct domains *all,
			 const struct api_key_info *caller, struct error *err)
{
	struct buf list = {0};
	const char *text = list_domains(&list, all, caller);

	if (may_use_all_domains(caller))
		error_set_field(err, "domain", "expected one of %s",
				text ? text : "those configured");
	else if (f->given & FIELD_DOMAIN)
		error_set(err, ERROR_NOT_OWNER,
			  "domain: '%s' is not for the account '%s', which may "
			  "use %s",
			  f->domain_name, caller->account,
			  text ? text : "none");
	else
		error_set(err, ERROR_NOT_OWNER,
			  "domain: the default one is not for the account "
			  "'%s', which may use %s",
			  caller->account, text ? text : "none");
	buf_free(&list);
	return -1;
}

static int check_not_paused(const struct link_domain *domain, struct error *err)
{
	if (!domain->paused)
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "domain: '%s' is paused: no links are made there "
			 "until it is resumed",
			 domain->name);
}

static int choose_domain(struct link_fields *f, const struct domains *all,
			 const struct api_key_info *caller, struct error *err)
{
	const struct link_domain *fallback = domains_default(all);
	bool named = f->given & FIELD_DOMAIN;

	f->domain = named ? domains_named(all, f->domain_name) : fallback;
	if (f->domain && may_use_domain(caller, f->domain))
		return check_not_paused(f->domain, err);
	if (fallback)
		return refuse_domain(f, all, caller, err);
	return named ? error_set_field(err, "domain",
				       "leave it out, none is configured")
		     : 0;
}

const struct link_domain *
link_place_find_domain(const struct link_fields *fields,
		       const struct domains *domains,
		       const struct api_key_info *caller, struct error *err)
{
	const struct link_domain *found =
		*fields->domain_name
			? domains_named(domains, fields->domain_name)
			: domains_default(domains);

	if (found && may_use_domain(caller, found))
		return check_not_paused(found, err) == 0 ? found : NULL;
	if (domains_default(domains))
		refuse_domain(fields, domains, caller, err);
	else
		error_set_field(err, "domain",
				"leave it out, none is configured");
	return NULL;
}

bool link_place_is_open(const struct domains *domains,
			const struct api_key_info *caller, const char *domain)
{
	const struct link_domain *fallback = domains_default(domains), *found;

	found = *domain ? domains_named(domains, domain) : fallback;
	if (found)
		return may_use_domain(caller, found);
	return !fallback || may_use_all_domains(caller);
}

/* --- spaces --------------------------------------------------------------- */

static bool may_use_all_spaces(const struct api_key_info *caller)
{
	return !caller->spaces && account_rules_allow_space(caller->rules, "");
}

/* Writes the spaces that the caller may use: "s7, names".  NULL: none. */
static const char *list_spaces(struct buf *list, const struct linkstore *store,
			       const struct api_key_info *caller)
{
	const char *name;

	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		name = linkstore_space(store, i)->name;
		if (account_rules_may_use_space(caller, name))
			buf_printf(list, "%s%s", list->len ? ", " : "", name);
	}
	return list->len ? buf_cstr(list) : NULL;
}

static int refuse_space(const struct link_fields *f,
			const struct linkstore *store,
			const struct api_key_info *caller, struct error *err)
{
	struct buf list = {0};
	const char *text = list_spaces(&list, store, caller);

	if (may_use_all_spaces(caller))
		error_set_field(err, "space", "expected one of %s",
				text ? text : "those configured");
	else if (f->given & FIELD_SPACE)
		error_set(err, ERROR_NOT_OWNER,
			  "space: '%.64s' is not for this API key, which may "
			  "use %s",
			  f->space_name, text ? text : "none");
	else
		error_set(err, ERROR_NOT_OWNER,
			  "space: this API key may use %s, and no link like "
			  "this is made there",
			  text ? text : "none");
	account_rules_count_space(caller, f->space_name);
	buf_free(&list);
	return -1;
}

static int refuse_no_space(const struct link_fields *f, struct error *err)
{
	if (*f->code)
		return error_set_field(err, "code",
				       "cannot be chosen here: there is no "
				       "space for aliases%s%s",
				       f->domain ? " under the domain " : "",
				       f->domain ? f->domain->name : "");
	return error_set_field(err, "domain", "no space is allowed under %s",
			       f->domain ? f->domain->name : "it");
}

/* Checks whether the space, which the caller may use, can make such a link. */
static int check_space(const struct link_fields *f, struct error *err)
{
	if (f->domain && !domains_allow(f->domain, f->space->name))
		return error_set_field(err, "space",
				       "%s is not allowed under the domain %s",
				       f->space->name, f->domain->name);
	if (*f->code && f->space->strategy != LINK_ALIAS)
		return error_set_field(err, "code",
				       "codes of space %s are not chosen; "
				       "leave out code or space",
				       f->space->name);
	if (!*f->code && f->space->strategy == LINK_ALIAS)
		return error_set_field(err, "code", "is required in space %s",
				       f->space->name);
	return 0;
}

static int choose_space(struct link_fields *f, const struct link_defaults *d,
			const struct api_key_info *caller, struct error *err)
{
	const struct linkstore *store = d->rules.store;

	if (f->given & FIELD_SPACE) {
		f->space = linkstore_space_named(store, f->space_name);
		if (!f->space ||
		    !account_rules_may_use_space(caller, f->space->name))
			return refuse_space(f, store, caller, err);
		return check_space(f, err);
	}
	f->space = link_defaults_space(d, f, caller);
	if (f->space)
		return check_space(f, err);
	return link_defaults_space(d, f, NULL)
		       ? refuse_space(f, store, caller, err)
		       : refuse_no_space(f, err);
}

int link_place_choose(struct link_fields *fields,
		      const struct link_defaults *defaults,
		      const struct api_key_info *caller, struct error *err)
{
	if (choose_domain(fields, defaults->rules.domains, caller, err) < 0)
		return -1;
	return choose_space(fields, defaults, caller, err);
}
