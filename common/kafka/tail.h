/*
 * tail.h - reads a topic from its end on, all of its partitions, outside of any
 * group: for those who want to see what comes, and not what was.
 *
 * Nothing is joined, nothing committed, and what came while nobody read is not
 * read.  A partition that is added is found within ten seconds and read from
 * its start.  Brokers that go away and come back cost nothing, unless they have
 * dropped by then what was not read: reading goes on at the end.
 *
 * Not thread-safe.  Records of transactions that were not committed are not
 * seen.
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
 * Begins to read: what is written after this call was made will be seen.  Waits
 * for the brokers for a few seconds.  ERROR_NOTFOUND: there is no such topic;
 * ERROR_REMOTE: the brokers do not answer.  Both may pass.
 */
int kafka_tail_open(struct kafka_tail *t, struct error *err);
/* Reads nothing more, until it is opened again. */
void kafka_tail_close(struct kafka_tail *t);

/* Waits up to timeout_ms for a record.  Returns 1 and the record, to be given
 * back with kafka_record_release; 0 when there is none; -1 when the brokers
 * complain (retriable): reading goes on by itself. */
int kafka_tail_next(struct kafka_tail *t, int timeout_ms,
		    struct kafka_record *ret_record, struct error *err);

/* Partitions that are read. */
size_t kafka_tail_partitions(const struct kafka_tail *t);
/* Records that the brokers told of and that were not yet taken. */
int64_t kafka_tail_lag(const struct kafka_tail *t);

#endif
