/*
 * tail.h - reads all partitions of a topic from the end on, outside of any
 * group: for programs that want to see new records only.
 *
 * It joins no group and commits nothing; records that came while it was closed
 * are not read.  A partition that is added is found within ten seconds and read
 * from its start.  When brokers go away and come back, no record is lost,
 * unless they have dropped unread records by then: reading continues at the
 * end.
 *
 * Not thread-safe.  Records of uncommitted transactions are not returned.
 */
#ifndef COMMON_KAFKA_TAIL_H
#define COMMON_KAFKA_TAIL_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"
#include "common/kafka/record.h"

struct kafka_tail;

/* Does not wait for a broker, and reads nothing yet. */
struct kafka_tail *kafka_tail_new(const struct kafka_config *config,
				  const char *client_id, const char *topic,
				  struct error *err);
void kafka_tail_free(struct kafka_tail *t); /* NULL accepted */

/*
 * Starts reading: records written after this call will be returned.  Waits for
 * the brokers for a few seconds.  ERROR_NOTFOUND: there is no such topic;
 * ERROR_REMOTE: the brokers do not answer.  Both may be temporary.
 */
int kafka_tail_open(struct kafka_tail *t, struct error *err);
/* Reads nothing more until it is opened again. */
void kafka_tail_close(struct kafka_tail *t);

/* Waits up to timeout_ms for a record.  Returns 1 and the record, which the
 * caller gives back with kafka_record_release; 0 if there is none; -1 if the
 * brokers complain (retriable): reading continues by itself. */
int kafka_tail_next(struct kafka_tail *t, int timeout_ms,
		    struct kafka_record *ret_record, struct error *err);

/* Returns the number of records that the brokers have announced and that were
 * not taken yet. */
int64_t kafka_tail_lag(const struct kafka_tail *t);

#endif
