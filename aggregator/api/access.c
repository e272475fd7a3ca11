#include "aggregator/api/access.h"

#include <string.h>
#include <xxhash.h>

#include "aggregator/api/share.h"

uint64_t access_turn(const struct access *a)
{
	const char *name = a->share ? a->share->key : a->who.name;

	return *name ? XXH3_64bits(name, strlen(name)) : 0;
}

/* NULL: there is no file of keys. */
static const struct api_key_info *key_of(const struct access *a)
{
	return a->keys ? &a->who : NULL;
}

bool access_sees_link(const struct access *a, const struct key_link *link)
{
	return key_may(key_of(a), KEY_READS_LINK, link);
}

bool access_is_about_link(const struct access *a, uint64_t link_id)
{
	return !a->share || !a->share->link_id || a->share->link_id == link_id;
}

int access_bounds_fill(struct access_bounds *ret, const struct access *a,
		       struct error *err)
{
	const struct key_bounds bounds = key_bounds_of(key_of(a));
	const struct key_names *owners = bounds.owners;
	const char *name = NULL;

	*ret = (struct access_bounds){
		.has_owners = owners != NULL,
		.account = bounds.account,
	};
	/* A name has no byte below a space, so a newline can separate names. */
	while (owners && (name = key_names_next(owners, name)))
		buf_printf(&ret->owners, "%s%s",
			   name == key_names_next(owners, NULL) ? "" : "\n",
			   name);
	return buf_cstr(&ret->owners) ? 0 : error_set_nomem(err);
}

void access_bounds_release(struct access_bounds *bounds)
{
	buf_free(&bounds->owners);
}

bool access_sees_all(const struct access *a)
{
	return key_may(key_of(a), KEY_READS_ALL, NULL);
}

int access_check_all(const struct access *a, const char *hint,
		     struct error *err)
{
	if (access_sees_all(a))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "this key sees the links of its %s only: %s",
			 a->who.owners ? "owners" : "account", hint);
}

int access_check_owner(const struct access *a, bool named, const char *what,
		       struct error *err)
{
	if (named || !access_sees_all(a))
		return 0;
	return error_set_field(err, what,
			       "an owner belongs to an account: expected one "
			       "account=NAME beside it");
}

int access_check_admin(const struct access *a, struct error *err)
{
	if (key_may(key_of(a), KEY_READS_RUNS, NULL))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "this is for keys with the role 'admin' only");
}

int access_check_visitors(const struct access *a, const char *parameter,
			  struct error *err)
{
	if (key_may(key_of(a), KEY_READS_VISITORS, NULL))
		return 0;
	error_set(err, ERROR_NOT_OWNER,
		  "%s: this API key does not have the role 'visitors'",
		  parameter);
	return error_name_field(err, parameter);
}
