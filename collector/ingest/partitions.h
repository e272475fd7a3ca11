/*
 * partitions.h - the partitions of a collector, by topic and number.  A revoked
 * partition stays here, together with its metrics.  Belongs to the polling
 * thread.
 */
#ifndef COLLECTOR_INGEST_PARTITIONS_H
#define COLLECTOR_INGEST_PARTITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/ingest/partition.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

/* The partitions of a topic, by number; NULL where there is none. */
struct partitions_topic {
	char *name;
	struct partition **items;
	size_t count;
};

/* Start from `struct partitions all = {0};`. */
struct partitions {
	struct partition **items; /* partitions of all topics */
	size_t count;
	size_t cap;
	struct partitions_topic *topics; /* each record is looked up here */
	size_t topic_count;
};

void partitions_release(struct partitions *all);

/* Returns the partition, or NULL. */
struct partition *partitions_find(const struct partitions *all,
				  const char *topic, int32_t number);
/* Returns the partition; makes it if it is missing. */
struct partition *partitions_add(struct partitions *all, const char *topic,
				 int32_t number, struct metrics *metrics,
				 struct error *err);

/* Returns the number of assigned partitions. */
size_t partitions_assigned(const struct partitions *all);

/* Returns the bytes of rows held by all of them. */
size_t partitions_bytes(const struct partitions *all);

#endif
