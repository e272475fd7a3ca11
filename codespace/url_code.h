/*
 * url_code.h - codes derived from the URL: the same URL of the same account and
 * owner gets the same code.
 *
 * Each URL has a series of candidates; the caller takes the first that is free
 * or already maps this URL.  There are two ways to make them.
 *
 * URL_CODE_KEYED: candidate i is a number, BLAKE2b-128 under a key of the space
 * (libsodium), salted with the round i / 4, of i, account, owner and URL,
 * modulo the number of codes; with 128 bits the bias is at most 2^-86.  From
 * URL_CODE_CHECKED characters on there are base^(length-1), and a number is
 * written as codespace.h writes an id, permuted and with a check character: 14
 * of 15 guessed codes are refused without a look-up, and an attacker has to try
 * as many as in a space of blocks.  Shorter codes have no check character, and
 * are few.
 *
 * URL_CODE_MD5_QUARTERS: MD5 of salt, round (32 bits, little-endian), account
 * and owner, each with its NUL, and the URL gives four 32-bit quarters,
 * little-endian, each of which makes a candidate; after four the round changes
 * the salt.  The round's highest bit says that there is an account: without one
 * neither the bit nor the account's NUL is in it, which makes the codes from
 * before there were accounts.  The salt is derived from the space's secret, so
 * without it nobody can compute the code of a URL, or prepare two URLs that
 * collide; MD5 is here to spread, not to protect.
 *
 * A quarter q stands for the number floor(q * base^length / 2^32), whose
 * digits, each the remainder modulo the base, are the characters.  Up to five
 * characters every code is as likely as any other but for one part in four (of
 * 62^5 codes, each has 4 or 5 of the 2^32 quarters; shorter ones are evener).
 * From six on a quarter has fewer values than there are codes, and anybody can
 * compute which codes these are.  So with a million links one guess in 4,295
 * hits, however long the codes are, and about 116 first candidates collide;
 * with 77,000 the chance that two do is about one half.  Such spaces are only
 * for users who need these very codes.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef CODESPACE_URL_CODE_H
#define CODESPACE_URL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codespace/key.h"
#include "common/error.h"

#define URL_CODE_LENGTH_MIN 1
#define URL_CODE_LENGTH_MAX 8
#define URL_CODE_TEXT_MAX   (URL_CODE_LENGTH_MAX + 1) /* with its NUL */
#define URL_CODE_CHECKED    6 /* URL_CODE_KEYED: from this length on */
#define URL_CODE_ROUND	    4 /* candidates until the salt changes */

enum url_code_method {
	URL_CODE_KEYED,
	URL_CODE_MD5_QUARTERS,
};
#define URL_CODE_METHODS 2

struct url_codes;

/*
 * `base` is the size of the alphabet: 62, or 57 without look-alikes (0: 62).
 * The secret is not kept.  Returns NULL with ERROR_CONFIG when a value is out
 * of its bounds.
 */
struct url_codes *url_codes_new(enum url_code_method method, unsigned length,
				unsigned base, const struct codespace_key *key,
				struct error *err);
void url_codes_free(struct url_codes *uc); /* wipes the keys; NULL accepted */

/* The texts that a code is derived from.  They end in a NUL. */
struct url_code_subject {
	const char *account; /* "": none, like before there were accounts */
	const char *owner;   /* "": none */
	const char *url;     /* any bytes */
	size_t url_len;
};

/*
 * Makes the candidate number `attempt`, from 0.  Two candidates of one URL may
 * be equal by chance.  Fails only if out of memory.
 */
int url_code_candidate(const struct url_codes *uc,
		       const struct url_code_subject *of, unsigned attempt,
		       char ret_code[URL_CODE_TEXT_MAX], struct error *err);

/* Returns true if this text could be a code of the space. */
bool url_code_fits(const struct url_codes *uc, const char *code, size_t len);

/* Return the number of codes, all equally likely, and the number of texts among
 * which an attacker has to guess who knows everything but the keys. */
uint64_t url_codes_capacity(const struct url_codes *uc);
uint64_t url_codes_guesses(const struct url_codes *uc);

/* Returns 64 bits that identify keys and method without revealing them. */
const char *url_codes_fingerprint(const struct url_codes *uc);

#endif
