/*
 * cut.h - whether a log is still the one that was read, and if it was cut,
 * where it was.
 *
 * A log is cut by an election of a replica that lacked its end, or by a backup
 * put back; new events then get offsets that others had, of which rows are
 * stored.  They are told apart by the time at which Kafka stored them.
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
 * Is the log the one of which `report` is the last?  Where its last event was,
 * Kafka should hold one that it stored at the same time.  If there is none any
 * more, the last event from `since` up to it that can be compared tells; if
 * there is none of these, nothing speaks against the log.
 */
int cut_is_whole(const struct cut_log *log, struct clickhouse *ch,
		 const struct stored_key *key,
		 const struct stored_report *report, uint64_t since, bool *ret,
		 struct error *err);

/*
 * Where log and rows part: the first offset of the log that is neither stored
 * nor reported, in key->epoch.  Of links, whose rows do not say when their
 * events came, the start of the batch that it lies in: what is read again
 * replaces itself.
 */
int cut_find(const struct cut_log *log, struct clickhouse *ch,
	     const struct stored_key *key, uint64_t *ret, struct error *err);

#endif
