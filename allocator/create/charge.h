/*
 * charge.h - takes a new link out of the quota of its account
 * (linkstore/quota.h), once for a creation, even if its code is chosen again.
 */
#ifndef ALLOCATOR_CREATE_CHARGE_H
#define ALLOCATOR_CREATE_CHARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/keys/account_rules.h"
#include "linkstore/quota.h"

/* Initialize it as {.account, .rules}. */
struct charge {
	const char *account;
	const struct account_rules *rules; /* NULL: none */
	bool taken;
	struct quota_answer answer; /* the quota that was taken */
	int64_t bytes;		    /* size of the charged link */
};

/* Returns whether the account has a quota. */
bool charge_has_quota(const struct charge *charge);

/* Takes one link of this many bytes.  If there was room, `fn` calls
 * charge_set_taken. */
int charge_take(struct charge *charge, struct redis_async *redis,
		const struct linkstore *store, int64_t bytes, quota_fn *fn,
		void *arg, struct error *err);
void charge_set_taken(struct charge *charge, const struct quota_answer *answer);

/* Gives back what was taken, if anything was. */
void charge_give_back(const struct charge *charge, struct redis_async *redis,
		      const struct linkstore *store);

#define CHARGE_TEXT_MAX 256

/* Writes the refusal for an account whose quota is used up, and counts it. */
void charge_refusal(const struct quota_answer *answer,
		    const struct account_rules *rules, const char *account,
		    char text[CHARGE_TEXT_MAX]);

#endif
