#include "common/keys/key_access.h"

#include <string.h>

static bool reads_all_accounts(const struct api_key_info *key)
{
	return !key || (key->roles & API_READ_ALL);
}

bool key_link_is_of(const struct key_link *link, const char *account)
{
	return *link->account && !strcmp(link->account, account);
}

static bool is_own(const struct api_key_info *key, const struct key_link *link)
{
	return key_names_have(key->owners, link->owner) &&
	       key_link_is_of(link, key->account);
}

static bool may_read_link(const struct api_key_info *key,
			  const struct key_link *link)
{
	return reads_all_accounts(key) ||
	       ((key->roles & API_READ) && is_own(key, link));
}

static bool may_change_link(const struct api_key_info *key,
			    const struct key_link *link)
{
	if (!key)
		return false;
	if (key->roles & API_ADMIN)
		return true;
	return (key->roles & API_CREATE) && is_own(key, link);
}

static bool may_create_link(const struct api_key_info *key,
			    const struct key_link *link)
{
	return key && (key->roles & API_CREATE) && is_own(key, link);
}

bool key_may(const struct api_key_info *key, enum key_deed deed,
	     const struct key_link *link)
{
	switch (deed) {
	case KEY_READS_LINK:
		return may_read_link(key, link);
	case KEY_CREATES_LINK:
		return may_create_link(key, link);
	case KEY_CHANGES_LINK:
		return may_change_link(key, link);
	case KEY_MODERATES_LINK:
	case KEY_TRANSFERS_LINK:
		return key && (key->roles & API_ADMIN);
	case KEY_SEES_LINK:
		return may_read_link(key, link) || may_change_link(key, link);
	case KEY_READS_ALL:
		return reads_all_accounts(key);
	case KEY_READS_RUNS:
		return !key || (key->roles & API_ADMIN);
	case KEY_READS_VISITORS:
		return !key || (key->roles & API_VISITORS);
	}
	return false;
}

struct key_bounds key_bounds_of(const struct api_key_info *key)
{
	if (reads_all_accounts(key))
		return (struct key_bounds){NULL, NULL};
	return (struct key_bounds){key->account, key->owners};
}

struct key_bounds key_change_bounds_of(const struct api_key_info *key)
{
	if (key->roles & API_ADMIN)
		return (struct key_bounds){NULL, NULL};
	return (struct key_bounds){key->account, key->owners};
}

bool key_reads_alike(const struct api_key_info *a, const struct api_key_info *b)
{
	return a->roles == b->roles && !strcmp(a->account, b->account) &&
	       key_names_equal(a->owners, b->owners);
}

bool key_account_may_use_domain(const char *account,
				const struct setting_strings *accounts,
				bool is_default)
{
	for (size_t i = 0; i < accounts->count; i++) {
		if (!strcmp(accounts->items[i], "*") ||
		    !strcmp(accounts->items[i], account))
			return true;
	}
	return accounts->count == 0 && is_default;
}

bool key_may_use_domain(const struct api_key_info *key,
			const struct setting_strings *accounts, bool is_default)
{
	return (key->roles & API_ADMIN) ||
	       key_account_may_use_domain(key->account, accounts, is_default);
}

bool key_may_use_space(const struct api_key_info *key, const char *space)
{
	return key_names_have(key->spaces, space);
}
