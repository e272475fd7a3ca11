/*
 * counters_intake.h - stores the redirectors' counters, from a topic of their
 * own.
 *
 * It has its own consumer, connection to ClickHouse and thread, in the clicks'
 * group with ".counters" appended: no click waits for counters, whatever fails
 * here.  A record is a running total, and its row replaces the one before; so
 * an insert may be sent twice, and a record read again, without any harm.
 * Offsets are committed once their rows are stored.
 */
#ifndef COLLECTOR_COUNTERS_COUNTERS_INTAKE_H
#define COLLECTOR_COUNTERS_COUNTERS_INTAKE_H

#include "collector/collector_config.h"
#include "collector/dead_letters.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct counters_intake;

/* `dead_lettered` counts invalid records, which go to `dead_letters`.  `config`
 * and `log` must outlive it. */
struct counters_intake *
counters_intake_new(const struct collector_config *config,
		    struct dead_letters *dead_letters,
		    struct metric *dead_lettered, struct metrics *registry,
		    struct health *health, struct log *log, struct error *err);
int counters_intake_start(struct counters_intake *in, struct error *err);
/* Ends the thread: data not stored yet is read again at the next start.  NULL
 * accepted. */
void counters_intake_stop(struct counters_intake *in);
/* Stops it first.  Free the dead letters with their producer before this call.
 * NULL accepted. */
void counters_intake_free(struct counters_intake *in);

#endif
