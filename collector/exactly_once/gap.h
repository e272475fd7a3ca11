/*
 * gap.h - offsets that are passed over: what of them is stored nevertheless,
 * and how many are lost.
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
	int64_t since_ms; /* no row of it was stored by Kafka before; 0: not
			     known */
};

/*
 * Fills gap->row_count, hours and lost for the offsets from gap->first to
 * gap->last.  Of a batch that was stored and not reported rows are there, which
 * are told of as such: nobody else will.
 */
int gap_count(const struct gap_place *place, struct clickhouse *ch,
	      struct batch *gap, struct error *err);

#endif
