/*
 * groups.h - combines blocks into groups whose markers one command may touch.
 *
 * If Redis is not a cluster's node, a group is up to GROUP_MAX neighbours in
 * the list.  On a Redis Cluster all keys of a command must be in one slot:
 * there a group has blocks of one slot, and groups are sorted by slot, so that
 * all groups of a node are adjacent.  A scan with a connection per node
 * distributes the groups by `slot`; see docs/reclaimer.md, "Clusters".
 */
#ifndef LINKSTORE_BLOCK_GROUPS_H
#define LINKSTORE_BLOCK_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/linkstore.h"

/* Blocks that one script closes.  Meanwhile Redis answers no other client, for
 * about 3 us a block. */
#define GROUP_MAX 64

struct block_group {
	unsigned slot; /* 0 if slots do not matter */
	size_t count;
	size_t at[GROUP_MAX]; /* indices in the list */
};

struct block_groups;

/* `blocks` must outlive the groups. */
struct block_groups *block_groups_new(const struct link_space *space,
				      const uint64_t *blocks, size_t count,
				      bool by_slot, struct error *err);
void block_groups_free(struct block_groups *g); /* NULL accepted */

/* Returns false at the end. */
bool block_groups_next(struct block_groups *g, struct block_group *ret_group);

/* Returns the slot of all keys under {space:block}. */
unsigned block_slot(const struct link_space *space, uint64_t block);

#endif
