/*
 * partitions.h - the partitions of a collector, by topic and number.  One that
 * was revoked stays, and with it its metrics.  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_PARTITIONS_H
#define COLLECTOR_INGEST_PARTITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/ingest/partition.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

/* A topic's, by number; NULL where there is none. */
struct partitions_topic {
	char *name;
	struct partition **items;
	size_t count;
};

/* Start from `struct partitions all = {0};`. */
struct partitions {
	struct partition **items; /* of all topics */
	size_t count;
	size_t cap;
	struct partitions_topic *topics; /* each record looks one up */
	size_t topic_count;
};

void partitions_release(struct partitions *all);

/* The partition, or NULL. */
struct partition *partitions_find(const struct partitions *all,
				  const char *topic, int32_t number);
/* The same, made when it is not there. */
struct partition *partitions_add(struct partitions *all, const char *topic,
				 int32_t number, struct metrics *metrics,
				 struct error *err);

/* How many are assigned. */
size_t partitions_assigned(const struct partitions *all);

/* Bytes of rows held by all of them. */
size_t partitions_bytes(const struct partitions *all);

#endif
