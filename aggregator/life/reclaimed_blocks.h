/*
 * reclaimed_blocks.h - the thread that copies the blocks that were reclaimed
 * from Redis into ClickHouse's table reclaimed_blocks.
 *
 * A run of the reclaimer notes them in Redis, under the generation of their
 * links, in the script that puts them into the pool (settle.lua): so a run
 * needs no ClickHouse.  A note is removed once its rows are stored; if this
 * program is killed in between, it stores them again.  Every aggregator copies:
 * a row that is stored twice is the same row.  While Redis or ClickHouse is
 * unavailable the notes wait.
 */
#ifndef AGGREGATOR_LIFE_RECLAIMED_BLOCKS_H
#define AGGREGATOR_LIFE_RECLAIMED_BLOCKS_H

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct reclaimed_blocks;

/* The arguments must outlive it; `config` has spaces. */
struct reclaimed_blocks *
reclaimed_blocks_new(const struct aggregator_config *config, struct log *log,
		     struct metrics *metrics, struct health *health,
		     struct error *err);
int reclaimed_blocks_start(struct reclaimed_blocks *b, struct error *err);
/* Stops the thread first.  NULL accepted. */
void reclaimed_blocks_free(struct reclaimed_blocks *b);

#endif
