/*
 * url_code.h - codes derived from the URL: the same URL of the same owner gets
 * the same code.
 *
 * MD5 of the round's salt, the owner, a NUL and the URL gives four 32-bit
 * quarters, little-endian, each of which makes a candidate; after four the
 * round changes the salt.  The caller takes the first candidate that is free or
 * already maps this URL.  The salt is derived from the space's secret, so
 * nobody else can tell which code a URL would get, or prepare two URLs that
 * collide; MD5 is here to spread, not to protect.
 *
 * A quarter q stands for the number floor(q * base^length / 2^32), whose
 * digits, each the rest modulo the base, are the characters.  Up to five
 * characters every code is as likely as any other but for one part in four (of
 * 62^5 codes, each has 4 or 5 of the 2^32 quarters; shorter ones are evener).
 * From six on a quarter has fewer values than there are codes: each q has a
 * code of its own, and a code carries 32 bits, not 35.7 (6 characters) to 47.6
 * (8).  So with a million URLs in a space of 6 or more about 116 first
 * candidates collide, and with 77,000 it is as likely as not that two do. Seven
 * and eight characters win readable length only.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef CODESPACE_URL_CODE_H
#define CODESPACE_URL_CODE_H

#include <stddef.h>

#include "codespace/key.h"
#include "common/error.h"

#define URL_CODE_LENGTH_MIN 1
#define URL_CODE_LENGTH_MAX 8
#define URL_CODE_TEXT_MAX   (URL_CODE_LENGTH_MAX + 1) /* with its NUL */
#define URL_CODE_ROUND	    4 /* candidates until the salt changes */

struct url_codes;

/*
 * `base` is the size of the alphabet: 62, or 57 without look-alikes (0: 62).
 * The secret is not kept.  Returns NULL with ERROR_CONFIG when a value is out
 * of its bounds.
 */
struct url_codes *url_codes_new(unsigned length, unsigned base,
				const struct codespace_key *key,
				struct error *err);
void url_codes_free(struct url_codes *uc); /* wipes the salt; NULL accepted */

unsigned url_codes_length(const struct url_codes *uc);

/*
 * The candidate number `attempt`, from 0, for a URL of `len` bytes, which may
 * be any.  `owner` is a text, "" when there is none.  Two candidates of one URL
 * may be equal by chance.  Fails only for want of memory.
 */
int url_code_candidate(const struct url_codes *uc, const char *owner,
		       const char *url, size_t len, unsigned attempt,
		       char ret_code[URL_CODE_TEXT_MAX], struct error *err);

/* Could this text be a code of the space? */
bool url_code_fits(const struct url_codes *uc, const char *code, size_t len);

/* 64 bits that tell keys apart and say nothing of them. */
const char *url_codes_fingerprint(const struct url_codes *uc);

#endif
