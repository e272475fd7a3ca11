/*
 * gap.h - offsets that are passed over: counts which of them are stored
 * nevertheless, and how many are lost.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_GAP_H
#define COLLECTOR_EXACTLY_ONCE_GAP_H

#include <stdint.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/sink.h"
#include "collector/exactly_once/stored.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct gap_place {
	struct stored_key key;
	enum sink_table table;
	/* Kafka stored all its rows at this time or later; 0: not known. */
	int64_t since_ms;
};

/*
 * Fills gap->row_count, hours and lost for the offsets from gap->first to
 * gap->last.  Rows of a batch that was stored but not reported are counted
 * here: no other report will count them.
 */
int gap_count(const struct gap_place *place, struct clickhouse *ch,
	      struct batch *gap, struct error *err);

#endif
