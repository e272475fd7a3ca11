/*
 * key_access.h - who may read and write what: one rule for all programs.
 *
 *	roles		reads the links		changes the links
 *	admin		of all			of all
 *	read		of all			of none
 *	read-own	of its account		of none
 *	create		of none			of its account
 *
 * With owners= each of them is narrowed to the links of these owners: `read
 * owners=ann` reads ann's links in all accounts, `read-own owners=ann` those of
 * the key's account that are ann's.
 *
 * A link belongs to the account that made it.  A link that carries none, since
 * it was forgotten, belongs to no account.
 *
 * A link that a key neither reads nor changes does not exist for the key: the
 * answer has the same bytes as that about a code without a link.
 *
 * All of it only reads: any number of threads may call it.
 */
#ifndef COMMON_KEYS_KEY_ACCESS_H
#define COMMON_KEYS_KEY_ACCESS_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/keys/api_keyring.h"

/* Whose a link is; "": nobody's. */
struct key_link {
	const char *account, *owner;
};

enum key_deed {
	/* Of one link. */
	KEY_READS_LINK,	    /* it, its QR code, its statistics */
	KEY_CREATES_LINK,   /* the account is to be the key's own */
	KEY_CHANGES_LINK,   /* edits and deletes */
	KEY_MODERATES_LINK, /* blocks it, and lets it go */
	KEY_SEES_LINK,	    /* reads or changes it: the link exists for it */
	/* Of many links. */
	KEY_READS_ALL,	  /* what is about all links; the ledger */
	KEY_READS_OWNERS, /* what is about all links of the key's owners=, of
			   * whatever account; without owners=, READS_ALL */
	KEY_READS_RUNS,	  /* what is about the installation itself */
};
#define KEY_DEEDS (KEY_READS_RUNS + 1)

/* `key` NULL: of a program without a file of keys, where anybody reads all and
 * writes nothing.  `link` is read for deeds of one link only. */
bool key_may(const struct api_key_info *key, enum key_deed deed,
	     const struct key_link *link);

/* Does that account own the link? */
bool key_link_is_of(const struct key_link *link, const char *account);

/*
 * What a key reads lies within these bounds: links of these owners (NULL: of
 * any) in this account (NULL: in any).  Not all within them is read: key_may
 * decides.  The pointers are the key's.
 */
struct key_bounds {
	const struct key_names *owners;
	const char *account;
};
struct key_bounds key_bounds_of(const struct api_key_info *key);

/* Do both read the same?  For what began with one and goes on with the other.
 */
bool key_reads_alike(const struct api_key_info *a,
		     const struct api_key_info *b);

/*
 * May the key make links on a domain, and change those that are there?
 * `accounts` are those that the domain names, "*" among them stands for all.  A
 * domain that names none is for admins only, but the default one is for all.
 */
bool key_may_use_domain(const struct api_key_info *key,
			const struct setting_strings *accounts,
			bool is_default);

/* May the key make links in that space, as far as its own line says? */
bool key_may_use_space(const struct api_key_info *key, const char *space);

#endif
