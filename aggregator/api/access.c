#include "aggregator/api/access.h"

#include <string.h>
#include <xxhash.h>

uint64_t access_turn(const struct access *a)
{
	const char *name = a->who.name;

	return *name ? XXH3_64bits(name, strlen(name)) : 0;
}

static bool sees_all_accounts(const struct access *a)
{
	return !a->keys || (a->who.roles & API_READ);
}

bool access_sees_link(const struct access *a, const struct access_link *link)
{
	if (!a->keys)
		return true;
	if (!(a->who.roles & API_READ_OWN) ||
	    !key_owners_have(a->who.owners, link->owner))
		return false;
	return sees_all_accounts(a) ||
	       api_keyring_owns(a->keys, a->who.account, link->account,
				link->creator);
}

int access_bounds_fill(struct access_bounds *ret, const struct access *a,
		       struct error *err)
{
	const struct key_owners *owners = a->keys ? a->who.owners : NULL;
	const char *name = NULL;

	*ret = (struct access_bounds){
		.has_owners = owners != NULL,
		.account = sees_all_accounts(a) ? NULL : a->who.account,
	};
	/* A name has no byte below a blank. */
	while (owners && (name = key_owners_next(owners, name)))
		buf_printf(&ret->owners, "%s%s",
			   name == key_owners_next(owners, NULL) ? "" : "\n",
			   name);
	return buf_cstr(&ret->owners) ? 0 : error_set_nomem(err);
}

void access_bounds_release(struct access_bounds *bounds)
{
	buf_free(&bounds->owners);
}

int access_check_all(const struct access *a, const char *hint,
		     struct error *err)
{
	if (sees_all_accounts(a) && !(a->keys && a->who.owners))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "this key sees the links of its %s only: %s",
			 a->who.owners ? "owners" : "account", hint);
}

int access_check_rows(const struct access *a, bool *ret_owners,
		      const char *hint, struct error *err)
{
	*ret_owners = a->keys && a->who.owners;
	return sees_all_accounts(a) ? 0 : access_check_all(a, hint, err);
}

int access_check_admin(const struct access *a, struct error *err)
{
	if (!a->keys || (a->who.roles & API_ADMIN))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "this is for keys with the role 'admin' only");
}
