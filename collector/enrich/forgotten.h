/*
 * forgotten.h - the visitors and links of `aggregator forget`, as the table
 * `forgotten` lists them.
 *
 * The list does not change once it is made and united: any thread may query it.
 */
#ifndef COLLECTOR_ENRICH_FORGOTTEN_H
#define COLLECTOR_ENRICH_FORGOTTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/enrich/identity.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct forgotten;

/* Identifies a state of the table: two states have the same values with a
 * chance of 2^-64; zeros: it is empty. */
struct forgotten_state {
	uint64_t rows, sum;
};

/* Reads the whole list, some 40 bytes an entry.  If the table has not changed
 * since `known` (forgotten_state_of), *ret is NULL. */
int forgotten_load(struct clickhouse *ch, const struct forgotten_state *known,
		   struct forgotten **ret, struct error *err);
void forgotten_free(struct forgotten *f); /* NULL accepted */

/* Adds the entries of another list; NULL is an empty list.  After a restore of
 * a backup, ClickHouse's table may lack entries, but what is forgotten stays
 * forgotten.  No other thread may query the list during the call. */
int forgotten_unite(struct forgotten *f, const struct forgotten *other,
		    struct error *err);

/* Returns the state of the table when it was read; for NULL, that of an empty
 * one. */
struct forgotten_state forgotten_state_of(const struct forgotten *f);

/* NULL is treated as an empty list. */
bool forgotten_is_empty(const struct forgotten *f);
bool forgotten_has_link(const struct forgotten *f, uint64_t link_id);
/* `at_ms`: the time of the visit, UTC. */
bool forgotten_has_visitor(const struct forgotten *f,
			   const unsigned char identity[IDENTITY_LEN],
			   int64_t at_ms);

#endif
