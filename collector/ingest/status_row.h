/*
 * status_row.h - what a collector says of itself, in table `collectors`: what
 * ClickHouse promises, and how far each of its partitions is behind.
 *
 * Nothing is decided by it, and of all rows the newest counts: one that is lost
 * or comes twice does no harm.
 */
#ifndef COLLECTOR_INGEST_STATUS_ROW_H
#define COLLECTOR_INGEST_STATUS_ROW_H

#include "collector/exactly_once/guarantee.h"
#include "collector/exactly_once/sink.h"
#include "collector/ingest/partitions.h"
#include "common/error.h"

struct status_row;

/* A copy of what is known now; NULL: out of memory. */
struct status_row *status_row_new(const char *collector,
				  const struct guarantee *guarantee,
				  const struct partitions *all);
void status_row_free(struct status_row *row); /* NULL accepted */

/* Sends it once; from any thread. */
int status_row_insert(const struct status_row *row, struct sink *sink,
		      struct error *err);

#endif
