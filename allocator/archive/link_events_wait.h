/*
 * link_events_wait.h - waits until the archive (ClickHouse's table links) has
 * all link events that are in Kafka now.
 */
#ifndef ALLOCATOR_ARCHIVE_LINK_EVENTS_WAIT_H
#define ALLOCATOR_ARCHIVE_LINK_EVENTS_WAIT_H

#include <stdint.h>

#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/kafka/kafka.h"

/*
 * Reads the ends of kafka.topic_links, and waits up to `wait_ms` until the
 * collectors have reported that they stored all before.  Prints to stdout what
 * is still missing, as it becomes less.  ERROR_BUSY, retriable: some are not
 * stored yet.  ERROR_STOPPED: a signal came.
 */
int link_events_wait(struct app *app, const struct kafka_config *kafka,
		     struct clickhouse *ch, int64_t wait_ms, struct error *err);

#endif
