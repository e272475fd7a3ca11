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

/* All zero but for first and last to begin with. */
struct member_list {
	uint64_t first, last; /* the blocks looked for */
	struct found_member *members;
	size_t count, room;
};

void member_list_free(struct member_list *list);

/* For space_walk, with the list as `arg`.  Members that are not sound are
 * passed over. */
int member_list_take(void *arg, const struct set_member *member,
		     struct error *err);

/* By first block, set and generation; the same member told twice goes. */
void member_list_sort(struct member_list *list);

/* Blocks of the list's range in its member number i. */
uint64_t member_list_overlap(const struct member_list *list, size_t i);

/* True when a block of the range is in no member of this set (-1: any), and
 * the first such.  After member_list_sort. */
bool member_list_gap(const struct member_list *list, int set,
		     uint64_t *ret_block);

#endif
