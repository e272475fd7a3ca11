/*
 * mutation.h - changes rows of clicks and waits for it.  Internal to
 * collector/rescore.
 */
#ifndef COLLECTOR_RESCORE_MUTATION_H
#define COLLECTOR_RESCORE_MUTATION_H

#include "collector/rescore/job.h"

/* Updates what differs, and shows how far it is.  Stopped while it waits, it
 * leaves the mutation to ClickHouse. */
int mutation_run(struct job *job, struct error *err);

/* Waits for rescorings of the day that were left to ClickHouse. */
int mutation_wait_for_others(struct job *job, struct error *err);

#endif
