/*
 * denied_set.h - the denied hosts that a program has seen, kept up to date by
 * the changes in Redis (denied_hosts.h).
 *
 * Belongs to one thread; what others use is made of it (denied_set_list).
 */
#ifndef LINKSTORE_DENIED_SET_H
#define LINKSTORE_DENIED_SET_H

#include <stddef.h>
#include <stdint.h>

#include "common/domain_list.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

struct denied_set;

struct denied_set *denied_set_new(struct error *err);
void denied_set_free(struct denied_set *set); /* NULL accepted */

/* Takes all changes that Redis has and the set has not.  On failure it has some
 * of them, and the next call takes the others. */
int denied_set_update(struct denied_set *set, struct redis *redis,
		      const struct linkstore *store, struct error *err);

/* Compares the set with what Redis had at the last update.  ERROR_REMOTE: Redis
 * has lost data, or has hosts that cannot be read. */
int denied_set_compare(const struct denied_set *set, struct error *err);

/* Makes the list for look-ups. */
struct domain_list *denied_set_list(const struct denied_set *set,
				    struct error *err);

size_t denied_set_count(const struct denied_set *set);
/* Returns the revision of the last change that the set has; 0: none. */
uint64_t denied_set_revision(const struct denied_set *set);

#endif
