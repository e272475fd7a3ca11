/* key_make.h - makes API keys. */
#ifndef COMMON_KEYS_KEY_MAKE_H
#define COMMON_KEYS_KEY_MAKE_H

#include "common/buf.h"
#include "common/error.h"

#define KEY_TEXT_MAX 64 /* a key as made here, including its NUL */

/* All but name and roles may be NULL.  Values are written as in the file. */
struct key_make_options {
	const char *name, *roles, *account, *accounts, *owners, *spaces, *rate,
		*burst;
};

/* Makes a new random key (256 bits) and its line for the file.  ERROR_USAGE if
 * an option is invalid. */
int key_make(const struct key_make_options *options, char ret_key[KEY_TEXT_MAX],
	     struct buf *ret_line, struct error *err);

#endif
