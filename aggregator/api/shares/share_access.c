#include "aggregator/api/shares/share_access.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/statistics/filter.h"
#include "common/buf.h"

/* Reads a filter of the share, which was checked when it was made. */
static int read_filter(const struct share *share, const char *name,
		       struct filters *ret, struct error *err)
{
	const char *text =
		json_string_value(json_object_get(share->filters, name));

	*ret = (struct filters){0};
	return text ? filters_add(ret, dimension_find_filter(name), text, err)
		    : 0;
}

/* Returns whether it takes one value only. */
static bool takes_one(const struct filter *f)
{
	return !f->except && !memchr(f->values.data, '\n', f->values.len);
}

static int refuse_filter(enum error_code code, const char *name,
			 const char *why, struct error *err)
{
	char member[sizeof(err->field)];

	snprintf(member, sizeof(member), "filters.%s", name);
	error_set(err, code, "filters: %s: %s", name, why);
	return error_name_field(err, member);
}

/* --- making --------------------------------------------------------------- */

static int add_owner(struct share *share, const char *owner, struct error *err)
{
	if (!share->owners)
		share->owners = json_array();
	if (!share->owners)
		return error_set_nomem(err);
	if (json_array_append_new(share->owners, json_string(owner)) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "an owner's name is not UTF-8");
}

/* Returns whether an owner can have the name, as in the file of keys. */
static bool is_owner_name(const char *name)
{
	if (strlen(name) > KEY_LISTED_NAME_MAX)
		return false;
	while ((unsigned char)*name >= ' ')
		name++;
	return !*name;
}

/* Adds the owners that the filter takes; each has to be readable. */
static int add_filter_owners(struct share *share, const struct access *maker,
			     const struct filter *f, struct error *err)
{
	char *line = f->values.data, *end;

	for (; line; line = end ? end + 1 : NULL) {
		struct key_link whose = {.account = share->account};
		char name[FILTER_VALUE_MAX + 1];

		end = strchr(line, '\n');
		snprintf(name, sizeof(name), "%.*s",
			 (int)(end ? (size_t)(end - line) : strlen(line)),
			 line);
		whose.owner = name;
		if (!is_owner_name(name))
			return refuse_filter(ERROR_INPUT, "owner",
					     "expected names of owners", err);
		if (!access_sees_link(maker, &whose)) {
			error_set(err, ERROR_NOT_OWNER,
				  "filters: owner: this key does not read the "
				  "links of '%.100s'",
				  name);
			return error_name_field(err, "filters.owner");
		}
		if (add_owner(share, name, err) < 0)
			return -1;
	}
	return 0;
}

static int begin_owners(struct share *share, const struct access *maker,
			struct error *err)
{
	const struct key_names *own = key_bounds_of(&maker->who).owners;
	const char *name = NULL;
	struct filters f = {0};
	int status = read_filter(share, "owner", &f, err);

	if (status == 0 && f.count && !*share->account)
		status = refuse_filter(ERROR_INPUT, "owner",
				       "an owner belongs to an account: "
				       "expected one account beside it",
				       err);
	else if (status == 0 && f.count && !f.items[0].except)
		status = add_filter_owners(share, maker, &f.items[0], err);
	else
		while (status == 0 && own && (name = key_names_next(own, name)))
			status = add_owner(share, name, err);
	filters_release(&f);
	return status;
}

/* Sets whose clicks the filters take. */
static int begin_account(struct share *share, const struct access *maker,
			 struct error *err)
{
	const char *own = key_bounds_of(&maker->who).account;
	struct filters f = {0};
	int status = read_filter(share, "account", &f, err);
	const struct filter *account = f.count ? &f.items[0] : NULL;

	if (status < 0)
		goto out;
	if (own && account && !filter_takes(account, own))
		status = refuse_filter(ERROR_NOT_OWNER, "account",
				       "this key reads the links of its own "
				       "account only",
				       err);
	else if (own)
		snprintf(share->account, sizeof(share->account), "%s", own);
	else if (account && takes_one(account) &&
		 account->values.len < sizeof(share->account))
		snprintf(share->account, sizeof(share->account), "%s",
			 account->values.data);
out:
	filters_release(&f);
	return status;
}

