/*
 * key_access.h - what a key may read and write: one rule for all programs.
 *
 *	roles			reads the links		changes the links
 *	admin			of all accounts		of all accounts
 *	read accounts=*		of all accounts		of none
 *	read, read-own		of its account		of none
 *	create			of none			of its account
 *
 * The role visitors, beside read or read-own, widens none of it: of the links
 * that the key reads it tells the clicks of one visitor, cookies and traces.
 * Admins have it.
 *
 * With owners= each of them is narrowed to the links of these owners in its
 * account.  An owner belongs to an account: the same name in another account is
 * another owner.
 *
 * A link belongs to the account that made it.  A link without an account,
 * because it was forgotten, belongs to no account.
 *
 * A link that a key neither reads nor changes does not exist for the key: the
 * answer is byte for byte that for a code without a link.
 *
 * All functions only read: any number of threads may call them.
 */
#ifndef COMMON_KEYS_KEY_ACCESS_H
#define COMMON_KEYS_KEY_ACCESS_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/keys/api_keyring.h"

/* The account and the owner of a link; "": none. */
struct key_link {
	const char *account, *owner;
};

enum key_deed {
	/* Actions on one link. */
	KEY_READS_LINK,	    /* the link, its QR code, its statistics */
	KEY_CREATES_LINK,   /* the account has to be the key's own */
	KEY_CHANGES_LINK,   /* edits and deletes */
	KEY_MODERATES_LINK, /* blocks it, and unblocks it */
	KEY_TRANSFERS_LINK, /* gives it to another account */
	KEY_SEES_LINK,	    /* reads or changes it: the link exists for it */
	/* Actions on many links. */
	KEY_READS_ALL,	/* data about the links of all accounts; the ledger */
	KEY_READS_RUNS, /* data about the installation itself */
	/* The clicks of one visitor, cookies and trace ids, of the links that
	 * the key reads. */
	KEY_READS_VISITORS,
};
#define KEY_DEEDS (KEY_READS_VISITORS + 1)

/* `key` NULL: the program has no file of keys, so every client reads all and
 * writes nothing.  `link` is used for actions on one link only. */
bool key_may(const struct api_key_info *key, enum key_deed deed,
	     const struct key_link *link);

/* Returns true if that account owns the link. */
bool key_link_is_of(const struct key_link *link, const char *account);

/*
 * The bounds of what a key reads: the links of this account (NULL: of all), and
 * of these owners in it (NULL: of any).  Not everything within them is
 * readable: key_may decides.  The pointers are the key's.
 */
struct key_bounds {
	const char *account;
	const struct key_names *owners; /* NULL if there is no account */
};
struct key_bounds key_bounds_of(const struct api_key_info *key);
/* The same for the links that a key with the role create changes. */
struct key_bounds key_change_bounds_of(const struct api_key_info *key);

/* Returns true if both keys read the same; for work that begins with one and
 * continues with the other. */
bool key_reads_alike(const struct api_key_info *a,
		     const struct api_key_info *b);

/*
 * Returns true if the key may make links on a domain, and change existing ones.
 * `accounts` are those of the domain; "*" among them means all.  A domain
 * without accounts is for admins only, except the default one, which is for
 * all.
 */
bool key_may_use_domain(const struct api_key_info *key,
			const struct setting_strings *accounts,
			bool is_default);

/* Returns true if links of that account may be under the domain. */
bool key_account_may_use_domain(const char *account,
				const struct setting_strings *accounts,
				bool is_default);

/* Returns true if the key's own line lets it make links in that space. */
bool key_may_use_space(const struct api_key_info *key, const char *space);

#endif
