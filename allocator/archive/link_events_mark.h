/*
 * link_events_mark.h - how far the archive (ClickHouse's table links) has come
 * up to a mark: the link events that were in Kafka when the mark was set.
 */
#ifndef ALLOCATOR_ARCHIVE_LINK_EVENTS_MARK_H
#define ALLOCATOR_ARCHIVE_LINK_EVENTS_MARK_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/kafka/kafka.h"

struct link_events_mark;

/* Sets the mark at the present ends of kafka.topic_links.  Waits for the
 * brokers for some seconds.  `kafka` must outlive it. */
struct link_events_mark *link_events_mark_new(const struct kafka_config *kafka,
					      struct error *err);
void link_events_mark_free(struct link_events_mark *mark); /* NULL accepted */

/* Returns how many offsets before the mark the collectors have not reported as
 * stored yet; 0: the archive has all. */
int link_events_mark_missing(struct link_events_mark *mark,
			     struct clickhouse *ch, int64_t *ret_missing,
			     struct error *err);

#endif
