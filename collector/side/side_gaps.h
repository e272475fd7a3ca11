/*
 * side_gaps.h - offsets of a side topic that are passed over, since nobody can
 * read them or an operator said so.
 *
 * Belongs to the intake's thread.
 */
#ifndef COLLECTOR_SIDE_SIDE_GAPS_H
#define COLLECTOR_SIDE_SIDE_GAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "common/clickhouse/clickhouse.h"
#include "common/kafka/reader.h"

struct side_gaps {
	const struct collector_config *config;
	const char *topic, *group;
	struct clickhouse *ch;
	const atomic_bool *stopping; /* ends a probe */
	struct kafka_reader *reader; /* made when needed */
};

void side_gaps_release(struct side_gaps *g);

/* Reports a gap, once: ClickHouse recognises a repeated row by its token. */
int side_gaps_report(const struct side_gaps *g, int32_t partition,
		     const struct kafka_unreadable *what, struct error *err);

/* Returns whether an operator decided to pass over offset `next`, and fills the
 * offsets. */
bool side_gaps_is_said(const struct side_gaps *g, int32_t partition,
		       int64_t next, struct kafka_unreadable *ret);

/* Reads offset `next`: see kafka_reader_probe. */
int side_gaps_probe(struct side_gaps *g, int32_t partition, int64_t next,
		    struct kafka_unreadable *ret, struct error *err);

#endif
