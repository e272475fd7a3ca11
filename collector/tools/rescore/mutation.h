/*
 * mutation.h - changes rows of clicks by a mutation and waits for it.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_MUTATION_H
#define COLLECTOR_TOOLS_RESCORE_MUTATION_H

#include "collector/tools/rescore/rescore.h"

/* Updates the rows that differ, and shows the progress.  If it is stopped while
 * it waits, ClickHouse goes on with the mutation. */
int mutation_run(struct rescore *rs, struct error *err);

/* Waits until the mutation that an earlier run left running is done or fails.
 * `name`: the run's, as in names of tables. */
int mutation_wait_for(struct rescore *rs, const char *name, struct error *err);

/* Ends the rest of an earlier run, whose tables are dropped: its mutation,
 * running or still to arrive, changes no row after this. */
int mutation_end(struct rescore *rs, const char *name, struct error *err);

#endif
