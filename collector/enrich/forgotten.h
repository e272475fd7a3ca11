/*
 * forgotten.h - the visitors and links that `aggregator forget` was told to
 * forget, as table `forgotten` lists them.
 *
 * Not changed once it is made and united: any thread may ask.
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

/* Tells two states of the table apart, but for a chance of 2^-64; zeros: it is
 * empty. */
struct forgotten_state {
	uint64_t rows, sum;
};

/* Reads the whole list, some 40 bytes an entry, unless the table is as it was
 * when what is `known` was read (forgotten_state_of): then *ret is NULL. */
int forgotten_load(struct clickhouse *ch, const struct forgotten_state *known,
		   struct forgotten **ret, struct error *err);
void forgotten_free(struct forgotten *f); /* NULL accepted */

/* Adds the entries of another list, NULL being an empty one.  The table loses
 * those that a backup of ClickHouse does not have when that is restored, and
 * who is forgotten stays so.  Asked by nobody meanwhile. */
int forgotten_unite(struct forgotten *f, const struct forgotten *other,
		    struct error *err);

/* The table as it was read; NULL as it is when empty. */
struct forgotten_state forgotten_state_of(const struct forgotten *f);

/* NULL is asked like an empty list. */
bool forgotten_is_empty(const struct forgotten *f);
bool forgotten_has_link(const struct forgotten *f, uint64_t link_id);
/* `at_ms`: when the visit was, UTC. */
bool forgotten_has_visitor(const struct forgotten *f,
			   const unsigned char identity[IDENTITY_LEN],
			   int64_t at_ms);

#endif
