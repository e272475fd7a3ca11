/*
 * groups.h - blocks gathered into groups whose markers one command may touch.
 *
 * On a Redis that is no cluster's node these are neighbours in the list, up to
 * GROUP_MAX at a time.  On a Redis Cluster all keys of a command must lie in
 * one slot: there a group is blocks of one slot, and groups come slot by slot,
 * so that all groups of a node are one stretch of them.  A scan that has a
 * connection per node deals the groups out by `slot`; see docs/reclaimer.md,
 * "Clusters".
 */
#ifndef LINKSTORE_BLOCK_GROUPS_H
#define LINKSTORE_BLOCK_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/linkstore.h"

/* One script closes so many at once; Redis answers nobody else meanwhile, for
 * about 3 us a block. */
#define GROUP_MAX 64

struct block_group {
	unsigned slot; /* 0 where slots do not count */
	size_t count;
	size_t at[GROUP_MAX]; /* places in the list */
};

struct block_groups;

/* `blocks` must outlive it. */
struct block_groups *block_groups_new(const struct link_space *space,
				      const uint64_t *blocks, size_t count,
				      bool by_slot, struct error *err);
void block_groups_free(struct block_groups *g); /* NULL accepted */

/* False at the end. */
bool block_groups_next(struct block_groups *g, struct block_group *ret_group);

/* The slot of everything that lives under {space:block}. */
unsigned block_slot(const struct link_space *space, uint64_t block);

#endif
