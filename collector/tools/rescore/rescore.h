/*
 * rescore.h - `collector rescore`: today's rules applied to past days.
 *
 * A day at a time.  ClickHouse lists the distinct user agents with the headers
 * that were kept, the collector's own code judges them, and one mutation writes
 * what differs: verdict, reason, version and the device class that follows from
 * them.  Rows that are the same are not touched.  Bursts are counted by
 * ClickHouse over the whole day and all partitions.  When the mutation is done,
 * the hours whose counts change are told to the aggregator.
 *
 * It can be stopped anywhere and run again: table `rescored` knows what was
 * begun.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

int collector_rescore(struct app *app, const struct collector_config *config,
		      struct error *err);

#endif
