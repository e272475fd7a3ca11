/*
 * mutation.h - changes rows of clicks and waits for it.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_MUTATION_H
#define COLLECTOR_TOOLS_RESCORE_MUTATION_H

#include "collector/tools/rescore/rescore.h"

/* Updates the rows that differ, and shows how far it is.  Stopped while it
 * waits, it leaves the mutation to ClickHouse. */
int mutation_run(struct rescore *rs, struct error *err);

/* Waits for a mutation that an earlier run, `name` as tables have it, left to
 * ClickHouse, until it is done or fails. */
int mutation_wait_for(struct rescore *rs, const char *name, struct error *err);

/* Ends what is left of an earlier run, whose tables are dropped: its mutation,
 * under way or still to arrive, changes no row after this. */
int mutation_end(struct rescore *rs, const char *name, struct error *err);

#endif
