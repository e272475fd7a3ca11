/*
 * forgotten.h - the visitors and links that `aggregator forget` was told to
 * forget, as table `forgotten` lists them.
 *
 * Not changed once it is made: any thread may ask.
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

/* Reads the whole list, some 40 bytes an entry, unless it is no longer than one
 * that is `known` already (forgotten_count): then *ret is NULL. */
int forgotten_load(struct clickhouse *ch, size_t known, struct forgotten **ret,
		   struct error *err);
void forgotten_free(struct forgotten *f); /* NULL accepted */

/* Entries only come, so of two lists the longer one is the newer one.  0 of
 * NULL. */
size_t forgotten_count(const struct forgotten *f);

/* NULL is asked like an empty list. */
bool forgotten_has_link(const struct forgotten *f, uint64_t link_id);
/* `at_ms`: when the visit was, UTC. */
bool forgotten_has_visitor(const struct forgotten *f,
			   const unsigned char identity[IDENTITY_LEN],
			   int64_t at_ms);

#endif
