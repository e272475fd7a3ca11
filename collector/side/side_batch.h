/*
 * side_batch.h - the rows and dead letters of records of a side topic that were
 * taken and are not stored yet.
 *
 * Belongs to the intake's thread.
 */
#ifndef COLLECTOR_SIDE_SIDE_BATCH_H
#define COLLECTOR_SIDE_SIDE_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "collector/dead_letters.h"
#include "collector/side/side_kind.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/kafka/record.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct side_batch {
	const struct side_kind *kind;
	struct clickhouse *ch;
	struct log *log;
	struct dead_letters *dead_letters;
	struct metric *dead_lettered;

	struct buf rows;
	size_t row_count;
	size_t letters;
	atomic_uint letters_given_up;
};

void side_batch_release(struct side_batch *b);

static inline bool side_batch_has_any(const struct side_batch *b)
{
	return b->row_count || b->letters;
}

static inline bool side_batch_is_full(const struct side_batch *b)
{
	return b->row_count + b->letters >= b->kind->rows_max;
}

/* Adds the rows of a record; an invalid one becomes a dead letter.  After a
 * failure nothing was added. */
int side_batch_add(struct side_batch *b, const struct kafka_record *record,
		   struct error *err);

/* Stores all; rows that are stored twice replace each other. */
int side_batch_store(struct side_batch *b, struct error *err);

/* A letter that Kafka gave up is lost, and was counted. */
void side_batch_clear(struct side_batch *b);

#endif
