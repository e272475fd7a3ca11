/*
 * status_row.h - the status of a collector, in table `collectors`: what
 * ClickHouse guarantees, and the lag of each of its partitions.
 *
 * Nothing depends on it, and the newest row counts: a row that is lost or
 * stored twice does no harm.
 */
#ifndef COLLECTOR_INGEST_STATUS_ROW_H
#define COLLECTOR_INGEST_STATUS_ROW_H

#include "collector/exactly_once/guarantee.h"
#include "collector/exactly_once/sink.h"
#include "collector/ingest/partitions.h"
#include "common/error.h"

struct status_row;

/* Copies the present state.  Returns NULL when out of memory. */
struct status_row *status_row_new(const char *collector,
				  const struct guarantee *guarantee,
				  const struct partitions *all);
void status_row_free(struct status_row *row); /* NULL accepted */

/* Sends the row once; callable from any thread. */
int status_row_insert(const struct status_row *row, struct sink *sink,
		      struct error *err);

#endif
