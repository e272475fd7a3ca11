/*
 * cut.h - checks whether a log is still the one that was read, and finds the
 * place where it was cut.
 *
 * A log is cut when a replica that lacks its end is elected leader, or when a
 * backup is restored.  New events then get offsets of older events whose rows
 * are stored.  The time at which Kafka stored them tells the two apart.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_CUT_H
#define COLLECTOR_EXACTLY_ONCE_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/stored.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/kafka/reader.h"

struct cut_log {
	struct kafka_reader *reader;
	const char *topic;
	int32_t partition;
	uint64_t start, end;
};

/*
 * Checks whether `report` is the last report of this log.  Kafka should hold an
 * event at the offset of the report's last event, stored at the same time.  If
 * that offset is empty, the last comparable event from `since` up to it
 * decides; if there is none, the log counts as whole.
 */
int cut_is_whole(const struct cut_log *log, struct clickhouse *ch,
		 const struct stored_key *key,
		 const struct stored_report *report, uint64_t since, bool *ret,
		 struct error *err);

/*
 * Finds where log and rows differ: the first offset of the log that is neither
 * stored nor reported in key->epoch.  Rows of links do not have their events'
 * times, so for links the result is the start of the batch: rows that are
 * stored again replace themselves.
 */
int cut_find(const struct cut_log *log, struct clickhouse *ch,
	     const struct stored_key *key, uint64_t *ret, struct error *err);

#endif
