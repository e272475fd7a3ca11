/* sweep.h - removes the files of tables that were dropped. */
#ifndef STACK_CLICKHOUSE_SWEEP_H
#define STACK_CLICKHOUSE_SWEEP_H

#include "common/error.h"

/*
 * The embedded engine marks tables as dropped and runs no thread that removes
 * their files, so this does, before the engine is opened.  Makes `path` when it
 * is missing.  ERROR_BUSY while another process has the data open.
 */
int sweep_dropped(const char *path, struct error *err);

#endif
