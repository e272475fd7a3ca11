/* key_search.h - which blocks hold codes of a key version.  For
 * linkstore/space/ only. */
#ifndef LINKSTORE_SPACE_KEY_SEARCH_H
#define LINKSTORE_SPACE_KEY_SEARCH_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/reclaim.h"

struct key_search {
	struct redis *redis;
	const struct reclaim_lock *lock; /* of the space */
	unsigned version;		 /* configured */
	int64_t now, used; /* Redis' clock; when it was last granted for */
};

struct key_findings {
	uint64_t looked;  /* blocks */
	uint64_t live;	  /* with links of the version that will end */
	uint64_t endless; /* the same, of class never */
	uint64_t lost;	  /* the same, without a marker */
	uint64_t ended;	  /* in quarantine, or soon */
	int64_t last;	  /* when the last of live and ended is out of it */
};

/* Looks through all blocks issued or in quarantine, once nobody holds any that
 * was granted for the version. */
int key_search(const struct key_search *search, struct key_findings *ret,
	       struct error *err);

#endif
