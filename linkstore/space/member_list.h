/* member_list.h - the members of a space's sets that contain blocks of a range.
 */
#ifndef LINKSTORE_SPACE_MEMBER_LIST_H
#define LINKSTORE_SPACE_MEMBER_LIST_H

#include <stdbool.h>

#include "linkstore/space/members.h"

struct found_member {
	enum space_set set;
	struct block_range range;
	int64_t score;
};

/* Initialize it with zeroes, except first and last. */
struct member_list {
	uint64_t first, last; /* the requested blocks */
	struct found_member *members;
	size_t count, room;
};

void member_list_free(struct member_list *list);

/* For space_walk, with the list as `arg`.  Ignores members that are not
 * sound. */
int member_list_take(void *arg, const struct set_member *member,
		     struct error *err);

/* Sorts by first block, set and generation, and removes duplicates. */
void member_list_sort(struct member_list *list);

/* Counts the blocks of the list's range in member number i. */
uint64_t member_list_overlap(const struct member_list *list, size_t i);

/* Returns true and the first such block if a block of the range is in no member
 * of this set (-1: any).  Call it after member_list_sort. */
bool member_list_gap(const struct member_list *list, int set,
		     uint64_t *ret_block);

#endif
