/* mmdb_tree.h - the search tree of a MaxMind DB.  Internal to collector/geo. */
#ifndef COLLECTOR_GEO_MMDB_TREE_H
#define COLLECTOR_GEO_MMDB_TREE_H

#include <stdint.h>
#include <string.h>

#include "collector/geo/mmdb_value.h"
#include "common/error.h"

enum {
	MMDB_SEPARATOR = 16, /* zeros between tree and data */
	MMDB_MARKER_LEN = 14,
};

struct mmdb_tree {
	const uint8_t *bytes;
	uint32_t node_count;
	unsigned record_bits; /* 24, 28 or 32 */
	unsigned ip_version;
};

/*
 * A node's left (0) or right (1) record: a node below node_count, node_count
 * itself for "nothing", or beyond it data at record - node_count -
 * MMDB_SEPARATOR.
 */
static inline uint32_t mmdb_tree_record(const uint8_t *tree, uint32_t node,
					unsigned right, unsigned record_bits)
{
	const uint8_t *at = tree + (size_t)node * (record_bits / 4);
	uint32_t word;

	if (record_bits == 32) {
		memcpy(&word, at + (size_t)4 * right, 4);
		return __builtin_bswap32(word);
	}
	if (record_bits == 28) {
		/* Seven bytes; the middle one has the upper bits of both. */
		memcpy(&word, at + (size_t)3 * right, 4);
		word = __builtin_bswap32(word);
		return right ? word & 0xfffffff
			     : word >> 8 | (word & 0xf0) << 20;
	}
	/* Reads a byte too many, which is at worst the separator's. */
	memcpy(&word, at + (size_t)3 * right, 4);
	return __builtin_bswap32(word) >> 8;
}

/*
 * Goes through the whole tree and everything it leads to, once.  ERROR_INPUT
 * saying what is wrong where: a record that leads nowhere, a circle, a value
 * that is none, a record of more than MMDB_VALUES_MAX values.
 */
int mmdb_check(const struct mmdb_tree *tree, const struct mmdb_data *data,
	       struct error *err);

/* The same for one value, which may point to scalars only: with `metadata`
 * nothing has to be remembered. */
int mmdb_check_metadata(const struct mmdb_data *data, struct error *err);

#endif
