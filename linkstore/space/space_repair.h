/*
 * space_repair.h - repairs a space's accounting, under the reclaimer's lock.
 */
#ifndef LINKSTORE_SPACE_SPACE_REPAIR_H
#define LINKSTORE_SPACE_SPACE_REPAIR_H

#include <stddef.h>

#include "common/redis/redis.h"
#include "linkstore/space/member_list.h"
#include "linkstore/space/reclaim.h"

/* For the log of manual changes; manual_hold.h has the rules for these
 * texts. */
struct repair_note {
	const char *who;
	const char *reason;
};

/*
 * Replaces members by parts that cover the same blocks, each once, all or
 * nothing.  Without members, the parts are blocks that were in no set, which
 * the caller has checked; they become issued.  ERROR_NOT_OWNER: the lock is not
 * ours.  ERROR_NOTFOUND: a member is no longer there.  ERROR_INPUT: a part is
 * beyond the cursor.
 */
int space_repair(struct redis *redis, const struct reclaim_lock *lock,
		 const struct repair_note *note,
		 const struct found_member *members, size_t member_count,
		 const struct found_member *parts, size_t part_count,
		 struct error *err);

/*
 * Computes, without I/O, the parts that replace members which overlap.  Each
 * block stays once: in the strictest state (out, then issued, then pooled),
 * under the highest generation, and with the latest time of its members.
 * `members` are sorted by member_list_sort.  ret_parts has room for 2 * count;
 * returns their number.  O(count^2).
 */
size_t repair_plan(const struct found_member *members, size_t count,
		   struct found_member *ret_parts);

#endif
