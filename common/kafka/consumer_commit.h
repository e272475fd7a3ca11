/*
 * consumer_commit.h - commits of offsets with a text beside, and reading them
 * back.
 */
#ifndef COMMON_KAFKA_CONSUMER_COMMIT_H
#define COMMON_KAFKA_CONSUMER_COMMIT_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/consumer.h"

enum {
	/* offset.metadata.max.bytes of the brokers, as they come */
	KAFKA_METADATA_MAX = 4096
};

/*
 * Asks the brokers to note that everything before `next` is done, with a text
 * of at most KAFKA_METADATA_MAX bytes ("": none).  Queued; on_committed is
 * called once with the answer, by kafka_consumer_serve_commits.  Goes out under
 * the generation that this member has when librdkafka sends it, so it is
 * refused here (ERROR_LATE) once the assignment is lost.  Commit for a
 * partition only after the answer to the last one: librdkafka may send two in
 * another order while it looks for the coordinator.
 */
int kafka_consumer_commit(struct kafka_consumer *c, const char *topic,
			  int32_t partition, int64_t next, const char *metadata,
			  void *opaque, struct error *err);

/* Calls on_committed for the answers that are there, waiting up to timeout_ms
 * for the first.  Also inside on_revoked. */
void kafka_consumer_serve_commits(struct kafka_consumer *c, int timeout_ms);

struct kafka_committed {
	int64_t offset; /* -1: none */
	size_t metadata_len;
	char metadata[KAFKA_METADATA_MAX]; /* any bytes */
};

/* What was committed for a partition, by whomever.  From any thread. */
int kafka_consumer_committed(struct kafka_consumer *c, const char *topic,
			     int32_t partition, int timeout_ms,
			     struct kafka_committed *ret, struct error *err);

/* From what librdkafka tells of a partition. */
void kafka_committed_fill(struct kafka_committed *ret,
			  const rd_kafka_topic_partition_t *p);

#endif