int share_access_begin(struct share *share, const struct access *maker,
		       const struct key_link *link, struct error *err)
{
	const struct api_key_info *who = &maker->who;

	memcpy(share->key, who->name, sizeof(share->key));
	memcpy(share->key_digest, who->digest, sizeof(share->key_digest));
	if (link) {
		snprintf(share->account, sizeof(share->account), "%s",
			 link->account);
		if (add_owner(share, link->owner, err) < 0)
			return -1;
	} else if (begin_account(share, maker, err) < 0 ||
		   begin_owners(share, maker, err) < 0) {
		return -1;
	}
	snprintf(share->listed, sizeof(share->listed), "%s",
		 *share->account ? share->account : who->account);
	return 0;
}

/* --- using ---------------------------------------------------------------- */

/* Appends a name in the form that key_names_parse reads. */
static void put_name(struct buf *to, const char *name)
{
	for (; *name; name++)
		if (isalnum((unsigned char)*name))
			buf_putc(to, *name);
		else
			buf_printf(to, "%%%02x", (unsigned char)*name);
}

static int refuse_narrowed_key(struct error *err)
{
	return error_set(err, ERROR_NOT_OWNER,
			 "the key that made this share does not read this any "
			 "more");
}

/* A share of a link has no bounds of owners: the link's present owner
 * decides. */
static int narrow_owners(struct api_key_info *who, struct share *share,
			 const struct key_names *own, struct error *err)
{
	struct buf names = {0};
	bool any = false;
	json_t *owner;
	size_t i;

	who->owners = own;
	if (!share->owners || share->link_id)
		return 0;
	json_array_foreach(share->owners, i, owner)
	{
		if (!key_names_have(own, json_string_value(owner)))
			continue;
		buf_puts(&names, any ? "," : "");
		put_name(&names, json_string_value(owner));
		any = true;
	}
	if (any && buf_cstr(&names))
		share->narrowed = key_names_parse(names.data, err);
	else if (any)
		error_set_nomem(err);
	else
		refuse_narrowed_key(err);
	buf_free(&names);
	who->owners = share->narrowed;
	return share->narrowed ? 0 : -1;
}

int share_access_narrow(struct access *ret, struct share *share,
			struct api_keyring *keys, struct error *err)
{
	struct api_key_info who = {.file_version = 0};
	struct key_bounds bounds;

	memcpy(who.name, share->key, sizeof(who.name));
	memcpy(who.digest, share->key_digest, sizeof(who.digest));
	if (!api_keyring_still_may(keys, &who, API_READ))
		return error_set(err, ERROR_NOTFOUND,
				 "the key that made this share is gone");
	bounds = key_bounds_of(&who);
	if (bounds.account && *share->account &&
	    strcmp(bounds.account, share->account) != 0)
		return refuse_narrowed_key(err);
	who.roles = bounds.account || *share->account ? API_READ
						      : API_READ | API_READ_ALL;
	if (*share->account)
		memcpy(who.account, share->account, sizeof(who.account));
	if (narrow_owners(&who, share, bounds.owners, err) < 0)
		return -1;
	snprintf(who.name, sizeof(who.name), "share:%s", share->id);
	who.spaces = NULL;
	who.rules = NULL;
	*ret = (struct access){.keys = keys, .who = who, .share = share};
	return 0;
}

bool share_is_seen(const struct access *caller, const struct share *share)
{
	const struct key_link any = {share->account, ""};
	json_t *owner;
	size_t i;

	if (!*share->account || access_sees_all(caller))
		return access_sees_all(caller);
	/* A key that reads all owners reads links of none. */
	if (!share->owners)
		return !key_bounds_of(&caller->who).owners &&
		       access_sees_link(caller, &any);
	json_array_foreach(share->owners, i, owner)
	{
		const struct key_link whose = {share->account,
					       json_string_value(owner)};

		if (!access_sees_link(caller, &whose))
			return false;
	}
	return true;
}
