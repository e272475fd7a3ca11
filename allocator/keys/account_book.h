/*
 * account_book.h - the rules of all accounts, from the lines of the keys file
 * that begin with '@' (account_rules.h).
 *
 * The thread that loads the file fills the book.  Rules that were handed out
 * live as long as the book, even if the file no longer has them: a request may
 * still use them, and they may come back.
 */
#ifndef ALLOCATOR_KEYS_ACCOUNT_BOOK_H
#define ALLOCATOR_KEYS_ACCOUNT_BOOK_H

#include "allocator/keys/account_rules.h"
#include "common/keys/api_keyring.h"

struct account_book;

/* `links` has the TTL classes and spaces that rules may name; NULL: any.  It
 * must live as long as the book; `m` may be NULL. */
struct account_book *account_book_new(const struct links_config *links,
				      struct metrics *m, struct error *err);
void account_book_free(struct account_book *book); /* NULL accepted */

/* For the options of a keyring, which the book outlives. */
struct account_reader account_book_reader(struct account_book *book);

#endif
