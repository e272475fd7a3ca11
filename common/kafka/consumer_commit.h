/*
 * consumer_commit.h - commits offsets with a text beside each, and reads them
 * back.
 */
#ifndef COMMON_KAFKA_CONSUMER_COMMIT_H
#define COMMON_KAFKA_CONSUMER_COMMIT_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/consumer.h"

enum {
	/* the default of the brokers' offset.metadata.max.bytes */
	KAFKA_METADATA_MAX = 4096
};

/*
 * Requests a commit of the offset `next` (everything before it is done), with a
 * text of at most KAFKA_METADATA_MAX bytes ("": none).  The request is queued;
 * kafka_consumer_serve_commits calls on_committed once with the answer.
 * librdkafka sends the commit under the generation that this member has at that
 * time, so this function refuses it (ERROR_LATE) once the assignment is lost.
 * Commit for a partition only after the answer to the previous commit:
 * librdkafka may reorder two while it looks for the coordinator.
 */
int kafka_consumer_commit(struct kafka_consumer *c, const char *topic,
			  int32_t partition, int64_t next, const char *metadata,
			  void *opaque, struct error *err);

/* Calls on_committed for the answers that have arrived, waiting up to
 * timeout_ms for the first.  May be called inside on_revoked. */
void kafka_consumer_serve_commits(struct kafka_consumer *c, int timeout_ms);

struct kafka_committed {
	int64_t offset; /* -1: none */
	size_t metadata_len;
	char metadata[KAFKA_METADATA_MAX]; /* any bytes */
};

/* Reads what any member committed for a partition.  Callable from any
 * thread. */
int kafka_consumer_committed(struct kafka_consumer *c, const char *topic,
			     int32_t partition, int timeout_ms,
			     struct kafka_committed *ret, struct error *err);

/* Fills *ret from what librdkafka returns for a partition. */
void kafka_committed_fill(struct kafka_committed *ret,
			  const rd_kafka_topic_partition_t *p);

#endif
