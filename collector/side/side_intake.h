/*
 * side_intake.h - stores the records of a side topic: one beside those of
 * events, whose records are idempotent.
 *
 * It has its own consumer, connection to ClickHouse and thread, in the clicks'
 * group with the kind's name appended: no click waits for it, whatever fails
 * here.  The row of a record replaces those of former ones, or is replaced by
 * them; so an insert may be sent twice, and a record read again, without any
 * harm.  Offsets are committed once their rows are stored.
 */
#ifndef COLLECTOR_SIDE_SIDE_INTAKE_H
#define COLLECTOR_SIDE_SIDE_INTAKE_H

#include "collector/collector_config.h"
#include "collector/dead_letters.h"
#include "collector/side/side_kind.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct side_intake;

struct side_intake_options {
	/* `config` and `log` must outlive the intake. */
	const struct collector_config *config;
	struct log *log;
	/* Invalid records go to `dead_letters`, and `dead_lettered` counts
	 * them. */
	struct dead_letters *dead_letters;
	struct metric *dead_lettered;
	struct metrics *registry;
	struct health *health;
};

/* `topic` must outlive the intake. */
struct side_intake *side_intake_new(const struct side_kind *kind,
				    const char *topic,
				    const struct side_intake_options *options,
				    struct error *err);
int side_intake_start(struct side_intake *in, struct error *err);
/* Ends the thread: data not stored yet is read again at the next start.  NULL
 * accepted. */
void side_intake_stop(struct side_intake *in);
/* Stops it first.  Free the dead letters with their producer before this call.
 * NULL accepted. */
void side_intake_free(struct side_intake *in);

#endif
