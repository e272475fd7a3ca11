/*
 * repair.h - repairing a space's accounting, under the reclaimer's lock.
 */
#ifndef LINKSTORE_SPACE_REPAIR_H
#define LINKSTORE_SPACE_REPAIR_H

#include <stddef.h>

#include "common/redis/redis.h"
#include "linkstore/space/member_list.h"
#include "linkstore/space/reclaim.h"

/* For the log of what was done by hand; see manual_hold.h for what may be in
 * them. */
struct repair_note {
	const char *who;
	const char *reason;
};

/*
 * Replaces members by parts that cover the same blocks, each once, all or
 * nothing.  With no members the parts are blocks that were in no set, which
 * the caller has made sure of, and become issued.  ERROR_NOT_OWNER: the lock is
 * not ours; ERROR_NOTFOUND: a member is no longer there; ERROR_INPUT: a part
 * lies beyond the cursor.
 */
int space_repair(struct redis *redis, const struct reclaim_lock *lock,
		 const struct repair_note *note,
		 const struct found_member *members, size_t member_count,
		 const struct found_member *parts, size_t part_count,
		 struct error *err);

/*
 * What becomes of members that overlap: each block stays once, in the stricter
 * state (out, then issued, then pooled), under the highest generation, and as
 * late as the latest of its claims says.  Pure.  `members` are sorted as
 * member_list_sort does.  ret_parts has room for 2 * count; returns how many
 * there are.  O(count^2).
 */
size_t repair_plan(const struct found_member *members, size_t count,
		   struct found_member *ret_parts);

#endif
