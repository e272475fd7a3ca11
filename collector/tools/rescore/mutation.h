/*
 * mutation.h - changes rows of clicks and waits for it.  Internal to
 * collector/rescore.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_MUTATION_H
#define COLLECTOR_TOOLS_RESCORE_MUTATION_H

#include "collector/tools/rescore/job.h"

/* Updates what differs, and shows how far it is.  Stopped while it waits, it
 * leaves the mutation to ClickHouse. */
int mutation_run(struct job *job, struct error *err);

/* Of a run before, by its name in tables: waits for what it left to ClickHouse,
 * until that is done or fails. */
int mutation_wait_for(struct job *job, const char *name, struct error *err);

/* To be called when the tables of that run are gone: whatever is still under
 * way of it, or comes later, changes no row after this. */
int mutation_end(struct job *job, const char *name, struct error *err);

#endif
